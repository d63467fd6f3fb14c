//! Counts what is spent, from the usage that the server states: in a blocking reply, or in a chunk of a stream.

use serde_json::Value;

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests passed on.
    pub requests: u64,
    /// Tokens sent, as far as the server stated them.
    pub prompt_tokens: u64,
    /// Tokens received, likewise.
    pub completion_tokens: u64,
    /// Replies without a statement of usage.
    pub unstated: u64,
}

impl Spent {
    /// Add a whole reply's body.
    pub fn add(&mut self, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        let usage = match serde_json::from_str::<Value>(&text) {
            Ok(value) => usage(&value),
            // The last statement of a stream is the whole one; servers that state usage in each chunk add up themselves.
            Err(_) => text
                .lines()
                .rev()
                .filter_map(|line| line.strip_prefix("data:"))
                .find_map(|data| usage(&serde_json::from_str(data.trim()).ok()?)),
        };
        match usage {
            Some((prompt, completion)) => {
                self.prompt_tokens = self.prompt_tokens.saturating_add(prompt);
                self.completion_tokens = self.completion_tokens.saturating_add(completion);
            }
            None => self.unstated += 1,
        }
    }
}

fn usage(value: &Value) -> Option<(u64, u64)> {
    let usage = value.get("usage")?;
    Some((usage.get("prompt_tokens")?.as_u64()?, usage.get("completion_tokens")?.as_u64()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_from_blocking_and_streamed_replies_and_its_absence_counted() {
        let mut spent = Spent::default();
        spent.add(br#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2}}"#);
        spent.add(
            b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n\
              data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n",
        );
        spent.add(b"data: [DONE]\n\n");
        assert_eq!(spent, Spent { requests: 0, prompt_tokens: 15, completion_tokens: 5, unstated: 1 });
    }
}
