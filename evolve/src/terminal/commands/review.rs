//! `review`: what was proposed, and what a person decides about it.

use crate::terminal::cli::{ReviewArgs, ReviewCommand};
use crate::terminal::commands::makings::Wishes;
use crate::terminal::commands::place::{Place, new_id};
use crate::terminal::commands::stop::Stop;
use crate::terminal::commands::{as_typed, interrupt, ladder, records};
use crate::terminal::display::{Audience, Display, Look, short, took};
use crate::terminal::streams;
use selfsmith::cycle;
use selfsmith::cycle::sanitize::{self, shown};
use selfsmith::judgement::gate::{GateOutcome, GateReport};
use selfsmith::judgement::notices;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::settings::Landing;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::{self, Decided, Deciding, Item, Shown, Status};
use selfsmith::store::authority::{self, Authority};
use selfsmith::store::record::End;
use selfsmith::texts::{EN, count, fill};
use serde_json::json;

/// Run it.
pub fn run(arguments: ReviewArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    let look = Look::new(around, &std::io::stdout());
    match arguments.command.unwrap_or(ReviewCommand::List { all: false }) {
        ReviewCommand::List { all } => list(&place, look, (all, arguments.json), around),
        ReviewCommand::Show { candidate } => show(&place, &candidate, look, arguments.json),
        ReviewCommand::Verify => records::verify(&place, arguments.json),
        decision => decide(&place, decision, arguments.json, around),
    }
}

fn list(place: &Place, look: Look, (all, json): (bool, bool), around: &Surroundings) -> Result<Exit, Stop> {
    let (items, hidden) = items(place, all)?;
    if json {
        for item in items {
            if !streams::print_json(&item) {
                break;
            }
        }
        return Ok(Exit::Done);
    }
    if items.is_empty() && hidden == 0 {
        streams::tell(&as_typed(EN.review_empty, around));
    }
    for item in &items {
        if !streams::print(&line(item, look)) {
            break;
        }
    }
    if hidden > 0 {
        let hidden = fill(EN.review_hidden, &[("count", &count(hidden as u64, "cycle"))]);
        streams::tell(&look.dim(&as_typed(&hidden, around)));
    }
    Ok(Exit::Done)
}

/// The list, a line each, newest first.
pub fn lines(place: &Place, look: Look) -> Result<Vec<String>, Stop> {
    Ok(items(place, false)?.0.iter().map(|item| line(item, look)).collect())
}

/// What there is to look at, and how many cycles are left out because they came to no candidate.
fn items(place: &Place, all: bool) -> Result<(Vec<Item>, usize), Stop> {
    let mut items = review::list(&place.repo)?;
    let before = items.len();
    items.retain(|item| all || item.id != item.cycle || item.status != Status::Inconclusive);
    let hidden = before - items.len();
    Ok((items, hidden))
}

fn line(item: &Item, look: Look) -> String {
    let (gate, _) = item.verdict.said();
    let verdict = match gate {
        Some(gate) => format!("{} at {gate}", item.verdict.word()),
        None => item.verdict.word().to_owned(),
    };
    let status = format!("{:<12}", item.status.word());
    let status = match item.status {
        Status::Landed => look.good(&status),
        Status::Waiting => look.asks(&status),
        Status::Refused | Status::Rejected => look.bad(&status),
        Status::Stale | Status::Inconclusive | Status::Reverted | Status::Undone => look.dim(&status),
    };
    format!("{}  {status}  {verdict:<22}  {}", item.id, sanitize::line(&item.goal, 70))
}

fn show(place: &Place, id: &str, look: Look, json: bool) -> Result<Exit, Stop> {
    let found = review::show(&place.repo, id)?;
    if json {
        streams::print_json(&as_json(&found));
        return Ok(Exit::Done);
    }
    for line in page(&found, look) {
        if !streams::print(&line) {
            break;
        }
    }
    Ok(Exit::Done)
}

fn as_json(found: &Shown) -> serde_json::Value {
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
    })
}

/// One candidate as a page.
fn page(found: &Shown, look: Look) -> Vec<String> {
    let item = &found.item;
    let mut lines = vec![look.strong(&item.id), line(item, look)];
    let fact = |name: &str, value: &str| format!("  {name:<11} {}", shown(value));
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
        lines.extend(String::from_utf8_lossy(&file.patch).lines().map(|line| patch_line(line, look)));
    }
    lines
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

fn patch_line(line: &str, look: Look) -> String {
    let text = shown(line);
    match line.chars().next() {
        Some('+') if !line.starts_with("+++") => look.good(&text),
        Some('-') if !line.starts_with("---") => look.bad(&text),
        Some('@') => look.dim(&text),
        _ => text,
    }
}

const fn spoken(authority: &Authority) -> &'static str {
    match authority {
        Authority::Terminal => "by a person at a terminal",
        Authority::Settings { .. } => "by the owner's settings",
        Authority::CommandLine => "by the command line",
    }
}

/// The owner's settings speak for a person only where they let everything land anyway.
pub fn person(place: &Place) -> Result<Authority, Stop> {
    let settings = (place.settings.landing == Landing::Auto).then_some(place.settings_file.as_path());
    authority::person(settings).map_err(|error| Stop::no_authority(&error, &place.settings_file))
}

fn decide(place: &Place, decision: ReviewCommand, json: bool, around: &Surroundings) -> Result<Exit, Stop> {
    let authority = person(place)?;
    let display = Display::new(around, Audience::of(json));
    let report = |progress| display.show(&progress);
    let deciding = Deciding { hands: place.hands(&report, around), id: new_id(), authority };
    let decided = match decision {
        ReviewCommand::Approve { candidate } => review::approve(&deciding, &candidate)?,
        ReviewCommand::Reject { candidate, why } => review::reject(&deciding, &candidate, &why)?,
        ReviewCommand::Revert { commit } => {
            let item = review::show(&place.repo, &commit)?.item;
            let base = cycle::look(&place.repo, Some(&item.target))?;
            let cancel = interrupt::watched();
            let given = ladder::given(place, &Wishes::default(), &cancel, around);
            let mut weigh = ladder::open(place, &base, given)?;
            review::revert(&deciding, &base, &item.id, &mut weigh, &cancel)?
        }
        ReviewCommand::List { .. } | ReviewCommand::Show { .. } | ReviewCommand::Verify => return Ok(Exit::Usage),
    };
    display.rest();
    Ok(tell(&decided, json))
}

/// Say what came of a decision.
pub fn tell(decided: &Decided, json: bool) -> Exit {
    if json {
        streams::print_json(&json!({
            "id": decided.id,
            "about": decided.about,
            "end": decided.end.word(),
            "verdict": decided.verdict.word(),
            "landed": decided.landed,
        }));
    } else {
        let landed = decided.landed.as_ref().map_or("", |commit| short(&commit.0));
        let values = [("about", decided.about.as_str()), ("end", decided.end.word()), ("commit", landed)];
        let text = if landed.is_empty() { EN.decided } else { EN.decided_landed };
        streams::tell(&fill(text, &values));
    }
    match decided.end {
        End::Landed | End::Waiting => Exit::Done,
        // A rejection by a person is what was asked for.
        End::Refused if decided.verdict.word() != "reject" => Exit::Done,
        End::Refused => Exit::Reject,
        End::Stale => Exit::Stale,
        End::Inconclusive => Exit::Inconclusive,
    }
}
