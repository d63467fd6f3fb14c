//! `trust`: what a project's own files may set, decided by a person; and the question about it on the first visit.

use crate::clean::{clean, one_line};
use crate::cli::{Flags, TrustCommand};
use crate::open;
use crate::person::{Nobody, person};
use crate::repl::{Choice, Desk, Question, Reply};
use crate::streams;
use crate::surroundings::{self, Surroundings};
use selfsmith_agent::config::{Answer, Doubt, Standing, Trust, steering};
use selfsmith_agent::ending::Ending;
use selfsmith_agent::session::check;
use selfsmith_agent::texts::{Texts, fill};
use std::path::{Path, PathBuf};

/// Files that a question names.
const NAMED: usize = 12;
/// Lines that are shown of the beginning of notes and commands, and columns of each.
const BEGINNING: usize = 5;
const COLUMNS: usize = 160;

/// Run it.
pub fn run(what: Option<&TrustCommand>, surroundings: &Surroundings) -> Ending {
    let texts = surroundings.texts;
    let ledger = surroundings.ledger();
    let trust = ledger.look(&surroundings.folder);
    let data = |text: String| {
        streams::data(&format!("{}\n", clean(&text)));
        Ending::Done
    };
    match what {
        Some(TrustCommand::List) => {
            let all = ledger.all();
            let line = |record: &selfsmith_agent::config::Record| {
                let standing = if record.answer == Answer::Trusted { Standing::Trusted } else { Standing::Declined };
                told(texts, &record.root, standing)
            };
            if all.is_empty() {
                data(texts.trust.none.to_owned())
            } else {
                data(all.iter().map(line).collect::<Vec<_>>().join("\n"))
            }
        }
        Some(TrustCommand::Show) => {
            let mut lines = vec![told(texts, &trust.project.root, trust.standing())];
            let news = trust.news();
            let mark = |name: &str| if news.contains(&name) { texts.trust.new } else { "" };
            lines.extend(trust.project.files.keys().map(|name| format!("  {name}{}", mark(name))));
            lines.extend(contents(&trust, trust.project.files.keys().map(String::as_str), &surroundings.folder));
            data(lines.join("\n"))
        }
        Some(TrustCommand::Revoke { folder }) => by_a_person(texts, || {
            let root = folder.as_deref().map_or(trust.project.root.clone(), |folder| named(surroundings, folder));
            let forgotten = ledger.forget(&root).map_err(|error| error.to_string())?;
            let text = if forgotten { texts.trust.revoked } else { texts.trust.unknown };
            Ok(fill(text, &[("root", &root.display().to_string())]))
        }),
        None => by_a_person(texts, || {
            ledger.keep(&trust, Answer::Trusted, surroundings::now()).map_err(|error| error.to_string())?;
            let files = trust.project.files.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let text = if files.is_empty() { texts.trust.trusted_nothing } else { texts.trust.trusted };
            Ok(fill(text, &[("root", &trust.project.root.display().to_string()), ("files", &files)]))
        }),
    }
}

/// Do it if a person says so.
fn by_a_person(texts: &Texts, what: impl FnOnce() -> Result<String, String>) -> Ending {
    let nobody = |nobody: Nobody| match nobody {
        Nobody::Agent(name) => (Ending::Usage, fill(texts.not_for_an_agent, &[("name", &name)])),
        Nobody::NoTerminal => (Ending::Usage, texts.no_person.to_owned()),
    };
    match person().map_err(nobody).and_then(|()| what().map_err(|error| (Ending::Failed, error))) {
        Ok(said) => {
            streams::data(&format!("{}\n", clean(&said)));
            Ending::Done
        }
        Err((ending, why)) => {
            streams::tell(&fill(texts.problem, &[("text", &why)]));
            ending
        }
    }
}

/// A project by its folder: one that is gone can be forgotten too.
fn named(surroundings: &Surroundings, folder: &Path) -> PathBuf {
    let path = surroundings.folder.join(folder);
    path.canonicalize().map_or(path, |real| surroundings.ledger().look(&real).project.root)
}

