//! Every seed of `fuzz/seeds/` through the body of its target: what once failed does not fail again.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/bodies/edit.rs"]
mod edit;
#[path = "../../fuzz/bodies/stream.rs"]
mod stream;
#[path = "../../fuzz/bodies/text_channel.rs"]
mod text_channel;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut seeds: Vec<_> = fs::read_dir(&folder).expect("seeds").map(|entry| entry.expect("a seed").path()).collect();
    seeds.sort();
    assert!(seeds.len() >= 5, "{} seeds", seeds.len());
    for seed in seeds {
        let data = fs::read(&seed).expect("a seed");
        let outcome = std::panic::catch_unwind(|| run(&data));
        assert!(outcome.is_ok(), "{}", seed.display());
    }
}

#[test]
fn seeds_of_the_text_channel_hold() {
    replay("text_channel", text_channel::run);
}

#[test]
fn seeds_of_the_stream_hold() {
    replay("stream", stream::run);
}

#[test]
fn seeds_of_edits_hold() {
    replay("edit", edit::run);
}
