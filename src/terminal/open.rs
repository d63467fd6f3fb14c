//! From the command line to settings, and from settings to what a session is made of.

use crate::cli::{ApprovalFlag, ChannelFlag, Flags, Switch};
use crate::streams;
use crate::surroundings::{self, Surroundings};
use selfsmith_agent::approve::Rules;
use selfsmith_agent::config::{self, ConfigError, Doubt, Flag, Loaded, Sources, Standing, Trust};
use selfsmith_agent::ending::Ending;
use selfsmith_agent::prompt::project::{self, Voice};
use selfsmith_agent::query::client::ConnectionError;
use selfsmith_agent::query::tape::OnDrift;
use selfsmith_agent::session::check::{Check, Finds};
use selfsmith_agent::texts::{Texts, fill};
use selfsmith_agent::tool::compiler::CheckEdits;
use selfsmith_agent::wire::{self, Around, Cassette, Choices, WireError};
use std::path::PathBuf;

/// Everything that a session is made of, but who watches it.
pub struct Opened {
    /// What settings decide.
    pub choices: Choices,
    /// What was found around.
    pub around: Around,
    /// What is done with the model's traffic.
    pub cassette: Cassette,
    /// The settings as they were read.
    pub loaded: Loaded,
    /// The project, and what the person trusts of it.
    pub trust: Trust,
}

impl Opened {
    /// What a person should know before the work begins.
    pub fn notices(&self, texts: &Texts) -> Vec<String> {
        let mut notices = self.loaded.notices(texts);
        let notes = &self.around.told.notes;
        let because = |file: &str, doubt: Option<Doubt>| match doubt {
            Some(doubt) => fill(texts.trust.because, &[("file", file), ("why", doubt.told(texts))]),
            None => file.to_owned(),
        };
        let quoted: Vec<String> = notes
            .iter()
            .filter(|notes| notes.voice == Voice::Quoted)
            .map(|notes| because(&notes.path, self.trust.doubt_of(&notes.path)))
            .collect();
        if !quoted.is_empty() {
            notices.push(fill(texts.trust.untrusted_notes, &[("files", &quoted.join(", "))]));
        }
        let commands = self.trust.untrusted().into_iter().filter(|name| name.contains(".selfsmith/commands/"));
        let commands: Vec<String> = commands.map(|name| because(name, self.trust.doubt_of(name))).collect();
        if !commands.is_empty() {
            notices.push(fill(texts.trust.untrusted_commands, &[("files", &commands.join(", "))]));
        }
        for cut in notes.iter().filter(|notes| notes.left_out > 0) {
            notices.push(fill(texts.notes_cut, &[("file", &cut.path), ("bytes", &cut.left_out.to_string())]));
        }
        notices
    }
}

/// Why the work cannot begin.
pub struct Refusal {
    /// How the program ends.
    pub ending: Ending,
    /// What to tell the person.
    pub text: String,
}

/// Read settings and put everything in its place.
pub fn open(flags: &Flags, surroundings: &Surroundings) -> Result<Opened, Refusal> {
    let texts = surroundings.texts;
    let sources = sources(flags, surroundings);
    let loaded = config::load(&sources).map_err(|error| refusal(&error, surroundings))?;
    let config = &loaded.config;
    let root = match &config.folders.project_root {
        None => surroundings.folder.clone(),
        Some(root) => surroundings::folder(&surroundings.folder.join(root)).map_err(|error| Refusal {
            ending: Ending::Config,
            text: could_not(surroundings, &format!("open {}: {error}", root.display()), texts.hint_root),
        })?,
    };
    let mut choices = Choices {
        model: config.model.clone(),
        growth: config.growth,
        turn: config.turn.clone(),
        memory: config.memory.clone(),
        mode: config.tools.approval,
        rules: Rules::new(&config.tools.rules).map_err(|error| Refusal {
            ending: Ending::Config,
            text: could_not(surroundings, &error.to_string(), ""),
        })?,
        hooks: config.hooks.clone(),
        bash: config.tools.bash.clone(),
        fetch: config.tools.fetch.clone(),
        check_edits: config.tools.check_edits,
        snapshots: config.snapshots.clone(),
        check: Check { settings: config.checks.clone(), finds: Finds::No },
        snapshots_root: surroundings.snapshots(),
        sessions: config.folders.logs_root.clone().or_else(|| surroundings.sessions()),
    };
    let cassette = cassette(flags).map_err(|text| Refusal { ending: Ending::Usage, text })?;
    let mut around = surroundings.around(&root);
    let trust = if root == surroundings.folder { sources.trust } else { surroundings.ledger().look(&root) };
    if trust.standing() == Standing::Trusted {
        choices.check.finds = Finds::Yes;
    } else {
        choices.check_edits = CheckEdits::Off;
    }
    around.told.notes = project::read(&trust.project.root, &root, &|path, bytes| trust.covers(path, bytes));
    Ok(Opened { choices, around, cassette, loaded, trust })
}

