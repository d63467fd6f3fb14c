//! `/undo`: takes back what the last prompt changed in the workspace; asked again, it goes further back.

use super::{Bench, Command, Flow};
use crate::undo::{chain, lines, redone};
use selfsmith_agent::snapshot::{Doubtful, What};
use selfsmith_agent::texts::fill;

/// The command.
pub const COMMAND: Command = Command { name: "undo", about: |texts| texts.about.undo, run };

fn run(bench: &mut Bench<'_>, rest: &str) -> Flow {
    let (mut what, mut doubtful) = (What::Prompt, Doubtful::Leave);
    for word in rest.split_whitespace() {
        match word {
            "--all" => doubtful = Doubtful::Undo,
            "--turn" => what = What::Turn,
            "--redo" => {
                redo(bench);
                return Flow::Stay;
            }
            other => {
                (bench.say)(&fill(bench.texts.undo_takes, &[("word", other)]));
                return Flow::Stay;
            }
        }
    }
    if !take_back(bench, what, doubtful) {
        (bench.say)(bench.texts.undo_nothing);
    }
    Flow::Stay
}

fn redo(bench: &Bench<'_>) {
    let Some(keeper) = bench.session.parts().snapshots.clone() else {
        (bench.say)(bench.texts.no_place_for_snapshots);
        return;
    };
    match keeper.redo() {
        Ok(report) => redone(&report, bench.texts).iter().for_each(|line| (bench.say)(line)),
        Err(error) => (bench.say)(&super::could_not(bench.texts, &chain(&error), error.hint())),
    }
}

/// Takes turns back and says what came of it; false where there was nothing to take back.
pub(super) fn take_back(bench: &Bench<'_>, what: What<'_>, doubtful: Doubtful) -> bool {
    let Some(keeper) = bench.session.parts().snapshots.clone() else {
        (bench.say)(bench.texts.no_place_for_snapshots);
        return true;
    };
    match keeper.undo(what, doubtful) {
        Ok(report) if report.turns.is_empty() && report.left.is_empty() => return false,
        Ok(report) => lines(&report, bench.texts).iter().for_each(|line| (bench.say)(line)),
        Err(error) => (bench.say)(&super::could_not(bench.texts, &chain(&error), error.hint())),
    }
    true
}
