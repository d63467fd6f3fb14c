//! What proposers are made from: the agent, the model of the settings, the common part of the room.

use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use selfsmith::launcher;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::settings::Channel;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::proposer::agent::AgentProgram;
use selfsmith::proposer::command::Outside;
use selfsmith::proposer::room::{self, Kit};
use selfsmith::proposer::table::{Makings, Spec};
use selfsmith::relay::Upstream;
use selfsmith::texts::{EN, fill};
use selfsmith::workshop::deps::{Caller, seen_in_room};
use selfsmith::workshop::toolchain::Toolchain;
use selfsmith_sandbox::Cancel;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the command line says of the model.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Another model than the one in the settings.
    pub model: Option<String>,
    /// A file for the recording.
    pub record: Option<PathBuf>,
    /// Missing walls are accepted.
    pub accept_weaker: bool,
}

/// Gather them. The agent is brought up to date only for proposers that run it.
pub fn gather(
    spec: &Spec,
    place: &Place,
    wishes: &Wishes,
    cancel: &Cancel,
    around: &Surroundings,
) -> Result<Makings, Stop> {
    // What is missing is said before anything is built.
    let upstream = if *spec == Spec::Agent { Some(upstream(place, wishes, around)?) } else { None };
    let agent = if spec.needs_agent() {
        let agent = super::agent_ready(around)?;
        let generation = agent.generation().to_owned();
        Some(AgentProgram { program: agent.program, home: agent.home, generation })
    } else {
        None
    };
    let channel = place.settings.model.channel.map(|channel| match channel {
        Channel::Text => "text",
        Channel::Native => "native",
    });
    let closed = [around.var("HOME").map(PathBuf::from), Some(place.state.root().to_owned()), place.workdir().ok()];
    let outside = Outside {
        cwd: around.cwd.clone(),
        path: around.var("PATH").map(OsString::from),
        closed: closed.into_iter().flatten().collect(),
    };
    Ok(Makings { agent, upstream, channel, outside, fix: None, kit: kit(place, wishes, cancel, around) })
}

/// The common part of the room: limits, and the toolchain where there is one, so that a proposer can compile.
pub fn kit(place: &Place, wishes: &Wishes, cancel: &Cancel, around: &Surroundings) -> Kit {
    let mut kit = Kit {
        caller: around.vars.clone(),
        wall: place.settings.limits.propose(),
        memory: place.settings.limits.propose_memory,
        accept_weaker: wishes.accept_weaker || place.settings.room.accept_weaker,
        cancel: cancel.clone(),
        ..Kit::default()
    };
    let vars = launcher::for_agent(&around.vars);
    // A proposer may do without; what needs a toolchain says so itself.
    if let Ok(toolchain) = Toolchain::find(place.state.root(), &vars, cancel) {
        kit.binds = toolchain.binds();
        kit.packages = seen_in_room(Caller { environment: &vars, workdir: place.repo.workdir().ok() });
        kit.set.push(("PATH".to_owned(), toolchain.path_in_room().into()));
        kit.set.push(("CARGO_TARGET_DIR".to_owned(), room::TARGET.into()));
        kit.set.push(("CARGO_NET_OFFLINE".to_owned(), "true".into()));
    }
    kit
}

/// Variables that only the agent reads: no environment leads the judge's relay elsewhere.
const OF_THE_AGENT: [&str; 3] = ["SELFSMITH_BASE_URL", "SELFSMITH_MODEL", "SELFSMITH_API_KEY"];

fn upstream(place: &Place, wishes: &Wishes, around: &Surroundings) -> Result<Upstream, Stop> {
    let file = place.settings_file.display().to_string();
    let stop = |what: &str, hint: String| Stop::could_not(Exit::Settings, what, hint);
    let model = &place.settings.model;
    let name = wishes.model.clone().or_else(|| model.name.clone());
    let (base_url, name) = match (model.base_url.clone(), name) {
        (Some(base_url), Some(name)) => (base_url, name),
        (base_url, name) => {
            let keys = [("model.base_url", base_url.is_none()), ("model.name", name.is_none())];
            let missing: Vec<&str> = keys.iter().filter(|(_, missing)| *missing).map(|(key, _)| *key).collect();
            let missing = missing.join(EN.and);
            let what = fill(EN.no_model, &[("missing", &missing), ("file", &file)]);
            let mut hint = fill(EN.model_snippet, &[("file", &file)]);
            let set: Vec<&str> = OF_THE_AGENT.into_iter().filter(|name| around.var(name).is_some()).collect();
            if !set.is_empty() {
                hint.push_str(&fill(EN.agents_alone, &[("names", &set.join(EN.and))]));
            }
            return Err(stop(&what, hint));
        }
    };
    let key = match &model.api_key_env {
        Some(variable) => match around.text(variable) {
            Some(key) => Some(key.to_owned()),
            None => {
                let values = [("name", variable.as_str()), ("file", file.as_str())];
                return Err(stop(&fill(EN.no_key, &values), fill(EN.set_key, &values)));
            }
        },
        None => None,
    };
    let record = wishes.record.as_deref().map(|file: &Path| around.absolute(file));
    Ok(Upstream { base_url, key, model: name, record })
}
