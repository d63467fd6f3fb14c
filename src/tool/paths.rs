//! From what a model wrote to a file of the workspace.
//!
//! Promises: the place that is answered lies inside the root, or a folder that the person opened beside it, after every link
//! is resolved, is not guarded, and is of the kind that was asked for. Small slips (blanks and quotes round a path, entities, backslashes) are forgiven only where
//! the forgiven name exists. Does not open files.

mod error;

pub use error::PathError;

use super::guard::{Guards, Touch};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

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

/// Folders beside the root that the person opened to this session. Clones are the same folders.
#[derive(Debug, Clone, Default)]
pub struct More(Arc<RwLock<Vec<PathBuf>>>);

impl More {
    /// Open a folder; its path with links resolved.
    ///
    /// # Errors
    /// It is no folder, or cannot be entered.
    pub fn open(&self, folder: &Path) -> io::Result<PathBuf> {
        let folder = fs::canonicalize(folder)?;
        if !folder.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut folders = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !folders.contains(&folder) {
            folders.push(folder.clone());
        }
        Ok(folder)
    }

    /// The folders, links resolved.
    pub fn all(&self) -> Vec<PathBuf> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The folder that tools work in.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    letters: Letters,
    more: More,
}

impl Workspace {
    /// Of this root; links in it are resolved here once more.
    pub fn new(root: &Path) -> Self {
        let letters = if cfg!(any(target_os = "macos", windows)) { Letters::Untold } else { Letters::Told };
        Self { root: fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()), letters, more: More::default() }
    }

    /// The same with these folders beside the root.
    #[must_use]
    pub fn with_more(mut self, more: &More) -> Self {
        self.more = more.clone();
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
        Guards::new(std::iter::once(self.root.clone()).chain(self.more.all()))
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

/// The spellings under which a file is looked for, the written one first.
fn candidates(written: &str) -> Vec<String> {
    let plain = written.trim();
    let bare = plain.trim_matches(['"', '\'', '`', '“', '”', '‘', '’']);
    let mut all = vec![written.to_owned(), plain.to_owned(), bare.to_owned()];
    if bare.contains('&') {
        all.push(decoded(bare));
    }
    if bare.contains('\\') {
        all.push(bare.replace('\\', "/"));
    }
    all.retain(|one| !one.is_empty());
    all.dedup();
    all
}

/// The five entities of XML, the ampersand last.
fn decoded(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c))
}

fn is_home(path: &str) -> bool {
    path == "~" || path.starts_with("~/") || path.starts_with("~\\")
}

/// Put the parts of a path before the rest; an absolute one starts over.
fn prepend(rest: &mut VecDeque<OsString>, path: &Path, current: &mut PathBuf) {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::ParentDir => parts.push(OsString::from("..")),
            Component::RootDir => *current = PathBuf::from("/"),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    for part in parts.into_iter().rev() {
        rest.push_front(part);
    }
}

/// An entry of the folder whose name differs only in capitals.
fn twin(folder: &Path, name: &Component<'_>) -> Option<PathBuf> {
    let wanted = name.as_os_str().to_string_lossy().to_lowercase();
    let mut twins: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().to_lowercase() == wanted)
        .map(|entry| entry.path())
        .collect();
    twins.sort();
    twins.into_iter().next()
}

