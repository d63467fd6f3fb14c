//! Runs tests: builds the executables through cargo, then runs each by hand.

use super::{Left, Run, Seen, doc};
use crate::gates::{Bench, CargoRun, build as made, command, last_lines};
use crate::judgement::defence::Defence;
use crate::reading::compiled::{Compiled, Unit};
use crate::reading::harness::{Heard, Reader, TestResult};
use crate::rules::plan::{CargoWords, Step};
use crate::workshop::folder::{self, Difference};
use crate::workshop::slot::Scratch;
use crate::workshop::{Files, Side, TARGET, TREE, Target, Work, WorkshopError};
use selfsmith_sandbox::{End, Finished};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::time::Duration;

/// Least wall time of an executable that ran on the base.
const FLOOR: Duration = Duration::from_secs(15);
/// How much slower than on the base it may be. A run that is slower is tried again on both sides before it is refused.
const SLOWER: u32 = 10;
/// Wall time of one that the base does not have, and of small helpers.
const LIMIT: Duration = Duration::from_secs(60);
/// Wall time of one on the base, before anything is known.
const FIRST_LIMIT: Duration = Duration::from_secs(1800);
/// Bytes kept of its output, for diagnostics; names and results are read as they come.
const OUTPUT: usize = 256 * 1024;
/// Lines of output in diagnostics.
const LINES: usize = 120;

/// Look at a side. `base` is what was seen of the base before; limits follow from it.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(bench: &Bench<'_>, base: &Seen) -> Result<Seen, WorkshopError> {
    let mut seen = Seen::default();
    for step in &bench.plan.tests {
        match step {
            Step::Cargo(words) => {
                let before = base.runs.values().map(|run| run.wall_ms).max();
                if let Some(broken) = cargo_tests(bench, words, base, before, &mut seen)? {
                    seen.broken = Some(broken);
                    return Ok(seen);
                }
            }
            Step::Command(line) => {
                seen.commands.push(command::look(bench, line, base.commands.get(seen.commands.len()))?);
            }
        }
    }
    Ok(seen)
}

/// One `cargo test`; the text says why its executables cannot be built.
fn cargo_tests(
    bench: &Bench<'_>,
    words: &CargoWords,
    base: &Seen,
    base_ms: Option<u64>,
    seen: &mut Seen,
) -> Result<Option<String>, WorkshopError> {
    let only_doc = words.targets.iter().any(|target| target == "--doc");
    let mut compiled = Compiled::default();
    if !only_doc {
        let built = build(bench, words)?;
        if !built.succeeded() {
            seen.log = built.log();
            return Ok(Some(made::why_broken(&built.compiled)));
        }
        compiled = built.compiled;
    }
    seen.inputs.extend(made::inputs(bench, &compiled.units));
    seen.units.extend(compiled.units.iter().cloned());
    let scratch = fresh_files(bench)?;
    for unit in compiled.units.iter().filter(|unit| unit.is_test && unit.executable.is_some()) {
        let name = named(bench, unit);
        let was = base.runs.get(&name);
        let limit = limit(was, base_ms, words);
        let mut execute = |writes| {
            let how = How { trailing: &words.trailing, limit, writes };
            execute(bench, unit, &compiled, &scratch, how)
        };
        let run = guarded(bench, was, &mut execute)?;
        seen.runs.insert(name, run);
    }
    if only_doc || words.targets.is_empty() {
        let limit = match base.runs.get("documentation") {
            // What it took on the base is building and running.
            Some(run) => limit(Some(run), base_ms, words).max(LIMIT),
            None => limit(None, base_ms, words) + doc::BUILDING,
        };
        let was = base.runs.get("documentation");
        if doc::any(bench) {
            let run = guarded(bench, was, &mut |writes| doc::run(bench, words, &scratch, limit, writes))?;
            // The selected packages may have no library.
            if run.libtest || run.exit != Some(doc::NO_LIBRARY) {
                seen.runs.insert("documentation".to_owned(), run);
            }
        }
    }
    compare_files(bench, &scratch, seen)?;
    Ok(None)
}

