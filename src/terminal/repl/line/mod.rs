//! The line editor: everything between a key and the text that is sent. Pure but for the history's file and the listing
//! of file names; it paints nothing and reads no keyboard.

mod buffer;
mod editor;
mod files;
mod history;
mod keys;
mod layout;
mod menu;
mod motion;

use crate::clean::clean;
use selfsmith_agent::texts::{Texts, fill};

pub use buffer::{Buffer, Inset, Submission};
pub use editor::{Done, Editor};
pub use files::Files;
pub use history::History;
pub use keys::{Key, key};
pub use layout::{Layout, cut, lay_out, wrap};
pub use menu::{Item, window};

/// How an inset is shown.
pub fn marker(texts: &Texts, inset: &Inset) -> String {
    match inset {
        Inset::Paste(text) => fill(texts.pasted, &[("lines", &text.lines().count().to_string())]),
        Inset::Image { name, .. } => fill(texts.attached, &[("name", &clean(name))]),
    }
}
