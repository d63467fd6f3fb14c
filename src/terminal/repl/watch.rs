//! Watches settings and prompts on disk, so that an edit holds in the conversation that is open.

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
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
        Self { changed, _watcher: watcher }
    }

    /// What happened since this was last asked.
    pub fn news(&self) -> News {
        if self.changed.swap(false, Ordering::AcqRel) { News::Some } else { News::None }
    }
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
