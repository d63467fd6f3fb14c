//! Code that looks at its own thread, program or variables: harmless in most programs, and what code does that behaves
//! otherwise while it is judged. Token by token; names that are put together at run time are not seen.

use super::marks::{Mark, literals};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

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
const FOLDERS: [&str; 4] = ["\"/proc", "\"/root", "\"/sys", "\"/trial"];

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
            ("process", "id") | ("thread", "available_parallelism") => true,
            (_, "is_terminal") => !is_program,
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

/// Methods of std that change what they are called on.
const CHANGING: [&str; 22] = [
    "append",
    "clear",
    "drain",
    "entry",
    "extend",
    "fetch_add",
    "fetch_sub",
    "get_or_insert",
    "get_or_insert_with",
    "insert",
    "pop",
    "pop_back",
    "pop_front",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "retain",
    "set",
    "store",
    "truncate",
];
/// Macros that say where they stand.
const PLACES: [&str; 4] = ["column", "file", "line", "module_path"];

/// What the token does by which code can tell how it is built, or who calls it.
pub fn tells_apart(tokens: &[TokenTree], at: usize) -> Option<Mark> {
    let Some(TokenTree::Ident(name)) = tokens.get(at) else {
        let glob = matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == '*');
        return (glob && below(tokens, at) == "panic").then_some(Mark::CatchesPanics);
    };
    let name = name.to_string();
    let is = |at: Option<usize>, mark: char| is_punct(at.and_then(|at| tokens.get(at)), mark);
    let arguments = match tokens.get(at + 2) {
        Some(TokenTree::Group(group)) if is(Some(at + 1), '!') => Some(group.stream()),
        _ => None,
    };
    match (name.as_str(), arguments) {
        ("catch_unwind", _) => Some(Mark::CatchesPanics),
        // Of somebody's own: a method, or a function that is defined here.
        ("set_hook" | "take_hook" | "update_hook", _) => {
            let before = at.checked_sub(1);
            let defined = matches!(before.and_then(|at| tokens.get(at)), Some(TokenTree::Ident(word)) if word == "fn");
            (!defined && !is(before, '.')).then_some(Mark::CatchesPanics)
        }
        ("track_caller", _) => Some(Mark::AsksForPlace),
        ("caller", _) if below(tokens, at) == "Location" => Some(Mark::AsksForPlace),
        (name, Some(_)) if PLACES.contains(&name) => (!is_argument(tokens, at)).then_some(Mark::AsksForPlace),
        (name, Some(stream)) if name.starts_with("debug_assert") => {
            has_effect(&stream, Delimiter::None).then_some(Mark::AssertsWithEffect)
        }
        _ => None,
    }
}

/// Whether `name!(…)` at this place is one argument among others, as in a message, and nothing is made of it.
fn is_argument(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let after = tokens.get(at + 3);
    let ends = |token: Option<&TokenTree>| token.is_none() || is_punct(token, ',');
    ends(before) && ends(after)
}

/// Whether evaluating it changes something: an assignment, `&mut`, a statement, a method of std that changes its object.
fn has_effect(stream: &TokenStream, within: Delimiter) -> bool {
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    let get = |at: usize, back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => has_effect(&group.stream(), group.delimiter()),
        TokenTree::Punct(mark) if mark.as_char() == ';' => within == Delimiter::Brace,
        TokenTree::Punct(mark) if mark.as_char() == '=' => {
            // A message may name its arguments: `"{n}", n = 1`.
            let named = within == Delimiter::None
                && matches!(get(at, 1), Some(TokenTree::Ident(_)))
                && is_punct(get(at, 2), ',');
            assigns(&tokens, at) && !named
        }
        TokenTree::Ident(name) if name == "mut" => is_punct(get(at, 1), '&'),
        TokenTree::Ident(name) => {
            let called = is_punct(get(at, 1), '.') && matches!(tokens.get(at + 1), Some(TokenTree::Group(_)));
            called && CHANGING.contains(&name.to_string().as_str())
        }
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Whether `=` at this place assigns, and is no part of `==`, `!=`, `<=`, `>=`, `=>`, `..=`.
fn assigns(tokens: &[TokenTree], at: usize) -> bool {
    let joined = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(TokenTree::Punct(mark)) if mark.spacing() == Spacing::Joint => Some(mark.as_char()),
        _ => None,
    };
    let goes_on = joined(Some(at)).is_some()
        && matches!(tokens.get(at + 1), Some(TokenTree::Punct(next)) if matches!(next.as_char(), '=' | '>'));
    let (last, one_before) = (joined(at.checked_sub(1)), joined(at.checked_sub(2)));
    match last {
        _ if goes_on => false,
        Some('<' | '>') => one_before == last,
        Some('=' | '!' | '.') => false,
        _ => true,
    }
}

/// Whether a token is this mark.
pub fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == mark)
}

/// The name that `::` before this place stands behind.
pub fn below(tokens: &[TokenTree], at: usize) -> String {
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
