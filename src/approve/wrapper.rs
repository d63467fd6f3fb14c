//! Commands that run other commands: `sudo`, `env`, `xargs`, `timeout`, `find -exec`, `sh -c` and the rest, taken off one
//! after the other until what really runs is left. Pure.

use super::shell::Word;

/// What really runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Real {
    /// Name and arguments.
    pub(super) words: Vec<Word>,
    /// As another user.
    pub(super) as_other: bool,
    /// Further arguments come from its input (`xargs`, `parallel`).
    pub(super) fed: bool,
    /// It is run for what `find` finds below these.
    pub(super) found_below: Vec<Word>,
}

/// What a wrapped command comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unwrapped {
    /// A command.
    Real(Real),
    /// A text that a shell reads.
    Text(String),
    /// It cannot be known.
    Unknown,
}

/// Wrappers within wrappers that are taken off.
const DEEP: usize = 12;

/// The program's own name, without its folder.
pub(super) fn name(word: &Word) -> &str {
    word.text().rsplit('/').next().unwrap_or_default()
}

/// Whether it is a shell.
pub(super) fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" | "rbash" | "mksh")
}

/// Takes every wrapper off.
pub(super) fn unwrap(words: &[Word]) -> Vec<Unwrapped> {
    let mut out = Vec::new();
    let mut open = vec![(Real { words: words.to_vec(), ..Real::default() }, 0)];
    while let Some((real, deep)) = open.pop() {
        if deep > DEEP {
            out.push(Unwrapped::Unknown);
            continue;
        }
        match step(&real) {
            Step::Real => out.push(Unwrapped::Real(real)),
            Step::Text(text) => out.push(Unwrapped::Text(text)),
            Step::Unknown => out.push(Unwrapped::Unknown),
            Step::Inner(inner) => open.extend(inner.into_iter().map(|inner| (inner, deep + 1))),
            Step::Both(inner) => {
                out.push(Unwrapped::Real(real));
                open.extend(inner.into_iter().map(|inner| (inner, deep + 1)));
            }
        }
    }
    out
}

enum Step {
    /// It is no wrapper.
    Real,
    Text(String),
    Unknown,
    Inner(Vec<Real>),
    /// It does something itself, too.
    Both(Vec<Real>),
}

