//! One table of every text that a person reads. A language is one file here; the compiler sees to it that none lacks a
//! text. Texts for the model are not here: they live in `prompts/`.

mod about;
mod en;
mod setup;
mod trust;

pub use about::About;
pub use en::EN;
pub use setup::Setup;
pub use trust::Trust;

/// The table. Placeholders are `{name}`; [`fill`] puts values in.
#[derive(Debug)]
pub struct Texts {
    /// For what is not built yet; `{what}`.
    pub not_built: &'static str,
    /// Of `case`: a kind that does not exist; `{kind}`, `{known}`.
    pub unknown_case_kind: &'static str,
    /// Standard input could not be read; `{error}`.
    pub unreadable_stdin: &'static str,
    /// What came on standard input beside a prompt is only told in part; `{bytes}`.
    pub stdin_cut: &'static str,
    /// Nothing came on standard input yet, and it is not at its end.
    pub reading_stdin: &'static str,
    /// `export` to a file; `{file}`, `{error}`.
    pub export_failed: &'static str,
    /// `probe`; `{model}`, `{base}`.
    pub probed_native: &'static str,
    /// `probe`; `{model}`, `{base}`, `{why}`.
    pub probed_text: &'static str,
    /// Settings were edited and hold now; `{keys}`.
    pub reloaded: &'static str,
    /// Settings were edited that hold later; `{keys}`.
    pub reloaded_later: &'static str,
    /// Settings or prompts were edited and are wrong; `{why}`.
    pub not_reloaded: &'static str,
    /// What was edited would change the request's beginning.
    pub beginning_waits: &'static str,
    /// `/reload` did it.
    pub all_taken: &'static str,
    /// Standard output did not take everything; `{error}`.
    pub unwritable_stdout: &'static str,
    /// A resumed session had a torn last line; `{bytes}`.
    pub torn_line_dropped: &'static str,
    /// A finish reason that is none of the ordinary ones; `{finish}`.
    pub unusual_finish: &'static str,
    /// The model stopped without `done`.
    pub maybe_unfinished: &'static str,
    /// The project's check holds; `{command}`.
    pub check_green: &'static str,
    /// Before the question whether the project's check may run; `{command}`.
    pub check_runs: &'static str,
    /// The project's check could not run; `{command}`.
    pub check_not_run: &'static str,
    /// The project's check fails and nothing more is done about it; `{command}`.
    pub check_given_up: &'static str,
    /// The reply was cut off.
    pub reply_cut_off: &'static str,
    /// The limit of turns was reached; `{turns}`.
    pub turns_ran_out: &'static str,
    /// The same call again and again.
    pub going_in_circles: &'static str,
    /// The question about it; `{name}`, `{about}`.
    pub may_it_circle: &'static str,
    /// The limit of tokens was reached; `{limit}`.
    pub tokens_ran_out: &'static str,
    /// The limit of money was reached; `{limit}`.
    pub money_ran_out: &'static str,
    /// The limit of time was reached; `{limit}`.
    pub time_ran_out: &'static str,
    /// A compaction begins; `{tokens}`, `{most}`, `{why}`.
    pub compacting: &'static str,
    /// Reasons for it: near the window, the server's refusal, the person's wish.
    pub compacting_near: &'static str,
    /// The server's refusal.
    pub compacting_overflow: &'static str,
    /// The person's wish.
    pub compacting_asked: &'static str,
    /// It is done; `{before}`, `{after}`, `{kept}`, `{means}`.
    pub compacted: &'static str,
    /// By a summary.
    pub compacted_summary: &'static str,
    /// By a list of what happened.
    pub compacted_digest: &'static str,
    /// It was not; `{before}`.
    pub not_compacted: &'static str,
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
    /// Walls are missing; `{what}` is open.
    pub walls_open: &'static str,
    /// A command is dangerous; `{what}`.
    pub dangerous: &'static str,
    /// The rule that would allow a command that was not run; `{rule}`.
    pub grant: &'static str,
    /// The setting that would allow a host that was not fetched from; `{host}`.
    pub grant_host: &'static str,
    /// A danger; `{host}`.
    pub danger_private: &'static str,
    /// A danger.
    pub danger_removes_outside: &'static str,
    /// A danger.
    pub danger_removes_all: &'static str,
    /// A danger.
    pub danger_removes_unknown: &'static str,
    /// A danger.
    pub danger_writes_outside: &'static str,
    /// A danger.
    pub danger_writes_disk: &'static str,
    /// A danger.
    pub danger_rewrites_history: &'static str,
    /// A danger.
    pub danger_reads_secrets: &'static str,
    /// A danger.
    pub danger_runs_download: &'static str,
    /// A danger.
    pub danger_as_other_user: &'static str,
    /// A danger.
    pub danger_stops_system: &'static str,
    /// A danger.
    pub danger_bomb: &'static str,
    /// A danger.
    pub danger_without_walls: &'static str,
    /// A danger.
    pub danger_unclear: &'static str,
    /// There is no snapshot before a turn; `{why}`.
    pub no_snapshot: &'static str,
    /// The changes of a turn were not written down; `{why}`.
    pub snapshot_lost: &'static str,
    /// The workspace is too large for snapshots; `{limit}`.
    pub too_many_for_snapshots: &'static str,
    /// What a snapshot leaves out; `{what}`.
    pub not_in_snapshot: &'static str,
    /// End of a list; `{count}`.
    pub and_more: &'static str,
    /// A size after a reason; `{size}`.
    pub mebibytes: &'static str,
    /// Edits of several files that were cut off are taken back; `{files}`.
    pub edits_taken_back: &'static str,
    /// Edits of several files that were cut off, and nothing may be changed; `{files}`.
    pub edits_cut_off: &'static str,
    /// A file of such edits that others changed since; `{path}`, `{kept}`.
    pub edits_left: &'static str,
    /// Such edits could not be taken back; `{why}`.
    pub edits_not_settled: &'static str,
    /// `undo` without anything to do.
    pub undo_nothing: &'static str,
    /// `undo`; `{turns}`, `{count}`.
    pub undo_done: &'static str,
    /// `undo` after it changed something.
    pub undo_way_back: &'static str,
    /// `undo --redo` without anything to do.
    pub redo_nothing: &'static str,
    /// `undo --redo`; `{turns}`, `{count}`.
    pub redo_done: &'static str,
    /// `undo` where everything was put back before; `{turns}`.
    pub undo_done_already: &'static str,
    /// A path of `undo`; `{path}`.
    pub undo_restored: &'static str,
    /// A path of `undo`; `{path}`.
    pub undo_brought_back: &'static str,
    /// A path of `undo`; `{path}`.
    pub undo_removed: &'static str,
    /// A path of `undo`; `{path}`, `{why}`.
    pub undo_left: &'static str,
    /// Why a path is left alone.
    pub left_changed: &'static str,
    /// Why a path is left alone.
    pub left_changed_between: &'static str,
    /// Why a path is left alone.
    pub left_job: &'static str,
    /// Why a path is left alone.
    pub left_killed: &'static str,
    /// Why a path is left alone; `{why}`.
    pub left_not_kept: &'static str,
    /// A reason of `undo`; `{why}`.
    pub left_no_way_back: &'static str,
    /// Why a path is left alone.
    pub left_lost: &'static str,
    /// Why a path is left alone.
    pub left_not_empty: &'static str,
    /// Why a path is left alone; `{error}`.
    pub left_disk: &'static str,
    /// Snapshots are not to be had.
    pub no_place_for_snapshots: &'static str,
    /// Why something is left out: git's own folder.
    pub outside_git: &'static str,
    /// Why something is left out: made anew by a tool.
    pub outside_generated: &'static str,
    /// Why something is left out: the settings say so.
    pub outside_excluded: &'static str,
    /// Why something is left out: another file system.
    pub outside_other_disk: &'static str,
    /// Why something is left out: one file.
    pub outside_too_large: &'static str,
    /// Why something is left out: all files together.
    pub outside_over_total: &'static str,
    /// Why something is left out: no permission.
    pub outside_unreadable: &'static str,
    /// Why something is left out: a pipe and its like.
    pub outside_no_file: &'static str,
    /// What went wrong, with what to do; `{what}`, `{hint}`.
    pub could_not: &'static str,
    /// `config check` found nothing; `{prompts}`.
    pub config_sound: &'static str,
    /// The line that counts while one waits; `{what}`, `{seconds}`.
    pub waiting: &'static str,
    /// What is waited for while the model answers.
    pub thinking: &'static str,
    /// A call needs permission; `{name}`.
    pub may_it_run: &'static str,
    /// The same where not all of it was shown yet; `{name}`.
    pub may_it_run_unseen: &'static str,
    /// A choice: see all of what would run.
    pub answer_view: &'static str,
    /// What is not shown of a long text; `{chars}`, `{lines}`.
    pub not_shown: &'static str,
    /// Empty lines in a row; `{count}`.
    pub empty_lines: &'static str,
    /// Below a page; `{page}`, `{pages}`.
    pub page_of: &'static str,
    /// Above the files that a commit takes; `{count}`.
    pub commit_takes: &'static str,
    /// One of them; `{mark}`, `{path}`.
    pub commit_file: &'static str,
    /// After one that is guarded; `{why}`.
    pub commit_guarded: &'static str,
    /// A slash command that does not exist; `{name}`.
    pub no_such_command: &'static str,
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
    /// The tools, where they travel beside the prompt.
    pub context_tools: &'static str,
    /// What stands for what was compacted.
    pub context_summary: &'static str,
    /// The model's calls.
    pub context_calls: &'static str,
    /// Where the conversation is compacted; `{most}`, `{window}`.
    pub context_limit: &'static str,
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
    /// Notes of a project are longer than is read; `{file}`, `{bytes}`.
    pub notes_cut: &'static str,
    /// Only a person may do it, and an agent asks; `{name}`.
    pub not_for_an_agent: &'static str,
    /// Only a person may do it, and there is no terminal.
    pub no_person: &'static str,
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
    /// A large paste in what is typed; `{lines}`.
    pub pasted: &'static str,
    /// An image in what is typed; `{name}`.
    pub attached: &'static str,
    /// A prompt that waits for the work to end; `{text}`.
    pub queued: &'static str,
    /// Below what is typed while earlier prompts are searched; `{text}`.
    pub searching: &'static str,
    /// The same where none fits; `{text}`.
    pub search_failed: &'static str,
    /// What is waited for while an answer streams in.
    pub writing: &'static str,
    /// A choice.
    pub answer_yes: &'static str,
    /// A choice.
    pub answer_no: &'static str,
    /// Lines that are not shown; `{count}`.
    pub more_lines: &'static str,
    /// Lines of a command's output that are not shown; `{count}`.
    pub lines_before: &'static str,
    /// The same, where a key shows them; `{count}`.
    pub lines_before_key: &'static str,
    /// Above all that a command said.
    pub all_of_it: &'static str,
    /// No command said anything so far.
    pub nothing_said: &'static str,
    /// A choice; `{rule}`.
    pub answer_always: &'static str,
    /// A rule cannot be written; `{error}`.
    pub rule_not_kept: &'static str,
    /// `/approval forget`; `{rule}`.
    pub rule_forgotten: &'static str,
    /// `/approval forget`; `{rule}`.
    pub no_such_rule: &'static str,
    /// `/approval`; `{rule}`.
    pub rule_is: &'static str,
    /// `/approval`; `{mode}`, `{modes}`.
    pub approval_is: &'static str,
    /// `/add-dir` without any.
    pub no_folders: &'static str,
    /// After `/add-dir`; `{folder}`.
    pub folder_opened: &'static str,
    /// `/effort`; `{effort}`, `{all}`.
    pub effort_is: &'static str,
    /// `/effort` where nothing was said.
    pub effort_own: &'static str,
    /// `/config` wrote; `{key}`, `{file}`, `{when}`.
    pub setting_written: &'static str,
    /// When a written setting holds.
    pub holds_next_prompt: &'static str,
    /// When a written setting holds.
    pub holds_next_start: &'static str,
    /// When a written setting holds: somebody else sets it too; `{layer}`.
    pub holds_not: &'static str,
    /// `/config` shows nothing; `{key}`.
    pub no_such_setting: &'static str,
    /// `/effort`; `{word}`, `{all}`.
    pub no_such_effort: &'static str,
    /// `/approval`; `{word}`, `{all}`.
    pub no_such_mode: &'static str,
    /// `/undo`; `{word}`.
    pub undo_takes: &'static str,
    /// There is no place for settings.
    pub no_settings_folder: &'static str,
    /// `/diff` without any.
    pub no_changes: &'static str,
    /// `/diff`: a file that git does not know; `{file}`.
    pub untracked_file: &'static str,
    /// `/resume` and `sessions` without any.
    pub no_sessions: &'static str,
    /// `sessions` without any in this folder.
    pub no_sessions_here: &'static str,
    /// `/resume` asks.
    pub which_session: &'static str,
    /// `/rewind` without any.
    pub no_prompts: &'static str,
    /// `/rewind` asks.
    pub which_prompt: &'static str,
    /// After `/rewind`.
    pub went_back: &'static str,
    /// A session goes on; `{count}`, `{began}`, `{last}`, `{first}`.
    pub resumed: &'static str,
    /// A command of the person said nothing.
    pub no_output: &'static str,
    /// The editor failed; `{why}`.
    pub no_editor: &'static str,
    /// There is nothing to attach.
    pub no_picture: &'static str,
    /// Below what is typed, in plan mode.
    pub mode_plan: &'static str,
    /// Below what is typed, in the mode `auto-edit`.
    pub mode_auto_edit: &'static str,
    /// Below what is typed, in the mode `auto`.
    pub mode_auto: &'static str,
    /// Below what is typed, in the mode `read-only`.
    pub mode_read_only: &'static str,
    /// A plan is there.
    pub plan_question: &'static str,
    /// A choice; `{mode}`.
    pub plan_yes: &'static str,
    /// A choice.
    pub plan_yes_edit: &'static str,
    /// A choice.
    pub plan_no: &'static str,
    /// The file of keys is open to others; `{file}`.
    pub open_keys: &'static str,
    /// What each slash command does.
    pub about: About,
    /// The first run.
    pub setup: Setup,
    /// What a project may say, and the question about it.
    pub trust: Trust,
}

/// Put values into a text. A placeholder without a value stays, so that a mistake shows instead of panicking.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = text.to_owned();
    for (name, value) in values {
        out = out.replace(&format!("{{{name}}}"), value);
    }
    out
}
