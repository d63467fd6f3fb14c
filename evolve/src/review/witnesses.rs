//! Who else tells of a cycle or decision: notes, kept refs, trailers, journals, the operation log. The chain is a ref like any
//! other, so whoever can write the repository can move it back or delete it; what tells of a record that the chain lacks gives
//! that away. Reads only, bounded.

use super::ReviewError;
use crate::cycle::CycleError;
use crate::review::Fault;
use crate::store::journal::{Effect, Known};
use crate::store::lineage::{LINEAGE_REF, NOTES_REF};
use crate::store::log::{self, LogError};
use crate::store::ops::Operation;
use crate::store::record::Record;
use crate::store::state::StateFolder;
use selfsmith_repo::Repo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Commits on branches that are looked at, newest first.
const MOST_COMMITS: usize = 10_000;
/// Refs whose last part begins with the id of a cycle or decision.
const KEPT: [&str; 2] = ["refs/selfsmith/candidates/", "refs/selfsmith/undone/"];

/// What tells of records, by their ids.
#[derive(Debug, Default)]
struct Witnesses {
    told: BTreeMap<String, BTreeSet<String>>,
    /// What is still under way: its record comes last.
    open: BTreeSet<String>,
}

/// A fault for each record that something tells of and the chain lacks. `state` is the folder on this machine; a clone on
/// another one has none of what it holds.
pub fn missing(repo: &Repo, state: &StateFolder, recorded: &BTreeSet<String>) -> Result<Vec<Fault>, ReviewError> {
    let mut witnesses = Witnesses::default();
    witnesses.journals(state)?;
    for operation in read::<Operation>(&state.ops())? {
        witnesses.tell(operation.id, "the operation log".to_owned());
    }
    witnesses.refs(repo)?;
    witnesses.notes(repo)?;
    witnesses.trailers(repo)?;
    let Witnesses { told, open } = witnesses;
    let lacks = |id: &String| !recorded.contains(id) && !open.contains(id);
    let fault = |(id, who): (String, BTreeSet<String>)| {
        let who: Vec<String> = who.into_iter().collect();
        Fault { id, what: format!("the chain has no record of it, though it is told of by {}", who.join(", ")) }
    };
    let mut faults: Vec<Fault> = told.into_iter().filter(|(id, _)| lacks(id)).map(fault).collect();
    if !faults.is_empty() && repo.read_ref(LINEAGE_REF)?.is_none() {
        let what = "the ref is gone, or was never fetched: git fetch REMOTE 'refs/selfsmith/*:refs/selfsmith/*' \
                    'refs/notes/selfsmith:refs/notes/selfsmith'";
        faults.insert(0, Fault { id: LINEAGE_REF.to_owned(), what: what.to_owned() });
    }
    Ok(faults)
}

/// A log to its last byte, unless somebody is just writing it.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ReviewError> {
    let strict = log::read_strictly(path);
    let in_use = || std::fs::File::open(path).is_ok_and(|file| file.try_lock_shared().is_err());
    match strict {
        Err(LogError::Damaged { .. }) if in_use() => Ok(log::read(path).map_err(CycleError::from)?),
        other => Ok(other.map_err(CycleError::from)?),
    }
}

impl Witnesses {
    fn tell(&mut self, id: String, who: String) {
        self.told.entry(id).or_default().insert(who);
    }

    fn journals(&mut self, state: &StateFolder) -> Result<(), ReviewError> {
        let ids = state.cycles().map_err(|source| CycleError::Disk {
            doing: "list",
            path: state.root().to_owned(),
            source,
        })?;
        for id in ids {
            let path = state.cycle(&id).journal();
            let entries = read(&path)?;
            let known = Known::fold(&entries).map_err(|source| CycleError::Journal { path, source })?;
            let Some(known) = known else { continue };
            let records = known.plan.as_ref().is_some_and(|plan| plan.effects.contains(&Effect::Lineage));
            match (known.ended, records) {
                (true, true) => self.tell(id, "its journal".to_owned()),
                (true, false) => {}
                (false, _) => {
                    self.open.insert(id);
                }
            }
        }
        Ok(())
    }

    fn refs(&mut self, repo: &Repo) -> Result<(), ReviewError> {
        for prefix in KEPT {
            for reference in repo.refs(prefix)? {
                let Some(name) = reference.name.strip_prefix(prefix) else { continue };
                // `<cycle>-<n>` under candidates, the decision's own id under undone.
                let is_candidate = prefix.ends_with("candidates/");
                let id = name.rsplit_once('-').map(|(cycle, _)| cycle).filter(|_| is_candidate).unwrap_or(name);
                self.tell(id.to_owned(), reference.name.clone());
            }
        }
        Ok(())
    }

    fn notes(&mut self, repo: &Repo) -> Result<(), ReviewError> {
        #[derive(Deserialize)]
        struct Note {
            record: Record,
        }
        let Some(head) = repo.read_ref(NOTES_REF)? else { return Ok(()) };
        for entry in repo.entries(&repo.tree_of(&head)?)? {
            let bytes = repo.blob(&entry.id)?;
            let Ok(note) = serde_json::from_slice::<Note>(&bytes) else { continue };
            let commit = entry.path.to_string().replace('/', "");
            self.tell(note.record.id, format!("the note on {commit}"));
        }
        Ok(())
    }

    fn trailers(&mut self, repo: &Repo) -> Result<(), ReviewError> {
        let tips: Vec<String> = repo.refs("refs/heads/")?.into_iter().map(|branch| branch.id).collect();
        for commit in repo.history(&tips, MOST_COMMITS)? {
            if let Some(id) = commit.trailer("Selfsmith-Cycle") {
                self.tell(id, format!("the commit {}", commit.id));
            }
        }
        Ok(())
    }
}
