//! What a prompt changed so far, whoever did it: a tool or a command. Pure.

use super::entry::{Entry, Rel};
use super::record::Label;
use super::tree::Change;
use std::collections::BTreeMap;

/// Paths with what stood there before the prompt, and what stands there since.
#[derive(Debug, Default)]
pub struct Changed {
    of: Label,
    paths: BTreeMap<Rel, (Option<Entry>, Option<Entry>)>,
}

impl Changed {
    /// Count a turn's changes in; those of another prompt are forgotten.
    pub fn add(&mut self, label: &Label, changes: &[Change]) {
        if (&self.of.session, self.of.message) != (&label.session, label.message) {
            *self = Self { of: label.clone(), paths: BTreeMap::new() };
        }
        for Change { path, before, after } in changes {
            self.paths.entry(path.clone()).or_insert_with(|| (before.clone(), None)).1.clone_from(after);
        }
    }

    /// Files and links that differ from what they were, sorted.
    pub fn files(&self, label: &Label) -> Vec<String> {
        if (&self.of.session, self.of.message) != (&label.session, label.message) {
            return Vec::new();
        }
        let is_folder = |entry: &Option<Entry>| entry.as_ref().is_none_or(Entry::is_folder);
        let real = self.paths.iter().filter(|(_, (before, after))| before != after);
        let files = real.filter(|(_, (before, after))| !is_folder(before) || !is_folder(after));
        files.map(|(path, _)| path.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::entry::Digest;

    #[test]
    fn what_is_as_it_was_and_what_another_prompt_did_does_not_count() {
        let file = |text: &str| Some(Entry::File { mode: 0o644, size: 1, digest: Digest::of(text.as_bytes()) });
        let change = |path: &str, before, after| Change { path: Rel::new(path.as_bytes().to_vec()), before, after };
        let label = |message| Label { session: "s".to_owned(), message, ..Label::default() };
        let mut changed = Changed::default();
        changed.add(&label(1), &[change("old", file("a"), file("b"))]);
        changed.add(&label(2), &[change("new", None, file("a")), change("brief", None, file("a"))]);
        changed.add(
            &label(2),
            &[change("brief", file("a"), None), change("d", None, Some(Entry::Folder { mode: 0o755 }))],
        );
        assert_eq!(changed.files(&label(2)), ["new"]);
        assert_eq!(changed.files(&label(3)), Vec::<String>::new());
    }
}
