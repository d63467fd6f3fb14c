//! Which walls hold on this machine, and why not: found out by putting them up, not by reading settings.

use crate::cancel::Cancel;
use crate::error::SandboxError;
use crate::finished::Finished;
use crate::job::{Bind, BindMode, Environment, Job, Program, Room, Walls, Workspace};
use crate::kernel::landlock;
use crate::limits::Limits;
use crate::room::MARKER;
use crate::run::run;
use crate::wall::{MissingWall, Wall};
use serde::Serialize;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The answer for one wall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WallState {
    /// Which.
    pub wall: Wall,
    /// Whether it stands around a job that asks for it.
    pub holds: bool,
    /// Why not, or by what it is given.
    pub why: String,
}

/// Whether files for their owner alone can be read in the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrivateFiles {
    /// Whether they can.
    pub readable: bool,
    /// Why not.
    pub why: String,
}

/// The answer for all walls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// One entry for each wall.
    pub walls: Vec<WallState>,
    /// Whether files that only their owner may read can be read in the room through a read-only bind, as tried in the
    /// folder for temporary files; other file systems may differ. No wall: without it they have to be readable for all.
    pub private_files: PrivateFiles,
    /// Version of Landlock that the kernel offers; 0: none.
    pub landlock_abi: u32,
    /// Whether this process lives in a room itself: then the outer room gives what cannot be put up twice.
    pub nested: bool,
}

impl Probe {
    /// Whether a room without weaknesses can be had.
    pub fn room_holds(&self) -> bool {
        self.walls.iter().all(|state| state.holds)
    }
}

/// Tries each wall, in real rooms; costs some tens of milliseconds.
pub fn probe() -> Probe {
    let nested = in_room();
    let inside = outcome(&room(Vec::new()));
    let overlay = overlay_room().map_or_else(|error| vec![missing(Wall::Overlay, error)], |job| outcome(&job.0));
    let shell = outcome(&job(Walls::Workspace(Workspace::default())));
    let state = |wall: Wall| {
        let found = match wall {
            Wall::Overlay => &overlay,
            // Both walls can stand without a room.
            Wall::Landlock | Wall::Seccomp => &shell,
            _ => &inside,
        };
        judge(wall, found, nested)
    };
    Probe {
        walls: Wall::ALL.into_iter().map(state).collect(),
        private_files: private_files().unwrap_or_else(|error| PrivateFiles { readable: false, why: error.to_string() }),
        landlock_abi: landlock::version(),
        nested,
    }
}

/// Whether this process lives in a room itself; its commands are then kept by that room too.
pub fn in_room() -> bool {
    Path::new(MARKER).exists()
}

/// Tries the walls of the agent's shell ([`Workspace`]), in a folder of its own: each by itself, because there the one
/// stands without the other.
///
/// # Errors
/// Where there is no place for that folder.
pub fn probe_workspace() -> std::io::Result<Vec<WallState>> {
    const OWN: [Wall; 7] = [
        Wall::UserNamespace,
        Wall::NetNamespace,
        Wall::IpcNamespace,
        Wall::MountNamespace,
        Wall::UserDrop,
        Wall::Landlock,
        Wall::Seccomp,
    ];
    let folder = tempfile::tempdir()?;
    let [open, closed, secret] = ["open", "open/closed", "secret"].map(|name| folder.path().join(name));
    for path in [&open, &closed, &secret] {
        std::fs::create_dir(path)?;
    }
    let walls =
        Workspace { writable: vec![open], protected: vec![closed], hidden: vec![secret], ..Workspace::default() };
    let found = outcome(&job(Walls::Workspace(walls)));
    Ok(OWN.into_iter().map(|wall| judge_alone(wall, &found, in_room())).collect())
}

/// As [`judge`], for walls of which none is the reason for another.
fn judge_alone(wall: Wall, found: &[MissingWall], nested: bool) -> WallState {
    let own: Vec<&str> = found.iter().filter(|one| one.wall == wall).map(|one| one.why.as_str()).collect();
    let mounts = wall == Wall::MountNamespace && found.iter().any(|one| one.wall == Wall::UserNamespace);
    let missing = !own.is_empty() || mounts;
    let outer = nested && !matches!(wall, Wall::Landlock | Wall::Seccomp);
    let why = match (missing, outer) {
        (true, true) => "given by the outer room".to_owned(),
        (true, false) if mounts => "there is no user namespace, and this program is not root".to_owned(),
        _ => own.join("; "),
    };
    WallState { wall, holds: !missing || outer, why }
}

