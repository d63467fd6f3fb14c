//! Ctrl-C and its kin: the first stops the work in an orderly way, the second ends the program at once.

use crate::repl::Interrupt;
use selfsmith_agent::ending::Ending;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancel one piece of work when the person or the system says stop. Runs until the program ends.
pub async fn watch(cancel: CancellationToken) {
    on_each(|| cancel.clone()).await;
}

/// Cancel whatever prompt of the REPL is under way.
pub async fn watch_each(interrupt: Interrupt) {
    on_each(|| interrupt.token()).await;
}

async fn on_each(token: impl Fn() -> CancellationToken) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut streams: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let [interrupt, terminate, hangup] = streams.as_mut_slice() else { return };
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        let token = token();
        if token.is_cancelled() {
            // Asked twice: whoever asks does not want to wait for an orderly end.
            std::process::exit(i32::from(Ending::Interrupted.exit_code()));
        }
        token.cancel();
    }
}
