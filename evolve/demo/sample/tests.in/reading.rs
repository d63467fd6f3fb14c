//! What is read as a size, and what is not.

use sizes::{parse, SizeError};

#[test]
fn plain_bytes_are_read() {
    assert_eq!(parse("1500"), Ok(1500));
    assert_eq!(parse(" 12 B "), Ok(12));
}

#[test]
fn decimal_units_are_read_exactly() {
    assert_eq!(parse("1.5k"), Ok(1_500));
    assert_eq!(parse("0.001 MB"), Ok(1_000));
    assert_eq!(parse("2G"), Ok(2_000_000_000));
}

#[test]
fn what_is_no_size_is_an_error_that_says_why() {
    assert_eq!(parse(""), Err(SizeError::Empty));
    assert_eq!(parse("1.2.3"), Err(SizeError::Number("1.2.3".to_owned())));
    assert_eq!(
        parse("5 parsecs"),
        Err(SizeError::Unit("parsecs".to_owned()))
    );
    assert_eq!(parse("99999999999 G"), Err(SizeError::TooLarge));
}
