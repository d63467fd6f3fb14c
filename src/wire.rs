//! Composition: the only place that picks implementations, from settings to a session.
//!
//! It reads no environment and no clock: whoever calls passes both in. Nothing is imported from here but by the program.

mod door;
mod error;
mod given;

pub use error::WireError;
pub use given::{Around, Cassette, Choices, Which};

use crate::approve::{Guard, Mode};
use crate::frontend::{Frontend, Redacted};
use crate::hook::Hooks;
use crate::prompt::{self, PromptError, Prompts, ToolText};
use crate::query::channels::Memory;
use crate::query::client::{Client, ConnectionError};
use crate::query::http::models::NoList;
use crate::query::settings::{ChannelChoice, Growth, Settings as ModelSettings};
use crate::query::tape::Tape;
use crate::query::{Model, ToolSpec, text_channel};
use crate::redact::Redactor;
use crate::session::{self, Crew, Helpers, Log, LogError, MakeCrew, Parts, Session};
use crate::snapshot::Keeper;
use crate::texts::fill;
use crate::tool::{self, Tool};
use selfsmith_cassette::{self as cassette, CassetteError, Header, Normaliser, Player, Recorder};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A model and the system prompt for it.
pub type WithPrompt = (Box<dyn Model>, String);

/// Takes secrets out of whatever is written down: every variable whose name says that it holds one.
pub fn redactor(environment: &BTreeMap<String, String>) -> Redactor {
    let telling = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    let secret = |name: &str| {
        let name = name.to_uppercase();
        telling.iter().any(|part| name.split('_').any(|word| word == *part || word == format!("{part}S")))
    };
    let values = environment.iter().filter(|(name, _)| secret(name)).map(|(_, value)| value.trim().to_owned());
    // A path or a number is no secret, and taking it out of texts would maim them.
    Redactor::new(values.filter(|value| !value.contains('/') && !value.chars().all(|c| c.is_ascii_digit())))
}

/// A session with everything in it.
pub fn session(
    choices: &Choices,
    around: &Around,
    cassette: &Cassette,
    which: Which,
    frontend: Arc<dyn Frontend>,
) -> Result<Session, WireError> {
    let prompts = Prompts::load(around.prompts.clone())?;
    let tools = tool::table(&around.for_tools(choices));
    let specs = specs(&tools, &prompts)?;
    tool::bash::sweep();
    let cut_off = settled(choices.mode, around);
    let redactor = redactor(&around.environment);
    let tape = tape(cassette, choices.model.name.as_deref(), &around.root, redactor.clone())?;
    let model = client(choices, around, tape)?.or_as_text(prompts.system("text", &tool_texts(&specs), &around.told)?);
    let model = if tried_natively(choices, cassette)? { model.as_recorded() } else { model };
    priced(choices, model.name())?;
    let system = system(&prompts, &specs, &model, around)?;
    let folder = choices.sessions.as_deref().map(|sessions| folder(sessions, &around.root));
    let helpers = Helpers {
        crew: crew(around.for_tools(choices), prompts.clone(), around.told.clone()),
        folder: folder.clone(),
        redactor: redactor.clone(),
    };
    let parts = Parts {
        model: Arc::new(model),
        tools,
        specs,
        prompts,
        system,
        settings: choices.turn.clone(),
        memory: choices.memory.clone(),
        mode: choices.mode,
        guard: guard(choices, around),
        hooks: Hooks::new(choices.hooks.clone(), around.root.clone(), around.variables.clone()),
        snapshots: keeper(choices, around),
        check: choices.check.clone(),
        root: around.root.display().to_string(),
        frontend: Arc::new(Redacted::new(frontend, redactor.clone())),
        clock: around.clock.clone(),
        ids: around.ids.clone(),
        helpers: Some(helpers),
        texts: around.texts,
    };
    let session = match which {
        Which::Resumed(ref id) | Which::Forked(ref id) => {
            let found = session::find(&folder.ok_or(WireError::NoFolder)?, id.as_deref())?;
            let path = match which {
                Which::Forked(_) => session::fork(&found, &(around.ids)(), redactor.clone())?,
                Which::Resumed(_) | Which::New => found,
            };
            let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let (log, recorded) = Log::open(&path, redactor)?;
            let restored = session::restore(recorded, &id).map_err(|(line, what)| LogError::Broken {
                path: path.display().to_string(),
                line,
                what,
            })?;
            Session::resume(parts, restored, log)?
        }
        Which::New => {
            let id = (around.ids)();
            // Work is not refused for want of a record; that there is none is said.
            let log = folder.map(|folder| Log::create(&folder, &id, redactor)).transpose();
            let (log, lost) = match log {
                Ok(Some(log)) => (Some(log), None),
                Ok(None) => (None, Some(WireError::NoFolder.to_string())),
                Err(error) => (None, Some(session::chain(&error))),
            };
            let session = Session::start(parts, id, log)?;
            if let Some(why) = lost {
                session.notice(fill(around.texts.record_not_kept, &[("why", &why)]));
            }
            session
        }
    };
    cut_off.into_iter().for_each(|text| session.notice(text));
    Ok(session)
}

