//! The rules of the house, run as a test: arrows, doors, no knots, pairs. ARCHITECTURE.md explains them; this decides.
//!
//! Sources are parsed with `syn`; what stands under `#[cfg(test)]` does not count. File lengths are printed
//! (`cargo test --test rules -- --nocapture`), not enforced.

mod arrows;
mod doors;
mod pairs;
mod source;

use source::Source;

#[test]
fn modules_import_only_what_stands_lower() {
    let faults = arrows::faults(&Source::all());
    assert!(faults.is_empty(), "arrows that point up:\n{}", faults.join("\n"));
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let knots = arrows::knots(&Source::all());
    assert!(knots.is_empty(), "knots:\n{}", knots.join("\n"));
}

#[test]
fn outside_things_are_reached_through_their_one_door() {
    let faults = doors::faults(&Source::all());
    assert!(faults.is_empty(), "doors passed by:\n{}", faults.join("\n"));
}

#[test]
fn every_tool_has_its_text_and_every_text_its_tool() {
    let faults = pairs::tools();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let faults: Vec<String> = Source::all()
        .iter()
        .filter(|s| !s.text.starts_with("//!"))
        .map(|s| format!("{} does not open with `//!`", s.path))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn lengths_are_printed() {
    let mut lengths: Vec<(usize, String)> =
        Source::all().into_iter().map(|s| (s.text.lines().count(), s.path)).collect();
    lengths.sort();
    let at = |share: usize| lengths.get(lengths.len() * share / 100).map_or(0, |(n, _)| *n);
    println!("{} files: median {} lines, p90 {}", lengths.len(), at(50), at(90));
    for (lines, path) in lengths.iter().rev().take(8) {
        println!("{lines:6} {path}");
    }
    assert!(!lengths.is_empty(), "no sources were found");
}
