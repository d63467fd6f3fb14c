//! The only door to git: libgit2 for objects and refs, the git program for a person's work tree.
