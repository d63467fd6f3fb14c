//! What is dangerous in a command line: pure, from what [`super::shell`] reads.
//!
//! It is a question's reason, never the only wall: the sandbox holds whatever is said here. What cannot be read is looked at
//! for the names of programs that do harm, and told as unclear where one stands in it.

use super::place::{Ground, Place};
use super::shell::{Command, Line, Word, read};
use super::wrapper::{Real, Unwrapped, is_shell, name, unwrap};
use std::collections::BTreeSet;
use std::path::Path;

/// A kind of danger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// Something outside of the workspace is removed.
    RemovesOutside,
    /// All of the workspace, or its repository, is removed.
    RemovesAll,
    /// It cannot be known what is removed.
    RemovesUnknown,
    /// Something outside of the workspace is written.
    WritesOutside,
    /// A disk or a device is written.
    WritesDisk,
    /// Commits, branches or what others have of them are lost.
    RewritesHistory,
    /// Keys or passwords are read.
    ReadsSecrets,
    /// What comes from the network is run.
    RunsDownload,
    /// It runs as another user.
    AsOtherUser,
    /// The machine, its services or all processes are stopped.
    StopsSystem,
    /// Processes without an end.
    Bomb,
    /// It cannot be read well enough.
    Unclear,
}

/// Texts in texts.
const DEEP: usize = 8;
/// Programs whose names make an unreadable line suspicious.
const HARMFUL: [&str; 12] =
    ["rm", "dd", "mkfs", "shred", "wipefs", "sudo", "curl", "wget", "chmod", "chown", "reboot", "shutdown"];

/// The dangers of a line, for a workspace.
pub fn dangers(text: &str, root: &Path, home: Option<&Path>) -> BTreeSet<Danger> {
    let ground = Ground { root, home, here: Some(root.to_owned()) };
    let mut look = Look { ground, found: BTreeSet::new() };
    look.line(text, 0);
    look.found
}

struct Look<'a> {
    ground: Ground<'a>,
    found: BTreeSet<Danger>,
}

