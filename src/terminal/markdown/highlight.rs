//! Syntax colours for lines of code, loaded on first use. Without the feature `highlight`, plain lines.

use super::{Colours, Ground};

#[cfg(feature = "highlight")]
pub use coloured::Highlighter;
#[cfg(not(feature = "highlight"))]
pub use plain::Highlighter;

#[cfg(feature = "highlight")]
mod coloured {
    use super::{Colours, Ground};
    use std::sync::LazyLock;
    use syntect::easy::HighlightLines;
    use syntect::highlighting::{Color, FontStyle, Theme, ThemeSet};
    use syntect::parsing::SyntaxSet;

    /// Bytes of a line that is still coloured: the rest is printed as it is.
    const MAX_LINE: usize = 4096;

    static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);
    static DARK: LazyLock<Theme> = LazyLock::new(|| theme("base16-ocean.dark"));
    static LIGHT: LazyLock<Theme> = LazyLock::new(|| theme("InspiredGitHub"));

    fn theme(name: &str) -> Theme {
        ThemeSet::load_defaults().themes.remove(name).unwrap_or_default()
    }

    /// Colours one block of code at a time.
    pub struct Highlighter {
        colours: Colours,
        ground: Ground,
        state: Option<HighlightLines<'static>>,
    }

    impl Highlighter {
        /// No block yet.
        pub fn new(colours: Colours, ground: Ground) -> Self {
            Self { colours, ground, state: None }
        }

        /// A block in a language begins; an unknown one stays plain.
        pub fn start(&mut self, language: &str) {
            let syntax = (!language.is_empty()).then(|| SYNTAXES.find_syntax_by_token(language)).flatten();
            let theme = match self.ground {
                Ground::Dark => &*DARK,
                Ground::Light => &*LIGHT,
            };
            self.state = syntax.map(|syntax| HighlightLines::new(syntax, theme));
        }

        /// A line of it.
        pub fn line(&mut self, text: &str) -> String {
            let Some(state) = self.state.as_mut().filter(|_| text.len() <= MAX_LINE) else { return text.to_owned() };
            let line = format!("{text}\n");
            let Ok(spans) = state.highlight_line(&line, &SYNTAXES) else { return text.to_owned() };
            let coloured = spans.into_iter().filter_map(|(style, part)| {
                let part = part.trim_end_matches('\n');
                let bold = style.font_style.contains(FontStyle::BOLD);
                (!part.is_empty()).then(|| paint(self.colours, style.foreground, bold, part))
            });
            coloured.collect()
        }

        /// It ends.
        pub fn end(&mut self) {
            self.state = None;
        }
    }

    fn paint(colours: Colours, colour: Color, bold: bool, text: &str) -> String {
        let bold = if bold { "\u{1b}[1m" } else { "" };
        let Color { r, g, b, .. } = colour;
        match colours {
            Colours::True => format!("{bold}\u{1b}[38;2;{r};{g};{b}m{text}\u{1b}[0m"),
            Colours::Indexed => format!("{bold}\u{1b}[38;5;{}m{text}\u{1b}[0m", indexed(r, g, b)),
        }
    }

    /// The nearest colour of the 6×6×6 cube, whose steps are 0, 95, 135, 175, 215, 255.
    fn indexed(r: u8, g: u8, b: u8) -> u8 {
        let step = |value: u8| match value {
            0..=47 => 0,
            48..=114 => 1,
            _ => (value - 35) / 40,
        };
        16 + 36 * step(r) + 6 * step(g) + step(b)
    }
}

#[cfg(not(feature = "highlight"))]
mod plain {
    use super::{Colours, Ground};

    /// Prints lines as they are.
    pub struct Highlighter;

    impl Highlighter {
        /// Nothing to load.
        pub fn new(_colours: Colours, _ground: Ground) -> Self {
            Self
        }

        /// A block begins.
        pub fn start(&mut self, _language: &str) {}

        /// A line of it.
        pub fn line(&mut self, text: &str) -> String {
            text.to_owned()
        }

        /// It ends.
        pub fn end(&mut self) {}
    }
}
