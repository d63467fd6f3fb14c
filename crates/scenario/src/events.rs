//! `events.jsonl`: one expected object a line, against the lines that `--json` printed.
//!
//! Lines correspond one to one. An expected object names the fields that matter; fields it does not name are not
//! compared, because the contract says that fields are only ever added. Runs of streamed pieces are joined first, since
//! how a network cuts a text is no behaviour. Volatile values (`at`, `session`) are never compared.

use serde_json::Value;

/// Differences between expected and printed events.
pub(crate) fn compare(expected: &str, got: &str) -> Vec<String> {
    let (want, have) = match (parse(expected), parse(got)) {
        (Ok(want), Ok(have)) => (join(want), join(have)),
        (Err(e), _) => return vec![format!("events.jsonl: {e}")],
        (_, Err(e)) => return vec![format!("standard output is not JSON lines: {e}")],
    };
    let mut faults: Vec<String> = want
        .iter()
        .zip(&have)
        .enumerate()
        .filter(|(_, (want, have))| !within(want, have))
        .map(|(n, (want, have))| format!("event {} differs:\n  expected {want}\n  got      {have}", n + 1))
        .collect();
    if want.len() != have.len() {
        let kinds: Vec<&str> = have.iter().filter_map(|e| e.get("type")?.as_str()).collect();
        faults.push(format!("{} events expected, {} came: {}", want.len(), have.len(), kinds.join(" ")));
    }
    faults
}

/// The lines that blessing writes: joined, without volatile values.
pub(crate) fn bless(got: &str) -> Result<String, String> {
    let mut out = String::new();
    for mut event in join(parse(got)?) {
        if let Some(fields) = event.as_object_mut() {
            for name in VOLATILE {
                fields.shift_remove(*name);
            }
        }
        out.push_str(&event.to_string());
        out.push('\n');
    }
    Ok(out)
}

const VOLATILE: &[&str] = &["at", "seq", "session", "version"];
const PIECES: &[&str] = &["text_delta", "thinking_delta"];

fn parse(text: &str) -> Result<Vec<Value>, String> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(n, line)| serde_json::from_str(line).map_err(|e| format!("line {}: {e}", n + 1)))
        .collect()
}

fn join(events: Vec<Value>) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for event in events {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if PIECES.contains(&kind)
            && let Some(last) = joined.last_mut()
            && last.get("type") == event.get("type")
            && let (Some(Value::String(text)), Some(Value::String(more))) = (last.get_mut("text"), event.get("text"))
        {
            text.push_str(more);
            continue;
        }
        joined.push(event);
    }
    joined
}

fn within(want: &Value, have: &Value) -> bool {
    match (want, have) {
        (Value::Object(want), Value::Object(have)) => want
            .iter()
            .filter(|(name, _)| !VOLATILE.contains(&name.as_str()))
            .all(|(name, value)| have.get(name).is_some_and(|other| within(value, other))),
        (Value::Array(want), Value::Array(have)) => {
            want.len() == have.len() && want.iter().zip(have).all(|(want, have)| within(want, have))
        }
        _ => want == have,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_and_unnamed_fields_ignored() {
        let want = r#"{"type":"text_delta","text":"hello"}"#;
        let have = "{\"type\":\"text_delta\",\"text\":\"hel\",\"seq\":1}\n{\"type\":\"text_delta\",\"text\":\"lo\",\"seq\":2}\n";
        assert_eq!(compare(want, have), Vec::<String>::new());
    }

    #[test]
    fn a_missing_event_and_a_wrong_value_are_told() {
        let faults = compare("{\"type\":\"a\",\"n\":1}\n{\"type\":\"b\"}", "{\"type\":\"a\",\"n\":2}");
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}
