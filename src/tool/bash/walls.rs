//! What a command of the model may touch: the workspace and temporary folders, no network, no keys; in the repository
//! everything but what would run or steer something later.

use super::Settings;
use selfsmith_repo::Repo;
use selfsmith_sandbox::{Walls, Workspace};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Below the home folder: keys, tokens, sessions of browsers and clouds.
const SECRETS: [&str; 22] = [
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
    ".local/share/keyrings",
];
/// Sockets that hand out more than the command may have.
const SOCKETS: [&str; 4] =
    ["/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"];
/// In a repository's common folder: what git runs, or takes orders from.
const STEERS_GIT: [&str; 3] = ["hooks", "config", "config.worktree"];
/// In the workspace: what steers this program.
const STEERS_US: [&str; 2] = [".selfsmith", ".selfsmithignore"];

/// The walls for one command.
pub(super) fn around(
    root: &Path,
    settings: &Settings,
    environment: &[(OsString, OsString)],
    loopback: Option<i32>,
) -> Walls {
    if !settings.sandbox {
        return Walls::None;
    }
    let mut walls = Workspace {
        writable: vec![root.to_owned()],
        protected: STEERS_US.iter().map(|name| root.join(name)).filter(|path| path.exists()).collect(),
        hidden: hidden(environment),
        network: settings.network,
        loopback,
    };
    walls.writable.extend(settings.writable.iter().cloned());
    walls.writable.extend(path_in(environment, "TMPDIR"));
    for folder in git_folders(root) {
        // `config.worktree` is rarely there; a folder in its place would confuse git.
        let steering =
            STEERS_GIT.iter().map(|name| folder.join(name)).filter(|path| path.exists() || path.ends_with("hooks"));
        walls.protected.extend(steering);
        if !folder.starts_with(root) {
            walls.writable.push(folder);
        }
    }
    Walls::Workspace(walls)
}

/// The repository's own folders, where the workspace has one: a linked worktree's lie elsewhere.
fn git_folders(root: &Path) -> Vec<PathBuf> {
    let usual = root.join(".git");
    let mut folders = match Repo::open(root) {
        Ok(repo) => vec![repo.common_dir().to_owned(), repo.git_dir().to_owned()],
        // One that cannot be opened is protected all the same.
        Err(_) => vec![usual],
    };
    folders.retain(|folder| folder.is_dir());
    folders.dedup();
    folders
}

fn hidden(environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let home = path_in(environment, "HOME");
    let secrets = home.iter().flat_map(|home| SECRETS.iter().map(|name| home.join(name)));
    let agents = ["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"].into_iter().filter_map(|name| path_in(environment, name));
    let sockets = SOCKETS.iter().map(PathBuf::from);
    secrets.chain(agents).chain(sockets).filter(|path| path.exists()).collect()
}

fn path_in(environment: &[(OsString, OsString)], name: &str) -> Option<PathBuf> {
    let (_, value) = environment.iter().find(|(other, _)| other == name)?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}
