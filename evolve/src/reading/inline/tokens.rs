//! Tokens of Rust: reading them without descending too far, comparing them without layout, asking them about tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{Attribute, Meta, UseTree};

/// Largest file that is compared, in bytes. Reading takes stack in proportion.
const LARGEST: usize = 256 * 1024;

/// Deepest nesting of brackets that is read.
const DEEPEST: usize = 1000;

/// Most tokens that may hang together without a `;` or `,` between them.
const LONGEST_CHAIN: usize = 20_000;

/// A file as Rust. The text of the error says where and why.
pub fn parse(text: &str) -> Result<syn::File, String> {
    if text.len() > LARGEST {
        return Err(format!("it is larger than {} KiB", LARGEST / 1024));
    }
    // Lexing keeps a stack of its own on the heap; reading the grammar does not.
    if text.parse::<TokenStream>().is_ok_and(is_too_deep) {
        return Err(format!("its brackets are nested more than {DEEPEST} deep, or its expressions are endless"));
    }
    syn::parse_file(text).map_err(|error| {
        let at = error.span().start();
        format!("line {}, column {}: {error}", at.line, at.column + 1)
    })
}

/// Whether reading the grammar would descend too far: every open bracket counts, and every token since the last `;` or `,`
/// on each level around (`!!!!x`, `&&&&T`, `1 + 1 + 1` nest as well).
fn is_too_deep(tokens: TokenStream) -> bool {
    let mut open = vec![(tokens.into_iter(), 0_usize)];
    let mut chain = 0;
    while let Some((level, own)) = open.last_mut() {
        match level.next() {
            Some(TokenTree::Group(group)) => open.push((group.stream().into_iter(), 0)),
            Some(TokenTree::Punct(mark)) if matches!(mark.as_char(), ';' | ',') => {
                chain -= *own;
                *own = 0;
            }
            Some(_) => {
                *own += 1;
                chain += 1;
            }
            None => {
                chain -= *own;
                open.pop();
            }
        }
        if open.len() > DEEPEST || chain > LONGEST_CHAIN {
            return true;
        }
    }
    false
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`; not `#[cfg(not(test))]`.
pub fn under_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && matches!(&attribute.meta, Meta::List(list) if names_test(list.tokens.clone(), Negated::No))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Negated {
    Yes,
    No,
}

fn names_test(tokens: TokenStream, negated: Negated) -> bool {
    let mut inside_not = negated;
    for token in tokens {
        match token {
            TokenTree::Ident(name) if name == "not" => inside_not = Negated::Yes,
            TokenTree::Ident(name) if name == "test" && negated == Negated::No => return true,
            TokenTree::Group(group) => {
                if names_test(group.stream(), inside_not) {
                    return true;
                }
                inside_not = negated;
            }
            _ => {}
        }
    }
    false
}

/// `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(…)]`, `#[wasm_bindgen_test]`, `#[bench]` …
pub fn harness_runs(attribute: &Attribute) -> bool {
    let Some(last) = attribute.path().segments.last() else { return false };
    let name = last.ident.to_string();
    name == "bench" || name == "quickcheck" || name.ends_with("test") || name.starts_with("test_")
}

/// Names that an import brings in.
pub fn imported(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => imported(&path.tree, names),
        UseTree::Name(name) => {
            names.insert(name.ident.to_string());
        }
        UseTree::Rename(rename) => {
            names.insert(rename.rename.to_string());
        }
        // Two globs that bring one name are an error, not a shadow.
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|tree| imported(tree, names)),
    }
}

/// Each path of an import by itself, behind what stands before it.
pub fn paths(tree: &UseTree, before: &str, found: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => paths(&path.tree, &format!("{before}{}::", path.ident), found),
        UseTree::Group(group) => group.items.iter().for_each(|tree| paths(tree, before, found)),
        UseTree::Name(_) | UseTree::Rename(_) | UseTree::Glob(_) => {
            found.insert(format!("{before}{}", tree.to_token_stream()));
        }
    }
}

/// Lints that attributes forbid or deny.
pub fn guards(attributes: &[Attribute]) -> BTreeSet<String> {
    let strict = attributes.iter().filter(|one| one.path().is_ident("forbid") || one.path().is_ident("deny"));
    let lists = strict.filter_map(|one| one.meta.require_list().ok());
    let words = lists.flat_map(|list| {
        let text = list.tokens.to_string().replace(' ', "");
        text.split(',').filter(|lint| !lint.contains('=')).map(str::to_owned).collect::<Vec<_>>()
    });
    words.filter(|lint| !lint.is_empty()).collect()
}

/// Tokens without documentation, and without the comma that may end a list.
pub fn plain(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = token else {
            kept.push(token);
            continue;
        };
        let is_doc = group.delimiter() == Delimiter::Bracket
            && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc");
        if is_doc && ends_with_hash(&mut kept) {
            continue;
        }
        let inner: Vec<TokenTree> = plain(group.stream()).into_iter().collect();
        let commas = inner.iter().filter(|token| is_comma(token)).count();
        let last_is_comma = inner.last().is_some_and(is_comma);
        let is_list = group.delimiter() != Delimiter::Parenthesis || commas > 1;
        let keep = inner.len() - usize::from(last_is_comma && is_list);
        let inner: TokenStream = inner.into_iter().take(keep).collect();
        kept.push(TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner)));
    }
    kept.into_iter().collect()
}

/// Takes the `#` or `#!` before an attribute away.
fn ends_with_hash(kept: &mut Vec<TokenTree>) -> bool {
    let is = |token: Option<&TokenTree>, mark| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == mark);
    if is(kept.last(), '#') {
        kept.pop();
        return true;
    }
    let before = kept.len().checked_sub(2).and_then(|at| kept.get(at));
    if is(kept.last(), '!') && is(before, '#') {
        kept.truncate(kept.len() - 2);
        return true;
    }
    false
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')
}

/// Every identifier in tokens.
pub fn collect_idents(tokens: &TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name) => {
                into.insert(name.to_string());
            }
            TokenTree::Group(group) => collect_idents(&group.stream(), into),
            _ => {}
        }
    }
}
