//! The arguments of a native call: from the joined text to an object that fits the tool's schema.
//!
//! What is undone here is spelling that cannot be meant otherwise (arguments encoded twice, a wrapper key, a list as a
//! string, raw line ends inside strings). Text that ends too early is never completed.

use crate::query::lift::lift_first;
use serde_json::{Map, Value};

/// Why arguments could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// The text ends before the object does.
    Cut,
    /// It is not one JSON object.
    Malformed(String),
    /// A required argument is missing.
    Missing(String),
    /// An argument has the wrong type.
    WrongType(String),
}

/// Read the text of a call's arguments.
pub fn read(text: &str, schema: &Value) -> Result<Map<String, Value>, Unreadable> {
    let object = object(text, 0)?;
    let object = unwrapped(object, schema);
    fitted(object, schema)
}

fn object(text: &str, depth: u8) -> Result<Map<String, Value>, Unreadable> {
    let text = text.trim();
    if text.is_empty() || text == "null" {
        return Ok(Map::new());
    }
    let value = match first_value(text) {
        // A raw line end or tab inside a string is no JSON, but means only itself.
        Err(Unreadable::Malformed(why)) => first_value(&escaped(text)).map_err(|second| match second {
            Unreadable::Cut => Unreadable::Cut,
            _ => Unreadable::Malformed(why),
        })?,
        other => other?,
    };
    match value {
        Value::Object(map) => Ok(map),
        Value::String(inner) if depth == 0 => object(&inner, 1),
        Value::Null => Ok(Map::new()),
        other => Err(Unreadable::Malformed(format!("the arguments are {}, not an object", kind(&other)))),
    }
}

/// The first JSON value; after it only white space, a template's marker, or the same value again may stand.
fn first_value(text: &str) -> Result<Value, Unreadable> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = match stream.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) if error.is_eof() => return Err(Unreadable::Cut),
        Some(Err(error)) => return Err(Unreadable::Malformed(error.to_string())),
        None => return Err(Unreadable::Cut),
    };
    let rest = text.get(stream.byte_offset()..).unwrap_or("").trim();
    let is_marker = rest.starts_with('<') && rest.ends_with('>') && !rest.contains(char::is_whitespace);
    if rest.is_empty() || is_marker || serde_json::from_str::<Value>(rest).is_ok_and(|again| again == value) {
        Ok(value)
    } else {
        Err(Unreadable::Malformed("text follows the JSON object".into()))
    }
}

/// Control characters inside strings escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut inside, mut after_backslash) = (false, false);
    for c in text.chars() {
        match c {
            '\n' if inside => out.push_str("\\n"),
            '\r' if inside => out.push_str("\\r"),
            '\t' if inside => out.push_str("\\t"),
            _ => out.push(c),
        }
        if c == '"' && !after_backslash {
            inside = !inside;
        }
        after_backslash = c == '\\' && !after_backslash;
    }
    out
}

/// `{"arguments": {…}}` where the tool has no such argument.
fn unwrapped(map: Map<String, Value>, schema: &Value) -> Map<String, Value> {
    let wrapper = ["arguments", "parameters", "params", "input"];
    if map.len() == 1
        && let Some((key, Value::Object(inner))) = map.iter().next()
        && wrapper.contains(&key.as_str())
        && schema.pointer("/properties").and_then(|properties| properties.get(key)).is_none()
    {
        return inner.clone();
    }
    map
}

fn fitted(mut map: Map<String, Value>, schema: &Value) -> Result<Map<String, Value>, Unreadable> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = map.get_mut(name) else { continue };
        *value =
            fit(std::mem::take(value), property).map_err(|why| Unreadable::WrongType(format!("`{name}` {why}")))?;
    }
    lift_first(&mut map, schema);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if map.get(name).is_none_or(Value::is_null) {
            return Err(Unreadable::Missing(name.to_owned()));
        }
    }
    map.retain(|_, value| !value.is_null());
    Ok(map)
}

/// A value in the type that the schema asks for.
fn fit(value: Value, property: &Value) -> Result<Value, String> {
    let Some(wanted) = property.get("type").and_then(Value::as_str) else { return Ok(value) };
    let is = |value: &Value| match wanted {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if is(&value) || value.is_null() {
        return Ok(value);
    }
    let other = match (&value, wanted) {
        (Value::String(text), _) => serde_json::from_str::<Value>(text.trim()).ok(),
        (Value::Number(_) | Value::Bool(_), "string") => Some(Value::String(value.to_string())),
        (Value::Number(number), "integer") => {
            number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9e15).map(|f| Value::from(f as i64))
        }
        _ => None,
    };
    other.filter(is).ok_or_else(|| format!("is {}, but {wanted} is expected", kind(&value)))
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(schema: Value, text: &str) -> Result<Value, Unreadable> {
        read(text, &schema).map(Value::Object)
    }

    #[test]
    fn text_that_ends_early_is_cut_and_never_completed() {
        assert_eq!(with(json!({}), "{\"path\":\"r.md\",\"content\":\"# Ti"), Err(Unreadable::Cut));
        assert_eq!(with(json!({}), "{\"path\":\"a\nb"), Err(Unreadable::Cut));
        assert_eq!(with(json!({}), "{"), Err(Unreadable::Cut));
    }

    #[test]
    fn raw_line_ends_inside_strings_mean_themselves() {
        assert_eq!(
            with(json!({}), "{\"command\": \"a\n\tb \\\"c\\\" \\\\\"\n}"),
            Ok(json!({"command": "a\n\tb \"c\" \\"}))
        );
    }

    #[test]
    fn no_object_is_refused_and_nothing_is_an_empty_object() {
        assert!(matches!(with(json!({}), "[1]"), Err(Unreadable::Malformed(_))));
        assert!(matches!(with(json!({}), "ls -la"), Err(Unreadable::Malformed(_))));
        assert_eq!(with(json!({}), ""), Ok(json!({})));
        assert_eq!(with(json!({}), "null"), Ok(json!({})));
    }

    #[test]
    fn types_follow_the_schema_only_where_it_is_unmistakable() {
        let schema = json!({"properties": {"n": {"type": "integer"}, "s": {"type": "string"}, "l": {"type": "array"}}});
        assert_eq!(with(schema.clone(), r#"{"n":"5","s":7,"l":"[1]"}"#), Ok(json!({"n": 5, "s": "7", "l": [1]})));
        assert!(matches!(with(schema.clone(), r#"{"s":{"a":1}}"#), Err(Unreadable::WrongType(_))));
        assert!(matches!(with(schema, r#"{"n":"many"}"#), Err(Unreadable::WrongType(_))));
    }

    #[test]
    fn a_missing_argument_is_named() {
        let schema = json!({"properties": {"path": {"type": "string"}}, "required": ["path"]});
        assert_eq!(with(schema.clone(), "{}"), Err(Unreadable::Missing("path".into())));
        assert_eq!(with(schema, r#"{"arguments":{"path":"a"}}"#), Ok(json!({"path": "a"})));
    }
}
