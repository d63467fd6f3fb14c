//! Asks a person a yes-or-no question in the middle of the work.
//!
//! Whoever reads the keyboard for it stops as soon as the question is void, so that no key is ever lost to it.

use super::input::Lines;
use futures::future::{BoxFuture, ready};
use reedline::{Prompt, PromptEditMode, PromptHistorySearch, Reedline, Signal};
use selfsmith_agent::frontend::Decision;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often a reader of lines looks whether its question is void.
const PATIENCE: Duration = Duration::from_millis(100);

/// How the work, or the whole REPL, is stopped from outside.
#[derive(Clone, Default)]
pub struct Interrupt {
    token: Arc<Mutex<CancellationToken>>,
    leave: Arc<AtomicBool>,
    /// Wakes the line editor, which takes it back by itself.
    wake: Arc<AtomicBool>,
    /// The line editor waits for a prompt: nothing is under way.
    idle: Arc<AtomicBool>,
}

impl Interrupt {
    /// A fresh token: a new prompt starts.
    pub fn renew(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    /// The present token.
    pub fn token(&self) -> CancellationToken {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The program is asked to end: stop the work, and take no further prompt.
    pub fn leave(&self) {
        self.leave.store(true, Ordering::SeqCst);
        self.wake.store(true, Ordering::SeqCst);
        self.token().cancel();
    }

    /// Whether it was.
    pub fn is_leaving(&self) -> bool {
        self.leave.load(Ordering::SeqCst)
    }

    /// Say whether the line editor waits for a prompt.
    pub fn set_idle(&self, idle: bool) {
        self.idle.store(idle, Ordering::SeqCst);
    }

    /// Whether it does.
    pub fn is_idle(&self) -> bool {
        self.idle.load(Ordering::SeqCst)
    }

    /// What wakes a line editor.
    pub fn wake(&self) -> Arc<AtomicBool> {
        self.wake.clone()
    }
}

/// Where answers come from.
pub enum Asker {
    /// A line editor on the terminal.
    Editor(Interrupt),
    /// Lines, for a terminal that cannot move its cursor.
    Lines(Lines),
    /// Nobody: input is a pipe.
    Nobody,
}

impl Asker {
    /// Ask. Dropping the future takes the question back.
    pub fn ask(&self, question: String) -> BoxFuture<'static, Decision> {
        let void = Void::default();
        let flag = void.0.clone();
        let answer = match self {
            Self::Nobody => return Box::pin(ready(Decision::Nobody)),
            Self::Editor(interrupt) => {
                let interrupt = interrupt.clone();
                tokio::task::spawn_blocking(move || edited(question, flag, &interrupt))
            }
            Self::Lines(lines) => {
                let lines = lines.clone();
                crate::streams::data(&question);
                tokio::task::spawn_blocking(move || {
                    loop {
                        match lines.next(PATIENCE) {
                            Some(line) => break decision(line.as_deref().unwrap_or_default()),
                            None if flag.load(Ordering::SeqCst) => break Decision::Nobody,
                            None => {}
                        }
                    }
                })
            }
        };
        Box::pin(async move {
            let _void = void;
            answer.await.unwrap_or(Decision::Nobody)
        })
    }
}

/// Voids its question when it goes.
#[derive(Default)]
struct Void(Arc<AtomicBool>);

impl Drop for Void {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn edited(question: String, void: Arc<AtomicBool>, interrupt: &Interrupt) -> Decision {
    let mut editor = Reedline::create().with_break_signal(void);
    match editor.read_line(&Question(question)) {
        Ok(Signal::Success(line)) => decision(&line),
        Ok(Signal::CtrlC) => {
            interrupt.token().cancel();
            Decision::Nobody
        }
        Ok(_) | Err(_) => Decision::Nobody,
    }
}

/// Yes runs it; no, or nothing, does not; anything else is a reason for the model.
fn decision(line: &str) -> Decision {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "是" | "好" => Decision::Allow,
        "n" | "no" | "" | "不" | "否" => Decision::Deny { why: String::new() },
        _ => Decision::Deny { why: line.trim().to_owned() },
    }
}

struct Question(String);

impl Prompt for Question {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }
    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
    fn render_prompt_history_search_indicator(&self, _search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_runs_no_does_not_and_anything_else_is_a_reason() {
        assert_eq!(decision(" Y "), Decision::Allow);
        assert_eq!(decision(""), Decision::Deny { why: String::new() });
        assert_eq!(decision("use git mv"), Decision::Deny { why: "use git mv".to_owned() });
    }
}
