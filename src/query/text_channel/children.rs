//! Child tags: arguments written inside a block, in our own spelling or in that of other agents.
//!
//! `<old>…</old>`, `<parameter=old>…</parameter>`, `<parameter name="old">…</parameter>`; a child whose closer is missing ends
//! where the next child begins on a line of its own. Values are raw text.

use super::admit::{property, required};
use super::close::{Budget, Close, Known, Style, find};
use super::frame::{Last, unframed};
use super::tag;
use crate::query::ToolSpec;
use regex::Regex;
use std::sync::LazyLock;

/// `<parameter=name>`, `<parameter name="name">`, each with an optional prefix of its dialect.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"^<((?:antml:|｜DSML｜)?(?:parameter|param|argument))"#,
        r#"(?:\s*=\s*"?([A-Za-z_][A-Za-z0-9_-]*)"?|(?:\s+[a-z]+\s*=\s*(?:"[^"]*"|'[^']*'))+)\s*>"#
    ))
    .expect("a fixed pattern that the tests compile")
});

static NAME_ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\sname\s*=\s*["']([^"']*)["']"#).expect("a fixed pattern that the tests compile"));

/// What stood inside a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Children {
    /// Names as written, values without their frame.
    pub pairs: Vec<(String, String)>,
    /// The byte after the last child that was read.
    pub end: usize,
    /// Whether every child had its closer, or ended where the next began.
    pub whole: bool,
}

struct Opener {
    /// The argument.
    name: String,
    /// What the closing tag is called.
    tag: String,
    end: usize,
}

/// The children that follow each other from `from` on, blanks between them skipped. Empty where none begins there.
pub fn read(text: &str, from: usize, spec: &ToolSpec, budget: &mut Budget) -> Children {
    let mut children = Children { pairs: Vec::new(), end: from, whole: true };
    loop {
        let start = skip_blanks(text, children.end);
        let Some(opener) = opener_at(text, start, spec) else { return children };
        let kind = property(spec, &opener.name);
        let is_file_text = is_file(spec) && kind.as_deref() == spec.body;
        let last = if is_file_text { Last::Kept } else { Last::Dropped };
        let (value_end, end) = match find(text, opener.end, &opener.tag, Style::File, Known::Whole, budget) {
            Close::At(range) => (range.start, range.end),
            Close::Nowhere | Close::More => match next_opener(text, opener.end, spec) {
                Some(next) => (next, next),
                None => {
                    children.whole = false;
                    (text.len(), text.len())
                }
            },
        };
        children.pairs.push((opener.name, unframed(tag::cut(text, opener.end..value_end), last)));
        children.end = end;
    }
}

/// Whether the body of this tool is the text of a file: it has a place to go to besides.
pub fn is_file(spec: &ToolSpec) -> bool {
    spec.body.is_some() && required(spec).any(|name| Some(name) != spec.body)
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let tail = text.get(at..).unwrap_or_default();
    at + (tail.len() - tail.trim_start().len())
}

fn opener_at(text: &str, at: usize, spec: &ToolSpec) -> Option<Opener> {
    if let Some(found) = PARAMETER.captures(tag::extent(text, at)?) {
        let whole = found.get(0)?;
        let name = match found.get(2) {
            Some(name) => name.as_str().to_owned(),
            None => NAME_ATTRIBUTE.captures(whole.as_str())?.get(1)?.as_str().trim().to_owned(),
        };
        return Some(Opener { name, tag: found.get(1)?.as_str().to_owned(), end: at + whole.end() });
    }
    let open = tag::open_at(text, at)?;
    if open.self_closed || !open.attributes.is_empty() || property(spec, &open.name).is_none() {
        return None;
    }
    Some(Opener { name: open.name.clone(), tag: open.name, end: open.end })
}

fn next_opener(text: &str, from: usize, spec: &ToolSpec) -> Option<usize> {
    let mut at = from;
    loop {
        at += text.get(at..)?.find('<')?;
        if tag::starts_line(text, at, from) && opener_at(text, at, spec).is_some() {
            return Some(at);
        }
        at += 1;
    }
}
