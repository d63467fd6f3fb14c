//! Edits of one file on disk: bytes and mode afterwards, and that nothing else changed.

use crate::Case;
use crate::ask;
use crate::judge::{Rules, judge, short};
use crate::program::Fault;
use crate::world;
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

pub fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let world = world::fresh();
    let root = world.path().join("root");
    fs::create_dir(&root).expect("a root");
    let name = given.get("path").and_then(Value::as_str).unwrap_or("file.txt");
    let target = root.join(name);
    let mode = octal(given.get("mode").unwrap_or(&json!("644")));
    let original = original(given);
    if given["is_dir"] == json!(true) {
        fs::create_dir_all(&target).expect("a folder");
    } else if let Some(data) = &original {
        world::write(&target, data, mode);
    }
    let mut input = json!({ "root": root, "path": name });
    for key in ["old", "new", "edits"] {
        if let Some(value) = given.get(key) {
            input[key] = value.clone();
        }
    }
    if given["replace_all"] == json!(true) {
        input["replace_all"] = json!(true);
    }
    let before = world::snapshot(world.path());
    let view = ask(case, &input)?;
    let changed = world::changes(&before, &world::snapshot(world.path()));
    let data = fs::read(&target).ok();
    let now = fs::metadata(&target).ok().filter(fs::Metadata::is_file).map(|m| m.permissions().mode() & 0o7777);
    let own = world::with_parents(&format!("root/{name}"));
    let strangers: Vec<&String> = changed.iter().filter(|name| !own.contains(name)).collect();
    let shown = short(&json!(data.as_deref().map(String::from_utf8_lossy)));

    let whole = |option: &Map<String, Value>| {
        let mut faults = Vec::new();
        if !strangers.is_empty() {
            faults.push(format!("something else changed: {strangers:?}"));
        }
        if original.is_some() && given["is_dir"] != json!(true) && now != Some(mode) {
            faults.push(format!("mode: was {mode:o}, is {now:?}"));
        }
        let says_file = option.contains_key("file") || option.contains_key("file_b64");
        if option.contains_key("error") && !says_file && !changed.is_empty() && strangers.is_empty() {
            faults.push(format!("an error was due, but the file changed: {shown}"));
        }
        faults
    };
    let is = |want: Vec<u8>| {
        let wanted = short(&json!(String::from_utf8_lossy(&want)));
        (data.as_ref() != Some(&want)).then(|| format!("file: want {wanted}, is {shown}"))
    };
    let rules = Rules::default()
        .key("file", |want| is(world::blob(want)))
        .key("file_b64", |want| is(world::from_base64(want)))
        .key("file_unchanged", |_| (data != original).then(|| format!("file: changed to {shown}")))
        .key("mode", |want| (now != Some(octal(want))).then(|| format!("mode: want {want}, is {now:?}")))
        .whole(whole);
    Ok(judge(&case.expect, &view, &rules))
}

fn original(given: &Value) -> Option<Vec<u8>> {
    if given["is_dir"] == json!(true) {
        return None;
    }
    if let Some(made) = given.get("file_gen") {
        let line = made["line"].as_str().unwrap_or_default();
        let times = made["times"].as_u64().unwrap_or(0) as usize;
        return Some(vec![line; times].join("\n").into_bytes());
    }
    let encoded = given.get("file_b64").map(world::from_base64);
    encoded.or_else(|| Some(given.get("file")?.as_str()?.as_bytes().to_vec()))
}

fn octal(value: &Value) -> u32 {
    u32::from_str_radix(value.as_str().unwrap_or("644"), 8).expect("a case's mode is octal")
}
