//! `edit_symbol`: a function, class, method or other definition replaced by its name.
//!
//! Promises: only the bytes of the definition change; attributes, comments and `export` before it only where the new text
//! brings its own. A name that means several definitions is refused with all of them.

use super::edited::{self, Edited};
use super::files::{self, Files};
use super::paths::{Place, Purpose};
use super::{Answer, Effect, Tool, compiler};
use crate::edit::Applied;
use crate::edit::encoding;
use crate::edit::span::{Blocks, replace_span};
use crate::snapshot::Reach;
use crate::syntax::{Depth, Outline, Symbol};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The longest that reading a file may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Definitions that a refusal names.
const MAX_NAMED: usize = 20;

/// The tool.
#[derive(Debug, Clone)]
pub struct EditSymbol {
    files: Arc<Files>,
}

impl EditSymbol {
    /// Sharing what was seen with the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let (name, new) = (argument("name"), argument("new"));
        let place = self.files.place(arguments, Purpose::Edit)?;
        let before = files::load(&place)?;
        let text = encoding::read(&before).map_err(|error| files::unreadable(&place, error))?;
        let applied = replaced(&place, &text.body, name, new)?;
        edited::write(&self.files, &[Edited::new(&self.files, place, before, text, applied)?])
    }
}

/// The text of a file with the definition of that name replaced.
///
/// # Errors
/// The answer for the model: no such definition, or several.
pub fn replaced(place: &Place, text: &str, name: &str, new: &str) -> Result<Applied, Answer> {
    if new.trim().is_empty() {
        return Err(files::failed("missing_arg", "`new` is empty", "remove a definition with str_replace"));
    }
    let Some(outline) = Outline::read(&place.absolute, text, Depth::All, PATIENCE) else {
        let message = format!("{} is in no language whose definitions are known here", place.relative);
        return Err(files::failed("not_found", message, "change it with str_replace"));
    };
    let symbol = match outline.find(name).as_slice() {
        [one] => (*one).clone(),
        [] => return Err(missing(place, name, &outline.symbols)),
        several => return Err(ambiguous(place, name, several)),
    };
    let blocks = if outline.is_indented() { Blocks::ByIndentation } else { Blocks::BySigns };
    let span = outline.span(text, &symbol, new);
    replace_span(text, span, new, blocks).map_err(|error| files::unedited(place, &error))
}

fn missing(place: &Place, name: &str, symbols: &[Symbol]) -> Answer {
    let alike = |symbol: &&Symbol| {
        let own = name.rsplit([':', '.', '#']).next().unwrap_or(name).to_lowercase();
        symbol.name().to_lowercase().contains(&own)
    };
    let mut near: Vec<&Symbol> = symbols.iter().filter(alike).collect();
    if near.is_empty() {
        near = symbols.iter().collect();
    }
    let message = format!("{} defines no `{name}`; it defines: {}", place.relative, listed(&near));
    files::failed("not_found", message, "")
}

fn ambiguous(place: &Place, name: &str, symbols: &[&Symbol]) -> Answer {
    let message = format!("`{name}` is defined {} times in {}: {}", symbols.len(), place.relative, listed(symbols));
    let mut answer = files::failed("ambiguous", message, "give one of these names, with its @line");
    if let Some(detail) = answer.detail.as_object_mut() {
        detail.insert("count".to_owned(), json!(symbols.len()));
    }
    answer
}

fn listed(symbols: &[&Symbol]) -> String {
    let mut named: Vec<String> =
        symbols.iter().take(MAX_NAMED).map(|symbol| format!("{}@{}", symbol.path.join("::"), symbol.line)).collect();
    if symbols.len() > MAX_NAMED {
        named.push(format!("{} more", symbols.len() - MAX_NAMED));
    }
    if named.is_empty() { "nothing".to_owned() } else { named.join(", ") }
}

impl Tool for EditSymbol {
    fn name(&self) -> &'static str {
        "edit_symbol"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/edit_symbol.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1 },
                "name": { "type": "string", "minLength": 1 },
                "new": { "type": "string" },
            },
            "required": ["path", "name", "new"],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("new")
    }

    fn effect(&self) -> Effect {
        Effect::Writes
    }

    fn reach(&self, arguments: &Map<String, Value>) -> Option<Reach> {
        self.files.reach(arguments)
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let answer = self.answer(arguments).unwrap_or_else(|failed| failed);
        Box::pin(compiler::checked(&self.files, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Outcome;
    use crate::tool::Surroundings;
    use futures::executor::block_on;
    use std::fs;

    fn call(name: &str, text: &[u8], symbol: &str, new: &str) -> (Answer, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(name), text).expect("a file");
        let files = Files::new(&Surroundings { root: folder.path().to_owned(), ..Surroundings::default() });
        let arguments = json!({ "path": name, "name": symbol, "new": new });
        let answer = block_on(EditSymbol::new(files).call(arguments.as_object().expect("an object")));
        (answer, fs::read(folder.path().join(name)).expect("a file"))
    }

    const TEXT: &[u8] = b"\xef\xbb\xbf// \xe4\xb8\xad\r\nstruct A;\r\nimpl A {\r\n    #[inline]\r\n    fn f() -> u8 {\r\n        1\r\n    }\r\n}\r\nfn f() {}";

    #[test]
    fn only_the_definition_changes() {
        let (answer, after) = call("a.rs", TEXT, "A::f", "fn f() -> u8 {\n    2\n}\n");
        assert_eq!(answer.outcome, Outcome::Done, "{}", answer.text);
        let want = String::from_utf8(TEXT.to_vec()).expect("text").replace("        1\r", "        2\r");
        assert_eq!(String::from_utf8(after).expect("text"), want);
        assert!(answer.text.starts_with("Edited a.rs in 1 place.\n     4\t    #[inline]\n"), "{}", answer.text);
    }

    #[test]
    fn a_name_of_several_is_refused_with_all_of_them() {
        let (answer, after) = call("a.rs", TEXT, "f", "fn f() {}");
        assert_eq!((answer.detail["error"].as_str(), after.as_slice()), (Some("ambiguous"), TEXT));
        assert!(answer.text.contains("A::f@5, f@9"), "{}", answer.text);
        let (answer, after) = call("a.rs", TEXT, "f@9", "fn f() { g() }");
        assert_eq!(answer.outcome, Outcome::Done, "{}", answer.text);
        assert!(after.ends_with(b"}\r\nfn f() { g() }"));
    }

    #[test]
    fn what_is_not_defined_is_told_with_what_is() {
        let (answer, _) = call("a.rs", TEXT, "A::g", "fn g() {}");
        assert!(answer.text.contains("defines no `A::g`; it defines: A@2, A::f@5, f@9"), "{}", answer.text);
        let (answer, _) = call("a.txt", b"f", "f", "g");
        assert!(answer.text.contains("no language"), "{}", answer.text);
    }
}
