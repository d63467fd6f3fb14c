//! The terminal as a keyboard: raw while the REPL has it, as it was found whenever the REPL lets go.
//!
//! One thread reads, all the time but while another program has the terminal, so that no key is ever lost between two
//! readers.

use super::line::{Key, key};
use crate::streams;
use crossterm::event;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Pastes come as one event; keys with modifiers that a terminal can tell apart are told apart (kitty's protocol).
const TAKE: &str = "\u{1b}[?2004h\u{1b}[>1u";
/// Everything that the REPL may have changed.
const GIVE_BACK: &str = "\u{1b}[<u\u{1b}[?2004l\u{1b}[?7h\u{1b}[?25h";
/// How often the reader looks whether it shall rest.
const LOOK: Duration = Duration::from_millis(100);

/// Whether the terminal is raw by our doing.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Has the terminal as long as it lives.
pub struct Keyboard {
    /// The keys; closed when the terminal is gone.
    pub keys: tokio::sync::Mutex<UnboundedReceiver<Key>>,
    gate: Arc<Gate>,
}

/// Lets the reader read, or not.
#[derive(Default)]
struct Gate {
    state: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Default)]
struct Wanted {
    rest: bool,
    resting: bool,
    end: bool,
}

impl Keyboard {
    /// Take the terminal.
    ///
    /// # Errors
    /// Standard input is no terminal, or it is gone.
    pub fn take() -> std::io::Result<Self> {
        take()?;
        let (sender, keys) = unbounded_channel();
        let gate = Arc::new(Gate::default());
        let reader = gate.clone();
        std::thread::spawn(move || reader.read(&sender));
        Ok(Self { keys: tokio::sync::Mutex::new(keys), gate })
    }

    /// Let something else have the terminal meanwhile.
    pub fn aside<T>(&self, what: impl FnOnce() -> T) -> T {
        self.gate.rest();
        give_back();
        let result = what();
        // The terminal was there before; if it is gone, the reader finds out.
        let _ = take();
        self.gate.set(|wanted| wanted.rest = false);
        result
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // Whoever takes the terminal next must not share it.
        self.gate.rest();
        self.gate.set(|wanted| wanted.end = true);
        give_back();
    }
}

impl Gate {
    fn set(&self, change: impl FnOnce(&mut Wanted)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Returns when nobody reads any more.
    fn rest(&self) {
        self.set(|wanted| wanted.rest = true);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that is gone does not rest; then nobody reads either.
        drop(self.changed.wait_timeout_while(state, LOOK * 10, |wanted| !wanted.resting));
    }

    fn read(&self, sender: &UnboundedSender<Key>) {
        while self.may_read() {
            match event::poll(LOOK) {
                Ok(false) => {}
                Ok(true) => {
                    let Ok(event) = event::read() else { return };
                    if key(event).is_some_and(|key| sender.send(key).is_err()) {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Waits as long as it shall rest; whether it goes on.
    fn may_read(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.rest && !state.end {
            state.resting = true;
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.resting = false;
        !state.end
    }
}

fn take() -> std::io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    streams::data(TAKE);
    Ok(())
}

/// Give the terminal back, if it was taken: before the program ends in whatever way.
pub fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        streams::data(GIVE_BACK);
        // A terminal that is gone needs no mode.
        let _ = disable_raw_mode();
    }
}
