//! The build gate: the project builds, locked and offline, and what was changed was really compiled.
//!
//! A target folder that was filled from other files, or files that came with old times, make cargo say "fresh" and build
//! nothing (rust-lang/cargo#16642). So every unit that cargo calls fresh is asked for the files it was made from, and none
//! of them may be one that changed.

use super::command::{self, Ran};
use super::{Bench, CargoRun, Draft};
use crate::judgement::gate::{GateName, GateReport};
use crate::reading::compiled::{Compiled, Finding, Level, Unit};
use crate::reading::members::Member;
use crate::rules::plan::Step;
use crate::workshop::folder;
use crate::workshop::{Side, TREE, WorkshopError, outside};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest list of inputs that is read.
const LONGEST_LIST: u64 = 4 << 20;

/// What came of building one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Why it does not build.
    pub broken: Option<String>,
    /// Where nothing of the project itself is to blame for that.
    #[serde(skip)]
    pub foreign: Option<Foreign>,
    /// Diagnostics.
    #[serde(skip)]
    pub log: String,
    /// What cargo made.
    pub units: Vec<Unit>,
    /// Files that went in, from the top.
    pub inputs: BTreeSet<String>,
    /// Names of the programs that were made.
    pub programs: BTreeSet<String>,
}

/// Why a build failed that no file of the project made fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Foreign {
    /// A file that was bound is closed to the room's user; what to do.
    Closed {
        /// The advice.
        hint: String,
    },
    /// A package that is none of the project's does not compile, or the machine lacks a linker or library.
    Dependency,
    /// Memory, disk or processes ran out.
    Machine,
    /// Nothing came to be compiled.
    Cargo,
}

/// Build a side, and set its programs aside.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(bench: &Bench<'_>) -> Result<Seen, WorkshopError> {
    let mut seen = Seen::default();
    for step in &bench.plan.build {
        match step {
            Step::Cargo(words) => {
                let run = bench.cargo(&["build"], words, &[])?;
                seen.units.extend(run.compiled.units.iter().cloned());
                if !run.succeeded() {
                    seen.broken = Some(why_broken(&run.compiled));
                    seen.foreign = foreign(&run, bench.members);
                    seen.log = run.log();
                    return Ok(seen);
                }
            }
            Step::Command(line) => {
                let ran = command::look(bench, line, Some(&command::that_makes()))?;
                if let Ran { trouble: Some(trouble), .. } = ran {
                    seen.broken = Some(trouble);
                    seen.log = ran.log;
                    return Ok(seen);
                }
            }
        }
    }
    seen.inputs = inputs(bench, &seen.units).into_iter().collect();
    let programs: Vec<(String, PathBuf)> = seen
        .units
        .iter()
        .filter(|unit| unit.kind == "bin" && !unit.is_test)
        .filter_map(|unit| {
            Some((unit.target.clone(), outside(&bench.shop.slot, bench.side, unit.executable.as_ref()?)?))
        })
        .collect();
    let slot = &bench.shop.slot;
    let (bin, target) = match bench.side {
        Side::Base => (slot.base_bin(), slot.base_target()),
        Side::Candidate => (slot.bin(), slot.target()),
    };
    slot.set_aside(&bin, &target, &programs)?;
    seen.programs = programs.into_iter().map(|(name, _)| name).collect();
    Ok(seen)
}

/// One sentence for a build that failed.
pub fn why_broken(compiled: &Compiled) -> String {
    let errors: Vec<_> = compiled.findings.iter().filter(|f| f.level == Level::Error).collect();
    match errors.as_slice() {
        [] => "it does not build".to_owned(),
        [one] => format!("it does not compile: {}", said(one)),
        [one, ..] => format!("it does not compile: {}, and {} more errors", said(one), errors.len() - 1),
    }
}

fn said(finding: &Finding) -> String {
    if finding.file.is_empty() { finding.message.clone() } else { format!("{} ({})", finding.message, finding.file) }
}

/// What but the project is to blame for a build that failed; none where the project is.
fn foreign(run: &CargoRun, members: &[Member]) -> Option<Foreign> {
    if let Some(found) = &run.done.unreadable {
        return Some(Foreign::Closed { hint: found.hint() });
    }
    let words = run.done.stderr.text(|_| String::new());
    blame(&run.compiled, &words, members)
}

