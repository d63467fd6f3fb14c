//! One table of every text of the judge that a person reads, apart from the command line's help. A language is one file
//! here; the compiler sees to it that none lacks a text. Texts for the model are in `prompts/`.

mod en;

pub use en::EN;

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The table. Placeholders are `{name}`; [`fill`] puts values in.
        #[derive(Debug)]
        pub struct Texts {
            $($(#[$doc])* pub $name: &'static str,)*
        }

        impl Texts {
            /// Every text with its name, for tests.
            pub fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name)),*]
            }
        }
    };
}

table! {
    /// Any error: `{what}`.
    error,
    /// What to do next: `{hint}`.
    hint,
    /// A command that has no builder yet: `{what}`.
    not_built,
    /// Version: `{version}`, `{judge}`.
    version,
    /// While the agent is built: `{profile}`.
    building_agent,
    /// No goal was given.
    no_goal,
    /// The goal is blank.
    empty_goal,
    /// Between the last two of several names.
    and,
    /// No model is set for the relay: `{missing}`, `{file}`.
    no_model,
    /// What to write for one: `{file}`.
    model_snippet,
    /// Variables are set that the judge does not read: `{names}`.
    agents_alone,
    /// The model's key variable is not set: `{name}`, `{file}`.
    no_key,
    /// What to do about it: `{name}`, `{file}`.
    set_key,
    /// How the owner's settings allow something without a terminal: `{key}`, `{file}`.
    allow_in_settings,
    /// What a person does about a command that an agent tried.
    type_it_yourself,
    /// An undo moved the target back: `{commit}`, `{target}`.
    taken_back,
    /// A cycle began: `{cycle}`, `{target}`, `{base}`.
    cycle_started,
    /// The goal: `{goal}`.
    goal,
    /// What is going on while the proposer works.
    proposing,
    /// A line of the proposer's program: `{text}`.
    said,
    /// More of those than are shown.
    said_more,
    /// In place of a line with a key: `{what}`.
    said_key,
    /// The first Ctrl-C.
    interrupting,
    /// The second one.
    interrupted,
    /// A first word that is nearly one of ours: `{word}`.
    no_command,
    /// Which: `{command}`.
    did_you_mean,
    /// A list leaves out cycles that came to no candidate: `{count}`.
    review_hidden,
    /// A candidate was composed: `{candidate}`, `{files}`, `{lines}` (counted, as [`count`] says).
    composed,
    /// A gate passed: `{gate}`, `{took}`.
    gate_pass,
    /// A gate failed: `{gate}`, `{took}`, `{why}`.
    gate_fail,
    /// A gate asks: `{gate}`, `{took}`, `{why}`.
    gate_ask,
    /// A gate could not be checked: `{gate}`, `{took}`, `{why}`.
    gate_unknown,
    /// A gate was not run: `{gate}`, `{why}`.
    gate_not_run,
    /// While a gate runs: `{gate}`.
    gate_running,
    /// Diagnostics go back: `{gate}`, `{attempt}`.
    repairing,
    /// The verdict: `{candidate}`, `{verdict}`.
    judged,
    /// It landed: `{commit}`, `{target}`.
    landed,
    /// It is kept: `{reference}`.
    kept,
    /// Something to know: `{text}`.
    notice,
    /// Accepted, and waits: `{candidate}`.
    waiting,
    /// The first generation was installed: `{tree}`.
    first_generation,
    /// Goals from the agent's own sessions: `{count}`.
    failures_gathered,
    /// A generation was left for another: `{left}`, `{tree}`, `{why}`.
    fell_back,
    /// What landed is started from now on: `{tree}`.
    followed,
    /// A person went back: `{tree}`, `{left}`.
    rolled_back,
    /// There is none to go back to; completes "could not".
    nothing_to_roll_back,
    /// None was ever installed; completes "could not".
    no_generation,
    /// One of the list: `{mark}`, `{tree}`, `{state}`.
    generation_line,
    /// A landed change died when it was started: `{tree}`, `{why}`, `{commit}`.
    reverting_denied,
    /// It cannot be: `{commit}`, `{why}`.
    not_reverted,
    /// It was taken aside: `{goal}`, `{path}`.
    inbox_settled,
    /// Waiting for goals: `{dir}`.
    inbox_waiting,
    /// Nothing to review.
    review_empty,
    /// Nothing was done yet.
    ops_empty,
    /// No cycle is recorded.
    lineage_empty,
    /// The chain is whole: `{count}`.
    lineage_whole,
    /// An attempt of a candidate: `{number}`.
    review_attempt,
    /// Walk: above a file: `{path}`, `{added}`, `{removed}`, `{number}`, `{count}`.
    walk_file,
    /// Walk: above a hunk: `{number}`, `{count}`.
    walk_hunk,
    /// Walk: the question about a part.
    walk_ask,
    /// Walk: what the answers mean.
    walk_help,
    /// Walk: the question for a comment.
    walk_comment,
    /// Walk: the question where all is taken.
    walk_all,
    /// Walk: the question where some is: `{taken}`, `{left}`.
    walk_some,
    /// Walk: the question where nothing is.
    walk_none,
    /// Walk: ended without a decision.
    walk_undecided,
    /// Walk: a candidate without parts.
    walk_nothing,
    /// Walk: no terminal; completes "could not".
    walk_no_keyboard,
    /// A comment was put into the inbox: `{path}`.
    commented,
    /// Bisect: a state that was checked: `{number}`, `{count}`, `{commit}`, `{answer}`, `{goal}`.
    bisect_state,
    /// Bisect: in place of the goal of what was there before.
    bisect_before,
    /// Bisect: what made it fail: `{candidate}`, `{commit}`.
    bisect_first,
    /// Bisect: the same, where some could not be told: `{count}`, `{candidate}`, `{commit}`.
    bisect_between,
    /// Bisect: it holds.
    bisect_holds_now,
    /// Bisect: it never held.
    bisect_failed_before,
    /// Bisect: nothing can be told.
    bisect_untold,
    /// Bisect: nothing has landed: `{target}`.
    bisect_none,
    /// At: the moment: `{id}`, `{time}`.
    at_head,
    /// At: where a target stood: `{target}`, `{commit}`.
    at_target,
    /// Gc: nothing to do: `{days}`.
    gc_none,
    /// Gc: what would be done: `{count}`.
    gc_would,
    /// Gc: what was done: `{count}`.
    gc_done,
    /// A candidate is rebased: `{target}`, `{candidate}`.
    rebasing,
    /// Hooks that a landing does not run: `{hooks}`.
    hooks_not_run,
    /// Signing that a landing does not do.
    not_signed,
    /// A decision without a landing: `{about}`, `{end}`.
    decided,
    /// A decision with one: `{about}`, `{end}`, `{commit}`.
    decided_landed,
    /// Demo: no program on the search path: `{program}`.
    demo_missing,
    /// Demo: the folder: `{folder}`.
    demo_folder,
    /// Demo: what happens, first words.
    demo_intro,
    /// Demo: a scene begins: `{number}`, `{title}`.
    demo_scene,
    /// Demo: title of the improvement.
    demo_improve,
    /// Demo: title of the breaking change.
    demo_break,
    /// Demo: title of the cheat.
    demo_cheat,
    /// Demo: before the list.
    demo_review,
    /// Demo: what to type next: `{command}`, `{repo}`, `{candidate}`, `{cassettes}`.
    demo_next,
    /// Demo: a scene ended otherwise than the bundled one does: `{scene}`, `{verdict}`.
    demo_other,
    /// Doctor: heading of the judge's part.
    doctor_judge,
    /// Doctor: heading of the agent's part.
    doctor_agent,
    /// Doctor: a check that holds: `{name}`, `{measured}`.
    doctor_ok,
    /// Doctor: a check that fails: `{name}`, `{measured}`, `{expected}`, `{remedy}`.
    doctor_bad,
}

/// Put values into a text. A placeholder without a value stays, so that a mistake shows instead of panicking; values are
/// never searched for placeholders.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let found = after
            .split_once('}')
            .and_then(|(name, after)| values.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value, after)));
        match found {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A number of things, such as `1 file` and `2 files`.
pub fn count(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {one}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_searched_for_placeholders() {
        assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "x")]), "{b} and x");
    }

    #[test]
    fn a_placeholder_without_a_value_stays() {
        assert_eq!(fill("{a {b}", &[("c", "x")]), "{a {b}");
    }

    #[test]
    fn one_thing_is_said_in_the_singular() {
        assert_eq!([0, 1, 2].map(|number| count(number, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn no_text_is_empty() {
        for (name, text) in EN.all() {
            assert!(!text.trim().is_empty(), "{name}");
        }
    }
}
