//! Tokens and cost: the server's figures where it gives them, else an estimate that learns from those it gave before.
//!
//! The estimate counts by kinds of characters. Its figures were fitted to the o200k vocabulary on Rust, Python, JSON,
//! Markdown, German, French, Russian, Japanese, Korean and Chinese texts, where it is off by 13 % at most on its own;
//! other vocabularies differ by a factor, which the ratio to measured replies brings in.

use crate::event::Usage;
use crate::query::chunk::ServerUsage;
use serde::{Deserialize, Serialize};

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Sent.
    pub input: f64,
    /// Received.
    pub output: f64,
    /// Sent and held by the cache; as `input` where absent.
    #[serde(default)]
    pub cached: Option<f64>,
}

impl Price {
    /// The cost of a reply.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let cached = usage.cached.min(usage.prompt);
        let tokens = |count: u64| count as f64 / 1e6;
        tokens(usage.prompt - cached) * self.input
            + tokens(cached) * self.cached.unwrap_or(self.input)
            + tokens(usage.completion) * self.output
    }
}

/// Estimates tokens of a text, uncorrected.
pub fn estimate(text: &str) -> f64 {
    let mut tokens = 0.0;
    let (mut letters, mut digits, mut blanks) = (0_u32, 0_u32, 0_u32);
    for c in text.chars() {
        if !c.is_ascii_alphabetic() {
            tokens += of_letters(letters);
            letters = 0;
        }
        if !c.is_ascii_digit() {
            tokens += of_digits(digits);
            digits = 0;
        }
        match c {
            'a'..='z' | 'A'..='Z' => letters += 1,
            '0'..='9' => digits += 1,
            ' ' | '\t' => {
                blanks += 1;
                // A single blank belongs to the next word; indentation is folded.
                tokens += if blanks > 1 { 0.05 } else { 0.0 };
                continue;
            }
            other => tokens += of_other(other),
        }
        blanks = 0;
    }
    tokens + of_letters(letters) + of_digits(digits)
}

/// A run of letters: short ones are one token, long ones are cut.
fn of_letters(count: u32) -> f64 {
    match count {
        0 => 0.0,
        1..=6 => 1.0,
        more => f64::from(more) / 5.0,
    }
}

/// A run of digits: three a token.
fn of_digits(count: u32) -> f64 {
    f64::from(count.div_ceil(3))
}

const fn of_other(c: char) -> f64 {
    match c {
        '\n' | '\r' => 0.5,
        '\0'..='\u{7f}' => 0.55,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => 0.8,
        '\u{3000}'..='\u{30ff}' | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}' => 0.7,
        // European letters beyond ASCII.
        '\u{80}'..='\u{52f}' => 0.35,
        _ => 1.2,
    }
}

/// The learnt ratio between measured and estimated tokens, for what is sent and what comes back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meter {
    prompt: f64,
    completion: f64,
    /// Replies that taught it.
    learnt: u32,
}

impl Default for Meter {
    fn default() -> Self {
        Self { prompt: 1.0, completion: 1.0, learnt: 0 }
    }
}

/// Tokens below which a difference says nothing.
const FEW: f64 = 1500.0;

impl Meter {
    /// The tokens of a reply whose request and answer were estimated at these figures; learns where the server measured.
    pub fn read(&mut self, server: Option<ServerUsage>, prompt: f64, completion: f64) -> Usage {
        match server {
            // What was cut says nothing of how the rest is counted.
            Some(server) if self.cut(server, prompt).is_some() => {
                Usage { prompt: server.prompt, completion: server.completion, cached: server.cached, measured: true }
            }
            Some(server) => {
                self.learnt = self.learnt.saturating_add(1);
                self.prompt = learnt(self.prompt, server.prompt, prompt);
                self.completion = learnt(self.completion, server.completion, completion);
                Usage { prompt: server.prompt, completion: server.completion, cached: server.cached, measured: true }
            }
            None => Usage {
                prompt: self.prompt_tokens(prompt),
                completion: (completion * self.completion).round() as u64,
                cached: 0,
                measured: false,
            },
        }
    }

