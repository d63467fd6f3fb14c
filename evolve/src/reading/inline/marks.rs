//! Marks of code that can mislead in-process tests, or that reaches out of the project: not proofs, reasons to look.
//!
//! Counted on both sides; one more than before is a question. Nothing here is complete: the code under test shares a process
//! with its tests, so black-box scenarios decide. Token by token; it knows no types.

use super::tokens::collect_idents;
use super::{programs, senses};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// One kind of mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Asks whether it is being tested, documented, or built without optimisation.
    AsksForTest,
    /// Runs before `main`.
    RunsBeforeMain,
    /// Ends the process.
    EndsProcess,
    /// Takes in a file from outside of the project.
    ReadsOutside,
    /// Takes in a variable of whoever builds it.
    ReadsEnvironment,
    /// Looks at its own thread, program or variables.
    LooksAround,
    /// Has an effect in an assertion that a release build leaves out.
    AssertsWithEffect,
    /// Catches panics, or says what happens at one.
    CatchesPanics,
    /// Asks who calls it, or where it stands.
    AsksForPlace,
    /// Writes by hand what tests compare, order, print or copy with.
    ByHand,
    /// Reaches below the language: symbols by name, foreign functions, the allocator, machine code.
    BelowLanguage,
    /// Compares less than before: a field that tests compare holds nothing now.
    Hollow,
    /// Starts other programs.
    RunsPrograms,
    /// Silences a lint.
    SilencesLint,
}

impl Mark {
    /// What new code with this mark does.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsksForTest => "behaves otherwise under test",
            Self::RunsBeforeMain => "runs before the program begins",
            Self::EndsProcess => "ends the process",
            Self::ReadsOutside => "takes in a file from outside of the project",
            Self::ReadsEnvironment => "takes in a variable of whoever builds it",
            Self::LooksAround => {
                "looks at its own thread, program or variables, by which code can tell that it is tested"
            }
            Self::AssertsWithEffect => "does something in a `debug_assert`, which a release build leaves out",
            Self::CatchesPanics => {
                "catches panics or hooks into them, by which code can tell how it was built and hide that it failed"
            }
            Self::AsksForPlace => "asks who calls it or where it stands, by which code can tell that it is tested",
            Self::ByHand => "writes by hand what tests compare, order, print or copy with",
            Self::BelowLanguage => {
                "reaches below the language (a symbol's name, a foreign function, the allocator, machine code), by which it can \
                 take the place of what tests rely on"
            }
            Self::Hollow => "takes from a type what tests compare, so that values are equal that were not",
            Self::RunsPrograms => "runs other programs, which nothing in the file did before",
            Self::SilencesLint => "silences a lint",
        }
    }
}

/// Conditions under which code may be another than the one that is shipped.
const CONDITIONS: [&str; 5] = ["test", "doctest", "debug_assertions", "miri", "doc"];
/// Ways to end a process.
const ENDINGS: [&str; 4] = ["exit", "abort", "_exit", "quick_exit"];
/// Macros that take in a file.
const INCLUDES: [&str; 3] = ["include", "include_str", "include_bytes"];

/// What a program's own file may do without a mark: read its arguments, end its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Programs {
    /// It has no mark for that.
    MayDoSo,
    /// It has one as every file: on the base, so that a line that moves out of a program is not new.
    Counted,
}

/// The marks in tokens of a file, each with its line, from 1.
pub fn marks(tokens: &TokenStream, file: &str, programs: Programs) -> Vec<(Mark, usize)> {
    let mut found = Vec::new();
    let is_program = programs == Programs::MayDoSo && is_program(file);
    Scan { file, is_program, found: &mut found }.level(tokens);
    found
}

struct Scan<'a> {
    file: &'a str,
    is_program: bool,
    found: &'a mut Vec<(Mark, usize)>,
}

