//! `counts`: reads standard input, prints lines and words.

use std::io::Read;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    println!(
        "{} {}",
        counts::lines(&text),
        counts::words(&text) + extra(&text)
    );
    Ok(())
}

fn extra(text: &str) -> usize {
    usize::from(text.starts_with('\u{feff}'))
}