    /// Learn how many tokens a request of this estimate has, in the words of a server that refuses it.
    pub fn hear(&mut self, measured: u64, estimate: f64) {
        self.prompt = sane(measured, estimate).unwrap_or(self.prompt);
    }

    /// Tokens that were to be expected, where the server counted so few of them that it must have cut the rest away. The
    /// estimate is trusted less before the server's own ratio was seen; a few tokens only are another way of counting
    /// (servers that leave out what their cache held).
    pub fn cut(&self, server: ServerUsage, estimate: f64) -> Option<u64> {
        let expected = estimate * self.prompt;
        let least = if self.learnt == 0 { 0.5 } else { 0.7 };
        let share = server.prompt as f64 / expected;
        (expected >= FEW && (0.1..least).contains(&share)).then_some(expected.round() as u64)
    }

    /// An estimate of what is sent, corrected.
    pub fn prompt_tokens(&self, estimate: f64) -> u64 {
        (estimate * self.prompt).round() as u64
    }
}

/// Half the old ratio, half the new one.
fn learnt(old: f64, measured: u64, estimate: f64) -> f64 {
    sane(measured, estimate).map_or(old, |ratio| f64::midpoint(old, ratio))
}

/// The ratio; small samples and absurd ones teach nothing.
fn sane(measured: u64, estimate: f64) -> Option<f64> {
    let ratio = measured as f64 / estimate;
    (estimate >= 20.0 && (0.2..=5.0).contains(&ratio)).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_counts_cached_tokens_at_their_own_price() {
        let price = Price { input: 2.0, output: 10.0, cached: Some(0.5) };
        let usage = Usage { prompt: 1_000_000, completion: 100_000, cached: 400_000, measured: true };
        assert!((price.cost(&usage) - (1.2 + 0.2 + 1.0)).abs() < 1e-9);
    }

    #[test]
    fn the_estimate_learns_the_models_own_ratio() {
        let mut meter = Meter::default();
        for _ in 0..6 {
            meter.read(Some(ServerUsage { prompt: 150, completion: 60, cached: 0 }), 100.0, 50.0);
        }
        let usage = meter.read(None, 1000.0, 100.0);
        assert!(usage.prompt.abs_diff(1500) < 30 && usage.completion.abs_diff(120) < 5 && !usage.measured, "{usage:?}");
    }

    #[test]
    fn a_conversation_that_the_server_cut_is_noticed_and_teaches_nothing() {
        let counted = |prompt| ServerUsage { prompt, completion: 5, cached: 0 };
        let mut meter = Meter::default();
        for estimate in [1000.0, 2000.0, 3900.0] {
            assert_eq!(meter.cut(counted((estimate * 1.1) as u64), estimate), None);
            meter.read(Some(counted((estimate * 1.1) as u64)), estimate, 5.0);
        }
        let before = meter;
        assert!(meter.cut(counted(4096), 6000.0).is_some_and(|expected| expected.abs_diff(6500) < 200));
        meter.read(Some(counted(4096)), 6000.0, 5.0);
        assert_eq!((meter, meter.cut(counted(90), 6000.0)), (before, None));
        // Without a ratio only a wide gap counts.
        assert_eq!(Meter::default().cut(counted(4096), 6000.0), None);
        assert!(Meter::default().cut(counted(2048), 6000.0).is_some());
    }

    #[test]
    fn a_small_or_absurd_sample_teaches_nothing() {
        let mut meter = Meter::default();
        meter.read(Some(ServerUsage { prompt: 9000, completion: 3, cached: 0 }), 100.0, 5.0);
        assert_eq!((meter.prompt, meter.completion), (1.0, 1.0));
    }

    #[test]
    fn estimates_stand_near_known_counts() {
        // Measured with the o200k vocabulary.
        for (text, tokens) in [
            ("The quick brown fox jumps over the lazy dog.", 10.0),
            ("fn main() {\n    println!(\"hello\");\n}\n", 12.0),
            ("人工智能正在改变软件开发的方式。", 11.0),
        ] {
            let estimated = estimate(text);
            assert!((estimated / tokens - 1.0_f64).abs() < 0.35, "{text}: {estimated} for {tokens}");
        }
    }
}
