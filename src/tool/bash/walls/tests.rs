//! What commands cannot do to what runs or steers something later.

#![expect(clippy::unwrap_used, reason = "tests")]

use crate::tool::Surroundings;
use crate::tool::bash::tests::{call, job};
use crate::tool::bash::{Bash, Ran, Shell};
use selfsmith_sandbox::{End, MissingWall, Wall};
use serde_json::json;
use std::time::Duration;

/// A workspace outside of the temporary folders, which the walls leave open, and a home of its own.
struct Place {
    base: tempfile::TempDir,
    home: std::path::PathBuf,
}

impl Place {
    fn new() -> Self {
        let base = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let home = base.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(base.path().join("work")).unwrap();
        Self { base, home }
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.base.path().join(name)
    }

    fn bash(&self, root: &std::path::Path) -> Bash {
        let other = |(name, _): &(std::ffi::OsString, _)| name != "HOME" && !name.to_string_lossy().starts_with("XDG_");
        let mut environment: Vec<_> = std::env::vars_os().filter(other).collect();
        environment.push(("HOME".into(), self.home.clone().into()));
        Bash::new(&Surroundings { root: root.to_owned(), environment, ..Surroundings::default() })
    }

    /// As the person, without walls.
    fn git(&self, folder: &str, line: &str) -> String {
        let output = std::process::Command::new("sh")
            .args(["-c", line])
            .current_dir(self.at(folder))
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }
}

const NEW_REPOSITORY: &str =
    "git init -q . && git config user.email a@b && git config user.name n && git commit -q --allow-empty -m s";

