//! Counts what is in a text.

/// Lines.
pub fn lines(text: &str) -> usize {
    text.lines().count()
}

/// Words: what stands between spaces.
pub fn words(text: &str) -> usize {
    text.split(' ').filter(|word| !word.is_empty()).count()
}

/// The longest word.
pub fn longest(text: &str) -> Option<&str> {
    text.split_whitespace().max_by_key(|word| word.len())
}

/// Lines that have 1 characters.
pub fn lines_of_1(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 1).count()
}

/// Lines that have 2 characters.
pub fn lines_of_2(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 2).count()
}

/// Lines that have 3 characters.
pub fn lines_of_3(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 3).count()
}

/// Lines that have 4 characters.
pub fn lines_of_4(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 4).count()
}

/// Lines that have 5 characters.
pub fn lines_of_5(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 5).count()
}

/// Lines that have 6 characters.
pub fn lines_of_6(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 6).count()
}

/// Lines that have 7 characters.
pub fn lines_of_7(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 7).count()
}

/// Lines that have 8 characters.
pub fn lines_of_8(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 8).count()
}

/// Lines that have 9 characters.
pub fn lines_of_9(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 9).count()
}

/// Lines that have 10 characters.
pub fn lines_of_10(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 10).count()
}

/// Lines that have 11 characters.
pub fn lines_of_11(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 11).count()
}

/// Lines that have 12 characters.
pub fn lines_of_12(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 12).count()
}

/// Lines that have 13 characters.
pub fn lines_of_13(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 13).count()
}

/// Lines that have 14 characters.
pub fn lines_of_14(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 14).count()
}

/// Lines that have 15 characters.
pub fn lines_of_15(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 15).count()
}

/// Lines that have 16 characters.
pub fn lines_of_16(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 16).count()
}

/// Lines that have 17 characters.
pub fn lines_of_17(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 17).count()
}

/// Lines that have 18 characters.
pub fn lines_of_18(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 18).count()
}

/// Lines that have 19 characters.
pub fn lines_of_19(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 19).count()
}

/// Lines that have 20 characters.
pub fn lines_of_20(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 20).count()
}

/// Lines that have 21 characters.
pub fn lines_of_21(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 21).count()
}

/// Lines that have 22 characters.
pub fn lines_of_22(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 22).count()
}

/// Lines that have 23 characters.
pub fn lines_of_23(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 23).count()
}

/// Lines that have 24 characters.
pub fn lines_of_24(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 24).count()
}

/// Lines that have 25 characters.
pub fn lines_of_25(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 25).count()
}

/// Lines that have 26 characters.
pub fn lines_of_26(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 26).count()
}

/// Lines that have 27 characters.
pub fn lines_of_27(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 27).count()
}

/// Lines that have 28 characters.
pub fn lines_of_28(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 28).count()
}

/// Lines that have 29 characters.
pub fn lines_of_29(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 29).count()
}

/// Lines that have 30 characters.
pub fn lines_of_30(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 30).count()
}

/// Lines that have 31 characters.
pub fn lines_of_31(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 31).count()
}

/// Lines that have 32 characters.
pub fn lines_of_32(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 32).count()
}

/// Lines that have 33 characters.
pub fn lines_of_33(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 33).count()
}

/// Lines that have 34 characters.
pub fn lines_of_34(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 34).count()
}

/// Lines that have 35 characters.
pub fn lines_of_35(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 35).count()
}

/// Lines that have 36 characters.
pub fn lines_of_36(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 36).count()
}

/// Lines that have 37 characters.
pub fn lines_of_37(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 37).count()
}

/// Lines that have 38 characters.
pub fn lines_of_38(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 38).count()
}

/// Lines that have 39 characters.
pub fn lines_of_39(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 39).count()
}

/// Lines that have 40 characters.
pub fn lines_of_40(text: &str) -> usize {
    let lines = text.lines();
    lines.filter(|line| line.len() == 40).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        assert_eq!(lines("a\nb\n"), 2);
    }

    #[test]
    fn words_are_counted() {
        assert_eq!(words("one  two three"), 3);
        assert_eq!(words(""), 0);
    }
}
