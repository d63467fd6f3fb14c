//! Does an answer hold what a case expects? The words of `expect` are explained in README.md.

use regex::Regex;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Seconds that a case may take where it has no bound of its own.
const CASE_LIMIT_S: f64 = 60.0;

/// What is looked at: the answer, what the runner found out itself, and how long the answer took.
#[derive(Clone)]
pub struct View {
    pub got: Map<String, Value>,
    pub took: Duration,
}

impl View {
    pub fn get(&self, key: &str) -> &Value {
        self.got.get(key).unwrap_or(&Value::Null)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).as_str()
    }

    /// Compare a text trimmed.
    pub fn strip(&mut self, keys: &[&str]) {
        for key in keys {
            if let Some(Value::String(text)) = self.got.get_mut(*key) {
                *text = text.trim().to_owned();
            }
        }
    }
}

type KeyRule<'a> = Box<dyn Fn(&Value) -> Option<String> + 'a>;
type Harmless<'a> = Box<dyn Fn(&Map<String, Value>) -> bool + 'a>;
type WholeRule<'a> = Box<dyn Fn(&Map<String, Value>) -> Vec<String> + 'a>;

/// What a kind judges in its own way.
#[derive(Default)]
pub struct Rules<'a> {
    keys: Vec<(&'static str, KeyRule<'a>)>,
    whole: Option<WholeRule<'a>>,
    error_may_come: Option<Harmless<'a>>,
}

impl<'a> Rules<'a> {
    pub fn key(mut self, key: &'static str, rule: impl Fn(&Value) -> Option<String> + 'a) -> Self {
        self.keys.push((key, Box::new(rule)));
        self
    }

    /// A rule over one whole alternative.
    pub fn whole(mut self, rule: impl Fn(&Map<String, Value>) -> Vec<String> + 'a) -> Self {
        self.whole = Some(Box::new(rule));
        self
    }

    /// Whether an error word is harmless in an alternative that names none.
    pub fn error_may_come(mut self, rule: impl Fn(&Map<String, Value>) -> bool + 'a) -> Self {
        self.error_may_come = Some(Box::new(rule));
        self
    }
}

/// How long the program may take for a case.
pub fn limit(expect: &Value) -> Duration {
    let bounds = alternatives(expect).into_iter().chain([object(expect)]).filter_map(|option| bound(&option));
    let longest = bounds.fold(0.0, f64::max);
    Duration::from_secs_f64(if longest > 0.0 { (longest + 15.0).min(CASE_LIMIT_S) } else { CASE_LIMIT_S })
}

/// The faults against the alternative that comes nearest; none if one holds in full.
pub fn judge(expect: &Value, view: &View, rules: &Rules<'_>) -> Vec<String> {
    let mut common = object(expect);
    common.shift_remove("any_of");
    let options = alternatives(expect).into_iter().map(|alternative| {
        let mut option = common.clone();
        option.extend(alternative);
        faults(&option, view, rules)
    });
    options.min_by_key(Vec::len).unwrap_or_default()
}

/// A value for people, on one line.
pub fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), |text| format!("{text:?}"));
    if text.chars().count() <= 300 { text } else { format!("{}…", text.chars().take(280).collect::<String>()) }
}

/// Equal as JSON; numbers by value, objects may hold more, lists may not.
pub fn differs(want: &Value, got: &Value, at: &str) -> Option<String> {
    let unequal = || Some(format!("{at}: want {}, got {}", short(want), short(got)));
    match (want, got) {
        (Value::Object(fields), _) if is_choice(fields) => chosen(fields, got, at),
        (Value::Object(fields), Value::Object(have)) if !exact(at) => fields.iter().find_map(|(key, value)| {
            let got = have.get(key);
            got.map_or_else(
                || Some(format!("{at}.{key}: want {}, got nothing", short(value))),
                |got| differs(value, got, &format!("{at}.{key}")),
            )
        }),
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            want.iter().zip(got).enumerate().find_map(|(n, (w, g))| differs(w, g, &format!("{at}[{n}]")))
        }
        _ => {
            if same(want, got) {
                None
            } else {
                unequal()
            }
        }
    }
}

/// Calls written as text; bodies without one line break next to each tag.
pub fn text_calls(want: &Value, got: &Value) -> Option<String> {
    let (Some(want), Some(got)) = (want.as_array(), got.as_array()) else {
        return Some(format!("calls: want a list, got {}", short(got)));
    };
    if want.len() != got.len() {
        return Some(format!("calls: want {}, got {}", short(&json!(want)), short(&json!(got))));
    }
    want.iter().zip(got).enumerate().find_map(|(n, (want, got))| {
        object(want).iter().find_map(|(key, value)| {
            let have = got.get(key).unwrap_or(&Value::Null);
            let fine = match (key.as_str(), value.as_str(), have.as_str()) {
                ("content" | "old" | "new" | "command", Some(value), Some(have)) => same_body(value, have),
                ("text", Some(value), Some(have)) => value.trim() == have.trim(),
                _ => same(value, have),
            };
            (!fine).then(|| format!("calls[{n}].{key}: want {}, got {}", short(value), short(have)))
        })
    })
}

fn faults(option: &Map<String, Value>, view: &View, rules: &Rules<'_>) -> Vec<String> {
    let mut faults: Vec<String> = option.iter().filter_map(|(key, want)| wrong_with(key, want, view, rules)).collect();
    let harmless = rules.error_may_come.as_ref().is_some_and(|rule| rule(option));
    if !option.contains_key("error") && some(view.get("error")) && !harmless {
        faults.push(format!("no error may be reported, got {}", short(view.get("error"))));
    }
    if let Some(whole) = &rules.whole {
        faults.extend(whole(option));
    }
    faults
}