fn private_files() -> std::io::Result<PrivateFiles> {
    // The folder itself is for its owner alone.
    let folder = tempfile::tempdir()?;
    let closed = std::fs::Permissions::from_mode(0o600);
    let file = folder.path().join("file");
    std::fs::write(&file, "")?;
    std::fs::set_permissions(&file, closed)?;
    let bind = Bind { source: folder.path().to_owned(), at: "/bound".into(), mode: BindMode::ReadOnly };
    let program = Program::Argv(vec!["cat".into(), "/bound/file".into()]);
    let why = match run(&Job { program, ..room(vec![bind]) }, &[], &Cancel::default(), &mut |_, _| {}) {
        Ok(finished) if finished.end.success() => String::new(),
        Ok(Finished { unreadable: Some(found), .. }) => found.why,
        Ok(finished) => finished.stderr.text(|_| String::new()).trim().to_owned(),
        Err(error) => format!("could not {error}"),
    };
    Ok(PrivateFiles { readable: why.is_empty(), why })
}

fn judge(wall: Wall, found: &[MissingWall], nested: bool) -> WallState {
    let own = found.iter().find(|missing| missing.wall == wall);
    // Walls are put up in order: behind one that could not be, nothing was tried.
    let before = found.iter().find(|missing| position(missing.wall) < position(wall));
    let outer = nested && !matches!(wall, Wall::Landlock | Wall::Seccomp | Wall::Overlay);
    let (holds, why) = match (own, before) {
        (Some(_), _) | (None, Some(_)) if outer => (true, "given by the outer room".to_owned()),
        (Some(missing), _) => (false, missing.why.clone()),
        (None, Some(missing)) => (false, format!("not reached: {} is missing", missing.wall)),
        (None, None) => (true, String::new()),
    };
    WallState { wall, holds, why }
}

fn position(wall: Wall) -> usize {
    Wall::ALL.iter().position(|other| *other == wall).unwrap_or(Wall::ALL.len())
}

fn outcome(job: &Job) -> Vec<MissingWall> {
    match run(job, &[], &Cancel::default(), &mut |_, _| {}) {
        Ok(finished) if finished.end.success() => finished.weaker,
        Ok(finished) => vec![missing(Wall::UserNamespace, format!("a trial program ended with {:?}", finished.end))],
        Err(SandboxError::Wall { wall, why }) => vec![MissingWall { wall, why }],
        Err(error) => vec![missing(Wall::UserNamespace, format!("could not {error}"))],
    }
}

fn missing(wall: Wall, why: impl ToString) -> MissingWall {
    MissingWall { wall, why: why.to_string() }
}

fn room(binds: Vec<Bind>) -> Job {
    job(Walls::Room(Room { binds, tmp_bytes: 1 << 20, forwards: Vec::new(), accept_weaker: false }))
}

/// A room with an overlay; the folder goes with the guard.
fn overlay_room() -> std::io::Result<(Job, tempfile::TempDir)> {
    let folder = tempfile::tempdir()?;
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| folder.path().join(name));
    for path in [&lower, &upper, &work] {
        std::fs::create_dir(path)?;
    }
    let bind = Bind { source: lower, at: "/overlay".into(), mode: BindMode::Overlay { upper, work } };
    Ok((room(vec![bind]), folder))
}

fn job(walls: Walls) -> Job {
    Job {
        program: Program::Argv(vec!["true".into()]),
        dir: "/".into(),
        environment: Environment::default(),
        stdin: Vec::new(),
        limits: Limits::default(),
        walls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_missing_wall_is_not_reached() {
        let found = [missing(Wall::NetNamespace, "no")];
        let holds = |wall| judge(wall, &found, false).holds;
        assert!(holds(Wall::UserNamespace));
        assert!(!holds(Wall::NetNamespace));
        assert!(!holds(Wall::MountNamespace));
    }

    #[test]
    fn the_shells_walls_stand_one_without_the_other() {
        let found = [missing(Wall::UserNamespace, "no")];
        let state = |wall| judge_alone(wall, &found, false);
        assert!(!state(Wall::UserNamespace).holds && !state(Wall::MountNamespace).holds);
        assert!(state(Wall::Landlock).holds && state(Wall::Seccomp).holds);
        assert!(judge_alone(Wall::MountNamespace, &found, true).holds);
    }

    #[test]
    fn in_a_room_the_outer_one_gives_what_cannot_be_put_up_twice() {
        let found = [missing(Wall::UserNamespace, "no")];
        assert_eq!(judge(Wall::PidNamespace, &found, true).why, "given by the outer room");
        assert!(!judge(Wall::Overlay, &[missing(Wall::UserNamespace, "no")], true).holds);
    }
}
