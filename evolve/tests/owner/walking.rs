//! A review at the keyboard: file by file, hunk by hunk, in colour; and what else a person does with a candidate.

use crate::desk::*;
use std::fs;

/// Two hunks in one file, a changed word in another, a new file.
const CHANGE: &str = "sed -i -e 's/^line 3$/line three/' -e 's/^line 38$/line thirty-eight/' src/numbers.txt
sed -i 's/two/TWO/' src/words.txt
echo fresh > src/new.txt
echo 'Say it in words.'
";

#[test]
fn a_candidate_is_taken_hunk_by_hunk_and_lands_without_what_is_left_out() {
    let desk = Desk::new("");
    let candidate = desk.proposed(CHANGE);
    let before = desk.rev("main");
    let mut keyboard = desk.keyboard(&["review", "walk", &candidate]);
    let page = keyboard.sees("take it?");
    assert!(page.contains("risk        7 lines in 3 files") && page.contains("unchecked   "), "{page}");
    assert!(page.contains("src/new.txt: +1 -0 (file 1 of 3)") && page.contains("+fresh"), "{page}");
    keyboard.press("n\n");
    let page = keyboard.sees("take it?");
    assert!(page.contains("src/numbers.txt: +2 -2 (file 2 of 3)") && page.contains("hunk 1 of 2"), "{page}");
    // The words that differ stand out of their lines.
    assert!(
        page.contains("\u{1b}[31m\u{1b}[7m3\u{1b}[0m") && page.contains("\u{1b}[32m\u{1b}[7mthree\u{1b}[0m"),
        "{page:?}"
    );
    keyboard.press("?\n");
    keyboard.sees("it is left out");
    keyboard.sees("take it?");
    keyboard.press("y\n");
    let page = keyboard.sees("take it?");
    assert!(page.contains("hunk 2 of 2"), "{page}");
    keyboard.press("c\n");
    keyboard.sees("what is to be different?");
    keyboard.press("Write 38 in digits\n");
    keyboard.sees("in the inbox: ");
    keyboard.sees("take it?");
    keyboard.press("n\n");
    keyboard.sees("src/words.txt");
    keyboard.sees("take it?");
    keyboard.press("y\n");
    keyboard.sees("taken: 2 parts, left out: 2 parts");
    keyboard.sees("[y/n]");
    assert_eq!(desk.rev("main"), before, "nothing lands before the last word");
    keyboard.press("y\n");
    let (code, said) = keyboard.ends();
    assert_eq!(code, 0, "{said}");
    let numbers = desk.read("src/numbers.txt");
    assert!(numbers.contains("line three\n") && numbers.contains("line 38\n"), "{numbers}");
    assert!(desk.read("src/words.txt").contains("TWO") && !desk.repo().join("src/new.txt").exists());
    assert_eq!(desk.rev("main^"), before);
    let list = String::from_utf8(desk.selfsmith(&["review", "list"]).stdout).unwrap();
    assert!(list.contains("superseded") && list.contains("landed"), "{list}");
    assert_eq!(desk.selfsmith(&["review", "verify"]).status.code(), Some(0));
    // What was said of the second hunk is the next goal, with the words of the person first.
    let inbox: Vec<_> = goals(&desk);
    assert_eq!(inbox.len(), 1);
    assert!(inbox[0].starts_with("Write 38 in digits\n\nSaid of the candidate "), "{}", inbox[0]);
    assert!(inbox[0].contains("src/numbers.txt") && inbox[0].contains("    line thirty-eight"), "{}", inbox[0]);
}

/// What waits in the inbox.
fn goals(desk: &Desk) -> Vec<String> {
    let state = fs::read_dir(desk.root().join("state/selfsmith")).unwrap().next().unwrap().unwrap().path();
    let files = fs::read_dir(state.join("inbox")).into_iter().flatten().flatten();
    files.filter(|file| file.path().is_file()).map(|file| fs::read_to_string(file.path()).unwrap()).collect()
}

#[test]
fn all_of_it_is_an_approval_and_nothing_of_it_a_rejection() {
    let desk = Desk::new("");
    let candidate = desk.proposed(CHANGE);
    let walk = |keys: &[&str]| {
        let mut keyboard = desk.keyboard(&["review", "walk", &candidate]);
        for keys in keys {
            keyboard.sees("take it?");
            keyboard.press(keys);
        }
        keyboard
    };
    let mut none = walk(&["n\n", "d\n", "n\n"]);
    none.sees("Refuse it?");
    none.press("\n");
    let (code, said) = none.ends();
    assert_eq!(code, 11, "{said}");
    assert!(said.contains("nothing was decided"), "{said}");
    // The end of the keyboard's line is the end of the walk.
    let (code, said) = walk(&["y\n", "\u{4}"]).ends();
    assert_eq!(code, 11, "{said}");
    let before = desk.rev("main");
    let mut no = walk(&["y\n", "a\n", "y\n"]);
    no.sees("Land it?");
    no.press("n\n");
    assert_eq!((no.ends().0, desk.rev("main")), (11, before.clone()));
    let mut all = walk(&["y\n", "a\n", "y\n"]);
    all.sees("Land it?");
    all.press("y\n");
    let (code, said) = all.ends();
    assert_eq!(code, 0, "{said}");
    assert_eq!(desk.rev("main"), desk.rev(&format!("refs/selfsmith/candidates/{candidate}")));

    let other = desk.proposed("echo more >> src/words.txt\n");
    let mut keyboard = desk.keyboard(&["review", "walk", &other]);
    keyboard.sees("take it?");
    keyboard.press("n\n");
    keyboard.sees("Refuse it?");
    keyboard.press("not needed\n");
    assert_eq!(keyboard.ends().0, 0);
    let page = String::from_utf8(desk.selfsmith(&["review", "show", &other, "--json"]).stdout).unwrap();
    assert!(page.contains("not needed"), "{page}");
}

