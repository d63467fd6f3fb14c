//! `<function=bash><parameter=command>ls</parameter></function>`, often inside `<tool_call>`, whose opener may be missing.

use super::{Foreign, Place, with_parameters};
use crate::query::text_channel::close::Budget;
use crate::query::text_channel::tag;
use regex::Regex;
use std::sync::LazyLock;

static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^<function\s*(?:=|\s+name\s*=)\s*["']?([A-Za-z_][A-Za-z0-9_.-]*)["']?\s*>"#)
        .expect("a fixed pattern that the tests compile")
});

/// What stands at the place.
pub fn at(place: &Place<'_>, budget: &mut Budget) -> Foreign {
    let Some(tail) = place.text.get(place.at..) else { return Foreign::None };
    if tail.starts_with("</function>") {
        return Foreign::Wrapper(place.at + "</function>".len());
    }
    let Some(found) = tag::extent(place.text, place.at).and_then(|tag| FUNCTION.captures(tag)) else {
        return Foreign::None;
    };
    let end = place.at + found.get(0).map_or(0, |whole| whole.end());
    with_parameters(place, &found[1], end, &["function"], budget)
}
