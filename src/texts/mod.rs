//! One table of every text that a person reads. A language is one file here; the compiler sees to it that none lacks a
//! text. Texts for the model are not here: they live in `prompts/`.

mod en;

pub use en::EN;

/// The table. Placeholders are `{name}`; [`fill`] puts values in.
#[derive(Debug)]
pub struct Texts {
    /// For what is not built yet; `{what}`.
    pub not_built: &'static str,
    /// Of `case`: a kind that does not exist; `{kind}`, `{known}`.
    pub unknown_case_kind: &'static str,
    /// Standard input could not be read; `{error}`.
    pub unreadable_stdin: &'static str,
    /// A resumed session had a torn last line; `{bytes}`.
    pub torn_line_dropped: &'static str,
    /// A finish reason that is none of the ordinary ones; `{finish}`.
    pub unusual_finish: &'static str,
    /// The model stopped without `done`.
    pub maybe_unfinished: &'static str,
    /// The reply was cut off.
    pub reply_cut_off: &'static str,
    /// The limit of turns was reached; `{turns}`.
    pub turns_ran_out: &'static str,
}

/// Put values into a text. A placeholder without a value stays, so that a mistake shows instead of panicking.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = text.to_owned();
    for (name, value) in values {
        out = out.replace(&format!("{{{name}}}"), value);
    }
    out
}
