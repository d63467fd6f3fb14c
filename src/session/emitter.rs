//! Numbers and dates events, and hands them to the frontend.

use crate::event::{Event, EventKind};
use crate::frontend::Frontend;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Milliseconds since the UNIX epoch.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;
/// A fresh id, unique for ever.
pub type Ids = Arc<dyn Fn() -> String + Send + Sync>;

/// One stream of events.
pub struct Emitter {
    frontend: Arc<dyn Frontend>,
    clock: Clock,
    last: AtomicU64,
}

impl Emitter {
    /// A stream that starts at 1.
    pub fn new(frontend: Arc<dyn Frontend>, clock: Clock) -> Self {
        Self { frontend, clock, last: AtomicU64::new(0) }
    }

    /// The time.
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// Something happened.
    pub fn emit(&self, kind: EventKind) {
        let seq = self.last.fetch_add(1, Ordering::SeqCst) + 1;
        self.frontend.notify(&Event { seq, at: self.now(), kind });
    }
}
