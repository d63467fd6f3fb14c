//! From settings and environment to a client that can be asked.

use super::channel::{Agreed, Begins};
use super::{Client, Learnt};
use crate::query::adapt::Spelling;
use crate::query::channels::Memory;
use crate::query::endpoint::{Endpoint, EndpointError};
use crate::query::http::models::NoList;
use crate::query::http::{self, HttpError, Transport};
use crate::query::quirks::{self, PRESETS, Preset};
use crate::query::settings::{Growth, Settings};
use crate::query::tape::Tape;
use crate::query::usage::Meter;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// What the client may not fetch by itself: time and chance.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings {
    /// The wall clock.
    pub now: fn() -> SystemTime,
    /// Uniform in 0..1, to spread waits.
    pub dice: fn() -> f64,
}

/// An API key: never shown, checked to be sendable.
#[derive(Clone)]
pub struct Key(pub(super) SecretString);

impl Key {
    /// From what a variable holds; blanks and line ends around it are dropped.
    fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix("Bearer ").unwrap_or(text).trim();
        (!text.is_empty()).then(|| Self(text.to_owned().into()))
    }

    fn is_sendable(&self) -> bool {
        self.0.expose_secret().bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Why no client could be made of the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// There is no provider of this name.
    #[error("find the provider `{name}`; known are: {known}")]
    UnknownProvider {
        /// As written.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// Neither a base URL nor a provider that has one.
    #[error("tell where the model is: neither model.base_url nor a provider with one is set")]
    NoBaseUrl,
    /// No model is named.
    #[error("tell which model to ask: model.name is not set")]
    NoModel,
    /// No key, and the server is not local.
    #[error("find a key for {address}: the variable {variable} is not set")]
    MissingKey {
        /// Base URL.
        address: String,
        /// The variable to set.
        variable: String,
    },
    /// The key cannot be sent in a header.
    #[error(
        "use the key in {variable}: it holds a character that no key has (a blank, a line end, a quote, a letter outside ASCII)"
    )]
    BadKey {
        /// The variable it is in.
        variable: String,
    },
    /// The base URL is none.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl ConnectionError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownProvider { .. } => "use one of those, or `generic` with model.base_url".into(),
            Self::NoBaseUrl => "set SELFSMITH_BASE_URL, model.base_url or model.provider".into(),
            Self::NoModel => "set SELFSMITH_MODEL or model.name, or pass -m NAME".into(),
            Self::MissingKey { variable, .. } | Self::BadKey { variable } => {
                format!("export {variable}=… (or SELFSMITH_API_KEY), or name another variable in model.api_key_env")
            }
            Self::Endpoint(error) => error.hint().into(),
            Self::Http(error) => error.hint().into(),
        }
    }
}

/// The variable whose key goes to every provider.
const OWN_KEY: &str = "SELFSMITH_API_KEY";
/// Keys that are sent to their own provider only.
const NO_VARIABLE: &str = "";

impl Client {
    /// Make a client. `environment` holds the variables that keys are read from.
    ///
    /// # Errors
    /// Something is missing or wrong; the hint says what to set. Under replay neither key nor model is needed.
    pub fn new(
        settings: Settings,
        growth: Growth,
        environment: &BTreeMap<String, String>,
        tape: Tape,
        surroundings: Surroundings,
    ) -> Result<Self, ConnectionError> {
        let replays = matches!(tape, Tape::Replay(_));
        let (preset, endpoint) = place(&settings, replays)?;
        let name = match settings.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => name.to_owned(),
            None if replays => "cassette".to_owned(),
            None => return Err(ConnectionError::NoModel),
        };
        let key = match replays {
            true => None,
            false => key(&settings, preset, &endpoint, environment)?,
        };
        let http = http::Client::new(&settings.http(endpoint.is_loopback(), preset.name))?;
        let transport = match &tape {
            Tape::Replay(replaying) => Transport::Tape(replaying.clone(), http),
            Tape::Off | Tape::Record(_) => Transport::Network(http),
        };
        let learnt = Mutex::new(Learnt {
            endpoint,
            spelling: Spelling::new(preset.limit),
            meter: Meter::default(),
            agreed: Agreed::new(settings.channel, replays),
            begins: Begins::AsGiven,
            cut_told: None,
            window: None,
        });
        let (memory, text_prompt) = (Memory::default(), None);
        Ok(Self {
            settings,
            growth,
            name,
            preset,
            key,
            transport,
            tape,
            surroundings,
            memory,
            text_prompt,
            learnt,
            memo: Mutex::default(),
        })
    }
}

