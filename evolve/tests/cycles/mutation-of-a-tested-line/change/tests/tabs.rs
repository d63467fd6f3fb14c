//! Tabs are spaces too.

#[test]
fn tabs_part_words() {
    assert_eq!(counts::words("a\tb c"), 3);
}
