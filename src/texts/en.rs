//! English.

use super::Texts;

/// The English texts.
pub static EN: Texts = Texts {
    not_built: "{what} is not built yet",
    unknown_case_kind: "there is no kind of case named \"{kind}\"; the kinds are: {known}",
    unreadable_stdin: "could not read standard input: {error}",
};
