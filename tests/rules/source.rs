//! Source files as the rules see them: path, package, module, tokens without tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// One file of production code.
pub struct Source {
    /// Path from the workspace's root.
    pub path: String,
    /// Folder of its package: `src`, `evolve/src`, `crates/repo/src` …
    pub package: String,
    /// Its top-level module; `lib` for a crate's root.
    pub module: String,
    /// The text as it is.
    pub text: String,
    /// All paths named in code, such as `crate::tool::bash` or `std::process::Command`, as lists of identifiers.
    pub paths: Vec<Vec<String>>,
    /// Names of macros called, such as `println`.
    pub macros: Vec<String>,
}

/// Folders with production code.
pub const PACKAGES: &[&str] =
    &["src", "evolve/src", "crates/cassette/src", "crates/repo/src", "crates/sandbox/src", "crates/scenario/src"];

impl Source {
    /// Every file of production code, sorted by path; read once.
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Source>> = LazyLock::new(Source::read_all);
        &ALL
    }

    fn read_all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut all = Vec::new();
        for package in PACKAGES {
            for file in files(&root.join(package)) {
                let path = file.strip_prefix(root).expect("below the root").display().to_string();
                all.push(Self::read(package, path, &file));
            }
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        all
    }

    fn read(package: &str, path: String, file: &Path) -> Self {
        Self::of(package, path, fs::read_to_string(file).expect("a source file can be read"))
    }

    /// A file that need not exist: its text at a path.
    pub fn of(package: &str, path: String, text: String) -> Self {
        let mut parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
        parsed.items.retain(|item| !is_test(item));
        let below = path.strip_prefix(&format!("{package}/")).expect("below its package");
        let first = below.split('/').next().expect("a name");
        let module = first.strip_suffix(".rs").unwrap_or(first).to_owned();
        let mut source = Self { path, package: package.to_owned(), module, text, paths: vec![], macros: vec![] };
        source.walk(parsed.to_token_stream());
        source
    }

    fn walk(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(_) => at = self.path(&tokens, at, &[]),
                TokenTree::Group(group) => {
                    self.walk(group.stream());
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Read one path from `at` on, groups of a `use` included; returns where it ends.
    fn path(&mut self, tokens: &[TokenTree], mut at: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        while let Some(TokenTree::Ident(name)) = tokens.get(at) {
            path.push(name.to_string());
            at += 1;
            if !is_punct(tokens, at, ':') || !is_punct(tokens, at + 1, ':') {
                break;
            }
            at += 2;
            if let Some(TokenTree::Group(group)) = tokens.get(at)
                && group.delimiter() == Delimiter::Brace
            {
                self.group(group.stream(), &path);
                return at + 1;
            }
        }
        if is_punct(tokens, at, '!') && matches!(tokens.get(at + 1), Some(TokenTree::Group(_))) {
            self.macros.extend(path.last().cloned());
        }
        self.paths.push(path);
        at
    }

    fn group(&mut self, tokens: TokenStream, prefix: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Ident(_) => self.path(&tokens, at, prefix),
                _ => at + 1,
            };
        }
    }
}

fn is_punct(tokens: &[TokenTree], at: usize, c: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c)
}

fn is_test(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|a| a.path().is_ident("cfg") && a.to_token_stream().to_string().contains("test"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
    found
}
