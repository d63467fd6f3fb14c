//! An HTTP answer as a value: status, headers, and a body that is whole, in pieces, or still coming.

use crate::openai;
use crate::reply::Then;
use hyper::body::Bytes;
use tokio::sync::mpsc;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers; the length is set by the server.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: AnswerBody,
}

impl Answer {
    /// A JSON answer.
    pub fn json(status: u16, body: String) -> Self {
        let headers = vec![("content-type".into(), "application/json".into())];
        Self { status, headers, body: AnswerBody::Whole(body.into()) }
    }

    /// An error in the usual form of model servers.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::json(status, openai::error_body(code, message))
    }
}

/// The body of an answer.
#[derive(Debug)]
pub enum AnswerBody {
    /// All at once.
    Whole(Bytes),
    /// In pieces that are known.
    Pieces(Vec<Vec<u8>>, Then),
    /// In pieces as they come; an error tears the connection down.
    Stream(mpsc::Receiver<Result<Bytes, std::io::Error>>),
}
