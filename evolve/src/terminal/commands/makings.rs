//! What proposers are made from: the agent, the model of the settings, the common part of the room.

use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use selfsmith::launcher;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::settings::{Channel, Settings};
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::proposer::agent::AgentProgram;
use selfsmith::proposer::command::Outside;
use selfsmith::proposer::room::Kit;
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
    let agent = if spec.needs_agent() {
        let agent = super::agent_ready(around)?;
        let generation = agent.generation().to_owned();
        Some(AgentProgram { program: agent.program, home: agent.home, generation })
    } else {
        None
    };
    let upstream = if *spec == Spec::Agent { Some(upstream(&place.settings, wishes, around)?) } else { None };
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
fn kit(place: &Place, wishes: &Wishes, cancel: &Cancel, around: &Surroundings) -> Kit {
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
        kit.set.push(("CARGO_TARGET_DIR".to_owned(), "/tmp/target".into()));
        kit.set.push(("CARGO_NET_OFFLINE".to_owned(), "true".into()));
    }
    kit
}

fn upstream(settings: &Settings, wishes: &Wishes, around: &Surroundings) -> Result<Upstream, Stop> {
    let missing = |what: &str| {
        let hint = "write model.base_url, model.name and model.api_key_env into the judge's settings";
        Stop::could_not(Exit::Settings, &format!("reach a model: {what}"), hint)
    };
    let model = &settings.model;
    let base_url = model.base_url.clone().ok_or_else(|| missing("no model.base_url is set"))?;
    let name = wishes.model.clone().or_else(|| model.name.clone()).ok_or_else(|| missing("no model.name is set"))?;
    let key = match &model.api_key_env {
        Some(variable) => match around.text(variable) {
            Some(key) => Some(key.to_owned()),
            None => return Err(missing(&fill(EN.no_key, &[("name", variable)]))),
        },
        None => None,
    };
    let record = wishes.record.as_deref().map(|file: &Path| around.absolute(file));
    Ok(Upstream { base_url, key, model: name, record })
}
