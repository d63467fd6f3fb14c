//! What cargo's own settings say that a build in the room needs: where packages come from, and `[env]`.
//!
//! Promises to carry no token, no credential, no runner, no wrapper and no flags along: only the named keys are read. Lines
//! that cannot be read are passed over here, since cargo itself complains about them in its own words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table, Value, value};

/// Sources of packages, merged over several files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Key (`source`, `x`, `registry`) and value.
    keys: BTreeMap<[String; 3], String>,
    /// Folders on this machine that hold packages, with where the room sees them.
    pub folders: Vec<(PathBuf, PathBuf)>,
}

/// Keys of a `[source.x]` that say where packages come from.
const OF_A_SOURCE: [&str; 8] =
    ["registry", "local-registry", "directory", "git", "branch", "tag", "rev", "replace-with"];

impl Sources {
    /// Add a file. `base` is the folder that its relative paths start from (the parent of `.cargo/`); what was added before
    /// is overridden.
    pub fn add(&mut self, text: &str, base: &Path) {
        let Ok(document) = text.parse::<DocumentMut>() else { return };
        for (name, source) in tables(document.get("source")) {
            for key in OF_A_SOURCE {
                let Some(text) = source.get(key).and_then(Item::as_str) else { continue };
                let text = match key {
                    "directory" | "local-registry" => self.folder(&base.join(text)),
                    _ => text.to_owned(),
                };
                self.keys.insert(["source".to_owned(), name.clone(), key.to_owned()], text);
            }
        }
        for (name, registry) in tables(document.get("registries")) {
            if let Some(index) = registry.get("index").and_then(Item::as_str) {
                self.keys.insert(["registries".to_owned(), name, "index".to_owned()], index.to_owned());
            }
        }
    }

    fn folder(&mut self, outside: &Path) -> String {
        let known = self.folders.iter().position(|(folder, _)| folder == outside);
        let at = known.unwrap_or(self.folders.len());
        let inside = PathBuf::from(format!("/trial/packages/{at}"));
        if known.is_none() {
            self.folders.push((outside.to_owned(), inside.clone()));
        }
        inside.to_string_lossy().into_owned()
    }

    /// A settings file for the room.
    pub fn text(&self) -> String {
        let mut document = DocumentMut::new();
        for ([group, name, key], text) in &self.keys {
            let table = || Item::Table(Table::new());
            let group = document.entry(group).or_insert_with(table).as_table_mut();
            let name = group.and_then(|group| group.entry(name).or_insert_with(table).as_table_mut());
            if let Some(name) = name {
                name.insert(key, value(text.as_str()));
            }
        }
        document.to_string()
    }
}

/// One entry of `[env]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvEntry {
    /// Name.
    pub name: String,
    /// Value; joined to the folder above `.cargo/` where `relative`.
    pub value: String,
    /// Whether it is a path from that folder.
    pub relative: bool,
}

/// `[env]` of a settings file, as cargo gives it to what it runs.
pub fn env_entries(text: &str) -> Vec<EnvEntry> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let Some(table) = document.get("env").and_then(Item::as_table_like) else { return Vec::new() };
    let mut entries = Vec::new();
    for (name, item) in table.iter() {
        let (text, relative) = match item.as_value() {
            Some(Value::String(text)) => (Some(text.value().clone()), false),
            Some(Value::InlineTable(table)) => (
                table.get("value").and_then(Value::as_str).map(str::to_owned),
                table.get("relative").and_then(Value::as_bool).unwrap_or(false),
            ),
            _ => match item.as_table_like() {
                Some(table) => (
                    table.get("value").and_then(Item::as_str).map(str::to_owned),
                    table.get("relative").and_then(Item::as_bool).unwrap_or(false),
                ),
                None => (None, false),
            },
        };
        if let Some(value) = text {
            entries.push(EnvEntry { name: name.to_owned(), value, relative });
        }
    }
    entries
}

fn tables(item: Option<&Item>) -> Vec<(String, &dyn toml_edit::TableLike)> {
    let Some(table) = item.and_then(Item::as_table_like) else { return Vec::new() };
    table.iter().filter_map(|(name, item)| item.as_table_like().map(|inner| (name.to_owned(), inner))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_is_carried_along_and_its_token_is_not() {
        let mut sources = Sources::default();
        let text = "[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+https://mirror.example/\"\n\
            [registries.inner]\nindex = \"sparse+https://inner.example/\"\ntoken = \"hush\"\n[build]\nrustc-wrapper = \"w\"\n";
        sources.add(text, Path::new("/home/u"));
        let written = sources.text();
        assert!(written.contains("replace-with = \"mirror\"") && written.contains("inner.example"), "{written}");
        assert!(!written.contains("hush") && !written.contains("wrapper"), "{written}");
        let mut again = Sources::default();
        again.add(&written, Path::new("/"));
        assert_eq!(again, sources);
    }

    #[test]
    fn a_folder_of_packages_is_seen_at_a_neutral_path() {
        let mut sources = Sources::default();
        sources.add("[source.v]\ndirectory = \"vendor\"\n", Path::new("/home/u/p"));
        assert_eq!(sources.folders, [(PathBuf::from("/home/u/p/vendor"), PathBuf::from("/trial/packages/0"))]);
        assert!(sources.text().contains("/trial/packages/0"));
    }

    #[test]
    fn the_three_forms_of_env_are_read() {
        let text = "[env]\nA = \"1\"\nB = { value = \"b\", relative = true }\n[env.C]\nvalue = \"c\"\nforce = true\n";
        let read: Vec<_> = env_entries(text).into_iter().map(|e| (e.name, e.value, e.relative)).collect();
        let entry = |name: &str, value: &str, relative| (name.to_owned(), value.to_owned(), relative);
        assert_eq!(read, [entry("A", "1", false), entry("B", "b", true), entry("C", "c", false)]);
    }

    #[test]
    fn what_is_no_toml_says_nothing() {
        assert!(env_entries("]").is_empty());
        let mut sources = Sources::default();
        sources.add("= =", Path::new("/"));
        assert_eq!(sources, Sources::default());
    }
}
