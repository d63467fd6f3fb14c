//! Inline tests of a candidate, compared item by item with the base's: `#[test]` functions and whatever stands under
//! `#[cfg(test)]`, by name, attributes and body (token streams, so neither layout nor comments count).
//!
//! It promises that a base's test that was changed, is gone, was parted from the code it tests, or means something else
//! because a name it uses was shadowed, is named. Tests that moved together with their code are fine, new ones too. It does
//! not know what ran; `gates::tests` does. A pure function of two sets of texts; it never panics on any of them.

mod by_hand;
mod checks;
mod hollow;
mod inventory;
mod marks;
mod places;
mod programs;
mod senses;
mod tokens;
mod trial;

use inventory::{Inventory, Item, Kind};
pub use marks::Mark;
use marks::Programs;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
pub use trial::{Trial, broken, old_code_new_tests, without_tests_on};

/// Rust files by their path in the tree.
pub type Files = BTreeMap<String, String>;

/// What became of the base's tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// What a person has to look at, in order of the base's files.
    pub findings: Vec<Finding>,
    /// Lints that new code silences; the lint gate's to ask about.
    pub silenced: Vec<Finding>,
    /// Tests that moved with their code: old and new name as libtest writes it, as far as the files tell it.
    pub moved: Vec<(String, String)>,
    /// Test functions that are in the candidate only.
    pub added: u64,
    /// Test functions of the base that were compared.
    pub compared: u64,
}

/// One thing that a person has to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The item's name as libtest writes it (`module::name`), or the file; for a mark, its line.
    pub name: String,
    /// Where it is, or was.
    pub file: String,
    /// What happened to it.
    pub what: What,
}

/// What happened to a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Its attributes or its body differ.
    Changed,
    /// It is nowhere.
    Gone,
    /// It stands elsewhere now, but the code it tests does not.
    Parted,
    /// Something new beside it takes a name that it uses.
    Shadowed {
        /// The name.
        by: String,
    },
    /// An example in documentation was changed, or is gone.
    Example,
    /// A check that stands in code was changed, or is gone.
    Check,
    /// A module's file stands where it stood, but is not taken in as it was.
    Detached,
    /// A lint that was forbidden or denied is so no more.
    Unguarded {
        /// The lint.
        lint: String,
    },
    /// New code has a mark that is a reason to look.
    Marked(Mark),
    /// The file cannot be read as Rust, or is too large to compare.
    Unreadable {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, file, what } = self;
        match what {
            What::Changed => write!(f, "the inline test item {name} ({file}) was changed"),
            What::Gone => write!(f, "the inline test item {name} ({file}) is gone"),
            What::Parted => write!(f, "the inline test item {name} ({file}) was parted from the code it tests"),
            What::Shadowed { by } => write!(f, "a new `{by}` beside it changes what {name} ({file}) means"),
            What::Example => write!(f, "an example in the documentation of {file} was changed or is gone"),
            What::Check => write!(f, "a check in {file} was changed or is gone ({name})"),
            What::Detached => write!(f, "{file} is there, but the module {name} is not taken from it as before"),
            What::Unguarded { lint } => {
                write!(f, "the lint {lint}, forbidden or denied in {name} before, is so no more")
            }
            What::Marked(mark) => write!(f, "new code in {file} {} ({name})", mark.words()),
            What::Unreadable { why } => write!(f, "the tests in {file} could not be compared: {why}"),
        }
    }
}

/// Characters of a line that are shown.
const LONGEST_SHOWN: usize = 120;

/// Stack for reading files: syn descends as deep as a file is nested, and a candidate chooses how deep that is.
const STACK: usize = 1 << 30;

/// Compare. The files are all Rust files of both sides; those that do not differ may be left out of neither, since they
/// tell which files hold nothing but tests. `roots` are those that cargo takes for tests, wherever they lie.
pub fn compare(base: &Files, candidate: &Files, roots: &BTreeSet<String>) -> Compared {
    let compared = std::thread::scope(|scope| {
        let work = || compare_on_this_stack(base, candidate, roots);
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .ok()
            .and_then(|thread| thread.join().ok())
    });
    compared.unwrap_or_else(|| Compared {
        findings: vec![Finding {
            name: "all inline tests".to_owned(),
            file: "the tree".to_owned(),
            what: What::Unreadable { why: "no thread could be had to read them".to_owned() },
        }],
        ..Compared::default()
    })
}

