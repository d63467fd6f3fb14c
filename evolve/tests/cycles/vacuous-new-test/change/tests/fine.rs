//! Fine.

#[test]
fn it_is_fine() {
    let lines = 1 + 1;
    assert_eq!(lines, 2);
}
