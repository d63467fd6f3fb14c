//! How the work, or the whole REPL, is stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Stops what is under way. Clones stop the same.
#[derive(Clone, Default)]
pub struct Interrupt {
    token: Arc<Mutex<CancellationToken>>,
    leave: CancellationToken,
    aside: Arc<AtomicBool>,
}

impl Interrupt {
    /// A fresh token: a new prompt starts.
    pub fn renew(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    /// The present token.
    pub fn token(&self) -> CancellationToken {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The program is asked to end: stop the work, and take no further prompt.
    pub fn leave(&self) {
        self.leave.cancel();
        self.token().cancel();
    }

    /// Whether it was.
    pub fn is_leaving(&self) -> bool {
        self.leave.is_cancelled()
    }

    /// Another program has the terminal, or no longer.
    pub fn set_aside(&self, aside: bool) {
        self.aside.store(aside, Ordering::SeqCst);
    }

    /// Whether another program has the terminal: then a Ctrl-C is not ours.
    pub fn is_aside(&self) -> bool {
        self.aside.load(Ordering::SeqCst)
    }

    /// Ends when it was.
    pub async fn left(&self) {
        self.leave.cancelled().await;
    }
}
