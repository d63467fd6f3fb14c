//! What bounds refuse, ask and let pass.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

struct Case {
    differs: Vec<Differs>,
    oddities: Vec<Oddity>,
    blobs: BTreeMap<BlobId, Vec<u8>>,
    others: Vec<TreePath>,
    ratcheted: (u64, u64),
}

fn case() -> Case {
    Case { differs: vec![], oddities: vec![], blobs: BTreeMap::new(), others: vec![], ratcheted: (0, 0) }
}

impl Case {
    fn file(self, path: &str, old: Option<&str>, new: Option<&str>) -> Self {
        self.with(TreePath::from(path), old.map(str::as_bytes), new.map(str::as_bytes), Mode::File)
    }

    fn with(mut self, path: TreePath, old: Option<&[u8]>, new: Option<&[u8]>, mode: Mode) -> Self {
        let mut side = |bytes: Option<&[u8]>, mode| {
            bytes.map(|b| {
                let blob = BlobId(format!("{:?}", b));
                self.blobs.insert(blob.clone(), b.to_vec());
                Side { mode, blob, size: b.len() as u64 }
            })
        };
        let lines = |b: Option<&[u8]>| b.map_or(0, |b| b.split(|c| *c == b'\n').count() as u32);
        let differs =
            Differs { old: side(old, Mode::File), new: side(new, mode), added: lines(new), removed: lines(old), path };
        self.differs.push(differs);
        self
    }

    fn result(&self, defences: Defences) -> GateOutcome {
        let rules = Rules::parse(
            "zones: [{path: 'src/**', zone: open}, {path: 'tests/**', zone: add-only}, {path: 'prompts/**', zone: open}]",
        )
        .unwrap();
        let mut paths: Vec<TreePath> = self.others.clone();
        paths.extend(self.differs.iter().filter(|d| d.new.is_some()).map(|d| d.path.clone()));
        let input = Input {
            differs: &self.differs,
            oddities: &self.oddities,
            blobs: &self.blobs,
            paths: &paths,
            ratcheted: self.ratcheted,
        };
        check(&input, &rules, defences).result
    }

    fn refused_only_by(self, defence: Defence, word: &str) {
        match self.result(Defences::all()) {
            GateOutcome::Fail { why, .. } => assert!(why.contains(word), "{why}"),
            other => panic!("{word}: {other:?}"),
        }
        let without = self.result(Defences::without(defence));
        assert_eq!(without, GateOutcome::Pass, "{word}: something else than {defence:?} also refuses");
    }

    fn asked_only_by(self, defence: Defence, word: &str) {
        match self.result(Defences::all()) {
            GateOutcome::Ask { why } => assert!(why.contains(word), "{why}"),
            other => panic!("{word}: {other:?}"),
        }
        assert_eq!(self.result(Defences::without(defence)), GateOutcome::Pass, "{word}");
    }
}

#[test]
fn a_change_in_an_open_zone_passes() {
    let case = case().file("src/lib.rs", Some("a"), Some("b")).file("src/new.rs", None, Some("x")).file(
        "src/old.rs",
        Some("y"),
        None,
    );
    assert_eq!(case.result(Defences::all()), GateOutcome::Pass);
}

#[test]
fn a_new_test_passes_and_a_removed_or_changed_one_does_not() {
    assert_eq!(case().file("tests/new.rs", None, Some("x")).result(Defences::all()), GateOutcome::Pass);
    case().file("tests/a.rs", Some("x"), None).refused_only_by(Defence::Zones, "removed");
    case().file("tests/a.rs", Some("x"), Some("y")).refused_only_by(Defence::Zones, "changed");
}

#[test]
fn what_no_zone_names_is_sealed_new_files_too() {
    case().file("README.md", Some("x"), Some("y")).refused_only_by(Defence::Zones, "sealed");
    case().file("never/seen.rs", None, Some("y")).refused_only_by(Defence::Zones, "sealed");
}

#[test]
fn the_changelog_is_not_the_agents() {
    case().file("CHANGELOG.md", Some("x"), Some("y")).refused_only_by(Defence::Changelog, "the judge");
}

