//! Files in a reply: `FILE: name`, the text, a line `---`.
//!
//! Promises: text is taken exactly; a `---` ends a file only where another header or the end follows, so that rules in
//! Markdown stay; a file that was cut off, has no path, leads outside or comes twice is refused by name, and the others
//! are kept. A mention of `FILE:` in a sentence is none. Does not touch the disk: links are the writer's business.

use super::text_channel::{Finish, fence_marks, out_of_fence};
use regex::Regex;
use std::path::{Component, Path};
use std::sync::LazyLock;

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(?:#{1,6}[ \t]+)?[*_`]*FILE:[*_]*[ \t]*[`*"']*([^`*"']*?)[`*"']*[ \t\r]*$"#)
        .expect("a fixed pattern that the tests compile")
});

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBlock {
    /// As written.
    pub path: String,
    /// Its whole text.
    pub content: String,
}

/// A file that is not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedBlock {
    /// As written.
    pub path: String,
    /// A word of the list in tests/cases/README.md.
    pub class: &'static str,
}

/// What a reply holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileBlocks {
    /// In order of appearance.
    pub files: Vec<FileBlock>,
    /// In order of appearance.
    pub failed: Vec<FailedBlock>,
}

/// Every marked file of a reply.
pub fn parse(text: &str, finish: Finish) -> FileBlocks {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let headers: Vec<usize> = (0..lines.len()).filter(|n| header(&lines, *n).is_some()).collect();
    let mut blocks = FileBlocks::default();
    for (n, start) in headers.iter().enumerate() {
        let path = header(&lines, *start).unwrap_or_default();
        let end = headers.get(n + 1).copied();
        let body = lines.get(start + 1..end.unwrap_or(lines.len())).unwrap_or_default();
        let (content, closed) = content(&path, body);
        let class = if path.is_empty() {
            Some("missing_arg")
        } else if leads_outside(&path) {
            Some("outside_root")
        } else if finish == Finish::Cut && end.is_none() && !closed {
            Some("truncated")
        } else {
            None
        };
        match class {
            Some(class) => blocks.failed.push(FailedBlock { path, class }),
            None => blocks.files.push(FileBlock { path, content }),
        }
    }
    refuse_twins(&mut blocks);
    blocks
}

fn header(lines: &[&str], n: usize) -> Option<String> {
    let line = lines.get(n)?.trim_end_matches(['\n', '\r']);
    HEADER.captures(line).map(|found| found[1].trim().to_owned())
}

/// The text between two headers without what closes it, and whether it was closed.
fn content(path: &str, body: &[&str]) -> (String, bool) {
    let is_rule = |line: &&str| line.trim_end() == "---";
    let last = body.iter().rposition(|line| !line.trim().is_empty());
    // A fence right below the header that a rule follows: what stands behind it is prose.
    if let Some(fence) = closing_fence(body)
        && body.get(fence + 1..).unwrap_or_default().iter().find(|line| !line.trim().is_empty()).is_none_or(is_rule)
    {
        let whole: String = body.get(..=fence).unwrap_or_default().concat();
        // At the very end, without a rule behind it, a fence may be the file's own: then the path decides.
        let kind = if Some(fence) == last { path } else { "framed.code" };
        return (out_of_fence(kind, &whole).unwrap_or(whole), true);
    }
    match last {
        Some(last) if body.get(last).is_some_and(is_rule) => (body.get(..last).unwrap_or_default().concat(), true),
        _ => (body.concat(), false),
    }
}

/// The line that closes a fence which begins on the first line of a body.
fn closing_fence(body: &[&str]) -> Option<usize> {
    let marks = fence_marks(body.first()?.trim_end())?;
    let closes = |line: &&str| line.trim().len() >= marks.len() && line.trim().chars().all(|c| marks.starts_with(c));
    body.iter().skip(1).position(closes).map(|n| n + 1)
}

/// Whether the path alone leads out of the folder.
fn leads_outside(path: &str) -> bool {
    let mut depth = 0_i32;
    for part in Path::new(path).components() {
        match part {
            Component::RootDir | Component::Prefix(_) => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
        }
        if depth < 0 {
            return true;
        }
    }
    path == "~" || path.starts_with("~/")
}

/// Which of two files of one path was meant cannot be known.
fn refuse_twins(blocks: &mut FileBlocks) {
    let paths: Vec<String> = blocks.files.iter().map(|file| file.path.clone()).collect();
    let is_twin = |path: &str| paths.iter().filter(|other| *other == path).count() > 1;
    blocks.files.retain(|file| !is_twin(&file.path));
    let mut told: Vec<&String> = Vec::new();
    for path in paths.iter().filter(|path| is_twin(path)) {
        if !told.contains(&path) {
            told.push(path);
            blocks.failed.push(FailedBlock { path: path.clone(), class: "duplicate_path" });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<(String, String)> {
        parse(text, Finish::Whole).files.into_iter().map(|file| (file.path, file.content)).collect()
    }

    fn pair(path: &str, content: &str) -> (String, String) {
        (path.to_owned(), content.to_owned())
    }

    #[test]
    fn rules_in_the_text_end_nothing() {
        let text = "FILE: r.md\n# A\n\n---\n\n# B\n---\nFILE: c.txt\n1\n---\n";
        assert_eq!(files(text), [pair("r.md", "# A\n\n---\n\n# B\n"), pair("c.txt", "1\n")]);
    }

    #[test]
    fn a_missing_rule_before_the_next_header_is_forgiven() {
        assert_eq!(files("FILE: a\n1\nFILE: b\n2"), [pair("a", "1\n"), pair("b", "2")]);
    }

    #[test]
    fn decoration_goes_and_prose_behind_a_fence_is_no_file() {
        let text = "Here.\n\n**FILE: `a.py`**\n```python\nprint(1)\n```\n---\nHope it helps!\n";
        assert_eq!(files(text), [pair("a.py", "print(1)\n")]);
        assert_eq!(files("FILE: n.md\n```sh\nls\n```\n---\n"), [pair("n.md", "ls\n")]);
        assert_eq!(files("I would put it in FILE: a.txt perhaps.\n"), []);
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let classes = |text: &str, finish| {
            parse(text, finish).failed.into_iter().map(|failed| (failed.path, failed.class)).collect::<Vec<_>>()
        };
        let cut = "FILE: a\nall\n---\nFILE: b\nhal";
        assert_eq!(classes(cut, Finish::Cut), [("b".to_owned(), "truncated")]);
        assert_eq!(classes("FILE: ../x\n1\n---\n", Finish::Whole), [("../x".to_owned(), "outside_root")]);
        assert_eq!(classes("FILE: \n1\n---\n", Finish::Whole), [(String::new(), "missing_arg")]);
        let twice = "FILE: a\n1\n---\nFILE: a\n2\n---\n";
        assert_eq!((files(twice), classes(twice, Finish::Whole)), (vec![], vec![("a".to_owned(), "duplicate_path")]));
    }
}
