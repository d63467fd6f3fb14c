//! What a command of the model may touch: the workspace and temporary folders, no network, no keys; in the repository
//! everything but what would run or steer something later.

use super::{Settings, repositories};
use crate::tool::guard::own_folders;
use selfsmith_repo::Repo;
use selfsmith_sandbox::{Walls, Workspace};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Below the home folder: keys, tokens, sessions of browsers and clouds.
const SECRETS: [&str; 23] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/git/credentials",
    ".config/selfsmith",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".Xauthority",
    ".local/share/keyrings",
];
/// Sockets, and folders of sockets, by which others would do what the command may not: containers, services, terminals.
/// Landlock does not cover them.
const SOCKETS: [&str; 15] = [
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/crio",
    "/run/libvirt",
    "/run/snapd.socket",
    "/run/dbus",
    "/run/systemd/private",
    "/run/user",
    "/run/screen",
    "/run/incus",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
    "/tmp/.X11-unix",
];
/// In the workspace: what steers this program, where it is there. What a command makes of it counts only once the person
/// trusts it, and an empty folder in its place would be in the way of everything that wants an empty or a clean workspace.
const STEERS_US: [&str; 2] = [".selfsmith", crate::tool::guard::IGNORE_FILE];

/// Repositories below the folders that commands may write, as they were when first asked for: what a command makes later
/// is its own, and it has to work with it.
#[derive(Debug, Default)]
pub(super) struct Nested(Mutex<BTreeMap<PathBuf, Arc<[PathBuf]>>>);

impl Nested {
    fn of(&self, root: &Path) -> Arc<[PathBuf]> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(root.to_owned()).or_insert_with(|| repositories::below(root).into());
        Arc::clone(found)
    }
}

/// The walls for one command. `more` are folders that the person opened beside the root.
pub(super) fn around(
    root: &Path,
    more: &[PathBuf],
    settings: &Settings,
    environment: &[(OsString, OsString)],
    loopback: Option<i32>,
    nested: &Nested,
) -> Walls {
    if !settings.sandbox {
        return Walls::None;
    }
    let own = own_folders(environment);
    let roots = || more.iter().map(PathBuf::as_path).chain([root]);
    let home = path_in(environment, "HOME");
    let mut walls = Workspace {
        hidden: hidden(environment, &own),
        // Where the home folder is the workspace, agents of all kinds have theirs there.
        sockets: roots()
            .filter(|root| !home.as_ref().is_some_and(|home| home.starts_with(root)))
            .map(Path::to_owned)
            .collect(),
        network: settings.network,
        loopback,
        ..Workspace::default()
    };
    walls.writable.extend(settings.writable.iter().cloned());
    walls.writable.extend(["TMPDIR", "CARGO_TARGET_DIR"].into_iter().filter_map(|name| path_in(environment, name)));
    walls.writable.extend(roots().map(Path::to_owned));
    walls.protected.extend(own);
    for root in roots() {
        let steering = STEERS_US.iter().map(|name| root.join(name));
        walls.protected.extend(steering.filter(|path| path.exists()));
        guard_git(root, &mut walls);
        for git in nested.of(root).iter() {
            repositories::protect(git, &mut walls);
        }
    }
    let mut seen = HashSet::new();
    walls.protected.retain(|path| seen.insert(path.clone()));
    walls.files.retain(|file| seen.insert(file.path.clone()));
    Walls::Workspace(walls)
}

/// The workspace's own repository: a linked worktree's folders lie elsewhere, and are written by git's commands.
fn guard_git(root: &Path, walls: &mut Workspace) {
    repositories::protect(&root.join(".git"), walls);
    // One that cannot be opened is protected all the same.
    let Ok(repo) = Repo::open(root) else { return };
    let (common, git) = (repo.common_dir(), repo.git_dir());
    for folder in [common, git].into_iter().filter(|folder| folder.is_dir()) {
        if !folder.starts_with(root) && !walls.writable.iter().any(|known| known == folder) {
            walls.writable.push(folder.to_owned());
        }
    }
    repositories::protect_folder(common, walls);
    if git != common {
        repositories::protect_linked(git, walls);
    }
}

fn hidden(environment: &[(OsString, OsString)], own: &[PathBuf]) -> Vec<PathBuf> {
    let home = path_in(environment, "HOME");
    let secrets = home.iter().flat_map(|home| SECRETS.iter().map(|name| home.join(name)));
    let agents = ["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "VSCODE_IPC_HOOK_CLI", "XAUTHORITY", "NVIM"];
    let agents = agents.into_iter().filter_map(|name| path_in(environment, name)).chain(tmux(environment));
    let sockets = SOCKETS.iter().map(PathBuf::from);
    // The first is the one of settings and keys.
    let settings = own.first().cloned();
    secrets.chain(settings).chain(agents).chain(sockets).filter(|path| path.exists()).collect()
}

/// Whoever reaches the socket can type into the person's terminals.
fn tmux(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let socket = path_in(environment, "TMUX")?;
    // The variable is `socket,process,session`.
    let socket = PathBuf::from(socket.to_str()?.split(',').next()?);
    // All servers of this person lie in one folder.
    socket.parent().filter(|folder| folder.parent().is_some_and(|above| above.parent().is_some())).map(Path::to_owned)
}

fn path_in(environment: &[(OsString, OsString)], name: &str) -> Option<PathBuf> {
    let (_, value) = environment.iter().find(|(other, _)| other == name)?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests;