/// Build the test executables of one `cargo test`.
///
/// # Errors
/// The room cannot be had.
pub fn build(bench: &Bench<'_>, words: &CargoWords) -> Result<CargoRun, WorkshopError> {
    bench.cargo(&["test", "--no-run"], words, &[])
}

/// Run among files that cannot be changed, unless the base had to write; so nothing that tests expect can be written anew and
/// put back before anybody looks. What fails so and not where it may write has to write: on the base that is how it is; on
/// the candidate the tests of the base count as they ended without, and the rest is a question.
fn guarded(
    bench: &Bench<'_>,
    was: Option<&Run>,
    run: &mut dyn FnMut(bool) -> Result<Run, WorkshopError>,
) -> Result<Run, WorkshopError> {
    let may_write = !bench.shop.given.defences.up(Defence::ReadOnly) || was.is_some_and(|was| was.writes);
    let mut first = run(may_write)?;
    first.writes = was.is_some_and(|was| was.writes);
    let fails = |run: &Run| run.results.values().filter(|result| **result == TestResult::Failed).count();
    let holds = |run: &Run| run.odd.is_none() && fails(run) == 0 && run.exit == Some(0);
    let known = bench.side == Side::Base && was.is_some();
    let of_base = |test: &String| was.is_some_and(|was| was.results.get(test) == Some(&TestResult::Ok));
    let broke = first.results.iter().any(|(test, result)| *result == TestResult::Failed && of_base(test));
    if may_write || known || first.timed_out || holds(&first) || (bench.side == Side::Candidate && broke) {
        return Ok(first);
    }
    let free = run(true)?;
    let better = fails(&free) < fails(&first) || (holds(&free) && !holds(&first));
    Ok(if better { Run { writes: true, ..free } } else { first })
}

/// Run one executable again, for one test only where one is named. `was` is its run on the base.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn again(bench: &Bench<'_>, run: &Run, test: Option<&str>, was: Option<&Run>) -> Result<Run, WorkshopError> {
    let scratch = fresh_files(bench)?;
    let writes = may_write(bench, run.writes);
    if run.executable.is_empty() {
        // Documentation tests cannot be run alone by hand, so all of them are.
        let words = bench.plan.tests.iter().find_map(|step| match step {
            Step::Cargo(words) => Some(words.clone()),
            Step::Command(_) => None,
        });
        let words = words.unwrap_or_default();
        let limit = limit(was, Some(0), &words) + doc::BUILDING;
        return doc::run(bench, &words, &scratch, limit, writes);
    }
    let unit = Unit {
        package: run.package.clone(),
        manifest: String::new(),
        kind: String::new(),
        target: String::new(),
        is_test: true,
        executable: Some(run.executable.clone()),
        files: Vec::new(),
        fresh: true,
    };
    let trailing: Vec<String> = test.map(|test| vec!["--exact".to_owned(), test.to_owned()]).unwrap_or_default();
    let limit = limit(was, Some(0), &CargoWords::default());
    let how = How { trailing: &trailing, limit, writes };
    execute(bench, &unit, &Compiled::default(), &scratch, how)
}

/// Run some tests of an executable, and no others.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn only(
    bench: &Bench<'_>,
    (unit, compiled): (&Unit, &Compiled),
    tests: &[&str],
    writes: bool,
) -> Result<Run, WorkshopError> {
    let scratch = fresh_files(bench)?;
    let trailing: Vec<String> = std::iter::once("--exact").chain(tests.iter().copied()).map(str::to_owned).collect();
    let how = How {
        trailing: &trailing,
        limit: if tests.len() > 1 { LIMIT } else { FLOOR },
        writes: may_write(bench, writes),
    };
    execute(bench, unit, compiled, &scratch, how)
}

fn may_write(bench: &Bench<'_>, writes: bool) -> bool {
    writes || !bench.shop.given.defences.up(Defence::ReadOnly)
}

