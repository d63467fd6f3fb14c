//! The picture at the bottom of the screen: what is being written, what is waited for, what is typed, what there is to
//! choose. Pure.

use super::super::dialog::{Dialog, Words};
use super::super::line::{Buffer, Editor, Item, Layout, cut, lay_out, marker, window, wrap};
use super::super::region::Picture;
use super::Look;
use crate::clean::{clean, one_line};
use console::Style;
use selfsmith_agent::texts::{Texts, fill};
use unicode_width::UnicodeWidthStr;

/// Rows of a menu at most.
const MENU_ROWS: usize = 8;
/// Rows of an unfinished piece of an answer at most.
const PREVIEW_ROWS: usize = 10;
/// Columns of the mark before what is typed.
const MARK: usize = 2;
/// Columns of a name in a menu before its explanation.
const NAME: usize = 28;

/// What there is to see.
pub struct Scene<'a> {
    /// The language.
    pub texts: &'static Texts,
    /// What the terminal can do.
    pub look: Look,
    /// Columns of the screen.
    pub columns: usize,
    /// Rows of the screen.
    pub height: usize,
    /// The piece of the answer that is not final yet.
    pub preview: String,
    /// What is waited for.
    pub waiting: Option<String>,
    /// What waits to be sent.
    pub queued: Vec<&'a str>,
    /// The question.
    pub dialog: Option<&'a Dialog>,
    /// What is typed, where there is a keyboard.
    pub editor: Option<&'a Editor>,
    /// A word about how permission is asked for now.
    pub mode: Option<&'a str>,
}

impl Scene<'_> {
    /// The picture.
    pub fn picture(&self) -> Picture {
        // A row is kept free, so that the first row never scrolls away.
        let room = self.height.saturating_sub(1).max(1);
        let mut picture = Picture::default();
        let input_room = (room / 2).max(1);
        if let Some(dialog) = self.dialog {
            self.dialog_rows(dialog, room, &mut picture);
        } else if let Some(editor) = self.editor {
            let layout = lay_out(editor.buffer(), self.text_columns(), |inset| marker(self.texts, inset));
            self.input(&layout, input_room, &mut picture);
            let left = room.saturating_sub(picture.rows.len());
            self.below(editor, left, &mut picture);
        }
        self.above(room, &mut picture);
        picture
    }

    /// Columns for what is typed; the last one stays free, so that no row ever touches the edge.
    fn text_columns(&self) -> usize {
        self.columns.saturating_sub(MARK + 1).max(2)
    }

    fn width(&self) -> usize {
        self.columns.saturating_sub(1).max(2)
    }

    fn above(&self, room: usize, picture: &mut Picture) {
        let mut above = Vec::new();
        for text in self.queued.iter().rev().take(3).rev() {
            let line = fill(self.texts.queued, &[("text", &one_line(text, self.columns))]);
            above.push(self.dim(&cut(&line, self.width())));
        }
        if let Some(waiting) = &self.waiting {
            above.insert(0, self.dim(&cut(waiting, self.width())));
        }
        let left = room.saturating_sub(picture.rows.len());
        above.truncate(left);
        let left = left.saturating_sub(above.len()).min(PREVIEW_ROWS);
        if !self.preview.is_empty() && left > 0 {
            let rows = wrap(self.preview.trim_end_matches('\n'), self.width());
            let from = rows.len().saturating_sub(left);
            above.splice(0..0, rows.into_iter().skip(from));
        }
        if let Some((row, _)) = &mut picture.cursor {
            *row += above.len();
        }
        picture.rows.splice(0..0, above);
    }

    fn input(&self, layout: &Layout, room: usize, picture: &mut Picture) {
        let shown = window(layout.rows.len(), layout.row, room);
        for (n, row) in layout.rows.iter().enumerate().skip(shown.start).take(shown.len()) {
            let mark = if n == 0 { self.bold("> ") } else { "  ".to_owned() };
            if n == layout.row {
                picture.cursor = Some((picture.rows.len(), format!("{mark}{}", layout.before)));
            }
            picture.rows.push(format!("{mark}{}", row.shown));
        }
    }

    fn below(&self, editor: &Editor, room: usize, picture: &mut Picture) {
        if let Some(search) = editor.search() {
            let text = if search.found.is_some() || search.wanted.is_empty() {
                self.texts.searching
            } else {
                self.texts.search_failed
            };
            let line = fill(text, &[("text", &search.wanted)]);
            picture.rows.extend((room > 0).then(|| self.dim(&cut(&line, self.width()))));
        } else if let Some(menu) = editor.menu() {
            let items: Vec<&Item> = menu.items.iter().collect();
            self.menu(&items, Some(menu.chosen), room.min(MENU_ROWS), picture);
        } else if let Some(mode) = self.mode {
            picture.rows.extend((room > 0).then(|| self.dim(&cut(mode, self.width()))));
        }
    }

    fn menu(&self, items: &[&Item], chosen: Option<usize>, room: usize, picture: &mut Picture) {
        let shown = window(items.len(), chosen.unwrap_or(0), room);
        let widest = items.iter().map(|item| item.name.width()).max().unwrap_or(0).min(NAME);
        for (n, item) in items.iter().enumerate().skip(shown.start).take(shown.len()) {
            let name = clean(&item.name);
            let mark = if chosen == Some(n) { "› " } else { "  " };
            let pad = " ".repeat(widest.saturating_sub(name.width()));
            let about = if item.about.is_empty() { String::new() } else { format!("{pad}  {}", clean(&item.about)) };
            let line = cut(&format!("{mark}{name}{about}"), self.width());
            picture.rows.push(if chosen == Some(n) { self.bold(&line) } else { self.dim(&line) });
        }
    }

    fn dialog_rows(&self, dialog: &Dialog, room: usize, picture: &mut Picture) {
        let question = &dialog.question;
        let title = wrap(&clean(&question.title), self.width());
        // The end of a long question is what asks.
        let title_room = (room / 2).max(1);
        let from = title.len().saturating_sub(title_room);
        picture.rows.extend(title.into_iter().skip(from).map(|row| self.bold(&row)));
        let items: Vec<&Item> = dialog.fitting.iter().filter_map(|n| Some(&question.choices.get(*n)?.item)).collect();
        let left = room.saturating_sub(picture.rows.len() + 1).min(MENU_ROWS + 4);
        self.menu(&items, dialog.chosen, left, picture);
        let layout = lay_out(&shown_words(dialog), self.text_columns(), |inset| marker(self.texts, inset));
        self.input(&layout, room.saturating_sub(picture.rows.len()).max(1), picture);
    }

    fn dim(&self, text: &str) -> String {
        styled(self.look, Style::new().dim(), text)
    }

    fn bold(&self, text: &str) -> String {
        styled(self.look, Style::new().bold(), text)
    }
}

/// What was typed, or as many dots.
fn shown_words(dialog: &Dialog) -> Buffer {
    if dialog.question.words != Words::Secret {
        return dialog.buffer.clone();
    }
    let mut dots = Buffer::default();
    dots.insert(&"•".repeat(dialog.buffer.expanded().chars().count().min(64)));
    dots
}

/// A styled text where the terminal takes styles.
pub fn styled(look: Look, style: Style, text: &str) -> String {
    match look {
        Look::Rich(_) => style.force_styling(true).apply_to(text).to_string(),
        Look::Plain | Look::Bare => text.to_owned(),
    }
}
