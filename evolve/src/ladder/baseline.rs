//! What is known of a base before anything is judged: every gate looked at once on the base's own files.
//!
//! Kept beside the slot and used again while tree, toolchain, rules and judge are the same. Promises that a base which the
//! judge cannot build at all is met here, with cargo's own words, and that the pipeline was seen to notice a failure: a
//! deliberately broken twin of the base must go red.

use crate::gates::{Bench, build, command, format, lint, scenarios, schema, tests};
use crate::judgement::candidate::TreeId;
use crate::judgement::gate::{GateName, GateOutcome};
use crate::judgement::progress::{Progress, Report};
use crate::judgement::weigh::{Baseline, WeighError};
use crate::reading::inline::Compared;
use crate::reading::members::{self, Member, Root};
use crate::rules::plan::{CargoWords, Plan, Step};
use crate::texts::count;
use crate::workshop::{Side, TREE, Target, Workshop, WorkshopError};
use selfsmith_repo::Repo;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

/// Facts about a base.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What they hold for.
    key: String,
    /// Packages of the workspace.
    pub members: Vec<Member>,
    /// `[env]` of its own settings.
    pub env: Vec<(String, String)>,
    /// The format gate's.
    pub format: format::Seen,
    /// The lint gate's.
    pub lint: lint::Seen,
    /// The build gate's.
    pub build: build::Seen,
    /// The tests gate's.
    pub tests: tests::Seen,
    /// The schema gate's.
    pub schema: Vec<command::Ran>,
    /// The scenarios gate's.
    pub scenarios: scenarios::Seen,
    /// Milliseconds each took.
    took_ms: BTreeMap<GateName, u64>,
}

impl Facts {
    /// As the cycle sees it.
    pub fn baseline(&self) -> Baseline {
        let mut red = BTreeMap::new();
        let mut say = |gate, why: Option<String>| {
            if let Some(why) = why {
                red.insert(gate, why);
            }
        };
        let unformatted = self.format.unformatted.len();
        say(
            GateName::Format,
            (unformatted > 0).then(|| format!("rustfmt would change {}", count(unformatted as u64, "file"))),
        );
        say(GateName::Format, self.format.trouble.as_ref().map(|_| "rustfmt cannot read the sources".to_owned()));
        let unlinted = "it does not compile with all its targets, so no finding can be called new";
        say(GateName::Lint, self.lint.broken.as_ref().map(|_| unlinted.to_owned()));
        say(GateName::Build, self.build.broken.clone());
        let failing = |results: &BTreeMap<String, String>| {
            let names: Vec<&String> = results.iter().filter(|(_, r)| *r == "FAILED").map(|(name, _)| name).collect();
            names.first().map(|first| format!("failing tests: {}, among them {first}", names.len()))
        };
        let results = self.tests.results();
        let odd = self.tests.runs.iter().find_map(|(name, run)| run.odd.as_ref().map(|odd| format!("{name}: {odd}")));
        let commands = |ran: &[command::Ran]| ran.iter().find_map(command::Ran::why);
        let why =
            self.tests.broken.clone().or_else(|| failing(&results)).or(odd).or_else(|| commands(&self.tests.commands));
        say(GateName::Tests, why);
        say(GateName::Schema, commands(&self.schema));
        let case = self.scenarios.cases.iter().find(|(_, faults)| !faults.is_empty());
        let case = case.map(|(name, faults)| format!("{name}: {}", faults.first().map_or("", String::as_str)));
        say(GateName::Scenarios, case.or_else(|| commands(&self.scenarios.commands)));
        Baseline { red, tests: results, took_ms: self.took_ms.clone() }
    }

    /// A bench on which the base's gates look.
    pub fn bench<'a>(&'a self, shop: &'a Workshop, plan: &'a Plan, side: Side) -> Bench<'a> {
        Bench { shop, plan, members: &self.members, env: &self.env, side }
    }
}

/// Learn a base, or remember it.
///
/// # Errors
/// It cannot be judged: the reason and what to do.
pub fn learn(
    shop: &Workshop,
    repo: &Repo,
    tree: &TreeId,
    plan: &Plan,
    report: Report<'_>,
) -> Result<Facts, WeighError> {
    let key = key(shop, tree, plan);
    if let Some(facts) = remembered(shop, &key) {
        return Ok(facts);
    }
    shop.slot.check_out(repo, tree).map_err(WorkshopError::from)?;
    let mut facts = Facts { key, ..Facts::default() };
    if plan.is_cargo {
        facts.members = describe(shop, plan)?;
        facts.env = members::env_of(&shop.slot.base_tree(), TREE);
    }
    look(shop, plan, &mut facts, report)?;
    if plan.is_cargo {
        (report)(Progress::Working { what: "breaking a copy of the base on purpose".to_owned() });
        twin(shop, repo, tree, plan, &facts)?;
    } else {
        let text = "the project is no Cargo project, so no broken twin of it can be made: its commands are believed"
            .to_owned();
        (report)(Progress::Notice { text });
    }
    // Without it the next cycle learns again, no more. What does not build may be the machine's, so it is not remembered.
    let builds = facts.build.broken.is_none() && facts.tests.broken.is_none();
    if let (true, Ok(text)) = (builds, serde_json::to_vec(&facts)) {
        let _ = fs::write(shop.slot.facts_file(), text);
    }
    Ok(facts)
}

