//! Turns that do harm in a real folder, and the way back.

mod back;

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

struct World {
    folder: tempfile::TempDir,
    keeper: Keeper,
    turns: u64,
}

fn world() -> World {
    with(Settings::default())
}

fn with(settings: Settings) -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there").join("work");
    fs::create_dir(&root).expect("a root");
    let keeper = Keeper::new(&settings, folder.path().join("state"), root, SystemTime::now);
    World { folder, keeper, turns: 0 }
}

impl World {
    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join("work")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    fn begin(&mut self) {
        self.turns += 1;
        let label = Label { session: "s".to_owned(), message: 1, turn: 1, at: self.turns };
        self.keeper.begin(label);
    }

    /// A turn whose command may do anything.
    fn turn(&mut self, act: impl FnOnce(&Self)) -> Vec<Remark> {
        self.begin();
        let remarks = self.keeper.before(&Reach::Everything);
        act(self);
        assert!(self.keeper.after(Job::None).is_none());
        remarks
    }

    fn undo(&self) -> Report {
        self.keeper.undo(What::Turn, Doubtful::Leave).expect("undone")
    }

    /// Everything in the workspace: kind, mode and content.
    fn all(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut all = BTreeMap::new();
        let mut open = vec![self.root()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let metadata = fs::symlink_metadata(&path).expect("metadata");
                let content = if metadata.is_dir() {
                    open.push(path.clone());
                    Vec::new()
                } else if metadata.is_symlink() {
                    fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
                } else {
                    fs::read(&path).expect("a file")
                };
                all.insert(path, (metadata.permissions().mode(), content));
            }
        }
        all
    }
}

fn left(report: &Report) -> Vec<(String, Why)> {
    report.left.iter().map(|(path, why)| (path.to_string(), why.clone())).collect()
}

#[test]
fn everything_that_a_turn_did_to_the_tree_is_taken_back() {
    let mut world = world();
    world.write("a.txt", "one");
    world.write("b/c.txt", "two");
    world.write("b/d/e.txt", "three");
    world.write("run.sh", "#!/bin/sh\n");
    world.write("kind", "a file");
    world.write("was/a/folder", "x");
    fs::create_dir(world.root().join("empty")).expect("made");
    symlink("a.txt", world.root().join("link")).expect("a link");
    symlink("nowhere", world.root().join("dangling")).expect("a link");
    fs::set_permissions(world.root().join("run.sh"), fs::Permissions::from_mode(0o755)).expect("mode");
    let before = world.all();
    world.turn(|world| {
        let at = |path: &str| world.root().join(path);
        fs::write(at("a.txt"), "ONE").expect("overwritten");
        fs::remove_dir_all(at("b")).expect("removed");
        fs::remove_dir(at("empty")).expect("removed");
        fs::remove_file(at("link")).expect("removed");
        symlink("b", at("link")).expect("another link");
        fs::remove_file(at("dangling")).expect("removed");
        fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o600)).expect("mode");
        fs::remove_file(at("kind")).expect("removed");
        world.write("kind/of/folder", "y");
        fs::remove_dir_all(at("was")).expect("removed");
        fs::write(at("was"), "a file now").expect("written");
        world.write("new/file.txt", "new");
    });
    assert_ne!(world.all(), before);
    let report = world.undo();
    assert_eq!(left(&report), []);
    assert_eq!(world.all(), before);
    assert_eq!(world.undo().turns, [], "there is nothing further back");
}

#[test]
fn what_others_changed_after_the_turn_stays() {
    let mut world = world();
    for name in ["a", "b", "c", "d"] {
        world.write(name, "before");
    }
    world.turn(|world| {
        for name in ["a", "b", "new", "new2"] {
            world.write(name, "turn");
        }
        fs::remove_file(world.root().join("c")).expect("removed");
    });
    world.write("a", "mine");
    world.write("c", "mine");
    world.write("d", "mine");
    world.write("new", "mine");
    let report = world.undo();
    assert_eq!(left(&report), ["a", "c", "new"].map(|name| (name.to_owned(), Why::Changed)));
    let names = ["a", "b", "c", "d", "new", "new2"].map(|name| world.read(name).unwrap_or_default());
    assert_eq!(names, ["mine", "before", "mine", "mine", "mine", ""]);
}