fn compare_on_this_stack(base: &Files, candidate: &Files, roots: &BTreeSet<String>) -> Compared {
    let old = Inventory::of(base, roots, Programs::Counted);
    let new = Inventory::of(candidate, roots, Programs::MayDoSo);
    let mut compared = Compared::default();
    for (side, files, other) in [(&old, base, candidate), (&new, candidate, base)] {
        for (file, why) in &side.unreadable {
            // What is unreadable and the same on both sides hides nothing.
            let mended =
                std::ptr::eq(side, &old) && !new.unreadable.contains_key(file) && tests_stay(files, other, file);
            if files.get(file) != other.get(file) && !mended {
                let what = What::Unreadable { why: why.clone() };
                compared.findings.push(Finding { name: file.clone(), file: file.clone(), what });
            }
        }
    }
    Comparison { old: &old, new: &new, unread: &old.unreadable, compared: &mut compared, taken: BTreeSet::new() }.run();
    shadows(&old, &new, &mut compared);
    detached(&old, &new, &mut compared);
    unguarded(&old, &new, &mut compared);
    marked(&old, &new, &mut compared);
    by_hand::compare(&old, &new, &mut compared);
    hollow::compare(&old, &new, &mut compared);
    checks::compare(&old, &new, &mut compared);
    examples(&old, &new, &mut compared);
    let is_new = |item: &&Item| item.is_test && !old.items.iter().any(|i| i.same_place(item));
    let came = new.items.iter().filter(is_new).count() as u64;
    compared.added = came.saturating_sub(compared.moved.len() as u64);
    compared.findings.dedup();
    compared
}

/// Whether a file that could not be read was mended above its tests only: from the first of them on it ends as it did.
fn tests_stay(old: &Files, new: &Files, file: &str) -> bool {
    let (Some(old), Some(new)) = (old.get(file), new.get(file)) else { return false };
    let signs = ["#[cfg(test)]", "#[test]", "#[cfg(all(test", "#[cfg(any(test"];
    let first = signs.iter().filter_map(|sign| old.find(sign)).min();
    // Examples in documentation stand anywhere; conditions may be spelled in other ways.
    let rest = first.map_or("", |at| old.split_at(at).1);
    let above = old.strip_suffix(rest).unwrap_or(old);
    let Some(mended) = new.strip_suffix(rest) else { return false };
    let plain = |text: &str| !["test", "cfg", "```"].iter().any(|word| text.contains(word));
    // No attribute or macro may have come before them.
    let ends = mended.trim_end().is_empty() || mended.trim_end().ends_with(['}', ';']);
    plain(above) && plain(mended) && (first.is_none() || ends)
}

struct Comparison<'a> {
    old: &'a Inventory,
    new: &'a Inventory,
    unread: &'a BTreeMap<String, String>,
    compared: &'a mut Compared,
    /// Items of the candidate that already stand for one of the base's.
    taken: BTreeSet<usize>,
}

impl Comparison<'_> {
    fn run(mut self) {
        // Those that stayed take their counterparts first, so that nothing else can pass for them.
        let mut left = Vec::new();
        for item in &self.old.items {
            self.compared.compared += u64::from(item.is_test);
            match self.find(|other| other.same_place(item) && other.tokens == item.tokens) {
                Some(index) => {
                    self.taken.insert(index);
                }
                None => left.push(item),
            }
        }
        for item in left {
            if let Some(what) = self.elsewhere(item)
                && !self.unread.contains_key(&item.file)
            {
                self.compared.findings.push(Finding { name: item.path(), file: item.file.clone(), what });
            }
        }
    }

    fn find(&self, fits: impl Fn(&Item) -> bool) -> Option<usize> {
        (0..self.new.items.len()).find(|i| !self.taken.contains(i) && self.new.items.get(*i).is_some_and(&fits))
    }

    /// What happened to an item that is not where it was as it was; nothing where it moved with its code.
    fn elsewhere(&mut self, item: &Item) -> Option<What> {
        if item.kind.is_named() && self.find(|other| other.same_place(item)).is_some() {
            return Some(What::Changed);
        }
        if item.kind == Kind::Use && self.imports_all_of(item) {
            return None;
        }
        if !item.is_test && item.kind != Kind::Function {
            // Imports and the heads of modules: many look alike, so one counterpart anywhere new will do.
            let is_there = self.new.items.iter().any(|other| other.kind == item.kind && other.tokens == item.tokens);
            return if is_there { None } else { Some(What::Gone) };
        }
        let moved = self.find(|other| {
            other.kind == item.kind && other.name == item.name && other.tokens == item.tokens && !self.old.has(other)
        });
        let Some(index) = moved else {
            let altered = self.find(|other| other.kind == item.kind && other.name == item.name && !self.old.has(other));
            return Some(if altered.is_some() { What::Changed } else { What::Gone });
        };
        self.taken.insert(index);
        let other = self.new.items.get(index)?;
        if item.is_test {
            self.compared.moved.push((item.path(), other.path()));
        }
        if self.went_together(item, other) { None } else { Some(What::Parted) }
    }

    /// Whether everything that an import brings in is still brought in beside it, from the same paths.
    fn imports_all_of(&self, item: &Item) -> bool {
        let beside = self.new.items.iter().filter(|other| other.same_place(item));
        let there: BTreeSet<&String> = beside.flat_map(|other| &other.imports).collect();
        item.imports.iter().all(|path| there.contains(path))
    }

    /// Whether the code that a test names went where the test went.
    fn went_together(&self, item: &Item, other: &Item) -> bool {
        let was = self.old.defined_in(&item.root, &item.code_module);
        let remains = self.new.defined_in(&item.root, &item.code_module);
        let arrived = self.new.defined_in(&other.root, &other.code_module);
        let mut used = was.iter().filter(|name| item.idents.contains(**name)).peekable();
        if used.peek().is_none() {
            return remains.is_empty();
        }
        used.all(|name| arrived.contains(name) && !remains.contains(name))
    }
}

