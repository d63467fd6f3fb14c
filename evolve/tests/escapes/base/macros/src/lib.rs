//! Runs the attempts inside the compiler.

#[path = "../../src/attempts.rs"]
mod attempts;

/// How many attempts there were.
#[proc_macro]
pub fn attempted(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let (count, escaped) = attempts::all("macro");
    assert!(escaped.is_empty(), "ESCAPED from a procedural macro: {escaped:?}");
    count.to_string().parse().expect("a number")
}
