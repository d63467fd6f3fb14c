//! Checks that stand in code and not under `#[cfg(test)]`: what the compiler asserts, and helpers and tables that only tests
//! use. They change together with the code that they check, so one that is not what it was is a person's question.
//!
//! By names and tokens: a helper that code uses too, and a function that tests call to see what it gives back, are code.

use super::inventory::Inventory;
use super::tokens::{collect_idents, plain};
use super::{Compared, Finding, LONGEST_SHOWN, What};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Beginnings of the names of functions that check.
const CHECKING: [&str; 6] = ["assert", "check", "ensure", "expect", "should", "verify"];

/// Checks in the code of a set of files.
#[derive(Debug, Default)]
pub struct Checks {
    /// What the compiler asserts: its tokens, with where it stands.
    asserted: BTreeMap<String, Vec<(String, usize)>>,
    /// Functions that check, macros that assert, and tables: by name.
    helpers: BTreeMap<String, Helper>,
    /// In how many pieces of code a name stands.
    used: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Helper {
    /// The tokens of every one of this name.
    tokens: BTreeSet<String>,
    file: String,
    line: usize,
    /// In how many of them the name stands: each defines it.
    own: usize,
}

impl Checks {
    /// Take in one item of code.
    pub fn read(&mut self, item: &syn::Item, file: &str) {
        let tokens = plain(item.to_token_stream());
        let mut idents = BTreeSet::new();
        collect_idents(&tokens, &mut idents);
        for name in idents {
            *self.used.entry(name).or_default() += 1;
        }
        let name = match item {
            syn::Item::Const(one) if one.ident != "_" => Some(one.ident.to_string()),
            syn::Item::Static(one) => Some(one.ident.to_string()),
            syn::Item::Fn(one) => Some(one.sig.ident.to_string()).filter(|name| checks(name, &one.sig, &tokens)),
            syn::Item::Macro(one) => one.ident.as_ref().map(ToString::to_string).filter(|_| asserts(&tokens)),
            _ => None,
        };
        if let Some(name) = name {
            let line = item.span().start().line;
            let helper = self.helpers.entry(name).or_insert_with(|| Helper {
                tokens: BTreeSet::new(),
                file: file.to_owned(),
                line,
                own: 0,
            });
            helper.tokens.insert(tokens.to_string());
            helper.own += 1;
        }
        Asserted { checks: self, file }.visit_item(item);
    }
}

/// Whether a function is there to check: it gives nothing back and asserts, or says so by its name.
fn checks(name: &str, signature: &syn::Signature, tokens: &TokenStream) -> bool {
    let gives_nothing = matches!(signature.output, syn::ReturnType::Default);
    let begins = |begin: &str| name.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    let said = CHECKING.iter().any(|begin| begins(begin));
    name != "main" && (begins("assert") || gives_nothing && (said || asserts(tokens)))
}

/// Whether `assert…!` or `panic!` stands in it.
fn asserts(tokens: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => asserts(&group.stream()),
        TokenTree::Ident(name) => {
            let name = name.to_string();
            let is_macro = matches!(tokens.get(at + 1), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
            is_macro && (name.contains("assert") || name == "panic")
        }
        _ => false,
    })
}

/// Looks for what the compiler asserts, wherever it stands.
struct Asserted<'a> {
    checks: &'a mut Checks,
    file: &'a str,
}

impl Asserted<'_> {
    fn take(&mut self, tokens: TokenStream, line: usize) {
        let places = self.checks.asserted.entry(plain(tokens).to_string()).or_default();
        places.push((self.file.to_owned(), line));
    }
}

impl<'ast> Visit<'ast> for Asserted<'_> {
    fn visit_item_const(&mut self, one: &'ast syn::ItemConst) {
        let tokens = one.to_token_stream();
        if one.ident == "_" || asserts(&tokens) {
            self.take(tokens, one.span().start().line);
        } else {
            visit::visit_item_const(self, one);
        }
    }

    fn visit_impl_item_const(&mut self, one: &'ast syn::ImplItemConst) {
        if asserts(&one.to_token_stream()) {
            self.take(one.to_token_stream(), one.span().start().line);
        }
    }

    fn visit_trait_item_const(&mut self, one: &'ast syn::TraitItemConst) {
        if asserts(&one.to_token_stream()) {
            self.take(one.to_token_stream(), one.span().start().line);
        }
    }

    fn visit_expr_const(&mut self, one: &'ast syn::ExprConst) {
        if asserts(&one.to_token_stream()) {
            self.take(one.to_token_stream(), one.span().start().line);
        }
    }

    fn visit_macro(&mut self, one: &'ast syn::Macro) {
        // Those of crates for it: `const_assert!`, `assert_impl_all!`, `assert_eq_size!` …
        let name = one.path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
        let known =
            ["const_assert", "assert_impl", "assert_not_impl", "assert_eq_size", "assert_eq_align", "assert_obj_safe"];
        if known.iter().any(|begin| name.starts_with(begin)) || name.starts_with("assert_type") {
            self.take(one.to_token_stream(), one.span().start().line);
        }
    }

    fn visit_item_macro(&mut self, one: &'ast syn::ItemMacro) {
        // What stands as an item runs when it is compiled.
        if one.ident.is_none()
            && one.mac.path.segments.last().is_some_and(|last| last.ident.to_string().contains("assert"))
        {
            self.take(one.mac.to_token_stream(), one.span().start().line);
        }
    }
}

/// What is not as it was.
pub fn compare(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    for (tokens, places) in &old.checks.asserted {
        let there = new.checks.asserted.get(tokens).map_or(0, Vec::len);
        if let Some((file, line)) = places.get(there) {
            let shown: String = tokens.chars().take(LONGEST_SHOWN).collect();
            let name = format!("line {line}: {shown}");
            compared.findings.push(Finding { name, file: file.clone(), what: What::Check });
        }
    }
    for (name, helper) in &old.checks.helpers {
        let by_tests = old.items.iter().any(|item| item.idents.contains(name));
        let by_code = old.checks.used.get(name).copied().unwrap_or(0) > helper.own;
        let now = new.checks.helpers.get(name).map(|helper| &helper.tokens);
        let in_tests = || new.items.iter().any(|item| helper.tokens.contains(&item.tokens));
        if by_tests && !by_code && !now.is_some_and(|now| helper.tokens.is_subset(now)) && !in_tests() {
            let name = format!("line {}: {name}, which only tests use", helper.line);
            compared.findings.push(Finding { name, file: helper.file.clone(), what: What::Check });
        }
    }
}
