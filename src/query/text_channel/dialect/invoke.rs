//! `<invoke name="bash"><parameter name="command">ls</parameter></invoke>`, in wrappers such as `<function_calls>`, with
//! or without a prefix (`antml:`, `｜DSML｜`, `minimax:`).

use super::{Foreign, Place, with_parameters};
use crate::query::text_channel::close::Budget;
use crate::query::text_channel::tag;
use regex::Regex;
use std::sync::LazyLock;

static INVOKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^<((?:antml:|｜DSML｜)?invoke)\s+name\s*=\s*["']([^"'<>]*)["']\s*>"#)
        .expect("a fixed pattern that the tests compile")
});

static WRAPPER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^</?(?:antml:|｜DSML｜|minimax:)?(?:function_calls|tool_calls|tool_call|invoke)\s*>\s*")
        .expect("a fixed pattern that the tests compile")
});

/// What stands at the place.
pub fn at(place: &Place<'_>, budget: &mut Budget) -> Foreign {
    let Some(tail) = place.text.get(place.at..) else { return Foreign::None };
    if let Some(found) = tag::extent(place.text, place.at).and_then(|tag| INVOKE.captures(tag)) {
        let end = place.at + found.get(0).map_or(0, |whole| whole.end());
        let closer = found.get(1).map_or("invoke", |tag| tag.as_str());
        return with_parameters(place, &found[2], end, &[closer], budget);
    }
    match tag::extent(place.text, place.at).and_then(|tag| WRAPPER.find(tag)) {
        // `<tool_call>` alone may hold another dialect: the place behind it is looked at next.
        Some(wrapper) if !tail.starts_with("<tool_call>") => {
            Foreign::Wrapper(place.at + wrapper.as_str().trim_end().len())
        }
        _ => Foreign::None,
    }
}