#[test]
fn asking_again_goes_further_back_and_a_prompt_goes_at_once() {
    let mut world = world();
    world.write("a", "0");
    for text in ["1", "2", "3"] {
        world.turn(|world| world.write("a", text));
    }
    world.undo();
    assert_eq!(world.read("a").as_deref(), Some("2"));
    let report = world.keeper.undo(What::Prompt, Doubtful::Leave).expect("undone");
    assert_eq!((world.read("a").as_deref(), report.turns.len()), (Some("0"), 2));
}

#[test]
fn a_rewind_takes_back_that_prompt_and_later_ones_of_its_session() {
    let mut world = world();
    world.write("a", "0");
    for (session, message) in [("s", 1), ("s", 3), ("t", 1), ("s", 5)] {
        world.keeper.begin(Label { session: session.to_owned(), message, turn: 1, at: message as u64 });
        world.keeper.before(&Reach::Everything);
        world.write(&format!("{session}{message}"), "x");
        world.keeper.after(Job::None);
    }
    world.turns = 9;
    world.keeper.undo(What::Since { session: "s", message: 3 }, Doubtful::Leave).expect("undone");
    let there = ["s1", "s3", "t1", "s5"].map(|name| world.read(name).is_some());
    assert_eq!(there, [true, false, true, false]);
}

#[test]
fn single_files_are_covered_without_a_look_at_the_rest() {
    let mut world = world();
    world.write("a", "before");
    world.begin();
    let files = ["a", "deep/er/b"].map(|name| world.root().join(name));
    world.keeper.before(&Reach::Files(files.to_vec()));
    world.write("a", "after");
    world.write("deep/er/b", "new");
    world.write("other", "not by this call");
    world.keeper.after(Job::None);
    assert!(!world.folder.path().join("state/index").exists(), "the workspace was not looked at");
    assert_eq!(left(&world.undo()), []);
    assert_eq!((world.read("a").as_deref(), world.root().join("deep").exists()), (Some("before"), false));
    assert!(world.read("other").is_some());
}

#[test]
fn an_edit_and_a_command_in_one_turn_are_both_covered() {
    let mut world = world();
    world.write("a", "0");
    world.write("b", "0");
    world.begin();
    world.keeper.before(&Reach::Files(vec![world.root().join("a")]));
    world.write("a", "1");
    world.keeper.before(&Reach::Everything);
    world.write("a", "2");
    world.write("b", "2");
    world.keeper.after(Job::None);
    world.undo();
    assert_eq!((world.read("a").as_deref(), world.read("b").as_deref()), (Some("0"), Some("0")));
}

#[test]
fn what_is_over_a_bound_is_told_before_the_turn_and_left_alone() {
    let mut world = with(Settings { max_file_bytes: 10, ..Settings::default() });
    world.write("big", "more than ten bytes");
    world.write("node_modules/x", "made anew");
    world.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    world.write("small", "ten bytes");
    let told = world.turn(|world| {
        for name in ["big", "node_modules/x", "target/y", "small"] {
            world.write(name, "over");
        }
    });
    let [Remark::NotKept(list)] = told.as_slice() else { panic!("{told:?}") };
    let list: Vec<_> = list.iter().map(|(path, why, _)| (path.to_string(), *why)).collect();
    let expected = [("big", Outside::TooLarge), ("node_modules", Outside::Generated), ("target", Outside::Generated)];
    assert_eq!(list, expected.map(|(path, why)| (path.to_owned(), why)));
    assert!(world.turn(|_| ()).is_empty(), "it is told once");
    assert_eq!(left(&world.undo()), [("big".to_owned(), Why::NotKept(Outside::TooLarge))]);
    assert_eq!((world.read("big").as_deref(), world.read("small").as_deref()), (Some("over"), Some("ten bytes")));
}

#[test]
fn a_turn_cannot_hide_a_folder_by_a_tag() {
    let mut world = world();
    world.write("src/a", "code");
    world.turn(|_| ());
    world.turn(|world| {
        world.write("src/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55");
        fs::remove_file(world.root().join("src/a")).expect("removed");
    });
    world.undo();
    assert_eq!(world.read("src/a").as_deref(), Some("code"));
}

