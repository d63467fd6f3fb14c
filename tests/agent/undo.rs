//! A scripted session in which the model does harm by shell, and `undo` by which every byte is back.

use crate::support::{World, code, says, stderr};
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything below a folder but `.git`: kind, mode and content.
fn all(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").filter_map(Result::ok) {
            let path = entry.path();
            if path.ends_with(".git") {
                continue;
            }
            let metadata = std::fs::symlink_metadata(&path).expect("metadata");
            let content = if metadata.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                std::fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
            } else {
                std::fs::read(&path).expect("a file")
            };
            all.insert(path, (metadata.permissions().mode(), content));
        }
    }
    all
}

fn sh(folder: &Path, line: &str) {
    let done = Command::new("bash").args(["-ec", line]).current_dir(folder).output().expect("bash runs");
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
}

fn fill(work: &Path) {
    for (path, text) in [
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib/deep.rs", "// deep\n"),
        ("notes.txt", "untracked, and a day of work\n"),
        ("ignored/data.csv", "1,2,3\n"),
        ("secret.log", "ignored by *.log\n"),
        (".gitignore", "ignored/\n*.log\n"),
    ] {
        let path = work.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    std::fs::write(work.join("binary"), (0..=255).collect::<Vec<u8>>()).expect("written");
    std::fs::write(work.join("run.sh"), "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(work.join("run.sh"), std::fs::Permissions::from_mode(0o755)).expect("mode");
    std::fs::create_dir(work.join("empty")).expect("made");
    symlink("notes.txt", work.join("link")).expect("a link");
}

fn bash(line: &str) -> String {
    format!("<bash>{line}</bash>")
}

const HARM: [&str; 5] = [
    "rm -rf src ignored && rmdir empty && rm link",
    "echo overwritten > notes.txt; : > secret.log; chmod 600 run.sh; rm binary; mkdir binary; echo x > binary/inside",
    "for f in run.sh .gitignore; do sed -i 's/.*/gone/' $f; done; ln -s /etc/hostname link",
    "mkdir -p new/folder && echo new > new/folder/file",
    "mv notes.txt moved.txt; truncate -s 0 moved.txt",
];

fn session(world: &World, prompt: &str) {
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", prompt]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

fn undo(world: &World, arguments: &[&str]) -> (i32, String) {
    let output = world.run(arguments);
    (code(&output), String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output))
}

#[test]
fn what_a_session_did_by_shell_outside_git_is_taken_back_byte_for_byte() {
    let mut replies: Vec<_> = HARM.iter().map(|line| says(&bash(line))).collect();
    replies.push(says("<done>It is all gone.</done>"));
    let world = World::new(replies);
    fill(&world.work());
    let before = all(&world.work());
    session(&world, "clean up");
    assert_ne!(all(&world.work()), before);
    let (code, told) = undo(&world, &["undo"]);
    assert_eq!((code, all(&world.work()) == before), (0, true), "{told}");
    assert!(told.contains("brought back  src/main.rs") && told.contains("removed       new/folder/file"), "{told}");
    let (code, told) = undo(&world, &["undo"]);
    assert!(code == 0 && told.contains("nothing to undo"), "{told}");
}

#[test]
fn what_git_did_to_files_by_shell_is_taken_back_untracked_and_ignored_ones_too() {
    let lines = ["git checkout -- src && git clean -fdxq", "git checkout -q other", "rm -rf src; git stash list"];
    let mut replies: Vec<_> = lines.iter().map(|line| says(&bash(line))).collect();
    replies.push(says("<done>Checked out.</done>"));
    let world = World::new(replies);
    let work = world.work();
    fill(&work);
    sh(
        &work,
        "git init -q -b main . && git config user.name n && git config user.email n@example.com && git add src .gitignore \
         && git commit -qm one && git checkout -qb other && echo other > src/main.rs && git commit -qam two && git checkout -q main",
    );
    std::fs::write(work.join("src/main.rs"), "fn main() { /* not committed */ }\n").expect("written");
    let before = all(&work);
    session(&world, "switch");
    assert_ne!(all(&work), before);
    let (code, told) = undo(&world, &["undo"]);
    assert_eq!((code, all(&work) == before), (0, true), "{told}");
}

#[test]
fn what_a_person_changed_since_stays_and_is_said() {
    let world = World::new(vec![says(&bash("echo model > a; echo model > b; rm c")), says("<done>x</done>")]);
    let work = world.work();
    ["a", "b", "c"].iter().for_each(|name| std::fs::write(work.join(name), "person\n").expect("written"));
    session(&world, "x");
    std::fs::write(work.join("a"), "person, later\n").expect("written");
    let (code, told) = undo(&world, &["undo"]);
    assert!(code == 6 && told.contains("left alone    a: somebody changed it since"), "{code} {told}");
    let texts = ["a", "b", "c"].map(|name| std::fs::read_to_string(work.join(name)).expect("a file"));
    assert_eq!(texts, ["person, later\n", "person\n", "person\n"]);
}

#[test]
fn what_cannot_be_brought_back_is_said_before_the_turn() {
    let world =
        World::new(vec![says(&bash("rm big")), says("<done>x</done>")]).settings("snapshots: {max_file_bytes: 1000}\n");
    std::fs::write(world.work().join("big"), vec![b'x'; 2000]).expect("written");
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "x"]);
    let told = stderr(&output);
    let (note, call) = (told.find("/undo will not be able to bring back: big"), told.find("→ bash"));
    assert!(note.is_some() && note < call, "{told}");
    let (code, told) = undo(&world, &["undo"]);
    assert!(code == 6 && told.contains("left alone    big: its old content was not kept"), "{told}");
}

