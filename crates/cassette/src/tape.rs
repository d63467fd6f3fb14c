//! The file: a header line, then one line a turn.
//!
//! Written by people and by the recorder, so it is strict; only a last line without its line end, which a kill can
//! leave, is left out and told by [`Tape::cut`].

use crate::error::CassetteError;
use crate::reply::Reply;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Version of the format.
pub const VERSION: u32 = 1;

/// Bytes of a cassette file that are read at most.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// First line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`VERSION`].
    pub cassette: u32,
    /// The model that spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Header {
    /// A header of this version.
    pub const fn new(model: Option<String>, note: Option<String>) -> Self {
        Self { cassette: VERSION, model, note }
    }
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Counts from 1 without gaps; may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// What was asked, normalised: `messages` and `tools` are compared, the rest is for people. `kept` says how many
    /// messages of the turn before stand before `messages`. Absent: nothing is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// What came back.
    pub reply: Reply,
}

/// A cassette in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Tape {
    /// Where it came from, for messages.
    pub name: String,
    /// First line.
    pub header: Header,
    /// Turns.
    pub entries: Vec<Entry>,
    /// Whether an unfinished last line was left out.
    pub cut: bool,
}

impl Tape {
    /// Read a file.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or a line is wrong; the line is named.
    pub fn read(path: &Path) -> Result<Self, CassetteError> {
        let read = |source| CassetteError::Read { path: path.to_owned(), source };
        let bytes = std::fs::metadata(path).map_err(read)?.len();
        if bytes > MAX_BYTES {
            return Err(CassetteError::TooLarge { path: path.to_owned(), bytes, limit: MAX_BYTES });
        }
        let text = std::fs::read_to_string(path).map_err(read)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Read from text; `name` stands in messages.
    ///
    /// # Errors
    /// A line is wrong.
    pub fn parse(name: &str, text: &str) -> Result<Self, CassetteError> {
        let wrong = |line: usize, why: String| CassetteError::Line { name: name.to_owned(), line, why };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let ended = text.ends_with('\n');
        let lines: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line))
            .filter(|(_, line)| !line.trim().is_empty())
            .collect();
        let Some(((first, head), rest)) = lines.split_first().map(|(first, rest)| (*first, rest)) else {
            return Err(wrong(1, "the file is empty; its first line should be {\"cassette\":1}".into()));
        };
        let header: Header =
            serde_json::from_str(head).map_err(|why| wrong(first, format!("no cassette header: {why}")))?;
        if header.cassette != VERSION {
            return Err(wrong(first, format!("version {} is not known, only {VERSION}", header.cassette)));
        }
        let mut tape = Self { name: name.to_owned(), header, entries: Vec::new(), cut: false };
        for (position, (number, line)) in rest.iter().enumerate() {
            match serde_json::from_str::<Entry>(line) {
                Ok(entry) => {
                    let turn = tape.entries.len() + 1;
                    if let Some(said) = entry.turn.filter(|said| *said != turn) {
                        return Err(wrong(*number, format!("turn {said} stands where turn {turn} belongs")));
                    }
                    tape.entries.push(entry);
                }
                Err(why) if position + 1 == rest.len() && !ended && why.is_eof() => tape.cut = true,
                Err(why) => return Err(wrong(*number, why.to_string())),
            }
        }
        Ok(tape)
    }

    /// A tape of replies alone, as scenarios write them.
    pub fn of_replies(name: &str, replies: Vec<Reply>) -> Self {
        let entries = replies.into_iter().map(|reply| Entry { turn: None, request: None, reply }).collect();
        Self { name: name.to_owned(), header: Header::new(None, None), entries, cut: false }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const HEAD: &str = "{\"cassette\":1}\n";

    #[test]
    fn turns_out_of_order_are_refused_with_the_line() {
        let error = Tape::parse("t", &format!("{HEAD}{{\"turn\":2,\"reply\":{{\"text\":\"a\"}}}}\n")).unwrap_err();
        assert_eq!(error.to_string(), "understand line 2 of the cassette t: turn 2 stands where turn 1 belongs");
    }

    #[test]
    fn a_line_cut_by_a_kill_is_left_out_and_told() {
        let tape = Tape::parse("t", &format!("{HEAD}{{\"turn\":1,\"reply\":{{\"text\":\"a\"}}}}\n{{\"turn\":2,\"rep"))
            .unwrap();
        assert_eq!((tape.entries.len(), tape.cut), (1, true));
    }

    #[test]
    fn a_broken_line_in_the_middle_is_an_error() {
        let error = Tape::parse("t", &format!("{HEAD}{{\"turn\":1,\n{{\"turn\":2,\"reply\":{{\"text\":\"a\"}}}}\n"));
        assert!(error.unwrap_err().to_string().contains("line 2"));
    }

    #[test]
    fn an_unknown_version_is_refused() {
        assert!(Tape::parse("t", "{\"cassette\":9}\n").unwrap_err().to_string().contains("version 9"));
    }

    #[test]
    fn byte_order_mark_and_crlf_are_tolerated() {
        let tape = Tape::parse("t", "\u{feff}{\"cassette\":1}\r\n{\"reply\":{\"text\":\"a\"}}\r\n").unwrap();
        assert_eq!(tape.entries.len(), 1);
    }
}
