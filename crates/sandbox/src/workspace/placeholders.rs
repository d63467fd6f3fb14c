//! Protected paths that did not exist, made for the time of a run so that nobody else can make them.
//!
//! Several runs at a time share them: each holds a lock, and whoever is last takes them away. A mount over something that
//! is removed elsewhere is gone (`detach_mounts` in the kernel), so none may go while another run counts on it.

use crate::job::{ProtectedFile, Workspace};
use nix::fcntl::{Flock, FlockArg, OFlag};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// By these modes, and by what they hold, one that a killed run left is known again.
const FOLDER_MODE: u32 = 0o555;
const FILE_MODE: u32 = 0o444;
/// How often another run may take it away between our two looks.
const ATTEMPTS: usize = 3;

/// Held as long as the run lives.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    held: Vec<Held>,
    /// Folders above them that did not exist either, the outer first.
    above: Vec<PathBuf>,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    lock: Flock<File>,
}

/// What stands in.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Folder,
    File(&'a str),
}

impl Placeholders {
    /// Makes them. One that cannot be made is reported when the walls are put up.
    pub(crate) fn make(workspace: &Workspace) -> Self {
        let folders = workspace.protected.iter().map(|path| (path.as_path(), Kind::Folder));
        let files = workspace.files.iter().map(|ProtectedFile { path, text }| (path.as_path(), Kind::File(text)));
        let mut made = Self::default();
        for (path, kind) in folders.chain(files) {
            if let Some(root) = workspace.writable.iter().find(|root| path.starts_with(root)) {
                made.add(path, kind, root);
            }
        }
        made
    }

    fn add(&mut self, path: &Path, kind: Kind<'_>, root: &Path) {
        for _ in 0..ATTEMPTS {
            match path.symlink_metadata() {
                // Somebody's own, a link included: the walls protect it as it is.
                Ok(facts) if !kind.may_be(&facts) => return,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.make_above(path, root);
                    match kind.make(path) {
                        Err(error) if error.kind() != ErrorKind::AlreadyExists => return,
                        _ => {}
                    }
                }
                Err(_) => return,
            }
            match kind.lock(path) {
                Ok(Some(lock)) => return self.held.push(Held { path: path.to_owned(), lock }),
                Ok(None) => return,
                Err(_) => {}
            }
        }
    }

    fn make_above(&mut self, path: &Path, root: &Path) {
        let missing: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(root) && folder.symlink_metadata().is_err())
            .collect();
        let made = missing.into_iter().rev().take_while(|folder| fs::create_dir(folder).is_ok());
        self.above.extend(made.map(Path::to_owned));
    }

    /// Takes away those that no other run needs.
    pub(crate) fn remove(&mut self) {
        for Held { path, lock } in self.held.drain(..) {
            if lock.relock(FlockArg::LockExclusiveNonblock).is_err() {
                continue;
            }
            // It was unwritable all the time; a folder goes only while it is empty.
            let _ = if lock.metadata().is_ok_and(|facts| facts.is_dir()) {
                fs::remove_dir(&path)
            } else {
                fs::remove_file(&path)
            };
        }
        while let Some(folder) = self.above.pop() {
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Kind<'_> {
    /// Whether what stands there may be a placeholder of another run.
    fn may_be(self, facts: &fs::Metadata) -> bool {
        let mode = facts.mode() & 0o7777;
        match self {
            Self::Folder => facts.is_dir() && mode == FOLDER_MODE,
            Self::File(text) => facts.is_file() && mode == FILE_MODE && facts.len() == text.len() as u64,
        }
    }

    fn make(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Folder => {
                DirBuilder::new().mode(FOLDER_MODE).create(path)?;
                // Whatever the mask of the caller is.
                fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
            }
            Self::File(text) => {
                // Whole from the first moment: whoever reads it meanwhile takes it at its word.
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{}", std::process::id()));
                let made = write_new(Path::new(&name), text).and_then(|()| fs::hard_link(&name, path));
                let _ = fs::remove_file(&name);
                made
            }
        }
    }

    /// A share in it; None: it is somebody's own. An error: it went meanwhile.
    fn lock(self, path: &Path) -> io::Result<Option<Flock<File>>> {
        let flags = (OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).bits();
        let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !self.is_ours(&mut file, path)? {
            return Ok(None);
        }
        let lock = Flock::lock(file, FlockArg::LockSharedNonblock).map_err(|(_, error)| io::Error::from(error))?;
        let (held, there) = (lock.metadata()?, path.symlink_metadata()?);
        if (held.dev(), held.ino()) == (there.dev(), there.ino()) {
            Ok(Some(lock))
        } else {
            Err(ErrorKind::NotFound.into())
        }
    }

    fn is_ours(self, file: &mut File, path: &Path) -> io::Result<bool> {
        if !self.may_be(&file.metadata()?) {
            return Ok(false);
        }
        match self {
            Self::Folder => Ok(path.read_dir()?.next().is_none()),
            Self::File(text) => {
                let mut there = vec![0; text.len()];
                file.read_exact(&mut there)?;
                Ok(there == text.as_bytes())
            }
        }
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(Permissions::from_mode(FILE_MODE))
}
