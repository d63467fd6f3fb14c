//! The first run: which provider, which key, which model, and one call to see that they work together. What was answered
//! is written to the user's settings, the key to a file of its own.

use super::Desk;
use super::dialog::{Choice, Question, Reply, Words};
use crate::keys;
use crate::surroundings::Surroundings;
use futures::future::Either;
use selfsmith_agent::config;
use selfsmith_agent::message::{Message, Role};
use selfsmith_agent::query::Request;
use selfsmith_agent::query::endpoint::Endpoint;
use selfsmith_agent::query::quirks::{PRESETS, Preset};
use selfsmith_agent::texts::{Texts, fill};
use selfsmith_agent::wire::{self, Around, Choices};
use std::path::PathBuf;

/// What the test call says.
const TEST: &str = include_str!("../../../prompts/commands/test.md");

/// What the first run works with.
pub struct Setup<'a> {
    /// The language.
    pub texts: &'static Texts,
    /// What was found around.
    pub surroundings: &'a Surroundings,
    /// What settings decide so far.
    pub choices: Choices,
    /// What the library is told of the surroundings.
    pub around: Around,
}

/// What was answered.
struct Answers {
    preset: &'static Preset,
    base_url: String,
    key: Option<(String, String)>,
    model: String,
}

/// What is done with answers that did not work.
enum Then {
    Again,
    Keep,
    Leave,
}

/// Ask everything, try it, write it down. Whether there is something to go on with.
pub fn first_run(desk: &Desk<'_>, setup: &mut Setup<'_>) -> bool {
    let texts = setup.texts;
    desk.screen.say(texts.setup.welcome);
    loop {
        let Some(answers) = asked(desk, setup) else { return false };
        desk.screen.say(&fill(texts.setup.trying, &[("url", &answers.base_url), ("model", &answers.model)]));
        match tried(desk, setup, &answers) {
            Ok(()) => desk.screen.say(texts.setup.works),
            Err(why) => {
                desk.screen.say(&why);
                match then(desk, texts) {
                    Then::Again => continue,
                    Then::Leave => return false,
                    Then::Keep => {}
                }
            }
        }
        match written(setup, &answers) {
            Ok(file) => desk.screen.say(&fill(texts.setup.written, &[("file", &file.display().to_string())])),
            Err(why) => {
                desk.screen.say(&why);
                return false;
            }
        }
        return true;
    }
}

fn asked(desk: &Desk<'_>, setup: &Setup<'_>) -> Option<Answers> {
    let texts = setup.texts;
    let about = |preset: &Preset| {
        if preset.base_url.is_empty() { texts.setup.other.to_owned() } else { preset.base_url.to_owned() }
    };
    let choices = PRESETS.iter().map(|preset| Choice::new(preset.name, about(preset))).collect();
    let Reply::Chosen(n) = desk.ask(Question::pick(texts.setup.provider, choices)) else { return None };
    let preset = PRESETS.get(n)?;
    let base_url = if preset.base_url.is_empty() { line(desk, texts.setup.url)? } else { preset.base_url.to_owned() };
    let key = key(desk, setup, preset, &base_url)?;
    let model = line(desk, texts.setup.model)?;
    Some(Answers { preset, base_url, key, model })
}

/// A line that says something.
fn line(desk: &Desk<'_>, title: &str) -> Option<String> {
    loop {
        match desk.ask(Question::line(title, Words::Answer)) {
            Reply::Said(text) if text.trim().is_empty() => {}
            Reply::Said(text) => return Some(text.trim().to_owned()),
            Reply::Chosen(_) | Reply::Cancelled => return None,
        }
    }
}

