//! Decisions: approve, leave out, reject, revert, each on a person's word or the owner's.

use crate::terminal::commands::makings::Wishes;
use crate::terminal::commands::person::{self, Asked};
use crate::terminal::commands::place::{Place, new_id};
use crate::terminal::commands::stop::Stop;
use crate::terminal::commands::{generations, interrupt, ladder};
use crate::terminal::display::{Audience, Display, short};
use crate::terminal::streams;
use selfsmith::cycle::{self, Base, CycleEnd};
use selfsmith::ladder::Ladder;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::remake::{self, Ground, LeftOut};
use selfsmith::review::{self, Decided, Deciding, ReviewError};
use selfsmith::store::authority::Authority;
use selfsmith::store::record::End;
use selfsmith::texts::{EN, fill};
use selfsmith_sandbox::Cancel;
use serde_json::json;
use std::collections::BTreeSet;

/// Where somebody decides.
pub struct Desk<'a> {
    place: &'a Place,
    around: &'a Surroundings,
    authority: Authority,
    display: Display,
}

impl<'a> Desk<'a> {
    /// With the word that is seen; without one nothing is decided.
    pub fn open(place: &'a Place, json: bool, around: &'a Surroundings) -> Result<Self, Stop> {
        let authority = person::word(place, Asked::Decide)?;
        Ok(Self { place, around, authority, display: Display::new(around, Audience::of(json)) })
    }

    /// Land a candidate, or what is left of it. Where its target has moved it is made anew there first.
    pub fn approve(&self, id: &str, leave_out: &[String]) -> Result<Decided, Stop> {
        let left_out: BTreeSet<LeftOut> = leave_out.iter().map(|text| LeftOut::parse(text)).collect();
        if left_out.is_empty() && !remake::has_moved(&self.place.repo, id)? {
            return self.deciding(|deciding| review::approve(deciding, id));
        }
        let about = review::show(&self.place.repo, id)?.item;
        let (base, mut ladder, cancel) = self.gates(&about.target)?;
        let made: CycleEnd = self.deciding(|deciding| {
            if left_out.is_empty() {
                remake::rebase(deciding, &base, (&about.id, Ground::Approval), &mut ladder, &cancel)
            } else {
                remake::select(deciding, &base, (&about.id, &left_out), &mut ladder, &cancel)
            }
        })?;
        let about = made.candidate.unwrap_or(about.id);
        Ok(Decided { id: made.cycle, about, end: made.end, verdict: made.verdict, landed: made.landed })
    }

    /// Refuse one.
    pub fn reject(&self, id: &str, why: &str) -> Result<Decided, Stop> {
        self.deciding(|deciding| review::reject(deciding, id, why))
    }

    /// Take a landed one back.
    pub fn revert(&self, id: &str) -> Result<Decided, Stop> {
        let item = review::show(&self.place.repo, id)?.item;
        let (base, mut ladder, cancel) = self.gates(&item.target)?;
        self.deciding(|deciding| review::revert(deciding, &base, &item.id, &mut ladder, &cancel))
    }

    fn gates(&self, target: &str) -> Result<(Base, Ladder, Cancel), Stop> {
        let base = cycle::look(&self.place.repo, Some(target))?;
        let cancel = interrupt::watched();
        let given = ladder::given(self.place, &Wishes::default(), &cancel, self.around);
        let ladder = ladder::open(self.place, &base, given, self.around)?;
        Ok((base, ladder, cancel))
    }

    fn deciding<T>(&self, decide: impl FnOnce(&Deciding<'_>) -> Result<T, ReviewError>) -> Result<T, Stop> {
        let report = |progress| self.display.show(&progress);
        let hands = self.place.hands(&report, self.around);
        let deciding = Deciding { hands, id: new_id(), authority: self.authority.clone() };
        let decided = decide(&deciding);
        generations::follow_target(self.place, &self.display, self.around);
        self.display.rest();
        Ok(decided?)
    }
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
        End::Landed => Exit::Done,
        // What was approved or reverted and waits all the same is a person's question once more.
        End::Waiting => Exit::NeedsHuman,
        // A rejection by a person is what was asked for.
        End::Refused if decided.verdict.word() != "reject" => Exit::Done,
        End::Refused => Exit::Reject,
        End::Stale => Exit::Stale,
        End::Inconclusive => Exit::Inconclusive,
    }
}