/// What the rules say; else some times the slower run on the base; else, for what the base does not have, a minute and
/// five times the slowest of the base's.
fn limit(was: Option<&Run>, slowest_ms: Option<u64>, words: &CargoWords) -> Duration {
    match (words.seconds, was, slowest_ms) {
        (Some(seconds), ..) => Duration::from_secs(seconds),
        (None, Some(was), _) => FLOOR.max(Duration::from_millis(was.wall_ms).saturating_mul(SLOWER)),
        (None, None, Some(ms)) => LIMIT.max(Duration::from_millis(ms).saturating_mul(5)),
        (None, None, None) => FIRST_LIMIT,
    }
}

/// `sample test counts`: package, kind and name of the target.
pub fn named(bench: &Bench<'_>, unit: &Unit) -> String {
    let package = bench.member(&unit.package).map_or(unit.package.as_str(), |member| member.name.as_str());
    format!("{package} {} {}", unit.kind, unit.target)
}

/// How an executable is run.
#[derive(Clone, Copy)]
struct How<'a> {
    trailing: &'a [String],
    limit: Duration,
    writes: bool,
}

fn execute(
    bench: &Bench<'_>,
    unit: &Unit,
    compiled: &Compiled,
    scratch: &Scratch,
    how: How<'_>,
) -> Result<Run, WorkshopError> {
    let How { trailing, limit, writes } = how;
    let executable = unit.executable.clone().unwrap_or_default();
    let mut work =
        bench.work(std::iter::once(executable.clone()).chain(trailing.iter().cloned()).map(Into::into).collect());
    if !bench.shop.given.defences.up(Defence::OwnRunner) {
        work = through_cargo(bench, unit, trailing);
    }
    work.files = if writes { Files::Scratch(scratch.dir()) } else { Files::Of(scratch.dir()) };
    work.target = if bench.shop.given.defences.up(Defence::OwnRunner) { Target::Read } else { Target::Write };
    work.wall = limit;
    work.output = OUTPUT;
    surround(bench, unit, compiled, &mut work);
    let mut reader = Reader::default();
    let mut digest = Sha256::new();
    let mut printed = 0;
    let done = bench.shop.run(&work, &mut |bytes| {
        reader.feed(bytes);
        digest.update(bytes);
        printed += bytes.len() as u64;
    })?;
    let heard = reader.finish();
    let digest = format!("{:x}", Hex(&digest.finalize()));
    Ok(Run { printed, ..run_of(executable, unit.package.clone(), &done, heard, &digest) })
}

