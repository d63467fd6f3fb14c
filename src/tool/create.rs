//! `create`: a new file, with the folders above it. A file that holds anything is never overwritten.

use super::files::Files;
use super::paths::Purpose;
use super::{Answer, Effect, Tool, compiler, whole};
use crate::snapshot::Reach;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The tool.
#[derive(Debug, Clone)]
pub struct Create {
    files: Arc<Files>,
}

impl Create {
    /// Sharing what was seen with the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let place = self.files.place(arguments, Purpose::Create)?;
        whole::made(&self.files, &place, whole::content(arguments))
    }
}

impl Tool for Create {
    fn name(&self) -> &'static str {
        "create"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/create.md")
    }

    fn schema(&self) -> Value {
        whole::schema()
    }

    fn body(&self) -> Option<&'static str> {
        Some(whole::CONTENT)
    }

    fn effect(&self) -> Effect {
        Effect::Writes
    }

    fn reach(&self, arguments: &Map<String, Value>) -> Option<Reach> {
        self.files.reach(arguments)
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let answer = self.answer(arguments).unwrap_or_else(|failed| failed);
        Box::pin(compiler::checked(&self.files, answer))
    }
}
