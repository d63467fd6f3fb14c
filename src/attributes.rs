//! What hangs on a file beside its bytes, mode and owner: extended attributes, and with them access lists. Pure of meaning.

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;

/// Bytes of one value, and of all names: what Linux permits.
const MOST: usize = 64 * 1024;

/// Whether a new file has, or could be given, just what hangs on the old one.
pub fn copy(old: &File, new: &File) -> bool {
    let (Some(wanted), Some(have)) = (names(old), names(new)) else { return false };
    // What a folder hands down to new files is none of the old one's.
    let removed = have.difference(&wanted).all(|name| fremovexattr(new, name.as_slice()).is_ok());
    removed && wanted.iter().all(|name| value(old, name).is_some_and(|value| set(new, name, &value)))
}

fn set(file: &File, name: &[u8], wanted: &[u8]) -> bool {
    value(file, name).as_deref() == Some(wanted) || fsetxattr(file, name, wanted, XattrFlags::empty()).is_ok()
}

/// None where there may be some that cannot be listed.
fn names(file: &File) -> Option<BTreeSet<Vec<u8>>> {
    let mut list = vec![0; MOST];
    match flistxattr(file, list.as_mut_slice()) {
        Ok(length) => {
            let names = list.get(..length)?.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            Some(names.map(<[u8]>::to_vec).collect())
        }
        Err(Errno::NOTSUP | Errno::NOSYS) => Some(BTreeSet::new()),
        Err(_) => None,
    }
}

fn value(file: &File, name: &[u8]) -> Option<Vec<u8>> {
    let mut value = vec![0; MOST];
    let length = fgetxattr(file, name, value.as_mut_slice()).ok()?;
    value.truncate(length);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_on_the_old_file_hangs_on_the_new_one_and_nothing_else() {
        let (old, new) = (tempfile::tempfile().expect("a file"), tempfile::tempfile().expect("a file"));
        let set = |file: &File, name: &str, value: &[u8]| fsetxattr(file, name, value, XattrFlags::empty());
        if set(&old, "user.origin", b"here\0there") == Err(Errno::NOTSUP) {
            return;
        }
        set(&new, "user.other", b"x").expect("it is set");
        set(&new, "user.origin", b"nowhere").expect("it is set");
        assert!(copy(&old, &new));
        assert_eq!(names(&new), names(&old));
        assert_eq!(value(&new, b"user.origin").as_deref(), Some(b"here\0there".as_slice()));
    }
}
