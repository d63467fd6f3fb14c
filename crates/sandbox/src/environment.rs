//! Which variables a child sees: an allow list over the caller's environment, and what is set on top.
//!
//! Names that look like keys or tokens never pass by the list, nor do variables that change what a program loads or
//! where it works (`LD_PRELOAD`, `GIT_DIR`, `CARGO_TARGET_DIR`). Only [`Environment::set`] can give those.

use crate::job::Environment;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Words in a name that mark a secret.
const SECRET_WORDS: [&str; 9] =
    ["KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE", "SESSION"];
/// Beginnings of names that steer a program behind the caller's back, or belong to us.
const STEERING: [&str; 17] = [
    "SELFSMITH_",
    "CARGO_",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTDOC",
    "RUSTUP_",
    "GIT_",
    "LD_",
    "DYLD_",
    "BASH_ENV",
    "BASH_FUNC_",
    "PROMPT_COMMAND",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "NODE_OPTIONS",
    "NPM_CONFIG_",
    "MAKEFLAGS",
];
/// Whole names of the same sort.
const STEERING_NAMES: [&str; 4] = ["ENV", "IFS", "SHELLOPTS", "BASHOPTS"];

/// Whether a variable of this name is taken for a secret.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| upper.contains(word))
}

/// The child's variables, sorted by name.
pub(crate) fn of_child(environment: &Environment, parent: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let mut variables = BTreeMap::new();
    for (name, value) in parent {
        if passes(&environment.keep, name) {
            variables.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in &environment.set {
        variables.insert(OsString::from(name), value.clone());
    }
    variables.into_iter().collect()
}

fn passes(keep: &[String], name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    keep.iter().any(|kept| matches(kept, name)) && !is_secret_name(name) && !steers(name)
}

fn matches(kept: &str, name: &str) -> bool {
    match kept.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => kept == name,
    }
}

fn steers(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    STEERING.iter().any(|beginning| upper.starts_with(beginning)) || STEERING_NAMES.contains(&upper.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(keep: &[&str], set: &[(&str, &str)], parent: &[(&str, &str)]) -> Vec<(String, String)> {
        let environment = Environment {
            keep: keep.iter().map(ToString::to_string).collect(),
            set: set.iter().map(|(name, value)| (name.to_string(), OsString::from(value))).collect(),
        };
        let parent: Vec<_> = parent.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let text = |value: OsString| value.into_string().expect("the test's own text");
        of_child(&environment, &parent).into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn only_what_is_listed_passes() {
        let parent = [("PATH", "/bin"), ("LC_ALL", "C"), ("LANG", "C"), ("EDITOR", "vi")];
        assert_eq!(child(&["PATH", "LC_*"], &[], &parent), pairs(&[("LC_ALL", "C"), ("PATH", "/bin")]));
    }

    #[test]
    fn keys_and_steering_variables_do_not_pass_even_when_listed() {
        let parent = [
            ("OPENAI_API_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("my_password", "x"),
            ("SSH_AUTH_SOCK", "x"),
            ("CARGO_TARGET_DIR", "x"),
            ("RUSTFLAGS", "x"),
            ("GIT_DIR", "x"),
            ("LD_PRELOAD", "x"),
            ("SELFSMITH_MODEL", "x"),
            ("HOME", "/h"),
        ];
        assert_eq!(child(&["*"], &[], &parent), pairs(&[("HOME", "/h")]));
    }

    #[test]
    fn what_is_set_wins_whatever_its_name() {
        let set = [("CARGO_HOME", "/c"), ("PATH", "/mine")];
        assert_eq!(child(&["PATH"], &set, &[("PATH", "/bin")]), pairs(&[("CARGO_HOME", "/c"), ("PATH", "/mine")]));
    }
}