fn look(shop: &Workshop, plan: &Plan, facts: &mut Facts, report: Report<'_>) -> Result<(), WeighError> {
    let known = facts.clone();
    let bench = known.bench(shop, plan, Side::Base);
    let mut took = BTreeMap::new();
    let mut time = |gate: GateName, what: &str| {
        (report)(Progress::Working { what: format!("{what} the base") });
        took.insert(gate, Instant::now());
    };
    time(GateName::Build, "building");
    facts.build = build::look(&bench)?;
    if let Some(foreign) = &facts.build.foreign {
        return Err(unbuildable(&facts.build, foreign));
    }
    if plan.is_cargo {
        time(GateName::Format, "formatting");
        facts.format = format::look(&bench)?;
        time(GateName::Lint, "linting");
        facts.lint = lint::look(&bench)?;
    }
    if let Some(broken) = &facts.build.broken {
        facts.tests.broken = Some(broken.clone());
    } else {
        time(GateName::Tests, "testing");
        facts.tests = tests::look_twice(&bench)?;
        time(GateName::Schema, "checking settings of");
        facts.schema = schema::look(&bench, &[])?;
        time(GateName::Scenarios, "driving");
        facts.scenarios = scenarios::look(&bench, &scenarios::Seen::default())?;
    }
    let now = Instant::now();
    let mut ends: Vec<(GateName, Instant)> = took.into_iter().collect();
    ends.sort_by_key(|(_, began)| *began);
    for (at, (gate, began)) in ends.iter().enumerate() {
        let end = ends.get(at + 1).map_or(now, |(_, next)| *next);
        let ms = u64::try_from(end.duration_since(*began).as_millis()).unwrap_or(u64::MAX);
        facts.took_ms.insert(*gate, ms);
    }
    Ok(())
}

fn unbuildable(seen: &build::Seen, foreign: &build::Foreign) -> WeighError {
    let said: Vec<&str> = seen.log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (fault, hint) = match foreign {
        build::Foreign::Closed { hint } => ("", hint.clone()),
        build::Foreign::Dependency => (
            "none of the project's own files is at fault: ",
            "see that `cargo build --locked --offline` works in a fresh clone of the repository; the room has the system's \
             programs and libraries (/usr), the toolchain and the unpacked packages, no network and no home"
                .to_owned(),
        ),
        build::Foreign::Machine => ("", "try again when the machine has more to spare".to_owned()),
        build::Foreign::Cargo => (
            "",
            "see that `cargo build --locked` works in a fresh clone: the lock file is committed and up to date, and nothing \
             lies outside of the repository"
                .to_owned(),
        ),
    };
    let said = crate::gates::bounded(&said.iter().take(16).copied().collect::<Vec<_>>().join("; "));
    WeighError { what: format!("build the base with --locked --offline: {fault}{said}"), hint }
}

/// `cargo metadata` in the room.
fn describe(shop: &Workshop, plan: &Plan) -> Result<Vec<Member>, WeighError> {
    let bench = Bench { shop, plan, members: &[], env: &[], side: Side::Base };
    let cargo = shop.toolchain.cargo_in_room().into_os_string();
    let words = ["metadata", "--no-deps", "--format-version=1", "--locked", "--offline"].map(OsString::from);
    let mut work = bench.work(std::iter::once(cargo).chain(words).collect());
    work.target = Target::None;
    work.wall = Duration::from_secs(120);
    let done = shop.run(&work, &mut |_| {})?;
    let stdout = done.stdout.text(|_| String::new());
    members::read(&stdout).map_err(|why| {
        let stderr = done.stderr.text(|_| String::new());
        let said = if stderr.trim().is_empty() { why } else { stderr.trim().replace('\n', "; ") };
        WeighError {
            what: format!("learn of the base's packages: {said}"),
            hint: "see what `cargo metadata --locked` says in a fresh clone of the repository".to_owned(),
        }
    })
}

/// What is looked at and how; another one where facts of before would be misunderstood.
const FORM: &str = "2";

