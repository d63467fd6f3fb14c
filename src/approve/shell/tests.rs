//! Words, commands, pipes and redirects as bash has them.

use super::*;

fn words(text: &str) -> Vec<Vec<String>> {
    let commands = read(text).commands;
    commands.iter().map(|command| command.words.iter().map(|word| word.texts.join("|")).collect()).collect()
}

#[test]
fn words_are_what_bash_makes_of_them() {
    for (text, expected) in [
        ("echo a\\ b 'c d' \"e f\"", vec!["echo", "a b", "c d", "e f"]),
        ("r''m \"-\"rf x\"y\"'z'", vec!["rm", "-rf", "xyz"]),
        ("$'\\x72m' $'a\\tb'", vec!["rm", "a\tb"]),
        ("rm {a,b}.c", vec!["rm", "a.c|b.c"]),
        ("echo \"a\\\"b\\$c\"", vec!["echo", "a\"b$c"]),
        ("echo 中文 \"é\"'ü'\u{3000}x", vec!["echo", "中文", "éü\u{3000}x"]),
        ("A=1 B=2 env C=3 x", vec!["env", "C=3", "x"]),
        ("x=a; y \"$x\"b", vec!["y", "ab"]),
        ("echo \"two  spaces\" # a comment", vec!["echo", "two  spaces"]),
    ] {
        assert_eq!(words(text), [expected], "{text}");
    }
}

#[test]
fn redirects_and_documents_are_apart_from_words() {
    let line = read("a 2>&1 > out < in <<'E'\ntext\nE\n");
    assert_eq!(line.commands.iter().map(|command| command.words.len()).sum::<usize>(), 1);
    let redirects: Vec<_> = line.redirects.iter().map(|redirect| (redirect.writes, redirect.target.text())).collect();
    assert_eq!(redirects, [(true, "out"), (false, "in")]);
    assert_eq!(line.documents, ["text\n"]);
}

#[test]
fn a_line_that_is_no_command_is_unclear() {
    assert!(read("echo 'open").unclear);
    assert!(read(&"x".repeat(MOST + 1)).unclear);
    assert!(!read("echo done").unclear);
}
