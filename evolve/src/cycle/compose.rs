//! The trial tree: the base, what the proposer's folder changes, and the judge's line in the changelog.
//!
//! What the proposer never saw (`evals/`, `evolve/tests/`) stays as in the base. The tree is composed even where bounds
//! refuse it, so that it can be kept and shown; only a folder with a new key in it never enters the repository.

use crate::bounds::{self, Differs, Input, Oddity, Side};
use crate::judgement::candidate::{BlobId, Candidate, CommitId, Touched, TreeId, Zone};
use crate::judgement::defence::{Defence, Defences};
use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::rules::Rules;
use crate::rules::knobs::{KNOBS_PATH, Knobs};
use crate::texts::count;
use selfsmith_repo::{Change, FileDiff, Mode, ProblemKind, Renames, Repo, RepoError, SnapshotRules, TreePath};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// Parts of the base that the proposer does not see.
pub const HIDDEN: &[&str] = &["evals", "evolve/tests"];
/// What builds leave in the proposer's folder; `.git` is one that a tool of the proposer's made for itself.
const LEFTOVERS: &[&str] = &["target", ".git"];

/// What a candidate is composed from.
#[derive(Clone, Copy)]
pub struct Composing<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The commit that it is made from.
    pub base: &'a CommitId,
    /// That commit's tree.
    pub base_tree: &'a TreeId,
    /// That commit's rules.
    pub rules: &'a Rules,
    /// Which defences are up.
    pub defences: Defences,
    /// The candidate's id.
    pub id: &'a str,
    /// The judge's line, without bullet.
    pub line: &'a str,
    /// Measures how long it takes.
    pub stopwatch: &'a dyn Fn() -> Duration,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The candidate; none if it must not enter the repository.
    pub candidate: Option<Candidate>,
    /// The bounds gate's report.
    pub bounds: GateReport,
    /// What was left out of it, a sentence each: by the base's ignore files, or the judge's own line.
    pub left_out: Vec<String>,
}

/// The base's tree without what the proposer must not see.
pub fn visible(repo: &Repo, tree: &TreeId) -> Result<TreeId, RepoError> {
    let hidden = repo.entries(&tree.0)?.into_iter().filter(|e| is_hidden(&e.path));
    let changes: Vec<Change> = hidden.map(|e| Change { path: e.path, entry: None }).collect();
    Ok(TreeId(repo.tree_with(&tree.0, &changes)?))
}

