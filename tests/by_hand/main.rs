//! Conversations whose replies were written by hand against the texts of real requests, then recorded again with commands
//! whose output does not vary. They are replayed with `--strict`, so that a change to a prompt, a tool's text or a result that
//! the model would see makes them fail. They hold the wire and the texts still; they do not show that a model succeeds.
//!
//! After such a change `SELFSMITH_BLESS=1 cargo test --test by_hand` records them again: the same replies, whatever the requests
//! say now. Read the difference, and say in the commit which turn misled.

use selfsmith_cassette::{Listener, Normaliser, Player, PlayerHandler, Tape, serve};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const FIX: &str = "Three tests of this crate fail. Make them pass without touching the tests.";
const ADD: &str = "Add a function `compact(pages: &[u32]) -> String` to this crate that is the inverse of `pages` (so \
                   [1,2,3,7] becomes \"1-3,7\"), with a doc comment and a test file of its own.";

#[test]
fn a_task_on_the_text_channel_replays_to_the_byte() {
    let folder = replay("text", FIX);
    let lib = fs::read_to_string(folder.path().join("project/src/lib.rs")).expect("the source is there");
    assert!(lib.contains("from..=to") && lib.contains("text.trim()") && lib.contains("runs backwards"), "{lib}");
}

#[test]
fn a_task_on_the_native_channel_replays_to_the_byte() {
    let folder = replay("native", ADD);
    let test = fs::read_to_string(folder.path().join("project/tests/compact.rs")).expect("the new test is there");
    assert!(test.contains("no_pages_are_an_empty_text"), "{test}");
}

/// Replay against the real project, real cargo and the real program; gives the folder back.
fn replay(channel: &str, prompt: &str) -> tempfile::TempDir {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/by_hand");
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("project");
    copy(&here.join("project"), &project);
    let home = folder.path().join("home");
    let cassette = here.join(format!("{channel}-channel.jsonl"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsmith-agent"));
    command
        .current_dir(&project)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("SELFSMITH_BASE_URL", "http://127.0.0.1:9/v1")
        .env("SELFSMITH_API_KEY", "none")
        .env("SELFSMITH_MODEL", "manual")
        .env_remove("CARGO_TARGET_DIR")
        .args(["exec", "--approval", "auto", "--channel", channel]);
    let blessed = std::env::var_os("SELFSMITH_BLESS").map(|_| {
        let replies = Player::new(Tape::read(&cassette).expect("a cassette"), Normaliser::default());
        let listener = Listener::Tcp(TcpListener::bind(("127.0.0.1", 0)).expect("a port"));
        let server = serve(listener, Arc::new(PlayerHandler::new(replies, false))).expect("a server");
        command.env("SELFSMITH_BASE_URL", server.base_url().expect("an address"));
        let new = folder.path().join("new.jsonl");
        command.args(["--cassette", "record"]).arg(&new);
        (server, new)
    });
    if blessed.is_none() {
        command.args(["--strict", "--cassette", "replay"]).arg(&cassette);
    }
    let output = command.arg(prompt).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}", output.status);
    if let Some((_, new)) = blessed {
        fs::copy(new, cassette).expect("the cassette can be written");
    }
    folder
}

/// Copy a folder; `Cargo.toml.in` and its like lose the ending that disarms them.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            let name = name.strip_suffix(".in").unwrap_or(name).replace("gitignore", ".gitignore");
            fs::copy(&path, to.join(name)).expect("a file is copied");
        }
    }
}