#[test]
fn a_changed_expectation_is_a_persons_question_and_a_removed_one_is_refused() {
    case().file("tests/scenarios/a/case.yaml", Some("x"), Some("y")).asked_only_by(Defence::Zones, "expectation");
    case().file("tests/scenarios/a/case.yaml", Some("x"), None).refused_only_by(Defence::Zones, "removed");
}

#[test]
fn files_that_steer_tools_are_refused_even_in_open_zones() {
    for path in [
        "src/Cargo.toml",
        "src/build.rs",
        "src/.cargo/config.toml",
        "src/rustfmt.toml",
        "src/.gitattributes",
        "src/.selfsmith/x.md",
        "src/sub/CARGO.LOCK",
        "src/rust-toolchain",
        "src/.git/config.md",
        "src/clippy.toml",
    ] {
        case().file(path, None, Some("x")).refused_only_by(Defence::Kinds, path);
        case().file(path, Some("x"), None).refused_only_by(Defence::Kinds, path);
    }
}

#[test]
fn links_submodules_and_executables_are_refused() {
    let link = |mode| case().with("src/x.rs".into(), None, Some(b"target"), mode);
    link(Mode::Symlink).refused_only_by(Defence::Kinds, "symbolic link");
    link(Mode::Submodule).refused_only_by(Defence::Kinds, "submodule");
    link(Mode::Executable).refused_only_by(Defence::Kinds, "executable");
    case().file("src/x.so", None, Some("x")).refused_only_by(Defence::Kinds, "ending");
    case().file("src/Makefile", None, Some("x")).refused_only_by(Defence::Kinds, "ending");
}

#[test]
fn names_that_are_not_what_they_seem_are_refused() {
    let bytes = case().with(TreePath::new(b"src/\xff.rs".to_vec()), None, Some(b"x"), Mode::File);
    assert!(matches!(bytes.result(Defences::all()), GateOutcome::Fail { .. }));
    case().file("src/a\u{202e}b.rs", None, Some("x")).refused_only_by(Defence::Kinds, "name");
    let mut twin = case().file("src/Lib.rs", None, Some("x"));
    twin.others = vec!["src/lib.rs".into()];
    twin.refused_only_by(Defence::Kinds, "only in case");
    let mut folder = case().file("src/Sub/b.rs", None, Some("x"));
    folder.others = vec!["src/sub/a.rs".into()];
    folder.refused_only_by(Defence::Kinds, "only in case");
}

#[test]
fn a_new_name_that_not_every_machine_or_shell_can_take_is_a_persons_question() {
    for name in ["nul.rs", "Aux.rs", "com1.rs", "lpt².rs", "a?.rs", "a\\b.rs", "con/x.rs", "a./x.rs"] {
        case().file(&format!("src/{name}"), None, Some("x")).asked_only_by(Defence::Kinds, "Windows");
    }
    case().file("src/-rf.rs", None, Some("x")).asked_only_by(Defence::Kinds, "src/-rf.rs has a name that begins with");
    case().file("src/a b;$(id).rs", None, Some("x")).asked_only_by(Defence::Kinds, "a shell obeys");
    for fine in ["src/console.rs", "src/a b.rs", "src/com.rs", "src/com10.rs", "src/[id].rs", "src/größe-2.rs"] {
        assert_eq!(case().file(fine, None, Some("x")).result(Defences::all()), GateOutcome::Pass, "{fine}");
    }
    // One that is there already is nothing new.
    assert_eq!(case().file("src/nul.rs", Some("x"), Some("y")).result(Defences::all()), GateOutcome::Pass);
}

