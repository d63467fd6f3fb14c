//! The tool as the loop calls it.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::message::Outcome;
use selfsmith_sandbox::{MissingWall, Wall};

fn tool(root: &std::path::Path) -> Bash {
    let environment = std::env::vars_os().collect();
    Bash::new(&Surroundings {
        root: root.to_owned(),
        environment,
        bash: Settings::default(),
        ..Surroundings::default()
    })
}

pub(super) async fn job(tool: &Bash, arguments: Value) -> Answer {
    crate::tool::job::Job::new(tool.jobs()).call(arguments.as_object().unwrap()).await
}

pub(super) async fn call(tool: &Bash, arguments: Value) -> Answer {
    tool.call(arguments.as_object().unwrap()).await
}

#[tokio::test]
async fn output_streams_and_exit_code_are_told() {
    let root = tempfile::tempdir().unwrap();
    let tool = tool(root.path());
    let fine = call(&tool, json!({ "command": "echo out; echo err >&2" })).await;
    assert_eq!((fine.outcome, fine.text.as_str()), (Outcome::Done, "out\n[stderr]\nerr\n"));
    let silent = call(&tool, json!({ "command": "exit 7" })).await;
    assert_eq!((silent.outcome, silent.text.as_str()), (Outcome::Failed, "[no output]\n[exit code 7]\n"));
    assert_eq!(silent.detail["exit"], 7);
}

#[tokio::test]
async fn files_that_a_command_leaves_otherwise_than_they_were_seen_are_named_once() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.rs");
    std::fs::write(&path, "fn a(){}\n").unwrap();
    let files = Files::new(&Surroundings { root: root.path().to_owned(), ..Surroundings::default() });
    let place = files.place_at("a.rs", crate::tool::paths::Purpose::Look).unwrap();
    files.saw(&place, b"fn a(){}\n", 1..2, 1);
    let tool = tool(root.path()).telling(files);
    let shown = call(&tool, json!({ "command": "cat a.rs; echo new > b.rs" })).await;
    assert_eq!(shown.text, "fn a(){}\n");
    let formats = json!({ "command": "echo 'fn a() {}' > a.rs" });
    assert_eq!(call(&tool, formats.clone()).await.text, "[no output]\n[changed since you saw them: a.rs]\n");
    assert_eq!(call(&tool, formats).await.text, "[no output]\n");
}

#[tokio::test]
async fn a_command_that_takes_too_long_says_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let answer = call(&tool(root.path()), json!({ "command": "echo early; sleep 60", "timeout_s": "0.3" })).await;
    assert_eq!(answer.outcome, Outcome::Failed);
    assert!(answer.text.starts_with("early\n[timed out") && answer.text.contains("background"), "{}", answer.text);
    assert_eq!(answer.detail["timed_out"], true);
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_said() {
    let root = tempfile::tempdir().unwrap();
    let tool = tool(root.path());
    for arguments in [
        json!({}),
        json!({ "command": "  " }),
        json!({ "command": "true", "timeout_s": "soon" }),
        json!({ "command": "true", "timeout_s": 0 }),
        json!({ "command": "echo a\u{0}b" }),
    ] {
        assert_eq!(call(&tool, arguments.clone()).await.outcome, Outcome::Failed, "{arguments}");
    }
}

#[tokio::test]
async fn a_job_is_started_read_waited_for_and_ended() {
    let root = tempfile::tempdir().unwrap();
    let tool = tool(root.path());
    let started = call(&tool, json!({ "command": "echo one; echo two", "background": true })).await;
    assert!(started.text.contains("job 1 started"), "{}", started.text);
    let ended = job(&tool, json!({ "job": "1", "action": "wait" })).await;
    assert!(ended.text.contains("one\n") && ended.text.contains("two\n"), "{}", ended.text);
    assert!(ended.text.contains("[job 1 has ended with exit code 0]"), "{}", ended.text);
    let again = job(&tool, json!({ "job": "1" })).await;
    assert!(again.text.starts_with("[no new output]"), "{}", again.text);

    call(&tool, json!({ "command": "sleep 4714.1", "background": true })).await;
    let list = job(&tool, json!({})).await;
    assert!(list.text.contains("[job 2 is running] started") && list.text.contains("`sleep 4714.1`"), "{}", list.text);
    let ended = job(&tool, json!({ "job": "2", "action": "end" })).await;
    assert!(ended.text.contains("[job 2 was ended as asked]"), "{}", ended.text);
    for wrong in [json!({ "job": "7" }), json!({ "job": "1", "action": "dance" }), json!({ "action": "end" })] {
        assert_eq!(job(&tool, wrong.clone()).await.outcome, Outcome::Failed, "{wrong}");
    }
}

