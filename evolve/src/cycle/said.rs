//! What is said of a change, before it is written down: journal, commit, evidence and lineage keep it for ever.
//!
//! Searched for keys as the files are; what holds one is not written anywhere. It does not judge what the text says.

use crate::bounds;
use crate::cycle::sanitize::harmless;
use crate::judgement::candidate::Proposal;

/// What kind of key a text holds, as it is or as it is written; none if there is none.
pub(super) fn key_in(text: &str) -> Option<&'static str> {
    let found = |text: &str| bounds::secret_in(text.as_bytes(), b"");
    found(text).or_else(|| found(&harmless(text)))
}

/// The proposal without what holds a key, and what a person should know of it.
pub(super) fn without_keys(proposal: Proposal) -> (Proposal, Option<String>) {
    let holds = [&proposal.summary, &proposal.prediction, &proposal.output].into_iter().find_map(|text| key_in(text));
    let Some(what) = holds else { return (proposal, None) };
    let text = format!(
        "what the proposer says of its change holds {what}; it was not kept, and the goal stands in its place. Whoever \
         could read it may have it: withdraw the key"
    );
    (Proposal::default(), Some(text))
}

/// A reason, or that it held a key.
pub(super) fn reason(text: String) -> String {
    match key_in(&text) {
        Some(what) => format!("what the proposer said of its failure holds {what}, so it was not kept"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_as_it_is_and_as_it_would_be_written() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let split = token.replacen("a1", "a\u{200b}1", 1);
        for summary in [format!("Better words\n\ntoken {token}"), split] {
            let (kept, said) = without_keys(Proposal { summary, ..Proposal::default() });
            assert_eq!(kept, Proposal::default());
            assert!(said.is_some_and(|said| said.contains("a token of GitHub") && !said.contains(&token)));
        }
        for (prediction, output) in [(token.clone(), String::new()), (String::new(), token.clone())] {
            let whole = Proposal { summary: "Fine".into(), prediction, output };
            assert_eq!(without_keys(whole).0, Proposal::default());
        }
        let plain = Proposal { summary: "Add a flag".into(), prediction: "It prints".into(), output: "ok".into() };
        assert_eq!(without_keys(plain.clone()), (plain, None));
        assert!(!reason(token.clone()).contains(&token));
    }
}
