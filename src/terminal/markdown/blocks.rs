//! Cuts a growing Markdown text into pieces that are final: pure, and the same whatever the chunks.

/// Lines that one block may have before it is printed as it stands.
const MAX_LINES: usize = 400;

/// Characters of a line of words that are waited for before a part of it is final: titles and tables are shorter.
const FLOW: usize = 60;

/// One final piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// An empty line between blocks.
    Gap,
    /// A block other than code, without its common indentation.
    Block {
        /// Columns that it stood in from the left.
        indent: usize,
        /// Its lines.
        text: String,
    },
    /// The beginning of a long line of words, up to a blank where no markup is open; the rest of the line follows.
    Flow {
        /// The words, the blank included.
        text: String,
    },
    /// A fenced block of code begins.
    CodeStart {
        /// The word after the fence.
        language: String,
    },
    /// A line of it.
    CodeLine {
        /// Columns that the fence stood in from the left.
        indent: usize,
        /// The line.
        text: String,
    },
    /// It ends.
    CodeEnd,
}

/// A fence that is open.
#[derive(Debug, Clone)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

/// The cutter.
#[derive(Debug, Default)]
pub struct Splitter {
    line: String,
    block: Vec<String>,
    fence: Option<Fence>,
    /// A gap is due before the next piece.
    gap: bool,
}

impl Splitter {
    /// A piece of text came.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in text.split_inclusive('\n') {
            self.line.push_str(part);
            self.flow(&mut pieces);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.take(line.trim_end_matches(['\n', '\r']), &mut pieces);
            }
        }
        pieces
    }

    /// What no piece holds yet.
    pub fn pending(&self) -> String {
        let lines = self.block.iter().map(String::as_str);
        lines.chain(Some(self.line.as_str())).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
    }

    /// The text is over.
    pub fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(line.trim_end_matches('\r'), &mut pieces);
        }
        self.flush(&mut pieces);
        if self.fence.take().is_some() {
            pieces.push(Piece::CodeEnd);
        }
        self.gap = false;
        pieces
    }

    /// What of the present line can go out before its end: the same whatever the chunks, because each place depends on
    /// nothing but the text before it and the letter after it.
    fn flow(&mut self, pieces: &mut Vec<Piece>) {
        let words = self.line.starts_with(char::is_alphabetic);
        if self.fence.is_some() || !words || !self.block.is_empty() {
            return;
        }
        while let Some(at) = final_until(&self.line) {
            let rest = self.line.split_off(at);
            let text = std::mem::replace(&mut self.line, rest);
            self.due_gap(pieces);
            pieces.push(Piece::Flow { text });
        }
    }

    fn take(&mut self, line: &str, pieces: &mut Vec<Piece>) {
        if let Some(fence) = &self.fence {
            if closes(fence, line) {
                self.fence = None;
                pieces.push(Piece::CodeEnd);
            } else {
                let text = dedented(line, fence.indent).to_owned();
                pieces.push(Piece::CodeLine { indent: fence.indent, text });
            }
            return;
        }
        if line.trim().is_empty() {
            self.flush(pieces);
            self.gap = true;
            return;
        }
        if let Some((fence, language)) = opens(line) {
            self.flush(pieces);
            self.due_gap(pieces);
            self.fence = Some(fence);
            pieces.push(Piece::CodeStart { language });
            return;
        }
        let heading = line.starts_with('#');
        if heading || (starts_item(line) && indent(line) == 0) || self.block.len() >= MAX_LINES {
            self.flush(pieces);
        }
        self.block.push(line.to_owned());
        if heading {
            self.flush(pieces);
        }
    }

    fn flush(&mut self, pieces: &mut Vec<Piece>) {
        if self.block.is_empty() {
            return;
        }
        self.due_gap(pieces);
        let lines = std::mem::take(&mut self.block);
        let common = lines.iter().map(|line| indent(line)).min().unwrap_or(0);
        let text: Vec<&str> = lines.iter().map(|line| dedented(line, common)).collect();
        pieces.push(Piece::Block { indent: common, text: text.join("\n") });
    }

    fn due_gap(&mut self, pieces: &mut Vec<Piece>) {
        if std::mem::take(&mut self.gap) {
            pieces.push(Piece::Gap);
        }
    }
}

/// The first place behind enough characters that stands before a word and outside of any markup.
fn final_until(line: &str) -> Option<usize> {
    let mut marks = [('`', 0_usize), ('*', 0), ('_', 0), ('~', 0)];
    let mut before = ' ';
    for (n, (at, c)) in line.char_indices().enumerate() {
        let closed = marks.iter().all(|(_, count)| count.is_multiple_of(2));
        if n >= FLOW && before == ' ' && closed && c.is_alphabetic() {
            return Some(at);
        }
        // Links, tags, cells, escapes and entities: how they end is seen only at the end of the line.
        if matches!(c, '[' | '<' | '|' | '\\' | '&') {
            return None;
        }
        if let Some((_, count)) = marks.iter_mut().find(|(mark, _)| *mark == c) {
            *count += 1;
        }
        before = c;
    }
    None
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// The line without up to so many leading spaces.
fn dedented(line: &str, columns: usize) -> &str {
    let columns = columns.min(indent(line));
    line.get(columns..).unwrap_or(line)
}

fn opens(line: &str) -> Option<(Fence, String)> {
    let indent = indent(line);
    let text = dedented(line, indent);
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let rest = text.get(length..)?.trim();
    // A backtick after the fence makes it inline code.
    if length < 3 || (mark == '`' && rest.contains('`')) {
        return None;
    }
    let language = rest.split([' ', ',', '{']).next().unwrap_or_default().to_owned();
    Some((Fence { mark, length, indent }, language))
}

fn closes(fence: &Fence, line: &str) -> bool {
    let text = line.trim();
    text.chars().count() >= fence.length && text.chars().all(|c| c == fence.mark)
}

fn starts_item(line: &str) -> bool {
    let text = line.trim_start();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let after = text.get(digits..).unwrap_or_default();
    let numbered = digits > 0 && (after.starts_with(". ") || after.starts_with(") "));
    numbered || ["- ", "* ", "+ "].iter().any(|mark| text.starts_with(mark))
}
