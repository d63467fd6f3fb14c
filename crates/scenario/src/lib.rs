//! Black-box scenarios: a folder says what is given and what must come out; a program is run, and the two are compared.
//!
//! ```text
//! tests/scenarios/<fact>/
//!   case.yaml      one sentence, arguments, standard input, exit code, what the streams must hold
//!   model.yaml     the model's replies, in order (served over real HTTP)
//!   before/        the workspace as it is given
//!   after/         the workspace as it must be; absent: exactly as before
//!   events.jsonl   what `--json` must print, line by line; absent: not compared
//! ```
//!
//! The runner makes the world, runs the program as a program, and looks at the world afterwards: whole tree, exit code,
//! streams, requests. It links nothing of what it tests. The judge drives candidates with it inside the room
//! ([`Place::Room`]); `cargo test` drives the built binary where it stands ([`Place::Here`]).

mod case;
mod compare;
mod events;
mod model;
mod run;
mod tree;

pub use case::{Case, CaseError, Expected};
pub use run::{Bless, Options, Outcome, Place, RoomPlace, ScenarioError, names, run};
