//! What a run may take, over the whole tree of agents that work for it: turns of a prompt; tokens, money and time of all its
//! prompts together.
//!
//! Time is not measured here: whoever runs a prompt has a timer, and says how long it worked.

use super::Settings;
use crate::ending::Ending;
use crate::event::Usage;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Limits of a run: a headless prompt, or a conversation from its start in this program to its end. Absent ones do not hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Tokens sent and received.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Seconds of work; what a person takes between two prompts does not count.
    pub time_s: Option<f64>,
}

/// What is left. An agent and its sub-agents share one.
#[derive(Debug)]
pub struct Budget(Mutex<Spent>);

#[derive(Debug)]
struct Spent {
    max_turns: u32,
    limits: Limits,
    /// Of the present prompt.
    turns: u32,
    worked: Duration,
    tokens: u64,
    cost_usd: f64,
    /// A reply came whose price nobody knows.
    unpriced: bool,
}

impl Budget {
    /// A fresh one.
    pub fn new(settings: &Settings) -> Self {
        Self(Mutex::new(Spent {
            max_turns: settings.max_turns.max(1),
            limits: settings.limits.clone(),
            turns: 0,
            worked: Duration::ZERO,
            tokens: 0,
            cost_usd: 0.0,
            unpriced: false,
        }))
    }

    /// Another prompt begins, under the limits as they are now: its turns are counted anew, all else goes on.
    pub fn begin(&self, settings: &Settings) {
        let mut spent = self.spent();
        spent.max_turns = settings.max_turns.max(1);
        spent.limits.clone_from(&settings.limits);
        spent.turns = 0;
    }

    /// A turn begins.
    pub fn turn(&self) {
        self.spent().turns += 1;
    }

    /// A reply came.
    pub fn count(&self, usage: &Usage, cost_usd: Option<f64>) {
        let mut spent = self.spent();
        spent.tokens = spent.tokens.saturating_add(usage.prompt).saturating_add(usage.completion);
        match cost_usd {
            Some(cost) => spent.cost_usd += cost,
            None => spent.unpriced = true,
        }
    }

    /// So long was worked.
    pub fn worked(&self, time: Duration) {
        let mut spent = self.spent();
        spent.worked = spent.worked.saturating_add(time);
    }

    /// Tokens that are left, where they are limited.
    pub fn tokens_left(&self) -> Option<u64> {
        let spent = self.spent();
        spent.limits.tokens.map(|limit| limit.saturating_sub(spent.tokens))
    }

    /// Time that is left, where it is limited.
    pub fn time_left(&self) -> Option<Duration> {
        let spent = self.spent();
        let limit = spent.limits.time_s.and_then(|time| Duration::try_from_secs_f64(time).ok())?;
        Some(limit.saturating_sub(spent.worked))
    }

    /// Turns that are left.
    pub fn left(&self) -> u32 {
        let spent = self.spent();
        spent.max_turns.saturating_sub(spent.turns)
    }

    /// The limit that is reached, turns and time aside. What costs nobody knows may cost anything.
    pub fn over(&self) -> Option<Ending> {
        let spent = self.spent();
        if spent.limits.tokens.is_some_and(|limit| spent.tokens >= limit) {
            return Some(Ending::MaxTokens);
        }
        let dear = |limit: f64| spent.unpriced || spent.cost_usd >= limit;
        spent.limits.cost_usd.is_some_and(dear).then_some(Ending::MaxCost)
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        // A panic in another thread leaves whole numbers.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(tokens: Option<u64>, cost_usd: Option<f64>) -> Budget {
        Budget::new(&Settings { max_turns: 2, limits: Limits { tokens, cost_usd, time_s: None } })
    }

    const USAGE: Usage = Usage { prompt: 60, completion: 40, cached: 0, measured: true };

    #[test]
    fn each_limit_holds_when_it_is_reached_and_none_where_none_is_set() {
        let none = budget(None, None);
        none.count(&USAGE, None);
        assert_eq!(none.over(), None);
        let tokens = budget(Some(200), None);
        tokens.count(&USAGE, None);
        assert_eq!(tokens.over(), None);
        tokens.count(&USAGE, None);
        assert_eq!(tokens.over(), Some(Ending::MaxTokens));
        let money = budget(None, Some(0.5));
        money.count(&USAGE, Some(0.3));
        assert_eq!(money.over(), None);
        money.count(&USAGE, Some(0.3));
        assert_eq!(money.over(), Some(Ending::MaxCost));
    }

    #[test]
    fn a_reply_without_a_price_reaches_every_limit_of_money() {
        let money = budget(None, Some(100.0));
        money.count(&USAGE, None);
        assert_eq!(money.over(), Some(Ending::MaxCost));
    }

    #[test]
    fn turns_are_counted_for_each_prompt_and_all_else_over_all_of_them() {
        let limits = Limits { tokens: Some(100), cost_usd: None, time_s: Some(2.0) };
        let settings = Settings { max_turns: 2, limits };
        let budget = Budget::new(&settings);
        budget.turn();
        budget.count(&USAGE, None);
        budget.worked(Duration::from_millis(1500));
        budget.begin(&settings);
        assert_eq!((budget.left(), budget.over()), (2, Some(Ending::MaxTokens)));
        assert_eq!(budget.time_left(), Some(Duration::from_millis(500)));
        budget.begin(&Settings { max_turns: 3, limits: Limits { tokens: Some(200), ..Limits::default() } });
        assert_eq!((budget.left(), budget.over(), budget.time_left()), (3, None, None));
    }

    #[test]
    fn turns_run_out() {
        let budget = budget(None, None);
        assert_eq!(budget.left(), 2);
        (0..3).for_each(|_| budget.turn());
        assert_eq!(budget.left(), 0);
    }
}
