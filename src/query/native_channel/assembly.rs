//! Joins the deltas of native calls.
//!
//! Which call a delta belongs to: a known id wins; then the index; then the call in progress. A new id, or a new name
//! after whole arguments, opens a new call even on a used index (servers that label every call 0 exist). Null and empty
//! fields never overwrite.

use crate::query::chunk::CallDelta;
use serde_json::Value;

/// A joined call as the server sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawCall {
    /// The server's id, or empty.
    pub id: String,
    /// The name, or empty.
    pub name: String,
    /// The arguments' JSON text.
    pub arguments: String,
}

/// Calls being joined.
#[derive(Debug, Clone, Default)]
pub struct Assembly {
    calls: Vec<Growing>,
}

#[derive(Debug, Clone, Default)]
struct Growing {
    index: Option<u64>,
    id: Option<String>,
    names: Vec<String>,
    pieces: Vec<String>,
}

impl Growing {
    fn arguments(&self) -> String {
        self.pieces.concat()
    }

    /// Whether the arguments are a whole JSON object by now.
    fn is_whole(&self) -> bool {
        is_object(&self.arguments())
    }

    fn take(&mut self, delta: CallDelta) {
        if self.id.is_none() {
            self.id = delta.id;
        }
        if let Some(name) = delta.name
            && !self.names.contains(&name)
        {
            self.names.push(name);
        }
        let Some(piece) = delta.arguments.filter(|piece| !piece.is_empty()) else { return };
        // The whole text once more (a replayed chunk, or a last chunk that repeats everything) adds nothing.
        // Only a piece that begins an object can be that, so that long arguments are not read again for each piece.
        let repeats =
            piece.trim_start().starts_with('{') && self.is_whole() && is_same_object(&piece, &self.arguments());
        if !repeats {
            self.pieces.push(piece);
        }
    }

    fn finish(self) -> RawCall {
        let mut arguments = self.arguments();
        // A server that repeats the text so far in each delta: the last one holds everything.
        if self.pieces.len() > 1
            && !is_object(&arguments)
            && let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last())
            && is_object(last)
            && last.starts_with(first.as_str())
        {
            arguments.clone_from(last);
        }
        RawCall { id: self.id.unwrap_or_default(), name: self.names.concat(), arguments }
    }
}

impl Assembly {
    /// Take one delta.
    pub fn push(&mut self, delta: CallDelta) {
        let at = self.place(&delta);
        match at.and_then(|at| self.calls.get_mut(at)) {
            Some(call) => call.take(delta),
            None => {
                let mut call = Growing { index: delta.index, ..Growing::default() };
                call.take(delta);
                self.calls.push(call);
            }
        }
    }

    /// Whether nothing came.
    pub const fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The joined calls in order of appearance.
    pub fn finish(self) -> Vec<RawCall> {
        self.calls.into_iter().map(Growing::finish).collect()
    }

    /// Where the delta belongs; `None` opens a new call.
    fn place(&self, delta: &CallDelta) -> Option<usize> {
        match &delta.id {
            Some(id) => self.place_by_id(delta, id),
            None => self.place_without_id(delta),
        }
    }

    fn place_by_id(&self, delta: &CallDelta, id: &str) -> Option<usize> {
        if let Some(at) = self.calls.iter().rposition(|call| call.id.as_deref() == Some(id)) {
            let other_index =
                delta.index.is_some() && self.calls[at].index.is_some() && delta.index != self.calls[at].index;
            // One id for two calls: another index and a name of its own tell them apart.
            return (!(other_index && delta.name.is_some())).then_some(at).or_else(|| self.at_index(delta.index));
        }
        // An id that comes late belongs to the call that began without one.
        let begun = self.at_index(delta.index).or_else(|| delta.index.is_none().then(|| self.current()).flatten())?;
        let call = self.calls.get(begun)?;
        let same_name = delta.name.as_ref().is_none_or(|name| call.names.is_empty() || call.names.contains(name));
        (call.id.is_none() && same_name && !call.is_whole()).then_some(begun)
    }

    fn place_without_id(&self, delta: &CallDelta) -> Option<usize> {
        let begun = match self.at_index(delta.index) {
            Some(at) => at,
            None => {
                let current = self.current()?;
                // A new index with a name of its own is a new call; without a name it is the tail of the present one.
                if delta.index.is_some() && delta.name.is_some() && !self.calls[current].names.is_empty() {
                    return None;
                }
                current
            }
        };
        let call = self.calls.get(begun)?;
        let opens = match &delta.name {
            None => false,
            Some(name) if call.names.is_empty() || call.names.contains(name) => {
                call.is_whole()
                    && !call.names.is_empty()
                    && delta.arguments.as_deref().is_none_or(|piece| !is_same_object(piece, &call.arguments()))
            }
            // Another name while nothing came yet is the rest of a name in pieces.
            Some(_) => !call.pieces.is_empty(),
        };
        (!opens).then_some(begun)
    }