#[test]
fn too_many_files_are_said_and_single_files_are_still_covered() {
    let mut world = with(Settings { max_entries: 3, ..Settings::default() });
    ["a", "b", "c", "d"].iter().for_each(|name| world.write(name, "0"));
    assert_eq!(world.turn(|_| ()), [Remark::TooMany(3)]);
    world.begin();
    assert_eq!(world.keeper.before(&Reach::Files(vec![world.root().join("a")])), []);
    world.write("a", "1");
    world.keeper.after(Job::None);
    world.undo();
    assert_eq!(world.read("a").as_deref(), Some("0"));
}

#[test]
fn a_turn_whose_session_was_killed_is_undone_only_when_asked() {
    let mut world = world();
    world.write("a", "before");
    world.turn(|_| ());
    world.begin();
    world.keeper.before(&Reach::Everything);
    world.write("a", "after");
    // Killed: nobody looks again.
    let root = world.root();
    let again = Keeper::new(&Settings::default(), world.folder.path().join("state"), root, SystemTime::now);
    world.keeper = again;
    let report = world.undo();
    assert_eq!(left(&report), [("a".to_owned(), Why::Killed)]);
    assert_eq!(world.read("a").as_deref(), Some("after"));
    // What was left because of a doubt can still be asked for.
    world.keeper.undo(What::Turn, Doubtful::Undo).expect("undone");
    assert_eq!(world.read("a").as_deref(), Some("before"));
}

#[test]
fn what_changes_while_a_job_runs_is_doubtful() {
    let mut world = world();
    world.write("a", "0");
    world.begin();
    world.keeper.before(&Reach::Everything);
    world.keeper.after(Job::Runs);
    world.write("a", "by the job, or by a person");
    world.begin();
    world.keeper.before(&Reach::Everything);
    world.write("b", "turn");
    world.keeper.after(Job::None);
    let report = world.keeper.undo(What::Prompt, Doubtful::Leave).expect("undone");
    assert_eq!(left(&report), [("a".to_owned(), Why::Job)]);
    assert!(world.read("b").is_none() && world.read("a") != Some("0".to_owned()));
}

#[test]
fn an_undo_that_was_killed_goes_on_and_leaves_nothing_beside() {
    let mut world = world();
    world.write("a", "0");
    world.write("b", "0");
    world.turn(|world| {
        world.write("a", "1");
        world.write("b", "1");
        world.write("c", "1");
    });
    // As a kill leaves it: one path is done, a content lies aside.
    world.write("a", "0");
    world.write(".1-1-b.selfsmith-undo", "0");
    world.write(".1-2-z.selfsmith-undo", "nobody else has this");
    world.write(".1-3-a.selfsmith-undo", "");
    assert_eq!(left(&world.undo()), []);
    let names: Vec<_> =
        world.all().into_keys().filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
    assert_eq!(names, [".1-2-z.selfsmith-undo", "a", "b"]);
    assert_eq!((world.read("a").as_deref(), world.read("b").as_deref()), (Some("0"), Some("0")));
}

#[test]
fn a_folder_that_became_a_link_is_not_followed() {
    let mut world = world();
    world.write("dir/file", "before");
    let outside = world.folder.path().join("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("file"), "theirs").expect("written");
    world.turn(|world| world.write("dir/file", "after"));
    // Somebody else puts a link in its place.
    fs::remove_dir_all(world.root().join("dir")).expect("removed");
    symlink(&outside, world.root().join("dir")).expect("a link");
    assert_eq!(left(&world.undo()), [("dir/file".to_owned(), Why::Changed)]);
    assert_eq!(fs::read_to_string(outside.join("file")).expect("theirs"), "theirs");
}

#[test]
fn a_content_that_was_lost_is_said() {
    let mut world = world();
    world.write("a", "before");
    world.turn(|world| world.write("a", "after"));
    let contents = world.folder.path().join("state/contents");
    fs::remove_dir_all(contents).expect("removed");
    assert_eq!(left(&world.undo()), [("a".to_owned(), Why::Lost)]);
    assert_eq!(world.read("a").as_deref(), Some("after"));
}

#[test]
fn contents_are_kept_where_only_their_owner_can_read_them() {
    let mut world = world();
    world.write(".env", "KEY=secret");
    world.turn(|_| ());
    let mut open: Vec<PathBuf> = vec![world.folder.path().join("state")];
    let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode() & 0o077;
    assert_eq!(mode(&open[0]), 0);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path)
            } else if path.ends_with("contents") {
                assert_eq!(mode(&path), 0)
            }
        }
    }
}

