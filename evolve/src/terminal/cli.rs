//! The command line of the judge, as clap reads it. It decides nothing.
//!
//! Only the judge's own words come here: [`is_own`] looks at the first word, and everything else is the agent's.

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Words that the judge answers itself; any other first word goes to the agent.
const OWN: [&str; 15] = [
    "evolve",
    "review",
    "undo",
    "ops",
    "at",
    "lineage",
    "demo",
    "doctor",
    "rollback",
    "gc",
    "help",
    "--help",
    "-h",
    "--version",
    "-V",
];

/// Whether the judge answers a command line with this first word.
pub fn is_own(first: Option<&OsStr>) -> bool {
    first.and_then(OsStr::to_str).is_some_and(|word| OWN.contains(&word))
}

/// Words of the agent (docs/contract.md), however much one of ours resembles them.
const OF_THE_AGENT: [&str; 5] = ["exec", "resume", "config", "trust", "case"];

/// The judge's command that was probably meant, where the first word is none of ours and none of the agent's.
pub fn nearly_own(first: &OsStr) -> Option<String> {
    let word = first.to_str().filter(|word| word.len() > 2 && word.chars().all(|c| c.is_ascii_alphabetic()))?;
    if is_own(Some(first)) || OF_THE_AGENT.contains(&word) {
        return None;
    }
    let error = Cli::try_parse_from(["selfsmith", word]).err()?;
    let near = match error.get(ContextKind::SuggestedSubcommand)? {
        ContextValue::String(near) => vec![near.clone()],
        ContextValue::Strings(all) => all.clone(),
        _ => return None,
    };
    // The nearest is last. A guess that begins otherwise is too far off to keep the word from the agent.
    let begins = word.to_ascii_lowercase().chars().next();
    near.into_iter().rfind(|near| near.chars().next() == begins)
}

/// A coding agent for the terminal that improves itself, and any Cargo project, one proven commit at a time.
///
/// Without a command it opens the REPL in the present folder. What is not listed here (exec, resume, config, trust, -m …) goes to
/// the agent: `selfsmith exec --help`.
#[derive(Debug, Parser)]
#[command(name = "selfsmith", about, after_help = EXAMPLES, disable_version_flag = true, subcommand_required = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "Examples:
  selfsmith                                          open the REPL here
  selfsmith exec \"add a test for parse()\"            one task, headless
  selfsmith demo                                     see the judge at work, without key or network
  selfsmith evolve --goal \"…\"                        a proposed, proven change for this repository
  selfsmith evolve --goal \"…\" --proposer fix         … by the compiler's own suggestions
  selfsmith evolve --inbox                           … for every goal put into the inbox
  selfsmith review                                   what was proposed, and what became of it

Exit codes: 0 done or accepted, 1 internal failure, 2 usage, 3 settings or rules wrong, 10 reject, 11 needs-human,
12 inconclusive, 13 stale, 14 not built yet, 130 interrupted. The agent's own codes are in docs/contract.md.";

/// The judge's commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Have a change proposed, weigh it, and land it or keep it aside.
    Evolve(EvolveArgs),
    /// Look at what was proposed, and decide.
    Review(ReviewArgs),
    /// Take back the last operation, or one by its number.
    Undo(UndoArgs),
    /// List the operations.
    Ops(ListArgs),
    /// Show where everything stood after an operation, or at a time.
    At(AtArgs),
    /// Show the record of every cycle, and check its chain.
    Lineage(LineageArgs),
    /// See it at work on a sample, without key or network.
    Demo(DemoArgs),
    /// Say what works here and what does not, and why.
    Doctor {
        /// As JSON on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Go back to the previous generation of the agent, and deny the present one.
    Rollback(RollbackArgs),
    /// Forget kept candidates that were refused, went stale or were replaced; what waits or landed stays.
    Gc(GcArgs),
}

