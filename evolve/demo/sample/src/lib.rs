//! Sizes in bytes as people write them: `1500`, `2k`, `1.5 MB`.
//!
//! Numbers are read and written exactly; no floating point is involved.

use std::fmt;

/// Why a text is no size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeError {
    /// There is nothing to read.
    Empty,
    /// This is no number.
    Number(String),
    /// This is no unit.
    Unit(String),
    /// More than 18 exabytes.
    TooLarge,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing to read"),
            Self::Number(text) => write!(f, "`{text}` is no number"),
            Self::Unit(text) => write!(f, "`{text}` is no unit"),
            Self::TooLarge => f.write_str("too large"),
        }
    }
}

impl std::error::Error for SizeError {}

/// Read a size.
pub fn parse(text: &str) -> Result<u64, SizeError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(SizeError::Empty);
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    scale(number, factor(unit.trim())?)
}

/// Write a size in the largest unit that keeps a digit before the point, with at most one digit after it.
pub fn format(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (factor, unit) in units {
        if bytes >= factor {
            let tenths = bytes / (factor / 10);
            return match tenths % 10 {
                0 => format!("{} {unit}", tenths / 10),
                digit => format!("{}.{digit} {unit}", tenths / 10),
            };
        }
    }
    format!("{bytes} B")
}

/// Bytes of one unit.
fn factor(unit: &str) -> Result<u64, SizeError> {
    match unit {
        "" | "B" => Ok(1),
        "k" | "kB" => Ok(1_000),
        "M" | "MB" => Ok(1_000_000),
        "G" | "GB" => Ok(1_000_000_000),
        other => Err(SizeError::Unit(other.to_owned())),
    }
}

/// `number` times `factor`; what is left of a byte is dropped.
fn scale(number: &str, factor: u64) -> Result<u64, SizeError> {
    let wrong = || SizeError::Number(number.to_owned());
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    if rest.len() > 18 || !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let (mut part, mut of) = (0, 1);
    for byte in rest.bytes() {
        part = part * 10 + u128::from(byte - b'0');
        of *= 10;
    }
    let factor = u128::from(factor);
    let bytes = u128::from(whole) * factor + part * factor / of;
    u64::try_from(bytes).map_err(|_| SizeError::TooLarge)
}
