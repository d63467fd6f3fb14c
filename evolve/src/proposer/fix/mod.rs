//! The proposer `fix`: applies the suggestions of compiler and clippy that a machine may apply. No model.
//!
//! It runs clippy (or the compiler, where there is no clippy) in the room, applies suggestions to files of open zones itself,
//! and keeps within the budget that may land without a person; what is left over is for the next cycle. Test code is not
//! compiled, so inline tests stay as they are; but where the base does not compile, everything is followed to the end, and a
//! person is asked. A round after which the sources compile worse than before is taken back.

mod suggestion;

use crate::gates::{Bench, CargoRun};
use crate::judgement::candidate::{Proposal, TreeId, Zone};
use crate::judgement::progress::{Progress, Report};
use crate::judgement::weigh::WeighError;
use crate::proposer::{Proposer, ProposerError, Task};
use crate::reading::compiled::Level;
use crate::rules::Rules;
use crate::rules::plan::{CargoWords, Plan};
use crate::texts::count;
use crate::workshop::{Files as Seen, Given, Side, Target, Workshop, WorkshopError};
use selfsmith_repo::Repo;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use suggestion::{Allowance, Files, Suggestion, apply, collect};

/// Suggestions bring forth suggestions; this often they are followed.
const ROUNDS: usize = 4;

/// The proposer.
pub struct Fix {
    repo: Repo,
    tree: TreeId,
    rules: Rules,
    given: Given,
}

/// What was done so far.
#[derive(Debug, Default)]
struct Done {
    codes: BTreeMap<String, u32>,
    files: BTreeSet<String>,
    lines: usize,
    left: u32,
}

/// How far suggestions are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Libraries and programs, within the budget.
    Shipped,
    /// Everything: the base does not compile, so a part of the way would be of no use.
    Everything,
}

/// What compiler and clippy say now.
#[derive(Debug)]
struct Now {
    found: Vec<Suggestion>,
    errors: usize,
    /// Whether the compiler itself refuses.
    broken: bool,
}

impl Fix {
    /// For one base.
    pub const fn new(repo: Repo, tree: TreeId, rules: Rules, given: Given) -> Self {
        Self { repo, tree, rules, given }
    }
}

impl Proposer for Fix {
    fn name(&self) -> &str {
        "fix"
    }

    fn propose(&mut self, task: Task<'_>, report: Report<'_>) -> Result<Proposal, ProposerError> {
        let shop = Workshop::open(&self.repo, &self.tree, self.given.clone()).map_err(failed)?;
        let plan = Plan::of(&self.rules, task.dir.join("Cargo.toml").is_file());
        if !plan.is_cargo {
            return Err(ProposerError {
                what: "there is no Cargo.toml at the top, so there is no compiler to ask".to_owned(),
                hint: "use another proposer".to_owned(),
            });
        }
        let work = Round { shop: &shop, plan: &plan, rules: &self.rules, dir: task.dir };
        let done = work.all(task.attempt, report)?;
        if done.codes.is_empty() && task.attempt == 0 {
            return Err(ProposerError {
                what: "compiler and clippy suggest nothing that a machine may apply in an open zone".to_owned(),
                hint: "there is nothing to do for this proposer; give the goal to another".to_owned(),
            });
        }
        Ok(proposal(&done))
    }
}

fn proposal(done: &Done) -> Proposal {
    let applied: u32 = done.codes.values().sum();
    let codes: Vec<String> = done.codes.iter().map(|(code, times)| format!("{code} ({times})")).collect();
    let left = if done.left > 0 { format!(" {} more are left for another cycle.", done.left) } else { String::new() };
    let applied = count(applied.into(), "suggestion");
    Proposal {
        summary: format!("Apply {applied} of compiler and clippy\n\n{}.{left}", codes.join(", ")),
        prediction: "These lints find less than before, and every test passes as before.".to_owned(),
        output: String::new(),
    }
}

/// What the rounds work with.
struct Round<'a> {
    shop: &'a Workshop,
    plan: &'a Plan,
    rules: &'a Rules,
    dir: &'a Path,
}

