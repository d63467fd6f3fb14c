//! Kinds of files: only regular ones with listed endings, and never one that steers a build, a tool or git.

use super::{Cure, Differs, Findings};
use crate::judgement::candidate::Zone;
use crate::judgement::defence::{Defence, Defences};
use crate::rules::Rules;
use selfsmith_repo::{Mode, TreePath};
use std::collections::{BTreeMap, BTreeSet};

/// Names that steer a build, a formatter, a linter, a test runner or git, wherever they lie.
const STEERING_NAMES: &[&str] = &[
    ".clippy.toml",
    ".gitattributes",
    ".gitmodules",
    ".rustfmt.toml",
    "build.rs",
    "cargo.lock",
    "cargo.toml",
    "clippy.toml",
    "deny.toml",
    "nextest.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

/// Folders whose content steers, wherever they lie.
const STEERING_FOLDERS: &[&str] = &[".cargo", ".config", ".git", ".githooks", ".github", ".selfsmith"];

pub(super) fn check(differs: &Differs, rules: &Rules, defences: Defences, findings: &mut Findings) {
    if !defences.up(Defence::Kinds) {
        return;
    }
    let path = &differs.path;
    let Some(text) = path.as_str() else {
        findings.refuse(format!("{path} has a name that is not UTF-8"), Cure::None);
        return;
    };
    if text.chars().any(|c| c.is_control() || super::content::deceives(c)) {
        findings.refuse(format!("{path} has characters in its name that are not shown as they are"), Cure::None);
    }
    // Also one that was only removed: to take a manifest or `.cargo/config.toml` away steers as well.
    if let Some(what) = steering(text) {
        findings.refuse(format!("{path}: {what}"), Cure::None);
        return;
    }
    let Some(new) = &differs.new else { return };
    if differs.old.is_none()
        && let Some(what) = text.split('/').find_map(awkward)
    {
        findings.ask(format!("{path} {what}"));
    }
    match new.mode {
        Mode::Symlink => findings.refuse(format!("{path} is a symbolic link"), Cure::None),
        Mode::Submodule => findings.refuse(format!("{path} is a submodule"), Cure::None),
        Mode::File | Mode::Executable => {
            let before = differs.old.as_ref().map_or(Mode::File, |old| old.mode);
            if new.mode != before {
                findings.refuse(format!("{path} changed its kind or its executable bit"), Cure::Repair);
            }
            let open = matches!(rules.zone(text), Zone::Open | Zone::Review | Zone::AddOnly);
            if open && !rules.is_scenario(text) && !rules.ending_listed(text) {
                findings.refuse(format!("{path} has an ending that the rules do not list"), Cure::Repair);
            }
        }
    }
}

/// Why a name of a file or folder is a person's question: it cannot be checked out everywhere, or a command line does not
/// take it as a name. Windows: "Naming Files, Paths, and Namespaces", Microsoft Learn.
fn awkward(name: &str) -> Option<&'static str> {
    const DEVICES: [&str; 6] = ["aux", "con", "conin$", "conout$", "nul", "prn"];
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = ["com", "lpt"].iter().any(|port| {
        let number = stem.strip_prefix(port).unwrap_or_default();
        number.chars().count() == 1 && number.chars().all(|c| matches!(c, '0'..='9' | '¹' | '²' | '³'))
    });
    if DEVICES.contains(&stem.as_str()) || numbered {
        Some("has a name that Windows keeps for a device, so no checkout there can hold it")
    } else if name.ends_with(['.', ' ']) || name.contains(['<', '>', ':', '"', '|', '?', '*', '\\']) {
        Some("has a name that no checkout on Windows can hold")
    } else if name.starts_with('-') {
        Some("has a name that begins with `-`, which commands take for an option")
    } else if name.starts_with([' ', '~', '#']) || name.contains(['$', '`', ';', '&', '(', ')', '\'', '!', '{', '}']) {
        Some("has characters in its name that a shell obeys")
    } else {
        None
    }
}

/// Paths that only differ in case: on some disks they are one file, so what was reviewed is not what is built.
pub(super) fn twins(differs: &[Differs], paths: &[TreePath], findings: &mut Findings) {
    let mut spellings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in paths {
        let mut so_far = String::new();
        for part in path.to_string().split('/') {
            so_far.push_str(part);
            spellings.entry(so_far.to_lowercase()).or_default().insert(so_far.clone());
            so_far.push('/');
        }
    }
    let added = differs.iter().filter(|d| d.old.is_none() && d.new.is_some());
    for differs in added {
        let mut so_far = String::new();
        for part in differs.path.to_string().split('/') {
            so_far.push_str(part);
            if let Some(twin) =
                spellings.get(&so_far.to_lowercase()).and_then(|all| all.iter().find(|other| **other != so_far))
            {
                findings.refuse(format!("{} differs from {twin} only in case", differs.path), Cure::None);
                break;
            }
            so_far.push('/');
        }
    }
}

fn steering(path: &str) -> Option<&'static str> {
    let folded = path.to_lowercase();
    let mut parts = folded.split('/').rev();
    let name = parts.next().unwrap_or_default();
    if STEERING_NAMES.contains(&name) {
        return Some("manifests, lock files, build scripts and files that steer tools are not a candidate's to change");
    }
    if parts.any(|folder| STEERING_FOLDERS.contains(&folder)) {
        return Some("the folder steers tools and is not a candidate's to change");
    }
    None
}
