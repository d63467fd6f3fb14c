//! What goes wrong, and a process of its own in which it does.

use crate::generations;
use crate::story::Story;
use crate::world::World;
use nix::sys::signal::{Signal, raise};
use selfsmith::store::faults::{Faults, Half, Point};
use selfsmith_sandbox::Cancel;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tells a process what to run and what is to go wrong where.
pub const ORDER: &str = "SELFSMITH_TEST_FAULT";
/// What it exits with where the judge said that it cannot go on.
pub const REFUSED: u8 = 9;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The process dies.
    Kill,
    /// The system refuses; what had been written of a line by then stays.
    Error,
    /// The process dies and leaves the step half done.
    Torn,
    /// It takes long, and another process starts meanwhile.
    Delay,
}

impl Kind {
    /// All.
    pub const ALL: [Self; 4] = [Self::Kill, Self::Error, Self::Torn, Self::Delay];

    /// From its name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| format!("{kind:?}") == name)
    }

    /// Whether it can happen at such a point.
    pub fn fits(self, point: &Seen) -> bool {
        match self {
            Self::Torn => point.has_half,
            // No durable step of the journal: what a gate that cannot run comes to is told in other tests.
            Self::Error => !point.name.starts_with("slot: "),
            Self::Kill | Self::Delay => true,
        }
    }
}

/// A point as it was seen by a run to which nothing happened.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// Whether a step can be half done there.
    pub has_half: bool,
}

/// Lists the points, and interrupts at one of them.
#[derive(Default)]
pub struct Watches {
    /// In order.
    pub points: Mutex<Vec<Seen>>,
    /// Where a person interrupts.
    pub interrupts: Option<(usize, Cancel)>,
}

impl Faults for Watches {
    fn reach(&self, point: Point<'_>) -> io::Result<()> {
        let mut points = self.points.lock().unwrap();
        if let Some((at, cancel)) = &self.interrupts
            && points.len() == *at
        {
            cancel.cancel();
        }
        points.push(Seen { name: point.name.to_owned(), has_half: !matches!(point.half, Half::Nothing) });
        Ok(())
    }
}

/// Lets it go wrong at one point.
pub struct Injects {
    at: usize,
    kind: Kind,
    variant: usize,
    seen: AtomicUsize,
}

impl Injects {
    /// At this one.
    pub fn new(at: usize, kind: Kind, variant: usize) -> Self {
        Self { at, kind, variant, seen: AtomicUsize::new(0) }
    }
}

impl Faults for Injects {
    fn reach(&self, point: Point<'_>) -> io::Result<()> {
        if self.seen.fetch_add(1, Ordering::SeqCst) != self.at {
            return Ok(());
        }
        match self.kind {
            Kind::Kill => raise(Signal::SIGKILL)?,
            Kind::Torn => {
                tear(point.half, self.variant)?;
                raise(Signal::SIGKILL)?;
            }
            Kind::Error => {
                if let Half::Bytes(..) = point.half {
                    tear(point.half, self.variant)?;
                }
                let full = nix::errno::Errno::ENOSPC as i32;
                let broken = nix::errno::Errno::EIO as i32;
                return Err(io::Error::from_raw_os_error(if self.variant.is_multiple_of(2) { full } else { broken }));
            }
            Kind::Delay => {
                println!("here");
                io::stdout().flush()?;
                io::stdin().read_line(&mut String::new())?;
            }
        }
        Ok(())
    }
}

/// Leave a step half done.
fn tear(half: Half<'_>, variant: usize) -> io::Result<()> {
    match half {
        Half::Nothing => Ok(()),
        Half::Bytes(path, before) => {
            let file = OpenOptions::new().write(true).open(path)?;
            let written = file.metadata()?.len() - before;
            // Lost, half, all but the last byte.
            let left = [0, written / 2, written - 1][variant % 3];
            file.set_len(before + left)
        }
        // git writes an id at once, so a lock is empty, or marked, or holds all of it.
        Half::Ref(lock, id) => {
            if let Some(folder) = lock.parent() {
                fs::create_dir_all(folder)?;
            }
            let text = match (variant % 3, id) {
                (0, Some(id)) => format!("{id}\n"),
                (1, _) => format!("{:<40}\n", format!("selfsmith {}", std::process::id())),
                _ => String::new(),
            };
            fs::write(lock, text)
        }
        Half::Checkout(folder) => {
            // git writes files first, then the index beside the old one.
            let begins = if variant.is_multiple_of(2) { &b""[..] } else { b"DIRC\0\0\0\x02" };
            fs::write(folder.join(".git/index.lock"), begins)?;
            fs::remove_file(folder.join("src/lib.rs"))?;
            // Every story's edit begins as the old file does.
            let log = folder.join("CHANGELOG.md");
            let length = fs::metadata(&log)?.len();
            if variant.is_multiple_of(3) {
                OpenOptions::new().write(true).open(log)?.set_len(length / 4)
            } else {
                Ok(())
            }
        }
        Half::Folder(folder) => half_of(folder),
    }
}

/// Every second file goes, and one is cut.
fn half_of(folder: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for (at, entry) in entries.enumerate() {
        let path = entry?.path();
        if path.is_dir() {
            half_of(&path)?;
        } else if at % 2 == 0 {
            fs::remove_file(&path)?;
        } else {
            OpenOptions::new().write(true).open(&path)?.set_len(1)?;
        }
    }
    Ok(())
}

/// The order for a process.
pub fn order(story: Story, at: usize, kind: Kind, variant: usize, root: &Path) -> String {
    format!("{story:?} {at} {kind:?} {variant} {}", root.display())
}

/// Be that process.
pub fn obey(order: &str) -> ExitCode {
    let mut words = order.splitn(5, ' ');
    let mut word = || words.next().unwrap();
    let story = word();
    let at = word().parse().unwrap();
    let kind = Kind::named(word()).unwrap();
    let variant = word().parse().unwrap();
    let root = Path::new(word());
    if story == generations::LIFE {
        return generations::obey(at, kind, variant, root);
    }
    let (story, world) = (Story::named(story).unwrap(), World::at(root));
    let faults = Injects::new(at, kind, variant);
    match story.runs(&world, &Cancel::default(), &faults) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(io::stderr(), "{why}");
            ExitCode::from(REFUSED)
        }
    }
}