/// New names beside tests that the tests use: an import, a function or a macro with that name takes it over silently.
fn shadows(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    for item in new.items.iter().filter(|item| !item.is_test && !old.has_alike(item)) {
        let beside = |other: &&Item| other.is_test && other.root == item.root && other.module.starts_with(&item.module);
        for name in &item.defines {
            let victim = old.items.iter().filter(beside).find(|test| test.idents.contains(name));
            let was_there =
                old.items.iter().any(|i| i.root == item.root && i.module == item.module && i.defines.contains(name));
            if let (Some(victim), false) = (victim, was_there) {
                let what = What::Shadowed { by: name.clone() };
                compared.findings.push(Finding { name: victim.path(), file: item.file.clone(), what });
            }
        }
        if item.kind == Kind::Macro
            && let Some(victim) = old.items.iter().find(beside)
        {
            let what = What::Shadowed { by: format!("{}!", item.name) };
            compared.findings.push(Finding { name: victim.path(), file: item.file.clone(), what });
        }
    }
    for (name, file) in &new.macros {
        let victim = old.items.iter().find(|test| test.is_test && test.idents.contains(name));
        if let (Some(victim), false) = (victim, old.macros.contains_key(name)) {
            let what = What::Shadowed { by: format!("{name}!") };
            compared.findings.push(Finding { name: victim.path(), file: file.clone(), what });
        }
    }
}

/// Modules whose files are still there but are not taken in by the same `mod name;`: what stands in them, tests too, may be
/// compiled no more, and something else in their name.
fn detached(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    for (module, heads) in &old.outlines {
        let (Some(_), Some(file)) = (old.files.get(module), new.files.get(module)) else { continue };
        let still = new.outlines.get(module).is_some_and(|now| heads.is_subset(now));
        if !still {
            let finding = Finding { name: module.1.join("::"), file: file.clone(), what: What::Detached };
            compared.findings.push(finding);
        }
    }
}

/// Lints that are no longer forbidden or denied: as good as silenced wherever they would speak.
fn unguarded(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    for (root, lint) in old.guards.difference(&new.guards) {
        let what = What::Unguarded { lint: lint.clone() };
        compared.silenced.push(Finding { name: root.clone(), file: root.clone(), what });
    }
}

/// Marks of code on lines that the base does not have, wherever they stood, so that what moves is not new.
fn marked(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    let mut known: BTreeMap<(Mark, &str), usize> = BTreeMap::new();
    for ((_, mark), places) in &old.marks {
        for place in places {
            *known.entry((*mark, place.text.as_str())).or_default() += 1;
        }
    }
    for ((file, mark), places) in &new.marks {
        let mut fresh = None;
        for place in places {
            match known.get_mut(&(*mark, place.text.as_str())).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => fresh = fresh.or(Some(place)),
            }
        }
        // A file that ran programs before may do so in another way.
        let did = *mark == Mark::RunsPrograms && old.marks.contains_key(&(file.clone(), *mark));
        let Some(place) = fresh.filter(|_| !did) else { continue };
        let shown: String = place.text.chars().take(LONGEST_SHOWN).collect();
        let name = format!("line {}: {shown}", place.line);
        let finding = Finding { name, file: file.clone(), what: What::Marked(*mark) };
        let silences = *mark == Mark::SilencesLint;
        if silences { compared.silenced.push(finding) } else { compared.findings.push(finding) }
    }
}

/// Examples of the base that are nowhere, word for word.
fn examples(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    let mut there: Vec<&String> = new.examples.iter().map(|(_, text)| text).collect();
    for (file, text) in &old.examples {
        match there.iter().position(|other| *other == text) {
            Some(at) => {
                there.swap_remove(at);
            }
            None => {
                let finding = Finding { name: file.clone(), file: file.clone(), what: What::Example };
                compared.findings.push(finding);
            }
        }
    }
}

#[cfg(test)]
mod checks_tests;
#[cfg(test)]
mod tests;
