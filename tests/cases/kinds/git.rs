//! Repositories made by shell lines, acted on by the product, looked at with git.

use crate::Case;
use crate::judge::{Rules, differs, judge, limit};
use crate::process;
use crate::program::{Fault, Input, Program, clean_env};
use crate::world;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let world = world::fresh();
    let top = world.path().canonicalize().expect("the world is there");
    let repo = top.join("repo");
    std::fs::create_dir(&repo).expect("a folder");
    let env = clean_env(&top);
    prepare(&given["setup"], &repo, &env)?;
    let mut input = json!({ "repo": repo, "op": given["op"] });
    if let Some(cwd) = given.get("cwd").and_then(Value::as_str) {
        input["cwd"] = json!(normal(&repo.join(cwd)));
    }
    let extra = variables(given, &repo);
    if !extra.is_empty() {
        input["env"] = extra.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    }
    let through = if given["stdin"] == json!("tty") { Input::Terminal } else { Input::Pipe };
    if let Some(stdin) = given.get("stdin") {
        input["stdin"] = stdin.clone();
    }
    let mut program = Program::start(&case.kind, &extra, through)?;
    let limit = limit(&case.expect);
    let mut view = program.ask(&case.id, &input, limit)?;
    if let Some(then) = given.get("then").filter(|_| view.get("error").is_null()) {
        prepare(&then["setup"], &repo, &env)?;
        let mut second = input.clone();
        second["op"] = then["op"].clone();
        second["op"]["checkpoint"] = view.get("checkpoint").clone();
        let later = program.ask(&format!("{}+then", case.id), &second, limit)?;
        for key in ["ok", "error", "message"] {
            if let Some(value) = later.got.get(key) {
                view.got.insert(key.to_owned(), value.clone());
            }
        }
        view.took += later.took;
    }
    drop(program);
    process::end(|process| process.folder.starts_with(&top));
    let check = |want: &Value| {
        want.as_array().into_iter().flatten().find_map(|step| {
            let line = step["cmd"].as_str().unwrap_or_default();
            let out = String::from_utf8_lossy(&shell(line, &repo, &env).stdout).into_owned();
            let out = out.strip_suffix('\n').unwrap_or(&out);
            differs(&step["out"], &json!(out), &format!("`{line}`"))
        })
    };
    Ok(judge(&case.expect, &view, &Rules::default().key("check", check)))
}

fn variables(given: &Value, repo: &Path) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let plain = crate::judge::object(&given["env"]).into_iter().map(|(name, value)| (name, text(&value)));
    let relative = crate::judge::object(&given["env_rel"]).into_iter();
    plain.chain(relative.map(|(name, value)| (name, normal(&repo.join(text(&value))).display().to_string()))).collect()
}

fn prepare(lines: &Value, repo: &Path, env: &[(String, String)]) -> Result<(), Fault> {
    for line in lines.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let done = shell(line, repo, env);
        if !done.status.success() {
            let why = String::from_utf8_lossy(&done.stderr).into_owned();
            return Err(Fault::Broken(format!("the set-up failed: {line}: {why}")));
        }
    }
    Ok(())
}

fn shell(line: &str, folder: &Path, env: &[(String, String)]) -> Output {
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let mut command = Command::new(shell);
    command.arg("-c").arg(line).current_dir(folder).env_clear().envs(env.iter().cloned()).stdin(Stdio::null());
    command.output().expect("a shell can be started")
}

fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
