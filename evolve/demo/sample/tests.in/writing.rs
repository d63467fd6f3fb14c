//! How a size is written.

use sizes::format;

#[test]
fn the_largest_fitting_unit_is_taken() {
    assert_eq!(format(999), "999 B");
    assert_eq!(format(1_000), "1 kB");
    assert_eq!(format(2_000_000), "2 MB");
}

#[test]
fn one_digit_after_the_point_is_enough() {
    assert_eq!(format(1_540), "1.5 kB");
    assert_eq!(format(1_999_999_999), "1.9 GB");
}
