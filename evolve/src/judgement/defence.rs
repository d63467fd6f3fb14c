//! The judge's defences, by name, so that a test can show that each one is needed.
//!
//! A value that is passed in. In what people run all of them are up: the constructor that leaves one out exists only in
//! tests (and behind the feature `test-defences`, which no build that is handed out has).

/// One defence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Defence {
    /// Zones: sealed parts, add-only parts, what no line names.
    Zones,
    /// Kinds of files: links, submodules, manifests, build scripts, unlisted endings, modes.
    Kinds,
    /// The judge's own changelog line.
    Changelog,
    /// Budget of files and lines.
    Budget,
    /// Keys and tokens.
    Secrets,
    /// Text that reads otherwise than it is: bidi, binary, huge.
    Text,
    /// Texts that may grow only slowly.
    Ratchet,
    /// A candidate that changes nothing is not accepted.
    Nothing,
    /// What differs from the slot's files is written anew, with new times, so that cargo compiles it.
    NewTimes,
    /// What was changed must be reported as compiled by cargo.
    Fresh,
    /// The harness's lines (names, results, closing line) are read; otherwise the exit code alone is believed.
    Harness,
    /// Inline tests are compared with the base's, item by item.
    Inline,
    /// Test executables are run by the judge itself; otherwise cargo runs them, with whatever runner it was told.
    OwnRunner,
    /// A candidate builds in a copy of the base's target folder; otherwise in the base's own.
    OwnTarget,
    /// The trial's files are compared again after the tests.
    Rehash,
    /// Black-box scenarios decide.
    Scenarios,
    /// Tests and commands run among files that they cannot change, unless they have to.
    ReadOnly,
    /// What tests print is bounded.
    Output,
    /// New tests are tried on the base's code, and where no function works.
    Counterfactual,
    /// Mutations of the changed lines are shown to the tests.
    Mutants,
    /// Marks of code that can mislead tests, silences a lint or reaches out are a person's question.
    Marks,
    /// What only tests read or use is compared, wherever it lies.
    Checks,
    /// What failed is run again on both sides.
    Again,
}

impl Defence {
    /// Every one, for the test that each is needed.
    pub const ALL: [Self; 23] = [
        Self::Zones,
        Self::Kinds,
        Self::Changelog,
        Self::Budget,
        Self::Secrets,
        Self::Text,
        Self::Ratchet,
        Self::Nothing,
        Self::NewTimes,
        Self::Fresh,
        Self::Harness,
        Self::Inline,
        Self::OwnRunner,
        Self::OwnTarget,
        Self::Rehash,
        Self::Scenarios,
        Self::ReadOnly,
        Self::Output,
        Self::Counterfactual,
        Self::Mutants,
        Self::Marks,
        Self::Checks,
        Self::Again,
    ];

    /// Its word in `case.yaml` and in the table of the cheat suite.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Zones => "zones",
            Self::Kinds => "kinds",
            Self::Changelog => "changelog",
            Self::Budget => "budget",
            Self::Secrets => "secrets",
            Self::Text => "text",
            Self::Ratchet => "ratchet",
            Self::Nothing => "nothing",
            Self::NewTimes => "new-times",
            Self::Fresh => "fresh",
            Self::Harness => "harness",
            Self::Inline => "inline",
            Self::OwnRunner => "own-runner",
            Self::OwnTarget => "own-target",
            Self::Rehash => "rehash",
            Self::Scenarios => "scenarios",
            Self::ReadOnly => "read-only",
            Self::Output => "output",
            Self::Counterfactual => "counterfactual",
            Self::Mutants => "mutants",
            Self::Marks => "marks",
            Self::Checks => "checks",
            Self::Again => "again",
        }
    }
}

/// Which defences are up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Defences {
    /// A bit for each that is left out.
    out: u32,
}

impl Defences {
    /// All of them.
    pub const fn all() -> Self {
        Self { out: 0 }
    }

    /// All but one. Tests only.
    #[cfg(any(test, feature = "test-defences"))]
    pub const fn without(defence: Defence) -> Self {
        Self::all().and_without(defence)
    }

    /// One less. Tests only.
    #[cfg(any(test, feature = "test-defences"))]
    #[must_use]
    pub const fn and_without(self, defence: Defence) -> Self {
        Self { out: self.out | Self::bit(defence) }
    }

    /// Whether this one is up.
    pub const fn up(self, defence: Defence) -> bool {
        self.out & Self::bit(defence) == 0
    }

    const fn bit(defence: Defence) -> u32 {
        1 << defence as u32
    }
}
