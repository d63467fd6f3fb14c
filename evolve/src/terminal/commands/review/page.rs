//! One candidate as a page: what was said of it, what was proven, what was not, and what differs.

use crate::terminal::diff;
use crate::terminal::display::{Look, took};
use selfsmith::cycle::sanitize::shown;
use selfsmith::judgement::gate::{GateOutcome, GateReport};
use selfsmith::judgement::notices;
use selfsmith::review::{Shown, risk};
use selfsmith::store::authority::Authority;
use selfsmith::texts::{EN, fill};
use serde_json::json;

/// One candidate for programs.
pub fn as_json(found: &Shown) -> serde_json::Value {
    let diff = found.diff.iter().map(|file| {
        json!({
            "path": file.path.to_string(),
            "added": file.added,
            "removed": file.removed,
            "binary": file.binary,
            "patch": String::from_utf8_lossy(&file.patch),
        })
    });
    let attempts = found.evidence.attempts.iter().map(|attempt| {
        json!({
            "proposal": attempt.proposal,
            "candidate": attempt.candidate,
            "reports": attempt.reports,
            "required": attempt.required,
        })
    });
    json!({
        "item": found.item,
        "record": found.record,
        "decisions": found.decisions,
        "attempts": attempts.collect::<Vec<_>>(),
        "evidence_tree": found.evidence_tree,
        "commit": found.commit,
        "message": found.message,
        "diff": diff.collect::<Vec<_>>(),
        "risk": risk::of(found),
        "unchecked": risk::unchecked(found),
    })
}

/// One candidate as a page.
pub fn lines(found: &Shown, look: Look) -> Vec<String> {
    let item = &found.item;
    let mut lines = vec![look.strong(&item.id), super::line(item, look)];
    lines.push(fact("goal", &item.goal));
    lines.push(fact(
        "proposer",
        &match &found.record.model {
            Some(model) => format!("{} ({model})", item.proposer),
            None => item.proposer.clone(),
        },
    ));
    lines.push(fact("target", &item.target));
    lines.push(fact("base", &found.record.base.0));
    if let Some(landed) = &item.landed {
        lines.push(fact("landed", &landed.0));
    }
    if let Some(commit) = &found.commit {
        lines.push(fact("commit", &commit.0));
    }
    lines.push(fact("evidence", &found.evidence_tree.0));
    let (_, why) = item.verdict.said();
    if !why.is_empty() {
        lines.push(fact("why", &why));
    }
    lines.push(fact("says", &found.record.proposal.summary));
    if !found.record.proposal.prediction.is_empty() {
        lines.push(fact("predicts", &found.record.proposal.prediction));
    }
    for decision in &found.decisions {
        let by = decision.authority.as_ref().map_or("nobody seen", spoken);
        lines.push(fact(decision.kind.word(), &format!("{} ({by})", decision.end.word())));
    }
    lines.extend(concerns(found, look));
    for notice in found.evidence.baseline.as_ref().map(notices::of_base).unwrap_or_default() {
        lines.push(fact("note", &notice));
    }
    for (number, attempt) in found.evidence.attempts.iter().enumerate() {
        lines.push(String::new());
        lines.push(look.strong(&fill(EN.review_attempt, &[("number", &(number + 1).to_string())])));
        lines.extend(attempt.proposal.output.lines().map(|line| look.dim(&fill(EN.said, &[("text", &shown(line))]))));
        lines.extend(attempt.reports.iter().flat_map(|report| report_lines(report, look)));
        lines.extend(notices::of_reports(&attempt.reports).iter().map(|notice| fact("note", notice)));
    }
    for file in &found.diff {
        lines.push(String::new());
        lines.extend(diff::lines(&file.patch, look));
    }
    lines
}

fn fact(name: &str, value: &str) -> String {
    format!("  {name:<11} {}", shown(value))
}

/// What a person should weigh before an approval: what is risky, and what nothing has checked.
pub fn concerns(found: &Shown, look: Look) -> Vec<String> {
    let risks = risk::of(found).into_iter().map(|text| ("risk", text));
    let all = risks.chain(risk::unchecked(found).into_iter().map(|text| ("unchecked", text)));
    all.map(|(name, text)| look.asks(&fact(name, &text))).collect()
}

fn report_lines(report: &GateReport, look: Look) -> Vec<String> {
    let head = format!("  {:<14} {}", report.gate.as_str(), took(report.took));
    match &report.result {
        GateOutcome::Pass => vec![look.good(&format!("{head}  pass"))],
        GateOutcome::NotRun { why } => vec![look.dim(&format!("{head}  not run: {}", shown(why)))],
        GateOutcome::Ask { why } => vec![look.asks(&format!("{head}  asks: {}", shown(why)))],
        GateOutcome::Unknown { why } => vec![look.asks(&format!("{head}  unknown: {}", shown(why)))],
        GateOutcome::Fail { why, .. } => {
            let mut lines = vec![look.bad(&format!("{head}  FAIL: {}", shown(why)))];
            lines.extend(report.log.lines().map(|line| format!("      {}", shown(line))));
            lines
        }
    }
}

/// On whose word, for people.
pub const fn spoken(authority: &Authority) -> &'static str {
    match authority {
        Authority::Terminal => "by a person at a terminal",
        Authority::Settings { .. } => "by the owner's settings",
        Authority::Sample => "by the demo, on its own sample",
        Authority::CommandLine => "by the command line",
    }
}