/// What a base's facts hold for.
fn key(shop: &Workshop, tree: &TreeId, plan: &Plan) -> String {
    let plan = serde_json::to_string(plan).unwrap_or_default();
    let mut digest = Sha256::new();
    for part in [tree.0.as_str(), &shop.toolchain.version, &plan, env!("CARGO_PKG_VERSION"), FORM] {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn remembered(shop: &Workshop, key: &str) -> Option<Facts> {
    let facts: Facts = serde_json::from_slice(&fs::read(shop.slot.facts_file()).ok()?).ok()?;
    let is_there = facts.key == key && shop.slot.base_target().is_dir();
    (is_there && facts.build.programs.iter().all(|name| shop.slot.base_bin().join(name).is_file())).then_some(facts)
}

/// Break a copy of the base on purpose; it must be seen.
fn twin(shop: &Workshop, repo: &Repo, tree: &TreeId, plan: &Plan, facts: &Facts) -> Result<(), WeighError> {
    if facts.build.broken.is_some() || facts.tests.broken.is_some() {
        // The base itself was seen to fail.
        return Ok(());
    }
    shop.start_target()?;
    let seen = match tested_root(facts) {
        Some((run, member, root)) => failing_twin(shop, plan, facts, run, member, root)?,
        None => broken_twin(shop, plan, facts)?,
    };
    shop.slot.check_out(repo, tree).map_err(WorkshopError::from)?;
    if seen {
        return Ok(());
    }
    Err(WeighError {
        what: "believe the gates: a copy of the base that was broken on purpose stayed green".to_owned(),
        hint: "see that the tests of the rules (or cargo's own) fail when a test of the project fails".to_owned(),
    })
}

/// A target whose tests libtest runs: its run, package and root.
fn tested_root(facts: &Facts) -> Option<(&str, &Member, &Root)> {
    let runs =
        facts.tests.runs.iter().filter(|(_, run)| run.libtest && run.odd.is_none() && !run.executable.is_empty());
    runs.into_iter().find_map(|(name, run)| {
        let member = facts.members.iter().find(|member| member.id == run.package)?;
        let is_it = |root: &&Root| *name == format!("{} {} {}", member.name, root.kind, root.name);
        let root =
            member.targets.iter().find(is_it).filter(|root| ["lib", "bin", "test"].contains(&root.kind.as_str()))?;
        Some((name.as_str(), member, root))
    })
}

/// A failing test is added; the tests gate must refuse.
fn failing_twin(
    shop: &Workshop,
    plan: &Plan,
    facts: &Facts,
    run: &str,
    member: &Member,
    root: &Root,
) -> Result<bool, WeighError> {
    let test = "\n#[cfg(test)]\nmod selfsmith_twin {\n    #[test]\n    fn is_broken_on_purpose() {\n        panic!(\"broken on purpose\");\n    }\n}\n";
    append(shop, &root.source, test)?;
    let target =
        if root.kind == "lib" { vec!["--lib".to_owned()] } else { vec![format!("--{}", root.kind), root.name.clone()] };
    let words = CargoWords {
        selection: ["-p".to_owned(), member.name.clone()].into_iter().chain(features(plan)).collect(),
        targets: target,
        ..CargoWords::default()
    };
    let only = Plan { tests: vec![Step::Cargo(words)], ..plan.clone() };
    let bench = facts.bench(shop, &only, Side::Candidate);
    let base = tests::Seen {
        runs: facts.tests.runs.iter().filter(|(name, _)| *name == run).map(|(n, r)| (n.clone(), r.clone())).collect(),
        ..tests::Seen::default()
    };
    let seen = tests::look(&bench, &base)?;
    let defences = shop.given.defences;
    let judged = tests::judge(tests::draft(), &base, &seen, &Compared::default(), &BTreeMap::new(), defences);
    Ok(matches!(judged, tests::Judged::Report(report) if matches!(report.result, GateOutcome::Fail { .. })))
}

/// Words of the selection that choose features and profile, not packages.
fn features(plan: &Plan) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = plan.selection().iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-p" | "--package" | "--exclude" => {
                words.next();
            }
            "--workspace" | "--all" => {}
            _ if word.starts_with("--package=") || word.starts_with("--exclude=") => {}
            "-F" | "--features" | "--profile" | "--target" => {
                kept.extend([Some(word), words.next()].into_iter().flatten().cloned())
            }
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// Without tests: an error is added to a source; the build gate must refuse.
fn broken_twin(shop: &Workshop, plan: &Plan, facts: &Facts) -> Result<bool, WeighError> {
    let made = facts.build.units.iter().find_map(|unit| {
        let member = facts.members.iter().find(|member| member.id == unit.package)?;
        member.targets.iter().find(|root| root.kind == unit.kind && root.name == unit.target)
    });
    let Some(root) = made else { return Ok(true) };
    append(shop, &root.source, "\ncompile_error!(\"broken on purpose\");\n")?;
    let bench = facts.bench(shop, plan, Side::Candidate);
    Ok(build::look(&bench)?.broken.is_some())
}

fn append(shop: &Workshop, source: &str, text: &str) -> Result<(), WorkshopError> {
    let inner = source.strip_prefix(TREE).unwrap_or(source).trim_start_matches('/');
    let path = shop.slot.tree().join(inner);
    let disk = |source| WorkshopError::Disk { doing: "append to", path: path.clone(), source };
    let mut file = fs::OpenOptions::new().append(true).open(&path).map_err(disk)?;
    file.write_all(text.as_bytes()).map_err(disk)
}

impl From<WorkshopError> for WeighError {
    fn from(error: WorkshopError) -> Self {
        let mut what = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(source) = cause {
            what = format!("{what}: {source}");
            cause = source.source();
        }
        Self { what, hint: error.hint() }
    }
}
