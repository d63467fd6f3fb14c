//! Every durable step of the judge, killed, failed, torn in half or held up: after a restart it stands where some run stands
//! that nothing happened to, and nothing of a person's was touched.
//!
//! `cargo test -p selfsmith --test faults` runs a part of the campaign. `… --test faults -- 500` runs as many, spread over all
//! steps, kinds of fault and stories, and prints how often each was hit; `… -- 30 cargo` has real cargo weigh the candidates.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../judging/world.rs"]
#[expect(dead_code, reason = "what other tests share is not all needed here")]
mod world;

mod campaign;
mod check;
mod generations;
mod inject;
mod story;

use campaign::Tally;
use libtest_mimic::{Arguments, Failed, Trial};
use std::io::Write;
use std::process::ExitCode;
use story::{Story, Weighing};

/// Faults in an ordinary run of the tests.
const ORDINARY: usize = 64;

fn main() -> ExitCode {
    selfsmith_sandbox::entry();
    if let Ok(order) = std::env::var(inject::ORDER) {
        return inject::obey(&order);
    }
    let mut words = std::env::args().skip(1);
    if let Some(runs) = words.next().and_then(|word| word.parse().ok()) {
        let weighing = if words.next().as_deref() == Some("cargo") { Weighing::Cargo } else { Weighing::Commands };
        let tally = campaign::run(weighing, &Story::ALL, runs);
        return tell(&tally);
    }
    let trial = |name: &str, stories: &'static [Story], runs| {
        Trial::test(name, move || {
            let tally = campaign::run(Weighing::Commands, stories, runs);
            // A campaign that hits nothing cannot fail.
            if tally.hits.values().sum::<usize>() < runs {
                return Err(Failed::from(format!("only this was hit: {:?}", tally.hits)));
            }
            if tally.violations.is_empty() { Ok(()) } else { Err(Failed::from(tally.violations.join("\n"))) }
        })
    };
    let trials = vec![
        trial("honest_hostile_and_overtaken_cycles_survive_faults_at_their_durable_steps", &Story::CYCLES, ORDINARY),
        trial("a_persons_decisions_survive_faults_at_their_durable_steps", &Story::DECISIONS, ORDINARY / 2),
        Trial::test("generations_survive_faults_at_their_durable_steps", || {
            generations::everywhere().map_err(Failed::from)
        }),
        Trial::test("a_fault_that_loses_what_the_journal_told_is_found", || {
            campaign::lost_journal_is_found().map_err(Failed::from)
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn tell(tally: &Tally) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let most = tally.hits.values().max().copied().unwrap_or(1);
    for ((step, kind), count) in &tally.hits {
        let _ = writeln!(out, "{step:<48} {kind:<6} {count:>4} {}", "#".repeat(count * 30 / most));
    }
    for ((story, kind), count) in &tally.stories {
        let _ = writeln!(out, "{story:<24} {kind:<6} {count:>4}");
    }
    for violation in &tally.violations {
        let _ = writeln!(out, "VIOLATION {violation}");
    }
    let _ = writeln!(
        out,
        "{} faults at {} steps in {} s, violations: {}",
        tally.hits.values().sum::<usize>(),
        tally.steps(),
        tally.took.as_secs(),
        tally.violations.len()
    );
    if tally.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
