//! Where a command works: the repository, its state folder, the judge's settings, the clock.

use crate::terminal::cli::Where;
use crate::terminal::commands::JUDGE;
use crate::terminal::commands::stop::Stop;
use selfsmith::cycle::Hands;
use selfsmith::judgement::progress::Report;
use selfsmith::owner::settings::Settings;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::state::{self, StateFolder};
use selfsmith_repo::{Repo, RepoError};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The place.
pub struct Place {
    /// The repository.
    pub repo: Repo,
    /// Its state folder.
    pub state: StateFolder,
    /// The judge's settings.
    pub settings: Settings,
    /// Where they are written.
    pub settings_file: PathBuf,
}

impl Place {
    /// Open it.
    pub fn open(place: &Where, around: &Surroundings) -> Result<Self, Stop> {
        let folder = place.repo.as_ref().map_or_else(|| around.cwd.clone(), |repo| around.absolute(repo));
        let settings_file = around.settings_file()?;
        let settings = Settings::read(&settings_file)?;
        // What a landing writes outlasts a power cut.
        let repo = Repo::open(&folder).and_then(Repo::durable).map_err(|error| {
            let mut stop = Stop::from(error);
            stop.exit = selfsmith::owner::exit::Exit::Usage;
            stop
        })?;
        let home = around.state()?;
        let state = StateFolder::open(&home, &repo.id()?).map_err(|error| {
            let what = format!("make the state folder in {}: {error}", home.display());
            Stop::failed(&what, "make that folder writable, or set XDG_STATE_HOME")
        })?;
        Ok(Self { repo, state, settings, settings_file })
    }

    /// What everything that lands works with.
    pub fn hands<'a>(&'a self, report: Report<'a>, around: &'a Surroundings) -> Hands<'a> {
        Hands {
            repo: &self.repo,
            state: &self.state,
            clock: &now,
            stopwatch: &since_epoch,
            faults: &NoFaults,
            report,
            judge: JUDGE,
            environment: &around.vars,
        }
    }

    /// The folder of the person's files.
    pub fn workdir(&self) -> Result<PathBuf, RepoError> {
        Ok(self.repo.workdir()?.to_owned())
    }
}

/// Seconds since the epoch.
pub fn now() -> i64 {
    i64::try_from(since_epoch().as_secs()).unwrap_or(i64::MAX)
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A new id for a cycle.
pub fn new_id() -> String {
    let (_, random, ..) = uuid::Uuid::new_v4().as_fields();
    state::cycle_id(now(), random)
}
