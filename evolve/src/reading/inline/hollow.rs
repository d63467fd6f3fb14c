//! Types that lost what tests compare: a derived equality of fields that hold nothing says yes to everything.
//!
//! Asked about: a field that held something and holds nothing now, a type that lost all of its fields, and a field of a new
//! type whose comparison is written by hand. By names: what a type parameter stands for is not known.

use super::by_hand::TRAITS;
use super::inventory::Inventory;
use super::tokens::collect_idents;
use super::{Compared, Finding, Mark, What};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;

/// Types of one package by name.
#[derive(Debug, Default)]
pub struct Types {
    all: BTreeMap<String, Type>,
    /// Names that stand for another type: `type Nothing = ();`.
    aliases: BTreeMap<String, syn::Type>,
}

#[derive(Debug)]
struct Type {
    file: String,
    line: usize,
    derived: BTreeSet<String>,
    /// Fields: in which variant and under which name or number, and of what type.
    fields: BTreeMap<String, syn::Type>,
    /// Variants of an enum.
    variants: usize,
}

impl Types {
    /// Take in one item of code.
    pub fn read(&mut self, item: &syn::Item, file: &str) {
        let mut fields = BTreeMap::new();
        let (name, attributes, variants) = match item {
            syn::Item::Struct(one) => {
                add("", &one.fields, &mut fields);
                (&one.ident, &one.attrs, 1)
            }
            syn::Item::Enum(one) => {
                one.variants.iter().for_each(|variant| add(&variant.ident.to_string(), &variant.fields, &mut fields));
                (&one.ident, &one.attrs, one.variants.len())
            }
            syn::Item::Type(alias) => {
                self.aliases.insert(alias.ident.to_string(), (*alias.ty).clone());
                return;
            }
            _ => return,
        };
        let mut derived = BTreeSet::new();
        for attribute in attributes {
            let tokens = attribute.to_token_stream();
            let mut idents = BTreeSet::new();
            collect_idents(&tokens, &mut idents);
            if idents.contains("derive") {
                derived.extend(idents.into_iter().filter(|name| TRAITS.contains(&name.as_str())));
            }
        }
        let line = item.span().start().line;
        self.all.insert(name.to_string(), Type { file: file.to_owned(), line, derived, fields, variants });
    }

    /// Whether every value of a type is the same.
    fn is_hollow(&self, one: &syn::Type, depth: usize) -> bool {
        if depth > 16 {
            return false;
        }
        match one {
            syn::Type::Tuple(tuple) => tuple.elems.iter().all(|inner| self.is_hollow(inner, depth + 1)),
            syn::Type::Paren(inner) => self.is_hollow(&inner.elem, depth + 1),
            syn::Type::Group(inner) => self.is_hollow(&inner.elem, depth + 1),
            syn::Type::Reference(inner) => self.is_hollow(&inner.elem, depth + 1),
            syn::Type::Array(array) => {
                array.len.to_token_stream().to_string() == "0" || self.is_hollow(&array.elem, depth + 1)
            }
            syn::Type::Never(_) => true,
            syn::Type::Path(path) => {
                let Some(last) = path.path.segments.last() else { return false };
                let name = last.ident.to_string();
                if name == "PhantomData" || name == "PhantomPinned" || name == "Infallible" {
                    return true;
                }
                let alias = self.aliases.get(&name).is_some_and(|alias| self.is_hollow(alias, depth + 1));
                alias
                    || self.all.get(&name).is_some_and(|own| {
                        own.variants <= 1 && own.fields.values().all(|inner| self.is_hollow(inner, depth + 1))
                    })
            }
            _ => false,
        }
    }
}

fn add(variant: &str, fields: &syn::Fields, found: &mut BTreeMap<String, syn::Type>) {
    for (at, field) in fields.iter().enumerate() {
        let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
        found.insert(format!("{variant}.{name}"), field.ty.clone());
    }
}

/// Types of the base that compare less than they did.
pub fn compare(old: &Inventory, new: &Inventory, compared: &mut Compared) {
    for (root, types) in &new.types {
        let Some(before) = old.types.get(root) else { continue };
        for (name, now) in &types.all {
            let Some(was) = before.all.get(name) else { continue };
            let both: BTreeSet<&String> = now.derived.intersection(&was.derived).collect();
            if both.is_empty() {
                continue;
            }
            let why = emptied(before, was, types, now).or_else(|| delegated(old, new, root, was, now));
            if let Some(field) = why {
                let name = format!("line {}: {name}{field}", now.line);
                compared.findings.push(Finding { name, file: now.file.clone(), what: What::Marked(Mark::Hollow) });
            }
        }
    }
}

/// A field that holds nothing now, or the sign that none is left.
fn emptied(before: &Types, was: &Type, types: &Types, now: &Type) -> Option<String> {
    let full = |types: &Types, one: &Type| one.fields.values().filter(|ty| !types.is_hollow(ty, 0)).count();
    let (had, has) = (full(before, was), full(types, now));
    let lost = now.fields.iter().find(|(label, ty)| {
        let held = was.fields.get(*label).is_some_and(|ty| !before.is_hollow(ty, 0));
        types.is_hollow(ty, 0) && (held || has < had && !was.fields.contains_key(*label))
    });
    lost.map(|(label, _)| label.clone()).or_else(|| (had > 0 && has == 0).then(String::new))
}

/// A field of a type that is new and compares by hand what this type derives.
fn delegated(old: &Inventory, new: &Inventory, root: &str, was: &Type, now: &Type) -> Option<String> {
    let (before, hands) = (old.by_hand.get(root)?, new.by_hand.get(root)?);
    let field = now.fields.iter().find(|(label, ty)| {
        let same = was
            .fields
            .get(*label)
            .is_some_and(|old| old.to_token_stream().to_string() == ty.to_token_stream().to_string());
        let mut names = BTreeSet::new();
        collect_idents(&ty.to_token_stream(), &mut names);
        !same
            && names
                .iter()
                .any(|name| !before.knows(name) && now.derived.iter().any(|derived| hands.writes(derived, name)))
    });
    field.map(|(label, _)| label.clone())
}
