//! `/add-dir`: opens a folder beside the workspace to the tools of this run. The model is told with the next prompt.

use super::{Bench, Command, Flow};
use selfsmith_agent::texts::fill;

/// The built-in words; a generation's own file wins.
const OPENED: &str = include_str!("../../../../prompts/commands/add-dir.md");

/// The command.
pub const COMMAND: Command = Command { name: "add-dir", about: |texts| texts.about.add_dir, run };

fn run(bench: &mut Bench<'_>, rest: &str) -> Flow {
    if rest.is_empty() {
        let all = bench.home.around.more.all();
        if all.is_empty() {
            (bench.say)(bench.texts.no_folders);
        }
        all.iter().for_each(|folder| (bench.say)(&format!("  {}", folder.display())));
        return Flow::Stay;
    }
    let home = bench.home.surroundings.environment.get("HOME").map(String::as_str).unwrap_or("~");
    let path = rest.strip_prefix("~/").map_or_else(|| rest.to_owned(), |below| format!("{home}/{below}"));
    let folder = match bench.home.around.more.open(&bench.home.root().join(path)) {
        Ok(folder) => folder.display().to_string(),
        Err(error) => {
            (bench.say)(&fill(bench.texts.no_folder, &[("folder", rest), ("error", &error.to_string())]));
            return Flow::Stay;
        }
    };
    (bench.say)(&fill(bench.texts.folder_opened, &[("folder", &folder)]));
    match bench.session.parts().prompts.command("add-dir", OPENED, &[("folder", &folder)]) {
        Ok(told) => Flow::Tell(told),
        Err(error) => {
            (bench.say)(&super::could_not(bench.texts, &error.to_string(), error.hint()));
            Flow::Stay
        }
    }
}
