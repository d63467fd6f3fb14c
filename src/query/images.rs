//! Pictures that tools looked at: they go to models that take them, others get a sentence in their place.
//!
//! What a person attached to a prompt always goes: they chose it for this model.

use super::settings::Settings;
use crate::message::{Message, Part};
use globset::GlobBuilder;
use std::borrow::Cow;

/// The messages as this model can read them.
pub fn fitted<'m>(messages: &'m [Message], settings: &Settings, model: &str) -> Cow<'m, [Message]> {
    if !messages.iter().any(from_tool) || takes(settings, model) {
        return Cow::Borrowed(messages);
    }
    let plain = |part: &Part| match part {
        Part::Image { .. } => Part::Text { text: LEFT_OUT.to_owned() },
        other => other.clone(),
    };
    let fitted = messages.iter().map(|message| match from_tool(message) {
        true => Message { role: message.role, parts: message.parts.iter().map(plain).collect() },
        false => message.clone(),
    });
    Cow::Owned(fitted.collect())
}

const LEFT_OUT: &str = "[a picture is left out: by its settings this model takes none]";

fn from_tool(message: &Message) -> bool {
    let has = |wanted: fn(&Part) -> bool| message.parts.iter().any(wanted);
    has(|part| matches!(part, Part::Image { .. })) && has(|part| matches!(part, Part::Result(_)))
}

/// Whether one of the patterns is the model's name, with its maker before a slash or without.
fn takes(settings: &Settings, model: &str) -> bool {
    let own = model.rsplit('/').next().unwrap_or(model);
    settings.images.iter().any(|pattern| {
        let glob = GlobBuilder::new(pattern).case_insensitive(true).build();
        glob.is_ok_and(|glob| [model, own].into_iter().any(|name| glob.compile_matcher().is_match(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Outcome, Role, ToolResult};
    use serde_json::Value;

    #[test]
    fn pictures_of_tools_go_to_models_that_take_them_and_attached_ones_to_all() {
        let image = || Part::Image { mime: "image/png".to_owned(), base64: "AA==".to_owned() };
        let text = String::new();
        let result =
            ToolResult { id: text.clone(), name: text.clone(), outcome: Outcome::Done, text, detail: Value::Null };
        let attached = Message { role: Role::User, parts: vec![Part::Text { text: "look".to_owned() }, image()] };
        let viewed = Message { role: Role::User, parts: vec![Part::Result(result), image()] };
        let messages = [attached.clone(), viewed.clone()];
        let settings = Settings { images: vec!["gpt-4o*".to_owned(), "*-vl*".to_owned()], ..Settings::default() };
        for model in ["GPT-4o-mini", "openai/gpt-4o", "qwen/qwen3-VL-8b"] {
            assert_eq!(fitted(&messages, &settings, model).as_ref(), messages, "{model}");
        }
        let other = fitted(&messages, &settings, "deepseek-chat");
        assert_eq!(other[0], attached);
        assert_eq!(other[1].parts[1], Part::Text { text: LEFT_OUT.to_owned() });
    }
}
