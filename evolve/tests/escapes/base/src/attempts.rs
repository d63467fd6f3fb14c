//! Nothing is attempted yet.

/// How many attempts there were, and the names of those that got out.
pub fn all(_from: &str) -> (usize, Vec<String>) {
    (0, Vec::new())
}
