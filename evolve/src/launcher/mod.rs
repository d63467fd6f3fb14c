//! Hands what is not the judge's to the agent: finds its program, takes away what cargo leaked, and becomes it.
//!
//! Order: `SELFSMITH_AGENT`; the sibling in a workspace target, brought up to date by cargo; the current generation; an
//! installed sibling. The decision costs a few `stat` calls. A generation that is damaged, or died again and again, is left for
//! the one before it.

mod dev;
mod environment;

pub use dev::{AGENT, DevTarget, Shown};
pub use environment::for_agent;

use crate::owner::surroundings::{NoHome, Surroundings};
use crate::store::faults::NoFaults;
use crate::store::generations::slots::Leaving;
use crate::store::generations::start::Chosen;
use crate::store::generations::{Store, StoreError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Names the agent's program.
pub const AGENT_VARIABLE: &str = "SELFSMITH_AGENT";
/// Tells the agent which generation it is: `dev`, or a tree id.
pub const GENERATION_VARIABLE: &str = "SELFSMITH_GENERATION";
/// Tells the agent where `config.yaml` and `prompts/` of its generation lie.
pub const HOME_VARIABLE: &str = "SELFSMITH_GENERATION_DIR";

/// Tells the agent which file to remove once it has worked; one that stays counts as a death (`store::generations::start`).
pub const START_VARIABLE: &str = "SELFSMITH_START";

/// How the agent was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// By `SELFSMITH_AGENT`.
    Named,
    /// In the workspace target of the running executable.
    Dev(DevTarget),
    /// An installed generation.
    Generation {
        /// Its tree id.
        tree: String,
        /// Why it is not the one that was current, where it is not.
        instead: Option<Leaving>,
    },
    /// Beside the running executable.
    Sibling,
}

/// The agent that a session gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its program.
    pub program: PathBuf,
    /// Where it comes from.
    pub origin: Origin,
    /// The folder with its `config.yaml` and `prompts/`; without one it uses those embedded in it.
    pub home: Option<PathBuf>,
}

impl Agent {
    /// The word for banners: `dev`, `named`, `installed`, or the tree id.
    pub fn generation(&self) -> &str {
        match &self.origin {
            Origin::Named => "named",
            Origin::Dev(_) => "dev",
            Origin::Generation { tree, .. } => tree,
            Origin::Sibling => "installed",
        }
    }
}

/// Find the agent. Nothing is built, and little is read; a generation that cannot be started gives way to the one before.
pub fn find(around: &Surroundings, built_in: &Path) -> Result<Agent, LaunchError> {
    if let Some(named) = around.var(AGENT_VARIABLE) {
        let program = around.absolute(Path::new(named));
        if !program.is_file() {
            return Err(LaunchError::NamedMissing { program });
        }
        return Ok(Agent { program, origin: Origin::Named, home: None });
    }
    if let Some(target) = DevTarget::of(&around.exe, built_in) {
        let home = Some(target.workspace.clone());
        return Ok(Agent { program: target.agent(), origin: Origin::Dev(target), home });
    }
    let looked = match around.generations() {
        Ok(root) => {
            let store = Store::new(root);
            if let Some(Chosen { generation, instead }) = store.choose(&NoFaults).map_err(LaunchError::Generation)? {
                let home = Some(generation.folder.clone());
                let program = generation.program();
                return Ok(Agent { program, origin: Origin::Generation { tree: generation.tree, instead }, home });
            }
            store.root().to_owned()
        }
        // Without a home there is no generation; an installed sibling still works.
        Err(NoHome { .. }) => PathBuf::new(),
    };
    let sibling = around.exe.parent().map(|dir| dir.join(AGENT)).unwrap_or_default();
    if sibling.is_file() {
        return Ok(Agent { program: sibling, origin: Origin::Sibling, home: None });
    }
    Err(LaunchError::NotFound { sibling, generations: looked })
}

/// In a checkout, have cargo bring the agent up to date. A stale agent that cannot be built because there is no cargo is
/// an error as well: it would not be the code that the checkout shows.
pub fn ready(
    agent: Agent,
    around: &Surroundings,
    shown: Shown,
    say: &mut dyn FnMut(&[u8]),
) -> Result<Agent, LaunchError> {
    if let Origin::Dev(target) = &agent.origin
        && target.is_stale()
    {
        target.build(around, shown, say)?;
    }
    Ok(agent)
}