impl Round<'_> {
    /// At a repair, what clippy suggested is taken back and only the compiler's own suggestions are applied.
    fn all(&self, attempt: u32, report: Report<'_>) -> Result<Done, ProposerError> {
        let mut done = Done::default();
        self.shop.start_target().map_err(failed)?;
        if attempt > 0 {
            self.take_back()?;
        }
        let unformatted = self.unformatted()?;
        let mut reach = Reach::Shipped;
        let mut now = self.look(attempt, reach, report)?;
        if now.broken {
            reach = Reach::Everything;
            now = self.look(attempt, reach, report)?;
        }
        for _ in 0..ROUNDS {
            let files = self.open_files(&now.found)?;
            let applied = apply(&now.found, &files, self.allowance(&done, reach));
            if applied.files.is_empty() {
                done.left = applied.left;
                break;
            }
            self.write(&applied.files)?;
            let next = self.look(attempt, reach, report)?;
            if next.errors > now.errors {
                let before = files.into_iter().filter(|(path, _)| applied.files.contains_key(path)).collect();
                self.write(&before)?;
                break;
            }
            now = next;
            done.left = applied.left;
            done.files.extend(applied.files.keys().cloned());
            done.lines += files.iter().map(|(path, old)| changed_lines(old, applied.files.get(path))).sum::<usize>();
            applied.codes.into_iter().for_each(|(code, times)| *done.codes.entry(code).or_default() += times);
        }
        self.format(&unformatted, &done)?;
        Ok(done)
    }

    fn allowance(&self, done: &Done, reach: Reach) -> Allowance {
        if reach == Reach::Everything {
            return Allowance { files: usize::MAX, lines: usize::MAX };
        }
        let budget = self.rules.written.budget;
        let whole = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        // Files that were changed before count once.
        let files = whole(budget.files).saturating_sub(done.files.len());
        Allowance {
            files: files.max(usize::from(!done.files.is_empty())),
            lines: whole(budget.lines).saturating_sub(done.lines),
        }
    }

    fn bench(&self) -> Bench<'_> {
        Bench { shop: self.shop, plan: self.plan, members: &[], env: &[], side: Side::Candidate }
    }

    /// What is suggested now, and how many errors there are.
    fn look(&self, attempt: u32, reach: Reach, report: Report<'_>) -> Result<Now, ProposerError> {
        let clippy = attempt == 0 && self.shop.toolchain.has("cargo-clippy");
        let verb = if clippy { "clippy" } else { "check" };
        (report)(Progress::Working { what: format!("asking cargo {verb} for suggestions") });
        let targets = if reach == Reach::Everything { vec!["--all-targets".to_owned()] } else { Vec::new() };
        let words = CargoWords { selection: self.plan.selection().to_vec(), targets, ..CargoWords::default() };
        let run = self.bench().cargo_on(Seen::Of(self.dir), &[verb], &words, &[]).map_err(failed)?;
        if run.compiled.success.is_none() {
            return Err(not_compiled(&run));
        }
        let errors = || run.compiled.findings.iter().filter(|finding| finding.level == Level::Error);
        let broken = errors().any(|error| !error.code.starts_with("clippy::"));
        Ok(Now { found: collect(&run.compiled.findings), errors: errors().count(), broken })
    }

    /// Bytes of the files that suggestions name, as far as they may be changed.
    fn open_files(&self, found: &[Suggestion]) -> Result<Files, ProposerError> {
        let mut files = Files::new();
        let named: BTreeSet<&String> = found.iter().flat_map(|one| &one.edits).map(|edit| &edit.file).collect();
        for file in named {
            let is_open = self.rules.zone(file) == Zone::Open && !file.split('/').any(|part| part == "..");
            let path = self.dir.join(file);
            if is_open && path.symlink_metadata().is_ok_and(|facts| facts.is_file()) {
                files.insert(file.clone(), fs::read(&path).map_err(disk("read", &path))?);
            }
        }
        Ok(files)
    }

    fn write(&self, files: &Files) -> Result<(), ProposerError> {
        for (file, bytes) in files {
            let path = self.dir.join(file);
            fs::write(&path, bytes).map_err(disk("write", &path))?;
        }
        Ok(())
    }

    /// The base's files again.
    fn take_back(&self) -> Result<(), ProposerError> {
        let base = self.shop.slot.base_tree();
        let differ = crate::workshop::folder::differences(&base, self.dir, &[]).map_err(disk("compare", self.dir))?;
        for path in differ.into_keys().filter(|path| base.join(path).is_file()) {
            let to = self.dir.join(&path);
            fs::copy(base.join(&path), &to).map_err(disk("restore", &to))?;
        }
        Ok(())
    }

    fn unformatted(&self) -> Result<BTreeSet<String>, ProposerError> {
        let seen = crate::gates::format::look_on(&self.bench(), Seen::Of(self.dir)).map_err(failed)?;
        Ok(seen.unformatted)
    }

    /// Bring files that were formatted before, and were changed, into form again.
    fn format(&self, before: &BTreeSet<String>, done: &Done) -> Result<(), ProposerError> {
        let now = if done.files.is_empty() { BTreeSet::new() } else { self.unformatted()? };
        for file in now.difference(before).filter(|file| done.files.contains(*file)) {
            let (dir, name) = file.rsplit_once('/').unwrap_or(("", file));
            let edition = self.edition();
            // From standard input, so that the modules which the file names stay as they are.
            let line = format!("rustfmt --edition {edition} --emit stdout < \"./$0\"");
            let mut work = self.bench().work([OsString::from("sh"), "-c".into(), line.into(), name.into()].to_vec());
            work.dir = format!("{}/{dir}", crate::workshop::TREE);
            work.files = Seen::Of(self.dir);
            work.target = Target::None;
            work.wall = Duration::from_secs(60);
            let run = self.shop.run(&work, &mut |_| {}).map_err(failed)?;
            if run.end.success() && run.stdout.dropped == 0 {
                self.write(&Files::from([(file.clone(), run.stdout.bytes())]))?;
            }
        }
        Ok(())
    }

    /// The edition of the package at the top; the formatting of an older one differs little.
    fn edition(&self) -> String {
        let manifest = fs::read_to_string(self.dir.join("Cargo.toml")).unwrap_or_default();
        let read = manifest.parse::<toml_edit::DocumentMut>().ok();
        let edition = read.as_ref().and_then(|manifest| {
            let of = |table: &str| manifest.get(table)?.get("edition")?.as_str().map(str::to_owned);
            let workspace = || manifest.get("workspace")?.get("package")?.get("edition")?.as_str().map(str::to_owned);
            of("package").or_else(workspace)
        });
        edition.unwrap_or_else(|| "2015".to_owned())
    }
}

fn changed_lines(old: &[u8], new: Option<&Vec<u8>>) -> usize {
    let Some(new) = new else { return 0 };
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = similar::TextDiff::from_lines(&*old, &*new);
    diff.iter_all_changes().filter(|change| change.tag() != similar::ChangeTag::Equal).count()
}

fn not_compiled(run: &CargoRun) -> ProposerError {
    let said = run.done.stderr.text(|_| " … ".to_owned());
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(6).collect();
    ProposerError {
        what: format!("cargo could not be asked for suggestions: {}", said.join("; ")),
        hint: "see that `cargo check --locked` starts in a fresh clone".to_owned(),
    }
}

fn failed(error: WorkshopError) -> ProposerError {
    let WeighError { what, hint } = error.into();
    ProposerError { what: format!("could not {what}"), hint }
}

fn disk<'a>(doing: &'a str, path: &Path) -> impl FnOnce(std::io::Error) -> ProposerError + use<'a> {
    let path: PathBuf = path.to_owned();
    move |error| ProposerError {
        what: format!("could not {doing} {}: {error}", path.display()),
        hint: "see that there is room on the disk and that the state folder is yours".to_owned(),
    }
}