fn blame(compiled: &Compiled, stderr: &str, members: &[Member]) -> Option<Foreign> {
    let files = format!("file://{TREE}");
    let is_own = |package: &str| package.contains(&files) || members.iter().any(|member| member.id == package);
    let errors: Vec<&Finding> = compiled.findings.iter().filter(|f| f.level == Level::Error).collect();
    if errors.iter().any(|error| is_own(&error.package) && !error.is_about_the_machine()) {
        return None;
    }
    if is_the_machines(&compiled.rendered()).or(is_the_machines(stderr)).is_some() {
        return Some(Foreign::Machine);
    }
    // A build script: `failed to run custom build command for `NAME vVERSION (PATH)``, the path only for the project's own.
    let script = stderr.lines().find_map(|line| line.split_once("failed to run custom build command for `"));
    if let Some((_, package)) = script {
        return (!package.contains(TREE)).then_some(Foreign::Dependency);
    }
    match (errors.is_empty(), compiled.units.is_empty()) {
        (false, _) => Some(Foreign::Dependency),
        (true, true) => Some(Foreign::Cargo),
        // It ended by a limit, or in a way that we do not know.
        (true, false) => None,
    }
}

/// What only a machine in trouble says; none of it is a candidate's doing.
const MACHINE: [&str; 6] = [
    "Resource temporarily unavailable",
    "No space left on device",
    "Cannot allocate memory",
    "signal: 9",
    "out of memory",
    "the compiler unexpectedly panicked",
];

/// Whether a failed build speaks of the machine and not of the sources.
pub fn is_the_machines(log: &str) -> Option<&'static str> {
    MACHINE.into_iter().find(|words| log.contains(words))
}

/// Files of the tree that units were made from.
pub fn inputs(bench: &Bench<'_>, units: &[Unit]) -> Vec<String> {
    units.iter().flat_map(|unit| inputs_of(bench, unit)).collect()
}

/// The files that one unit was made from, by the list that the compiler left beside it.
fn inputs_of(bench: &Bench<'_>, unit: &Unit) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in &unit.files {
        let Some(path) = outside(&bench.shop.slot, bench.side, file) else { continue };
        for list in lists_beside(&path) {
            let target =
                if bench.side == Side::Base { bench.shop.slot.base_target() } else { bench.shop.slot.target() };
            let Ok(list) = folder::real_file(&target, &list) else { continue };
            if fs::metadata(&list).is_ok_and(|facts| facts.len() <= LONGEST_LIST)
                && let Ok(text) = fs::read_to_string(&list)
            {
                found.extend(in_list(&text));
            }
        }
    }
    found
}

/// `deps/w-1f2e.d` for `deps/libw-1f2e.rlib` and `deps/w-1f2e`. Outside of `deps/` names carry no hash, and `w.d` there is
/// the list of the program `w`, not of the library beside it.
fn lists_beside(file: &Path) -> Vec<PathBuf> {
    let (Some(dir), Some(stem)) = (file.parent(), file.file_stem().and_then(|stem| stem.to_str())) else {
        return Vec::new();
    };
    let hashed = dir.file_name().is_some_and(|name| name == "deps");
    let names = [Some(stem), stem.strip_prefix("lib").filter(|_| hashed)];
    names.into_iter().flatten().map(|name| dir.join(format!("{name}.d"))).collect()
}

/// Paths of the tree in a makefile-like list: `out: in in\ put`.
fn in_list(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((_, inputs)) = line.split_once(": ") else { continue };
        let mut path = String::new();
        for piece in inputs.split(' ') {
            match piece.strip_suffix('\\') {
                Some(begun) => path.push_str(&format!("{begun} ")),
                None => {
                    path.push_str(piece);
                    let whole = std::mem::take(&mut path);
                    let inside = whole.strip_prefix(TREE).map(|rest| rest.trim_start_matches('/').to_owned());
                    // Workspace members are compiled from the top, so their paths are relative to it.
                    found.extend(inside.or_else(|| (!whole.starts_with('/') && !whole.is_empty()).then_some(whole)));
                }
            }
        }
    }
    found
}

/// What cargo calls fresh although a file that it was made from has changed.
pub fn stale(bench: &Bench<'_>, units: &[Unit], touched: &BTreeSet<String>) -> Option<String> {
    units.iter().filter(|unit| unit.fresh && bench.member(&unit.package).is_some()).find_map(|unit| {
        let inputs = inputs_of(bench, unit);
        let changed = inputs.iter().find(|input| touched.contains(*input))?;
        let name = bench.member(&unit.package).map_or("", |member| member.name.as_str());
        Some(format!("cargo took {name}'s {} {} for built although {changed} differs", unit.kind, unit.target))
    })
}

