//! Comments that stand for code left out ("… rest of the code unchanged …").

use regex::Regex;
use std::sync::LazyLock;

/// A whole line: a comment's beginning or brackets, and words that say that something is left out. Bare dots are none,
/// since they are a statement in some languages.
static OMISSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^\s*(?://+|#+|--|/\*+|<!--|;+|%+|\{/\*|\(|\[)\s*(?:",
        r"(?:\.{3}|…)\s*(?:\(?\s*)?(?:the\s+)?(?:rest|existing|remaining|previous|other|unchanged|same|omitted|more|code|keep|其余|剩余|省略|保持|此处|原有|其他).*",
        r"|(?:the\s+)?(?:rest\s+of|remaining|existing|previous|other|same\s+as|keep|其余|剩余|省略|保持|此处省略|原有|其他)\b?.*(?:\.{3}|…|unchanged|as\s+before|不变|省略).*",
        r")$"
    ))
    .expect("a fixed pattern that the tests compile")
});

/// The first line of `new` that leaves code out, and that `old` does not have.
pub fn placeholder(old: &str, new: &str) -> Option<String> {
    let known = |line: &str| old.lines().any(|old| old.trim() == line.trim());
    new.lines()
        .find(|line| (OMISSION.is_match(line) || is_dots_in_comment(line)) && !known(line))
        .map(|line| line.trim().to_owned())
}

/// A comment of nothing but dots. Comments of documentation are left out: examples there are shortened on purpose.
fn is_dots_in_comment(line: &str) -> bool {
    let line = line.trim();
    let inside = ["//", "#", "--", "/*", "<!--"].iter().find_map(|leader| line.strip_prefix(leader));
    let inside = inside.map(|inside| inside.trim_end_matches("*/").trim_end_matches("-->").trim());
    matches!(inside, Some("..." | "…"))
}

/// Whether a text has a line of nothing but dots: the model shortened it.
pub fn has_bare_dots(text: &str) -> bool {
    text.lines().any(|line| matches!(line.trim(), "..." | "…" | "……"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_that_leave_code_out_count() {
        for line in ["// rest of methods ...", "# ... existing code ...", "// 其余代码不变", "(rest of methods ...)"]
        {
            assert!(placeholder("", line).is_some(), "{line}");
            assert_eq!(placeholder(line, line), None, "{line}");
        }
        for line in [
            "m = \"(rest of methods ...)\";",
            "...",
            "# keep the order",
            "// other cases",
            "# rest of the file",
            "/// ...",
        ] {
            assert_eq!(placeholder("", line), None, "{line}");
        }
    }
}
