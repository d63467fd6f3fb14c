//! Whole folders: copied with their times, compared by content.
//!
//! Promises to follow no link, to keep modification times (cargo compares them) and hard links among the copied files, and
//! to be done with a folder whatever a hostile program made of it. It does not know what a folder means.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Copy a folder to a place where nothing is. Devices, pipes and sockets are left out.
///
/// # Errors
/// The first thing that cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_into(from, to, &|_, _| true, &mut HashMap::new())
}

/// The same without what is not wanted, folders with all that they hold.
///
/// # Errors
/// The first thing that cannot be read or written.
pub fn copy_some(from: &Path, to: &Path, wanted: &dyn Fn(&Path, &fs::Metadata) -> bool) -> io::Result<()> {
    copy_into(from, to, wanted, &mut HashMap::new())
}

fn copy_into(
    from: &Path,
    to: &Path,
    wanted: &dyn Fn(&Path, &fs::Metadata) -> bool,
    linked: &mut HashMap<(u64, u64), PathBuf>,
) -> io::Result<()> {
    let facts = from.symlink_metadata()?;
    if !wanted(from, &facts) {
        return Ok(());
    }
    let kind = facts.file_type();
    if kind.is_dir() {
        DirBuilder::new().mode(facts.mode() & 0o777 | 0o700).create(to)?;
        for entry in from.read_dir()? {
            let name = entry?.file_name();
            copy_into(&from.join(&name), &to.join(&name), wanted, linked)?;
        }
    } else if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_file() {
        if facts.nlink() > 1 {
            let key = (facts.dev(), facts.ino());
            if let Some(first) = linked.get(&key) {
                return fs::hard_link(first, to);
            }
            linked.insert(key, to.to_owned());
        }
        fs::copy(from, to)?;
        let times = FileTimes::new().set_modified(facts.modified()?);
        OpenOptions::new()
            .write(true)
            .custom_flags(libc_nofollow())
            .open(to)
            .or_else(|_| File::open(to))?
            .set_times(times)?;
    }
    Ok(())
}

/// `O_NOFOLLOW` of Linux and of the BSDs.
const fn libc_nofollow() -> i32 {
    if cfg!(target_os = "linux") { 0o400_000 } else { 0x0100 }
}

/// How a path differs between two folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Only in the second.
    Added,
    /// Only in the first.
    Removed,
    /// In both, with another kind, mode or content.
    Changed,
}

/// What differs, by path from the top. Below a folder that was added only the folder is named. Names in `skip` are passed
/// over at the top.
///
/// # Errors
/// Either folder cannot be read.
pub fn differences(old: &Path, new: &Path, skip: &[&str]) -> io::Result<BTreeMap<PathBuf, Difference>> {
    let mut found = BTreeMap::new();
    compare(old, new, Path::new(""), skip, &mut found)?;
    Ok(found)
}

fn compare(
    old: &Path,
    new: &Path,
    at: &Path,
    skip: &[&str],
    found: &mut BTreeMap<PathBuf, Difference>,
) -> io::Result<()> {
    let names = |dir: &Path| -> io::Result<Vec<_>> { dir.read_dir()?.map(|e| e.map(|e| e.file_name())).collect() };
    let was = names(&old.join(at))?;
    // A hostile program may have taken its folder's permissions away.
    let is = names(&new.join(at)).or_else(|_| {
        fs::set_permissions(new.join(at), Permissions::from_mode(0o700))?;
        names(&new.join(at))
    })?;
    for name in &is {
        let passed_over = at.as_os_str().is_empty() && skip.iter().any(|s| *s == name.as_os_str());
        if !passed_over && !was.contains(name) {
            found.insert(at.join(name), Difference::Added);
        }
    }
    for name in was {
        let path = at.join(&name);
        if !is.contains(&name) {
            found.insert(path, Difference::Removed);
            continue;
        }
        let (a, b) = (old.join(&path).symlink_metadata()?, new.join(&path).symlink_metadata()?);
        if a.is_dir() && b.is_dir() {
            compare(old, new, &path, skip, found)?;
        } else if !same(&old.join(&path), &a, &new.join(&path), &b) {
            found.insert(path, Difference::Changed);
        }
    }
    Ok(())
}

