//! `evolve`, `review`, `undo` and the inbox as people type them, on a real crate with real cargo and git.

use selfsmith_cassette::{Listener, Normaliser, Player, PlayerHandler, Reply, SpokenReply, Tape, serve};
use selfsmith_repo::{Identity, Repo, When};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

/// A person's machine: the sample crate in a repository, and folders of the judge.
struct Machine {
    place: tempfile::TempDir,
}

/// A proposer that answers `factor("T")`.
const TERA: &str =
    r#"cmd:sed -i 's|"G" . "GB" => Ok(1_000_000_000),|&\n        "T" \| "TB" => Ok(1_000_000_000_000),|' src/lib.rs"#;

impl Machine {
    fn new(settings: &str) -> Self {
        let machine = Self { place: tempfile::tempdir().expect("temporary folder") };
        let repo = machine.repo();
        fs::create_dir(&repo).expect("folder");
        selfsmith::demo::write_sample(&repo).expect("writes");
        let author = Identity { name: "A".into(), email: "a@example.invalid".into() };
        Repo::found(&repo, &author, "Begin", When { seconds: 1_700_000_000, offset_minutes: 0 }).expect("founded");
        machine.set(settings);
        machine
    }

    fn set(&self, settings: &str) {
        let file = self.place.path().join("config/selfsmith/judge.yaml");
        fs::create_dir_all(file.parent().expect("has one")).expect("folder");
        fs::write(file, settings).expect("file");
    }

    fn repo(&self) -> PathBuf {
        self.place.path().join("repo")
    }

    fn selfsmith(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("starts")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selfsmith"));
        command
            .args(arguments)
            .current_dir(self.repo())
            .env("XDG_STATE_HOME", self.place.path().join("state"))
            .env("XDG_DATA_HOME", self.place.path().join("data"))
            .env("XDG_CONFIG_HOME", self.place.path().join("config"))
            .env("KEY_OF_THE_OWNER", "not-for-the-room");
        command
    }

    fn head(&self) -> String {
        let repo = Repo::open(&self.repo()).expect("opens");
        repo.read_ref("refs/heads/main").expect("reads").expect("is there")
    }
}

