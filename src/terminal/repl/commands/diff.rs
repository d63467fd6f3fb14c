//! `/diff`: what the work tree changes since the last commit, as git sees it.

use super::{Bench, Command, Flow};
use crate::clean::clean;
use selfsmith_agent::texts::fill;
use selfsmith_repo::Caller;
use selfsmith_repo::person::WorkTree;
use selfsmith_sandbox::Cancel;

/// Lines that are shown.
const MAX_LINES: usize = 2000;

/// The command.
pub const COMMAND: Command = Command { name: "diff", about: |texts| texts.about.diff, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    let cancel = Cancel::default();
    let caller = Caller { environment: &bench.home.around.variables, cancel: &cancel };
    let diff = match WorkTree::open(bench.home.root(), caller).and_then(|tree| tree.diff()) {
        Ok(diff) => diff,
        Err(error) => {
            (bench.say)(&super::could_not(bench.texts, &error.to_string(), error.hint()));
            return Flow::Stay;
        }
    };
    if diff.files.is_empty() && diff.untracked.is_empty() {
        (bench.say)(bench.texts.no_changes);
        return Flow::Stay;
    }
    let patch = bench.home.redactor().text(&diff.patch).into_owned();
    let lines: Vec<&str> = patch.lines().collect();
    let shown = lines.get(..lines.len().min(MAX_LINES)).unwrap_or_default().join("\n");
    if !shown.is_empty() {
        bench.desk.screen.show(&bench.desk.screen.difference(&clean(&shown)));
    }
    if lines.len() > MAX_LINES {
        (bench.say)(&fill(bench.texts.more_lines, &[("count", &(lines.len() - MAX_LINES).to_string())]));
    }
    for path in diff.untracked.iter().take(MAX_LINES) {
        (bench.say)(&fill(bench.texts.untracked_file, &[("file", &path.to_string())]));
    }
    Flow::Stay
}
