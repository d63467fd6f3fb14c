//! Times for people.

/// A time as people of this machine's zone read it.
pub fn when(milliseconds: u64) -> String {
    let at = i64::try_from(milliseconds).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at.map_or_else(String::new, |at| {
        at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
    })
}
