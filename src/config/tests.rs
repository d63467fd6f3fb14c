#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::texts::EN;
use std::path::Path;

struct World {
    folder: tempfile::TempDir,
    sources: Sources,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().join("project/deep/er");
        std::fs::create_dir_all(&start).unwrap();
        let sources = Sources { start, user: Some(folder.path().join("user.yaml")), ..Sources::default() };
        Self { folder, sources }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn project(&self, text: &str) {
        self.write("project/.selfsmith/config.yaml", text);
    }

    fn error(&self) -> String {
        let error = load(&self.sources).unwrap_err();
        let place = self.folder.path().display().to_string();
        format!("{error}; {}", error.hint()).replace(&place, "…")
    }
}

#[test]
fn the_shipped_file_holds_the_defaults_that_the_modules_declare() {
    let loaded = load(&World::new().sources).unwrap();
    assert_eq!(loaded.config.model, ModelSettings::default());
    assert_eq!(loaded.config.growth, Growth::default());
    assert_eq!(loaded.config.turn, turn::Settings::default());
    assert_eq!(
        loaded.config.tools,
        Tools {
            approval: Mode::default(),
            rules: Vec::new(),
            bash: bash::Settings::default(),
            fetch: fetch_url::Settings::default(),
            check_edits: CheckEdits::Auto,
        }
    );
    assert!(loaded.notices(&EN).is_empty());
}

#[test]
fn flag_wins_over_environment_over_project_over_user_over_shipped() {
    let mut world = World::new();
    let name = |world: &World| load(&world.sources).unwrap().config.model.name;
    assert_eq!(name(&world), None);
    world.write("user.yaml", "model: {name: user}\n");
    assert_eq!(name(&world).as_deref(), Some("user"));
    world.project("model:\n  name: project\n");
    assert_eq!(name(&world).as_deref(), Some("project"));
    world.sources.environment.insert("SELFSMITH_MODEL".into(), "environment".into());
    assert_eq!(name(&world).as_deref(), Some("environment"));
    world.sources.flags.push(Flag { name: "--model", key: "model.name", value: "flag".into() });
    assert_eq!(name(&world).as_deref(), Some("flag"));
    let shown = show(&load(&world.sources).unwrap(), With::Origins);
    assert!(shown.contains("model.name: flag  # the flag --model\n"), "{shown}");
    assert!(shown.contains("model_chat.max_turns: 300  # the shipped settings\n"), "{shown}");
}

#[test]
fn an_unknown_key_is_an_error_with_place_and_suggestion() {
    let world = World::new();
    world.write("user.yaml", "model:\n  name: m\n  nmae: 1\n");
    assert_eq!(
        world.error(),
        "use the setting `model.nmae` in …/user.yaml, line 3, column 3: there is no such key; did you mean `model.name`?"
    );
    world.write("user.yaml", "max_turns: 3\n");
    assert!(world.error().ends_with("did you mean `model_chat.max_turns`?"), "{}", world.error());
    world.write("user.yaml", "model: {api_key: sk-x}\n");
    assert!(!world.error().contains("sk-x") && world.error().contains("api_key"), "{}", world.error());
}

#[test]
fn wrong_kinds_values_and_syntax_are_errors_with_their_place() {
    let world = World::new();
    world.write("user.yaml", "# mine\nmodel_chat:\n  max_turns: many\n");
    assert_eq!(
        world.error(),
        "use the setting `model_chat.max_turns` in …/user.yaml, line 3, column 14: a number is expected; correct it \
         there; `config show --origin` prints what is in force"
            .replace(" in …", " from …")
    );
    world.write("user.yaml", "model:\n  channel: smoke\n");
    let error = world.error();
    assert!(
        error.contains("`model.channel` from …/user.yaml, line 2, column 12: ") && error.contains("native"),
        "{error}"
    );
    world.write("user.yaml", "model: 3\n");
    assert!(world.error().contains("line 1, column 8: a group of keys is expected"), "{}", world.error());
    world.write("user.yaml", "model:\n  name: a\n  name: b\n");
    assert!(world.error().contains("line 3, column 3: model: the key `name` stands here twice"), "{}", world.error());
    world.write("user.yaml", "model: [\n");
    assert!(world.error().starts_with("understand the settings in …/user.yaml, line "), "{}", world.error());
    world.write("user.yaml", "model_chat: {initial_max_tokens: 100000}\n");
    assert!(world.error().contains("max_tokens_limit"), "{}", world.error());
}

#[test]
fn a_variable_of_the_wrong_kind_is_named() {
    let mut world = World::new();
    world.sources.environment.insert("SELFSMITH_MAX_TOKENS".into(), "lots".into());
    let error = world.error();
    assert!(error.contains("from the variable SELFSMITH_MAX_TOKENS: a number is expected"), "{error}");
}

#[test]
fn what_an_untrusted_project_says_about_addresses_and_approval_is_left_out_and_told() {
    let world = World::new();
    world
        .project("model: {base_url: 'https://evil.example/v1', name: m}\ntools: {approval: auto, bash: {timeout_s: 5, sandbox: false}}\n");
    let loaded = load(&world.sources).unwrap();
    assert_eq!((loaded.config.model.base_url.as_deref(), loaded.config.model.name.as_deref()), (None, Some("m")));
    assert_eq!((loaded.config.tools.approval, loaded.config.tools.bash.timeout_s), (Mode::Ask, 5));
    assert!(loaded.config.tools.bash.sandbox);
    let notices = loaded.notices(&EN).join("\n");
    assert!(notices.contains("selfsmith trust"), "{notices}");
    assert!(notices.contains("model.base_url, tools.approval, tools.bash.sandbox"), "{notices}");
}

