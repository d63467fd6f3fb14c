//! Slash commands: one file each, and one sorted line in [`TABLE`].

mod add_dir;
mod approval;
mod clear;
mod compact;
mod config;
mod context;
mod cost;
mod diff;
mod effort;
mod fork;
mod help;
mod init;
mod model;
mod plan;
mod quit;
mod reload;
mod resume;
mod rewind;
mod tokens;
mod tools;
mod undo;

use super::custom::Custom;
use super::{Desk, Home};
use selfsmith_agent::approve::Mode;
use selfsmith_agent::session::Session;
use selfsmith_agent::texts::{Texts, fill};

/// What a command works on.
pub struct Bench<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// The language.
    pub texts: &'static Texts,
    /// Settings, other sessions, folders.
    pub home: &'a Home<'a>,
    /// The keyboard and the screen: `desk.work(…)` does something that takes time, `desk.ask(…)` asks.
    pub desk: &'a Desk<'a>,
    /// The person's own commands.
    pub customs: &'a [Custom],
    /// Prints a line for the person.
    pub say: &'a dyn Fn(&str),
}

/// How permission shall be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Not at all until a plan is agreed: nothing is changed.
    Plan,
    /// In this way.
    Mode(Mode),
}

/// What comes after a command.
pub enum Flow {
    /// The next prompt.
    Stay,
    /// The end.
    Leave,
    /// This prompt goes to the model.
    Prompt(String),
    /// The model is told this with the next prompt.
    Tell(String),
    /// This prompt goes to the model in plan mode.
    Plan(String),
    /// This text stands where one types.
    Fill(String),
    /// Permission is asked for in another way.
    Mode(Wish),
    /// Another session takes the place of this one.
    Session(Box<Session>),
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
    add_dir::COMMAND,
    approval::COMMAND,
    clear::COMMAND,
    compact::COMMAND,
    config::COMMAND,
    context::COMMAND,
    cost::COMMAND,
    diff::COMMAND,
    effort::COMMAND,
    quit::EXIT,
    fork::COMMAND,
    help::COMMAND,
    init::COMMAND,
    model::COMMAND,
    plan::COMMAND,
    quit::QUIT,
    reload::COMMAND,
    resume::COMMAND,
    rewind::COMMAND,
    tokens::COMMAND,
    tools::COMMAND,
    undo::COMMAND,
];

/// Whether a prompt is a command: a slash and a word. A path that begins with a slash is none.
pub fn is_command(text: &str) -> bool {
    let word = text.strip_prefix('/').and_then(|rest| rest.split(char::is_whitespace).next());
    word.is_some_and(|word| !word.contains('/'))
}

/// Run a line that begins with a slash.
pub fn run(line: &str, bench: &mut Bench<'_>) -> Flow {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match TABLE.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(bench, rest.trim()),
        None => {
            if let Some(custom) = bench.customs.iter().find(|custom| custom.name == name) {
                return Flow::Prompt(custom.prompt(rest.trim()));
            }
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
