//! An event stream with native deltas: the reply does not depend on how the bytes were cut. The first byte says how large
//! the pieces are.

use selfsmith_agent::message::Channel;
use selfsmith_agent::query::ToolSpec;
use selfsmith_agent::query::offline::read;
use std::sync::LazyLock;

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    vec![ToolSpec {
        name: "view",
        aliases: &["read_file"],
        description: String::new(),
        schema: serde_json::json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
        body: None,
    }]
});

pub fn run(data: &[u8]) {
    let Some((size, stream)) = data.split_first() else { return };
    for channel in [Channel::Native, Channel::Text] {
        let whole = read(std::iter::once(stream), channel, &TOOLS);
        let cut = read(stream.chunks(usize::from(*size).max(1)), channel, &TOOLS);
        assert_eq!(whole, cut);
        assert!(whole.iter().flat_map(|reply| &reply.calls).all(|call| call.name == "view"));
    }
}