fn with(root: &std::path::Path, bash: Settings) -> Bash {
    let environment = std::env::vars_os().collect();
    Bash::new(&Surroundings { root: root.to_owned(), environment, bash, ..Surroundings::default() })
}

#[tokio::test]
async fn a_command_whose_time_is_over_goes_on_as_a_job() {
    let root = tempfile::tempdir().unwrap();
    let tool = with(root.path(), Settings { timeout_s: 1, ..Settings::default() });
    let command = "echo early; until [ -e go ]; do sleep 0.02; done; echo late";
    let answer = call(&tool, json!({ "command": command })).await;
    assert_eq!(answer.outcome, Outcome::Failed);
    assert!(answer.text.starts_with("early\n[still running after 1 s: it goes on as job 1"), "{}", answer.text);
    assert_eq!(tool.job(), Job::Runs);
    std::fs::write(root.path().join("go"), "").unwrap();
    let ended = job(&tool, json!({ "job": "1", "action": "wait" })).await;
    assert_eq!(ended.text, "late\n[job 1 has ended with exit code 0]\n");
    assert_eq!(tool.job(), Job::None);
}

#[tokio::test]
async fn a_command_whose_time_is_over_is_ended_where_the_settings_say_so() {
    let root = tempfile::tempdir().unwrap();
    let tool = with(root.path(), Settings { timeout_s: 1, at_limit: AtLimit::End, ..Settings::default() });
    let answer = call(&tool, json!({ "command": "echo early; sleep 4716" })).await;
    assert!(answer.text.starts_with("early\n[timed out"), "{}", answer.text);
}

#[tokio::test]
async fn a_flood_is_cut_for_the_model_and_whole_in_a_file() {
    let root = tempfile::tempdir().unwrap();
    let tool = tool(root.path());
    let answer = call(&tool, json!({ "command": "seq 1 200000; echo problem >&2" })).await;
    assert!(answer.text.len() <= 8_000, "{}", answer.text.len());
    assert!(answer.text.contains("1\n2\n") && answer.text.contains("200000") && answer.text.contains("problem"));
    let path = answer.text.split_once("bytes: ").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    let whole = call(&tool, json!({ "command": format!("grep -c . {path}; grep -n ^100000$ {path}") })).await;
    assert_eq!(whole.text, "200001\n100000:100000\n");
}

#[tokio::test]
async fn output_in_an_old_encoding_is_read_as_what_it_says() {
    let root = tempfile::tempdir().unwrap();
    let tool = tool(root.path());
    let words = "错误：找不到文件，请检查路径是否正确。";
    std::fs::write(root.path().join("gbk"), encoding_rs::GBK.encode(words).0).unwrap();
    let answer = call(&tool, json!({ "command": "cat gbk" })).await;
    assert_eq!(answer.text, format!("{words}\n[the output was GBK; it is shown as UTF-8]\n"));
}

#[tokio::test]
async fn a_server_in_the_background_can_be_asked_by_the_next_command() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let tool = tool(root.path());
    std::fs::write(root.path().join("page"), "served").unwrap();
    let server = "python3 -m http.server 4897 --bind 127.0.0.1";
    call(&tool, json!({ "command": server, "background": true })).await;
    let get = "until (exec 3<>/dev/tcp/127.0.0.1/4897) 2>/dev/null; do sleep 0.05; done; \
               exec 3<>/dev/tcp/127.0.0.1/4897; printf 'GET /page HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3";
    let answer = call(&tool, json!({ "command": get })).await;
    assert!(answer.text.ends_with("served\n"), "{}", answer.text);
}