/// Takes back edits of several files that a session which was killed did not make whole; where nothing may be changed, they
/// are only told of. What a person is to know.
pub fn settled(mode: Mode, around: &Around) -> Vec<String> {
    let Some(journal) = around.edits.as_deref().map(|edits| folder(edits, &around.root)) else { return Vec::new() };
    match mode {
        Mode::ReadOnly => tool::files::cut_off(&journal, around.texts),
        Mode::Ask | Mode::AutoEdit | Mode::Auto => tool::files::settled(&journal, around.texts),
    }
}

/// The keeper of the workspace's snapshots; none where the settings want none, or there is no place for them.
pub fn keeper(choices: &Choices, around: &Around) -> Option<Keeper> {
    let settings = &choices.snapshots;
    let folder = choices.snapshots_root.as_deref().filter(|_| settings.enabled)?;
    Some(Keeper::new(settings, folder.join(workspace_name(&around.root)), around.root.clone(), around.chance.now))
}

/// Another model for a session, with its system prompt.
pub fn another_model(choices: &Choices, around: &Around, specs: &[ToolSpec]) -> Result<WithPrompt, WireError> {
    let prompts = Prompts::load(around.prompts.clone())?;
    let text = prompts.system("text", &tool_texts(specs), &around.told)?;
    let model = client(choices, around, Tape::Off)?.or_as_text(text);
    priced(choices, model.name())?;
    let system = system(&prompts, specs, &model, around)?;
    Ok((Box::new(model), system))
}

/// Money can be limited where it is known what a model costs.
fn priced(choices: &Choices, model: &str) -> Result<(), WireError> {
    let unknown = |_: &f64| !choices.model.prices.contains_key(model);
    match choices.turn.limits.cost_usd.filter(unknown) {
        Some(limit) => Err(WireError::NoPrice { limit, model: model.to_owned() }),
        None => Ok(()),
    }
}

/// What holds from the next turn on with these settings.
pub fn anew(choices: &Choices, around: &Around) -> Result<session::Anew, WireError> {
    Ok(session::Anew {
        settings: choices.turn.clone(),
        memory: choices.memory.clone(),
        guard: guard(choices, around),
        hooks: Hooks::new(choices.hooks.clone(), around.root.clone(), around.variables.clone()),
        check: choices.check.clone(),
        prompts: Prompts::load(around.prompts.clone())?,
    })
}

fn guard(choices: &Choices, around: &Around) -> Guard {
    Guard {
        rules: choices.rules.clone(),
        root: around.root.clone(),
        home: around.environment.get("HOME").map(PathBuf::from),
    }
}

/// Where the model would be asked, and by which name; nothing is asked.
pub fn reach(model: &ModelSettings, growth: Growth, around: &Around) -> Result<String, WireError> {
    let client = Client::new(model.clone(), growth, &around.environment, Tape::Off, around.chance)?;
    Ok(format!("{} at {}", client.name(), client.endpoint()))
}

/// The models that a server lists. No model need be named yet.
///
/// # Errors
/// The settings do not say where to ask, or the server does not tell.
pub async fn models(settings: &ModelSettings, around: &Around, time: Duration) -> Result<Vec<String>, NoList> {
    let settings = ModelSettings { name: Some("-".to_owned()), ..settings.clone() };
    let client = Client::new(settings, Growth::default(), &around.environment, Tape::Off, around.chance);
    client.map_err(|error| NoList::from(error.to_string()))?.models(time).await
}

