//! Every folder of `tests/scenarios/` as a named test against the built program.
//!
//! `SELFSMITH_BLESS=1` rewrites `after/` and existing `events.jsonl` from what came out: read the difference before you
//! commit it.

use libtest_mimic::{Arguments, Failed, Trial};
use selfsmith_scenario::{Bless, Options, Place, names, run};
use std::path::{Path, PathBuf};

fn main() {
    selfsmith_sandbox::entry();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let trials = match names(&folder) {
        Ok(names) if !names.is_empty() => names.into_iter().map(|name| trial(&folder, name)).collect(),
        Ok(_) => vec![broken("no scenario was found".to_owned())],
        Err(e) => vec![broken(format!("{}: {e}", folder.display()))],
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial(folder: &Path, name: String) -> Trial {
    let folder = folder.join(&name);
    Trial::test(name, move || {
        let options = Options {
            place: Place::Here,
            bless: if std::env::var_os("SELFSMITH_BLESS").is_some() { Bless::Yes } else { Bless::No },
            scratch: std::env::temp_dir(),
            parent: std::env::vars_os().collect(),
        };
        let program = PathBuf::from(env!("CARGO_BIN_EXE_selfsmith-agent"));
        let outcome = run(&program, &folder, &options).map_err(|e| Failed::from(e.to_string()))?;
        if outcome.faults.is_empty() {
            return Ok(());
        }
        Err(Failed::from(format!("{}\n--- standard error:\n{}", outcome.faults.join("\n"), outcome.stderr)))
    })
}

fn broken(why: String) -> Trial {
    Trial::test("scenarios", move || Err(Failed::from(why)))
}
