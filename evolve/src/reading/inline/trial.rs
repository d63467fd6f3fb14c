//! Sources for trials of new tests: the base's code with the candidate's tests, and the candidate's code with every function
//! broken. A test that holds with both says nothing about the code.
//!
//! Texts are cut by the places of their items, so that layout and lines stay where they are. What cannot be cut with
//! certainty is left as the base has it: a test that is not there then counts as one that was not tried. Pure.

use super::Files;
use super::places::files_for_tests;
use super::tokens::{harness_runs, parse, plain, under_test};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The base's code with the candidate's tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// Rust files that differ from the base's in it.
    pub files: Files,
    /// Whether any code differs between the two sides, tests left out.
    pub code_differs: bool,
}

/// Put the candidate's tests beside the base's code. `roots` are files that cargo takes for tests, wherever they lie.
pub fn old_code_new_tests(base: &Files, candidate: &Files, roots: &BTreeSet<String>) -> Trial {
    let mut trial = Trial::default();
    let tests = only_tests(candidate, roots);
    let paths: BTreeSet<&String> = base.keys().chain(candidate.keys()).collect();
    for path in paths {
        let (old, new) = (base.get(path), candidate.get(path));
        if old == new {
            continue;
        }
        match new {
            Some(new) if tests.contains(path) => {
                trial.files.insert(path.clone(), new.clone());
            }
            _ => {
                let parts = old.zip(new).and_then(|(old, new)| Some((old, cut(old)?, new, cut(new)?)));
                let Some((old, was, new, is)) = parts else {
                    trial.code_differs = true;
                    continue;
                };
                trial.code_differs |= was.code != is.code;
                if let Some(text) = joined(old, &was, new, &is) {
                    trial.files.insert(path.clone(), text);
                }
            }
        }
    }
    trial
}

/// Files that hold nothing but tests.
fn only_tests(files: &Files, roots: &BTreeSet<String>) -> BTreeSet<String> {
    let mut parsed = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        if let Ok(file) = parse(text) {
            parsed.insert(path.as_str(), file);
        }
    }
    files_for_tests(&parsed, roots)
}

/// A file, taken apart.
struct Cut {
    /// Where its test items stand, in order.
    tests: Vec<Range<usize>>,
    /// Its code without them, token by token, documentation not.
    code: String,
    /// Whether modules inside of it that are no tests hold some.
    nested: bool,
}

/// None where the text is no Rust, or its places cannot be relied on.
fn cut(text: &str) -> Option<Cut> {
    // Both are taken away before it is read, so that no place fits.
    if text.starts_with('\u{feff}') || (text.starts_with("#!") && !text.starts_with("#![")) {
        return None;
    }
    let file = parse(text).ok()?;
    let mut cut = Cut { tests: Vec::new(), code: String::new(), nested: false };
    for attribute in &file.attrs {
        cut.code.push_str(&plain(attribute.to_token_stream()).to_string());
    }
    for item in &file.items {
        let range = item.span().byte_range();
        text.get(range.clone())?;
        if is_for_tests(item) {
            cut.tests.push(range);
        } else {
            cut.nested |= matches!(item, syn::Item::Mod(module) if holds_tests(module));
            cut.code.push_str(&plain(item.to_token_stream()).to_string());
        }
    }
    Some(cut)
}

fn is_for_tests(item: &syn::Item) -> bool {
    let attributes = super::inventory::attributes(item);
    attributes.iter().any(under_test) || (matches!(item, syn::Item::Fn(_)) && attributes.iter().any(harness_runs))
}

fn holds_tests(module: &syn::ItemMod) -> bool {
    let items = module.content.as_ref().map(|(_, items)| items.as_slice()).unwrap_or_default();
    items.iter().any(|item| is_for_tests(item) || matches!(item, syn::Item::Mod(inner) if holds_tests(inner)))
}

/// The base's text without its tests, and the candidate's tests behind it. None where they do not differ.
fn joined(old: &str, was: &Cut, new: &str, is: &Cut) -> Option<String> {
    let pieces = |text: &str, cut: &Cut| -> Vec<String> {
        cut.tests.iter().filter_map(|range| text.get(range.clone()).map(str::to_owned)).collect()
    };
    let (before, after) = (pieces(old, was), pieces(new, is));
    if before == after || was.nested || is.nested {
        return None;
    }
    let mut text = String::new();
    let mut from = 0;
    for range in &was.tests {
        text.push_str(old.get(from..range.start)?);
        from = range.end;
    }
    text.push_str(old.get(from..)?);
    for piece in after {
        text.push('\n');
        text.push_str(&piece);
        text.push('\n');
    }
    Some(text)
}

/// The text without the test functions on these lines; none where one of them stands in no test function.
pub fn without_tests_on(text: &str, lines: &BTreeSet<usize>) -> Option<String> {
    let file = parse(text).ok()?;
    let mut found = TestFunctions::default();
    found.visit_file(&file);
    let hit = |lines: &(usize, usize), line: &usize| lines.0 <= *line && *line <= lines.1;
    if !lines.iter().all(|line| found.at.iter().any(|(_, span)| hit(span, line))) {
        return None;
    }
    let mut kept = text.to_owned();
    for (range, span) in found.at.iter().rev() {
        if lines.iter().any(|line| hit(span, line)) && kept.get(range.clone()).is_some() {
            // As many line ends as before, so that the lines below keep their numbers.
            let ends = kept.get(range.clone())?.matches('\n').count();
            kept.replace_range(range.clone(), &"\n".repeat(ends));
        }
    }
    Some(kept)
}

