//! Standard input of `exec`: in the place of a lone `-`, or beside the prompt where something is piped in.

use crate::open::Refusal;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::prompt::Prompts;
use selfsmith_agent::texts::fill;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Bytes that a prompt from standard input may have.
const MAX_PROMPT: u64 = 8 * 1024 * 1024;
/// Bytes that are read of what stands beside a prompt.
const MAX_READ: u64 = 64 * 1024 * 1024;
/// Bytes of it that the model is told: its beginning, and its end, where logs say why.
const HEAD: usize = 24 * 1024;
const TAIL: usize = 72 * 1024;
/// How long nothing may come before the person is told what is waited for.
const SILENT: Duration = Duration::from_secs(2);

/// The built-in words; a generation's own file wins.
const BESIDE: &str = include_str!("../../prompts/commands/stdin.md");

/// Whether something is piped in: a pipe, a socket or a file. A terminal, /dev/null and a closed stream are nothing.
pub fn is_piped() -> bool {
    let Ok(own) = std::io::stdin().as_fd().try_clone_to_owned() else { return false };
    let kind = std::fs::File::from(own).metadata().map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket() || kind.is_file())
}

/// All of standard input as a prompt, unless an interrupt comes first.
pub async fn prompt(surroundings: &Surroundings, cancel: &CancellationToken) -> Result<String, Refusal> {
    let bytes = read(surroundings, cancel, MAX_PROMPT).await?;
    if bytes.len() as u64 > MAX_PROMPT {
        return Err(refusal(surroundings, &format!("it is larger than {} MiB", MAX_PROMPT >> 20)));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The prompt with what is piped in beside it, bounded; what to tell the person, if something was cut.
pub async fn beside(
    prompt: String,
    surroundings: &Surroundings,
    cancel: &CancellationToken,
) -> Result<(String, Option<String>), Refusal> {
    let bytes = read(surroundings, cancel, MAX_READ).await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok((prompt, None));
    }
    if bytes.contains(&0) {
        return Err(refusal(surroundings, "it is no text"));
    }
    let text = String::from_utf8_lossy(&bytes);
    let (text, left_out) = cut(text.trim_end(), bytes.len() as u64 > MAX_READ);
    let values = [("prompt", prompt.as_str()), ("text", &text), ("left_out", &left_out.to_string())];
    let wrong = |error: selfsmith_agent::prompt::PromptError| Refusal {
        ending: Ending::Config,
        text: fill(surroundings.texts.could_not, &[("what", &error.to_string()), ("hint", error.hint())]),
    };
    let prompts = Prompts::load(surroundings.around(&surroundings.folder).prompts).map_err(wrong)?;
    let prompt = prompts.command("stdin", BESIDE, &values).map_err(wrong)?;
    let told = fill(surroundings.texts.stdin_cut, &[("bytes", &left_out.to_string())]);
    Ok((prompt, (left_out > 0).then_some(told)))
}

/// Beginning and end of a text, at line ends where there are some near, and the bytes between.
fn cut(text: &str, more: bool) -> (String, usize) {
    if text.len() <= HEAD + TAIL && !more {
        return (text.to_owned(), 0);
    }
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or_default();
    let head = head.rsplit_once('\n').map_or(head, |(whole, _)| whole);
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(TAIL))..).unwrap_or_default();
    let tail = tail.split_once('\n').map_or(tail, |(_, whole)| whole);
    let left_out = text.len() - head.len() - tail.len();
    (format!("{head}\n[… {left_out} bytes …]\n{tail}"), left_out)
}

async fn read(surroundings: &Surroundings, cancel: &CancellationToken, most: u64) -> Result<Vec<u8>, Refusal> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    tokio::pin!(reading);
    let mut told = false;
    loop {
        tokio::select! {
            read = &mut reading => {
                let read = read.map_err(|error| refusal(surroundings, &error.to_string()))?;
                return read.map_err(|error| refusal(surroundings, &error.to_string()));
            }
            () = cancel.cancelled() => {
                return Err(Refusal { ending: Ending::Interrupted, text: surroundings.texts.stopped.to_owned() });
            }
            () = tokio::time::sleep(SILENT), if !told => {
                streams::tell(surroundings.texts.reading_stdin);
                told = true;
            }
        }
    }
}

fn refusal(surroundings: &Surroundings, why: &str) -> Refusal {
    Refusal { ending: Ending::Usage, text: fill(surroundings.texts.unreadable_stdin, &[("error", why)]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_beginning_and_more_of_its_end_in_whole_lines() {
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let (cut_text, left_out) = cut(text.trim_end(), false);
        assert!(cut_text.starts_with("line 0\n") && cut_text.ends_with("\nline 19999"), "{left_out}");
        assert!(cut_text.len() < HEAD + TAIL + 100 && left_out > 100_000, "{left_out}");
        assert_eq!(cut("short", false), ("short".to_owned(), 0));
        let (wide, _) = cut(&"界".repeat(50_000), false);
        assert!(wide.contains("bytes …]"));
    }
}
