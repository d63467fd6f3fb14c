//! Thinking on the walk through a reply: nothing in it runs.

use super::quoting::backtick_before;
use super::scan::{Scanner, Step, View};
use super::tag;
use crate::query::think::{self, Side};

impl Scanner {
    pub(super) fn thinking_step(&mut self, view: &View<'_>) -> Step {
        let tail = view.text.get(self.at..).unwrap_or_default();
        let here = tail.find('<').map_or(view.text.len(), |n| self.at + n);
        if here > self.at {
            let range = self.at..here;
            self.at = here;
            return Step::Thought(range);
        }
        match think::tag_at(view.text, self.at) {
            Some((_, end)) if view.growing() && end == view.text.len() && backtick_before(view.text, self.at) => {
                Step::More
            }
            Some((Side::Open, end)) => {
                self.thinking += 1;
                self.skip(end)
            }
            Some((Side::Close, end)) => {
                self.thinking -= 1;
                self.skip(end);
                if self.thinking > 0 { Step::Skip } else { self.thought_ended() }
            }
            None if view.growing() && tag::unfinished(view.text, self.at) && tail.len() < think::LONGEST_TAG => {
                Step::More
            }
            None => {
                let range = self.at..self.at + 1;
                self.at += 1;
                Step::Thought(range)
            }
        }
    }

    pub(super) fn thought_ended(&mut self) -> Step {
        self.thought_before = true;
        self.calls_since = false;
        Step::ThoughtEnd
    }

    pub(super) fn thinking_opens(&mut self, view: &View<'_>, end: usize, starts: bool) -> Step {
        if !starts {
            let affordable = self.budget.spend(view.text.len() - end);
            if !affordable || think::closer(view.text, end).is_none() {
                return if view.growing() && affordable { Step::More } else { self.show(end) };
            }
        }
        self.thinking = 1;
        self.skip(end)
    }

    /// Thinking that ends without having begun: the template had opened it, so all before it was thinking.
    pub(super) fn lone_closer(&mut self, end: usize) -> Step {
        let recants = !self.thought_before || self.calls_since;
        self.skip(end);
        if recants {
            self.thought_ended();
            return Step::Recant;
        }
        Step::Skip
    }
}
