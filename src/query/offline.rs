//! A streamed reply read without a network, for whatever feeds it bytes: fuzz targets and step counts.
//!
//! The way of every reply but for the HTTP library between the lines and the chunks.

use super::assemble::{Assembler, Step};
use super::chunk::pieces;
use super::http::Lines;
use super::quirks::Echo;
use super::reply::{self, Read, Reading};
use super::{Channel, ToolSpec};

/// The reply of an event stream that came in these parts; none where the server reported an error or a line is too long.
pub fn read<'p>(parts: impl Iterator<Item = &'p [u8]>, channel: Channel, tools: &[ToolSpec]) -> Option<Read> {
    let mut lines = Lines::default();
    let mut text = Vec::new();
    for part in parts {
        lines.push(part).ok()?;
        text.extend(std::iter::from_fn(|| lines.next()).flatten());
    }
    lines.finish();
    text.extend(std::iter::from_fn(|| lines.next()).flatten());
    let mut assembler = Assembler::default();
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let Some(data) = line.strip_prefix(b"data:") else { continue };
        let Ok(chunk) = serde_json::from_slice(data.trim_ascii()) else { continue };
        for piece in pieces(&chunk) {
            if let Step::Failed(_) = assembler.push(piece) {
                return None;
            }
        }
    }
    let raw = assembler.finish(Some("the stream ended".to_owned()));
    Some(reply::read(&raw, Reading { channel, echo: Echo::Never, tools }, &[]))
}
