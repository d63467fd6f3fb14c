//! `probe`: asks the model for a call of a tool, and remembers which channel it takes.

use crate::cli::Flags;
use crate::open;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::message::Channel;
use selfsmith_agent::query::{Delta, Model, QueryError};
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire;
use tokio::runtime::Runtime;

/// Run it. One short request is made.
pub fn run(flags: &Flags, surroundings: &Surroundings, runtime: &Runtime) -> Ending {
    let texts = surroundings.texts;
    let redactor = wire::redactor(&surroundings.environment);
    let problem = |ending: Ending, text: &str| {
        streams::tell(&redactor.text(&fill(texts.problem, &[("text", text)])));
        ending
    };
    let asker = open::open(flags, surroundings).and_then(|opened| {
        wire::asker(&opened.choices, &opened.around).map_err(|error| open::wire_refusal(&error, surroundings))
    });
    let client = match asker {
        Ok(client) => client,
        Err(refusal) => return problem(refusal.ending, &refusal.text),
    };
    let on = |delta: Delta| {
        if let Delta::Notice(text) = delta {
            streams::tell(&redactor.text(&fill(texts.notice, &[("text", &text)])));
        }
    };
    match runtime.block_on(client.probe(&on)) {
        Ok(known) => {
            let text = match known.channel {
                Channel::Native => texts.probed_native,
                Channel::Text => texts.probed_text,
            };
            let base = client.endpoint().to_string();
            let values = [("model", client.name()), ("base", base.as_str()), ("why", known.why.as_str())];
            streams::data(&format!("{}\n", fill(text, &values)));
            Ending::Done
        }
        Err(error) => {
            let ending = match error {
                QueryError::Unavailable { .. } => Ending::ModelUnavailable,
                _ => Ending::ModelRefused,
            };
            let text = fill(texts.could_not, &[("what", &error.to_string()), ("hint", error.hint())]);
            problem(ending, &text)
        }
    }
}
