//! `repo_map`: the definitions that matter most in the workspace, within a budget of tokens.
//!
//! Promises: what git ignores and what is guarded is left out; each file is read once; files, bytes and time are bounded,
//! and what was left out is said. Tests are counted, not listed: nobody calls them.

use super::files::Files;
use super::paths::Purpose;
use super::search::{self, Stop, in_background};
use super::{Answer, Effect, Tool};
use crate::syntax::{Depth, Grammar, Outline, Words};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files that are read.
const MAX_FILES: usize = 20_000;
/// Bytes of a file that is read; what is larger was made by a program.
const MAX_BYTES: u64 = 512 * 1024;
/// How long files are read, and how long one may take.
const PATIENCE: Duration = Duration::from_secs(20);
const PATIENCE_EACH: Duration = Duration::from_millis(500);
/// Tokens of an answer, and bytes that make one in code.
const TOKENS: u64 = 1500;
const MAX_TOKENS: u64 = 10_000;
const BYTES_A_TOKEN: u64 = 3;
/// Characters of a definition's line.
const MAX_LINE: usize = 110;
/// Readers beside each other.
const MAX_THREADS: usize = 4;
/// What a definition in a test weighs.
const OF_TESTS: f64 = 0.2;

/// The tool.
#[derive(Debug, Clone)]
pub struct RepoMap {
    files: Arc<Files>,
}

/// A definition as it is shown.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    file: usize,
    line: usize,
    name: String,
    shown: String,
    weight: f64,
}

/// What readers found.
#[derive(Debug, Default)]
struct Read {
    entries: Vec<Entry>,
    words: Words,
    files: usize,
    tests: usize,
}

impl RepoMap {
    /// Over the workspace of the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>, stop: &Stop) -> Result<Answer, Answer> {
        let start = search::start(&self.files, arguments, Purpose::Look)?;
        let tokens = arguments.get("max_tokens").and_then(Value::as_u64).unwrap_or(TOKENS).clamp(20, MAX_TOKENS);
        let known = |path: &PathBuf| Grammar::of(path).is_some_and(Grammar::has_symbols);
        let mut paths: Vec<PathBuf> =
            search::walk(&self.files, &start, None, stop).filter(known).take(MAX_FILES + 1).collect();
        let more = paths.len() > MAX_FILES;
        paths.truncate(MAX_FILES);
        let names: Vec<String> = paths.iter().map(|path| self.files.workspace.relative(path)).collect();
        let mut read = read_all(&paths, stop);
        weigh(&mut read, &names);
        let unread = paths.len() - read.files;
        let mut left = Vec::new();
        if read.tests > 0 {
            left.push(format!("{} tests", read.tests));
        }
        if unread > 0 {
            left.push(format!("{unread} files that are too large or could not be read in time"));
        }
        if more {
            left.push(format!("all files after the first {MAX_FILES}"));
        }
        Ok(told(&read.entries, &names, tokens * BYTES_A_TOKEN, left))
    }
}

fn read_all(paths: &[PathBuf], stop: &Stop) -> Read {
    let deadline = Instant::now() + PATIENCE;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let read = |first: usize| {
        let mut read = Read::default();
        for (n, path) in paths.iter().enumerate().skip(first).step_by(threads) {
            if stop.is_set() || Instant::now() > deadline {
                break;
            }
            read_one(n, path, &mut read);
        }
        read
    };
    let parts = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..threads).map(|first| scope.spawn(move || read(first))).collect();
        // A reader that broke off leaves out what it would have found.
        readers.into_iter().filter_map(|reader| reader.join().ok()).collect::<Vec<Read>>()
    });
    let mut all = Read::default();
    for part in parts {
        all.entries.extend(part.entries);
        all.words.merge(part.words);
        all.files += part.files;
        all.tests += part.tests;
    }
    all
}

