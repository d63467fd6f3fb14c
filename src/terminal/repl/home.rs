//! What commands reach beyond the session: settings, other sessions, the folders and the environment of the program.

use super::screen::Screen;
use super::watch::Watch;
use crate::cli::Flags;
use crate::open;
use crate::surroundings::Surroundings;
use selfsmith_agent::config::{self, Layer, Loaded, With};
use selfsmith_agent::prompt::{self, project::Notes};
use selfsmith_agent::query::settings::Effort;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::session::{self, Listed, Session};
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire::{self, Around, Cassette, Choices, Which, WireError, WithPrompt};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Settings that hold in a conversation that is open; groups stand for all that is in them. The others hold from the next start
/// on: the screen, the tools and the folders are made once.
const AT_ONCE: &[&str] =
    &["checks", "hooks", "limits", "memory", "model", "model_chat", "tools.approval", "tools.rules"];

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
    /// The project's notes for agents, as they were taken last.
    pub notes: RefCell<Vec<Notes>>,
    /// The settings that are in force.
    pub loaded: RefCell<Loaded>,
    /// A model and a beginning that wait for a cold cache.
    pub waiting: RefCell<Option<WithPrompt>>,
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
        let made = wire::another_model(&choices, &self.around_now(), &session.parts().specs);
        let made = made.map_err(|error| self.told(&error))?;
        *self.choices.borrow_mut() = choices;
        Ok(made)
    }

    /// What the library is told of the surroundings, with the project's notes as they were taken last.
    fn around_now(&self) -> Around {
        let told = prompt::Surroundings { notes: self.notes.borrow().clone(), ..self.around.told.clone() };
        Around { told, ..self.surroundings.around(self.root()) }
    }

    /// Takes the project's notes as they are on disk now, for whenever requests begin anew; what there is to know of that.
    pub fn take_notes(&self) -> Result<Vec<String>, String> {
        let texts = self.surroundings.texts;
        let opened = open::open(self.flags, self.surroundings)
            .map_err(|refusal| fill(texts.not_reloaded, &[("why", &refusal.text)]))?;
        let said = opened.notices(texts);
        *self.notes.borrow_mut() = opened.around.told.notes;
        Ok(said)
    }

    /// Takes settings and prompts as they are on disk now; what changed, in words, or nothing. Where something is wrong with
    /// them everything stays as it was, and `Err` says why. What would change the request's beginning waits.
    pub fn reload(&self, session: &mut Session) -> Result<String, String> {
        let texts = self.surroundings.texts;
        let kept = |why: String| fill(texts.not_reloaded, &[("why", &why)]);
        let opened = open::open(self.flags, self.surroundings).map_err(|refusal| kept(refusal.text))?;
        let changed = config::changed(&self.loaded.borrow(), &opened.loaded);
        let mut choices = opened.choices;
        {
            // What the person chose in this conversation stays, unless just that was edited.
            let now = self.choices.borrow();
            if !changed.iter().any(|key| key == "model.name") {
                choices.model.name.clone_from(&now.model.name);
            }
            if !changed.iter().any(|key| key == "model.effort") {
                choices.model.effort = now.model.effort;
            }
        }
        let anew = wire::anew(&choices, &self.around).map_err(|error| kept(self.told(&error)))?;
        let parts = session.parts();
        let made =
            wire::another_model(&choices, &self.around_now(), &parts.specs).map_err(|error| kept(self.told(&error)))?;
        let same = made.1 == session.beginning() && made.0.channel() == parts.model.channel();
        session.take(anew);
        if changed.iter().any(|key| key == "tools.approval") {
            session.set_mode(choices.mode);
        }
        *self.choices.borrow_mut() = choices;
        *self.loaded.borrow_mut() = opened.loaded;
        let mut said = Vec::new();
        let (now, later): (Vec<String>, Vec<String>) = changed.into_iter().partition(|key| holds_at_once(key));
        for (text, keys) in [(texts.reloaded, now), (texts.reloaded_later, later)] {
            if !keys.is_empty() {
                said.push(fill(text, &[("keys", &keys.join(", "))]));
            }
        }
        if same {
            *self.waiting.borrow_mut() = None;
            session.set_model(made.0, made.1).map_err(|error| error.to_string())?;
        } else {
            *self.waiting.borrow_mut() = Some(made);
            said.push(texts.beginning_waits.to_owned());
        }
        Ok(said.join("\n"))
    }

    /// Begin requests as the settings now say, where that waited.
    pub fn begin_anew(&self, session: &mut Session) -> Result<(), String> {
        match self.waiting.borrow_mut().take() {
            Some((model, system)) => session.set_model(model, system).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    /// A watch over everything that settings and prompts come from.
    pub fn watch(&self) -> Watch {
        let project = self.root().join(".selfsmith/config.yaml");
        let found = config::find_project(&self.surroundings.folder);
        let user = config::user_file(&self.surroundings.environment);
        let files: Vec<PathBuf> =
            [Some(project), found, user, self.surroundings.shipped()].into_iter().flatten().collect();
        let folders: Vec<PathBuf> = self.surroundings.generation.iter().map(|folder| folder.join("prompts")).collect();
        Watch::new(&files, &folders)
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

    /// Write a setting to the user's file; where it is, and when it holds, in words.
    pub fn set(&self, key: &str, value: &str) -> Result<String, String> {
        let texts = self.surroundings.texts;
        let path =
            config::user_file(&self.surroundings.environment).ok_or_else(|| texts.no_settings_folder.to_owned())?;
        config::set(&path, key, value)
            .map_err(|error| fill(texts.could_not, &[("what", &error.to_string()), ("hint", &error.hint())]))?;
        let own = Layer::User(path.clone());
        let winner = self.settings().ok().and_then(|loaded| loaded.origins.get(key).cloned());
        let when = match winner.filter(|layer| *layer != own) {
            Some(layer) => fill(texts.holds_not, &[("layer", &layer.to_string())]),
            None if holds_at_once(key) => texts.holds_next_prompt.to_owned(),
            None => texts.holds_next_start.to_owned(),
        };
        let file = path.display().to_string();
        Ok(fill(texts.setting_written, &[("key", key), ("file", &file), ("when", &when)]))
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

fn holds_at_once(key: &str) -> bool {
    AT_ONCE.iter().any(|group| key.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}
