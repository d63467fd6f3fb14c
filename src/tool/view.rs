//! `view`: lines of a file, or what a folder holds.
//!
//! Promises: bounded output with the cut said and the way to read on; a file of any size costs no more memory than what is
//! shown. What was shown is remembered, so that `write_file` can tell a file that was read from one that was not.

use super::files::{self, Files};
use super::paths::{Place, Purpose};
use super::{Answer, Effect, Tool, picture};
use crate::edit::{encoding, pin};
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// Lines in one answer.
const MAX_LINES: usize = 2000;
/// Bytes in one answer.
const MAX_BYTES: usize = 96 * 1024;
/// Characters of one line.
const MAX_LINE: usize = 2000;
/// Bytes up to which a file is read whole, in whatever encoding.
const MAX_WHOLE: u64 = 8 << 20;
/// Entries of a folder.
const MAX_ENTRIES: usize = 400;

/// The tool.
#[derive(Debug, Clone)]
pub struct View {
    files: Arc<Files>,
}

impl View {
    /// Sharing what was seen with the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let place = self.files.place(arguments, Purpose::Look)?;
        if place.absolute.is_dir() {
            return Ok(self.folder(&place));
        }
        let number = |name: &str| arguments.get(name).and_then(Value::as_i64);
        let first = number("start_line").unwrap_or(1).max(1);
        let last = number("end_line").unwrap_or(i64::MAX);
        let last = if last < 0 { i64::MAX } else { last };
        if last < first {
            let message = format!("end_line {last} stands before start_line {first}");
            return Err(files::failed("bad_arguments", message, "leave end_line out to read to the end"));
        }
        let wanted =
            Wanted { first: usize::try_from(first).unwrap_or(1), last: usize::try_from(last).unwrap_or(usize::MAX) };
        self.file(&place, &wanted)
    }

    fn file(&self, place: &Place, wanted: &Wanted) -> Result<Answer, Answer> {
        let unreadable = |error: std::io::Error| {
            files::failed("no_such_file", format!("could not read {}: {error}", place.relative), "")
        };
        let file = pin::open(&place.absolute).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let listing = if size <= MAX_WHOLE {
            let mut bytes = Vec::new();
            file.take(MAX_WHOLE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
            if let Some(mime) = picture::kind(&bytes) {
                return picture::shown(place, mime, &bytes);
            }
            let text = encoding::read(&bytes).map_err(|error| files::unreadable(place, error))?;
            let listing = listed(text.body.as_bytes(), wanted).map_err(unreadable)?;
            self.files.saw(place, &bytes, listing.first..listing.next, listing.total);
            Listing { encoding: (text.name() != "UTF-8").then(|| text.name()), ..listing }
        } else {
            listed(BufReader::with_capacity(1 << 16, file), wanted).map_err(unreadable)?
        };
        Ok(listing.answer(place, wanted))
    }

    fn folder(&self, place: &Place) -> Answer {
        let mut walk = ignore::WalkBuilder::new(&place.absolute);
        walk.max_depth(Some(2)).hidden(false).require_git(false).sort_by_file_name(Ord::cmp);
        let entries = walk.build().filter_map(Result::ok).filter(|entry| entry.depth() > 0);
        let mut shown = Vec::new();
        let mut more = 0;
        for entry in entries.filter(|entry| entry.path().components().all(|part| part.as_os_str() != ".git")) {
            if shown.len() == MAX_ENTRIES {
                more += 1;
                continue;
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let name = self.files.workspace.relative(entry.path());
            shown.push(if is_folder { format!("{name}/") } else { name });
        }
        let mut text = if shown.is_empty() { "(an empty folder)".to_owned() } else { shown.join("\n") };
        if more > 0 {
            text.push_str(&format!("\n[{more} more entries are not shown; view a folder below]"));
        }
        Answer::done(text).with_detail(json!({ "path": place.relative, "entries": shown.len(), "truncated": more > 0 }))
    }
}

impl Tool for View {
    fn name(&self) -> &'static str {
        "view"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["read_file"]
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/view.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1, "description": "file or folder" },
                "start_line": { "type": "integer", "description": "from 1 on" },
                "end_line": { "type": "integer", "description": "shown too" },
            },
            "required": ["path"],
        })
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(ready(self.answer(arguments).unwrap_or_else(|failed| failed)))
    }
}

/// Line numbers from 1 on, both included.
struct Wanted {
    first: usize,
    last: usize,
}

/// Numbered lines, and what is left out.
#[derive(Debug, Default)]
struct Listing {
    text: String,
    first: usize,
    /// The first line that is not shown.
    next: usize,
    total: usize,
    shortened: usize,
    encoding: Option<&'static str>,
}

