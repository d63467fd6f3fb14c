//! Why a prompt cannot go on, in the words of an ending.

use super::chain;
use super::log::LogError;
use crate::ending::Ending;
use crate::query::QueryError;

/// Why a prompt cannot go on.
pub(super) enum Stop {
    Query(QueryError),
    Log(LogError),
}

impl Stop {
    /// The ending, and the words with what to do next.
    pub(super) fn told(&self) -> (Ending, String) {
        match self {
            Self::Query(error) => {
                let ending = match error {
                    QueryError::Refused { .. } | QueryError::TooLong { .. } => Ending::ModelRefused,
                    QueryError::Unavailable { .. } => Ending::ModelUnavailable,
                    QueryError::Cassette { .. } => Ending::CassetteDrift,
                };
                (ending, format!("could not {error}\n{}", error.hint()))
            }
            Self::Log(error) => (Ending::Failed, format!("could not {}\n{}", chain(error), error.hint())),
        }
    }
}

impl From<LogError> for Stop {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}
