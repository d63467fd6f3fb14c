//! The test items of a set of Rust files, and the names that their code defines.

use super::Files;
use super::by_hand::ByHand;
use super::checks::Checks;
use super::hollow::Types;
use super::marks::{Mark, Programs, examples, marks};
use super::places::{files_for_tests, logical};
use super::tokens::{collect_idents, guards, harness_runs, imported, parse, paths, plain, under_test};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, ImplItem};

/// What sort of item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A function or method.
    Function,
    /// An import.
    Use,
    /// The head of a module: its attributes.
    Module,
    /// A macro invocation that stands as an item.
    Macro,
    /// Anything else with a name.
    Named,
    /// Anything else, told apart by its tokens only.
    Other,
}

impl Kind {
    /// Whether two items of this kind with one name in one module are the same item.
    pub const fn is_named(self) -> bool {
        matches!(self, Self::Function | Self::Module | Self::Named)
    }
}

/// One item that exists for tests.
#[derive(Debug, Clone)]
pub struct Item {
    /// File it stands in.
    pub file: String,
    /// Everything of the file's path up to where modules begin (`crates/x/src/`).
    pub root: String,
    /// Logical module, as libtest writes it; file modules and inline modules alike.
    pub module: Vec<String>,
    /// The innermost module around it that is not for tests only.
    pub code_module: Vec<String>,
    /// What sort.
    pub kind: Kind,
    /// Its name; empty for imports.
    pub name: String,
    /// Whether the harness runs it.
    pub is_test: bool,
    /// Its tokens, attributes included, documentation not.
    pub tokens: String,
    /// Identifiers in it.
    pub idents: BTreeSet<String>,
    /// Names that it brings into its module.
    pub defines: BTreeSet<String>,
    /// Of an import: each path by itself, with the attributes it stands under.
    pub imports: BTreeSet<String>,
}

impl Item {
    /// Its name as libtest would write it.
    pub fn path(&self) -> String {
        let name = if self.name.is_empty() { "use" } else { &self.name };
        self.module.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("::")
    }

    /// Whether another stands in the same place.
    pub fn same_place(&self, other: &Self) -> bool {
        self.root == other.root && self.module == other.module && self.kind == other.kind && self.name == other.name
    }
}

/// A line of a file.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its number, from 1.
    pub line: usize,
    /// What it says, without the blanks around it and without a brace at its end.
    pub text: String,
}

/// What a set of files holds.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Test items, in order of files and lines.
    pub items: Vec<Item>,
    /// Names that code defines, by root and logical module.
    code: BTreeMap<(String, Vec<String>), BTreeSet<String>>,
    /// Macros by example that are defined anywhere, with their file.
    pub macros: BTreeMap<String, String>,
    /// Where the code of a file has which mark.
    pub marks: BTreeMap<(String, Mark), Vec<Place>>,
    /// By root: what types derive, and which traits are written by hand.
    pub by_hand: BTreeMap<String, ByHand>,
    /// By root: what its types are made of.
    pub types: BTreeMap<String, Types>,
    /// Checks that stand in code.
    pub checks: Checks,
    /// Examples in documentation, with their file.
    pub examples: Vec<(String, String)>,
    /// Files that could not be read, with why.
    pub unreadable: BTreeMap<String, String>,
    /// `mod name;` by root and module: the attributes it stands under, documentation not.
    pub outlines: BTreeMap<(String, Vec<String>), BTreeSet<String>>,
    /// Files by root and module.
    pub files: BTreeMap<(String, Vec<String>), String>,
    /// Lints that whole files or crates forbid or deny, by root.
    pub guards: BTreeSet<(String, String)>,
}

