//! The one HTTP client of the program, and the service under async-openai that looks at every answer first.
//!
//! [`Client`] is built once and handed to whoever needs it. [`Guard`] sits below async-openai's API and above the
//! network: it turns statuses, headers and odd bodies into typed failures before the library can lose them, and watches
//! the body of a good answer (silence, size, encoding). [`fetch`] gets a page for a tool, [`models`] a list for a person. It never repeats a request: `retry` decides that, above.

mod body;
mod client;
pub mod fetch;
mod guard;
mod lines;
pub mod models;
mod pace;

pub use body::{Facts, Watch};
pub use client::{Client, HttpError, HttpSettings, Proxy};
pub use guard::{Guard, Transport, Wants};
pub(in crate::query) use lines::Lines;