fn last(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {text}\n{}", told(output)))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

#[test]
fn an_accepted_change_lands_and_can_be_undone() {
    let machine = Machine::new("landing: auto\n");
    let before = machine.head();
    let output =
        machine.selfsmith(&["evolve", "--goal", "Read terabytes", "--proposer", TERA, "--json", "--landing", "auto"]);
    let line = last(&output);
    assert_eq!(text(&line, "verdict"), Some("accept"), "{line} {}", told(&output));
    assert_eq!(line.get("gate"), Some(&Value::Null));
    assert_eq!(text(&line, "landed"), Some(machine.head().as_str()));
    assert_eq!(output.status.code(), Some(0));
    assert_ne!(machine.head(), before);

    let undone = machine.selfsmith(&["undo", "--json"]);
    assert_eq!(undone.status.code(), Some(0), "{}", told(&undone));
    assert_eq!(machine.head(), before);
    let operations = machine.selfsmith(&["ops", "--json"]);
    let kinds: Vec<Value> = String::from_utf8_lossy(&operations.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?.get("kind").cloned())
        .collect();
    assert_eq!(kinds, ["undo", "cycle"], "newest first");
}

#[test]
fn an_accepted_change_waits_for_an_approval_and_then_lands() {
    let machine = Machine::new("landing: auto\n");
    let before = machine.head();
    let output =
        machine.selfsmith(&["evolve", "--goal", "Read terabytes", "--proposer", TERA, "--json", "--landing", "review"]);
    let line = last(&output);
    assert_eq!((text(&line, "verdict"), line.get("landed")), (Some("accept"), Some(&Value::Null)), "{}", told(&output));
    assert_eq!((output.status.code(), machine.head()), (Some(0), before));
    let candidate = text(&line, "candidate").expect("has one").to_owned();

    let list = machine.selfsmith(&["review"]);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(list.contains(&candidate) && list.contains("waiting"), "{list}");
    let page = machine.selfsmith(&["review", "show", &candidate]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("+        \"T\" | \"TB\"") && page.contains("tests"), "{page}");

    let approved = machine.selfsmith(&["review", "approve", &candidate, "--json"]);
    let line = last(&approved);
    assert_eq!(text(&line, "landed"), Some(machine.head().as_str()), "{}", told(&approved));
    assert_eq!(approved.status.code(), Some(0));
    assert!(fs::read_to_string(machine.repo().join("src/lib.rs")).expect("reads").contains("\"TB\""));
    assert_eq!(machine.selfsmith(&["review", "verify"]).status.code(), Some(0));
}

#[test]
fn goals_of_the_inbox_are_taken_one_by_one_and_set_aside() {
    let machine = Machine::new("landing: auto\n");
    let inbox = machine.place.path().join("goals");
    fs::create_dir(&inbox).expect("folder");
    fs::write(inbox.join("1.md"), "Break the tests").expect("file");
    fs::write(inbox.join("2.md"), "Break them again").expect("file");
    let dir = inbox.to_str().expect("is text");
    let breaks = "cmd:sed -i s/kB/KB/ src/lib.rs";
    let output = machine.selfsmith(&["evolve", "--inbox", dir, "--cycles", "2", "--proposer", breaks, "--json"]);
    let line = last(&output);
    assert_eq!((text(&line, "verdict"), text(&line, "gate")), (Some("reject"), Some("tests")), "{}", told(&output));
    assert_eq!(output.status.code(), Some(10));
    let there = |name: &str| Path::new(&inbox).join(name).is_file();
    assert!(there("done/1.md") && there("done/2.md") && !there("1.md") && !there("2.md"));
}

#[test]
fn a_model_behind_the_relay_proposes_and_its_recording_replays_to_the_same_verdict() {
    let said = |text: &str| Reply::Spoken(SpokenReply { text: text.to_owned(), ..SpokenReply::default() });
    let edit =
        r#"sed -i 's|"G" . "GB" => Ok(1_000_000_000),|&\n        "T" \| "TB" => Ok(1_000_000_000_000),|' src/lib.rs"#;
    let tape = Tape::of_replies(
        "model",
        vec![
            said(&format!("I add the unit.\n\n<bash>\n{edit}; env\n</bash>")),
            said("<done>\nRead terabytes.\nPrediction: `sizes 1T` prints a sum\n</done>"),
        ],
    );
    let handler = Arc::new(PlayerHandler::new(Player::new(tape, Normaliser::default()), false));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let server = serve(Listener::Tcp(listener), handler.clone()).expect("serves");

    let machine = Machine::new("");
    let address = server.base_url().expect("is TCP");
    machine.set(&format!(
        "model:\n  base_url: {address}\n  name: some-model\n  api_key_env: KEY_OF_THE_OWNER\n  channel: text\n"
    ));
    let file = machine.place.path().join("tape.jsonl");
    let record = file.to_str().expect("is text");
    let output = machine.selfsmith(&["evolve", "--goal", "Read terabytes", "--record", record, "--json"]);
    let line = last(&output);
    assert_eq!(text(&line, "verdict"), Some("accept"), "{line} {}", told(&output));
    assert_eq!(handler.requests().len(), 2);
    let asked = handler.requests().iter().map(ToString::to_string).collect::<String>();
    assert!(asked.contains("PATH=") && !asked.contains("not-for-the-room"), "{asked}");
    drop(server);

    let page = machine.selfsmith(&["review", "show", text(&line, "candidate").expect("has one")]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("some-model") && page.contains("prints a sum"), "{page}");
    let replayed =
        machine.selfsmith(&["evolve", "--goal", "Read terabytes", "--proposer", &format!("replay:{record}"), "--json"]);
    let again = last(&replayed);
    assert_eq!(text(&again, "verdict"), Some("accept"), "{again} {}", told(&replayed));
    assert!(!String::from_utf8_lossy(&replayed.stdout).contains("was recorded from another request"), "no drift");
}

/// A run whose proposer waits for the file `go` in its folder.
struct Waiting {
    child: std::process::Child,
    lines: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
    folder: PathBuf,
}

impl Waiting {
    fn start(machine: &Machine) -> Self {
        use std::io::BufRead;
        let waits = r#"cmd:sh -c 'touch here; until [ -e go ]; do sleep 0.05; done; rm go here; sed -i "s/nothing to read/nothing/" src/lib.rs'"#;
        let mut child = machine
            .command(&["evolve", "--goal", "Say less", "--proposer", waits, "--json", "--landing", "auto"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("starts");
        let mut lines = std::io::BufReader::new(child.stdout.take().expect("is piped")).lines();
        let started = loop {
            let line = lines.next().expect("there is more").expect("reads");
            let line: Value = serde_json::from_str(&line).expect("is JSON");
            if text(&line, "type") == Some("cycle_started") {
                break line;
            }
        };
        let folder = PathBuf::from(text(&started, "folder").expect("is named"));
        let waiting = Self { child, lines, folder };
        while !waiting.folder.join("here").exists() {
            std::thread::yield_now();
        }
        waiting
    }

    fn end(mut self) -> (Option<i32>, Value) {
        let last = self.lines.by_ref().map_while(Result::ok).last().unwrap_or_default();
        let code = self.child.wait().expect("ends").code();
        (code, serde_json::from_str(&last).unwrap_or_default())
    }
}

#[test]
fn a_target_whose_same_lines_were_changed_meanwhile_ends_with_13_and_stays() {
    let machine = Machine::new("landing: auto\n");
    let waiting = Waiting::start(&machine);
    let lib = machine.repo().join("src/lib.rs");
    let read = fs::read_to_string(&lib).expect("reads");
    fs::write(&lib, read.replace("nothing to read", "nothing at all")).expect("file");
    let commit = ["-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "-qam", "Mine"];
    let done = Command::new("git").arg("-C").arg(machine.repo()).args(commit).status().expect("git starts");
    assert!(done.success());
    let mine = machine.head();
    fs::write(waiting.folder.join("go"), "").expect("file");
    let (code, line) = waiting.end();
    assert_eq!((code, text(&line, "end")), (Some(13), Some("stale")), "{line}");
    assert_eq!(machine.head(), mine);
}

#[test]
fn after_a_kill_the_next_run_lands_what_was_judged_and_works_on_top_of_it() {
    let machine = Machine::new("landing: auto\n");
    let mut killed = Waiting::start(&machine);
    let state = killed.folder.ancestors().nth(3).expect("cycles/ID/candidate").to_owned();
    // Nothing lands while this is held, so the run dies with a verdict and without a landing.
    let held = selfsmith::store::lock::take(&state.join("landing.lock")).expect("is free");
    fs::write(killed.folder.join("go"), "").expect("file");
    let judged = |line: &String| line.contains(r#""type":"judged""#);
    assert!(killed.lines.by_ref().map_while(Result::ok).any(|line| judged(&line)));
    killed.child.kill().and_then(|()| killed.child.wait()).expect("is killed");
    drop(held);
    let id = killed.folder.ancestors().nth(1).and_then(Path::file_name).expect("has one").display().to_string();

    let before = machine.head();
    let output =
        machine.selfsmith(&["evolve", "--goal", "Terabytes", "--proposer", TERA, "--json", "--landing", "review"]);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Value> = out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |kind: &str| lines.iter().find(|line| text(line, "type") == Some(kind)).expect(kind);
    let (landed, started) = (of("landed"), of("cycle_started"));
    assert_eq!(text(landed, "cycle"), Some(id.as_str()), "{out}");
    assert_eq!(text(landed, "commit"), text(started, "base"), "{out}");
    assert!(text(of("notice"), "text").is_some_and(|said| said.contains(&id) && said.contains("`landing: auto`")));
    assert_eq!(text(&last(&output), "end"), Some("waiting"), "{out}");
    assert_ne!(machine.head(), before);
    assert_eq!(text(landed, "commit"), Some(machine.head().as_str()));
}

#[test]
fn ctrl_c_ends_with_130_and_the_next_command_goes_on() {
    let machine = Machine::new("landing: auto\n");
    let before = machine.head();
    let waiting = Waiting::start(&machine);
    let pid = waiting.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill starts").success());
    let (code, line) = waiting.end();
    assert_eq!((code, text(&line, "why")), (Some(130), Some("it was interrupted")), "{line}");
    assert_eq!(machine.head(), before);
    assert_eq!(machine.selfsmith(&["lineage", "--verify"]).status.code(), Some(0));
}

#[test]
fn what_could_not_be_proposed_ends_with_12_and_what_is_too_large_with_11() {
    let machine = Machine::new("landing: auto\n");
    let mute = "cmd:sh -c 'echo nothing to do here >&2; exit 4'";
    let none = machine.selfsmith(&["evolve", "--goal", "x", "--proposer", mute, "--json"]);
    let lines = String::from_utf8_lossy(&none.stdout).into_owned();
    assert!(lines.contains(r#"{"type":"said","text":"nothing to do here"}"#), "{lines}");
    let why = text(&last(&none), "why").unwrap_or_default().to_owned();
    assert!(why.contains("ended with exit code 4: nothing to do here"), "{why}");
    let hides = |arguments: &[&str]| String::from_utf8_lossy(&machine.selfsmith(arguments).stdout).is_empty();
    assert!(hides(&["review"]) && !hides(&["review", "list", "--all"]), "a cycle without a candidate");
    assert_eq!(
        (none.status.code(), text(&last(&none), "verdict")),
        (Some(12), Some("inconclusive")),
        "{}",
        told(&none)
    );
    let large = r#"cmd:sh -c 'i=0; while [ $i -lt 250 ]; do echo "// Line $i."; i=$((i+1)); done >> src/lib.rs'"#;
    let output = machine.selfsmith(&["evolve", "--goal", "x", "--proposer", large, "--json", "--landing", "auto"]);
    let line = last(&output);
    assert_eq!((output.status.code(), text(&line, "verdict")), (Some(11), Some("needs-human")), "{line}");
    assert_eq!(line.get("landed"), Some(&Value::Null));
}
