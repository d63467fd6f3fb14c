//! Which joined calls may run.

use super::arguments::{self, Unreadable};
use super::assembly::RawCall;
use crate::message::{Channel, ToolCall};
use crate::query::{Refusal, ToolSpec};
use serde_json::Map;
use std::collections::BTreeSet;

/// How the reply ended, as far as calls are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Properly.
    Proper,
    /// At the limit on tokens: the last call may lack its end.
    AtLimit,
    /// Without an end: nothing of it can be believed.
    None,
}

/// What came of the calls of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Admitted {
    /// Those that may run.
    pub calls: Vec<ToolCall>,
    /// Those that may not.
    pub refusals: Vec<Refusal>,
    /// All of them for the history, in order of appearance: a refused one too, because its refusal goes back under its
    /// id. Arguments that could not be read are empty there.
    pub history: Vec<ToolCall>,
}

/// Decide. `taken` are ids that the conversation already holds; `prefix` begins the ids that are made here.
pub fn admit(raw: Vec<RawCall>, tools: &[ToolSpec], ending: Ending, taken: &BTreeSet<&str>, prefix: &str) -> Admitted {
    let mut out = Admitted::default();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let last = raw.len().saturating_sub(1);
    for (position, call) in raw.into_iter().enumerate() {
        let mut id = call.id.trim().to_owned();
        if id.is_empty() || taken.contains(id.as_str()) || used.contains(&id) {
            id = format!("{prefix}_{position}");
        }
        used.insert(id.clone());
        let cut = match ending {
            Ending::Proper => false,
            Ending::AtLimit => position == last,
            Ending::None => true,
        };
        match judge(&call, tools, cut) {
            Ok((name, arguments)) => {
                let call = ToolCall { id, name, arguments, channel: Channel::Native };
                out.history.push(call.clone());
                out.calls.push(call);
            }
            Err((class, why)) => {
                let name = sendable(&call.name);
                out.history.push(ToolCall { id: id.clone(), name, arguments: Map::new(), channel: Channel::Native });
                out.refusals.push(Refusal { id: Some(id), name: call.name, class, why });
            }
        }
    }
    out
}

type Judged = Result<(String, Map<String, serde_json::Value>), (&'static str, String)>;

fn judge(call: &RawCall, tools: &[ToolSpec], cut: bool) -> Judged {
    if cut {
        return Err(("truncated", CUT.into()));
    }
    if call.name.trim().is_empty() {
        return Err(("malformed_call", "the call names no tool; call one of the tools by its name".into()));
    }
    let Some(tool) = named(&call.name, tools) else {
        let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        return Err(("unknown_tool", format!("there is no tool `{}`; there are: {}", call.name, known.join(", "))));
    };
    match arguments::read(&call.arguments, &tool.schema) {
        Ok(arguments) => Ok((tool.name.to_owned(), arguments)),
        Err(Unreadable::Cut) => Err(("truncated", CUT.into())),
        Err(Unreadable::Malformed(why)) => Err((
            "bad_arguments",
            format!("the arguments of `{}` are no JSON object ({why}); call it again", tool.name),
        )),
        Err(Unreadable::Missing(name)) => {
            Err(("missing_arg", format!("`{}` needs the argument `{name}`; call it again with it", tool.name)))
        }
        Err(Unreadable::WrongType(why)) => {
            Err(("bad_arguments", format!("in the call of `{}` {why}; call it again", tool.name)))
        }
    }
}

const CUT: &str = "the call was cut off before its end, so it was not run; make it again in smaller parts";

/// The tool that is meant: by name or alias, with a `functions.` in front, in any case.
fn named<'a>(name: &str, tools: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
    let name = name.trim();
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let is = |own: &str| own == name;
    let is_like = |own: &str| own.eq_ignore_ascii_case(name);
    tools
        .iter()
        .find(|tool| is(tool.name) || tool.aliases.iter().any(|alias| is(alias)))
        .or_else(|| tools.iter().find(|tool| is_like(tool.name) || tool.aliases.iter().any(|alias| is_like(alias))))
}

/// A name that providers take back: letters, digits, `_` and `-`, at most 64.
fn sendable(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .take(64)
        .collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools() -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "view",
            aliases: &["read_file"],
            description: String::new(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
            body: None,
        }]
    }

    fn raw(id: &str, name: &str, arguments: &str) -> RawCall {
        RawCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    fn admitted(calls: Vec<RawCall>, ending: Ending) -> Admitted {
        admit(calls, &tools(), ending, &BTreeSet::from(["old"]), "call_9")
    }

    #[test]
    fn aliases_and_prefixes_name_the_canonical_tool() {
        for name in ["view", "read_file", "functions.view", "View"] {
            let got = admitted(vec![raw("a", name, "{\"path\":\"x\"}")], Ending::Proper);
            assert_eq!(got.calls.first().map(|call| call.name.as_str()), Some("view"), "{name}");
        }
    }

    #[test]
    fn ids_that_are_missing_or_taken_are_made_anew() {
        let path = "{\"path\":\"x\"}";
        let got = admitted(
            vec![raw("", "view", path), raw("old", "view", path), raw("a", "view", path), raw("a", "view", path)],
            Ending::Proper,
        );
        let ids: Vec<&str> = got.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_9_0", "call_9_1", "a", "call_9_3"]);
    }

    #[test]
    fn a_refused_call_stays_in_the_history_under_its_id_with_an_object_as_arguments() {
        let got = admitted(vec![raw("a", "no such", "[1"), raw("b", "view", "[1]")], Ending::Proper);
        assert!(got.calls.is_empty());
        let classes: Vec<&str> = got.refusals.iter().map(|refusal| refusal.class).collect();
        assert_eq!(classes, ["unknown_tool", "bad_arguments"]);
        let history: Vec<(&str, &str, usize)> =
            got.history.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.len())).collect();
        assert_eq!(history, [("a", "no_such", 0), ("b", "view", 0)]);
    }

    #[test]
    fn at_the_limit_only_the_last_call_is_doubtful_and_without_an_end_all_are() {
        let calls = || vec![raw("a", "view", "{\"path\":\"x\"}"), raw("b", "view", "{\"path\":\"y\"}")];
        assert_eq!(admitted(calls(), Ending::AtLimit).calls.len(), 1);
        assert_eq!(admitted(calls(), Ending::None).calls.len(), 0);
    }
}
