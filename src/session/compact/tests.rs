//! Compaction within whole prompts, with a scripted model whose tokens are characters.

use super::*;
use crate::message::Outcome;
use crate::query::Reply;
use crate::session::tests::{World, reply, results, resumed, windowed};

const WHOLE: &str = "## Goal\nship it\n## Done\nread things\n## Decisions\nno new crate\n## Next\nread on";
const WINDOW: u64 = 5000;

fn too_long() -> Result<Reply, QueryError> {
    Err(QueryError::TooLong { what: "too long".to_owned(), hint: "h".to_owned(), code: Some(400) })
}

fn reads(count: usize) -> Vec<Result<Reply, QueryError>> {
    (0..count).map(|n| reply(&format!("r{n}"), &["read"])).collect()
}

/// Three turns of a thousand characters fill four fifths of the window.
fn script(after: Vec<Result<Reply, QueryError>>) -> World {
    windowed(reads(4).into_iter().chain(after).collect(), 50, WINDOW)
}

fn compactions(world: &World) -> Vec<(Means, bool)> {
    let ended = world.events().into_iter().filter_map(|kind| match kind {
        EventKind::CompactionEnded { means, before, after, .. } => Some((means, after * 100 <= before * 80)),
        _ => None,
    });
    ended.collect()
}

#[tokio::test]
async fn near_the_window_the_older_part_gives_way_and_the_facts_stay() {
    let mut world = script(vec![reply(WHOLE, &[]), reply("end", &["done"])]);
    let mut session = world.start();
    let report = session.prompt("please ship it by Friday", &CancellationToken::new()).await;
    assert_eq!(report.ending, Ending::Done);
    assert_eq!(compactions(&world), [(Means::Summary, true)]);
    let summary = session.summarised().expect("it stands first").plain_text();
    for fact in ["no new crate", "please ship it by Friday", "Files changed so far: b.rs, a.rs"] {
        assert!(summary.contains(fact), "{fact} is lost in {summary}");
    }
    // The summary's own tokens count too: four reads, the summary, the end.
    assert_eq!(report.usage.prompt, 60);
    assert!(session.tokens() < session.most_tokens());
    let asked = world.asked.lock().expect("free").clone();
    let is_summary = |messages: &&Vec<Message>| messages.len() == 2 && messages[1].plain_text().starts_with("[person]");
    assert_eq!(asked.iter().filter(is_summary).count(), 1);
    assert!(asked.iter().all(|messages| messages[0].role == Role::System));
}

#[tokio::test]
async fn between_compactions_each_request_begins_with_the_one_before() {
    let summaries = |n: usize| reply(&format!("{WHOLE} {n}"), &[]);
    let mut replies = Vec::new();
    for n in 0..4 {
        replies.extend(reads(if n == 0 { 4 } else { 3 }).into_iter().enumerate().map(|(at, read)| {
            // Ids are made from the words, and each is made once.
            read.map(|mut read| {
                read.calls.iter_mut().for_each(|call| call.id = format!("{n}-{at}"));
                read
            })
        }));
        replies.push(summaries(n));
    }
    let mut world = windowed(replies, 50, WINDOW);
    let mut session = world.start();
    let cancel = CancellationToken::new();
    let asked = world.asked.clone();
    let work = session.prompt("read all", &cancel);
    tokio::pin!(work);
    // The script ends in a model that never answers.
    for _ in 0..200 {
        assert!(futures::poll!(&mut work).is_pending());
    }
    let asked = asked.lock().expect("free").clone();
    let own: Vec<&Vec<Message>> = asked.iter().filter(|messages| messages[0].plain_text() == "system").collect();
    let broken = own.windows(2).filter(|pair| pair[1].get(..pair[0].len()) != Some(pair[0].as_slice())).count();
    let made = compactions(&world);
    assert!(made.len() >= 3 && made.iter().all(|made| *made == (Means::Summary, true)), "{made:?}");
    assert_eq!(broken, made.len());
}

#[tokio::test]
async fn a_summary_that_cannot_be_had_gives_way_to_a_list_of_what_happened() {
    let refused = || Err(QueryError::Refused { what: "no".to_owned(), hint: String::new(), code: None });
    for failing in [vec![refused()], vec![too_long(), too_long(), too_long()], vec![reply("", &[])]] {
        let mut world = script(failing.into_iter().chain([reply("end", &["done"])]).collect());
        let mut session = world.start();
        let report = session.prompt("go", &CancellationToken::new()).await;
        assert_eq!((report.ending, compactions(&world)), (Ending::Done, vec![(Means::Digest, true)]));
        let summary = session.summarised().expect("it stands first").plain_text();
        assert!(summary.contains("- read (done): rrr") && summary.contains("- go"), "{summary}");
    }
}

#[tokio::test]
async fn a_summary_without_its_headings_is_asked_for_once_more() {
    let mut world = script(vec![reply("just words", &[]), reply(WHOLE, &[]), reply("end", &["done"])]);
    let mut session = world.start();
    session.prompt("go", &CancellationToken::new()).await;
    assert_eq!(compactions(&world), [(Means::Summary, true)]);
    let asked = world.asked.lock().expect("free").clone();
    let again = asked
        .iter()
        .find(|messages| messages[0].plain_text() != "system" && messages.len() == 4)
        .expect("it was asked again");
    assert!(again[3].plain_text().contains("## Decisions"), "{again:?}");
    assert!(session.summarised().expect("it stands first").plain_text().contains("no new crate"));
}

