//! The REPL's line editor at a real pseudo-terminal: palette, names of files, several lines, pastes, wide characters,
//! history.

use crate::support::{World, says};
use crate::terminal::Terminal;

const TERM: &str = "xterm-256color";
const SIZE: (u16, u16) = (80, 24);

fn started(world: &World) -> Terminal {
    let mut terminal = Terminal::start(world, TERM, SIZE, &["--channel", "text"]);
    terminal.fresh();
    terminal
}

#[test]
fn a_slash_opens_the_palette_which_filters_chooses_completes_and_closes() {
    let world = World::new(vec![]);
    let mut terminal = started(&world);
    terminal.press("/");
    terminal.sees("› /");
    terminal.press("to");
    terminal.shows("palette-filtered", "› /to");
    terminal.press("\u{1b}[B");
    terminal.sees("› /tools");
    terminal.press("\u{1b}");
    terminal.misses("/tools");
    terminal.press("\u{15}/mod");
    terminal.sees("› /model");
    terminal.press("\t");
    terminal.sees_row("> /model");
    terminal.press("\r");
    terminal.sees("model: test-model");
    terminal.press("/quit\r");
    terminal.ends_with(0);
}

#[test]
fn on_a_small_screen_the_palette_is_cut_and_follows_the_choice() {
    let world = World::new(vec![]);
    let mut terminal = Terminal::start(&world, TERM, (40, 12), &[]);
    terminal.fresh();
    terminal.press("/");
    let all = terminal.until("eight commands", |screen| screen.contains("› /") && screen.lines().count() == 9);
    let rows: Vec<&str> = all.lines().collect();
    assert!(rows[0] == "> /" && rows[1].starts_with("› /"), "{all}");
    assert!(rows.iter().any(|row| row.ends_with('…')) && rows.iter().all(|row| row.chars().count() < 40), "{all}");
    terminal.press("\u{1b}[A");
    let is_last =
        |screen: &str| screen.lines().count() == 9 && screen.lines().last().is_some_and(|row| row.starts_with("› /"));
    terminal.until("the last command", is_last);
    terminal.press("\u{3}");
    terminal.leave();
}

