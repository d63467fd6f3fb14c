//! An edit of a file: file, old and new text, parted by the byte 0. Whatever the encoding, the bytes before and after what is
//! replaced stay.

use selfsmith_agent::edit::{Edit, Occurrences, apply, encoding};

pub fn run(data: &[u8]) {
    let mut parts = data.splitn(3, |byte| *byte == 0);
    let (Some(file), Some(old), Some(new)) = (parts.next(), parts.next(), parts.next()) else { return };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let edit = Edit { old: text(old), new: text(new) };
    let Ok(readings) = encoding::readings(file) else { return };
    for reading in readings {
        let Ok(applied) = apply(&reading.body, std::slice::from_ref(&edit), Occurrences::One) else { continue };
        let [(span, new)] = applied.splices.as_slice() else { panic!("one edit is one splice") };
        let mut body = reading.body.clone();
        body.replace_range(span.clone(), new);
        assert_eq!(body, applied.text);
        let Ok(after) = reading.splice(file, &applied.splices) else { continue };
        // The parts that stay, spelled alone, are found in the file and in the result.
        let spelled = |part: &str| reading.spell(&[], part).expect("it stands in the file");
        let part = |range| reading.body.get(range).expect("a span of the text");
        let tail = spelled(part(span.end..reading.body.len()));
        let head = file.len() - tail.len() - spelled(part(span.clone())).len();
        assert_eq!(after[..head], file[..head]);
        assert!(after.ends_with(&tail) && file.ends_with(&tail));
    }
}
