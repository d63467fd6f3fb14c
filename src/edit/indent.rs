//! Indentation: how the file's differs from that of the old text, and the new text moved by the same.
//!
//! The difference must be the same for every line that is not blank: a shift, a change between tabs and blanks, or both.

use super::lines::Line;

/// How indentation is carried over from the model's text to the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    from: char,
    to: char,
    /// One step of the model's text is `num / den` of the file's characters.
    num: usize,
    den: usize,
    /// Characters of the file to add.
    add: i64,
}

/// The leading blanks of a line, and the rest.
pub fn split(line: &str) -> (&str, &str) {
    let rest = line.trim_start_matches([' ', '\t']);
    line.split_at_checked(line.len() - rest.len()).unwrap_or(("", line))
}

/// The shift that turns every `old` indentation into the one of the file. `unit` is the file's own step in blanks.
pub fn shift(pairs: &[(&str, &str)], new: &[&str], unit: usize) -> Option<Shift> {
    let from = only(pairs.iter().map(|(old, _)| *old))?;
    let to = only(pairs.iter().map(|(_, file)| *file))?;
    // Where one side has no indentation at all, its character is that of the new lines, or of the other side.
    let from = from.or(only(new.iter().map(|line| split(line).0)).flatten()).or(to).unwrap_or(' ');
    let to = to.unwrap_or(from);
    ratios(pairs, from, to, new, unit).into_iter().find_map(|(num, den)| {
        let add = pairs.first().map(|(old, file)| signed(file.len()) - signed(old.len() * num / den))?;
        let fits = |(old, file): &(&str, &str)| {
            (old.len() * num).is_multiple_of(den) && signed(old.len() * num / den) + add == signed(file.len())
        };
        pairs.iter().all(fits).then_some(Shift { from, to, num, den, add })
    })
}

impl Shift {
    /// A new line with the file's indentation.
    pub fn carry(&self, line: &str) -> String {
        let (indent, rest) = split(line);
        if rest.is_empty() {
            return String::new();
        }
        let own = indent.chars().take_while(|c| *c == self.from).count();
        let steps = signed(own * self.num / self.den) + self.add;
        let steps = usize::try_from(steps).unwrap_or(0);
        let left_over = if self.from == self.to { 0 } else { (own * self.num % self.den) / self.num.max(1) };
        let strange = indent.get(own..).unwrap_or_default();
        format!("{}{}{strange}{rest}", self.to.to_string().repeat(steps), " ".repeat(left_over))
    }
}

/// The step of a file that indents by blanks: the smallest indentation of at least two, or four.
pub fn unit_of(lines: &[Line<'_>]) -> usize {
    lines
        .iter()
        .filter(|line| !line.text.trim().is_empty())
        .map(|line| split(line.text).0)
        .filter(|indent| !indent.contains('\t'))
        .map(str::len)
        .filter(|length| (2..=8).contains(length))
        .min()
        .unwrap_or(4)
}

/// The one character of all indentations; outer None where they are mixed, inner None where there is none.
fn only<'a>(mut indents: impl Iterator<Item = &'a str>) -> Option<Option<char>> {
    indents.try_fold(None, |seen: Option<char>, indent| {
        indent.chars().try_fold(seen, |seen, c| match seen {
            Some(other) if other != c => None,
            _ => Some(Some(c)),
        })
    })
}

fn ratios(pairs: &[(&str, &str)], from: char, to: char, new: &[&str], unit: usize) -> Vec<(usize, usize)> {
    match (from, to) {
        (' ', '\t') => with_first(exact_step(pairs).or(new_step(pairs, new)), &[4, 2, 8, 3])
            .into_iter()
            .map(|step| (1, step))
            .collect(),
        ('\t', ' ') => with_first(Some(unit), &[4, 2, 8, 3]).into_iter().map(|step| (step, 1)).collect(),
        _ => vec![(1, 1), (2, 1), (1, 2)],
    }
}

/// Blanks for each tab of the first pair that has both.
fn exact_step(pairs: &[(&str, &str)]) -> Option<usize> {
    let (old, file) = pairs.iter().find(|(old, file)| !old.is_empty() && !file.is_empty())?;
    old.len().is_multiple_of(file.len()).then(|| old.len() / file.len()).filter(|step| (2..=8).contains(step))
}

/// The smallest step by which the model's own lines are indented.
fn new_step(pairs: &[(&str, &str)], new: &[&str]) -> Option<usize> {
    let old = pairs.iter().map(|(old, _)| old.len());
    old.chain(new.iter().map(|line| split(line).0.len())).filter(|length| (2..=8).contains(length)).min()
}

fn with_first(first: Option<usize>, others: &[usize]) -> Vec<usize> {
    first.into_iter().chain(others.iter().copied()).collect()
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_and_blanks_are_converted_step_by_step() {
        let pairs = [("", "\t"), ("    ", "\t\t"), ("        ", "\t\t\t")];
        let shift = shift(&pairs, &[], 4).expect("a shift");
        assert_eq!(shift.carry("            x"), "\t\t\t\tx");
        assert_eq!(shift.carry("  x"), "\t  x");
    }

    #[test]
    fn a_difference_that_is_not_the_same_everywhere_is_none() {
        assert_eq!(shift(&[("", "  "), ("  ", "  ")], &[], 2), None);
        assert_eq!(shift(&[(" \t", "  ")], &[], 2), None);
    }

    #[test]
    fn a_negative_shift_is_allowed() {
        let shift = shift(&[("\t\t", "\t"), ("\t\t\t", "\t\t")], &[], 4).expect("a shift");
        assert_eq!(shift.carry("\t\t\tnew()"), "\t\tnew()");
    }
}
