//! The symbols that a text defines: found by the grammar, named with what they stand in.

use super::grammar::Grammar;
use super::shape::Shape;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use tree_sitter::{Node, Tree, TreeCursor};

/// How deep to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Not into functions, for an overview.
    Outside,
    /// Everywhere.
    All,
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The names of what it stands in, then its own.
    pub path: Vec<String>,
    /// Its bytes, from its first word on.
    pub span: Range<usize>,
    /// Its first line, from 1 on.
    pub line: usize,
}

/// A text with its symbols.
#[derive(Debug)]
pub struct Outline {
    /// Every definition in order of appearance.
    pub symbols: Vec<Symbol>,
    tree: Tree,
    shape: &'static Shape,
}

/// What belongs to a definition and stands round or before it.
enum Lead {
    /// `export`, decorators, `template<…>`: the whole with the definition in it.
    Wrapper(Range<usize>),
    /// An attribute, from here on.
    Attribute(usize),
    /// A comment, from here on.
    Comment(usize),
}

impl Symbol {
    /// Its own name.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

impl Outline {
    /// Of a file with this text; none where the language is unknown or the text could not be read in time.
    pub fn read(path: &Path, text: &str, depth: Depth, patience: Duration) -> Option<Self> {
        let grammar = Grammar::of(path).filter(|grammar| grammar.has_symbols())?;
        let tree = grammar.read(text, patience)?;
        let symbols = symbols(&tree, text, depth, grammar.shape);
        Some(Self { symbols, tree, shape: grammar.shape })
    }

    /// The symbols that a written name means: `name`, `Type::name`, `Type.name`; with `@12` only the one on that line.
    pub fn find(&self, written: &str) -> Vec<&Symbol> {
        let written = written.trim().trim_end_matches("()");
        let (name, line) = match written.rsplit_once('@') {
            Some((name, line)) if !name.is_empty() => (name, line.trim().parse::<usize>().ok()),
            _ => (written, None),
        };
        let wanted: Vec<&str> = name.split(['.', '#', ':']).map(str::trim).filter(|part| !part.is_empty()).collect();
        let fits = |symbol: &&Symbol| {
            !wanted.is_empty()
                && wanted.len() <= symbol.path.len()
                && symbol.path.iter().rev().zip(wanted.iter().rev()).all(|(have, want)| have == want)
                && line.is_none_or(|line| symbol.line == line)
        };
        self.symbols.iter().filter(fits).collect()
    }

    /// The bytes that a new text takes the place of: it replaces attributes, comments and wrappers only where it brings its
    /// own.
    pub fn span(&self, text: &str, symbol: &Symbol, new: &str) -> Range<usize> {
        let brings = Brings::of(new, self.shape);
        let mut span = symbol.span.clone();
        for lead in self.lead(text, symbol) {
            match lead {
                Lead::Wrapper(range) if brings.wrapper(text, &range, &symbol.span) => span = range,
                Lead::Wrapper(_) => {}
                Lead::Attribute(start) if brings.attribute => span.start = span.start.min(start),
                Lead::Comment(start) if brings.comment => span.start = span.start.min(start),
                Lead::Attribute(_) | Lead::Comment(_) => break,
            }
        }
        span
    }

    /// Whether blocks of this language end by indentation.
    pub fn is_indented(&self) -> bool {
        self.shape.indented
    }

    fn lead(&self, text: &str, symbol: &Symbol) -> Vec<Lead> {
        let mut node = self.tree.root_node().descendant_for_byte_range(symbol.span.start, symbol.span.end);
        while let Some(inner) = node.filter(|node| !self.shape.definitions.contains(&node.kind())) {
            node = inner.parent();
        }
        node.map(|node| lead(node, text, self.shape)).unwrap_or_default()
    }
}

/// What a new text has before its definition.
struct Brings<'n> {
    comment: bool,
    attribute: bool,
    /// The first word of the definition itself.
    word: &'n str,
}

impl<'n> Brings<'n> {
    fn of(new: &'n str, shape: &Shape) -> Self {
        let (mut has_comment, mut has_attribute) = (false, false);
        let first = new.lines().map(str::trim_start).find(|line| {
            let attribute = line.starts_with(shape.attributes.1);
            let comment = shape.comments.iter().any(|mark| line.starts_with(mark)) || line.starts_with('*');
            has_attribute |= attribute;
            has_comment |= comment && !attribute;
            !(comment || attribute || line.is_empty())
        });
        let first = first.unwrap_or_default();
        let word = if first.starts_with('@') { Some("@") } else { first.split(|c: char| !is_word(c)).next() };
        Self { comment: has_comment, attribute: has_attribute, word: word.unwrap_or_default() }
    }

