//! The kinds: each makes its world, asks, and judges.

mod bash;
mod config;
mod edit;
mod git;
mod model;
mod path;
mod retrieval;
mod text;

use crate::Case;
use crate::program::Fault;

/// The kinds, in the order of tests/cases/README.md.
pub const KINDS: &[&str] = &[
    "xml_parse",
    "edit",
    "sse_stream",
    "native_tool_delta",
    "think_filter",
    "file_blocks",
    "skill",
    "path",
    "git",
    "bash",
    "retrieval",
    "config",
];

/// Run a case: the faults, none if it passed.
pub fn run(case: &Case) -> Result<Vec<String>, Fault> {
    match case.kind.as_str() {
        "xml_parse" => text::xml_parse(case),
        "file_blocks" => text::file_blocks(case),
        "skill" => text::skill(case),
        "edit" => edit::run(case),
        "path" => path::run(case),
        "sse_stream" => model::sse_stream(case),
        "native_tool_delta" => model::native_tool_delta(case),
        "think_filter" => model::think_filter(case),
        "git" => git::run(case),
        "bash" => bash::run(case),
        "retrieval" => retrieval::run(case),
        "config" => config::run(case),
        other => Err(Fault::Broken(format!("tests/cases has no runner for the kind {other}"))),
    }
}
