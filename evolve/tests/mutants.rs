//! Cycle folders that need cargo-mutants. `cargo test` passes them by; `.ci/run` installs it and runs
//! `cargo test -p selfsmith --test mutants`, where a program that is missing is a failure.

#[expect(dead_code, reason = "shared with cycles.rs, which uses all of it")]
mod field_repo;

use field_repo::Case;

#[test]
fn mutation_of_a_tested_line() {
    field_repo::prove("mutation-of-a-tested-line");
}

#[test]
fn mutations_nobody_notices() {
    field_repo::prove("mutations-nobody-notices");
}

#[test]
fn every_folder_that_needs_it_is_here() {
    let needs = |name: &String| Case::of(name).needs.is_some();
    let found: Vec<String> = field_repo::folders().into_iter().filter(needs).collect();
    assert_eq!(found, ["mutation-of-a-tested-line", "mutations-nobody-notices"]);
}