fn read_one(n: usize, path: &Path, read: &mut Read) {
    let is_small = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
    let Some(bytes) = is_small.then(|| std::fs::read(path).ok()).flatten() else { return };
    let text = String::from_utf8_lossy(&bytes);
    read.words.add(&text);
    let Some(outline) = Outline::read(path, &text, Depth::Outside, PATIENCE_EACH) else { return };
    read.files += 1;
    for symbol in outline.symbols {
        let before = text.get(..symbol.span.start).unwrap_or_default();
        let line = text.get(symbol.span).unwrap_or_default().lines().next().unwrap_or_default();
        if is_a_test(&symbol.path, before, line) {
            read.tests += usize::from(!line.starts_with("mod "));
            continue;
        }
        let line: String = line.trim_end_matches([' ', '\t', '{', '\r']).chars().take(MAX_LINE).collect();
        let name = symbol.path.last().cloned().unwrap_or_default();
        let owner = symbol.path.len().checked_sub(2).and_then(|n| symbol.path.get(n));
        let shown = owner.map_or_else(|| line.clone(), |owner| format!("{owner}: {line}"));
        read.entries.push(Entry { file: n, line: symbol.line, name, shown, weight: 0.0 });
    }
}

/// Heaviest first.
fn weigh(read: &mut Read, names: &[String]) {
    let mut definitions: HashMap<&str, u32> = HashMap::new();
    for entry in &read.entries {
        *definitions.entry(&entry.name).or_default() += 1;
    }
    let weights: Vec<f64> = read
        .entries
        .iter()
        .map(|entry| {
            let own = read.words.weight(&entry.name, definitions.get(entry.name.as_str()).copied().unwrap_or(1));
            let name = names.get(entry.file).map(String::as_str).unwrap_or_default();
            if is_test(name) { own * OF_TESTS } else { own }
        })
        .collect();
    for (entry, weight) in read.entries.iter_mut().zip(weights) {
        entry.weight = weight;
    }
    read.entries.sort_by(|a, b| b.weight.total_cmp(&a.weight).then((a.file, a.line).cmp(&(b.file, b.line))));
}

/// A module of tests or what stands in one, what is marked as a test, what is named as one. `before` is the file up to it.
fn is_a_test(path: &[String], before: &str, line: &str) -> bool {
    let Some((name, outer)) = path.split_last() else { return false };
    let marks = before.lines().rev().map(str::trim).skip_while(|line| line.is_empty());
    let marked = marks.take_while(|line| line.starts_with("#[")).any(|line| line.ends_with("test]"));
    let of_tests = |path: &[String]| path.iter().any(|name| matches!(name.as_str(), "test" | "tests"));
    marked || name.starts_with("test_") || of_tests(outer) || (line.starts_with("mod ") && of_tests(path))
}

fn is_test(name: &str) -> bool {
    name.split(['/', '.', '_', '-']).any(|part| matches!(part, "test" | "tests" | "spec" | "specs" | "testing"))
}

fn told(entries: &[Entry], names: &[String], budget: u64, mut left: Vec<String>) -> Answer {
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    let mut chosen: Vec<(usize, Vec<&Entry>)> = Vec::new();
    let mut place: HashMap<usize, usize> = HashMap::new();
    let (mut bytes, mut count) = (0, 0);
    for entry in entries {
        let name = names.get(entry.file).map_or(0, String::len);
        let cost = entry.shown.len() + 8 + if place.contains_key(&entry.file) { 0 } else { name + 2 };
        if bytes + cost > budget {
            break;
        }
        bytes += cost;
        count += 1;
        let at = *place.entry(entry.file).or_insert_with(|| {
            chosen.push((entry.file, Vec::new()));
            chosen.len() - 1
        });
        if let Some((_, list)) = chosen.get_mut(at) {
            list.push(entry);
        }
    }
    let mut text = String::new();
    for (file, list) in &mut chosen {
        list.sort_by_key(|entry| entry.line);
        text.push_str(&format!("{}\n", names.get(*file).map(String::as_str).unwrap_or_default()));
        list.iter().for_each(|entry| text.push_str(&format!("{:>5} {}\n", entry.line, entry.shown)));
    }
    if text.is_empty() {
        text.push_str("No definitions were found in the languages that are known here.\n");
    }
    if count < entries.len() {
        left.push(format!("{} less used definitions; give a path or more max_tokens", entries.len() - count));
    }
    if !left.is_empty() {
        text.push_str(&format!("[left out: {}]", left.join("; ")));
    }
    Answer::done(text).with_detail(json!({ "definitions": count, "truncated": !left.is_empty() }))
}

