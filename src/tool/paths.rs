//! From what a model wrote to a file of the workspace.
//!
//! Promises: the place that is answered lies inside the root, or a folder that the person opened beside it, after every link
//! is resolved, is not guarded, and is of the kind that was asked for. Small slips (blanks and quotes round a path, entities, backslashes) are forgiven only where
//! the forgiven name exists. Does not open files.

mod error;
mod more;
mod spelling;

pub use error::PathError;
pub use more::More;

use super::guard::{Guards, Touch};
use spelling::{candidates, is_home, prepend, shortened, twin};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Links that are followed before giving up, as the kernel does.
const MAX_LINKS: usize = 40;
/// Entries that are looked at for a file of the same name elsewhere.
const MAX_SEARCHED: usize = 20_000;

/// Whether the disk tells capitals from small letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// It does.
    Told,
    /// It does not.
    Untold,
}

/// What the place is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A file or a folder that is there, to look at.
    Look,
    /// A file that is there, to change.
    Edit,
    /// A file that is there or is to be made.
    Write,
    /// A file to be made.
    Create,
}

/// A place in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute, links resolved.
    pub absolute: PathBuf,
    /// From the root, with `/`.
    pub relative: String,
}

/// The folder that tools work in.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    letters: Letters,
    more: More,
    own: Vec<PathBuf>,
}

