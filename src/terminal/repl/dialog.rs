//! A question at the bottom of the screen: choices, a line of words, or both. Pure but for the answer's way back.

use super::line::{Buffer, Item, Key};
use tokio::sync::oneshot;

/// Whether words may be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// They are an answer.
    Answer,
    /// They are an answer that nobody should see, such as a key.
    Secret,
    /// They narrow the choices.
    Filter,
    /// They narrow the choices, and are an answer themselves where none fits.
    Either,
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What it is called and what it is.
    pub item: Item,
    /// Words that mean it when they are typed.
    pub words: &'static [&'static str],
}

impl Choice {
    /// A choice without words of its own.
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self { item: Item { name: name.into(), about: about.into() }, words: &[] }
    }
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// That choice.
    Chosen(usize),
    /// These words; none where only Enter was pressed.
    Said(String),
    /// Escape, Ctrl-C, or nobody is there.
    Cancelled,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is asked; lines.
    pub title: String,
    /// What there is to choose.
    pub choices: Vec<Choice>,
    /// The choice that Enter takes at first.
    pub chosen: Option<usize>,
    /// What typed words are.
    pub words: Words,
    /// What stands in the line at first.
    pub draft: String,
}

impl Question {
    /// One of these, narrowed by typing.
    pub fn pick(title: impl Into<String>, choices: Vec<Choice>) -> Self {
        Self { title: title.into(), choices, chosen: Some(0), words: Words::Filter, draft: String::new() }
    }

    /// Words.
    pub fn line(title: impl Into<String>, words: Words) -> Self {
        Self { title: title.into(), choices: Vec::new(), chosen: None, words, draft: String::new() }
    }

    /// One of these, narrowed by typing, or other words.
    pub fn pick_or_say(title: impl Into<String>, choices: Vec<Choice>) -> Self {
        Self { words: Words::Either, ..Self::pick(title, choices) }
    }

    fn narrows(&self) -> bool {
        matches!(self.words, Words::Filter | Words::Either)
    }

    /// What an answer in plain words means, for a terminal without menus: a number, a word of a choice, or itself.
    pub fn understand(&self, line: &str) -> Reply {
        let line = line.trim();
        let of_word = |choice: &Choice| {
            let lower = line.to_lowercase();
            choice.words.contains(&lower.as_str()) || choice.item.name == line
        };
        if let Some(n) = self.choices.iter().position(of_word) {
            return Reply::Chosen(n);
        }
        match line.parse::<usize>() {
            Ok(n @ 1..) if n <= self.choices.len() && self.narrows() => Reply::Chosen(n - 1),
            _ if self.words == Words::Filter => Reply::Cancelled,
            _ => Reply::Said(line.to_owned()),
        }
    }
}

/// A question that is being answered.
#[derive(Debug)]
pub struct Dialog {
    /// The question.
    pub question: Question,
    /// What was typed.
    pub buffer: Buffer,
    /// The choices in sight, by number.
    pub fitting: Vec<usize>,
    /// Which of those is chosen.
    pub chosen: Option<usize>,
    reply: Option<oneshot::Sender<Reply>>,
}

/// Whether it is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// It waits.
    Yes,
    /// It was answered.
    No,
    /// It was answered by Ctrl-C.
    Interrupted,
}

impl Dialog {
    /// Ask, and where the answer comes.
    pub fn ask(question: Question) -> (Self, oneshot::Receiver<Reply>) {
        let (sender, receiver) = oneshot::channel();
        let mut buffer = Buffer::default();
        buffer.insert(&question.draft);
        let fitting = (0..question.choices.len()).collect();
        let chosen = question.chosen.filter(|_| !question.choices.is_empty());
        (Self { question, buffer, fitting, chosen, reply: Some(sender) }, receiver)
    }

