//! Settings of the model client: the groups `model` and `model_chat` of the configuration, as far as they concern asking.

use crate::query::http::{HttpSettings, Proxy};
use crate::query::usage::Price;
use crate::query::{http::Watch, retry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How the channel is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChannelChoice {
    /// Native where the model takes it, which is found out and remembered; else text.
    #[default]
    Auto,
    /// Tags in the text.
    Text,
    /// The provider's `tool_calls`.
    Native,
}

/// How hard a model thinks, where it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// As most do.
    Medium,
    /// Long.
    High,
}

impl Effort {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Minimal, Self::Low, Self::Medium, Self::High];

    /// Its word in settings and in requests (`reasoning_effort` of OpenAI's chat completions).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Models that take pictures, as far as their names tell.
const SEEING: [&str; 14] = [
    "gpt-4o*", "gpt-4.1*", "gpt-5*", "o3*", "o4*", "claude-*", "gemini-*", "*-vl*", "*-omni*", "*vision*", "*llava*",
    "pixtral*", "gemma3*", "gemma-3*",
];

/// The group `model`: which model, and how it is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Name of a preset; recognised by the base URL where absent.
    pub provider: Option<String>,
    /// Base URL; the preset's where absent.
    pub base_url: Option<String>,
    /// The model's name.
    pub name: Option<String>,
    /// Name of the variable that holds the key; the preset's where absent.
    pub api_key_env: Option<String>,
    /// How tool calls travel.
    pub channel: ChannelChoice,
    /// Whether replies stream.
    pub stream: bool,
    /// Sampling temperature; not sent where absent.
    pub temperature: Option<f64>,
    /// How hard it thinks; not sent where absent.
    pub effort: Option<Effort>,
    /// Seconds to connect.
    pub connect_timeout_s: f64,
    /// Seconds until the first bytes of an answer.
    pub first_token_timeout_s: f64,
    /// Seconds of silence within an answer.
    pub stall_timeout_s: f64,
    /// How often and when a failed request is repeated.
    pub retry: retry::Settings,
    /// Further certificate authorities.
    pub ca_file: Option<PathBuf>,
    /// Further ones for one provider only, by its preset's name.
    pub ca_files: BTreeMap<String, PathBuf>,
    /// `system`, `off`, or an address.
    pub proxy: String,
    /// Names of models that take pictures, as patterns.
    pub images: Vec<String>,
    /// US dollars per million tokens, by model.
    pub prices: BTreeMap<String, Price>,
    /// Tokens that the model can take in all; by its name or assumed where absent.
    pub context_window: Option<u64>,
    /// The same, by model.
    pub context_windows: BTreeMap<String, u64>,
}

/// The window of a model of which nothing is said: most of today's have it, or a larger one. A server with less says so when it
/// refuses, and is believed; one that cuts in silence is noticed by its count.
pub const ASSUMED_WINDOW: u64 = 200_000;

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: None,
            base_url: None,
            name: None,
            api_key_env: None,
            channel: ChannelChoice::Auto,
            stream: true,
            temperature: None,
            effort: None,
            connect_timeout_s: 20.0,
            first_token_timeout_s: 600.0,
            stall_timeout_s: 120.0,
            retry: retry::Settings::default(),
            ca_file: None,
            ca_files: BTreeMap::new(),
            proxy: "system".into(),
            images: SEEING.map(str::to_owned).to_vec(),
            prices: BTreeMap::new(),
            context_window: None,
            context_windows: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// What the HTTP client needs for a provider. A server on this machine is never reached through a proxy.
    pub fn http(&self, is_loopback: bool, provider: &str) -> HttpSettings {
        let proxy = match self.proxy.trim() {
            _ if is_loopback => Proxy::Off,
            "system" => Proxy::System,
            "off" | "none" | "" => Proxy::Off,
            url => Proxy::Url(url.to_owned()),
        };
        let ca_files = self.ca_file.iter().chain(self.ca_files.get(provider)).cloned().collect();
        HttpSettings { ca_files, proxy, connect_timeout: seconds(self.connect_timeout_s) }
    }

    /// Tokens that a model can take in all, where somebody said it.
    pub fn window_of(&self, name: &str) -> Option<u64> {
        self.context_window.or_else(|| self.context_windows.get(name).copied())
    }

    /// How long silence may last.
    pub fn watch(&self) -> Watch {
        Watch { first: seconds(self.first_token_timeout_s), between: seconds(self.stall_timeout_s) }
    }
}

/// How a reply that is cut off by its limit grows (B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// Tokens of the first try.
    pub initial_max_tokens: u64,
    /// Tokens at most.
    pub max_tokens_limit: u64,
    /// Times that the limit is doubled at most.
    pub max_retries: u32,
}

impl Default for Growth {
    fn default() -> Self {
        Self { initial_max_tokens: 9000, max_tokens_limit: 64_000, max_retries: 3 }
    }
}

/// Seconds as people write them; anything that is no time is a day.
fn seconds(seconds: f64) -> Duration {
    const DAY: f64 = 86_400.0;
    Duration::try_from_secs_f64(seconds.min(DAY)).unwrap_or(Duration::from_secs(86_400))
}
