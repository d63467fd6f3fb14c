//! Output in the encodings that came before UTF-8 (GBK, Big5, Shift-JIS, EUC and the rest), read as what it says.
//!
//! Promises text without a guess where the bytes are UTF-8, and never a guess about bytes that look like no text at all.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use selfsmith_sandbox::Captured;

/// Bytes above ASCII from which on a guess is worth anything.
const ENOUGH: usize = 4;
/// The same for encodings of one byte a character, in which almost everything is a text.
const ENOUGH_SINGLE: usize = 12;

/// All as text, with `note(how many)` where bytes were dropped; and the name of the encoding where it was a guess.
pub(super) fn text(captured: &Captured, note: impl FnOnce(u64) -> String) -> (String, Option<&'static str>) {
    let Some(encoding) = guess(&captured.bytes()) else { return (captured.text(note), None) };
    let read = |bytes: &[u8]| encoding.decode_without_bom_handling(bytes).0.into_owned();
    let mut text = read(&captured.head);
    if captured.dropped > 0 {
        text.push_str(&note(captured.dropped));
        text.push_str(&read(&captured.tail));
    }
    (text, Some(encoding.name()))
}

/// The encoding, where the bytes are text and not UTF-8.
fn guess(bytes: &[u8]) -> Option<&'static Encoding> {
    let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    if high < ENOUGH || bytes.contains(&0) || is_utf8(bytes) {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    if encoding.is_single_byte() && high < ENOUGH_SINGLE {
        return None;
    }
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    let wrong = text.chars().filter(|c| *c == '\u{FFFD}' || ('\u{80}'..='\u{9F}').contains(c)).count();
    // A cut may have torn a character at either side.
    (wrong <= 2).then_some(encoding)
}

/// Whether it is UTF-8 but for a few bytes.
fn is_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        whole += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    broken * 4 <= whole || broken == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Option<&'static str>) {
        text(&Captured { head: bytes.to_vec(), ..Captured::default() }, |_| String::new())
    }

    #[test]
    fn legacy_encodings_are_read_as_what_they_say() {
        let chinese = "错误：找不到文件，请检查路径是否正确。";
        for encoding in [encoding_rs::GBK, encoding_rs::BIG5] {
            let words = if encoding == encoding_rs::BIG5 {
                "錯誤：找不到檔案，請檢查路徑是否正確。"
            } else {
                chinese
            };
            assert_eq!(read(&encoding.encode(words).0), (words.to_owned(), Some(encoding.name())));
        }
        let japanese = "エラー: ファイルが見つかりません";
        assert_eq!(read(&encoding_rs::SHIFT_JIS.encode(japanese).0), (japanese.to_owned(), Some("Shift_JIS")));
    }

    #[test]
    fn utf8_with_a_broken_byte_and_bytes_that_are_no_text_are_not_guessed_at() {
        assert_eq!(read("中文输出没有问题\n".as_bytes()).1, None);
        let broken = ["中文输出没有问题".as_bytes(), b"\xff"].concat();
        assert_eq!(read(&broken), ("中文输出没有问题\u{FFFD}".to_owned(), None));
        assert_eq!(read(b"a\xffb"), ("a\u{FFFD}b".to_owned(), None));
        assert_eq!(read(b"\x7fELF\x00\xc4\xe3\xba\xc3\xc4\xe3").1, None);
    }
}
