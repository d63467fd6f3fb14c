//! Many faults, spread over stories, steps and kinds.

use crate::check::{self, Persons, state_of};
use crate::inject::{self, Kind, REFUSED, Seen, Watches};
use crate::story::{Story, Weighing};
use crate::world::*;
use selfsmith::cycle;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::journal::Landing;
use selfsmith_sandbox::Cancel;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Faults that are tried at once.
const AT_ONCE: usize = 2;
/// Every how manyth world goes through one more cycle after its restart.
const GOES_ON: usize = 4;

/// What came of it.
#[derive(Default)]
pub struct Tally {
    /// How often each step was hit by each kind.
    pub hits: BTreeMap<(String, String), usize>,
    /// How often each story was hit by each kind.
    pub stories: BTreeMap<(String, String), usize>,
    /// What does not hold.
    pub violations: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

impl Tally {
    /// Different steps that were hit.
    pub fn steps(&self) -> usize {
        self.hits.keys().map(|(step, _)| step).collect::<BTreeSet<_>>().len()
    }
}

/// A story with the world in which it begins and what is known of runs to which nothing happens.
struct Template {
    story: Story,
    world: World,
    begins: String,
    points: Vec<Seen>,
    /// Where it ends uninterrupted, and where it began.
    ends: BTreeSet<String>,
    /// Where it ends interrupted at some point; looked for where a run ends elsewhere.
    interrupted: Mutex<Option<BTreeSet<String>>>,
}

impl Template {
    fn new(story: Story, weighing: Weighing) -> Self {
        let world = story.begins(weighing);
        let watches = Watches::default();
        let whole = copied(&world.root);
        story.runs(&whole, &Cancel::default(), &watches).expect("it comes to an end");
        let points = watches.points.into_inner().unwrap();
        let mut ends = BTreeSet::from([state_of(&copied(&world.root)), state_of(&whole)]);
        if story == Story::Refused {
            // Weighed, and no repair asked for any more.
            let once = copied(&world.root);
            story.with_repairs(&once, 0).expect("it comes to an end");
            ends.insert(state_of(&once));
        }
        let begins = world.rev(MAIN);
        Self { story, world, begins, points, ends, interrupted: Mutex::default() }
    }

    /// Whether some run to which nothing happened but a person's interrupt ends so.
    fn ends_so(&self, state: &str) -> bool {
        if self.ends.contains(state) {
            return true;
        }
        let mut interrupted = self.interrupted.lock().unwrap();
        interrupted.get_or_insert_with(|| self.interrupt_everywhere()).contains(state)
    }

    fn interrupt_everywhere(&self) -> BTreeSet<String> {
        let planned = self.points.iter().position(|point| point.name.starts_with("planned"));
        let until = planned.unwrap_or(self.points.len());
        let told = |at: &usize| {
            self.points.get(*at).is_some_and(|p| p.name.ends_with("on the disk") || p.name.starts_with("slot: "))
        };
        let end = |at: usize| {
            let cancel = Cancel::default();
            let watches = Watches { interrupts: Some((at, cancel.clone())), ..Watches::default() };
            let world = copied(&self.world.root);
            // What an interrupt makes of it is its own business; where it stands afterwards counts.
            let _ = self.story.runs(&world, &cancel, &watches);
            let _ = check::restart(&world);
            state_of(&world)
        };
        (0..until).filter(told).map(end).collect()
    }
}

/// One fault.
struct Case<'a> {
    template: &'a Template,
    at: usize,
    kind: Kind,
    variant: usize,
}

/// Run `runs` faults over these stories.
pub fn run(weighing: Weighing, stories: &[Story], runs: usize) -> Tally {
    let began = Instant::now();
    let templates: Vec<Template> = stories.iter().map(|story| Template::new(*story, weighing)).collect();
    let cases = chosen(&templates, runs);
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = catch_unwind(AssertUnwindSafe(|| case.run(weighing)));
                    let done = done.unwrap_or_else(|_| Err("the check itself panicked".to_owned()));
                    let mut tally = tally.lock().unwrap();
                    let (step, kind) = (case.step().to_owned(), format!("{:?}", case.kind));
                    *tally.hits.entry((step.clone(), kind.clone())).or_default() += 1;
                    *tally.stories.entry((format!("{:?}", case.template.story), kind.clone())).or_default() += 1;
                    if let Err(why) = done {
                        let (story, at, variant) = (case.template.story, case.at, case.variant);
                        tally.violations.push(format!("{story:?}, {kind} ({variant}) at {at} ({step}): {why}"));
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap();
    tally.took = began.elapsed();
    tally
}

/// First each step by each kind once, then what is left, evenly.
fn chosen(templates: &[Template], runs: usize) -> Vec<Case<'_>> {
    let mut all = Vec::new();
    for template in templates {
        for (at, point) in template.points.iter().enumerate() {
            for kind in Kind::ALL.into_iter().filter(|kind| kind.fits(point)) {
                all.push((template, at, kind, point.name.clone()));
            }
        }
    }
    let mut seen = BTreeSet::new();
    let (first, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, _, kind, name)| seen.insert((*kind, name.clone())));
    let spread = |cases: Vec<(_, _, _, _)>, most: usize| {
        let total = cases.len();
        let step = total.div_ceil(most.max(1)).max(1);
        // Every step-th, then every step-th of those between.
        let mut order: Vec<usize> = (0..total).collect();
        order.sort_by_key(|at| at % step);
        let mut cases: Vec<Option<_>> = cases.into_iter().map(Some).collect();
        order.into_iter().filter_map(|at| cases.get_mut(at)?.take()).take(most).collect::<Vec<_>>()
    };
    let mut picked = spread(first, runs);
    let left = runs.saturating_sub(picked.len());
    picked.extend(spread(rest, left));
    let picked: Vec<_> = picked.into_iter().map(|(template, at, kind, _)| (template, at, kind)).collect();
    let endless = picked.iter().cycle().take(runs).enumerate();
    endless.map(|(variant, (template, at, kind))| Case { template, at: *at, kind: *kind, variant }).collect()
}