#[tokio::test]
async fn dropping_the_call_ends_the_command() {
    let root = tempfile::tempdir().unwrap();
    let tool = tool(root.path());
    let arguments = json!({ "command": "trap 'echo' EXIT; while :; do echo $$ > alive; sleep 0.05; done" });
    let mut running = Box::pin(call(&tool, arguments));
    let id = loop {
        tokio::select! {
            ended = &mut running => panic!("it ended by itself: {}", ended.text),
            () = tokio::time::sleep(Duration::from_millis(10)) => {}
        }
        let seen = std::fs::read_to_string(root.path().join("alive")).unwrap_or_default();
        // Between opening and writing the file is empty.
        if let Some(id) = seen.strip_suffix('\n') {
            break id.to_owned();
        }
    };
    drop(running);
    let gone = || !std::path::Path::new("/proc").join(&id).join("cmdline").exists();
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while !gone() {
        assert!(std::time::Instant::now() < until, "it still runs");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn hooks_and_keys_are_out_of_reach_and_commits_work() {
    // Outside of the temporary folders, which the walls leave open.
    let base = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (root, home) = (base.path().join("work"), base.path().join("home"));
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id"), "secret").unwrap();
    std::fs::create_dir(&root).unwrap();
    let mut environment: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "HOME").collect();
    environment.extend([("HOME".into(), home.into()), ("OPENAI_API_KEY".into(), "sk-hidden".into())]);
    let tool = Bash::new(&Surroundings {
        root: root.clone(),
        environment,
        bash: Settings::default(),
        ..Surroundings::default()
    });
    let made =
        call(&tool, json!({ "command": "git init -q . && git config user.name n && git config user.email e@x" })).await;
    assert_eq!(made.outcome, Outcome::Done, "{}", made.text);
    let tried = "echo x > .git/hooks/pre-commit; git config core.hooksPath /tmp; cat ~/.ssh/id; env | grep sk-; echo x > ../out; \
                 echo f > f && git add f && git commit -qm first && git log --format=%s";
    let answer = call(&tool, json!({ "command": tried })).await;
    assert!(answer.text.contains("first\n") && !answer.text.contains("sk-hidden"), "{}", answer.text);
    assert!(!base.path().join("out").exists());
    if selfsmith_sandbox::probe().nested {
        // Within a room no mount namespace can be had, and so no exception in a writable folder: there the outer room keeps
        // every repository and home away.
        return;
    }
    assert!(answer.text.starts_with("first\n"), "{}", answer.text);
    assert!(answer.text.contains("[sandbox: ") && !answer.text.contains("secret"), "{}", answer.text);
    assert!(!root.join(".git/hooks/pre-commit").exists());
    assert!(!std::fs::read_to_string(root.join(".git/config")).unwrap().contains("hooksPath"));
}

#[test]
fn the_hint_of_a_wall_claims_only_what_held() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(".git")).unwrap();
    let shell = Shell::new(&Surroundings { root: root.path().to_owned(), ..Surroundings::default() });
    let hint = |missing: &[Wall]| {
        let missing = missing.iter().map(|wall| MissingWall { wall: *wall, why: String::new() }).collect();
        let (stdout, stderr) = (String::new(), "Permission denied".to_owned());
        let took = Duration::from_secs(1);
        shell.hint(&Ran { end: End::Exit(1), stdout, stderr, truncated: false, encoding: None, took, missing }).unwrap()
    };
    assert!(
        hint(&[]).contains("only in the workspace") && hint(&[]).contains("hooks and config in .git"),
        "{}",
        hint(&[])
    );
    for nested in [&[Wall::MountNamespace][..], &[Wall::UserNamespace, Wall::MountNamespace]] {
        let hint = hint(nested);
        assert!(hint.contains("only in the workspace") && !hint.contains("in .git"), "{hint}");
    }
    let hint = hint(&[Wall::MountNamespace, Wall::Landlock]);
    assert!(!hint.contains("only in the workspace") && !hint.contains("in .git"), "{hint}");
}
