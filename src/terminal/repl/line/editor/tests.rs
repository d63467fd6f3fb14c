use super::*;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::texts::EN;

fn editor(history: &[&str]) -> Editor {
    let mut kept = History::open(None, Redactor::new([]));
    history.iter().for_each(|entry| kept.add(entry));
    let item = |name: &str| Item { name: name.to_owned(), about: String::new() };
    let commands = ["/clear", "/context", "/cost", "/model"].map(item).to_vec();
    Editor::new(&EN, kept, commands, Files::new(std::path::Path::new("/nonexistent")))
}

fn press(editor: &mut Editor, text: &str) {
    for c in text.chars() {
        editor.key(Key::Char(c), 20);
    }
}

fn offered(editor: &Editor) -> Vec<&str> {
    editor.menu().map(|menu| menu.items.iter().map(|item| item.name.as_str()).collect()).unwrap_or_default()
}

#[test]
fn a_slash_offers_commands_that_narrow_as_one_types() {
    let mut editor = editor(&[]);
    press(&mut editor, "/");
    assert_eq!(offered(&editor).len(), 4);
    press(&mut editor, "co");
    assert_eq!(offered(&editor), ["/context", "/cost"]);
    editor.key(Key::Down, 20);
    assert_eq!(editor.key(Key::Enter, 20), Done::Edited);
    assert_eq!((editor.buffer().text(), offered(&editor).len()), ("/cost", 0));
    assert!(matches!(editor.key(Key::Enter, 20), Done::Submit(sent) if sent.text == "/cost"));
}

#[test]
fn escape_closes_the_menu_until_another_word_begins() {
    let mut editor = editor(&[]);
    press(&mut editor, "/c");
    assert_eq!(editor.key(Key::Escape, 20), Done::Edited);
    press(&mut editor, "o");
    assert_eq!(offered(&editor).len(), 0);
    editor.key(Key::KillToHome, 20);
    press(&mut editor, "/m");
    assert_eq!(offered(&editor), ["/model"]);
}

#[test]
fn a_command_typed_whole_is_sent_by_one_enter() {
    let mut editor = editor(&[]);
    press(&mut editor, "/clear");
    assert!(matches!(editor.key(Key::Enter, 20), Done::Submit(sent) if sent.text == "/clear"));
}

#[test]
fn a_path_at_the_beginning_is_no_command() {
    let mut editor = editor(&[]);
    press(&mut editor, "/etc/ho");
    assert!(editor.menu().is_none());
}

#[test]
fn arrows_move_in_the_text_first_and_then_through_the_history() {
    let mut editor = editor(&["first", "second"]);
    press(&mut editor, "draft");
    editor.key(Key::NewLine, 20);
    press(&mut editor, "more");
    editor.key(Key::Up, 20);
    assert_eq!(editor.buffer().before(), "draf");
    editor.key(Key::Up, 20);
    assert_eq!(editor.buffer().text(), "second");
    editor.key(Key::Up, 20);
    editor.key(Key::Up, 20);
    assert_eq!(editor.buffer().text(), "first");
    editor.key(Key::Down, 20);
    editor.key(Key::Down, 20);
    assert_eq!(editor.buffer().text(), "draft\nmore");
}

#[test]
fn the_history_is_searched_from_the_newest_to_the_oldest() {
    let mut editor = editor(&["make test", "make all", "ls"]);
    press(&mut editor, "draft");
    editor.key(Key::Search, 20);
    press(&mut editor, "make");
    assert_eq!(editor.buffer().text(), "make all");
    editor.key(Key::Search, 20);
    assert_eq!(editor.buffer().text(), "make test");
    editor.key(Key::Escape, 20);
    assert_eq!(editor.buffer().text(), "draft");
    editor.key(Key::Search, 20);
    press(&mut editor, "ls");
    assert_eq!(editor.key(Key::Enter, 20), Done::Edited);
    assert!(matches!(editor.key(Key::Enter, 20), Done::Submit(sent) if sent.text == "ls"));
}

#[test]
fn a_final_backslash_goes_on_in_a_new_line() {
    let mut editor = editor(&[]);
    press(&mut editor, "one\\");
    assert_eq!(editor.key(Key::Enter, 20), Done::Edited);
    press(&mut editor, "two");
    assert!(matches!(editor.key(Key::Enter, 20), Done::Submit(sent) if sent.text == "one\ntwo"));
}

#[test]
fn ctrl_d_leaves_only_where_nothing_is_typed() {
    let mut editor = editor(&[]);
    press(&mut editor, "a");
    editor.key(Key::Home, 20);
    assert_eq!(editor.key(Key::EndOfInput, 20), Done::Edited);
    assert_eq!(editor.key(Key::EndOfInput, 20), Done::Leave);
}

#[test]
fn names_of_files_are_offered_after_an_at_and_put_in() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main file.rs"), "").expect("a file");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    let files = Files::new(folder.path());
    let mut editor = Editor::new(&EN, History::open(None, Redactor::new([])), Vec::new(), files);
    press(&mut editor, "see @");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while editor.waits() {
        assert!(std::time::Instant::now() < until, "the listing never ended");
        std::thread::yield_now();
        editor.refresh();
    }
    press(&mut editor, "ma");
    editor.key(Key::Tab, 20);
    assert_eq!(editor.buffer().text(), "see @\"main file.rs\" ");
    press(&mut editor, "@su");
    editor.key(Key::Enter, 20);
    assert_eq!(editor.buffer().text(), "see @\"main file.rs\" @sub/");
    // The folder is complete: there is nothing for another Enter to complete.
    let sent = editor.key(Key::Enter, 20);
    assert!(matches!(sent, Done::Submit(sent) if sent.text == "see @\"main file.rs\" @sub/"));
}
