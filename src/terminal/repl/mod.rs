//! The REPL: prompts, slash commands, and the screen. It works in a pipe and in a dumb terminal too, just plainer.
//!
//! ```text
//! keyboard → desk (what comes first: a key, a tick, the work) → screen (state → view → region) → terminal
//!                 ↑ line: what each key does to the text        ↑ events of the session
//! ```

mod commands;
mod custom;
mod desk;
mod dialog;
mod external;
mod home;
mod input;
mod interrupt;
mod keyboard;
mod line;
mod own;
mod planning;
mod recall;
mod region;
mod rules;
mod screen;
mod watch;
mod wizard;

pub use desk::{Desk, Source};
pub use dialog::{Choice, Question, Reply};
pub use home::Home;
pub use input::Lines;
pub use interrupt::Interrupt;
pub use keyboard::{Keyboard, give_back};
pub use line::{Editor, Files, History};
pub use region::Reflow;
pub use rules::Rules;
pub use screen::{Answers, Bell, Look, Screen, Taste, Thinking, Whereabouts};
pub use wizard::{Setup, first_run};

use commands::{Bench, Flow, Wish};
use custom::Custom;
use desk::{Later, Typed};
use line::{Item, Submission};
use planning::Planning;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::message::Part;
use selfsmith_agent::session::Session;
use selfsmith_agent::texts::{Texts, fill};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use watch::{News, Watch};

/// A Ctrl-C that stopped the work and another this soon after it are twice: the second leaves.
const TWICE: Duration = Duration::from_secs(2);

/// What people type to leave, out of habit; nobody asks a model that.
const LEAVING: &[&str] = &["exit", "quit", ":q"];

/// What the REPL works with.
pub struct Repl<'a> {
    /// The session.
    session: Session,
    /// The keyboard and the screen; the screen is the session's frontend.
    desk: Desk<'a>,
    /// Settings, other sessions, folders.
    home: Home<'a>,
    /// The language.
    texts: &'static Texts,
    planning: Planning,
    /// What the model is told with the next prompt of commands that the person ran.
    told: Vec<String>,
    customs: Vec<Custom>,
    watch: Watch,
    /// Messages before the last prompt: fewer than that mean that the conversation was compacted or cleared.
    length: usize,
}

/// Whether the REPL goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    Away,
}

impl<'a> Repl<'a> {
    /// At this desk.
    pub fn new(session: Session, desk: Desk<'a>, home: Home<'a>, texts: &'static Texts) -> Self {
        let planning = Planning::default();
        let watch = home.watch();
        Self { session, desk, home, texts, planning, told: Vec::new(), customs: Vec::new(), watch, length: 0 }
    }

    /// Until the person leaves. The screen is open.
    pub fn run(mut self) -> Ending {
        self.offer();
        self.show_mode();
        let parts = self.session.parts();
        let (model, root) = (parts.model.name().to_owned(), parts.root.clone());
        let values = [("version", env!("CARGO_PKG_VERSION")), ("model", &model), ("root", &root)];
        self.desk.screen.say(&fill(self.texts.welcome, &values));
        recall::show(&self.desk.screen, &self.session, self.texts);
        let ending = self.talk();
        self.desk.screen.close();
        ending
    }

    fn talk(&mut self) -> Ending {
        let mut last = None;
        let mut stopped: Option<Instant> = None;
        loop {
            let typed = self.desk.next();
            let twice = stopped.take().is_some_and(|at| at.elapsed() < TWICE) && typed == Typed::Interrupt;
            let again = twice || last.as_ref() == Some(&typed);
            last = matches!(typed, Typed::Interrupt | Typed::Escape).then(|| typed.clone());
            match typed {
                Typed::End if self.desk.interrupt.is_leaving() => return Ending::Interrupted,
                Typed::End => return Ending::Done,
                Typed::Interrupt if !self.desk.screen.draft().is_empty() => {
                    self.desk.screen.set_draft("");
                    last = None;
                }
                Typed::Interrupt if again => return Ending::Done,
                Typed::Interrupt => self.desk.screen.say(self.texts.again_to_leave),
                Typed::Escape if again && self.desk.screen.draft().is_empty() => {
                    last = None;
                    self.command("/rewind");
                }
                Typed::Escape => {}
                Typed::Mode => self.turn_mode(),
                Typed::External => self.edit(),
                Typed::Picture => self.attach_clipboard(),
                Typed::Prompt(submission) => {
                    if self.take(&submission) == Goes::Away {
                        return Ending::Done;
                    }
                    stopped = self.desk.interrupt.token().is_cancelled().then(Instant::now);
                }
            }
        }
    }

    fn take(&mut self, submission: &Submission) -> Goes {
        let text = submission.text.trim();
        if text.is_empty() && submission.images.is_empty() {
            return Goes::On;
        }
        if let Source::Keys(_) = self.desk.source {
            self.desk.screen.echo(&submission.shown);
        }
        self.look_at_settings();
        if let Some(command) = text.strip_prefix('!').map(str::trim).filter(|command| !command.is_empty()) {
            let told = own::run(command, &self.desk, &self.home, &self.session, self.texts);
            self.told.extend(told);
            return Goes::On;
        }
        if commands::is_command(text) {
            return self.command(text);
        }
        if LEAVING.contains(&text) && submission.images.is_empty() {
            return Goes::Away;
        }
        let mut images = submission.images.clone();
        images.extend(external::named(text, self.home.root()));
        for (mime, base64) in images {
            self.session.attach(Part::Image { mime, base64 });
        }
        self.prompt(text);
        Goes::On
    }