impl Look<'_> {
    fn line(&mut self, text: &str, deep: usize) {
        if deep > DEEP {
            self.found.insert(Danger::Unclear);
            return;
        }
        let line = read(text);
        if line.unclear && harmful(text) {
            self.found.insert(Danger::Unclear);
        }
        if line.bomb {
            self.found.insert(Danger::Bomb);
        }
        for redirect in &line.redirects {
            let places: Vec<Place> = redirect.target.texts.iter().map(|text| self.ground.place(text)).collect();
            if redirect.writes {
                places.iter().for_each(|place| self.written(place));
            } else {
                self.secrets(&redirect.target);
            }
        }
        for (n, command) in line.commands.iter().enumerate() {
            for unwrapped in unwrap(&command.words) {
                match unwrapped {
                    Unwrapped::Real(real) => self.command(&real, command, &line, n, deep),
                    Unwrapped::Text(text) => {
                        if has_download(&line, command) {
                            self.found.insert(Danger::RunsDownload);
                        }
                        self.line(&text, deep + 1);
                    }
                    Unwrapped::Unknown => self.unknown(&line, command),
                }
            }
        }
    }

    /// A program, or a text for a shell, that only a run would tell. A program whose arguments harm nobody may be any.
    fn unknown(&mut self, line: &Line, command: &Command) {
        let words: Vec<&str> = command.words.iter().map(Word::text).collect();
        if has_download(line, command) || downloads(&words.join(" ")) {
            return self.add(Danger::RunsDownload);
        }
        let nameless = command.words.first().is_some_and(|name| !name.known);
        let far =
            |text: &&str| matches!(self.ground.place(text), Place::Outside | Place::Device | Place::Git | Place::Whole);
        let harmless =
            nameless && !words.iter().skip(1).any(|text| text.starts_with("-r") || text.starts_with("-f") || far(text));
        if !harmless {
            self.add(Danger::Unclear);
        }
    }

    fn command(&mut self, real: &Real, command: &Command, line: &Line, n: usize, deep: usize) {
        let Some((first, rest)) = real.words.split_first() else { return };
        let name = name(first);
        if real.as_other || matches!(name, "su" | "sudo" | "doas" | "pkexec" | "runuser") {
            self.found.insert(Danger::AsOtherUser);
        }
        rest.iter().for_each(|word| self.secrets(word));
        let arguments = plain_arguments(rest);
        match name {
            "cd" | "pushd" => self.enters(arguments.first().copied()),
            "popd" => self.ground.here = None,
            "rm" | "rmdir" | "unlink" | "shred" | "trash" | "srm" => self.removes(real, &arguments, line, n),
            "find" | "fd" | "fdfind" if rest.iter().any(|word| word.text() == "-delete") => self.finds(rest),
            "mv" => {
                let (target, sources) =
                    arguments.split_last().map_or((None, &[][..]), |(last, rest)| (Some(*last), rest));
                self.removed(sources);
                target.into_iter().for_each(|word| self.writes(word));
            }
            "rsync" if rest.iter().any(|word| word.text().starts_with("--del")) => {
                arguments.last().copied().into_iter().for_each(|word| self.removed(&[word]));
            }
            "cp" | "ln" | "install" | "rsync" => arguments.last().into_iter().for_each(|word| self.writes(word)),
            "tee" | "truncate" | "touch" | "mkdir" => arguments.iter().for_each(|word| self.writes(word)),
            "chmod" | "chown" | "chgrp" => arguments.iter().skip(1).for_each(|word| self.writes(word)),
            "sed" | "perl" if rest.iter().any(|word| word.text().starts_with("-i")) => {
                arguments.iter().skip(1).for_each(|word| self.writes(word));
            }
            "dd" => rest.iter().filter_map(|word| word.text().strip_prefix("of=")).for_each(|text| {
                let place = self.ground.place(text);
                self.written(&place);
            }),
            "git" => self.git(rest),
            "kill" | "killall" | "pkill" => self.kills(name, rest),
            "crontab" if rest.iter().any(|word| word.text() == "-r") => self.add(Danger::RemovesOutside),
            "export" | "declare" => {}
            name if stops_system(name, rest) => self.add(Danger::StopsSystem),
            name if writes_disk(name) => self.add(Danger::WritesDisk),
            name if gives_secrets(name, rest) => self.add(Danger::ReadsSecrets),
            name if interprets(name) => self.interprets(name, rest, command, line, deep),
            _ => {}
        }
    }

    fn add(&mut self, danger: Danger) {
        self.found.insert(danger);
    }

    fn enters(&mut self, folder: Option<&Word>) {
        let text = folder.map_or("~", Word::text);
        let known = folder.is_none_or(|word| word.known && word.texts.len() == 1) && text != "-";
        self.ground.here = if known { self.ground.path(text) } else { None };
    }

    fn removes(&mut self, real: &Real, arguments: &[&Word], line: &Line, n: usize) {
        if real.found_below.is_empty() {
            self.removed(arguments);
        } else {
            // What is found below a folder is not the folder itself.
            let below: Vec<&Word> = real.found_below.iter().collect();
            self.below(&below);
        }
        if real.fed {
            // Names come from what stands before it in the pipe.
            let pipe = line.commands.get(n).and_then(|command| command.pipe).map(|(pipe, _)| pipe);
            let before = line.commands.iter().take(n).filter(|other| other.pipe.map(|(pipe, _)| pipe) == pipe);
            let words: Vec<&Word> =
                before.flat_map(|command| plain_arguments(command.words.get(1..).unwrap_or_default())).collect();
            let paths: Vec<&Word> =
                words.into_iter().filter(|word| word.text().contains('/') || word.text() == "~").collect();
            self.below(&paths);
        }
    }

    fn removed(&mut self, words: &[&Word]) {
        for word in words {
            if !word.known {
                self.add(Danger::RemovesUnknown);
            }
            for text in &word.texts {
                match self.ground.place(text) {
                    Place::Inside | Place::Scratch | Place::Sink => {}
                    Place::Whole | Place::Git => self.add(Danger::RemovesAll),
                    Place::Outside => self.add(Danger::RemovesOutside),
                    Place::Device => self.add(Danger::WritesDisk),
                    Place::Unknown => self.add(Danger::RemovesUnknown),
                }
            }
        }
    }

    /// Some of what lies below these.
    fn below(&mut self, words: &[&Word]) {
        let outside = words
            .iter()
            .flat_map(|word| &word.texts)
            .any(|text| matches!(self.ground.place(text), Place::Outside | Place::Device | Place::Unknown));
        if outside {
            self.add(Danger::RemovesOutside);
        }
    }

    fn finds(&mut self, rest: &[Word]) {
        let roots: Vec<&Word> = rest.iter().take_while(|word| !word.text().starts_with(['-', '(', '!'])).collect();
        let chosen = ["-name", "-iname", "-path", "-regex", "-newer", "-mtime", "-size", "-empty", "-perm", "-user"];
        let here = Word::plain(".");
        let roots = if roots.is_empty() { vec![&here] } else { roots };
        if rest.iter().any(|word| chosen.contains(&word.text())) { self.below(&roots) } else { self.removed(&roots) }
    }

    fn writes(&mut self, word: &Word) {
        for text in &word.texts {
            let place = self.ground.place(text);
            self.written(&place);
        }
    }

    fn written(&mut self, place: &Place) {
        match place {
            Place::Outside => self.add(Danger::WritesOutside),
            Place::Device => self.add(Danger::WritesDisk),
            Place::Git => self.add(Danger::RewritesHistory),
            // The sandbox decides where it turns out to be.
            Place::Unknown | Place::Inside | Place::Whole | Place::Scratch | Place::Sink => {}
        }
    }

    fn secrets(&mut self, word: &Word) {
        if word.texts.iter().any(|text| is_secret(text)) {
            self.add(Danger::ReadsSecrets);
        }
    }

    fn kills(&mut self, name: &str, rest: &[Word]) {
        let everything = match name {
            "kill" => rest.iter().skip(1).any(|word| word.text() == "-1"),
            _ => rest.iter().any(|word| matches!(word.text(), "-u" | "." | ".*")),
        };
        if everything {
            self.add(Danger::StopsSystem);
        }
    }

    /// Of a program that runs what it reads: where does that come from?
    fn interprets(&mut self, name: &str, rest: &[Word], command: &Command, line: &Line, deep: usize) {
        if rest.iter().any(|word| downloads(word.text())) {
            return self.add(Danger::RunsDownload);
        }
        let reads_input = rest.iter().all(|word| word.text().starts_with('-') && !word.text().starts_with("-e"));
        if !reads_input || matches!(name, "source" | ".") {
            return;
        }
        if has_download(line, command) {
            self.add(Danger::RunsDownload);
        }
        if !is_shell(name) {
            return;
        }
        line.documents.iter().for_each(|text| self.line(text, deep + 1));
        for said in before(line, command)
            .filter(|other| matches!(other.words.first().map(super::wrapper::name), Some("echo" | "printf")))
        {
            let words: Vec<&str> =
                said.words.iter().skip(1).map(Word::text).filter(|text| !text.starts_with('-')).collect();
            self.line(&words.join(" "), deep + 1);
        }
    }

    fn git(&mut self, rest: &[Word]) {
        let mut words = rest.iter().map(Word::text);
        let mut command = "";
        while let Some(word) = words.next() {
            if matches!(word, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace") {
                words.next();
            } else if !word.starts_with('-') {
                command = word;
                break;
            }
        }
        let rest: Vec<&str> = words.collect();
        let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
        let short = |letter: char| {
            rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
        };
        let begins = |text: &str| rest.iter().any(|word| word.starts_with(text));
        let target = rest.iter().find(|word| !word.starts_with('-')).copied().unwrap_or("HEAD");
        let rewrites = match command {
            "push" => {
                has(&["--mirror", "--delete", "--prune", "--all"])
                    || begins("--force")
                    || short('f')
                    || short('d')
                    || begins("+")
                    || begins(":")
            }
            "reset" => has(&["--hard", "--merge", "--keep"]) && target != "HEAD",
            "commit" => has(&["--amend"]),
            "rebase" => !has(&["--abort", "--quit", "--show-current-patch"]),
            "filter-branch" | "filter-repo" | "fast-import" | "replace" => true,
            "branch" => short('D') || short('M') || has(&["--delete", "--force"]) || short('d'),
            "tag" => short('d') || short('f') || has(&["--delete", "--force"]),
            "stash" => matches!(rest.first().copied(), Some("drop" | "clear")),
            "reflog" => matches!(rest.first().copied(), Some("expire" | "delete" | "drop")),
            "update-ref" => short('d') || has(&["--stdin"]),
            "gc" | "prune" => begins("--prune") || command == "prune",
            "checkout" | "switch" => short('B') || has(&["--orphan"]) || (command == "switch" && short('C')),
            "worktree" => rest.first() == Some(&"remove"),
            "remote" => matches!(rest.first().copied(), Some("remove" | "rm" | "set-url")),
            "credential" => {
                self.add(Danger::ReadsSecrets);
                false
            }
            _ => false,
        };
        if rewrites {
            self.add(Danger::RewritesHistory);
        }
    }
}

