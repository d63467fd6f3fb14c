//! What each key does to the text that is being typed.

use super::buffer::{Buffer, Inset, Submission};
use super::files::Files;
use super::history::History;
use super::keys::Key;
use super::layout::lay_out;
use super::marker;
use super::menu::{Item, Menu};
use selfsmith_agent::texts::Texts;

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// The text, the cursor or a menu changed, or nothing did.
    Edited,
    /// The text is to be sent; it is empty now.
    Submit(Submission),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty text.
    Leave,
    /// Escape, where there was nothing to close.
    Escape,
    /// Shift-Tab.
    Mode,
    /// Clear the screen.
    Clear,
    /// Open the text in `$EDITOR`.
    External,
    /// Attach the picture of the clipboard.
    Picture,
    /// Ctrl-Z.
    Suspend,
    /// ↑ on an empty text: whatever waits to be sent may be taken back.
    TakeBack,
}

/// A search through what was typed before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// What is looked for.
    pub wanted: String,
    /// The entry found.
    pub found: Option<usize>,
    /// The text before the search.
    draft: String,
}

/// The editor.
pub struct Editor {
    texts: &'static Texts,
    buffer: Buffer,
    history: History,
    commands: Vec<Item>,
    files: Files,
    menu: Option<Menu>,
    /// Where the word begins whose menu was closed.
    closed: Option<usize>,
    /// The entry of the history that is shown, and the text before it was.
    browsed: Option<(usize, Buffer)>,
    search: Option<Search>,
    /// Names of files are being listed for the word at the cursor.
    listing: bool,
    /// The column that moves up and down aim at.
    goal: Option<usize>,
    columns: usize,
}

impl Editor {
    /// An empty text. `commands` are offered after a `/`, `files` after an `@`.
    pub fn new(texts: &'static Texts, history: History, commands: Vec<Item>, files: Files) -> Self {
        Self {
            texts,
            buffer: Buffer::default(),
            history,
            commands,
            files,
            menu: None,
            closed: None,
            browsed: None,
            search: None,
            listing: false,
            goal: None,
            columns: 80,
        }
    }

    /// The text.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The open menu.
    pub fn menu(&self) -> Option<&Menu> {
        self.menu.as_ref()
    }

    /// The search under way.
    pub fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Replace the text.
    pub fn set(&mut self, text: &str) {
        self.buffer.set(text);
        self.browsed = None;
        self.refresh();
    }

    /// Insert an image or another inset.
    pub fn insert(&mut self, inset: Inset) {
        self.buffer.insert_inset(inset);
    }

    /// The commands that are offered.
    pub fn offer(&mut self, commands: Vec<Item>) {
        self.commands = commands;
    }

    /// Whether a menu waits for names of files; [`Self::refresh`] then shows what came.
    pub fn waits(&self) -> bool {
        self.listing && self.file_word().is_some()
    }

    /// A key, where the text has so many columns.
    pub fn key(&mut self, key: Key, columns: usize) -> Done {
        self.columns = columns;
        if self.search.is_some() {
            return self.searching(key);
        }
        if let Some(done) = self.choosing(&key) {
            return done;
        }
        let vertical = matches!(key, Key::Up | Key::Down);
        let done = self.editing(key);
        if !vertical {
            self.goal = None;
        }
        if done == Done::Edited {
            self.refresh();
        }
        done
    }

    /// Show the menu that fits the text.
    pub fn refresh(&mut self) {
        let (start, items) = if let Some(word) = self.command_word() {
            let fits = |item: &&Item| item.name.strip_prefix('/').is_some_and(|name| name.starts_with(word));
            (0, self.commands.iter().filter(fits).cloned().collect())
        } else if let Some((start, word)) = self.file_word() {
            if self.menu.is_none() && self.closed != Some(start) {
                self.files.refresh();
            }
            // Looked at before the names are: what is listed in between is shown next time.
            let listing = self.files.running();
            let items = self.files.matching(word);
            self.listing = listing;
            (start, items)
        } else {
            self.closed = None;
            self.listing = false;
            self.menu = None;
            return;
        };
        if self.closed.is_some_and(|closed| closed != start) {
            self.closed = None;
        }
        let open = self.closed.is_none();
        self.menu = open.then(|| Menu::new(start, items, self.menu.as_ref())).flatten();
    }

    /// Whether the chosen entry stands there already, letter by letter.
    fn is_whole(&self) -> bool {
        let Some(item) = self.menu.as_ref().and_then(Menu::item) else { return false };
        let typed = self.file_word().map_or(self.buffer.text(), |(_, word)| word);
        item.name == typed
    }

    /// Keys that an open menu takes. Enter completes, and sends what is complete.
    fn choosing(&mut self, key: &Key) -> Option<Done> {
        let whole = self.is_whole();
        let menu = self.menu.as_mut()?;
        match key {
            Key::Down => menu.next(),
            Key::Up => menu.previous(),
            Key::Escape => {
                self.closed = Some(menu.start);
                self.menu = None;
            }
            Key::Tab => self.complete(),
            Key::Enter if whole => return None,
            Key::Enter => self.complete(),
            _ => return None,
        }
        Some(Done::Edited)
    }