#[test]
fn what_a_tree_cannot_hold_is_refused() {
    let mut odd = case();
    odd.oddities.push(Oddity { path: "src/pipe".into(), what: "is a named pipe".to_owned() });
    match odd.result(Defences::all()) {
        GateOutcome::Fail { why, repairable } => assert!(why.contains("named pipe") && !repairable),
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_are_refused_unless_the_base_holds_them_already() {
    let key = format!("{}{}", "AKIA", "ABCDEFGHIJKLMNOP");
    case().file("src/a.rs", None, Some(&key)).refused_only_by(Defence::Secrets, "AWS");
    let pem = format!("-----BEGIN {} KEY-----", "RSA PRIVATE");
    case().file("src/a.rs", None, Some(&pem)).refused_only_by(Defence::Secrets, "private key");
    let model = format!("sk-{}", "a1b2c3d4e5f6a1b2c3d4e5f6");
    case().file("src/a.rs", Some("x"), Some(&model)).refused_only_by(Defence::Secrets, "model");
    let kept = format!("{key} moved");
    let second = format!("{key} {}{}", "AKIA", "PONMLKJIHGFEDCBA");
    case().file("src/a.rs", Some(&key), Some(&second)).refused_only_by(Defence::Secrets, "AWS");
    assert_eq!(case().file("src/a.rs", Some(&key), Some(&kept)).result(Defences::all()), GateOutcome::Pass);
}

#[test]
fn text_that_deceives_is_refused() {
    case().file("src/a.rs", Some("x"), Some("if admin\u{202e} {")).refused_only_by(Defence::Text, "direction");
    case().file("src/a.rs", None, Some("a\u{200b}b")).refused_only_by(Defence::Text, "not seen");
    case().file("src/a.rs", None, Some("a\u{1b}[2Jb")).refused_only_by(Defence::Text, "control");
    case().with("src/a.rs".into(), None, Some(b"\xff\xfe"), Mode::File).refused_only_by(Defence::Text, "UTF-8");
    case().with("src/a.rs".into(), None, Some(b"a\0b"), Mode::File).refused_only_by(Defence::Text, "not text");
    // Nothing grows, so that it is no matter of the budget.
    let huge = |c: &str| c.repeat(600 * 1024);
    case().file("src/a.rs", Some(&huge("x")), Some(&huge("y"))).refused_only_by(Defence::Text, "bytes");
}

#[test]
fn too_large_is_a_persons_question_and_scenarios_do_not_count() {
    let mut many = case();
    for n in 0..6 {
        many = many.file(&format!("src/f{n}.rs"), None, Some("x"));
    }
    many.asked_only_by(Defence::Budget, "6 files");
    case().file("src/a.rs", None, Some(&"x\n".repeat(201))).asked_only_by(Defence::Budget, "lines");
    case().file("src/a.rs", None, Some(&format!("{}\n", "x;".repeat(21_000)))).asked_only_by(Defence::Budget, "lines");
    let mut scenarios = case();
    for n in 0..9 {
        scenarios = scenarios.file(&format!("tests/scenarios/f{n}/case.yaml"), None, Some(&"x\n".repeat(100)));
    }
    assert_eq!(scenarios.result(Defences::all()), GateOutcome::Pass);
}

#[test]
fn prompts_may_not_bloat() {
    let mut bloat = case().file("prompts/a.md", Some("x"), Some("y"));
    bloat.ratcheted = (1000, 2025);
    bloat.asked_only_by(Defence::Ratchet, "2025");
}

#[test]
fn nothing_changed_is_not_accepted() {
    case().refused_only_by(Defence::Nothing, "nothing");
}

#[test]
fn what_cannot_be_read_cannot_be_checked() {
    let mut unread = case().file("src/a.rs", None, Some("x"));
    unread.blobs.clear();
    assert!(matches!(unread.result(Defences::all()), GateOutcome::Unknown { .. }));
}

#[test]
fn touched_is_sorted_and_names_zones() {
    let rules = Rules::parse("zones: [{path: 'src/**', zone: open}]").unwrap();
    let case = case().file("src/b.rs", Some("x"), Some("y")).file("a.md", None, Some("y"));
    let touched = touched(&case.differs, &rules);
    let seen: Vec<(&str, Zone)> = touched.iter().map(|t| (t.path.as_str(), t.zone)).collect();
    assert_eq!(seen, [("a.md", Zone::Sealed), ("src/b.rs", Zone::Open)]);
}
