//! A person's own commands: a Markdown file each, in `.selfsmith/commands/` of the project or `commands/` beside the
//! user's settings. The file's text is the prompt; `$ARGUMENTS` and `$1` to `$9` are what was typed after the name.
//!
//! Such a file is words for the model and nothing else: it sets nothing, allows nothing and runs nothing by itself.

use std::path::{Path, PathBuf};

/// Files that are looked at in each place.
const MAX_FILES: usize = 200;
/// Bytes of one.
const MAX_BYTES: u64 = 64 * 1024;
/// Folders below each other.
const MAX_DEPTH: usize = 3;

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Custom {
    /// Its name: the file's, folders before it with a colon between.
    pub name: String,
    /// What it does: `description:` of its front matter, else its first line.
    pub about: String,
    /// The prompt.
    body: String,
}

impl Custom {
    /// The prompt with what was typed after the name.
    pub fn prompt(&self, arguments: &str) -> String {
        let words =
            shell_words::split(arguments).unwrap_or_else(|_| arguments.split_whitespace().map(str::to_owned).collect());
        let mut out = String::new();
        let mut used = false;
        let mut rest = self.body.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let digit = after.chars().next().and_then(|c| c.to_digit(10)).filter(|n| *n > 0);
            if let Some(after) = after.strip_prefix("ARGUMENTS") {
                out.push_str(arguments);
                (rest, used) = (after, true);
            } else if let (Some(n), Some((_, after))) = (digit, after.split_at_checked(1)) {
                out.push_str(words.get(n as usize - 1).map(String::as_str).unwrap_or_default());
                (rest, used) = (after, true);
            } else {
                out.push('$');
                rest = after;
            }
        }
        out.push_str(rest);
        if !used && !arguments.is_empty() {
            out.push_str(&format!("\n\n{arguments}"));
        }
        out
    }
}

/// Whether a file with these bytes is a command.
pub type Admit<'a> = &'a dyn Fn(&Path, &[u8]) -> bool;

/// The commands of these folders; of two with one name the first counts. Read anew each time: they are few and small.
pub fn list(folders: &[PathBuf], admit: Admit<'_>) -> Vec<Custom> {
    let mut all: Vec<Custom> = Vec::new();
    for folder in folders {
        let mut paths = Vec::new();
        collect(folder, MAX_DEPTH, &mut paths);
        paths.sort();
        for path in paths {
            if let Some(custom) =
                read(folder, &path, admit).filter(|new| all.iter().all(|other| other.name != new.name))
            {
                all.push(custom);
            }
        }
    }
    all
}

fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if paths.len() == MAX_FILES {
            return;
        }
        let path = entry.path();
        // A link that leads in a circle ends by the depth.
        if path.is_dir() && depth > 0 {
            collect(&path, depth - 1, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

fn read(folder: &Path, path: &Path, admit: Admit<'_>) -> Option<Custom> {
    if std::fs::metadata(path).ok()?.len() > MAX_BYTES {
        return None;
    }
    let text = std::fs::read_to_string(path).ok().filter(|text| admit(path, text.as_bytes()))?.replace("\r\n", "\n");
    let below = path.strip_prefix(folder).ok()?.with_extension("");
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    let name = parts?.join(":");
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/') {
        return None;
    }
    let (front, body) = split(&text);
    let described = front.lines().find_map(|line| line.strip_prefix("description:"));
    let first = body.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    let about = described.map(|text| text.trim().trim_matches(['"', '\''])).or(first).unwrap_or_default().to_owned();
    Some(Custom { name, about, body: body.trim().to_owned() })
}

/// The front matter between two lines of dashes, and the rest.
fn split(text: &str) -> (&str, &str) {
    let inner = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    inner.unwrap_or(("", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom(body: &str) -> Custom {
        Custom { name: "x".to_owned(), about: String::new(), body: body.to_owned() }
    }

    #[test]
    fn arguments_stand_where_the_file_says_or_at_its_end() {
        assert_eq!(
            custom("Fix $1 in $2; all: $ARGUMENTS, $0 $x").prompt("'a b' c"),
            "Fix a b in c; all: 'a b' c, $0 $x"
        );
        assert_eq!(custom("Review.").prompt("only src"), "Review.\n\nonly src");
        assert_eq!(custom("Review.").prompt(""), "Review.");
        assert_eq!(custom("It's $1").prompt("don't"), "It's don't");
    }

    #[test]
    fn files_are_commands_by_their_names_and_the_first_of_a_name_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        write("project/review.md", "---\ndescription: \"Review it\"\nmodel: x\n---\nLook at $ARGUMENTS.\n");
        write("project/git/pr.md", "# Open a pull request\n\nDo it.\n");
        write("project/no command.md", "x");
        write("project/other.txt", "x");
        write("user/review.md", "mine");
        let folders = ["project", "none", "user"].map(|name| folder.path().join(name));
        let all = list(&folders, &|_, _| true);
        let shown: Vec<(&str, &str)> = all.iter().map(|one| (one.name.as_str(), one.about.as_str())).collect();
        assert_eq!(shown, [("git:pr", "Open a pull request"), ("review", "Review it")]);
        assert_eq!(all[1].prompt("src"), "Look at src.");
        let mine = list(&folders, &|path, _| path.starts_with(&folders[2]));
        assert_eq!(mine.iter().map(|one| one.about.as_str()).collect::<Vec<_>>(), ["mine"]);
    }
}
