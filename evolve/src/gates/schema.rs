//! The schema gate: data files that could be read can still be read, and the commands of the rules that load settings and
//! prompts succeed.

use super::command::{self, Ran};
use super::{Bench, Draft};
use crate::judgement::candidate::Touched;
use crate::judgement::gate::{GateName, GateReport};
use crate::workshop::{Side, WorkshopError};
use std::fs;
use std::path::Path;

/// Largest data file that is read.
const LARGEST: u64 = 4 << 20;

/// Run the commands on a side.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(bench: &Bench<'_>, base: &[Ran]) -> Result<Vec<Ran>, WorkshopError> {
    let mut seen = Vec::new();
    for (at, line) in bench.plan.schema.iter().enumerate() {
        seen.push(command::look(bench, line, base.get(at))?);
    }
    Ok(seen)
}

/// Touched data files that the base could read and the candidate cannot: path and why.
pub fn unreadable(touched: &[Touched], base: &Path, tree: &Path) -> Option<(String, String)> {
    touched.iter().find_map(|touched| {
        let why = parse(&tree.join(&touched.path))?.err()?;
        let was = parse(&base.join(&touched.path));
        // A file that the base could not read either (JSON with comments, a broken sample) says nothing.
        (!matches!(was, Some(Err(_)))).then(|| (touched.path.clone(), why))
    })
}

/// None where it is no data file, or is not there.
fn parse(path: &Path) -> Option<Result<(), String>> {
    let extension = path.extension()?.to_str()?;
    let facts = path.symlink_metadata().ok()?;
    if !matches!(extension, "json" | "jsonl" | "yaml" | "yml" | "toml") || !facts.is_file() || facts.len() > LARGEST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).map(|_| ()).map_err(|e| e.to_string());
    Some(match extension {
        "json" => json(&text),
        "jsonl" => text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .enumerate()
            .try_for_each(|(at, line)| json(line).map_err(|why| format!("line {}: {why}", at + 1))),
        "toml" => text.parse::<toml_edit::DocumentMut>().map(|_| ()).map_err(|e| e.to_string()),
        // Several documents in one file are fine.
        _ => serde_yaml::Deserializer::from_str(&text).try_for_each(|document| {
            let read: Result<serde_yaml::Value, _> = serde::Deserialize::deserialize(document);
            read.map(|_| ()).map_err(|e| e.to_string())
        }),
    })
}

/// Judge the candidate.
///
/// # Errors
/// From running a command once more.
pub fn judge(
    mut draft: Draft,
    unreadable: Option<(String, String)>,
    base: &[Ran],
    seen: &[Ran],
    again: &mut dyn FnMut(usize, Side) -> Result<Ran, WorkshopError>,
) -> Result<GateReport, WorkshopError> {
    draft.count("commands", seen.len() as u64);
    if let Some((path, why)) = unreadable {
        return Ok(draft.repairable(format!("{path} cannot be read any more: {why}"), &why));
    }
    command::judge(draft, base, seen, again)
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Schema)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::judgement::candidate::Zone;

    #[test]
    fn a_data_file_that_breaks_is_named_and_one_that_was_broken_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (base, tree) = (dir.path().join("base"), dir.path().join("tree"));
        for (at, text) in [(&base, "a: 1\n"), (&tree, "a: [\n")] {
            fs::create_dir(at).unwrap();
            fs::write(at.join("x.yaml"), text).unwrap();
            fs::write(at.join("y.json"), "{ // no JSON\n}").unwrap();
            fs::write(at.join("z.jsonl"), "{}\n\n[1]\n").unwrap();
        }
        let touched = |path: &str| Touched {
            path: path.to_owned(),
            zone: Zone::Open,
            old: None,
            new: None,
            added: 1,
            removed: 0,
        };
        let all = [touched("y.json"), touched("z.jsonl"), touched("gone.json")];
        assert_eq!(unreadable(&all, &base, &tree), None);
        assert_eq!(unreadable(&[touched("x.yaml")], &base, &tree).unwrap().0, "x.yaml");
    }
}
