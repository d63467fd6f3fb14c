//! The client against a real HTTP server on loopback, and against cassettes.

#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::message::{Message, Role};
use crate::query::settings::ChannelChoice;
use crate::query::tape::OnDrift;
use crate::query::usage::Price;
use crate::query::{State, ToolSpec};
use crate::redact::Redactor;
use selfsmith_cassette::{
    Answer, Answering, Call, Handler, Header, Listener, Normaliser, Player, PlayerHandler, Recorder, Server,
    Tape as File, serve,
};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::SystemTime;

/// A server that plays these replies, one JSON line each.
fn server(lines: &[&str]) -> (Server, Arc<PlayerHandler>) {
    let text =
        format!("{{\"cassette\":1}}\n{}\n", lines.iter().map(|l| format!("{{\"reply\":{l}}}\n")).collect::<String>());
    let player = Player::new(File::parse("test", &text).unwrap(), Normaliser::default());
    let handler = Arc::new(PlayerHandler::new(player, false));
    (start(Arc::clone(&handler) as Arc<dyn Handler>), handler)
}

fn start(handler: Arc<dyn Handler>) -> Server {
    let _ = rustls::crypto::ring::default_provider().install_default();
    serve(Listener::Tcp(TcpListener::bind("127.0.0.1:0").unwrap()), handler).unwrap()
}

fn settings(server: Option<&Server>) -> Settings {
    let mut settings = Settings {
        base_url: server.and_then(Server::base_url),
        name: Some("m".into()),
        channel: ChannelChoice::Text,
        stall_timeout_s: 0.3,
        first_token_timeout_s: 5.0,
        ..Settings::default()
    };
    settings.retry.first_wait_ms = 1;
    settings.prices.insert("m".into(), Price { input: 1.0, output: 2.0, cached: None });
    settings
}

fn client(settings: Settings, tape: Tape) -> Client {
    let growth = Growth { initial_max_tokens: 100, max_tokens_limit: 300, max_retries: 3 };
    let surroundings = Surroundings { now: SystemTime::now, dice: || 0.5 };
    Client::new(settings, growth, &BTreeMap::new(), tape, surroundings).unwrap()
}

fn asked() -> Vec<Message> {
    vec![Message::text(Role::System, "s"), Message::text(Role::User, "q")]
}

fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "view",
        aliases: &[],
        description: "Shows a file.".into(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
        body: None,
    }]
}

/// The reply and everything that was told meanwhile.
fn ask(client: &Client, messages: &[Message]) -> (Result<Reply, QueryError>, Vec<Delta>) {
    ask_within(client, messages, None)
}

/// The same with so many tokens left.
fn ask_within(
    client: &Client,
    messages: &[Message],
    tokens_left: Option<u64>,
) -> (Result<Reply, QueryError>, Vec<Delta>) {
    let told = Mutex::new(Vec::new());
    let tools = tools();
    let reply = {
        let on = |delta| told.lock().unwrap().push(delta);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(client.ask(Request { messages, tools: &tools, model: None, tokens_left }, &on))
    };
    (reply, told.into_inner().unwrap())
}

fn limits(handler: &PlayerHandler) -> Vec<u64> {
    handler.requests().iter().map(|request| request["max_tokens"].as_u64().unwrap()).collect()
}

#[test]
fn a_reply_comes_back_with_its_calls_tokens_and_cost() {
    let (server, handler) = server(&[
        r#"{"text":"Look: <view path=\"a.rs\"/>","thinking":"hm","usage":{"prompt_tokens":1000,"completion_tokens":500}}"#,
    ]);
    let (reply, told) = ask(&client(settings(Some(&server)), Tape::Off), &asked());
    let reply = reply.unwrap();
    assert_eq!((reply.visible.as_str(), &reply.state, reply.finish.as_str()), ("Look:", &State::Complete, "stop"));
    assert_eq!(reply.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["view"]);
    assert_eq!(reply.message.plain_text(), "Look: <view path=\"a.rs\"/>");
    assert!(reply.usage.measured && (reply.cost_usd.unwrap() - 0.002).abs() < 1e-9, "{reply:?}");
    assert!(told.contains(&Delta::Thinking("h".into())), "{told:?}");
    let request = &handler.requests()[0];
    assert_eq!((&request["stream"], &request["stream_options"]["include_usage"]), (&json!(true), &json!(true)));
    assert_eq!(request.get("tools"), None);
}

