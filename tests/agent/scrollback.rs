//! Everything that a terminal was ever given: the lines that scrolled away and those on its screen. Read by the tests of the
//! program and, by path, by those of `repl/region`.

/// The lines, without blanks at their ends and without empty ones at the very end.
pub fn everything(terminal: &mut vt100::Parser) -> Vec<String> {
    let screen = terminal.screen_mut();
    screen.set_scrollback(usize::MAX);
    let mut back = screen.scrollback();
    let (rows, columns) = screen.size();
    let mut lines: Vec<String> = Vec::new();
    while back > 0 {
        screen.set_scrollback(back);
        let taken = back.min(usize::from(rows));
        lines.extend(screen.rows(0, columns).take(taken));
        back -= taken;
    }
    screen.set_scrollback(0);
    lines.extend(screen.rows(0, columns));
    let mut lines: Vec<String> = lines.iter().map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
