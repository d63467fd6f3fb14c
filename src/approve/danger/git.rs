//! What git loses, by its commands and options.

use super::super::shell::Word;
use super::{Danger, Look};

impl Look<'_> {
    pub(super) fn git(&mut self, rest: &[Word]) {
        let mut words = rest.iter().map(Word::text);
        let mut command = "";
        while let Some(word) = words.next() {
            if matches!(word, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace") {
                words.next();
            } else if !word.starts_with('-') {
                command = word;
                break;
            }
        }
        let rest: Vec<&str> = words.collect();
        let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
        let short = |letter: char| {
            rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
        };
        let begins = |text: &str| rest.iter().any(|word| word.starts_with(text));
        let target = rest.iter().find(|word| !word.starts_with('-')).copied().unwrap_or("HEAD");
        let rewrites = match command {
            "push" => {
                has(&["--mirror", "--delete", "--prune", "--all"])
                    || begins("--force")
                    || short('f')
                    || short('d')
                    || begins("+")
                    || begins(":")
            }
            "reset" => has(&["--hard", "--merge", "--keep"]) && target != "HEAD",
            "commit" => has(&["--amend"]),
            "rebase" => !has(&["--abort", "--quit", "--show-current-patch"]),
            "filter-branch" | "filter-repo" | "fast-import" | "replace" => true,
            "branch" => short('D') || short('M') || has(&["--delete", "--force"]) || short('d'),
            "tag" => short('d') || short('f') || has(&["--delete", "--force"]),
            "stash" => matches!(rest.first().copied(), Some("drop" | "clear")),
            "reflog" => matches!(rest.first().copied(), Some("expire" | "delete" | "drop")),
            "update-ref" => short('d') || has(&["--stdin"]),
            "gc" | "prune" => begins("--prune") || command == "prune",
            "checkout" | "switch" => short('B') || has(&["--orphan"]) || (command == "switch" && short('C')),
            "worktree" => rest.first() == Some(&"remove"),
            "remote" => matches!(rest.first().copied(), Some("remove" | "rm" | "set-url")),
            "credential" => {
                self.add(Danger::ReadsSecrets);
                false
            }
            _ => false,
        };
        if rewrites {
            self.add(Danger::RewritesHistory);
        }
    }
}
