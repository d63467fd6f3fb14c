//! Files as text, whatever their encoding, so that an edit changes only the bytes of its span.
//!
//! UTF-8 and UTF-16 with or without a mark; else a guess among the legacy encodings, believed only where encoding the
//! text again gives the very same bytes. What cannot be read that way is refused, never repaired.

use super::error::EditError;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, WINDOWS_1252};
use std::ops::Range;

/// Bytes that are shown to the detector.
const SAMPLE: usize = 1 << 20;

/// How a file spells its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// UTF-8, with its mark or without.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// One of the older encodings.
    Legacy(&'static Encoding),
}

/// A file read as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text without its mark.
    pub body: String,
    /// How it is spelled.
    pub spelling: Spelling,
    /// Bytes of the byte order mark.
    mark: usize,
}

/// Why a file is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It holds zero bytes.
    #[error("it is a binary file")]
    Binary,
    /// No encoding gives the same bytes back.
    #[error("its encoding is not known for certain")]
    Encoding,
}

impl Unreadable {
    /// A word of the list in tests/cases/README.md.
    pub fn class(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Encoding => "bad_encoding",
        }
    }
}

/// The text of a file, by the likeliest reading.
pub fn read(bytes: &[u8]) -> Result<Text, Unreadable> {
    readings(bytes)?.next().ok_or(Unreadable::Encoding)
}

/// Every reading that gives the same bytes back, likeliest first.
pub fn readings(bytes: &[u8]) -> Result<Box<dyn Iterator<Item = Text> + '_>, Unreadable> {
    if let Some(marked) = marked(bytes) {
        return Ok(Box::new(std::iter::once(marked?)));
    }
    if bytes.contains(&0) {
        return Err(Unreadable::Binary);
    }
    if let Ok(body) = std::str::from_utf8(bytes) {
        return Ok(Box::new(std::iter::once(Text { body: body.to_owned(), spelling: Spelling::Utf8, mark: 0 })));
    }
    let first = guess(bytes);
    let others = [GBK, GB18030, BIG5, SHIFT_JIS, EUC_KR, EUC_JP, WINDOWS_1252];
    let all = std::iter::once(first).chain(others.into_iter().filter(move |other| *other != first));
    Ok(Box::new(all.filter_map(|encoding| legacy(bytes, encoding))))
}

impl Text {
    /// A text in UTF-8 without a mark.
    pub fn utf8(body: &str) -> Self {
        Self { body: body.to_owned(), spelling: Spelling::Utf8, mark: 0 }
    }

    /// The encoding's name.
    pub fn name(&self) -> &'static str {
        match self.spelling {
            Spelling::Utf8 => "UTF-8",
            Spelling::Utf16Le => "UTF-16LE",
            Spelling::Utf16Be => "UTF-16BE",
            Spelling::Legacy(encoding) => encoding.name(),
        }
    }

    /// A whole new text in this file's spelling, mark included.
    pub fn spell(&self, bytes: &[u8], body: &str) -> Result<Vec<u8>, EditError> {
        let mut result = bytes.get(..self.mark).unwrap_or_default().to_vec();
        result.extend(self.encode(body)?);
        Ok(result)
    }

    /// The file's bytes after replacements, each in the text that the one before left. All bytes outside of them stay.
    pub fn splice(&self, bytes: &[u8], splices: &[(Range<usize>, String)]) -> Result<Vec<u8>, EditError> {
        let mut bytes = bytes.to_vec();
        let mut body = self.body.clone();
        for (span, new) in splices {
            let head = self.mark + self.length(body.get(..span.start).unwrap_or_default());
            let old = self.length(body.get(span.clone()).unwrap_or_default());
            let new_bytes = self.encode(new)?;
            bytes.splice(head..head + old, new_bytes);
            body.replace_range(span.clone(), new);
        }
        Ok(bytes)
    }

    fn length(&self, part: &str) -> usize {
        match self.spelling {
            Spelling::Utf8 => part.len(),
            Spelling::Utf16Le | Spelling::Utf16Be => part.encode_utf16().count() * 2,
            Spelling::Legacy(encoding) => encoding.encode(part).0.len(),
        }
    }

    fn encode(&self, part: &str) -> Result<Vec<u8>, EditError> {
        match self.spelling {
            Spelling::Utf8 => Ok(part.as_bytes().to_vec()),
            Spelling::Utf16Le => Ok(part.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Spelling::Utf16Be => Ok(part.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Spelling::Legacy(encoding) => {
                let (encoded, _, failed) = encoding.encode(part);
                if !failed {
                    return Ok(encoded.into_owned());
                }
                let lacks = |c: &char| encoding.encode(c.encode_utf8(&mut [0; 4])).2;
                let character = part.chars().find(lacks).unwrap_or('\u{fffd}');
                Err(EditError::Unencodable { encoding: encoding.name(), character })
            }
        }
    }
}

/// A file with a byte order mark; None where it has none.
fn marked(bytes: &[u8]) -> Option<Result<Text, Unreadable>> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        let body = std::str::from_utf8(rest).map_err(|_| Unreadable::Encoding);
        return Some(body.map(|body| Text { body: body.to_owned(), spelling: Spelling::Utf8, mark: 3 }));
    }
    let (rest, spelling, join): (_, _, fn([u8; 2]) -> u16) = if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        (rest, Spelling::Utf16Le, u16::from_le_bytes)
    } else {
        (bytes.strip_prefix(b"\xfe\xff")?, Spelling::Utf16Be, u16::from_be_bytes)
    };
    let (pairs, odd) = rest.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().copied().map(join).collect();
    Some(match String::from_utf16(&units) {
        Ok(body) if odd.is_empty() => Ok(Text { body, spelling, mark: 2 }),
        _ => Err(Unreadable::Encoding),
    })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes.get(..bytes.len().min(SAMPLE)).unwrap_or(bytes), bytes.len() <= SAMPLE);
    detector.guess(None, Utf8Detection::Deny)
}

fn legacy(bytes: &[u8], encoding: &'static Encoding) -> Option<Text> {
    let (body, failed) = encoding.decode_without_bom_handling(bytes);
    if failed {
        return None;
    }
    let (again, _, lost) = encoding.encode(&body);
    (!lost && *again == *bytes).then(|| Text { body: body.into_owned(), spelling: Spelling::Legacy(encoding), mark: 0 })
}
