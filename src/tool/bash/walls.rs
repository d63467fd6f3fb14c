//! What a command of the model may touch: the workspace and temporary folders, no network, no keys; in the repository
//! everything but what would run or steer something later.

use super::Settings;
use selfsmith_repo::Repo;
use selfsmith_sandbox::{Walls, Workspace};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
/// In a repository's common folder: what git runs, or takes orders from.
const STEERS_GIT: [&str; 3] = ["hooks", "config", "config.worktree"];
/// In the workspace: what steers this program, and what it keeps, where somebody works in the home folder itself.
const STEERS_US: [&str; 4] = [".selfsmith", ".selfsmithignore", ".local/share/selfsmith", ".local/state/selfsmith"];

/// The walls for one command. `more` are folders that the person opened beside the root.
pub(super) fn around(
    root: &Path,
    more: &[PathBuf],
    settings: &Settings,
    environment: &[(OsString, OsString)],
    loopback: Option<i32>,
) -> Walls {
    if !settings.sandbox {
        return Walls::None;
    }
    let mut walls = Workspace {
        writable: Vec::new(),
        protected: Vec::new(),
        hidden: hidden(environment),
        network: settings.network,
        loopback,
    };
    walls.writable.extend(settings.writable.iter().cloned());
    walls.writable.extend(["TMPDIR", "CARGO_TARGET_DIR"].into_iter().filter_map(|name| path_in(environment, name)));
    for root in more.iter().map(PathBuf::as_path).chain([root]) {
        walls.writable.push(root.to_owned());
        walls.protected.extend(STEERS_US.iter().map(|name| root.join(name)).filter(|path| path.exists()));
        for folder in git_folders(root) {
            // `config.worktree` is rarely there; a folder in its place would confuse git.
            let steering =
                STEERS_GIT.iter().map(|name| folder.join(name)).filter(|path| path.exists() || path.ends_with("hooks"));
            walls.protected.extend(steering);
            if !folder.starts_with(root) {
                walls.writable.push(folder);
            }
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
    let agents = ["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "VSCODE_IPC_HOOK_CLI", "XAUTHORITY", "NVIM"];
    let agents = agents.into_iter().filter_map(|name| path_in(environment, name)).chain(tmux(environment));
    let sockets = SOCKETS.iter().map(PathBuf::from);
    secrets.chain(agents).chain(sockets).filter(|path| path.exists()).collect()
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
