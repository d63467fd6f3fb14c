//! Code that looks at its own thread, program or variables: harmless in most programs, and what code does that behaves
//! otherwise while it is judged. Token by token; names that are put together at run time are not seen.

use super::marks::literals;
use proc_macro2::{TokenStream, TokenTree};

/// Functions of `std::env` that tell where the program runs.
const OF_ENV: [&str; 7] = ["args", "args_os", "current_exe", "var", "var_os", "vars", "vars_os"];
/// Functions below std that tell the same.
const FOREIGN: [&str; 8] = [
    "_NSGetExecutablePath",
    "__progname",
    "getauxval",
    "prctl",
    "program_invocation_name",
    "program_invocation_short_name",
    "pthread_getname_np",
    "pthread_self",
];
/// Beginnings of variables that a harness, cargo or the judge sets.
const VARIABLES: [&str; 12] = [
    "CARGO",
    "CI",
    "LD_",
    "LLVM_",
    "NEXTEST",
    "OUT_DIR",
    "RUSTC",
    "RUSTUP",
    "RUST_BACKTRACE",
    "RUST_MIN",
    "RUST_TEST",
    "SELFSMITH",
];
/// Folders that tell of the process or of the room.
const FOLDERS: [&str; 2] = ["\"/proc", "\"/trial"];

/// Whether the token at this place looks. `is_program` says that the file is a program's own, which may read its arguments.
pub fn looks(tokens: &[TokenTree], at: usize, is_program: bool) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    let below = below(tokens, at);
    match tokens.get(at) {
        Some(TokenTree::Ident(name)) => match (below.as_str(), name.to_string().as_str()) {
            ("thread", "current") | ("env", "current_exe" | "vars" | "vars_os") => true,
            ("env", "args" | "args_os") => !is_program,
            ("env", "var" | "var_os") => tells(tokens.get(at + 1)),
            ("Backtrace", "capture" | "force_capture") => true,
            // Under another name its functions could not be seen.
            (_, "as") => {
                is_module(before(1)) && matches!(before(2), Some(TokenTree::Punct(mark)) if mark.as_char() == ':')
            }
            (_, name) => FOREIGN.contains(&name),
        },
        Some(TokenTree::Punct(mark)) => mark.as_char() == '*' && (below == "env" || below == "thread"),
        Some(TokenTree::Group(group)) => {
            let names = imported(&group.stream());
            match below.as_str() {
                "std" | "core" => names.windows(2).any(|two| matches!(two, [a, b] if b == "as" && is_module_name(a))),
                "thread" => names.iter().any(|name| name == "current" || name == "*"),
                "env" => names.iter().any(|name| OF_ENV.contains(&name.as_str()) || name == "*"),
                _ => false,
            }
        }
        Some(TokenTree::Literal(text)) => FOLDERS.iter().any(|folder| text.to_string().starts_with(folder)),
        None => false,
    }
}

/// The name that `::` before this place stands behind.
fn below(tokens: &[TokenTree], at: usize) -> String {
    let colon = |back: usize| {
        at.checked_sub(back)
            .and_then(|at| tokens.get(at))
            .is_some_and(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ':'))
    };
    match at.checked_sub(3).and_then(|at| tokens.get(at)) {
        Some(TokenTree::Ident(name)) if colon(1) && colon(2) => name.to_string(),
        _ => String::new(),
    }
}

/// Whether a variable is read whose name a harness sets, or is not to be seen here.
fn tells(argument: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = argument else { return true };
    let names = literals(&group.stream());
    names.is_empty() || names.iter().any(|name| VARIABLES.iter().any(|begin| name.starts_with(begin)))
}

fn is_module(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Ident(name)) if is_module_name(&name.to_string()))
}

fn is_module_name(name: &str) -> bool {
    name == "env" || name == "thread"
}

/// Names right in a group of imports.
fn imported(stream: &TokenStream) -> Vec<String> {
    let is_name = |token: &TokenTree| matches!(token, TokenTree::Ident(_) | TokenTree::Punct(_));
    stream.clone().into_iter().filter(is_name).map(|token| token.to_string()).collect()
}
