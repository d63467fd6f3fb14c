//! A session killed, or interrupted, at random moments, then resumed: no call without its result, no line lost but a torn last
//! one, nothing left running.
//!
//! `cargo test --test killed -- 200` kills as often and prints in which phases the kills came.

#[path = "agent/support.rs"]
#[expect(dead_code, reason = "what other tests share is not all needed here")]
mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use selfsmith_cassette::Reply;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::{World, reply, says};

/// Kills, and interrupts, in an ordinary run of the tests.
const ORDINARY: u64 = 20;
const INTERRUPTS: u64 = 10;
/// For whatever was started to be gone.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    selfsmith_sandbox::entry();
    if let Some(runs) = std::env::args().nth(1).and_then(|word| word.parse().ok()) {
        return match stops(Way::Kill, runs) {
            Ok(phases) => {
                let mut out = std::io::stdout().lock();
                for (phase, count) in phases {
                    let bar = "#".repeat(usize::try_from(count * 60 / runs.max(1)).unwrap_or(0));
                    let _ = writeln!(out, "{phase:<28} {count:>4} {bar}");
                }
                ExitCode::SUCCESS
            }
            Err(why) => {
                let _ = writeln!(std::io::stderr(), "{why}");
                ExitCode::FAILURE
            }
        };
    }
    let trial = |name: &str, way, runs| {
        Trial::test(name, move || {
            let phases = stops(way, runs).map_err(Failed::from)?;
            // Were they all alike, the moments would not be random.
            if phases.len() < 2 { Err(Failed::from(format!("only this was hit: {phases:?}"))) } else { Ok(()) }
        })
    };
    let killed = trial("a_session_killed_at_random_moments_goes_on", Way::Kill, ORDINARY);
    let stopped = trial("a_session_interrupted_at_random_moments_goes_on", Way::Interrupt, INTERRUPTS);
    libtest_mimic::run(&Arguments::from_args(), vec![killed, stopped]).exit_code()
}

/// How it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By SIGKILL.
    Kill,
    /// By Ctrl-C.
    Interrupt,
}

fn stops(way: Way, runs: u64) -> Result<BTreeMap<String, u64>, String> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.subsec_nanos().into());
    let mut dice = Dice(seed);
    let mut phases = BTreeMap::new();
    for run in 0..runs {
        let phase = stop_and_resume(way, &mut dice).map_err(|why| format!("seed {seed}, run {run}: {why}"))?;
        *phases.entry(phase).or_insert(0) += 1;
    }
    Ok(phases)
}

/// Numbers without a pattern that matters here (Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn calls(calls: &[(&str, Value)]) -> Reply {
    let calls: Vec<Value> =
        calls.iter().map(|(name, arguments)| json!({ "name": name, "arguments": arguments })).collect();
    reply(json!({ "text": "Next.", "calls": calls }))
}

fn script() -> Vec<Reply> {
    vec![
        calls(&[("bash", json!({ "command": "echo one >> log" })), ("view", json!({ "path": "log" }))]),
        calls(&[("create", json!({ "path": "a.txt", "content": "a\n".repeat(2000) }))]),
        calls(&[("bash", json!({ "command": "seq 1 3000; tail -f /dev/null & seq 1 200 | wc -l" }))]),
        calls(&[("todo", json!({ "items": "[x] one\n[ ] two" })), ("bash", json!({ "command": "cat a.txt log" }))]),
        says("All done."),
    ]
}

