//! Arrows and knots between the top-level modules of each package.

use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Layers of a package, highest first; a module imports only from lines below its own. Modules of one line do not know
/// each other. The same picture stands in ARCHITECTURE.md.
const LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "src",
        &[
            &["terminal"],
            &["wire"],
            &["config"],
            &["session"],
            &["turn"],
            &["approve", "frontend"],
            &["hook", "tool", "query"],
            &["edit", "prompt", "snapshot", "syntax"],
            &["event"],
            &["ending", "message"],
            &["attributes", "redact", "texts"],
        ],
    ),
    (
        "evolve/src",
        &[
            &["main", "terminal"],
            &["demo", "doctor", "review"],
            &["cycle", "launcher"],
            &["ladder", "proposer"],
            &["gates", "relay"],
            &["bounds", "workshop"],
            &["owner", "reading", "rules", "store"],
            &["judgement", "texts"],
        ],
    ),
];

/// Imports that the layers do not permit.
pub fn faults(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for (package, layers) in LAYERS {
        let level: BTreeMap<&str, usize> =
            layers.iter().enumerate().flat_map(|(n, row)| row.iter().map(move |m| (*m, n))).collect();
        for source in sources.iter().filter(|s| s.package == *package && s.module != "lib") {
            let Some(own) = level.get(source.module.as_str()) else {
                faults
                    .push(format!("{}: module `{}` has no layer in tests/rules/arrows.rs", source.path, source.module));
                continue;
            };
            for other in imports(source) {
                match level.get(other.as_str()) {
                    Some(theirs) if theirs > own => {}
                    Some(_) => faults.push(format!("{}: `{}` imports `{other}`", source.path, source.module)),
                    None => {}
                }
            }
        }
    }
    faults
}

/// Sets of modules that import each other in a circle, in any package.
pub fn knots(sources: &[Source]) -> Vec<String> {
    let mut graphs: BTreeMap<&str, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for source in sources.iter().filter(|s| s.module != "lib" && s.module != "main") {
        let graph = graphs.entry(&source.package).or_default();
        graph.entry(&source.module).or_default().extend(imports(source));
    }
    let mut knots = Vec::new();
    for (package, graph) in &graphs {
        let reach: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|m| (*m, reachable(graph, m))).collect();
        let mut told = BTreeSet::new();
        for module in graph.keys() {
            let knot: BTreeSet<&str> = reach[module]
                .iter()
                .copied()
                .filter(|other| reach.get(other).is_some_and(|back| back.contains(module)))
                .collect();
            if !knot.is_empty() && told.insert(knot.clone()) {
                knots.push(format!("{package}: {}", knot.into_iter().collect::<Vec<_>>().join(", ")));
            }
        }
    }
    knots
}

/// Top-level modules of its own crate that a file imports.
fn imports(source: &Source) -> BTreeSet<String> {
    let at_top = source.path.matches('/').count() == source.package.matches('/').count() + 1;
    source
        .paths
        .iter()
        .filter_map(|path| match path.first().map(String::as_str) {
            Some("crate" | "selfsmith_agent") if source.package == "src" => path.get(1),
            Some("crate" | "selfsmith") if source.package == "evolve/src" => path.get(1),
            Some("crate") => path.get(1),
            Some("super") if at_top => path.get(1),
            _ => None,
        })
        .filter(|name| **name != source.module && name.chars().all(|c| c.is_lowercase() || c == '_' || c.is_numeric()))
        .cloned()
        .collect()
}

fn reachable<'a>(graph: &'a BTreeMap<&'a str, BTreeSet<String>>, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = graph.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(module) = open.pop() {
        if let Some((module, next)) = graph.get_key_value(module)
            && seen.insert(*module)
        {
            open.extend(next.iter().map(String::as_str));
        }
    }
    seen
}