fn shortened(path: &str) -> String {
    if path.chars().count() <= 200 { path.to_owned() } else { path.chars().take(200).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("proj");
        fs::create_dir_all(root.join("src")).expect("folders");
        fs::write(root.join("src/a&b.rs"), "x").expect("a file");
        fs::write(folder.path().join("secret"), "s").expect("a file");
        let workspace = Workspace::new(&root);
        (folder, workspace)
    }

    fn outcome(workspace: &Workspace, path: &str, purpose: Purpose) -> Result<String, &'static str> {
        workspace.resolve(path, purpose).map(|place| place.relative).map_err(|error| error.class())
    }

    #[test]
    fn nothing_outside_is_reached_by_any_way() {
        let (folder, workspace) = workspace();
        symlink("../secret", workspace.root().join("link")).expect("a link");
        symlink("..", workspace.root().join("up")).expect("a link");
        symlink("../not-there", workspace.root().join("dangling")).expect("a link");
        let absolute = folder.path().join("secret").to_string_lossy().into_owned();
        for path in ["link", "up/secret", "../secret", "src/../../secret", "dangling", &absolute, "~/x", "new/../../x"]
        {
            for purpose in [Purpose::Look, Purpose::Edit, Purpose::Write, Purpose::Create] {
                assert_eq!(outcome(&workspace, path, purpose), Err("outside_root"), "{path} {purpose:?}");
            }
        }
    }

    #[test]
    fn a_folder_that_the_person_opened_is_reached_and_guarded_and_nothing_beside_it() {
        let (folder, workspace) = workspace();
        let other = folder.path().join("other");
        fs::create_dir_all(other.join(".git")).expect("folders");
        fs::write(other.join("a.txt"), "x").expect("a file");
        let more = More::default();
        let workspace = workspace.with_more(&more);
        let path = |name: &str| fs::canonicalize(&other).expect("it is there").join(name).display().to_string();
        assert_eq!(outcome(&workspace, &path("a.txt"), Purpose::Edit), Err("outside_root"));
        more.open(&other).expect("a folder");
        assert_eq!(outcome(&workspace, &path("a.txt"), Purpose::Edit), Ok(path("a.txt")));
        assert_eq!(outcome(&workspace, "../other/new", Purpose::Create), Ok(path("new")));
        assert_eq!(outcome(&workspace, &path(".git/config"), Purpose::Write), Err("protected"));
        assert_eq!(outcome(&workspace, "../secret", Purpose::Look), Err("outside_root"));
        assert!(more.open(&folder.path().join("secret")).is_err());
    }

    #[test]
    fn slips_are_forgiven_where_the_file_exists() {
        let (_folder, workspace) = workspace();
        let absolute = workspace.root().join("src/a&b.rs").to_string_lossy().into_owned();
        for path in [" src/a&b.rs\n", "./src/a&amp;b.rs", "'src/a&b.rs'", "src\\a&b.rs", "up/../src/a&b.rs", &absolute]
        {
            assert_eq!(outcome(&workspace, path, Purpose::Edit), Ok("src/a&b.rs".to_owned()), "{path}");
        }
        let missing = workspace.resolve("lib/a&b.rs", Purpose::Look).expect_err("a missing file");
        assert!(missing.to_string().contains("src/a&b.rs"), "{missing}");
    }

    #[test]
    fn what_is_no_file_is_told_by_its_kind() {
        let (_folder, workspace) = workspace();
        symlink("loop", workspace.root().join("loop")).expect("a link");
        let long = "x".repeat(300);
        for (path, class) in [
            ("src", "is_directory"),
            ("src/a&b.rs/x", "not_a_file"),
            ("a\0b", "bad_path"),
            ("  ", "bad_path"),
            ("loop", "bad_path"),
            (&long, "bad_path"),
            (".git/config", "protected"),
        ] {
            assert_eq!(outcome(&workspace, path, Purpose::Write), Err(class), "{path}");
        }
    }

    #[test]
    fn capitals_collide_on_a_disk_that_does_not_tell_them() {
        let (_folder, workspace) = workspace();
        assert_eq!(outcome(&workspace, "SRC/x", Purpose::Create), Ok("SRC/x".to_owned()));
        let untold = workspace.with_letters(Letters::Untold);
        assert_eq!(outcome(&untold, "SRC/x", Purpose::Create), Err("case_collision"));
        assert_eq!(outcome(&untold, "SRC/A&B.rs", Purpose::Look), Ok("src/a&b.rs".to_owned()));
    }
}
