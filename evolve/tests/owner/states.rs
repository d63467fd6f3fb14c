//! Repositories in every state: worked with, or refused with a sentence that says what is wrong and what to do, the documented
//! exit code, and nothing lost.

use crate::desk::*;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The judge in another folder, without a terminal.
fn there(desk: &Desk, folder: &Path, arguments: &[&str]) -> Output {
    desk.command(arguments).current_dir(folder).output().unwrap()
}

/// A change to the words, landed at once.
fn evolve(desk: &Desk, folder: &Path, more: &[&str]) -> Output {
    let proposer = "cmd:sed -i s/two/TWO/ src/words.txt";
    let arguments = ["evolve", "--goal", "Say it better", "--proposer", proposer, "--landing", "auto", "--json"];
    there(desk, folder, &[&arguments, more].concat())
}

#[track_caller]
fn refused(output: &Output, code: i32, words: &[&str]) {
    let said = told(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.starts_with("could not ") && said.contains("\n  next: "), "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[track_caller]
fn landed(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}\n{}", told(output), String::from_utf8_lossy(&output.stdout));
    assert_eq!(text(&last(output), "end"), "landed", "{}", told(output));
}

fn git(desk: &Desk, folder: &Path, args: &[&str]) -> String {
    let output = desk.outside("git").arg("-C").arg(folder).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", told(&output));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn a_bare_repository_is_worked_with() {
    let desk = Desk::new("landing: auto\n");
    let bare = desk.root().join("bare.git");
    desk.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    landed(&evolve(&desk, &bare, &[]));
    assert_eq!(git(&desk, &bare, &["show", "main:src/words.txt"]), "one\nTWO\nthree");
    assert_eq!(there(&desk, &bare, &["review", "verify"]).status.code(), Some(0));
}

#[test]
fn an_empty_repository_has_nothing_to_work_on() {
    let desk = Desk::new("landing: auto\n");
    let empty = desk.root().join("empty");
    fs::create_dir(&empty).unwrap();
    git(&desk, &empty, &["init", "-q", "-b", "main"]);
    refused(&evolve(&desk, &empty, &[]), 2, &["refs/heads/main", "no commit", "commit something"]);
    for command in ["review", "ops", "lineage"] {
        assert_eq!(there(&desk, &empty, &[command]).status.code(), Some(0), "{command}");
    }
}

#[test]
fn a_shallow_clone_is_worked_with() {
    let desk = Desk::new("landing: auto\n");
    desk.commit_more();
    let shallow = desk.root().join("shallow");
    let source = format!("file://{}", desk.repo().display());
    git(&desk, desk.root(), &["clone", "-q", "--depth", "1", &source, "shallow"]);
    assert_eq!(git(&desk, &shallow, &["rev-list", "--count", "main"]), "1");
    landed(&evolve(&desk, &shallow, &[]));
    assert_eq!(git(&desk, &shallow, &["status", "--porcelain"]), "");
    assert_eq!(there(&desk, &shallow, &["review", "verify"]).status.code(), Some(0));
}

#[test]
fn a_detached_head_needs_a_branch_by_name() {
    let desk = Desk::new("landing: auto\n");
    desk.git(&["checkout", "-q", "--detach"]);
    let head = desk.rev("HEAD");
    refused(&evolve(&desk, &desk.repo(), &[]), 2, &["on no branch", "--branch"]);
    landed(&evolve(&desk, &desk.repo(), &["--branch", "main"]));
    assert_eq!((desk.rev("HEAD"), desk.rev("main^")), (head.clone(), head));
    assert_eq!(desk.git(&["status", "--porcelain"]), "", "the files of another commit stay");
}

#[test]
fn a_locked_index_keeps_the_checkout_and_a_locked_branch_keeps_the_landing_for_later() {
    let desk = Desk::new("landing: auto\n");
    let lock = desk.repo().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let output = evolve(&desk, &desk.repo(), &[]);
    landed(&output);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(lines.contains("index.lock") && desk.read("src/words.txt").contains("two"), "{lines}");
    fs::remove_file(&lock).unwrap();
    desk.git(&["reset", "-q", "--hard"]);

    let before = desk.rev("main");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let lock = desk.repo().join(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    let output = desk.selfsmith(&["review", "approve", &candidate]);
    refused(&output, 1, &["main.lock", "remove it"]);
    assert_eq!(desk.rev("main"), before);
    assert!(lock.exists(), "another's lock");
    fs::remove_file(&lock).unwrap();
    // What was begun is finished by the next command that may.
    let next = desk.selfsmith(&["undo", "nothing-of-that-name"]);
    assert_eq!(next.status.code(), Some(2), "{}", told(&next));
    assert_eq!(desk.rev("main^"), before, "{}", told(&next));
    assert_eq!(desk.selfsmith(&["review", "verify"]).status.code(), Some(0));
}

/// Run a script where it may mount, in namespaces of its own.
fn unshared(desk: &Desk, script: &str) -> Output {
    let mut command = desk.outside("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).current_dir(desk.root());
    command.env("SELFSMITH", SELFSMITH).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_read_only_repository_says_so_and_changes_nothing() {
    let desk = Desk::new("landing: auto\n");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let refs = desk.git(&["for-each-ref"]);
    let script = format!(
        "mount --bind repo repo && mount -o remount,bind,ro repo && cd repo && \
         \"$SELFSMITH\" review list >/dev/null && \"$SELFSMITH\" review show {candidate} >/dev/null && \
         \"$SELFSMITH\" review approve {candidate}"
    );
    let output = unshared(&desk, &script);
    refused(&output, 1, &["may write"]);
    assert_eq!(desk.git(&["for-each-ref"]), refs);
    // Where it can be written again, what was approved lands.
    let next = desk.selfsmith(&["ops"]);
    assert_eq!(next.status.code(), Some(0), "{}", told(&next));
    let approved = desk.selfsmith(&["review", "approve", &candidate]);
    let list = String::from_utf8(desk.selfsmith(&["review"]).stdout).unwrap();
    assert!(list.contains("landed"), "{list} {}", told(&approved));
    assert_eq!(desk.selfsmith(&["review", "verify"]).status.code(), Some(0));
}

#[test]
fn a_full_disk_says_so_and_what_was_begun_is_finished_when_there_is_room() {
    let desk = Desk::new("landing: auto\n");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    fs::create_dir(desk.root().join("small")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=8m tmpfs small && cp -a repo small/repo && mkdir small/state && cd small/repo && \
         export XDG_STATE_HOME=$PWD/../state && before=$(git rev-parse main) && \
         {{ cat /dev/zero > ../filler 2>/dev/null; true; }} && \
         {{ \"$SELFSMITH\" review approve {candidate}; echo \"full=$?\"; test \"$(git rev-parse main)\" = \"$before\"; echo \"stands=$?\"; }} && \
         git fsck --strict >/dev/null 2>&1; echo \"whole=$?\"; rm ../filler; \
         \"$SELFSMITH\" review approve {candidate} || \"$SELFSMITH\" review list; echo \"then=$?\"; \
         \"$SELFSMITH\" review verify; echo \"verify=$?\"; git show main:src/words.txt"
    );
    let output = unshared(&desk, &script);
    let said = told(&output);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("full=1\nstands=0\nwhole=0\n"), "{text} {said}");
    assert!(said.contains("could not ") && said.contains("next: ") && said.contains("room"), "{said}");
    assert!(
        text.contains("then=0\n") && text.contains("verify=0\n") && text.ends_with("three\nfour\n"),
        "{text} {said}"
    );
}

#[test]
fn a_write_that_the_system_refuses_for_its_size_is_said() {
    let desk = Desk::new("landing: auto\n");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let before = desk.rev("main");
    let script = format!("trap '' XFSZ; ulimit -f 1; exec \"$SELFSMITH\" review approve {candidate}");
    let mut command = desk.outside("setsid");
    command.args(["--wait", "sh", "-c", &script]).current_dir(desk.repo()).env("SELFSMITH", SELFSMITH);
    let output = command.output().unwrap();
    refused(&output, 1, &["room"]);
    assert_eq!(desk.rev("main"), before);
    let approved = desk.selfsmith(&["review", "approve", &candidate]);
    let list = String::from_utf8(desk.selfsmith(&["review"]).stdout).unwrap();
    assert!(list.contains("landed") || list.contains("waiting"), "{list} {}", told(&approved));
    assert_eq!(desk.selfsmith(&["review", "verify"]).status.code(), Some(0));
}

#[test]
fn a_closed_stdout_is_a_normal_end_and_loses_nothing() {
    let desk = Desk::new("landing: auto\n");
    let run = |line: &str| {
        let mut command = desk.outside("setsid");
        command.args(["--wait", "bash", "-c", line]).current_dir(desk.repo()).env("SELFSMITH", SELFSMITH);
        let output = command.output().unwrap();
        assert!(!told(&output).contains("panicked"), "{}", told(&output));
        output.status.code()
    };
    let evolve = "evolve --goal 'Say it better' --proposer 'cmd:sed -i s/two/TWO/ src/words.txt' --landing auto --json";
    assert_eq!(run(&format!("\"$SELFSMITH\" {evolve} >&-")), Some(0));
    assert_eq!(desk.git(&["show", "main:src/words.txt"]), "one\nTWO\nthree");
    // A reader that goes away after the first line.
    let evolve = evolve.replace("two/TWO", "TWO/two");
    assert_eq!(run(&format!("\"$SELFSMITH\" {evolve} | head -n 1 >/dev/null; exit ${{PIPESTATUS[0]}}")), Some(0));
    assert_eq!(desk.git(&["show", "main:src/words.txt"]), "one\ntwo\nthree");
    for command in ["review", "review list --json", "ops", "lineage", "at 2999-01-01", "review verify"] {
        assert_eq!(run(&format!("\"$SELFSMITH\" {command} >&- 2>&-")), Some(0), "{command}");
    }
}

#[test]
fn a_target_that_is_checked_out_in_a_linked_work_tree_follows_there() {
    let desk = Desk::new("landing: auto\n");
    desk.git(&["checkout", "-q", "-b", "work"]);
    desk.git(&["worktree", "add", "-q", "../linked", "main"]);
    let linked = desk.root().join("linked");
    landed(&evolve(&desk, &desk.repo(), &["--branch", "main"]));
    assert_eq!(fs::read_to_string(linked.join("src/words.txt")).unwrap(), "one\nTWO\nthree\n");
    assert!(desk.read("src/words.txt").contains("two"), "another branch's files");
    // From within the linked one, and with work of its own there.
    fs::write(linked.join("notes.txt"), "unfinished\n").unwrap();
    let output = there(&desk, &linked, &["undo"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("To catch up and keep your work"), "{}", told(&output));
    assert_eq!(fs::read_to_string(linked.join("notes.txt")).unwrap(), "unfinished\n");
}

#[test]
fn hooks_and_signing_are_said_not_to_happen() {
    let desk = Desk::new("landing: auto\n");
    desk.git(&["config", "commit.gpgSign", "true"]);
    desk.git(&["config", "core.hooksPath", "hooks"]);
    desk.write("hooks/pre-commit", "#!/bin/sh\ntouch ran\nexit 1\n");
    desk.write("hooks/commit-msg", "not executable\n");
    let made = Command::new("chmod").arg("+x").arg(desk.repo().join("hooks/pre-commit")).status().unwrap();
    assert!(made.success());
    let output = evolve(&desk, &desk.repo(), &[]);
    landed(&output);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        lines.contains("these hooks of the repository do not run: pre-commit\"") && lines.contains("not signed"),
        "{lines}"
    );
    assert!(!desk.repo().join("ran").exists());
}

#[test]
fn files_of_a_filter_wait_for_a_person_and_line_ends_of_a_checkout_are_gits() {
    let desk = Desk::new("landing: auto\n");
    desk.write(".gitattributes", "*.big filter=lfs\n");
    desk.write(".selfsmith/evolve.yaml", &desk.read(".selfsmith/evolve.yaml").replace("[txt,", "[txt, big,"));
    desk.commit("Attributes");
    let line = desk.evolved("echo big > src/a.big\n", "auto");
    assert_eq!((text(&line, "verdict"), text(&line, "gate")), ("needs-human", "bounds"), "{line}");
    assert!(text(&line, "why").contains("goes through a git filter"), "{line}");

    desk.git(&["config", "core.autocrlf", "true"]);
    fs::remove_file(desk.repo().join("src/words.txt")).unwrap();
    desk.git(&["checkout", "-q", "src/words.txt"]);
    assert_eq!(desk.read("src/words.txt"), "one\r\ntwo\r\nthree\r\n");
    landed(&evolve(&desk, &desk.repo(), &[]));
    assert_eq!(desk.read("src/words.txt"), "one\r\nTWO\r\nthree\r\n");
    assert_eq!(
        (desk.git(&["status", "--porcelain"]), desk.git(&["show", "main:src/words.txt"])),
        (String::new(), "one\nTWO\nthree".into())
    );
}

#[test]
fn submodules_stay_and_none_comes_by_a_candidate() {
    let desk = Desk::new("landing: auto\n");
    let pinned = format!("160000,{},vendor", desk.rev("HEAD"));
    desk.git(&["update-index", "--add", "--cacheinfo", &pinned]);
    desk.git(&["commit", "-q", "-m", "A submodule"]);
    landed(&evolve(&desk, &desk.repo(), &[]));
    assert!(desk.git(&["ls-tree", "main", "vendor"]).starts_with("160000 commit"));
    let line = desk.evolved(
        "git init -q src/inner && cd src/inner && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x\n",
        "auto",
    );
    assert_eq!((text(&line, "verdict"), text(&line, "gate")), ("reject", "bounds"), "{line}");
}

#[test]
fn what_libgit2_would_misread_is_refused_by_name() {
    type Setting = (&'static str, &'static str);
    let cases: [(&[Setting], &str, &str); 4] = [
        (&[("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "origin")], "partial clone", "--refetch"),
        (&[("core.repositoryFormatVersion", "1"), ("extensions.refStorage", "reftable")], "reftable", "refs migrate"),
        (&[("core.repositoryFormatVersion", "1"), ("extensions.objectFormat", "sha256")], "sha256", "sha1"),
        (&[("core.sparseCheckout", "true")], "sparse checkout", "sparse-checkout disable"),
    ];
    for (settings, what, remedy) in cases {
        let desk = Desk::new("landing: auto\n");
        for (name, value) in settings {
            let config = desk.repo().join(".git/config");
            let set = desk.outside("git").args(["config", "-f"]).arg(&config).args([name, value]).status().unwrap();
            assert!(set.success());
        }
        refused(&evolve(&desk, &desk.repo(), &[]), 2, &[what, remedy]);
    }
}

#[test]
fn a_repository_of_another_user_is_refused() {
    let desk = Desk::new("landing: auto\n");
    // Only root can give files away; elsewhere a namespace in which nobody is mapped makes them another's.
    let given = Command::new("chown").args(["-R", "12345:12345"]).arg(desk.repo()).output().unwrap().status.success();
    let output = if given {
        evolve(&desk, &desk.repo(), &[])
    } else {
        let mut command = desk.outside("unshare");
        command.args(["--user", SELFSMITH, "review"]).current_dir(desk.repo()).output().unwrap()
    };
    refused(&output, 2, &["belongs to another user", "safe.directory"]);
}
