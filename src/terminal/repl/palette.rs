//! The menu of commands that opens when `/` is typed on an empty line, and filters as one types on.

use reedline::{
    ColumnarMenu, Completer, CompletionResult, EditCommand, EditMode, Emacs, Highlighter, KeyCode, KeyModifiers,
    MenuBuilder, PromptEditMode, Reedline, ReedlineEvent, ReedlineMenu, ReedlineRawEvent, Span, StyledText, Suggestion,
    default_emacs_keybindings,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const MENU: &str = "commands";

/// Commands and what they do.
pub type Choices = Vec<(String, String)>;

/// Whether the line is empty: the painter knows, the keyboard asks.
#[derive(Clone, Default)]
pub struct Empty(Arc<AtomicBool>);

impl Empty {
    /// Say so.
    pub fn set(&self, empty: bool) {
        self.0.store(empty, Ordering::SeqCst);
    }
}

/// Give an editor the menu.
pub fn fit(editor: Reedline, choices: Choices, empty: &Empty) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let next = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(next));
    let menu = ColumnarMenu::default().with_name(MENU).with_columns(1).with_marker("> ");
    editor
        .with_completer(Box::new(Commands(choices)))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_edit_mode(Box::new(Slash { keys: Emacs::new(keys), empty: empty.clone() }))
        .with_highlighter(Box::new(Watcher(empty.clone())))
        .with_quick_completions(false)
        .with_partial_completions(true)
        .use_bracketed_paste(true)
}

struct Commands(Choices);

impl Completer for Commands {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let Some(word) = line.get(..pos).filter(|word| word.starts_with('/') && !word.contains(char::is_whitespace))
        else {
            return CompletionResult::fresh(Vec::new());
        };
        let fitting = self.0.iter().filter(|(name, _)| name.starts_with(word));
        let suggestions: Vec<Suggestion> = fitting
            .map(|(name, about)| Suggestion {
                value: name.clone(),
                description: Some(about.clone()),
                span: Span::new(0, pos),
                append_whitespace: false,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}

/// The usual keys, and a menu on the first `/`.
struct Slash {
    keys: Emacs,
    empty: Empty,
}

impl EditMode for Slash {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = self.keys.parse_event(event);
        let slash = matches!(&event, ReedlineEvent::Edit(edits) if edits.as_slice() == [EditCommand::InsertChar('/')]);
        // Keys that come in one go are read before the painter sees the first of them, so the line is not empty any
        // more once a key was pressed, whatever the painter last said.
        let was_empty = self.empty.0.swap(false, Ordering::SeqCst);
        if slash && was_empty {
            return ReedlineEvent::Multiple(vec![event, ReedlineEvent::Menu(MENU.to_owned())]);
        }
        event
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.keys.edit_mode()
    }
}

/// Paints nothing; it is told of every change of the line.
struct Watcher(Empty);

impl Highlighter for Watcher {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        self.0.set(line.is_empty());
        let mut text = StyledText::new();
        text.push((Default::default(), line.to_owned()));
        text
    }
}
