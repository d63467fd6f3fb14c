//! Where modules lie: the logical module of a file, and the files that hold nothing but tests.

use super::tokens::under_test;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Meta};

/// Files that hold nothing but tests: below a package's `tests/`, those that a `#[cfg(test)] mod name;` leads to, and the
/// `roots`, which cargo takes for tests wherever they lie.
pub fn files_for_tests(parsed: &BTreeMap<&str, syn::File>, roots: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut queue: Vec<(String, bool)> = parsed.keys().map(|path| ((*path).to_owned(), false)).collect();
    for path in parsed.keys() {
        let parts: Vec<&str> = path.split('/').collect();
        let tests = parts.iter().rposition(|part| *part == "tests" || *part == "benches");
        let src = parts.iter().rposition(|part| *part == "src");
        if tests.is_some() && src < tests && src.is_none() || path.starts_with("tests/") || roots.contains(*path) {
            found.insert((*path).to_owned());
        }
    }
    queue.extend(found.iter().map(|path| (path.clone(), true)));
    while let Some((path, whole)) = queue.pop() {
        let Some(file) = parsed.get(path.as_str()) else { continue };
        let mut named = Vec::new();
        modules_in_files(&file.items, whole, &mut Vec::new(), &mut named);
        for (inner, attribute_path) in named {
            for target in candidates(&path, &inner, attribute_path.as_deref()) {
                if parsed.contains_key(target.as_str()) && found.insert(target.clone()) {
                    queue.push((target, true));
                }
            }
        }
    }
    found
}

/// `mod name;` items that are for tests, with the inline modules around them and their `#[path]`.
fn modules_in_files(
    items: &[syn::Item],
    for_tests: bool,
    around: &mut Vec<String>,
    named: &mut Vec<(Vec<String>, Option<String>)>,
) {
    for item in items {
        let syn::Item::Mod(module) = item else { continue };
        let for_tests = for_tests || module.attrs.iter().any(under_test);
        around.push(module.ident.to_string());
        match &module.content {
            Some((_, items)) => modules_in_files(items, for_tests, around, named),
            None if for_tests => named.push((around.clone(), path_attribute(&module.attrs))),
            None => {}
        }
        around.pop();
    }
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Where the file of a module may lie, seen from the file that names it.
fn candidates(from: &str, inner: &[String], path: Option<&str>) -> Vec<String> {
    let (dir, file) = from.rsplit_once('/').map_or(("", from), |(dir, file)| (dir, file));
    let join = |dir: &str, rest: &str| if dir.is_empty() { rest.to_owned() } else { format!("{dir}/{rest}") };
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let inner = inner.join("/");
    let mut found: Vec<String> = path.map(|path| vec![join(dir, path)]).unwrap_or_default();
    for base in [dir.to_owned(), join(dir, stem)] {
        found.push(join(&base, &format!("{inner}.rs")));
        found.push(join(&base, &format!("{inner}/mod.rs")));
    }
    found
}

/// Root and logical module of a file: `crates/x/src/a/b.rs` is `a::b` below `crates/x/src/`.
pub fn logical(path: &str) -> (String, Vec<String>) {
    let parts: Vec<&str> = path.split('/').collect();
    let at = parts.iter().position(|part| *part == "src" || *part == "tests").map_or(0, |at| at + 1);
    let root = parts.iter().take(at).fold(String::new(), |root, part| root + part + "/");
    let mut module: Vec<String> =
        parts.iter().skip(at).map(|part| part.strip_suffix(".rs").unwrap_or(part).to_owned()).collect();
    let is_crate_root = module.len() == 1 && module.first().is_some_and(|name| name == "lib" || name == "main");
    if is_crate_root || module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    (root, module)
}
