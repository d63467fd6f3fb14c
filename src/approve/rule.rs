//! Rules of a person about commands, with examples that are checked when they are read.
//!
//! A pattern is a command's words; `*` within a word stands for any characters, a last word `*` for any further words. A
//! line is allowed only if every command in it is, whatever it is wrapped in; it is refused, or asked about, if any is.

use super::shell::{Line, Word, read};
use super::wrapper::{Real, Unwrapped, unwrap};
use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

/// A rule as people write it: one of `allow`, `ask`, `deny`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Commands that run without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<String>,
    /// Commands that are always asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// Commands that never run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<String>,
    /// Examples.
    pub tests: Examples,
}

/// Examples of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Examples {
    /// Command lines that it has to match.
    #[serde(rename = "match")]
    pub matching: Vec<String>,
    /// Command lines that it must not match.
    #[serde(rename = "not")]
    pub other: Vec<String>,
}

/// What rules say of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Say {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It may not.
    Deny,
}

/// Why a rule is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It says nothing, or several things.
    #[error("rule {0} should have exactly one of allow, ask and deny")]
    Form(usize),
    /// The pattern cannot be read.
    #[error("rule {0}: the pattern `{1}` cannot be read")]
    Pattern(usize, String),
    /// It has no example that it matches.
    #[error("rule {0} has no example: give at least one command line under tests.match")]
    NoExample(usize),
    /// An example shows that it does something else.
    #[error("rule {0} does not match its example `{1}`")]
    DoesNotMatch(usize, String),
    /// An example shows that it does more.
    #[error("rule {0} matches `{1}`, which stands under tests.not")]
    MatchesToo(usize, String),
}

/// Rules that were read and that hold what their examples say.
#[derive(Debug, Clone, Default)]
pub struct Rules(Vec<Pattern>);

#[derive(Debug, Clone)]
struct Pattern {
    say: Say,
    text: String,
    words: Vec<GlobMatcher>,
    open: bool,
}

impl Rules {
    /// Reads rules and tries their examples.
    ///
    /// # Errors
    /// The first rule that is wrong, counted from 1.
    pub fn new(rules: &[Rule]) -> Result<Self, RuleError> {
        let mut patterns = Vec::new();
        for (n, rule) in (1..).zip(rules) {
            let pattern = Pattern::of(n, rule)?;
            if rule.tests.matching.is_empty() {
                return Err(RuleError::NoExample(n));
            }
            for (examples, wanted) in [(&rule.tests.matching, true), (&rule.tests.other, false)] {
                for example in examples {
                    match (pattern.matches_line(&read(example)), wanted) {
                        (true, true) | (false, false) => {}
                        (false, true) => return Err(RuleError::DoesNotMatch(n, example.clone())),
                        (true, false) => return Err(RuleError::MatchesToo(n, example.clone())),
                    }
                }
            }
            patterns.push(pattern);
        }
        Ok(Self(patterns))
    }

    /// What they say of a line, and the pattern that says it; the strictest wins.
    pub fn say(&self, line: &Line) -> Option<(Say, &str)> {
        let strict = |say: Say| {
            let found = self.0.iter().find(|pattern| pattern.say == say && pattern.matches_line(line));
            found.map(|pattern| (say, pattern.text.as_str()))
        };
        strict(Say::Deny).or_else(|| strict(Say::Ask)).or_else(|| self.allowed(line).then_some((Say::Allow, "")))
    }

    /// Whether every command of a line is allowed. What cannot be read is not, nor are redirects that write.
    fn allowed(&self, line: &Line) -> bool {
        let Some(reals) = reals(line) else { return false };
        let one = |real: &Real| {
            !real.as_other
                && self.0.iter().any(|pattern| pattern.say == Say::Allow && pattern.matches(&real.words, Every::Text))
        };
        let plain =
            |words: &[Word]| words.first().is_some_and(|word| matches!(word.text(), "cd" | "true" | "echo" | ":"));
        !reals.is_empty()
            && !line.unclear
            && !line.redirects.iter().any(|redirect| redirect.writes && redirect.target.text() != "/dev/null")
            && reals.iter().any(&one)
            && reals.iter().all(|real| one(real) || plain(&real.words))
    }
}

/// Whether each text of a word has to match, or one is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Every {
    Text,
    One,
}

impl Pattern {
    fn of(n: usize, rule: &Rule) -> Result<Self, RuleError> {
        let (say, text) = match (&rule.allow, &rule.ask, &rule.deny) {
            (Some(text), None, None) => (Say::Allow, text),
            (None, Some(text), None) => (Say::Ask, text),
            (None, None, Some(text)) => (Say::Deny, text),
            _ => return Err(RuleError::Form(n)),
        };
        let wrong = || RuleError::Pattern(n, text.clone());
        let mut words = shell_words::split(text).map_err(|_| wrong())?;
        let open = words.last().is_some_and(|word| word == "*");
        if open {
            words.pop();
        }
        if words.is_empty() {
            return Err(wrong());
        }
        let glob = |word: &String| {
            let glob = GlobBuilder::new(word).literal_separator(false).build();
            glob.map(|glob| glob.compile_matcher()).map_err(|_| wrong())
        };
        Ok(Self { say, text: text.clone(), words: words.iter().map(glob).collect::<Result<_, _>>()?, open })
    }

    /// Whether a command of the line is meant.
    fn matches_line(&self, line: &Line) -> bool {
        let every = if self.say == Say::Allow { Every::Text } else { Every::One };
        let direct = line.commands.iter().any(|command| self.matches(&command.words, every));
        let reals = reals(line).unwrap_or_default();
        direct || reals.iter().any(|real| self.matches(&real.words, every))
    }