impl Workspace {
    /// Of this root; links in it are resolved here once more.
    pub fn new(root: &Path) -> Self {
        let letters = if cfg!(any(target_os = "macos", windows)) { Letters::Untold } else { Letters::Told };
        Self {
            root: fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()),
            letters,
            more: More::default(),
            own: Vec::new(),
        }
    }

    /// The same with these folders beside the root.
    #[must_use]
    pub fn with_more(mut self, more: &More) -> Self {
        self.more = more.clone();
        self
    }

    /// The same, with folders of this program's own that may lie in it.
    #[must_use]
    pub fn with_own(mut self, own: Vec<PathBuf>) -> Self {
        self.own = own;
        self
    }

    /// The same, for a disk of this kind.
    #[must_use]
    pub fn with_letters(mut self, letters: Letters) -> Self {
        self.letters = letters;
        self
    }

    /// Its root, links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The place that a model means.
    pub fn resolve(&self, written: &str, purpose: Purpose) -> Result<Place, PathError> {
        let bad = |why: &str| PathError::Bad { path: shortened(written), why: why.to_owned() };
        if written.contains('\0') {
            return Err(bad("it holds a zero byte"));
        }
        let plain = written.trim();
        if plain.is_empty() {
            return Err(bad("it is empty"));
        }
        if is_home(plain) && !self.root.join(plain).exists() {
            return Err(PathError::Outside { path: shortened(plain) });
        }
        for candidate in candidates(written) {
            let place = self.place(&candidate, purpose)?;
            if fs::symlink_metadata(&place.absolute).is_ok() {
                return self.checked(place, purpose);
            }
        }
        if plain.contains(['\n', '\r']) {
            return Err(bad("it has a line break in it"));
        }
        let place = self.place(plain, purpose)?;
        match purpose {
            Purpose::Create | Purpose::Write => self.checked(place, purpose),
            Purpose::Look | Purpose::Edit => Err(self.missing(plain, &place)),
        }
    }

    /// The relative form of a place below the root; the absolute one of a place elsewhere.
    pub fn relative(&self, absolute: &Path) -> String {
        let Ok(relative) = absolute.strip_prefix(&self.root) else { return absolute.display().to_string() };
        relative.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    }

    /// What is guarded at present, in the root and in the folders beside it.
    pub fn guard(&self) -> Guards {
        Guards::new(std::iter::once(self.root.clone()).chain(self.more.all()), &self.own)
    }

    /// Whether tools may read a place below the root at all.
    pub fn is_readable(&self, absolute: &Path, guard: &Guards) -> bool {
        guard.of(absolute).is_some_and(|(guard, relative)| guard.why(relative, Touch::Reads).is_none())
    }

    /// The root, or the opened folder, that a place lies in.
    fn base(&self, absolute: &Path) -> Option<PathBuf> {
        if absolute.starts_with(&self.root) {
            return Some(self.root.clone());
        }
        self.more.all().into_iter().find(|folder| absolute.starts_with(folder))
    }

    fn place(&self, written: &str, purpose: Purpose) -> Result<Place, PathError> {
        let absolute = self.follow(written)?;
        let base = self.base(&absolute).ok_or_else(|| PathError::Outside { path: shortened(written) })?;
        let absolute = match self.letters {
            Letters::Told => absolute,
            Letters::Untold => self.as_spelled(&base, &absolute, purpose)?,
        };
        Ok(Place { relative: self.relative(&absolute), absolute })
    }

    /// Every link resolved, by hand, so that what is not there yet keeps its name.
    fn follow(&self, written: &str) -> Result<PathBuf, PathError> {
        let bad = |why: String| PathError::Bad { path: shortened(written), why };
        let mut rest: VecDeque<OsString> = VecDeque::new();
        let mut current = self.root.clone();
        let mut links = 0;
        prepend(&mut rest, Path::new(written), &mut current);
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                current.pop();
                continue;
            }
            let next = current.join(&name);
            match fs::symlink_metadata(&next) {
                Ok(metadata) if metadata.is_symlink() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(bad("its links go in a circle".to_owned()));
                    }
                    let target = fs::read_link(&next).map_err(|error| bad(error.to_string()))?;
                    prepend(&mut rest, &target, &mut current);
                }
                Ok(metadata) if !metadata.is_dir() && !rest.is_empty() => {
                    return Err(PathError::NotAFile { path: shortened(written) });
                }
                Ok(_) => current = next,
                Err(error) if error.kind() == io::ErrorKind::NotFound => current = next,
                Err(error) => return Err(bad(error.to_string())),
            }
        }
        Ok(current)
    }

    /// On a disk that does not tell capitals: the names as they stand there.
    fn as_spelled(&self, base: &Path, absolute: &Path, purpose: Purpose) -> Result<PathBuf, PathError> {
        let relative = absolute.strip_prefix(base).unwrap_or(absolute);
        let mut current = base.to_owned();
        for part in relative.components() {
            let exact = current.join(part);
            let twin = if fs::symlink_metadata(&exact).is_ok() { None } else { twin(&current, &part) };
            match twin {
                None => current = exact,
                Some(other) if matches!(purpose, Purpose::Look | Purpose::Edit) => current = other,
                Some(other) => {
                    let path = self.relative(absolute);
                    return Err(PathError::Collision { path, other: self.relative(&other) });
                }
            }
        }
        Ok(current)
    }

    fn checked(&self, place: Place, purpose: Purpose) -> Result<Place, PathError> {
        let path = if place.relative.is_empty() { ".".to_owned() } else { place.relative.clone() };
        let touch = if purpose == Purpose::Look { Touch::Reads } else { Touch::Writes };
        if let Some(why) = self.guard().of(&place.absolute).and_then(|(guard, relative)| guard.why(relative, touch)) {
            return Err(PathError::Guarded { path, why });
        }
        match fs::symlink_metadata(&place.absolute) {
            Ok(metadata) if metadata.is_dir() && purpose == Purpose::Look => Ok(place),
            Ok(metadata) if metadata.is_dir() => Err(PathError::Folder { path }),
            Ok(metadata) if !metadata.is_file() => Err(PathError::NotAFile { path }),
            _ => Ok(place),
        }
    }

    fn missing(&self, written: &str, place: &Place) -> PathError {
        let alike = self.same_name(place);
        let alike = if alike.is_empty() { String::new() } else { format!("; did you mean {}?", alike.join(" or ")) };
        PathError::Missing { path: shortened(written), alike }
    }

    /// Files elsewhere that bear the name, or its decoded form; none where there are many.
    fn same_name(&self, place: &Place) -> Vec<String> {
        let Some(name) = place.absolute.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
            return Vec::new();
        };
        let walk = ignore::WalkBuilder::new(&self.root).require_git(false).sort_by_file_name(Ord::cmp).build();
        let mut found: Vec<String> = walk
            .filter_map(Result::ok)
            .take(MAX_SEARCHED)
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            .filter(|entry| entry.file_name().to_string_lossy().to_lowercase() == name)
            .map(|entry| self.relative(entry.path()))
            .take(4)
            .collect();
        if found.len() > 3 {
            found.clear();
        }
        found
    }
}

#[cfg(test)]
mod tests;
