//! A flag that ends a run from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Clones share one flag. A run looks at it at least every 20 ms.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the run to end. It cannot be taken back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Asks a run to end when this is dropped: for whoever waits for a run, and may stop waiting.
#[derive(Debug)]
pub struct CancelOnDrop(Option<Cancel>);

impl CancelOnDrop {
    /// Over a flag that a run looks at already.
    pub const fn new(cancel: Cancel) -> Self {
        Self(Some(cancel))
    }

    /// Lets the run go on without it.
    pub fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancel) = &self.0 {
            cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_stops_waiting_ends_the_run_unless_it_was_released() {
        let (ended, left) = (Cancel::default(), Cancel::default());
        drop(CancelOnDrop::new(ended.clone()));
        CancelOnDrop::new(left.clone()).release();
        assert_eq!((ended.is_cancelled(), left.is_cancelled()), (true, false));
    }
}
