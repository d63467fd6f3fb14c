#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Compared, Files, Mark, What};
use std::collections::BTreeSet;

pub(super) fn compare(base: &Files, candidate: &Files) -> Compared {
    super::compare(base, candidate, &BTreeSet::new())
}

pub(super) fn files(list: &[(&str, &str)]) -> Files {
    list.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

pub(super) fn whats(compared: &Compared) -> Vec<&What> {
    compared.findings.iter().map(|finding| &finding.what).collect()
}

pub(super) const LIB: &str = "pub fn add(a: i32, b: i32) -> i32 { a + b }\npub fn sub(a: i32, b: i32) -> i32 { a - b }\n\
    #[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(1, 2), 3); }\n\
    #[test]\n    fn subtracts() { assert_eq!(sub(3, 2), 1); }\n}\n";

pub(super) fn against(changed: &str) -> Compared {
    compare(&files(&[("src/lib.rs", LIB)]), &files(&[("src/lib.rs", changed)]))
}

#[test]
fn the_same_tests_in_another_layout_and_with_comments_are_the_same() {
    let changed = LIB.replace("{ assert_eq!(add(1, 2), 3); }", "{\n // why\n assert_eq!(\n add(1, 2),\n 3,\n );\n }");
    let compared = against(&changed.replace("a + b", "b + a"));
    assert_eq!(compared, Compared { compared: 2, ..Compared::default() });
}

#[test]
fn a_new_test_is_fine_and_counted() {
    let changed =
        LIB.replace("#[test]\n    fn sub", "#[test] fn more() { assert_eq!(add(0, 0), 0); }\n#[test]\n    fn sub");
    assert_eq!(against(&changed), Compared { compared: 2, added: 1, ..Compared::default() });
}

#[test]
fn a_loosened_assertion_is_a_change() {
    let compared = against(&LIB.replace("assert_eq!(add(1, 2), 3)", "assert!(add(1, 2) > 0)"));
    assert_eq!(whats(&compared), [&What::Changed]);
    assert_eq!(compared.findings.first().unwrap().name, "tests::adds");
}

#[test]
fn an_ignored_test_is_a_change() {
    assert_eq!(whats(&against(&LIB.replacen("#[test]", "#[test]\n#[ignore]", 1))), [&What::Changed]);
}

#[test]
fn a_test_module_put_under_another_condition_is_a_change() {
    let changed = LIB.replace("#[cfg(test)]", "#[cfg(all(test, target_os = \"none\"))]");
    assert_eq!(whats(&against(&changed)), [&What::Changed]);
}

#[test]
fn a_removed_test_is_gone() {
    let changed = LIB.replace("#[test]\n    fn subtracts() { assert_eq!(sub(3, 2), 1); }", "");
    assert_eq!(whats(&against(&changed)), [&What::Gone]);
}

#[test]
fn tests_that_move_to_a_file_of_their_own_are_the_same() {
    let (code, tests) = LIB.split_once("mod tests {").unwrap();
    let moved = files(&[
        ("src/lib.rs", &format!("{code}mod tests;\n")),
        ("src/tests.rs", tests.trim_end().strip_suffix('}').unwrap()),
    ]);
    let compared = compare(&files(&[("src/lib.rs", LIB)]), &moved);
    assert_eq!(compared, Compared { compared: 2, ..Compared::default() });
}

#[test]
fn tests_that_move_with_their_code_are_fine() {
    let moved = files(&[("src/lib.rs", "mod sums;\npub use sums::*;\n"), ("src/sums.rs", LIB)]);
    let compared = compare(&files(&[("src/lib.rs", LIB)]), &moved);
    assert_eq!(whats(&compared), Vec::<&What>::new());
    assert_eq!(compared.moved.first().unwrap(), &("tests::adds".to_owned(), "sums::tests::adds".to_owned()));
    assert_eq!(compared.added, 0);
}

#[test]
fn tests_that_move_away_from_their_code_are_parted() {
    let (code, _) = LIB.split_once("#[cfg(test)]").unwrap();
    let fake = LIB.replace("a + b", "3").replace("a - b", "1");
    let moved = files(&[("src/lib.rs", &format!("mod fake;\n{code}")), ("src/fake.rs", &fake)]);
    let compared = compare(&files(&[("src/lib.rs", LIB)]), &moved);
    assert_eq!(whats(&compared), [&What::Parted, &What::Parted]);
}

#[test]
fn a_new_name_that_takes_over_what_a_test_calls_is_seen() {
    let import = LIB.replace("use super::*;", "use super::*;\nuse crate::fake::add;");
    assert_eq!(whats(&against(&import)), [&What::Shadowed { by: "add".to_owned() }]);
    let function = LIB.replace("use super::*;", "use super::*;\nfn add(_: i32, _: i32) -> i32 { 3 }");
    assert_eq!(whats(&against(&function)), [&What::Shadowed { by: "add".to_owned() }]);
    let rules = format!("macro_rules! assert_eq {{ ($($t:tt)*) => {{}} }}\n{LIB}");
    assert_eq!(whats(&against(&rules)), [&What::Shadowed { by: "assert_eq!".to_owned() }]);
}

#[test]
fn a_helper_with_a_name_of_its_own_is_fine() {
    let helper = LIB.replace("use super::*;", "use super::*;\nfn three() -> i32 { 3 }");
    assert_eq!(whats(&against(&helper)), Vec::<&What>::new());
}

#[test]
fn code_that_asks_whether_it_is_tested_is_seen() {
    let changed = LIB.replace("{ a + b }", "{ if cfg!(test) { a + b } else { 0 } }");
    assert_eq!(whats(&against(&changed)), [&What::Marked(Mark::AsksForTest)]);
    let gated = LIB
        .replace("pub fn add", "#[cfg(not(test))]\npub fn add(_: i32, _: i32) -> i32 { 0 }\n#[cfg(test)]\npub fn add");
    assert!(whats(&against(&gated)).contains(&&What::Marked(Mark::AsksForTest)));
}

#[test]
fn code_that_can_mislead_its_tests_or_reaches_out_is_marked() {
    let cases = [
        ("pub fn x() -> bool { cfg!(debug_assertions) }", Mark::AsksForTest),
        ("macro_rules! m { ($x:ident) => { cfg!($x) } }\npub fn x() -> bool { m!(test) }", Mark::AsksForTest),
        ("#[used]\n#[link_section = \".init_array\"]\nstatic S: extern \"C\" fn() = f;", Mark::RunsBeforeMain),
        ("use core::cfg as c;\npub fn x() -> bool { c!(test) }", Mark::AsksForTest),
        ("pub fn x() { std::process::exit(0) }", Mark::EndsProcess),
        ("pub fn x() { std::process::abort() }", Mark::EndsProcess),
        ("pub const K: &str = include_str!(\"/etc/passwd\");", Mark::ReadsOutside),
        ("pub const K: &str = include_str!(\"../../key\");", Mark::ReadsOutside),
        ("#[path = \"/tmp/x.rs\"]\nmod x;", Mark::ReadsOutside),
        ("pub const K: Option<&str> = option_env!(\"HOME\");", Mark::ReadsEnvironment),
    ];
    for (code, mark) in cases {
        let compared = against(&format!("{code}\n{LIB}"));
        assert_eq!(whats(&compared), [&What::Marked(mark)], "{code}");
        assert!(compared.silenced.is_empty());
    }
    for fine in [
        "pub const K: &str = include_str!(\"../README.md\");",
        "pub const K: &str = include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/README.md\"));",
        "pub fn exit(x: u8) -> u8 { x }\npub fn y(t: T) { t.exit(); t.expect(\"why\"); }",
    ] {
        assert_eq!(whats(&against(&format!("{fine}\n{LIB}"))), Vec::<&What>::new(), "{fine}");
    }
}

#[test]
fn code_that_looks_at_its_own_thread_program_or_variables_is_shown_with_its_line() {
    for code in [
        "pub fn x() -> bool { std::thread::current().name() == Some(\"main\") }",
        "use std::thread::{self, current};",
        "use std::thread as t;",
        "use std::{env as e, fmt};",
        "use std::env::*;",
        "pub fn x() -> usize { std::env::args().count() }",
        "pub fn x() -> bool { std::env::current_exe().is_ok() }",
        "use std::env;\npub fn x() -> bool { env::var(\"NEXTEST\").is_ok() }",
        "use std::env;\npub fn x(name: &str) -> bool { env::var_os(name).is_some() }",
        "pub fn x() -> bool { std::env::vars().count() > 9 }",
        "pub fn x() -> bool { std::path::Path::new(\"/trial/tree\").exists() }",
        "pub fn x() -> bool { std::fs::read(\"/proc/self/cmdline\").is_ok() }",
        "unsafe extern \"C\" { fn prctl(option: i32) -> i32; }",
        "pub fn x() -> u32 { std::process::id() }",
        "pub fn x() -> bool { std::io::stdin().is_terminal() }",
    ] {
        let compared = against(&format!("{LIB}\n{code}"));
        assert!(whats(&compared).contains(&&What::Marked(Mark::LooksAround)), "{code}: {compared:?}");
    }
    let compared = against(&format!("// One.\npub fn x() -> bool {{\n    std::env::current_exe().is_ok()\n}}\n{LIB}"));
    let said = compared.findings.iter().map(ToString::to_string).collect::<String>();
    assert!(said.contains("src/lib.rs") && said.contains("(line 3: std::env::current_exe().is_ok())"), "{said}");
    for fine in [
        "pub fn x() -> bool { std::env::var(\"NO_COLOR\").is_ok() }",
        "pub fn x(thread: u8, env: u8) -> u8 { thread as u8 * env }",
        "pub fn current() -> u8 { 1 }\npub fn args(x: &X) { x.args(current()); }",
    ] {
        assert_eq!(whats(&against(&format!("{fine}\n{LIB}"))), Vec::<&What>::new(), "{fine}");
    }
    let program = |text: &str| files(&[("src/lib.rs", LIB), ("src/main.rs", text)]);
    let args = program("fn main() { std::env::args().count(); }");
    assert_eq!(whats(&compare(&program("fn main() {}"), &args)), Vec::<&What>::new(), "a program may read its own");
}

#[test]
fn code_that_can_tell_how_it_is_built_or_who_calls_it_is_shown() {
    let body = |code: &str| format!("pub fn x(mut n: u8, v: &mut Vec<u8>) -> u8 {{ {code}; n }}");
    let with_effect = [
        "debug_assert!({ n = 1; true })",
        "debug_assert_eq!(g(&mut n), 1)",
        "debug_assert!({ f(); true })",
        "std::debug_assert!({ n <<= 1; true }, \"why\")",
        "debug_assert!(v.pop().is_some())",
    ];
    let catches = ["std::panic::catch_unwind(|| n + 1)", "std::panic::set_hook(h)", "use std::panic::*"];
    let places =
        ["n = u8::from(file!() == F)", "let l = std::panic::Location::caller()", "match module_path!() { _ => {} }"];
    let cases = with_effect.iter().map(|code| (code, Mark::AssertsWithEffect));
    let cases = cases.chain(catches.iter().map(|code| (code, Mark::CatchesPanics)));
    for (code, mark) in cases.chain(places.iter().map(|code| (code, Mark::AsksForPlace))) {
        assert_eq!(whats(&against(&format!("{}\n{LIB}", body(code)))), [&What::Marked(mark)], "{code}");
    }
    let compared = against(&format!("#[track_caller]\npub fn x() {{}}\n{LIB}"));
    assert_eq!(whats(&compared), [&What::Marked(Mark::AsksForPlace)]);
    for fine in [
        "debug_assert!(n <= 1 && n != 2 && (0..=3).contains(&n), \"{m}\", m = n)",
        "debug_assert!(matches!(f(), Point { x: 1, .. } if n >= 1))",
        "debug_assert_eq!([0; 4].map(|b| b + 1), *t)",
        "eprintln!(\"{}:{}\", file!(), line!())",
        "b.set_hook(1)",
    ] {
        assert_eq!(whats(&against(&format!("{}\n{LIB}", body(fine)))), Vec::<&What>::new(), "{fine}");
    }
}

#[test]
fn a_derived_trait_that_is_written_by_hand_is_shown() {
    let lib = |head: &str, rest: &str| format!("{head}\npub struct Point<T> {{ x: T }}\n{LIB}{rest}");
    let to = |before: &str, after: &str, rest: &str| {
        compare(&files(&[("src/lib.rs", &lib(before, ""))]), &files(&[("src/lib.rs", &lib(after, rest))]))
    };
    let equal = "impl<T> PartialEq for Point<T> { fn eq(&self, _: &Self) -> bool { true } }";
    let derived = "#[derive(Debug, PartialEq)]";
    let marked = [What::Marked(Mark::ByHand)];
    let compared = to(derived, "#[derive(Debug)]", equal);
    assert_eq!(whats_of(&compared), marked);
    let said = compared.findings.iter().map(ToString::to_string).collect::<String>();
    assert!(said.contains("src/lib.rs") && said.contains("(line 13: impl PartialEq for Point)"), "{said}");
    assert_eq!(whats_of(&to("", "", &format!("fn f() {{ {equal} }}"))), marked, "also inside of a function");
    assert_eq!(whats_of(&to(derived, "#[derive(PartialEq)]", "impl<T> std::fmt::Debug for Point<T> {}")), marked);
    assert_eq!(whats_of(&to("#[derive(Clone)]", "", "impl<T> Clone for Point<T> where T: Copy {}")), marked);
    for fine in [
        "impl<T> Clone for Point<T> {}",
        "impl<T> std::fmt::Display for Point<T> {}",
        "impl<T> PartialEq<u8> for Point<T> {}",
        "struct New;\nimpl PartialEq for New { fn eq(&self, _: &Self) -> bool { true } }",
    ] {
        assert_eq!(whats_of(&to(derived, derived, fine)), [], "{fine}");
    }
    let base = files(&[("src/lib.rs", &lib("", equal))]);
    assert_eq!(whats_of(&compare(&base, &files(&[("src/lib.rs", &lib("", &equal.replace("true", "false")))]))), []);
}

#[test]
fn a_marked_line_that_moves_is_not_new_and_one_in_place_of_another_is() {
    let with = |line: &str| format!("{LIB}\npub fn x() -> bool {{\n    {line}\n}}\n");
    let id = "std::thread::current().id() == ID";
    let base = files(&[("src/lib.rs", &with(id))]);
    let to = |text: String| whats_of(&compare(&base, &files(&[("src/lib.rs", &text)])));
    assert_eq!(to(format!("const Y: u8 = 1;\n{}", with(id))), []);
    assert_eq!(to(with("std::thread::current().name().is_some()")), [What::Marked(Mark::LooksAround)]);
}

#[test]
fn a_silenced_lint_is_told_apart() {
    for code in ["#[allow(unused)]\nfn x() {}", "#[cfg_attr(all(), expect(unused))]\nfn x() {}"] {
        let compared = against(&format!("{code}\n{LIB}"));
        assert_eq!(compared.silenced.len(), 1, "{code}");
        assert_eq!(whats(&compared), Vec::<&What>::new(), "{code}");
    }
    assert_eq!(against(&format!("#![allow(unused)]\n{LIB}")).silenced.len(), 1);
}

#[test]
fn a_changed_example_is_seen_and_changed_prose_is_not() {
    let with =
        |prose: &str, fence: &str, code: &str| format!("/// {prose}\n///\n/// {fence}\n/// {code}\n/// ```\n{LIB}");
    let base = files(&[("src/lib.rs", &with("Adds.", "```", "assert_eq!(x::add(1, 2), 3);"))]);
    let to = |text: String| whats_of(&compare(&base, &files(&[("src/lib.rs", &text)])));
    assert_eq!(to(with("Sums.", "```", "assert_eq!(x::add(1, 2), 3);")), []);
    assert_eq!(to(with("Adds.", "```no_run", "assert_eq!(x::add(1, 2), 3);")), [What::Example]);
    assert_eq!(to(with("Adds.", "```", "let _ = x::add(1, 2);")), [What::Example]);
    assert_eq!(to(LIB.to_owned()), [What::Example]);
}

pub(super) fn whats_of(compared: &Compared) -> Vec<What> {
    compared.findings.iter().map(|finding| finding.what.clone()).collect()
}

#[test]
fn a_file_below_tests_is_compared_as_a_whole() {
    let base =
        files(&[("tests/it.rs", "const WANT: i32 = 3;\n#[test]\nfn it() { assert_eq!(x::add(1, 2), WANT); }\n")]);
    let changed =
        files(&[("tests/it.rs", "const WANT: i32 = 4;\n#[test]\nfn it() { assert_eq!(x::add(1, 2), WANT); }\n")]);
    assert_eq!(whats(&compare(&base, &changed)), [&What::Changed]);
}

#[test]
fn what_cannot_be_read_is_said_unless_it_is_the_same() {
    let broken = files(&[("src/lib.rs", "fn (")]);
    assert!(matches!(whats(&compare(&files(&[("src/lib.rs", LIB)]), &broken)).first(), Some(What::Unreadable { .. })));
    assert_eq!(compare(&broken, &broken), Compared::default());
}

#[test]
fn no_nesting_overflows_the_stack() {
    for text in [
        format!("fn f() -> bool {{ {}true }}", "!".repeat(255_000)),
        format!("fn f() {{ {}{} }}", "(".repeat(120_000), ")".repeat(120_000)),
        format!("fn f() {{ {}{} }}", "{".repeat(120_000), "}".repeat(120_000)),
        format!("const A: i32 = 1{};", " + 1".repeat(60_000)),
        format!("type A = {}u8{};", "&".repeat(100_000), ""),
    ] {
        let deep = files(&[("src/lib.rs", &text)]);
        let _ = compare(&deep, &files(&[("src/lib.rs", LIB)]));
    }
}

const OPS: &str = "pub fn double(n: i32) -> i32 { 2 * n }\n\
    #[cfg(test)]\nmod tests {\n    #[test]\n    fn doubles() { assert_eq!(super::double(4), 8); }\n}\n";

#[test]
fn a_module_that_is_taken_from_elsewhere_while_its_file_stays_is_shown() {
    let side = |lib: &str| files(&[("src/lib.rs", lib), ("src/ops.rs", OPS)]);
    let base = side("pub mod ops;\n");
    for swapped in [
        "#[path = \"ops2.rs\"]\npub mod ops;\n",
        "pub mod ops { pub fn double(_: i32) -> i32 { 0 } }\n",
        "macro_rules! m { ($p:literal) => { #[path = $p] pub mod ops; } }\nm!(\"ops2.rs\");\n",
        "#[cfg(any())]\npub mod ops;\n#[path = \"ops2.rs\"]\npub mod ops2;\n",
        "",
    ] {
        let found = compare(&base, &side(swapped));
        assert!(whats(&found).contains(&&What::Detached), "{swapped}: {found:?}");
    }
    let documented = compare(&base, &side("/// Doubles.\nmod ops;\nmod more {}\n"));
    assert_eq!(whats(&documented), Vec::<&What>::new());
    let inline = files(&[("src/lib.rs", &format!("pub mod ops {{ {OPS} }}\n"))]);
    assert_eq!(whats(&compare(&base, &inline)), Vec::<&What>::new(), "with its file gone it is a move");
}

#[test]
fn an_import_of_tests_may_become_wider_but_not_another() {
    let with = |import: &str| LIB.replace("use super::*;", import);
    let base = files(&[("src/lib.rs", &with("use super::{add, sub};"))]);
    let now = |import: &str| compare(&base, &files(&[("src/lib.rs", &with(import))]));
    assert_eq!(whats(&now("use super::{add, sub, more};")), Vec::<&What>::new());
    assert_eq!(whats(&now("use super::add;\n    use super::sub;")), Vec::<&What>::new());
    assert_eq!(whats(&now("use super::{more::add, sub};")), [&What::Gone]);
    assert_eq!(whats(&now("#[cfg(any())]\n    use super::{add, sub};\n    use more::*;")), [&What::Gone]);
}

#[test]
fn what_reaches_below_the_language_is_shown() {
    for code in [
        "#[unsafe(no_mangle)]\npub extern \"C\" fn memcmp() -> i32 { 0 }",
        "#[unsafe(export_name = \"getenv\")]\npub fn x() {}",
        "unsafe extern \"C\" { fn getpid() -> i32; }",
        "extern { fn getpid() -> i32; }",
        "#[global_allocator]\nstatic A: B = B;",
        "pub fn x() { unsafe { std::arch::asm!(\"syscall\") } }",
    ] {
        let found = against(&format!("{code}\n{LIB}"));
        assert!(whats(&found).contains(&&What::Marked(Mark::BelowLanguage)), "{code}: {found:?}");
    }
    for fine in ["extern crate alloc;", "pub fn call(f: extern \"C\" fn()) { f() }"] {
        assert_eq!(whats(&against(&format!("{fine}\n{LIB}"))), Vec::<&What>::new(), "{fine}");
    }
}

#[test]
fn a_lint_that_is_no_longer_forbidden_is_asked_about_as_a_silenced_one() {
    let base = files(&[("src/lib.rs", &format!("#![forbid(unsafe_code)]\n#![deny(missing_docs, unused)]\n{LIB}"))]);
    let now = |head: &str| compare(&base, &files(&[("src/lib.rs", &format!("{head}\n{LIB}"))]));
    let lost = |compared: &Compared| {
        let lints = compared.silenced.iter().filter_map(|finding| match &finding.what {
            What::Unguarded { lint } => Some(lint.clone()),
            _ => None,
        });
        lints.collect::<Vec<_>>()
    };
    assert_eq!(lost(&now("#![deny(unsafe_code)]\n#![forbid(unused)]\n#![warn(missing_docs)]")), ["missing_docs"]);
    assert_eq!(lost(&now("#![deny(unsafe_code, unused, missing_docs, dead_code)]")), Vec::<String>::new());
}

#[test]
fn a_line_that_moves_out_of_a_program_is_not_new() {
    let exits = "pub fn leave() {\n    std::process::exit(3)\n}\n";
    let base = files(&[("src/main.rs", &format!("fn main() {{ leave() }}\n{exits}")), ("src/lib.rs", LIB)]);
    let moved =
        files(&[("src/main.rs", "mod cli;\nfn main() { cli::leave() }\n"), ("src/cli.rs", exits), ("src/lib.rs", LIB)]);
    assert_eq!(whats(&compare(&base, &moved)), Vec::<&What>::new());
    let more = files(&[
        ("src/main.rs", "mod cli;\nfn main() {}\n"),
        ("src/cli.rs", &exits.replace('3', "0")),
        ("src/lib.rs", LIB),
    ]);
    assert_eq!(whats(&compare(&base, &more)), [&What::Marked(Mark::EndsProcess)]);
}

#[test]
fn a_file_that_could_not_be_read_may_be_mended_above_its_tests() {
    let broken = LIB.replacen("a + b }", "a + b", 1);
    let base = files(&[("src/lib.rs", &broken)]);
    let now = |text: &str| compare(&base, &files(&[("src/lib.rs", text)]));
    assert_eq!(whats(&now(LIB)), Vec::<&What>::new());
    for weaker in [
        LIB.replace("3, 2), 1", "3, 2), sub(3, 2)"),
        LIB.replace("#[cfg(test)]", "#[cfg(any())]"),
        LIB.replace("#[cfg(test)]", "#[cfg(any())]\n#[cfg(test)]"),
    ] {
        assert!(matches!(whats(&now(&weaker))[..], [What::Unreadable { .. }]), "{weaker}");
    }
}

#[test]
fn two_conditions_that_become_one_are_not_new() {
    let code =
        |condition: &str, end: &str| format!("pub fn x(n: u8) {{\n    {condition}\n        f();\n    {end}\n}}\n{LIB}");
    let base = files(&[("src/lib.rs", &code("if cfg!(debug_assertions) {\n    if n == 1 {", "}}"))]);
    let now = files(&[("src/lib.rs", &code("if cfg!(debug_assertions)\n        && n == 1 {", "}"))]);
    assert_eq!(whats(&compare(&base, &now)), Vec::<&What>::new());
    let more = files(&[("src/lib.rs", &code("if cfg!(debug_assertions) && n == 1 {", "}"))]);
    assert_eq!(whats(&compare(&base, &more)), [&What::Marked(Mark::AsksForTest)]);
}
