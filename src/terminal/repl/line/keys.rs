//! Keys as the editor knows them, from what the terminal reports.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key, or what else comes from a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// A pasted text.
    Paste(String),
    /// Send.
    Enter,
    /// A line end in the text.
    NewLine,
    /// Complete.
    Tab,
    /// Shift-Tab: another way of asking for permission.
    BackTab,
    /// Close, or stop.
    Escape,
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// A character left.
    Left,
    /// A character right.
    Right,
    /// A word left.
    WordLeft,
    /// A word right.
    WordRight,
    /// Beginning of the line.
    Home,
    /// End of the line.
    End,
    /// Delete before.
    Backspace,
    /// Delete after.
    Delete,
    /// Kill the word before.
    KillWord,
    /// Kill the word after.
    KillWordRight,
    /// Kill to the beginning of the line.
    KillToHome,
    /// Kill to the end of the line.
    KillToEnd,
    /// Insert what was killed.
    Yank,
    /// Take a change back.
    Undo,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    /// Clear the screen.
    Clear,
    /// Look for an earlier entry.
    Search,
    /// Show all that the last command said.
    Whole,
    /// Open the text in `$EDITOR`.
    External,
    /// Attach the picture of the clipboard.
    Picture,
    /// Ctrl-Z.
    Suspend,
    /// The terminal has another size.
    Resize,
}

/// What an event of the terminal means; nothing for those that mean nothing here.
pub fn key(event: Event) -> Option<Key> {
    match event {
        Event::Paste(text) => Some(Key::Paste(text)),
        Event::Resize(..) => Some(Key::Resize),
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key),
        _ => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Char(c) if control && !alt => return with_control(c.to_ascii_lowercase()),
        KeyCode::Char(c) if alt && !control => return with_alt(c),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter if alt || shift || control => Key::NewLine,
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab if shift => Key::BackTab,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Esc => Key::Escape,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left if control || alt => Key::WordLeft,
        KeyCode::Right if control || alt => Key::WordRight,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Backspace if control || alt => Key::KillWord,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete if control || alt => Key::KillWordRight,
        KeyCode::Delete => Key::Delete,
        _ => return None,
    })
}

fn with_control(c: char) -> Option<Key> {
    Some(match c {
        'a' => Key::Home,
        'b' => Key::Left,
        'c' => Key::Interrupt,
        'd' => Key::EndOfInput,
        'e' => Key::End,
        'f' => Key::Right,
        'g' => Key::External,
        'h' => Key::Backspace,
        'j' => Key::NewLine,
        'k' => Key::KillToEnd,
        'l' => Key::Clear,
        'n' => Key::Down,
        'o' => Key::Whole,
        'p' => Key::Up,
        'r' => Key::Search,
        'u' => Key::KillToHome,
        'v' => Key::Picture,
        'w' => Key::KillWord,
        'y' => Key::Yank,
        'z' => Key::Suspend,
        '_' | '-' | '7' | '/' => Key::Undo,
        _ => return None,
    })
}

fn with_alt(c: char) -> Option<Key> {
    Some(match c.to_ascii_lowercase() {
        'b' => Key::WordLeft,
        'f' => Key::WordRight,
        'd' => Key::KillWordRight,
        '\r' | '\n' => Key::NewLine,
        _ => return None,
    })
}