/// The variable and the key; none where a server needs none or the environment has one. Nothing: the person gave up.
fn key(desk: &Desk<'_>, setup: &Setup<'_>, preset: &Preset, base_url: &str) -> Option<Option<(String, String)>> {
    let local = Endpoint::parse(base_url).is_ok_and(|endpoint| endpoint.is_loopback());
    let variable = if preset.key_variable.is_empty() { "SELFSMITH_API_KEY" } else { preset.key_variable };
    let set = |name: &str| setup.surroundings.environment.get(name).is_some_and(|value| !value.trim().is_empty());
    if (local && preset.key_variable.is_empty() && !preset.base_url.is_empty())
        || set(variable)
        || set("SELFSMITH_API_KEY")
    {
        return Some(None);
    }
    let file = keys::path(&setup.surroundings.environment).map(|path| path.display().to_string()).unwrap_or_default();
    let title = fill(setup.texts.setup.key, &[("variable", variable), ("file", &file)]);
    match desk.ask(Question::line(title, Words::Secret)) {
        Reply::Said(key) if key.trim().is_empty() => Some(None),
        Reply::Said(key) => Some(Some((variable.to_owned(), key.trim().to_owned()))),
        Reply::Chosen(_) | Reply::Cancelled => None,
    }
}

/// One call; `Err` says what is wrong.
fn tried(desk: &Desk<'_>, setup: &mut Setup<'_>, answers: &Answers) -> Result<(), String> {
    let texts = setup.texts;
    let mut choices = setup.choices.clone();
    choices.model.provider = Some(answers.preset.name.to_owned());
    choices.model.base_url = Some(answers.base_url.clone());
    choices.model.name = Some(answers.model.clone());
    // A person waits: one try tells enough.
    choices.model.retry.max_tries = 1;
    if let Some((variable, key)) = &answers.key {
        setup.around.environment.insert(variable.clone(), key.clone());
    }
    let told = |what: &str, hint: &str| {
        let text = fill(texts.could_not, &[("what", what), ("hint", hint)]);
        wire::redactor(&setup.around.environment).text(&text).into_owned()
    };
    let (model, _) =
        wire::another_model(&choices, &setup.around, &[]).map_err(|error| told(&error.to_string(), &error.hint()))?;
    let messages = [Message::text(Role::User, TEST.trim())];
    let cancel = desk.interrupt.renew();
    let (reply, _) = desk.work(async {
        let ask = std::pin::pin!(
            model.ask(Request { messages: &messages, tools: &[], model: None, tokens_left: None }, &|_| {})
        );
        let stop = std::pin::pin!(cancel.cancelled());
        match futures::future::select(ask, stop).await {
            Either::Left((reply, _)) => Some(reply.map(|_| ())),
            Either::Right(_) => None,
        }
    });
    match reply {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) => Err(told(&error.to_string(), error.hint())),
        None => Err(texts.stopped.to_owned()),
    }
}

fn then(desk: &Desk<'_>, texts: &'static Texts) -> Then {
    let choices = [texts.setup.again, texts.setup.keep, texts.setup.leave].map(|name| Choice::new(name, "")).to_vec();
    match desk.ask(Question::pick(texts.setup.failed, choices)) {
        Reply::Chosen(0) => Then::Again,
        Reply::Chosen(1) => Then::Keep,
        Reply::Chosen(_) | Reply::Said(_) | Reply::Cancelled => Then::Leave,
    }
}

/// The settings' file.
fn written(setup: &Setup<'_>, answers: &Answers) -> Result<PathBuf, String> {
    let texts = setup.texts;
    let environment = &setup.surroundings.environment;
    let path = config::user_file(environment).ok_or_else(|| texts.no_settings_folder.to_owned())?;
    let failed =
        |error: config::ConfigError| fill(texts.could_not, &[("what", &error.to_string()), ("hint", &error.hint())]);
    config::write_template(&path).map_err(failed)?;
    config::set(&path, "model.provider", answers.preset.name).map_err(failed)?;
    if answers.preset.base_url.is_empty() {
        config::set(&path, "model.base_url", &answers.base_url).map_err(failed)?;
    }
    config::set(&path, "model.name", &answers.model).map_err(failed)?;
    if let (Some((variable, key)), Some(file)) = (&answers.key, keys::path(environment)) {
        keys::keep(&file, variable, key).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(path)
}