#[test]
fn what_happened_in_a_folder_that_is_closed_to_its_owner_is_taken_back() {
    let mut world = world();
    let mode = |world: &World, path: &str, mode| {
        fs::set_permissions(world.root().join(path), fs::Permissions::from_mode(mode)).expect("mode");
    };
    world.write("kept/a", "one");
    world.write("kept/gone", "two");
    world.write("outer/inner/a", "three");
    for path in ["kept", "outer/inner", "outer"] {
        mode(&world, path, 0o500);
    }
    let all = world.all();
    world.turn(|world| {
        // As an ordinary user it takes a command that opens the folder first, as a build script or `rm -rf` by hand does.
        for path in ["kept", "outer", "outer/inner"] {
            mode(world, path, 0o700);
        }
        fs::write(world.root().join("kept/a"), "ONE").expect("written");
        fs::remove_file(world.root().join("kept/gone")).expect("removed");
        fs::write(world.root().join("outer/inner/new"), "new").expect("written");
        world.write("made/deep/new", "new");
        for path in ["kept", "outer/inner", "outer", "made/deep", "made"] {
            mode(world, path, 0o500);
        }
    });
    assert_eq!(left(&world.undo()), vec![]);
    assert_eq!(world.all(), all);
    // So that the folder of this test can be removed by whoever runs it.
    for path in ["kept", "outer", "outer/inner"] {
        mode(&world, path, 0o700);
    }
}

/// Something that may happen to a path.
#[derive(Debug, Clone)]
enum Act {
    Write(usize, u8),
    Remove(usize),
    Folder(usize),
    Link(usize, usize),
    Mode(usize, bool),
}

const PATHS: [&str; 9] = ["a", "b", "d", "d/x", "d/y", "d/e", "d/e/z", "a/inside", "b/inside"];

fn act(root: &Path, act: &Act) {
    let at = |n: &usize| root.join(PATHS[n % PATHS.len()]);
    let clear = |path: &Path| {
        let _ = fs::remove_file(path);
        let _ = fs::remove_dir_all(path);
        // Something else than a folder may stand above it.
        if let Some(above) = path.parent().filter(|above| above.starts_with(root) && !above.is_dir()) {
            let _ = fs::remove_file(above);
            let _ = fs::create_dir_all(above);
        }
    };
    match act {
        Act::Write(n, byte) => {
            clear(&at(n));
            let _ = fs::write(at(n), [*byte]);
        }
        Act::Remove(n) => clear(&at(n)),
        Act::Folder(n) => {
            clear(&at(n));
            let _ = fs::create_dir_all(at(n));
        }
        Act::Link(n, to) => {
            clear(&at(n));
            let _ = symlink(PATHS[to % PATHS.len()], at(n));
        }
        Act::Mode(n, open) => {
            let path = at(n);
            if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_symlink()) {
                let _ = fs::set_permissions(&path, fs::Permissions::from_mode(if *open { 0o755 } else { 0o500 }));
            }
        }
    }
}

fn acts() -> impl proptest::strategy::Strategy<Value = Vec<Act>> {
    use proptest::prelude::*;
    let path = 0_usize..9;
    let act = prop_oneof![
        (path.clone(), 0_u8..4).prop_map(|(n, byte)| Act::Write(n, byte)),
        path.clone().prop_map(Act::Remove),
        path.clone().prop_map(Act::Folder),
        (path.clone(), path.clone()).prop_map(|(n, to)| Act::Link(n, to)),
        (path, any::<bool>()).prop_map(|(n, open)| Act::Mode(n, open)),
    ];
    proptest::collection::vec(act, 0..12)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 60, ..Default::default() })]

    #[test]
    fn whatever_turns_do_is_taken_back(before in acts(), turns in proptest::collection::vec(acts(), 1..4)) {
        let mut world = world();
        before.iter().for_each(|one| act(&world.root(), one));
        let all = world.all();
        for turn in &turns {
            world.turn(|world| turn.iter().for_each(|one| act(&world.root(), one)));
        }
        let report = world.keeper.undo(What::Prompt, Doubtful::Leave).expect("undone");
        proptest::prop_assert_eq!(left(&report), vec![]);
        proptest::prop_assert_eq!(world.all(), all);
    }
}
