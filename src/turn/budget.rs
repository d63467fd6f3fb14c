//! What one prompt may take, over the whole tree of agents that work for it: turns, tokens, money.
//!
//! Time is not counted here: whoever runs the prompt has a timer for it.

use super::Settings;
use crate::ending::Ending;
use crate::event::Usage;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limits of one prompt; absent ones do not hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Tokens sent and received.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Seconds.
    pub time_s: Option<f64>,
}

/// What is left. An agent and its sub-agents share one.
#[derive(Debug)]
pub struct Budget {
    max_turns: u32,
    limits: Limits,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    turns: u32,
    tokens: u64,
    cost_usd: f64,
    /// A reply came whose price nobody knows.
    unpriced: bool,
}

impl Budget {
    /// A fresh one.
    pub fn new(settings: &Settings) -> Self {
        Self { max_turns: settings.max_turns.max(1), limits: settings.limits.clone(), spent: Mutex::default() }
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

    /// Turns that are left.
    pub fn left(&self) -> u32 {
        self.max_turns.saturating_sub(self.spent().turns)
    }

    /// Tokens that are left, where they are limited.
    pub fn tokens_left(&self) -> Option<u64> {
        let spent = self.spent().tokens;
        self.limits.tokens.map(|limit| limit.saturating_sub(spent))
    }

    /// The limit that is reached, turns aside. What costs nobody knows may cost anything.
    pub fn over(&self) -> Option<Ending> {
        let spent = self.spent();
        if self.limits.tokens.is_some_and(|limit| spent.tokens >= limit) {
            return Some(Ending::MaxTokens);
        }
        let dear = |limit: f64| spent.unpriced || spent.cost_usd >= limit;
        self.limits.cost_usd.is_some_and(dear).then_some(Ending::MaxCost)
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        // A panic in another thread leaves whole numbers.
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn turns_run_out() {
        let budget = budget(None, None);
        assert_eq!(budget.left(), 2);
        (0..3).for_each(|_| budget.turn());
        assert_eq!(budget.left(), 0);
    }
}
