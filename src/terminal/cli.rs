//! The command line, as clap reads it. It decides nothing: `main` maps each command to its file.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A coding agent for the terminal.
///
/// Without a command it opens the REPL in the present folder.
#[derive(Debug, Parser)]
#[command(name = "selfsmith-agent", version, about, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Settings given on the command line; they win over every other layer.
    #[command(flatten)]
    pub flags: Flags,
    /// Go on with this folder's newest session.
    #[arg(short = 'c', long = "continue")]
    pub continued: bool,
}

const EXAMPLES: &str = "Examples:
  selfsmith-agent                                   open the REPL here
  selfsmith-agent -m qwen3-coder                    … with this model
  selfsmith-agent setup                             say where the model is, or another one
  selfsmith-agent exec \"add a test for parse()\"     one task, headless
  cargo test 2>&1 | selfsmith-agent exec \"why?\"    … with what is piped in beside it
  selfsmith-agent exec --continue \"and now b\"       … going on with the newest session here
  selfsmith-agent exec --json --approval auto \"…\"   … with typed events, one per line
  selfsmith-agent sessions                          what can be gone on with: resume ID, export ID
  selfsmith-agent undo                              take back what the last prompt changed here
  selfsmith-agent trust show                        what this project's own files may set
  selfsmith-agent config show --origin              every setting and where it came from

Settings by environment: SELFSMITH_BASE_URL, SELFSMITH_API_KEY, SELFSMITH_MODEL.";

/// Settings given on the command line.
#[derive(Debug, Clone, Default, Args)]
pub struct Flags {
    /// Name of the model.
    #[arg(short, long, global = true)]
    pub model: Option<String>,
    /// Base URL of the OpenAI-compatible endpoint, such as `https://api.openai.com/v1`.
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// Provider preset, such as `openai`, `dashscope`, `ollama`.
    #[arg(long, global = true)]
    pub provider: Option<String>,
    /// How tool calls travel.
    #[arg(long, global = true, value_enum)]
    pub channel: Option<ChannelFlag>,
    /// What may be done without a question.
    #[arg(long, global = true, value_enum)]
    pub approval: Option<ApprovalFlag>,
    /// Whether commands run behind walls.
    #[arg(long, global = true, value_enum, value_name = "on|off")]
    pub sandbox: Option<Switch>,
    /// Whether snapshots are taken before turns that may change something, so that they can be undone.
    #[arg(long, global = true, value_enum, value_name = "on|off")]
    pub snapshots: Option<Switch>,
    /// Turns that a prompt may take, sub-agents included.
    #[arg(long, global = true, value_name = "N")]
    pub max_turns: Option<u32>,
    /// Tokens that the run may send and receive: this prompt, or the whole conversation.
    #[arg(long, global = true, value_name = "N")]
    pub max_tokens_total: Option<u64>,
    /// US dollars that the run may cost; prices are in the settings.
    #[arg(long, global = true, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// Seconds that the run may work.
    #[arg(long, global = true, value_name = "SECONDS")]
    pub max_time: Option<f64>,
    /// Record the model's replies to a new file, or replay them from one without any network.
    #[arg(long, global = true, num_args = 2, value_names = ["record|replay", "FILE"])]
    pub cassette: Vec<String>,
    /// With `--cassette replay`: a request that differs from the recorded one ends the run.
    #[arg(long, global = true)]
    pub strict: bool,
    /// Work in this folder instead of the present one.
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Do one task without a person: the answer on stdout, activity on stderr.
    Exec(ExecArgs),
    /// Go on with a session: the given one, or this folder's last. `sessions` lists them.
    Resume {
        /// The session's id.
        session: Option<String>,
    },
    /// Go on with a copy of a session: of the given one, or of this folder's last. The original stays as it is.
    Fork {
        /// The session's id.
        session: Option<String>,
    },
    /// List the sessions of this folder, newest first: id, when it began, folder, first prompt.
    Sessions(SessionsArgs),
    /// Print a session as Markdown or JSON, without secrets.
    Export(ExportArgs),
    /// From an instruction to a proven program. Not built yet.
    Run {
        /// What the program should do.
        #[arg(required = true, num_args = 1.., value_name = "INSTRUCTION")]
        instruction: Vec<String>,
    },
    /// Take back what the last prompt changed in this folder: by tools and by commands, in a repository or not. What somebody
    /// else changed since stays. Asking again goes further back.
    Undo(UndoArgs),
    /// Let this project's own files steer the program: settings, notes for agents, commands and hooks, as they are now.
    Trust {
        /// Something else about trust.
        #[command(subcommand)]
        what: Option<TrustCommand>,
    },
    /// Ask where the model is, try it, and write it into your settings: what the first run does, at any time.
    Setup,
    /// Ask the model which way of calling tools it takes, and remember it.
    Probe,
    /// Check or show the settings.
    Config {
        /// What about them.
        #[command(subcommand)]
        what: ConfigCommand,
    },
    /// Say what works here and what does not, and why.
    Doctor {
        /// As JSON on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Answer test cases of one kind: a JSON object a line on stdin, one a line on stdout.
    Case {
        /// The kind, such as `edit`.
        kind: String,
    },
}

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    /// The task; a lone `-` stands for what comes on stdin.
    #[arg(required = true, num_args = 1.., value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Events as JSON, one a line, on stdout; the last one is `ended`.
    #[arg(long)]
    pub json: bool,
    /// Go on with this folder's newest session.
    #[arg(short = 'c', long = "continue")]
    pub continued: bool,
    /// Nothing on stderr but what went wrong.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The session's id; this folder's last where absent.
    pub session: Option<String>,
    /// As JSON: every entry of the record.
    #[arg(long)]
    pub json: bool,
    /// To this new file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `sessions`.
#[derive(Debug, Args)]
pub struct SessionsArgs {
    /// Those of every folder.
    #[arg(long)]
    pub all: bool,
    /// As JSON on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `undo`.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Only the last turn that changed something, not all turns of its prompt.
    #[arg(long)]
    pub turn: bool,
    /// Also what changed while a background job ran, or in a turn that was cut off.
    #[arg(long)]
    pub all: bool,
    /// Take the last undo back instead.
    #[arg(long, conflicts_with_all = ["turn", "all"])]
    pub redo: bool,
}

/// What to do about trust.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Every project that was asked about.
    List,
    /// This project's files, and which of them are trusted.
    Show,
    /// Trust this project, or that one, no more.
    Revoke {
        /// A folder of it.
        folder: Option<PathBuf>,
    },
}

/// What to do with the settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Read every layer and every prompt, and say what is wrong.
    Check,
    /// Print the settings in force.
    Show {
        /// Say which layer set each.
        #[arg(long)]
        origin: bool,
    },
}

/// Words of `--sandbox` and `--snapshots`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// Words of `--channel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChannelFlag {
    /// Tags in the text.
    Text,
    /// The provider's `tool_calls`.
    Native,
}

/// Words of `--approval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ApprovalFlag {
    /// Ask before every change and every command.
    Ask,
    /// Edit files without asking, ask before commands.
    AutoEdit,
    /// Ask nothing.
    Auto,
    /// Change nothing, run nothing.
    ReadOnly,
}
