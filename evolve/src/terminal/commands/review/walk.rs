//! `review walk`: a candidate file by file and hunk by hunk, at the keyboard. What is left out makes a new candidate, which is
//! weighed again and lands; all of it is an approval, nothing of it a rejection.

use super::comment;
use super::decide::{Desk, tell};
use super::page;
use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use crate::terminal::diff;
use crate::terminal::display::Look;
use crate::terminal::streams;
use selfsmith::cycle::sanitize::shown;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::hunks::{self, Hunk};
use selfsmith::review::remake::{self, LeftOut};
use selfsmith::review::{self, Item};
use selfsmith::texts::{EN, count, fill};
use selfsmith_repo::FileDiff;
use std::io::{self, BufRead, IsTerminal, Write};

/// Run it.
pub fn run(place: &Place, id: &str, look: Look, around: &Surroundings) -> Result<Exit, Stop> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let hint = "use `selfsmith review show`, then `selfsmith review approve --leave-out PATH:N`";
        return Err(Stop::could_not(Exit::Usage, EN.walk_no_keyboard, hint));
    }
    // Nobody goes all the way for nothing.
    let desk = Desk::open(place, false, around)?;
    let shown = review::show(&place.repo, id)?;
    let item = &shown.item;
    let files = remake::parts(&place.repo, &item.id)?;
    if files.is_empty() {
        return Err(Stop::usage(EN.walk_nothing, "`selfsmith review show` tells why"));
    }
    for line in page::concerns(&shown, look) {
        streams::print(&line);
    }
    let mut walk = Walk { place, item, look, taken: 0, left_out: Vec::new() };
    for (number, file) in files.iter().enumerate() {
        if !walk.file(file, (number + 1, files.len()))? {
            streams::tell(EN.walk_undecided);
            return Ok(Exit::NeedsHuman);
        }
    }
    walk.decide(&desk)
}

/// What a person answers.
enum Answer {
    Take,
    Leave,
    TakeRest,
    LeaveRest,
    Quit,
}

struct Walk<'a> {
    place: &'a Place,
    item: &'a Item,
    look: Look,
    taken: usize,
    left_out: Vec<LeftOut>,
}

impl Walk<'_> {
    /// One file; false where it ends here.
    fn file(&mut self, file: &FileDiff, (number, of): (usize, usize)) -> Result<bool, Stop> {
        let path = file.path.to_string();
        let values = [
            ("path", shown(&path)),
            ("added", file.added.to_string()),
            ("removed", file.removed.to_string()),
            ("number", number.to_string()),
            ("count", of.to_string()),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        streams::print(&self.look.strong(&fill(EN.walk_file, &values)));
        let parts = hunks::parse(&file.patch);
        // A new or removed file, and one without lines, is taken or left as a whole.
        let is_whole = parts.len() < 2 || file.old.is_none() || file.new.is_none();
        let count = if is_whole { 1 } else { parts.len() };
        let mut rest = None;
        for at in 0..count {
            let part = LeftOut { path: path.clone(), hunk: (!is_whole).then_some(at + 1) };
            let take = match rest {
                Some(take) => take,
                None => {
                    self.show(file, parts.get(at).filter(|_| !is_whole), (at + 1, count));
                    match self.ask(&part)? {
                        Answer::Take => true,
                        Answer::Leave => false,
                        Answer::TakeRest => *rest.insert(true),
                        Answer::LeaveRest => *rest.insert(false),
                        Answer::Quit => return Ok(false),
                    }
                }
            };
            if take {
                self.taken += 1;
            } else {
                self.left_out.push(part);
            }
        }
        Ok(true)
    }

    fn show(&self, file: &FileDiff, hunk: Option<&Hunk>, (number, of): (usize, usize)) {
        let patch = match hunk {
            Some(hunk) => {
                let values = [("number", number.to_string()), ("count", of.to_string())];
                let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                streams::print(&self.look.dim(&fill(EN.walk_hunk, &values)));
                hunk.patch()
            }
            None => file.patch.clone(),
        };
        for line in diff::lines(&patch, self.look) {
            streams::print(&line);
        }
    }

    fn ask(&self, part: &LeftOut) -> Result<Answer, Stop> {
        loop {
            // The end of the input is the end of the walk.
            let Some(answer) = asked(EN.walk_ask) else { return Ok(Answer::Quit) };
            match answer.as_str() {
                "y" => return Ok(Answer::Take),
                "n" => return Ok(Answer::Leave),
                "a" => return Ok(Answer::TakeRest),
                "d" => return Ok(Answer::LeaveRest),
                "q" => return Ok(Answer::Quit),
                "c" => {
                    if let Some(text) = asked(EN.walk_comment).filter(|text| !text.is_empty()) {
                        let path = comment::put(self.place, self.item, &text, Some(part))?;
                        streams::tell(&fill(EN.commented, &[("path", &path.display().to_string())]));
                    }
                }
                _ => streams::tell(EN.walk_help),
            }
        }
    }

    fn decide(self, desk: &Desk<'_>) -> Result<Exit, Stop> {
        let yes = |question: &str| asked(question).as_deref() == Some("y");
        let undecided = || {
            streams::tell(EN.walk_undecided);
            Ok(Exit::NeedsHuman)
        };
        let id = self.item.id.as_str();
        if self.taken == 0 {
            return match asked(EN.walk_none).filter(|why| !why.is_empty()) {
                Some(why) => Ok(tell(&desk.reject(id, &why)?, false)),
                None => undecided(),
            };
        }
        if self.left_out.is_empty() {
            return if yes(EN.walk_all) { Ok(tell(&desk.approve(id, &[])?, false)) } else { undecided() };
        }
        let (taken, left) = (count(self.taken as u64, "part"), count(self.left_out.len() as u64, "part"));
        if !yes(&fill(EN.walk_some, &[("taken", &taken), ("left", &left)])) {
            return undecided();
        }
        let out: Vec<String> = self.left_out.iter().map(ToString::to_string).collect();
        Ok(tell(&desk.approve(id, &out)?, false))
    }
}

/// What is answered to a question; none at the end of the input.
fn asked(question: &str) -> Option<String> {
    let mut out = io::stdout().lock();
    write!(out, "{question}").and_then(|()| out.flush()).ok()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim().to_owned())
}
