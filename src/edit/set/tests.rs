//! A set broken off at every moment.

use super::*;

struct World {
    folder: tempfile::TempDir,
    changes: Vec<(PathBuf, Vec<u8>, Vec<u8>)>,
}

const FILES: [&str; 3] = ["a.txt", "sub/b.txt", "sub/c.txt"];

fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("work/sub")).expect("a folder");
    let changes = FILES.map(|name| {
        let path = folder.path().join("work").join(name);
        let (old, new) = (format!("old {name}\r\n").into_bytes(), format!("new {name}\r\n").into_bytes());
        fs::write(&path, &old).expect("a file");
        (path, old, new)
    });
    World { folder, changes: changes.to_vec() }
}

impl World {
    fn changes(&self) -> Vec<Change<'_>> {
        self.changes.iter().map(|(path, old, new)| Change { path, old, new }).collect()
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The set, broken off at the moment of that number.
    fn broken_off(&self, moment: usize, broken: impl Fn() -> Broken) -> Result<(), Broken> {
        let mut n = 0;
        let mut at = |_| {
            n += 1;
            if n == moment + 1 { Err(broken()) } else { Ok(()) }
        };
        replaced(&self.changes(), &self.journal(), &mut at).map(|_| ())
    }

    fn texts(&self) -> Vec<String> {
        self.changes.iter().map(|(path, ..)| fs::read_to_string(path).expect("a file")).collect()
    }

    fn is(&self, word: &str) -> bool {
        self.texts().iter().all(|text| text.starts_with(word))
    }

    /// No file that was not there before.
    fn is_clean(&self) -> bool {
        let names = |folder: &Path| fs::read_dir(folder).expect("a folder").count();
        let work = self.folder.path().join("work");
        names(&work) == 2 && names(&work.join("sub")) == 2 && !Journal::lies_in(&self.journal())
    }
}

/// Moments of a set of three files: begin, three texts, whole, three places, forget.
const MOMENTS: usize = 9;

#[test]
fn a_set_is_made_whole() {
    let world = world();
    let written = replace(&world.changes(), Some(&world.journal())).expect("it is written");
    assert_eq!(written, [Written::Plainly; 3]);
    assert!(world.is("new") && world.is_clean());
    assert_eq!(world.texts()[0], "new a.txt\r\n");
}

#[test]
fn a_set_that_dies_at_any_moment_is_all_old_or_all_new_at_the_next_use() {
    let mut seen = BTreeSet::new();
    for moment in 0..MOMENTS {
        let world = world();
        assert!(matches!(world.broken_off(moment, || Broken::Dead), Err(Broken::Dead)), "moment {moment}");
        let settled = settle(&world.journal()).expect("it is settled");
        assert_eq!(settled.left, [], "moment {moment}");
        let (old, new) = (world.is("old"), world.is("new"));
        assert!(old != new && world.is_clean(), "moment {moment}: {:?}", world.texts());
        seen.insert(new);
    }
    assert_eq!(seen.len(), 2);
    assert!(matches!(world().broken_off(MOMENTS, || Broken::Dead), Ok(())));
}

#[test]
fn a_set_that_fails_at_any_moment_leaves_everything_as_it_was() {
    for moment in 0..MOMENTS - 1 {
        let world = world();
        let full = || Broken::Failed(disk("write", Path::new("x"), io::ErrorKind::StorageFull.into()));
        assert!(matches!(world.broken_off(moment, full), Err(Broken::Failed(WriteError::Disk { .. }))));
        // A journal of a set that was taken back has nothing left to do.
        assert_eq!(settle(&world.journal()).expect("it is settled"), Settled::default(), "moment {moment}");
        assert!(world.is("old") && world.is_clean(), "moment {moment}: {:?}", world.texts());
    }
}

#[test]
fn the_next_set_takes_back_the_one_that_died() {
    let world = world();
    // Dead between the first and the second file.
    assert!(world.broken_off(6, || Broken::Dead).is_err());
    let changes: Vec<(PathBuf, Vec<u8>, Vec<u8>)> =
        world.changes.iter().map(|(path, old, _)| (path.clone(), old.clone(), b"newer".to_vec())).collect();
    let next = World { folder: tempfile::tempdir().expect("a folder"), changes };
    replace(&next.changes(), Some(&world.journal())).expect("it is written");
    assert!(world.is("newer") && world.is_clean());
}

