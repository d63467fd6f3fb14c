//! What holds for any input: bytes outside of an edit stay, and nothing that people, models or disks hand in makes a parser
//! panic. The seeds of the fuzz targets are replayed here as well.

mod edits;
mod readers;
mod seeds;
