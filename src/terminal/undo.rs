//! `undo`: takes back what turns changed in the workspace, and says what was left alone and why.

use crate::cli::{Flags, UndoArgs};
use crate::open;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::approve::Mode;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::snapshot::{Did, Doubtful, Report, SnapshotError, What, Why};
use selfsmith_agent::texts::{Texts, fill};
use selfsmith_agent::wire;

/// Run it. What was left alone makes it unfinished.
pub fn run(flags: &Flags, args: &UndoArgs, surroundings: &Surroundings) -> Ending {
    let texts = surroundings.texts;
    let opened = match open::open(flags, surroundings) {
        Ok(opened) => opened,
        Err(refusal) => {
            streams::tell(&fill(texts.problem, &[("text", &refusal.text)]));
            return refusal.ending;
        }
    };
    let Some(keeper) = wire::keeper(&opened.choices, &opened.around) else {
        streams::tell(texts.no_place_for_snapshots);
        return Ending::Config;
    };
    // What was cut off goes first, so that nothing carries it on afterwards.
    for text in wire::settled(Mode::Auto, &opened.around) {
        streams::tell(&crate::clean::clean(&text));
    }
    let what = if args.turn { What::Turn } else { What::Prompt };
    let doubtful = if args.all { Doubtful::Undo } else { Doubtful::Leave };
    let done = if args.redo { keeper.redo() } else { keeper.undo(what, doubtful) };
    match done {
        Ok(report) => {
            let lines = if args.redo { redone(&report, texts) } else { lines(&report, texts) };
            streams::data(&lines.join("\n"));
            streams::data("\n");
            if report.left.is_empty() { Ending::Done } else { Ending::Unfinished }
        }
        Err(error) => {
            let text = fill(texts.could_not, &[("what", &chain(&error)), ("hint", error.hint())]);
            streams::tell(&fill(texts.problem, &[("text", &text)]));
            Ending::Failed
        }
    }
}

/// An error with its cause.
pub fn chain(error: &SnapshotError) -> String {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

/// What came of an undo, in lines for people.
pub fn lines(report: &Report, texts: &Texts) -> Vec<String> {
    if report.turns.is_empty() && report.left.is_empty() {
        return vec![texts.undo_nothing.to_owned()];
    }
    let mut lines = paths(report, texts.undo_done, texts);
    if !report.turns.is_empty() && !report.restored.is_empty() {
        lines.push(texts.undo_way_back.to_owned());
    }
    lines
}

/// What came of taking an undo back, in lines for people.
pub fn redone(report: &Report, texts: &Texts) -> Vec<String> {
    if report.turns.is_empty() { vec![texts.redo_nothing.to_owned()] } else { paths(report, texts.redo_done, texts) }
}

fn paths(report: &Report, first: &str, texts: &Texts) -> Vec<String> {
    let counts = [("turns", report.turns.len().to_string()), ("count", report.restored.len().to_string())];
    let already = report.restored.is_empty() && report.left.is_empty() && first == texts.undo_done;
    let first = if already { texts.undo_done_already } else { first };
    let mut lines = vec![fill(first, &counts.each_ref().map(|(name, value)| (*name, value.as_str())))];
    for (path, did) in &report.restored {
        let text = match did {
            Did::BroughtBack => texts.undo_brought_back,
            Did::Restored => texts.undo_restored,
            Did::Removed => texts.undo_removed,
        };
        lines.push(fill(text, &[("path", &path.to_string())]));
    }
    for (path, why) in &report.left {
        lines.push(fill(texts.undo_left, &[("path", &path.to_string()), ("why", &told(why, texts))]));
    }
    lines.iter().map(|line| crate::clean::clean(line)).collect()
}

fn told(why: &Why, texts: &Texts) -> String {
    match why {
        Why::Changed => texts.left_changed.to_owned(),
        Why::ChangedBetween => texts.left_changed_between.to_owned(),
        Why::Job => texts.left_job.to_owned(),
        Why::Killed => texts.left_killed.to_owned(),
        Why::NotKept(why) => fill(texts.left_not_kept, &[("why", why.told(texts))]),
        Why::NoWayBack(why) => fill(texts.left_no_way_back, &[("why", why.told(texts))]),
        Why::Lost => texts.left_lost.to_owned(),
        Why::NotEmpty => texts.left_not_empty.to_owned(),
        Why::Disk(error) => fill(texts.left_disk, &[("error", error)]),
    }
}
