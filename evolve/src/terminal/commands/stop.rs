//! Why a command stops before its end: what could not be done, what to do next, and the exit code.

use crate::terminal::streams::chain;
use selfsmith::cycle::CycleError;
use selfsmith::launcher::LaunchError;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::inbox::InboxError;
use selfsmith::owner::settings::SettingsError;
use selfsmith::owner::surroundings::NoHome;
use selfsmith::proposer::ProposerError;
use selfsmith::review::ReviewError;
use selfsmith::store::authority::NoAuthority;
use selfsmith::store::lineage::LineageError;
use selfsmith::store::log::LogError;
use selfsmith::texts::{EN, fill};
use selfsmith_repo::RepoError;
use std::path::Path;

/// Why it stops.
#[derive(Debug)]
pub struct Stop {
    /// Exit code.
    pub exit: Exit,
    /// What is wrong, as a sentence.
    pub what: String,
    /// What to do next.
    pub hint: String,
}

impl Stop {
    /// A command line that cannot be followed.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, what: what.into(), hint: hint.into() }
    }

    /// Something that broke; `what` completes "could not".
    pub fn failed(what: &str, hint: impl Into<String>) -> Self {
        Self::could_not(Exit::Failed, what, hint)
    }

    /// With `what` completing "could not".
    pub fn could_not(exit: Exit, what: &str, hint: impl Into<String>) -> Self {
        Self { exit, what: fill(EN.error, &[("what", what)]), hint: hint.into() }
    }
}

impl From<CycleError> for Stop {
    fn from(error: CycleError) -> Self {
        let exit = match &error {
            CycleError::Rules(_) => Exit::Settings,
            CycleError::Target { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::could_not(exit, &chain(&error), error.hint())
    }
}

impl From<ReviewError> for Stop {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Cycle(error) => error.into(),
            ReviewError::Unknown { .. } | ReviewError::Ambiguous { .. } | ReviewError::Unfit { .. } => {
                Self::could_not(Exit::Usage, &chain(&error), error.hint())
            }
            ReviewError::Conflicts { .. } => Self::could_not(Exit::Stale, &chain(&error), error.hint()),
            ReviewError::Lineage(_) | ReviewError::Repo(_) => Self::failed(&chain(&error), error.hint()),
        }
    }
}

impl From<ProposerError> for Stop {
    fn from(error: ProposerError) -> Self {
        Self { exit: Exit::Usage, what: error.what, hint: error.hint }
    }
}

impl Stop {
    /// Nobody's word was seen; `key` in the file `settings` could be it.
    pub fn no_authority(error: &NoAuthority, (key, settings): (&str, &Path)) -> Self {
        let hint = if error.is_an_agents() {
            EN.type_it_yourself.to_owned()
        } else {
            let values = [("key", key), ("file", &settings.display().to_string())];
            fill(EN.allow_in_settings, &values)
        };
        Self::could_not(Exit::Failed, &chain(error), hint)
    }
}

macro_rules! stops {
    ($($error:ty => $exit:expr),* $(,)?) => {
        $(impl From<$error> for Stop {
            fn from(error: $error) -> Self {
                Self::could_not($exit, &chain(&error), error.hint())
            }
        })*
    };
}

stops! {
    InboxError => Exit::Failed,
    LaunchError => Exit::Failed,
    LineageError => Exit::Failed,
    LogError => Exit::Failed,
    NoHome => Exit::Settings,
    RepoError => Exit::Failed,
    SettingsError => Exit::Settings,
}
