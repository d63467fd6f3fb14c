//! Untrusted text, made harmless before it is printed, committed or written into a changelog.
//!
//! Pure. Promises that what comes out holds no control, direction or invisible character, no line that git or a forge would
//! obey (trailers, closing words, skip marks, mentions, patch borders), and that a second pass changes nothing. It does not
//! judge what the text says.

use regex::Regex;
use std::sync::LazyLock;

/// The longest subject of a commit, in characters.
const MAX_SUBJECT: usize = 72;
/// The longest body, in characters.
const MAX_BODY: usize = 4000;

/// A commit message's two parts, made harmless; the judge adds its trailers below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// One line.
    pub subject: String,
    /// Any number of lines, without blank ones at either end.
    pub body: String,
}

/// Text for a terminal or a JSON line: everything stays, but what would not be seen as it is, is written out (`\u{1b}`).
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && c != '\t' && is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// One harmless line of at most `most` characters; a cut is marked.
pub fn line(text: &str, most: usize) -> String {
    let flat = harmless(text);
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&flat, most)
}

/// A commit message out of what a proposer said; `fallback` is the subject where the first line had to be changed, so that
/// no leftover of an order becomes a title.
pub fn message(said: &str, fallback: &str) -> Message {
    let text = harmless(said);
    let whole = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let kept = harmless(whole) == whole && !is_noise(whole);
    let mut lines = text.lines().map(str::trim_end).skip_while(|l| l.is_empty() || is_noise(l));
    let first = if kept { lines.next().unwrap_or_default() } else { "" };
    let subject = line(first, MAX_SUBJECT);
    let subject = if subject.is_empty() { line(fallback, MAX_SUBJECT) } else { subject };
    let subject = if subject.is_empty() { "Change made by an agent".to_owned() } else { subject };
    let rest: Vec<&str> = lines.collect();
    let mut body = rest.join("\n");
    if first.chars().count() > MAX_SUBJECT {
        body = format!("{}\n\n{body}", first.trim());
    }
    Message { subject, body: cut(body.trim(), MAX_BODY) }
}

/// The shortest word that may be encoded bytes, in characters.
const ENCODED: usize = 24;

/// Whether a line is no sentence: hardly a letter, or mostly encoded bytes.
fn is_noise(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let ideographs = line.chars().any(|c| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase());
    let of_bytes = |word: &&str| {
        let any = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_'));
        let hex = word.chars().all(|c| c.is_ascii_hexdigit());
        let mixed = any(char::is_ascii_lowercase) && any(char::is_ascii_uppercase) && any(char::is_ascii_digit);
        word.len() >= ENCODED && plain && (hex || mixed)
    };
    let bytes: usize = line.split_whitespace().filter(of_bytes).map(str::len).sum();
    (letters < 3 && !ideographs) || bytes * 2 > line.len()
}

/// The whole text without what git, a forge or a terminal would obey.
pub fn harmless(text: &str) -> String {
    let mut now: String = strip_ansi(text).chars().filter(|c| *c == '\n' || *c == '\t' || !is_hidden(*c)).collect();
    // What one pass takes out can bring forth what the next must see; each pass only shortens, so this ends.
    loop {
        let next = pass(&now);
        if next == now {
            return next.trim().to_owned();
        }
        now = next;
    }
}

fn pass(text: &str) -> String {
    let kept: Vec<String> = text.lines().filter(|l| !is_order(l)).map(plain_line).collect();
    kept.join("\n")
}

/// One line without marks that a forge obeys.
fn plain_line(line: &str) -> String {
    let Some(rules) = RULES.as_ref() else { return String::new() };
    let line = rules.skip.replace_all(line, "");
    let line = rules.closing.replace_all(&line, "");
    let line = rules.mention.replace_all(&line, "$before$name");
    let line = rules.squash.replace(&line, "");
    line.trim_end().to_owned()
}

/// Whether git or a forge would obey the line as a whole: a trailer, a patch border.
fn is_order(line: &str) -> bool {
    let bare = line.trim();
    if bare.starts_with("---") || bare.starts_with("diff --git ") || bare.starts_with("# ---") {
        return true;
    }
    let Some((token, _)) = bare.split_once([':', '=']) else { return false };
    let token = token.trim().to_lowercase();
    let is_word = !token.is_empty() && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_word
        && (token.ends_with("-by")
            || token.starts_with("selfsmith")
            || token.starts_with("skip-")
            || matches!(
                token.as_str(),
                "change-id"
                    | "cc"
                    | "fixes"
                    | "closes"
                    | "resolves"
                    | "see-also"
                    | "refs"
                    | "bug"
                    | "issue"
                    | "link"
                    | "reviewed-on"
                    | "git-dch"
                    | "cherry-picked-from"
                    | "depends-on"
                    | "topic"
                    | "co-author"
            ))
}

struct Patterns {
    skip: Regex,
    closing: Regex,
    mention: Regex,
    squash: Regex,
}