#[tokio::test]
async fn what_gains_too_little_is_not_made_and_not_tried_again() {
    // The person's own words fill the window: they are never cut.
    let mut world = windowed(vec![reply(WHOLE, &[]), reply("a", &["edit"]), reply("b", &["edit"])], 2, WINDOW);
    let mut session = world.start();
    session.messages.push(Message::text(Role::Assistant, "hello"));
    let report = session.prompt(&"p".repeat(4500), &CancellationToken::new()).await;
    assert_eq!(report.ending, Ending::MaxTurns);
    assert_eq!(compactions(&world), [(Means::None, false)]);
}

#[tokio::test]
async fn the_servers_overflow_leads_to_one_compaction_and_one_more_try() {
    let mut replies = reads(3);
    replies.extend([too_long(), reply(WHOLE, &[]), reply("end", &["done"])]);
    let mut world = windowed(replies, 50, 1 << 40);
    let mut session = world.start();
    let report = session.prompt("go", &CancellationToken::new()).await;
    assert_eq!((report.ending, compactions(&world)), (Ending::Done, vec![(Means::Summary, true)]));
    assert!(session.most_tokens() < 3500, "what did not fit is the limit from now on");

    let mut replies = reads(3);
    replies.extend([too_long(), reply(WHOLE, &[]), too_long()]);
    let mut world = windowed(replies, 50, 1 << 40);
    let report = world.start().prompt("go", &CancellationToken::new()).await;
    assert_eq!((report.ending, compactions(&world)), (Ending::ModelRefused, vec![(Means::Summary, true)]));
}

#[tokio::test]
async fn one_result_that_fills_the_window_is_shortened_where_nothing_else_helps() {
    let mut world = windowed(vec![reply("a", &["read"]), reply(WHOLE, &[]), reply("end", &["done"])], 9, 1000);
    let mut session = world.start();
    let report = session.prompt("go", &CancellationToken::new()).await;
    assert_eq!(report.ending, Ending::Done);
    let texts: Vec<&Part> = session.messages().iter().flat_map(|message| &message.parts).collect();
    let cut = texts.iter().any(|part| matches!(part, Part::Result(r) if r.text.contains("characters left out")));
    assert!(cut && compactions(&world).iter().all(|(means, _)| *means != Means::None), "{texts:?}");
}

#[tokio::test]
async fn a_resumed_session_goes_on_compacted_and_remembers_the_facts() {
    let mut first = script(vec![reply(WHOLE, &[]), reply("end", &["done"])]);
    let mut session = first.start();
    session.prompt("ship it", &CancellationToken::new()).await;
    let (messages, facts, gone) = (session.messages().to_vec(), session.facts.clone(), session.gone);
    assert!(gone > 0);
    drop(session);
    let mut second = windowed(vec![reply("yes", &[])], 9, WINDOW);
    let mut session = resumed(&first.folder.path().join("s.jsonl"), &mut second);
    assert_eq!((session.messages(), &session.facts, session.gone), (messages.as_slice(), &facts, gone));
    assert_eq!(session.earlier(), []);
    session.prompt("and now?", &CancellationToken::new()).await;
    let earlier = session.earlier();
    assert_eq!(earlier.len(), 1);
    assert_eq!(earlier[0].place, gone + messages.len());
    // The record still has every result.
    let record = std::fs::read_to_string(first.folder.path().join("s.jsonl")).expect("the record");
    assert!(record.matches(&"r".repeat(1000)).count() >= 4);
    assert!(results(session.messages()).iter().all(|(_, outcome)| *outcome == Outcome::Done));
}

#[tokio::test]
async fn an_interrupt_while_it_is_summed_up_changes_nothing() {
    let mut world = script(vec![]);
    let mut session = world.start();
    let cancel = CancellationToken::new();
    let asked = world.asked.clone();
    let (report, ()) = tokio::join!(session.prompt("go", &cancel), async {
        while asked.lock().expect("free").len() < 5 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!((report.ending, compactions(&world)), (Ending::Interrupted, vec![(Means::None, false)]));
    assert_eq!(session.messages().len(), 10);
    assert!(session.summarised().is_none());
}

#[tokio::test]
async fn a_person_may_have_it_compacted_and_say_what_counts() {
    let mut replies = reads(3);
    replies.extend([reply("end", &["done"]), reply(WHOLE, &[])]);
    let mut world = windowed(replies, 50, 1 << 40);
    let mut session = world.start();
    session.prompt("go", &CancellationToken::new()).await;
    let (compacted, _) = session.compact("the parser", &CancellationToken::new()).await;
    assert_eq!((compacted, compactions(&world)), (Compacted::Shorter, vec![(Means::Summary, true)]));
    let asked = world.asked.lock().expect("free").clone();
    assert!(asked.last().is_some_and(|messages| messages[0].plain_text().contains("Heed above all: the parser")));
}