fn step(real: &Real) -> Step {
    let Some((first, rest)) = real.words.split_first() else { return Step::Real };
    if !first.known || first.texts.len() > 1 {
        return Step::Unknown;
    }
    let inner = |words: &[Word]| Step::Inner(vec![Real { words: words.to_vec(), ..real.clone() }]);
    match name(first) {
        "sudo" | "doas" | "pkexec" | "su" | "runuser" => as_other(real, rest),
        "env" => match split_string(rest) {
            Some(text) => Step::Text(text),
            None => inner(after_assignments(after_options(rest, &["-u", "--unset", "-C", "--chdir"], 0))),
        },
        "ionice" | "nice" | "stdbuf" | "chrt" | "busybox" | "toybox" | "catchsegv" | "caffeinate" | "unbuffer"
        | "proot" | "fakeroot" | "tsocks" | "torsocks" | "proxychains" | "dbus-run-session" | "xvfb-run" | "coproc"
        | "!" => inner(after_options(rest, &["-n", "-c", "-o", "-i", "-e", "-f", "-s", "-p"], 0)),
        // Their options stand alone.
        "time" | "command" | "builtin" | "nohup" | "setsid" => inner(after_options(rest, &["-f", "-o"], 0)),
        "exec" => inner(after_options(rest, &["-a"], 0)),
        "timeout" | "gtimeout" => inner(after_options(rest, &["-s", "--signal", "-k", "--kill-after"], 1)),
        "taskset" | "chroot" | "setarch" | "linux64" => inner(after_options(rest, &["--userspec", "--groups"], 1)),
        "strace" | "ltrace" | "perf" | "valgrind" | "gdb" | "unshare" | "nsenter" | "systemd-run" | "firejail"
        | "bwrap" => inner(after_options(rest, &["-o", "-e", "-p", "-s", "-u"], 0)),
        "flock" => match rest.iter().position(|word| matches!(word.text(), "-c" | "--command")) {
            Some(at) => text_of(rest.get(at + 1)),
            None => inner(after_options(rest, &["-w", "--wait", "-E"], 1)),
        },
        "watch" => match after_options(rest, &["-n", "--interval"], 0) {
            [] => Step::Real,
            words => text_from(words),
        },
        "eval" => text_from(rest),
        "xargs" | "parallel" => {
            let options =
                ["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "-j", "--max-args", "--max-procs", "--delimiter"];
            let words = after_options(rest, &options, 0);
            Step::Inner(vec![Real { words: words.to_vec(), fed: true, ..real.clone() }])
        }
        "find" | "fd" | "fdfind" => found(real, rest),
        "script" => match rest.iter().position(|word| word.text() == "-c") {
            Some(at) => text_of(rest.get(at + 1)),
            None => Step::Real,
        },
        shell if is_shell(shell) => from_shell(rest),
        _ => Step::Real,
    }
}

/// A command as another user; `su -c` reads a text.
fn as_other(real: &Real, rest: &[Word]) -> Step {
    let options = ["-u", "--user", "-g", "--group", "-h", "-p", "--prompt", "-C", "-T", "-D", "-R", "-r", "-t", "-s"];
    let is_su = matches!(real.words.first().map(name), Some("su" | "runuser"));
    if let Some(at) = rest.iter().position(|word| is_su && matches!(word.text(), "-c" | "--command")) {
        return text_of(rest.get(at + 1));
    }
    let words = after_assignments(after_options(rest, &options, 0));
    if words.is_empty() || is_su {
        return Step::Real;
    }
    Step::Inner(vec![Real { words: words.to_vec(), as_other: true, ..real.clone() }])
}

/// `find … -exec command ;`, for each.
fn found(real: &Real, rest: &[Word]) -> Step {
    let runs = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
    let mut inner = Vec::new();
    let mut open: Option<Vec<Word>> = None;
    for word in rest {
        match &mut open {
            Some(words) if matches!(word.text(), ";" | "+" | "\\;") => {
                inner.push(std::mem::take(words));
                open = None;
            }
            Some(words) => words.push(word.clone()),
            None if runs.contains(&word.text()) => open = Some(Vec::new()),
            None => {}
        }
    }
    inner.extend(open);
    let below: Vec<Word> = rest
        .iter()
        .skip_while(|word| matches!(word.text(), "-H" | "-L" | "-P"))
        .take_while(|word| !word.text().starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    let below = if below.is_empty() { vec![Word::plain(".")] } else { below };
    Step::Both(inner.into_iter().map(|words| Real { words, found_below: below.clone(), ..real.clone() }).collect())
}

/// `sh -c text`; a script is a program like any other.
fn from_shell(rest: &[Word]) -> Step {
    for (n, word) in rest.iter().enumerate() {
        let text = word.text();
        if text.starts_with('-') && !text.starts_with("--") && text.contains('c') {
            return text_of(rest.get(n + 1));
        }
        if !text.starts_with(['-', '+']) {
            break;
        }
    }
    Step::Real
}

fn text_of(word: Option<&Word>) -> Step {
    match word {
        Some(word) if word.known => Step::Text(word.texts.join("\n")),
        // Known in part: what can be read in it is read.
        Some(word) if !word.text().starts_with(['$', '`']) => Step::Text(word.text().to_owned()),
        _ => Step::Unknown,
    }
}

fn text_from(words: &[Word]) -> Step {
    if words.iter().any(|word| !word.known && word.text().starts_with(['$', '`'])) {
        return Step::Unknown;
    }
    Step::Text(words.iter().map(Word::text).collect::<Vec<_>>().join(" "))
}

/// `env -S 'command with words'`.
fn split_string(rest: &[Word]) -> Option<String> {
    let at = rest.iter().position(|word| word.text().starts_with("-S") || word.text().starts_with("--split-string"))?;
    let word = rest.get(at)?.text();
    let glued = word.strip_prefix("--split-string=").or_else(|| word.strip_prefix("-S")).unwrap_or_default();
    let first = if glued.is_empty() || glued.starts_with("plit") { rest.get(at + 1)?.text() } else { glued };
    let more = rest.get(at + 1..).unwrap_or_default().iter().map(Word::text).filter(|text| *text != first);
    Some(std::iter::once(first).chain(more).collect::<Vec<_>>().join(" "))
}

/// What follows options, those with a value of their own given, and a number of arguments.
fn after_options<'w>(words: &'w [Word], with_value: &[&str], arguments: usize) -> &'w [Word] {
    let mut at = 0;
    while let Some(text) = words.get(at).map(Word::text) {
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        at += if with_value.contains(&text) { 2 } else { 1 };
    }
    words.get(at + arguments..).unwrap_or_default()
}

fn after_assignments(words: &[Word]) -> &[Word] {
    let passed = |word: &&Word| word.text() == "--" || (word.text().contains('=') && !word.text().starts_with('-'));
    let count = words.iter().take_while(passed).count();
    words.get(count..).unwrap_or_default()
}
