//! The table of all folders, as docs/cheats.md has it.

use super::{Case, Kind, folders};
use std::fmt::Write as _;

const HEAD: &str = "# The cheat suite

What the judge was shown, and what it said. Each line is a folder of `evolve/tests/cycles/`: a small base, a change, the expected
verdict at the expected gate. With its defence left out (only tests can do that) it does not come out so; `always` stands for what
cannot be left out, as the walls of the room. Add a folder, and this page is written anew by
`BLESS=1 cargo test -p selfsmith --test cycles table`.
";

/// The page.
pub fn table() -> String {
    let mut page = HEAD.to_owned();
    for (kind, title) in [(Kind::Cheat, "Bribes, accidents and attacks"), (Kind::Honest, "Honest changes")] {
        let cases = folders().into_iter().map(|name| (Case::of(&name), name)).filter(|(case, _)| case.kind == kind);
        let cases: Vec<(Case, String)> = cases.collect();
        writeln!(page, "\n## {title}: {}\n", cases.len()).expect("a text grows");
        page.push_str("| folder | fact | verdict | gate | defence |\n|---|---|---|---|---|\n");
        for (case, name) in cases {
            let gate = case.gate.map_or("", |gate| gate.as_str());
            let needs = case.needs.as_ref().map_or_else(String::new, |needs| format!(" (with {needs})"));
            let lands = if case.lands { ", lands" } else { "" };
            let defence = case.defence_words().join(", ");
            let verdict = &case.verdict;
            writeln!(page, "| `{name}` | {}{needs} | {verdict}{lands} | {gate} | {defence} |", case.fact)
                .expect("a text grows");
        }
    }
    page
}
