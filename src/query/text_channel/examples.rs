//! Examples on the walk through a reply: elements and comments that are shown as they are, and calls that are refused
//! because of where they stand.

use super::admit::refuse;
use super::scan::{Scanner, Step, View};
use super::{Found, tag, tool_named};

/// Elements whose inside is an example or a quotation.
const EXAMPLES: &[&str] = &["example", "examples", "sample", "code", "pre", "blockquote", "quote"];

impl Scanner {
    /// A comment or an example element, shown as it is.
    pub(super) fn example(&mut self, view: &View<'_>) -> Option<Step> {
        let tail = view.text.get(self.at..)?;
        let closer = if tail.starts_with("<!--") {
            "-->".to_owned()
        } else {
            let open = tag::open_at(view.text, self.at)?;
            let name = open.name.to_ascii_lowercase();
            if open.self_closed || !EXAMPLES.contains(&name.as_str()) || tool_named(view.tools, &name).is_some() {
                return None;
            }
            format!("</{}>", open.name)
        };
        if !self.budget.spend(tail.len()) {
            return None;
        }
        let found = if closer == "-->" { tail.find(&closer) } else { tag::find_ignoring_case(tail, &closer) };
        match found {
            Some(n) => Some(self.show(self.at + n + closer.len())),
            None if view.growing() => Some(Step::More),
            None => None,
        }
    }
}

/// Calls in code or in a table: shown to the reader of the reply, not meant.
pub(super) fn as_examples(step: Step) -> Step {
    let Step::Calls { found, unclosed } = step else { return step };
    let refused = |found| match found {
        Found::Call(call) => {
            let why = "a call in an indented code block or in a table is an example and was not run. \
                       Write it at the start of a line.";
            Found::Refused(refuse(&call.name, "fenced_call", why))
        }
        refused @ Found::Refused(_) => refused,
    };
    Step::Calls { found: found.into_iter().map(refused).collect(), unclosed }
}
