//! What cargo's JSON lines said of a build: executables, what was compiled anew, findings of compiler and clippy.
//!
//! Promises to take lines it does not know as plain text, and to say when the stream has no end (then nothing in it can be
//! relied on). It does not run cargo.

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Message, TargetKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::BufReader;

/// Most findings that are kept of one build.
const MOST_FINDINGS: usize = 20_000;

/// One build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compiled {
    /// `build-finished`: whether it succeeded; none where the stream ended before.
    pub success: Option<bool>,
    /// What was made.
    pub units: Vec<Unit>,
    /// What compiler and clippy said.
    pub findings: Vec<Finding>,
    /// What build scripts ask to be set, by package.
    pub scripts: Vec<Script>,
}

/// One thing that cargo made, or found made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Package id as cargo writes it.
    pub package: String,
    /// Manifest of the package, as the room sees it.
    pub manifest: String,
    /// `lib`, `bin`, `test`, `example`, `bench`, `custom-build` …
    pub kind: String,
    /// Name of the target.
    pub target: String,
    /// Whether it is a test executable.
    pub is_test: bool,
    /// Path of the executable, as the room sees it.
    pub executable: Option<String>,
    /// Files that were made.
    pub files: Vec<String>,
    /// Whether cargo found it made already.
    pub fresh: bool,
}

/// What a build script asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Package id.
    pub package: String,
    /// Its output folder.
    pub out_dir: String,
    /// Variables to set.
    pub variables: Vec<(String, String)>,
}

/// One thing that compiler or clippy said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `error`, `warning`.
    pub level: Level,
    /// Name of the lint, or code of the error.
    pub code: String,
    /// Its sentence.
    pub message: String,
    /// Id of the package that was compiled.
    pub package: String,
    /// File of its first place, from the workspace's root.
    pub file: String,
    /// As the compiler prints it.
    pub rendered: String,
    /// The whole, for suggestions.
    pub diagnostic: Diagnostic,
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It does not compile, or a lint is denied.
    Error,
    /// A warning.
    Warning,
}

impl Compiled {
    /// Read the lines.
    pub fn read(stdout: &[u8]) -> Self {
        let mut compiled = Self::default();
        for message in Message::parse_stream(BufReader::new(stdout)) {
            match message {
                Ok(Message::CompilerArtifact(artifact)) => compiled.units.push(unit(artifact)),
                Ok(Message::CompilerMessage(message)) if compiled.findings.len() < MOST_FINDINGS => {
                    compiled.findings.extend(finding(message.package_id.repr, message.message));
                }
                Ok(Message::BuildScriptExecuted(script)) => compiled.scripts.push(Script {
                    package: script.package_id.repr,
                    out_dir: script.out_dir.into_string(),
                    variables: script.env,
                }),
                Ok(Message::BuildFinished(end)) => compiled.success = Some(end.success),
                Ok(_) => {}
                // Only reading from memory: no line can be read twice in vain.
                Err(_) => break,
            }
        }
        // One lint is said again for each target that compiles the file.
        let mut seen = std::collections::HashSet::new();
        compiled.findings.retain(|finding| seen.insert((finding.rendered.clone(), finding.code.clone())));
        compiled
    }

    /// Findings counted by lint and sentence, wherever they stand: what moves is not new.
    pub fn counted(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.key()).or_default() += 1;
        }
        counts
    }

    /// What is worth reading first: errors, then warnings, as the compiler prints them.
    pub fn rendered(&self) -> String {
        let mut sorted: Vec<&Finding> = self.findings.iter().collect();
        sorted.sort_by_key(|finding| finding.level);
        sorted.iter().map(|finding| finding.rendered.as_str()).collect()
    }
}

impl Finding {
    /// What makes two findings the same, apart from their place.
    pub fn key(&self) -> String {
        format!("{}: {}", self.code, self.message)
    }

    /// Whether the machine lacks something: a linker, or a library that the linker looks for.
    pub fn is_about_the_machine(&self) -> bool {
        let no_linker = self.message.starts_with("linker `") && self.message.ends_with("not found");
        let no_library = self.message.starts_with("linking with ")
            && ["cannot find -l", "unable to find library", "library not found"]
                .iter()
                .any(|words| self.rendered.contains(words));
        no_linker || no_library
    }
}

fn unit(artifact: cargo_metadata::Artifact) -> Unit {
    let kind = artifact.target.kind.first().map_or_else(String::new, kind_word);
    Unit {
        package: artifact.package_id.repr,
        manifest: artifact.manifest_path.into_string(),
        kind,
        target: artifact.target.name,
        is_test: artifact.profile.test,
        executable: artifact.executable.map(camino_text),
        files: artifact.filenames.into_iter().map(camino_text).collect(),
        fresh: artifact.fresh,
    }
}

