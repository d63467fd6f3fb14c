//! Packages that the room's user may not read: archives keep the modes that their authors had, and some forbid others to
//! read. Those are copied, with open modes, and the copy is bound over the original. Nothing of the caller's is changed.

use crate::workshop::folder;
use selfsmith_sandbox::{Bind, BindMode};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Bind readable copies over what is not readable of the packages that a lock file names. Where the room's user is the
/// caller's own, nothing is needed.
///
/// # Errors
/// The first thing that cannot be read or copied.
pub fn make(binds: &mut Vec<Bind>, lock: &str, copies: &Path) -> Result<(), (PathBuf, io::Error)> {
    let is_another = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !is_another {
        return Ok(());
    }
    let names = package_folders(lock);
    let mut more = Vec::new();
    for bind in binds.iter().filter(|bind| bind.mode == BindMode::ReadOnly) {
        for inner in packages_below(&bind.source, &names) {
            let (from, at) = (bind.source.join(&inner), bind.at.join(&inner));
            if readable(&from) {
                continue;
            }
            let to = copies.join(at.strip_prefix("/").unwrap_or(&at));
            copy_open(&from, &to).map_err(|error| (from.clone(), error))?;
            more.push(Bind { source: to, at, mode: BindMode::ReadOnly });
        }
    }
    binds.extend(more);
    Ok(())
}

/// `fnv-1.0.7`, as packages are called where they are unpacked.
fn package_folders(lock: &str) -> Vec<String> {
    let Ok(lock) = lock.parse::<toml_edit::DocumentMut>() else { return Vec::new() };
    let packages = lock.get("package").and_then(|item| item.as_array_of_tables());
    let text = |table: &toml_edit::Table, key: &str| table.get(key).and_then(|item| item.as_str()).map(str::to_owned);
    let packages = packages.into_iter().flat_map(|tables| tables.iter());
    packages
        .filter(|table| table.contains_key("source"))
        .filter_map(|table| Some(format!("{}-{}", text(table, "name")?, text(table, "version")?)))
        .collect()
}

/// Paths below a registry, a folder of checkouts or a folder of packages that have to be readable: unpacked packages, their
/// archives, the index.
fn packages_below(source: &Path, names: &[String]) -> Vec<PathBuf> {
    let list = |dir: &Path| -> Vec<PathBuf> {
        source
            .join(dir)
            .read_dir()
            .map(|all| all.flatten().map(|entry| dir.join(entry.file_name())).collect())
            .unwrap_or_default()
    };
    let mut found = Vec::new();
    for index in list(Path::new("src")) {
        found.extend(names.iter().map(|name| index.join(name)).filter(|path| source.join(path).is_dir()));
    }
    for index in list(Path::new("cache")) {
        let archives = names.iter().map(|name| index.join(format!("{name}.crate")));
        found.extend(archives.filter(|path| source.join(path).is_file()));
    }
    found.extend(list(Path::new("index")));
    found.extend(list(Path::new("db")));
    found.extend(list(Path::new("checkouts")));
    // A folder of packages, each in one of its own.
    found.extend(list(Path::new("")).into_iter().filter(|path| source.join(path).join("Cargo.toml").is_file()));
    found
}

/// Whether others may read all of it.
fn readable(path: &Path) -> bool {
    let Ok(facts) = path.symlink_metadata() else { return true };
    if facts.is_symlink() {
        return true;
    }
    let wanted = if facts.is_dir() { 0o005 } else { 0o004 };
    facts.mode() & wanted == wanted
        && (!facts.is_dir()
            || path
                .read_dir()
                .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| readable(&entry.path())))))
}

/// Copy, unless an earlier copy is there, and let others read it.
fn copy_open(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        return Ok(());
    }
    let half = to.with_extension("half");
    folder::remove(&half)?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    folder::copy(from, &half)?;
    open_up(&half)?;
    fs::rename(&half, to)
}

fn open_up(path: &Path) -> io::Result<()> {
    let facts = path.symlink_metadata()?;
    if facts.is_symlink() {
        return Ok(());
    }
    let more = if facts.is_dir() || facts.mode() & 0o100 != 0 { 0o555 } else { 0o444 };
    fs::set_permissions(path, Permissions::from_mode(facts.mode() & 0o7777 | more))?;
    if facts.is_dir() {
        for entry in path.read_dir()? {
            open_up(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n\
        [[package]]\nname = \"fnv\"\nversion = \"1.0.7\"\nsource = \"registry+x\"\n";

    #[test]
    fn packages_of_the_lock_file_are_found_where_they_are_unpacked() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["src/i/fnv-1.0.7", "src/i/other-1.0.0", "cache/i", "index/i"] {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        fs::write(dir.path().join("cache/i/fnv-1.0.7.crate"), "").unwrap();
        let found = packages_below(dir.path(), &package_folders(LOCK));
        assert_eq!(found, ["src/i/fnv-1.0.7", "cache/i/fnv-1.0.7.crate", "index/i"].map(PathBuf::from));
    }

    #[test]
    fn a_copy_may_be_read_where_the_original_may_not() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir(&from).unwrap();
        fs::write(from.join("lib.rs"), "x").unwrap();
        fs::set_permissions(&from, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(from.join("lib.rs"), Permissions::from_mode(0o640)).unwrap();
        assert!(!readable(&from));
        let to = dir.path().join("to");
        copy_open(&from, &to).unwrap();
        assert!(readable(&to) && !readable(&from));
    }
}