/// Which repository.
#[derive(Debug, Clone, Args)]
pub struct Where {
    /// The repository; by default the one that holds the present folder.
    #[arg(long, value_name = "DIR", global = true)]
    pub repo: Option<PathBuf>,
}

/// Arguments of `evolve`.
#[derive(Debug, Args)]
pub struct EvolveArgs {
    /// Which repository.
    #[command(flatten)]
    pub place: Where,
    /// What is to be brought about.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["goal_file", "inbox"])]
    pub goal: Option<String>,
    /// … read from a file (`-` for stdin).
    #[arg(long, value_name = "FILE", conflicts_with = "inbox")]
    pub goal_file: Option<PathBuf>,
    /// Take goals from a watched folder, one Markdown or text file each; by default the repository's own inbox.
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    pub inbox: Option<Option<PathBuf>>,
    /// First put a goal into the inbox for each session of the agent's in this repository that went wrong.
    #[arg(long, requires = "inbox")]
    pub failures: bool,
    /// End after this many goals of the inbox.
    #[arg(long, value_name = "N", requires = "inbox")]
    pub cycles: Option<u32>,
    /// Who proposes: agent, fix, tune, replay:FILE, cmd:COMMAND.
    #[arg(long, value_name = "P", default_value = "agent")]
    pub proposer: String,
    /// What is done with what was accepted; by default as the judge's settings say.
    #[arg(long, value_enum)]
    pub landing: Option<LandingFlag>,
    /// The branch that the result goes to; by default the one that is checked out.
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// The model behind the relay, instead of the one in the judge's settings.
    #[arg(short, long)]
    pub model: Option<String>,
    /// Record the model's replies to a new file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Go on where this machine cannot give a wall of the room.
    #[arg(long)]
    pub accept_weaker_room: bool,
    /// JSON lines on stdout; the last one is {"verdict", "gate", "why", "candidate", "landed"}.
    #[arg(long)]
    pub json: bool,
}

/// Words of `--landing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LandingFlag {
    /// It lands.
    Auto,
    /// It waits for an approval.
    Review,
}

/// Arguments of `review`.
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// Which repository.
    #[command(flatten)]
    pub place: Where,
    /// JSON on stdout.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do; by default list.
    #[command(subcommand)]
    pub command: Option<ReviewCommand>,
}

