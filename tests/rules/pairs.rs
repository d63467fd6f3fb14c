//! An extension is one file, one text, one line in a table.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Files in `src/tool/` that are parts of the tools' ground and no tools themselves.
const GROUND: &[&str] = &[
    "compiler", "edited", "files", "guard", "mod", "past", "paths", "picture", "preview", "rounds", "search", "whole",
];

/// Tools without a text in `prompts/tools/`, and the other way round.
pub fn tools() -> Vec<String> {
    let code = names("src/tool", "rs").into_iter().filter(|n| !GROUND.contains(&n.as_str())).collect::<BTreeSet<_>>();
    let texts = names("prompts/tools", "md");
    let mut faults: Vec<String> =
        code.difference(&texts).map(|n| format!("src/tool/{n}.rs has no prompts/tools/{n}.md")).collect();
    faults.extend(texts.difference(&code).map(|n| format!("prompts/tools/{n}.md has no src/tool/{n}.rs")));
    faults
}

fn names(folder: &str, ending: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let Ok(entries) = fs::read_dir(&folder) else { return BTreeSet::new() };
    entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == ending))
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned()))
        .collect()
}