    /// Put the chosen entry in the place of its word.
    fn complete(&mut self) {
        let Some(menu) = self.menu.take() else { return };
        let Some(item) = menu.item() else { return };
        let file = !item.name.starts_with('/') || self.file_word().is_some_and(|(start, _)| start == menu.start);
        if !file {
            self.buffer.replace_before(menu.start, &item.name);
            self.closed = Some(menu.start);
            self.refresh();
            return;
        }
        let space = if item.name.ends_with('/') { "" } else { " " };
        let quote = if item.name.contains(char::is_whitespace) { "\"" } else { "" };
        self.buffer.replace_before(menu.start, &format!("@{quote}{}{quote}{space}", item.name));
        self.refresh();
    }

    fn editing(&mut self, key: Key) -> Done {
        match self.buffer.press(key) {
            Some(Key::Paste(text)) => self.buffer.paste(&text),
            Some(Key::Enter) => return self.enter(),
            Some(Key::Tab) if self.buffer.unfold() => {}
            Some(Key::Tab) => self.closed = None,
            Some(Key::BackTab) => return Done::Mode,
            Some(Key::Escape) => return Done::Escape,
            Some(Key::Up) => return self.up(),
            Some(Key::Down) => self.down(),
            Some(Key::Interrupt) => return Done::Interrupt,
            Some(Key::EndOfInput) => return Done::Leave,
            Some(Key::Clear) => return Done::Clear,
            Some(Key::Search) => {
                self.menu = None;
                self.search = Some(Search { draft: self.buffer.expanded(), ..Search::default() });
            }
            Some(Key::External) => return Done::External,
            Some(Key::Picture) => return Done::Picture,
            Some(Key::Suspend) => return Done::Suspend,
            _ => {}
        }
        Done::Edited
    }

    fn enter(&mut self) -> Done {
        if self.buffer.after().is_empty() && self.buffer.before().ends_with('\\') {
            self.buffer.backspace();
            self.buffer.insert("\n");
            return Done::Edited;
        }
        let submission = self.buffer.submission(|inset| marker(self.texts, inset));
        self.history.add(&submission.text);
        self.set("");
        Done::Submit(submission)
    }

    fn up(&mut self) -> Done {
        if self.vertically(|row| row.checked_sub(1)) {
            return Done::Edited;
        }
        if self.buffer.is_empty() && self.browsed.is_none() {
            return Done::TakeBack;
        }
        self.browse_back();
        Done::Edited
    }

    /// Show the entry before in the history.
    pub fn browse_back(&mut self) {
        let at = self.browsed.as_ref().map_or(self.history.entries().len(), |(at, _)| *at);
        let Some(before) = at.checked_sub(1) else { return };
        let Some(entry) = self.history.entries().get(before).cloned() else { return };
        let draft = self.browsed.take().map_or_else(|| self.buffer.clone(), |(_, draft)| draft);
        self.buffer.set(&entry);
        self.browsed = Some((before, draft));
    }

    fn down(&mut self) {
        if self.vertically(|row| Some(row + 1)) {
            return;
        }
        let Some((at, draft)) = self.browsed.take() else { return };
        match self.history.entries().get(at + 1).cloned() {
            Some(entry) => {
                self.buffer.set(&entry);
                self.browsed = Some((at + 1, draft));
            }
            None => self.buffer = draft,
        }
    }

    /// Whether there was a row to go to.
    fn vertically(&mut self, to: impl Fn(usize) -> Option<usize>) -> bool {
        let layout = lay_out(&self.buffer, self.columns, |inset| marker(self.texts, inset));
        let goal = *self.goal.get_or_insert(layout.column);
        let Some(at) = to(layout.row).and_then(|row| layout.at(row, goal)) else { return false };
        self.buffer.place(at);
        true
    }

    fn searching(&mut self, key: Key) -> Done {
        let Some(mut search) = self.search.take() else { return Done::Edited };
        let older = search.found.unwrap_or(self.history.entries().len());
        let from = match key {
            Key::Char(c) => {
                search.wanted.push(c);
                older.saturating_add(1)
            }
            Key::Paste(text) => {
                search.wanted.push_str(text.lines().next().unwrap_or_default());
                older.saturating_add(1)
            }
            Key::Backspace => {
                search.wanted.pop();
                usize::MAX
            }
            Key::Search | Key::Up => older,
            Key::Escape | Key::External | Key::Interrupt => {
                self.set(&search.draft);
                return Done::Edited;
            }
            Key::Resize => {
                self.search = Some(search);
                return Done::Edited;
            }
            // Any other key takes what was found and goes on with it.
            Key::Enter | Key::Tab => return Done::Edited,
            other => return self.key(other, self.columns),
        };
        if search.wanted.is_empty() {
            search.found = None;
            self.buffer.set(&search.draft);
        } else if let Some((at, entry)) = self.history.find(&search.wanted, from) {
            let entry = entry.to_owned();
            search.found = Some(at);
            self.buffer.set(&entry);
        }
        self.search = Some(search);
        Done::Edited
    }

    /// What was typed after a slash that begins the text.
    fn command_word(&self) -> Option<&str> {
        let word = self.buffer.text().strip_prefix('/')?;
        (self.buffer.after().is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '/')).then_some(word)
    }

    /// The word that begins with an `@` and ends at the cursor: where it begins, and what stands after the `@`.
    fn file_word(&self) -> Option<(usize, &str)> {
        let before = self.buffer.before();
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
        let word = before.get(start..)?.strip_prefix('@')?;
        Some((start, word))
    }
}

#[cfg(test)]
mod tests;