/// A client to ask which channel a model takes.
pub fn asker(choices: &Choices, around: &Around) -> Result<Client, WireError> {
    Ok(client(choices, around, Tape::Off)?)
}

/// Whether a cassette was recorded while it was being found out which channel the model takes.
fn tried_natively(choices: &Choices, cassette: &Cassette) -> Result<bool, CassetteError> {
    let Cassette::Replay { path, .. } = cassette else { return Ok(false) };
    if choices.model.channel != ChannelChoice::Auto {
        return Ok(false);
    }
    let first = cassette::Tape::read(path)?.entries.into_iter().next().and_then(|entry| entry.request);
    Ok(first.is_some_and(|request| request.get("tools").is_some_and(|tools| !tools.is_null())))
}

/// Check prompts and the texts of tools.
pub fn check_prompts(around: &Around) -> Result<(), WireError> {
    let prompts = Prompts::load(around.prompts.clone())?;
    let tools = tool::table(&tool::Surroundings { root: around.root.clone(), ..tool::Surroundings::default() });
    let specs = specs(&tools, &prompts)?;
    for channel in ["text", "native"] {
        prompts.system(channel, &tool_texts(&specs), &around.told)?;
    }
    Ok(())
}

/// The folder of a workspace's sessions: its name for people, a digest of its path against twins.
pub fn folder(sessions: &Path, root: &Path) -> PathBuf {
    sessions.join(workspace_name(root))
}

fn workspace_name(root: &Path) -> String {
    let name: String = root
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
        .take(40)
        .collect();
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{name}-{short}")
}

fn tape(cassette: &Cassette, model: Option<&str>, root: &Path, redactor: Redactor) -> Result<Tape, CassetteError> {
    let normaliser = || Normaliser::new(vec![(root.display().to_string(), "$ROOT".to_owned())]);
    Ok(match cassette {
        Cassette::Off => Tape::Off,
        Cassette::Record(path) => {
            let header = Header::new(model.map(str::to_owned), None);
            Tape::record(Recorder::create(path, &header, normaliser())?, redactor)
        }
        Cassette::Replay { path, drift } => {
            Tape::replay(Player::new(cassette::Tape::read(path)?, normaliser()), *drift, redactor)
        }
    })
}

fn client(choices: &Choices, around: &Around, tape: Tape) -> Result<Client, ConnectionError> {
    let client = Client::new(choices.model.clone(), choices.growth, &around.environment, tape, around.chance)?;
    Ok(client.remembering(Memory::open(around.channels.clone())))
}

fn specs(tools: &[Box<dyn Tool>], prompts: &Prompts) -> Result<Vec<ToolSpec>, PromptError> {
    tools
        .iter()
        .map(|tool| {
            Ok(ToolSpec {
                name: tool.name(),
                aliases: tool.aliases(),
                description: prompts.tool(tool.name(), tool.prompt())?.trim().to_owned(),
                schema: tool.schema(),
                body: tool.body(),
            })
        })
        .collect()
}

fn system(prompts: &Prompts, specs: &[ToolSpec], model: &Client, around: &Around) -> Result<String, PromptError> {
    prompts.system(session::word(model.channel()), &tool_texts(specs), &around.told)
}

/// What helpers work with: tools of their own, and the same prompts.
fn crew(surroundings: tool::Surroundings, prompts: Prompts, told: prompt::Surroundings) -> MakeCrew {
    Arc::new(move |access, channel| {
        let mut tools = tool::table(&surroundings);
        tools.retain(|tool| access.has(tool.as_ref()));
        let made = specs(&tools, &prompts).and_then(|specs| {
            let system = prompts.system(session::word(channel), &tool_texts(&specs), &told)?;
            Ok((specs, system))
        });
        let (specs, system) = made.map_err(|error| format!("{error}: {}", error.hint()))?;
        Ok(Crew { tools, specs, system })
    })
}

fn tool_texts(specs: &[ToolSpec]) -> Vec<ToolText> {
    let text = |spec: &ToolSpec| ToolText {
        name: spec.name.to_owned(),
        description: spec.description.clone(),
        form: text_channel::form(spec),
        arguments: text_channel::arguments(spec),
    };
    specs.iter().map(text).collect()
}

#[cfg(test)]
mod tests;
