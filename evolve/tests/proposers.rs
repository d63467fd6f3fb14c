//! Proposers in a real room: what they see, what they can change, what comes back.

use selfsmith::judgement::progress::Progress;
use selfsmith::proposer::command::{Command, Outside};
use selfsmith::proposer::room::Kit;
use selfsmith::proposer::{Proposer, Task};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn kit() -> Kit {
    Kit { wall: Duration::from_secs(60), memory: 1 << 30, ..Kit::default() }
}

fn command(line: &str, cwd: &Path) -> Command {
    let outside =
        Outside { cwd: cwd.to_owned(), path: Some("/usr/local/bin:/usr/bin:/bin".into()), closed: Vec::new() };
    Command::new(line, outside, kit()).expect("is a command")
}

const fn task<'a>(dir: &'a Path, diagnostics: Option<&'a str>) -> Task<'a> {
    Task { cycle: "c", goal: "Say hello to $USER", dir, target: None, attempt: 0, diagnostics }
}

fn quiet(_: Progress) {}

#[test]
fn a_target_folder_that_is_lent_is_cargos_and_can_be_written() {
    let (dir, target) = (tempfile::tempdir().expect("temporary folder"), tempfile::tempdir().expect("another"));
    fs::write(target.path().join("built"), "by the judge").expect("file");
    let line = r#"sh -c 'cat "$CARGO_TARGET_DIR/built"; echo more > "$CARGO_TARGET_DIR/mine"'"#;
    let task = Task { target: Some(target.path()), ..task(dir.path(), None) };
    let proposal = command(line, dir.path()).propose(task, &quiet).expect("proposes");
    assert_eq!(proposal.summary, "by the judge");
    assert_eq!(fs::read_to_string(target.path().join("mine")).expect("reads"), "more\n");
}

#[test]
fn a_command_gets_the_goal_and_its_files_come_back() {
    let dir = tempfile::tempdir().expect("temporary folder");
    fs::write(dir.path().join("a.txt"), "old\n").expect("file");
    let line = r#"sh -c 'cat > goal.txt; printf %s "$SELFSMITH_GOAL" > variable.txt; echo new > a.txt; pwd; echo; echo "Say hello"'"#;
    let proposal = command(line, dir.path()).propose(task(dir.path(), None), &quiet).expect("proposes");
    assert_eq!(proposal.summary, "Say hello");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("reads");
    assert_eq!(read("goal.txt"), "Say hello to $USER");
    assert_eq!(read("variable.txt"), "Say hello to $USER");
    assert_eq!(read("a.txt"), "new\n");
}

#[test]
fn a_repair_gets_the_diagnostics_behind_the_goal() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let line = r#"sh -c 'cat > in.txt; printf %s "$SELFSMITH_DIAGNOSTICS" > found.txt'"#;
    command(line, dir.path()).propose(task(dir.path(), Some("error[E0308]")), &quiet).expect("proposes");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("reads");
    assert_eq!(read("in.txt"), "Say hello to $USER\n\nerror[E0308]");
    assert_eq!(read("found.txt"), "error[E0308]");
}

#[test]
fn a_file_named_outside_can_be_read_and_not_written() {
    let caller = tempfile::tempdir().expect("temporary folder");
    let dir = tempfile::tempdir().expect("temporary folder");
    fs::write(caller.path().join("edit.sh"), "echo made > by.txt\necho more >> \"$0\" || echo refused > refused.txt\n")
        .expect("file");
    fs::write(caller.path().join("neighbour"), "secret").expect("file");
    command("sh edit.sh", caller.path()).propose(task(dir.path(), None), &quiet).expect("proposes");
    assert_eq!(fs::read_to_string(dir.path().join("by.txt")).expect("reads"), "made\n");
    assert!(dir.path().join("refused.txt").exists(), "the script could be written");
    assert!(!fs::read_to_string(caller.path().join("edit.sh")).expect("reads").contains("more\n\n"));
}

#[test]
fn neither_home_nor_neighbours_nor_the_network_exist_in_the_room() {
    let caller = tempfile::tempdir().expect("temporary folder");
    let dir = tempfile::tempdir().expect("temporary folder");
    fs::write(caller.path().join("secret"), "s").expect("file");
    let secret = caller.path().join("secret");
    // The path is put together inside, so that it is no word that names a file.
    let (head, tail) = (secret.parent().expect("has one").display(), "secret");
    let line = format!(
        r#"sh -c 'cat "{head}"/{tail} > leak.txt 2>/dev/null; ls /home /root > homes.txt 2>/dev/null; cat /proc/net/dev > net.txt; true'"#
    );
    command(&line, dir.path()).propose(task(dir.path(), None), &quiet).expect("proposes");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    assert_eq!((read("leak.txt").as_str(), read("homes.txt").trim()), ("", ""));
    let devices: Vec<&str> =
        read("net.txt").leak().lines().skip(2).filter_map(|l| l.split(':').next()).map(str::trim).collect();
    assert_eq!(devices, ["lo"]);
}

#[test]
fn a_command_that_fails_is_no_proposal() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let error = command("sh -c 'echo broken >&2; exit 3'", dir.path())
        .propose(task(dir.path(), None), &quiet)
        .expect_err("failed");
    assert!(error.what.contains("broken") && error.what.contains('3'), "{}", error.what);
}

#[test]
fn a_command_that_does_not_end_is_ended_and_said() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let outside = Outside { cwd: dir.path().to_owned(), path: Some("/usr/bin:/bin".into()), closed: Vec::new() };
    let short = Kit { wall: Duration::from_millis(300), ..kit() };
    let mut slow = Command::new("sh -c 'while :; do :; done'", outside, short).expect("is a command");
    let error = slow.propose(task(dir.path(), None), &quiet).expect_err("was ended");
    assert!(error.hint.contains("propose_seconds"), "{}", error.hint);
}
