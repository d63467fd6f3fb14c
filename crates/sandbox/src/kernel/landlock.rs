//! Landlock: writing only below some paths; signals and abstract sockets only to one's own kind.
//!
//! It knows allowed trees, no exceptions within them, and does not cover changes of mode and times, or sockets by path.

use ::landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
    path_beneath_rules,
};
use std::path::PathBuf;

/// How much of what we ask for this kernel knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All.
    Full,
    /// An older version: truncating, device controls or scopes may be missing.
    Partial,
}

/// Restricts the calling process for good: reading and executing everywhere, writing only below these paths. A path that
/// does not exist grants nothing.
pub(crate) fn restrict(writable: &[PathBuf]) -> Result<Coverage, String> {
    let all = AccessFs::from_all(ABI::V6);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(["/"], AccessFs::from_read(ABI::V6))))
        .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(writable, all)))
        .and_then(::landlock::RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(Coverage::Full),
        RulesetStatus::PartiallyEnforced => Ok(Coverage::Partial),
        RulesetStatus::NotEnforced => Err("this kernel does not offer Landlock".to_owned()),
    }
}

/// The version that this kernel offers (landlock(7)); 0: none.
pub(crate) fn version() -> u32 {
    const ASK_VERSION: u32 = 1;
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with this flag the kernel reads no attributes.
    let version = unsafe { nix::libc::syscall(nix::libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_VERSION) };
    u32::try_from(version).unwrap_or(0)
}