#[test]
fn a_page_shows_risk_what_nothing_checked_and_the_difference() {
    let desk = Desk::new("");
    let candidate =
        desk.proposed("sed -i 's/two/TWO/' src/words.txt; echo '# New' > docs/book.md; rm src/numbers.txt\n");
    let plain = String::from_utf8(desk.selfsmith(&["review", "show", &candidate]).stdout).unwrap();
    for line in [
        "risk        44 lines in 3 files (may land by itself: 200 in 5 files)",
        "risk        in a zone that a person always looks at: docs/book.md",
        "risk        removed: src/numbers.txt",
        "unchecked   ",
        "-two",
        "+TWO",
    ] {
        assert!(plain.contains(line), "{line}: {plain}");
    }
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let (_, coloured) = desk.keyboard(&["review", "show", &candidate]).ends();
    assert!(coloured.contains("\u{1b}[32m\u{1b}[7mTWO\u{1b}[0m"), "{coloured:?}");
}

#[test]
fn parts_can_be_left_out_without_walking() {
    let desk = Desk::new("landing: auto\n");
    let candidate = desk.proposed(CHANGE);
    let output = desk.selfsmith(&[
        "review",
        "approve",
        &candidate,
        "--leave-out",
        "src/numbers.txt:1",
        "--leave-out",
        "src/new.txt",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let numbers = desk.read("src/numbers.txt");
    assert!(numbers.contains("line 3\n") && numbers.contains("line thirty-eight\n"), "{numbers}");
    let walk = desk.selfsmith(&["review", "walk", &candidate]);
    assert_eq!(walk.status.code(), Some(2), "{}", told(&walk));
    assert!(told(&walk).contains("--leave-out"), "{}", told(&walk));
}

#[test]
fn an_approval_after_the_branch_moved_lands_there_or_says_where_both_changed_the_same() {
    let desk = Desk::new("landing: auto\n");
    let candidate = desk.proposed("sed -i 's/two/TWO/' src/words.txt\n");
    let other = desk.proposed("sed -i 's/two/Two/' src/words.txt\n");
    desk.write("notes.txt", "theirs\n");
    desk.commit("A person goes on");
    let theirs = desk.rev("main");
    let output = desk.selfsmith(&["review", "approve", &candidate, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!((desk.rev("main^"), text(&last(&output), "landed")), (theirs, desk.rev("main").as_str()));
    let output = desk.selfsmith(&["review", "approve", &other]);
    assert_eq!(output.status.code(), Some(13), "{}", told(&output));
    assert!(told(&output).contains("same lines of src/words.txt"), "{}", told(&output));
}

#[test]
fn a_landing_that_made_a_command_fail_is_found_among_many() {
    let desk = Desk::new("landing: auto\n");
    let none = desk.selfsmith(&["review", "bisect", "--", "true"]);
    assert_eq!(none.status.code(), Some(2), "{}", told(&none));
    for n in 0..5 {
        let script =
            if n == 3 { "echo broken > src/state.txt\n".to_owned() } else { format!("echo {n} > src/f{n}.txt\n") };
        assert_eq!(text(&desk.evolved(&script, "auto"), "end"), "landed");
        desk.write("notes.txt", &format!("{n}\n"));
        desk.commit("A person's own");
    }
    let check = "! grep -q broken src/state.txt";
    let output = desk.selfsmith(&["review", "bisect", "--json", "--", "sh", "-c", check]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let found = last(&output);
    let first = found.get("first").unwrap();
    assert_eq!(text(&found, "found"), "found", "{found}");
    assert_eq!(text(first, "commit"), desk.git(&["log", "--format=%H", "--diff-filter=A", "--", "src/state.txt"]));
    let holds = desk.selfsmith(&["review", "bisect", "--", "true"]);
    assert!(String::from_utf8_lossy(&holds.stdout).contains("holds on the last landing"));
}

#[test]
fn one_can_look_back_to_any_operation_and_any_time() {
    let desk = Desk::new("landing: auto\n");
    let first = text(&desk.evolved("echo a >> src/words.txt\n", "auto"), "cycle").to_owned();
    let (after_first, waiting) = (desk.rev("main"), desk.proposed("echo b >> src/words.txt\n"));
    desk.selfsmith(&["review", "approve", &waiting]);
    let at = |moment: &str| last(&desk.selfsmith(&["at", moment, "--json"]));
    let stood = at(&first);
    assert_eq!(stood.pointer("/targets/refs~1heads~1main").and_then(|v| v.as_str()), Some(after_first.as_str()));
    assert_eq!(stood.get("items").and_then(|items| items.as_array()).map(Vec::len), Some(1));
    let now = at("2999-01-01");
    assert_eq!(now.pointer("/targets/refs~1heads~1main").and_then(|v| v.as_str()), Some(desk.rev("main").as_str()));
    for nothing in ["1999-01-01", "nothing-of-that-name"] {
        let output = desk.selfsmith(&["at", nothing]);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    }
    let page = String::from_utf8(desk.selfsmith(&["at", &first]).stdout).unwrap();
    assert!(page.contains(&format!("after {first}")) && page.contains(&after_first), "{page}");
}

#[test]
fn only_what_is_over_is_forgotten_and_only_by_a_person() {
    let desk = Desk::new("landing: auto\n");
    let landed = text(&desk.evolved("echo a >> src/words.txt\n", "auto"), "candidate").to_owned();
    let waiting = desk.proposed("echo b >> src/words.txt\n");
    let refused = text(&desk.evolved("echo BREAK >> src/words.txt\n", "auto"), "candidate").to_owned();
    let kept = |id: &str| !desk.rev(&format!("refs/selfsmith/candidates/{id}")).is_empty();
    let young = desk.selfsmith(&["gc", "--dry-run"]);
    assert_eq!(young.status.code(), Some(0), "{}", told(&young));
    assert!(told(&young).contains("younger than 30 days"), "{}", told(&young));
    let would = desk.selfsmith(&["gc", "--days", "0", "--dry-run", "--json"]);
    let would = last(&would);
    assert_eq!(would.pointer("/candidates/0/id").and_then(|v| v.as_str()), Some(refused.as_str()), "{would}");
    // The landing policy is no word for forgetting.
    let nobody = desk.selfsmith(&["gc", "--days", "0"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(told(&nobody).contains("forgetting: unattended"), "{}", told(&nobody));
    assert!(kept(&refused));
    let (code, said) = desk.keyboard(&["gc", "--days", "0"]).ends();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("forgotten: 1 candidate"), "{said}");
    assert!(!kept(&refused) && kept(&landed) && kept(&waiting));
    desk.git(&["gc", "-q", "--prune=now"]);
    let whole = desk.selfsmith(&["review", "verify"]);
    assert_eq!(whole.status.code(), Some(0), "{}", String::from_utf8_lossy(&whole.stdout));
    let list = String::from_utf8(desk.selfsmith(&["review"]).stdout).unwrap();
    assert!(list.contains("forgotten"), "{list}");
    let operation = desk.selfsmith(&["ops", "--json"]);
    let newest = String::from_utf8(operation.stdout).unwrap().lines().next().unwrap().to_owned();
    assert!(newest.contains("\"kind\":\"forgetting\"") && newest.contains("\"terminal\""), "{newest}");
    let undone = desk.selfsmith(&["undo"]);
    assert_eq!(undone.status.code(), Some(2), "{}", told(&undone));
    assert!(told(&undone).contains("moved nothing"), "{}", told(&undone));
    desk.settings("forgetting: unattended\n");
    assert_eq!(desk.selfsmith(&["gc", "--days", "0"]).status.code(), Some(0));
}

#[test]
fn a_branch_that_moves_while_a_change_is_proposed_is_followed() {
    use std::io::BufRead;
    let desk = Desk::new("landing: auto\n");
    let waits =
        "cmd:sh -c 'touch here; until [ -e go ]; do sleep 0.05; done; rm go here; sed -i s/two/TWO/ src/words.txt'";
    let words = ["evolve", "--goal", "Say it better", "--proposer", waits, "--json"];
    let mut child = desk.command(&words).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let started = lines.find(|line| line.contains("cycle_started")).unwrap();
    let started: serde_json::Value = serde_json::from_str(&started).unwrap();
    let folder = std::path::PathBuf::from(text(&started, "folder"));
    while !folder.join("here").exists() {
        std::thread::yield_now();
    }
    desk.write("src/numbers.txt", "none\n");
    desk.commit("A person was faster");
    let theirs = desk.rev("main");
    fs::write(folder.join("go"), "").unwrap();
    let all: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{all:?}");
    let end: serde_json::Value = serde_json::from_str(all.last().unwrap()).unwrap();
    assert_eq!((text(&end, "end"), text(&end, "landed")), ("landed", desk.rev("main").as_str()));
    assert_eq!((desk.rev("main^"), desk.read("src/words.txt").as_str()), (theirs, "one\nTWO\nthree\n"));
    assert!(all.iter().any(|line| line.contains("is made anew where it is now")), "{all:?}");
    assert_eq!(desk.selfsmith(&["review", "verify"]).status.code(), Some(0));
}
