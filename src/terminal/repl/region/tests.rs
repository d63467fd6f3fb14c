#[path = "../../../../tests/agent/scrollback.rs"]
mod scrollback;

use super::*;
use proptest::prelude::*;
use scrollback::everything;

fn picture(rows: &[&str], cursor: (usize, &str)) -> Picture {
    Picture { rows: rows.iter().map(|row| (*row).to_owned()).collect(), cursor: Some((cursor.0, cursor.1.to_owned())) }
}

/// What a terminal shows after writes, and where its cursor is.
fn screen(writes: &[String]) -> (Vec<String>, (u16, u16)) {
    let mut terminal = vt100::Parser::new(6, 10, 20);
    writes.iter().for_each(|write| terminal.process(write.as_bytes()));
    let rows = terminal.screen().contents().lines().map(str::to_owned).collect();
    (rows, terminal.screen().cursor_position())
}

#[test]
fn final_lines_go_above_and_the_rows_stay_below() {
    let mut region = Region::new(Reflow::Yes);
    let mut writes = vec![region.paint(picture(&["> a"], (0, "> a")), 10)];
    writes.push(region.above("one\ntwo\n", picture(&["wait", "> a"], (1, "> a")), 10));
    writes.push(region.paint(picture(&["> ab"], (0, "> a")), 10));
    assert_eq!(screen(&writes), (vec!["one".to_owned(), "two".to_owned(), "> ab".to_owned()], (2, 3)));
}

#[test]
fn many_lines_scroll_and_every_one_of_them_is_kept() {
    let mut region = Region::new(Reflow::Yes);
    let mut terminal = vt100::Parser::new(4, 10, 100);
    for n in 0..20 {
        let write = region.above(&format!("line {n}\n"), picture(&["wait", "> "], (1, "> ")), 10);
        terminal.process(write.as_bytes());
    }
    terminal.screen_mut().set_scrollback(100);
    assert!(terminal.screen().contents().starts_with("line 0\nline 1\nline 2\nline 3"));
}

#[test]
fn a_picture_that_is_there_already_writes_nothing() {
    let mut region = Region::new(Reflow::Yes);
    let same = || picture(&["> a"], (0, "> a"));
    region.paint(same(), 10);
    assert_eq!(region.paint(same(), 10), "");
}

#[test]
fn fewer_rows_leave_nothing_behind() {
    let mut region = Region::new(Reflow::Yes);
    let mut writes = vec![region.paint(picture(&["a", "b", "c", "d"], (1, "b")), 10)];
    writes.push(region.paint(picture(&["a", "x"], (0, "")), 10));
    assert_eq!(screen(&writes), (vec!["a".to_owned(), "x".to_owned()], (0, 0)));
    writes.push(region.wipe(10));
    assert_eq!(screen(&writes), (vec![], (0, 0)));
}

#[test]
fn a_narrower_screen_breaks_rows_and_all_of_them_are_found_again() {
    let mut region = Region::new(Reflow::Yes);
    region.paint(picture(&["12345678", "> 1234567"], (1, "> 1234567")), 10);
    // Two rows of the first, and the cursor in the third row of the second.
    assert_eq!(region.rows_above(4), 2 + 2);
    assert_eq!(Region { reflow: Reflow::No, ..region }.rows_above(4), 1);
}

proptest! {
    /// Whatever is painted and printed in whatever order: every final line stands once, in order, above the rows.
    #[test]
    fn final_lines_are_never_touched(steps in proptest::collection::vec((0..3_u8, 0..5_usize, 0..5_usize), 1..40)) {
        let mut region = Region::new(Reflow::Yes);
        let mut terminal = vt100::Parser::new(8, 20, 500);
        let mut printed = Vec::new();
        let mut last = Vec::new();
        for (n, (what, rows, cursor)) in steps.into_iter().enumerate() {
            let rows: Vec<String> = (0..rows).map(|row| format!("row {row} of {n} 中🙂")).collect();
            let before = |row: &String| row.split_at_checked(3).map(|(before, _)| before.to_owned()).unwrap_or_default();
            let cursor = rows.get(cursor).map(|row| (cursor, before(row)));
            let picture = Picture { rows: rows.clone(), cursor };
            let out = if what == 0 { region.paint(picture, 20) } else {
                let line = if what == 1 { format!("final {n}") } else { format!("final {n} is longer than the screen") };
                printed.push(line.clone());
                region.above(&format!("{line}\n"), picture, 20)
            };
            terminal.process(out.as_bytes());
            last = rows;
        }
        let wrapped = printed.iter().flat_map(|line| wrap_at(line, 20));
        let expected: Vec<String> = wrapped.chain(last).collect();
        prop_assert_eq!(everything(&mut terminal), expected);
    }
}

fn wrap_at(line: &str, columns: usize) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    chars.chunks(columns).map(|chunk| chunk.iter().collect::<String>().trim_end().to_owned()).collect()
}
