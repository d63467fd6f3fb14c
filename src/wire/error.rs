//! Why no session can be made, and what to do about it.

use crate::ending::Ending;
use crate::prompt::PromptError;
use crate::query::client::ConnectionError;
use crate::session::LogError;
use selfsmith_cassette::CassetteError;

/// Why no session can be made.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A prompt is wrong.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The model cannot be reached with these settings.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The cassette cannot be used.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// The record cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A limit of money without a price.
    #[error("keep the limit of {limit} dollars: no price of {model} is known")]
    NoPrice {
        /// The limit.
        limit: f64,
        /// The model.
        model: String,
    },
    /// There is no place for records.
    #[error("find a folder for sessions")]
    NoFolder,
}

impl WireError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Prompt(error) => error.hint().to_owned(),
            Self::Connection(error) => error.hint(),
            Self::Cassette(error) => error.hint().to_owned(),
            Self::Log(error) => error.hint().to_owned(),
            Self::NoPrice { model, .. } => {
                format!(
                    "write it into the settings, `model: {{prices: {{{model}: {{input: …, output: …}}}}}}`, or leave the limit out"
                )
            }
            Self::NoFolder => "set HOME or XDG_STATE_HOME".to_owned(),
        }
    }

    /// How the program ends over it.
    pub const fn ending(&self) -> Ending {
        match self {
            Self::Prompt(_) | Self::Connection(_) | Self::NoPrice { .. } => Ending::Config,
            Self::Cassette(_) => Ending::Usage,
            Self::Log(LogError::Missing { .. }) => Ending::Usage,
            Self::Log(_) | Self::NoFolder => Ending::Failed,
        }
    }
}