    fn wrapper(&self, text: &str, wrapper: &Range<usize>, own: &Range<usize>) -> bool {
        let begins = |range: &Range<usize>| text.get(range.clone()).is_some_and(|text| text.starts_with(self.word));
        !self.word.is_empty() && begins(wrapper) && !begins(own)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A walk over every node, once.
fn symbols(tree: &Tree, text: &str, depth: Depth, shape: &Shape) -> Vec<Symbol> {
    let mut found = Vec::new();
    // Names of what the walk is in, with the depth at which each began.
    let mut inside: Vec<(u32, Vec<String>)> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let (node, level) = (cursor.node(), cursor.depth());
        while inside.last().is_some_and(|(began, _)| *began >= level) {
            inside.pop();
        }
        let mut look_into = true;
        if let Some(names) = defined(node, text, shape) {
            let outer = inside.iter().flat_map(|(_, names)| names.iter().cloned());
            let path = outer.chain(names.iter().cloned()).collect();
            found.push(Symbol { path, span: node.byte_range(), line: node.start_position().row + 1 });
            look_into = depth == Depth::All || !shape.bodies.contains(&node.kind());
            inside.push((level, names));
        } else if let Some((_, field)) = shape.holders.iter().find(|(kind, _)| *kind == node.kind())
            && let Some(name) = node.child_by_field_name(field)
        {
            inside.push((level, vec![plain_type(part(name, text))]));
        }
        let went_on = (look_into && cursor.goto_first_child()) || onwards(&mut cursor);
        if !went_on {
            return found;
        }
    }
}

/// To what comes after a node and all that is in it.
fn onwards(cursor: &mut TreeCursor<'_>) -> bool {
    loop {
        if cursor.goto_next_sibling() {
            return true;
        }
        if !cursor.goto_parent() {
            return false;
        }
    }
}

/// The name of a definition, in parts where it is written with what it belongs to; none where the node defines nothing.
fn defined(node: Node<'_>, text: &str, shape: &Shape) -> Option<Vec<String>> {
    let kind = node.kind();
    if !shape.definitions.contains(&kind) {
        return None;
    }
    let field = |name: &str| node.child_by_field_name(name);
    let name = match kind {
        // A variable is a definition where it holds a function or a class.
        "variable_declarator" | "field_definition" | "public_field_definition" => {
            let value = field("value")?.kind();
            let counts = ["arrow_function", "class", "function_expression", "generator_function"];
            counts.contains(&value).then(|| field("name").or_else(|| field("property")))??
        }
        "struct_specifier" | "class_specifier" | "enum_specifier" | "union_specifier" => {
            field("body")?;
            field("name")?
        }
        "function_definition" | "type_definition" => match field("name") {
            Some(name) => name,
            None => declared(node)?,
        },
        "method_declaration" => {
            if let Some(owner) = field("receiver").and_then(|receiver| first_of_kind(receiver, "type_identifier")) {
                return Some(vec![part(owner, text).to_owned(), part(field("name")?, text).to_owned()]);
            }
            field("name")?
        }
        _ => field("name")?,
    };
    let parts: Vec<String> = part(name, text).split("::").map(|part| part.trim().to_owned()).collect();
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

/// In C the name stands in the middle of its type.
fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node.child_by_field_name("declarator")?;
    // A type's depth is what a person wrote.
    for _ in 0..32 {
        match node.child_by_field_name("declarator").or_else(|| first_declarator(node)) {
            Some(inner) => node = inner,
            None => return Some(node),
        }
    }
    None
}

/// Parentheses and references hold a declarator without a field.
fn first_declarator(node: Node<'_>) -> Option<Node<'_>> {
    if !node.kind().ends_with("_declarator") {
        return None;
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .find(|child| child.kind().ends_with("declarator") || child.kind().ends_with("identifier"))
}

fn first_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.kind() == kind {
            return Some(node);
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        open.extend(children.into_iter().rev());
    }
    None
}

/// `&mut a::Type<T>` is called `Type`.
fn plain_type(text: &str) -> String {
    let text = text.split('<').next().unwrap_or_default();
    let word = text.rsplit(|c: char| !is_word(c)).find(|word| !word.is_empty());
    word.unwrap_or(text).to_owned()
}

fn part<'s>(node: Node<'_>, text: &'s str) -> &'s str {
    text.get(node.byte_range()).unwrap_or_default()
}

fn lead(node: Node<'_>, text: &str, shape: &Shape) -> Vec<Lead> {
    let mut lead = Vec::new();
    let mut outer = node;
    while let Some(parent) = outer.parent().filter(|parent| shape.wrappers.contains(&parent.kind())) {
        // One of several definitions of a statement is not the statement.
        let mut cursor = parent.walk();
        if parent.named_children(&mut cursor).filter(|child| child.kind() == outer.kind()).count() > 1 {
            break;
        }
        lead.push(Lead::Wrapper(parent.byte_range()));
        outer = parent;
    }
    let mut below = outer;
    while let Some(before) = below.prev_sibling() {
        let starts = |node: Node<'_>| text.get(node.start_byte()..).unwrap_or_default();
        let is_comment = shape.comments.iter().any(|mark| starts(before).starts_with(mark));
        let adjacent = before.end_position().row + 1 >= below.start_position().row;
        if shape.attributes.0.contains(&before.kind()) {
            lead.push(Lead::Attribute(before.start_byte()));
        } else if is_comment && before.kind().ends_with("comment") && adjacent && begins_line(text, before.start_byte())
        {
            lead.push(Lead::Comment(before.start_byte()));
        } else {
            break;
        }
        below = before;
    }
    lead
}

fn begins_line(text: &str, at: usize) -> bool {
    let head = text.get(..at).unwrap_or_default();
    head.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
}
