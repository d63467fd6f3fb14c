//! The replacements of a `str_replace` call, file by file: what the tool does and the preview shows.

use crate::edit::{Edit, Occurrences};
use serde_json::{Map, Value};

/// Names that the rounds of other agents' tools have.
const SYNONYMS: [(&str, &[&str]); 3] = [
    ("path", &["file_path", "file"]),
    ("old", &["old_str", "old_string", "old_text"]),
    ("new", &["new_str", "new_string", "new_text"]),
];

/// The rounds of one path, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// As it was written.
    pub path: String,
    /// Each with its number in the call, from 0 on.
    pub edits: Vec<(usize, Edit)>,
}

/// All rounds of a call: its own, then those of `edits`; one without a path is about the call's. None: one lacks a part.
pub fn read(arguments: &Map<String, Value>) -> Option<Vec<Rounds>> {
    let own = text(arguments, "path");
    let more = arguments.get("edits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let first = Some(arguments).filter(|all| text(all, "old").is_some() || text(all, "new").is_some());
    let mut rounds: Vec<Rounds> = Vec::new();
    for (n, one) in first.map(Some).into_iter().chain(more.iter().map(Value::as_object)).enumerate() {
        let one = one?;
        let path = text(one, "path").or(own)?;
        let edit = Edit { old: text(one, "old")?.to_owned(), new: text(one, "new")?.to_owned() };
        match rounds.iter_mut().find(|other| other.path == path) {
            Some(same) => same.edits.push((n, edit)),
            None => rounds.push(Rounds { path: path.to_owned(), edits: vec![(n, edit)] }),
        }
    }
    Some(rounds).filter(|rounds| !rounds.is_empty())
}

/// How many places each round may change.
pub fn occurrences(arguments: &Map<String, Value>) -> Occurrences {
    match arguments.get("replace_all").and_then(Value::as_bool) {
        Some(true) => Occurrences::All,
        _ => Occurrences::One,
    }
}

fn text<'a>(from: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let others = SYNONYMS.iter().filter(|(own, _)| *own == name).flat_map(|(_, others)| others.iter().copied());
    std::iter::once(name).chain(others).find_map(|name| from.get(name)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(arguments: Value) -> Option<Vec<(String, Vec<usize>)>> {
        let rounds = read(arguments.as_object().expect("an object"))?;
        Some(rounds.into_iter().map(|one| (one.path, one.edits.into_iter().map(|(n, _)| n).collect())).collect())
    }

    #[test]
    fn rounds_are_gathered_by_file_and_keep_their_order() {
        let round = |path: &str| json!({ "path": path, "old": "1", "new": "2" });
        let bare = json!({ "old_string": "1", "new_string": "2" });
        let all = json!({ "path": "a", "old": "1", "new": "2", "edits": [round("b"), bare, round("b")] });
        assert_eq!(paths(all), Some(vec![("a".to_owned(), vec![0, 2]), ("b".to_owned(), vec![1, 3])]));
    }

    #[test]
    fn a_round_that_lacks_a_part_makes_the_call_none() {
        assert_eq!(paths(json!({ "path": "a", "old": "1" })), None);
        assert_eq!(paths(json!({ "path": "a" })), None);
        assert_eq!(paths(json!({ "path": "a", "old": "1", "new": "2", "edits": [{ "old": "1" }] })), None);
        assert_eq!(paths(json!({ "path": "a", "old": "1", "new": "2", "edits": ["x"] })), None);
    }
}
