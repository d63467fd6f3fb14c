//! The one table of what providers do differently. A provider is one row; nothing else in the program knows its name.
//!
//! Sources: the providers' own API references. What a server turns out to refuse (a field, a limit, the system role, two
//! messages of one side in a row) is learnt from its error (`adapt`); errors inside a good answer or a stream are read for
//! every provider alike (`failure`).

use crate::query::settings::Effort;
use serde_json::{Value, json};

/// How thinking goes back to the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// Never: unknown fields are refused by many servers.
    Never,
    /// As `reasoning_content` beside native calls, which DeepSeek demands within a tool exchange.
    BesideCalls,
    /// In front of the text between think tags, as it came: MiniMax's models lose track without it.
    Inline,
}

/// The name of the field that limits a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl LimitField {
    /// As it is written in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// How it is said how hard to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffortField {
    /// `reasoning_effort: "low"`, as OpenAI and most servers take it.
    Word,
    /// `reasoning: {"effort": "low"}`, as OpenRouter takes it.
    Nested,
    /// `enable_thinking` and `thinking_budget` in tokens, as DashScope takes them.
    Budget,
}

impl EffortField {
    /// The fields of a request.
    pub fn fields(self, effort: Effort) -> Vec<(&'static str, Value)> {
        match self {
            Self::Word => vec![("reasoning_effort", effort.word().into())],
            Self::Nested => vec![("reasoning", json!({ "effort": effort.word() }))],
            Self::Budget => {
                let budget = match effort {
                    Effort::Minimal => return vec![("enable_thinking", false.into())],
                    Effort::Low => 1024,
                    Effort::Medium => 8192,
                    Effort::High => 32_768,
                };
                vec![("enable_thinking", true.into()), ("thinking_budget", budget.into())]
            }
        }
    }
}

/// A provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name in settings.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Its base URL, empty where there is none.
    pub base_url: &'static str,
    /// The variable that its key is usually kept in, empty where none is needed.
    pub key_variable: &'static str,
    /// Ends of host names (or `:port` on this machine) by which it is recognised.
    pub hosts: &'static [&'static str],
    /// What limits a reply.
    pub limit: LimitField,
    /// How thinking goes back.
    pub echo: Echo,
    /// How it is said how hard to think.
    pub effort: EffortField,
}

const PLAIN: Preset = Preset {
    name: "generic",
    aliases: &["custom"],
    base_url: "",
    key_variable: "",
    hosts: &[],
    limit: LimitField::MaxTokens,
    echo: Echo::Never,
    effort: EffortField::Word,
};

/// Every provider, sorted by name.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "dashscope",
        aliases: &["qwen", "bailian", "aliyun"],
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_variable: "DASHSCOPE_API_KEY",
        hosts: &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
        effort: EffortField::Budget,
        ..PLAIN
    },
    Preset {
        name: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        key_variable: "DEEPSEEK_API_KEY",
        hosts: &["api.deepseek.com"],
        echo: Echo::BesideCalls,
        aliases: &[],
        ..PLAIN
    },
    PLAIN,
    Preset {
        name: "llama.cpp",
        aliases: &["llamacpp", "llama-cpp", "llama-server"],
        base_url: "http://127.0.0.1:8080/v1",
        hosts: &[":8080"],
        ..PLAIN
    },
    Preset {
        name: "lmstudio",
        aliases: &["lm-studio", "lm_studio"],
        base_url: "http://127.0.0.1:1234/v1",
        hosts: &[":1234"],
        ..PLAIN
    },
    Preset {
        name: "minimax",
        aliases: &[],
        base_url: "https://api.minimax.io/v1",
        key_variable: "MINIMAX_API_KEY",
        hosts: &["api.minimax.io", "api.minimaxi.com", "api.minimax.chat"],
        echo: Echo::Inline,
        ..PLAIN
    },
    Preset { name: "ollama", aliases: &[], base_url: "http://127.0.0.1:11434/v1", hosts: &[":11434"], ..PLAIN },
    Preset {
        name: "openai",
        aliases: &[],
        base_url: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
        hosts: &["api.openai.com"],
        limit: LimitField::MaxCompletionTokens,
        ..PLAIN
    },
    Preset {
        name: "openrouter",
        aliases: &[],
        base_url: "https://openrouter.ai/api/v1",
        key_variable: "OPENROUTER_API_KEY",
        hosts: &["openrouter.ai"],
        effort: EffortField::Nested,
        ..PLAIN
    },
    Preset { name: "vllm", aliases: &[], base_url: "http://127.0.0.1:8000/v1", hosts: &[":8000"], ..PLAIN },
];

/// A provider by name or alias.
pub fn by_name(name: &str) -> Option<&'static Preset> {
    let name = name.trim();
    let is = |own: &str| own.eq_ignore_ascii_case(name);
    PRESETS.iter().find(|preset| is(preset.name) || preset.aliases.iter().any(|alias| is(alias)))
}

/// A provider by where its server is; `generic` for an unknown one.
pub fn by_host(host: &str, port: Option<u16>, is_local: bool) -> &'static Preset {
    let at_port = port.map(|port| format!(":{port}"));
    let recognised = |mark: &str| {
        if mark.starts_with(':') {
            is_local && at_port.as_deref() == Some(mark)
        } else {
            host == mark || host.strip_suffix(mark).is_some_and(|rest| rest.ends_with('.'))
        }
    };
    PRESETS.iter().find(|preset| preset.hosts.iter().any(|mark| recognised(mark))).unwrap_or(&PLAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sorted_and_their_names_are_unique() {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
        let mut all: Vec<&str> = PRESETS.iter().flat_map(|p| p.aliases.iter().copied().chain([p.name])).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn how_hard_to_think_is_said_in_each_providers_words() {
        let said = |provider: &str, effort| by_name(provider).map(|preset| preset.effort.fields(effort));
        assert_eq!(said("openai", Effort::Low), Some(vec![("reasoning_effort", "low".into())]));
        assert_eq!(said("openrouter", Effort::High), Some(vec![("reasoning", json!({ "effort": "high" }))]));
        assert_eq!(said("qwen", Effort::Minimal), Some(vec![("enable_thinking", false.into())]));
        let low = vec![("enable_thinking", true.into()), ("thinking_budget", 1024.into())];
        assert_eq!(said("qwen", Effort::Low), Some(low));
    }

    #[test]
    fn a_provider_is_recognised_by_host_or_local_port() {
        assert_eq!(by_host("api.deepseek.com", None, false).name, "deepseek");
        assert_eq!(by_host("eu.openrouter.ai", None, false).name, "openrouter");
        assert_eq!(by_host("notopenrouter.ai", None, false).name, "generic");
        assert_eq!(by_host("127.0.0.1", Some(11434), true).name, "ollama");
        assert_eq!(by_host("example.org", Some(11434), false).name, "generic");
        assert_eq!(by_name("Qwen").map(|preset| preset.name), Some("dashscope"));
    }
}
