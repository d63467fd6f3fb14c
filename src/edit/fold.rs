//! Characters that look alike, folded one to one, so that places stay valid. Used to find text, never to write it.

/// Quotes, dashes, blanks and full-width forms become their plain ASCII twins.
pub fn fold(c: char) -> char {
    match c {
        '‘' | '’' | '‚' | '‛' | '′' | '＇' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '＂' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        // The full-width forms U+FF01 to U+FF5E stand in the order of ASCII.
        '！'..='～' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// A whole text folded.
pub fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}