/// Judge the candidate.
pub fn judge(mut draft: Draft, base: &Seen, seen: &Seen, stale: Option<String>) -> GateReport {
    let fresh = seen.units.iter().filter(|unit| !unit.fresh).count();
    draft.count("units", seen.units.len() as u64);
    draft.count("compiled", fresh as u64);
    if let Some(why) = &seen.broken {
        if let (Some(said), None) = (is_the_machines(&seen.log), &base.broken) {
            return draft.unknown(
                format!("it could not be built: {said}; try again when the machine has more to spare"),
                &seen.log,
            );
        }
        let also = if base.broken.is_some() { " (nor does the base)" } else { "" };
        return draft.repairable(format!("{why}{also}"), &seen.log);
    }
    if let Some(stale) = stale {
        return draft.unknown(format!("{stale}: delete the folder `slots` in the state folder and try again"), "");
    }
    if let Some(gone) = base.programs.difference(&seen.programs).next() {
        return draft.repairable(format!("the program {gone} is not built any more"), "");
    }
    draft.pass()
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Build)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_inputs_are_read_with_their_spaces() {
        let list = "/trial/target/debug/deps/w-1.d: src/lib.rs src/a\\ b.rs /trial/tree/prompts/x.md /usr/lib/x.rs\n\n\
            src/lib.rs:\n# env-dep:CARGO_PKG_NAME=w\n";
        let expected = ["prompts/x.md", "src/a b.rs", "src/lib.rs"].map(str::to_owned);
        assert_eq!(in_list(list), expected.into());
    }

    #[test]
    fn a_library_is_not_blamed_for_the_list_of_the_program_beside_it() {
        let beside = |path: &str| lists_beside(Path::new(path));
        assert_eq!(beside("/t/debug/libw.rlib"), [PathBuf::from("/t/debug/libw.d")]);
        assert_eq!(
            beside("/t/debug/deps/libw-1.rmeta"),
            [PathBuf::from("/t/debug/deps/libw-1.d"), PathBuf::from("/t/debug/deps/w-1.d")]
        );
    }

    fn error(package: &str, message: &str) -> String {
        format!(
            "{{\"reason\":\"compiler-message\",\"package_id\":\"{package}\",\"manifest_path\":\"/x/Cargo.toml\",\"target\":{{\
             \"kind\":[\"lib\"],\"crate_types\":[\"lib\"],\"name\":\"x\",\"src_path\":\"/x/lib.rs\",\"edition\":\"2024\",\"doc\":true,\
             \"doctest\":true,\"test\":true}},\"message\":{{\"rendered\":\"error: {message}\\n\",\"$message_type\":\"diagnostic\",\
             \"children\":[],\"level\":\"error\",\"message\":\"{message}\",\"spans\":[],\"code\":null}}}}\n"
        )
    }

    #[test]
    fn the_project_is_blamed_for_its_own_files_and_for_nothing_else() {
        const OWN: &str = "path+file:///trial/tree/inner#inner@0.1.0";
        const OTHER: &str = "registry+https://github.com/rust-lang/crates.io-index#fnv@1.0.7";
        let blame = |lines: &[String], stderr: &str| blame(&Compiled::read(lines.concat().as_bytes()), stderr, &[]);
        let closed = "couldn't read `lib.rs`: Permission denied (os error 13)";
        assert_eq!(blame(&[error(OTHER, closed)], ""), Some(Foreign::Dependency));
        assert_eq!(blame(&[error(OWN, "linker `cc` not found")], ""), Some(Foreign::Dependency));
        assert_eq!(blame(&[error(OWN, "mismatched types")], ""), None);
        assert_eq!(blame(&[error(OTHER, closed), error(OWN, "mismatched types")], ""), None);
        assert_eq!(blame(&[], "error: cannot update the lock file"), Some(Foreign::Cargo));
        assert_eq!(
            blame(&[], "  process didn't exit successfully: `rustc` (signal: 9, SIGKILL)"),
            Some(Foreign::Machine)
        );
        let script = |package: &str| format!("error: failed to run custom build command for `{package}`\n");
        assert_eq!(blame(&[], &script("openssl-sys v0.9.1")), Some(Foreign::Dependency));
        assert_eq!(blame(&[], &script("inner v0.1.0 (/trial/tree/inner)")), None);
    }

    #[test]
    fn the_list_lies_beside_what_was_made() {
        let names = |path: &str| lists_beside(Path::new(path));
        assert!(names("/t/debug/deps/libw-1.rlib").contains(&PathBuf::from("/t/debug/deps/w-1.d")));
        assert!(names("/t/debug/deps/w-1").contains(&PathBuf::from("/t/debug/deps/w-1.d")));
        assert!(names("/t/debug/w").contains(&PathBuf::from("/t/debug/w.d")));
    }
}
