//! `/context`: what the next request would carry, by role and part.

use super::{Bench, Command, Flow};
use crate::activity::thousands;
use selfsmith_agent::message::{Message, Part, Role};
use selfsmith_agent::query::Request;
use selfsmith_agent::session::Session;
use selfsmith_agent::texts::{Texts, fill};

/// The command.
pub const COMMAND: Command = Command { name: "context", about: |texts| texts.about.context, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    let texts = bench.texts;
    let session = &*bench.session;
    for (name, tokens) in rows(session, texts).into_iter().filter(|(_, tokens)| *tokens > 0) {
        (bench.say)(&format!("  {name:<20} ~{}", thousands(tokens)));
    }
    let count = session.messages().len().to_string();
    (bench.say)(&fill(texts.context_total, &[("tokens", &thousands(session.tokens())), ("messages", &count)]));
    let window = session.parts().model.capacity().window;
    let values = [("most", thousands(session.most_tokens())), ("window", thousands(window))];
    (bench.say)(&fill(texts.context_limit, &values.each_ref().map(|(name, value)| (*name, value.as_str()))));
    Flow::Stay
}

fn rows(session: &Session, texts: &'static Texts) -> Vec<(&'static str, u64)> {
    let parts = session.parts();
    let weigh =
        |messages: &[Message]| parts.model.tokens(&Request { messages, tools: &[], model: None, tokens_left: None });
    let summary = session.summarised();
    let of = |wanted: &dyn Fn(Role, &Part) -> bool| {
        let of_message = |message: &Message| {
            let own = message.parts.iter().filter(|part| wanted(message.role, part)).cloned().collect::<Vec<_>>();
            if own.is_empty() { 0 } else { weigh(&[Message { role: message.role, parts: own }]) }
        };
        session.messages().iter().filter(|message| Some(*message) != summary).map(of_message).sum::<u64>()
    };
    let tools = parts.model.tokens(&Request { messages: &[], tools: &parts.specs, model: None, tokens_left: None });
    let is_said = |part: &Part| !matches!(part, Part::Result(_) | Part::Call(_));
    vec![
        (texts.context_system, of(&|role, _| role == Role::System)),
        (texts.context_tools, tools),
        (texts.context_summary, summary.map_or(0, |message| weigh(std::slice::from_ref(message)))),
        (texts.context_person, of(&|role, part| role == Role::User && is_said(part))),
        (texts.context_model, of(&|role, part| role == Role::Assistant && is_said(part))),
        (texts.context_calls, of(&|_, part| matches!(part, Part::Call(_)))),
        (texts.context_results, of(&|_, part| matches!(part, Part::Result(_)))),
    ]
}
