//! The goal inbox: a folder in which every Markdown or text file is a goal.
//!
//! Files are taken in the order of their names; a file is taken once it is whole (named, not being written: what is still
//! growing is looked at again). Taken files move to `done/` or `failed/` beside them and never vanish. Names that begin
//! with a dot or end in `~` are not goals, so that editors and downloads can work in the folder.

use notify::{RecursiveMode, Watcher};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Bytes of a goal at most.
pub const LARGEST_GOAL: u64 = 256 * 1024;

/// A goal that was put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// The file.
    pub path: PathBuf,
    /// Its text, blank ends trimmed; or why it is none.
    pub text: Result<String, NoGoal>,
}

/// Why a file in the inbox is no goal: it is set aside, and the next one comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoGoal {
    /// Completes "could not".
    pub what: String,
    /// What to do next.
    pub hint: String,
}

impl NoGoal {
    fn of(path: &Path, why: &str, hint: &str) -> Self {
        Self { what: format!("take {} as a goal: {why}", path.display()), hint: hint.to_owned() }
    }
}

/// What became of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A cycle ran to its verdict.
    Done,
    /// None could be run.
    Failed,
}

/// A watched folder.
pub struct Inbox {
    dir: PathBuf,
    /// Held because watching ends with it.
    _watcher: notify::RecommendedWatcher,
    events: Receiver<()>,
}

impl Inbox {
    /// Watch `dir`, which is made if it is missing.
    pub fn open(dir: &Path) -> Result<Self, InboxError> {
        fs::create_dir_all(dir).map_err(|source| InboxError::file("make", dir, source))?;
        let (tell, events) = channel();
        let watch = |source| InboxError::Watch { dir: dir.to_owned(), source };
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading a file is an event as well; it is no news.
            if event.is_ok_and(|event| event.kind.is_access()) {
                return;
            }
            let _ = tell.send(());
        })
        .map_err(watch)?;
        watcher.watch(dir, RecursiveMode::NonRecursive).map_err(watch)?;
        Ok(Self { dir: dir.to_owned(), _watcher: watcher, events })
    }

    /// Put a goal there, under a name that begins with this; it is whole at once. Returns its file.
    pub fn put(dir: &Path, name: &str, text: &str) -> Result<PathBuf, InboxError> {
        fs::create_dir_all(dir).map_err(|source| InboxError::file("make", dir, source))?;
        let write = || -> io::Result<tempfile::NamedTempFile> {
            let mut file = tempfile::Builder::new().prefix(".goal-").tempfile_in(dir)?;
            io::Write::write_all(&mut file, text.as_bytes())?;
            file.as_file().sync_all()?;
            Ok(file)
        };
        let mut file = write().map_err(|source| InboxError::file("write a goal into", dir, source))?;
        for count in 0..10_000u32 {
            let path = dir.join(if count == 0 { format!("{name}.md") } else { format!("{name}-{count}.md") });
            match file.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => file = refused.file,
                Err(refused) => return Err(InboxError::file("write", &path, refused.error)),
            }
        }
        Err(InboxError::Full { dir: dir.to_owned() })
    }

    /// The next goal; waits for one. None once `stop` says so, which is asked a few times a second.
    pub fn next(&self, stop: &dyn Fn() -> bool) -> Result<Option<Goal>, InboxError> {
        loop {
            if stop() {
                return Ok(None);
            }
            if let Some(goal) = self.first()? {
                return Ok(Some(goal));
            }
            match self.events.recv_timeout(Duration::from_millis(250)) {
                // A burst is one piece of news.
                Ok(()) => while self.events.try_recv().is_ok() {},
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(InboxError::Ended { dir: self.dir.clone() }),
            }
        }
    }

    /// Move a goal's file out of the way. Returns where it lies now.
    pub fn settle(&self, goal: &Goal, outcome: Outcome) -> Result<PathBuf, InboxError> {
        let folder = self.dir.join(match outcome {
            Outcome::Done => "done",
            Outcome::Failed => "failed",
        });
        fs::create_dir_all(&folder).map_err(|source| InboxError::file("make", &folder, source))?;
        let name = goal.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for count in 0..10_000u32 {
            let to = folder.join(if count == 0 { name.clone() } else { format!("{count}-{name}") });
            // Linking fails where something has that name; renaming would replace it.
            match fs::hard_link(&goal.path, &to) {
                Ok(()) => {
                    fs::remove_file(&goal.path).map_err(|source| InboxError::file("move", &goal.path, source))?;
                    return Ok(to);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(InboxError::file("move", &goal.path, source)),
            }
        }
        Err(InboxError::Full { dir: folder })
    }

    /// The first file by name that is a whole goal.
    fn first(&self) -> Result<Option<Goal>, InboxError> {
        let entries = fs::read_dir(&self.dir).map_err(|source| InboxError::file("read", &self.dir, source))?;
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_goal(path)).collect();
        paths.sort();
        for path in paths {
            let data = match fs::symlink_metadata(&path) {
                Ok(data) => data,
                Err(_) => continue, // it went away meanwhile
            };
            if !data.is_file() {
                continue;
            }
            if data.len() > LARGEST_GOAL {
                let hint = format!("shorten it to {LARGEST_GOAL} bytes");
                let text = Err(NoGoal::of(&path, &format!("it has {} bytes", data.len()), &hint));
                return Ok(Some(Goal { path, text }));
            }
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    let text = Err(match error.kind() {
                        io::ErrorKind::InvalidData => NoGoal::of(&path, "it is not UTF-8 text", "save it as UTF-8"),
                        _ => NoGoal::of(&path, &error.to_string(), "see that it may be read"),
                    });
                    return Ok(Some(Goal { path, text }));
                }
            };
            // An empty file is one that is being written.
            let trimmed = text.trim();
            if !trimmed.is_empty() {
                return Ok(Some(Goal { text: Ok(trimmed.to_owned()), path }));
            }
        }
        Ok(None)
    }
}

