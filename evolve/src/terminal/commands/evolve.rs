//! `evolve`: one goal, or those of an inbox, through the whole pipeline.

use crate::terminal::cli::{EvolveArgs, LandingFlag};
use crate::terminal::commands::makings::{self, Wishes};
use crate::terminal::commands::person::{self, Asked};
use crate::terminal::commands::place::{Place, new_id};
use crate::terminal::commands::stop::Stop;
use crate::terminal::commands::{as_typed, failures, first, generations, interrupt, ladder};
use crate::terminal::display::{Audience, Display};
use crate::terminal::streams;
use selfsmith::cycle::{self, Base, CycleEnd, Setup};
use selfsmith::judgement::defence::Defences;
use selfsmith::judgement::progress::{Progress, Report};
use selfsmith::owner::exit::Exit;
use selfsmith::owner::inbox::{Inbox, LARGEST_GOAL, Outcome};
use selfsmith::owner::settings;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::proposer::command;
use selfsmith::proposer::fix::Fix;
use selfsmith::proposer::table::{self, Makings, Spec};
use selfsmith::review::remake::{self, Ground};
use selfsmith::review::{Deciding, ReviewError};
use selfsmith::store::authority::Authority;
use selfsmith::store::journal::Landing;
use selfsmith::store::record::End;
use selfsmith::texts::{EN, count, fill};
use selfsmith::workshop::Given;
use selfsmith_sandbox::Cancel;
use serde::Serialize;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What a run has in common over all its goals.
pub struct Run<'a> {
    /// Repository, state folder, settings.
    pub place: &'a Place,
    /// Who proposes.
    pub spec: Spec,
    /// What was said of the model.
    pub wishes: Wishes,
    /// The branch, where one was named.
    pub branch: Option<String>,
    /// Whether it lands by itself.
    pub landing: Landing,
    /// On whose word.
    pub authority: Option<Authority>,
    /// Where it shows.
    pub display: &'a Display,
    /// Ends it.
    pub cancel: Cancel,
    /// The world.
    pub around: &'a Surroundings,
}

/// How often a candidate is made anew because its target moved.
const REBASES: u32 = 3;

/// The last JSON line (docs/contract.md).
#[derive(Debug, Serialize)]
pub struct Last<'a> {
    verdict: &'a str,
    gate: Option<&'a str>,
    why: &'a str,
    candidate: Option<&'a str>,
    landed: Option<&'a str>,
    end: &'a str,
    cycle: &'a str,
    notices: &'a [String],
}

/// Run it.
pub fn run(arguments: EvolveArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    let display = Display::new(around, Audience::of(arguments.json));
    let (landing, authority) = landing(arguments.landing, &place)?;
    let run = Run {
        place: &place,
        spec: Spec::parse(&arguments.proposer)?,
        wishes: Wishes {
            model: arguments.model.clone(),
            record: arguments.record.clone(),
            accept_weaker: arguments.accept_weaker_room,
        },
        branch: arguments.branch.clone(),
        landing,
        authority,
        display: &display,
        cancel: interrupt::watched(),
        around,
    };
    if let Some(dir) = &arguments.inbox {
        let dir = dir.as_deref().map_or_else(|| place.state.inbox(), |dir| around.absolute(dir));
        if arguments.failures {
            let goals = failures::gather(&place, &dir, &run.cancel, around)?;
            display.say(&fill(EN.failures_gathered, &[("count", &count(goals.len() as u64, "goal"))]));
        }
        return run.inbox(&dir, arguments.cycles);
    }
    let goal = goal(&arguments, around)?;
    let end = run.one(&goal)?;
    Ok(run.tell(&end))
}

