//! Diagnostics, bounded: they go back for repair and into the evidence.

use crate::workshop::TREE;

/// Bytes of a report's log.
const LIMIT: usize = 8 * 1024;

/// The first part of a text whose most useful lines come first, with the room's paths made relative, and the cut named.
pub fn bounded(text: &str) -> String {
    let text = text.replace(&format!("{TREE}/"), "");
    if text.len() <= LIMIT {
        return text;
    }
    let mut kept = String::new();
    for line in text.lines() {
        if kept.len() + line.len() + 1 > LIMIT - 64 {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    if kept.is_empty() {
        kept = text.chars().take(LIMIT / 4).collect();
    }
    format!("{kept}… {} bytes cut …\n", text.len() - kept.len())
}

/// The last lines of a text whose end is the most useful part.
pub fn last_lines(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(most);
    let cut = if skipped > 0 { format!("… {skipped} lines cut …\n") } else { String::new() };
    lines.iter().skip(skipped).fold(cut, |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_its_beginning_and_names_the_cut() {
        let long = format!("error: in /trial/tree/src/lib.rs\n{}", "x\n".repeat(20_000));
        let kept = bounded(&long);
        assert!(
            kept.len() <= LIMIT && kept.starts_with("error: in src/lib.rs\n") && kept.ends_with("cut …\n"),
            "{kept}"
        );
        assert!(bounded(&"语".repeat(9000)).len() <= LIMIT);
    }

    #[test]
    fn the_last_lines_are_kept_with_the_cut_named() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "… 1 lines cut …\nb\nc\n");
        assert_eq!(last_lines("a\n", 2), "a\n");
    }
}
