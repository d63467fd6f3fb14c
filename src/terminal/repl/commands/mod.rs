//! Slash commands: one file each, and one sorted line in [`TABLE`].

mod clear;
mod context;
mod cost;
mod help;
mod model;
mod quit;
mod tokens;
mod tools;

use selfsmith_agent::session::Session;
use selfsmith_agent::texts::{Texts, fill};
use selfsmith_agent::wire::WithPrompt;

/// Makes another model and its system prompt of a name; `Err` says why not.
pub type Models = dyn Fn(&str) -> Result<WithPrompt, String>;

/// What a command works on.
pub struct Bench<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// The language.
    pub texts: &'static Texts,
    /// Makes another model and its system prompt; `Err` says why not.
    pub models: &'a Models,
    /// Prints a line for the person.
    pub say: &'a dyn Fn(&str),
}

/// What comes after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next prompt.
    Stay,
    /// The end.
    Leave,
}

/// One command.
pub struct Command {
    /// Its name without the slash.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: fn(&Texts) -> &'static str,
    /// Does it; gets what was typed after the name.
    pub run: fn(&mut Bench<'_>, &str) -> Flow,
}

/// Every command, sorted by name.
pub const TABLE: &[Command] = &[
    clear::COMMAND,
    context::COMMAND,
    cost::COMMAND,
    quit::EXIT,
    help::COMMAND,
    model::COMMAND,
    quit::QUIT,
    tokens::COMMAND,
    tools::COMMAND,
];

/// Run a line that begins with a slash.
pub fn run(line: &str, bench: &mut Bench<'_>) -> Flow {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match TABLE.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(bench, rest.trim()),
        None => {
            (bench.say)(&fill(bench.texts.no_such_command, &[("name", &crate::clean::one_line(name, 40))]));
            Flow::Stay
        }
    }
}

/// What went wrong, with what to do next.
fn could_not(texts: &Texts, what: &str, hint: &str) -> String {
    fill(texts.could_not, &[("what", what), ("hint", hint)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted_and_each_says_what_it_does() {
        let names: Vec<&str> = TABLE.iter().map(|command| command.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for command in TABLE {
            assert!(!(command.about)(&selfsmith_agent::texts::EN).is_empty(), "{}", command.name);
        }
    }
}
