//! The packages of a workspace, as cargo describes them, with the variables that cargo gives to what it runs for each.
//!
//! Promises to give a test executable what cargo would: folder, `CARGO_MANIFEST_DIR`, `CARGO_PKG_*`, `[env]`. Source: the
//! Cargo book, "Environment variables", and cargo 1.95's `fill_env`.

use crate::reading::cargo_config::env_entries;
use cargo_metadata::{Metadata, MetadataCommand, Package};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One package of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Package id as cargo writes it.
    pub id: String,
    /// Name.
    pub name: String,
    /// Folder of its manifest, as the room sees it.
    pub dir: String,
    /// Whether it has a library whose documentation is tested.
    pub has_doctests: bool,
    /// `CARGO_MANIFEST_DIR`, `CARGO_PKG_*`.
    pub variables: Vec<(String, String)>,
    /// Its targets.
    pub targets: Vec<Root>,
}

/// One target of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// `lib`, `bin`, `test` …, as [`crate::reading::compiled::Unit::kind`].
    pub kind: String,
    /// Name.
    pub name: String,
    /// Its first source file, as the room sees it.
    pub source: String,
}

/// The members in the output of `cargo metadata --no-deps`.
///
/// # Errors
/// It is no such output; the text says why.
pub fn read(stdout: &str) -> Result<Vec<Member>, String> {
    let metadata: Metadata = MetadataCommand::parse(stdout).map_err(|error| error.to_string())?;
    Ok(metadata.workspace_packages().into_iter().map(member).collect())
}

fn member(package: &Package) -> Member {
    let dir = package.manifest_path.parent().map_or_else(String::new, |dir| dir.as_str().to_owned());
    let version = &package.version;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let path = |value: &Option<cargo_metadata::camino::Utf8PathBuf>| {
        value.as_ref().map_or_else(String::new, |path| path.as_str().to_owned())
    };
    let variables = [
        ("CARGO_MANIFEST_DIR", dir.clone()),
        ("CARGO_MANIFEST_PATH", package.manifest_path.as_str().to_owned()),
        ("CARGO_PKG_NAME", package.name.to_string()),
        ("CARGO_PKG_VERSION", version.to_string()),
        ("CARGO_PKG_VERSION_MAJOR", version.major.to_string()),
        ("CARGO_PKG_VERSION_MINOR", version.minor.to_string()),
        ("CARGO_PKG_VERSION_PATCH", version.patch.to_string()),
        ("CARGO_PKG_VERSION_PRE", version.pre.to_string()),
        ("CARGO_PKG_AUTHORS", package.authors.join(":")),
        ("CARGO_PKG_DESCRIPTION", text(&package.description)),
        ("CARGO_PKG_HOMEPAGE", text(&package.homepage)),
        ("CARGO_PKG_REPOSITORY", text(&package.repository)),
        ("CARGO_PKG_LICENSE", text(&package.license)),
        ("CARGO_PKG_LICENSE_FILE", path(&package.license_file)),
        ("CARGO_PKG_README", path(&package.readme)),
        ("CARGO_PKG_RUST_VERSION", package.rust_version.as_ref().map_or_else(String::new, ToString::to_string)),
    ];
    Member {
        id: package.id.repr.clone(),
        name: package.name.to_string(),
        dir,
        has_doctests: package.targets.iter().any(|target| target.doctest && target.kind.iter().any(is_library)),
        targets: package.targets.iter().map(root).collect(),
        variables: variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

fn root(target: &cargo_metadata::Target) -> Root {
    Root {
        kind: target.kind.first().map_or_else(String::new, crate::reading::compiled::kind_word),
        name: target.name.clone(),
        source: target.src_path.as_str().to_owned(),
    }
}

fn is_library(kind: &cargo_metadata::TargetKind) -> bool {
    use cargo_metadata::TargetKind as Kind;
    matches!(kind, Kind::Lib | Kind::RLib | Kind::DyLib | Kind::CDyLib | Kind::StaticLib | Kind::ProcMacro)
}

/// `[env]` of a tree's own `.cargo/config.toml`, as paths of the room.
pub fn env_of(tree: &Path, in_room: &str) -> Vec<(String, String)> {
    let files = [".cargo/config.toml", ".cargo/config"].map(|name| std::fs::read_to_string(tree.join(name)));
    let text = files.into_iter().find_map(Result::ok).unwrap_or_default();
    let value = |entry: &crate::reading::cargo_config::EnvEntry| {
        if entry.relative { format!("{in_room}/{}", entry.value) } else { entry.value.clone() }
    };
    env_entries(&text).iter().map(|entry| (entry.name.clone(), value(entry))).collect()
}