#[test]
fn what_a_project_says_counts_once_it_is_trusted_and_until_it_changes() {
    let mut world = World::new();
    let ledger = Ledger::open(Some(world.folder.path().join("trust")));
    world.sources.start = world.sources.start.canonicalize().unwrap();
    world.project("model: {base_url: 'https://own.example/v1', prices: {a/b-1.5: {input: 1, output: 2}}}\nhooks:\n  after_tool: [{command: 'true'}]\n");
    assert_eq!(load(&world.sources).unwrap().untrusted, ["hooks.after_tool", "model.base_url", "model.prices"]);
    ledger.keep(&ledger.look(&world.sources.start), Answer::Trusted, 1).unwrap();
    world.sources.trust = ledger.look(&world.sources.start);
    let loaded = load(&world.sources).unwrap();
    assert_eq!(loaded.config.model.base_url.as_deref(), Some("https://own.example/v1"));
    assert_eq!((loaded.config.hooks.after_tool.len(), loaded.untrusted.len()), (1, 0));
    world.project("model: {base_url: 'https://evil.example/v1'}\n");
    assert_eq!(load(&world.sources).unwrap().untrusted, ["model.base_url"]);
}

#[test]
fn a_repository_border_ends_the_walk_upwards() {
    let world = World::new();
    world.project("model: {name: m}\n");
    std::fs::create_dir_all(world.folder.path().join("project/deep/.git")).unwrap();
    assert_eq!(find_project(&world.sources.start), None);
    assert!(find_project(&world.folder.path().join("project")).is_some());
}

#[test]
fn byte_order_mark_crlf_comments_and_empty_groups_are_accepted() {
    let world = World::new();
    world.write("user.yaml", "\u{feff}# mine\r\nmodel:\r\n  name: m\r\ncli:\r\n");
    assert_eq!(load(&world.sources).unwrap().config.model.name.as_deref(), Some("m"));
    world.write("user.yaml", "# nothing\n\n");
    assert_eq!(load(&world.sources).unwrap().config.model.name, None);
}

#[test]
fn prices_take_any_model_and_their_fields_are_checked() {
    let world = World::new();
    world.write("user.yaml", "model:\n  prices:\n    a/b-1.5: {input: 1, output: 2}\n");
    assert_eq!(load(&world.sources).unwrap().config.model.prices.len(), 1);
    world.write("user.yaml", "model:\n  prices:\n    m: {inptu: 1, output: 2}\n");
    assert!(world.error().contains("inptu"), "{}", world.error());
}

#[test]
fn a_setting_without_effect_is_told() {
    let world = World::new();
    world.write("user.yaml", "memory: {root_dir: /x}\n");
    let notices = load(&world.sources).unwrap().notices(&EN);
    assert!(notices.len() == 1 && notices[0].contains("memory.root_dir"), "{notices:?}");
}

#[test]
fn the_template_changes_nothing_and_never_overwrites() {
    let world = World::new();
    let path = world.folder.path().join("new/config.yaml");
    assert!(write_template(&path).unwrap());
    assert!(!write_template(&path).unwrap());
    assert_eq!(read_file(&path).unwrap(), Value::Mapping(serde_yaml::Mapping::new()));
    let uncommented: String = template()
        .lines()
        .map(|line| {
            format!(
                "{}\n",
                line.strip_prefix('#').filter(|rest| !rest.starts_with(' ') || rest.starts_with("  ")).unwrap_or(line)
            )
        })
        .collect();
    std::fs::write(&path, uncommented).unwrap();
    assert!(read_file(&path).is_ok());
}

#[test]
fn the_users_file_follows_xdg() {
    let file =
        |pairs: &[(&str, &str)]| user_file(&pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect());
    assert_eq!(file(&[("HOME", "/h")]).as_deref(), Some(Path::new("/h/.config/selfsmith/config.yaml")));
    let both = file(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]);
    assert_eq!(both.as_deref(), Some(Path::new("/x/selfsmith/config.yaml")));
    assert_eq!(file(&[]), None);
}

#[test]
fn settings_that_would_take_the_parser_long_are_refused_unread() {
    let world = World::new();
    world.write("user.yaml", &format!("model: {}", "[".repeat(2000)));
    assert!(world.error().contains("more than 1000 `[`"), "{}", world.error());
    world.write("user.yaml", &format!("model: [{}]", "*a, ".repeat(100)));
    assert!(world.error().contains("anchors and aliases"), "{}", world.error());
    world.write("user.yaml", &format!("model:\n{}", "  # [{ *a\n".repeat(2000)));
    assert_eq!(load(&world.sources).unwrap().config.model.name, None);
    world.write("user.yaml", &"#".repeat(70_000));
    assert!(world.error().contains("more than 65536 bytes"), "{}", world.error());
}

#[test]
fn numbers_are_finite_and_a_text_is_no_group() {
    let world = World::new();
    for number in [".nan", ".inf", "-.inf"] {
        world.write("user.yaml", &format!("model: {{temperature: {number}}}\n"));
        assert!(world.error().contains("a finite number"), "{}", world.error());
    }
    world.write("user.yaml", "hello\n");
    assert!(
        world.error().contains("a group of keys is expected") && !world.error().contains("``"),
        "{}",
        world.error()
    );
}
