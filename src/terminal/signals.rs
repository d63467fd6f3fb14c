//! Ctrl-C and its kin: the first stops the work in an orderly way, the second ends the program at once.

use crate::repl::Interrupt;
use selfsmith_agent::ending::Ending;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancel one piece of work when the person or the system says stop. Runs until the program ends.
pub async fn watch(cancel: CancellationToken) {
    on_each(|_| {
        if cancel.is_cancelled() {
            at_once();
        }
        cancel.cancel();
    })
    .await;
}

/// Stop whatever prompt of the REPL is under way; end the REPL where the system asks for it.
pub async fn watch_each(interrupt: Interrupt) {
    on_each(|asked| match asked {
        Asked::ByPerson if interrupt.token().is_cancelled() => at_once(),
        Asked::ByPerson => interrupt.token().cancel(),
        Asked::BySystem if interrupt.is_leaving() => at_once(),
        Asked::BySystem => interrupt.leave(),
    })
    .await;
}

/// Who says stop.
enum Asked {
    /// Ctrl-C.
    ByPerson,
    /// The terminal went away, or something ends the program.
    BySystem,
}

/// Asked twice: whoever asks does not want to wait for an orderly end.
fn at_once() {
    std::process::exit(i32::from(Ending::Interrupted.exit_code()));
}

async fn on_each(mut stop: impl FnMut(Asked)) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut streams: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let [interrupt, terminate, hangup] = streams.as_mut_slice() else { return };
    loop {
        let asked = tokio::select! {
            _ = interrupt.recv() => Asked::ByPerson,
            _ = terminate.recv() => Asked::BySystem,
            _ = hangup.recv() => Asked::BySystem,
        };
        stop(asked);
    }
}