impl Scan<'_> {
    fn level(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
            if senses::looks(&tokens, at, self.is_program) {
                self.found(Mark::LooksAround, token);
            }
            if programs::runs(&tokens, at) {
                self.found(Mark::RunsPrograms, token);
            }
            if let Some(mark) = senses::tells_apart(&tokens, at) {
                self.found(mark, token);
            }
            match token {
                TokenTree::Group(group) => {
                    self.group(group, token, before);
                    self.level(&group.stream());
                }
                TokenTree::Ident(name) if below_language(&name.to_string(), &tokens, at) => {
                    self.found(Mark::BelowLanguage, token);
                }
                TokenTree::Ident(name) if name == "link_section" => self.found(Mark::RunsBeforeMain, token),
                TokenTree::Ident(name) if name == "as" => {
                    // Under another name the macro could not be seen.
                    if let Some(mark) = renamed(before(1)) {
                        self.found(mark, token);
                    }
                }
                _ => {}
            }
        }
    }

    fn found(&mut self, mark: Mark, at: &TokenTree) {
        self.found.push((mark, at.span().start().line));
    }

    fn group<'t>(
        &mut self,
        group: &proc_macro2::Group,
        token: &TokenTree,
        before: impl Fn(usize) -> Option<&'t TokenTree>,
    ) {
        let stream = group.stream();
        let named = |token: Option<&TokenTree>| match token {
            Some(TokenTree::Ident(name)) => name.to_string(),
            _ => String::new(),
        };
        let is =
            |token: Option<&TokenTree>, mark: char| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == mark);
        let is_macro = is(before(1), '!');
        let name = named(before(if is_macro { 2 } else { 1 }));
        let mut idents = BTreeSet::new();
        collect_idents(&stream, &mut idents);
        match name.as_str() {
            "cfg" | "cfg_attr" | "cfg_select" => {
                let asks = CONDITIONS.iter().any(|condition| idents.contains(*condition));
                // `cfg!($x)` in a macro asks for whatever it is given.
                if asks || has_dollar(&stream) {
                    self.found(Mark::AsksForTest, token);
                }
            }
            name if is_macro && INCLUDES.contains(&name) && self.leads_out(&stream, &idents) => {
                self.found(Mark::ReadsOutside, token);
            }
            "env" | "option_env" if is_macro => {
                let ours = |text: &String| text.starts_with("CARGO") || text == "OUT_DIR" || text == "TARGET";
                if !literals(&stream).iter().take(1).all(ours) {
                    self.found(Mark::ReadsEnvironment, token);
                }
            }
            name if ENDINGS.contains(&name) && !is_macro && group.delimiter() == Delimiter::Parenthesis => {
                let defined = named(before(2)) == "fn" || is(before(2), '.');
                if !defined && !self.is_program {
                    self.found(Mark::EndsProcess, token);
                }
            }
            _ => {}
        }
        let is_attribute = is(before(1), '#') || (is_macro && is(before(2), '#'));
        if is_attribute && group.delimiter() == Delimiter::Bracket {
            self.attribute(&stream, &idents, token);
        }
    }

    fn attribute(&mut self, stream: &TokenStream, idents: &BTreeSet<String>, token: &TokenTree) {
        let first = stream.clone().into_iter().next().map(|token| token.to_string()).unwrap_or_default();
        if idents.contains("allow") || idents.contains("expect") {
            self.found(Mark::SilencesLint, token);
        }
        if first == "ctor" {
            self.found(Mark::RunsBeforeMain, token);
        }
        if first == "path" && self.leads_out(stream, idents) {
            self.found(Mark::ReadsOutside, token);
        }
    }

    /// Whether a path in it is absolute, or climbs out of the tree.
    fn leads_out(&self, stream: &TokenStream, idents: &BTreeSet<String>) -> bool {
        let from_package = idents.contains("env");
        let folders = self.file.split('/').count() - 1;
        let literals = literals(stream);
        let climbs: usize = literals.iter().map(|text| text.split('/').filter(|part| *part == "..").count()).sum();
        let absolute = literals.iter().any(|text| text.starts_with('/')) && !from_package;
        absolute || climbs > folders
    }
}

/// Attributes and macros that name symbols, replace what std brings, or write machine code; and blocks of foreign functions.
fn below_language(name: &str, tokens: &[TokenTree], at: usize) -> bool {
    let next = |by: usize| tokens.get(at + by);
    let is_macro = || matches!(next(1), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
    let is_block = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace);
    match name {
        "no_mangle" | "export_name" | "link_name" | "global_allocator" | "panic_handler" => true,
        "asm" | "global_asm" | "naked_asm" => is_macro(),
        "extern" => is_block(next(1)) || (matches!(next(1), Some(TokenTree::Literal(_))) && is_block(next(2))),
        _ => false,
    }
}

/// What a macro does that is imported under another name.
fn renamed(name: Option<&TokenTree>) -> Option<Mark> {
    let Some(TokenTree::Ident(name)) = name else { return None };
    match name.to_string().as_str() {
        "cfg" | "cfg_select" => Some(Mark::AsksForTest),
        "option_env" => Some(Mark::ReadsEnvironment),
        name if INCLUDES.contains(&name) => Some(Mark::ReadsOutside),
        _ => None,
    }
}

/// A program's own file may end its process.
fn is_program(file: &str) -> bool {
    file.ends_with("main.rs") || file.contains("/bin/") || file.starts_with("examples/") || file.ends_with("build.rs")
}

fn has_dollar(stream: &TokenStream) -> bool {
    stream.clone().into_iter().any(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '$'))
}

/// Texts in tokens, those in groups too.
pub(super) fn literals(stream: &TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in stream.clone() {
        match token {
            TokenTree::Literal(literal) => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    found.push(text.value());
                }
            }
            TokenTree::Group(group) => found.extend(literals(&group.stream())),
            _ => {}
        }
    }
    found
}

/// Examples in documentation: info line and code of each fenced block, in any comment of these tokens.
pub fn examples(tokens: &TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut text = String::new();
    gather(tokens, &mut text, &mut found);
    fences(&text, &mut found);
    found
}

/// Lines of documentation that follow each other are one text.
fn gather(tokens: &TokenStream, text: &mut String, found: &mut Vec<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Punct(mark) if matches!(mark.as_char(), '#' | '!') => {}
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && is_doc(&group.stream()) => {
                literals(&group.stream()).iter().for_each(|line| {
                    text.push_str(line);
                    text.push('\n');
                });
            }
            TokenTree::Group(group) => {
                fences(&std::mem::take(text), found);
                gather(&group.stream(), text, found);
                fences(&std::mem::take(text), found);
            }
            _ => fences(&std::mem::take(text), found),
        }
    }
}

fn is_doc(stream: &TokenStream) -> bool {
    matches!(stream.clone().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

fn fences(text: &str, found: &mut Vec<String>) {
    let mut open: Option<(String, String)> = None;
    for line in text.lines().map(str::trim) {
        let fence = line.starts_with("```") || line.starts_with("~~~");
        match &mut open {
            None if fence => open = Some((line.to_owned(), String::new())),
            Some((info, code)) if fence => {
                found.push(format!("{info}\n{code}"));
                open = None;
            }
            Some((_, code)) => {
                code.push_str(line);
                code.push('\n');
            }
            None => {}
        }
    }
}