/// The layers of settings.
pub fn sources(flags: &Flags, surroundings: &Surroundings) -> Sources {
    Sources {
        flags: settings(flags),
        environment: surroundings.environment.clone(),
        start: surroundings.folder.clone(),
        user: config::user_file(&surroundings.environment),
        shipped: surroundings.shipped(),
        trust: surroundings.ledger().look(&surroundings.folder),
    }
}

/// Tell it, and how the program ends.
pub fn refused(refusal: &Refusal, surroundings: &Surroundings) -> Ending {
    let told = fill(surroundings.texts.problem, &[("text", &refusal.text)]);
    streams::tell(&wire::redactor(&surroundings.environment).text(&told));
    refusal.ending
}

/// What a settings error means for the program.
pub fn refusal(error: &ConfigError, surroundings: &Surroundings) -> Refusal {
    Refusal { ending: Ending::Config, text: could_not(surroundings, &chain(error), &error.hint()) }
}

/// What a composition error means for the program.
pub fn wire_refusal(error: &WireError, surroundings: &Surroundings) -> Refusal {
    Refusal { ending: error.ending(), text: could_not(surroundings, &chain(error), &hint(error, surroundings)) }
}

/// What to do about a composition error; where no model is set up, that questions would do it too.
pub fn hint(error: &WireError, surroundings: &Surroundings) -> String {
    let own = error.hint();
    if is_unset(error) { format!("{own}; {}", surroundings.texts.setup.start) } else { own }
}

/// Whether it is not told where the model is, which one, or by which key.
pub fn is_unset(error: &WireError) -> bool {
    use ConnectionError::{MissingKey, NoBaseUrl, NoModel};
    matches!(error, WireError::Connection(NoBaseUrl | NoModel | MissingKey { .. }))
}

fn could_not(surroundings: &Surroundings, what: &str, hint: &str) -> String {
    fill(surroundings.texts.could_not, &[("what", what), ("hint", hint)])
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        // A transparent error repeats its cause's words.
        if !text.ends_with(&words) {
            text.push_str(&format!(": {words}"));
        }
        cause = inner.source();
    }
    text
}

fn settings(flags: &Flags) -> Vec<Flag> {
    let channel = flags.channel.map(|channel| match channel {
        ChannelFlag::Text => "text",
        ChannelFlag::Native => "native",
    });
    let approval = flags.approval.map(|approval| match approval {
        ApprovalFlag::Ask => "ask",
        ApprovalFlag::AutoEdit => "auto-edit",
        ApprovalFlag::Auto => "auto",
        ApprovalFlag::ReadOnly => "read-only",
    });
    let switch = |flag: Option<Switch>| flag.map(|flag| if flag == Switch::On { "true" } else { "false" });
    let max_turns = flags.max_turns.map(|n| n.to_string());
    let max_tokens = flags.max_tokens_total.map(|n| n.to_string());
    let max_cost = flags.max_cost.map(|n| n.to_string());
    let max_time = flags.max_time.map(|n| n.to_string());
    let rows = [
        ("--model", "model.name", flags.model.as_deref()),
        ("--base-url", "model.base_url", flags.base_url.as_deref()),
        ("--provider", "model.provider", flags.provider.as_deref()),
        ("--channel", "model.channel", channel),
        ("--approval", "tools.approval", approval),
        ("--sandbox", "tools.bash.sandbox", switch(flags.sandbox)),
        ("--max-turns", "model_chat.max_turns", max_turns.as_deref()),
        ("--max-tokens-total", "limits.tokens", max_tokens.as_deref()),
        ("--max-cost", "limits.cost_usd", max_cost.as_deref()),
        ("--max-time", "limits.time_s", max_time.as_deref()),
        ("--snapshots", "snapshots.enabled", switch(flags.snapshots)),
    ];
    let set = |(name, key, value): (&'static str, &'static str, Option<&str>)| {
        Some(Flag { name, key, value: value?.to_owned() })
    };
    rows.into_iter().filter_map(set).collect()
}

fn cassette(flags: &Flags) -> Result<Cassette, String> {
    let drift = if flags.strict { OnDrift::End } else { OnDrift::Tell };
    if flags.strict && flags.cassette.first().is_none_or(|what| what != "replay") {
        return Err(
            "could not use --strict: there is nothing to compare with but after `--cassette replay FILE`".to_owned()
        );
    }
    match flags.cassette.as_slice() {
        [] => Ok(Cassette::Off),
        [what, path] if what == "record" => Ok(Cassette::Record(PathBuf::from(path))),
        [what, path] if what == "replay" => Ok(Cassette::Replay { path: PathBuf::from(path), drift }),
        [what, ..] => Err(format!("could not use --cassette {what}: it takes `record FILE` or `replay FILE`")),
    }
}
