//! Tells the launcher that what it started has worked: it counts starts of which nobody says so as deaths of this generation
//! (docs/contract.md).

/// Names the file that the launcher made for this process.
const START: &str = "SELFSMITH_START";

/// A turn came to its end, or the program does, in an orderly way or because a person wants it to.
pub fn has_worked() {
    if let Some(file) = std::env::var_os(START) {
        let _ = std::fs::remove_file(file);
    }
}
