//! Calls of a tool with a list of further rounds (`edits`) that put all rounds into the list: the first one is lifted out of
//! it, to where the tool's required arguments stand. It cannot be meant otherwise.

use serde_json::{Map, Value};

/// Lift the first round, where that is what lacks.
pub fn lift_first(arguments: &mut Map<String, Value>, schema: &Value) {
    if let Some((name, first, rest)) = lifted(arguments, schema) {
        for (key, value) in first {
            arguments.insert(key, value);
        }
        arguments.insert(name, Value::Array(rest));
    }
}

type Lifted = (String, Map<String, Value>, Vec<Value>);

fn lifted(arguments: &Map<String, Value>, schema: &Value) -> Option<Lifted> {
    let required = schema.get("required")?.as_array()?;
    let missing: Vec<&str> =
        required.iter().filter_map(Value::as_str).filter(|name| !arguments.contains_key(*name)).collect();
    let (name, list) = arguments.iter().find_map(|(name, value)| Some((name, value.as_array()?)))?;
    let properties = schema.pointer(&format!("/properties/{name}/items/properties"))?.as_object()?;
    let (first, rest) = list.split_first()?;
    let first = first.as_object()?;
    // One alone of several that belong together would be mixed from two rounds.
    let own = |name: &&str| properties.contains_key(*name) && *name != "path";
    let whole = required.iter().filter_map(Value::as_str).filter(|name| own(name)).all(|name| missing.contains(&name));
    if missing.is_empty() || !whole || !missing.iter().all(|name| first.contains_key(*name)) {
        return None;
    }
    let mut rest = rest.to_vec();
    for (key, outer) in first.keys().filter_map(|key| Some((key, arguments.get(key)?))) {
        // What the others took from outside they keep.
        for round in rest.iter_mut().filter_map(Value::as_object_mut) {
            round.entry(key.clone()).or_insert_with(|| outer.clone());
        }
    }
    Some((name.clone(), first.clone(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn after(arguments: Value) -> Value {
        let text = json!({ "type": "string" });
        let rounds = json!({ "type": "object", "properties": { "path": text, "old": text, "new": text } });
        let schema = json!({
            "properties": { "path": text, "old": text, "new": text, "edits": { "type": "array", "items": rounds } },
            "required": ["path", "old", "new"],
        });
        let mut arguments = arguments.as_object().cloned().unwrap_or_default();
        lift_first(&mut arguments, &schema);
        Value::Object(arguments)
    }

    #[test]
    fn the_first_of_a_list_alone_stands_where_the_tool_wants_it() {
        let round = |path: &str, old: &str| json!({ "path": path, "old": old, "new": "x" });
        assert_eq!(
            after(json!({ "edits": [round("a", "1"), round("b", "2")] })),
            json!({ "edits": [round("b", "2")], "path": "a", "old": "1", "new": "x" })
        );
        let bare = json!({ "old": "2", "new": "y" });
        assert_eq!(
            after(json!({ "path": "c", "edits": [round("a", "1"), bare] })),
            json!({ "path": "a", "edits": [{ "old": "2", "new": "y", "path": "c" }], "old": "1", "new": "x" })
        );
    }

    #[test]
    fn rounds_are_never_mixed_and_nothing_is_made_up() {
        for given in [
            json!({ "path": "a", "old": "1", "edits": [{ "old": "2", "new": "y" }] }),
            json!({ "path": "a", "old": "1", "new": "2", "edits": [{ "old": "2", "new": "y" }] }),
            json!({ "edits": [{ "old": "2", "new": "y" }] }),
            json!({ "path": "a", "edits": [] }),
        ] {
            assert_eq!(after(given.clone()), given);
        }
    }
}
