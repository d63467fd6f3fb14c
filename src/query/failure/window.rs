//! How large the model's window is, in the words in which a server refuses what does not fit.

use super::{Failure, Kind};
use regex::Regex;
use std::sync::LazyLock;

/// "the available context size (4096 tokens)" (llama.cpp), "maximum context length is 8192 tokens" (OpenAI, vLLM), "context window
/// of 2048" (llama-cpp-python), "213000 tokens > 200000 maximum" (Anthropic), "input length should be [1, 30720]" (DashScope).
static WINDOW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)context (?:size|length|window)[^0-9]{0,16}([0-9]{3,9})",
        r"|> ?([0-9]{3,9}) maximum|input length should be \[[0-9]+, ?([0-9]{3,9})\]",
    ))
    .expect("a fixed pattern that the tests compile")
});

/// "request (5177 tokens)" (llama.cpp), "resulted in 9001 tokens" (OpenAI), "has 3402 input tokens" (vLLM), "prompt is too long:
/// 213000 tokens" (Anthropic).
static PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:request \(|resulted in |has |too long: )([0-9]{1,9}) (?:input )?tokens")
        .expect("a fixed pattern that the tests compile")
});

impl Failure {
    /// Tokens of the window, where a prompt did not fit and the server says how many would have.
    pub fn window(&self) -> Option<u64> {
        self.number(&WINDOW)
    }

    /// Tokens of the prompt that did not fit, where the server says how many they are.
    pub fn prompt(&self) -> Option<u64> {
        self.number(&PROMPT)
    }

    fn number(&self, pattern: &Regex) -> Option<u64> {
        let found = pattern.captures(&self.what).filter(|_| self.kind == Kind::TooLong)?;
        found.iter().skip(1).flatten().next()?.as_str().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_read_in_the_words_of_many_servers() {
        let window = |words: &str| Failure::new(Kind::TooLong, words).window();
        for (words, tokens) in [
            ("request (5177 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
                8192,
            ),
            ("Requested tokens (3456) exceed context window of 2048", 2048),
            ("prompt is too long: 213000 tokens > 200000 maximum", 200_000),
            ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]", 30_720),
        ] {
            assert_eq!(window(words), Some(tokens), "{words}");
        }
        assert_eq!(window("the input exceeds the context window"), None);
        assert_eq!(Failure::new(Kind::BadRequest, "context size 4096").window(), None);
    }
}
