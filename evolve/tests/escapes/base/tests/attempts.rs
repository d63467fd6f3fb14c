#[test]
fn nothing_gets_out_of_a_test() {
    let (count, escaped) = escapes::attempts::all("test");
    assert!(escaped.is_empty(), "ESCAPED from a test: {escaped:?}");
    assert_eq!(escapes::FROM_BUILD, count.to_string(), "the build script attempts as much");
    assert_eq!(escapes::FROM_MACRO, count, "so does the macro");
}
