//! The table of proposers: what may stand after `--proposer`.

use crate::proposer::agent::{Agent, AgentProgram};
use crate::proposer::command::{Command, Outside};
use crate::proposer::fix::Fix;
use crate::proposer::room::Kit;
use crate::proposer::tune::Tune;
use crate::proposer::{Proposer, ProposerError, replay};
use crate::relay::{Source, Upstream};
use std::path::PathBuf;

/// A proposer as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spec {
    /// `agent`.
    Agent,
    /// `cmd:ARGV`.
    Command(String),
    /// `fix`.
    Fix,
    /// `replay:FILE`.
    Replay(PathBuf),
    /// `tune`.
    Tune,
}

/// What the proposers are made from.
pub struct Makings {
    /// The agent.
    pub agent: Option<AgentProgram>,
    /// The model, where one is set.
    pub upstream: Option<Upstream>,
    /// The agent's tool channel, where one is set.
    pub channel: Option<&'static str>,
    /// Where words of commands are looked up.
    pub outside: Outside,
    /// The proposer `fix` for this base, where it is meant.
    pub fix: Option<Fix>,
    /// The room's common part.
    pub kit: Kit,
}

impl Spec {
    /// Read what was typed.
    pub fn parse(typed: &str) -> Result<Self, ProposerError> {
        let (name, rest) = typed.split_once(':').unwrap_or((typed, ""));
        match (name, rest) {
            ("agent", "") => Ok(Self::Agent),
            ("fix", "") => Ok(Self::Fix),
            ("tune", "") => Ok(Self::Tune),
            ("replay", file) if !file.is_empty() => Ok(Self::Replay(PathBuf::from(file))),
            ("cmd", line) if !line.trim().is_empty() => Ok(Self::Command(line.to_owned())),
            _ => Err(ProposerError {
                what: format!("`{typed}` is no proposer"),
                hint: "known are agent, fix, tune, replay:FILE and cmd:COMMAND".to_owned(),
            }),
        }
    }

    /// Whether it runs the agent.
    pub const fn needs_agent(&self) -> bool {
        matches!(self, Self::Agent | Self::Replay(_))
    }
}

/// Make the proposer.
pub fn open(spec: &Spec, makings: Makings) -> Result<Box<dyn Proposer>, ProposerError> {
    let agent = |agent: Option<AgentProgram>| {
        agent.ok_or_else(|| ProposerError {
            what: "there is no agent to run".to_owned(),
            hint: "`selfsmith doctor` says where it is looked for".to_owned(),
        })
    };
    match spec {
        Spec::Agent => {
            let upstream = makings.upstream.ok_or_else(|| ProposerError {
                what: "no model is set for the relay".to_owned(),
                hint: "set model.base_url, model.name and model.api_key_env in the judge's settings".to_owned(),
            })?;
            let source = Source::Live(upstream);
            Ok(Box::new(Agent::new("agent", agent(makings.agent)?, makings.channel, source, makings.kit)?))
        }
        Spec::Replay(file) => {
            let file = makings.outside.cwd.join(file);
            Ok(Box::new(replay::open(&file, agent(makings.agent)?, makings.kit)?))
        }
        Spec::Tune => Ok(Box::new(Tune)),
        Spec::Command(line) => Ok(Box::new(Command::new(line, makings.outside, makings.kit)?)),
        Spec::Fix => match makings.fix {
            Some(fix) => Ok(Box::new(fix)),
            None => Err(ProposerError {
                what: "`fix` needs the base's files, and was not given them".to_owned(),
                hint: "use another proposer".to_owned(),
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_and_others_are_named_in_the_error() {
        assert_eq!(Spec::parse("agent").expect("known"), Spec::Agent);
        assert_eq!(Spec::parse("replay:a:b.jsonl").expect("known"), Spec::Replay("a:b.jsonl".into()));
        assert_eq!(Spec::parse("cmd:sh -c 'a:b'").expect("known"), Spec::Command("sh -c 'a:b'".to_owned()));
        for wrong in ["", "agents", "agent:x", "replay:", "cmd: "] {
            assert!(Spec::parse(wrong).is_err(), "{wrong}");
        }
    }
}
