//! What comes after a turn: a pure function of what was seen so far.
//!
//! Chat and coding: a reply without calls ends a chat. Once a tool was used the text channel wants `done`; the native
//! channel takes a final message. What would go on for ever is nudged once, then ended with an ending of its own.

use crate::ending::Ending;
use crate::message::Channel;
use crate::prompt::Note;

/// Whole replies without any call that ran, cut off one after the other, before the loop gives up.
const MAX_CUT: u32 = 2;

/// The way of one prompt so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Course {
    /// A tool was used or asked for.
    coding: bool,
    /// The model was nudged and has not called anything since.
    nudged: bool,
    /// Replies in a row that were cut off before anything ran.
    cut: u32,
}

/// What one turn showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen<'a> {
    /// How calls travel.
    pub channel: Channel,
    /// The reply's visible words.
    pub visible: &'a str,
    /// Calls that were admitted.
    pub calls: usize,
    /// Calls that were not.
    pub refusals: usize,
    /// Why the reply is not whole, if it is not.
    pub cut: Option<&'a str>,
    /// The summary of a `done` that counted.
    pub done: Option<&'a str>,
    /// A person or a signal stopped it.
    pub interrupted: bool,
    /// Turns that are left.
    pub left: u32,
    /// Another limit that is reached.
    pub over: Option<Ending>,
    /// The work goes in circles.
    pub circles: bool,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Another query; these notes go along with the results.
    Ask(Vec<(Note, String)>),
    /// The end, with the words that sum it up.
    End(Ending, String),
}

impl Course {
    /// What a first query takes along: something only where it is also the last.
    pub fn first(left: u32) -> Vec<(Note, String)> {
        last_turn(left).into_iter().collect()
    }

    /// Decide what comes after a turn.
    pub fn next(&mut self, seen: &Seen<'_>) -> Next {
        let words = seen.visible.trim();
        if seen.interrupted {
            return Next::End(Ending::Interrupted, words.to_owned());
        }
        if let Some(summary) = seen.done {
            let summary = if summary.trim().is_empty() { words } else { summary.trim() };
            return Next::End(Ending::Done, summary.to_owned());
        }
        let note = if seen.calls + seen.refusals > 0 { self.after_calls(seen) } else { self.after_words(seen, words) };
        match note {
            Err(ending) => Next::End(ending, words.to_owned()),
            Ok(_) if seen.circles => Next::End(Ending::Looping, words.to_owned()),
            Ok(note) => match seen.over.or((seen.left == 0).then_some(Ending::MaxTurns)) {
                Some(ending) => Next::End(ending, words.to_owned()),
                None => Next::Ask(note.into_iter().chain(last_turn(seen.left)).collect()),
            },
        }
    }

    fn after_calls(&mut self, seen: &Seen<'_>) -> Result<Option<(Note, String)>, Ending> {
        self.coding = true;
        if seen.calls > 0 {
            self.nudged = false;
        }
        let Some(why) = seen.cut else {
            self.cut = 0;
            return Ok(None);
        };
        self.cut = if seen.calls > 0 { 0 } else { self.cut + 1 };
        if self.cut >= MAX_CUT { Err(Ending::Truncated) } else { Ok(Some((Note::CutOff, why.to_owned()))) }
    }

    fn after_words(&mut self, seen: &Seen<'_>, words: &str) -> Result<Option<(Note, String)>, Ending> {
        if seen.cut.is_some() {
            return Err(Ending::Truncated);
        }
        let final_answer = !words.is_empty() && (seen.channel == Channel::Native || !self.coding);
        if final_answer {
            return Err(Ending::Done);
        }
        if self.nudged {
            return Err(Ending::Unfinished);
        }
        self.nudged = true;
        Ok(Some((if words.is_empty() { Note::NudgeEmpty } else { Note::Nudge }, String::new())))
    }
}

