//! Texts of a dozen languages by their grammars: whether an edit made one worse, and which symbols it defines.
//!
//! Promises: nothing is loaded before it is asked for; bounded time and size, a text that takes longer is not judged; no
//! text makes it panic. An error of a grammar is a hint and no proof: grammars lag behind languages. It reads no files.

mod check;
mod grammar;
mod rank;
mod shape;
mod symbols;

pub use check::{Worse, worse};
pub use grammar::Grammar;
pub use rank::Words;
pub use symbols::{Depth, Outline, Symbol};

#[cfg(test)]
mod tests;
