//! The snapshot before a call that may change something, and what a person is told of it.

use super::run::Hands;
use crate::event::EventKind;
use crate::message::ToolCall;
use crate::snapshot::{Outside, Reach, Rel, Remark};
use crate::texts::{Texts, fill};
use crate::tool::Tool;

/// Paths that one remark names.
const NAMED: usize = 5;
/// The same of files whose content may be a person's: what is not said here nobody knows before it is gone.
const NAMED_DATA: usize = 200;

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
        Remark::NotKept(list) => fill(texts.not_in_snapshot, &[("what", &listed(texts, list)?)]),
    })
}

/// What is left out: files whose content may be a person's, every one of them, the largest first; then the rest.
fn listed(texts: &Texts, list: &[(Rel, Outside, u64)]) -> Option<String> {
    // Git's own folder is in every repository, and git's own ways lead back in it.
    let mut shown: Vec<&(Rel, Outside, u64)> = list.iter().filter(|(_, why, _)| *why != Outside::Git).collect();
    shown.first()?;
    shown.sort_by(|(path, why, size), (other, its, other_size)| {
        (rank(*why), other_size, path).cmp(&(rank(*its), size, other))
    });
    let data = shown.iter().filter(|(_, why, _)| rank(*why) == 0).count();
    let named_in_all = NAMED.max(data.min(NAMED_DATA));
    let names = shown.iter().take(named_in_all).map(|(path, why, size)| named(texts, path, *why, *size));
    let mut names: Vec<String> = names.collect();
    if shown.len() > named_in_all {
        names.push(fill(texts.and_more, &[("count", &(shown.len() - named_in_all).to_string())]));
    }
    Some(names.join(", "))
}

/// How far a person would miss it, the most first.
const fn rank(why: Outside) -> u8 {
    match why {
        Outside::TooLarge | Outside::OverTotal | Outside::Unreadable => 0,
        Outside::Excluded | Outside::OtherDisk => 1,
        Outside::NoFile => 2,
        Outside::Generated | Outside::Git => 3,
    }
}

fn named(texts: &Texts, path: &Rel, why: Outside, size: u64) -> String {
    let mebibytes = format!("{:.1}", size as f64 / f64::from(1 << 20));
    let sized = matches!(why, Outside::TooLarge | Outside::OverTotal);
    let size = if sized { fill(texts.mebibytes, &[("size", &mebibytes)]) } else { String::new() };
    format!("{path} ({}{size})", why.told(texts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::EN;

    #[test]
    fn files_with_a_content_are_all_named_the_largest_first_and_generated_folders_last() {
        let of = |name: &str, why, size| (Rel::new(name.as_bytes().to_vec()), why, size);
        let mut list = vec![
            of("__pycache__", Outside::Generated, 0),
            of("afifo", Outside::NoFile, 0),
            of(".git", Outside::Git, 0),
            of("precious.sqlite", Outside::TooLarge, 17 << 20),
            of("thesis.docx", Outside::TooLarge, 18 << 20),
        ];
        list.extend((0..8).map(|n| of(&format!("video-{n}"), Outside::OverTotal, 1 << 20)));
        let told = listed(&EN, &list).expect("there is some");
        assert!(told.starts_with("thesis.docx (") && told.contains("18.0"), "{told}");
        for name in ["precious.sqlite", "video-0", "video-7"] {
            assert!(told.contains(name), "{name} in {told}");
        }
        assert!(told.ends_with("2 more") && !told.contains(".git"), "{told}");
    }
}