/// What to do in a review.
#[derive(Debug, Clone, Subcommand)]
pub enum ReviewCommand {
    /// List candidates with their verdicts and states.
    List {
        /// Also cycles that came to no candidate.
        #[arg(long)]
        all: bool,
    },
    /// Show one: difference, evidence, texts.
    Show {
        /// Its id, or the beginning of it.
        candidate: String,
    },
    /// Decide about one file by file and hunk by hunk, at the keyboard.
    Walk {
        /// Its id.
        candidate: String,
    },
    /// Let one land; where its branch has moved, after it was made anew there and passed the gates again.
    Approve {
        /// Its id.
        candidate: String,
        /// Leave a file out, or one of its hunks by its number: the rest is weighed again and lands. Can be repeated.
        #[arg(long, value_name = "PATH[:N]")]
        leave_out: Vec<String>,
    },
    /// Refuse one.
    Reject {
        /// Its id.
        candidate: String,
        /// Why.
        #[arg(long, default_value = "")]
        why: String,
    },
    /// Take back a landed change by a new commit, through the gates.
    Revert {
        /// Its id, or the landed commit.
        commit: String,
    },
    /// Say something of one: it becomes a goal in the inbox.
    Comment {
        /// Its id.
        candidate: String,
        /// What is to be different.
        text: String,
        /// The file that it is about, or one of its hunks by its number.
        #[arg(long, value_name = "PATH[:N]")]
        at: Option<String>,
    },
    /// Find the landing that made a command fail: it runs in the room, on the files as each landing left them.
    Bisect {
        /// The branch; by default the one that is checked out.
        #[arg(long, value_name = "BRANCH")]
        branch: Option<String>,
        /// The command behind `--`: 0 holds, 125 cannot be told, anything else fails.
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Check the whole record: chain, evidence, verdicts, landed bytes.
    Verify,
}

/// Arguments of `undo`.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Which repository.
    #[command(flatten)]
    pub place: Where,
    /// Number of the operation; by default the last one.
    pub operation: Option<String>,
    /// JSON on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `at`.
#[derive(Debug, Args)]
pub struct AtArgs {
    /// Which repository.
    #[command(flatten)]
    pub place: Where,
    /// Number of an operation, or a time such as 2026-11-30T10:00.
    pub moment: String,
    /// JSON on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `gc`.
#[derive(Debug, Args)]
pub struct GcArgs {
    /// Which repository.
    #[command(flatten)]
    pub place: Where,
    /// Only what was judged so many days ago.
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub days: u32,
    /// Only say what would be forgotten.
    #[arg(long)]
    pub dry_run: bool,
    /// JSON on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `rollback`.
#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// Why, for whoever looks at it later.
    #[arg(long, value_name = "TEXT", default_value = "a person rolled it back")]
    pub why: String,
    /// Only say which generations there are.
    #[arg(long)]
    pub list: bool,
}

/// Arguments of plain lists.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Which repository.
    #[command(flatten)]
    pub place: Where,
    /// JSON on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `lineage`.
#[derive(Debug, Args)]
pub struct LineageArgs {
    /// Which repository.
    #[command(flatten)]
    pub place: Where,
    /// Check every link of the chain and every record.
    #[arg(long)]
    pub verify: bool,
    /// JSON on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// A new folder for it; by default one in the temporary folder. It is kept.
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Play these cassettes instead of the bundled ones (improve.jsonl, break.jsonl, cheat.jsonl).
    #[arg(long, value_name = "DIR")]
    pub cassettes: Option<PathBuf>,
    /// Go on where this machine cannot give a wall of the room.
    #[arg(long)]
    pub accept_weaker_room: bool,
    /// JSON lines on stdout.
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_of_the_judge_is_its_own_and_the_agents_are_not() {
        for command in Cli::command().get_subcommands() {
            assert!(is_own(Some(OsStr::new(command.get_name()))), "{}", command.get_name());
        }
        for other in ["exec", "resume", "config", "-m", "case", "fix the bug"] {
            assert!(!is_own(Some(OsStr::new(other))), "{other}");
        }
        assert!(!is_own(None));
    }

    #[test]
    fn a_word_that_resembles_one_of_ours_is_not_the_agents() {
        for (word, meant) in [("revue", "review"), ("evlove", "evolve"), ("lineag", "lineage"), ("demos", "demo")] {
            assert_eq!(nearly_own(OsStr::new(word)).as_deref(), Some(meant), "{word}");
        }
        for other in ["exec", "resume", "config", "case", "-m", "review", "fix the review", "tools", "version"] {
            assert_eq!(nearly_own(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn the_repository_may_be_named_after_any_word() {
        let all =
            ["list", "show x", "approve x", "reject x", "revert x", "verify"].map(|word| format!("review {word}"));
        for line in all.into_iter().chain(["evolve", "review", "undo", "ops", "lineage"].map(str::to_owned)) {
            let words = ["selfsmith"].into_iter().chain(line.split(' ')).chain(["--repo", "X"]);
            assert!(Cli::try_parse_from(words).is_ok(), "{line}");
        }
    }

    #[test]
    fn two_sources_of_a_goal_are_refused() {
        let wrong = ["selfsmith", "evolve", "--goal", "a", "--goal-file", "b"];
        assert!(Cli::try_parse_from(wrong).is_err());
        let bare = Cli::try_parse_from(["selfsmith", "evolve", "--inbox"]).expect("an inbox of its own");
        assert!(matches!(bare.command, Command::Evolve(EvolveArgs { inbox: Some(None), .. })));
    }
}
