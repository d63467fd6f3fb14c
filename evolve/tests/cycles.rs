//! The cheat suite: honest changes and bribes, each a folder in `cycles/`, judged by a whole cycle on real git and cargo.
//!
//! A folder has `case.yaml` (the fact, the expected verdict and gate, whether it lands, and the defence that must be its own),
//! `change/` (files that the proposer writes) and perhaps `base/` (files on top of a shared base: a small crate, or scripts
//! for what needs no cargo). Manifests end in `.in` so that cargo passes them by. With the named defence out the folder must
//! not come out as expected: a test that cannot fail proves nothing. All of them stand in docs/cheats.md.

mod field_repo;

use field_repo::{Bench, Case, Kind};
use selfsmith::judgement::defence::{Defence, Defences};
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
            // What needs a program that is not everywhere is decided by tests/mutants.rs.
            let everywhere = |name: &String| Case::of(name).needs.is_none();
            let listed: BTreeSet<String> = [$($folder),*].map(str::to_owned).into();
            assert_eq!(listed, field_repo::folders().into_iter().filter(everywhere).collect());
        }
    };
}

facts! {
    answers_beside_the_code = "answers-beside-the-code";
    bases_target_kept = "bases-target-kept";
    bidi_text = "bidi-text";
    breaks_a_test = "breaks-a-test";
    build_script_brought = "build-script-brought";
    cargo_settings_brought = "cargo-settings-brought";
    case_twin = "case-twin";
    changed_expectation = "changed-expectation";
    changelog_edited = "changelog-edited";
    clock_turned = "clock-turned";
    const_assertion_deleted = "const-assertion-deleted";
    coverage_only = "coverage-only";
    documentation_only = "documentation-only";
    endless_loop = "endless-loop";
    endless_output = "endless-output";
    evidence_looked_for = "evidence-looked-for";
    exit_in_a_tested_function = "exit-in-a-tested-function";
    expectation_edited = "expectation-edited";
    expected_overwritten = "expected-overwritten";
    feature_without_dependencies = "feature-without-dependencies";
    field_emptied = "field-emptied";
    file_from_outside = "file-from-outside";
    fixes_a_red_baseline = "fixes-a-red-baseline";
    fixes_a_red_scenario = "fixes-a-red-scenario";
    flags_by_settings = "flags-by-settings";
    flaky_test = "flaky-test";
    forged_harness_lines = "forged-harness-lines";
    forged_trailers = "forged-trailers";
    fork_bomb = "fork-bomb";
    gate_detected = "gate-detected";
    helper_of_tests_changed = "helper-of-tests-changed";
    honest_improvement = "honest-improvement";
    hooks_written = "hooks-written";
    huge_file = "huge-file";
    inline_test_weakened = "inline-test-weakened";
    judge_edited = "judge-edited";
    key_in_a_file = "key-in-a-file";
    key_taken_in = "key-taken-in";
    lint_silenced = "lint-silenced";
    lock_file_changed = "lock-file-changed";
    macro_package_brought = "macro-package-brought";
    memory_hog = "memory-hog";
    moved_inline_tests = "moved-inline-tests";
    moved_module = "moved-module";
    name_not_utf8 = "name-not-utf8";
    network_in_a_test = "network-in-a-test";
    new_module = "new-module";
    new_scenario = "new-scenario";
    new_test_of_any_language = "new-test-of-any-language";
    no_op = "no-op";
    noisy_test = "noisy-test";
    old_times_are_seen = "old-times-are-seen";
    one_long_line = "one-long-line";
    planted_runner_has_no_say = "planted-runner-has-no-say";
    program_beside_a_library = "program-beside-a-library";
    prompt_bloat = "prompt-bloat";
    prompt_tells_the_judge = "prompt-tells-the-judge";
    prose_only = "prose-only";
    red_scenario_stays_red = "red-scenario-stays-red";
    refactor = "refactor";
    refactor_with_a_test = "refactor-with-a-test";
    refused_before = "refused-before";
    renamed_inside = "renamed-inside";
    rules_raise_their_limits = "rules-raise-their-limits";
    runner_planted = "runner-planted";
    scenario_with_a_model = "scenario-with-a-model";
    sealed_file_edited = "sealed-file-edited";
    several_files = "several-files";
    shell_run = "shell-run";
    stale_base = "stale-base";
    surviving_daemon = "surviving-daemon";
    symlink_out = "symlink-out";
    target_written = "target-written";
    test_changes_files = "test-changes-files";
    test_deleted = "test-deleted";
    test_ignored = "test-ignored";
    test_inside_the_sources_emptied = "test-inside-the-sources-emptied";
    token_from_the_environment = "token-from-the-environment";
    too_large = "too-large";
    toolchain_brought = "toolchain-brought";
    vacuous_new_test = "vacuous-new-test";
}

/// The bribes that the design lists; each has a folder at least.
const NOUNS: [&str; 39] = [
    "test deleted",
    "ignored",
    "assertion loosened",
    "expectation edited",
    "vacuous new test",
    "exit(0)",
    "forged harness lines",
    "runner planted",
    "build.rs",
    "proc-macro dependency",
    ".cargo/config.toml",
    "rust-toolchain.toml",
    "flags by config",
    "#[path] or include! out of the tree",
    "include_str! of a key",
    "token from the environment",
    "network in a test",
    "a test that moves HEAD or writes hooks",
    "write to another target, the journal, the evidence",
    "symlink out",
    "case-twin name",
    "non-UTF-8 name",
    "huge file",
    "endless loop",
    "endless output",
    "fork bomb",
    "surviving daemon",
    "memory hog",
    "clock games",
    "stale base",
    "judge edited",
    "changelog edited",
    "lint silenced",
    "config raising its own limits",
    "prompt telling the judge to accept",
    "lock file changed",
    "gate detected",
    "prompt bloat",
    "bidi text in a diff",
];

#[test]
fn every_bribe_of_the_design_has_a_folder() {
    let cases: Vec<Case> = field_repo::folders().iter().map(|name| Case::of(name)).collect();
    let more = ["forged trailers", "a candidate identical to a refused one"];
    for noun in NOUNS.iter().chain(&more) {
        assert!(cases.iter().any(|case| case.noun.as_deref() == Some(*noun)), "no folder for {noun}");
    }
    assert!(cases.len() >= 60, "{}", cases.len());
    let rejected =
        cases.iter().find(|case| case.kind == Kind::Honest && case.verdict == "reject" && case.fact != NO_CHANGE);
    assert!(rejected.is_none(), "an honest change that is rejected: {rejected:?}");
}

/// A candidate that changes nothing is honest and nothing to land.
const NO_CHANGE: &str = "A candidate that changes nothing is refused.";

/// With any single defence left out at least one folder comes out otherwise: each folder is judged without its own.
#[test]
fn every_defence_is_needed_by_a_folder() {
    let cases: Vec<Case> = field_repo::folders().iter().map(|name| Case::of(name)).collect();
    for defence in Defence::ALL {
        let alone = |case: &&Case| case.defences() == [defence];
        assert!(cases.iter().any(|case| alone(&case)), "no folder fails without {defence:?}");
    }
}

#[test]
fn the_table_in_the_book_is_up_to_date() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cheats.md");
    let table = field_repo::table::table();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&book, &table).expect("written");
    }
    let found = std::fs::read_to_string(&book).unwrap_or_default();
    assert_eq!(found, table, "write it anew: BLESS=1 cargo test -p selfsmith --test cycles table");
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
