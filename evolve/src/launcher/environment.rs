//! Which variables go on to the agent and to cargo: what cargo leaked is taken away, what people set stays.
//!
//! `cargo run` tells the started program about the package it belongs to, and rustup about the toolchain; handed on, they
//! would bend every build that the agent or the judge starts (a target folder, a wrapper, flags, another toolchain).

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Of the variables that start with `CARGO`, those that people set and that hold for every project.
const KEPT: [&str; 5] =
    ["CARGO_HOME", "CARGO_TERM_COLOR", "CARGO_TERM_QUIET", "CARGO_TERM_VERBOSE", "CARGO_BUILD_JOBS"];
const KEPT_PREFIXES: [&str; 4] = ["CARGO_NET_", "CARGO_HTTP_", "CARGO_SOURCE_", "CARGO_REGISTRIES_"];
/// Variables without that start that tell of a build.
const LEAKED: [&str; 10] = [
    "OUT_DIR",
    "RUSTC",
    "RUSTDOC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTUP_TOOLCHAIN",
    "RUST_RECURSION_COUNT",
    "RUSTUP_TOOLCHAIN_SOURCE",
];

/// The environment for the agent.
pub fn for_agent(vars: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let through_cargo = vars.iter().any(|(name, _)| name == "CARGO_MANIFEST_DIR");
    vars.iter()
        .filter(|(name, _)| !leaked(name))
        .filter_map(|(name, value)| {
            if through_cargo && name == "LD_LIBRARY_PATH" {
                let value = without_cargos_folders(value)?;
                return Some((name.clone(), value));
            }
            Some((name.clone(), value.clone()))
        })
        .collect()
}

/// The environment for the cargo that brings our own sibling up to date: what tells of the running package goes, but
/// toolchain, wrappers and flags stay, or everything would be compiled a second time.
pub fn for_sibling_build(vars: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let stays = |name: &OsStr| {
        let Some(name) = name.to_str() else { return true };
        !leaked(OsStr::new(name))
            || name.starts_with("RUST")
            || name.starts_with("CARGO_BUILD_")
            || name.starts_with("CARGO_PROFILE_")
            || (name.starts_with("CARGO_TARGET_") && name != "CARGO_TARGET_DIR" && name != "CARGO_TARGET_TMPDIR")
            || ["CARGO_ENCODED_RUSTFLAGS", "CARGO_INCREMENTAL"].contains(&name)
    };
    vars.iter().filter(|(name, _)| stays(name)).cloned().collect()
}

fn leaked(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    if LEAKED.contains(&name) {
        return true;
    }
    let cargos = name == "CARGO" || name.starts_with("CARGO_");
    cargos && !KEPT.contains(&name) && !KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// `cargo run` puts the target's and the toolchain's library folders in front of the search path.
fn without_cargos_folders(value: &OsStr) -> Option<OsString> {
    let cargos = |path: &Path| {
        let parts: Vec<_> = path.iter().collect();
        path.ends_with("deps")
            || parts.iter().any(|part| *part == "rustlib" || *part == "toolchains")
            || path.join(".cargo-lock").exists()
            || (path.ends_with("lib") && path.join("rustlib").exists())
            || (path.iter().any(|part| part == "build") && path.ends_with("out"))
    };
    let rest: Vec<_> =
        std::env::split_paths(value).filter(|path| !path.as_os_str().is_empty() && !cargos(path)).collect();
    if rest.is_empty() {
        return None;
    }
    std::env::join_paths(rest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(vars: Vec<(OsString, OsString)>) -> Vec<String> {
        vars.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    fn environment() -> Vec<(OsString, OsString)> {
        [
            "CARGO",
            "CARGO_HOME",
            "CARGO_MANIFEST_DIR",
            "CARGO_NET_OFFLINE",
            "CARGO_HTTP_PROXY",
            "CARGO_PKG_NAME",
            "CARGO_REGISTRIES_MINE_INDEX",
            "CARGO_SOURCE_X_REPLACE_WITH",
            "CARGO_TARGET_DIR",
            "HOME",
            "OUT_DIR",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_HOME",
            "RUSTUP_TOOLCHAIN",
        ]
        .iter()
        .map(|name| (OsString::from(name), OsString::from("x")))
        .collect()
    }

    #[test]
    fn the_agent_gets_what_people_set_and_nothing_cargo_leaked() {
        assert_eq!(
            names(for_agent(&environment())),
            [
                "CARGO_HOME",
                "CARGO_NET_OFFLINE",
                "CARGO_HTTP_PROXY",
                "CARGO_REGISTRIES_MINE_INDEX",
                "CARGO_SOURCE_X_REPLACE_WITH",
                "HOME",
                "RUSTUP_HOME",
            ]
        );
    }

    #[test]
    fn the_sibling_is_built_with_the_same_toolchain_and_flags() {
        let kept = names(for_sibling_build(&environment()));
        for name in ["RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_HOME", "HOME"] {
            assert!(kept.contains(&name.to_owned()), "{name} is gone");
        }
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_TARGET_DIR", "OUT_DIR"] {
            assert!(!kept.contains(&name.to_owned()), "{name} is still there");
        }
    }

    #[test]
    fn library_folders_that_cargo_run_added_go_and_others_stay() {
        let vars = vec![
            (OsString::from("CARGO_MANIFEST_DIR"), OsString::from("/x")),
            (
                OsString::from("LD_LIBRARY_PATH"),
                OsString::from("/x/target/debug/deps:/r/toolchains/stable/lib:/opt/mine/lib"),
            ),
        ];
        assert_eq!(for_agent(&vars), [(OsString::from("LD_LIBRARY_PATH"), OsString::from("/opt/mine/lib"))]);
    }
}
