//! Whole prompts with a scripted model.

use super::*;
use crate::event::{Event, Usage};
use crate::frontend::{Decision, Frontend};
use crate::message::Outcome;
use crate::prompt::{Prompts, Source};
use crate::query::{Capacity, Delta, QueryError, Request, State};
use crate::tool::{Answer, Effect, Tool};
use futures::future::{BoxFuture, pending, ready};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;

/// A model that says what it was told to, one reply a query, and then never answers again.
struct Script {
    window: u64,
    channel: Channel,
    replies: Mutex<VecDeque<Result<Reply, QueryError>>>,
    asked: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Model for Script {
    fn name(&self) -> &str {
        "script"
    }
    fn channel(&self) -> Channel {
        self.channel
    }
    fn capacity(&self) -> Capacity {
        Capacity { window: self.window, room: 0, is_known: true }
    }
    /// A token for each character.
    fn tokens(&self, request: &Request<'_>) -> u64 {
        let weigh = |part: &Part| match part {
            Part::Text { text } | Part::Thinking { text } => text.len() as u64,
            Part::Result(result) => result.text.len() as u64,
            Part::Call(_) | Part::Image { .. } => 0,
        };
        request.messages.iter().flat_map(|message| &message.parts).map(weigh).sum()
    }
    /// A dollar a token.
    fn cost(&self, usage: &Usage) -> Option<f64> {
        Some((usage.prompt + usage.completion) as f64)
    }
    fn ask<'a>(
        &'a self,
        request: Request<'a>,
        on: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<Reply, QueryError>> {
        self.asked.lock().expect("free").push(request.messages.to_vec());
        match self.replies.lock().expect("free").pop_front() {
            Some(reply) => Box::pin(ready(reply)),
            None => {
                on(Delta::Text("half a".to_owned()));
                Box::pin(pending())
            }
        }
    }
}

struct Work(&'static str, Effect, String);

impl Tool for Work {
    fn name(&self) -> &'static str {
        self.0
    }
    fn prompt(&self) -> &'static str {
        ""
    }
    fn schema(&self) -> Value {
        json!({})
    }
    fn effect(&self) -> Effect {
        self.1
    }
    fn call<'a>(&'a self, _arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(ready(Answer::done(self.2.clone()).with_detail(json!({ "files": ["b.rs", "a.rs", "b.rs"] }))))
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<Event>>);

impl Frontend for Heard {
    fn notify(&self, event: &Event) {
        self.0.lock().expect("free").push(event.clone());
    }
    fn approve<'a>(&'a self, _call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        Box::pin(ready(Decision::Nobody))
    }
}

pub(super) struct World {
    heard: Arc<Heard>,
    pub asked: Arc<Mutex<Vec<Vec<Message>>>>,
    pub parts: Option<Parts>,
    pub folder: tempfile::TempDir,
}

pub(super) fn reply(text: &str, calls: &[&str]) -> Result<Reply, QueryError> {
    let call = |(n, name): (usize, &&str)| ToolCall {
        id: format!("{text}-{n}"),
        name: (*name).to_owned(),
        arguments: Map::new(),
        channel: Channel::Text,
    };
    Ok(Reply {
        message: Message::text(Role::Assistant, format!("{text}<raw>")),
        visible: text.to_owned(),
        calls: calls.iter().enumerate().map(call).collect(),
        refusals: Vec::new(),
        state: State::Complete,
        finish: "stop".to_owned(),
        usage: Usage { prompt: 10, completion: 2, cached: 1, measured: true },
        cost_usd: Some(0.25),
    })
}

pub(super) fn world(replies: Vec<Result<Reply, QueryError>>, max_turns: u32) -> World {
    windowed(replies, max_turns, 1 << 40)
}

pub(super) fn windowed(replies: Vec<Result<Reply, QueryError>>, max_turns: u32, window: u64) -> World {
    let (heard, asked) = (Arc::new(Heard::default()), Arc::new(Mutex::new(Vec::new())));
    let model = Script { window, channel: Channel::Text, replies: Mutex::new(replies.into()), asked: asked.clone() };
    let parts = Parts {
        model: Arc::new(model),
        tools: vec![
            Box::new(Work("edit", Effect::Writes, "fine".to_owned())),
            Box::new(Work("read", Effect::Writes, "r".repeat(1000))),
            Box::new(Work("done", Effect::Ends, "fine".to_owned())),
        ],
        specs: Vec::new(),
        prompts: Prompts::load(Source::Embedded).expect("sound prompts"),
        system: "system".to_owned(),
        settings: turn::Settings { max_turns, ..turn::Settings::default() },
        memory: Settings::default(),
        mode: Mode::Auto,
        guard: crate::approve::Guard::default(),
        hooks: crate::hook::Hooks::default(),
        snapshots: None,
        check: check::Check::default(),
        root: "/w".to_owned(),
        frontend: heard.clone(),
        clock: Arc::new(|| 7),
        ids: Arc::new(|| "id".to_owned()),
        texts: &crate::texts::EN,
        helpers: None,
    };
    World { heard, asked, parts: Some(parts), folder: tempfile::tempdir().expect("a folder") }
}

