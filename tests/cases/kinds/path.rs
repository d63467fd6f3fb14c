//! Paths that a model wrote, through the file tools: what was meant, and that nothing outside was touched.

use crate::Case;
use crate::judge::{Rules, judge, object, short};
use crate::program::{Fault, Input, Program};
use crate::world;
use nix::sys::stat::Mode;
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

pub fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let world = world::fresh();
    let top = world.path().canonicalize().expect("the world is there");
    let name = given["root"].as_str().unwrap_or("proj");
    let root = top.join(name);
    let real = if given["root_is_symlink"] == json!(true) { top.join("real").join(name) } else { root.clone() };
    fs::create_dir_all(&real).expect("a root");
    if real != root {
        symlink(Path::new("real").join(name), &root).expect("a link");
    }
    furnish(&real, &given["fs"]);
    let path = given["path"].as_str().unwrap_or_default().replace("$ROOT", &root.display().to_string());
    let op = given["op"].as_str().unwrap_or_default();
    let present = (!path.contains('\0')).then(|| root.join(&path)).filter(|path| path.is_file());
    let present = present.and_then(|path| fs::read(path).ok()).map(|data| String::from_utf8_lossy(&data).into_owned());
    let (input, written) = question(given, &root, &path, op, present.as_deref());

    let before = world::snapshot(&top);
    let mut program = Program::start(&case.kind, &[], Input::Pipe)?;
    let view = program.ask(&case.id, &input, crate::judge::limit(&case.expect))?;
    let changed = world::changes(&before, &world::snapshot(&top));
    let inside = format!("{}/", real.strip_prefix(&top).unwrap_or(&real).display());
    let mut outside: Vec<String> =
        changed.iter().filter(|c| !c.starts_with(&inside) && format!("{c}/") != inside).cloned().collect();
    if let Some(rest) = path.trim().strip_prefix("~/")
        && program.home().join(rest).symlink_metadata().is_ok()
    {
        outside.push(path.clone());
    }

    let whole = |option: &Map<String, Value>| {
        let mut faults = Vec::new();
        if !outside.is_empty() {
            faults.push(format!("written outside of the root: {outside:?}"));
        }
        if option.contains_key("error") {
            if !changed.is_empty() && outside.is_empty() {
                faults.push(format!("an error was due, but something changed: {changed:?}"));
            }
            return faults;
        }
        let Some(resolved) = view.text("resolved").filter(|r| !r.contains('\0') && !r.starts_with('/')) else {
            faults.push(format!("resolved: want a path relative to the root, got {}", short(view.get("resolved"))));
            return faults;
        };
        let own = world::with_parents(&format!("{inside}{resolved}"));
        let strangers: Vec<&String> = changed.iter().filter(|c| !own.contains(c) && !outside.contains(c)).collect();
        if !strangers.is_empty() {
            faults.push(format!("something else changed: {strangers:?}"));
        }
        let data = fs::read(real.join(resolved)).ok();
        if op == "read" {
            faults.extend(shown(view.text("output"), data.as_deref()));
        } else if data.as_deref() != Some(written.as_bytes()) {
            faults.push(format!("{resolved}: is not what was to be written"));
        }
        faults
    };
    let rules = Rules::default()
        .key("nothing_written_outside", |_| None)
        .key("link_kept", |want| {
            let link = real.join(want.as_str().unwrap_or_default());
            (!link.is_symlink()).then(|| format!("the link {want} is gone"))
        })
        .whole(whole);
    Ok(judge(&case.expect, &view, &rules))
}

fn question(given: &Value, root: &Path, path: &str, op: &str, present: Option<&str>) -> (Value, String) {
    let mut input = json!({ "root": root, "path": path, "op": op });
    let mut written = String::new();
    if op == "edit" {
        let first = object(&given["fs"]).values().find_map(|v| v.as_str().filter(|v| !v.is_empty()).map(str::to_owned));
        let old = present.map(str::to_owned).or(first).unwrap_or_default();
        written = format!("{old} edited");
        input["old"] = json!(old);
        input["new"] = json!(written);
    } else if op == "write" || op == "create" {
        written = "new text\n".to_owned();
        input["content"] = json!(written);
        if let (true, Some(present)) = (op == "write", present) {
            input["old"] = json!(present);
        }
    }
    if given["case_insensitive"] == json!(true) {
        input["case_insensitive"] = json!(true);
    }
    (input, written)
}

fn furnish(real: &Path, files: &Value) {
    for (name, value) in object(files) {
        let path = normal(&real.join(name));
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        if let Some(target) = value.get("symlink").and_then(Value::as_str) {
            symlink(target, &path).expect("a link");
        } else if value.get("fifo").is_some() {
            nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).expect("a named pipe");
        } else if let Some(size) = value.get("size").and_then(Value::as_u64) {
            world::write(&path, &log_text(size as usize), 0o644);
        } else {
            world::write(&path, &world::blob(&value), 0o644);
        }
    }
}

/// A text of exactly this many bytes, in lines of 80.
fn log_text(size: usize) -> Vec<u8> {
    let lines = (0..=size / 80).flat_map(|n| format!("{n:08} {}\n", "x".repeat(70)).into_bytes());
    lines.take(size).collect()
}

fn shown(output: Option<&str>, data: Option<&[u8]>) -> Option<String> {
    let Some(output) = output else { return Some("output: want what the tool shows".to_owned()) };
    let data = data?;
    let whole = String::from_utf8_lossy(data);
    let wanted = if data.len() < 10_000 { whole } else { String::from_utf8_lossy(data.get(..60).unwrap_or(data)) };
    (!output.contains(&*wanted))
        .then(|| format!("output: does not hold the file's text, got {}", short(&json!(output))))
}

fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            out.pop();
        } else {
            out.push(part);
        }
    }
    out
}
