//! The format gate: no file that rustfmt would change, unless it would have changed the base's already.

use super::{Bench, Draft};
use crate::judgement::gate::{GateName, GateReport};
use crate::workshop::{Files, TREE, Target, Work, WorkshopError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

/// Wall time.
const LIMIT: Duration = Duration::from_secs(120);

/// What rustfmt said of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Whether there is a rustfmt.
    pub installed: bool,
    /// Files that it would change, from the top.
    pub unformatted: BTreeSet<String>,
    /// Why it could not be asked, where it could not.
    pub trouble: Option<String>,
    /// What it would change.
    #[serde(skip)]
    pub log: String,
}

/// Look at a side.
///
/// # Errors
/// The room cannot be had.
pub fn look(bench: &Bench<'_>) -> Result<Seen, WorkshopError> {
    look_on(bench, Files::Kept)
}

/// Look at any files.
///
/// # Errors
/// The room cannot be had.
pub fn look_on(bench: &Bench<'_>, files: Files<'_>) -> Result<Seen, WorkshopError> {
    if !bench.shop.toolchain.has("cargo-fmt") {
        return Ok(Seen::default());
    }
    let cargo = bench.shop.toolchain.cargo_in_room().into_os_string();
    let words = ["fmt", "--all", "--", "--check"].map(OsString::from);
    let mut work = Work { files, ..bench.work(std::iter::once(cargo).chain(words).collect()) };
    work.target = Target::None;
    work.wall = LIMIT;
    work.output = 1 << 20;
    let done = bench.shop.run(&work, &mut |_| {})?;
    let log = done.stdout.text(|cut| format!("\n… {cut} bytes cut …\n"));
    let unformatted: BTreeSet<String> = log.lines().filter_map(file_of).collect();
    let stderr = done.stderr.text(|_| String::new());
    let trouble = (!done.end.success() && unformatted.is_empty()).then(|| super::last_lines(&stderr, 40));
    Ok(Seen { installed: true, unformatted, trouble, log })
}

/// `Diff in /trial/tree/src/lib.rs:3:`, and the older `Diff in /trial/tree/src/lib.rs at line 3:`.
fn file_of(line: &str) -> Option<String> {
    let rest = line.strip_prefix("Diff in ")?;
    let path = rest.split_once(" at line ").map(|(path, _)| path);
    let path = path.or_else(|| rest.trim_end_matches(':').rsplit_once(':').map(|(path, _)| path))?;
    Some(path.strip_prefix(TREE).map_or(path, |path| path.trim_start_matches('/')).to_owned())
}

/// Judge the candidate.
pub fn judge(mut draft: Draft, base: &Seen, seen: &Seen) -> GateReport {
    if !seen.installed {
        return draft.not_run("rustfmt is not installed");
    }
    if let Some(trouble) = &seen.trouble {
        if base.trouble.is_some() {
            return draft.not_run("rustfmt cannot read the base either");
        }
        return draft.repairable("rustfmt cannot read the sources", trouble);
    }
    let new: Vec<&str> = seen.unformatted.difference(&base.unformatted).map(String::as_str).collect();
    draft.count("files", new.len() as u64);
    match new.as_slice() {
        [] => draft.pass(),
        [one] => draft.repairable(format!("rustfmt would change {one} (`cargo fmt` does)"), &seen.log),
        [one, ..] => draft
            .repairable(format!("rustfmt would change {one} and {} more (`cargo fmt` does)", new.len() - 1), &seen.log),
    }
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::gate::GateOutcome;

    fn seen(files: &[&str]) -> Seen {
        let unformatted = files.iter().map(|file| (*file).to_owned()).collect();
        Seen { installed: true, unformatted, ..Seen::default() }
    }

    #[test]
    fn both_forms_of_rustfmts_line_are_read() {
        assert_eq!(file_of("Diff in /trial/tree/src/lib.rs:3:").as_deref(), Some("src/lib.rs"));
        assert_eq!(file_of("Diff in /trial/tree/src/lib.rs at line 3:").as_deref(), Some("src/lib.rs"));
        assert_eq!(file_of("-fn a()"), None);
    }

    #[test]
    fn only_files_that_the_base_had_right_fail() {
        assert_eq!(judge(draft(), &seen(&["src/a.rs"]), &seen(&["src/a.rs"])).result, GateOutcome::Pass);
        let worse = judge(draft(), &seen(&["src/a.rs"]), &seen(&["src/a.rs", "src/b.rs"])).result;
        assert_eq!(
            worse,
            GateOutcome::Fail { why: "rustfmt would change src/b.rs (`cargo fmt` does)".to_owned(), repairable: true }
        );
    }
}