#[test]
fn a_blocking_request_gives_the_same_reply() {
    let (server, handler) =
        server(&[r#"{"text":"a","thinking":"t","calls":[{"id":"c","name":"view","arguments":{"path":"x"}}]}"#]);
    let settings = Settings { stream: false, channel: ChannelChoice::Native, ..settings(Some(&server)) };
    let (reply, _) = ask(&client(settings, Tape::Off), &asked());
    let reply = reply.unwrap();
    assert_eq!((reply.visible.as_str(), reply.calls[0].id.as_str()), ("a", "c"));
    let request = &handler.requests()[0];
    assert_eq!((&request["stream"], &request["tools"][0]["function"]["name"]), (&json!(false), &json!("view")));
}

#[test]
fn a_limit_of_tokens_holds_for_what_would_be_asked_again() {
    let cut = r#"{"text":"a a a","finish":"length","usage":{"prompt_tokens":1000,"completion_tokens":3000}}"#;
    let (server, handler) = server(&[cut, cut, cut]);
    let (reply, _) = ask_within(&client(settings(Some(&server)), Tape::Off), &asked(), Some(4000));
    let reply = reply.unwrap();
    assert_eq!((handler.requests().len(), reply.usage.completion), (1, 3000));
    assert!(limits(&handler)[0] <= 4000, "{:?}", limits(&handler));
    assert!(matches!(reply.state, State::Truncated { .. }));
}

#[test]
fn what_broke_off_was_paid_for_too() {
    let words = "word ".repeat(300);
    let broken = format!(
        r#"{{"chunks":["data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{words}\"}}}}]}}\n\n"],"then":"reset"}}"#
    );
    let (server, _) = server(&[&broken, r#"{"text":"fine"}"#]);
    let (reply, _) = ask(&client(settings(Some(&server)), Tape::Off), &asked());
    let usage = reply.unwrap().usage;
    assert!(usage.completion > 200 && !usage.measured, "{usage:?}");
}

#[test]
fn failures_before_the_first_token_are_retried_without_a_trace_in_the_text() {
    let (server, handler) = server(&[
        r#"{"status":429,"body":"{}"}"#,
        r#"{"status":503,"body":"<html><title>Down</title></html>"}"#,
        r#"{"chunks":["data: {\"error\":{\"message\":\"busy\",\"code\":502}}\n\n"]}"#,
        r#"{"chunks":[": keep-alive\n\n"],"then":"reset"}"#,
        r#"{"text":"fine"}"#,
    ]);
    let (reply, told) = ask(&client(settings(Some(&server)), Tape::Off), &asked());
    assert_eq!(reply.unwrap().visible, "fine");
    assert_eq!(told.iter().filter(|delta| matches!(delta, Delta::Retrying { .. })).count(), 4);
    assert!(!told.iter().any(|delta| matches!(delta, Delta::Superseded { .. })), "{told:?}");
    assert_eq!(handler.requests().len(), 5);
}

#[test]
fn a_stream_that_breaks_off_midway_is_asked_for_again_and_what_was_shown_is_void() {
    let (server, _handler) = server(&[
        r#"{"chunks":["data: {\"choices\":[{\"delta\":{\"content\":\"bad half. \"}}]}\n\n"],"then":"reset"}"#,
        r#"{"text":"good"}"#,
    ]);
    let (reply, told) = ask(&client(settings(Some(&server)), Tape::Off), &asked());
    assert_eq!(reply.unwrap().message.plain_text(), "good");
    let void = told.iter().rposition(|delta| matches!(delta, Delta::Superseded { .. })).unwrap();
    let after: String =
        told[void..].iter().filter_map(|d| if let Delta::Text(t) = d { Some(t.as_str()) } else { None }).collect();
    assert_eq!(after, "good");
}

#[test]
fn silence_within_a_reply_ends_in_a_cut_one_that_says_so() {
    let stalled = r#"{"chunks":["data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"],"then":"stall"}"#;
    let (server, handler) = server(&[stalled, stalled, stalled]);
    let (reply, _) = ask(&client(settings(Some(&server)), Tape::Off), &asked());
    let reply = reply.unwrap();
    assert_eq!(reply.message.plain_text(), "half");
    assert!(matches!(&reply.state, State::Truncated { why } if why.contains("idle_timeout")), "{:?}", reply.state);
    assert_eq!(handler.requests().len(), 3);
}

#[test]
fn a_refused_key_ends_at_once_with_the_servers_words_and_the_remedy() {
    let (server, handler) = server(&[r#"{"status":401,"body":"{\"error\":{\"message\":\"Incorrect API key\"}}"}"#]);
    let (reply, _) = ask(&client(settings(Some(&server)), Tape::Off), &asked());
    let error = reply.unwrap_err();
    assert!(matches!(error, QueryError::Refused { code: Some(401), .. }), "{error:?}");
    assert!(error.to_string().contains("Incorrect API key") && error.hint().contains("key"), "{error}");
    assert_eq!(handler.requests().len(), 1);
}

#[test]
fn a_reply_cut_by_its_limit_is_asked_for_again_with_twice_the_room_until_the_limit_of_all() {
    let cut = r#"{"text":"half","finish":"length","usage":{"prompt_tokens":30,"completion_tokens":20}}"#;
    let (grows, handler) = server(&[cut, r#"{"text":"whole","usage":{"prompt_tokens":30,"completion_tokens":40}}"#]);
    let (reply, told) = ask(&client(settings(Some(&grows)), Tape::Off), &asked());
    let reply = reply.unwrap();
    assert_eq!((reply.visible.as_str(), reply.state), ("whole", State::Complete));
    assert_eq!((reply.usage.prompt, reply.usage.completion), (60, 60));
    assert_eq!(limits(&handler), [100, 200]);
    assert!(told.iter().any(|delta| matches!(delta, Delta::Superseded { .. })));

    let (never, handler) = server(&[cut, cut, cut]);
    let (reply, _) = ask(&client(settings(Some(&never)), Tape::Off), &asked());
    let reply = reply.unwrap();
    assert!(matches!(reply.state, State::Truncated { .. }));
    assert_eq!((limits(&handler), reply.finish.as_str()), (vec![100, 200, 300], "length"));
}

#[test]
fn a_limit_that_the_server_does_not_take_is_lowered_to_what_it_names() {
    let (server, handler) = server(&[
        r#"{"status":400,"body":"{\"error\":{\"message\":\"Range of max_tokens should be [1, 64]\"}}"}"#,
        r#"{"text":"a"}"#,
        r#"{"text":"b"}"#,
    ]);
    let client = client(settings(Some(&server)), Tape::Off);
    assert!(ask(&client, &asked()).0.is_ok() && ask(&client, &asked()).0.is_ok());
    assert_eq!(limits(&handler), [100, 64, 64]);
}

#[test]
fn requests_of_a_conversation_grow_only_at_their_end() {
    let (server, handler) = server(&[r#"{"text":"one"}"#, r#"{"text":"two"}"#]);
    let client = client(Settings { channel: ChannelChoice::Native, ..settings(Some(&server)) }, Tape::Off);
    let mut messages = asked();
    messages.push(ask(&client, &messages).0.unwrap().message);
    messages.push(Message::text(Role::User, "more"));
    ask(&client, &messages).0.unwrap();
    let bodies: Vec<String> = handler.requests().iter().map(ToString::to_string).collect();
    let (before, _) = bodies[0].split_once("],\"stream\"").unwrap();
    assert!(bodies[1].starts_with(&format!("{before},{{\"role\":\"assistant\"")), "{bodies:?}");
}

/// Answers chat only below `/v1`, and tells what it was sent.
#[derive(Default)]
struct OnlyV1(Mutex<Vec<(String, Option<String>)>>);

impl Handler for OnlyV1 {
    fn answer(&self, call: Call) -> Answering<'_> {
        let key = call.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.clone());
        self.0.lock().unwrap().push((call.path.clone(), key));
        let answer = match call.path.as_str() {
            "/v1/chat/completions" => {
                Answer::json(200, r#"{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}"#.into())
            }
            _ => Answer::error(404, "not_found", "no such path"),
        };
        Box::pin(std::future::ready(answer))
    }
}

#[test]
fn a_base_url_without_its_v1_is_completed_and_told_and_the_key_is_sent_trimmed_and_never_shown() {
    let handler = Arc::new(OnlyV1::default());
    let server = start(Arc::clone(&handler) as Arc<dyn Handler>);
    let base_url = server.base_url().unwrap().trim_end_matches("/v1").to_owned();
    let settings = Settings { base_url: Some(base_url), ..settings(None) };
    let environment = BTreeMap::from([("SELFSMITH_API_KEY".to_owned(), " sk-secret\n".to_owned())]);
    let surroundings = Surroundings { now: SystemTime::now, dice: || 0.5 };
    let client = Client::new(settings, Growth::default(), &environment, Tape::Off, surroundings).unwrap();
    let (reply, told) = ask(&client, &asked());
    assert_eq!(reply.unwrap().visible, "fine");
    assert!(told.iter().any(|delta| matches!(delta, Delta::Notice(text) if text.contains("/v1"))), "{told:?}");
    let key = Some("Bearer sk-secret".to_owned());
    let want = vec![("/chat/completions".to_owned(), key.clone()), ("/v1/chat/completions".to_owned(), key)];
    assert_eq!(*handler.0.lock().unwrap(), want);
    assert!(!format!("{client:?}").contains("sk-secret"));
}

#[test]
fn what_is_recorded_replays_to_the_same_reply_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let replies = [
        r#"{"text":"<think>t</think>a","usage":{"prompt_tokens":9,"completion_tokens":3}}"#,
        r#"{"text":"","calls":[{"id":"c1","name":"view","arguments":"{\"path\":\"x\"}"}]}"#,
        r#"{"text":"cut","finish":""}"#,
    ];
    let (server, _handler) = server(&[replies[0], replies[1], replies[2], replies[2], replies[2]]);
    let live = client(
        settings(Some(&server)),
        Tape::record(
            Recorder::create(&path, &Header::new(None, None), Normaliser::default()).unwrap(),
            Redactor::new([]),
        ),
    );
    let mut said: Vec<Reply> = (0..3).map(|_| ask(&live, &asked()).0.unwrap()).collect();
    drop(server);

    let replay = client(
        settings(None),
        Tape::replay(Player::new(File::read(&path).unwrap(), Normaliser::default()), OnDrift::End, Redactor::new([])),
    );
    let replayed: Vec<Reply> = (0..3).map(|_| ask(&replay, &asked()).0.unwrap()).collect();
    // The last was tried three times, and all three were paid for; one of them is on the tape.
    assert_eq!(said[2].usage.prompt, 3 * replayed[2].usage.prompt);
    (said[2].usage, said[2].cost_usd) = (replayed[2].usage, replayed[2].cost_usd);
    assert_eq!(said, replayed);
    assert!(matches!(said[2].state, State::Truncated { .. }));
    let end = ask(&replay, &asked()).0.unwrap_err();
    assert!(matches!(end, QueryError::Cassette { .. }) && end.to_string().contains("ends after 3 turns"), "{end}");
}

#[test]
fn a_recording_holds_no_secret_and_replays_where_the_prompt_still_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let redactor = || Redactor::new(["hunter2hunter2".to_owned()]);
    let header = Header::new(None, None);
    let tape = Tape::record(Recorder::create(&path, &header, Normaliser::default()).unwrap(), redactor());
    let request = serde_json::json!({ "messages": [{ "role": "user", "content": "it is hunter2hunter2" }] });
    let reply: selfsmith_cassette::Reply = serde_json::from_value(serde_json::json!({
        "text": "so hunter2hunter2",
        "calls": [{ "name": "bash", "arguments": { "command": "echo hunter2hunter2" } }],
    }))
    .unwrap();
    tape.keep(&request, &reply).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("hunter2") && text.contains("so [redacted]") && text.contains("echo [redacted]"), "{text}");
    let player = Player::new(File::read(&path).unwrap(), Normaliser::default());
    let Tape::Replay(replaying) = Tape::replay(player, OnDrift::End, redactor()) else { panic!("it replays") };
    assert!(replaying.answer(&request).is_ok());
}

#[test]
fn a_differing_request_is_told_and_fatal_when_strict() {
    let tape = |drift| {
        let lines = "{\"cassette\":1}\n{\"request\":{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]},\"reply\":{\"text\":\"a\"}}\n";
        Tape::replay(Player::new(File::parse("t", lines).unwrap(), Normaliser::default()), drift, Redactor::new([]))
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (reply, told) = ask(&client(settings(None), tape(OnDrift::Tell)), &asked());
    assert_eq!(reply.unwrap().visible, "a");
    assert!(told.iter().any(|d| matches!(d, Delta::Notice(text) if text.contains("turn 1, message 0"))), "{told:?}");
    let (reply, _) = ask(&client(settings(None), tape(OnDrift::End)), &asked());
    assert!(matches!(reply.unwrap_err(), QueryError::Cassette { .. }));
}

#[test]
fn what_is_missing_is_named_before_anything_is_sent() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let surroundings = Surroundings { now: SystemTime::now, dice: || 0.5 };
    let error = |settings: Settings, pairs: &[(&str, &str)]| {
        let environment = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let error = Client::new(settings, Growth::default(), &environment, Tape::Off, surroundings).unwrap_err();
        format!("{error}; {}", error.hint())
    };
    let named =
        |provider: &str| Settings { provider: Some(provider.into()), name: Some("m".into()), ..Settings::default() };
    assert!(error(named("deepseek"), &[]).contains("DEEPSEEK_API_KEY"));
    assert!(error(named("depseek"), &[]).contains("deepseek"));
    assert!(error(Settings::default(), &[]).contains("SELFSMITH_BASE_URL"));
    assert!(error(named("openai"), &[("OPENAI_API_KEY", "sk a")]).contains("OPENAI_API_KEY"));
    let nameless = Settings { name: None, ..named("openai") };
    assert!(error(nameless, &[("OPENAI_API_KEY", "k")]).contains("SELFSMITH_MODEL"));
    // A provider's key does not go to a foreign address that merely calls itself so by default.
    let foreign = Settings {
        base_url: Some("https://elsewhere.example/v1".into()),
        name: Some("m".into()),
        ..Settings::default()
    };
    assert!(error(foreign, &[("OPENAI_API_KEY", "k")]).contains("SELFSMITH_API_KEY"));
}

/// A client that finds out by itself, with what it remembers.
fn finding(server: &Server, folder: &std::path::Path) -> Client {
    let memory = Memory::open(Some(folder.join("channels.json")));
    let settings = Settings { channel: ChannelChoice::Auto, ..settings(Some(server)) };
    client(settings, Tape::Off).remembering(memory).or_as_text("how calls are written".into())
}

#[test]
fn a_native_call_shows_that_the_model_takes_them_and_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let (server, handler) =
        server(&[r#"{"text":"","calls":[{"name":"view","arguments":{"path":"x"}}]}"#, r#"{"text":"b"}"#]);
    let first = finding(&server, folder.path());
    let (reply, told) = ask(&first, &asked());
    assert_eq!((reply.unwrap().calls.len(), first.channel()), (1, Channel::Native));
    assert!(!told.iter().any(|delta| matches!(delta, Delta::Notice(_))), "{told:?}");
    let known = Memory::open(Some(folder.path().join("channels.json"))).get(first.endpoint().base(), "m").unwrap();
    assert_eq!((known.channel, known.at > 1_700_000_000), (Channel::Native, true));
    ask(&finding(&server, folder.path()), &asked()).0.unwrap();
    assert!(handler.requests().iter().all(|request| request["tools"].is_array()));
}

#[test]
fn a_server_that_refuses_tools_is_asked_again_without_them_in_the_same_breath() {
    let folder = tempfile::tempdir().unwrap();
    let refusal =
        r#"{"status":400,"body":"{\"error\":{\"message\":\"registry.ollama.ai/m does not support tools\"}}"}"#;
    let (server, handler) = server(&[refusal, r#"{"text":"<view path=\"a\"/>"}"#, r#"{"text":"c"}"#]);
    let first = finding(&server, folder.path());
    let (reply, told) = ask(&first, &asked());
    assert_eq!((reply.unwrap().calls.len(), first.channel()), (1, Channel::Text));
    assert!(told.iter().any(|delta| matches!(delta, Delta::Notice(text) if text.contains("refuses"))), "{told:?}");
    let second = finding(&server, folder.path());
    assert_eq!(second.channel(), Channel::Text);
    ask(&second, &asked()).0.unwrap();
    let requests = handler.requests();
    let tools: Vec<bool> = requests.iter().map(|request| request["tools"].is_array()).collect();
    let begins: Vec<&str> =
        requests.iter().map(|request| request["messages"][0]["content"].as_str().unwrap()).collect();
    // A session that begins as text is given its own prompt.
    assert_eq!((tools, begins), (vec![true, false, false], vec!["s", "how calls are written", "s"]));
}

#[test]
fn a_call_written_as_text_is_run_and_leads_to_the_text_channel() {
    let folder = tempfile::tempdir().unwrap();
    let (server, handler) = server(&[r#"{"text":"Look: <view path=\"a\"/>"}"#, r#"{"text":"b"}"#]);
    let client = finding(&server, folder.path());
    let (reply, told) = ask(&client, &asked());
    let reply = reply.unwrap();
    assert_eq!((reply.calls.len(), reply.visible.as_str(), client.channel()), (1, "Look:", Channel::Text));
    let shown: String = told
        .iter()
        .filter_map(|delta| if let Delta::Text(text) = delta { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(shown.trim(), "Look:");
    ask(&client, &asked()).0.unwrap();
    assert_eq!(handler.requests()[1]["messages"][0]["content"], "how calls are written");
}

#[test]
fn a_plain_answer_settles_nothing_and_a_forced_channel_is_not_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = r#"{"status":400,"body":"{\"error\":{\"message\":\"tools are not supported\"}}"}"#;
    let (server, _handler) = server(&[r#"{"text":"Four."}"#, refusal]);
    ask(&finding(&server, folder.path()), &asked()).0.unwrap();
    assert!(!folder.path().join("channels.json").exists());
    let forced = Settings { channel: ChannelChoice::Native, ..settings(Some(&server)) };
    let (reply, _) = ask(&client(forced, Tape::Off), &asked());
    assert!(reply.unwrap_err().to_string().contains("tools are not supported"));
}

#[test]
fn a_probe_asks_for_a_call_and_words_instead_of_one_are_a_no() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _handler) =
        server(&[r#"{"text":"Pong!"}"#, r#"{"text":"","calls":[{"name":"ping","arguments":{}}]}"#]);
    let client = finding(&server, folder.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let known = runtime.block_on(client.probe(&|_| {})).unwrap();
    assert_eq!(known.channel, Channel::Text);
    assert!(known.why.contains("did not call"), "{}", known.why);
    assert_eq!(runtime.block_on(client.probe(&|_| {})).unwrap().channel, Channel::Native);
}

#[test]
fn a_conversation_that_the_server_cut_is_told_once() {
    let counted = r#"{"text":"x","usage":{"prompt_tokens":2048,"completion_tokens":1}}"#;
    let (server, _handler) = server(&[counted, counted]);
    let client = client(settings(Some(&server)), Tape::Off);
    let long = [Message::text(Role::System, "s"), Message::text(Role::User, "word ".repeat(6000))];
    let notices = |told: &[Delta]| {
        told.iter().filter(|delta| matches!(delta, Delta::Notice(text) if text.contains("cut"))).count()
    };
    assert_eq!(notices(&ask(&client, &long).1), 1);
    assert_eq!(notices(&ask(&client, &long).1), 0);
}
