//! What failed here and held on the base, run again: the same number of times on both sides, never until it is green.

use crate::workshop::{Side, WorkshopError};
use std::time::Duration;

/// How often it is run again, on each side.
const TIMES: u32 = 3;
/// What takes longer is run again once.
const LONG: Duration = Duration::from_secs(20);

/// How a doubt was settled by running it again, the same number of times on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// Runs on each side.
    pub times: u32,
    /// Failures among them on the candidate.
    pub candidate: u32,
    /// Failures among them on the base.
    pub base: u32,
}

/// What the runs say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// It fails here, each time, and never on the base.
    Fails,
    /// It fails on both sides, now and then.
    Flaky,
    /// It cannot be told from so few runs.
    Unknown,
}

impl Settled {
    /// Run it again on both sides; `fails` says whether it failed once more.
    ///
    /// # Errors
    /// From `fails`.
    pub fn by(times: u32, fails: &mut dyn FnMut(Side) -> Result<bool, WorkshopError>) -> Result<Self, WorkshopError> {
        let mut settled = Self { times, candidate: 0, base: 0 };
        for _ in 0..times {
            settled.candidate += u32::from(fails(Side::Candidate)?);
            settled.base += u32::from(fails(Side::Base)?);
        }
        Ok(settled)
    }

    /// What it says.
    pub const fn chance(self) -> Chance {
        if self.base == 0 && self.candidate == self.times {
            Chance::Fails
        } else if self.base > 0 && self.candidate < self.times {
            Chance::Flaky
        } else {
            Chance::Unknown
        }
    }

    /// The figures, as the end of a sentence.
    pub fn figures(self) -> String {
        format!("of {} more runs {} failed here and {} on the base", self.times, self.candidate, self.base)
    }
}

/// How often something that took so long is run again.
pub fn times(wall_ms: u64) -> u32 {
    if Duration::from_millis(wall_ms) > LONG { 1 } else { TIMES }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fails_here_each_time_and_never_there_fails() {
        let chance = |candidate, base| Settled { times: 3, candidate, base }.chance();
        assert_eq!(chance(3, 0), Chance::Fails);
        assert_eq!((chance(1, 1), chance(0, 2)), (Chance::Flaky, Chance::Flaky));
        assert_eq!((chance(1, 0), chance(0, 0), chance(3, 1)), (Chance::Unknown, Chance::Unknown, Chance::Unknown));
    }

    #[test]
    fn both_sides_run_as_often() {
        let mut ran = Vec::new();
        let settled = Settled::by(2, &mut |side| {
            ran.push(side);
            Ok(side == Side::Candidate)
        });
        assert_eq!(ran, [Side::Candidate, Side::Base, Side::Candidate, Side::Base]);
        assert!(settled.is_ok_and(|settled| settled.chance() == Chance::Fails));
        assert_eq!((times(100), times(60_000)), (3, 1));
    }
}
