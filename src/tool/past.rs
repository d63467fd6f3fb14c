//! What the tools of a session did to files, so that the last edit of a file can be taken back. Bounded; it lives and ends
//! with the session.

use super::paths::Place;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Bytes that are kept; the oldest edits go first.
const MAX_BYTES: usize = 64 << 20;
/// Edits that are kept.
const MAX_STEPS: usize = 1000;

/// The edits, oldest first.
#[derive(Debug, Default)]
pub struct Past {
    steps: VecDeque<Step>,
    bytes: usize,
    calls: u64,
}

/// One edit of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The call that made it; others of that number were made together with it.
    call: u64,
    path: PathBuf,
    /// How the answer names it.
    relative: String,
    /// The bytes before; none where the file was made.
    pub before: Option<Vec<u8>>,
    /// Digest of the bytes after.
    after: [u8; 32],
}

impl Past {
    /// What one call did: places with the bytes before and after.
    pub fn add<'a>(&mut self, edits: impl Iterator<Item = (&'a Place, Option<Vec<u8>>, &'a [u8])>) {
        self.calls += 1;
        for (place, before, after) in edits {
            self.bytes += before.as_ref().map_or(0, Vec::len);
            self.steps.push_back(Step {
                call: self.calls,
                path: place.absolute.clone(),
                relative: place.relative.clone(),
                before,
                after: digest(after),
            });
        }
        while self.bytes > MAX_BYTES || self.steps.len() > MAX_STEPS {
            let Some(oldest) = self.steps.pop_front() else { break };
            self.bytes -= oldest.before.as_ref().map_or(0, Vec::len);
        }
    }

    /// The last edit of a file, and the other files of its call that still hold theirs.
    pub fn last(&self, path: &Path) -> Option<(Step, Vec<String>)> {
        let step = self.steps.iter().rfind(|step| step.path == path)?;
        let others = self.steps.iter().filter(|other| other.call == step.call && other.path != path);
        Some((step.clone(), others.map(|other| other.relative.clone()).collect()))
    }

    /// Forget the last edit of a file: it was taken back.
    pub fn forget(&mut self, path: &Path) {
        if let Some(n) = self.steps.iter().rposition(|step| step.path == path)
            && let Some(step) = self.steps.remove(n)
        {
            self.bytes -= step.before.as_ref().map_or(0, Vec::len);
        }
    }
}

impl Step {
    /// Whether these bytes are what the edit left.
    pub fn left(&self, bytes: &[u8]) -> bool {
        self.after == digest(bytes)
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_edits_go_when_there_are_too_many_bytes() {
        let place = |n: usize| Place { absolute: PathBuf::from(format!("/{n}")), relative: n.to_string() };
        let mut past = Past::default();
        for n in 0..3 {
            past.add(std::iter::once((&place(n), Some(vec![0; MAX_BYTES / 2]), b"x".as_slice())));
        }
        assert_eq!(past.last(Path::new("/0")), None);
        assert!(past.last(Path::new("/1")).is_some() && past.last(Path::new("/2")).is_some());
        past.forget(Path::new("/1"));
        assert_eq!((past.last(Path::new("/1")), past.bytes), (None, MAX_BYTES / 2));
    }
}