    /// Nobody waits for the answer any more.
    pub fn is_void(&self) -> bool {
        self.reply.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    /// A key.
    pub fn key(&mut self, key: Key) -> Open {
        let before = self.buffer.text().to_owned();
        match self.buffer.press(key) {
            Some(Key::Enter) => return self.enter(),
            Some(Key::Escape | Key::EndOfInput) => return self.answer(Reply::Cancelled, Open::No),
            Some(Key::Interrupt) => return self.answer(Reply::Cancelled, Open::Interrupted),
            Some(Key::Up) => self.turn(|at, count| (at + count - 1) % count),
            Some(Key::Down | Key::Tab) => self.turn(|at, count| (at + 1) % count),
            // A paste has one line here: a key that ends with a line end is still one key.
            Some(Key::Paste(text)) => self.buffer.insert(text.trim_end_matches(['\r', '\n'])),
            _ => {}
        }
        if self.buffer.text() != before {
            self.narrow();
        }
        Open::Yes
    }

    fn enter(&mut self) -> Open {
        let typed = self.buffer.expanded();
        let chosen = self.chosen.and_then(|at| self.fitting.get(at)).copied();
        let reply = match (self.question.words, chosen) {
            (Words::Filter | Words::Either, Some(n)) => Reply::Chosen(n),
            (Words::Filter, None) => return Open::Yes,
            (Words::Secret, _) | (Words::Either, None) => Reply::Said(typed),
            (Words::Answer, Some(n)) if typed.trim().is_empty() => Reply::Chosen(n),
            // A stray Enter is no answer.
            (Words::Answer, None) if typed.trim().is_empty() && !self.question.choices.is_empty() => return Open::Yes,
            (Words::Answer, _) => self.question.understand(&typed),
        };
        self.answer(reply, Open::No)
    }

    fn answer(&mut self, reply: Reply, open: Open) -> Open {
        if let Some(sender) = self.reply.take() {
            // Whoever asked may be gone.
            let _ = sender.send(reply);
        }
        open
    }

    fn turn(&mut self, to: impl Fn(usize, usize) -> usize) {
        let count = self.fitting.len();
        if count > 0 {
            self.chosen = Some(self.chosen.map_or(0, |at| to(at, count)));
        }
    }

    fn narrow(&mut self) {
        if !self.question.narrows() {
            return;
        }
        let wanted = self.buffer.text().to_lowercase();
        if wanted.is_empty() {
            // What was proposed at first, and nothing that was typed in between.
            self.fitting = (0..self.question.choices.len()).collect();
            self.chosen = self.question.chosen.filter(|at| *at < self.fitting.len());
            return;
        }
        let numbered = self.question.choices.iter().enumerate();
        let mut ranked: Vec<(u8, usize)> =
            numbered.filter_map(|(n, choice)| rank(&choice.item, &wanted).map(|rank| (rank, n))).collect();
        ranked.sort_unstable();
        self.fitting = ranked.into_iter().map(|(_, n)| n).collect();
        self.chosen = (!self.fitting.is_empty()).then_some(0);
    }
}

/// How well a choice fits what was typed, 0 best; a name goes before what is said about it.
fn rank(item: &Item, wanted: &str) -> Option<u8> {
    let (name, about) = (item.name.to_lowercase(), item.about.to_lowercase());
    match () {
        () if name == wanted => Some(0),
        () if name.starts_with(wanted) => Some(1),
        () if name.contains(wanted) => Some(2),
        () if about.contains(wanted) => Some(3),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(question: Question, keys: Vec<Key>) -> Reply {
        let (mut dialog, mut reply) = Dialog::ask(question);
        keys.into_iter().for_each(|key| {
            dialog.key(key);
        });
        reply.try_recv().expect("an answer")
    }

    fn typed(text: &str) -> Vec<Key> {
        text.chars().map(|c| if c == '\n' { Key::Enter } else { Key::Char(c) }).collect()
    }

    fn permission() -> Question {
        let choice = |name: &str, words| Choice { words, ..Choice::new(name, "") };
        Question {
            choices: vec![choice("yes", &["y", "yes"]), choice("no", &["n", "no"])],
            ..Question::line("may it?", Words::Answer)
        }
    }

    #[test]
    fn words_of_a_choice_mean_it_and_other_words_are_an_answer() {
        assert_eq!(answered(permission(), typed("Y\n")), Reply::Chosen(0));
        assert_eq!(answered(permission(), typed("use mv\n")), Reply::Said("use mv".to_owned()));
        // Enter alone answers nothing where there is something to choose.
        assert_eq!(answered(permission(), typed("\nuse mv\n")), Reply::Said("use mv".to_owned()));
        assert_eq!(answered(Question::line("what?", Words::Answer), typed("\n")), Reply::Said(String::new()));
        assert_eq!(answered(permission(), vec![Key::Down, Key::Down, Key::Enter]), Reply::Chosen(1));
        assert_eq!(answered(permission(), vec![Key::Escape]), Reply::Cancelled);
    }

    #[test]
    fn a_name_goes_before_what_is_said_and_a_text_taken_back_leaves_what_was_proposed() {
        let choice = |name: &str, about: &str| Choice {
            item: Item { name: name.to_owned(), about: about.to_owned() },
            words: &[],
        };
        let choices =
            || vec![choice("generic", "any OpenAI-compatible server"), choice("openai", ""), choice("trust", "")];
        let pick = || Question::pick("which?", choices());
        assert_eq!(answered(pick(), typed("openai\n")), Reply::Chosen(1));
        let mut asked = pick();
        asked.chosen = Some(2);
        let keys = [typed("gen"), vec![Key::KillToHome, Key::Enter]].concat();
        assert_eq!(answered(asked, keys), Reply::Chosen(2));
    }

    #[test]
    fn typing_narrows_what_can_be_picked() {
        let choices = ["apple", "banana", "cherry"].map(|name| Choice::new(name, "")).to_vec();
        assert_eq!(answered(Question::pick("which?", choices.clone()), typed("an\n")), Reply::Chosen(1));
        assert_eq!(answered(Question::pick("which?", choices.clone()), vec![Key::Up, Key::Enter]), Reply::Chosen(2));
        assert_eq!(answered(Question::pick_or_say("which?", choices.clone()), typed("an\n")), Reply::Chosen(1));
        let own = answered(Question::pick_or_say("which?", choices), typed("another\n"));
        assert_eq!(own, Reply::Said("another".to_owned()));
    }

    #[test]
    fn whoever_goes_away_voids_the_question() {
        let (dialog, reply) = Dialog::ask(permission());
        assert!(!dialog.is_void());
        drop(reply);
        assert!(dialog.is_void());
    }
}
