//! `config check` and `config show`.

use crate::cli::{ConfigCommand, Flags};
use crate::open;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::config::{self, With};
use selfsmith_agent::ending::Ending;
use selfsmith_agent::prompt;
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire;

/// Run it.
pub fn run(flags: &Flags, what: &ConfigCommand, surroundings: &Surroundings) -> Ending {
    let texts = surroundings.texts;
    let redactor = wire::redactor(&surroundings.environment);
    let problem = |refusal: &open::Refusal| {
        streams::tell(&redactor.text(&fill(texts.problem, &[("text", &refusal.text)])));
        refusal.ending
    };
    let loaded = match config::load(&open::sources(flags, surroundings)) {
        Ok(loaded) => loaded,
        Err(error) => return problem(&open::refusal(&error, surroundings)),
    };
    for notice in loaded.notices(texts) {
        streams::tell(&redactor.text(&fill(texts.notice, &[("text", &notice)])));
    }
    match what {
        ConfigCommand::Show { origin } => {
            let with = if *origin { With::Origins } else { With::Nothing };
            streams::data(&redactor.text(&config::show(&loaded, with)));
        }
        ConfigCommand::Check => {
            let around = surroundings.around(&surroundings.folder);
            if let Err(error) = wire::check_prompts(&around) {
                return problem(&open::wire_refusal(&error, surroundings));
            }
            let prompts = match &around.prompts {
                prompt::Source::Embedded => texts.built_in.to_owned(),
                prompt::Source::Folder(folder) => folder.display().to_string(),
            };
            streams::data(&format!("{}\n", fill(texts.config_sound, &[("prompts", &prompts)])));
        }
    }
    Ending::Done
}
