//! Page ranges as people type them: `1-3,7` means 1, 2, 3 and 7.

/// Parse a list of pages and ranges. Ranges include both ends.
pub fn pages(text: &str) -> Result<Vec<u32>, String> {
    let mut pages = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((from, to)) => {
                let from: u32 = number(from)?;
                let to: u32 = number(to)?;
                pages.extend(from..to);
            }
            None => pages.push(number(part)?),
        }
    }
    Ok(pages)
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("{text:?} is not a page number"))
}