    fn matches(&self, words: &[Word], every: Every) -> bool {
        if words.len() < self.words.len() || (words.len() > self.words.len() && !self.open) {
            return false;
        }
        let one = |(glob, word): (&GlobMatcher, &Word)| match every {
            Every::Text => word.known && word.texts.iter().all(|text| glob.is_match(text)),
            Every::One => word.texts.iter().any(|text| glob.is_match(text)),
        };
        let rest = words.get(self.words.len()..).unwrap_or_default();
        self.words.iter().zip(words).all(one) && (every == Every::One || rest.iter().all(|word| word.known))
    }
}

/// What really runs; none where something of it cannot be known. Texts for shells are read too.
fn reals(line: &Line) -> Option<Vec<Real>> {
    let mut reals = Vec::new();
    let mut open = vec![(line.clone(), 0)];
    while let Some((line, deep)) = open.pop() {
        for command in &line.commands {
            for unwrapped in unwrap(&command.words) {
                match unwrapped {
                    Unwrapped::Real(real) => reals.push(real),
                    Unwrapped::Text(text) if deep < 8 => open.push((read(&text), deep + 1)),
                    Unwrapped::Text(_) | Unwrapped::Unknown => return None,
                }
            }
        }
        if deep > 0 && line.unclear {
            return None;
        }
    }
    Some(reals)
}

/// The narrowest rule that would allow a line; none where a rule could not.
pub fn grant(text: &str) -> Option<Rule> {
    let line = read(text);
    let [command] = line.commands.as_slice() else { return None };
    let plain = command
        .words
        .iter()
        .all(|word| word.known && word.texts.len() == 1 && !word.text().contains(['*', '?', '[', '{']));
    if line.unclear || !plain || line.redirects.iter().any(|redirect| redirect.writes) {
        return None;
    }
    let words = command.words.iter().map(Word::text);
    let rule = Rule {
        allow: Some(shell_words::join(words)),
        tests: Examples { matching: vec![text.to_owned()], other: Vec::new() },
        ..Rule::default()
    };
    let rules = Rules::new(std::slice::from_ref(&rule)).ok()?;
    (rules.say(&line).map(|(say, _)| say) == Some(Say::Allow)).then_some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(say: &str, pattern: &str, matching: &[&str], other: &[&str]) -> Rule {
        let text = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut rule = Rule { tests: Examples { matching: text(matching), other: text(other) }, ..Rule::default() };
        let pattern = Some(pattern.to_owned());
        match say {
            "allow" => rule.allow = pattern,
            "ask" => rule.ask = pattern,
            _ => rule.deny = pattern,
        }
        rule
    }

    fn rules() -> Rules {
        Rules::new(&[
            rule("allow", "cargo {test,check} *", &["cargo test -p x", "env A=1 cargo check"], &["cargo publish"]),
            rule("ask", "cargo test --release *", &["cargo test --release"], &["cargo test"]),
            rule("deny", "git push *", &["git push origin", "sh -c 'git push'"], &["git pull"]),
        ])
        .expect("they hold what their examples say")
    }

    fn say(text: &str) -> Option<Say> {
        rules().say(&read(text)).map(|(say, _)| say)
    }

    #[test]
    fn the_strictest_rule_wins_and_all_of_a_line_has_to_be_allowed() {
        for (text, expected) in [
            ("cargo test", Some(Say::Allow)),
            ("cd sub && timeout 60 cargo test -p x 2>&1", Some(Say::Allow)),
            ("cargo test --release", Some(Say::Ask)),
            ("cargo test && curl x", None),
            ("cargo test > ~/.bashrc", None),
            ("cargo test $(curl x)", None),
            ("sudo cargo test", None),
            ("cargo test; git push", Some(Say::Deny)),
            ("bash -c \"git push\"", Some(Say::Deny)),
            ("xargs git push", Some(Say::Deny)),
            ("$X", None),
        ] {
            assert_eq!(say(text), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_that_does_not_do_what_its_examples_say_is_an_error() {
        let wrong = |rule: Rule| Rules::new(&[rule]).expect_err("it is wrong");
        assert_eq!(wrong(rule("allow", "ls *", &[], &[])), RuleError::NoExample(1));
        assert_eq!(wrong(rule("deny", "ls", &["ls -l"], &[])), RuleError::DoesNotMatch(1, "ls -l".to_owned()));
        assert_eq!(wrong(rule("deny", "ls *", &["ls"], &["ls x"])), RuleError::MatchesToo(1, "ls x".to_owned()));
        assert_eq!(wrong(rule("deny", "'open", &["x"], &[])), RuleError::Pattern(1, "'open".to_owned()));
        assert_eq!(wrong(Rule::default()), RuleError::Form(1));
    }

    #[test]
    fn a_grant_allows_that_line_and_no_other() {
        let rule = grant("git push origin 'my branch'").expect("a rule");
        let rules = Rules::new(&[rule]).expect("it holds");
        let said = |text: &str| rules.say(&read(text)).map(|(say, _)| say);
        assert_eq!(said("git push origin 'my branch'"), Some(Say::Allow));
        assert_eq!(said("git push origin 'my branch' --force"), None);
        for text in ["a; b", "rm *", "a > b", "x $(y)", "sudo x", "'open"] {
            assert_eq!(grant(text), None, "{text}");
        }
    }
}
