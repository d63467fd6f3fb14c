//! What is dangerous in a command line: pure, from what [`super::shell`] reads.
//!
//! It is a question's reason, never the only wall: the sandbox holds whatever is said here. What cannot be read is looked at
//! for the names of programs that do harm, and told as unclear where one stands in it.

mod facts;
mod git;

use super::place::{Ground, Place};
use super::shell::{Command, Line, Word, read};
use super::wrapper::{Real, Unwrapped, is_shell, name, unwrap};
use facts::{
    before, downloads, gives_secrets, harmful, has_download, interprets, is_secret, plain_arguments, stops_system,
    writes_disk,
};
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
}

#[cfg(test)]
mod tests;