impl Inventory {
    /// Read files.
    pub fn of(files: &Files, roots: &BTreeSet<String>, programs: Programs) -> Self {
        let mut inventory = Self::default();
        let mut parsed = BTreeMap::new();
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
            match parse(text) {
                Ok(file) => {
                    parsed.insert(path.as_str(), file);
                }
                Err(why) => {
                    inventory.unreadable.insert(path.clone(), why);
                }
            }
        }
        let for_tests = files_for_tests(&parsed, roots);
        for (path, file) in &parsed {
            let (root, module) = logical(path);
            inventory.files.insert((root.clone(), module.clone()), (*path).to_owned());
            inventory.guards.extend(guards(&file.attrs).into_iter().map(|lint| (root.clone(), lint)));
            let lines = files.get(*path).map(|text| text.lines().collect()).unwrap_or_default();
            let mut walk =
                Walk { inventory: &mut inventory, programs, file: path, lines, root, module, code_module: Vec::new() };
            walk.code_module.clone_from(&walk.module);
            let only_tests = for_tests.contains(*path);
            if only_tests {
                walk.code_module.pop();
            }
            walk.items(&file.items, only_tests);
            let head: TokenStream = file.attrs.iter().map(ToTokens::to_token_stream).collect();
            walk.mark_in(&head);
            let all = examples(&file.to_token_stream());
            inventory.examples.extend(all.into_iter().map(|text| ((*path).to_owned(), text)));
        }
        inventory
    }

    /// The names that code defines in a module.
    pub fn defined_in(&self, root: &str, module: &[String]) -> BTreeSet<&str> {
        let names = self.code.get(&(root.to_owned(), module.to_vec()));
        names.into_iter().flatten().map(String::as_str).collect()
    }

    /// Whether an item stands in the same place with the same tokens.
    pub fn has(&self, item: &Item) -> bool {
        self.items.iter().any(|i| i.same_place(item) && i.tokens == item.tokens)
    }

    /// Whether an item with the same tokens stands anywhere.
    pub fn has_alike(&self, item: &Item) -> bool {
        self.items.iter().any(|i| i.kind == item.kind && i.tokens == item.tokens)
    }
}

struct Walk<'a> {
    inventory: &'a mut Inventory,
    programs: Programs,
    file: &'a str,
    lines: Vec<&'a str>,
    root: String,
    module: Vec<String>,
    code_module: Vec<String>,
}

impl Walk<'_> {
    fn items(&mut self, items: &[syn::Item], for_tests: bool) {
        for item in items {
            self.item(item, for_tests);
        }
    }

    fn item(&mut self, item: &syn::Item, for_tests: bool) {
        let attributes = attributes(item);
        let gated = attributes.iter().any(under_test);
        let is_test = matches!(item, syn::Item::Fn(_)) && attributes.iter().any(harness_runs);
        if let syn::Item::Macro(rules) = item
            && let Some(name) = &rules.ident
        {
            self.inventory.macros.insert(name.to_string(), self.file.to_owned());
        }
        if let syn::Item::Mod(module) = item {
            self.module_item(module, for_tests || gated, gated);
        } else if for_tests || gated || is_test {
            if gated && !for_tests && matches!(item, syn::Item::Use(_)) {
                // An import that stands only under test beside code can swap what the code calls.
                let line = item.to_token_stream().into_iter().next().map_or(0, |token| token.span().start().line);
                self.mark(Mark::AsksForTest, line);
            }
            self.record(item, is_test);
        } else {
            self.code(item);
        }
    }

    fn module_item(&mut self, module: &syn::ItemMod, for_tests: bool, gated: bool) {
        let name = module.ident.to_string();
        if for_tests {
            let head: TokenStream = module.attrs.iter().map(ToTokens::to_token_stream).collect();
            self.push(Kind::Module, name.clone(), &head, Some(name.clone()), false);
        } else {
            self.mark_in(&module.attrs.iter().map(ToTokens::to_token_stream).collect());
        }
        let Some((_, items)) = &module.content else {
            let whole = self.module.iter().cloned().chain([name]).collect();
            let head: TokenStream = module.attrs.iter().map(ToTokens::to_token_stream).collect();
            self.inventory.outlines.entry((self.root.clone(), whole)).or_default().insert(plain(head).to_string());
            return;
        };
        self.module.push(name);
        let outer = self.code_module.clone();
        if !for_tests && !gated {
            self.code_module.clone_from(&self.module);
        }
        self.items(items, for_tests);
        self.code_module = outer;
        self.module.pop();
    }

    fn record(&mut self, item: &syn::Item, is_test: bool) {
        let tokens = item.to_token_stream();
        let (kind, name) = kind_of(item);
        match item {
            syn::Item::Use(import) => {
                let mut names = BTreeSet::new();
                imported(&import.tree, &mut names);
                self.push_many(kind, name, &tokens, names, false);
                let head: TokenStream = import.attrs.iter().map(ToTokens::to_token_stream).collect();
                let head = format!("{} {}", plain(head), import.vis.to_token_stream());
                if let Some(last) = self.inventory.items.last_mut() {
                    paths(&import.tree, &head, &mut last.imports);
                }
            }
            _ => {
                let defines = if name.is_empty() || kind == Kind::Macro { None } else { Some(name.clone()) };
                self.push(kind, name, &tokens, defines, is_test);
            }
        }
    }

    /// Code: what it defines, and the test items inside its `impl` blocks.
    fn code(&mut self, item: &syn::Item) {
        let (_, name) = kind_of(item);
        if !name.is_empty() && !matches!(item, syn::Item::Macro(_)) {
            self.define(&name);
        }
        let by_hand = self.inventory.by_hand.entry(self.root.clone()).or_default();
        by_hand.read(&item.to_token_stream(), self.file);
        self.inventory.types.entry(self.root.clone()).or_default().read(item, self.file);
        self.inventory.checks.read(item, self.file);
        if let syn::Item::Impl(block) = item {
            for member in &block.items {
                if let ImplItem::Fn(function) = member {
                    if function.attrs.iter().any(under_test) {
                        let (tokens, name) = (function.to_token_stream(), function.sig.ident.to_string());
                        self.push(Kind::Function, name.clone(), &tokens, Some(name), false);
                        continue;
                    }
                    self.define(&function.sig.ident.to_string());
                }
                self.mark_in(&member.to_token_stream());
            }
        } else {
            self.mark_in(&item.to_token_stream());
        }
    }

    fn define(&mut self, name: &str) {
        let key = (self.root.clone(), self.code_module.clone());
        self.inventory.code.entry(key).or_default().insert(name.to_owned());
    }

    fn mark_in(&mut self, tokens: &TokenStream) {
        for (mark, line) in marks(tokens, self.file, self.programs) {
            self.mark(mark, line);
        }
    }

    fn mark(&mut self, mark: Mark, line: usize) {
        let text = line.checked_sub(1).and_then(|at| self.lines.get(at)).map_or("", |text| text.trim());
        // Two conditions that become one take the brace to another line: `if a {` is `if a` then.
        let text = text.strip_suffix('{').map_or(text, str::trim_end);
        let places = self.inventory.marks.entry((self.file.to_owned(), mark)).or_default();
        places.push(Place { line, text: text.to_owned() });
    }

    fn push(&mut self, kind: Kind, name: String, tokens: &TokenStream, defines: Option<String>, is_test: bool) {
        self.push_many(kind, name, tokens, defines.into_iter().collect(), is_test);
    }

    fn push_many(&mut self, kind: Kind, name: String, tokens: &TokenStream, defines: BTreeSet<String>, is_test: bool) {
        let plain = plain(tokens.clone());
        let mut idents = BTreeSet::new();
        collect_idents(&plain, &mut idents);
        self.inventory.items.push(Item {
            file: self.file.to_owned(),
            root: self.root.clone(),
            module: self.module.clone(),
            code_module: self.code_module.clone(),
            kind,
            name,
            is_test,
            tokens: plain.to_string(),
            idents,
            defines,
            imports: BTreeSet::new(),
        });
    }
}