/// The commands before one in its pipe.
fn before<'l>(line: &'l Line, command: &'l Command) -> impl Iterator<Item = &'l Command> {
    line.commands.iter().filter(move |other| match (other.pipe, command.pipe) {
        (Some((pipe, place)), Some((own, end))) => pipe == own && place < end,
        _ => false,
    })
}

/// Whether what it reads comes from the network, or was made unreadable on its way.
fn has_download(line: &Line, command: &Command) -> bool {
    before(line, command).any(|other| {
        unwrap(&other.words).iter().any(|unwrapped| match unwrapped {
            Unwrapped::Real(real) => real.words.first().is_some_and(|word| fetches(name(word), &real.words)),
            Unwrapped::Text(text) => downloads(text),
            Unwrapped::Unknown => true,
        })
    })
}

fn fetches(name: &str, words: &[Word]) -> bool {
    let has = |option: &str| words.iter().any(|word| word.text() == option);
    match name {
        "curl" | "wget" | "fetch" | "aria2c" | "http" | "https" | "xh" | "lynx" | "nc" | "ncat" | "netcat"
        | "socat" | "ftp" => true,
        "base64" | "base32" => has("-d") || has("-D") || has("--decode"),
        "xxd" => has("-r") || has("-rp"),
        "openssl" => has("-d"),
        "gh" => has("api"),
        _ => false,
    }
}