impl Case<'_> {
    fn step(&self) -> &str {
        self.template.points.get(self.at).map_or("", |point| &point.name)
    }

    fn run(&self, weighing: Weighing) -> Result<(), String> {
        let template = self.template;
        let world = copied(&template.world.root);
        let before: Persons = world.persons();
        let mut child = self.child(&world)?;
        let status =
            if self.kind == Kind::Delay { self.held_up(&world, child)? } else { child.wait().map_err(text)? };
        let as_told = match self.kind {
            Kind::Kill | Kind::Torn => status.signal() == Some(9),
            Kind::Error => status.code() == Some(i32::from(REFUSED)) || status.success(),
            Kind::Delay => status.success(),
        };
        if !as_told {
            return Err(format!("the process ended otherwise than it was made to: {status}"));
        }
        check::restart(&world)?;
        check::holds(&world, &before, &template.begins, &|state| template.ends_so(state))?;
        if self.variant.is_multiple_of(GOES_ON) { self.goes_on(&world, weighing) } else { Ok(()) }
    }

    fn child(&self, world: &World) -> Result<Child, String> {
        let order = inject::order(self.template.story, self.at, self.kind, self.variant, &world.root);
        let mut command = Command::new(std::env::current_exe().map_err(text)?);
        command.env(inject::ORDER, order).stdin(Stdio::piped()).stdout(Stdio::piped());
        if self.kind != Kind::Delay {
            command.stdin(Stdio::null()).stdout(Stdio::null());
        }
        command.stderr(Stdio::null()).spawn().map_err(text)
    }

    /// It waits at its point: whoever starts meanwhile leaves it alone.
    fn held_up(&self, world: &World, mut child: Child) -> Result<std::process::ExitStatus, String> {
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut line).map_err(text)?;
        if line.trim() != "here" {
            return Err(format!("the point was not reached: {:?}", child.wait()));
        }
        let was = refs_of(world);
        let other = with_hands(world, &NoFaults, |hands| cycle::recover(hands).map(|done| done.len())).0;
        let touched = (refs_of(world) != was).then_some("another process moved refs of one that lives");
        child.stdin.take().ok_or("no pipe")?.write_all(b"\n").map_err(text)?;
        let status = child.wait().map_err(text)?;
        match (other, touched) {
            (_, Some(why)) => Err(why.to_owned()),
            (Ok(0), None) => Ok(status),
            (other, None) => Err(format!("another process took up what is in living hands: {other:?}")),
        }
    }

    /// The slot and the record are of use still: an honest cycle lands.
    fn goes_on(&self, world: &World, weighing: Weighing) -> Result<(), String> {
        if weighing == Weighing::Commands {
            // As a machine that died may have left it.
            let facts = world.state().slots().join("0/base.json");
            let half = std::fs::read(&facts).map_err(text)?;
            std::fs::write(&facts, half.get(..half.len() / 2).unwrap_or_default()).map_err(text)?;
        }
        let cancel = Cancel::default();
        Story::Lands
            .cycle(world, "c2", Landing::Auto, &cancel, &NoFaults)
            .map_err(|why| format!("the next cycle cannot begin: {why}"))?;
        let library = world.git(&["show", "main:src/lib.rs"]);
        if library.contains("better by c2") { Ok(()) } else { Err("the next honest cycle did not land".to_owned()) }
    }
}

fn refs_of(world: &World) -> Vec<selfsmith_repo::Ref> {
    world.repo().refs("refs/").unwrap()
}

/// A copy of a world, in a folder of its own.
fn copied(from: &Path) -> World {
    let to = tempfile::tempdir_in(quick_folder()).unwrap();
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to.path()).status().unwrap();
    assert!(status.success());
    let world = World::in_folder(to);
    // As after any copy: git compares times before it compares content.
    world.git(&["update-index", "-q", "--really-refresh"]);
    world
}

/// Were a journal lost between two steps of a landing, the checks would see it.
pub fn lost_journal_is_found() -> Result<(), String> {
    let template = Template::new(Story::Lands, Weighing::Commands);
    let at = template.points.iter().position(|point| point.name == "target ref: after").ok_or("no such point")?;
    let case = Case { template: &template, at, kind: Kind::Kill, variant: 1 };
    let world = copied(&template.world.root);
    let before = world.persons();
    case.child(&world)?.wait().map_err(text)?;
    std::fs::remove_dir_all(world.state().cycle("c1").root()).map_err(text)?;
    check::restart(&world)?;
    match check::holds(&world, &before, &template.begins, &|state| template.ends_so(state)) {
        Err(_) => Ok(()),
        Ok(()) => Err("a landing that no record tells of passed for whole".to_owned()),
    }
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}
