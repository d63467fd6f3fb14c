//! Code that starts other programs: a shell can do what no other mark names, so new code that does is a person's question.
//! Token by token, like the other marks.

use super::senses::{below, is_punct};
use proc_macro2::{TokenStream, TokenTree};

/// Modules in which `process` lies.
const HOMES: [&str; 5] = ["std", "tokio", "async_std", "async_process", "smol"];
/// Functions of the system that start a program or another process.
const FOREIGN: [&str; 11] = [
    "posix_spawn",
    "posix_spawnp",
    "execl",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "fexecve",
    "popen",
    "forkpty",
];
/// Those with names that others have too, where they stand below one of these.
const COMMON: [&str; 4] = ["fork", "vfork", "system", "clone"];
const SYSTEM: [&str; 3] = ["libc", "unistd", "nix"];
/// Macros of crates that run a command line.
const MACROS: [&str; 3] = ["cmd", "run_cmd", "run_fun"];

/// Whether the token at this place starts a program, or takes in by what one is started.
pub fn runs(tokens: &[TokenTree], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    let below = below(tokens, at);
    match tokens.get(at) {
        Some(TokenTree::Ident(name)) => {
            let name = name.to_string();
            let called = matches!(tokens.get(at + 1), Some(TokenTree::Group(_)));
            let own = is_punct(before(1), '.') || matches!(before(1), Some(TokenTree::Ident(word)) if word == "fn");
            match (below.as_str(), name.as_str()) {
                ("process", "Command") => true,
                ("async_process", "Command") => true,
                // Under another name its functions could not be seen.
                (_, "as") => {
                    matches!(before(1), Some(TokenTree::Ident(word)) if word == "process") && is_punct(before(2), ':')
                }
                (home, name) if COMMON.contains(&name) => SYSTEM.contains(&home),
                (_, name) if FOREIGN.contains(&name) => called && !own,
                (_, name) if MACROS.contains(&name) => is_punct(tokens.get(at + 1), '!'),
                _ => false,
            }
        }
        Some(TokenTree::Punct(mark)) => mark.as_char() == '*' && below == "process",
        Some(TokenTree::Group(group)) => {
            let names = names(&group.stream());
            match below.as_str() {
                "process" => {
                    let renamed = names.windows(2).any(|two| matches!(two, [a, b] if a == "self" && b == "as"));
                    renamed || names.iter().any(|name| name == "Command" || name == "*")
                }
                home if HOMES.contains(&home) => {
                    names.windows(2).any(|two| matches!(two, [a, b] if a == "process" && b == "as"))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Names and stars right in a group of imports.
fn names(stream: &TokenStream) -> Vec<String> {
    let is_name = |token: &TokenTree| matches!(token, TokenTree::Ident(_) | TokenTree::Punct(_));
    stream.clone().into_iter().filter(is_name).map(|token| token.to_string()).collect()
}
