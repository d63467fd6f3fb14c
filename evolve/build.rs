//! Gives the judge its own identity: `SELFSMITH_JUDGE_TREE`, a digest of everything that is compiled into it.
//!
//! It is taken from file contents, never from `.git`, so that an exported tree and a clone agree. Test folders are left
//! out: they are not part of the program. Names and contents are framed by their lengths, so that no two trees share a
//! digest by concatenation.

use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    collect(&manifest, Path::new("evolve"), &mut files)?;
    let crates = manifest.join("..").join("crates");
    if crates.is_dir() {
        collect(&crates, Path::new("crates"), &mut files)?;
    }
    files.sort();

    let mut digest = Sha256::new();
    for (name, path) in &files {
        let content = fs::read(path)?;
        digest.update((name.len() as u64).to_be_bytes());
        digest.update(name.as_bytes());
        digest.update((content.len() as u64).to_be_bytes());
        digest.update(&content);
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let id: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=SELFSMITH_JUDGE_TREE={id}");
    // Which target the program is for: the launcher builds its sibling for the same one.
    println!("cargo::rustc-env=SELFSMITH_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    Ok(())
}

/// Collect the files below `dir` under names that start with `name`, `/` between parts.
fn collect(dir: &Path, name: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let kind = entry.file_type()?;
        let name = name.join(&file_name);
        if kind.is_dir() {
            let skipped =
                file_name == "tests" || file_name == "target" || file_name.as_encoded_bytes().starts_with(b".");
            if !skipped {
                println!("cargo::rerun-if-changed={}", entry.path().display());
                collect(&entry.path(), &name, files)?;
            }
        } else if kind.is_file() {
            files.push((name.to_string_lossy().into_owned(), entry.path()));
        }
    }
    Ok(())
}
