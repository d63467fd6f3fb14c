use super::*;
use proptest::prelude::*;

fn typed(text: &str) -> Buffer {
    let mut buffer = Buffer::default();
    text.chars().for_each(|c| buffer.type_char(c));
    buffer
}

#[test]
fn keys_move_over_what_looks_like_one_character() {
    let mut buffer = typed("中👨‍👩‍👧e\u{301}x");
    for _ in 0..3 {
        buffer.left();
    }
    assert_eq!(buffer.before(), "中");
    buffer.delete();
    assert_eq!(buffer.text(), "中e\u{301}x");
    buffer.right();
    buffer.backspace();
    assert_eq!(buffer.text(), "中x");
}

#[test]
fn words_and_lines_are_killed_and_come_back() {
    let mut buffer = typed("one two\nthree 中文");
    buffer.kill_to_home();
    assert_eq!(buffer.text(), "one two\n");
    buffer.kill_to_home();
    assert_eq!(buffer.text(), "one two");
    buffer.kill_word();
    assert_eq!(buffer.text(), "one ");
    buffer.yank();
    assert_eq!(buffer.text(), "one two");
    buffer.home();
    buffer.kill_to_end();
    assert!(buffer.is_empty());
    buffer.undo();
    assert_eq!(buffer.text(), "one two");
}

#[test]
fn a_large_paste_is_one_character_until_it_is_unfolded_or_sent() {
    let pasted = "line\r\n".repeat(2000);
    let mut buffer = typed("see ");
    buffer.paste(&pasted);
    buffer.type_char('!');
    assert_eq!(buffer.text().chars().count(), 6);
    let sent = buffer.submission(|_| "[paste]".to_owned());
    assert_eq!(sent.shown, "see [paste]!");
    assert_eq!(sent.text, format!("see {}!", "line\n".repeat(2000)));
    buffer.left();
    assert!(buffer.unfold());
    assert_eq!(buffer.text().lines().count(), 2001);
    buffer.undo();
    buffer.backspace();
    assert_eq!(buffer.text(), "see !");
}

#[test]
fn a_text_cannot_pretend_to_be_an_inset() {
    let mut buffer = typed("");
    buffer.paste(&"x\n".repeat(20));
    buffer.paste("\u{f0000}");
    assert_eq!(buffer.expanded(), format!("{}\u{fffd}", "x\n".repeat(20)));
}

proptest! {
    #[test]
    fn no_keys_break_it(keys in proptest::collection::vec((0..18_u8, any::<char>()), 0..60)) {
        let mut buffer = Buffer::default();
        for (key, c) in keys {
            match key {
                0 => buffer.left(),
                1 => buffer.right(),
                2 => buffer.word_left(),
                3 => buffer.word_right(),
                4 => buffer.home(),
                5 => buffer.end(),
                6 => buffer.backspace(),
                7 => buffer.delete(),
                8 => buffer.kill_word(),
                9 => buffer.kill_to_home(),
                10 => buffer.kill_to_end(),
                11 => buffer.yank(),
                12 => buffer.undo(),
                13 => buffer.paste(&"é👩‍👩‍👧 \n".repeat(9)),
                14 => buffer.place(7),
                15 => buffer.paste(&"\u{200d}\n".repeat(30)),
                16 => { buffer.unfold(); }
                _ => buffer.type_char(c),
            }
            prop_assert!(buffer.text().is_char_boundary(buffer.cursor()));
        }
    }
}