/// The phase that was hit; `Err` says what does not hold.
fn stop_and_resume(way: Way, dice: &mut Dice) -> Result<String, String> {
    let world = World::new(script());
    let phase = stopped(&world, way, dice)?;
    nothing_runs(&world.work())?;
    let before = lines(&world);
    let again = World::new(vec![says("Back.")]);
    let mut command = again.command(&["--channel", "native", "--approval", "auto", "resume"]);
    command.current_dir(world.work()).env("HOME", world.home());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // Where there is nothing to resume it does not read.
        let _ = stdin.write_all(b"go on\n");
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if world.records().is_empty() {
        return Ok(phase);
    }
    let told = || String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned();
    if output.status.code() != Some(0) {
        return Err(format!("after {phase} it does not go on: {}", told()));
    }
    sound(&again.last_request()).map_err(|why| format!("after {phase}: {why}"))?;
    let after = lines(&world);
    if after.get(..before.len()) != Some(before.as_slice()) || after.len() <= before.len() {
        return Err(format!("after {phase} the record lost a line: {} before, {} after", before.len(), after.len()));
    }
    for (number, line) in after.iter().enumerate() {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        if value["n"] != number {
            return Err(format!("line {number} of the record says that it is {}", value["n"]));
        }
    }
    Ok(phase)
}

/// Run the script and stop it after some event, and some turns of a loop more; the last event that was seen by then.
fn stopped(world: &World, way: Way, dice: &mut Dice) -> Result<String, String> {
    let mut command = world.command(&["exec", "--json", "--channel", "native", "--approval", "auto", "do it"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let mut lines_of = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines().map_while(Result::ok);
    // Before its first event it does not listen to Ctrl-C yet.
    let first = u64::from(way == Way::Interrupt);
    let (events, spins) = (dice.below(40).max(first), dice.below(40_000));
    let mut seen: Vec<Value> = Vec::new();
    while (seen.len() as u64) < events {
        let Some(line) = lines_of.next() else { break };
        seen.push(serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?);
    }
    (0..spins).for_each(|_| std::hint::spin_loop());
    let phase = seen.last().map_or("before the first event", |event| event["type"].as_str().unwrap_or_default());
    let phase = phase.to_owned();
    // It may have come to its end meanwhile.
    match way {
        Way::Kill => drop(child.kill()),
        Way::Interrupt => {
            let pid = nix::unistd::Pid::from_raw(child.id().try_into().map_err(|_| "no pid")?);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT);
            seen.extend(lines_of.filter_map(|line| serde_json::from_str(&line).ok()));
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let last = seen.last().map(|event| event["type"].as_str().unwrap_or_default());
    if way == Way::Interrupt && (!matches!(status.code(), Some(0 | 130)) || last != Some("ended")) {
        return Err(format!("after {phase} it ends with {status} and the event {last:?}"));
    }
    // What was told was written down before.
    let replies = seen.iter().filter(|event| event["type"] == "replied").count();
    let kept = lines(world).iter().filter(|line| line.contains("\"role\":\"assistant\"")).count();
    if kept < replies { Err(format!("{replies} replies were told, {kept} are in the record")) } else { Ok(phase) }
}

/// The whole lines of the record.
fn lines(world: &World) -> Vec<String> {
    let texts = world.records().into_iter().filter_map(|path| std::fs::read_to_string(path).ok());
    let whole = |text: String| {
        let end = text.rfind('\n').map_or(0, |at| at + 1);
        text.get(..end).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    texts.flat_map(whole).collect()
}

/// Whether a request is one that a strict provider takes: each call is answered once, at once.
fn sound(request: &str) -> Result<(), String> {
    let request: Value = serde_json::from_str(request).map_err(|error| error.to_string())?;
    let messages = request["messages"].as_array().ok_or("it was not asked")?;
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        match message["role"].as_str() {
            Some("tool") => {
                let at = open.iter().position(|id| **id == message["tool_call_id"]);
                open.remove(at.ok_or_else(|| format!("a result without its call: {message}"))?);
            }
            _ if !open.is_empty() => return Err(format!("calls without their results: {open:?}")),
            _ => open.extend(message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"])),
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls without their results: {open:?}")) }
}

/// Wait until no process has its place in the workspace any more.
fn nothing_runs(work: &Path) -> Result<(), String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let here = |path: &Path| std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == work);
        let left: Vec<String> = processes
            .map(|entry| entry.path())
            .filter(|path| here(path))
            .filter_map(|path| std::fs::read_to_string(path.join("cmdline")).ok())
            .collect();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(format!("still running: {left:?}"));
        }
        std::thread::yield_now();
    }
}
