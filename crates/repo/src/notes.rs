//! Notes on commits. Promises that two writers never lose each other's notes: the notes ref moves by compare-and-swap.
//! It writes them where `git notes` finds them, and does not know what they say.

use crate::commits::{Identity, NewCommit, When};
use crate::error::RepoError;
use crate::objects::{Change, Mode};
use crate::open::{Repo, oid};
use crate::path::TreePath;
use git2::ErrorCode;

/// How often a note is written anew on top of another writer's.
const TRIES: u32 = 20;

impl Repo {
    /// The note on a commit; none if there is none. What is no UTF-8 in it is replaced.
    ///
    /// # Errors
    /// The notes cannot be read.
    pub fn note_read(&self, notes_ref: &str, commit: &str) -> Result<Option<String>, RepoError> {
        match self.inner.find_note(Some(notes_ref), oid(commit)?) {
            Ok(note) => Ok(Some(String::from_utf8_lossy(note.message_bytes()).into_owned())),
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(RepoError::Git { doing: format!("read the note on {commit}"), source: e }),
        }
    }

    /// Writes, or replaces, the note on a commit. Writing the same text again changes nothing.
    ///
    /// # Errors
    /// The commit is not there, or others kept moving the notes ref.
    pub fn note_write(
        &self,
        notes_ref: &str,
        commit: &str,
        text: &str,
        who: (&Identity, When),
    ) -> Result<(), RepoError> {
        let commit = self.find_commit(commit)?.id().to_string();
        let blob = self.write_blob(text.as_bytes())?;
        let mut tries = 0;
        loop {
            let before = self.read_ref(notes_ref)?;
            let tree = match &before {
                Some(id) => self.tree_of(id)?,
                None => self.empty_tree()?,
            };
            let path = self.note_path(&tree, &commit)?;
            let entry = Some((Mode::File, blob.clone()));
            let after = self.tree_with(&tree, &[Change { path, entry }])?;
            if after == tree {
                return Ok(());
            }
            let parents: Vec<&str> = before.as_deref().into_iter().collect();
            let message = format!("Note on {commit}\n");
            let new = NewCommit { tree: &after, parents: &parents, author: who.0, message: &message, when: who.1 };
            let new = self.commit(new)?;
            tries += 1;
            match self.cas_ref(notes_ref, before.as_deref(), Some(&new), "selfsmith: note", who) {
                Err(RepoError::Moved { .. }) if tries < TRIES => {}
                other => return other,
            }
        }
    }

    /// Where this commit's note lies or should lie: git spreads notes over folders of two digits once there are many.
    fn note_path(&self, tree: &str, commit: &str) -> Result<TreePath, RepoError> {
        let mut path = TreePath::new(Vec::new());
        let mut rest = commit;
        let mut tree = tree.to_owned();
        while let Some((two, more)) = rest.split_at_checked(2).filter(|(_, more)| !more.is_empty()) {
            let entries = self.top_entries(&tree)?;
            let Some(folder) = entries.iter().find(|e| e.name.as_bytes() == two.as_bytes() && e.raw_mode == 0o040_000)
            else {
                let whole = entries.iter().any(|e| e.name.as_bytes() == rest.as_bytes());
                let spread = entries.iter().any(|e| e.raw_mode == 0o040_000 && e.name.as_bytes().len() == 2);
                return Ok(if spread && !whole {
                    path.join(two.as_bytes()).join(more.as_bytes())
                } else {
                    path.join(rest.as_bytes())
                });
            };
            path = path.join(two.as_bytes());
            tree.clone_from(&folder.id);
            rest = more;
        }
        Ok(path.join(rest.as_bytes()))
    }
}