impl Client {
    /// The models that the server lists, for a person to choose from.
    ///
    /// # Errors
    /// Why there is no list, in words.
    pub async fn models(&self, time: Duration) -> Result<Vec<String>, NoList> {
        let http = match &self.transport {
            Transport::Network(http) => http,
            Transport::Tape(..) => return Err("a cassette has no list".to_owned().into()),
        };
        let key = self.key.as_ref().map(|key| key.0.expose_secret());
        let endpoint = self.endpoint();
        let listed = http::models::names(http, &endpoint.url("/models"), key, time).await;
        match (listed, endpoint.with_v1()) {
            (Ok(names), _) if !names.is_empty() => Ok(names),
            (_, Some(other)) => http::models::names(http, &other.url("/models"), key, time).await,
            (listed, None) => listed,
        }
    }
}

/// The provider's row and where it is.
fn place(settings: &Settings, replays: bool) -> Result<(&'static Preset, Endpoint), ConnectionError> {
    let named = match settings.provider.as_deref().filter(|name| !name.trim().is_empty()) {
        Some(name) => Some(quirks::by_name(name).ok_or_else(|| ConnectionError::UnknownProvider {
            name: name.to_owned(),
            known: PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
        })?),
        None => None,
    };
    let own = settings.base_url.as_deref().filter(|url| !url.trim().is_empty());
    let url = match (own, named.map(|preset| preset.base_url).filter(|url| !url.is_empty())) {
        (Some(url), _) | (None, Some(url)) => url,
        (None, None) if replays => "http://127.0.0.1/v1",
        (None, None) => return Err(ConnectionError::NoBaseUrl),
    };
    let endpoint = Endpoint::parse(url)?;
    let preset = named.unwrap_or_else(|| quirks::by_host(endpoint.host(), endpoint.port(), endpoint.is_loopback()));
    Ok((preset, endpoint))
}

/// The key: the named variable, else our own, else the provider's, which goes to the provider's own hosts only.
fn key(
    settings: &Settings,
    preset: &Preset,
    endpoint: &Endpoint,
    environment: &BTreeMap<String, String>,
) -> Result<Option<Key>, ConnectionError> {
    let own_host = preset.hosts.iter().any(|host| endpoint.host() == *host)
        || Endpoint::parse(preset.base_url).is_ok_and(|home| home.host() == endpoint.host());
    let provider = if own_host || settings.provider.is_some() { preset.key_variable } else { NO_VARIABLE };
    let candidates: Vec<&str> = match settings.api_key_env.as_deref().filter(|name| !name.trim().is_empty()) {
        Some(named) => vec![named.trim()],
        None => [OWN_KEY, provider].into_iter().filter(|name| !name.is_empty()).collect(),
    };
    let found = candidates.iter().find_map(|name| Some((*name, Key::new(environment.get(*name)?)?)));
    match found {
        Some((variable, key)) if !key.is_sendable() => Err(ConnectionError::BadKey { variable: variable.to_owned() }),
        Some((_, key)) => Ok(Some(key)),
        None if endpoint.is_local() => Ok(None),
        None => {
            let variable = candidates.last().copied().unwrap_or(OWN_KEY).to_owned();
            Err(ConnectionError::MissingKey { address: endpoint.base().to_owned(), variable })
        }
    }
}
