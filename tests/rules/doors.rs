//! One door per outside thing.

use crate::source::Source;

struct Door {
    /// What is behind it, as people say it.
    what: &'static str,
    /// Paths (or their beginnings) that only the door may name.
    paths: &'static [&'static [&'static str]],
    /// Macros that only the door may call.
    macros: &'static [&'static str],
    /// Files (or folders, ending in `/`) that are the door.
    door: &'static [&'static str],
}

const DOORS: &[Door] = &[
    Door { what: "libgit2", paths: &[&["git2"]], macros: &[], door: &["crates/repo/src/"] },
    Door {
        what: "child processes",
        paths: &[&["std", "process", "Command"], &["process", "Command"], &["tokio", "process"], &["duct"]],
        macros: &["cmd"],
        door: &["crates/sandbox/src/"],
    },
    Door {
        what: "the HTTP client",
        paths: &[&["reqwest"]],
        macros: &[],
        door: &["src/query/http.rs", "src/query/http/", "evolve/src/relay.rs", "evolve/src/relay/"],
    },
    Door {
        what: "YAML",
        paths: &[&["serde_yaml"]],
        macros: &[],
        door: &[
            "src/config/",
            "src/terminal/case/config.rs",
            "evolve/src/rules/",
            "evolve/src/owner/settings.rs",
            "evolve/src/gates/schema.rs",
            "crates/scenario/src/case.rs",
        ],
    },
    Door {
        what: "the terminal",
        paths: &[&["reedline"], &["console"], &["indicatif"], &["crossterm"]],
        macros: &["print", "println", "eprint", "eprintln", "dbg"],
        door: &["src/terminal/", "evolve/src/terminal/", "evolve/src/main.rs"],
    },
    Door {
        what: "the environment of the process",
        paths: &[
            &["std", "env", "var"],
            &["std", "env", "vars"],
            &["env", "var"],
            &["env", "vars"],
            &["env", "var_os"],
        ],
        macros: &[],
        door: &["src/terminal/", "evolve/src/terminal/", "evolve/src/main.rs", "crates/sandbox/src/"],
    },
];

/// Mentions of an outside thing away from its door.
pub fn faults(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for door in DOORS.iter().filter(|d| !is_door(d, &source.path)) {
            for path in &source.paths {
                if door.paths.iter().any(|p| begins(path, p)) {
                    faults.push(format!("{}: {} by `{}`", source.path, door.what, path.join("::")));
                }
            }
            for name in source.macros.iter().filter(|m| door.macros.contains(&m.as_str())) {
                faults.push(format!("{}: {} by `{name}!`", source.path, door.what));
            }
        }
    }
    faults
}

fn is_door(door: &Door, path: &str) -> bool {
    door.door.iter().any(|d| if d.ends_with('/') { path.starts_with(d) } else { path == *d })
}

fn begins(path: &[String], prefix: &[&str]) -> bool {
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(a, b)| a == b)
}
