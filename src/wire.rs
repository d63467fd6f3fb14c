//! Composition: the only place that picks implementations, from settings to a session.
//!
//! It reads no environment and no clock: whoever calls passes both in. Nothing is imported from here but by the program.

mod door;

use crate::approve::{Guard, Mode, Rules};
use crate::ending::Ending;
use crate::frontend::{Frontend, Redacted};
use crate::hook::{self, Hooks};
use crate::prompt::{self, PromptError, Prompts, ToolText};
use crate::query::channels::Memory;
use crate::query::client::{self, Client, ConnectionError};
use crate::query::settings::{ChannelChoice, Growth, Settings as ModelSettings};
use crate::query::tape::{OnDrift, Tape};
use crate::query::{Model, ToolSpec, text_channel};
use crate::redact::Redactor;
use crate::session::{self, Clock, Crew, Helpers, Ids, Log, LogError, MakeCrew, Parts, Session};
use crate::snapshot::{self, Keeper};
use crate::texts::{Texts, fill};
use crate::tool::compiler::CheckEdits;
use crate::tool::{self, Tool};
use crate::turn;
use selfsmith_cassette::{self as cassette, CassetteError, Header, Normaliser, Player, Recorder};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What settings decide.
#[derive(Debug, Clone)]
pub struct Choices {
    /// Which model, and how it is reached.
    pub model: ModelSettings,
    /// How replies that are cut off grow.
    pub growth: Growth,
    /// Limits of the loop.
    pub turn: turn::Settings,
    /// How the conversation is compacted.
    pub memory: session::Settings,
    /// What may be done without a question.
    pub mode: Mode,
    /// Rules about commands.
    pub rules: Rules,
    /// What the person has run before and after calls.
    pub hooks: hook::Settings,
    /// How commands run.
    pub bash: tool::bash::Settings,
    /// How pages of the web are fetched.
    pub fetch: tool::fetch_url::Settings,
    /// Whether the compiler is asked after edits.
    pub check_edits: CheckEdits,
    /// How snapshots are kept.
    pub snapshots: snapshot::Settings,
    /// The project's own check of edits.
    pub check: session::check::Check,
    /// Where they are kept; below it a folder for each workspace.
    pub snapshots_root: Option<PathBuf>,
    /// Where sessions are written down; below it a folder for each workspace.
    pub sessions: Option<PathBuf>,
}

/// What is done with the model's traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cassette {
    /// Nothing.
    #[default]
    Off,
    /// It is recorded to a new file.
    Record(PathBuf),
    /// It comes from a file.
    Replay {
        /// The file.
        path: PathBuf,
        /// What a difference means.
        drift: OnDrift,
    },
}

/// What the program found around it.
pub struct Around {
    /// Root of the workspace, links resolved.
    pub root: PathBuf,
    /// Variables of the environment that are text.
    pub environment: BTreeMap<String, String>,
    /// All variables of the environment, as they are.
    pub variables: Vec<(OsString, OsString)>,
    /// Where prompts come from.
    pub prompts: prompt::Source,
    /// What the model is told of the machine.
    pub told: prompt::Surroundings,
    /// Time and chance for the model client.
    pub chance: client::Surroundings,
    /// The time.
    pub clock: Clock,
    /// Fresh ids, ordered by time.
    pub ids: Ids,
    /// The language.
    pub texts: &'static Texts,
    /// Folders beside the root that the person opened.
    pub more: tool::paths::More,
    /// Where sets of edits are written down before they are made; below it a folder for each workspace.
    pub edits: Option<PathBuf>,
    /// Where it is remembered which channel each model takes.
    pub channels: Option<PathBuf>,
}

impl Around {
    fn for_tools(&self, choices: &Choices) -> tool::Surroundings {
        tool::Surroundings {
            root: self.root.clone(),
            environment: self.variables.clone(),
            bash: choices.bash.clone(),
            more: self.more.clone(),
            journal: self.edits.as_deref().map(|folder| self::folder(folder, &self.root)),
            fetch: choices.fetch.clone(),
            door: Some(Arc::new(door::Web(choices.model.clone()))),
            check_edits: choices.check_edits,
        }
    }
}

/// A model and the system prompt for it.
pub type WithPrompt = (Box<dyn Model>, String);

/// Which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// A new one.
    New,
    /// That one, or the workspace's last.
    Resumed(Option<String>),
    /// A copy of that one, or of the workspace's last, which goes its own way.
    Forked(Option<String>),
}

