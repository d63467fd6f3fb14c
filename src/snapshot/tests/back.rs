//! An undo taken back, and what other hands did meanwhile.

use super::*;

#[test]
fn an_undo_is_taken_back_byte_for_byte_with_what_the_person_saved_meanwhile() {
    let mut world = world();
    world.write("a", "a0");
    world.write("mine", "m0");
    world.turn(|world| {
        world.write("a", "a1");
        // The person's own hand, while a command ran.
        world.write("mine", "a day of work");
        world.write("new/by/person", "theirs");
    });
    let before = world.all();
    assert_eq!(world.undo().restored.len(), 5);
    assert_eq!((world.read("mine").as_deref(), world.read("new/by/person")), (Some("m0"), None));
    let undone = world.all();
    let report = world.keeper.redo().expect("it is taken back");
    assert_eq!((report.restored.len(), left(&report)), (5, vec![]));
    assert_eq!(world.all(), before);
    assert_eq!(world.keeper.redo().expect("nothing more").turns, []);
    assert_eq!(left(&world.undo()), [], "what was taken back can be undone again");
    assert_eq!(world.all(), undone);
    world.write("mine", "since");
    let report = world.keeper.redo().expect("it is taken back");
    assert_eq!(left(&report), [("mine".to_owned(), Why::Changed)]);
    assert_eq!((world.read("mine").as_deref(), world.read("a").as_deref()), (Some("since"), Some("a1")));
}

#[test]
fn a_content_that_is_not_kept_is_removed_only_when_asked() {
    let mut world = with(Settings { max_file_bytes: 10, ..Settings::default() });
    world.turn(|world| world.write("big", "more than ten bytes"));
    assert_eq!(left(&world.undo()), [("big".to_owned(), Why::NoWayBack(Outside::TooLarge))]);
    assert!(world.read("big").is_some());
}

#[test]
fn what_file_tools_of_another_session_did_meanwhile_is_its_own() {
    let mut world = world();
    for name in ["a", "b", "c"] {
        world.write(name, "0");
    }
    let other = Keeper::new(&Settings::default(), world.folder.path().join("state"), world.root(), SystemTime::now);
    let label = |turn| Label { session: "other".to_owned(), message: 1, turn, at: u64::from(turn) };
    world.turn(|world| {
        world.write("a", "1");
        other.begin(label(1));
        other.before(&Reach::Files(vec![world.root().join("b")]));
        world.write("b", "theirs");
        assert!(other.after(Job::None).is_none());
        // Its next turn is still under way, and has looked at everything.
        other.begin(label(2));
        other.before(&Reach::Everything);
        other.before(&Reach::Files(vec![world.root().join("c")]));
        world.write("c", "theirs");
    });
    let session = What::Since { session: "s", message: 0 };
    let report = world.keeper.undo(session, Doubtful::Leave).expect("undone");
    assert_eq!(report.restored.iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>(), ["a"]);
    assert_eq!((world.read("b").as_deref(), world.read("c").as_deref()), (Some("theirs"), Some("theirs")));
}
