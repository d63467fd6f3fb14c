//! `sessions`: the sessions that can be gone on with, for people (a table) or for other programs (JSON).

use crate::clean::one_line;
use crate::cli::{Flags, SessionsArgs};
use crate::open;
use crate::streams::{self, Reader};
use crate::surroundings::Surroundings;
use crate::when::when;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::session::{self, Listed};
use selfsmith_agent::wire;
use serde_json::json;

/// Version of the JSON form.
const VERSION: u32 = 1;
/// Columns of a folder and of a prompt in the table.
const FOLDER: usize = 40;
const PROMPT: usize = 60;

/// Run it.
pub fn run(flags: &Flags, args: &SessionsArgs, surroundings: &Surroundings) -> Ending {
    let texts = surroundings.texts;
    let opened = match open::open(flags, surroundings) {
        Ok(opened) => opened,
        Err(refusal) => return open::refused(&refusal, surroundings),
    };
    let Some(sessions) = opened.choices.sessions else {
        return open::refused(&open::wire_refusal(&wire::WireError::NoFolder, surroundings), surroundings);
    };
    let all = if args.all {
        session::list_below(&sessions)
    } else {
        session::list(&wire::folder(&sessions, &opened.around.root))
    };
    let redactor = wire::redactor(&surroundings.environment);
    if args.json {
        let mut value = json!({ "version": VERSION, "sessions": all.iter().map(as_json).collect::<Vec<_>>() });
        redactor.value(&mut value);
        let (Reader::There | Reader::Gone) = streams::data(&format!("{value}\n"));
    } else if all.is_empty() {
        streams::tell(if args.all { texts.no_sessions } else { texts.no_sessions_here });
    } else {
        let home = surroundings.environment.get("HOME").map(String::as_str).unwrap_or_default();
        let (Reader::There | Reader::Gone) = streams::data(&redactor.text(&table(&all, home)));
    }
    Ending::Done
}

fn as_json(listed: &Listed) -> serde_json::Value {
    let Listed { id, at, root, model, prompt } = listed;
    json!({ "id": id, "at": at, "folder": root, "model": model, "prompt": prompt })
}

/// A line for each, newest first: id, when it began, its folder, its first prompt.
fn table(all: &[Listed], home: &str) -> String {
    let folder = |root: &str| {
        let below =
            root.strip_prefix(home).filter(|rest| !home.is_empty() && (rest.is_empty() || rest.starts_with('/')));
        one_line(&below.map_or_else(|| root.to_owned(), |rest| format!("~{rest}")), FOLDER)
    };
    let folders: Vec<String> = all.iter().map(|listed| folder(&listed.root)).collect();
    let widest = folders.iter().map(|folder| console::measure_text_width(folder)).max().unwrap_or_default();
    let line = |(listed, folder): (&Listed, &String)| {
        let pad = " ".repeat(widest.saturating_sub(console::measure_text_width(folder)));
        let prompt = one_line(&listed.prompt, PROMPT);
        format!("{}  {}  {folder}{pad}  {prompt}\n", listed.id, when(listed.at))
    };
    all.iter().zip(&folders).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_with_its_columns_below_each_other() {
        let listed = |id: &str, root: &str, prompt: &str| Listed {
            id: id.to_owned(),
            at: 0,
            root: root.to_owned(),
            model: "m".to_owned(),
            prompt: prompt.to_owned(),
        };
        let text =
            table(&[listed("02", "/home/me/中文", "two\nlines"), listed("01", "/srv/longer", "one")], "/home/me");
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].starts_with("02  ") && rows[0].ends_with("  ~/中文       two"), "{text}");
        assert!(rows[1].starts_with("01  ") && rows[1].ends_with("  /srv/longer  one"), "{text}");
    }
}
