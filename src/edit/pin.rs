//! A folder that is held while something is done in it: what a name comes to mean meanwhile leads nowhere else.
//!
//! Callers pass paths whose links are resolved. Between that and the write another program may put a link in a folder's
//! place; with openat2(2) no link is followed on the way, and what is held stays the folder that was meant. Systems without
//! that call use the path as it is.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A held folder and a name in it.
#[derive(Debug)]
pub struct Pin {
    #[cfg(target_os = "linux")]
    _folder: std::os::fd::OwnedFd,
    base: PathBuf,
    name: OsString,
}

impl Pin {
    /// Hold the folder of a path.
    ///
    /// # Errors
    /// It is not there, or a link stands in its path by now.
    pub fn of(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default().to_owned();
        held(folder, name)
    }

    /// The way to the file through the held folder.
    pub fn path(&self) -> PathBuf {
        self.base.join(&self.name)
    }

    /// The way to the held folder.
    pub fn folder(&self) -> &Path {
        &self.base
    }
}

#[cfg(target_os = "linux")]
fn held(folder: &Path, name: OsString) -> io::Result<Pin> {
    use nix::fcntl::OFlag;
    use std::os::fd::AsRawFd;
    let held = without_links(folder, OFlag::O_PATH | OFlag::O_DIRECTORY)?;
    let through = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
    // Where /proc is not mounted there is no way through.
    let base = if through.exists() { through } else { folder.to_owned() };
    Ok(Pin { _folder: held, base, name })
}

#[cfg(not(target_os = "linux"))]
fn held(folder: &Path, name: OsString) -> io::Result<Pin> {
    Ok(Pin { base: folder.to_owned(), name })
}

/// Open a file to read it, no link followed.
///
/// # Errors
/// It cannot be opened, or a link stands in its path by now.
#[cfg(target_os = "linux")]
pub fn open(path: &Path) -> io::Result<File> {
    use nix::fcntl::OFlag;
    without_links(path, OFlag::O_RDONLY | OFlag::O_NONBLOCK).map(File::from)
}

/// Open a file to read it.
///
/// # Errors
/// It cannot be opened.
#[cfg(not(target_os = "linux"))]
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(target_os = "linux")]
fn without_links(path: &Path, flags: nix::fcntl::OFlag) -> io::Result<std::os::fd::OwnedFd> {
    use nix::errno::Errno;
    use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat2};
    use nix::sys::stat::Mode;
    let flags = flags | OFlag::O_CLOEXEC;
    let how = OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    match openat2(AT_FDCWD, path, how) {
        // A kernel before 5.6, or a filter that does not know the call.
        Err(Errno::ENOSYS | Errno::EPERM) => Ok(open(path, flags, Mode::empty())?),
        Err(Errno::ELOOP) => Err(io::Error::other("a link stands in its path by now")),
        other => Ok(other?),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_link_that_came_later_leads_nowhere_and_a_held_folder_stays_itself() {
        let world = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(world.path()).expect("it is there");
        let (inside, outside) = (root.join("in"), root.join("out"));
        fs::create_dir(&inside).expect("a folder");
        fs::create_dir(&outside).expect("a folder");
        fs::write(outside.join("a"), "theirs").expect("a file");
        let held = Pin::of(&inside.join("a")).expect("it is there");
        fs::rename(&inside, root.join("was")).expect("moved");
        std::os::unix::fs::symlink(&outside, &inside).expect("a link");
        fs::write(held.path(), "ours").expect("a file");
        assert_eq!(fs::read_to_string(root.join("was/a")).expect("a file"), "ours");
        assert_eq!(fs::read_to_string(outside.join("a")).expect("a file"), "theirs");
        assert!(Pin::of(&inside.join("a")).is_err() && open(&inside.join("a")).is_err());
        assert!(crate::edit::write::create(&inside.join("b"), b"x").is_err());
        assert!(crate::edit::write::replace(&inside.join("a"), b"theirs", b"x").is_err());
        assert!(crate::edit::write::remove(&inside.join("a"), b"theirs").is_err());
        assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
    }
}
