//! The order of calls, `done`, permission and interrupts, with tools and a frontend made for the purpose.

use super::*;
use crate::event::{Event, Usage};
use crate::message::{Channel, Message, Role};
use crate::prompt::Source;
use crate::query::State;
use crate::tool::Answer;
use futures::future::{BoxFuture, pending, ready};
use serde_json::Map;
use std::sync::Mutex;

/// A tool that answers as told, or never.
struct Fixed(&'static str, Effect, Option<Answer>);

impl Tool for Fixed {
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
        match self.2.clone() {
            Some(answer) => Box::pin(ready(answer)),
            None => Box::pin(pending()),
        }
    }
}

struct Person(Decision);

impl Frontend for Person {
    fn notify(&self, _event: &Event) {}
    fn approve<'a>(&'a self, _call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        Box::pin(ready(self.0.clone()))
    }
}

struct Nobody;

impl Delegate for Nobody {
    fn delegate<'s>(&'s self, _call: &'s ToolCall) -> LocalBoxFuture<'s, Answer> {
        Box::pin(ready(Answer::failed("nobody")))
    }
}

fn tools() -> Vec<Box<dyn Tool>> {
    let edit = Answer::done("ok").with_detail(json!({ "files": ["a.rs"] }));
    vec![
        Box::new(Fixed("view", Effect::Reads, Some(Answer::done("text")))),
        Box::new(Fixed("edit", Effect::Writes, Some(edit))),
        Box::new(Fixed("bash", Effect::Runs, Some(Answer::failed("exit 1")))),
        Box::new(Fixed("hang", Effect::Reads, None)),
        Box::new(Fixed("done", Effect::Ends, Some(Answer::done("all good")))),
    ]
}

fn reply(names: &[&str]) -> Reply {
    let call = |(n, name): (usize, &&str)| ToolCall {
        id: format!("c{n}"),
        name: (*name).to_owned(),
        arguments: Map::new(),
        channel: Channel::Text,
    };
    Reply {
        message: Message::text(Role::Assistant, ""),
        visible: String::new(),
        calls: names.iter().enumerate().map(call).collect(),
        refusals: Vec::new(),
        state: State::Complete,
        finish: "stop".to_owned(),
        usage: Usage::default(),
        cost_usd: None,
    }
}

async fn ran(mode: Mode, decision: Decision, reply: &Reply, cancel: CancellationToken) -> (Ran, Vec<String>) {
    let started = Mutex::new(Vec::new());
    let emit = |kind| {
        if let EventKind::CallStarted { call } = kind {
            started.lock().expect("no panic while held").push(call.name);
        }
    };
    let hands = Hands {
        tools: &tools(),
        prompts: &Prompts::load(Source::Embedded).expect("sound prompts"),
        mode,
        frontend: &Person(decision),
        emit: &emit,
        id: &|| "made".to_owned(),
        guard: &Guard::default(),
        hooks: &Hooks::default(),
        snapshots: None,
        helpers: &Nobody,
        texts: &crate::texts::EN,
        cancel: &cancel,
    };
    let ran = run(&hands, reply).await;
    (ran, started.into_inner().expect("no panic while held"))
}

async fn auto(names: &[&str]) -> (Ran, Vec<String>) {
    ran(Mode::Auto, Decision::Nobody, &reply(names), CancellationToken::new()).await
}

fn outcomes(ran: &Ran) -> Vec<Outcome> {
    ran.results.iter().map(|result| result.outcome).collect()
}

#[tokio::test]
async fn done_counts_after_calls_that_succeeded_and_nothing_runs_after_it() {
    let (ran, started) = auto(&["edit", "done", "bash"]).await;
    assert_eq!(outcomes(&ran), [Outcome::Done, Outcome::Done, Outcome::Refused]);
    assert_eq!(ran.done.as_deref(), Some("all good"));
    assert_eq!(started, ["edit", "done"]);
    assert_eq!((ran.files, ran.commands), (vec!["a.rs".to_owned()], 0));
}

#[tokio::test]
async fn done_after_a_failed_call_does_not_count_and_says_which() {
    let (ran, _) = auto(&["view", "bash", "done"]).await;
    assert_eq!(outcomes(&ran), [Outcome::Done, Outcome::Failed, Outcome::Failed]);
    assert_eq!(ran.done, None);
    assert!(ran.results.last().is_some_and(|r| r.text.contains("`bash`")));
    assert_eq!(ran.commands, 1);
}

#[tokio::test]
async fn done_beside_a_refused_call_does_not_count() {
    let mut reply = reply(&["done"]);
    let why = "close the tag".to_owned();
    reply.refusals.push(Refusal { id: None, name: "create".to_owned(), class: "unclosed", why });
    let (ran, _) = ran(Mode::Auto, Decision::Nobody, &reply, CancellationToken::new()).await;
    assert_eq!(outcomes(&ran), [Outcome::Refused, Outcome::Failed]);
    assert_eq!(ran.results.first().map(|r| r.id.as_str()), Some("made"));
}

#[tokio::test]
async fn what_a_person_denies_or_cannot_be_asked_does_not_run() {
    for decision in [Decision::Nobody, Decision::Deny { why: "no".to_owned() }] {
        let (ran, started) = ran(Mode::Ask, decision, &reply(&["edit", "view"]), CancellationToken::new()).await;
        assert_eq!(outcomes(&ran), [Outcome::Refused, Outcome::Done]);
        assert_eq!(started, ["view"]);
    }
    let (ran, started) = ran(Mode::Ask, Decision::Allow, &reply(&["edit"]), CancellationToken::new()).await;
    assert_eq!((outcomes(&ran), started), (vec![Outcome::Done], vec!["edit".to_owned()]));
}

#[tokio::test]
async fn read_only_refuses_without_a_question() {
    let (ran, started) =
        ran(Mode::ReadOnly, Decision::Allow, &reply(&["edit", "bash"]), CancellationToken::new()).await;
    assert_eq!((outcomes(&ran), started), (vec![Outcome::Refused, Outcome::Refused], vec![]));
}

#[tokio::test]
async fn an_interrupt_leaves_a_result_for_every_call() {
    let cancel = CancellationToken::new();
    let reply = reply(&["view", "hang", "edit"]);
    let work = ran(Mode::Auto, Decision::Nobody, &reply, cancel.clone());
    let ((ran, started), ()) = tokio::join!(work, async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert_eq!(outcomes(&ran), [Outcome::Done, Outcome::Interrupted, Outcome::Interrupted]);
    assert_eq!(started, ["view", "hang"]);
    assert!(ran.interrupted);
}

#[test]
fn a_result_that_is_too_long_is_cut_in_the_middle_at_characters() {
    let text = bounded("界".repeat(MAX_RESULT));
    assert!(text.len() < MAX_RESULT + 100 && text.contains("bytes left out]"));
    assert_eq!(bounded("short".to_owned()), "short");
}
