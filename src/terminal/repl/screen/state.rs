//! What the screen remembers, and how keys and time change it.

use super::super::dialog::{Dialog, Open, Question, Reply};
use super::super::line::{Done, Editor, Key, Submission};
use super::super::region::{Reflow, Region};
use super::typewriter::Typewriter;
use super::view::{Scene, styled};
use super::{Act, Interrupt, Look, Taste};
use crate::clean::clean;
use crate::markdown::{Markdown, wrap};
use crate::streams;
use console::Style;
use selfsmith_agent::texts::{Texts, fill};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Bytes of an unfinished line that are kept for the rows at the bottom.
const MAX_PARTIAL: usize = 8 * 1024;

/// The screen's memory.
pub struct State {
    pub(super) texts: &'static Texts,
    pub(super) look: Look,
    pub(super) taste: Taste,
    pub(super) region: Region,
    /// What is typed, where there is a keyboard.
    pub editor: Option<Editor>,
    /// Questions; the first is on the screen.
    pub(super) dialogs: VecDeque<Dialog>,
    /// Prompts that wait for the work to end.
    pub queue: VecDeque<Submission>,
    /// A word about how permission is asked for.
    pub mode: Option<String>,
    /// What is waited for, and since when.
    pub waiting: Option<(String, Instant)>,
    pub(super) working: Option<Instant>,
    pub(super) markdown: Option<Markdown>,
    pub(super) typewriter: Typewriter,
    /// A line that has not ended yet: plain words, thoughts, or what the typewriter wrote of one.
    pub(super) partial: String,
    /// The unfinished line holds thoughts.
    pub(super) thoughts: bool,
    /// On a bare terminal: the last thing printed did not end its line.
    pub(super) open_line: bool,
    pub(super) last_reply: String,
    /// All that the last command said.
    pub(super) whole: String,
    /// Id of the call that a question showed.
    pub(super) shown_call: Option<String>,
    /// The rows at the bottom are there.
    pub awake: bool,
    pub(super) painted: Option<Instant>,
}

impl State {
    /// Nothing happened yet.
    pub fn new(texts: &'static Texts, look: Look, taste: Taste, editor: Option<Editor>, reflow: Reflow) -> Self {
        Self {
            texts,
            look,
            taste,
            region: Region::new(reflow),
            // Without a keyboard there is nothing to wait for.
            awake: editor.is_none() && look != Look::Bare,
            editor,
            dialogs: VecDeque::new(),
            queue: VecDeque::new(),
            mode: None,
            waiting: None,
            working: None,
            markdown: None,
            typewriter: Typewriter::default(),
            partial: String::new(),
            thoughts: false,
            open_line: false,
            last_reply: String::new(),
            whole: String::new(),
            shown_call: None,
            painted: None,
        }
    }

    /// A key.
    pub fn key(&mut self, key: Key, interrupt: &Interrupt) -> Option<Act> {
        if key == Key::Resize {
            self.paint();
            return None;
        }
        if key == Key::Clear {
            self.clear();
            return None;
        }
        if key == Key::Whole {
            self.show_whole();
            return None;
        }
        self.sweep();
        if let Some(dialog) = self.dialogs.front_mut() {
            let open = dialog.key(key);
            if open != Open::Yes {
                self.dialogs.pop_front();
            }
            if open == Open::Interrupted {
                interrupt.token().cancel();
            }
            self.paint();
            return None;
        }
        let columns = size().0.saturating_sub(3).max(2);
        let done = self.editor.as_mut()?.key(key, columns);
        let act = match done {
            Done::Edited => None,
            Done::Submit(submission) => Some(Act::Submit(submission)),
            Done::Interrupt => Some(Act::Interrupt),
            Done::Escape => Some(Act::Escape),
            Done::Leave => Some(Act::Leave),
            Done::Mode => Some(Act::Mode),
            Done::External => Some(Act::External),
            Done::Picture => Some(Act::Picture),
            Done::Suspend => Some(Act::Suspend),
            Done::Clear => {
                self.clear();
                None
            }
            Done::TakeBack => {
                self.take_back();
                None
            }
        };
        self.paint();
        act
    }

    /// Time passed.
    pub fn tick(&mut self) {
        if !self.typewriter.is_empty() {
            let due = self.typewriter.due(self.taste.delay, Instant::now());
            self.flow(&due);
        }
        if let Some(editor) = self.editor.as_mut().filter(|editor| editor.waits() || editor.menu().is_some()) {
            editor.refresh();
        }
        self.sweep();
        self.paint();
    }

    /// Something is still to be printed or listed.
    pub fn is_restless(&self) -> bool {
        self.is_typing() || self.editor.as_ref().is_some_and(Editor::waits)
    }

    /// Words wait to be printed.
    pub fn is_typing(&self) -> bool {
        !self.typewriter.is_empty()
    }

    /// A question is open.
    pub fn is_asking(&self) -> bool {
        self.dialogs.iter().any(|dialog| !dialog.is_void())
    }

    /// Print what waits at once.
    pub fn hurry(&mut self) {
        let rest = self.typewriter.all();
        self.flow(&rest);
    }

