//! The prompts as they were built in, for an agent that runs without its generation's folder. Texts of tools are not
//! here: each tool carries its own.

/// The system layers, in order: the first wins over the next.
pub const LAYERS: [(&str, &str); 6] = [
    ("system/1-coding-signal.md", include_str!("../../prompts/system/1-coding-signal.md")),
    ("system/2-plain-question.md", include_str!("../../prompts/system/2-plain-question.md")),
    ("system/3-conflict.md", include_str!("../../prompts/system/3-conflict.md")),
    ("system/4-code-style.md", include_str!("../../prompts/system/4-code-style.md")),
    ("system/5-ending.md", include_str!("../../prompts/system/5-ending.md")),
    ("system/6-environment.md", include_str!("../../prompts/system/6-environment.md")),
];

/// What introduces the notes of the project, once for each file of them.
pub const PROJECT: (&str, &str) = ("system/project.md", include_str!("../../prompts/system/project.md"));

/// What the loop says to the model, one file per occasion, with the placeholders each may use.
pub const NOTES: [(super::Note, &str, &str, &[&str]); 19] = {
    use super::Note::{
        AfterDone, Circling, Compacted, CutOff, Denied, DeniedByRule, DoneTooEarly, Helper, InterruptedLost,
        InterruptedRunning, InterruptedWaiting, LastTurn, NobodyToAsk, Nudge, NudgeEmpty, ReadOnly, StoppedByHook,
        SumUp, SummaryLacks,
    };
    [
        (AfterDone, "notes/after-done.md", include_str!("../../prompts/notes/after-done.md"), &[]),
        (Circling, "notes/circling.md", include_str!("../../prompts/notes/circling.md"), &["name"]),
        (
            Compacted,
            "notes/compacted.md",
            include_str!("../../prompts/notes/compacted.md"),
            &["summary", "said", "files", "tasks"],
        ),
        (CutOff, "notes/cut-off.md", include_str!("../../prompts/notes/cut-off.md"), &["why"]),
        (Denied, "notes/denied.md", include_str!("../../prompts/notes/denied.md"), &["why"]),
        (DeniedByRule, "notes/denied-by-rule.md", include_str!("../../prompts/notes/denied-by-rule.md"), &["rule"]),
        (DoneTooEarly, "notes/done-too-early.md", include_str!("../../prompts/notes/done-too-early.md"), &["failed"]),
        (Helper, "notes/helper.md", include_str!("../../prompts/notes/helper.md"), &["access"]),
        (InterruptedLost, "notes/interrupted-lost.md", include_str!("../../prompts/notes/interrupted-lost.md"), &[]),
        (
            InterruptedRunning,
            "notes/interrupted-running.md",
            include_str!("../../prompts/notes/interrupted-running.md"),
            &[],
        ),
        (
            InterruptedWaiting,
            "notes/interrupted-waiting.md",
            include_str!("../../prompts/notes/interrupted-waiting.md"),
            &[],
        ),
        (LastTurn, "notes/last-turn.md", include_str!("../../prompts/notes/last-turn.md"), &["channel"]),
        (
            NobodyToAsk,
            "notes/nobody-to-ask.md",
            include_str!("../../prompts/notes/nobody-to-ask.md"),
            &["mode", "danger"],
        ),
        (Nudge, "notes/nudge.md", include_str!("../../prompts/notes/nudge.md"), &[]),
        (NudgeEmpty, "notes/nudge-empty.md", include_str!("../../prompts/notes/nudge-empty.md"), &[]),
        (ReadOnly, "notes/read-only.md", include_str!("../../prompts/notes/read-only.md"), &[]),
        (StoppedByHook, "notes/stopped-by-hook.md", include_str!("../../prompts/notes/stopped-by-hook.md"), &["why"]),
        (SumUp, "notes/sum-up.md", include_str!("../../prompts/notes/sum-up.md"), &["focus"]),
        (SummaryLacks, "notes/summary-lacks.md", include_str!("../../prompts/notes/summary-lacks.md"), &["what"]),
    ]
};
