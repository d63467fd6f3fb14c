//! Ctrl-C and its kin: the first stops the work in an orderly way, the second ends the program at once.

use crate::repl::{self, Interrupt};
#[cfg(target_os = "linux")]
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use selfsmith_agent::ending::Ending;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// For an orderly end of the REPL. A line editor whose terminal is gone may never look up again.
const GRACE: Duration = Duration::from_secs(3);

/// For the last line of a program that ends at once.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Cancel one piece of work when the person or the system says stop. From the call on no signal is missed, until the program
/// ends. `last` is what is still to be told where it ends at once.
pub fn watch(cancel: CancellationToken, last: impl Fn() + Send + Sync + 'static) {
    let last = Arc::new(last);
    on_each(move |_| {
        if cancel.is_cancelled() {
            let last = last.clone();
            let (done, told) = std::sync::mpsc::channel();
            // Whoever reads may have stopped to: that must not hold up the end.
            std::thread::spawn(move || {
                last();
                let _ = done.send(());
            });
            let _ = told.recv_timeout(LAST_WORDS);
            at_once();
        }
        cancel.cancel();
    });
}

/// Stop whatever prompt of the REPL is under way; end the REPL where the system asks for it. As [`watch`] otherwise.
pub fn watch_each(interrupt: Interrupt) {
    on_each(move |asked| match asked {
        Asked::ByPerson if interrupt.is_aside() => {}
        Asked::ByPerson if interrupt.token().is_cancelled() => at_once(),
        Asked::ByPerson => interrupt.token().cancel(),
        Asked::BySystem if interrupt.is_leaving() => at_once(),
        Asked::BySystem => leave(&interrupt),
    });
}

/// End the REPL when its terminal goes away, where nobody sends a signal for that.
#[cfg(target_os = "linux")]
pub fn watch_terminal(interrupt: Interrupt) {
    std::thread::spawn(move || {
        let stdin = std::io::stdin();
        // Without a wish, a poll only wakes for the end.
        let mut terminal = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
        loop {
            match poll(&mut terminal, PollTimeout::NONE) {
                Err(Errno::EINTR) | Ok(0) => {}
                Err(_) => return,
                Ok(_) => break,
            }
        }
        if !interrupt.is_leaving() {
            leave(&interrupt);
        }
    });
}

fn leave(interrupt: &Interrupt) {
    interrupt.leave();
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        at_once();
    });
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
    crate::start::has_worked();
    repl::give_back();
    std::process::exit(i32::from(Ending::Interrupted.exit_code()));
}

/// On a thread of its own: whatever the work's thread is busy with, the second Ctrl-C ends the program.
fn on_each(mut stop: impl FnMut(Asked) + Send + 'static) {
    let Ok(runtime) = Builder::new_current_thread().enable_io().build() else { return };
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    // Before the thread begins: until then a signal would still end the program by itself.
    let mut streams: Vec<_> = {
        let _entered = runtime.enter();
        kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect()
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            let [interrupt, terminate, hangup] = streams.as_mut_slice() else { return };
            loop {
                let asked = tokio::select! {
                    _ = interrupt.recv() => Asked::ByPerson,
                    _ = terminate.recv() => Asked::BySystem,
                    _ = hangup.recv() => Asked::BySystem,
                };
                stop(asked);
            }
        });
    });
}
