//! Marks and checks that stand in code.

use super::tests::{LIB, against, compare, files, whats, whats_of};
use super::{Mark, What};
use std::collections::BTreeSet;

#[test]
fn new_code_that_runs_programs_is_shown_unless_its_file_did_before() {
    for code in [
        "pub fn x() { std::process::Command::new(\"sh\"); }",
        "use std::process::{Command, Stdio};",
        "use std::{fs, process::Command as C};",
        "use std::process::*;",
        "use std::process as p;",
        "use std::{process as p};",
        "pub async fn x() { tokio::process::Command::new(\"sh\"); }",
        "pub fn x() { unsafe { libc::system(c) } }",
        "pub fn x() { xshell::cmd!(sh, \"ls\"); }",
        "pub fn x() { unsafe { execvp(a, b) }; }",
    ] {
        let compared = against(&format!("{code}\n{LIB}"));
        assert_eq!(whats(&compared), [&What::Marked(Mark::RunsPrograms)], "{code}");
    }
    for fine in [
        "pub fn x() { clap::Command::new(\"app\"); }",
        "pub fn fork(x: u8) -> u8 { x }\npub fn y(r: R) { r.fork(1); r.system(2); }",
        "pub fn y(process: u8) -> u16 { process as u16 }",
    ] {
        assert_eq!(whats(&against(&format!("{fine}\n{LIB}"))), Vec::<&What>::new(), "{fine}");
    }
    let did = |args: &str| format!("{LIB}\npub fn x() {{\n    std::process::Command::new({args});\n}}\n");
    let compared = compare(&files(&[("src/lib.rs", &did("\"sh\""))]), &files(&[("src/lib.rs", &did("\"ls\""))]));
    assert_eq!(whats_of(&compared), []);
}

#[test]
fn checks_that_stand_in_code_are_compared() {
    let with = |code: &str| {
        files(&[
            ("src/lib.rs", &format!("{code}\n{LIB}")),
            ("tests/it.rs", "#[test]\nfn it() { x::holds(1); assert_eq!(x::TABLE[0], x::LIMIT); }"),
        ])
    };
    let base = "pub const LIMIT: u8 = 1;\npub fn uses() -> u8 { LIMIT }\npub const TABLE: [u8; 1] = [1];\n\
        pub fn holds(x: u8) { assert!(x == 1); }\nconst _: () = assert!(LIMIT < 2);\n\
        pub fn f() { const { assert!(LIMIT > 0) } }\nstatic_assertions::assert_impl_all!(u8: Send);";
    let to = |from: &str, to: &str| {
        assert!(base.contains(from), "{from}");
        whats_of(&compare(&with(base), &with(&base.replace(from, to))))
    };
    for (from, into) in [
        ("assert!(x == 1)", "assert!(x > 0)"),
        ("[u8; 1] = [1]", "[u8; 1] = [2]"),
        ("const _: () = assert!(LIMIT < 2);", ""),
        ("const _: () = assert!(LIMIT < 2);", "const _: () = assert!(LIMIT < 200);"),
        ("const { assert!(LIMIT > 0) }", ""),
        ("assert_impl_all!(u8: Send)", "assert_impl_all!(u8: Sync)"),
    ] {
        assert_eq!(to(from, into), [What::Check], "{from} to {into}");
    }
    assert_eq!(to("LIMIT: u8 = 1", "LIMIT: u8 = 3 - 2"), [], "code uses it");
    assert_eq!(to("-> u8 { LIMIT }", "-> u8 { LIMIT + 0 }"), [], "no check");
    let moved = compare(
        &with(base),
        &files(&[
            ("src/lib.rs", &format!("mod m;\n{}\n{LIB}", base.replace("const _: () = assert!(LIMIT < 2);", ""))),
            ("src/m.rs", "const _: () = assert!(LIMIT < 2);"),
            ("tests/it.rs", "#[test]\nfn it() { x::holds(1); assert_eq!(x::TABLE[0], x::LIMIT); }"),
        ]),
    );
    assert_eq!(whats_of(&moved), [], "it stands elsewhere");
}

#[test]
fn a_type_that_lost_what_tests_compare_is_shown() {
    let lib = |code: &str| files(&[("src/lib.rs", &format!("{code}\n{LIB}"))]);
    let base =
        "#[derive(PartialEq, Debug)]\npub struct P { x: u8, y: u8 }\n#[derive(PartialEq)]\npub enum E { A(u8), B }\n";
    let to = |code: &str| whats_of(&compare(&lib(base), &lib(code)));
    let marked = [What::Marked(Mark::Hollow)];
    for code in [
        base.replace("y: u8", "y: ()"),
        base.replace("y: u8", "z: Nothing") + "#[derive(PartialEq, Debug)]\npub struct Nothing;\n",
        base.replace("y: u8", "y: N") + "type N = std::marker::PhantomData<u8>;\n",
        base.replace(" x: u8, y: u8 ", ""),
        base.replace("A(u8)", "A([u8; 0])"),
        base.replace("y: u8", "y: Any")
            + "pub struct Any(u8);\nimpl PartialEq for Any { fn eq(&self, _: &Self) -> bool { true } }\nimpl std::fmt::Debug for Any {}\n",
    ] {
        assert_eq!(to(&code), marked, "{code}");
    }
    for fine in [
        base.replace("y: u8", "y: u16"),
        base.replace(", y: u8", ""),
        base.replace("y: u8", "y: u8, of: std::marker::PhantomData<u8>"),
        format!("{base}#[derive(PartialEq)]\npub struct New;\n"),
    ] {
        assert_eq!(to(&fine), [], "{fine}");
    }
}

#[test]
fn a_test_target_among_the_sources_is_compared_as_a_whole() {
    let base = files(&[("src/inner.rs", "fn main() { assert_eq!(x::add(1, 2), 3); }")]);
    let emptied = files(&[("src/inner.rs", "fn main() {}")]);
    let roots = BTreeSet::from(["src/inner.rs".to_owned()]);
    assert_eq!(whats(&super::compare(&base, &emptied, &roots)), [&What::Changed]);
}