impl World {
    pub fn start(&mut self) -> Session {
        let log = Log::create(self.folder.path(), "s", crate::redact::Redactor::new([])).expect("a log");
        Session::start(self.parts.take().expect("once"), "s".to_owned(), Some(log)).expect("it starts")
    }

    pub fn events(&self) -> Vec<EventKind> {
        self.heard.0.lock().expect("free").iter().map(|event| event.kind.clone()).collect()
    }
}

pub(super) fn resumed(path: &Path, world: &mut World) -> Session {
    let (log, recorded) = Log::open(path, crate::redact::Redactor::new([])).expect("it opens");
    Session::resume(world.parts.take().expect("once"), restore(recorded, "s").expect("it is whole"), log)
        .expect("it resumes")
}

pub(super) fn results(messages: &[Message]) -> Vec<(&str, Outcome)> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::Result(result) => Some((result.id.as_str(), result.outcome)),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn work_ends_with_done_and_the_report_counts_what_it_took() {
    let mut world = world(vec![reply("one", &["edit"]), reply("two", &["done"])], 9);
    let mut session = world.start();
    let report = session.prompt("please", &CancellationToken::new()).await;
    let usage = Usage { prompt: 20, completion: 4, cached: 2, measured: true };
    let files = vec!["a.rs".to_owned(), "b.rs".to_owned()];
    let summary = "fine".to_owned();
    let expected = Report { ending: Ending::Done, summary, files, commands: 0, turns: 2, usage, cost_usd: Some(0.5) };
    assert_eq!(report, expected);
    assert_eq!(results(session.messages()), [("one-0", Outcome::Done), ("two-0", Outcome::Done)]);
    let seqs: Vec<u64> = world.heard.0.lock().expect("free").iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert!(matches!(world.events().last(), Some(EventKind::Ended { exit_code: 0, turns: 2, .. })));
}

#[tokio::test]
async fn each_request_begins_with_the_one_before() {
    let mut world = world(vec![reply("a", &["edit"]), reply("b", &["done"]), reply("c", &[])], 9);
    let mut session = world.start();
    session.prompt("one", &CancellationToken::new()).await;
    session.prompt("two", &CancellationToken::new()).await;
    let asked = world.asked.lock().expect("free").clone();
    assert_eq!(asked.len(), 3);
    for pair in asked.windows(2) {
        let [before, after] = pair else { continue };
        assert_eq!(after.get(..before.len()), Some(before.as_slice()));
    }
}

#[tokio::test]
async fn without_done_the_work_is_unfinished_after_one_nudge() {
    let mut world = world(vec![reply("a", &["edit"]), reply("b", &[]), reply("c", &[])], 9);
    let report = world.start().prompt("x", &CancellationToken::new()).await;
    assert_eq!((report.ending, report.summary.as_str()), (Ending::Unfinished, "c"));
    let notice = world.events().into_iter().any(|kind| matches!(kind, EventKind::Notice { .. }));
    assert!(notice, "the person is told");
}

#[tokio::test]
async fn the_turns_run_out_after_a_warning() {
    let mut world = world(vec![reply("a", &["edit"]), reply("b", &["edit"])], 2);
    let report = world.start().prompt("x", &CancellationToken::new()).await;
    assert_eq!((report.ending, report.turns), (Ending::MaxTurns, 2));
    let asked = world.asked.lock().expect("free").clone();
    let last = asked.last().and_then(|messages| messages.last()).expect("a request");
    assert!(last.plain_text().contains("last turn"), "{last:?}");
}

#[tokio::test]
async fn a_model_that_refuses_ends_the_prompt_with_its_words_and_hint() {
    let refused =
        QueryError::Refused { what: "ask the model: 401".to_owned(), hint: "set a key".to_owned(), code: Some(401) };
    let mut world = world(vec![Err(refused)], 9);
    let report = world.start().prompt("x", &CancellationToken::new()).await;
    assert_eq!(report.ending, Ending::ModelRefused);
    let told = EventKind::Problem { text: "could not ask the model: 401\nset a key".to_owned() };
    assert!(world.events().contains(&told));
}

