//! Which symbols of many files matter most: those that many other files name.
//!
//! Linear in the texts: every text is read into words once, every symbol is weighed once.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Letters of a word that can be a reference.
const SHORTEST: usize = 3;

/// In how many files each word stands.
#[derive(Debug, Default)]
pub struct Words(HashMap<u64, u32>);

impl Words {
    /// Count a file's text.
    pub fn add(&mut self, text: &str) {
        let mut own: Vec<u64> = words(text).map(digest).collect();
        own.sort_unstable();
        own.dedup();
        for word in own {
            *self.0.entry(word).or_default() += 1;
        }
    }

    /// Add what was counted elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (word, count) in other.0 {
            *self.0.entry(word).or_default() += count;
        }
    }

    /// What a name weighs: files that have it, the defining ones left out, shared among its definitions.
    pub fn weight(&self, name: &str, definitions: u32) -> f64 {
        let files = self.0.get(&digest(name)).copied().unwrap_or_default();
        let definitions = definitions.max(1);
        f64::from(files.saturating_sub(definitions)) / f64::from(definitions)
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| word.len() >= SHORTEST)
}

fn digest(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_weighs_what_other_files_say_of_it() {
        let mut words = Words::default();
        for text in ["fn parse() {} parse parse", "parse(x)", "parse; other", "fn other() {}"] {
            words.add(text);
        }
        assert_eq!(words.weight("parse", 1), 2.0);
        assert_eq!((words.weight("other", 1), words.weight("other", 2), words.weight("none", 1)), (1.0, 0.0, 0.0));
    }
}
