//! What surrounds the program: its environment, its own path, its working folder, gathered once in `main` and passed in.
//!
//! Nothing below `main` reads the environment by itself. Folders follow the XDG base directory specification 0.8:
//! a relative value counts as unset.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What surrounds the program.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The environment.
    pub vars: Vec<(OsString, OsString)>,
    /// The running executable.
    pub exe: PathBuf,
    /// The working folder.
    pub cwd: PathBuf,
}

impl Surroundings {
    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_os_str())
    }

    /// A variable as text; what is not UTF-8 counts as unset.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name).and_then(OsStr::to_str)
    }

    /// A path as typed, seen from the working folder.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }

    /// `$XDG_STATE_HOME/selfsmith`: journals, candidates' directories, build slots, inboxes.
    pub fn state(&self) -> Result<PathBuf, NoHome> {
        self.folder("XDG_STATE_HOME", ".local/state")
    }

    /// `$XDG_DATA_HOME/selfsmith/generations`.
    pub fn generations(&self) -> Result<PathBuf, NoHome> {
        Ok(self.folder("XDG_DATA_HOME", ".local/share")?.join("generations"))
    }

    /// `$XDG_CONFIG_HOME/selfsmith/judge.yaml`.
    pub fn settings_file(&self) -> Result<PathBuf, NoHome> {
        Ok(self.folder("XDG_CONFIG_HOME", ".config")?.join("judge.yaml"))
    }

    fn folder(&self, variable: &'static str, below_home: &str) -> Result<PathBuf, NoHome> {
        let named = self.var(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = match named {
            Some(base) => base,
            None => {
                let home = self.var("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                home.ok_or(NoHome { variable })?.join(below_home)
            }
        };
        Ok(base.join("selfsmith"))
    }
}

/// There is no place for a folder of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("find a folder for our files: neither {variable} nor HOME is set to an absolute path")]
pub struct NoHome {
    /// The XDG variable that would name it.
    pub variable: &'static str,
}

impl NoHome {
    /// What to do next.
    pub fn hint(&self) -> String {
        format!("set HOME, or {} to a folder that you may write", self.variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &[(&str, &str)]) -> Surroundings {
        Surroundings {
            vars: vars.iter().map(|(key, value)| (key.into(), value.into())).collect(),
            ..Surroundings::default()
        }
    }

    #[test]
    fn xdg_folders_win_over_home_and_relative_ones_count_as_unset() {
        let named = with(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]);
        assert_eq!(named.state(), Ok(PathBuf::from("/s/selfsmith")));
        assert_eq!(named.generations(), Ok(PathBuf::from("/h/.local/share/selfsmith/generations")));
        let relative = with(&[("XDG_CONFIG_HOME", "c"), ("HOME", "/h")]);
        assert_eq!(relative.settings_file(), Ok(PathBuf::from("/h/.config/selfsmith/judge.yaml")));
    }

    #[test]
    fn without_a_home_the_error_names_the_variable() {
        let error = with(&[("HOME", "")]).state().expect_err("there is no home");
        assert!(error.hint().contains("XDG_STATE_HOME"), "{}", error.hint());
    }
}
