//! What the program finds around it: environment, folders, time, chance. Read once; the library gets it passed in.

use crate::keys;
use crate::repl::{Look, Reflow};
use crate::streams;
use jiff::ZonedDateTime;
use selfsmith_agent::config::Ledger;
use selfsmith_agent::prompt::{self, is_prompt_folder};
use selfsmith_agent::query::client;
use selfsmith_agent::texts::{EN, Texts, fill};
use selfsmith_agent::tool::paths::More;
use selfsmith_agent::wire::{self, Around};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells where `config.yaml` and `prompts/` of this generation lie; the launcher sets it.
const GENERATION_FOLDER: &str = "SELFSMITH_GENERATION_DIR";

/// The process's surroundings.
pub struct Surroundings {
    /// Variables whose name and value are text.
    pub environment: BTreeMap<String, String>,
    /// The present folder, links resolved.
    pub folder: PathBuf,
    /// The folder with this generation's `config.yaml` and `prompts/`, where there is one.
    pub generation: Option<PathBuf>,
    /// The language.
    pub texts: &'static Texts,
}

impl Surroundings {
    /// Look around. `wanted` is what the command line says.
    pub fn look(mut environment: BTreeMap<String, String>, wanted: Option<&Path>) -> Result<Self, std::io::Error> {
        let folder = folder(wanted.unwrap_or_else(|| Path::new(".")))?;
        match keys::path(&environment).map_or_else(|| Ok(Vec::new()), |path| keys::read(&path)) {
            // A variable that is set wins, an empty one is none.
            Ok(kept) => {
                for (name, value) in kept {
                    let own = environment.entry(name).or_default();
                    if own.trim().is_empty() {
                        *own = value;
                    }
                }
            }
            Err(file) => streams::tell(&fill(EN.open_keys, &[("file", &file)])),
        }
        let generation = generation(&environment, std::env::current_exe().ok().as_deref());
        Ok(Self { environment, folder, generation, texts: &EN })
    }

    /// The generation's settings file.
    pub fn shipped(&self) -> Option<PathBuf> {
        self.generation.as_ref().map(|folder| folder.join("config.yaml")).filter(|path| path.is_file())
    }

    /// Where sessions are kept unless a setting says otherwise.
    pub fn sessions(&self) -> Option<PathBuf> {
        Some(self.state()?.join("sessions"))
    }

    /// Where snapshots of workspaces are kept.
    pub fn snapshots(&self) -> Option<PathBuf> {
        Some(self.state()?.join("snapshots"))
    }

    /// Where the lines that were typed are kept.
    pub fn history(&self) -> Option<PathBuf> {
        Some(self.state()?.join("history"))
    }

    /// What `wire` needs, for a workspace.
    pub fn around(&self, root: &Path) -> Around {
        Around {
            root: root.to_owned(),
            environment: self.environment.clone(),
            variables: std::env::vars_os().collect(),
            prompts: self.prompts(),
            told: prompt::Surroundings {
                os: os(),
                shell: if Path::new("/bin/bash").exists() { "bash" } else { "sh" }.to_owned(),
                root: root.display().to_string(),
                date: ZonedDateTime::now().date().to_string(),
                notes: Vec::new(),
            },
            chance: client::Surroundings { now: SystemTime::now, dice },
            clock: Arc::new(now),
            ids: Arc::new(|| uuid::Uuid::now_v7().to_string()),
            texts: self.texts,
            more: More::default(),
            edits: self.state().map(|state| state.join("edits")),
            channels: self.state().map(|folder| folder.join("channels.json")),
        }
    }

