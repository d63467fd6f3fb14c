//! The one door for child processes: limits, the whole tree, bounded output, walls.
//!
//! [`run`] starts a program, collects bounded output and returns when the program's own process has ended and a short
//! drain is over, never when a pipe closes: a grandchild that holds the pipe cannot hang the caller. Whatever the program
//! left behind ends with it, processes that made a session of their own included.
//!
//! How: the caller re-executes its own binary as a small *supervisor* (one thread, nothing of the caller's memory or
//! environment), which stands above the program's tree, puts up the walls, and ends the tree when it is told to or when
//! the caller is gone. The order of a job, from the outside in:
//!
//! ```text
//! caller (run) ── socket ── supervisor (entry/) ── [first process of the room (room/)] ── program
//! ```
//!
//! It knows nothing of models, git or cargo.

mod attended;
mod cancel;
mod disk;
mod environment;
mod error;
mod finished;
mod job;
mod limits;
mod output;
mod wall;
mod wire;

mod entry;
mod give;
mod kernel;
mod launch;
mod loopback;
mod probe;
mod replace;
mod room;
mod run;
mod supervisor;
mod tree;
mod unreadable;
mod watch;
mod workspace;

pub use attended::attended;
pub use cancel::{Cancel, CancelOnDrop};
pub use entry::{entry, stdout_was_closed};
pub use environment::is_secret_name;
pub use error::SandboxError;
pub use finished::{End, Finished, Limit};
pub use give::{ROOM_UID, give_to_room};
pub use job::{Bind, BindMode, Environment, Forward, Job, Program, ProtectedFile, Room, Walls, Workspace};
pub use limits::Limits;
pub use loopback::Loopback;
pub use output::{Captured, Stream};
pub use probe::{PrivateFiles, Probe, WallState, in_room, probe, probe_workspace};
pub use replace::replace;
pub use run::run;
pub use unreadable::Unreadable;
pub use wall::{MissingWall, Wall};
