//! The demo, whole and real: the program as people start it, cargo, git, the agent; only the model's replies are on tape.
//!
//! What it claims is checked with plain git, from outside.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A demo that has run, in folders of its own.
struct Demo {
    place: tempfile::TempDir,
    output: Output,
}

impl Demo {
    fn run(prepare: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let place = tempfile::tempdir().expect("temporary folder");
        let more = prepare(place.path());
        let output = Command::new(env!("CARGO_BIN_EXE_selfsmith"))
            .args(["demo", "--json", "--folder"])
            .arg(place.path().join("demo"))
            .args(more)
            .env("XDG_STATE_HOME", place.path().join("state"))
            .env("XDG_DATA_HOME", place.path().join("data"))
            .env("XDG_CONFIG_HOME", place.path().join("config"))
            .output()
            .expect("starts");
        Self { place, output }
    }

    fn sample(&self) -> PathBuf {
        self.place.path().join("demo/sizes")
    }

    fn lines(&self) -> Vec<Value> {
        String::from_utf8_lossy(&self.output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The last line of each cycle.
    fn verdicts(&self) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line.get("landed").is_some() && line.get("type").is_none()).collect()
    }

    fn told(&self) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!("{}\n{}", text(&self.output.stdout), text(&self.output.stderr))
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "safe.directory=*", "-C"])
            .arg(self.sample())
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git starts");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// The words of a verdict line that are compared.
fn words(line: &Value) -> (&str, Option<&str>, bool) {
    let text = |key: &str| line.get(key).and_then(Value::as_str);
    (text("verdict").unwrap_or_default(), text("gate"), text("landed").is_some())
}

#[test]
fn one_change_lands_two_are_refused_and_plain_git_agrees() {
    let demo = Demo::run(|_| Vec::new());
    let verdicts = demo.verdicts();
    let seen: Vec<_> = verdicts.iter().map(words).collect();
    assert_eq!(
        seen,
        [("accept", None, true), ("reject", Some("tests"), false), ("reject", Some("bounds"), false)],
        "{}",
        demo.told()
    );
    assert_eq!(demo.output.status.code(), Some(0), "{}", demo.told());
    let landed = verdicts.first().and_then(|line| line.get("landed")).and_then(Value::as_str).expect("landed");
    let repaired = demo.lines().iter().any(|line| line.get("type").and_then(Value::as_str) == Some("repairing"));
    assert!(repaired, "the improvement was repaired first: {}", demo.told());

    // The branch: one commit of the agent on the sample's own, the checkout clean and up to date.
    assert_eq!(demo.git(&["rev-parse", "main"]), landed);
    assert_eq!(demo.git(&["rev-list", "--count", "main"]), "2");
    assert_eq!(demo.git(&["status", "--porcelain"]), "");
    assert!(fs::read_to_string(demo.sample().join("src/lib.rs")).expect("reads").contains("\"KiB\""));
    assert!(demo.git(&["show", "main:CHANGELOG.md"]).contains("binary units"));

    // Trailers, as git itself reads them.
    for key in ["Cycle", "Goal", "Model", "Base", "Gates", "Evidence"] {
        let format = format!("--format=%(trailers:key=Selfsmith-{key},valueonly)");
        assert!(!demo.git(&["log", "-1", &format, "main"]).is_empty(), "trailer {key}");
    }
    let base = demo.git(&["log", "-1", "--format=%(trailers:key=Selfsmith-Base,valueonly)", "main"]);
    assert_eq!(base, demo.git(&["rev-parse", "main~1"]));

    // The note, the chain of three, the evidence in it.
    assert!(demo.git(&["notes", "--ref", "refs/notes/selfsmith", "show", landed]).contains("verdict"));
    assert_eq!(demo.git(&["rev-list", "--count", "refs/selfsmith/lineage"]), "3");
    assert!(demo.git(&["ls-tree", "-r", "--name-only", "refs/selfsmith/lineage"]).contains("evidence/goal.txt"));

    // What was refused is kept, and no branch stands anywhere but at a base.
    let kept = demo.git(&["for-each-ref", "--format=%(refname)", "refs/selfsmith/candidates"]);
    assert!(kept.lines().count() >= 3, "{kept}");
    for line in demo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/evolve"]).lines() {
        let (name, at) = line.split_once(' ').expect("two words");
        let on_main = demo.git(&["merge-base", at, "main"]);
        assert_eq!(on_main, at, "{name} holds something that did not land");
    }
    demo.git(&["fsck", "--strict"]);

    // And the judge's own check of all of it.
    let verify = Command::new(env!("CARGO_BIN_EXE_selfsmith"))
        .args(["lineage", "--verify", "--repo"])
        .arg(demo.sample())
        .env("XDG_STATE_HOME", demo.place.path().join("state"))
        .output()
        .expect("starts");
    assert_eq!(verify.status.code(), Some(0), "{}", String::from_utf8_lossy(&verify.stdout));
}

#[test]
fn a_harmless_cassette_changes_the_verdict() {
    let demo = Demo::run(|place| {
        let tapes = place.join("tapes");
        let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/cassettes");
        fs::create_dir(&tapes).expect("folder");
        for name in ["improve.jsonl", "break.jsonl", "cheat.jsonl"] {
            fs::copy(bundled.join(name), tapes.join(name)).expect("copy");
        }
        // The same conversation, but steps of 1024 become the same steps as before, written otherwise.
        let file = tapes.join("break.jsonl");
        let tape = fs::read_to_string(&file).expect("reads");
        let harmless = tape
            .replace("1 << 30, \\\"GB\\\"", "1_000_000_000, \\\"GB\\\"")
            .replace("1 << 20, \\\"MB\\\"", "1_000_000, \\\"MB\\\"")
            .replace("1 << 10, \\\"kB\\\"", "1000, \\\"kB\\\"");
        assert_ne!(tape, harmless, "the cassette was made harmless");
        fs::write(&file, harmless).expect("writes");
        vec!["--cassettes".to_owned(), tapes.to_string_lossy().into_owned()]
    });
    let verdicts = demo.verdicts();
    assert_eq!(verdicts.get(1).map(words), Some(("accept", None, true)), "{}", demo.told());
    assert_eq!(demo.git(&["rev-list", "--count", "main"]), "3");
}

#[test]
fn without_cargo_or_git_it_ends_with_one_sentence() {
    let place = tempfile::tempdir().expect("temporary folder");
    for missing in ["cargo", "git"] {
        let bin = place.path().join(format!("without-{missing}"));
        fs::create_dir(&bin).expect("folder");
        for there in ["cargo", "git"].iter().filter(|name| **name != missing) {
            std::os::unix::fs::symlink("/bin/true", bin.join(there)).expect("link");
        }
        let output = Command::new(env!("CARGO_BIN_EXE_selfsmith"))
            .arg("demo")
            .env("PATH", &bin)
            .env("HOME", place.path())
            .env("TMPDIR", place.path())
            .output()
            .expect("starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(missing) && said.trim().lines().count() == 1, "{said}");
        assert!(output.stdout.is_empty());
    }
}
