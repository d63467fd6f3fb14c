//! Commands: what came out, how long it took, and what was left behind.

use crate::Case;
use crate::judge::{Rules, differs, judge, limit};
use crate::process;
use crate::program::{Fault, Input, Program};
use crate::world;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

pub fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let sandboxed = given["sandbox"] == json!(true);
    let world = if sandboxed { world::outside_temp() } else { world::fresh() };
    let top = world.path().canonicalize().expect("the world is there");
    let folder = top.join("work");
    std::fs::create_dir(&folder).expect("a folder");
    let mut input = json!({ "cwd": folder, "timeout_s": given["timeout_s"] });
    match given.get("sequence") {
        Some(sequence) => input["sequence"] = sequence.clone(),
        None => input["command"] = json!(command(&given["command"])),
    }
    for key in ["limit_bytes", "sandbox"] {
        if let Some(value) = given.get(key) {
            input[key] = value.clone();
        }
    }
    let known: BTreeSet<i32> = process::all().into_iter().map(|process| process.pid).collect();
    let mut program = Program::start(&case.kind, &[], Input::Pipe)?;
    let mut view = program.ask(&case.id, &input, limit(&case.expect))?;
    if let Some(last) = view.get("results").as_array().and_then(|results| results.last()).cloned() {
        view.got.insert("last_stdout".to_owned(), last["stdout"].clone());
    }
    if view.get("merged") == &json!(true) {
        let both = [view.text("stdout"), view.text("stderr")].into_iter().flatten().collect::<String>();
        view.got.insert("stderr".to_owned(), json!(both));
    }
    let mark = program.mark().to_owned();
    let left = |want: &str| -> Vec<String> {
        let mine = |p: &process::Process| p.command.contains(want) && !known.contains(&p.pid) && p.mark == mark;
        process::all().into_iter().filter(mine).map(|process| process.command).collect()
    };
    let survivors = |want: &Value| {
        let until = Instant::now() + Duration::from_secs(2);
        loop {
            let left = left(want.as_str().unwrap_or_default());
            if left.is_empty() || Instant::now() > until {
                return (!left.is_empty()).then(|| format!("still running: {left:?}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let timed_out = |want: &Value| {
        let allowed = given["timeout_s"].as_f64().unwrap_or(0.0);
        let early = want == &json!(true) && view.took.as_secs_f64() < 0.9 * allowed;
        differs(want, view.get("timed_out"), "timed_out")
            .or_else(|| early.then(|| format!("timed_out: after {:?} already, the limit was {allowed} s", view.took)))
    };
    let there = |name: &Value| folder.join(name.as_str().unwrap_or_default()).symlink_metadata().is_ok();
    let rules = Rules::default()
        .key("timed_out", timed_out)
        .key("no_survivors", survivors)
        .key("valid_utf8", |_| view.text("stdout").is_none().then(|| "stdout: want text".to_owned()))
        .key("check_absent", |want| there(want).then(|| format!("{want} is there")))
        .key("check_present", |want| (!there(want)).then(|| format!("{want} is not there")));
    let faults = judge(&case.expect, &view, &rules);
    drop(program);
    process::end(|process| process.folder.starts_with(&top));
    Ok(faults)
}

fn command(given: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let times = given["times"].as_u64().unwrap_or(0) as usize;
    if given.is_object() { text(&given["gen"]) + &text(&given["repeat"]).repeat(times) } else { text(given) }
}