fn wrong_with(key: &str, want: &Value, view: &View, rules: &Rules<'_>) -> Option<String> {
    if let Some((_, rule)) = rules.keys.iter().find(|(name, _)| *name == key) {
        return rule(want);
    }
    match key {
        "no_panic" => return None,
        "no_error" => {
            let error = view.get("error");
            return some(error).then(|| format!("an error was reported: {}", short(error)));
        }
        "within_s" | "within_ms" => {
            let limit = bound(&Map::from_iter([(key.to_owned(), want.clone())])).unwrap_or(0.0);
            let took = view.took.as_secs_f64();
            return (took > limit).then(|| format!("took {took:.2} s, at most {limit}"));
        }
        "hint" => return said(key, want, view.get("hint"), view.get("message")),
        "warn" => return said(key, want, view.get("warn"), &Value::Null),
        _ => {}
    }
    // The longer ending first: `_not_contains` also ends with `_contains`.
    if let Some(key) = key.strip_suffix("_not_contains") {
        return contains(key, want, view, Wanted::Absent);
    }
    if let Some(key) = key.strip_suffix("_contains") {
        return contains(key, want, view, Wanted::Present);
    }
    if let Some(key) = key.strip_suffix("_at_most_bytes") {
        let size = view.text(key).map(str::len);
        let fine = size.is_some_and(|size| size as f64 <= number(want));
        return (!fine).then(|| format!("{key}: want at most {want} bytes, got {size:?}"));
    }
    if let Some(key) = key.strip_suffix("_matches") {
        let shape = Regex::new(want.as_str().unwrap_or_default()).expect("a case's pattern is a pattern");
        let fine = view.text(key).is_some_and(|text| shape.is_match(text));
        return (!fine).then(|| format!("{key}: want /{shape}/, got {}", short(view.get(key))));
    }
    if let Some(key) = key.strip_suffix("_include") {
        return includes(key, want, view.get(key));
    }
    if view.get(key).is_null() {
        return Some(format!("{key}: want {}, got nothing", short(want)));
    }
    differs(want, view.get(key), key)
}

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Present,
    Absent,
}

fn contains(key: &str, want: &Value, view: &View, wanted: Wanted) -> Option<String> {
    let text = match view.get(key) {
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join("\n"),
        other => return Some(format!("{key}: want text, got {}", short(other))),
    };
    let wrong = list(want).into_iter().find(|piece| {
        let piece = piece.as_str().unwrap_or_default();
        text.contains(piece) != (wanted == Wanted::Present)
    })?;
    let verb = if wanted == Wanted::Present { "does not" } else { "must not" };
    Some(format!("{key}: {verb} hold {}, got {}", short(&wrong), short(&json!(text))))
}

/// Whether a list holds all of some values.
pub fn includes(key: &str, want: &Value, have: &Value) -> Option<String> {
    let missing: Vec<Value> =
        list(want).into_iter().filter(|w| !have.as_array().is_some_and(|have| have.contains(w))).collect();
    (!missing.is_empty()).then(|| format!("{key}: lacks {}, got {}", short(&json!(missing)), short(have)))
}

fn said(key: &str, want: &Value, words: &Value, message: &Value) -> Option<String> {
    let want_text = want.as_str().unwrap_or_default();
    let fine =
        list(words).iter().chain([message]).any(|said| said.as_str().is_some_and(|said| said.contains(want_text)));
    (!fine).then(|| format!("{key}: want {}, got {} and {}", short(want), short(words), short(message)))
}

fn is_choice(fields: &Map<String, Value>) -> bool {
    !fields.is_empty() && fields.keys().all(|key| matches!(key.as_str(), "one_of" | "present" | "at_most"))
}

fn chosen(fields: &Map<String, Value>, got: &Value, at: &str) -> Option<String> {
    if let Some(choices) = fields.get("one_of")
        && !list(choices).iter().any(|want| differs(want, got, at).is_none())
    {
        return Some(format!("{at}: want one of {}, got {}", short(choices), short(got)));
    }
    if let Some(present) = fields.get("present")
        && some(got) != (present == &json!(true))
    {
        return Some(format!("{at}: want present {present}, got {}", short(got)));
    }
    let most = fields.get("at_most")?;
    let fine = got.as_f64().is_some_and(|got| got <= number(most));
    (!fine).then(|| format!("{at}: want at most {most}, got {}", short(got)))
}

/// Keys whose objects may not hold more than is asked for.
fn exact(at: &str) -> bool {
    matches!(at.rsplit('.').next(), Some("arguments" | "renamed"))
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn same_body(want: &str, got: &str) -> bool {
    let (want, got) = (want.replace("\r\n", "\n"), got.replace("\r\n", "\n"));
    let without_first = got.strip_prefix('\n').unwrap_or(&got);
    [got.as_str(), without_first].iter().any(|form| *form == want || form.strip_suffix('\n') == Some(&want))
}

fn some(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(value) => value.as_f64() != Some(0.0),
        Value::String(value) => !value.is_empty(),
        Value::Array(value) => !value.is_empty(),
        Value::Object(value) => !value.is_empty(),
    }
}

fn bound(option: &Map<String, Value>) -> Option<f64> {
    let seconds = option.get("within_s").and_then(Value::as_f64);
    seconds.or_else(|| Some(option.get("within_ms")?.as_f64()? / 1000.0))
}

fn alternatives(expect: &Value) -> Vec<Map<String, Value>> {
    expect
        .get("any_of")
        .and_then(Value::as_array)
        .map_or_else(|| vec![Map::new()], |all| all.iter().map(object).collect())
}

/// The fields of an object; none of anything else.
pub fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// A list as it is, anything else as the only member, null as none.
pub fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::Null => Vec::new(),
        other => vec![other.clone()],
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
