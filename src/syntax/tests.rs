//! Facts about texts read by their grammars.

use super::*;
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// A file of each language, whole, with names that the outline must find.
const SAMPLES: [(&str, &str, &[&str]); 16] = [
    ("a.sh", "greet() {\n  echo \"hi 中\"\n}\n", &["greet"]),
    ("a.c", "struct point { int x; };\nstatic int *first(int n) {\n  return 0;\n}\n", &["point", "first"]),
    (
        "a.cpp",
        "namespace n {\nclass A { int f() { return 1; } };\ntemplate <class T> T g(T t) { return t; }\n}\nvoid A::h() {}\n",
        &["n", "n::A", "n::A::f", "n::g", "A::h"],
    ),
    ("a.css", "a { color: red; }\n", &[]),
    ("a.go", "package p\n\ntype T struct{}\n\nfunc (t *T) M() int { return 1 }\n\nfunc f() {}\n", &["T", "T::M", "f"]),
    ("a.html", "<p>中文 — 🙂</p>\n", &[]),
    ("A.java", "class A {\n  A() {}\n  @Override\n  int f() { return 1; }\n}\n", &["A", "A::A", "A::f"]),
    (
        "a.js",
        "export const f = (x) => x;\nclass A {\n  m() {}\n  g = () => 1;\n}\nfunction h() {}\n",
        &["f", "A", "A::m", "A::g", "h"],
    ),
    ("a.json", "{\"a\": [1, \"中\"]}\n", &[]),
    ("a.py", "class A:\n    def f(self):\n        return '中'\n\n@d\ndef g():\n    pass\n", &["A", "A::f", "g"]),
    ("a.rb", "module M\n  class A\n    def f\n      1\n    end\n  end\nend\n", &["M", "M::A", "M::A::f"]),
    (
        "a.rs",
        "impl<T> fmt::Display for A<T> {\n    fn fmt(&self) -> &str { \"→\" }\n}\nmod m {\n    pub struct B;\n}\n",
        &["A::fmt", "m", "m::B"],
    ),
    ("a.toml", "[a]\nb = \"中\"\n", &[]),
    ("a.tsx", "export function F() { return <p>中 — a</p>; }\n", &["F"]),
    ("a.ts", "interface I { a: string }\ntype T = I;\nenum E { A }\n", &["I", "T", "E"]),
    ("a.yaml", "a: 中文 — 🙂\nb:\n  - \"x\"\n", &[]),
];

fn names(path: &str, text: &str) -> Vec<String> {
    let outline = Outline::read(Path::new(path), text, Depth::All, PATIENCE);
    outline.map(|outline| outline.symbols.iter().map(|symbol| symbol.path.join("::")).collect()).unwrap_or_default()
}

#[test]
fn every_grammar_reads_its_language_and_finds_its_symbols() {
    for (path, text, symbols) in SAMPLES {
        assert_eq!(worse(Path::new(path), "", text), None, "{path}");
        assert_eq!(names(path, text), symbols, "{path}");
    }
}

#[test]
fn an_error_is_told_only_where_the_edit_made_it() {
    for (path, broken, line) in [
        ("a.rs", "fn a() {}\nfn b() { let x = ; }\n", Some(2)),
        ("a.py", "def a():\n    return 1\n\ndef b(:\n    pass\n", Some(4)),
        ("a.js", "function f() {}\nprint(“x”);\n", Some(2)),
        // An error over several lines is told by its first.
        ("a.json", "{\n  \"a\": 1,\n  \"b\" 2\n}\n", Some(2)),
    ] {
        let found = worse(Path::new(path), "", broken).expect("it is worse");
        assert_eq!((found.before, found.line), (0, line), "{path}: {found:?}");
        assert_eq!(worse(Path::new(path), broken, broken), None, "{path}");
        assert_eq!(worse(Path::new(path), broken, ""), None, "{path}");
    }
    assert_eq!(worse(Path::new("a.txt"), "", "fn ("), None);
}

fn replaced(path: &str, text: &str, name: &str, new: &str) -> String {
    let outline = Outline::read(Path::new(path), text, Depth::All, PATIENCE).expect("it is read");
    let found = outline.find(name);
    let [symbol] = found.as_slice() else { panic!("{name}: {found:?}") };
    text.get(outline.span(text, symbol, new)).expect("a span of the text").to_owned()
}

#[test]
fn attributes_and_comments_are_replaced_only_by_their_like() {
    let text = "use a;\n\n/// Doc.\n#[test]\nfn f() {}\n";
    assert_eq!(replaced("a.rs", text, "f", "fn f() {}"), "fn f() {}");
    assert_eq!(replaced("a.rs", text, "f", "#[x]\nfn f() {}"), "#[test]\nfn f() {}");
    assert_eq!(replaced("a.rs", text, "f", "/// D\n#[x]\nfn f() {}"), "/// Doc.\n#[test]\nfn f() {}");
    let text = "import a\n# about\n@d\ndef f():\n    pass\n";
    assert_eq!(replaced("a.py", text, "f", "def f(): pass"), "def f():\n    pass");
    assert_eq!(replaced("a.py", text, "f", "@e\ndef f(): pass"), "@d\ndef f():\n    pass");
    let text = "let a = 1; // not mine\nexport const f = () => 1;\n";
    assert_eq!(replaced("a.js", text, "f", "// c\nexport const f = () => 2;"), "export const f = () => 1;");
    assert_eq!(replaced("a.js", text, "f", "const f = () => 2;"), "const f = () => 1;");
}

#[test]
fn a_name_is_found_by_its_end_and_by_its_line() {
    let text = "struct A;\nimpl A {\n    fn f() {}\n}\nimpl B {\n    fn f() {}\n}\n";
    let outline = Outline::read(Path::new("a.rs"), text, Depth::All, PATIENCE).expect("it is read");
    let lines = |name: &str| outline.find(name).iter().map(|symbol| symbol.line).collect::<Vec<_>>();
    assert_eq!(lines("f"), [3, 6]);
    assert_eq!((lines("B::f"), lines("B.f()"), lines("f@3"), lines("A")), (vec![6], vec![6], vec![3], vec![1]));
    assert_eq!((lines(""), lines("::"), lines("C::f")), (vec![], vec![], vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_text_makes_a_grammar_crash(text in "\\PC{0,60}", pieces in proptest::collection::vec("[<{(\\[\"'`$#@:;=\\\\\u{0}-\u{20}é中🙂\u{10ffff}a-c]{0,8}", 0..8)) {
        let text = format!("{text}{}", pieces.join("\n"));
        for (path, sample, _) in SAMPLES {
            let mixed = format!("{sample}{text}");
            let _ = worse(Path::new(path), &text, &mixed);
            let _ = Outline::read(Path::new(path), &mixed, Depth::All, PATIENCE).map(|outline| {
                outline.symbols.iter().map(|symbol| outline.span(&mixed, symbol, &text)).collect::<Vec<_>>()
            });
        }
    }
}
