//! `sizes 1.5k 200MB …`: the sum of all sizes, in bytes and as people write it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut sum: u64 = 0;
    for argument in std::env::args().skip(1) {
        match sizes::parse(&argument).map(|size| sum.checked_add(size)) {
            Ok(Some(more)) => sum = more,
            Ok(None) => {
                eprintln!("sizes: the sum is too large");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("sizes: {argument}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{sum} ({})", sizes::format(sum));
    ExitCode::SUCCESS
}
