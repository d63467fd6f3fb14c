//! The lint gate: no finding of compiler or clippy that the base lacks, wherever it stands; and the lints that the rules
//! forbid, given on the command line with `-F`, where `#[allow]` and `#[expect]` cannot reach.

use super::{Bench, CargoRun, Draft};
use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::reading::compiled::Level;
use crate::reading::inline::Finding;
use crate::rules::plan::CargoWords;
use crate::workshop::WorkshopError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was found on one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Whether clippy spoke; otherwise the compiler alone.
    pub clippy: bool,
    /// Findings by lint and sentence.
    pub counts: BTreeMap<String, u64>,
    /// Findings as printed, by lint and sentence.
    #[serde(skip)]
    pub rendered: BTreeMap<String, Vec<String>>,
    /// Forbidden lints that were found.
    pub forbidden: BTreeMap<String, u64>,
    /// Where it does not compile: the diagnostics.
    pub broken: Option<String>,
}

/// Look at a side.
///
/// # Errors
/// The room cannot be had.
pub fn look(bench: &Bench<'_>) -> Result<Seen, WorkshopError> {
    let clippy = bench.shop.toolchain.has("cargo-clippy");
    let verb = if clippy { "clippy" } else { "check" };
    let words = CargoWords {
        selection: bench.plan.selection().to_vec(),
        targets: vec!["--all-targets".to_owned()],
        ..CargoWords::default()
    };
    let run = bench.cargo(&[verb], &words, &[])?;
    let mut seen = Seen { clippy, ..Seen::default() };
    if does_not_compile(&run) {
        seen.broken = Some(run.log());
        return Ok(seen);
    }
    take(&run, &mut seen.counts, &mut seen.rendered);
    if clippy && !bench.plan.forbid.is_empty() {
        let library = CargoWords { targets: vec!["--lib".to_owned()], ..words };
        let forbid: Vec<String> = bench.plan.forbid.iter().flat_map(|lint| ["-F".to_owned(), lint.clone()]).collect();
        let run = bench.cargo(&[verb], &library, &forbid)?;
        if run.compiled.success.is_none() {
            seen.broken = Some(run.log());
        }
        let mut rendered = BTreeMap::new();
        take(&run, &mut seen.forbidden, &mut rendered);
        // Errors only: warnings were counted above.
        let errors: Vec<String> = run
            .compiled
            .findings
            .iter()
            .filter(|f| f.level == Level::Error)
            .map(crate::reading::compiled::Finding::key)
            .collect();
        seen.forbidden.retain(|key, _| errors.contains(key));
        seen.rendered.extend(rendered);
    }
    Ok(seen)
}

/// An error that is no lint, or no end of the stream: cargo itself, or the compiler, could not go on.
fn does_not_compile(run: &CargoRun) -> bool {
    let is_error = |finding: &crate::reading::compiled::Finding| {
        let number = finding.code.strip_prefix('E');
        let is_code = number.is_some_and(|digits| digits.chars().all(|c| c.is_ascii_digit()));
        finding.level == Level::Error && (is_code || finding.code == "rustc")
    };
    run.compiled.success.is_none() || run.compiled.findings.iter().any(is_error)
}

fn take(run: &CargoRun, counts: &mut BTreeMap<String, u64>, rendered: &mut BTreeMap<String, Vec<String>>) {
    for finding in &run.compiled.findings {
        *counts.entry(finding.key()).or_default() += 1;
        rendered.entry(finding.key()).or_default().push(finding.rendered.clone());
    }
}

/// Judge the candidate. One that does not compile is the build gate's to report. `silenced` says where new code silences a
/// lint, which may be right and is a person's question.
pub fn judge(mut draft: Draft, base: &Seen, seen: &Seen, silenced: &[Finding]) -> GateReport {
    if let Some(broken) = &seen.broken {
        return Draft { gate: GateName::Build, ..draft }.repairable("it does not compile", broken);
    }
    if base.broken.is_some() {
        // The base's findings are unknown, so none can be called new; the baseline says so.
        return draft.report(GateOutcome::Pass, "the base does not compile, so no finding could be called new\n");
    }
    let mut new: Vec<&String> = Vec::new();
    let mut log = String::new();
    for (counts, before) in [(&seen.forbidden, &base.forbidden), (&seen.counts, &base.counts)] {
        for (key, count) in counts {
            if *count > before.get(key).copied().unwrap_or(0) {
                new.push(key);
                seen.rendered.get(key).into_iter().flatten().for_each(|text| log.push_str(text));
            }
        }
    }
    draft.count("findings", seen.counts.values().sum());
    draft.count("new", new.len() as u64);
    match new.first() {
        None => match silenced.first() {
            None => draft.pass(),
            Some(first) => {
                let all: String = silenced.iter().map(|finding| format!("{finding}\n")).collect();
                draft.report(GateOutcome::Ask { why: first.to_string() }, &all)
            }
        },
        Some(first) => draft.repairable(format!("a finding that the base lacks: {first}"), &log),
    }
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Lint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(counts: &[(&str, u64)]) -> Seen {
        let counts = counts.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect();
        Seen { clippy: true, counts, ..Seen::default() }
    }

    #[test]
    fn old_findings_pass_and_one_more_of_a_kind_fails() {
        let base = seen(&[("unused: x", 1)]);
        assert_eq!(judge(draft(), &base, &seen(&[("unused: x", 1)]), &[]).result, GateOutcome::Pass);
        assert!(matches!(
            judge(draft(), &base, &seen(&[("unused: x", 2)]), &[]).result,
            GateOutcome::Fail { repairable: true, .. }
        ));
    }

    #[test]
    fn what_does_not_compile_is_the_build_gates_to_report() {
        let broken = Seen { broken: Some("error[E0425]".to_owned()), ..Seen::default() };
        let report = judge(draft(), &seen(&[]), &broken, &[]);
        assert_eq!(report.gate, GateName::Build);
        assert!(report.log.contains("E0425"));
    }
}
