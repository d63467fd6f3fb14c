//! The snapshot before a call that may change something, and what a person is told of it.

use super::run::Hands;
use crate::event::EventKind;
use crate::message::ToolCall;
use crate::snapshot::{Outside, Reach, Rel, Remark};
use crate::texts::{Texts, fill};
use crate::tool::Tool;

/// Paths that one remark names.
const NAMED: usize = 5;

/// Keeps what a call may change, where snapshots are kept; done before it runs.
pub(super) async fn keep(hands: &Hands<'_>, tool: &dyn Tool, call: &ToolCall) {
    let (Some(keeper), Some(reach)) = (hands.snapshots, tool.reach(&call.arguments)) else { return };
    // What a hook does nobody knows.
    let reach = if hands.hooks.any(&call.name) { Reach::Everything } else { reach };
    let keeper = keeper.clone();
    let remarks = tokio::task::spawn_blocking(move || keeper.before(&reach)).await;
    let remarks = remarks.unwrap_or_else(|error| vec![Remark::None(error.to_string())]);
    for text in remarks.iter().filter_map(|remark| told(hands.texts, remark)) {
        (hands.emit)(EventKind::Notice { text });
    }
}

/// A remark in words; none where it is of no interest.
fn told(texts: &Texts, remark: &Remark) -> Option<String> {
    Some(match remark {
        Remark::None(why) => fill(texts.no_snapshot, &[("why", why)]),
        Remark::TooMany(limit) => fill(texts.too_many_for_snapshots, &[("limit", &limit.to_string())]),
        Remark::NotKept(list) => {
            // Git's own folder is in every repository, and git's own ways lead back in it.
            let shown: Vec<&(Rel, Outside, u64)> = list.iter().filter(|(_, why, _)| *why != Outside::Git).collect();
            shown.first()?;
            let names = shown.iter().take(NAMED).map(|(path, why, size)| named(texts, path, *why, *size));
            let mut names: Vec<String> = names.collect();
            if shown.len() > NAMED {
                names.push(fill(texts.and_more, &[("count", &(shown.len() - NAMED).to_string())]));
            }
            fill(texts.not_in_snapshot, &[("what", &names.join(", "))])
        }
    })
}

fn named(texts: &Texts, path: &Rel, why: Outside, size: u64) -> String {
    let mebibytes = format!("{:.1}", size as f64 / f64::from(1 << 20));
    let sized = matches!(why, Outside::TooLarge | Outside::OverTotal);
    let size = if sized { fill(texts.mebibytes, &[("size", &mebibytes)]) } else { String::new() };
    format!("{path} ({}{size})", why.told(texts))
}
