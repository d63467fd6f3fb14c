//! What the machine's owner says, and how they are answered: settings, surroundings, the goal inbox, exit codes.

pub mod exit;
pub mod inbox;
pub mod settings;
pub mod surroundings;
