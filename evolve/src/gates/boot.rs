//! The boot gate, for the project itself and last of all: the tested tree becomes a generation beside the others and is booted.
//!
//! The probe runs the installed program in the room as the launcher would start it: it must say that it takes its settings and
//! prompts from the folder of this very tree, and do one scripted turn, whose effect is looked at from outside (a file with a
//! word that nobody could know before, a model that was asked as it should). What a program says of itself proves nothing.
//! Each boot is counted before it begins, so that one that takes the judge down with it is not tried for ever. Only what this
//! gate has booted is marked good; a tree that does not boot is denied.

use super::{Bench, Draft};
use crate::judgement::candidate::Candidate;
use crate::judgement::gate::GateReport;
use crate::store::faults::Faults;
use crate::store::generations::marks::{Branch, Denied};
use crate::store::generations::{Generation, Parts, Store, StoreError};
use crate::workshop::WorkshopError;
use selfsmith_sandbox::{Bind, BindMode, Limits, SandboxError};
use selfsmith_scenario::{Bless, Options, Place, RoomPlace, ScenarioError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the program that is booted.
pub const PROGRAM: &str = "selfsmith-agent";
/// Boots of one tree, over all times, before it is given up.
const TRIES: u32 = 3;
/// Seconds of one boot.
const WITHIN: u64 = 30;
/// Below this the room sees the generation's folder, under the tree's id.
const GENERATIONS: &str = "/generations";

/// What the gate works with.
#[derive(Debug, Clone)]
pub struct Boot {
    /// Where generations are kept.
    pub store: Store,
    /// The judge's own sources, as a digest.
    pub judge: String,
}

/// What is booted, and where.
pub struct Probe<'a> {
    /// The generation.
    pub generation: &'a Generation,
    /// How a case is run: the room without the generation, limits, a scratch folder.
    pub options: Options,
    /// Seconds of one case.
    pub within_s: u64,
}

/// Install the candidate's generation and boot it.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn judge(
    mut draft: Draft,
    bench: &Bench<'_>,
    boot: &Boot,
    candidate: &Candidate,
    faults: &dyn Faults,
) -> Result<GateReport, WorkshopError> {
    let (store, tree) = (&boot.store, candidate.tree.0.as_str());
    if let Some(Denied { why, .. }) = store.marks(tree).denied {
        return Ok(draft.fail(format!("this tree was denied before: {why}"), ""));
    }
    let slot = &bench.shop.slot;
    let program = slot.bin().join(PROGRAM);
    if !program.is_file() {
        return Ok(draft.unknown(format!("the build made no program {PROGRAM} that could be booted"), ""));
    }
    let commit = format!("refs/selfsmith/candidates/{}", candidate.id);
    let parts = Parts {
        commit: &commit,
        tree,
        judge: &boot.judge,
        toolchain: bench.shop.toolchain.version.lines().next().unwrap_or_default(),
        flags: &bench.plan.selection().join(" "),
        program: &program,
        sources: &slot.tree(),
    };
    let generation = store.install(parts, faults).map_err(told)?;
    let scratch = slot.fresh("boot")?;
    let room = bench.shop.bare_room();
    let limits = Limits { memory: Some(4 << 30), processes: Some(512), descriptors: Some(1024), ..Limits::default() };
    let options = Options {
        place: Place::Room(RoomPlace { room, limits }),
        bless: Bless::No,
        scratch,
        parent: bench.shop.given.environment.clone(),
    };
    let word = uuid::Uuid::new_v4().simple().to_string();
    let booted = probed(store, &Probe { generation: &generation, options, within_s: WITHIN }, &word, faults)?;
    draft.count("tries", u64::from(booted.tries));
    Ok(match booted.trouble {
        None => draft.pass(),
        Some(why) => draft.fail(why, ""),
    })
}

/// What came of booting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booted {
    /// Boots of this tree so far.
    pub tries: u32,
    /// Why it does not boot; none if it is good.
    pub trouble: Option<String>,
}

