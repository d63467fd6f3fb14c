//! UNIX sockets by path, by which services of the machine would do what a command may not: terminals, containers, agents.
//!
//! Landlock knows them from version 9 on alone, and a network namespace does not part them. So those that exist when a
//! command starts are covered. The kernel lists the sockets of one network namespace: what a command itself makes, in its
//! own, is not among the caller's, and stays reachable.

use crate::job::Workspace;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The most that are covered, so that a start stays cheap. Beyond it what is left open is reported.
pub(crate) const MOST: usize = 512;
/// The most working folders of processes in which a socket with a relative name is looked for.
const MOST_FOLDERS: usize = 4096;
/// Answer who a user is, and do nothing else.
const LOOKUPS: [&str; 2] = ["/run/systemd/userdb", "/var/lib/sss/pipes/nss"];

/// Those that may be reached at present, and whether there are more.
pub(crate) struct Found {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) more: bool,
}

/// Looks; before the caller's network is left.
pub(crate) fn outside(workspace: &Workspace) -> Found {
    let table = std::fs::read("/proc/self/net/unix").unwrap_or_default();
    let mut folders = None;
    let mut found = BTreeSet::new();
    for name in names(&table) {
        if name.is_absolute() {
            found.extend(socket(name));
        } else {
            let folders = folders.get_or_insert_with(working_folders);
            found.extend(folders.iter().filter_map(|folder| socket(&folder.join(name))));
        }
    }
    found.retain(|path| !is_left(path, workspace));
    let more = found.len() > MOST;
    Found { paths: found.into_iter().take(MOST).collect(), more }
}

/// The names of the table that are paths (unix(7)); abstract ones, which Landlock knows, begin with `@`.
fn names(table: &[u8]) -> impl Iterator<Item = &Path> {
    const COLUMNS_BEFORE: usize = 7;
    table.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let mut rest = line;
        for _ in 0..COLUMNS_BEFORE {
            rest = rest.trim_ascii_start();
            let end = rest.iter().position(|byte| *byte == b' ')?;
            rest = rest.get(end + 1..)?;
        }
        let is_path = rest.first().is_some_and(|byte| *byte != b'@');
        is_path.then(|| Path::new(OsStr::from_bytes(rest)))
    })
}

/// Where it really lies, if it is a socket that we may write to, which connecting takes.
fn socket(name: &Path) -> Option<PathBuf> {
    let path = name.canonicalize().ok()?;
    let reachable = nix::unistd::access(&path, nix::unistd::AccessFlags::W_OK).is_ok();
    (reachable && path.metadata().ok()?.file_type().is_socket()).then_some(path)
}

/// A socket's relative name is one in the folder that its maker was in; whoever left it since is not found.
fn working_folders() -> BTreeSet<PathBuf> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return BTreeSet::new() };
    let processes = processes
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    processes.take(MOST_FOLDERS).filter_map(|entry| entry.path().join("cwd").read_link().ok()).collect()
}

fn is_left(path: &Path, workspace: &Workspace) -> bool {
    let left = LOOKUPS.iter().map(Path::new).chain(workspace.sockets.iter().map(PathBuf::as_path));
    let hidden = workspace.hidden.iter().map(PathBuf::as_path);
    left.chain(hidden).any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_table_are_read_and_abstract_names_are_not() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
                     00000000a: 00000002 00000000 00010000 0001 01 18149 /tmp/a b/s\n\
                     00000000b: 00000003 00000000 00000000 0001 03 18150\n\
                     00000000c: 00000002 00000000 00010000 0001 01    12 @abstract\n\
                     00000000d: 00000002 00000000 00010000 0001 01 18152 near/s\n";
        assert_eq!(names(table).collect::<Vec<_>>(), [Path::new("/tmp/a b/s"), Path::new("near/s")]);
    }
}
