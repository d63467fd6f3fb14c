//! What a person does with a session besides prompting: another way of asking for permission, something attached to the
//! next prompt, back to an earlier one.

use super::log::{Entry, LogError};
use super::{Mode, Note, Part, Role, Session};
use crate::message::Message;

/// A prompt that the conversation can go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// Messages that stand before it.
    pub before: usize,
    /// The same among all messages that ever were: what snapshots know it by.
    pub place: usize,
    /// Its words.
    pub text: String,
}

impl Session {
    /// What may be done without a question.
    pub fn mode(&self) -> Mode {
        self.parts.mode
    }

    /// Ask in another way from the next call on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.parts.mode = mode;
    }

    /// Something goes with the next prompt, after its words.
    pub fn attach(&mut self, part: Part) {
        self.attached.push(part);
    }

    /// The prompts so far, oldest first: every message of the person that answers no call and is no word of the loop's.
    pub fn earlier(&self) -> Vec<Earlier> {
        let of_loop = self.words_of_loop();
        let prompt = |(before, message): (usize, &Message)| {
            let answers = message.parts.iter().any(|part| matches!(part, Part::Result(_)));
            let text = message.parts.iter().find_map(|part| match part {
                Part::Text { text } => Some(text.clone()),
                _ => None,
            });
            let text = text.unwrap_or_default();
            (message.role == Role::User && !answers && !of_loop(&text)).then(|| Earlier {
                before,
                place: self.gone + before,
                text,
            })
        };
        self.messages.iter().enumerate().filter_map(prompt).collect()
    }

    /// Go back to before an earlier prompt. The record on disk keeps what came after it.
    ///
    /// # Errors
    /// The record cannot be written; then nothing changed.
    pub fn go_back(&mut self, earlier: &Earlier) -> Result<(), LogError> {
        // The system message always stays.
        let kept = earlier.before.max(1);
        self.record(Entry::WentBack { at: self.emitter.now(), kept })?;
        self.messages.truncate(kept);
        self.facts.back(self.gone + kept);
        Ok(())
    }

    /// Tells the loop's own words from the person's.
    pub(super) fn words_of_loop(&self) -> impl Fn(&str) -> bool + use<> {
        let notes = [Note::Nudge, Note::NudgeEmpty, Note::CutOff].map(|note| self.parts.prompts.note(note, &[]));
        let notes = notes.into_iter().chain([self.summary_head()]);
        // What follows a placeholder may be anything.
        let heads = notes.filter_map(|note| note.split('(').next().map(str::to_owned));
        let heads: Vec<String> = heads.filter(|words| !words.is_empty()).collect();
        move |text| heads.iter().any(|words| text.starts_with(words))
    }
}
