//! A person's desk: a repository that is no Cargo project, with rules of its own, and the judge's folders.

use crate::keyboard::Keyboard;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Gates that need a shell and nothing else: what is in `src/` must not say BREAK.
const RULES: &str = "zones:
  - { path: 'src/**', zone: open }
  - { path: 'tests/**', zone: add-only }
  - { path: 'docs/**', zone: review }
tests: [ { command: [sh, checks/test.sh] } ]
scenarios: [ { command: [sh, checks/scenario.sh] } ]
endings: [txt, md, sh]
";

/// The judge's program.
pub const SELFSMITH: &str = env!("CARGO_BIN_EXE_selfsmith");

pub struct Desk {
    place: tempfile::TempDir,
}

impl Desk {
    /// One whose judge.yaml says this.
    pub fn new(settings: &str) -> Self {
        let desk = Self { place: tempfile::tempdir().unwrap() };
        fs::create_dir(desk.repo()).unwrap();
        desk.git(&["init", "-q", "-b", "main", "--template="]);
        for (name, value) in [("user.name", "A Person"), ("user.email", "person@example.com")] {
            desk.git(&["config", name, value]);
        }
        let numbers: String = (1..=40).map(|n| format!("line {n}\n")).collect();
        for (path, text) in [
            ("src/words.txt", "one\ntwo\nthree\n"),
            ("src/numbers.txt", numbers.as_str()),
            ("docs/book.md", "# Book\n"),
            ("tests/one.txt", "one\n"),
            ("notes.txt", "mine\n"),
            ("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- Before\n"),
            ("checks/test.sh", "! grep -rq BREAK src\n"),
            ("checks/scenario.sh", "test -s src/words.txt\n"),
            (".selfsmith/evolve.yaml", RULES),
        ] {
            desk.write(path, text);
        }
        desk.commit("Begin");
        desk.settings(settings);
        desk
    }

    pub fn root(&self) -> &Path {
        self.place.path()
    }

    pub fn repo(&self) -> PathBuf {
        self.place.path().join("repo")
    }

    pub fn settings_file(&self) -> PathBuf {
        self.place.path().join("config/selfsmith/judge.yaml")
    }

    pub fn settings(&self, text: &str) {
        fs::create_dir_all(self.settings_file().parent().unwrap()).unwrap();
        fs::write(self.settings_file(), text).unwrap();
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.repo().join(path)).unwrap()
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// A second commit.
    pub fn commit_more(&self) {
        self.write("notes.txt", "more\n");
        self.commit("More");
    }

    /// Plain git, as a person would run it.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.outside("git").arg("-C").arg(self.repo()).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", told(&output));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub fn rev(&self, name: &str) -> String {
        let output =
            self.outside("git").arg("-C").arg(self.repo()).args(["rev-parse", "-q", "--verify", name]).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
    }

    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let folder = |name: &str| self.place.path().join(name).into_os_string();
        vec![
            ("XDG_STATE_HOME", folder("state")),
            ("XDG_DATA_HOME", folder("data")),
            ("XDG_CONFIG_HOME", folder("config")),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ]
    }

    /// Another program in the same environment.
    pub fn outside(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment());
        command
    }

    /// The judge without a terminal, wherever the tests run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.outside("setsid");
        command.args(["--wait", SELFSMITH]).args(arguments).current_dir(self.repo());
        command
    }

    pub fn selfsmith(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The judge at a keyboard.
    pub fn keyboard(&self, arguments: &[&str]) -> Keyboard {
        let mut words = vec![SELFSMITH];
        words.extend(arguments);
        Keyboard::start(&words, &self.repo(), &self.environment())
    }

    /// A change by this shell script; it waits for a decision. Gives its id.
    pub fn proposed(&self, script: &str) -> String {
        let line = self.evolved(script, "review");
        assert_eq!(text(&line, "end"), "waiting", "{line}");
        text(&line, "candidate").to_owned()
    }

    /// A change by this shell script; the last line of what the judge says.
    pub fn evolved(&self, script: &str, landing: &str) -> Value {
        self.write("../propose.sh", script);
        let proposer = format!("cmd:sh {}", self.place.path().join("propose.sh").display());
        let output = self.selfsmith(&[
            "evolve",
            "--goal",
            "Say it better",
            "--proposer",
            &proposer,
            "--landing",
            landing,
            "--json",
        ]);
        last(&output)
    }
}

/// The last line of what was printed, as JSON.
pub fn last(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {text}\n{}", told(output)))
}

pub fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
