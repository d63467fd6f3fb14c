//! Ctrl-C and SIGTERM: the first one asks the work to end, the second one ends the program.

use crate::terminal::streams;
use selfsmith::owner::exit::Exit;
use selfsmith::texts::EN;
use selfsmith_sandbox::Cancel;

/// A flag that the first signal raises.
pub fn watched() -> Cancel {
    let cancel = Cancel::default();
    let raised = cancel.clone();
    let watch = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // Without a runtime signals end the program at once, as they would anyway; recovery is the next command's.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async move {
            for count in 0..2 {
                if one().await.is_err() {
                    return;
                }
                if count == 1 {
                    streams::tell(EN.interrupted);
                    std::process::exit(i32::from(Exit::Interrupted.code()));
                }
                streams::tell(EN.interrupting);
                raised.cancel();
            }
        });
    };
    // The same holds where no thread can be made.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(watch);
    cancel
}

async fn one() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut end = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = end.recv() => Ok(()),
    }
}