static RULES: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let issue = r"(?:[\w.-]+/[\w.-]+)?#\d+|GH-\d+|https?://\S+/(?:issues|pull|merge_requests|work_items)/\d+";
    Some(Patterns {
        skip: Regex::new(r"(?i)\[\s*(?:skip[\s_-]+[a-z]+|[a-z]+[\s_-]+skip|no[\s_-]+ci)\s*\]|\*\*\*NO_CI\*\*\*|\bNO_CI\b")
            .ok()?,
        closing: Regex::new(&format!(
            r"(?i)\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)\b[\s:]*(?:issues?\s+)?(?:{issue})"
        ))
        .ok()?,
        mention: Regex::new(r"(?P<before>^|[^\w@])@+(?P<name>\w)").ok()?,
        squash: Regex::new(r"^\s*(?:fixup|squash|amend)!\s*").ok()?,
    })
});

/// Characters that are not seen as what they are.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{061c}'
            | '\u{feff}' | '\u{00ad}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Without escape sequences: the whole sequence goes, not only its first character.
fn strip_ansi(text: &str) -> String {
    static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_])")
            .ok()
    });
    SEQUENCE.as_ref().map_or_else(|| text.to_owned(), |s| s.replace_all(text, "").into_owned())
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &[&str] = &[
        "Good\n\nSelfsmith-Gates: all=pass\nSigned-off-by: A <a@b.c>\n  Co-authored-by: x",
        "fixes #12 and Closes: owner/repo#3, resolved GH-4, fix https://x.y/o/r/issues/5",
        "[skip ci] [ci skip] [no ci] [skip [skip ci]ci] ***NO_CI***",
        "thanks @somebody and @@org/team, (@a) mail me@example.com",
        "a\u{202e}b\u{200b}c\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}\r\n---\ndiff --git a b",
        "fixup! fixup! x",
        "skip-checks: true\nskip-checks=true",
        "f[skip ci]ixes #2",
    ];

    #[test]
    fn nothing_that_would_be_obeyed_is_left() {
        for text in HOSTILE {
            let out = harmless(text).to_lowercase();
            for word in [
                "selfsmith-gates",
                "signed-off-by",
                "co-authored",
                "#12",
                "#3",
                "gh-4",
                "issues/5",
                "[skip",
                "skip]",
                "no_ci",
                "@somebody",
                "@org",
                "@a)",
                "---",
                "diff --git",
                "fixup!",
                "skip-checks",
                "\u{1b}",
                "\u{202e}",
                "\u{200b}",
                "\r",
                "#2",
            ] {
                assert!(!out.contains(word), "{word:?} is left in {out:?}");
            }
        }
    }

    #[test]
    fn a_second_pass_changes_nothing() {
        for text in HOSTILE {
            let once = harmless(text);
            assert_eq!(harmless(&once), once);
        }
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        for text in
            ["Add --json to `list`\n\nIt prints one line per item: name, size.\nWrite to me@example.com.", "修正：排序"]
        {
            assert_eq!(harmless(text), text);
        }
    }

    #[test]
    fn a_message_has_a_short_subject_and_keeps_what_was_cut() {
        let long = "x".repeat(100);
        let message = message(&long, "");
        assert_eq!(message.subject.chars().count(), MAX_SUBJECT);
        assert_eq!(message.body, long);
        let said = super::message("\n\nAdd a flag\n\n\nWhy: none\n\n", "goal");
        assert_eq!((said.subject.as_str(), said.body.as_str()), ("Add a flag", "Why: none"));
        assert_eq!(super::message("Signed-off-by: x", "the goal").subject, "the goal");
        let mended = super::message("Fixes #12: count better\n\nWhy", "the goal");
        assert_eq!((mended.subject.as_str(), mended.body.as_str()), ("the goal", ": count better\n\nWhy"));
        let dropped = super::message("Selfsmith-Gates: all\nleft over", "the goal");
        assert_eq!((dropped.subject.as_str(), dropped.body.as_str()), ("the goal", "left over"));
        assert_eq!(super::message("", "").subject, "Change made by an agent");
        for noise in ["42", "==> 3/3", "c2VkIC1pICdzL0FkZHMvQWRkcy8nIHNyYy9saWIucnMK", &"0a1b2c3d".repeat(8)] {
            let mended = super::message(noise, "the goal");
            assert_eq!((mended.subject.as_str(), mended.body.as_str()), ("the goal", ""), "{noise}");
        }
        for plain in ["修正", "Rename selfsmith_repo_find_all_things_of_it", "Fix src/reading/inline/senses_of_code.rs"]
        {
            assert_eq!(super::message(plain, "the goal").subject, plain);
        }
    }

    #[test]
    fn shown_writes_out_what_would_not_be_seen() {
        assert_eq!(shown("a\u{1b}[2J\u{202e}b\r\n\tc"), "a\\u{1b}[2J\\u{202e}b\\u{d}\n\tc");
    }

    #[test]
    fn a_line_is_one_line_and_a_cut_is_marked() {
        assert_eq!(line("a\n  b\tc", 20), "a b c");
        assert_eq!(line("abcdefgh", 5), "abcd…");
    }
}