    /// What the terminal can do.
    pub fn look_of_terminal(&self) -> Look {
        let dumb = self.environment.get("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let set = |name: &str| self.environment.get(name).is_some_and(|value| !value.is_empty());
        if !std::io::stdout().is_terminal() || dumb {
            return Look::Bare;
        }
        if set("NO_COLOR") {
            return Look::Plain;
        }
        let depth = self.environment.get("COLORTERM").map(String::as_str).unwrap_or_default();
        let full = depth.contains("truecolor") || depth.contains("24bit");
        Look::Rich(if full { crate::markdown::Colours::True } else { crate::markdown::Colours::Indexed })
    }

    /// Where it is kept what was allowed once and for all in a workspace.
    pub fn rules(&self, root: &Path) -> Option<PathBuf> {
        Some(wire::folder(&self.state()?.join("rules"), root))
    }

    /// What the person trusts of which project.
    pub fn ledger(&self) -> Ledger {
        Ledger::open(self.state().map(|folder| folder.join("trust")))
    }

    /// Whether the terminal breaks long rows anew when it becomes narrower: only xterm itself is known not to.
    pub fn reflow(&self) -> Reflow {
        let has = |name: &str| self.environment.contains_key(name);
        if has("XTERM_VERSION") && !has("TMUX") { Reflow::No } else { Reflow::Yes }
    }

    fn prompts(&self) -> prompt::Source {
        let folder = self.generation.as_ref().map(|folder| folder.join("prompts"));
        folder.map_or(prompt::Source::Embedded, prompt::Source::Folder)
    }

    fn state(&self) -> Option<PathBuf> {
        let absolute = |name: &str| self.environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
        Some(folder.join("selfsmith"))
    }
}

/// Variables whose name and value are text.
pub fn environment() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// A folder that is there, links resolved; anything else that is there is an error.
pub fn folder(path: &Path) -> std::io::Result<PathBuf> {
    let path = path.canonicalize()?;
    if path.is_dir() { Ok(path) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
}

/// Milliseconds since the UNIX epoch.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis().try_into().unwrap_or(u64::MAX))
}

/// The named folder; else, for a program inside a checkout's target, the checkout; else the program's own folder. Only a
/// folder that has prompts counts: without one, what was built in is used.
fn generation(environment: &BTreeMap<String, String>, program: Option<&Path>) -> Option<PathBuf> {
    let named = environment.get(GENERATION_FOLDER).filter(|path| !path.is_empty()).map(PathBuf::from);
    if named.is_some() {
        return named;
    }
    let program = program?.canonicalize().ok()?;
    let whole = |folder: &Path| is_prompt_folder(&folder.join("prompts")) && folder.join("config.yaml").is_file();
    let beside = program.parent()?;
    if whole(beside) {
        return Some(beside.to_owned());
    }
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file())?;
    let checkout = target.parent()?;
    let own = whole(checkout) && checkout.join("src/terminal/main.rs").is_file();
    own.then(|| checkout.to_owned())
}

fn os() -> String {
    match std::env::consts::OS {
        "linux" => "Linux".to_owned(),
        "macos" => "macOS".to_owned(),
        other => other.to_owned(),
    }
}

/// Uniform in 0..1, from the random part of a fresh id.
fn dice() -> f64 {
    let (_, low) = uuid::Uuid::new_v4().as_u64_pair();
    // 53 bits are what a float holds exactly.
    (low & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_stay_between_nothing_and_one() {
        assert!((0..1000).map(|_| dice()).all(|value| (0.0..1.0).contains(&value)));
    }

    #[test]
    fn the_named_generation_wins_and_a_folder_without_prompts_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("selfsmith-agent");
        std::fs::write(&program, "").expect("a file");
        assert_eq!(generation(&BTreeMap::new(), Some(&program)), None);
        for part in ["prompts/system", "prompts/notes"] {
            std::fs::create_dir_all(folder.path().join(part)).expect("a folder");
        }
        std::fs::write(folder.path().join("config.yaml"), "").expect("a file");
        let beside = folder.path().canonicalize().expect("it is there");
        assert_eq!(generation(&BTreeMap::new(), Some(&program)), Some(beside));
        let named = BTreeMap::from([(GENERATION_FOLDER.to_owned(), "/named".to_owned())]);
        assert_eq!(generation(&named, Some(&program)), Some(PathBuf::from("/named")));
    }
}
