//! Commits, trailers, history. Promises: a commit's id follows from its parts alone (no clock is read), no ref moves here,
//! and trailers are always a paragraph of their own, so that no text above them can pass for one.

use crate::error::RepoError;
use crate::open::{Repo, oid};
use git2::Sort;

/// Who made a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name.
    pub name: String,
    /// Address.
    pub email: String,
}

/// When a commit was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Minutes east of UTC.
    pub offset_minutes: i32,
}

/// A commit to write.
#[derive(Debug, Clone, Copy)]
pub struct NewCommit<'a> {
    /// Its tree.
    pub tree: &'a str,
    /// Its parents, first the one it goes on from.
    pub parents: &'a [&'a str],
    /// Author and committer.
    pub author: &'a Identity,
    /// Its whole message.
    pub message: &'a str,
    /// Its time.
    pub when: When,
}

/// A commit as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: String,
    /// Its tree.
    pub tree: String,
    /// Its parents' ids.
    pub parents: Vec<String>,
    /// Its author; what is no UTF-8 is replaced.
    pub author: Identity,
    /// Its author's time.
    pub when: When,
    /// Its whole message; what is no UTF-8 is replaced.
    pub message: String,
}

impl Commit {
    /// First line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or("")
    }

    /// The value of this trailer; the last one where there are several.
    pub fn trailer(&self, key: &str) -> Option<String> {
        trailers(&self.message).into_iter().rev().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v)
    }
}

impl Identity {
    pub(crate) fn signature(&self, when: When) -> Result<git2::Signature<'static>, RepoError> {
        let time = git2::Time::new(when.seconds, when.offset_minutes);
        let doing = format!("sign as {:?} <{}>", self.name, self.email);
        git2::Signature::new(&self.name, &self.email, &time).map_err(RepoError::git(doing))
    }
}

impl Repo {
    /// Writes a commit; no ref leads to it yet. The same parts give the same id.
    ///
    /// # Errors
    /// A tree or parent that is not there, an identity that git does not accept.
    pub fn commit(&self, new: NewCommit<'_>) -> Result<String, RepoError> {
        let signature = new.author.signature(new.when)?;
        let tree = self.find_tree(oid(new.tree)?)?;
        let parents = new.parents.iter().map(|id| self.find_commit(id)).collect::<Result<Vec<_>, _>>()?;
        let parents: Vec<&git2::Commit<'_>> = parents.iter().collect();
        let id = self
            .inner
            .commit(None, &signature, &signature, new.message, &tree, &parents)
            .map_err(RepoError::git("write a commit"))?;
        Ok(id.to_string())
    }

    /// Reads a commit.
    ///
    /// # Errors
    /// No such commit.
    pub fn read_commit(&self, id: &str) -> Result<Commit, RepoError> {
        Ok(commit_of(&self.find_commit(id)?))
    }

    /// History from `from` backwards, at most `limit` commits, children before parents.
    ///
    /// # Errors
    /// No such commit.
    pub fn log(&self, from: &str, limit: usize) -> Result<Vec<Commit>, RepoError> {
        let doing = || RepoError::git(format!("read the history of {from}"));
        let mut walk = self.inner.revwalk().map_err(doing())?;
        walk.set_sorting(Sort::TOPOLOGICAL).map_err(doing())?;
        walk.push(oid(from)?).map_err(doing())?;
        let mut commits = Vec::new();
        for id in walk.take(limit) {
            commits.push(self.read_commit(&id.map_err(doing())?.to_string())?);
        }
        Ok(commits)
    }

    /// What any of these commits stands on, and they themselves: each once, newest first, at most `limit`.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn history(&self, tips: &[String], limit: usize) -> Result<Vec<Commit>, RepoError> {
        let doing = || RepoError::git("read the history of the branches".to_owned());
        let mut walk = self.inner.revwalk().map_err(doing())?;
        walk.set_sorting(Sort::TIME).map_err(doing())?;
        for tip in tips {
            walk.push(oid(tip)?).map_err(doing())?;
        }
        walk.take(limit).map(|id| self.read_commit(&id.map_err(doing())?.to_string())).collect()
    }

    /// Commits from `from` backwards along first parents, at most `limit`.
    ///
    /// # Errors
    /// No such commit.
    pub fn first_parents(&self, from: &str, limit: usize) -> Result<Vec<Commit>, RepoError> {
        let mut commits: Vec<Commit> = Vec::new();
        let mut next = Some(from.to_owned());
        while let Some(id) = next.filter(|_| commits.len() < limit) {
            let commit = self.read_commit(&id)?;
            next = commit.parents.first().cloned();
            commits.push(commit);
        }
        Ok(commits)
    }

    /// Whether `ancestor` is `commit` or one of its ancestors.
    ///
    /// # Errors
    /// No such commit.
    pub fn is_ancestor(&self, ancestor: &str, commit: &str) -> Result<bool, RepoError> {
        let (ancestor, commit) = (self.find_commit(ancestor)?.id(), self.find_commit(commit)?.id());
        if ancestor == commit {
            return Ok(true);
        }
        self.inner.graph_descendant_of(commit, ancestor).map_err(RepoError::git("compare two commits"))
    }

    pub(crate) fn find_commit(&self, id: &str) -> Result<git2::Commit<'_>, RepoError> {
        self.inner.find_commit(oid(id)?).map_err(RepoError::git(format!("read commit {id}")))
    }
}

fn commit_of(commit: &git2::Commit<'_>) -> Commit {
    let author = commit.author();
    Commit {
        id: commit.id().to_string(),
        tree: commit.tree_id().to_string(),
        parents: commit.parent_ids().map(|id| id.to_string()).collect(),
        author: Identity {
            name: String::from_utf8_lossy(author.name_bytes()).into_owned(),
            email: String::from_utf8_lossy(author.email_bytes()).into_owned(),
        },
        when: When { seconds: author.when().seconds(), offset_minutes: author.when().offset_minutes() },
        message: String::from_utf8_lossy(commit.message_bytes()).into_owned(),
    }
}

/// `text`, an empty line, and these trailers. A value of several lines is folded as git does. Lines of the text that would
/// end the message for git's trailer reader (`---`) are indented by a space.
///
/// A key is letters, digits and `-`; anything else in it becomes `-`. An empty value is written as such.
pub fn message_with_trailers(text: &str, trailers: &[(&str, &str)]) -> String {
    let mut message = String::new();
    for line in text.replace('\0', " ").trim().lines() {
        if line.starts_with("---") {
            message.push(' ');
        }
        message.push_str(line.trim_end());
        message.push('\n');
    }
    if trailers.is_empty() {
        return message;
    }
    message.push('\n');
    for (key, value) in trailers {
        let key: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let value: Vec<&str> = value.split(['\n', '\r', '\0']).map(str::trim).filter(|l| !l.is_empty()).collect();
        message.push_str(&format!("{key}: {}\n", value.join("\n ")));
    }
    message
}

/// The trailers of a message by git's rules, values unfolded, in order.
pub fn trailers(message: &str) -> Vec<(String, String)> {
    let Ok(found) = git2::message_trailers_bytes(message.replace('\0', " ")) else { return Vec::new() };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    found.iter().map(|(key, value)| (text(key), unfold(&text(value)))).collect()
}

fn unfold(value: &str) -> String {
    value.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned()
}