#[derive(Default)]
struct TestFunctions {
    at: Vec<(Range<usize>, (usize, usize))>,
}

impl<'ast> Visit<'ast> for TestFunctions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if function.attrs.iter().any(harness_runs) {
            let span = function.span();
            self.at.push((span.byte_range(), (span.start().line, span.end().line)));
        }
    }
}

/// The files in which a function was broken: each one ends the process where it begins. `const` functions stay as they
/// are, since the compiler runs them; tests, and what only tests see, too.
pub fn broken(files: &Files, roots: &BTreeSet<String>, is_code: &dyn Fn(&str) -> bool) -> Files {
    let tests = only_tests(files, roots);
    let is_code = |path: &&String| path.ends_with(".rs") && !tests.contains(*path) && is_code(path);
    let mut found = Files::new();
    for path in files.keys().filter(is_code) {
        let Some(text) = files.get(path).filter(|text| cut(text).is_some()) else { continue };
        let Ok(file) = parse(text) else { continue };
        let mut bodies = Bodies::default();
        bodies.visit_file(&file);
        let mut broken = text.clone();
        bodies.begin.sort_unstable();
        bodies.begin.dedup();
        for at in bodies.begin.iter().rev().filter(|at| text.is_char_boundary(**at)) {
            broken.insert_str(*at, BREAK);
        }
        if broken != *text {
            found.insert(path.clone(), broken);
        }
    }
    found
}

/// Nothing catches it, and what stands behind it still compiles, whatever it gives back.
const BREAK: &str = " if true { ::std::process::abort() }";

#[derive(Default)]
struct Bodies {
    /// Right behind the brace that opens each body.
    begin: Vec<usize>,
}

impl Bodies {
    fn body(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature, block: &syn::Block) -> bool {
        let skipped = attributes.iter().any(|one| under_test(one) || harness_runs(one));
        // Attributes of the body must stay at its beginning.
        let heads = attributes.iter().any(|one| matches!(one.style, syn::AttrStyle::Inner(_)));
        if !skipped && !heads && signature.constness.is_none() {
            self.begin.push(block.brace_token.span.open().byte_range().end);
        }
        !skipped
    }
}

impl<'ast> Visit<'ast> for Bodies {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.body(&function.attrs, &function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.body(&function.attrs, &function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.body(&function.attrs, &function.sig, block);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !module.attrs.iter().any(under_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if !block.attrs.iter().any(under_test) {
            visit::visit_item_impl(self, block);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const OLD: &str = "pub fn add(a: i32) -> i32 {\n    a\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n\nconst fn c() {}\n";

    fn files(list: &[(&str, &str)]) -> Files {
        list.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn the_candidates_tests_stand_beside_the_bases_code() {
        let new = OLD.replace("    a\n", "    a + 1\n").replace("fn a() {}", "fn a() {}\n    #[test]\n    fn b() {}");
        let base = files(&[("src/lib.rs", OLD)]);
        let candidate =
            files(&[("src/lib.rs", &new), ("src/new.rs", "fn x() {}"), ("tests/it.rs", "#[test]\nfn it() {}")]);
        let trial = old_code_new_tests(&base, &candidate, &BTreeSet::new());
        assert!(trial.code_differs);
        let names: Vec<&str> = trial.files.keys().map(String::as_str).collect();
        assert_eq!(names, ["src/lib.rs", "tests/it.rs"], "code that is new is not there");
        let text = trial.files.get("src/lib.rs").unwrap();
        assert!(text.contains("    a\n") && text.contains("fn b()") && text.matches("fn a()").count() == 1, "{text}");
        assert!(syn::parse_file(text).is_ok());
    }

    #[test]
    fn tests_alone_are_no_change_of_code() {
        let new = OLD.replace("fn a() {}", "fn a() {}\n    #[test]\n    fn b() {}");
        let trial =
            old_code_new_tests(&files(&[("src/lib.rs", OLD)]), &files(&[("src/lib.rs", &new)]), &BTreeSet::new());
        assert!(!trial.code_differs && trial.files.len() == 1, "{trial:?}");
        let prose = format!("//! Adds.\n{OLD}");
        let trial =
            old_code_new_tests(&files(&[("src/lib.rs", OLD)]), &files(&[("src/lib.rs", &prose)]), &BTreeSet::new());
        assert_eq!(trial, Trial::default());
    }

    #[test]
    fn a_test_is_taken_out_by_its_line_and_lines_stay() {
        let text = "fn x() {}\n#[test]\nfn a() {\n    gone();\n}\n#[test]\nfn b() {}\n";
        let kept = without_tests_on(text, &BTreeSet::from([4])).unwrap();
        assert_eq!(kept, "fn x() {}\n\n\n\n\n#[test]\nfn b() {}\n");
        assert_eq!(without_tests_on(text, &BTreeSet::from([1])), None);
    }

    #[test]
    fn every_function_of_the_code_is_broken_and_no_test_is() {
        let text =
            format!("{OLD}impl X {{ fn m(&self) -> impl Iterator {{ it() }} }}\ntrait T {{ fn d() {{}} fn e(); }}\n");
        let all = files(&[("src/lib.rs", &text), ("tests/it.rs", "fn helper() {}"), ("build.rs", "fn main() {}")]);
        let found = broken(&all, &BTreeSet::new(), &|path| path.starts_with("src/"));
        let text = found.get("src/lib.rs").unwrap();
        assert_eq!((found.len(), text.matches("abort()").count()), (1, 3), "{text}");
        assert!(syn::parse_file(text).is_ok() && text.contains("const fn c() {}") && text.contains("fn a() {}"));
    }
}
