//! What tests compare, print and copy values with, written by hand where the base derived it: an equality that is always
//! true makes every comparison pass. Token by token, so that an `impl` inside of a function is seen too.

use super::inventory::Inventory;
use super::tokens::collect_idents;
use super::{Compared, Finding, LONGEST_SHOWN, Mark, What};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// Traits that tests rest on.
pub const TRAITS: [&str; 7] = ["Clone", "Debug", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];
/// Those of them that are a question on a type of the base that did not have them at all.
const NEW_TOO: [&str; 2] = ["Debug", "PartialEq"];

/// Types and what they derive, and traits that are written by hand, of one package.
#[derive(Debug, Default)]
pub struct ByHand {
    /// Types by name, with what they derive.
    types: BTreeMap<String, BTreeSet<String>>,
    /// Trait and type of each `impl`, with where it stands.
    written: BTreeMap<(String, String), (String, usize)>,
}

impl ByHand {
    /// Whether it has a type of this name.
    pub fn knows(&self, of: &str) -> bool {
        self.types.contains_key(of)
    }

    /// Whether a trait is written by hand for a type.
    pub fn writes(&self, name: &str, of: &str) -> bool {
        self.written.contains_key(&(name.to_owned(), of.to_owned()))
    }

    /// Take in the code of a file.
    pub fn read(&mut self, tokens: &TokenStream, file: &str) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut derived = BTreeSet::new();
        for (at, token) in tokens.iter().enumerate() {
            let rest = tokens.get(at + 1..).unwrap_or_default();
            match token {
                TokenTree::Group(group) => {
                    let mut idents = BTreeSet::new();
                    if group.delimiter() == Delimiter::Bracket {
                        collect_idents(&group.stream(), &mut idents);
                    }
                    if idents.contains("derive") {
                        derived.extend(idents);
                    } else {
                        self.read(&group.stream(), file);
                    }
                }
                TokenTree::Ident(word) if word == "struct" || word == "enum" || word == "union" => {
                    if let Some(TokenTree::Ident(name)) = rest.first() {
                        self.types.entry(name.to_string()).or_default().append(&mut derived);
                    }
                }
                TokenTree::Ident(word) if word == "impl" => {
                    if let Some(key) = implemented(rest) {
                        self.written.entry(key).or_insert_with(|| (file.to_owned(), token.span().start().line));
                    }
                    derived.clear();
                }
                TokenTree::Ident(word) if word == "fn" || word == "mod" => derived.clear(),
                _ => {}
            }
        }
    }
}

/// Trait and type of `impl … Trait for Type …`, where the trait is one of ours and compares the type with itself.
fn implemented(rest: &[TokenTree]) -> Option<(String, String)> {
    let end = rest.iter().position(|t| matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace))?;
    let head = rest.get(..end)?;
    let middle = head.iter().position(|t| matches!(t, TokenTree::Ident(word) if word == "for"))?;
    let (name, with) = last_of_path(head.get(..middle)?)?;
    let (of, _) = last_of_path(head.get(middle + 1..)?)?;
    let same = with.is_empty() || with.contains(&of) || with.contains("Self");
    (same && TRAITS.contains(&name.as_str())).then_some((name, of))
}

/// The last name of a path outside of `<…>`, and the names inside of the brackets that follow it.
fn last_of_path(tokens: &[TokenTree]) -> Option<(String, BTreeSet<String>)> {
    let mut depth = 0_usize;
    let mut found: Option<(String, BTreeSet<String>)> = None;
    let mut before = ' ';
    for token in tokens {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '<' => depth += 1,
            // `->` in a bound is no end.
            TokenTree::Punct(mark) if mark.as_char() == '>' && before != '-' => depth = depth.saturating_sub(1),
            TokenTree::Ident(word) if depth == 0 && word == "where" => break,
            TokenTree::Ident(word) if depth == 0 => found = Some((word.to_string(), BTreeSet::new())),
            TokenTree::Ident(word) => {
                if let Some((_, with)) = &mut found {
                    with.insert(word.to_string());
                }
            }
            _ => {}
        }
        before = if let TokenTree::Punct(mark) = token { mark.as_char() } else { ' ' };
    }
    found
}

/// Traits that are written by hand now and were derived, or were not there, in the base.
pub fn compare(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    for (root, code) in &new.by_hand {
        let Some(before) = old.by_hand.get(root) else { continue };
        for ((name, of), (file, line)) in &code.written {
            let Some(derived) = before.types.get(of) else { continue };
            let was_written = before.written.contains_key(&(name.clone(), of.clone()));
            if was_written || !(derived.contains(name) || NEW_TOO.contains(&name.as_str())) {
                continue;
            }
            let name = format!("line {line}: impl {name} for {of}");
            let name: String = name.chars().take(LONGEST_SHOWN).collect();
            compared.findings.push(Finding { name, file: file.clone(), what: What::Marked(Mark::ByHand) });
        }
    }
}