impl Run<'_> {
    /// One goal.
    pub fn one(&self, goal: &str) -> Result<CycleEnd, Stop> {
        let report = |progress| self.display.show(&progress);
        cycle::settle(self.place.hands(&report, self.around))?;
        let base = cycle::look(&self.place.repo, self.branch.as_deref())?;
        let given = ladder::given(self.place, &self.wishes, &self.cancel, self.around);
        // What can be seen to be missing is said before a cycle is begun and recorded.
        let mut weigh = ladder::open(self.place, &base, given.clone(), self.around)?;
        let makings = self.makings(&base, &given)?;
        self.look_up(&base, &makings)?;
        let mut proposer = table::open(&self.spec, makings)?;
        first::install(self.place, &base, self.display, self.around);
        if generations::catch_up(self, &base, &mut weigh)? {
            // The branch has moved; what follows begins from there.
            return self.one(goal);
        }
        let setup = Setup {
            hands: self.place.hands(&report, self.around),
            base,
            id: new_id(),
            goal: goal.to_owned(),
            landing: self.landing,
            authority: self.authority.clone(),
            max_repairs: self.place.settings.limits.max_repairs,
            defences: Defences::all(),
            cancel: self.cancel.clone(),
        };
        let end = cycle::run(setup, proposer.as_mut(), &mut weigh)?;
        let end = self.followed(end, &report)?;
        if let Some(commit) = &end.landed {
            generations::follow(self.place, commit, self.display, self.around);
        }
        self.display.rest();
        Ok(end)
    }

    /// What would have landed but for a target that moved meanwhile is made anew where it is now, a few times at most.
    fn followed(&self, mut end: CycleEnd, report: Report<'_>) -> Result<CycleEnd, Stop> {
        for _ in 0..REBASES {
            let (End::Stale, Some(candidate), Some(authority)) = (end.end, &end.candidate, &self.authority) else {
                break;
            };
            let hands = self.place.hands(report, self.around);
            let base = cycle::look(&self.place.repo, self.branch.as_deref().or(Some(&end.target)))?;
            let values = [("target", base.target.as_str()), ("candidate", candidate)];
            report(Progress::Notice { text: fill(EN.rebasing, &values) });
            let mut weigh = ladder::open(
                self.place,
                &base,
                ladder::given(self.place, &self.wishes, &self.cancel, self.around),
                self.around,
            )?;
            let deciding = Deciding { hands, id: new_id(), authority: authority.clone() };
            match remake::rebase(&deciding, &base, (candidate, Ground::Policy), &mut weigh, &self.cancel) {
                Ok(made) => end = made,
                // Both sides changed the same lines: stale it stays.
                Err(error @ ReviewError::Conflicts { .. }) => {
                    report(Progress::Notice { text: format!("could not {error}") });
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(end)
    }

    fn look_up(&self, base: &Base, makings: &Makings) -> Result<(), Stop> {
        let Spec::Command(line) = &self.spec else { return Ok(()) };
        let in_base = |path: &str| self.place.repo.entry(&base.tree.0, &path.into()).is_ok_and(|entry| entry.is_some());
        command::look_up(line, &makings.outside, &in_base).map_err(|error| Stop {
            exit: Exit::Settings,
            what: error.what,
            hint: error.hint,
        })
    }

    fn makings(&self, base: &Base, given: &Given) -> Result<Makings, Stop> {
        let mut makings = makings::gather(&self.spec, self.place, &self.wishes, &self.cancel, self.around)?;
        if self.spec == Spec::Fix {
            let repo = self.place.repo.reopen()?;
            makings.fix = Some(Fix::new(repo, base.tree.clone(), base.rules.clone(), given.clone()));
        }
        Ok(makings)
    }

    /// Say how it ended.
    pub fn tell(&self, end: &CycleEnd) -> Exit {
        if end.end == End::Waiting {
            let candidate = end.candidate.as_deref().unwrap_or_default();
            self.display.say(&as_typed(&fill(EN.waiting, &[("candidate", candidate)]), self.around));
        } else if !end.why.is_empty() && (end.gate.is_none() || end.end == End::Stale) {
            // What a gate said is on the screen already.
            self.display.say(&selfsmith::cycle::sanitize::shown(&end.why));
        }
        if self.display.audience() == Audience::Programs {
            streams::print_json(&Last {
                verdict: end.verdict.word(),
                gate: end.gate.map(selfsmith::judgement::gate::GateName::as_str),
                why: &end.why,
                candidate: end.candidate.as_deref(),
                landed: end.landed.as_ref().map(|commit| commit.0.as_str()),
                end: end.end.word(),
                cycle: &end.cycle,
                notices: &end.notices,
            });
        }
        exit(end)
    }

    fn inbox(&self, dir: &Path, cycles: Option<u32>) -> Result<Exit, Stop> {
        let inbox = Inbox::open(dir)?;
        self.display.say(&fill(EN.inbox_waiting, &[("dir", &dir.display().to_string())]));
        let mut last = Exit::Done;
        let mut left = cycles;
        while left != Some(0) {
            let Some(goal) = inbox.next(&|| self.cancel.is_cancelled())? else { break };
            let name = goal.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A goal that could not be run does not end the watch: it is set aside, said, and the next one comes.
            let text = goal.text.as_ref().map_err(|no| Stop::could_not(Exit::Failed, &no.what, no.hint.clone()));
            let outcome = match text.and_then(|text| self.one(text)) {
                Ok(end) => {
                    last = self.tell(&end);
                    if end.interrupted { break } else { Outcome::Done }
                }
                Err(stop) => {
                    streams::fail(&as_typed(&stop.what, self.around), &as_typed(&stop.hint, self.around));
                    last = stop.exit;
                    Outcome::Failed
                }
            };
            let path = inbox.settle(&goal, outcome)?.display().to_string();
            self.display.say(&fill(EN.inbox_settled, &[("goal", &name), ("path", &path)]));
            left = left.map(|left| left - 1);
        }
        Ok(if self.cancel.is_cancelled() { Exit::Interrupted } else { last })
    }
}

/// The exit code of a cycle.
pub fn exit(end: &CycleEnd) -> Exit {
    match end.end {
        _ if end.interrupted => Exit::Interrupted,
        End::Stale => Exit::Stale,
        End::Landed | End::Waiting | End::Refused | End::Inconclusive => Exit::of(&end.verdict),
    }
}

/// The flag wins over the settings; landing by itself needs somebody's word.
fn landing(flag: Option<LandingFlag>, place: &Place) -> Result<(Landing, Option<Authority>), Stop> {
    match (flag, place.settings.landing) {
        (Some(LandingFlag::Auto), _) | (None, settings::Landing::Auto) => {
            Ok((Landing::Auto, Some(person::word(place, Asked::Decide)?)))
        }
        (Some(LandingFlag::Review), _) => Ok((Landing::Review, None)),
        // Whoever commits the ranges has said that what lies within them may land.
        (None, settings::Landing::Review) => Ok((Landing::Knobs, None)),
    }
}

fn goal(arguments: &EvolveArgs, around: &Surroundings) -> Result<String, Stop> {
    let text = match (&arguments.goal, &arguments.goal_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => read_goal(file, around)?,
        (None, None) => return Err(Stop::usage(EN.no_goal, "")),
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(Stop::usage(EN.empty_goal, "say what should be different afterwards, and how one can see it"));
    }
    Ok(text.to_owned())
}

fn read_goal(file: &Path, around: &Surroundings) -> Result<String, Stop> {
    let path: PathBuf = around.absolute(file);
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(LARGEST_GOAL + 1).read_to_string(&mut text)
    } else {
        fs::File::open(&path).and_then(|open| open.take(LARGEST_GOAL + 1).read_to_string(&mut text))
    };
    let shown = file.display();
    read.map_err(|error| {
        Stop::usage(format!("could not read the goal from {shown}: {error}"), "give an existing text file, or -")
    })?;
    if text.len() as u64 > LARGEST_GOAL {
        let what = format!("could not take {shown} as a goal: it has more than {LARGEST_GOAL} bytes");
        return Err(Stop::usage(what, "shorten it; a goal is a few sentences"));
    }
    Ok(text)
}
