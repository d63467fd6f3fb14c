//! Documentation tests. Only cargo and rustdoc can run them; they compile while they run, so they get a copy of the target
//! folder, in which nothing lies that is used afterwards.

use super::Run;
use super::run::run_of;
use crate::gates::Bench;
use crate::reading::harness::{Reader, TestResult};
use crate::rules::plan::CargoWords;
use crate::workshop::folder;
use crate::workshop::slot::Scratch;
use crate::workshop::{Files, Target, WorkshopError};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Building takes time on top of running.
pub(super) const BUILDING: Duration = Duration::from_secs(300);

/// What the exit code is taken for where the selected packages have no library.
pub(super) const NO_LIBRARY: i32 = -1;

/// Whether any member may have some.
pub fn any(bench: &Bench<'_>) -> bool {
    let tree = bench.files();
    let folder_of =
        |dir: &str| tree.join(dir.strip_prefix(crate::workshop::TREE).unwrap_or("").trim_start_matches('/'));
    bench.members.iter().any(|member| member.has_doctests && has_example(&folder_of(&member.dir).join("src")))
}

/// Run those of every member that the words select.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn run(
    bench: &Bench<'_>,
    words: &CargoWords,
    scratch: &Scratch,
    limit: Duration,
    writes: bool,
) -> Result<Run, WorkshopError> {
    let slot = &bench.shop.slot;
    let from = if bench.side == crate::workshop::Side::Base { slot.base_target() } else { slot.target() };
    let copy = slot.fresh("doc-target")?;
    let disk = |source| WorkshopError::Disk { doing: "copy the target folder to", path: copy.clone(), source };
    fs::remove_dir(&copy).map_err(disk)?;
    folder::copy(&from, &copy).map_err(disk)?;
    let mut argv = vec![bench.shop.toolchain.cargo_in_room().into_os_string()];
    argv.extend(["test", "--doc", "--locked", "--offline", "--no-fail-fast"].map(OsString::from));
    argv.extend(words.selection.iter().map(OsString::from));
    argv.extend(std::iter::once("--".to_owned()).chain(words.trailing.iter().cloned()).map(OsString::from));
    let mut work = bench.work(argv);
    work.files = if writes { Files::Scratch(scratch.dir()) } else { Files::Of(scratch.dir()) };
    work.target = Target::Own(&copy);
    work.wall = limit;
    let mut reader = Reader::default();
    let done = bench.shop.run(&work, &mut |bytes| reader.feed(bytes))?;
    folder::remove(&copy).map_err(disk)?;
    let mut heard = reader.finish();
    heard.results = without_lines(heard.results);
    let no_library =
        !heard.is_libtest() && !done.end.success() && says_no_library(&done.stderr.text(|_| String::new()));
    let run = Run { digest: None, ..run_of(String::new(), String::new(), &done, heard, "") };
    Ok(if no_library { Run { exit: Some(NO_LIBRARY), odd: None, ..run } } else { run })
}

/// The selected packages have no library.
fn says_no_library(stderr: &str) -> bool {
    stderr.contains("no library targets found")
}

/// `src/lib.rs - add (line 3)` by the item it documents: lines move with every edit. The worst result stands, and a number
/// tells how many there are.
fn without_lines(results: BTreeMap<String, TestResult>) -> BTreeMap<String, TestResult> {
    let mut counted: BTreeMap<String, u32> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (name, result) in results {
        let item = name.split_once(" (line ").map_or(name.as_str(), |(item, _)| item).to_owned();
        let number = counted.entry(item.clone()).or_default();
        *number += 1;
        found.insert(format!("{item} #{number}"), result);
    }
    found
}

/// Whether any source has a fenced or indented example, or documentation from elsewhere.
fn has_example(dir: &Path) -> bool {
    let Ok(entries) = dir.read_dir() else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            return has_example(&path);
        }
        path.extension().is_some_and(|e| e == "rs")
            && fs::read_to_string(&path).is_ok_and(|text| {
                text.contains("```") || text.contains("~~~") || text.contains("doc =") || text.contains("///     ")
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_change_with_their_lines() {
        let names = |lines: [u32; 2]| {
            let names = lines.map(|line| (format!("src/lib.rs - add (line {line})"), TestResult::Ok));
            without_lines(names.into()).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(names([3, 9]), ["src/lib.rs - add #1", "src/lib.rs - add #2"]);
        assert_eq!(names([3, 9]), names([13, 19]));
    }
}