#[test]
fn without_snapshots_there_is_nothing_to_undo() {
    let world = World::new(vec![says(&bash("rm a")), says("<done>x</done>")]);
    std::fs::write(world.work().join("a"), "x").expect("written");
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "--snapshots", "off", "x"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(!world.home().join(".local/state/selfsmith/snapshots").exists());
    assert!(undo(&world, &["undo"]).1.contains("nothing to undo"));
}

#[test]
fn a_dangerous_command_does_not_run_where_nobody_can_be_asked() {
    let world = World::new(vec![says(&bash("rm -rf ../home/keep")), says("<done>I may not.</done>")]);
    std::fs::write(world.home().join("keep"), "x").expect("written");
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "--sandbox", "off", "x"]);
    assert!(world.home().join("keep").exists());
    assert!(stderr(&output).contains("it removes something outside of the workspace"), "{}", stderr(&output));
}

#[test]
fn a_rule_refuses_a_command_and_a_wrong_rule_is_an_error_with_its_place() {
    let rule = "tools:\n  rules: [{deny: 'touch *', tests: {match: [touch x]}}]\n";
    let world = World::new(vec![says(&bash("sh -c 'touch made'")), says("<done>No.</done>")]).settings(rule);
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "x"]);
    assert!(!world.work().join("made").exists(), "{}", stderr(&output));
    let wrong = World::new(vec![]).settings("tools:\n  rules: [{deny: 'touch', tests: {match: [touch x]}}]\n");
    let output = wrong.run(&["exec", "x"]);
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("rule 1 does not match its example `touch x`"), "{}", stderr(&output));
}

/// A set of edits of two files as a kill leaves it after the first: the journal is there, and one old text.
fn half_a_set(world: &World, files: [&str; 2]) {
    use sha2::{Digest, Sha256};
    use std::os::unix::ffi::OsStrExt;
    let work = world.work().canonicalize().expect("it is there");
    let record = world.records().first().cloned().expect("a session was there");
    let name = record.parent().and_then(Path::file_name).expect("a folder").to_owned();
    let folder = world.home().join(".local/state/selfsmith/edits").join(name);
    std::fs::create_dir_all(&folder).expect("made");
    let bytes = |path: &Path| serde_json::json!({ "Unix": path.as_os_str().as_bytes() });
    let digest = |text: &str| -> Vec<u8> { Sha256::digest(text).to_vec() };
    let entry = |(n, file): (usize, &&str)| {
        let beside = work.join(format!(".selfsmith-1-{n}.tmp"));
        std::fs::write(work.join(format!(".selfsmith-1-{n}.tmp.old")), "old").expect("written");
        let done = n == 0;
        std::fs::write(if done { work.join(file) } else { beside.clone() }, "new").expect("written");
        serde_json::json!({
            "path": bytes(&work.join(file)), "beside": bytes(&beside), "old": digest("old"), "new": digest("new"),
        })
    };
    let entries: Vec<_> = files.iter().enumerate().map(entry).collect();
    let lines =
        [serde_json::json!({ "begun": { "files": entries } }), serde_json::json!({ "whole": { "through": [] } })];
    std::fs::write(folder.join("edits.journal"), lines.map(|line| format!("{line}\n")).concat()).expect("written");
}

#[test]
fn edits_that_were_cut_off_are_taken_back_and_said_and_under_read_only_only_said() {
    let world = World::new(vec![says("Hi."), says("Hi."), says("Hi.")]);
    assert_eq!(code(&world.run(&["exec", "x"])), 0);
    for file in ["a", "b"] {
        std::fs::write(world.work().join(file), "old").expect("written");
    }
    half_a_set(&world, ["a", "b"]);
    let texts = || ["a", "b"].map(|file| std::fs::read_to_string(world.work().join(file)).expect("a file"));
    let output = world.run(&["exec", "--approval", "read-only", "x"]);
    assert!(stderr(&output).contains("killed amid edits"), "{}", stderr(&output));
    assert_eq!(texts(), ["new", "old"]);
    let output = world.run(&["exec", "--approval", "auto", "x"]);
    assert!(stderr(&output).contains("they have their old texts again"), "{}", stderr(&output));
    assert_eq!(texts(), ["old", "old"]);
    assert_eq!(std::fs::read_dir(world.work()).expect("a folder").count(), 2);
    half_a_set(&world, ["a", "b"]);
    let output = world.run(&["undo"]);
    assert!(stderr(&output).contains("they have their old texts again"), "{}", stderr(&output));
    assert_eq!(texts(), ["old", "old"]);
}

#[test]
fn an_undo_is_taken_back_by_redo() {
    let world = World::new(vec![says(&bash("echo new > notes.txt")), says("<done>Done.</done>")]);
    std::fs::write(world.work().join("notes.txt"), "a day of work\n").expect("written");
    assert_eq!(code(&world.run(&["--channel", "text", "--approval", "auto", "exec", "x"])), 0);
    let text = || std::fs::read_to_string(world.work().join("notes.txt")).expect("a file");
    let output = world.run(&["undo"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("undo --redo"), "{output:?}");
    assert_eq!(text(), "a day of work\n");
    assert_eq!(code(&world.run(&["undo", "--redo"])), 0);
    assert_eq!(text(), "new\n");
    assert!(String::from_utf8_lossy(&world.run(&["undo", "--redo"]).stdout).contains("no undo to take back"));
}