fn told(texts: &Texts, root: &Path, standing: Standing) -> String {
    let standing = match standing {
        Standing::Trusted => texts.trust.standing_trusted,
        Standing::Declined => texts.trust.standing_declined,
        Standing::Unasked => texts.trust.standing_unasked,
    };
    fill(texts.trust.standing, &[("root", &root.display().to_string()), ("standing", standing)])
}

/// What the question of the first visit came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// The work goes on.
    On,
    /// The person wants to leave.
    Leave,
}

/// Whether there is something to ask about: files that steer this program, or a check that would run the project's code.
pub fn is_due(trust: &Trust, root: &Path) -> bool {
    let at_stake = !trust.project.files.is_empty() || check::detect(root).is_some();
    at_stake && trust.standing() == Standing::Unasked
}

/// What stands in files of a project, as far as it would steer this program: what settings would set, how texts begin.
fn contents<'a>(trust: &Trust, files: impl Iterator<Item = &'a str>, start: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for name in files {
        lines.push(format!("{name}:"));
        if name.ends_with(".selfsmith/config.yaml") {
            lines.extend(steering(start).into_iter().map(|(key, value)| format!("  {key} = {value}")));
            continue;
        }
        let text = std::fs::read(trust.project.root.join(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut said = text.lines().filter(|line| !line.trim().is_empty());
        lines.extend(said.by_ref().take(BEGINNING).map(|line| format!("  | {}", one_line(line, COLUMNS))));
        if said.next().is_some() {
            lines.push("  | …".to_owned());
        }
    }
    lines
}

/// Ask about a project that has files of its own, and keep the answer.
pub fn ask(desk: &Desk<'_>, trust: &Trust, flags: &Flags, surroundings: &Surroundings) -> Visit {
    let texts = surroundings.texts;
    let news = trust.news();
    let named = |name: &&str| match trust.doubt_of(name) {
        Some(doubt @ (Doubt::Changed | Doubt::New)) => {
            format!("  {}", fill(texts.trust.because, &[("file", &clean(name)), ("why", doubt.told(texts))]))
        }
        Some(Doubt::Unasked | Doubt::Declined) | None => format!("  {}", clean(name)),
    };
    let mut lines: Vec<String> = news.iter().take(NAMED).map(named).collect();
    if news.len() > NAMED {
        lines.push(format!("  {}", fill(texts.and_more, &[("count", &(news.len() - NAMED).to_string())])));
    }
    // What its settings would change is the part that tells most.
    if let Ok(opened) = open::open(flags, surroundings) {
        lines.extend(opened.loaded.notices(texts).iter().map(|notice| format!("  {}", clean(notice))));
    }
    if let Some(command) = check::detect(&surroundings.folder) {
        lines.push(fill(texts.trust.check, &[("command", command)]));
    }
    let root = clean(&trust.project.root.display().to_string());
    let asked = if news.len() < trust.project.files.len() || trust.was_asked() {
        texts.trust.again
    } else {
        texts.trust.question
    };
    // They may be more than a question has room for.
    for line in contents(trust, news.iter().copied(), &surroundings.folder) {
        desk.screen.say(&line);
    }
    let title = fill(asked, &[("root", &root), ("files", &lines.join("\n"))]);
    let choices = [texts.trust.yes, texts.trust.no, texts.trust.leave].map(|[name, about]| Choice::new(name, about));
    let mut question = Question::pick(title, choices.to_vec());
    question.chosen = Some(1);
    let answer = match desk.ask(question) {
        Reply::Chosen(0) => Answer::Trusted,
        Reply::Chosen(1) => Answer::Declined,
        Reply::Chosen(_) | Reply::Said(_) | Reply::Cancelled => return Visit::Leave,
    };
    if let Err(error) = surroundings.ledger().keep(trust, answer, surroundings::now()) {
        desk.screen.say(&fill(texts.trust.not_kept, &[("error", &error.to_string())]));
    }
    Visit::On
}
