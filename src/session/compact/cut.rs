//! Where a conversation is cut: recent turns stay as they are, and every call keeps its result.

use crate::message::{Message, Part, Role};
use crate::session::facts::clip;
use serde_json::Value;

/// The first message that stays, so that what stays weighs at most `budget`; the last place to cut where nothing fits.
/// None where there is nothing to take away.
pub fn border(messages: &[Message], weigh: impl Fn(&Message) -> u64, budget: u64) -> Option<usize> {
    let places: Vec<usize> = (2..messages.len()).filter(|at| may_begin(messages.get(*at))).collect();
    let mut fits = Vec::new();
    let mut weight = 0_u64;
    for (at, message) in messages.iter().enumerate().skip(2).rev() {
        weight = weight.saturating_add(weigh(message));
        if weight > budget {
            break;
        }
        if places.contains(&at) {
            fits.push(at);
        }
    }
    // A person's message after the summary would be two in a row, which some servers refuse.
    let of_model = |at: &&usize| messages.get(**at).is_some_and(|message| message.role == Role::Assistant);
    let earliest = fits.iter().rev().find(of_model).or_else(|| fits.last());
    earliest.or_else(|| places.iter().rev().find(of_model)).or_else(|| places.last()).copied()
}

/// A message of the model, or of the person that answers no call.
fn may_begin(message: Option<&Message>) -> bool {
    message.is_some_and(|message| {
        message.role == Role::Assistant || !message.parts.iter().any(|part| matches!(part, Part::Result(_)))
    })
}

/// Shorten results, arguments and the model's own words to so many characters each. What the person said stays.
pub fn lighten(messages: &mut [Message], chars: usize) {
    for message in messages {
        let own = message.role == Role::Assistant;
        for part in &mut message.parts {
            match part {
                Part::Result(result) => result.text = clip(&result.text, chars),
                Part::Call(call) => call.arguments.values_mut().for_each(|value| shorten(value, chars)),
                Part::Text { text } | Part::Thinking { text } if own => *text = clip(text, chars),
                Part::Text { .. } | Part::Thinking { .. } | Part::Image { .. } => {}
            }
        }
    }
}

fn shorten(value: &mut Value, chars: usize) {
    match value {
        Value::String(text) => *text = clip(text, chars),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, chars)),
        Value::Object(map) => map.values_mut().for_each(|item| shorten(item, chars)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Channel, Outcome, ToolCall, ToolResult};
    use serde_json::{Map, json};

    fn call(id: &str) -> Message {
        let call = ToolCall { id: id.into(), name: "view".into(), arguments: Map::new(), channel: Channel::Native };
        Message { role: Role::Assistant, parts: vec![Part::Call(call)] }
    }

    fn result(id: &str, text: &str) -> Message {
        let result = ToolResult {
            id: id.into(),
            name: "view".into(),
            outcome: Outcome::Done,
            text: text.into(),
            detail: Value::Null,
        };
        Message { role: Role::User, parts: vec![Part::Result(result)] }
    }

    fn said(role: Role) -> Message {
        Message::text(role, "words")
    }

    fn conversation() -> Vec<Message> {
        vec![
            said(Role::System),
            said(Role::User),
            call("1"),
            result("1", "one"),
            call("2"),
            result("2", "two"),
            said(Role::Assistant),
            said(Role::User),
        ]
    }

    #[test]
    fn no_cut_ever_parts_a_call_from_its_result() {
        let messages = conversation();
        for length in 0..=messages.len() {
            let messages = &messages[..length];
            for budget in 0..10 {
                let Some(at) = border(messages, |_| 1, budget) else { continue };
                let (gone, kept) = messages.split_at(at);
                let calls = |part: &[Message]| part.iter().flat_map(Message::calls).count();
                let results = |part: &[Message]| {
                    part.iter().flat_map(|m| &m.parts).filter(|p| matches!(p, Part::Result(_))).count()
                };
                // The last calls may wait for their results, which is for the caller to avoid.
                assert_eq!(calls(gone), results(gone), "cut at {at} of {length} for {budget}");
                assert!(at >= 2 && results(kept) <= calls(kept));
            }
        }
    }

    #[test]
    fn as_much_stays_as_fits_and_the_model_speaks_first_where_it_can() {
        let messages = conversation();
        assert_eq!(border(&messages, |_| 1, 100), Some(2));
        assert_eq!(border(&messages, |_| 1, 5), Some(4));
        assert_eq!(border(&messages, |_| 1, 2), Some(6));
        assert_eq!(border(&messages, |_| 1, 1), Some(7));
        assert_eq!(border(&messages, |_| 1, 0), Some(6));
        assert_eq!(border(&messages[..2], |_| 1, 100), None);
    }

    #[test]
    fn what_is_lightened_keeps_its_form_and_the_persons_words() {
        let long = "x".repeat(1000);
        let mut messages = vec![call("1"), result("1", &long), Message::text(Role::User, long.clone())];
        if let Some(Part::Call(call)) = messages[0].parts.first_mut() {
            call.arguments.insert("content".into(), json!({ "deep": [long, 7] }));
        }
        lighten(&mut messages, 30);
        let text = serde_json::to_string(&messages[..2]).expect("it is data");
        assert!(text.len() < 500 && text.contains("characters left out") && text.contains('7'), "{text}");
        assert_eq!(messages[2].plain_text().len(), 1000);
    }
}
