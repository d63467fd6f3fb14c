//! `undo`, `ops`, `at`, `lineage`: the log of operations and the record of every cycle.

use crate::terminal::cli::{AtArgs, LineageArgs, ListArgs, UndoArgs};
use crate::terminal::commands::generations;
use crate::terminal::commands::person::{self, Asked};
use crate::terminal::commands::place::{Place, new_id};
use crate::terminal::commands::review;
use crate::terminal::commands::stop::Stop;
use crate::terminal::display::{Audience, Display, Look, short};
use crate::terminal::streams;
use selfsmith::cycle::sanitize::{self, shown};
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::Deciding;
use selfsmith::review::Fault;
use selfsmith::review::at::{self, Moment};
use selfsmith::review::undo;
use selfsmith::store::generations::Store;
use selfsmith::store::lineage;
use selfsmith::store::ops::{self, Operation};
use selfsmith::store::record::End;
use selfsmith::texts::{EN, count as counted, fill};

/// `undo`.
pub fn take_back(arguments: &UndoArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    let authority = person::word(&place, Asked::Decide)?;
    let display = Display::new(around, Audience::of(arguments.json));
    let report = |progress| display.show(&progress);
    let deciding = Deciding { hands: place.hands(&report, around), id: new_id(), authority };
    let decided = undo::undo(&deciding, arguments.operation.as_deref())?;
    if let Some(commit) = &decided.landed {
        generations::follow(&place, commit, &display, around);
    }
    display.rest();
    if arguments.json {
        return Ok(review::tell(&decided, true));
    }
    // Where the branch is now was shown when it moved; an undo is no decision about a candidate.
    Ok(if decided.end == End::Landed { Exit::Done } else { review::tell(&decided, false) })
}

/// `ops`, newest first.
pub fn operations(arguments: &ListArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    let look = Look::new(around, &std::io::stdout());
    let all = ops::list(&place.state)?;
    if all.is_empty() && !arguments.json {
        streams::tell(EN.ops_empty);
    }
    for operation in all.iter().rev() {
        let open = if arguments.json { streams::print_json(operation) } else { streams::print(&line(operation, look)) };
        if !open {
            break;
        }
    }
    Ok(Exit::Done)
}

fn line(operation: &Operation, look: Look) -> String {
    let moves: Vec<String> = operation
        .moves
        .iter()
        .map(|moved| {
            let end = |commit: &Option<selfsmith::judgement::candidate::CommitId>| {
                commit.as_ref().map_or_else(|| "nothing".to_owned(), |commit| short(&commit.0).to_owned())
            };
            format!("{} {}..{}", shown(&moved.name), end(&moved.from), end(&moved.to))
        })
        .collect();
    let what = sanitize::line(&operation.what, 70);
    let by = operation.authority.as_ref().map_or("", review::spoken);
    let facts: Vec<&str> = moves.iter().map(String::as_str).chain((!by.is_empty()).then_some(by)).collect();
    format!("{}  {:<9}  {what}  {}", operation.id, operation.kind.word(), look.dim(&facts.join(", ")))
}

/// `at`: where everything stood then.
pub fn at(arguments: &AtArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    let stood = at::at(&place.repo, &moment(&arguments.moment))?;
    if arguments.json {
        streams::print_json(&stood);
        return Ok(Exit::Done);
    }
    let look = Look::new(around, &std::io::stdout());
    let time = jiff::Timestamp::from_second(stood.at).unwrap_or_default().to_string();
    let mut lines = vec![look.strong(&fill(EN.at_head, &[("id", &stood.after), ("time", &time)]))];
    for (target, commit) in &stood.targets {
        lines.push(fill(EN.at_target, &[("target", &shown(target)), ("commit", &commit.0)]));
    }
    lines.extend(stood.items.iter().map(|item| review::line(item, look)));
    let _ = lines.iter().all(|line| streams::print(line));
    Ok(Exit::Done)
}

/// A time, in the zone of whoever types it where it names none; else the id of an operation.
fn moment(typed: &str) -> Moment {
    let local = || typed.parse::<jiff::civil::DateTime>().ok()?.to_zoned_datetime(jiff::tz::TimeZone::system()).ok();
    let time = typed.parse::<jiff::Timestamp>().ok().or_else(|| Some(local()?.timestamp()));
    time.map_or_else(|| Moment::After(typed.to_owned()), |time| Moment::Time(time.as_second()))
}

/// `lineage`, newest first.
pub fn chain(arguments: &LineageArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    if arguments.verify {
        return verify(&place, arguments.json, around);
    }
    let links = lineage::list(&place.repo)?;
    if links.is_empty() && !arguments.json {
        streams::tell(EN.lineage_empty);
    }
    for link in links {
        let open = if arguments.json {
            streams::print_json(&serde_json::json!({
                "commit": link.commit,
                "parents": link.parents,
                "evidence": link.evidence,
                "record": link.record,
            }))
        } else {
            let record = &link.record;
            let goal = sanitize::line(&record.goal, 60);
            streams::print(&format!(
                "{}  {}  {:<9}  {:<12}  {:<12}  {goal}",
                short(&link.commit.0),
                record.id,
                record.kind.word(),
                record.verdict.word(),
                record.end.word(),
            ))
        };
        if !open {
            break;
        }
    }
    Ok(Exit::Done)
}

/// Check every record; a fault is a failure.
pub fn verify(place: &Place, json: bool, around: &Surroundings) -> Result<Exit, Stop> {
    let mut faults = selfsmith::review::verify(&place.repo, &place.state)?;
    // What was booted is part of what was tested, approved and landed.
    let damaged = around.generations().map(|root| Store::new(root).faults()).unwrap_or_default();
    faults.extend(damaged.iter().map(|error| Fault { id: "generations".to_owned(), what: streams::chain(error) }));
    let count = lineage::list(&place.repo).map(|links| links.len()).unwrap_or_default();
    if json {
        streams::print_json(&serde_json::json!({ "records": count, "faults": faults }));
    } else if faults.is_empty() {
        streams::print(&fill(EN.lineage_whole, &[("count", &counted(count as u64, "record"))]));
    }
    if !json {
        for fault in &faults {
            streams::print(&format!("{}: {}", shown(&fault.id), shown(&fault.what)));
        }
    }
    Ok(if faults.is_empty() { Exit::Done } else { Exit::Failed })
}