/// The attributes of an item.
pub fn attributes(item: &syn::Item) -> &[Attribute] {
    use syn::Item as I;
    match item {
        I::Const(i) => &i.attrs,
        I::Enum(i) => &i.attrs,
        I::ExternCrate(i) => &i.attrs,
        I::Fn(i) => &i.attrs,
        I::ForeignMod(i) => &i.attrs,
        I::Impl(i) => &i.attrs,
        I::Macro(i) => &i.attrs,
        I::Mod(i) => &i.attrs,
        I::Static(i) => &i.attrs,
        I::Struct(i) => &i.attrs,
        I::Trait(i) => &i.attrs,
        I::TraitAlias(i) => &i.attrs,
        I::Type(i) => &i.attrs,
        I::Union(i) => &i.attrs,
        I::Use(i) => &i.attrs,
        _ => &[],
    }
}

fn kind_of(item: &syn::Item) -> (Kind, String) {
    use syn::Item as I;
    match item {
        I::Fn(i) => (Kind::Function, i.sig.ident.to_string()),
        I::Use(_) => (Kind::Use, String::new()),
        I::Mod(i) => (Kind::Module, i.ident.to_string()),
        I::Macro(i) => match &i.ident {
            Some(name) => (Kind::Named, name.to_string()),
            None => (Kind::Macro, i.mac.path.to_token_stream().to_string().replace(' ', "")),
        },
        I::Const(i) => (Kind::Named, i.ident.to_string()),
        I::Enum(i) => (Kind::Named, i.ident.to_string()),
        I::Static(i) => (Kind::Named, i.ident.to_string()),
        I::Struct(i) => (Kind::Named, i.ident.to_string()),
        I::Trait(i) => (Kind::Named, i.ident.to_string()),
        I::Type(i) => (Kind::Named, i.ident.to_string()),
        I::Union(i) => (Kind::Named, i.ident.to_string()),
        _ => (Kind::Other, String::new()),
    }
}
