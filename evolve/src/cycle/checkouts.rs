//! A person's checkouts of the target: a clean one follows, a dirty one is left alone and told how to catch up.

use super::{CycleError, Hands};
use crate::store::journal::{CheckoutSeen, Move};
use crate::texts::count;
use selfsmith_repo::{Caller, CatchUp, Renames, RepoError, Work};
use selfsmith_sandbox::Cancel;
use std::collections::BTreeSet;
use std::path::Path;

/// Checkouts of the branch before it moves.
pub(super) fn seen(hands: Hands<'_>, moved: &Move) -> Result<Vec<CheckoutSeen>, CycleError> {
    let Some(from) = &moved.from else { return Ok(Vec::new()) };
    let cancel = Cancel::default();
    let found = hands.repo.checkouts_of(&moved.name, &from.0, caller(hands, &cancel))?;
    Ok(found
        .into_iter()
        .map(|checkout| CheckoutSeen {
            left_alone: (!checkout.work.is_clean()).then(|| described(&checkout.work)),
            path: checkout.path,
        })
        .collect())
}

/// Bring one to where the branch is now. Gives what the person should know.
pub(super) fn update(hands: Hands<'_>, seen: &CheckoutSeen, moved: &Move) -> Option<String> {
    let (Some(from), Some(to)) = (&moved.from, &moved.to) else { return None };
    let why = match &seen.left_alone {
        Some(why) => why.clone(),
        None => {
            let cancel = Cancel::default();
            match hands.repo.update_checkout(&seen.path, &from.0, &to.0, caller(hands, &cancel)) {
                Ok(()) => return None,
                Err(RepoError::CheckoutKept { why, .. }) => why,
                Err(e) => format!("could not {e}"),
            }
        }
    };
    let aside = in_the_way(hands, &seen.path, &from.0, &to.0);
    let cancel = Cancel::default();
    match hands.repo.catch_up(&seen.path, (&from.0, &to.0), &aside, caller(hands, &cancel)) {
        Ok(CatchUp::Done) => None,
        Ok(CatchUp::Applies) => Some(how_to_catch_up(&seen.path, &why, &aside, moved, (&from.0, &to.0))),
        Ok(CatchUp::Refused(said)) => Some(by_hand(&seen.path, &why, &said, moved)),
        Err(error) => Some(by_hand(&seen.path, &why, &error.to_string(), moved)),
    }
}

/// What lies in the checkout where the landing brings new files: git would replace it without a word where it is ignored.
fn in_the_way(hands: Hands<'_>, checkout: &Path, from: &str, to: &str) -> Vec<String> {
    let trees = hands.repo.tree_of(from).and_then(|old| Ok((old, hands.repo.tree_of(to)?)));
    let added = trees.and_then(|(old, new)| hands.repo.diff(&old, &new, Renames::AsTwo)).unwrap_or_default();
    let mut found = BTreeSet::new();
    for path in added.iter().filter(|file| file.old.is_none()).filter_map(|file| file.path.as_str()) {
        // A file where the landing brings a folder is in the way as well.
        let ancestors = Path::new(path).ancestors().filter(|part| !part.as_os_str().is_empty());
        let blocks = |part: &&Path| {
            let facts = checkout.join(part).symlink_metadata();
            facts.is_ok_and(|facts| part.as_os_str() == path || !facts.is_dir())
        };
        found.extend(ancestors.filter(blocks).map(|part| part.display().to_string()));
    }
    found.into_iter().collect()
}

/// A landing is not cut short half-way: git gets a cancel of its own that nobody pulls.
pub(super) fn caller<'a>(hands: Hands<'a>, cancel: &'a Cancel) -> Caller<'a> {
    Caller { environment: hands.environment, cancel }
}

fn described(work: &Work) -> String {
    match work.operation {
        Some(operation) => format!("a {operation} is under way"),
        None => {
            format!("staged: {}, changed: {}", count(work.staged as u64, "file"), count(work.changed as u64, "file"))
        }
    }
}

/// The command brings files and index along and nothing else: `git apply` refuses, before it writes anything, where a file
/// that the landing touches was changed or one that it brings is there already, also one that is ignored. `git read-tree -u`
/// and `git checkout` replace ignored files without a word.
fn how_to_catch_up(path: &Path, why: &str, aside: &[String], moved: &Move, (from, to): (&str, &str)) -> String {
    let folder = quoted(path);
    let first = if aside.is_empty() {
        String::new()
    } else {
        let aside: Vec<String> = aside.iter().map(|path| quoted(Path::new(path))).collect();
        format!("move aside first what lies where the landing brings files ({}); then: ", aside.join(", "))
    };
    let branch = moved.name.strip_prefix("refs/heads/").unwrap_or(&moved.name);
    format!(
        "{branch} has moved, and the files in {} were left as they are: {why}. To catch up and keep your work: \
         {first}git -C {folder} update-index -q --refresh; git -C {folder} diff-tree -p --binary --full-index {from} {to} | \
         git -C {folder} apply --index --whitespace=nowarn",
        path.display(),
    )
}

/// Where no command would bring it along: both sides changed the same places.
fn by_hand(path: &Path, why: &str, said: &str, moved: &Move) -> String {
    let branch = moved.name.strip_prefix("refs/heads/").unwrap_or(&moved.name);
    format!(
        "{branch} has moved, and the files in {} were left as they are: {why}. They cannot be brought along by themselves \
         ({said}); `git -C {} diff HEAD` shows what differs from {branch} now",
        path.display(),
        quoted(path),
    )
}

/// For a POSIX shell.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