impl Listing {
    fn answer(mut self, place: &Place, wanted: &Wanted) -> Answer {
        let shown = self.next > self.first;
        if !shown {
            let why = if self.total == 0 {
                "the file is empty".to_owned()
            } else {
                format!("the file has {} lines", self.total)
            };
            self.text = format!("[nothing to show: {why}]");
        } else {
            // Several views of one reply come back together: each says whose lines these are.
            let (first, last, total) = (self.first, self.next - 1, self.total);
            self.text.insert_str(0, &format!("[{}, lines {first} to {last} of {total}]\n", place.relative));
            // Whoever named the end knows that there is more.
            if last < total && last < wanted.last {
                self.text.push_str(&format!("[read on with start_line={}]", self.next));
            }
        }
        if self.shortened > 0 {
            self.text.push_str(&format!("\n[{} lines were cut at {MAX_LINE} characters]", self.shortened));
        }
        if let Some(encoding) = self.encoding {
            self.text.push_str(&format!("\n[read as {encoding}]"));
        }
        let truncated = self.shortened > 0 || (shown && self.next <= self.total);
        Answer::done(self.text).with_detail(json!({
            "path": place.relative, "lines": [self.first, self.next.saturating_sub(1)], "total": self.total,
            "truncated": truncated,
        }))
    }
}

/// Number the wanted lines; count the others.
fn listed(mut source: impl BufRead, wanted: &Wanted) -> std::io::Result<Listing> {
    let mut listing = Listing { first: wanted.first, next: wanted.first, ..Listing::default() };
    let mut line = Vec::new();
    while let Some(length) = bounded_line(&mut source, &mut line, MAX_LINE * 4)? {
        listing.total += 1;
        let fits = listing.text.len() < MAX_BYTES && listing.next - listing.first < MAX_LINES;
        if listing.total != listing.next || listing.total > wanted.last || !fits {
            continue;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let cut: String = text.chars().take(MAX_LINE).collect();
        if cut.len() < text.len() || length > line.len() {
            listing.shortened += 1;
        }
        listing.text.push_str(&format!("{:>6}\t{cut}\n", listing.total));
        listing.next += 1;
    }
    Ok(listing)
}

/// The next line without its end, at most `limit` bytes of it; its real length, or None at the end.
fn bounded_line(source: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> std::io::Result<Option<usize>> {
    line.clear();
    let mut length = 0;
    let mut any = false;
    loop {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            return Ok(any.then_some(length));
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let content = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        line.extend(content.iter().take(limit.saturating_sub(line.len())));
        length += content.len();
        let used = content.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            return Ok(Some(length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_handed_on_and_not_read_as_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let png = b"\x89PNG\r\n\x1a\n\0\0";
        std::fs::write(folder.path().join("a.png"), png).expect("a file");
        let files = Files::new(&crate::tool::Surroundings { root: folder.path().to_owned(), ..Default::default() });
        let arguments = json!({ "path": "a.png" });
        let answer = View::new(files).answer(arguments.as_object().expect("an object")).expect("it is shown");
        assert_eq!(answer.text, "[a.png: a picture, image/png, 10 bytes]");
        let picture = answer.picture.expect("a picture");
        assert_eq!((picture.mime, picture.base64.as_str()), ("image/png", "iVBORw0KGgoAAA=="));
    }

    #[test]
    fn the_way_to_read_on_is_told_unless_the_end_was_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.rs"), "x\n".repeat(MAX_LINES + 9)).expect("a file");
        let files = Files::new(&crate::tool::Surroundings { root: folder.path().to_owned(), ..Default::default() });
        let tool = View::new(files);
        let told = |arguments: Value| tool.answer(arguments.as_object().expect("an object")).expect("it is shown").text;
        let named = told(json!({ "path": "a.rs", "start_line": 2, "end_line": 3 }));
        assert_eq!(named, format!("[a.rs, lines 2 to 3 of {}]\n     2\tx\n     3\tx\n", MAX_LINES + 9));
        let open = told(json!({ "path": "a.rs" }));
        assert!(open.ends_with(&format!("[read on with start_line={}]", MAX_LINES + 1)), "{open}");
        let cut = told(json!({ "path": "a.rs", "end_line": MAX_LINES + 5 }));
        assert!(cut.ends_with(&format!("[read on with start_line={}]", MAX_LINES + 1)), "{cut}");
    }

    fn view(text: &str, first: usize, last: usize) -> Listing {
        listed(text.as_bytes(), &Wanted { first, last }).expect("a listing")
    }

    #[test]
    fn a_range_is_numbered_and_the_rest_is_said() {
        let listing = view("a\nb\nc\nd\n", 2, 3);
        assert_eq!((listing.text.as_str(), listing.next, listing.total), ("     2\tb\n     3\tc\n", 4, 4));
    }

    #[test]
    fn a_line_without_end_costs_no_more_than_what_is_shown() {
        let listing = view(&"x".repeat(5_000_000), 1, usize::MAX);
        assert_eq!((listing.shortened, listing.total), (1, 1));
        assert!(listing.text.len() < MAX_LINE + 20);
    }
}