/// Whether two things that are no folders are the same; what cannot be read is not.
fn same(old: &Path, a: &fs::Metadata, new: &Path, b: &fs::Metadata) -> bool {
    if a.file_type() != b.file_type() {
        return false;
    }
    if a.is_symlink() {
        return fs::read_link(old).ok() == fs::read_link(new).ok();
    }
    a.is_file()
        && b.is_file()
        && a.len() == b.len()
        && a.mode() & 0o111 == b.mode() & 0o111
        && same_bytes(old, new).unwrap_or(false)
}

fn same_bytes(old: &Path, new: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (File::open(old)?, File::open(new)?);
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let n = a.read(&mut left)?;
        if n == 0 {
            return Ok(b.read(&mut right)? == 0);
        }
        let Some(other) = right.get_mut(..n) else { return Ok(false) };
        if b.read_exact(other).is_err() || left.get(..n) != Some(&*other) {
            return Ok(false);
        }
    }
}

/// Where a file below `root` really lies. The folder may have been written by a hostile program: links that lead out of it,
/// pipes and devices are refused.
///
/// # Errors
/// It is not there, or no file in there.
pub fn real_file(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if real.starts_with(root.canonicalize()?) && real.symlink_metadata()?.is_file() {
        return Ok(real);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file inside its folder"))
}

/// Remove a folder and all in it, whatever permissions stand in the way. That it is not there is no error.
///
/// # Errors
/// Something cannot be removed.
pub fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            open_up(dir)?;
            fs::remove_dir_all(dir)
        }
    }
}

fn open_up(dir: &Path) -> io::Result<()> {
    if dir.symlink_metadata()?.is_dir() {
        fs::set_permissions(dir, Permissions::from_mode(0o700))?;
        for entry in dir.read_dir()? {
            open_up(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::time::{Duration, SystemTime};

    fn sample() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/c"), "text").unwrap();
        fs::hard_link(from.join("a/b/c"), from.join("a/again")).unwrap();
        symlink("/nowhere", from.join("link")).unwrap();
        let old = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
        OpenOptions::new().write(true).open(from.join("a/b/c")).unwrap().set_times(old).unwrap();
        dir
    }

    #[test]
    fn a_copy_keeps_times_links_and_hard_links() {
        let dir = sample();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        copy(&from, &to).unwrap();
        assert_eq!(differences(&from, &to, &[]).unwrap(), BTreeMap::new());
        let facts = to.join("a/b/c").symlink_metadata().unwrap();
        assert_eq!(facts.modified().unwrap(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
        assert_eq!(facts.ino(), to.join("a/again").symlink_metadata().unwrap().ino());
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("/nowhere"));
    }

    #[test]
    fn every_way_to_differ_is_named() {
        let dir = sample();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        copy(&from, &to).unwrap();
        fs::write(to.join("a/again"), "texT").unwrap();
        fs::remove_file(to.join("link")).unwrap();
        fs::create_dir(to.join("new")).unwrap();
        fs::write(to.join(".git"), "").unwrap();
        let found = differences(&from, &to, &[".git"]).unwrap();
        let expected = [
            ("a/again", Difference::Changed),
            ("a/b/c", Difference::Changed),
            ("link", Difference::Removed),
            ("new", Difference::Added),
        ];
        assert_eq!(found, expected.map(|(path, what)| (PathBuf::from(path), what)).into());
    }

    #[test]
    fn a_link_out_of_a_folder_is_no_file_of_it() {
        let dir = sample();
        let from = dir.path().join("from");
        symlink("/etc/passwd", from.join("out")).unwrap();
        symlink("/etc", from.join("etc")).unwrap();
        assert!(real_file(&from, &from.join("a/b/c")).is_ok());
        for path in ["out", "etc/passwd", "a", "nothing"] {
            assert!(real_file(&from, &from.join(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn a_folder_without_permissions_can_be_removed() {
        let dir = sample();
        fs::set_permissions(dir.path().join("from/a/b"), Permissions::from_mode(0o000)).unwrap();
        remove(&dir.path().join("from")).unwrap();
        remove(&dir.path().join("from")).unwrap();
        assert!(!dir.path().join("from").exists());
    }
}
