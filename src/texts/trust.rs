//! What is said and asked about a project's own files.

/// Trust in a project.
#[derive(Debug)]
pub struct Trust {
    /// Why something is not trusted.
    pub unasked: &'static str,
    /// Why something is not trusted.
    pub declined: &'static str,
    /// Why something is not trusted.
    pub changed: &'static str,
    /// Why something is not trusted.
    pub came: &'static str,
    /// A file with the reason; `{file}`, `{why}`.
    pub because: &'static str,
    /// A project's file says what it may not say before it is trusted; `{file}`, `{keys}`, `{why}`.
    pub untrusted_settings: &'static str,
    /// Notes of an untrusted project are only quoted; `{files}`.
    pub untrusted_notes: &'static str,
    /// Commands of an untrusted project are not offered; `{files}`.
    pub untrusted_commands: &'static str,
    /// The person is asked; `{root}`, `{files}`.
    pub question: &'static str,
    /// The same where something changed since it was trusted; `{root}`, `{files}`.
    pub again: &'static str,
    /// A line of the question; `{command}`.
    pub check: &'static str,
    /// A choice, and what it means.
    pub yes: [&'static str; 2],
    /// A choice, and what it means.
    pub no: [&'static str; 2],
    /// A choice, and what it means.
    pub leave: [&'static str; 2],
    /// An answer could not be kept; `{error}`.
    pub not_kept: &'static str,
    /// `trust`; `{root}`, `{files}`.
    pub trusted: &'static str,
    /// `trust` in a project without such files; `{root}`.
    pub trusted_nothing: &'static str,
    /// `trust list`, an empty one.
    pub none: &'static str,
    /// `trust revoke`; `{root}`.
    pub revoked: &'static str,
    /// `trust revoke`, where there was no answer; `{root}`.
    pub unknown: &'static str,
    /// `trust show`; `{root}`, `{standing}`.
    pub standing: &'static str,
    /// A standing.
    pub standing_trusted: &'static str,
    /// A standing.
    pub standing_declined: &'static str,
    /// A standing.
    pub standing_unasked: &'static str,
    /// Beside a file of `trust show` that was not asked about as it is.
    pub new: &'static str,
}
