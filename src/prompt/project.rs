//! A project's notes for agents: `AGENTS.md` and `CLAUDE.md`, from the repository's root down to the workspace, so that the
//! nearest speaks last. They are part of a request's fixed beginning and are read once a session.
//!
//! Promises: bounded in size with the cut said, no file from outside of the project by a link, each text once, and what
//! nobody trusts is quoted line by line, so that it cannot end its quotation.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// Bytes of one file that are taken.
const MAX_FILE: usize = 16 * 1024;
/// Bytes of all files that are taken; the nearest ones first.
const MAX_ALL: usize = 32 * 1024;
/// Files that hold notes, the first of a folder first.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The notes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notes {
    /// Path from the project's root.
    pub path: String,
    /// What it says; quoted where it is not trusted.
    pub text: String,
    /// Whether a person trusts it.
    pub voice: Voice,
    /// Bytes that were left out.
    pub left_out: usize,
}

/// How notes are to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// As the project's rules.
    Trusted,
    /// As material.
    Quoted,
}

/// The notes that hold in a folder of a project. `covers` says whether a file with these bytes is trusted.
pub fn read(root: &Path, folder: &Path, covers: &dyn Fn(&Path, &[u8]) -> bool) -> Vec<Notes> {
    let mut all: Vec<Notes> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    let mut room = MAX_ALL;
    for folder in folder.ancestors().take_while(|folder| folder.starts_with(root)) {
        for name in NAMES {
            let path = folder.join(name);
            let Some(bytes) = bytes(root, &path) else { continue };
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            let text = without_pointer(text.trim_start_matches('\u{feff}')).trim().to_owned();
            if text.is_empty() || texts.contains(&text) {
                continue;
            }
            let kept = text.floor_char_boundary(text.len().min(MAX_FILE).min(room));
            room -= kept;
            let voice = if covers(&path, &bytes) { Voice::Trusted } else { Voice::Quoted };
            let path = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let left_out = text.len() - kept;
            all.push(Notes {
                path,
                text: told(text.get(..kept).unwrap_or_default(), voice, left_out),
                voice,
                left_out,
            });
            texts.push(text);
        }
    }
    all.reverse();
    all
}

fn told(text: &str, voice: Voice, left_out: usize) -> String {
    let mut text = match voice {
        Voice::Trusted => text.to_owned(),
        Voice::Quoted => text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"),
    };
    if left_out > 0 {
        text.push_str(&format!("\n[{left_out} more bytes of it are left out: view the file where they matter]"));
    }
    text
}

/// One byte more than may be taken of a file tells that there is more; beyond four times that nobody counts.
fn bytes(root: &Path, path: &Path) -> Option<Vec<u8>> {
    let real = fs::canonicalize(path).ok().filter(|real| real.starts_with(root))?;
    if !fs::metadata(&real).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(real).ok()?.take(256 * 1024).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A `CLAUDE.md` often only points to `AGENTS.md`, which is read in any case.
fn without_pointer(text: &str) -> String {
    let points = |line: &&str| matches!(line.trim(), "@AGENTS.md" | "@./AGENTS.md");
    text.lines().filter(|line| !points(line)).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    fn read_in(folder: &tempfile::TempDir, below: &str) -> Vec<Notes> {
        let root = folder.path().canonicalize().expect("it is there");
        read(&root, &root.join(below), &|path, _| path.ends_with("deep/AGENTS.md"))
    }

    #[test]
    fn the_nearest_notes_come_last_and_what_is_not_trusted_is_quoted() {
        let folder =
            project(&[("AGENTS.md", "one\ntwo\r\n"), ("deep/AGENTS.md", "three"), ("deep/CLAUDE.md", "three\n")]);
        let notes =
            |path: &str, text: &str, voice| Notes { path: path.to_owned(), text: text.to_owned(), voice, left_out: 0 };
        let wanted =
            [notes("AGENTS.md", "> one\n> two", Voice::Quoted), notes("deep/AGENTS.md", "three", Voice::Trusted)];
        assert_eq!(read_in(&folder, "deep"), wanted);
        assert_eq!(read_in(&folder, ""), wanted[..1]);
    }

    #[test]
    fn a_pointer_an_empty_file_and_a_link_out_of_the_project_say_nothing() {
        let folder = project(&[("CLAUDE.md", "@AGENTS.md\n"), ("a/AGENTS.md", " \n")]);
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("AGENTS.md")).expect("a link");
        assert_eq!(read_in(&folder, "a"), []);
    }

    #[test]
    fn long_notes_are_cut_at_a_character_and_the_nearest_keep_their_place() {
        let long = "界".repeat(20_000);
        let folder = project(&[
            ("AGENTS.md", &format!("far {long}")),
            ("a/AGENTS.md", &format!("mid {long}")),
            ("a/b/AGENTS.md", &format!("near {long}")),
        ]);
        let all = read_in(&folder, "a/b");
        let sizes: Vec<usize> = all.iter().map(|notes| notes.text.matches('界').count() * 3).collect();
        assert!(sizes[0] < 20 && (16_000..=MAX_FILE).contains(&sizes[2]), "{sizes:?}");
        assert!(all.iter().all(|notes| notes.left_out > 0 && notes.text.contains("left out")));
    }
}
