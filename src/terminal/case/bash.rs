//! Cases of the kind `bash`.

use selfsmith_agent::tool::Surroundings;
use selfsmith_agent::tool::bash::{Bash, BashError, Ran, Settings};
use selfsmith_sandbox::{Cancel, End, MissingWall, Wall};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Runs one command, or several in one session, with the product's own tool.
pub fn answer(input: &Value) -> Result<Value, String> {
    let root = input.get("cwd").and_then(Value::as_str).ok_or("the case names no folder")?;
    let timeout = input.get("timeout_s").and_then(Value::as_f64).and_then(|s| Duration::try_from_secs_f64(s).ok());
    let mut settings = Settings::default();
    if let Some(limit) = input.get("limit_bytes").and_then(Value::as_u64) {
        settings.output_bytes = usize::try_from(limit).unwrap_or(usize::MAX);
    }
    let root = PathBuf::from(root).canonicalize().map_err(|error| format!("{root}: {error}"))?;
    let tool = Bash::new(&Surroundings {
        root,
        environment: std::env::vars_os().collect(),
        bash: settings,
        ..Surroundings::default()
    });
    let run = |command: &str| tool.run(command, timeout, &Cancel::default());
    if let Some(sequence) = input.get("sequence").and_then(Value::as_array) {
        let results: Vec<Value> = sequence.iter().filter_map(Value::as_str).map(|command| got(&run(command))).collect();
        return Ok(json!({ "results": results }));
    }
    let result = run(input.get("command").and_then(Value::as_str).ok_or("the case holds no command")?);
    let walls_asked_for = input.get("sandbox").and_then(Value::as_bool) == Some(true);
    if let (true, Ok(Ran { missing, .. })) = (walls_asked_for, &result)
        && let Some(wall) = open_to_writing(missing)
    {
        return Err(format!("this machine lacks a wall: {wall}"));
    }
    Ok(got(&result))
}

/// The wall for want of which a command may write anywhere: mounts and Landlock each stop it alone.
fn open_to_writing(missing: &[MissingWall]) -> Option<&MissingWall> {
    let lacks = |walls: &[Wall]| missing.iter().find(|missing| walls.contains(&missing.wall));
    lacks(&[Wall::UserNamespace, Wall::MountNamespace]).and_then(|_| lacks(&[Wall::Landlock]))
}

fn got(result: &Result<Ran, BashError>) -> Value {
    match result {
        Ok(ran) => json!({
            "exit": ran.exit(),
            "stdout": ran.stdout,
            "stderr": ran.stderr,
            "timed_out": ran.end == End::TimedOut,
            "truncated": ran.truncated,
        }),
        Err(error) => json!({ "error": error.class(), "message": error.told() }),
    }
}
