//! What the books name exists: a path in backticks or a link of a book in the root that begins with a folder of the tree.

use regex::Regex;
use std::fs;
use std::path::Path;

/// The books that people and agents read first.
const BOOKS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"];

/// Folders whose paths are checked when a book names them.
const FOLDERS: &str = "src|evolve|crates|tests|prompts|docs|benches|fuzz";

/// Paths that a book names and the tree does not have. What a reader fills in (`<name>`, `*`) ends the checked part.
pub fn faults() -> Vec<String> {
    let named = Regex::new(&format!(r"[`(]((?:{FOLDERS})/[^`)\s]*)[`)]")).expect("is an expression");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut faults = Vec::new();
    for book in BOOKS {
        let text = fs::read_to_string(root.join(book)).unwrap_or_default();
        for (number, line) in text.lines().enumerate() {
            for path in named.captures_iter(line).filter_map(|c| c.get(1)) {
                if !exists(root, path.as_str()) {
                    faults.push(format!("{book}:{}: there is no {}", number + 1, path.as_str()));
                }
            }
        }
        if text.is_empty() {
            faults.push(format!("{book} is missing or empty"));
        }
    }
    faults
}

/// Whether the part of a path before its first placeholder is there.
fn exists(root: &Path, path: &str) -> bool {
    let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains(['<', '*', '{', '…'])).collect();
    root.join(fixed.join("/").split('#').next().unwrap_or_default()).exists()
}
