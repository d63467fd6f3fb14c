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
    /// Standard output did not take everything; `{error}`.
    pub unwritable_stdout: &'static str,
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
    /// A call starts; `{name}`, `{about}`.
    pub call_line: &'static str,
    /// A call failed; `{name}`, `{why}`.
    pub call_failed: &'static str,
    /// A call was not run; `{name}`, `{why}`.
    pub call_refused: &'static str,
    /// A call was interrupted; `{name}`, `{why}`.
    pub call_interrupted: &'static str,
    /// A query is tried again; `{attempt}`, `{seconds}`, `{why}`.
    pub retrying: &'static str,
    /// What was shown of a reply is void; `{why}`.
    pub superseded: &'static str,
    /// Something to know; `{text}`.
    pub notice: &'static str,
    /// What ended the work; `{text}`.
    pub problem: &'static str,
    /// Part of the closing line; `{count}`, `{files}`.
    pub files_changed: &'static str,
    /// Part of the closing line; `{count}`.
    pub commands_run: &'static str,
    /// Part of the closing line; `{count}`.
    pub turns_used: &'static str,
    /// Tokens as the server counted them; `{prompt}`, `{completion}`.
    pub tokens_measured: &'static str,
    /// Tokens by our own estimate; `{prompt}`, `{completion}`.
    pub tokens_estimated: &'static str,
    /// Told once where a headless run needs permission; `{mode}`.
    pub ask_denied_headless: &'static str,
    /// A session cannot be written down; `{why}`.
    pub record_not_kept: &'static str,
    /// What went wrong, with what to do; `{what}`, `{hint}`.
    pub could_not: &'static str,
    /// `config check` found nothing; `{prompts}`.
    pub config_sound: &'static str,
    /// The line that counts while one waits; `{what}`, `{seconds}`.
    pub waiting: &'static str,
    /// What is waited for while the model answers.
    pub thinking: &'static str,
    /// A call needs permission; `{name}`, `{about}`.
    pub may_it_run: &'static str,
    /// A slash command that does not exist; `{name}`.
    pub no_such_command: &'static str,
    /// `/clear` in the list.
    pub about_clear: &'static str,
    /// `/quit` in the list.
    pub about_quit: &'static str,
    /// `/help` in the list.
    pub about_help: &'static str,
    /// `/tools` in the list.
    pub about_tools: &'static str,
    /// `/cost` in the list.
    pub about_cost: &'static str,
    /// `/tokens` in the list.
    pub about_tokens: &'static str,
    /// `/context` in the list.
    pub about_context: &'static str,
    /// `/model` in the list.
    pub about_model: &'static str,
    /// After `/clear`.
    pub cleared: &'static str,
    /// The keys, under the list of commands.
    pub keys: &'static str,
    /// `/cost` without a price.
    pub no_price: &'static str,
    /// Tokens that the provider's cache held; `{cached}`.
    pub tokens_cached: &'static str,
    /// Row of `/context`.
    pub context_system: &'static str,
    /// Row of `/context`.
    pub context_person: &'static str,
    /// Row of `/context`.
    pub context_model: &'static str,
    /// Row of `/context`.
    pub context_results: &'static str,
    /// Sum of `/context`; `{tokens}`, `{messages}`.
    pub context_total: &'static str,
    /// `/model`; `{name}`.
    pub model_is: &'static str,
    /// First line of the REPL; `{version}`, `{model}`, `{root}`.
    pub welcome: &'static str,
    /// Ctrl-C on an empty prompt.
    pub again_to_leave: &'static str,
    /// A turn was stopped by the person.
    pub stopped: &'static str,
    /// A project's file says what it may not say before it is trusted; `{file}`, `{keys}`.
    pub untrusted_settings: &'static str,
    /// A setting that nothing comes of yet; `{key}`.
    pub setting_without_effect: &'static str,
    /// The folder to work in cannot be entered; `{folder}`, `{error}`.
    pub no_folder: &'static str,
    /// The program cannot start its threads; `{error}`.
    pub no_runtime: &'static str,
    /// What to do where the workspace's root cannot be opened.
    pub hint_root: &'static str,
    /// `exec` without words.
    pub empty_prompt: &'static str,
    /// Where prompts come from that were built in.
    pub built_in: &'static str,
}

/// Put values into a text. A placeholder without a value stays, so that a mistake shows instead of panicking.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = text.to_owned();
    for (name, value) in values {
        out = out.replace(&format!("{{{name}}}"), value);
    }
    out
}
