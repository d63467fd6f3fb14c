//! After a miss: the real lines that come nearest, with what cannot be seen made visible.

use super::fold::folded;
use super::lines::lines;
use std::collections::HashMap;

/// Lines that are looked at; in a longer file only so many from the beginning.
const MAX_LINES: usize = 20_000;
/// Lines of the old text that are compared.
const MAX_OLD: usize = 40;
/// Lines that are shown.
const MAX_SHOWN: usize = 12;
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
    for (n, line) in here.iter().enumerate().skip(start).take(wanted.len().min(MAX_SHOWN)) {
        let mark = if wanted.get(n - start).is_some_and(|want| *want == line.text.trim()) { ' ' } else { '*' };
        result.push_str(&format!("\n{mark}{:>5} {}", n + 1, visible(line.text)));
    }
    if wanted.len() > MAX_SHOWN {
        result.push_str(&format!("\n … {} more lines", wanted.len() - MAX_SHOWN));
    }
    result
}

/// Where the window begins whose lines are most alike.
fn best(here: &[&str], wanted: &[&str]) -> Option<usize> {
    let rarest = wanted.iter().enumerate().max_by_key(|(_, line)| line.chars().count())?;
    let pairs = pairs_of(rarest.1);
    // Judge every line by the longest wanted one, then the best few places by all of them.
    let mut places: Vec<(f64, usize)> = here
        .iter()
        .enumerate()
        .map(|(n, line)| (alike(&pairs, line.trim()), n.saturating_sub(rarest.0)))
        .filter(|(score, _)| *score >= 0.3)
        .collect();
    places.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    places.truncate(50);
    let judged = places.into_iter().map(|(_, start)| {
        let total: f64 = wanted
            .iter()
            .enumerate()
            .map(|(n, want)| here.get(start + n).map_or(0.0, |line| alike(&pairs_of(want), line.trim())))
            .sum();
        (total / f64::from(u32::try_from(wanted.len()).unwrap_or(u32::MAX)), start)
    });
    judged.filter(|(score, _)| *score >= ENOUGH).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, n)| n)
}

type Pairs = HashMap<(char, char), u32>;

/// Neighbouring characters, blanks left out, counted.
fn pairs_of(line: &str) -> Pairs {
    let chars: Vec<char> = folded(line).chars().filter(|c| !c.is_whitespace()).take(400).collect();
    let mut pairs = Pairs::new();
    for (a, b) in chars.iter().zip(chars.iter().skip(1)) {
        *pairs.entry((*a, *b)).or_default() += 1;
    }
    pairs
}

/// Sørensen–Dice coefficient of the neighbouring characters of two lines.
fn alike(pairs: &Pairs, line: &str) -> f64 {
    let other = pairs_of(line);
    let total = pairs.values().sum::<u32>() + other.values().sum::<u32>();
    if total == 0 {
        return if line.is_empty() && pairs.is_empty() { 1.0 } else { 0.0 };
    }
    let common: u32 = pairs.iter().map(|(pair, n)| other.get(pair).map_or(0, |m| (*n).min(*m))).sum();
    2.0 * f64::from(common) / f64::from(total)
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
