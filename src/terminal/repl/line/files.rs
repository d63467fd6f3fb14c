//! Names of files for completion after `@`.
//!
//! Listed by a thread of its own, so that no key waits for a disk; what is ignored by git is left out. Bounded in number
//! and in time: in a larger tree the first files found are offered.

use super::menu::Item;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Names that are listed at most.
const MAX_NAMES: usize = 50_000;
/// How long listing may take.
const MAX_TIME: Duration = Duration::from_secs(5);
/// A listing older than this is made again when the next completion begins.
const FRESH: Duration = Duration::from_secs(3);
/// Names that are offered at most.
const MAX_OFFERED: usize = 50;

/// The names below a folder.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
    shared: Arc<Mutex<Listing>>,
}

#[derive(Debug, Default)]
struct Listing {
    names: Arc<Vec<String>>,
    running: bool,
    ended: Option<Instant>,
}

impl Files {
    /// Nothing is listed before it is asked for.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), shared: Arc::default() }
    }

    /// A completion begins: list, unless that was done right now.
    pub fn refresh(&self) {
        let mut listing = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if listing.running || listing.ended.is_some_and(|ended| ended.elapsed() < FRESH) {
            return;
        }
        listing.running = true;
        drop(listing);
        let (root, shared) = (self.root.clone(), self.shared.clone());
        std::thread::spawn(move || {
            let names = list(&root);
            let mut listing = shared.lock().unwrap_or_else(PoisonError::into_inner);
            *listing = Listing { names: Arc::new(names), running: false, ended: Some(Instant::now()) };
        });
    }

    /// Whether names are still being listed.
    pub fn running(&self) -> bool {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).running
    }

    /// The names that fit best what was typed.
    pub fn matching(&self, typed: &str) -> Vec<Item> {
        let names = self.shared.lock().unwrap_or_else(PoisonError::into_inner).names.clone();
        best(&names, typed)
    }
}

fn list(root: &Path) -> Vec<String> {
    let until = Instant::now() + MAX_TIME;
    let mut names = Vec::new();
    // Hidden files are files too, but nobody means what git keeps for itself.
    let walk = ignore::WalkBuilder::new(root).hidden(false).filter_entry(|entry| entry.file_name() != ".git").build();
    for entry in walk.filter_map(Result::ok) {
        if names.len() == MAX_NAMES || Instant::now() > until {
            break;
        }
        let Some(name) = entry.path().strip_prefix(root).ok().and_then(Path::to_str).filter(|name| !name.is_empty())
        else {
            continue;
        };
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        names.push(format!("{name}{}", if folder { "/" } else { "" }));
    }
    names
}

/// The best first: by how the name fits, then the shorter, then by the alphabet.
fn best(names: &[String], typed: &str) -> Vec<Item> {
    let typed = typed.to_lowercase();
    let mut fitting: Vec<(usize, usize, &String)> = Vec::new();
    for name in names {
        if let Some(rank) = rank(&name.to_lowercase(), &typed) {
            fitting.push((rank, name.len(), name));
        }
    }
    if fitting.len() > MAX_OFFERED {
        fitting.select_nth_unstable(MAX_OFFERED);
        fitting.truncate(MAX_OFFERED);
    }
    fitting.sort_unstable();
    fitting.into_iter().map(|(_, _, name)| Item { name: name.clone(), about: String::new() }).collect()
}

fn rank(name: &str, typed: &str) -> Option<usize> {
    let inner = name.strip_suffix('/').unwrap_or(name);
    if typed.is_empty() {
        return Some(inner.matches('/').count());
    }
    let last = inner.rsplit('/').next().unwrap_or(inner);
    if name.starts_with(typed) || last.starts_with(typed) {
        return Some(0);
    }
    if last.contains(typed) {
        return Some(1);
    }
    if name.contains(typed) {
        return Some(2);
    }
    let mut rest = name.chars();
    typed.chars().all(|wanted| rest.any(|c| c == wanted)).then_some(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(names: &[&str], typed: &str) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        best(&names, typed).into_iter().map(|item| item.name).collect()
    }

    #[test]
    fn the_beginning_of_a_name_counts_more_than_its_middle_and_that_more_than_letters_in_order() {
        let names = ["src/a/main.rs", "domain.rs", "src/m/a/i/xx", "main/", "other"];
        assert_eq!(offered(&names, "main"), ["main/", "src/a/main.rs", "domain.rs"]);
        assert_eq!(offered(&names, "mai"), ["main/", "src/a/main.rs", "domain.rs", "src/m/a/i/xx"]);
        assert_eq!(offered(&names, "")[0], "main/");
    }

    #[test]
    fn of_twenty_thousand_files_the_best_few_are_offered() {
        let names: Vec<String> = (0..20_000).map(|n| format!("pkg{}/module_{n}.rs", n % 100)).collect();
        let offered = best(&names, "module_1999");
        assert_eq!(offered[0].name, "pkg99/module_1999.rs");
        assert!(offered[..11].iter().all(|item| item.name.contains("module_1999")), "{offered:?}");
        assert_eq!(best(&names, "mod").len(), MAX_OFFERED);
    }

    #[test]
    fn what_git_ignores_is_left_out_and_folders_end_with_a_slash() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [(".gitignore", "target\n"), ("src/lib.rs", ""), ("target/x", ""), (".git/config", "")] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let mut names = list(folder.path());
        names.sort();
        assert_eq!(names, [".gitignore", "src/", "src/lib.rs"]);
    }
}