/// Become the agent. Returns only if that failed.
pub fn become_agent(agent: &Agent, arguments: &[OsString], around: &Surroundings) -> LaunchError {
    let mut vars = for_agent(&around.vars);
    vars.retain(|(name, _)| name != GENERATION_VARIABLE && name != HOME_VARIABLE && name != START_VARIABLE);
    vars.push((GENERATION_VARIABLE.into(), agent.generation().into()));
    if let Some(home) = &agent.home {
        vars.push((HOME_VARIABLE.into(), home.into()));
    }
    let store = around.generations().ok().map(Store::new);
    if let (Origin::Generation { tree, .. }, Some(store)) = (&agent.origin, store)
        && let Some(start) = store.count_start(tree)
    {
        vars.push((START_VARIABLE.into(), start.into()));
    }
    match selfsmith_sandbox::replace(&agent.program, arguments, &vars) {
        Ok(never) => match never {},
        Err(source) => LaunchError::NotStarted { program: agent.program.clone(), source },
    }
}

/// Why there is no agent.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// `SELFSMITH_AGENT` names nothing.
    #[error("find the agent: SELFSMITH_AGENT names {}, which is not a file", program.display())]
    NamedMissing {
        /// What it names.
        program: PathBuf,
    },
    /// Nowhere.
    #[error("find the agent: neither {} nor a current generation in {} exists", sibling.display(), generations.display())]
    NotFound {
        /// Beside the running executable.
        sibling: PathBuf,
        /// Where generations lie.
        generations: PathBuf,
    },
    /// The current generation is damaged.
    #[error("use the current generation")]
    Generation(#[source] StoreError),
    /// The agent must be built, and there is no cargo.
    #[error("build the agent in {}: cargo is not on the search path (PATH)", workspace.display())]
    NoCargo {
        /// The checkout.
        workspace: PathBuf,
    },
    /// Cargo could not be started.
    #[error("run `{argv}`: {why}")]
    CargoNotRun {
        /// The command.
        argv: String,
        /// Why.
        why: String,
    },
    /// The agent does not build.
    #[error("build the agent: `{argv}` failed, in the words above")]
    CargoFailed {
        /// The command. Its words went to whoever listened.
        argv: String,
    },
    /// The program could not be started.
    #[error("start {}", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl LaunchError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::NamedMissing { .. } => "unset SELFSMITH_AGENT, or set it to the agent's program".to_owned(),
            Self::NotFound { .. } => {
                "install it beside this program with `cargo install --path .` in a checkout".to_owned()
            }
            Self::Generation(error) => error.hint(),
            Self::NoCargo { .. } => "install Rust from https://rustup.rs and open a new shell".to_owned(),
            Self::CargoNotRun { .. } => "run that command by hand to see what cargo says".to_owned(),
            Self::CargoFailed { .. } => "mend what the compiler shows, then try again".to_owned(),
            Self::NotStarted { .. } => {
                "check that the file is a program for this machine and may be executed".to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn around(dir: &Path, vars: &[(&str, &Path)]) -> Surroundings {
        Surroundings {
            vars: vars.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            exe: dir.join("bin/selfsmith"),
            cwd: dir.to_owned(),
        }
    }

    #[test]
    fn a_named_agent_wins_and_must_exist() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let program = dir.path().join("mine");
        let around = around(dir.path(), &[("SELFSMITH_AGENT", Path::new("mine"))]);
        assert!(matches!(find(&around, Path::new("/nowhere")), Err(LaunchError::NamedMissing { .. })));
        fs::write(&program, "").expect("file");
        let found = find(&around, Path::new("/nowhere")).expect("found");
        assert_eq!((found.program, found.origin), (program, Origin::Named));
    }

    #[test]
    fn without_generation_and_checkout_the_sibling_is_taken() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let around = around(dir.path(), &[("HOME", dir.path())]);
        assert!(matches!(find(&around, Path::new("/nowhere")), Err(LaunchError::NotFound { .. })));
        fs::create_dir_all(dir.path().join("bin")).expect("folder");
        fs::write(dir.path().join("bin").join(AGENT), "").expect("file");
        assert_eq!(find(&around, Path::new("/nowhere")).expect("found").origin, Origin::Sibling);
    }
}
