//! Ports of the room that lead to UNIX sockets outside: a process that has the room's network and the caller's files.
//!
//! It copies bytes and understands none of them.

use crate::job::Forward;
use crate::launch::detach_streams;
use crate::wire::Fault;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, fork};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Connections at a time; more wait for a moment and are then closed.
const MOST_CONNECTIONS: usize = 64;

/// Starts it, if there is something to forward. It ends with the supervisor, of which it is a child.
pub(super) fn start(forwards: &[Forward]) -> Result<(), Fault> {
    if forwards.is_empty() {
        return Ok(());
    }
    let listeners = forwards.iter().map(listen).collect::<Result<Vec<_>, _>>()?;
    // SAFETY: the supervisor has one thread.
    match unsafe { fork() }.map_err(|error| Fault::other("start the forwarder", error))? {
        ForkResult::Parent { .. } => Ok(()),
        ForkResult::Child => serve(listeners),
    }
}

fn listen(forward: &Forward) -> Result<(TcpListener, PathBuf), Fault> {
    let refuse = |why: String| Fault::Forward { port: forward.port, why };
    match forward.socket.metadata() {
        Ok(facts) if facts.file_type().is_socket() => {}
        Ok(_) => return Err(refuse(format!("`{}` is no socket", forward.socket.display()))),
        Err(error) => return Err(refuse(format!("`{}`: {error}", forward.socket.display()))),
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, forward.port));
    let listener = listener.map_err(|error| refuse(format!("listen inside: {error}")))?;
    Ok((listener, forward.socket.clone()))
}

/// Never returns. Neither the program's streams nor the supervisor's pipes may stay open here.
fn serve(listeners: Vec<(TcpListener, PathBuf)>) -> ! {
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    if detach_streams().is_err() {
        std::process::exit(1);
    }
    close_all_but(&listeners);
    let threads: Vec<_> =
        listeners.into_iter().map(|(listener, socket)| thread::spawn(move || accept(&listener, &socket))).collect();
    for thread in threads {
        let _ = thread.join();
    }
    std::process::exit(0);
}

fn close_all_but(listeners: &[(TcpListener, PathBuf)]) {
    use std::os::fd::AsRawFd;
    let kept: Vec<i32> = listeners.iter().map(|(listener, _)| listener.as_raw_fd()).collect();
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number > 2 && !kept.contains(number)) {
        // SAFETY: this process will touch none of these numbers again; each belongs to the supervisor, whose copy of
        // the table is its own.
        unsafe { nix::libc::close(number) };
    }
}

fn accept(listener: &TcpListener, socket: &Path) {
    let count = Arc::new(AtomicUsize::new(0));
    for inside in listener.incoming().flatten() {
        let count = Arc::clone(&count);
        if count.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
            count.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let outside = UnixStream::connect(socket);
        thread::spawn(move || {
            // Where the server outside is gone, the connection inside just closes.
            if let Ok(outside) = outside {
                join(&inside, &outside);
            }
            count.fetch_sub(1, Ordering::AcqRel);
        });
    }
}

/// Copies both ways until both are done.
fn join(inside: &TcpStream, outside: &UnixStream) {
    // What is small must arrive at once: tokens of a model, one by one.
    let _ = inside.set_nodelay(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            copy(inside, outside);
            let _ = outside.shutdown(Shutdown::Write);
        });
        copy(outside, inside);
        let _ = inside.shutdown(Shutdown::Write);
    });
}

fn copy(mut from: impl Read, mut to: impl Write) {
    let mut piece = vec![0; 64 * 1024];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                if to.write_all(piece.get(..count).unwrap_or_default()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
