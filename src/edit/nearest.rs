//! After a miss: the real lines that come nearest, with what cannot be seen made visible.

use super::fold::folded;
use super::lines::lines;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Lines that are looked at; in a longer file only so many from the beginning.
const MAX_LINES: usize = 20_000;
/// Lines of the old text that are compared.
const MAX_OLD: usize = 40;
/// Characters of a line that are compared.
const MAX_CHARS: usize = 300;
/// Places that are judged by all of their lines.
const MAX_PLACES: usize = 50;
/// Lines that are shown.
const MAX_SHOWN: usize = 12;
/// Lines of an old text up to which its neighbours are shown too, and how many on each side.
const SHORT: usize = 3;
const AROUND: usize = 2;
/// How alike the best place must be to be worth showing, from 0 to 1.
const ENOUGH: f64 = 0.55;

/// The nearest lines with their numbers, or nothing where no place is alike.
pub fn shown(text: &str, old: &str) -> String {
    let here = lines(text);
    let here = here.get(..here.len().min(MAX_LINES)).unwrap_or_default();
    let wanted: Vec<&str> =
        old.lines().map(str::trim).skip_while(|line| line.is_empty()).take(MAX_OLD).collect::<Vec<_>>();
    let Some(start) = best(&here.iter().map(|line| line.text).collect::<Vec<_>>(), &wanted) else {
        return String::new();
    };
    let mut result = String::from("; the nearest lines are (→ tab, · blank at an end, ␍ carriage return)");
    // A short text may have been broken into several lines, or joined: its neighbours tell.
    let around = if wanted.len() <= SHORT { AROUND } else { 0 };
    let from = start.saturating_sub(around);
    let to = start + wanted.len().min(MAX_SHOWN) + around;
    for (n, line) in here.iter().enumerate().take(to).skip(from) {
        let want = n.checked_sub(start).and_then(|n| wanted.get(n));
        let mark = if want.is_none_or(|want| *want == line.text.trim()) { ' ' } else { '*' };
        result.push_str(&format!("\n{mark}{:>5} {}", n + 1, visible(line.text)));
    }
    if wanted.len() > MAX_SHOWN {
        result.push_str(&format!("\n … {} more lines", wanted.len() - MAX_SHOWN));
    }
    result
}

/// Where the window begins whose lines are most alike.
fn best(here: &[&str], wanted: &[&str]) -> Option<usize> {
    let longest = wanted.iter().enumerate().max_by_key(|(_, line)| line.chars().count())?;
    let wanted: Vec<Pairs> = wanted.iter().map(|line| pairs_of(line)).collect();
    let of_longest = wanted.get(longest.0)?;
    // Equal lines are judged once: generated files have many.
    let mut known: HashMap<&str, f64> = HashMap::new();
    // Judge every line by the longest wanted one, then the best few places by all of them.
    let mut places: Vec<(f64, usize)> = here
        .iter()
        .enumerate()
        .map(|(n, line)| {
            let line = line.trim();
            let score = *known.entry(line).or_insert_with(|| alike(of_longest, &pairs_of(line)));
            (score, n.saturating_sub(longest.0))
        })
        .filter(|(score, _)| *score >= 0.3)
        .collect();
    places.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    places.truncate(MAX_PLACES);
    let judged = places.into_iter().map(|(_, start)| {
        let score = |(n, want)| here.get(start + n).map_or(0.0, |line: &&str| alike(want, &pairs_of(line)));
        let total: f64 = wanted.iter().enumerate().map(score).sum();
        (total / f64::from(u32::try_from(wanted.len()).unwrap_or(u32::MAX)), start)
    });
    judged.filter(|(score, _)| *score >= ENOUGH).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, n)| n)
}

/// Neighbouring characters, blanks left out, sorted.
type Pairs = Vec<(char, char)>;

fn pairs_of(line: &str) -> Pairs {
    let chars: Vec<char> = folded(line).chars().filter(|c| !c.is_whitespace()).take(MAX_CHARS).collect();
    let mut pairs: Pairs = chars.iter().copied().zip(chars.iter().copied().skip(1)).collect();
    pairs.sort_unstable();
    pairs
}

/// Sørensen–Dice coefficient of the neighbouring characters of two lines.
fn alike(one: &Pairs, other: &Pairs) -> f64 {
    let total = one.len() + other.len();
    if total == 0 {
        return 1.0;
    }
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut common = 0_u32;
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        match a.cmp(b) {
            Ordering::Less => drop(one.next()),
            Ordering::Greater => drop(other.next()),
            Ordering::Equal => {
                common += 1;
                one.next();
                other.next();
            }
        }
    }
    2.0 * f64::from(common) / f64::from(u32::try_from(total).unwrap_or(u32::MAX))
}

fn visible(line: &str) -> String {
    let line: String = line.chars().take(200).collect();
    let rest = line.trim_start_matches([' ', '\t']);
    let indent = line.get(..line.len() - rest.len()).unwrap_or_default().replace('\t', "→").replace(' ', "·");
    let body = rest.trim_end_matches([' ', '\t', '\r']);
    let tail = rest.get(body.len()..).unwrap_or_default();
    let tail = tail.replace('\t', "→").replace(' ', "·").replace('\r', "␍");
    format!("{indent}{}{tail}", body.replace('\t', "→"))
}
