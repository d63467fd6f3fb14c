//! A file's difference, hunk by hunk: taken apart from its patch, and put together again from those that are wanted.
//!
//! Pure. Promises that all hunks together give the new file and none the old one, byte for byte, line ends included.

/// One hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Its first line, `@@ … @@` and what git found above it.
    pub header: String,
    /// The first line of the old file that it names, from 0.
    pub at: usize,
    /// Its lines in order.
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// On which side it stands.
    pub side: Side,
    /// Its bytes with its line end, where it has one.
    pub bytes: Vec<u8>,
}

/// On which side a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Both.
    Both,
    /// The old file only.
    Old,
    /// The new file only.
    New,
}

impl Hunk {
    /// Its text as git writes it.
    pub fn patch(&self) -> Vec<u8> {
        let mut text = format!("{}\n", self.header).into_bytes();
        for line in &self.lines {
            text.push(match line.side {
                Side::Both => b' ',
                Side::Old => b'-',
                Side::New => b'+',
            });
            text.extend_from_slice(&line.bytes);
            if line.bytes.last() != Some(&b'\n') {
                text.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
        text
    }
}

/// The hunks of one file's patch; none where it is binary, or differs in its mode alone.
pub fn parse(patch: &[u8]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if let Some(header) = line.strip_prefix(b"@@ ") {
            let text = String::from_utf8_lossy(header).into_owned();
            hunks.push(Hunk { at: first_line(&text), header: format!("@@ {}", text.trim_end()), lines: Vec::new() });
            continue;
        }
        // Lines before the first hunk name the files.
        let Some(hunk) = hunks.last_mut() else { continue };
        let side = match line.first() {
            Some(b' ') => Side::Both,
            Some(b'-') => Side::Old,
            Some(b'+') => Side::New,
            // `\ No newline at end of file`: the line before it ends without one.
            Some(b'\\') => {
                if let Some(last) = hunk.lines.last_mut() {
                    last.bytes.pop();
                }
                continue;
            }
            _ => continue,
        };
        hunk.lines.push(Line { side, bytes: line.get(1..).unwrap_or_default().to_vec() });
    }
    hunks
}

/// The old file with these of its hunks, in order; none where they do not fit it.
pub fn apply<'a>(old: &[u8], hunks: impl IntoIterator<Item = &'a Hunk>) -> Option<Vec<u8>> {
    let before: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let mut after: Vec<u8> = Vec::new();
    let mut next = 0;
    for hunk in hunks {
        after.extend(before.get(next..hunk.at)?.concat());
        next = hunk.at;
        for line in &hunk.lines {
            if line.side != Side::New {
                if before.get(next).copied() != Some(line.bytes.as_slice()) {
                    return None;
                }
                next += 1;
            }
            if line.side != Side::Old {
                after.extend_from_slice(&line.bytes);
            }
        }
    }
    after.extend(before.get(next..)?.concat());
    Some(after)
}

/// From `-a,b +c,d @@`: where the old side begins. Of a side without lines git names the line before it.
fn first_line(header: &str) -> usize {
    let range = header.strip_prefix('-').unwrap_or(header).split([' ', '+']).next().unwrap_or_default();
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    let start: usize = start.parse().unwrap_or(0);
    if count == "0" { start } else { start.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@ fn head\n-one\n+ONE\n two\n three\n\
                         @@ -8,2 +8,3 @@\n eight\n nine\n+ten\n\\ No newline at end of file\n";
    const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

    fn applied(which: &[usize]) -> String {
        let hunks = parse(PATCH.as_bytes());
        let wanted = which.iter().filter_map(|&n| hunks.get(n));
        String::from_utf8(apply(OLD.as_bytes(), wanted).expect("fits")).expect("is text")
    }

    #[test]
    fn any_choice_of_hunks_can_be_put_together() {
        assert_eq!(applied(&[]), OLD);
        assert_eq!(applied(&[0]), OLD.replace("one", "ONE"));
        assert_eq!(applied(&[1]), format!("{OLD}ten"));
        assert_eq!(applied(&[0, 1]), format!("{}ten", OLD.replace("one", "ONE")));
        let again: Vec<u8> = parse(PATCH.as_bytes()).iter().flat_map(Hunk::patch).collect();
        assert!(PATCH.as_bytes().ends_with(&again));
    }

    #[test]
    fn a_new_and_a_removed_file_are_one_hunk_each() {
        let new = parse(b"--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(apply(b"", &new).as_deref(), Some(&b"a\nb\n"[..]));
        let gone = parse(b"--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(apply(b"a\nb\n", &gone).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn what_does_not_fit_gives_nothing() {
        assert_eq!(apply(b"other\n", &parse(PATCH.as_bytes())), None);
        assert_eq!(parse(b"Binary files a/f and b/f differ\n"), []);
    }
}
