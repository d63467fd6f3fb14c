//! What is done where the work goes in circles: the model is told, a person is asked, then it ends.

use super::Session;
use crate::frontend::Decision;
use crate::message::{ToolCall, ToolResult};
use crate::query::Reply;
use crate::turn::{Progress, Step};
use tokio_util::sync::CancellationToken;

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moves {
    /// The work moves.
    On,
    /// The model is to be told of this call.
    Told(String),
    /// It ends.
    Not,
}

impl Session {
    /// Look at what the calls of a reply came to. `workspace` tells states of the files apart, as they were before.
    pub(super) async fn moves(
        &self,
        progress: &mut Progress,
        reply: &Reply,
        results: &[ToolResult],
        workspace: u64,
        cancel: &CancellationToken,
    ) -> Moves {
        let mut moves = Moves::On;
        // The same twice in one reply is once: the model had no result to learn from.
        let mut seen: Vec<(&str, Option<&serde_json::Map<String, serde_json::Value>>)> = Vec::new();
        for result in results {
            let call = reply.calls.iter().find(|call| call.id == result.id);
            let same = (result.name.as_str(), call.map(|call| &call.arguments));
            if seen.contains(&same) {
                continue;
            }
            seen.push(same);
            match progress.see(call, result, workspace) {
                Step::On => {}
                Step::Nudge => moves = Moves::Told(result.name.clone()),
                Step::Ask => match self.go_on(&result.name, call, cancel).await {
                    Decision::Allow => progress.forget(),
                    Decision::Deny { .. } => return Moves::Not,
                    Decision::Nobody => moves = Moves::Told(result.name.clone()),
                },
                Step::Stop => return Moves::Not,
            }
        }
        moves
    }

    /// A person who interrupts meanwhile has answered in another way.
    async fn go_on(&self, name: &str, call: Option<&ToolCall>, cancel: &CancellationToken) -> Decision {
        let asked = self.parts.frontend.go_on(name, call);
        cancel.run_until_cancelled(asked).await.unwrap_or(Decision::Nobody)
    }

    /// Tells states of the workspace apart.
    pub(super) async fn workspace(&self, changes: usize) -> u64 {
        match self.parts.snapshots.clone() {
            // It may have to wait until the last turn was looked at.
            Some(keeper) => tokio::task::spawn_blocking(move || keeper.digest()).await.unwrap_or(0),
            None => changes as u64,
        }
    }
}
