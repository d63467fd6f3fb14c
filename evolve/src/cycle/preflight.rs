//! Before a cycle: which branch, which commit, which rules. Reads only.

use super::CycleError;
use crate::judgement::candidate::{CommitId, TreeId};
use crate::rules::{RULES_PATH, Rules, RulesError};
use crate::store::lineage::{self, LINEAGE_REF, NOTES_REF};
use selfsmith_repo::{InUse, Mode, Repo, RepoError};

/// The commit that a cycle works on, fixed.
#[derive(Debug, Clone)]
pub struct Base {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Full name of the branch that the result goes to.
    pub target: String,
    /// Its rules.
    pub rules: Rules,
}

impl Base {
    /// Its rules as YAML, for the evidence.
    pub fn rules_text(&self) -> String {
        self.rules.to_yaml()
    }
}

/// Fix the base: the given branch (short or full name), or the one that is checked out.
pub fn look(repo: &Repo, branch: Option<&str>) -> Result<Base, CycleError> {
    let target = match branch {
        Some(name) => named(repo, name)?,
        None => repo.head_branch()?.ok_or_else(|| CycleError::Target {
            what: "choose a branch: HEAD is at a commit and on no branch".to_owned(),
            hint: "check out the branch that the result is for, or name it with --branch".to_owned(),
        })?,
    };
    let commit = repo.read_ref(&target)?.ok_or_else(|| CycleError::Target {
        what: format!("work on {target}: it has no commit"),
        hint: "commit something to it first; the judge works from commits only".to_owned(),
    })?;
    room_for_refs(repo)?;
    free_to_move(repo, &target)?;
    as_git_shows_it(repo, &commit)?;
    // A chain that cannot be read could not be gone on with at the end either.
    lineage::list(repo)?;
    let tree = TreeId(repo.tree_of(&commit)?);
    let rules = rules(repo, &tree)?;
    Ok(Base { commit: CommitId(commit), tree, target, rules })
}

/// The branch that a person names, short or in full, or that the name leads to.
fn named(repo: &Repo, name: &str) -> Result<String, CycleError> {
    let full = if name.starts_with("refs/heads/") { name.to_owned() } else { format!("refs/heads/{name}") };
    let no_branch = |why: &str| CycleError::Target {
        what: format!("work on {name}: {why}"),
        hint: "name a branch; `git branch` lists them".to_owned(),
    };
    match repo.read_ref(&full) {
        Err(RepoError::BadRef { .. }) => Err(no_branch("that is no name of a branch")),
        Err(e) => Err(e.into()),
        Ok(_) => {
            let target = repo.final_name(&full);
            if target.starts_with("refs/heads/") { Ok(target) } else { Err(no_branch("it leads to something else")) }
        }
    }
}

/// What would go wrong later: an index that cannot be read, and a base that git shows otherwise than it is.
fn as_git_shows_it(repo: &Repo, commit: &str) -> Result<(), CycleError> {
    let folder = repo.workdir().unwrap_or(repo.git_dir());
    let git = format!("git -C {}", super::checkouts::quoted(folder));
    if let Some((why, mends)) = repo.index_fault() {
        return Err(CycleError::Target {
            what: format!("read the index of {}: {why}", folder.display()),
            hint: format!("`{git} {mends}` writes it anew"),
        });
    }
    if let Some(id) = repo.replaced_in(commit)? {
        return Err(CycleError::Target {
            what: format!("work on {commit}: git shows another object for its {id} (refs/replace/{id})"),
            hint: format!("the judge works on what is there; commit what you see, or `{git} replace -d {id}`"),
        });
    }
    Ok(())
}

/// Nothing lands on a branch in the middle of a person's rebase or bisect, which git would not move either.
pub(crate) fn free_to_move(repo: &Repo, target: &str) -> Result<(), CycleError> {
    let Some(InUse { path, operation }) = repo.in_use(target)? else { return Ok(()) };
    let git = format!("git -C {}", super::checkouts::quoted(&path));
    let (doing, how) = match operation {
        "bisect" => ("bisected", format!("`{git} bisect reset` ends it")),
        _ => ("rebased", format!("`{git} rebase --continue` or `{git} rebase --abort` ends it")),
    };
    let branch = target.strip_prefix("refs/heads/").unwrap_or(target);
    Err(CycleError::Target {
        what: format!("move {branch}: it is being {doing} in {}", path.display()),
        hint: format!("{how}; then start again"),
    })
}

/// Nothing of somebody else's stands where the judge's own refs must be.
fn room_for_refs(repo: &Repo) -> Result<(), CycleError> {
    let in_the_way = |name: &str, what: &str| CycleError::Target {
        what: format!("keep the judge's own refs: {name} is there already, {what}"),
        hint: format!("give it another name: git update-ref {name}-old {name} && git update-ref -d {name}"),
    };
    for folder in ["refs/selfsmith", "refs/selfsmith/candidates", "refs/selfsmith/undone", "refs/notes"] {
        if repo.read_ref(folder)?.is_some() {
            return Err(in_the_way(folder, "a ref where the folder for them must be"));
        }
    }
    for name in [LINEAGE_REF, NOTES_REF] {
        if let Some(found) = repo.refs(&format!("{name}/"))?.first() {
            return Err(in_the_way(&found.name, &format!("below {name}, which must be a ref itself")));
        }
    }
    Ok(())
}

/// The rules of a tree: its own, or the defaults for a Cargo project.
fn rules(repo: &Repo, tree: &TreeId) -> Result<Rules, CycleError> {
    let wrong = |what: &str| RulesError { file: RULES_PATH.to_owned(), line: None, what: what.to_owned() };
    if let Some(entry) = repo.entry(&tree.0, &RULES_PATH.into())? {
        if !matches!(entry.mode, Mode::File | Mode::Executable) {
            return Err(wrong("it is not a regular file").into());
        }
        let text = String::from_utf8(repo.blob(&entry.id)?).map_err(|_| wrong("it is not UTF-8 text"))?;
        return Ok(Rules::parse(&text)?);
    }
    if repo.entry(&tree.0, &"Cargo.toml".into())?.is_some() {
        return Ok(Rules::cargo_defaults());
    }
    Err(CycleError::Target {
        what: format!("judge this repository: it has neither {RULES_PATH} nor a Cargo.toml at its top"),
        hint: format!("write {RULES_PATH} (zones, build, tests, scenarios) and commit it"),
    })
}
