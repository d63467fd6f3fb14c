//! From the grammar's tree to a line. Goes through every node once, with a stack of its own.

use super::word::{Variables, Word, word};
use super::{Command, Line, Redirect};
use tree_sitter::Node;

/// Functions that are looked into one by one: they may stand in each other.
const FUNCTIONS: usize = 32;

/// Reads the tree of a text.
pub(super) fn line(root: Node<'_>, source: &str) -> Line {
    let nodes = all(root);
    let variables = variables(&nodes, source);
    let mut line = Line { unclear: root.has_error(), ..Line::default() };
    let mut functions = 0;
    for (node, pipe) in &nodes {
        match node.kind() {
            "command" => line.commands.push(Command { words: words(*node, source, &variables), pipe: *pipe }),
            // `export`, `declare` and the like are commands too.
            "declaration_command" | "unset_command" => {
                let name = source.get(node.byte_range()).and_then(|text| text.split_whitespace().next());
                line.commands.push(Command { words: name.map(Word::plain).into_iter().collect(), pipe: *pipe });
            }
            "file_redirect" => line.redirects.extend(redirect(*node, source, &variables)),
            "heredoc_body" => line.documents.push(text(*node, source).to_owned()),
            "herestring_redirect" => {
                let last = node.named_child_count().checked_sub(1).and_then(|n| node.named_child(n.try_into().ok()?));
                line.documents.extend(last.map(|inner| word(inner, source, &variables).text().to_owned()));
            }
            "function_definition" if functions < FUNCTIONS => {
                functions += 1;
                line.bomb |= calls_itself(*node, source);
            }
            _ => {}
        }
    }
    line
}

type Placed<'t> = (Node<'t>, Option<(usize, usize)>);

/// Every node, a parent before its children, with its place in a pipe.
fn all(root: Node<'_>) -> Vec<Placed<'_>> {
    let mut nodes = Vec::new();
    let mut open: Vec<Placed<'_>> = vec![(root, None)];
    let mut pipes = 0;
    while let Some((node, pipe)) = open.pop() {
        let is_pipe = node.kind() == "pipeline";
        // A substitution's commands do not read what the pipe around it brings.
        let inner = if node.kind().ends_with("_substitution") { None } else { pipe };
        if is_pipe {
            pipes += 1;
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let placed =
            children.iter().enumerate().map(|(n, child)| (*child, if is_pipe { Some((pipes, n)) } else { inner }));
        nodes.push((node, pipe));
        open.extend(placed.collect::<Vec<_>>().into_iter().rev());
    }
    nodes
}

fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// Variables with the values that the line gives them. More than one place that gives: unknown.
fn variables(nodes: &[Placed<'_>], source: &str) -> Variables {
    let mut variables = Variables::new();
    let mut give = |name: &str, values: Option<Vec<String>>| {
        let twice = variables.contains_key(name);
        variables.insert(name.to_owned(), values.filter(|_| !twice));
    };
    let none = Variables::new();
    for (node, _) in nodes {
        match node.kind() {
            "variable_assignment" => {
                let name = node.child_by_field_name("name").map(|name| text(name, source)).unwrap_or_default();
                let value = node.child_by_field_name("value").map(|value| word(value, source, &none));
                let value = value.unwrap_or_else(|| Word::plain(""));
                let whole = !text(*node, source).contains("+=");
                give(name, Some(value.texts).filter(|_| value.known && whole));
            }
            "for_statement" => {
                let name = node.child_by_field_name("variable").map(|name| text(name, source)).unwrap_or_default();
                let mut cursor = node.walk();
                let values: Vec<Word> =
                    node.children_by_field_name("value", &mut cursor).map(|value| word(value, source, &none)).collect();
                let known = !values.is_empty() && values.iter().all(|value| value.known);
                give(name, known.then(|| values.into_iter().flat_map(|value| value.texts).collect()));
            }
            _ => {}
        }
    }
    // `read` gives what cannot be known.
    for (node, _) in nodes.iter().filter(|(node, _)| node.kind() == "command") {
        let words = words(*node, source, &none);
        if words.first().is_some_and(|name| matches!(name.text(), "read" | "mapfile" | "readarray" | "printf")) {
            for word in words.iter().skip(1) {
                variables.insert(word.text().to_owned(), None);
            }
        }
    }
    variables
}

fn words(node: Node<'_>, source: &str, variables: &Variables) -> Vec<Word> {
    let mut cursor = node.walk();
    let children = node.named_children(&mut cursor);
    let apart = ["variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect", "comment"];
    children.filter(|child| !apart.contains(&child.kind())).map(|child| word(child, source, variables)).collect()
}

fn redirect(node: Node<'_>, source: &str, variables: &Variables) -> Option<Redirect> {
    let target = node.child_by_field_name("destination")?;
    let operator = text(node, source).trim_start_matches(|c: char| c.is_ascii_digit() || c == '{' || c == '}');
    let to_descriptor = operator.starts_with(">&") || operator.starts_with("<&");
    let target = word(target, source, variables);
    if to_descriptor && target.text().chars().all(|c| c.is_ascii_digit() || c == '-') {
        return None;
    }
    Some(Redirect { writes: operator.contains('>'), target })
}

/// `f() { f | f & }` and its kind.
fn calls_itself(node: Node<'_>, source: &str) -> bool {
    let Some(name) = node.child_by_field_name("name").map(|name| text(name, source)) else { return false };
    let nodes = all(node);
    let calls = |node: &Node<'_>| node.kind() == "command_name" && text(*node, source) == name;
    let own = nodes.iter().filter(|(node, _)| calls(node)).count();
    let piped = nodes.iter().any(|(node, pipe)| calls(node) && pipe.is_some());
    own > 1 || piped || (own == 1 && text(node, source).contains('&'))
}
