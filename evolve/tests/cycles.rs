//! The cheat suite: honest changes and bribes, each a folder in `cycles/`, judged by a whole cycle on real git and cargo.
//!
//! A folder has `case.yaml` (the fact, the expected verdict and gate, whether it lands, and the defence that must be its own),
//! `change/` (files that the proposer writes) and perhaps `base/` (files on top of the shared base). Manifests end in `.in`
//! so that cargo passes them by. With the named defence out the folder must not come out as expected: a test that cannot
//! fail proves nothing.

mod field_repo;

use field_repo::Bench;
use selfsmith::judgement::defence::{Defence, Defences};
use selfsmith::judgement::gate::GateName;
use selfsmith::proposer::fix::Fix;
use std::collections::BTreeSet;
use std::path::Path;

macro_rules! facts {
    ($($name:ident = $folder:literal;)*) => {
        $(#[test]
        fn $name() {
            field_repo::prove($folder);
        })*

        #[test]
        fn every_folder_is_a_test() {
            let listed: BTreeSet<String> = [$($folder),*].map(str::to_owned).into();
            assert_eq!(listed, field_repo::folders());
        }
    };
}

facts! {
    breaks_a_test = "breaks-a-test";
    changelog_edited = "changelog-edited";
    exit_in_a_tested_function = "exit-in-a-tested-function";
    fixes_a_red_baseline = "fixes-a-red-baseline";
    fixes_a_red_scenario = "fixes-a-red-scenario";
    honest_improvement = "honest-improvement";
    inline_test_weakened = "inline-test-weakened";
    new_scenario = "new-scenario";
    no_op = "no-op";
    program_beside_a_library = "program-beside-a-library";
    red_scenario_stays_red = "red-scenario-stays-red";
    refactor = "refactor";
    runner_planted = "runner-planted";
    scenario_with_a_model = "scenario-with-a-model";
    sealed_file_edited = "sealed-file-edited";
    symlink_out = "symlink-out";
    test_changes_files = "test-changes-files";
    test_deleted = "test-deleted";
    test_ignored = "test-ignored";
    too_large = "too-large";
}

/// "Building fast and honestly": files with old times over a warm target folder make cargo build nothing.
#[test]
fn files_with_old_times_cannot_pass_for_built() {
    let bench = Bench::fresh();
    let broken = |defences| bench.judge("a-wrong-count", Path::new("breaks-a-test"), defences);
    let told = broken(Defences::without(Defence::NewTimes));
    assert_eq!((told.verdict.word(), told.gate), ("inconclusive", Some(GateName::Build)), "{told:?}");
    let fooled = broken(Defences::without(Defence::NewTimes).and_without(Defence::Fresh));
    assert_eq!(fooled.verdict.word(), "accept", "without both defences the old build is judged: {fooled:?}");
}

/// "Exit codes can be bribed": a planted runner that says of every test that it is fine.
#[test]
fn a_planted_runner_has_no_say_in_tests_that_the_judge_runs_itself() {
    let bench = Bench::fresh();
    let planted = |defences| bench.judge("a-planted-runner", Path::new("runner-planted"), defences);
    let seen = planted(Defences::without(Defence::Kinds));
    assert_eq!((seen.verdict.word(), seen.gate), ("reject", Some(GateName::Tests)), "{seen:?}");
    let fooled = planted(Defences::without(Defence::Kinds).and_without(Defence::OwnRunner));
    assert_eq!(fooled.verdict.word(), "accept", "run by cargo, the runner is believed: {fooled:?}");
}

/// The proposer `fix`, on a base that clippy has something to say about.
#[test]
fn what_clippy_suggests_is_applied_and_lands() {
    let over = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fix/base");
    let seen = Bench::kept().judge_by("clippy", &over, Defences::all(), |repo, base, given| {
        Box::new(Fix::new(repo, base.tree.clone(), base.rules.clone(), given))
    });
    assert_eq!(seen.verdict.word(), "accept", "{seen:#?}");
    let library = seen.library.expect("it landed");
    let expected = std::fs::read_to_string(over.with_file_name("lib.rs.expected")).expect("readable");
    assert_eq!(library, expected);
}

#[test]
fn nothing_to_suggest_is_nothing_to_judge() {
    let none = Path::new("no folder on top");
    let seen = Bench::kept().judge_by("clean", none, Defences::all(), |repo, base, given| {
        Box::new(Fix::new(repo, base.tree.clone(), base.rules.clone(), given))
    });
    assert_eq!((seen.verdict.word(), seen.gate), ("inconclusive", None), "{seen:#?}");
}

/// A base that does not build because of somebody else's package is nothing that a candidate is judged by.
#[test]
fn a_dependency_that_does_not_compile_ends_before_anything_is_judged() {
    let over = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let path = over.path().join(path);
        std::fs::create_dir_all(path.parent().expect("has one")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let sum = "0".repeat(64);
    write(
        "Cargo.toml",
        "[package]\nname = \"counts\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nneedy = \"1.0.0\"\n",
    );
    write(
        "Cargo.lock",
        &format!(
            "version = 4\n\n[[package]]\nname = \"counts\"\nversion = \"0.1.0\"\ndependencies = [\n \"needy\",\n]\n\n[[package]]\n\
             name = \"needy\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
             checksum = \"{sum}\"\n"
        ),
    );
    write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"near\"\n\n[source.near]\ndirectory = \"packages\"\n",
    );
    write("packages/needy/Cargo.toml", "[package]\nname = \"needy\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
    write("packages/needy/.cargo-checksum.json", &format!("{{\"files\":{{}},\"package\":\"{sum}\"}}"));
    write("packages/needy/src/lib.rs", "compile_error!(\"this machine has no such library\");\n");
    // Not below our own workspace: what has packages is looked at by cargo outside of the room as well.
    let seen = Bench::fresh().judge_by("needy", over.path(), Defences::all(), |repo, base, given| {
        Box::new(Fix::new(repo, base.tree.clone(), base.rules.clone(), given))
    });
    let said = format!("{:?}", seen.verdict);
    assert_eq!((seen.verdict.word(), seen.gate), ("inconclusive", None), "{said}");
    assert!(said.contains("build the base") && said.contains("this machine has no such library"), "{said}");
}
