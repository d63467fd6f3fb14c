//! Knobs: numbers in settings that may be turned within ranges, from the base's `evolve/knobs.yaml`, which is sealed.
//!
//! Pure. A change is the turning of knobs only if the old text with the new numbers in their places is the new text, byte for
//! byte; whatever else differs is a change like any other.

use crate::rules::RulesError;
use serde::Deserialize;

/// Where the knobs lie in the base.
pub const KNOBS_PATH: &str = "evolve/knobs.yaml";

/// All knobs of a base.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// In the order of the file.
    pub knobs: Vec<Knob>,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// The settings file, YAML, seen from the top.
    pub file: String,
    /// Its key, with a dot between the levels.
    pub key: String,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// By how much it is turned at once.
    pub step: f64,
}

/// A knob that was turned.
#[derive(Debug, Clone, PartialEq)]
pub struct Turned<'a> {
    /// Which.
    pub knob: &'a Knob,
    /// From this.
    pub from: String,
    /// To this.
    pub to: String,
}

impl Knobs {
    /// Read the text of [`KNOBS_PATH`].
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let wrong = |line, what| RulesError { file: KNOBS_PATH.to_owned(), line, what };
        let knobs: Self =
            serde_yaml::from_str(text).map_err(|e| wrong(e.location().map(|at| at.line()), e.to_string()))?;
        for Knob { key, min, max, step, .. } in &knobs.knobs {
            let fine = min.is_finite() && max.is_finite() && min < max && *step > 0.0 && *step <= max - min;
            if !fine {
                return Err(wrong(None, format!("{key}: min must be below max, and step fit between them")));
            }
        }
        Ok(knobs)
    }

    /// The knobs that a new text of a file turns; none where anything else differs, or a number leaves its range.
    pub fn turned(&self, file: &str, before: &str, after: &str) -> Option<Vec<Turned<'_>>> {
        let mut made = before.to_owned();
        let mut turned = Vec::new();
        for knob in self.knobs.iter().filter(|knob| knob.file == file) {
            let (Some(from), Some(to)) = (value(before, &knob.key), value(after, &knob.key)) else { continue };
            if from == to {
                continue;
            }
            if !knob.permits(&to) {
                return None;
            }
            made = with(&made, &knob.key, &to)?;
            turned.push(Turned { knob, from, to });
        }
        (made == after && !turned.is_empty()).then_some(turned)
    }
}

impl Knob {
    /// Whether a value is a number in the range, and whole where the knob is.
    fn permits(&self, text: &str) -> bool {
        let whole = self.is_whole();
        let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-');
        let number = text.parse::<f64>().ok().filter(|number| plain && number.is_finite());
        number.is_some_and(|number| number >= self.min && number <= self.max && (!whole || !text.contains('.')))
    }

    /// Whether only whole numbers are meant.
    fn is_whole(&self) -> bool {
        [self.min, self.max, self.step].iter().all(|number| number.fract() == 0.0)
    }

    /// The value one step up or down from a text's present one, as it is written; none at the end of the range, and where the
    /// text does not have the knob.
    pub fn next(&self, text: &str, up: bool) -> Option<String> {
        let now: f64 = value(text, &self.key)?.parse().ok()?;
        let to = if up { now + self.step } else { now - self.step };
        // What comes of fractions is rounded to a thousandth, so that no 0.30000000000000004 is written.
        let to = if self.is_whole() { format!("{to:.0}") } else { format!("{}", (to * 1000.0).round() / 1000.0) };
        self.permits(&to).then_some(to)
    }
}

/// The text with another number at a key.
pub fn with(text: &str, key: &str, number: &str) -> Option<String> {
    let place = place(text, key)?;
    Some(format!("{}{number}{}", text.get(..place.start)?, text.get(place.end..)?))
}

/// The number at a key, as written.
fn value(text: &str, key: &str) -> Option<String> {
    Some(text.get(place(text, key)?)?.to_owned())
}