#[test]
fn what_was_taken_back_by_hand_after_a_death_stays_so() {
    // Between any two files, and after the last one.
    for moment in 6..MOMENTS {
        let world = world();
        assert!(world.broken_off(moment, || Broken::Dead).is_err());
        let placed = moment - 5;
        assert_eq!(cut_off(&world.journal()).expect("it is read").len(), placed % 3, "moment {moment}");
        for (path, old, _) in &world.changes[..placed] {
            fs::write(path, old).expect("it is taken back");
        }
        assert_eq!(settle(&world.journal()).expect("it is settled"), Settled::default());
        assert!(world.is("old") && world.is_clean(), "moment {moment}: {:?}", world.texts());
    }
}

#[test]
fn a_file_that_changed_since_it_was_read_stops_the_whole_set() {
    let world = world();
    fs::write(&world.changes[2].0, "other").expect("a file");
    let error = replace(&world.changes(), Some(&world.journal())).expect_err("it changed");
    assert!(matches!(error, WriteError::Changed { .. }), "{error}");
    assert_eq!(world.texts(), ["old a.txt\r\n", "old sub/b.txt\r\n", "other"]);
    assert!(world.is_clean());
}

#[test]
fn what_somebody_changed_after_a_death_is_left_and_told() {
    let world = world();
    // Dead between the second and the third file.
    assert!(world.broken_off(7, || Broken::Dead).is_err());
    fs::write(&world.changes[1].0, "theirs").expect("a file");
    let settled = settle(&world.journal()).expect("it is settled");
    assert_eq!(settled.back, [world.changes[0].0.clone()]);
    assert_eq!(settled.left.iter().map(|(path, _)| path).collect::<Vec<_>>(), [&world.changes[1].0]);
    assert_eq!(fs::read(&settled.left[0].1).expect("the text"), world.changes[1].1);
    assert_eq!(world.texts(), ["old a.txt\r\n", "theirs", "old sub/c.txt\r\n"]);
}

#[test]
fn a_journal_that_did_not_reach_the_disk_whole_says_nothing() {
    let world = world();
    assert!(world.broken_off(5, || Broken::Dead).is_err());
    let path = world.journal().join("edits.journal");
    let whole = fs::read(&path).expect("a journal");
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).expect("a journal");
        let begun = Journal::open(&world.journal()).expect("a lock").read().expect("it is read");
        assert!(begun.iter().all(|set| set.whole.is_none()), "{length} bytes");
    }
}

#[cfg(unix)]
#[test]
fn modes_stay_and_read_only_files_stop_the_set() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let mode = |n: usize, mode| fs::set_permissions(&world.changes[n].0, fs::Permissions::from_mode(mode));
    mode(0, 0o750).expect("a mode");
    mode(1, 0o400).expect("a mode");
    mode(2, 0o444).expect("a mode");
    assert!(matches!(replace(&world.changes(), None), Err(WriteError::ReadOnly { .. })));
    assert!(world.is("old"));
    mode(1, 0o600).expect("a mode");
    mode(2, 0o644).expect("a mode");
    replace(&world.changes(), None).expect("it is written");
    let modes: Vec<u32> = world
        .changes
        .iter()
        .map(|(path, ..)| fs::metadata(path).expect("a file").permissions().mode() & 0o777)
        .collect();
    assert_eq!(modes, [0o750, 0o600, 0o644]);
    assert!(world.is("new"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_that_is_put_in_a_folders_place_leads_a_set_nowhere() {
    let world = world();
    // The links on the way to the folder for temporary files are not what this is about.
    let root = fs::canonicalize(world.folder.path()).expect("it is there");
    let (sub, was, outside) = (root.join("work/sub"), root.join("was"), root.join("outside"));
    let paths: Vec<_> = world.changes.iter().map(|(path, ..)| fs::canonicalize(path).expect("a file")).collect();
    let changes: Vec<_> =
        paths.iter().zip(&world.changes).map(|(path, (_, old, new))| Change { path, old, new }).collect();
    let mut put = false;
    let broken = replaced(&changes, &world.journal(), &mut |moment| {
        if moment == Moment::Place && !std::mem::replace(&mut put, true) {
            fs::create_dir(&outside).expect("a folder");
            for entry in fs::read_dir(&sub).expect("a folder").map(|entry| entry.expect("one")) {
                fs::copy(entry.path(), outside.join(entry.file_name())).expect("what the link's maker copied");
            }
            fs::rename(&sub, &was).expect("moved");
            std::os::unix::fs::symlink(&outside, &sub).expect("a link");
        }
        Ok(())
    });
    assert!(broken.is_err());
    for name in ["b.txt", "c.txt"] {
        assert_eq!(fs::read_to_string(outside.join(name)).expect("theirs"), format!("old sub/{name}\r\n"));
    }
}
