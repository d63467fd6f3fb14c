//! Helpers within whole prompts; the helper is asked from the same script as the session that sends it.

use super::*;
use crate::message::{Outcome, Part};
use crate::query::{QueryError, Reply};
use crate::session::tests::{World, reply, world};
use crate::tool::Effect;
use crate::turn::Limits;
use serde_json::Map;

/// A tool by name and effect.
struct Named(&'static str, Effect);

impl Tool for Named {
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
        Box::pin(futures::future::ready(Answer::done("fine").with_detail(json!({ "files": ["h.rs"] }))))
    }
}

fn tools() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(Named("change", Effect::Writes)),
        Box::new(Named("done", Effect::Ends)),
        Box::new(Named("look", Effect::Reads)),
        Box::new(Named("task", Effect::Delegates)),
    ]
}

fn sends(access: &str) -> Result<Reply, QueryError> {
    reply("s", &["task"]).map(|mut reply| {
        for call in &mut reply.calls {
            let arguments = json!({ "prompt": "find it", "access": access });
            call.arguments = arguments.as_object().cloned().expect("an object");
        }
        reply
    })
}

fn with_helpers(replies: Vec<Result<Reply, QueryError>>) -> World {
    let mut world = world(replies, 9);
    let parts = world.parts.as_mut().expect("there");
    parts.tools = tools();
    let crew: MakeCrew = Arc::new(|access, _| {
        let mut tools = tools();
        tools.retain(|tool| access.has(tool.as_ref()));
        Ok(Crew { tools, specs: Vec::new(), system: "a helper".to_owned() })
    });
    let folder = Some(world.folder.path().to_owned());
    parts.helpers = Some(Helpers { crew, folder, redactor: Redactor::new([]) });
    world
}

fn result_of_task(session: &Session) -> (Outcome, String) {
    let parts = session.messages().iter().flat_map(|message| &message.parts);
    let mut results = parts.filter_map(|part| match part {
        Part::Result(result) if result.name == "task" => Some((result.outcome, result.text.clone())),
        _ => None,
    });
    results.next().expect("the task has its result")
}

#[tokio::test]
async fn a_helper_begins_empty_and_only_its_answer_comes_back() {
    let replies = vec![sends("read"), reply("h1", &["look"]), reply("found in a.rs", &["done"]), reply("e", &["done"])];
    let mut world = with_helpers(replies);
    let mut session = world.start();
    let report = session.prompt("please", &CancellationToken::new()).await;
    assert_eq!((report.ending, report.turns, report.usage.prompt), (Ending::Done, 2, 40));
    assert_eq!(result_of_task(&session), (Outcome::Done, "fine".to_owned()));
    let asked = world.asked.lock().expect("free").clone();
    assert_eq!(asked[1].len(), 2, "{:?}", asked[1]);
    assert_eq!(asked[1][0].plain_text(), "a helper");
    let first = asked[1][1].plain_text();
    assert!(first.starts_with("find it\n\n(You are a helper") && first.contains("neither change nor run"), "{first}");
    let inner = |kind: &EventKind| matches!(kind, EventKind::Task { call, .. } if call == "s-0");
    let events = world.events();
    let (from, to) = (events.iter().position(inner), events.iter().rposition(inner));
    let ended =
        events.iter().rposition(|kind| matches!(kind, EventKind::CallEnded { result } if result.name == "task"));
    assert!(from.is_some() && to < ended, "{events:?}");
    assert!(world.folder.path().join("s/id.jsonl").is_file(), "its record lies beside the session's");
}

#[tokio::test]
async fn a_reading_helper_changes_nothing_and_none_has_helpers_of_its_own() {
    for (access, tool, text) in [("read", "change", "no tool named"), ("full", "task", "no tool named")] {
        let replies = vec![sends(access), reply("h", &[tool]), reply("h2", &["done"]), reply("e", &["done"])];
        let mut world = with_helpers(replies);
        world.start().prompt("x", &CancellationToken::new()).await;
        let asked = world.asked.lock().expect("free").clone();
        let seen = format!("{:?}", asked[2].last());
        assert!(seen.contains(text), "{seen}");
    }
}

#[tokio::test]
async fn a_helper_takes_from_the_budget_of_whoever_sends_it() {
    let mut world = with_helpers(vec![sends("read"), reply("h", &["look"]), reply("h2", &["look"])]);
    let limits = Limits { tokens: Some(24), ..Limits::default() };
    world.parts.as_mut().expect("there").settings.limits = limits;
    let mut session = world.start();
    let report = session.prompt("x", &CancellationToken::new()).await;
    assert_eq!((report.ending, report.usage.prompt), (Ending::MaxTokens, 20));
    assert!(result_of_task(&session).1.contains("did not finish (max_tokens)"));
}

#[tokio::test]
async fn an_interrupt_ends_the_helper_too_and_leaves_a_result_for_every_call() {
    let mut world = with_helpers(vec![sends("read"), reply("h", &["look"])]);
    let mut session = world.start();
    let cancel = CancellationToken::new();
    let asked = world.asked.clone();
    let (report, ()) = tokio::join!(session.prompt("x", &cancel), async {
        while asked.lock().expect("free").len() < 3 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!((report.ending, result_of_task(&session).0), (Ending::Interrupted, Outcome::Interrupted));
    let inner = world.events().into_iter().filter_map(|kind| match kind {
        EventKind::Task { event, .. } => Some(event.kind),
        _ => None,
    });
    assert!(inner.into_iter().any(|kind| matches!(kind, EventKind::Ended { ending: Ending::Interrupted, .. })));
}

#[tokio::test]
async fn a_task_that_cannot_be_given_says_why() {
    for (access, why) in [("write", "read or full"), ("read", "there are no helpers")] {
        let mut world = with_helpers(vec![sends(access), reply("e", &["done"])]);
        if access == "read" {
            world.parts.as_mut().expect("there").helpers = None;
        }
        let mut session = world.start();
        session.prompt("x", &CancellationToken::new()).await;
        let (outcome, text) = result_of_task(&session);
        assert!(outcome == Outcome::Failed && text.contains(why), "{text}");
    }
}
