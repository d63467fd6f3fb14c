use ranges::pages;

#[test]
fn a_range_includes_both_ends() {
    assert_eq!(pages("1-3,7"), Ok(vec![1, 2, 3, 7]));
}

#[test]
fn blanks_around_numbers_are_fine() {
    assert_eq!(pages(" 2 - 4 , 9"), Ok(vec![2, 3, 4, 9]));
}

#[test]
fn a_range_that_runs_backwards_is_an_error() {
    assert!(pages("5-2").is_err());
}
