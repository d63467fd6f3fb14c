//! Refs, read and moved by compare-and-swap. Promises: of two processes that move one ref from the same commit exactly one
//! wins, the other is told [`RepoError::Moved`]; nothing is ever forced. It does not know what a ref is for.

use crate::commits::{Identity, When};
use crate::error::RepoError;
use crate::locks::{Marked, take_away_marked};
use crate::open::{Repo, oid};
use git2::{ErrorCode, Oid, Reference};
use std::thread;
use std::time::Duration;

/// One ref.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ref {
    /// Full name; what is no UTF-8 in it is replaced, so such a name is for showing only.
    pub name: String,
    /// The object it leads to.
    pub id: String,
}

/// How often, and how far apart, a locked ref is tried again: a second in all.
const LOCK_TRIES: u32 = 50;
const LOCK_WAIT: Duration = Duration::from_millis(20);

impl Repo {
    /// Where a ref stands; none if there is no such ref.
    ///
    /// # Errors
    /// An invalid name, or a damaged ref.
    pub fn read_ref(&self, name: &str) -> Result<Option<String>, RepoError> {
        check_name(name)?;
        match self.inner.refname_to_id(name) {
            Ok(id) => Ok(Some(id.to_string())),
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(RepoError::Git { doing: format!("read {name}"), source: e }),
        }
    }

    /// Every ref whose full name starts with `prefix`, sorted. Symbolic refs are resolved, dangling ones left out.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn refs(&self, prefix: &str) -> Result<Vec<Ref>, RepoError> {
        let doing = || RepoError::git(format!("list refs below {prefix}"));
        let mut found = Vec::new();
        for reference in self.inner.references().map_err(doing())? {
            let reference = reference.map_err(doing())?;
            if !reference.name_bytes().starts_with(prefix.as_bytes()) {
                continue;
            }
            let Some(id) = reference.resolve().ok().and_then(|r| r.target()) else { continue };
            found.push(Ref { name: String::from_utf8_lossy(reference.name_bytes()).into_owned(), id: id.to_string() });
        }
        found.sort();
        Ok(found)
    }

    /// Moves a ref from `expected` (none: it must not exist) to `new` (none: it is removed), or leaves it alone.
    /// `why` and `who` go into its reflog, where git keeps one.
    ///
    /// # Errors
    /// [`RepoError::Moved`] if it is not at `expected`; [`RepoError::Locked`] if another process holds it for a second;
    /// [`RepoError::InTheWay`] if another ref's name excludes it; a bad name, a symbolic ref, an object that is not there.
    pub fn cas_ref(
        &self,
        name: &str,
        expected: Option<&str>,
        new: Option<&str>,
        why: &str,
        who: (&Identity, When),
    ) -> Result<(), RepoError> {
        check_name(name)?;
        let expected_id = expected.map(oid).transpose()?;
        let new_id = new.map(oid).transpose()?;
        if let Some(id) = new_id {
            let odb = self.inner.odb().map_err(RepoError::git("open the object database"))?;
            if !odb.exists(id) {
                return Err(RepoError::NotFound { what: format!("{id}"), why: format!("{name} would lead nowhere") });
            }
        }
        let signature = who.0.signature(who.1)?;
        let mut transaction = self.inner.transaction().map_err(RepoError::git("begin a ref transaction"))?;
        let _marked = self.lock(&mut transaction, name)?;
        let found = self.direct_target(name)?;
        if found != expected_id {
            return Err(RepoError::Moved {
                name: name.to_owned(),
                expected: expected.map(str::to_owned),
                found: found.map(|id| id.to_string()),
            });
        }
        if found.is_none() {
            self.check_nothing_in_the_way(name)?;
        }
        let doing = || RepoError::git(format!("move {name}"));
        match new_id {
            Some(id) => transaction.set_target(name, id, Some(&signature), &one_line(why)).map_err(doing())?,
            None if found.is_none() => return Ok(()),
            None => transaction.remove(name).map_err(doing())?,
        }
        transaction.commit().map_err(doing())
    }

    /// Takes the ref's lock, waiting a little for another process, and marks it as ours.
    pub(crate) fn lock(&self, transaction: &mut git2::Transaction<'_>, name: &str) -> Result<Marked, RepoError> {
        let mut tries = 0;
        loop {
            match transaction.lock_ref(name) {
                // If we are killed from now on, whoever comes next knows whose it was.
                Ok(()) => return Ok(self.mark(name)),
                Err(e) if e.code() == ErrorCode::Locked && tries < LOCK_TRIES => {
                    tries += 1;
                    if !take_away_marked(&self.lock_of(name))? {
                        thread::sleep(LOCK_WAIT);
                    }
                }
                Err(e) if e.code() == ErrorCode::Locked => {
                    return Err(RepoError::Locked { what: name.to_owned(), path: Some(self.lock_of(name)) });
                }
                Err(e) => {
                    self.check_nothing_in_the_way(name)?;
                    return Err(RepoError::Git { doing: format!("lock {name}"), source: e });
                }
            }
        }
    }

    /// Where a ref that is not symbolic stands.
    fn direct_target(&self, name: &str) -> Result<Option<Oid>, RepoError> {
        match self.inner.find_reference(name) {
            Ok(reference) => match reference.target() {
                Some(id) => Ok(Some(id)),
                None => Err(RepoError::BadRef { name: name.to_owned(), why: "it is symbolic" }),
            },
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(RepoError::Git { doing: format!("read {name}"), source: e }),
        }
    }

    /// git keeps refs as files: `a` and `a/b` cannot both exist, be they packed or not.
    fn check_nothing_in_the_way(&self, name: &str) -> Result<(), RepoError> {
        let in_the_way = |other: String| RepoError::InTheWay { name: name.to_owned(), other };
        let above = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
        for prefix in above.filter(|p| p.matches('/').count() >= 2) {
            if self.inner.find_reference(prefix).is_ok() {
                return Err(in_the_way(prefix.to_owned()));
            }
        }
        match self.refs(&format!("{name}/"))?.into_iter().next() {
            Some(below) => Err(in_the_way(below.name)),
            None => Ok(()),
        }
    }
}

/// A valid full name below `refs/`.
fn check_name(name: &str) -> Result<(), RepoError> {
    let bad = |why| Err(RepoError::BadRef { name: name.to_owned(), why });
    if !name.starts_with("refs/") {
        return bad("a full name begins with refs/");
    }
    if !Reference::is_valid_name(name) {
        return bad("git does not accept this name");
    }
    Ok(())
}

/// A reflog holds one line a move.
fn one_line(why: &str) -> String {
    why.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect()
}