    /// Work begins, or ends; then how long it took.
    pub fn work(&mut self, under_way: bool) -> Option<Duration> {
        let took = self.working.take().map(|since| since.elapsed());
        self.working = under_way.then(Instant::now);
        self.waiting = None;
        self.paint();
        took
    }

    /// Ask; where the answer comes. Nobody is asked where there is no keyboard.
    pub fn ask(&mut self, question: Question) -> Option<oneshot::Receiver<Reply>> {
        self.editor.as_ref()?;
        let (dialog, reply) = Dialog::ask(question);
        self.dialogs.push_back(dialog);
        self.paint();
        Some(reply)
    }

    /// Drop questions that nobody waits for.
    pub fn sweep(&mut self) {
        self.dialogs.retain(|dialog| !dialog.is_void());
    }

    /// What was kept goes back to where it was typed.
    pub fn give_back(&mut self) {
        let Some(editor) = self.editor.as_mut().filter(|_| !self.queue.is_empty()) else { return };
        let mut texts: Vec<String> = self.queue.drain(..).map(|submission| submission.text).collect();
        texts.extend(Some(editor.buffer().expanded()).filter(|draft| !draft.is_empty()));
        editor.set(&texts.join("\n"));
        self.paint();
    }

    /// The newest prompt that waits goes back to where it was typed; without one, the history does.
    fn take_back(&mut self) {
        let Some(editor) = &mut self.editor else { return };
        match self.queue.pop_back() {
            Some(submission) => editor.set(&submission.text),
            None => editor.browse_back(),
        }
    }

    /// An empty screen.
    pub fn clear(&mut self) {
        if self.awake {
            let (columns, height) = size();
            let picture = self.scene(columns, height).picture();
            streams::data(&self.region.clear(picture, columns));
        }
    }

    /// The rows at the bottom go.
    pub fn wipe(&mut self) {
        if self.awake {
            streams::data(&self.region.wipe(size().0));
            self.region.forget();
        }
    }

    /// Paint the rows at the bottom as things are now.
    pub fn paint(&mut self) {
        if !self.awake {
            return;
        }
        let (columns, height) = size();
        let picture = self.scene(columns, height).picture();
        let out = self.region.paint(picture, columns);
        self.painted = Some(Instant::now());
        if !out.is_empty() {
            streams::data(&out);
        }
    }

    /// Print a whole line or several, after whatever is unfinished.
    pub fn line(&mut self, text: &str) {
        let text = format!("{}\n", text.trim_end_matches('\n'));
        self.end_line();
        self.lines(&text);
    }

    /// Print words for the person, broken between words where the screen is narrow.
    pub fn words_of_ours(&mut self, text: &str) {
        let text = self.wrapped(text);
        self.line(&text);
    }

    /// Lines that break between words where the screen is narrow.
    pub(super) fn wrapped(&self, text: &str) -> String {
        if !self.awake {
            return text.to_owned();
        }
        let columns = size().0;
        let rows = |line: &str| {
            let blanks: String = line.chars().take_while(|c| *c == ' ').collect();
            let words = wrap(line.trim_start_matches(' '), columns.saturating_sub(blanks.len()));
            words.into_iter().map(|row| format!("{blanks}{row}\n")).collect::<String>()
        };
        text.lines().map(rows).collect()
    }

    /// Show what was sent.
    pub fn echo(&mut self, shown: &str) {
        let shown = clean(shown).replace('\n', "\n  ");
        let text = styled(self.look, Style::new().bold(), &format!("> {shown}"));
        self.line(&format!("\n{text}"));
    }

    pub(super) fn scene(&self, columns: usize, height: usize) -> Scene<'_> {
        let counting = |(what, since): (&str, Instant)| {
            let seconds = since.elapsed().as_secs().to_string();
            fill(self.texts.waiting, &[("what", what), ("seconds", &seconds)])
        };
        let waits = self.waiting.as_ref().map(|(what, since)| (what.as_str(), *since));
        let works = self.working.map(|since| (self.texts.writing, since));
        Scene {
            texts: self.texts,
            look: self.look,
            columns,
            height,
            preview: self.preview(),
            waiting: waits.or(works).filter(|_| self.dialogs.is_empty()).map(counting),
            queued: self.queue.iter().map(|submission| submission.shown.as_str()).collect(),
            dialog: self.dialogs.front(),
            editor: self.editor.as_ref(),
            mode: self.mode.as_deref(),
        }
    }

    /// What is not final yet.
    fn preview(&self) -> String {
        let text = if self.partial.is_empty() && self.taste.delay.is_zero() {
            self.markdown.as_ref().map(Markdown::pending).unwrap_or_default()
        } else {
            console::strip_ansi_codes(&self.partial).into_owned()
        };
        let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_PARTIAL));
        text.get(from..).unwrap_or_default().to_owned()
    }
}

/// Columns and rows of the terminal.
pub fn size() -> (usize, usize) {
    let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
    // A terminal that does not know its size says nothing.
    if columns == 0 || rows == 0 { (80, 24) } else { (usize::from(columns), usize::from(rows)) }
}