#[tokio::test]
async fn git_cannot_be_led_to_other_hooks_and_settings() {
    if selfsmith_sandbox::in_room() {
        return;
    }
    let place = Place::new();
    let evil = format!("#!/bin/sh\necho ran >> {}\n", place.at("ran").display());
    std::fs::write(place.at("evil"), evil).unwrap();
    std::fs::set_permissions(place.at("evil"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.git("work", NEW_REPOSITORY);
    place.git("work", &format!("mkdir sub && cd sub && {NEW_REPOSITORY}"));
    place.git(
        "work",
        &format!("mkdir -p .git/modules/m && cd .git/modules/m && {NEW_REPOSITORY} && mv .git/* . && rmdir .git"),
    );
    place.git(
        "work",
        "git worktree add -q ../linked; cp -r sub side; rm -rf side/.git; echo gitdir: ../.git/modules/m > side/.git",
    );
    let evil = place.at("evil").display().to_string();
    let lines = [
        "cp -r .git .e; cp EVIL .e/hooks/pre-commit; printf '[core]\nfsmonitor=EVIL\n' >> .e/config; echo ../.e > .git/commondir",
        "cp EVIL sub/.git/hooks/pre-commit; git -C sub config core.fsmonitor EVIL; mv sub s2; mv sub/.git sub/g; echo ../../.e > sub/.git/commondir",
        "cp EVIL .git/modules/m/hooks/pre-commit; git config -f .git/modules/m/config core.fsmonitor EVIL; echo ../../../.e > .git/modules/m/commondir; \
         mv .git/modules .git/mod2",
        "echo 'gitdir: ../.e' > side/.git; rm -f side/.git; mv side/.git x",
        "echo ../../../.e > .git/worktrees/linked/commondir; echo /tmp > .git/worktrees/linked/gitdir; mv .git/worktrees .git/w",
    ];
    let tool = place.bash(&place.at("work"));
    for line in lines {
        call(&tool, json!({ "command": line.replace("EVIL", &evil) })).await;
    }
    let linked = place.bash(&place.at("linked"));
    let line = "cp -r ../work/.git .e; cp EVIL .e/hooks/pre-commit; echo \"gitdir: $PWD/.e\" > .git; rm -f .git; mv .git g; \
                echo x > n; git add n; git commit -qm inside; git log -1 --format=%s";
    let answer = call(&linked, json!({ "command": line.replace("EVIL", &evil) })).await;
    assert!(answer.text.contains("inside\n"), "{}", answer.text);
    for folder in ["work", "work/sub", "work/side", "linked"] {
        let said =
            place.git(folder, "git status --short; git commit -q --allow-empty -m hey && git log -1 --format=%s");
        assert!(said.ends_with("hey\n"), "{folder}: {said}");
    }
    assert!(!place.at("ran").exists(), "{}", std::fs::read_to_string(place.at("ran")).unwrap());
    let work = place.at("work");
    assert!(!work.join(".git/commondir").exists());
}

#[tokio::test]
async fn commits_and_a_second_reader_work_while_placeholders_stand() {
    let place = Place::new();
    place.git("work", NEW_REPOSITORY);
    let tool = place.bash(&place.at("work"));
    let command = "git rev-parse --is-inside-work-tree; touch up; until [ -e go ]; do sleep 0.02; done; git commit -q --allow-empty -m late; echo end";
    call(&tool, json!({ "command": command, "background": true })).await;
    while !place.at("work/up").exists() {
        tokio::task::yield_now().await;
    }
    let repo = selfsmith_repo::Repo::open(&place.at("work")).unwrap();
    assert_eq!(repo.common_dir().canonicalize().unwrap(), place.at("work/.git").canonicalize().unwrap());
    assert_eq!(
        place.git("work", "git rev-parse --show-prefix --is-bare-repository; git status --short"),
        "\nfalse\n?? up\n"
    );
    std::fs::write(place.at("work/go"), "").unwrap();
    let ended = job(&tool, json!({ "job": "1", "action": "wait" })).await;
    assert!(ended.text.starts_with("true\nend\n"), "{}", ended.text);
    assert_eq!(place.git("work", "git log -1 --format=%s"), "late\n");
}

#[tokio::test]
async fn this_programs_own_settings_cannot_be_made() {
    if selfsmith_sandbox::in_room() {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.at("work/.selfsmith")).unwrap();
    let line = "echo x > .selfsmith/config.yaml; mv .selfsmith s; echo x > free; cat free";
    let answer = call(&place.bash(&place.at("work")), json!({ "command": line })).await;
    assert!(answer.text.contains("x\n"), "{}", answer.text);
    assert!(!place.at("work/.selfsmith/config.yaml").exists() && !place.at("work/s").exists());
    // The home folder as the workspace; at first without, then with settings.
    let make = "mkdir -p .config/selfsmith; echo x > .config/selfsmith/config.yaml; echo x > .config/other; \
                mkdir -p .local/state/selfsmith/x .local/share/selfsmith/x; cat .config/selfsmith/config.yaml";
    let home = place.bash(&place.home);
    call(&home, json!({ "command": make })).await;
    assert!(place.home.join(".config/other").exists() && !place.home.join(".config/selfsmith").exists());
    assert!(!place.home.join(".local/state/selfsmith").exists() && !place.home.join(".local/share/selfsmith").exists());
    std::fs::create_dir_all(place.home.join(".config/selfsmith")).unwrap();
    std::fs::write(place.home.join(".config/selfsmith/config.yaml"), "own secret").unwrap();
    let answer = call(&home, json!({ "command": format!("mv .config .c2; {make}") })).await;
    assert!(!answer.text.contains("own secret"), "{}", answer.text);
    assert_eq!(std::fs::read_to_string(place.home.join(".config/selfsmith/config.yaml")).unwrap(), "own secret");
}

#[test]
fn what_missing_walls_leave_open_is_said_once() {
    if selfsmith_sandbox::in_room() {
        return;
    }
    let shell = Shell::new(&Surroundings::default());
    let ran = |missing: &[Wall]| Ran {
        end: End::Exit(0),
        stdout: String::new(),
        stderr: String::new(),
        truncated: false,
        encoding: None,
        took: Duration::ZERO,
        missing: missing.iter().map(|wall| MissingWall { wall: *wall, why: "not here".to_owned() }).collect(),
    };
    assert_eq!(shell.open(&ran(&[])), None);
    let open = shell.open(&ran(&[Wall::UserNamespace, Wall::MountNamespace])).unwrap();
    assert_eq!(open.matches(".git/hooks").count(), 1, "{open}");
    assert!(open.contains("~/.ssh") && open.contains("user namespace: not here"), "{open}");
    assert_eq!(shell.open(&ran(&[Wall::UserNamespace])), None);
}
