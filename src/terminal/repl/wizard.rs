//! The first run: which provider, which key, which model, and one call to see that they work together. What was answered
//! is written to the user's settings, the key to a file of its own.

use super::Desk;
use super::dialog::{Choice, Question, Reply, Words};
use crate::clean::one_line;
use crate::keys;
use crate::surroundings::Surroundings;
use futures::future::Either;
use selfsmith_agent::config;
use selfsmith_agent::message::{Message, Role};
use selfsmith_agent::query::Request;
use selfsmith_agent::query::endpoint::Endpoint;
use selfsmith_agent::query::http::models::NoList;
use selfsmith_agent::query::quirks::{PRESETS, Preset};
use selfsmith_agent::texts::{Texts, fill};
use selfsmith_agent::wire::{self, Around, Choices};
use std::path::PathBuf;
use std::time::Duration;

/// What the test call says.
const TEST: &str = include_str!("../../../prompts/commands/test.md");

/// How long a server may take to list its models.
const LISTING: Duration = Duration::from_secs(10);

/// What the first run works with.
pub struct Setup<'a> {
    /// The language.
    pub texts: &'static Texts,
    /// What was found around.
    pub surroundings: &'a Surroundings,
    /// What is said first.
    pub welcome: &'static str,
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
    desk.screen.say(setup.welcome);
    let mut before = None;
    loop {
        let Some(answers) = asked(desk, setup, before.as_ref()) else { return false };
        desk.screen.say(&fill(texts.setup.trying, &[("url", &answers.base_url), ("model", &answers.model)]));
        match tried(desk, setup, &answers) {
            Ok(()) => desk.screen.say(texts.setup.works),
            Err(why) => {
                desk.screen.say(&why);
                match then(desk, texts) {
                    Then::Again => {
                        before = Some(answers);
                        continue;
                    }
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

/// What was answered before stands there to be mended, but for the key, which nobody sees.
fn asked(desk: &Desk<'_>, setup: &mut Setup<'_>, before: Option<&Answers>) -> Option<Answers> {
    let texts = setup.texts;
    let about = |preset: &Preset| {
        if preset.base_url.is_empty() { texts.setup.other.to_owned() } else { preset.base_url.to_owned() }
    };
    let choices = PRESETS.iter().map(|preset| Choice::new(preset.name, about(preset))).collect();
    let known = before.and_then(|before| PRESETS.iter().position(|preset| preset.name == before.preset.name));
    let question = Question { chosen: known.or(Some(0)), ..Question::pick(texts.setup.provider, choices) };
    let Reply::Chosen(n) = desk.ask(question) else { return None };
    let preset = PRESETS.get(n)?;
    let before = before.filter(|_| known == Some(n));
    let mut given = before.map(|before| before.base_url.clone());
    let base_url = address(desk, texts, preset, given.as_deref().unwrap_or(preset.base_url))?;
    let key = key(desk, setup, preset, &base_url)?;
    if let Some((variable, key)) = &key {
        setup.around.environment.insert(variable.clone(), key.clone());
    }
    let model_before = before.map(|before| before.model.clone()).unwrap_or_default();
    let mut answers = Answers { preset, base_url, key, model: model_before };
    loop {
        let insists = given.as_ref() == Some(&answers.base_url) || is_fixed(preset);
        match model(desk, setup, &answers, insists)? {
            Named::Model(name) => return Some(Answers { model: name, ..answers }),
            Named::Nobody => {
                given = Some(answers.base_url.clone());
                answers.base_url = address(desk, texts, preset, &answers.base_url)?;
            }
        }
    }
}

/// Whether the provider has one address, which nobody types.
fn is_fixed(preset: &Preset) -> bool {
    !preset.base_url.is_empty() && !Endpoint::parse(preset.base_url).is_ok_and(|endpoint| endpoint.is_loopback())
}

/// What came of asking for the model.
enum Named {
    Model(String),
    /// There is no server at the address.
    Nobody,
}

/// Where the server is: a provider's own address, or one that is typed. What is no address is told, and stays to be mended.
fn address(desk: &Desk<'_>, texts: &'static Texts, preset: &Preset, before: &str) -> Option<String> {
    if is_fixed(preset) {
        return Some(preset.base_url.to_owned());
    }
    let title = if !preset.base_url.is_empty() {
        fill(texts.setup.address, &[("name", preset.name)])
    } else {
        texts.setup.url.to_owned()
    };
    let mut draft = before.to_owned();
    loop {
        let question = Question { draft, ..Question::line(title.as_str(), Words::Answer) };
        let Reply::Said(said) = desk.ask(question) else { return None };
        let said = said.trim().to_owned();
        match Endpoint::parse(&said) {
            Ok(_) => return Some(said),
            Err(error) if !said.is_empty() => {
                let text = fill(texts.setup.no_url, &[("url", &one_line(&said, 60)), ("why", error.why())]);
                desk.screen.say(&text);
            }
            Err(_) => {}
        }
        draft = with_scheme(&said).unwrap_or(said);
    }
}

/// An address that only lacks its beginning, with it.
fn with_scheme(said: &str) -> Option<String> {
    let with = |scheme: &str| Some(format!("{scheme}{said}")).filter(|_| !said.is_empty() && !said.contains("://"));
    let plain = with("http://").filter(|url| Endpoint::parse(url).is_ok_and(|endpoint| endpoint.is_local()));
    plain.or_else(|| with("https://").filter(|url| Endpoint::parse(url).is_ok()))
}

/// The model's name: picked where the server lists its models, else typed. `insists`: the address was given before, or cannot be
/// another one.
fn model(desk: &Desk<'_>, setup: &Setup<'_>, answers: &Answers, insists: bool) -> Option<Named> {
    let texts = setup.texts;
    let settings = with(setup, answers).model;
    desk.screen.say(&fill(texts.setup.listing, &[("url", &answers.base_url)]));
    let cancel = desk.interrupt.renew();
    let (listed, _) = desk.work(cancel.run_until_cancelled(wire::models(&settings, &setup.around, LISTING)));
    let names = match listed {
        Some(Ok(names)) => names,
        Some(Err(NoList { why, reached })) => {
            let nobody = !reached && !insists;
            let text = if nobody { texts.setup.nobody } else { texts.setup.no_list };
            let text = fill(text, &[("url", &answers.base_url), ("why", &why)]);
            desk.screen.say(&wire::redactor(&setup.around.environment).text(&text));
            if nobody {
                return Some(Named::Nobody);
            }
            Vec::new()
        }
        None => Vec::new(),
    };
    if names.is_empty() {
        return line(desk, texts.setup.model, &answers.model).map(Named::Model);
    }
    loop {
        let choices = names.iter().map(|name| Choice::new(name.as_str(), "")).collect();
        match desk.ask(Question::pick_or_say(texts.setup.which_model, choices)) {
            Reply::Chosen(n) => return names.into_iter().nth(n).map(Named::Model),
            Reply::Said(name) if name.trim().is_empty() => {}
            Reply::Said(name) => return Some(Named::Model(name.trim().to_owned())),
            Reply::Cancelled => return None,
        }
    }
}

/// The settings with what was answered so far.
fn with(setup: &Setup<'_>, answers: &Answers) -> Choices {
    let mut choices = setup.choices.clone();
    choices.model.provider = Some(answers.preset.name.to_owned());
    choices.model.base_url = Some(answers.base_url.clone());
    choices.model.name = Some(answers.model.clone());
    // A person waits: one try tells enough.
    choices.model.retry.max_tries = 1;
    choices
}

/// A line that says something.
fn line(desk: &Desk<'_>, title: &str, draft: &str) -> Option<String> {
    loop {
        match desk.ask(Question { draft: draft.to_owned(), ..Question::line(title, Words::Answer) }) {
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
fn tried(desk: &Desk<'_>, setup: &Setup<'_>, answers: &Answers) -> Result<(), String> {
    let texts = setup.texts;
    let choices = with(setup, answers);
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
    if answers.preset.base_url != answers.base_url {
        config::set(&path, "model.base_url", &answers.base_url).map_err(failed)?;
    } else if setup.choices.model.base_url.is_some() {
        // What was set before would win over the provider's own.
        config::set(&path, "model.base_url", "null").map_err(failed)?;
    }
    config::set(&path, "model.name", &answers.model).map_err(failed)?;
    if let (Some((variable, key)), Some(file)) = (&answers.key, keys::path(environment)) {
        keys::keep(&file, variable, key).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(path)
}