impl Composing<'_> {
    /// Compose from the proposer's folder.
    pub fn folder(&self, dir: &Path) -> Result<Composed, RepoError> {
        let begun = (self.stopwatch)();
        if self.defences.up(Defence::Secrets)
            && let Some(why) = self.new_key_below(dir)?
        {
            return Ok(Composed { candidate: None, bounds: refused(why, self.since(begun)), left_out: Vec::new() });
        }
        let seen = visible(self.repo, self.base_tree)?;
        let rules = SnapshotRules { skip: LEFTOVERS, ..SnapshotRules::of(&seen.0) };
        let snapshot = self.repo.snapshot(dir, &rules)?;
        let oddities: Vec<Oddity> = snapshot
            .problems
            .iter()
            .filter_map(|p| Some(Oddity { path: p.path.clone(), what: said(p.kind)?.into() }))
            .collect();
        let differs = self.repo.diff(&seen.0, &snapshot.tree, Renames::AsTwo)?;
        // A submodule is not laid out for the proposer, so its absence says nothing.
        let is_absent_submodule =
            |d: &FileDiff| d.new.is_none() && d.old.as_ref().is_some_and(|o| o.mode == Mode::Submodule);
        let changes: Vec<Change> = differs
            .into_iter()
            .filter(|d| !is_absent_submodule(d))
            .map(|d| Change { path: d.path, entry: d.new.map(|side| (side.mode, side.id)) })
            .collect();
        let tree = self.repo.tree_with(&self.base_tree.0, &changes)?;
        let composed = self.tree(&TreeId(tree), &oddities, begun)?;
        let ignored = left_out(snapshot.ignored, &snapshot.ignored_first);
        Ok(Composed { left_out: ignored.into_iter().chain(composed.left_out).collect(), ..composed })
    }

    /// Compose from a tree that holds the changes already, and nothing that a proposer's folder could hide.
    pub fn whole(&self, tree: &TreeId) -> Result<Composed, RepoError> {
        self.tree(tree, &[], (self.stopwatch)())
    }

    /// Compose from a tree that holds the changes already.
    fn tree(&self, tree: &TreeId, oddities: &[Oddity], begun: Duration) -> Result<Composed, RepoError> {
        let differs = self.differs(self.base_tree, tree)?;
        let touched = with_knobs(self.repo, self.base_tree, bounds::touched(&differs, self.rules))?;
        let mut report = self.check(&differs, oddities, tree)?;
        self.ask_about_filters(&differs, &mut report)?;
        let (tree, left_out) = self.with_line(tree)?;
        report.took = self.since(begun);
        let candidate = Candidate { id: self.id.to_owned(), base: self.base.clone(), tree, touched };
        Ok(Composed { candidate: Some(candidate), bounds: report, left_out: left_out.into_iter().collect() })
    }

    fn since(&self, begun: Duration) -> Duration {
        (self.stopwatch)().saturating_sub(begun)
    }

    /// What differs between two trees, as the bounds gate wants it.
    fn differs(&self, old: &TreeId, new: &TreeId) -> Result<Vec<Differs>, RepoError> {
        let side = |side: selfsmith_repo::Side| -> Result<Side, RepoError> {
            let size = if side.mode == Mode::Submodule { 0 } else { self.repo.blob_size(&side.id)? };
            Ok(Side { mode: side.mode, blob: BlobId(side.id), size })
        };
        let one = |d: FileDiff| -> Result<Differs, RepoError> {
            Ok(Differs {
                path: d.path,
                old: d.old.map(side).transpose()?,
                new: d.new.map(side).transpose()?,
                added: d.added,
                removed: d.removed,
            })
        };
        self.repo.diff(&old.0, &new.0, Renames::AsTwo)?.into_iter().map(one).collect()
    }

    fn check(&self, differs: &[Differs], oddities: &[Oddity], tree: &TreeId) -> Result<GateReport, RepoError> {
        let mut blobs = BTreeMap::new();
        for side in differs.iter().flat_map(|d| [&d.old, &d.new]).flatten() {
            let is_file = matches!(side.mode, Mode::File | Mode::Executable);
            if is_file && side.size <= bounds::MAX_FILE && !blobs.contains_key(&side.blob) {
                blobs.insert(side.blob.clone(), self.repo.blob(&side.blob.0)?);
            }
        }
        let entries = self.repo.entries(&tree.0)?;
        let paths: Vec<TreePath> = entries.iter().map(|e| e.path.clone()).collect();
        let ratcheted = (self.ratcheted(self.base_tree)?, self.ratcheted(tree)?);
        let input = Input { differs, oddities, blobs: &blobs, paths: &paths, ratcheted };
        Ok(bounds::check(&input, self.rules, self.defences))
    }

    fn ratcheted(&self, tree: &TreeId) -> Result<u64, RepoError> {
        let mut bytes = 0;
        for entry in self.repo.entries(&tree.0)? {
            let is_file = matches!(entry.mode, Mode::File | Mode::Executable);
            if is_file && entry.path.as_str().is_some_and(|p| self.rules.is_ratcheted(p)) {
                bytes += self.repo.blob_size(&entry.id)?;
            }
        }
        Ok(bytes)
    }

    /// Files that git's filters (LFS among them) rewrite are not the bytes that were judged.
    fn ask_about_filters(&self, differs: &[Differs], report: &mut GateReport) -> Result<(), RepoError> {
        if !matches!(report.result, GateOutcome::Pass | GateOutcome::Ask { .. }) {
            return Ok(());
        }
        let paths: Vec<TreePath> = differs.iter().map(|d| d.path.clone()).collect();
        if let Some(path) = self.repo.filtered(&self.base_tree.0, &paths)?.first() {
            let why = format!("{path} goes through a git filter, so its bytes on disk are not those that were judged");
            report.result = GateOutcome::Ask { why };
        }
        Ok(())
    }

    /// The tree with the judge's own line; or as it is, and why the line was left out.
    fn with_line(&self, tree: &TreeId) -> Result<(TreeId, Option<String>), RepoError> {
        let Some(path) = self.rules.changelog().map(TreePath::from) else { return Ok((tree.clone(), None)) };
        let without = |why: &str| Ok((tree.clone(), Some(format!("no line was added to {path}: {why}"))));
        let text = match self.repo.entry(&tree.0, &path)? {
            Some(entry) if entry.mode == Mode::File => String::from_utf8(self.repo.blob(&entry.id)?).ok(),
            Some(_) => return without("it is no plain file"),
            // A project without one has not asked for one, unless its rules name it.
            None if !self.rules.makes_changelog() => return Ok((tree.clone(), None)),
            None => Some(String::new()),
        };
        let Some(text) = text else { return without("it is not UTF-8 text") };
        let blob = self.repo.write_blob(changelog_with(&text, self.line).as_bytes())?;
        let change = Change { path, entry: Some((Mode::File, blob)) };
        Ok((TreeId(self.repo.tree_with(&tree.0, &[change])?), None))
    }

    /// The first file below `dir` that holds a key which the base's file does not; looked for before anything is written.
    fn new_key_below(&self, dir: &Path) -> Result<Option<String>, RepoError> {
        let mut folders = vec![TreePath::new(Vec::new())];
        while let Some(folder) = folders.pop() {
            // What cannot be read is reported by the snapshot.
            let Ok(children) = fs::read_dir(folder.below(dir)) else { continue };
            for child in children.flatten() {
                let path = folder.join(child.file_name().as_bytes());
                let Ok(meta) = fs::symlink_metadata(child.path()) else { continue };
                if LEFTOVERS.iter().any(|skip| path.as_bytes() == skip.as_bytes()) {
                    continue;
                } else if meta.is_dir() {
                    folders.push(path);
                } else if meta.is_file() && meta.len() <= MAX_SCANNED {
                    let Ok(bytes) = fs::read(child.path()) else { continue };
                    if bounds::secret_in(&bytes, b"").is_none() {
                        continue;
                    }
                    let before = match self.repo.entry(&self.base_tree.0, &path)? {
                        Some(entry) if matches!(entry.mode, Mode::File | Mode::Executable) => {
                            self.repo.blob(&entry.id)?
                        }
                        _ => Vec::new(),
                    };
                    if let Some(what) = bounds::secret_in(&bytes, &before) {
                        return Ok(Some(format!("{path} holds {what}; the candidate is kept outside the repository")));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The largest file that is searched for keys before a snapshot; larger ones the snapshot leaves out.
const MAX_SCANNED: u64 = 10 << 20;

/// What differs between two trees, with zones: for what a person decides, where bounds do not apply.
pub fn touched_between(repo: &Repo, old: &TreeId, new: &TreeId, rules: &Rules) -> Result<Vec<Touched>, RepoError> {
    let composing = Composing {
        repo,
        base: &CommitId(String::new()),
        base_tree: old,
        rules,
        defences: Defences::all(),
        id: "",
        line: "",
        stopwatch: &|| Duration::ZERO,
    };
    let log = rules.changelog().map(TreePath::from);
    let differs: Vec<Differs> =
        composing.differs(old, new)?.into_iter().filter(|d| Some(&d.path) != log.as_ref()).collect();
    with_knobs(repo, old, bounds::touched(&differs, rules))
}

/// What only turns knobs of the base within their ranges is seen as that. Knobs that cannot be read are none.
fn with_knobs(repo: &Repo, base: &TreeId, mut touched: Vec<Touched>) -> Result<Vec<Touched>, RepoError> {
    let Some(entry) = repo.entry(&base.0, &KNOBS_PATH.into())? else { return Ok(touched) };
    let text = String::from_utf8(repo.blob(&entry.id)?).unwrap_or_default();
    let Ok(knobs) = Knobs::parse(&text) else { return Ok(touched) };
    for one in touched.iter_mut().filter(|one| one.zone == Zone::Open) {
        let (Some(old), Some(new)) = (&one.old, &one.new) else { continue };
        let of_knobs = knobs.knobs.iter().any(|knob| knob.file == one.path);
        if !of_knobs || [old, new].iter().any(|id| repo.blob_size(&id.0).is_ok_and(|size| size > bounds::MAX_FILE)) {
            continue;
        }
        let (old, new) = (String::from_utf8(repo.blob(&old.0)?), String::from_utf8(repo.blob(&new.0)?));
        if let (Ok(old), Ok(new)) = (old, new)
            && knobs.turned(&one.path, &old, &new).is_some()
        {
            one.zone = Zone::Knob;
        }
    }
    Ok(touched)
}

/// The text of a changelog with one more bullet, first under "Unreleased"; the heading is made where there is none.
pub fn changelog_with(text: &str, line: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let bullet = format!("- {line}");
    let mut lines: Vec<&str> = text.lines().collect();
    let is_heading = |l: &str| l.starts_with("## ");
    let unreleased = lines.iter().position(|l| {
        is_heading(l)
            && l.trim_start_matches('#').trim().trim_start_matches('[').to_lowercase().starts_with("unreleased")
    });
    match unreleased {
        Some(at) => {
            let next = lines.iter().skip(at + 1).position(|l| !l.trim().is_empty()).map(|n| at + 1 + n);
            match next.filter(|n| lines.get(*n).is_some_and(|l| l.starts_with(['-', '*']))) {
                Some(first_bullet) => lines.insert(first_bullet, &bullet),
                None => {
                    let rest = lines.split_off(next.unwrap_or(lines.len()));
                    lines.truncate(at + 1);
                    lines.extend(["", bullet.as_str()]);
                    if !rest.is_empty() {
                        lines.push("");
                        lines.extend(rest);
                    }
                }
            }
        }
        None if lines.is_empty() => lines.extend(["# Changelog", "", "## Unreleased", "", bullet.as_str()]),
        None => match lines.iter().position(|l| is_heading(l)) {
            Some(at) => {
                let rest = lines.split_off(at);
                lines.extend(["## Unreleased", "", bullet.as_str(), ""]);
                lines.extend(rest);
            }
            None => {
                if lines.last().is_some_and(|l| !l.trim().is_empty()) {
                    lines.push("");
                }
                lines.extend(["## Unreleased", "", bullet.as_str()]);
            }
        },
    }
    let mut out = lines.join(end);
    out.push_str(end);
    out
}

fn is_hidden(path: &TreePath) -> bool {
    HIDDEN.iter().any(|hidden| path.is_within(hidden.as_bytes()))
}

/// A file that the proposer made and git would not see is no part of the change; builds leave such files too.
fn left_out(number: usize, first: &[TreePath]) -> Option<String> {
    let names: Vec<String> = first.iter().map(ToString::to_string).collect();
    let more = if number > names.len() { " …" } else { "" };
    let text = format!(
        "the base's ignore files leave {} out of the change: {}{more}",
        count(number as u64, "path"),
        names.join(", ")
    );
    (number > 0).then_some(text)
}

fn refused(why: String, took: Duration) -> GateReport {
    let log = format!("{why}\n");
    let result = GateOutcome::Fail { why, repairable: false };
    GateReport { gate: GateName::Bounds, result, took, log, counts: BTreeMap::new() }
}

/// What a problem of the folder is, in words; none where the tree holds it and bounds see it there.
const fn said(kind: ProblemKind) -> Option<&'static str> {
    match kind {
        ProblemKind::Symlink | ProblemKind::NotUtf8 | ProblemKind::CaseTwin => None,
        ProblemKind::Special => Some("is a device, a pipe or a socket"),
        ProblemKind::TooLarge => Some("is too large"),
        ProblemKind::Unreadable => Some("cannot be read"),
        ProblemKind::NestedGit => Some("is a repository inside the folder"),
        ProblemKind::HardLink => Some("is a hard link, its content may lie elsewhere"),
        ProblemKind::TooDeep => Some("lies too deep"),
        ProblemKind::TooMuch => Some("is past the bound on the number or size of files"),
    }
}

#[cfg(test)]
mod tests {
    use super::changelog_with;

    #[test]
    fn the_line_stands_first_under_unreleased() {
        for (before, after) in [
            ("", "# Changelog\n\n## Unreleased\n\n- new\n"),
            ("# Changelog\n\n## Unreleased\n\n- old\n", "# Changelog\n\n## Unreleased\n\n- new\n- old\n"),
            ("# C\n\n## [Unreleased]\n\n### Added\n- x\n", "# C\n\n## [Unreleased]\n\n- new\n\n### Added\n- x\n"),
            ("# C\n\n## Unreleased\n\n## 1.0\n- x\n", "# C\n\n## Unreleased\n\n- new\n\n## 1.0\n- x\n"),
            ("# C\n\n## 1.0\n- x\n", "# C\n\n## Unreleased\n\n- new\n\n## 1.0\n- x\n"),
            ("# C\n", "# C\n\n## Unreleased\n\n- new\n"),
            ("## Unreleased\n* old", "## Unreleased\n- new\n* old\n"),
            ("# C\r\n\r\n## Unreleased\r\n\r\n- old\r\n", "# C\r\n\r\n## Unreleased\r\n\r\n- new\r\n- old\r\n"),
            ("## Unreleased", "## Unreleased\n\n- new\n"),
        ] {
            assert_eq!(changelog_with(before, "new"), after, "{before:?}");
        }
    }
}
