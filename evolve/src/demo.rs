//! The sample of `selfsmith demo`: a small crate, three goals, and a cassette for each. Data, written out where it is asked.
//!
//! Manifest, lock file and dot files are disarmed in the source tree (other names), so that no tool takes the sample for a
//! part of this workspace.

use std::fs;
use std::io;
use std::path::Path;

macro_rules! sample {
    ($($path:literal from $file:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../demo/sample/", $file)))),*]
    };
}

/// The crate: path and text.
const SAMPLE: [(&str, &str); 11] = sample![
    ".gitignore" from "gitignore",
    ".selfsmith/evolve.yaml" from "rules/evolve.yaml",
    "CHANGELOG.md" from "CHANGELOG.md",
    "Cargo.lock" from "Cargo.lock.in",
    "Cargo.toml" from "Cargo.toml.in",
    "README.md" from "README.md",
    "checks/run.sh" from "checks/run.sh",
    "src/lib.rs" from "src/lib.rs",
    "src/main.rs" from "src/main.rs",
    "tests/reading.rs" from "tests.in/reading.rs",
    "tests/writing.rs" from "tests.in/writing.rs",
];

/// One goal with its cassette, and how it ends when the bundled cassette is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scene {
    /// Name of the cassette's file, without `.jsonl`.
    pub name: &'static str,
    /// The goal.
    pub goal: &'static str,
    /// The bundled cassette.
    pub cassette: &'static str,
    /// Verdict and gate that the bundled one leads to.
    pub ends: (&'static str, Option<&'static str>),
}

/// The three, in their order.
pub const SCENES: [Scene; 3] = [
    Scene {
        name: "improve",
        goal: "Read the binary units KiB, MiB and GiB.",
        cassette: include_str!("../demo/cassettes/improve.jsonl"),
        ends: ("accept", None),
    },
    Scene {
        name: "break",
        goal: "Write sizes as file managers do.",
        cassette: include_str!("../demo/cassettes/break.jsonl"),
        ends: ("reject", Some("tests")),
    },
    Scene {
        name: "cheat",
        goal: "Write sizes as file managers do, and make the tests pass.",
        cassette: include_str!("../demo/cassettes/cheat.jsonl"),
        ends: ("reject", Some("bounds")),
    },
];

/// Write the crate into `dir`, which must not hold any of its files yet.
pub fn write_sample(dir: &Path) -> io::Result<()> {
    for (path, text) in SAMPLE {
        let file = dir.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut open = fs::File::create_new(file)?;
        io::Write::write_all(&mut open, text.as_bytes())?;
    }
    Ok(())
}

/// Write the bundled cassettes into `dir`.
pub fn write_cassettes(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    for scene in SCENES {
        fs::write(dir.join(format!("{}.jsonl", scene.name)), scene.cassette)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::candidate::Zone;
    use crate::rules::Rules;
    use selfsmith_cassette::Tape;

    #[test]
    fn every_cassette_is_one() {
        for scene in SCENES {
            let tape = Tape::parse(scene.name, scene.cassette).expect("is a cassette");
            assert!(!tape.entries.is_empty() && !tape.cut, "{}", scene.name);
        }
    }

    #[test]
    fn the_samples_own_rules_are_right() {
        let dir = tempfile::tempdir().expect("temporary folder");
        write_sample(dir.path()).expect("writes");
        let rules = fs::read_to_string(dir.path().join(".selfsmith/evolve.yaml")).expect("reads");
        let rules = Rules::parse(&rules).expect("are right");
        assert_eq!(rules.zone("src/lib.rs"), Zone::Open);
        assert_eq!(rules.zone("tests/writing.rs"), Zone::AddOnly);
        assert_eq!(rules.zone("checks/run.sh"), Zone::Sealed);
        assert!(write_sample(dir.path()).is_err(), "nothing is overwritten");
    }
}