fn camino_text(path: cargo_metadata::camino::Utf8PathBuf) -> String {
    path.into_string()
}

/// The word for a kind of target; all sorts of libraries are `lib`.
pub fn kind_word(kind: &TargetKind) -> String {
    match kind {
        TargetKind::Lib | TargetKind::RLib | TargetKind::DyLib | TargetKind::CDyLib | TargetKind::StaticLib => {
            "lib".to_owned()
        }
        other => other.to_string(),
    }
}

fn finding(package: String, diagnostic: Diagnostic) -> Option<Finding> {
    let level = match diagnostic.level {
        DiagnosticLevel::Error | DiagnosticLevel::Ice => Level::Error,
        DiagnosticLevel::Warning => Level::Warning,
        _ => return None,
    };
    let place = diagnostic.spans.iter().find(|span| span.is_primary).or(diagnostic.spans.first());
    // `2 warnings emitted`, `aborting due to …`: about other findings. Other errors have no place either: a file that
    // cannot be read, a linker that fails.
    let about_others = level == Level::Warning || diagnostic.message.starts_with("aborting due to ");
    if place.is_none() && diagnostic.code.is_none() && about_others {
        return None;
    }
    Some(Finding {
        level,
        package,
        code: diagnostic.code.as_ref().map_or_else(|| "rustc".to_owned(), |code| code.code.clone()),
        message: diagnostic.message.clone(),
        file: place.map_or_else(String::new, |span| span.file_name.clone()),
        rendered: diagnostic.rendered.clone().unwrap_or_else(|| diagnostic.message.clone()),
        diagnostic,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"{"reason":"compiler-message","package_id":"path+file:///trial/tree#w@0.1.0","manifest_path":"/trial/tree/Cargo.toml","target":{"kind":["lib"],"crate_types":["lib"],"name":"w","src_path":"/trial/tree/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true},"message":{"rendered":"warning: unused variable: `x`\n","$message_type":"diagnostic","children":[],"level":"warning","message":"unused variable: `x`","spans":[{"byte_end":5,"byte_start":4,"column_end":6,"column_start":5,"expansion":null,"file_name":"src/lib.rs","is_primary":true,"label":null,"line_end":1,"line_start":1,"suggested_replacement":null,"suggestion_applicability":null,"text":[]}],"code":{"code":"unused_variables","explanation":null}}}
{"reason":"compiler-artifact","package_id":"path+file:///trial/tree#w@0.1.0","manifest_path":"/trial/tree/Cargo.toml","target":{"kind":["lib"],"crate_types":["lib"],"name":"w","src_path":"/trial/tree/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true},"profile":{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":true},"features":[],"filenames":["/trial/target/debug/deps/w-1"],"executable":"/trial/target/debug/deps/w-1","fresh":false}
warning: a line of a build script
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn executables_findings_and_the_end_are_read() {
        let compiled = Compiled::read(LINES.as_bytes());
        assert_eq!(compiled.success, Some(true));
        let unit = compiled.units.first().expect("one unit");
        assert_eq!((unit.kind.as_str(), unit.is_test, unit.fresh), ("lib", true, false));
        assert_eq!(unit.executable.as_deref(), Some("/trial/target/debug/deps/w-1"));
        assert_eq!(compiled.counted(), BTreeMap::from([("unused_variables: unused variable: `x`".to_owned(), 1)]));
    }

    #[test]
    fn an_error_without_a_place_is_kept_and_a_count_of_errors_is_not() {
        let line = |message: &str| {
            let line = LINES.lines().next().unwrap_or_default();
            let (head, _) = line.split_once("\"message\":{").expect("a message");
            format!(
                "{head}\"message\":{{\"rendered\":\"error: {message}\\n\",\"$message_type\":\"diagnostic\",\"children\":[],\
                 \"level\":\"error\",\"message\":\"{message}\",\"spans\":[],\"code\":null}}}}\n"
            )
        };
        let said =
            ["couldn't read `lib.rs`: Permission denied", "linker `cc` not found", "aborting due to 1 previous error"];
        let compiled = Compiled::read(said.map(line).concat().as_bytes());
        assert_eq!(compiled.rendered().lines().count(), 2);
        let machine: Vec<bool> = compiled.findings.iter().map(Finding::is_about_the_machine).collect();
        assert_eq!(machine, [false, true]);
        assert!(compiled.findings.iter().all(|finding| finding.package.ends_with("w@0.1.0")));
    }

    #[test]
    fn a_stream_without_its_end_has_no_success() {
        let cut: String = LINES.lines().take(2).map(|line| format!("{line}\n")).collect();
        assert_eq!(Compiled::read(cut.as_bytes()).success, None);
        assert_eq!(Compiled::read(b"error: no matching package\n"), Compiled::default());
    }
}
