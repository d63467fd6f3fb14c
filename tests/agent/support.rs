//! What the black-box tests of the program share: a model that says what it was told to, and a clean home.

use selfsmith_cassette::{Listener, Normaliser, Player, PlayerHandler, Reply, Server, Tape, serve};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// A home, a workspace, and a model that speaks these replies.
pub struct World {
    folder: TempDir,
    server: Server,
    handler: Arc<PlayerHandler>,
}

/// A reply in the words of a cassette.
pub fn reply(value: Value) -> Reply {
    serde_json::from_value(value).expect("a reply in the words of a cassette")
}

/// A reply of words alone.
pub fn says(text: &str) -> Reply {
    reply(json!({ "text": text }))
}

impl World {
    /// A fresh world.
    pub fn new(replies: Vec<Reply>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "work"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port");
        let player = Player::new(Tape::of_replies("test", replies), Normaliser::new(Vec::new()));
        let handler = Arc::new(PlayerHandler::new(player, false));
        let server = serve(Listener::Tcp(listener), handler.clone()).expect("it serves");
        Self { folder, server, handler }
    }

    /// The prompts that reached the model: each message of the person's own, once, results of tools apart.
    pub fn prompts(&self) -> Vec<String> {
        let requests = self.handler.requests();
        let messages = requests.last().and_then(|last| last["messages"].as_array()).cloned().unwrap_or_default();
        let own = messages.iter().filter(|message| message["role"] == "user");
        let texts = own.filter_map(|message| message["content"].as_str().map(str::to_owned));
        texts.filter(|text| !text.starts_with('[')).collect()
    }

    /// The last request that reached the model.
    pub fn last_request(&self) -> String {
        self.handler.requests().last().map(serde_json::Value::to_string).unwrap_or_default()
    }

    /// The workspace.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The model's address.
    pub fn base_url(&self) -> String {
        self.server.base_url().expect("it listens on TCP")
    }

    /// Settings of the user.
    pub fn settings(self, yaml: &str) -> Self {
        let path = self.home().join(".config/selfsmith/config.yaml");
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, yaml).expect("the settings");
        self
    }

    /// The program with these arguments, in the workspace, with nothing of the caller's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selfsmith-agent"));
        command.args(arguments);
        self.fit(&mut command);
        command
    }

    /// Put a command into the world.
    pub fn fit(&self, command: &mut Command) {
        command.env_clear().current_dir(self.work()).stdin(Stdio::null());
        for name in ["PATH", "TMPDIR"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("HOME", self.home()).env("LANG", "C.UTF-8").env("SELFSMITH_BASE_URL", self.base_url());
        command.env("SELFSMITH_MODEL", "test-model").env("SELFSMITH_API_KEY", "sk-test-0123456789abcdef0123");
    }

    /// Run it to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// The records of sessions.
    pub fn records(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.home().join(".local/state/selfsmith/sessions"), &mut found);
        found.sort();
        found
    }
}

/// The event lines of a run.
pub fn events(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).expect("stdout is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// The exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

/// Standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}
