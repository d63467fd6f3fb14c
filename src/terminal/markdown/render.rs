//! One complete block of Markdown as styled lines.

use super::wrap;
use console::{Style, measure_text_width};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

/// The lines of a block on a screen of so many columns; code is not broken, and a table that is wider is told row by row.
pub fn block(text: &str, columns: usize) -> Vec<String> {
    let mut page = Page { columns, ..Page::default() };
    for event in
        Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS)
    {
        page.take(event);
    }
    page.end_line();
    page.lines
}

#[derive(Default)]
struct Page {
    columns: usize,
    lines: Vec<String>,
    line: String,
    /// What stands before each line: quote bars and indentation.
    prefix: Vec<String>,
    /// What stands before the next line only: a bullet or a number.
    marker: Option<String>,
    /// Numbers of the lists around; `None` for bullets.
    lists: Vec<Option<u64>>,
    bold: usize,
    italic: usize,
    struck: usize,
    heading: bool,
    link: Option<String>,
    linked: String,
    table: Option<Vec<Vec<String>>>,
    code: bool,
    /// A table's rows are being written.
    tabular: bool,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(&tag),
            Event::Text(text) => self.words(&text),
            Event::Code(text) => self.line.push_str(&style().cyan().apply_to(&*text).to_string()),
            // What looks like markup is shown as it was written.
            Event::Html(text) | Event::InlineHtml(text) => self.raw(&text),
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.line.push_str(&style().dim().apply_to("─".repeat(40)).to_string());
                self.end_line();
            }
            Event::TaskListMarker(done) => self.line.push_str(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.line.push_str(&format!("[{name}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.line.push_str(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => self.heading = true,
            Tag::Strong => self.bold += 1,
            Tag::Emphasis => self.italic += 1,
            Tag::Strikethrough => self.struck += 1,
            Tag::BlockQuote(_) => self.prefix.push(style().dim().apply_to("│ ").to_string()),
            Tag::CodeBlock(_) => {
                self.code = true;
                self.prefix.push("    ".to_owned());
            }
            Tag::List(first) => {
                self.end_line();
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.link = Some(dest_url.to_string()),
            Tag::Table(_) => self.table = Some(Vec::new()),
            Tag::TableHead | Tag::TableRow => {
                if let Some(rows) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: &TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.end_line();
                self.heading = false;
            }
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strikethrough => self.struck = self.struck.saturating_sub(1),
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_line(),
            TagEnd::BlockQuote(_) | TagEnd::CodeBlock => {
                self.end_line();
                self.prefix.pop();
                self.code = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.end_line();
                self.prefix.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    fn item(&mut self) {
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number += 1;
                marker
            }
            _ => "• ".to_owned(),
        };
        self.prefix.push(" ".repeat(measure_text_width(&marker)));
        self.marker = Some(marker);
    }

    fn words(&mut self, text: &CowStr<'_>) {
        if self.link.is_some() {
            self.linked.push_str(text);
        }
        let mut style = style();
        if self.bold > 0 || self.heading {
            style = style.bold();
        }
        if self.italic > 0 {
            style = style.italic();
        }
        if self.struck > 0 {
            style = style.strikethrough();
        }
        if self.link.is_some() {
            style = style.underlined();
        }
        for (n, part) in text.split('\n').enumerate() {
            if n > 0 {
                self.end_line();
            }
            if !part.is_empty() {
                self.line.push_str(&style.apply_to(part).to_string());
            }
        }
    }

    fn raw(&mut self, text: &str) {
        for (n, part) in text.split('\n').enumerate() {
            if n > 0 {
                self.end_line();
            }
            self.line.push_str(part);
        }
    }

    fn end_link(&mut self) {
        let linked = std::mem::take(&mut self.linked);
        if let Some(address) = self.link.take().filter(|address| *address != linked && !address.is_empty()) {
            self.line.push_str(&style().dim().apply_to(format!(" ({address})")).to_string());
        }
    }

    fn end_table(&mut self) {
        let Some(rows) = self.table.take() else { return };
        self.tabular = true;
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |n: usize| rows.iter().filter_map(|row| row.get(n)).map(|c| measure_text_width(c)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let prefix: usize = self.prefix.iter().map(|prefix| measure_text_width(prefix)).sum();
        if prefix + widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1) > self.columns {
            return self.told(&rows);
        }
        for (n, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell}{}", " ".repeat(width.saturating_sub(measure_text_width(cell)))))
                .collect();
            self.line = cells.join(" │ ").trim_end().to_owned();
            self.end_line();
            if n == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.line = rule.join("─┼─");
                self.end_line();
            }
        }
        self.tabular = false;
    }

    /// The rows of a table one after the other, each cell behind the name of its column.
    fn told(&mut self, rows: &[Vec<String>]) {
        let Some((names, rows)) = rows.split_first() else { return };
        for (n, row) in rows.iter().enumerate() {
            if n > 0 {
                self.line.push_str(&style().dim().apply_to("─".repeat(self.columns.min(20))).to_string());
                self.end_line();
            }
            for (name, cell) in names.iter().zip(row) {
                self.line = format!("{name}: {cell}");
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        if self.line.is_empty() && self.marker.is_none() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        let rest = self.prefix.concat();
        let mut first = self.prefix.clone();
        if let Some(marker) = self.marker.take() {
            first.pop();
            first.push(marker);
        }
        let room = self.columns.saturating_sub(measure_text_width(&rest));
        let rows = if self.code || self.tabular { vec![line] } else { wrap(&line, room) };
        for (n, row) in rows.into_iter().enumerate() {
            let prefix = if n == 0 { first.concat() } else { rest.clone() };
            self.lines.push(format!("{prefix}{row}").trim_end().to_owned());
        }
    }
}

fn style() -> Style {
    Style::new().force_styling(true)
}
