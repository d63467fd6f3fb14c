//! The evidence bundle: everything from which a verdict can be derived again, as files in a git tree.
//!
//! `goal.txt`, `rules.yaml`, `baseline.json`, and for each attempt `attempts/<n>/` with `proposal.json`, `candidate.json`,
//! `reports.json`, `required.json`. Texts of a proposer are kept as they were said; whoever shows them escapes them.

use crate::judgement::candidate::{Candidate, Proposal, TreeId};
use crate::judgement::gate::{GateName, GateReport};
use crate::judgement::weigh::Baseline;
use crate::store::journal::{Attempt, Known};
use selfsmith_repo::{Change, Mode, Repo, RepoError, TreePath};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The most that a note holds, in bytes.
const MAX_NOTE: usize = 1 << 20;

/// Evidence as read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The base's rules, as YAML.
    pub rules: String,
    /// What was known of the base; none where it was never learned.
    pub baseline: Option<Baseline>,
    /// Attempts in order.
    pub attempts: Vec<Weighing>,
}

/// One attempt as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighing {
    /// What was said.
    pub proposal: Proposal,
    /// What was judged; none if it was kept out of the repository.
    pub candidate: Option<Candidate>,
    /// The reports.
    pub reports: Vec<GateReport>,
    /// Gates that had to run.
    pub required: Vec<GateName>,
}

/// Write the bundle of a cycle.
pub fn write(repo: &Repo, known: &Known) -> Result<TreeId, RepoError> {
    let mut files = BTreeMap::from([
        ("goal.txt".to_owned(), known.opened.goal.clone()),
        ("rules.yaml".to_owned(), known.opened.rules.clone()),
    ]);
    if let Some(baseline) = &known.baseline {
        files.insert("baseline.json".to_owned(), json(baseline));
    }
    for (n, attempt) in known.attempts.iter().enumerate() {
        add_attempt(&mut files, n, attempt);
    }
    let mut changes = Vec::new();
    for (path, text) in files {
        let blob = repo.write_blob(text.as_bytes())?;
        changes.push(Change { path: TreePath::from(path.as_str()), entry: Some((Mode::File, blob)) });
    }
    Ok(TreeId(repo.tree_with(&repo.empty_tree()?, &changes)?))
}

/// Read a bundle; what is missing is left empty.
pub fn read(repo: &Repo, tree: &TreeId) -> Result<Evidence, RepoError> {
    let mut evidence = Evidence::default();
    if let Some(bytes) = file(repo, tree, "rules.yaml")? {
        evidence.rules = String::from_utf8_lossy(&bytes).into_owned();
    }
    evidence.baseline = parsed(repo, tree, "baseline.json")?;
    for n in 0.. {
        let Some(reports) = parsed(repo, tree, &format!("attempts/{n}/reports.json"))? else { break };
        evidence.attempts.push(Weighing {
            reports,
            proposal: parsed(repo, tree, &format!("attempts/{n}/proposal.json"))?.unwrap_or_default(),
            candidate: parsed(repo, tree, &format!("attempts/{n}/candidate.json"))?,
            required: parsed(repo, tree, &format!("attempts/{n}/required.json"))?.unwrap_or_default(),
        });
    }
    Ok(evidence)
}

/// The text of a note: the record, and every file of the evidence, bounded.
pub fn note(repo: &Repo, record: &impl Serialize, tree: &TreeId) -> Result<String, RepoError> {
    let mut files = serde_json::Map::new();
    let mut room = MAX_NOTE;
    for entry in repo.entries(&tree.0)? {
        let bytes = repo.blob(&entry.id)?;
        let path = entry.path.to_string();
        if bytes.len() > room {
            files.insert(path, format!("left out here: {} bytes, blob {}", bytes.len(), entry.id).into());
            continue;
        }
        room -= bytes.len();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let value = if path.ends_with(".json") { serde_json::from_str(&text).ok() } else { None };
        files.insert(path, value.unwrap_or_else(|| text.into()));
    }
    let note = serde_json::json!({ "record": record, "evidence_tree": tree, "evidence": files });
    Ok(json(&note) + "\n")
}

fn add_attempt(files: &mut BTreeMap<String, String>, n: usize, attempt: &Attempt) {
    let mut add = |name: &str, text: String| files.insert(format!("attempts/{n}/{name}.json"), text);
    if let Some(proposal) = &attempt.proposal {
        add("proposal", json(proposal));
    }
    if let Some(candidate) = &attempt.candidate {
        add("candidate", json(candidate));
    }
    match (&attempt.weighed, &attempt.bounds) {
        (Some((reports, required)), _) => {
            add("reports", json(reports));
            add("required", json(required));
        }
        (None, Some(bounds)) => {
            add("reports", json(&[bounds]));
        }
        (None, None) => {}
    }
}

fn file(repo: &Repo, tree: &TreeId, path: &str) -> Result<Option<Vec<u8>>, RepoError> {
    match repo.entry(&tree.0, &TreePath::from(path))? {
        Some(entry) => Ok(Some(repo.blob(&entry.id)?)),
        None => Ok(None),
    }
}

fn parsed<T: DeserializeOwned>(repo: &Repo, tree: &TreeId, path: &str) -> Result<Option<T>, RepoError> {
    let Some(bytes) = file(repo, tree, path)? else { return Ok(None) };
    let value = serde_json::from_slice(&bytes);
    value.map(Some).map_err(|e| RepoError::NotFound { what: format!("evidence in {path}"), why: e.to_string() })
}

/// Values of ours always can be written as JSON: no map has keys that are no strings.
fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
