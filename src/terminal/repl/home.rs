//! What commands reach beyond the session: settings, other sessions, the folders and the environment of the program.

use super::screen::Screen;
use crate::cli::Flags;
use crate::open;
use crate::surroundings::Surroundings;
use selfsmith_agent::config::{self, Loaded, With};
use selfsmith_agent::query::settings::Effort;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::session::{self, Listed, Session};
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire::{self, Around, Cassette, Choices, Which, WireError, WithPrompt};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The way out.
pub struct Home<'a> {
    /// What the command line said.
    pub flags: &'a Flags,
    /// What was found around.
    pub surroundings: &'a Surroundings,
    /// What settings decide, and what was chosen since.
    pub choices: RefCell<Choices>,
    /// What the library is told of the surroundings.
    pub around: Around,
    /// The frontend of every session.
    pub screen: Arc<Screen>,
}

impl Home<'_> {
    /// Root of the workspace.
    pub fn root(&self) -> &Path {
        &self.around.root
    }

    /// Another model and its system prompt; `Err` says why not.
    pub fn model(&self, name: &str, session: &Session) -> Result<WithPrompt, String> {
        let mut choices = self.choices.borrow().clone();
        choices.model.name = Some(name.to_owned());
        self.made(choices, session)
    }

    /// How hard the model thinks; nothing where that is left to it.
    pub fn effort(&self) -> Option<Effort> {
        self.choices.borrow().model.effort
    }

    /// The same model, thinking this hard from now on; `Err` says why not.
    pub fn think(&self, effort: Effort, session: &Session) -> Result<WithPrompt, String> {
        let mut choices = self.choices.borrow().clone();
        choices.model.effort = Some(effort);
        self.made(choices, session)
    }

    /// Another model; what it was made of counts from now on.
    fn made(&self, choices: Choices, session: &Session) -> Result<WithPrompt, String> {
        let made = wire::another_model(&choices, &self.around, &session.parts().specs);
        let made = made.map_err(|error| self.told(&error))?;
        *self.choices.borrow_mut() = choices;
        Ok(made)
    }

    /// Another session; `Err` says why not.
    pub fn session(&self, which: Which) -> Result<Session, String> {
        let frontend = self.screen.clone();
        wire::session(&self.choices.borrow(), &self.around, &Cassette::Off, which, frontend)
            .map_err(|error| self.told(&error))
    }

    /// The sessions of this workspace, newest first.
    pub fn sessions(&self) -> Vec<Listed> {
        let sessions = self.choices.borrow().sessions.clone();
        let folder = sessions.map(|sessions| wire::folder(&sessions, self.root()));
        folder.map(|folder| session::list(&folder)).unwrap_or_default()
    }

    /// The settings as they are on disk now; `Err` says what is wrong with them.
    pub fn settings(&self) -> Result<Loaded, String> {
        config::load(&open::sources(self.flags, self.surroundings)).map_err(|error| {
            let hint = error.hint();
            fill(self.surroundings.texts.could_not, &[("what", &error.to_string()), ("hint", &hint)])
        })
    }

    /// The settings as lines, with where each came from.
    pub fn shown_settings(&self) -> Result<String, String> {
        Ok(config::show(&self.settings()?, With::Origins))
    }

    /// Write a setting to the user's file; the file.
    pub fn set(&self, key: &str, value: &str) -> Result<PathBuf, String> {
        let texts = self.surroundings.texts;
        let path =
            config::user_file(&self.surroundings.environment).ok_or_else(|| texts.no_settings_folder.to_owned())?;
        config::set(&path, key, value)
            .map_err(|error| fill(texts.could_not, &[("what", &error.to_string()), ("hint", &error.hint())]))?;
        Ok(path)
    }

    /// The user's folder of settings.
    pub fn user_folder(&self) -> Option<PathBuf> {
        config::user_file(&self.surroundings.environment)?.parent().map(Path::to_owned)
    }

    /// Takes secrets out of what is shown.
    pub fn redactor(&self) -> Redactor {
        wire::redactor(&self.around.environment)
    }

    fn told(&self, error: &WireError) -> String {
        open::wire_refusal(error, self.surroundings).text
    }
}