    fn at_index(&self, index: Option<u64>) -> Option<usize> {
        let index = index?;
        self.calls.iter().rposition(|call| call.index == Some(index))
    }

    fn current(&self) -> Option<usize> {
        self.calls.len().checked_sub(1)
    }
}

fn is_object(text: &str) -> bool {
    matches!(serde_json::from_str::<Value>(text), Ok(Value::Object(_)))
}

fn is_same_object(a: &str, b: &str) -> bool {
    match (serde_json::from_str::<Value>(a), serde_json::from_str::<Value>(b)) {
        (Ok(a @ Value::Object(_)), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(index: impl Into<Option<u64>>, id: &str, name: &str, arguments: &str) -> CallDelta {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        CallDelta { index: index.into(), id: some(id), name: some(name), arguments: some(arguments) }
    }

    fn joined(deltas: Vec<CallDelta>) -> Vec<(String, String, String)> {
        let mut assembly = Assembly::default();
        deltas.into_iter().for_each(|delta| assembly.push(delta));
        assembly.finish().into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn calls(list: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        list.iter().map(|(id, name, arguments)| ((*id).into(), (*name).into(), (*arguments).into())).collect()
    }

    #[test]
    fn interleaved_calls_follow_their_index() {
        let deltas = vec![
            delta(0, "a", "view", ""),
            delta(1, "b", "bash", ""),
            delta(0, "", "", "{\"path\":"),
            delta(1, "", "", "{\"command\":"),
            delta(0, "", "", "\"x\"}"),
            delta(1, "", "", "\"ls\"}"),
        ];
        assert_eq!(joined(deltas), calls(&[("a", "view", "{\"path\":\"x\"}"), ("b", "bash", "{\"command\":\"ls\"}")]));
    }

    #[test]
    fn calls_without_index_and_id_are_told_apart_by_whole_arguments() {
        let deltas = vec![delta(None, "", "view", "{\"path\":\"a\"}"), delta(None, "", "view", "{\"path\":\"b\"}")];
        assert_eq!(joined(deltas), calls(&[("", "view", "{\"path\":\"a\"}"), ("", "view", "{\"path\":\"b\"}")]));
    }

    #[test]
    fn a_replayed_chunk_adds_nothing() {
        let one = delta(0, "a", "view", "{\"path\":\"a\"}");
        assert_eq!(joined(vec![one.clone(), one]), calls(&[("a", "view", "{\"path\":\"a\"}")]));
        let pieces = vec![
            delta(0, "a", "view", "{\"pa"),
            delta(0, "a", "", "th\":\"a\"}"),
            delta(0, "a", "view", "{\"path\":\"a\"}"),
        ];
        assert_eq!(joined(pieces), calls(&[("a", "view", "{\"path\":\"a\"}")]));
    }

    #[test]
    fn text_so_far_repeated_in_each_delta_is_taken_once() {
        let deltas = vec![
            delta(0, "a", "view", "{\"pa"),
            delta(0, "a", "view", "{\"path\":"),
            delta(0, "a", "view", "{\"path\":\"a\"}"),
        ];
        assert_eq!(joined(deltas), calls(&[("a", "view", "{\"path\":\"a\"}")]));
    }

    #[test]
    fn one_id_on_two_indices_is_two_calls() {
        let deltas = vec![delta(0, "a", "view", "{\"path\":\"a\"}"), delta(1, "a", "view", "{\"path\":\"b\"}")];
        assert_eq!(joined(deltas), calls(&[("a", "view", "{\"path\":\"a\"}"), ("a", "view", "{\"path\":\"b\"}")]));
    }

    #[test]
    fn an_id_that_comes_late_joins_the_call_that_began() {
        let deltas = vec![delta(0, "", "view", ""), delta(0, "a", "", "{\"path\":\"a\"}")];
        assert_eq!(joined(deltas), calls(&[("a", "view", "{\"path\":\"a\"}")]));
    }

    #[test]
    fn a_name_in_pieces_is_joined() {
        let deltas = vec![delta(0, "a", "str_", ""), delta(0, "", "replace", ""), delta(0, "", "", "{}")];
        assert_eq!(joined(deltas), calls(&[("a", "str_replace", "{}")]));
    }
}
