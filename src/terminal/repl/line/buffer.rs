//! The text that is being typed, and its cursor: pure.
//!
//! The cursor stands between graphemes, never inside of one. A large paste is one character of the text (an *inset*),
//! shown as a marker; so it moves and is deleted as a whole, however long it is. Nothing here knows rows or a terminal.

use unicode_segmentation::UnicodeSegmentation;

/// Lines and characters that a paste may have before it is shown as a marker.
const LARGE_LINES: usize = 10;
const LARGE_CHARS: usize = 2000;

/// Characters that stand for insets: the supplementary private use area, taken out of everything that comes in.
const FIRST_MARK: u32 = 0xF_0000;
const LAST_MARK: u32 = 0xF_FFFD;

/// Steps that can be undone.
const MAX_UNDO: usize = 200;

/// What stands behind one character of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inset {
    /// A large paste.
    Paste(String),
    /// An image.
    Image {
        /// How people call it: its file's name.
        name: String,
        /// MIME type.
        mime: String,
        /// The bytes in base64.
        base64: String,
    },
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Submission {
    /// The words, pastes put in.
    pub text: String,
    /// The words as they were shown.
    pub shown: String,
    /// MIME type and base64 of each image, in order.
    pub images: Vec<(String, String)>,
}

/// The text.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    text: String,
    cursor: usize,
    insets: Vec<Inset>,
    killed: String,
    undo: Vec<(String, usize)>,
    /// The last change was one typed character: the next joins its step.
    typing: bool,
}

impl Buffer {
    /// The text, insets as their characters.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Byte index of the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// The text before the cursor.
    pub fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// The text after the cursor.
    pub fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What a character stands for.
    pub fn inset(&self, c: char) -> Option<&Inset> {
        self.insets.get(mark_index(c)?)
    }

    /// Put the cursor somewhere; to the nearest earlier grapheme boundary.
    pub fn place(&mut self, at: usize) {
        self.typing = false;
        let fits = |(start, grapheme): (usize, &str)| (start + grapheme.len() > at).then_some(start);
        self.cursor = self.text.grapheme_indices(true).find_map(fits).unwrap_or(self.text.len());
    }

    /// Replace everything, cursor at the end. What is large becomes one inset.
    pub fn set(&mut self, text: &str) {
        self.keep();
        self.text.clear();
        self.insets.clear();
        self.undo.clear();
        self.cursor = 0;
        self.paste(text);
    }

    /// A character was typed.
    pub fn type_char(&mut self, c: char) {
        if !self.typing || c.is_whitespace() {
            self.keep();
        }
        self.insert_raw(c.encode_utf8(&mut [0; 4]));
        self.typing = true;
    }

    /// A text was pasted, or comes from a file. What is large becomes an inset.
    pub fn paste(&mut self, text: &str) {
        let text = tidy(text);
        let large = text.lines().nth(LARGE_LINES).is_some() || text.chars().nth(LARGE_CHARS).is_some();
        if large { self.insert_inset(Inset::Paste(text)) } else { self.insert(&text) }
    }

    /// Insert a text as it is.
    pub fn insert(&mut self, text: &str) {
        self.keep();
        self.insert_raw(&tidy(text));
    }

    /// Insert something that is shown as a marker.
    pub fn insert_inset(&mut self, inset: Inset) {
        let mark = u32::try_from(self.insets.len()).ok().and_then(|n| char::from_u32(FIRST_MARK + n));
        let Some(mark) = mark.filter(|mark| mark_index(*mark).is_some()) else { return };
        self.keep();
        self.insets.push(inset);
        self.insert_raw(mark.encode_utf8(&mut [0; 4]));
    }

    /// Put the paste right before the cursor into the text, so that it can be edited; whether there was one.
    pub fn unfold(&mut self) -> bool {
        let Some(c) = self.before().chars().next_back() else { return false };
        let Some(Inset::Paste(text)) = self.inset(c).cloned() else { return false };
        self.keep();
        self.remove(self.cursor - c.len_utf8()..self.cursor);
        self.insert_raw(&text);
        true
    }

    /// Replace a range that ends at the cursor.
    pub fn replace_before(&mut self, from: usize, with: &str) {
        self.keep();
        self.remove(from..self.cursor);
        self.insert_raw(&tidy(with));
    }

    /// One grapheme to the left.
    pub fn left(&mut self) {
        self.typing = false;
        self.cursor -= self.before().graphemes(true).next_back().map_or(0, str::len);
    }

    /// One grapheme to the right.
    pub fn right(&mut self) {
        self.typing = false;
        self.cursor += self.after().graphemes(true).next().map_or(0, str::len);
    }

    /// To the beginning of the word before.
    pub fn word_left(&mut self) {
        self.typing = false;
        self.cursor = self.word_start();
    }

    /// To the end of the word after.
    pub fn word_right(&mut self) {
        self.typing = false;
        self.cursor = self.word_end();
    }

