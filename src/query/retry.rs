//! Whether and when a failed try is repeated: a pure decision, in the one place that repeats.

use crate::query::failure::Failure;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How often and how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Tries of one request in all.
    pub max_tries: u32,
    /// Tries after words were already shown, which cost the person's time and money.
    pub max_tries_midway: u32,
    /// Milliseconds before the second try where the server names none; doubles with each further one.
    pub first_wait_ms: u64,
    /// Seconds that a wait may last; a server that asks for more ends the session.
    pub longest_wait_s: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_tries: 6, max_tries_midway: 3, first_wait_ms: 500, longest_wait_s: 60 }
    }
}

/// How far a try got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing of the answer came.
    Nothing,
    /// A part of the answer came.
    Midway,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Try again after this time.
    After(Duration),
    /// No further try.
    GiveUp,
}

/// Decide after the failed try number `tried`, counted from 1. `dice` is uniform in 0..1 and spreads the waits of many
/// clients; a wait that the server names is never cut short.
pub fn decide(settings: &Settings, failure: &Failure, tried: u32, progress: Progress, dice: f64) -> Decision {
    let most = match progress {
        Progress::Nothing => settings.max_tries,
        Progress::Midway => settings.max_tries.min(settings.max_tries_midway),
    };
    if !failure.kind.is_retryable() || tried >= most {
        return Decision::GiveUp;
    }
    let longest = Duration::from_secs(settings.longest_wait_s);
    let doubled = settings.first_wait_ms.saturating_mul(1 << tried.saturating_sub(1).min(20));
    let own = Duration::from_millis(doubled).min(longest);
    match failure.retry_after {
        Some(named) if named > longest => Decision::GiveUp,
        Some(named) => Decision::After(named + own.mul_f64(0.1 * dice)),
        None => Decision::After(own.mul_f64(dice.mul_add(0.5, 0.75)).min(longest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::failure::Kind;

    fn busy(retry_after: Option<u64>) -> Failure {
        Failure { retry_after: retry_after.map(Duration::from_secs), ..Failure::new(Kind::Busy, "busy") }
    }

    #[test]
    fn waits_double_and_stay_within_bounds() {
        let settings = Settings { max_tries: 50, ..Settings::default() };
        let wait = |tried| match decide(&settings, &busy(None), tried, Progress::Nothing, 0.5) {
            Decision::After(wait) => wait.as_millis(),
            Decision::GiveUp => 0,
        };
        assert_eq!([wait(1), wait(2), wait(3), wait(40)], [500, 1000, 2000, 60_000]);
    }

    #[test]
    fn a_named_wait_is_kept_and_one_too_long_ends_it() {
        let settings = Settings::default();
        let Decision::After(wait) = decide(&settings, &busy(Some(7)), 1, Progress::Nothing, 0.0) else {
            panic!("a further try was due");
        };
        assert_eq!(wait, Duration::from_secs(7));
        assert_eq!(decide(&settings, &busy(Some(3600)), 1, Progress::Nothing, 0.0), Decision::GiveUp);
    }

    #[test]
    fn tries_end_and_what_no_try_can_cure_is_not_repeated() {
        let settings = Settings::default();
        assert_eq!(decide(&settings, &busy(None), 6, Progress::Nothing, 0.0), Decision::GiveUp);
        assert_eq!(decide(&settings, &busy(None), 3, Progress::Midway, 0.0), Decision::GiveUp);
        assert_eq!(decide(&settings, &Failure::new(Kind::Auth, "x"), 1, Progress::Nothing, 0.0), Decision::GiveUp);
    }
}