/// What cargo would do in our place, for the test that shows why we do it ourselves.
fn through_cargo(bench: &Bench<'_>, unit: &Unit, trailing: &[String]) -> Work<'static> {
    let cargo = bench.shop.toolchain.cargo_in_room().to_string_lossy().into_owned();
    let kind = match unit.kind.as_str() {
        "lib" => vec!["--lib".to_owned()],
        kind => vec![format!("--{kind}"), unit.target.clone()],
    };
    let words = [cargo, "test".into(), "--locked".into(), "--offline".into(), "-q".into()];
    let argv =
        words.into_iter().chain(kind).chain(["--".into(), "--format=pretty".into()]).chain(trailing.iter().cloned());
    bench.work(argv.map(OsString::from).collect())
}

/// Folder and variables that cargo gives to a test executable.
fn surround(bench: &Bench<'_>, unit: &Unit, compiled: &Compiled, work: &mut Work<'_>) {
    let mut set = |name: &str, value: &str| work.set.push((name.to_owned(), OsString::from(value)));
    if let Some(member) = bench.member(&unit.package) {
        work.dir.clone_from(&member.dir);
        member.variables.iter().for_each(|(name, value)| set(name, value));
    } else {
        work.dir = TREE.to_owned();
    }
    set("CARGO", &bench.shop.toolchain.cargo_in_room().to_string_lossy());
    for script in compiled.scripts.iter().filter(|script| script.package == unit.package) {
        set("OUT_DIR", &script.out_dir);
        script.variables.iter().for_each(|(name, value)| set(name, value));
    }
    let libraries = unit.executable.as_deref().and_then(|path| path.rsplit_once('/')).map(|(dir, _)| dir);
    if let Some(deps) = libraries {
        let above = deps.strip_suffix("/deps").unwrap_or(TARGET);
        set("LD_LIBRARY_PATH", &format!("{deps}:{above}:{}", bench.shop.toolchain.libraries_in_room()));
    }
}

pub(super) fn run_of(executable: String, package: String, done: &Finished, heard: Heard, digest: &str) -> Run {
    let exit = match done.end {
        End::Exit(code) => Some(code),
        _ => None,
    };
    let libtest = heard.is_libtest();
    let odd = if libtest { heard.trouble(exit) } else { None };
    let stdout = done.stdout.text(|cut| format!("\n… {cut} bytes cut …\n"));
    let stderr = done.stderr.text(|cut| format!("\n… {cut} bytes cut …\n"));
    let ended = crate::gates::ended_badly(done.end);
    Run {
        executable,
        package,
        libtest,
        odd: odd.or_else(|| (!ended.is_empty()).then(|| format!("it {}", ended.trim()))),
        results: heard.results,
        exit,
        timed_out: done.end == End::TimedOut,
        digest: (!libtest).then(|| digest.to_owned()),
        wall_ms: u64::try_from(done.wall.as_millis()).unwrap_or(u64::MAX),
        printed: 0,
        writes: false,
        log: format!("{ended}{}", failures_first(&last_lines(&stdout, LINES), &last_lines(&stderr, LINES))),
    }
}

/// libtest prints what failing tests said after `failures:`; that is what helps.
fn failures_first(stdout: &str, stderr: &str) -> String {
    match stdout.split_once("\nfailures:\n") {
        Some((before, failures)) => format!("failures:\n{failures}\n{stderr}\n{before}\n"),
        None => format!("{stderr}\n{stdout}"),
    }
}

/// A copy of this side's files, with a repository of one commit where the rules ask for one.
fn fresh_files(bench: &Bench<'_>) -> Result<Scratch, WorkshopError> {
    let scratch = bench.shop.scratch(&bench.files())?;
    if bench.plan.git {
        let script = "git init -q -b main . && git add -A && git -c user.name=trial -c user.email=trial@localhost commit -q \
            --allow-empty -m base";
        let mut work = bench.work(["sh", "-c", script].map(OsString::from).to_vec());
        work.files = Files::Scratch(scratch.dir());
        work.target = Target::None;
        work.wall = LIMIT;
        work.output = OUTPUT;
        bench.shop.run(&work, &mut |_| {})?;
    }
    Ok(scratch)
}

/// What the tests did to their files.
fn compare_files(bench: &Bench<'_>, scratch: &Scratch, seen: &mut Seen) -> Result<(), WorkshopError> {
    let dir = scratch.dir();
    let disk = |source| WorkshopError::Disk { doing: "compare", path: dir.to_owned(), source };
    for (path, difference) in folder::differences(&bench.files(), dir, &[".git"]).map_err(disk)? {
        let left = if difference == Difference::Added { Left::New } else { Left::Changed };
        seen.left.insert(path.to_string_lossy().into_owned(), left);
    }
    Ok(())
}

/// Bytes as hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl std::fmt::LowerHex for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_base_and_a_loop_is_not_waited_for_long() {
        let was = |wall_ms| Run { wall_ms, ..Run::default() };
        let of = |ms| limit(Some(&was(ms)), Some(ms), &CargoWords::default());
        assert_eq!((of(10), of(4_000)), (Duration::from_secs(15), Duration::from_secs(40)));
        let new = |slowest| limit(None, slowest, &CargoWords::default());
        assert_eq!((new(Some(10)), new(Some(20_000))), (Duration::from_secs(60), Duration::from_secs(100)));
        assert_eq!(new(None), FIRST_LIMIT);
        let said = CargoWords { seconds: Some(7), ..CargoWords::default() };
        assert_eq!(limit(Some(&was(1)), Some(1), &said), Duration::from_secs(7));
    }
}