#[test]
fn an_at_completes_names_of_files() {
    let world = World::new(vec![says("Read."), says("Read it.")]);
    for (name, text) in [("src/parser.rs", ""), ("src/printer.rs", ""), ("notes 1.md", ""), (".gitignore", "out\n")] {
        let path = world.work().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let mut terminal = started(&world);
    terminal.press("look at @p");
    terminal.shows("files-filtered", "src/printer.rs");
    terminal.press("\u{1b}[B\t");
    terminal.sees_row("> look at @src/printer.rs");
    terminal.press("@note");
    terminal.sees("› notes 1.md");
    terminal.press("\r");
    terminal.sees_row("> look at @src/printer.rs @\"notes 1.md\"");
    terminal.press("\r");
    terminal.sees("Read.");
    terminal.idle();
    // A name that was typed whole is sent by one Enter.
    terminal.press("and @src/parser.rs");
    terminal.sees("› src/parser.rs");
    terminal.press("\r");
    terminal.sees("Read it.");
    terminal.leave();
}

#[test]
fn names_are_offered_at_once_among_twenty_thousand_files() {
    let world = World::new(vec![]);
    for folder in 0..100 {
        let folder = world.work().join(format!("package{folder:02}"));
        std::fs::create_dir(&folder).expect("a folder");
        for file in 0..200 {
            std::fs::write(folder.join(format!("module{file:03}.rs")), "").expect("a file");
        }
    }
    let mut terminal = started(&world);
    terminal.press("@99/module199");
    terminal.sees("› package99/module199.rs");
    terminal.press("\t");
    terminal.sees_row("> @package99/module199.rs");
    terminal.press("\u{3}");
    terminal.leave();
}

#[test]
fn several_lines_are_typed_moved_through_and_sent_as_one_prompt() {
    let world = World::new(vec![says("Three lines.")]);
    let mut terminal = started(&world);
    terminal.press("first\u{1b}\rsecond\nthird\\\rfourth");
    terminal.shows("several-lines", "fourth");
    // Up to the second line, its end, and on.
    terminal.press("\u{1b}[A\u{1b}[A\u{5} and more");
    terminal.sees_row("  second and more");
    terminal.press("\r");
    terminal.sees("Three lines.");
    assert_eq!(world.prompts(), ["first\nsecond and more\nthird\nfourth"]);
    terminal.leave();
}

#[test]
fn two_thousand_pasted_lines_are_one_marker_and_are_sent_whole() {
    let world = World::new(vec![says("Long."), says("Edited.")]);
    let mut terminal = started(&world);
    let lines: Vec<String> = (1..=2000).map(|n| format!("line {n} 中文")).collect();
    let pasted = lines.join("\n");
    terminal.press("see: ");
    terminal.paste(&pasted.replace('\n', "\r"));
    terminal.press(" end");
    terminal.shows("paste-of-2000-lines", "] end");
    terminal.press("\r");
    terminal.sees("Long.");
    terminal.idle();
    assert_eq!(world.prompts(), [format!("see: {pasted} end")]);
    // The marker goes by one key, or opens by another and can be edited.
    terminal.paste(&pasted);
    terminal.sees("> [2000 pasted lines]");
    terminal.press("\u{7f}");
    terminal.sees_row(">");
    terminal.paste(&pasted);
    terminal.sees("> [2000 pasted lines]");
    terminal.press("\t\u{7f}\u{7f}edited");
    terminal.sees("  line 2000 edited");
    terminal.press("\r");
    terminal.sees("Edited.");
    assert_eq!(world.prompts()[1], format!("{}edited", pasted.trim_end_matches("中文")));
    terminal.leave();
}

#[test]
fn wide_characters_and_emoji_are_moved_over_and_deleted_whole() {
    let world = World::new(vec![says("好。")]);
    let mut terminal = started(&world);
    terminal.press("中文🙂x");
    terminal.cursor_at(2 + 2 + 2 + 2 + 1);
    terminal.press("\u{1b}[D\u{1b}[D");
    terminal.cursor_at(2 + 2 + 2);
    terminal.press("\u{7f}字");
    terminal.sees_row("> 中字🙂x");
    terminal.cursor_at(2 + 2 + 2);
    // An emoji of several characters goes by one key.
    terminal.press("\u{5}👨‍👩‍👧");
    terminal.sees("👧");
    terminal.press("\u{7f}\u{7f}é\u{301}");
    terminal.sees_row("> 中字🙂é\u{301}");
    terminal.press("\u{7f}\r");
    terminal.sees_row("好。");
    assert_eq!(world.prompts(), ["中字🙂"]);
    terminal.leave();
}

#[test]
fn long_lines_of_wide_characters_break_between_them() {
    let world = World::new(vec![]);
    let mut terminal = Terminal::start(&world, TERM, (40, 12), &[]);
    terminal.fresh();
    terminal.press(&format!("{}end", "汉字🙂".repeat(15)));
    terminal.shows("wide-rows", "end");
    terminal.press("\u{1}\u{1b}[B");
    terminal.cursor_at(2);
    terminal.press("\u{3}");
    terminal.leave();
}

#[test]
fn the_history_outlives_the_program_is_searched_and_holds_no_key() {
    let world = World::new(vec![says("One."), says("Two."), says("Three.")]);
    let secret = format!("sk-{}", "aB1".repeat(10));
    let mut terminal = started(&world);
    terminal.press("make the first\r");
    terminal.sees_row("One.");
    terminal.press(&format!("use {secret}\r"));
    terminal.sees_row("Two.");
    terminal.leave();
    let kept = std::fs::read_to_string(world.home().join(".local/state/selfsmith/history")).expect("the history");
    assert_eq!(kept, "make the first\nuse [redacted]\n");

    let mut terminal = started(&world);
    terminal.press("\u{1b}[A");
    terminal.sees_row("> use [redacted]");
    terminal.press("\u{15}draft\u{12}first");
    terminal.shows("history-search", "search: first");
    terminal.press("\r\r");
    terminal.sees_row("Three.");
    terminal.leave();
}

#[test]
fn ctrl_u_clears_and_ctrl_c_clears_before_it_leaves() {
    let world = World::new(vec![]);
    let mut terminal = started(&world);
    terminal.press("something");
    terminal.sees_row("> something");
    terminal.press("\u{15}");
    terminal.sees_row(">");
    terminal.press("again");
    terminal.sees_row("> again");
    terminal.press("\u{3}");
    terminal.sees_row(">");
    terminal.press("\u{3}");
    terminal.sees("press Ctrl-C again");
    terminal.press("\u{3}");
    terminal.ends_with(0);
}

#[test]
fn another_size_lays_what_is_typed_out_anew() {
    let world = World::new(vec![]);
    let mut terminal = started(&world);
    terminal.press(&"0123456789".repeat(7));
    terminal.sees(&"0123456789".repeat(7));
    terminal.resize(40, 24);
    terminal.shows("resized-narrow", "  789");
    terminal.resize(100, 24);
    terminal.until("one row", |screen| screen.lines().count() == 1 && screen.ends_with("0123456789"));
    terminal.press("\u{3}");
    terminal.leave();
}
