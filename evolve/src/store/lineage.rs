//! The lineage: one commit per cycle or decision on a ref of the judge's own, each standing on the one before.
//!
//! Promises: appended by compare-and-swap with retry, the same record never twice; the evidence lies in the commit's tree
//! (`evidence/`), beside the record itself (`record.json`). Plain git reads all of it. What a record means is not known here.

use crate::judgement::candidate::{CommitId, TreeId};
use crate::store::faults::{self, Faults, Half};
use crate::store::record::Record;
use selfsmith_repo::{
    Change, Commit, Identity, Mode, NewCommit, Repo, RepoError, TreePath, When, message_with_trailers,
};

/// The ref.
pub const LINEAGE_REF: &str = "refs/selfsmith/lineage";
/// Notes on commits that landed: copies of record and evidence.
pub const NOTES_REF: &str = "refs/notes/selfsmith";
/// How often an append is tried on top of another writer's.
const TRIES: u32 = 20;
/// The longest chain that is read.
const MAX_LINKS: usize = 100_000;

/// One link as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its commit.
    pub commit: CommitId,
    /// The commit it stands on; more than one, or one that is missing, is a fault that [`crate::review`] reports.
    pub parents: Vec<CommitId>,
    /// What it tells.
    pub record: Record,
    /// Tree of the evidence.
    pub evidence: TreeId,
}

/// Why the lineage cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LineageError {
    /// git refused.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// A link that does not hold what it should.
    #[error("read the lineage at {commit}: {what}")]
    Damaged {
        /// The link.
        commit: String,
        /// What is wrong.
        what: String,
    },
}

impl LineageError {
    /// What to do next.
    pub fn hint(&self) -> &str {
        match self {
            Self::Repo(e) => e.hint(),
            Self::Damaged { .. } => "`selfsmith lineage --verify` names every damaged link; nothing was changed",
        }
    }
}

/// The judge's own identity, for refs, notes and lineage.
pub fn judge() -> Identity {
    Identity { name: "Selfsmith judge".to_owned(), email: "judge@selfsmith.invalid".to_owned() }
}

/// A time in UTC.
pub fn at(seconds: i64) -> When {
    When { seconds, offset_minutes: 0 }
}

/// Write the object of the next link; no ref leads to it yet. The same record on the same parent gives the same id.
pub fn object(repo: &Repo, record: &Record, evidence: &TreeId, parent: Option<&str>) -> Result<String, LineageError> {
    let json = serde_json::to_string_pretty(record).map_err(|e| damaged(&record.id, e.to_string()))?;
    let blob = repo.write_blob(json.as_bytes())?;
    let mut changes = vec![Change { path: "record.json".into(), entry: Some((Mode::File, blob)) }];
    for entry in repo.entries(&evidence.0)? {
        let path = TreePath::from("evidence").join(entry.path.as_bytes());
        changes.push(Change { path, entry: Some((entry.mode, entry.id)) });
    }
    let tree = repo.tree_with(&repo.empty_tree()?, &changes)?;
    let candidate = record.candidate.as_ref().map_or("none", |c| c.id.as_str());
    let subject = format!("{} {}: {}, {}", record.kind.word(), record.id, record.verdict.word(), record.end.word());
    let message = message_with_trailers(
        &subject,
        &[("Selfsmith-Cycle", &record.id), ("Selfsmith-Candidate", candidate), ("Selfsmith-Evidence", &evidence.0)],
    );
    let parents: Vec<&str> = parent.into_iter().collect();
    let new = NewCommit { tree: &tree, parents: &parents, author: &judge(), message: &message, when: at(record.at) };
    Ok(repo.commit(new)?)
}

/// Append a record, unless it is there already. Gives the link's commit.
pub fn append(repo: &Repo, record: &Record, evidence: &TreeId, faults: &dyn Faults) -> Result<CommitId, LineageError> {
    if let Some(link) = list(repo)?.into_iter().find(|link| link.record.id == record.id) {
        return Ok(link.commit);
    }
    let mut tries = 0;
    loop {
        let head = repo.read_ref(LINEAGE_REF)?;
        let link = object(repo, record, evidence, head.as_deref())?;
        tries += 1;
        let why = format!("selfsmith: {}", record.id);
        let (lock, who) = (repo.lock_of(LINEAGE_REF), (&judge(), at(record.at)));
        let moved = faults::step(faults, "lineage ref", Half::Ref(&lock, Some(&link)), || {
            repo.cas_ref(LINEAGE_REF, head.as_deref(), Some(&link), &why, who)
        });
        match moved {
            Err(RepoError::Moved { .. }) if tries < TRIES => {}
            Err(e) => return Err(e.into()),
            Ok(()) => return Ok(CommitId(link)),
        }
    }
}

/// All links, newest first.
pub fn list(repo: &Repo) -> Result<Vec<Link>, LineageError> {
    let Some(head) = repo.read_ref(LINEAGE_REF)? else { return Ok(Vec::new()) };
    repo.first_parents(&head, MAX_LINKS)?.into_iter().map(|commit| read(repo, commit)).collect()
}

/// One link.
fn read(repo: &Repo, commit: Commit) -> Result<Link, LineageError> {
    let at = |what: &str| damaged(&commit.id, what.to_owned());
    let entry = repo.entry(&commit.tree, &"record.json".into())?.ok_or_else(|| at("it has no record.json"))?;
    let record =
        serde_json::from_slice(&repo.blob(&entry.id)?).map_err(|e| damaged(&commit.id, format!("record.json: {e}")))?;
    let evidence = repo.top_entries(&commit.tree)?.into_iter().find(|e| e.name.as_bytes() == b"evidence");
    let evidence = match evidence {
        Some(entry) => TreeId(entry.id),
        None => TreeId(repo.empty_tree()?),
    };
    Ok(Link {
        parents: commit.parents.into_iter().map(CommitId).collect(),
        commit: CommitId(commit.id),
        record,
        evidence,
    })
}

fn damaged(commit: &str, what: String) -> LineageError {
    LineageError::Damaged { commit: commit.to_owned(), what }
}
