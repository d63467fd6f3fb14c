//! Control tokens that a server did not translate: Kimi's `<|tool_call_begin|>`, DeepSeek's `<｜tool▁call▁begin｜>`,
//! Llama's `<|python_tag|>`, gpt-oss's `<|channel|>`, Mistral's `[TOOL_CALLS]`.
//!
//! They are refused with the right syntax, up to the end of the section: their arguments are JSON that other rules cut
//! in other places, so running them waits for a file of its own each.

use super::{Foreign, Place, foreign_syntax};
use crate::query::text_channel::close::{Budget, Known};

/// How a section begins, and how it ends.
const SECTIONS: &[(&str, &str)] = &[
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    ("<|tool_call_begin|>", "<|tool_call_end|>"),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    ("<|channel|>commentary to=", "<|call|>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("[TOOL_CALLS]", "\n\n"),
];

/// What stands at the place.
pub fn at(place: &Place<'_>, _budget: &mut Budget) -> Foreign {
    let Some(tail) = place.text.get(place.at..) else { return Foreign::None };
    for (begin, end) in SECTIONS {
        if let Some(inside) = tail.strip_prefix(begin) {
            return match inside.find(end) {
                Some(at) => {
                    let until = place.at + begin.len() + at + end.len();
                    Foreign::Calls(vec![foreign_syntax(place, "tool_call")], until)
                }
                None if place.known == Known::Growing => Foreign::More,
                None => Foreign::Calls(vec![foreign_syntax(place, "tool_call")], place.text.len()),
            };
        }
        if place.known == Known::Growing && begin.starts_with(tail) {
            return Foreign::More;
        }
    }
    Foreign::None
}
