//! What the first run says and asks.

/// The first run.
#[derive(Debug)]
pub struct Setup {
    /// The first run begins.
    pub welcome: &'static str,
    /// `setup` begins.
    pub anew: &'static str,
    /// What asks for everything, behind another remedy.
    pub start: &'static str,
    /// There is nobody to ask.
    pub no_terminal: &'static str,
    /// The first run asks.
    pub provider: &'static str,
    /// What the preset without an address is.
    pub other: &'static str,
    /// The first run asks.
    pub url: &'static str,
    /// The first run asks where a local server listens; `{name}`.
    pub address: &'static str,
    /// What was typed is no address; `{url}`, `{why}`.
    pub no_url: &'static str,
    /// The server is asked for its models; `{url}`.
    pub listing: &'static str,
    /// There is no server; `{url}`, `{why}`.
    pub nobody: &'static str,
    /// It did not tell; `{why}`.
    pub no_list: &'static str,
    /// The first run asks, with the server's list.
    pub which_model: &'static str,
    /// The first run asks; `{variable}`, `{file}`.
    pub key: &'static str,
    /// The first run asks.
    pub model: &'static str,
    /// The first run calls; `{url}`, `{model}`.
    pub trying: &'static str,
    /// The call was answered.
    pub works: &'static str,
    /// The call was not answered.
    pub failed: &'static str,
    /// A choice.
    pub again: &'static str,
    /// A choice.
    pub keep: &'static str,
    /// A choice.
    pub leave: &'static str,
    /// The first run wrote; `{file}`.
    pub written: &'static str,
}
