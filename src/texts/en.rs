//! English.

use super::Texts;

/// The English texts.
pub static EN: Texts = Texts { not_built: "{what} is not built yet" };
