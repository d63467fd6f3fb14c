//! One job at one size, for `linear.sh` to count its instructions: `linear JOB SIZE`. Without arguments it names the jobs.

use selfsmith_agent::approve::dangers;
use selfsmith_agent::edit::{Edit, Occurrences, apply, encoding};
use selfsmith_agent::message::Channel;
use selfsmith_agent::query::ToolSpec;
use selfsmith_agent::query::offline::read;
use selfsmith_agent::query::text_channel::{Finish, Holder, parse};
use selfsmith_agent::syntax::worse;
use selfsmith_agent::tool::{self, Surroundings};
use std::hint::black_box;
use std::path::Path;

type Job = fn(usize);

const JOBS: [(&str, Job); 9] = [
    ("text-channel", text_channel),
    ("text-channel-in-pieces", text_channel_in_pieces),
    ("stream-of-native-deltas", stream),
    ("edit-exact", edit_exact),
    ("edit-by-layout", edit_by_layout),
    ("edit-not-found", edit_not_found),
    ("encoding-gbk", encoding_gbk),
    ("parse-check-rust", parse_check),
    ("command-line", command_line),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let size = arguments.get(1).and_then(|size| size.parse().ok());
    match (arguments.first().and_then(|name| JOBS.iter().find(|(job, _)| job == name)), size) {
        (Some((_, job)), Some(size)) => job(size),
        _ => JOBS.iter().for_each(|(name, _)| println!("{name}")),
    }
}

fn specs() -> Vec<ToolSpec> {
    let tools = tool::table(&Surroundings::default());
    let spec = |tool: &dyn tool::Tool| ToolSpec {
        name: tool.name(),
        aliases: tool.aliases(),
        description: String::new(),
        schema: tool.schema(),
        body: tool.body(),
    };
    tools.iter().map(|tool| spec(tool.as_ref())).collect()
}

fn reply(size: usize) -> String {
    let round = "I look at it.\n```rust\nlet a = `b`;\n```\n<str_replace path=\"a.rs\">\n<old>\nlet a = 1;\n</old>\n<new>\nlet a = \
                 2;\n</new>\n</str_replace>\n<bash>\necho \"<b>\"\n</bash>\n";
    round.repeat(size)
}

fn text_channel(size: usize) {
    black_box(parse(&reply(size), Finish::Whole, &specs()));
}

fn text_channel_in_pieces(size: usize) {
    let text = reply(size);
    let mut holder = Holder::new(specs());
    for piece in text.as_bytes().chunks(7) {
        black_box(holder.push(&String::from_utf8_lossy(piece)));
    }
    black_box(holder.finish(Finish::Whole));
}

fn stream(size: usize) {
    let call =
        |delta: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{delta}]}}}}]}}\n\n");
    let mut text = call(
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"create\",\"arguments\":\"{\\\"path\\\":\\\"a\\\",\\\"content\\\":\\\"\"}}",
    );
    text.push_str(&call("{\"index\":0,\"function\":{\"arguments\":\"word and word \"}}").repeat(size * 20));
    text.push_str(&call("{\"index\":0,\"function\":{\"arguments\":\"\\\"}\"}}"));
    black_box(read(text.as_bytes().chunks(13), Channel::Native, &specs()));
}

fn file(size: usize) -> String {
    let lines = (0..size * 20).map(|n| format!("    let value_{n} = compute({n}, \"text\");\r\n"));
    lines.chain(["    if done {\r\n        finish();  \r\n    }\r\n".to_owned()]).collect()
}

fn edit(size: usize, old: &str) {
    let edit = Edit { old: old.to_owned(), new: "x();\n".to_owned() };
    black_box(apply(&file(size), &[edit], Occurrences::One).is_ok());
}

fn edit_exact(size: usize) {
    edit(size, "        finish();  \n");
}

fn edit_by_layout(size: usize) {
    edit(size, "if done {\n    finish();\n}\n");
}

fn edit_not_found(size: usize) {
    edit(size, "if never {\n    finish();\n}\n");
}

fn encoding_gbk(size: usize) {
    let bytes = b"\xd6\xd0\xce\xc4\xce\xc4\xbc\xfe word\r\n".repeat(size * 20);
    black_box(encoding::read(&bytes).is_ok());
}

fn parse_check(size: usize) {
    let text: String =
        (0..size).map(|n| format!("fn f{n}(x: u8) -> u8 {{\n    if x > {n} {{ x }} else {{ 0 }}\n}}\n")).collect();
    black_box(worse(Path::new("a.rs"), &text, &format!("{text}fn (")));
}

fn command_line(size: usize) {
    let line = "cat a.txt | sort > b.txt && echo \"$(date)\"; ".repeat(size);
    black_box(dangers(&line, Path::new("/work"), None));
}
