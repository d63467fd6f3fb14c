//! An edit of a file: file, old and new text, parted by the byte 0. Asserted, whatever the encoding:
//!
//! - the bytes before and after what is replaced stay;
//! - an old text that stands there once, byte for byte, is what is replaced, and is never called missing or ambiguous;
//! - one that stands there several times, overlapping or not, is never replaced;
//! - one that is found in spite of its line ends or its layout is the same but for these.

use selfsmith_agent::edit::{Applied, Edit, EditError, Failed, How, Occurrences, apply, encoding};

pub fn run(data: &[u8]) {
    // From the end, because files in UTF-16 hold that byte.
    let mut parts = data.rsplitn(3, |byte| *byte == 0);
    let (Some(new), Some(old), Some(file)) = (parts.next(), parts.next(), parts.next()) else { return };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let edit = Edit { old: text(old), new: text(new) };
    let Ok(readings) = encoding::readings(file) else { return };
    for reading in readings {
        let places = places(&reading.body, &edit.old);
        let applied = match apply(&reading.body, std::slice::from_ref(&edit), Occurrences::One) {
            Ok(applied) => applied,
            Err(Failed { error, .. }) => {
                let misses = matches!(error, EditError::NotFound { .. } | EditError::Ambiguous { .. });
                assert!(!misses || places.len() != 1, "it stands there once: {error}");
                continue;
            }
        };
        located(&reading.body, &edit, &places, &applied);
        others_stay(file, &reading, &applied);
    }
}

/// Every place where the old text stands byte for byte; they may overlap.
fn places(body: &str, old: &str) -> Vec<usize> {
    let stands = |at: &usize| !old.is_empty() && body.get(*at..).is_some_and(|tail| tail.starts_with(old));
    body.char_indices().map(|(at, _)| at).filter(stands).collect()
}

fn located(body: &str, edit: &Edit, places: &[usize], applied: &Applied) {
    let [(span, new)] = applied.splices.as_slice() else { panic!("one edit is one splice") };
    let mut text = body.to_owned();
    text.replace_range(span.clone(), new);
    assert_eq!(text, applied.text);
    let replaced = body.get(span.clone()).expect("a span of the text");
    match places {
        [only] => {
            assert_eq!((span.start, replaced, applied.how), (*only, edit.old.as_str(), How::Exact));
            assert!(new == &edit.new || edit.new.contains(['\n', '\r']), "only its line ends may be others: {new:?}");
        }
        [] if applied.how == How::Exact => {
            assert_eq!(replaced.replace("\r\n", "\n"), edit.old.replace("\r\n", "\n"));
        }
        // The numbers of a listing and escapes may be undone too, and what looks alike is the same.
        [] => {
            let letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).collect::<String>();
            if body.is_ascii() && edit.old.is_ascii() && !edit.old.contains('\\') {
                assert_eq!(letters(replaced), letters(&edit.old));
            }
        }
        several => panic!("it stands there {} times, and one was chosen", several.len()),
    }
}

fn others_stay(file: &[u8], reading: &encoding::Text, applied: &Applied) {
    let Ok(after) = reading.splice(file, &applied.splices) else { return };
    // The parts that stay, spelled alone, are found in the file and in the result.
    let spelled = |part: &str| reading.spell(&[], part).expect("it stands in the file");
    let part = |range| reading.body.get(range).expect("a span of the text");
    let [(span, _)] = applied.splices.as_slice() else { return };
    let tail = spelled(part(span.end..reading.body.len()));
    let head = file.len() - tail.len() - spelled(part(span.clone())).len();
    assert_eq!(after[..head], file[..head]);
    assert!(after.ends_with(&tail) && file.ends_with(&tail));
}