/// Where the number of a key stands: block mappings with a level a line, as settings are written. A key that is there twice is
/// none.
fn place(text: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let mut path: Vec<(usize, &str)> = Vec::new();
    let mut found = None;
    let mut begins = 0;
    for line in text.split_inclusive('\n') {
        let start = begins;
        begins += line.len();
        let bare = line.trim_start_matches(' ');
        let indent = line.len() - bare.len();
        let Some((name, rest)) = bare.split_once(':') else { continue };
        if bare.starts_with(['#', '-']) || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            continue;
        }
        while path.last().is_some_and(|(above, _)| *above >= indent) {
            path.pop();
        }
        path.push((indent, name));
        let value = rest.trim_start_matches(' ');
        let number: &str = value.split([' ', '#', '\r', '\n']).next().unwrap_or_default();
        let here = path.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(".");
        if here != key || number.parse::<f64>().is_err() {
            continue;
        }
        if found.is_some() {
            return None;
        }
        let at = start + line.len() - value.len();
        found = Some(at..at + number.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOBS: &str = "knobs:\n  - { file: config.yaml, key: limits.turns, min: 10, max: 100, step: 5 }\n  \
                         - { file: config.yaml, key: limits.share, min: 0.1, max: 0.9, step: 0.1 }\n";
    const TEXT: &str = "# turns: 7\nlimits:\n  turns: 20   # of each prompt\n  share: 0.2\nother:\n  turns: 20\n";

    fn knobs() -> Knobs {
        Knobs::parse(KNOBS).expect("are right")
    }

    fn turned(after: &str) -> Option<usize> {
        knobs().turned("config.yaml", TEXT, after).map(|turned| turned.len())
    }

    #[test]
    fn numbers_within_their_ranges_and_nothing_else_are_knobs() {
        assert_eq!(turned(&TEXT.replacen("turns: 20   #", "turns: 25   #", 1)), Some(1));
        assert_eq!(turned(&TEXT.replacen("turns: 20   #", "turns: 100   #", 1).replace("0.2", "0.9")), Some(2));
        for (what, after) in [
            ("nothing", TEXT.to_owned()),
            ("past the range", TEXT.replacen("turns: 20   #", "turns: 101   #", 1)),
            ("no number", TEXT.replacen("turns: 20   #", "turns: many   #", 1)),
            ("another notation", TEXT.replacen("turns: 20   #", "turns: 5e1   #", 1)),
            ("not whole", TEXT.replacen("turns: 20   #", "turns: 20.5   #", 1)),
            ("endless", TEXT.replace("0.2", "inf")),
            ("another key", TEXT.replace("other:\n  turns: 20", "other:\n  turns: 25")),
            ("a comment as well", TEXT.replacen("turns: 20   # of each", "turns: 25   # of every", 1)),
            ("a line more", format!("{}more: 1\n", TEXT.replacen("turns: 20   #", "turns: 25   #", 1))),
            ("the key twice", TEXT.replace("  share", "  turns: 30\n  share")),
        ] {
            assert_eq!(turned(&after), None, "{what}");
        }
        assert_eq!(knobs().turned("other.yaml", TEXT, &TEXT.replace("0.2", "0.3")), None, "another file");
    }

    #[test]
    fn a_knob_is_turned_by_its_step_and_not_past_its_end() {
        let knobs = knobs();
        let (turns, share) = (&knobs.knobs[0], &knobs.knobs[1]);
        assert_eq!((turns.next(TEXT, true).as_deref(), turns.next(TEXT, false).as_deref()), (Some("25"), Some("15")));
        assert_eq!((share.next(TEXT, true).as_deref(), share.next(TEXT, false).as_deref()), (Some("0.3"), Some("0.1")));
        assert_eq!(turns.next(&TEXT.replace("20", "98"), true), None);
        let made = with(TEXT, "limits.turns", "25").expect("is there");
        assert_eq!(made, TEXT.replacen("20   #", "25   #", 1));
    }

    #[test]
    fn the_projects_own_knobs_are_right_and_can_be_turned_both_ways() {
        let knobs = Knobs::parse(include_str!("../../knobs.yaml")).expect("are right");
        let settings = include_str!("../../../config.yaml");
        for knob in &knobs.knobs {
            let turns = [true, false].map(|up| knob.next(settings, up).and_then(|to| with(settings, &knob.key, &to)));
            for after in turns {
                let after = after.unwrap_or_else(|| panic!("{}: at its end, or not there", knob.key));
                assert_eq!(
                    knobs.turned("config.yaml", settings, &after).map(|turned| turned.len()),
                    Some(1),
                    "{}",
                    knob.key
                );
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, word) in [
            ("knobs: [{ file: a, key: b, min: 2, max: 1, step: 1 }]", "min must be below max"),
            ("knobs: [{ file: a, key: b, min: 1, max: 2, step: 3 }]", "step"),
            ("knobs: [{ file: a, key: b, min: 1, max: 2, step: 1, zone: open }]", "zone"),
        ] {
            let error = Knobs::parse(text).expect_err(text);
            assert!(error.to_string().contains(word) && error.to_string().contains(KNOBS_PATH), "{error}");
        }
    }
}