fn last_turn(left: u32) -> Option<(Note, String)> {
    (left == 1).then(|| (Note::LastTurn, String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(visible: &str) -> Seen<'_> {
        Seen {
            channel: Channel::Text,
            visible,
            calls: 0,
            refusals: 0,
            cut: None,
            done: None,
            interrupted: false,
            left: 9,
            over: None,
            circles: false,
        }
    }

    fn nudge(note: Note) -> Next {
        Next::Ask(vec![(note, String::new())])
    }

    #[test]
    fn words_without_calls_end_a_chat() {
        assert_eq!(Course::default().next(&seen(" Hello. ")), Next::End(Ending::Done, "Hello.".to_owned()));
    }

    #[test]
    fn coding_without_done_is_nudged_once_and_then_ends_unfinished() {
        let mut course = Course::default();
        assert_eq!(course.next(&Seen { calls: 1, ..seen("") }), Next::Ask(vec![]));
        assert_eq!(course.next(&seen("I think so.")), nudge(Note::Nudge));
        assert_eq!(course.next(&seen("Yes.")), Next::End(Ending::Unfinished, "Yes.".to_owned()));
    }

    #[test]
    fn a_nudge_that_led_to_a_call_is_forgotten() {
        let mut course = Course::default();
        course.next(&Seen { calls: 1, ..seen("") });
        assert_eq!(course.next(&seen("Hm.")), nudge(Note::Nudge));
        course.next(&Seen { calls: 1, ..seen("") });
        assert_eq!(course.next(&seen("Hm.")), nudge(Note::Nudge));
    }

    #[test]
    fn a_refused_call_makes_it_coding_too() {
        let mut course = Course::default();
        assert_eq!(course.next(&Seen { refusals: 1, ..seen("x") }), Next::Ask(vec![]));
        assert_eq!(course.next(&seen("y")), nudge(Note::Nudge));
    }

    #[test]
    fn a_final_message_ends_coding_on_the_native_channel() {
        let mut course = Course::default();
        course.next(&Seen { channel: Channel::Native, calls: 1, ..seen("") });
        let last = Seen { channel: Channel::Native, ..seen("Fixed.") };
        assert_eq!(course.next(&last), Next::End(Ending::Done, "Fixed.".to_owned()));
    }

    #[test]
    fn an_empty_reply_is_nudged_on_both_channels() {
        for channel in [Channel::Text, Channel::Native] {
            let mut course = Course::default();
            assert_eq!(course.next(&Seen { channel, ..seen(" \n") }), nudge(Note::NudgeEmpty));
            assert_eq!(course.next(&Seen { channel, ..seen("") }), Next::End(Ending::Unfinished, String::new()));
        }
    }

    #[test]
    fn done_without_a_summary_takes_the_words_around_it() {
        let with = |summary| Seen { calls: 1, done: Some(summary), ..seen("All fixed.") };
        assert_eq!(Course::default().next(&with(" ")), Next::End(Ending::Done, "All fixed.".to_owned()));
        assert_eq!(Course::default().next(&with("It works.")), Next::End(Ending::Done, "It works.".to_owned()));
    }

    #[test]
    fn the_model_is_told_before_its_last_turn_and_the_limit_holds() {
        let mut course = Course::default();
        assert_eq!(course.next(&Seen { calls: 1, left: 1, ..seen("") }), nudge(Note::LastTurn));
        assert_eq!(course.next(&Seen { calls: 1, left: 0, ..seen("w") }), Next::End(Ending::MaxTurns, "w".to_owned()));
        assert_eq!(Course::first(1), [(Note::LastTurn, String::new())]);
        assert_eq!(Course::first(2), []);
    }

    #[test]
    fn a_limit_or_a_circle_ends_the_work_unless_it_has_just_ended() {
        let over = Seen { calls: 1, over: Some(Ending::MaxCost), ..seen("w") };
        assert_eq!(Course::default().next(&over), Next::End(Ending::MaxCost, "w".to_owned()));
        let circles = Seen { calls: 1, circles: true, ..seen("w") };
        assert_eq!(Course::default().next(&circles), Next::End(Ending::Looping, "w".to_owned()));
        let done = Seen { calls: 1, done: Some("d"), circles: true, over: Some(Ending::MaxCost), ..seen("") };
        assert_eq!(Course::default().next(&done), Next::End(Ending::Done, "d".to_owned()));
    }

    #[test]
    fn a_cut_off_answer_ends_and_cut_off_calls_are_asked_for_in_pieces_once() {
        let cut = Seen { cut: Some("length"), ..seen("and th") };
        assert_eq!(Course::default().next(&cut), Next::End(Ending::Truncated, "and th".to_owned()));
        let mut course = Course::default();
        let call = Seen { refusals: 1, cut: Some("length"), ..seen("") };
        assert_eq!(course.next(&call), Next::Ask(vec![(Note::CutOff, "length".to_owned())]));
        assert_eq!(course.next(&call), Next::End(Ending::Truncated, String::new()));
    }

    #[test]
    fn an_interrupt_wins_over_everything() {
        let both = Seen { interrupted: true, done: Some("x"), ..seen("") };
        assert_eq!(Course::default().next(&both), Next::End(Ending::Interrupted, String::new()));
    }
}
