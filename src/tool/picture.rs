//! Pictures among the files that `view` shows.

use super::files;
use super::paths::Place;
use super::{Answer, Picture};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

/// Bytes of a picture that is handed on; providers take little more.
const MAX_BYTES: usize = 4 << 20;
/// How files of a kind begin (the PNG, GIF, JPEG specifications).
const KINDS: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
];

/// The MIME type of a picture that models take; none where the bytes are something else.
pub fn kind(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let known = KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, mime)| *mime);
    known.or(is_webp.then_some("image/webp"))
}

/// The answer that hands a picture on.
pub fn shown(place: &Place, mime: &'static str, bytes: &[u8]) -> Result<Answer, Answer> {
    if bytes.len() > MAX_BYTES {
        let message = format!("{} has more than {} MiB", place.relative, MAX_BYTES >> 20);
        return Err(files::failed("too_large", message, "make a smaller copy with a command, and view that"));
    }
    let mut answer = Answer::done(format!("[{}: a picture, {mime}, {} bytes]", place.relative, bytes.len()))
        .with_detail(json!({ "path": place.relative, "picture": mime }));
    answer.picture = Some(Box::new(Picture { mime, base64: BASE64_STANDARD.encode(bytes) }));
    Ok(answer)
}
