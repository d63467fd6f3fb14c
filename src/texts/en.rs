//! English.

use super::Texts;

/// The English texts.
pub static EN: Texts = Texts {
    not_built: "{what} is not built yet",
    unknown_case_kind: "there is no kind of case named \"{kind}\"; the kinds are: {known}",
    unreadable_stdin: "could not read standard input: {error}",
    torn_line_dropped: "the record's last line was torn ({bytes} bytes) and was dropped; everything before it is here",
    unusual_finish: "the provider ended the reply with \"{finish}\"",
    maybe_unfinished: "the model stopped without saying that it is done: the work may be unfinished",
    reply_cut_off: "the reply was cut off: what is shown is not all of it",
    turns_ran_out: "all {turns} turns are used up: the work may be unfinished (max_turns in the settings)",
};
