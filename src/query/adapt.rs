//! What a server turns out not to take, learnt from its own words, so that the next request fits.
//!
//! Providers and models change faster than any table; each of these is a refusal that the same request, spelled
//! otherwise, cures. Every adaptation is made once and kept for the session.

use crate::query::failure::{Failure, Kind};
use crate::query::quirks::LimitField;

/// How requests are spelled by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelling {
    /// The field that limits a reply.
    pub limit: LimitField,
    /// The largest limit that the server takes.
    pub limit_at_most: Option<u64>,
    /// Whether usage is asked for in a stream.
    pub stream_options: Sent,
    /// Whether the temperature is sent.
    pub temperature: Sent,
    /// Whether it is sent how hard to think.
    pub effort: Sent,
    /// Whose turn a message may be.
    pub roles: Roles,
}

/// Whose turn a message may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roles {
    /// Anybody's: a system message first, several of one side in a row.
    Any,
    /// The two sides take turns, and there is no system message: templates of some models (Gemma, Mistral) want it so.
    Turns,
}

/// Whether a field is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is.
    Yes,
    /// The server refused it.
    No,
}

impl Spelling {
    /// As the provider's row says.
    pub const fn new(limit: LimitField) -> Self {
        Self {
            limit,
            limit_at_most: None,
            stream_options: Sent::Yes,
            temperature: Sent::Yes,
            effort: Sent::Yes,
            roles: Roles::Any,
        }
    }

    /// A spelling that cures this refusal of a request with the limit `sent`; `None` where none is known.
    pub fn adapted(self, failure: &Failure, sent: u64) -> Option<Self> {
        let words = failure.what.to_lowercase();
        let roles = ["roles must alternate", "system role not supported", "system role is not supported"];
        if self.roles == Roles::Any && roles.iter().any(|said| words.contains(said)) {
            return Some(Self { roles: Roles::Turns, ..self });
        }
        if failure.kind != Kind::BadRequest {
            return None;
        }
        if self.stream_options == Sent::Yes && (words.contains("stream_options") || words.contains("include_usage")) {
            return Some(Self { stream_options: Sent::No, ..self });
        }
        if self.temperature == Sent::Yes && words.contains("temperature") {
            return Some(Self { temperature: Sent::No, ..self });
        }
        if self.effort == Sent::Yes && EFFORT.iter().any(|name| words.contains(name)) {
            return Some(Self { effort: Sent::No, ..self });
        }
        let other = match self.limit {
            LimitField::MaxTokens => LimitField::MaxCompletionTokens,
            LimitField::MaxCompletionTokens => LimitField::MaxTokens,
        };
        // `max_tokens` is not inside `max_completion_tokens`, so each name is found by itself.
        let mentions_own = words.contains(self.limit.name());
        if words.contains(other.name()) || (mentions_own && is_unknown_field(&words)) {
            // Naming both is how a server asks for the other one; it is asked for only once.
            return (self.limit_at_most.is_none() && !is_bound(&words)).then_some(Self { limit: other, ..self });
        }
        if mentions_own || words.contains("max_new_tokens") || words.contains("completion tokens") {
            let at_most = numbers(&words).filter(|n| (16..sent).contains(n)).max()?;
            return Some(Self { limit_at_most: Some(at_most), ..self });
        }
        None
    }
}

/// Names of what says how hard to think.
const EFFORT: [&str; 4] = ["reasoning_effort", "reasoning effort", "enable_thinking", "thinking_budget"];

fn is_unknown_field(words: &str) -> bool {
    ["unsupported", "unknown", "unrecognized", "unexpected", "not permitted", "extra"].iter().any(|w| words.contains(w))
}

fn is_bound(words: &str) -> bool {
    ["range", "at most", "less than", "too large", "maximum"].iter().any(|word| words.contains(word))
}

fn numbers(words: &str) -> impl Iterator<Item = u64> + '_ {
    words.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapted(words: &str) -> Option<Spelling> {
        Spelling::new(LimitField::MaxTokens).adapted(&Failure::new(Kind::BadRequest, words), 9000)
    }

    #[test]
    fn the_other_name_of_the_limit_is_taken_when_the_server_asks_for_it() {
        let words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        assert_eq!(adapted(words).map(|spelling| spelling.limit), Some(LimitField::MaxCompletionTokens));
    }

    #[test]
    fn a_range_that_the_server_names_bounds_the_limit() {
        for words in
            ["Range of max_tokens should be [1, 8192]", "max_tokens is too large: 9000. At most 8192 completion tokens"]
        {
            assert_eq!(adapted(words).and_then(|spelling| spelling.limit_at_most), Some(8192), "{words}");
        }
    }

    #[test]
    fn fields_that_a_server_refuses_are_left_out() {
        assert_eq!(adapted("Unknown field stream_options").map(|s| s.stream_options), Some(Sent::No));
        assert_eq!(adapted("'temperature' does not support 0.2").map(|s| s.temperature), Some(Sent::No));
        assert_eq!(adapted("Unrecognized argument: reasoning_effort").map(|s| s.effort), Some(Sent::No));
    }

    #[test]
    fn a_template_that_wants_turns_gets_them() {
        let words = "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...";
        let failure = Failure::new(Kind::Server, words);
        let spelling = Spelling::new(LimitField::MaxTokens).adapted(&failure, 9000);
        assert_eq!(spelling.map(|spelling| spelling.roles), Some(Roles::Turns));
        assert_eq!(spelling.and_then(|spelling| spelling.adapted(&failure, 9000)), None);
    }

    #[test]
    fn other_refusals_are_no_matter_of_spelling() {
        assert_eq!(adapted("bad tool name"), None);
        let failure = Failure::new(Kind::Auth, "max_tokens");
        assert_eq!(Spelling::new(LimitField::MaxTokens).adapted(&failure, 9000), None);
    }
}
