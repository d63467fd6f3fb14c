//! Files for their owner alone in what is bound read-only: readable, and nothing more.

use crate::room::{bind, inside, says};
use crate::support::{done, stderr};
use selfsmith_sandbox::{BindMode, End, ROOM_UID};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A third user.
const THIRD: u32 = 4242;
/// Set for the test that runs in a mount namespace of its own: the folder on an overlay.
const ON_OVERLAY: &str = "SANDBOX_TEST_ON_OVERLAY";

/// `folder/inner/file`, all for the owner alone.
fn closed() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fill(folder.path());
    folder
}

fn fill(folder: &Path) {
    fs::create_dir(folder.join("inner")).expect("it is ours");
    fs::write(folder.join("inner/file"), "private\n").expect("it is ours");
    fs::write(folder.join("inner/program"), "#!/bin/sh\necho ran\n").expect("it is ours");
    for (path, mode) in [("", 0o700), ("inner", 0o700), ("inner/file", 0o600), ("inner/program", 0o700)] {
        fs::set_permissions(folder.join(path), Permissions::from_mode(mode)).expect("it is ours");
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0)
}

#[test]
fn what_is_for_its_owner_alone_can_be_read_and_executed() {
    let folder = closed();
    let line = "cat /ro/inner/file; /ro/inner/program; ls /ro";
    assert_eq!(says(line, vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]), "private\nran\ninner\n");
    let file = folder.path().join("inner/file");
    assert_eq!(says("cat /one", vec![bind(&file, "/one", BindMode::ReadOnly)]), "private\n");
}

#[test]
fn it_cannot_be_changed_in_any_way() {
    let folder = closed();
    let before = fs::metadata(folder.path().join("inner/file")).expect("it is ours");
    let line = "f=/ro/inner/file; echo new > $f; echo more >> $f; rm -f $f; chmod 666 $f; chmod 777 /ro /ro/inner; \
                touch $f; touch /ro/other; mkdir /ro/inner/dir; mv $f /tmp/; ln $f /tmp/link; ln $f /ro/link; \
                truncate -s 0 $f; chown 1 $f; exec 3<>$f; chmod 666 /proc/self/fd/3; exec 4<$f; chmod 666 /proc/self/fd/4; \
                echo x > /proc/self/fd/4";
    says(line, vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]);
    let after = fs::metadata(folder.path().join("inner/file")).expect("it is there");
    assert_eq!(fs::read_to_string(folder.path().join("inner/file")).expect("it is ours"), "private\n");
    let facts = |m: &fs::Metadata| (m.mode(), m.uid(), m.gid(), m.nlink(), m.mtime_nsec(), m.ctime_nsec());
    assert_eq!(facts(&before), facts(&after));
    assert_eq!(fs::metadata(folder.path()).expect("it is ours").mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 1);
}

#[test]
fn a_program_that_becomes_its_owner_outside_does_not_inside() {
    let folder = closed();
    let program = folder.path().join("id");
    fs::copy("/usr/bin/id", &program).expect("a copy");
    fs::set_permissions(&program, Permissions::from_mode(0o6755)).expect("it is ours");
    let said = says("id -u; /ro/id -u", vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]);
    let mut lines = said.lines();
    assert_eq!(lines.next(), lines.next(), "{said}");
}

#[test]
fn pipes_and_sockets_of_root_are_not_written_through_it() {
    if !is_root() {
        // An ordinary user's room is that user's own.
        return;
    }
    let folder = closed();
    let _listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
    fs::set_permissions(folder.path().join("socket"), Permissions::from_mode(0o600)).expect("it is ours");
    assert!(Command::new("mkfifo").arg("-m600").arg(folder.path().join("pipe")).status().expect("it runs").success());
    let script = "import os, socket
for what in 'socket', 'pipe':
    try:
        if what == 'socket': socket.socket(socket.AF_UNIX).connect('/ro/socket')
        else: os.open('/ro/pipe', os.O_RDWR | os.O_NONBLOCK)
        print('reached', what)
    except PermissionError: print('refused')";
    let line =
        format!("if command -v python3 > /dev/null; then python3 -c \"{script}\"; else echo refused; echo refused; fi");
    assert_eq!(says(&line, vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]), "refused\nrefused\n");
}

#[test]
fn a_file_of_a_third_user_stays_closed_and_is_named() {
    if !is_root() {
        return;
    }
    let folder = closed();
    let file = folder.path().join("inner/file");
    chown(&file, Some(THIRD), Some(THIRD)).expect("root may");
    let finished = done(&inside("cat /ro/inner/file", vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]));
    assert_eq!(finished.end, End::Exit(1), "{}", stderr(&finished));
    let found = finished.unreadable.expect("it is found");
    assert_eq!((found.path, found.at.as_path()), (file.clone(), Path::new("/ro/inner/file")));
    // The owner of what is bound counts, whoever that is.
    let owned = says("cat /one", vec![bind(&file, "/one", BindMode::ReadOnly)]);
    assert_eq!(owned, "private\n");
}

#[test]
fn what_was_given_to_the_room_stays_its_own() {
    if !is_root() {
        return;
    }
    let folder = closed();
    selfsmith_sandbox::give_to_room(folder.path()).expect("root may");
    let line = "cat /ro/inner/file; stat -c %u /ro/inner/file";
    let said = says(line, vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]);
    assert_eq!(said, format!("private\n{ROOM_UID}\n"));
}

#[test]
fn a_failure_of_another_kind_names_no_file() {
    let folder = closed();
    let finished = done(&inside("cat /ro/none", vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]));
    assert_eq!((finished.end, finished.unreadable), (End::Exit(1), None));
}

/// Runs in a mount namespace of its own, started by the test below; alone it has nothing to look at.
#[test]
fn on_an_overlay_where_it_was_mounted() {
    let Some(folder) = std::env::var_os(ON_OVERLAY).map(std::path::PathBuf::from) else { return };
    fill(&folder);
    let ro = || vec![bind(&folder, "/ro", BindMode::ReadOnly)];
    let finished = done(&inside("cat /ro/inner/file", ro()));
    assert_eq!(finished.end, End::Exit(1), "{}", stderr(&finished));
    let found = finished.unreadable.expect("it is found");
    assert_eq!(found.path, folder);
    assert!(found.why.contains("id-mapped mounts"), "{found}");
    // What everybody may read is there as ever.
    for path in ["", "inner", "inner/file"] {
        fs::set_permissions(folder.join(path), Permissions::from_mode(0o755)).expect("it is ours");
    }
    assert_eq!(says("cat /ro/inner/file", ro()), "private\n");
}

#[test]
fn where_the_file_system_cannot_do_it_the_file_in_the_way_is_named() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir(&path).expect("it is ours");
        path
    };
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(place);
    let options = format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
    let mount =
        "mount -t overlay overlay -o \"$1\" \"$2\" && exec \"$3\" owner::on_an_overlay_where_it_was_mounted --exact";
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", mount, "sh", &options])
        .arg(&merged)
        .arg(std::env::current_exe().expect("we run"))
        .env(ON_OVERLAY, &merged)
        .output()
        .expect("util-linux is there");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}
