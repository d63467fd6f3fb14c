//! `counts`: reads standard input, prints lines and words.

use std::io::Read;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    println!("{} {}", counts::words(&text), counts::lines(&text));
    Ok(())
}