#[tokio::test]
async fn an_interrupt_while_the_model_speaks_keeps_what_it_said() {
    let mut world = world(vec![], 9);
    let mut session = world.start();
    let cancel = CancellationToken::new();
    let (report, ()) = tokio::join!(session.prompt("x", &cancel), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert_eq!(report.ending, Ending::Interrupted);
    assert_eq!(session.messages().last(), Some(&Message::text(Role::Assistant, "half a")));
    // And counts it, as far as it can be estimated.
    assert!(report.usage.prompt > 0 && report.usage.completion > 0 && !report.usage.measured, "{report:?}");
    assert_eq!(report.cost_usd, Some((report.usage.prompt + report.usage.completion) as f64));
}

#[tokio::test]
async fn a_record_cut_at_any_byte_resumes_into_a_valid_conversation() {
    let mut first = world(vec![reply("a", &["edit", "edit"]), reply("b", &["done"])], 9);
    let mut session = first.start();
    session.prompt("x", &CancellationToken::new()).await;
    let whole = session.messages().to_vec();
    drop(session);
    let bytes = std::fs::read(first.folder.path().join("s.jsonl")).expect("the record");
    // Inside a line every byte is alike (the log's own test tries each); the borders of lines are where it differs.
    let borders = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(n, _)| n);
    for length in [0, 1].into_iter().chain(borders.flat_map(|n| [n, n + 1, n + 2])) {
        let length = length.min(bytes.len());
        let mut world = world(vec![reply("again", &[])], 9);
        let path = world.folder.path().join("s.jsonl");
        std::fs::write(&path, bytes.get(..length).expect("within")).expect("the cut record");
        let mut session = resumed(&path, &mut world);
        let report = session.prompt("go on", &CancellationToken::new()).await;
        assert_eq!(report.ending, Ending::Done, "cut at {length}");
        let kept = session.messages().iter().zip(&whole).take_while(|(a, b)| a == b).count();
        let results = results(session.messages());
        let calls = if kept >= 3 { 2 } else { 0 } + if kept >= 5 { 1 } else { 0 };
        assert_eq!(results.len(), calls, "cut at {length}: {results:?}");
        assert_eq!(session.messages().first().map(|m| m.role), Some(Role::System), "cut at {length}");
    }
}

#[test]
fn a_conversation_with_a_hole_or_something_twice_is_not_resumed() {
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        name: "edit".to_owned(),
        arguments: Map::new(),
        channel: Channel::Native,
    };
    let calls = |id: &str| Message { role: Role::Assistant, parts: vec![Part::Call(call(id))] };
    let result =
        |id: &str| Message { role: Role::User, parts: vec![Part::Result(restore::lost_result(&call(id), ""))] };
    let (system, user) = (Message::text(Role::System, "s"), Message::text(Role::User, "u"));
    let tried = |messages: &[&Message]| {
        let entry = |message: &&Message| Entry::Message { at: 1, message: (*message).clone(), calls: vec![] };
        restore(Recorded { entries: messages.iter().map(entry).collect(), torn: 0 }, "s").map_err(|(n, _)| n)
    };
    let whole = [&system, &user, &calls("a"), &result("a"), &calls("b")];
    assert_eq!(tried(&whole).map(|restored| restored.lost.len()), Ok(1));
    assert_eq!(tried(&[&user]), Err(1));
    assert_eq!(tried(&[&system, &user, &calls("a"), &user]), Err(4));
    assert_eq!(tried(&[&system, &user, &calls("a"), &calls("a")]), Err(4));
    assert_eq!(tried(&[&system, &user, &calls("a"), &result("a"), &result("a")]), Err(5));
    assert_eq!(tried(&[&system, &user, &calls("a"), &result("a"), &calls("a")]), Err(5));
}

#[tokio::test]
async fn clearing_forgets_the_conversation_and_is_remembered() {
    let mut first = world(vec![reply("a", &[])], 9);
    let mut session = first.start();
    session.prompt("x", &CancellationToken::new()).await;
    session.clear().expect("it is recorded");
    assert_eq!(session.messages().len(), 1);
    drop(session);
    let mut second = world(vec![], 9);
    let session = resumed(&first.folder.path().join("s.jsonl"), &mut second);
    assert_eq!(session.messages(), [Message::text(Role::System, "system")]);
}

/// A person who is asked whether work that goes in circles may go on.
struct Patient(Mutex<VecDeque<Decision>>, Arc<Heard>);

impl Frontend for Patient {
    fn notify(&self, event: &Event) {
        self.1.notify(event);
    }
    fn approve<'a>(&'a self, _call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        Box::pin(ready(Decision::Nobody))
    }
    fn go_on<'a>(&'a self, _name: &'a str, _call: Option<&'a ToolCall>) -> BoxFuture<'a, Decision> {
        Box::pin(ready(self.0.lock().expect("free").pop_front().unwrap_or(Decision::Nobody)))
    }
}

#[tokio::test]
async fn a_person_decides_whether_work_that_goes_in_circles_goes_on() {
    let circle = |n: usize| {
        let mut replies: Vec<_> = (0..n).map(|n| reply(&format!("r{n}"), &["look"])).collect();
        replies.push(reply("end", &["done"]));
        let mut world = world(replies, 50);
        let parts = world.parts.as_mut().expect("there");
        parts.tools.push(Box::new(Work("look", Effect::Reads, "the same".to_owned())));
        world
    };
    let no = || Decision::Deny { why: String::new() };
    let cases: [(usize, Vec<Decision>, Ending, u32); 4] = [
        (9, vec![Decision::Allow], Ending::Done, 10),
        (9, vec![no()], Ending::Looping, 5),
        (10, vec![Decision::Allow, no()], Ending::Looping, 10),
        (9, vec![], Ending::Looping, 7),
    ];
    for (calls, answers, ending, turns) in cases {
        let mut world = circle(calls);
        let patient = Arc::new(Patient(Mutex::new(answers.into()), world.heard.clone()));
        world.parts.as_mut().expect("there").frontend = patient;
        let report = world.start().prompt("x", &CancellationToken::new()).await;
        assert_eq!((report.ending, report.turns), (ending, turns));
    }
}
