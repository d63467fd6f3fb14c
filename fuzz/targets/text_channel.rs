#![no_main]

#[path = "../bodies/text_channel.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
