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
