//! Generations after the boot gate: what has landed is started, what died is reverted, and a person may go back.
//!
//! Which generation is current follows from the branch: the newest of its commits whose tree was booted and is not denied.
//! Nothing has to be remembered for that, so a death between a landing and this leaves nothing behind that the next command
//! does not mend.

use crate::terminal::cli::RollbackArgs;
use crate::terminal::commands::evolve::Run;
use crate::terminal::commands::place::{Place, new_id};
use crate::terminal::commands::stop::Stop;
use crate::terminal::display::{Display, short};
use crate::terminal::streams;
use selfsmith::cycle::Base;
use selfsmith::judgement::candidate::CommitId;
use selfsmith::judgement::weigh::Weigh;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::settings::{self, Settings};
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::{self, Deciding, Status};
use selfsmith::store::authority::{self, Authority};
use selfsmith::store::faults::NoFaults;
use selfsmith::store::generations::Store;
use selfsmith::store::generations::marks::{Branch, Denied};
use selfsmith::store::generations::slots::Leaving;
use selfsmith::texts::{EN, fill};

/// How far back a branch is looked at for a tree that was booted.
const HISTORY: usize = 1000;

/// After a landing or an undo: let `current` be the newest booted tree at or before this commit. That it cannot is said and
/// stops nothing.
pub fn follow(place: &Place, commit: &CommitId, display: &Display, around: &Surroundings) {
    let Ok(root) = around.generations() else { return };
    let store = Store::new(root);
    if store.installed().is_empty() {
        return;
    }
    let followed =
        place.repo.first_parents(&commit.0, HISTORY).map_err(|error| error.to_string()).and_then(|commits| {
            let newest = commits.into_iter().find(|commit| store.is_good(&commit.tree));
            let Some(newest) = newest else { return Ok(None) };
            let moved = store.advance(&newest.tree, &NoFaults).map_err(|error| streams::chain(&error))?;
            Ok(moved.then_some(newest.tree))
        });
    match followed {
        Ok(Some(tree)) => display.say(&fill(EN.followed, &[("tree", short(&tree))])),
        Ok(None) => {}
        Err(why) => display.say(&fill(EN.notice, &[("text", &format!("could not {why}"))])),
    }
}

/// The same for the branch that is checked out, whatever a decision made of it.
pub fn follow_target(place: &Place, display: &Display, around: &Surroundings) {
    let target = place.repo.head_branch().ok().flatten();
    if let Some(Ok(Some(commit))) = target.map(|name| place.repo.read_ref(&name)) {
        follow(place, &CommitId(commit), display, around);
    }
}

/// Before a goal: what an earlier process left undone. The branch's newest booted tree is current, and a landed tree that
/// died when it was started gets a revert proposed, through the gates; it lands as everything else does. Gives whether one
/// has landed.
pub fn catch_up(run: &Run<'_>, base: &Base, weigh: &mut dyn Weigh) -> Result<bool, Stop> {
    follow(run.place, &base.commit, run.display, run.around);
    let Ok(root) = run.around.generations() else { return Ok(false) };
    let store = Store::new(root);
    for (tree, denied) in store.to_revert() {
        let items = review::list(&run.place.repo)?;
        let landed = items.iter().find_map(|item| {
            let commit =
                item.landed.as_ref().filter(|_| item.status == Status::Landed && item.target == base.target)?;
            let its = run.place.repo.tree_of(&commit.0).ok()?;
            (its == tree).then(|| (item.id.clone(), commit.clone()))
        });
        let Some((id, commit)) = landed else { continue };
        let values = [("tree", short(&tree)), ("why", denied.why.as_str()), ("commit", short(&commit.0))];
        run.display.say(&fill(EN.reverting_denied, &values));
        let report = |progress| run.display.show(&progress);
        let authority = run.authority.clone().unwrap_or(Authority::CommandLine);
        let deciding = Deciding { hands: run.place.hands(&report, run.around), id: new_id(), authority };
        let landed = match review::propose_revert(&deciding, (base, &id), run.landing, weigh, &run.cancel) {
            Ok(decided) => decided.landed,
            Err(error) => {
                let why = format!("could not {}", streams::chain(&error));
                run.display.say(&fill(EN.not_reverted, &[("commit", short(&commit.0)), ("why", &why)]));
                None
            }
        };
        // Once: what the gates said of it is on record, and a person goes on from there.
        if let Err(error) = store.reverted(&tree, denied, &NoFaults) {
            run.display.say(&fill(EN.notice, &[("text", &format!("could not {}", streams::chain(&error)))]));
        }
        if let Some(commit) = landed {
            follow(run.place, &commit, run.display, run.around);
            return Ok(true);
        }
    }
    Ok(false)
}

/// `rollback`.
pub fn rollback(arguments: &RollbackArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let store = Store::new(around.generations()?);
    let failed = |error: &selfsmith::store::generations::StoreError| Stop::failed(&streams::chain(error), error.hint());
    if arguments.list {
        list(&store);
        return Ok(Exit::Done);
    }
    let file = around.settings_file()?;
    let settings = Settings::read(&file)?;
    let allowed = (settings.landing == settings::Landing::Auto).then_some(file.as_path());
    authority::person(allowed, &settings.agents)
        .map_err(|error| Stop::no_authority(&error, ("landing: auto", &file)))?;
    let Some(tree) = store.current_tree().map_err(|error| failed(&error))? else {
        return Err(Stop::failed(EN.no_generation, "`selfsmith evolve` in a checkout of the project installs one"));
    };
    let denied = Denied { why: arguments.why.clone(), branch: Branch::Revert };
    let leaving = Leaving { tree: tree.clone(), denied };
    match store.fall_back(&leaving, &NoFaults).map_err(|error| failed(&error))? {
        Some(other) => {
            streams::tell(&fill(EN.rolled_back, &[("tree", short(&other.tree)), ("left", short(&tree))]));
            Ok(Exit::Done)
        }
        None => Err(Stop::failed(EN.nothing_to_roll_back, "`selfsmith rollback --list` shows what there is")),
    }
}

fn list(store: &Store) {
    let current = store.current_tree().ok().flatten();
    let previous = store.previous_tree().ok().flatten();
    for generation in store.installed() {
        let tree = Some(&generation.tree);
        let mark = if tree == current.as_ref() {
            "current "
        } else if tree == previous.as_ref() {
            "previous"
        } else {
            "        "
        };
        let marks = store.marks(&generation.tree);
        let state = match (&marks.denied, &marks.good) {
            (Some(denied), _) => format!("denied: {}", denied.why),
            (None, Some(_)) => "booted".to_owned(),
            (None, None) => "installed, not booted by the judge".to_owned(),
        };
        let values = [("mark", mark), ("tree", generation.tree.as_str()), ("state", state.as_str())];
        if !streams::print(&fill(EN.generation_line, &values)) {
            break;
        }
    }
}