impl Tool for RepoMap {
    fn name(&self) -> &'static str {
        "repo_map"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/repo_map.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "max_tokens": { "type": "integer" },
            },
            "required": [],
        })
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let (this, arguments) = (self.clone(), arguments.clone());
        Box::pin(in_background(move |stop| this.answer(&arguments, stop).unwrap_or_else(|failed| failed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Surroundings;
    use std::fs;

    fn world(files: &[(&str, &str)]) -> (tempfile::TempDir, RepoMap) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let files = Files::new(&Surroundings { root: folder.path().to_owned(), ..Surroundings::default() });
        (folder, RepoMap::new(files))
    }

    fn map(tool: &RepoMap, arguments: Value) -> String {
        let arguments = arguments.as_object().cloned().expect("an object");
        tool.answer(&arguments, &Stop::default()).expect("a map").text
    }

    const FILES: &[(&str, &str)] = &[
        (
            "src/a.rs",
            "pub fn seldom() {}\n\npub struct Often;\nimpl Often {\n    pub fn method(&self) -> u8 { 1 }\n}\n",
        ),
        ("src/b.rs", "fn own(often: Often) { often.method() }\n"),
        ("src/c.py", "def own():\n    Often()\n"),
        ("tests/t.rs", "fn a_fact() { Often }\n"),
        ("made/d.rs", "fn generated() { Often }\n"),
        (".gitignore", "made\n"),
    ];

    #[test]
    fn what_others_name_comes_first_and_ignored_files_do_not_count() {
        let (_folder, tool) = world(FILES);
        let all = map(&tool, json!({}));
        let want = "src/a.rs\n    1 pub fn seldom() {}\n    3 pub struct Often;\n    5 Often: pub fn method(&self) -> u8 { 1 }\n";
        assert!(all.starts_with(want), "{all}");
        assert!(all.contains("tests/t.rs\n    1 fn a_fact() { Often }\n") && !all.contains("generated"), "{all}");
        let short = map(&tool, json!({ "max_tokens": 1, "path": "src" }));
        assert!(short.starts_with("src/a.rs\n    3 pub struct Often;\n") && short.len() < 250, "{short}");
        assert!(short.contains("less used definitions"), "{short}");
    }

    #[test]
    fn tests_are_counted_and_not_listed() {
        let text = "pub fn own() {}\n\n#[cfg(test)]\nmod tests {\n    fn helps() {}\n    #[test]\n    fn fact() {}\n}\n\n\
                    #[tokio::test]\n#[ignore]\nasync fn slow() {}\n\n#[inline]\nfn test() {}\n";
        let (_folder, tool) = world(&[("src/a.rs", text), ("b.py", "def test_it():\n    pass\n")]);
        assert_eq!(map(&tool, json!({})), "src/a.rs\n    1 pub fn own() {}\n   15 fn test() {}\n[left out: 4 tests]");
    }

    #[test]
    fn twenty_thousand_files_are_read_within_bounds_and_the_rest_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        for outer in 0..101 {
            let below = folder.path().join(format!("p{outer:03}"));
            fs::create_dir(&below).expect("a folder");
            for inner in 0..200 {
                fs::write(below.join(format!("m{inner}.py")), format!("def f{outer}_{inner}(): common()\n"))
                    .expect("a file");
            }
        }
        fs::write(folder.path().join("a.py"), "def common(): pass\n").expect("a file");
        let files = Files::new(&Surroundings { root: folder.path().to_owned(), ..Surroundings::default() });
        let text = map(&RepoMap::new(files), json!({ "max_tokens": 200 }));
        assert!(text.starts_with("a.py\n    1 def common(): pass\n") && text.len() < 800, "{text}");
        assert!(text.contains("all files after the first 20000"), "{text}");
    }
}
