//! What lasts: the state folder and its lock, the durable log, the journal of what was going on, the record and lineage of
//! what was, the evidence, and who said so. Each write survives a kill at any byte; tests let a run die in between.

pub mod authority;
pub mod evidence;
pub mod faults;
pub mod generations;
pub mod journal;
pub mod lineage;
pub mod lock;
pub mod log;
pub mod ops;
pub mod record;
pub mod state;
