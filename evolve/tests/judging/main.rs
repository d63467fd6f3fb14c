//! The cycle on real repositories, with a scripted proposer and scripted gates: landing, keeping, review, undo, recovery.
#![expect(clippy::unwrap_used, reason = "tests")]

mod flips;
mod hostile;
mod in_use;
mod kept;
mod kill;
mod landing;
mod locks;
mod own;
mod proposed;
mod remade;
mod reviewing;
mod world;
