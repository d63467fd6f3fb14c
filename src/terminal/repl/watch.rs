//! Watches settings and prompts on disk, so that an edit holds in the conversation that is open.
//!
//! The system tells of edits; the few files are looked at besides, so that an edit a moment before a prompt counts for it.

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether something changed since it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It did.
    Some,
    /// It did not.
    None,
}

/// A watch over files and folders. Where the system cannot watch, nothing is news.
pub struct Watch {
    changed: Arc<AtomicBool>,
    files: Vec<PathBuf>,
    stamps: Cell<u64>,
    _watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Over these files, which need not exist, and everything in these folders.
    pub fn new(files: &[PathBuf], folders: &[PathBuf]) -> Self {
        let changed = Arc::new(AtomicBool::new(false));
        // Editors replace a file by another: its folder tells of both.
        let parents: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).filter(|p| p.is_dir()).collect();
        let told = Arc::clone(&changed);
        let (own, below) = (files.to_vec(), folders.to_vec());
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            let concerns = |path: &PathBuf| own.contains(path) || below.iter().any(|folder| path.starts_with(folder));
            if !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(concerns) {
                told.store(true, Ordering::Release);
            }
        });
        let mut watcher = watcher.ok();
        if let Some(watcher) = &mut watcher {
            for folder in parents {
                // A folder that cannot be watched tells nothing, and the rest still does.
                let _ = watcher.watch(folder, RecursiveMode::NonRecursive);
            }
            for folder in folders.iter().filter(|folder| folder.is_dir()) {
                let _ = watcher.watch(folder, RecursiveMode::Recursive);
            }
        }
        let files = files.to_vec();
        let stamps = Cell::new(stamps(&files));
        Self { changed, files, stamps, _watcher: watcher }
    }

    /// What happened since this was last asked.
    pub fn news(&self) -> News {
        let told = self.changed.swap(false, Ordering::AcqRel);
        let now = stamps(&self.files);
        if told || self.stamps.replace(now) != now { News::Some } else { News::None }
    }
}

/// A digest of which files there are, their sizes and times.
fn stamps(files: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in files {
        let stamp = std::fs::metadata(file).ok().map(|info| (info.len(), info.modified().ok(), info.ino()));
        stamp.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn until_news(watch: &Watch) {
        let end = Instant::now() + Duration::from_secs(20);
        while watch.news() == News::None {
            assert!(Instant::now() < end, "nothing was told");
            std::thread::yield_now();
        }
    }

    #[test]
    fn an_edit_a_moment_ago_is_news_once_even_before_the_system_tells_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.yaml");
        let watch = Watch {
            changed: Arc::default(),
            files: vec![file.clone()],
            stamps: Cell::new(stamps(std::slice::from_ref(&file))),
            _watcher: None,
        };
        assert_eq!(watch.news(), News::None);
        std::fs::write(&file, "a").expect("a file");
        assert_eq!((watch.news(), watch.news()), (News::Some, News::None));
    }

    #[test]
    fn a_file_that_is_written_replaced_or_new_is_news() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        std::fs::create_dir(root.join("prompts")).expect("a folder");
        let file = root.join("config.yaml");
        let watch = Watch::new(std::slice::from_ref(&file), &[root.join("prompts")]);
        std::fs::write(root.join("other"), "x").expect("a file");
        std::fs::write(&file, "a").expect("a file");
        until_news(&watch);
        std::fs::write(root.join("new"), "b").expect("a file");
        std::fs::rename(root.join("new"), &file).expect("it is replaced");
        until_news(&watch);
        std::fs::write(root.join("prompts/x.md"), "c").expect("a file");
        until_news(&watch);
    }
}