/// Why no session can be made.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A prompt is wrong.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The model cannot be reached with these settings.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The cassette cannot be used.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// The record cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A limit of money without a price.
    #[error("keep the limit of {limit} dollars: no price of {model} is known")]
    NoPrice {
        /// The limit.
        limit: f64,
        /// The model.
        model: String,
    },
    /// There is no place for records.
    #[error("find a folder for sessions")]
    NoFolder,
}

impl WireError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Prompt(error) => error.hint().to_owned(),
            Self::Connection(error) => error.hint(),
            Self::Cassette(error) => error.hint().to_owned(),
            Self::Log(error) => error.hint().to_owned(),
            Self::NoPrice { model, .. } => {
                format!(
                    "write it into the settings, `model: {{prices: {{{model}: {{input: …, output: …}}}}}}`, or leave the limit out"
                )
            }
            Self::NoFolder => "set HOME or XDG_STATE_HOME".to_owned(),
        }
    }

    /// How the program ends over it.
    pub const fn ending(&self) -> Ending {
        match self {
            Self::Prompt(_) | Self::Connection(_) | Self::NoPrice { .. } => Ending::Config,
            Self::Cassette(_) => Ending::Usage,
            Self::Log(LogError::Missing { .. }) => Ending::Usage,
            Self::Log(_) | Self::NoFolder => Ending::Failed,
        }
    }
}

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
    let redactor = redactor(&around.environment);
    let tape = tape(cassette, choices.model.name.as_deref(), &around.root, redactor.clone())?;
    let model = client(choices, around, tape)?.or_as_text(prompts.system("text", &tool_texts(&specs), &around.told)?);
    let model = if tried_natively(choices, cassette)? { model.as_recorded() } else { model };
    if let Some(limit) = choices.turn.limits.cost_usd.filter(|_| !choices.model.prices.contains_key(model.name())) {
        return Err(WireError::NoPrice { limit, model: model.name().to_owned() });
    }
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
    match which {
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
            Ok(Session::resume(parts, restored, log)?)
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
            Ok(session)
        }
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
    let system = system(&prompts, specs, &model, around)?;
    Ok((Box::new(model), system))
}

/// What holds from the next turn on with these settings.
pub fn anew(choices: &Choices, around: &Around) -> Result<session::Anew, WireError> {
    Ok(session::Anew {
        settings: choices.turn.clone(),
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
mod tests {
    use super::*;
    use crate::query::text_channel::{Finish, parse};

    fn all_specs() -> Vec<ToolSpec> {
        let prompts = Prompts::load(prompt::Source::Embedded).expect("the built-in prompts are sound");
        specs(&tool::table(&tool::Surroundings::default()), &prompts).expect("every tool has its text")
    }

    #[test]
    fn every_form_that_the_prompt_shows_is_a_call_that_the_parser_takes() {
        let specs = all_specs();
        assert!(specs.len() >= 5, "{} tools", specs.len());
        for spec in &specs {
            let form = text_channel::form(spec).replace('…', "x");
            let parsed = parse(&form, Finish::Whole, &specs);
            let names: Vec<&str> = parsed.calls.iter().map(|call| call.name.as_str()).collect();
            assert_eq!((names, parsed.refusals.len()), (vec![spec.name], 0), "{form}");
        }
    }

    #[test]
    fn tools_are_sorted_and_their_names_and_aliases_are_unique() {
        let specs = all_specs();
        let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        let mut all: Vec<&str> = specs.iter().flat_map(|spec| [&[spec.name], spec.aliases].concat()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn the_fixed_beginning_of_every_request_stays_small() {
        let prompts = Prompts::load(prompt::Source::Embedded).expect("the built-in prompts are sound");
        let told = prompt::Surroundings {
            os: "Linux".to_owned(),
            shell: "bash".to_owned(),
            root: "/home/me/project".to_owned(),
            date: "2026-11-30".to_owned(),
            notes: Vec::new(),
        };
        let specs = all_specs();
        let size = |channel| prompts.system(channel, &tool_texts(&specs), &told).expect("it renders").len();
        // About four bytes a token: 2,500 tokens, sent with every request.
        let tools = serde_json::to_string(&crate::query::spell::tools(&specs)).expect("it is JSON").len();
        assert!(size("native") + tools < 9_800, "{} and {tools} bytes", size("native"));
        assert!(size("text") < 9_800, "{} bytes", size("text"));
    }

    #[test]
    fn secrets_are_found_by_the_names_of_their_variables() {
        let environment =
            [("OPENAI_API_KEY", "abcdefgh1"), ("MONKEY", "not-a-secret"), ("SSH_KEY_PATH", "/home/me/key")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let redactor = redactor(&environment);
        assert_eq!(redactor.text("abcdefgh1 not-a-secret /home/me/key"), "[redacted] not-a-secret /home/me/key");
    }
}
