//! The proposer `tune`: turns one knob of the base's `evolve/knobs.yaml` by one step. No model, nothing is run.
//!
//! Which knob, and in which direction, follows from the cycle's id; one that cannot be turned further makes room for the next. It
//! knows nothing of what is better: that is for the gates and for whoever reads the record.

use crate::judgement::candidate::Proposal;
use crate::judgement::progress::Report;
use crate::proposer::{Proposer, ProposerError, Task};
use crate::rules::knobs::{self, KNOBS_PATH, Knob, Knobs};
use std::fs;
use std::path::{Component, Path};

/// The proposer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tune;

impl Proposer for Tune {
    fn name(&self) -> &str {
        "tune"
    }

    fn propose(&mut self, task: Task<'_>, _report: Report<'_>) -> Result<Proposal, ProposerError> {
        if task.attempt > 0 {
            return Err(no(
                "turn a knob once more: a number that does not hold is not repaired",
                "read what the gate says",
            ));
        }
        let text = read(task.dir, KNOBS_PATH)?;
        let knobs =
            Knobs::parse(&text).map_err(|error| ProposerError { what: error.to_string(), hint: error.hint() })?;
        let turns: Vec<(&Knob, bool)> = knobs.knobs.iter().flat_map(|knob| [(knob, true), (knob, false)]).collect();
        let first = seed(task.cycle) as usize;
        for at in 0..turns.len() {
            let Some((knob, up)) = turns.get((first + at) % turns.len()) else { continue };
            let before = read(task.dir, &knob.file)?;
            let Some(to) = knob.next(&before, *up) else { continue };
            let Some(after) = knobs::with(&before, &knob.key, &to) else { continue };
            let file = task.dir.join(&knob.file);
            let is_plain = fs::symlink_metadata(&file).is_ok_and(|facts| facts.is_file());
            if !is_plain || Path::new(&knob.file).components().any(|part| !matches!(part, Component::Normal(_))) {
                return Err(no(
                    &format!("turn a knob in {}: it is no plain file below the top", knob.file),
                    "name another",
                ));
            }
            fs::write(&file, after).map_err(|error| no(&format!("write {}: {error}", knob.file), "make room"))?;
            let way = if *up { "up" } else { "down" };
            return Ok(Proposal {
                summary: format!("Turn {} in {} {way} to {to}", knob.key, knob.file),
                prediction: format!("{} is {to}, and every scenario holds as before", knob.key),
                ..Proposal::default()
            });
        }
        Err(no("turn any knob: none has room left in its range", &format!("widen a range in {KNOBS_PATH}")))
    }
}

fn read(dir: &Path, file: &str) -> Result<String, ProposerError> {
    fs::read_to_string(dir.join(file)).map_err(|error| {
        no(
            &format!("read {file} of the base: {error}"),
            &format!("`tune` turns what {KNOBS_PATH} names; commit that file"),
        )
    })
}

fn no(what: &str, hint: &str) -> ProposerError {
    ProposerError { what: format!("could not {what}"), hint: hint.to_owned() }
}

/// A number from an id (FNV-1a, <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>): the same for the same id.
fn seed(id: &str) -> u32 {
    id.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(dir: &Path, cycle: &str, attempt: u32) -> Result<Proposal, ProposerError> {
        let task = Task { cycle, goal: "", dir, target: None, attempt, diagnostics: None };
        Tune.propose(task, &|_| {})
    }

    #[test]
    fn one_knob_is_turned_by_one_step_and_its_name_follows_from_the_cycle() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::create_dir(dir.path().join("evolve")).expect("folder");
        let knobs = "knobs:\n  - { file: c.yaml, key: a, min: 0, max: 9, step: 1 }\n  - { file: c.yaml, key: b, min: 0, max: 9, step: 1 }\n";
        fs::write(dir.path().join(KNOBS_PATH), knobs).expect("file");
        let mut seen = std::collections::BTreeSet::new();
        for cycle in 0..40 {
            fs::write(dir.path().join("c.yaml"), "a: 5\nb: 5\n").expect("file");
            let said = proposed(dir.path(), &format!("c{cycle}"), 0).expect("proposes").summary;
            let text = fs::read_to_string(dir.path().join("c.yaml")).expect("reads");
            let all = Knobs::parse(knobs).expect("are right");
            assert_eq!(
                all.turned("c.yaml", "a: 5\nb: 5\n", &text).map(|turned| turned.len()),
                Some(1),
                "{said}: {text}"
            );
            seen.insert(said);
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
    }

    #[test]
    fn what_cannot_be_turned_is_said() {
        let dir = tempfile::tempdir().expect("temporary folder");
        assert!(proposed(dir.path(), "c", 0).expect_err("there are none").what.contains(KNOBS_PATH));
        fs::create_dir(dir.path().join("evolve")).expect("folder");
        fs::write(dir.path().join(KNOBS_PATH), "knobs: [{ file: c.yaml, key: a, min: 0, max: 1, step: 1 }]")
            .expect("file");
        fs::write(dir.path().join("c.yaml"), "a: many\n").expect("file");
        assert!(proposed(dir.path(), "c", 0).expect_err("no number").hint.contains("widen"));
        assert!(proposed(dir.path(), "c", 1).is_err(), "a repair");
    }
}