    /// What was edited on disk holds from here on; what was wrong there leaves everything as it was.
    fn look_at_settings(&mut self) {
        if self.watch.news() == News::Some {
            let said = self.home.reload(&mut self.session).unwrap_or_else(|why| why);
            if !said.is_empty() {
                self.desk.screen.say(&said);
            }
        }
        let length = self.session.messages().len();
        if length < self.length
            && let Err(why) = self.home.begin_anew(&mut self.session)
        {
            self.desk.screen.say(&why);
        }
        self.length = length;
    }

    fn command(&mut self, text: &str) -> Goes {
        self.offer();
        let flow = {
            let say = |text: &str| self.desk.screen.say(text);
            let mut bench = Bench {
                session: &mut self.session,
                texts: self.texts,
                home: &self.home,
                desk: &self.desk,
                customs: &self.customs,
                say: &say,
            };
            commands::run(text, &mut bench)
        };
        match flow {
            Flow::Stay => {}
            Flow::Leave => return Goes::Away,
            Flow::Prompt(prompt) => self.prompt(&prompt),
            Flow::Tell(told) => self.told.push(told),
            Flow::Plan(prompt) => {
                self.wish(Wish::Plan);
                self.prompt(&prompt);
            }
            Flow::Fill(text) => self.desk.screen.set_draft(&text),
            Flow::Mode(wish) => self.wish(wish),
            Flow::Session(mut session) => {
                session.follow(&self.session);
                self.session = *session;
                self.told.clear();
                self.planning = Planning::default();
                self.show_mode();
                recall::show(&self.desk.screen, &self.session, self.texts);
            }
        }
        Goes::On
    }

    fn prompt(&mut self, text: &str) {
        let mut next = Some(text.to_owned());
        while let Some(typed) = next.take() {
            let text = match self.planning.wrapped(&typed, &self.session) {
                Ok(text) => text,
                Err(why) => {
                    self.desk.screen.say(&why);
                    return;
                }
            };
            let told = std::mem::take(&mut self.told);
            let whole = told.iter().chain([&text]).map(String::as_str).collect::<Vec<_>>().join("\n\n");
            let cancel = self.desk.interrupt.renew();
            let (report, later) = self.desk.work(self.session.prompt(&whole, &cancel));
            if report.turns > 0 {
                crate::start::has_worked();
            }
            if report.turns == 0 && report.ending.is_limit() {
                // It was not sent: whoever raises the limit need not type it again.
                self.told = told;
                self.desk.screen.set_draft(&typed);
            }
            if report.ending == Ending::Interrupted {
                self.desk.screen.say(self.texts.stopped);
                // What was typed meanwhile was meant for work that is no more.
                self.desk.screen.give_back();
            } else if matches!(report.ending, Ending::Done | Ending::Unfinished) {
                next = self.planning.asked(&self.desk, &mut self.session, self.texts);
                self.show_mode();
            }
            self.afterwards(later);
        }
    }

    /// What was wished while there was work.
    fn afterwards(&mut self, later: Later) {
        for _ in 0..later.modes {
            self.turn_mode();
        }
        if later.picture {
            self.attach_clipboard();
        }
    }

    fn turn_mode(&mut self) {
        let wish = self.planning.next(self.session.mode());
        self.wish(wish);
    }

    fn wish(&mut self, wish: Wish) {
        self.planning.wish(wish, &mut self.session);
        self.show_mode();
    }

    fn show_mode(&self) {
        self.desk.screen.set_mode(self.planning.told(self.session.mode(), self.texts));
    }

    fn edit(&mut self) {
        let draft = self.desk.screen.draft();
        let edited = self.desk.aside(|| external::edited(&draft, self.home.root(), &self.home.around.variables));
        match edited {
            Ok(text) => self.desk.screen.set_draft(&text),
            Err(why) => self.desk.screen.say(&fill(self.texts.no_editor, &[("why", &why)])),
        }
    }

    fn attach_clipboard(&mut self) {
        match external::clipboard(self.home.root(), &self.home.around.variables) {
            Some(inset) => self.desk.screen.attach(inset),
            None => self.desk.screen.say(self.texts.no_picture),
        }
    }

    /// The palette offers the program's commands and the person's own, as they are now.
    fn offer(&mut self) {
        let project = Some(self.home.root().join(".selfsmith/commands"));
        let user = self.home.user_folder().map(|folder| folder.join("commands"));
        let folders: Vec<PathBuf> = project.clone().into_iter().chain(user).collect();
        // Of a project only what is trusted as it is: a name says nothing about the words behind it.
        let trust = self.home.surroundings.ledger().look(self.home.root());
        let own = |path: &Path| project.as_ref().is_some_and(|project| path.starts_with(project));
        self.customs = custom::list(&folders, &|path, bytes| !own(path) || trust.covers(path, bytes));
        self.customs.retain(|custom| commands::TABLE.iter().all(|command| command.name != custom.name));
        let built_in = commands::TABLE.iter().map(|command| (command.name, (command.about)(self.texts)));
        let own = self.customs.iter().map(|custom| (custom.name.as_str(), custom.about.as_str()));
        let item = |(name, about): (&str, &str)| Item { name: format!("/{name}"), about: about.to_owned() };
        self.desk.screen.offer(built_in.chain(own).map(item).collect());
    }
}