    /// To the beginning of the line.
    pub fn home(&mut self) {
        self.typing = false;
        self.cursor = self.before().rfind('\n').map_or(0, |at| at + 1);
    }

    /// To the end of the line.
    pub fn end(&mut self) {
        self.typing = false;
        self.cursor += self.after().find('\n').unwrap_or(self.after().len());
    }

    /// Delete the grapheme before the cursor.
    pub fn backspace(&mut self) {
        let from = self.cursor - self.before().graphemes(true).next_back().map_or(0, str::len);
        self.cut(from, self.cursor);
    }

    /// Delete the grapheme after the cursor.
    pub fn delete(&mut self) {
        let to = self.cursor + self.after().graphemes(true).next().map_or(0, str::len);
        self.cut(self.cursor, to);
    }

    /// Kill the word before the cursor.
    pub fn kill_word(&mut self) {
        self.kill(self.word_start(), self.cursor);
    }

    /// Kill the word after the cursor.
    pub fn kill_word_right(&mut self) {
        self.kill(self.cursor, self.word_end());
    }

    /// Kill back to the beginning of the line; at the beginning of one, the line end before it.
    pub fn kill_to_home(&mut self) {
        let start = self.before().rfind('\n').map_or(0, |at| at + 1);
        let from = if start == self.cursor { start.saturating_sub(1) } else { start };
        self.kill(from, self.cursor);
    }

    /// Kill to the end of the line; at the end of one, the line end.
    pub fn kill_to_end(&mut self) {
        let end = self.after().find('\n').unwrap_or(self.after().len());
        self.kill(self.cursor, self.cursor + end.max(usize::from(self.after().starts_with('\n'))));
    }

    /// Insert what was killed last.
    pub fn yank(&mut self) {
        self.keep();
        let killed = self.killed.clone();
        self.insert_raw(&killed);
    }

    /// Take the last change back.
    pub fn undo(&mut self) {
        self.typing = false;
        if let Some((text, cursor)) = self.undo.pop() {
            self.text = text;
            self.cursor = cursor;
        }
    }

    /// The whole with every paste put in; images by their names.
    pub fn expanded(&self) -> String {
        let mut out = String::new();
        for c in self.text.chars() {
            match self.inset(c) {
                Some(Inset::Paste(text)) => out.push_str(text),
                Some(Inset::Image { name, .. }) => out.push_str(&format!("[{name}]")),
                None => out.push(c),
            }
        }
        out
    }

    /// What is to be sent. `marker` says how an inset is shown.
    pub fn submission(&self, marker: impl Fn(&Inset) -> String) -> Submission {
        let shown = |c: char| self.inset(c).map_or_else(|| c.to_string(), &marker);
        let image = |c: char| match self.inset(c) {
            Some(Inset::Image { mime, base64, .. }) => Some((mime.clone(), base64.clone())),
            _ => None,
        };
        Submission {
            text: self.expanded(),
            shown: self.text.chars().map(shown).collect(),
            images: self.text.chars().filter_map(image).collect(),
        }
    }

    fn keep(&mut self) {
        self.typing = false;
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push((self.text.clone(), self.cursor));
    }

    fn insert_raw(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        // What was inserted may have joined what stands after it: 👩 typed before a joiner.
        if !self.text.get(self.cursor..).is_none_or(str::is_empty) {
            let boundary = self.text.grapheme_indices(true).map(|(at, _)| at).find(|at| *at >= self.cursor);
            self.cursor = boundary.unwrap_or(self.text.len());
        }
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from < to {
            self.keep();
            self.remove(from..to);
        }
    }

    fn kill(&mut self, from: usize, to: usize) {
        if from < to {
            self.killed = self.text.get(from..to).unwrap_or_default().to_owned();
            self.cut(from, to);
        }
    }

    fn remove(&mut self, range: std::ops::Range<usize>) {
        if self.text.get(range.clone()).is_some() {
            self.cursor = range.start;
            self.text.replace_range(range, "");
        }
    }

    fn word_start(&self) -> usize {
        let words = self.before().split_word_bound_indices().rev();
        words.into_iter().find(|(_, word)| !word.trim().is_empty()).map_or(0, |(at, _)| at)
    }

    fn word_end(&self) -> usize {
        let word = self.after().split_word_bound_indices().find(|(_, word)| !word.trim().is_empty());
        self.cursor + word.map_or(self.after().len(), |(at, word)| at + word.len())
    }
}

fn mark_index(c: char) -> Option<usize> {
    let code = u32::from(c);
    (FIRST_MARK..=LAST_MARK).contains(&code).then(|| (code - FIRST_MARK) as usize)
}

/// Line ends as `\n`, and none of the characters that stand for insets.
fn tidy(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if text.contains(|c| mark_index(c).is_some()) {
        return text.chars().map(|c| if mark_index(c).is_some() { '\u{fffd}' } else { c }).collect();
    }
    text
}

#[cfg(test)]
mod tests;
