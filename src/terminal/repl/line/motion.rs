//! The keys that mean the same wherever a text is typed: they move the cursor or change the text around it.

use super::buffer::Buffer;
use super::keys::Key;

impl Buffer {
    /// Does what a key asks for; gives back one that is not about the text alone.
    pub fn press(&mut self, key: Key) -> Option<Key> {
        match key {
            Key::Char(c) => self.type_char(c),
            Key::NewLine => self.insert("\n"),
            Key::Left => self.left(),
            Key::Right => self.right(),
            Key::WordLeft => self.word_left(),
            Key::WordRight => self.word_right(),
            Key::Home => self.home(),
            Key::End => self.end(),
            Key::Backspace => self.backspace(),
            Key::Delete => self.delete(),
            Key::EndOfInput if !self.is_empty() => self.delete(),
            Key::KillWord => self.kill_word(),
            Key::KillWordRight => self.kill_word_right(),
            Key::KillToHome => self.kill_to_home(),
            Key::KillToEnd => self.kill_to_end(),
            Key::Yank => self.yank(),
            Key::Undo => self.undo(),
            other => return Some(other),
        }
        None
    }
}
