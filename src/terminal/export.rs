//! `export`: a session for people (Markdown) or for other programs (JSON).

use crate::clean::clean;
use crate::cli::{ExportArgs, Flags};
use crate::open;
use crate::streams::{self, Reader};
use crate::surroundings::Surroundings;
use crate::when::when;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::session::{self, LogError, export};
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;

/// Run it.
pub fn run(flags: &Flags, args: &ExportArgs, surroundings: &Surroundings) -> Ending {
    match exported(flags, args, surroundings) {
        Ok(()) => Ending::Done,
        Err(refusal) => open::refused(&refusal, surroundings),
    }
}

fn exported(flags: &Flags, args: &ExportArgs, surroundings: &Surroundings) -> Result<(), open::Refusal> {
    let opened = open::open(flags, surroundings)?;
    let wrong = |error: LogError| open::wire_refusal(&error.into(), surroundings);
    let sessions =
        opened.choices.sessions.ok_or_else(|| open::wire_refusal(&wire::WireError::NoFolder, surroundings))?;
    let path = session::find(&wire::folder(&sessions, &opened.around.root), args.session.as_deref()).map_err(wrong)?;
    let entries = session::read(&path).map_err(wrong)?;
    let redactor = wire::redactor(&surroundings.environment);
    let text = if args.json {
        format!("{}\n", export::json(&entries, &redactor))
    } else {
        export::markdown(&entries, &redactor, &when)
    };
    let Some(output) = &args.output else {
        // In a file or a pipe it is what was said; a terminal must not be steered by it.
        let text = if std::io::stdout().is_terminal() { clean(&text) } else { text };
        // A reader that goes away is a normal end.
        let (Reader::There | Reader::Gone) = streams::data(&text);
        return Ok(());
    };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(output);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| open::Refusal {
        ending: Ending::Usage,
        text: fill(
            surroundings.texts.export_failed,
            &[("file", &output.display().to_string()), ("error", &error.to_string())],
        ),
    })
}