/// Whether a text that is only known as it is written fetches something.
fn downloads(text: &str) -> bool {
    let fetched = ["curl ", "wget ", "base64 -d", "base64 --decode", "/dev/tcp/"];
    (text.contains("$(") || text.contains('`') || text.contains("<(")) && fetched.iter().any(|word| text.contains(word))
}

fn interprets(name: &str) -> bool {
    is_shell(name)
        || matches!(
            name,
            "source" | "." | "perl" | "ruby" | "node" | "deno" | "bun" | "php" | "lua" | "tclsh" | "osascript" | "pwsh"
        )
        || name.strip_prefix("python").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn stops_system(name: &str, rest: &[Word]) -> bool {
    let has = |words: &[&str]| rest.iter().any(|word| words.contains(&word.text()));
    match name {
        "shutdown" | "reboot" | "halt" | "poweroff" => true,
        "init" | "telinit" => has(&["0", "1", "6"]),
        "systemctl" | "service" => {
            has(&["stop", "disable", "mask", "kill", "poweroff", "reboot", "halt", "restart", "isolate", "suspend"])
        }
        "iptables" | "nft" | "ufw" => has(&["-F", "--flush", "flush", "disable", "reset"]),
        "ip" => has(&["down", "del", "delete", "flush"]),
        "userdel" | "groupdel" | "passwd" | "usermod" | "visudo" | "swapoff" | "umount" | "rmmod" | "kexec" => true,
        _ => false,
    }
}

fn writes_disk(name: &str) -> bool {
    name.starts_with("mkfs")
        || matches!(
            name,
            "wipefs"
                | "fdisk"
                | "sfdisk"
                | "cfdisk"
                | "gdisk"
                | "sgdisk"
                | "parted"
                | "partprobe"
                | "blkdiscard"
                | "mkswap"
                | "cryptsetup"
                | "hdparm"
                | "nvme"
                | "lvremove"
                | "vgremove"
                | "pvremove"
                | "zpool"
                | "mdadm"
                | "badblocks"
                | "losetup"
        )
}

fn gives_secrets(name: &str, rest: &[Word]) -> bool {
    let has = |words: &[&str]| words.iter().all(|wanted| rest.iter().any(|word| word.text() == *wanted));
    match name {
        "gpg" | "gpg2" => rest.iter().any(|word| word.text().starts_with("--export-secret")),
        "security" => rest.iter().any(|word| word.text().starts_with("find-") || word.text().starts_with("dump-")),
        "gh" => has(&["auth", "token"]),
        "gcloud" => has(&["auth", "print-access-token"]),
        "aws" => has(&["configure", "get"]) || has(&["configure", "export-credentials"]),
        "pass" | "secret-tool" | "keyring" => has(&["show"]) || has(&["lookup"]) || has(&["get"]),
        _ => false,
    }
}

/// Whether a path looks like keys or passwords, in the workspace or anywhere.
fn is_secret(text: &str) -> bool {
    let text = text.split_once('=').map_or(text, |(_, value)| value).trim_start_matches('@');
    let parts: Vec<String> = text.split('/').map(str::to_lowercase).collect();
    if crate::tool::looks_secret(&parts) {
        return true;
    }
    let ends =
        ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", ".config/gh/hosts.yml", ".docker/config.json", ".kube/config"];
    let holds =
        [".config/gcloud", ".password-store", ".local/share/keyrings", ".mozilla/firefox", ".aws/", ".ssh/", ".gnupg/"];
    ends.iter().any(|end| text.ends_with(end))
        || holds.iter().any(|part| text.contains(part))
        || (text.starts_with("/proc/") && text.ends_with("/environ"))
}

/// Arguments that are no options.
fn plain_arguments(rest: &[Word]) -> Vec<&Word> {
    let mut only = false;
    let mut arguments = Vec::new();
    for word in rest {
        if !only && word.text() == "--" {
            only = true;
        } else if only || !word.text().starts_with('-') || word.text() == "-" {
            arguments.push(word);
        }
    }
    arguments
}

fn harmful(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-'));
    words.into_iter().any(|word| HARMFUL.contains(&word) || word.starts_with("mkfs"))
}

#[cfg(test)]
mod tests;
