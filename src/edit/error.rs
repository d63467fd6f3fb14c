//! Why an edit was not made, in words that let a model do better next time.

/// Why an edit was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The old text stands there more than once.
    #[error("the old text was found {count} times, at lines {}", some(lines))]
    Ambiguous {
        /// How often.
        count: usize,
        /// Line numbers from 1 on, the first few.
        lines: Vec<usize>,
    },
    /// It stands nowhere.
    #[error("the old text was not found in the file{nearest}")]
    NotFound {
        /// The nearest real lines, ready to be shown; empty where nothing is alike.
        nearest: String,
        /// What the reason may be.
        guess: Option<Guess>,
    },
    /// Old and new are the same.
    #[error("old and new text are the same, so nothing would change")]
    NoChange,
    /// The new text leaves something out in words.
    #[error("the new text stands for code that it leaves out: `{line}`")]
    Placeholder {
        /// The line.
        line: String,
    },
    /// The new text has characters that the file's encoding lacks.
    #[error("the file is encoded as {encoding}, which cannot hold `{character}`")]
    Unencodable {
        /// The encoding's name.
        encoding: &'static str,
        /// The first such character.
        character: char,
    },
    /// The old text is empty.
    #[error("the old text is empty, so it marks no place")]
    Empty,
}

/// What a missing text may be due to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// The new text stands there already.
    AlreadyThere,
    /// The old text carries line numbers of a listing.
    LineNumbers,
}

impl EditError {
    /// A word of the list in tests/cases/README.md.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Ambiguous { .. } => "ambiguous",
            Self::NotFound { .. } => "not_found",
            Self::NoChange => "no_change",
            Self::Placeholder { .. } => "placeholder",
            Self::Unencodable { .. } => "bad_encoding",
            Self::Empty => "exists",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Ambiguous { .. } => "add lines before or after it until it is unique, or set replace_all",
            Self::NotFound { guess: Some(Guess::AlreadyThere), .. } => {
                "the new text is in the file already; view the file before you try again"
            }
            Self::NotFound { guess: Some(Guess::LineNumbers), .. } => {
                "leave the line numbers of the listing out of old and new"
            }
            Self::NotFound { .. } => "copy the old text from the file as it is now, whole lines, blanks included",
            Self::NoChange => "nothing needs to be done, or the new text is not what you meant",
            Self::Placeholder { .. } => "write the code out in full, or edit only the lines that change",
            Self::Unencodable { .. } => "use characters of that encoding, or convert the file first",
            Self::Empty => "give the lines to replace; to make a file use create",
        }
    }

    /// A word for what it is about, where the words above do not say it.
    pub fn about(&self) -> Option<&'static str> {
        match self {
            Self::NotFound { guess: Some(Guess::AlreadyThere), .. } => Some("already_present"),
            Self::NotFound { guess: Some(Guess::LineNumbers), .. } => Some("line_numbers"),
            _ => None,
        }
    }
}

fn some(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
