//! The same facts for an ordinary user, where the tests run as root.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// "nobody" on every Linux.
const NOBODY: u32 = 65534;

#[test]
fn every_fact_holds_for_an_ordinary_user_as_well() {
    if !fs::metadata("/proc/self").is_ok_and(|facts| std::os::unix::fs::MetadataExt::uid(&facts) == 0) {
        // Then the other tests are run by one.
        return;
    }
    // A copy, where that user can reach it; and a world outside of the temporary folders.
    let place = tempfile::tempdir_in("/var").or_else(|_| tempfile::tempdir()).expect("a folder");
    let program = place.path().join("tests");
    fs::copy(std::env::current_exe().expect("we run"), &program).expect("a copy");
    fs::create_dir(place.path().join("world")).expect("a folder");
    for path in [place.path(), &place.path().join("world")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
    }
    let output = Command::new(&program)
        .args([
            "room::",
            "owner::",
            "workspace::",
            "guarded::",
            "plain::a_daemon",
            "plain::a_child",
            "--skip",
            "cargo_builds",
        ])
        .env("SANDBOX_TEST_WORLD", place.path().join("world"))
        .env("HOME", place.path().join("world"))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let passed = said.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed >= 30, "{said}");
}
