//! What each slash command does, as the palette and `/help` show it.

/// One line for each command.
#[derive(Debug)]
pub struct About {
    /// `/fork`.
    pub fork: &'static str,
    /// `/reload`.
    pub reload: &'static str,
    /// `/undo`.
    pub undo: &'static str,
    /// `/clear`.
    pub clear: &'static str,
    /// Of `/compact`.
    pub compact: &'static str,
    /// `/quit`.
    pub quit: &'static str,
    /// `/help`.
    pub help: &'static str,
    /// `/tools`.
    pub tools: &'static str,
    /// `/cost`.
    pub cost: &'static str,
    /// `/tokens`.
    pub tokens: &'static str,
    /// `/context`.
    pub context: &'static str,
    /// `/model`.
    pub model: &'static str,
    /// `/approval`.
    pub approval: &'static str,
    /// `/config`.
    pub config: &'static str,
    /// `/diff`.
    pub diff: &'static str,
    /// `/add-dir`.
    pub add_dir: &'static str,
    /// `/effort`.
    pub effort: &'static str,
    /// `/init`.
    pub init: &'static str,
    /// `/plan`.
    pub plan: &'static str,
    /// `/resume`.
    pub resume: &'static str,
    /// `/rewind`.
    pub rewind: &'static str,
}
