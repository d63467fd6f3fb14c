//! Where a path of a command lies, by its spelling alone.

use std::path::{Component, Path, PathBuf};

/// Where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In the workspace.
    Inside,
    /// The workspace itself, or everything in it.
    Whole,
    /// A repository's own folder in the workspace.
    Git,
    /// A temporary folder.
    Scratch,
    /// A device that takes anything and keeps nothing.
    Sink,
    /// Another device.
    Device,
    /// Anywhere else.
    Outside,
    /// It cannot be known.
    Unknown,
}

/// From where paths are meant.
#[derive(Debug, Clone)]
pub(super) struct Ground<'a> {
    /// The workspace.
    pub(super) root: &'a Path,
    /// The person's home.
    pub(super) home: Option<&'a Path>,
    /// The present folder; none where it cannot be known.
    pub(super) here: Option<PathBuf>,
}

impl Ground<'_> {
    /// The path as one from the root of the disk; none where it cannot be known.
    pub(super) fn path(&self, text: &str) -> Option<PathBuf> {
        let home = || self.home.map_or_else(|| PathBuf::from("/home/somebody"), Path::to_owned);
        let path = match text.strip_prefix('~') {
            Some("") => home(),
            Some(rest) => match rest.strip_prefix('/') {
                Some(rest) => home().join(rest),
                None => PathBuf::from("/home/somebody-else"),
            },
            None if text.starts_with('/') => PathBuf::from(text),
            None => self.here.as_ref()?.join(text),
        };
        Some(plain(&path))
    }

    /// Where a text lies. A pattern lies where its fixed beginning does.
    pub(super) fn place(&self, text: &str) -> Place {
        if text.starts_with(['$', '`']) || text.contains("$(") || text.contains("${") || text.contains('`') {
            return Place::Unknown;
        }
        let fixed = match text.find(['*', '?', '[']) {
            Some(at) => text.get(..at).unwrap_or_default(),
            None => text,
        };
        let is_pattern = fixed.len() < text.len();
        let everything =
            is_pattern && matches!(text.rsplit('/').next(), Some("*" | ".*" | "**" | "*.*" | ".[!.]*" | "?*"));
        let folder = if is_pattern { fixed.rsplit_once('/').map_or("", |(folder, _)| folder) } else { fixed };
        let folder = if is_pattern && fixed.starts_with('/') && folder.is_empty() { "/" } else { folder };
        let Some(path) = self.path(folder) else { return Place::Unknown };
        if let Ok(rest) = path.strip_prefix(self.root) {
            let whole = rest.as_os_str().is_empty() && (everything || !is_pattern);
            let git = rest.components().any(|part| part.as_os_str() == ".git");
            return if git {
                Place::Git
            } else if whole {
                Place::Whole
            } else {
                Place::Inside
            };
        }
        // What holds the workspace is not a temporary folder, wherever it lies.
        let holds = self.root.starts_with(&path);
        let below = |folder: &str| path.starts_with(folder) && path != Path::new(folder);
        // A home is nobody's scratch, wherever it lies.
        let in_home = self.home.is_some_and(|home| home != Path::new("/") && path.starts_with(home));
        if !holds && !in_home && ["/tmp", "/var/tmp", "/dev/shm"].into_iter().any(below) {
            return Place::Scratch;
        }
        match path.to_str() {
            Some("/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero" | "/dev/stdin") => Place::Sink,
            Some(path) if path.starts_with("/dev/fd/") || path.starts_with("/dev/tcp/") => Place::Sink,
            Some(path) if path.starts_with("/dev/") => Place::Device,
            _ => Place::Outside,
        }
    }
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lie_where_their_spelling_says() {
        let root = Path::new("/home/me/work");
        let ground = Ground { root, home: Some(Path::new("/home/me")), here: Some(root.to_owned()) };
        for (text, place) in [
            ("a/b", Place::Inside),
            ("./x/../y", Place::Inside),
            (".", Place::Whole),
            ("*", Place::Whole),
            ("./*", Place::Whole),
            ("*.o", Place::Inside),
            ("sub/*", Place::Inside),
            ("/home/me/work/", Place::Whole),
            (".git", Place::Git),
            ("sub/.git/hooks/x", Place::Git),
            ("..", Place::Outside),
            ("../other", Place::Outside),
            ("~", Place::Outside),
            ("~/work/a", Place::Inside),
            ("~root/x", Place::Outside),
            ("/", Place::Outside),
            ("/*", Place::Outside),
            ("/tmp/x", Place::Scratch),
            ("/tmp", Place::Outside),
            ("/dev/null", Place::Sink),
            ("/dev/sda", Place::Device),
            ("$DIR/x", Place::Unknown),
        ] {
            assert_eq!(ground.place(text), place, "{text}");
        }
    }
}