fn is_goal(path: &Path) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| !name.starts_with('.'));
    let ending = path.extension().and_then(|ending| ending.to_str());
    named && ending.is_some_and(|ending| ending.eq_ignore_ascii_case("md") || ending.eq_ignore_ascii_case("txt"))
}

/// Why the inbox cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// A file or folder.
    #[error("{what} {}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The system cannot watch the folder.
    #[error("watch {}", dir.display())]
    Watch {
        /// The folder.
        dir: PathBuf,
        /// Why.
        #[source]
        source: notify::Error,
    },
    /// Watching ended by itself.
    #[error("go on watching {}", dir.display())]
    Ended {
        /// The folder.
        dir: PathBuf,
    },
    /// No name is free.
    #[error("find a free name in {}", dir.display())]
    Full {
        /// The folder.
        dir: PathBuf,
    },
}

impl InboxError {
    fn file(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { what, path: path.to_owned(), source }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::File { .. } => "check that the folder may be read and written".to_owned(),
            Self::Watch { .. } | Self::Ended { .. } => {
                "start again; if it stays so, give goals with --goal or --goal-file".to_owned()
            }
            Self::Full { dir } => format!("move old files out of {}", dir.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn goals_come_in_order_of_names_and_move_aside() {
        let dir = tempfile::tempdir().expect("temporary folder");
        for (name, text) in
            [("b.md", "second"), ("a.txt", "first\n"), (".c.md", "hidden"), ("d.rs", "code"), ("0.md", " \n")]
        {
            fs::write(dir.path().join(name), text).expect("file");
        }
        let inbox = Inbox::open(dir.path()).expect("opens");
        let first = inbox.next(&|| false).expect("reads").expect("is there");
        assert_eq!(first.text.as_deref(), Ok("first"));
        assert_eq!(inbox.settle(&first, Outcome::Done).expect("moves"), dir.path().join("done/a.txt"));
        let second = inbox.next(&|| false).expect("reads").expect("is there");
        assert_eq!(second.text.as_deref(), Ok("second"));
        fs::create_dir(dir.path().join("failed")).expect("folder");
        fs::write(dir.path().join("failed/b.md"), "older").expect("file");
        assert_eq!(inbox.settle(&second, Outcome::Failed).expect("moves"), dir.path().join("failed/1-b.md"));
        assert_eq!(fs::read_to_string(dir.path().join("failed/b.md")).expect("kept"), "older");
        assert_eq!(inbox.next(&|| true).expect("reads"), None);
    }

    #[test]
    fn what_is_no_goal_says_so_and_lets_the_others_come() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::write(dir.path().join("a.md"), b"Gr\xfc\xdfe").expect("file");
        fs::write(dir.path().join("b.md"), vec![b'x'; LARGEST_GOAL as usize + 1]).expect("file");
        fs::write(dir.path().join("c.md"), "a goal").expect("file");
        let inbox = Inbox::open(dir.path()).expect("opens");
        for why in ["a.md as a goal: it is not UTF-8 text", "b.md as a goal: it has 262145 bytes"] {
            let goal = inbox.next(&|| false).expect("reads").expect("is there");
            assert!(goal.text.as_ref().is_err_and(|no| no.what.ends_with(why)), "{goal:?}");
            inbox.settle(&goal, Outcome::Failed).expect("moves");
        }
        let goal = inbox.next(&|| false).expect("reads").expect("is there");
        assert_eq!(goal.text.as_deref(), Ok("a goal"));
    }

    #[test]
    fn a_file_put_there_later_is_noticed() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let inbox = Inbox::open(dir.path()).expect("opens");
        let written = AtomicBool::new(false);
        let goal = inbox.next(&|| {
            // The first look finds nothing; then it is there.
            if !written.swap(true, Ordering::SeqCst) {
                std::thread::spawn({
                    let path = dir.path().join("later.md");
                    move || fs::write(path, "do it").expect("file")
                });
            }
            false
        });
        assert_eq!(goal.expect("reads").expect("is there").text.as_deref(), Ok("do it"));
    }
}
