//! The rules of the house, run as a test: arrows, doors, no knots, pairs. ARCHITECTURE.md explains them; this decides.
//!
//! Sources are parsed with `syn`; what stands under `#[cfg(test)]` does not count. File lengths are printed
//! (`cargo test --test rules -- --nocapture`), not enforced.

mod arrows;
mod books;
mod doors;
mod pairs;
mod source;

use source::Source;

#[test]
fn modules_import_only_what_stands_lower() {
    let faults = arrows::faults(Source::all());
    assert!(faults.is_empty(), "arrows that point up:\n{}", faults.join("\n"));
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let knots = arrows::knots(Source::all());
    assert!(knots.is_empty(), "knots:\n{}", knots.join("\n"));
}

#[test]
fn outside_things_are_reached_through_their_one_door() {
    let faults = doors::faults(Source::all());
    assert!(faults.is_empty(), "doors passed by:\n{}", faults.join("\n"));
}

#[test]
fn every_tool_has_its_text_and_every_text_its_tool() {
    let faults = pairs::tools();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_the_books_name_exists() {
    let faults = books::faults();
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
    let mut lengths: Vec<(usize, &str)> =
        Source::all().iter().map(|s| (s.text.lines().count(), s.path.as_str())).collect();
    lengths.sort();
    let at = |share: usize| lengths.get(lengths.len() * share / 100).map_or(0, |(n, _)| *n);
    println!("{} files: median {} lines, p90 {}", lengths.len(), at(50), at(90));
    for (lines, path) in lengths.iter().rev().take(8) {
        println!("{lines:6} {path}");
    }
    assert!(!lengths.is_empty(), "no sources were found");
}

#[test]
fn planted_faults_are_found() {
    let plant = |path: &str, text: &str| Source::of("src", path.to_owned(), text.to_owned());
    let up = plant("src/message.rs", "use crate::{texts::EN, tool};");
    assert_eq!(arrows::faults(&[up]), ["src/message.rs: `message` imports `tool`"]);
    let door = plant("src/turn/mod.rs", "fn f() { let c = std::process::Command::new(\"sh\"); println!(\"x\"); }");
    assert_eq!(doors::faults(&[door]).len(), 2);
    let knot = [plant("src/a.rs", "use crate::b::X;"), plant("src/b/mod.rs", "fn f(x: crate::a::Y) {}")];
    assert_eq!(arrows::knots(&knot), ["src: a, b"]);
    let test = plant("src/turn/mod.rs", "#[cfg(test)] mod tests { fn f() { println!(\"x\"); } }");
    assert_eq!(doors::faults(&[test]), Vec::<String>::new());
}
