//! Writes beside itself.

#[test]
fn beside_itself() {
    let own = std::env::current_exe().unwrap();
    std::fs::write(own.with_file_name("planted"), "x").unwrap();
}
