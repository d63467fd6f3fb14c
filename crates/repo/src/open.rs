//! A repository, opened or refused with the reason. Promises: no inherited `GIT_*` variable is believed, and what libgit2
//! would misread (partial clones, reftable, sha256, sparse checkouts, other owners) is refused, not read wrongly.

use crate::error::RepoError;
use git2::{ErrorCode, ObjectFormat, Oid, RepositoryOpenFlags};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An opened repository. One thread uses it at a time; open it again for another thread.
pub struct Repo {
    pub(crate) inner: git2::Repository,
}

/// Where HEAD stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// On a branch.
    Branch {
        /// Full name, as `refs/heads/main`.
        name: String,
        /// Its commit.
        commit: String,
    },
    /// On a branch without a commit.
    Unborn {
        /// Full name.
        name: String,
    },
    /// On a commit.
    Detached {
        /// The commit.
        commit: String,
    },
}

impl Repo {
    /// Opens the repository that holds `path`, looking upwards.
    ///
    /// # Errors
    /// No repository, another owner, or a kind that is not supported, each with its hint.
    pub fn open(path: &Path) -> Result<Self, RepoError> {
        let none: [&Path; 0] = [];
        let inner =
            git2::Repository::open_ext(path, RepositoryOpenFlags::empty(), none).map_err(|e| refusal(path, e))?;
        if inner.object_format() != ObjectFormat::Sha1 {
            return Err(unsupported(path, Kind::Sha256));
        }
        let config = inner.commondir().join("config");
        let worktree = inner.path().join("config.worktree");
        match kind_by_config(&[&config, &worktree]) {
            Some(kind) => Err(unsupported(path, kind)),
            None => Ok(Self { inner }),
        }
    }

    /// Opens it once more, for another thread.
    ///
    /// # Errors
    /// As `open`.
    pub fn reopen(&self) -> Result<Self, RepoError> {
        // The git folder need not lie in the work tree, and does not know then where that is.
        match self.inner.workdir().map(Self::open) {
            Some(Ok(again)) if again.inner.path() == self.inner.path() => Ok(again),
            _ => Self::open(self.inner.path()),
        }
    }

    /// The folder `.git` of this work tree.
    pub fn git_dir(&self) -> &Path {
        self.inner.path()
    }

    /// The `.git` that all work trees share.
    pub fn common_dir(&self) -> &Path {
        self.inner.commondir()
    }

    /// The top folder of the work tree.
    ///
    /// # Errors
    /// A bare repository has none.
    pub fn workdir(&self) -> Result<&Path, RepoError> {
        self.inner.workdir().ok_or_else(|| RepoError::Bare { path: self.inner.path().to_owned() })
    }

    /// A stable name for this repository's state folder: readable, and the same from each of its work trees.
    ///
    /// # Errors
    /// The git folder cannot be resolved.
    pub fn id(&self) -> Result<String, RepoError> {
        let common = self.inner.commondir();
        let real = std::fs::canonicalize(common).map_err(RepoError::disk("resolve", common))?;
        let named = match real.file_name() {
            Some(name) if name == ".git" => real.parent().unwrap_or(&real),
            _ => &real,
        };
        let name: String = named
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
            .take(40)
            .collect();
        let name = name.trim_start_matches('.');
        let hash = Oid::hash_object(git2::ObjectType::Blob, real.as_os_str().as_bytes())
            .map_err(RepoError::git("hash the repository's path"))?
            .to_string();
        let short = hash.get(..12).unwrap_or(&hash);
        Ok(format!("{}-{short}", if name.is_empty() { "repository" } else { name }))
    }

    /// Where HEAD of this work tree stands.
    ///
    /// # Errors
    /// HEAD is unreadable.
    pub fn head(&self) -> Result<Head, RepoError> {
        let doing = || RepoError::git("read HEAD");
        match self.inner.head() {
            Ok(head) => {
                let commit = head.peel_to_commit().map_err(doing())?.id().to_string();
                let name = head.name().map_err(doing())?.to_owned();
                let detached = self.inner.head_detached().map_err(doing())?;
                Ok(if detached { Head::Detached { commit } } else { Head::Branch { name, commit } })
            }
            Err(e) if e.code() == ErrorCode::UnbornBranch => {
                let head = self.inner.find_reference("HEAD").map_err(doing())?;
                let name = head.symbolic_target().map_err(doing())?.unwrap_or("HEAD").to_owned();
                Ok(Head::Unborn { name })
            }
            Err(e) => Err(RepoError::Git { doing: "read HEAD".into(), source: e }),
        }
    }

