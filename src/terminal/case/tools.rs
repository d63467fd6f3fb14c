//! The file tools for the shells of cases: called by name, their failures in the words of the cases.

use selfsmith_agent::message::Outcome;
use selfsmith_agent::tool::files::Files;
use selfsmith_agent::tool::paths::Letters;
use selfsmith_agent::tool::{self, Answer, Surroundings, Tool};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The tools of one session.
pub struct Desk {
    tools: Vec<Box<dyn Tool>>,
}

impl Desk {
    /// In this workspace.
    pub fn at(root: &str) -> Self {
        Self::on_disk(root, Letters::Told)
    }

    /// The same on a disk of this kind.
    pub fn on_disk(root: &str, letters: Letters) -> Self {
        let surroundings = Surroundings { root: PathBuf::from(root), ..Surroundings::default() };
        let files = Files::on_disk(&surroundings, letters);
        Self { tools: tool::table_with(&surroundings, &files) }
    }

    /// One call.
    pub fn call(&self, name: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let tool =
            self.tools.iter().find(|tool| tool.name() == name).ok_or_else(|| format!("there is no tool {name}"))?;
        Ok(futures::executor::block_on(tool.call(arguments)))
    }
}

/// What a failed call reports; empty for one that was done.
pub fn failure(answer: &Answer) -> Map<String, Value> {
    let mut got = Map::new();
    if answer.outcome == Outcome::Done {
        return got;
    }
    got.insert("message".to_owned(), json!(answer.text));
    for name in ["error", "count", "failed_index", "hint"] {
        if let Some(value) = answer.detail.get(name) {
            got.insert(name.to_owned(), value.clone());
        }
    }
    got
}
