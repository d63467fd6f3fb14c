//! Where keys, ticks and the work come together: one thread waits for whichever comes first.

use super::dialog::{Question, Reply};
use super::input::Lines;
use super::line::{Key, Submission};
use super::screen::{Act, Screen};
use super::{Interrupt, Keyboard};
use super::{external, keyboard};
use selfsmith_agent::ending::Ending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::MutexGuard;
use tokio::sync::mpsc::UnboundedReceiver;

/// How often the rows at the bottom are looked at while there is work.
const TICK: Duration = Duration::from_millis(50);
/// How often a wait for a line looks whether the program is asked to end.
const PATIENCE: Duration = Duration::from_millis(250);

/// Where prompts come from.
pub enum Source {
    /// Keys of a terminal, taken as long as this lives.
    Keys(Keyboard),
    /// Plain lines.
    Lines(Lines),
}

/// What the person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A prompt or a command.
    Prompt(Submission),
    /// Ctrl-C on the prompt.
    Interrupt,
    /// Escape on the prompt.
    Escape,
    /// Another way of asking for permission.
    Mode,
    /// The text is to be opened in `$EDITOR`.
    External,
    /// The picture of the clipboard is wanted.
    Picture,
    /// The end: Ctrl-D, or the pipe is empty.
    End,
}

/// What the person asked for while there was work and that had to wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Later {
    /// How often another way of asking for permission was wished.
    pub modes: usize,
    /// The picture of the clipboard is wanted.
    pub picture: bool,
}

/// The desk.
pub struct Desk<'a> {
    /// What runs futures.
    pub runtime: &'a Runtime,
    /// The screen.
    pub screen: Arc<Screen>,
    /// What a Ctrl-C stops.
    pub interrupt: Interrupt,
    /// Where prompts come from.
    pub source: Source,
    /// The folder that names of dropped files are meant from.
    pub folder: PathBuf,
}

impl Desk<'_> {
    /// The next prompt: one that waited, or what is typed now.
    pub fn next(&self) -> Typed {
        if self.interrupt.is_leaving() {
            return Typed::End;
        }
        if let Some(submission) = self.screen.unqueue() {
            return Typed::Prompt(submission);
        }
        match &self.source {
            Source::Keys(_) => self.runtime.block_on(self.typed()),
            Source::Lines(lines) => loop {
                match lines.next(PATIENCE) {
                    Some(Some(line)) => {
                        break Typed::Prompt(Submission { text: line.clone(), shown: line, images: Vec::new() });
                    }
                    Some(None) => break Typed::End,
                    None if self.interrupt.is_leaving() => break Typed::End,
                    None => {}
                }
            },
        }
    }

    /// Do some work to its end, with the keyboard alive: what is typed waits, Ctrl-C stops the work and, pressed again,
    /// the program.
    pub fn work<T>(&self, work: impl Future<Output = T>) -> (T, Later) {
        self.screen.work(true);
        let mut later = Later::default();
        let result = self.runtime.block_on(async {
            let mut keys = self.keys().await;
            let mut tick = tokio::time::interval(TICK);
            tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
            tokio::pin!(work);
            let result = loop {
                tokio::select! {
                    result = &mut work => break result,
                    Some(key) = next(&mut keys) => self.while_working(key, &mut later),
                    _ = tick.tick() => self.screen.tick(),
                }
            };
            // Words that a typewriter has not written yet.
            while self.screen.is_typing() {
                tokio::select! {
                    Some(key) = next(&mut keys) => self.while_working(key, &mut later),
                    _ = tick.tick() => self.screen.tick(),
                }
            }
            result
        });
        self.screen.work(false);
        (result, later)
    }

    /// Ask the person.
    pub fn ask(&self, question: Question) -> Reply {
        if self.interrupt.is_leaving() {
            return Reply::Cancelled;
        }
        self.runtime.block_on(async {
            let answer = self.screen.ask(question);
            let mut keys = self.keys().await;
            tokio::pin!(answer);
            loop {
                tokio::select! {
                    reply = &mut answer => break reply,
                    () = self.interrupt.left() => break Reply::Cancelled,
                    Some(key) = next(&mut keys) => drop(self.press(key)),
                }
            }
        })
    }

    /// Let something else have the terminal.
    pub fn aside<T>(&self, what: impl FnOnce() -> T) -> T {
        let Source::Keys(keyboard) = &self.source else { return what() };
        self.screen.close();
        // A Ctrl-C meanwhile is the other program's.
        self.interrupt.set_aside(true);
        let result = keyboard.aside(what);
        self.interrupt.set_aside(false);
        self.screen.open();
        result
    }

    async fn typed(&self) -> Typed {
        let mut keys = self.keys().await;
        let mut tick = tokio::time::interval(TICK);
        loop {
            let key = tokio::select! {
                () = self.interrupt.left() => return Typed::End,
                key = next(&mut keys) => key,
                _ = tick.tick(), if self.screen.is_restless() => {
                    self.screen.tick();
                    continue;
                }
            };
            let Some(key) = key else { return Typed::End };
            match self.press(key) {
                Some(Act::Submit(submission)) => return Typed::Prompt(submission),
                Some(Act::Interrupt) => return Typed::Interrupt,
                Some(Act::Escape) => return Typed::Escape,
                Some(Act::Leave) => return Typed::End,
                Some(Act::Mode) => return Typed::Mode,
                Some(Act::External) => return Typed::External,
                Some(Act::Picture) => return Typed::Picture,
                Some(Act::Suspend) => self.suspend(),
                None => {}
            }
        }
    }

    /// A key; a pasted name of a picture is the picture.
    fn press(&self, key: Key) -> Option<Act> {
        if let Key::Paste(text) = &key
            && !self.screen.is_asking()
            && let Some(inset) = external::dropped(text, &self.folder)
        {
            self.screen.attach(inset);
            return None;
        }
        self.screen.key(key)
    }

    fn while_working(&self, key: Key, later: &mut Later) {
        match self.press(key) {
            Some(Act::Submit(submission)) => self.screen.queue(submission),
            Some(Act::Interrupt) if self.interrupt.token().is_cancelled() => {
                self.screen.close();
                keyboard::give_back();
                std::process::exit(i32::from(Ending::Interrupted.exit_code()));
            }
            Some(Act::Interrupt | Act::Escape) => self.interrupt.token().cancel(),
            Some(Act::Mode) => later.modes += 1,
            Some(Act::Picture) => later.picture = true,
            Some(Act::Suspend) => self.suspend(),
            Some(Act::Leave | Act::External) | None => {}
        }
    }

    /// Back to the shell until it brings the program to the front again.
    fn suspend(&self) {
        self.aside(|| {
            // Raising a signal at oneself fails only for signals that do not exist.
            let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGTSTP);
        });
    }

    async fn keys(&self) -> Keys<'_> {
        match &self.source {
            Source::Keys(keyboard) => Some(keyboard.keys.lock().await),
            Source::Lines(_) => None,
        }
    }
}

/// The keyboard's keys, while nobody else waits for them.
type Keys<'a> = Option<MutexGuard<'a, UnboundedReceiver<Key>>>;

/// The next key; without a keyboard none ever comes, and none after the terminal is gone.
async fn next(keys: &mut Keys<'_>) -> Option<Key> {
    match keys {
        Some(keys) => keys.recv().await,
        None => futures::future::pending().await,
    }
}