    /// The full name of HEAD's branch, unborn or not; none when HEAD is detached.
    ///
    /// # Errors
    /// HEAD is unreadable.
    pub fn head_branch(&self) -> Result<Option<String>, RepoError> {
        Ok(match self.head()? {
            Head::Branch { name, .. } | Head::Unborn { name } => Some(name),
            Head::Detached { .. } => None,
        })
    }

    /// The commit that a revision (`HEAD~1`, a branch, an id) names.
    ///
    /// # Errors
    /// Nothing, or no commit, by that name.
    pub fn resolve(&self, rev: &str) -> Result<String, RepoError> {
        let not_found = |e: git2::Error| RepoError::NotFound { what: format!("{rev:?}"), why: e.message().to_owned() };
        let object = self.inner.revparse_single(rev).map_err(not_found)?;
        Ok(object.peel_to_commit().map_err(not_found)?.id().to_string())
    }
}

/// A full object id.
pub(crate) fn oid(id: &str) -> Result<Oid, RepoError> {
    let bad = || RepoError::NotFound { what: format!("{id:?}"), why: "it is no object id of 40 digits".into() };
    if id.len() != 40 {
        return Err(bad());
    }
    Oid::from_str(id).map_err(|_| bad())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Partial,
    Reftable,
    Sha256,
    Sparse,
    Extension,
}

fn unsupported(path: &Path, kind: Kind) -> RepoError {
    let (what, hint) = match kind {
        Kind::Partial => (
            "a partial clone, objects may be missing",
            "fetch everything: `git fetch --refetch --no-filter`, then remove remote.<name>.promisor and extensions.partialClone from its config; or clone it in full",
        ),
        Kind::Reftable => ("stored with reftable refs", "`git refs migrate --ref-format=files` changes it"),
        Kind::Sha256 => ("a repository of sha256 objects", "use a repository of sha1 objects"),
        Kind::Sparse => (
            "a sparse checkout, files are missing from the work tree",
            "`git sparse-checkout disable` brings the files back",
        ),
        Kind::Extension => {
            ("in a format (extensions.* in its config) that libgit2 cannot read", "use a plain clone of it")
        }
    };
    RepoError::Unsupported { path: path.to_owned(), what, hint }
}

/// Turns libgit2's refusal into a reason that a person can act on.
fn refusal(path: &Path, error: git2::Error) -> RepoError {
    match error.code() {
        ErrorCode::Owner => RepoError::Owner { path: path.to_owned() },
        ErrorCode::NotFound => RepoError::NotARepository { path: path.to_owned() },
        _ => {
            let configs: Vec<PathBuf> =
                path.ancestors().flat_map(|dir| [dir.join(".git/config"), dir.join("config")]).collect();
            let nearest = configs.iter().find(|c| c.is_file());
            match nearest.and_then(|config| kind_by_config(&[config])) {
                Some(kind) => unsupported(path, kind),
                None if error.message().contains("extension") => unsupported(path, Kind::Extension),
                None => RepoError::Git { doing: format!("open {}", path.display()), source: error },
            }
        }
    }
}

/// What the configuration files say of the repository's kind.
fn kind_by_config(files: &[&Path]) -> Option<Kind> {
    files.iter().filter(|f| f.is_file()).find_map(|file| {
        let config = git2::Config::open(file).ok()?;
        let mut entries = config.entries(None).ok()?;
        while let Some(Ok(entry)) = entries.next() {
            let (Ok(name), value) = (entry.name(), entry.value().ok().unwrap_or("true")) else { continue };
            let on = !matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | "");
            let kind = match name {
                "extensions.partialclone" => Some(Kind::Partial),
                "extensions.refstorage" if value != "files" => Some(Kind::Reftable),
                "extensions.objectformat" if value != "sha1" => Some(Kind::Sha256),
                "core.sparsecheckout" if on => Some(Kind::Sparse),
                _ if name.starts_with("remote.") && name.ends_with(".promisor") && on => Some(Kind::Partial),
                _ => None,
            };
            if kind.is_some() {
                return kind;
            }
        }
        None
    })
}
