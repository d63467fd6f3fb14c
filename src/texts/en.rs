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
    call_line: "→ {name} {about}",
    call_failed: "  {name} failed: {why}",
    call_refused: "  {name} was not run: {why}",
    call_interrupted: "  {name} was interrupted",
    retrying: "try {attempt} in {seconds} s: {why}",
    superseded: "the reply so far is void and is asked for again: {why}",
    notice: "note: {text}",
    problem: "error: {text}",
    files_changed: "changed {count}: {files}",
    commands_run: "commands {count}",
    turns_used: "turns {count}",
    tokens_measured: "tokens {prompt} in, {completion} out",
    tokens_estimated: "tokens ~{prompt} in, ~{completion} out",
    ask_denied_headless: "changes and commands need permission here (approval mode \"{mode}\") and nobody is there to give it: run with --approval auto-edit or --approval auto",
    record_not_kept: "this session is not written down: {why}",
    could_not: "could not {what}\n{hint}",
    config_sound: "settings and prompts are sound (prompts: {prompts})",
};