/// Boot it, at most as often as tries are left, and mark it.
///
/// # Errors
/// The room cannot be had, or the disk refuses; a try was counted, nothing is marked.
pub fn probed(store: &Store, probe: &Probe<'_>, word: &str, faults: &dyn Faults) -> Result<Booted, WorkshopError> {
    let tree = probe.generation.tree.as_str();
    let mut trouble = "it was booted before, and nobody came back to tell".to_owned();
    loop {
        let tries = store.count_try(tree, faults).map_err(told)?;
        if tries > TRIES {
            let why = format!("it does not boot, after {TRIES} tries: {trouble}");
            store.deny(tree, Denied { why: why.clone(), branch: Branch::Stays }, faults).map_err(told)?;
            return Ok(Booted { tries: TRIES, trouble: Some(why) });
        }
        match boot(probe, word)? {
            None => {
                // The folder must be what was installed: a program that changes it changes what is started next.
                if let Err(error) = probe.generation.verify() {
                    let why = format!("the generation was changed while it was booted: could not {error}");
                    store.deny(tree, Denied { why: why.clone(), branch: Branch::Stays }, faults).map_err(told)?;
                    return Ok(Booted { tries, trouble: Some(why) });
                }
                store.mark_good(tree, faults).map_err(told)?;
                return Ok(Booted { tries, trouble: None });
            }
            Some(why) => trouble = why,
        }
    }
}

/// One boot: why it failed, or nothing.
fn boot(probe: &Probe<'_>, word: &str) -> Result<Option<String>, WorkshopError> {
    let Generation { tree, folder } = probe.generation;
    let inside = Path::new(GENERATIONS).join(tree);
    let mut options = probe.options.clone();
    if let Place::Room(place) = &mut options.place {
        place.room.binds.push(Bind { source: folder.clone(), at: inside.clone(), mode: BindMode::ReadOnly });
    }
    let cases = options.scratch.join("cases");
    let seen = |case: PathBuf| {
        let program = inside.join(PROGRAM);
        selfsmith_scenario::run(&program, &case, &options).map(|outcome| (outcome.faults, outcome.stderr))
    };
    for (name, files) in
        [("attests-its-tree", attests(tree, probe.within_s)), ("does-a-turn", turns(tree, word, probe.within_s))]
    {
        let case = write(&cases.join(name), &files).map_err(disk(&cases))?;
        let (faults, stderr) = match seen(case) {
            Ok(seen) => seen,
            // A program that cannot even be started is the generation's fault; a room that cannot be had is not.
            Err(ScenarioError::Run { source, .. }) if !matches!(source, SandboxError::Program { .. }) => {
                return Err(WorkshopError::Room { program: PROGRAM.to_owned(), source: Box::new(source) });
            }
            Err(error) => return Ok(Some(error.to_string())),
        };
        if let Some(fault) = faults.first() {
            let said = stderr.lines().last().map(|line| format!("; it said: {line}")).unwrap_or_default();
            return Ok(Some(format!("{}: {fault}{said}", name.replace('-', " "))));
        }
    }
    Ok(None)
}

/// Its settings and prompts are sound, and are those of this folder.
fn attests(tree: &str, within_s: u64) -> Vec<(&'static str, String)> {
    let case = format!(
        "fact: the generation says whose settings and prompts it takes\nargv: [config, check]\n{}\
         stdout: {{ has: [\"{GENERATIONS}/{tree}\"] }}\nwithin_s: {within_s}\n",
        environment(tree)
    );
    vec![("case.yaml", case)]
}

/// It asks the model, does what it is told, and comes to an end.
fn turns(tree: &str, word: &str, within_s: u64) -> Vec<(&'static str, String)> {
    let case = format!(
        "fact: the generation does one scripted turn\n\
         argv: [exec, \"--approval\", \"auto\", \"--channel\", \"text\", \"boot {word}\"]\n{}\
         stdout: {{ has: [\"ready {word}\"] }}\nwithin_s: {within_s}\n",
        environment(tree)
    );
    let model = format!(
        "- sees: [\"boot {word}\"]\n  reply: {{ text: \"<create path=\\\"booted.txt\\\">\\n{word}\\n</create>\\n\" }}\n\
         - sees: [\"[tool] result\"]\n  reply: {{ text: \"<done>ready {word}</done>\" }}\n"
    );
    vec![("case.yaml", case), ("model.yaml", model), ("after/booted.txt", format!("{word}\n"))]
}

fn environment(tree: &str) -> String {
    format!("env: {{ SELFSMITH_GENERATION: \"{tree}\", SELFSMITH_GENERATION_DIR: \"{GENERATIONS}/{tree}\" }}\n")
}

fn write(folder: &Path, files: &[(&str, String)]) -> io::Result<PathBuf> {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(folder.to_owned())
}

fn disk(path: &Path) -> impl FnOnce(io::Error) -> WorkshopError {
    let path = path.to_owned();
    move |source| WorkshopError::Disk { doing: "write", path, source }
}

/// What the store refuses, as the workshop says it.
fn told(error: StoreError) -> WorkshopError {
    WorkshopError::Disk { doing: "keep a generation:", path: PathBuf::new(), source: io::Error::other(error) }
}
