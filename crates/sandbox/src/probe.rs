//! Which walls hold on this machine, and why not.

use crate::walls::Wall;
use serde::Serialize;

/// The answer for one wall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WallState {
    /// Which.
    pub wall: Wall,
    /// Whether it can be put up.
    pub holds: bool,
    /// Why not, or what should be known of it.
    pub why: String,
}

/// The answer for all walls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// One entry for each wall.
    pub walls: Vec<WallState>,
}

/// Tries each wall.
pub fn probe() -> Probe {
    let walls = Wall::ALL.into_iter().map(|wall| WallState { wall, holds: false, why: "not built yet".to_owned() });
    Probe { walls: walls.collect() }
}
