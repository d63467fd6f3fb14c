//! A page fetched for a tool: a GET with bounds, followed only within the same host and scheme.
//!
//! Who is asked for permission was asked about a host: another host, or a name that leads into a private network, is an
//! answer to ask about and not a place to go. The address that was looked at is the one that is connected to.

use super::client::{Client, HttpError, HttpSettings};
use futures::StreamExt;
use reqwest::Url;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Redirects that are followed.
const MAX_HOPS: usize = 5;

/// Bounds of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Time for all of it.
    pub time: Duration,
    /// Bytes of the body.
    pub bytes: usize,
}

/// Where an address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The host, as it is connected to: lower case, numbers as an address.
    pub host: String,
    /// Whether the address itself says that it lies in a private network or on this machine.
    pub reach: Reach,
}

/// Which net a host lies in, as far as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Not a private one by its name.
    Public,
    /// This machine or a private network.
    Private,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it came from in the end.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, lower case; empty where none was given.
    pub kind: String,
    /// The body.
    pub bytes: Vec<u8>,
    /// Whether there is more of it.
    pub cut: Cut,
}

/// Whether a body is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It is.
    No,
    /// It has more bytes than were wanted.
    Yes,
}

/// Why nothing was fetched. Each message completes "could not …".
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address is none that can be fetched.
    #[error("fetch {url}: {why}")]
    Url {
        /// As written.
        url: String,
        /// Why.
        why: String,
    },
    /// It leads elsewhere.
    #[error("fetch {url}: it redirects to {to}, another host or scheme; fetch that address itself if it is wanted")]
    Elsewhere {
        /// As asked.
        url: String,
        /// Where to.
        to: String,
    },
    /// A name leads into a private network.
    #[error(
        "fetch {url}: its name leads to {address}, a private address; name the address itself, so that the person is asked about it"
    )]
    Private {
        /// As asked.
        url: String,
        /// Where to.
        address: IpAddr,
    },
    /// It took too long.
    #[error("fetch {url}: nothing whole came within {seconds} s")]
    TimedOut {
        /// As asked.
        url: String,
        /// The limit.
        seconds: u64,
    },
    /// The network says no.
    #[error("fetch {url}: {why}")]
    Network {
        /// As asked.
        url: String,
        /// Why.
        why: String,
    },
    /// The client cannot be built.
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// Where an address leads.
///
/// # Errors
/// It is no http or https address, or holds a user name.
pub fn target(url: &str) -> Result<Target, FetchError> {
    parse(url).map(|(_, target)| target)
}

/// Fetch it.
///
/// # Errors
/// See [`FetchError`]; a status that is no success is a [`Page`].
pub async fn fetch(settings: &HttpSettings, url: &str, bounds: Bounds) -> Result<Page, FetchError> {
    let timed_out = || FetchError::TimedOut { url: url.to_owned(), seconds: bounds.time.as_secs() };
    tokio::time::timeout(bounds.time, followed(settings, url, bounds.bytes)).await.map_err(|_| timed_out())?
}

async fn followed(settings: &HttpSettings, url: &str, most: usize) -> Result<Page, FetchError> {
    let (mut at, target) = parse(url)?;
    let pinned = addresses(&at, &target, url).await?;
    let client = Client::pinned(settings, at.host_str().unwrap_or_default(), &pinned)?;
    let network = |error: reqwest::Error| FetchError::Network { url: url.to_owned(), why: chain(&error) };
    for _ in 0..=MAX_HOPS {
        let accept = "text/html,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5";
        let asked = client.0.get(at.clone()).header(http::header::ACCEPT, accept);
        let response = asked.send().await.map_err(network)?;
        let location = response.headers().get(http::header::LOCATION).and_then(|value| value.to_str().ok());
        let next = location.filter(|_| response.status().is_redirection()).and_then(|to| at.join(to).ok());
        let Some(next) = next else { return page(response, most).await.map_err(network) };
        let same = (next.scheme(), next.host_str(), next.port_or_known_default())
            == (at.scheme(), at.host_str(), at.port_or_known_default());
        if !same {
            return Err(FetchError::Elsewhere { url: url.to_owned(), to: next.to_string() });
        }
        at = next;
    }
    Err(FetchError::Network { url: url.to_owned(), why: format!("it redirects more than {MAX_HOPS} times") })
}

async fn page(response: reqwest::Response, most: usize) -> Result<Page, reqwest::Error> {
    let kind = response.headers().get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    let (url, status) = (response.url().to_string(), response.status().as_u16());
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    let mut cut = Cut::No;
    while let Some(piece) = body.next().await {
        bytes.extend_from_slice(&piece?);
        if bytes.len() > most {
            bytes.truncate(most);
            cut = Cut::Yes;
            break;
        }
    }
    Ok(Page { url, status, kind, bytes, cut })
}

fn parse(url: &str) -> Result<(Url, Target), FetchError> {
    let wrong = |why: &str| FetchError::Url { url: url.to_owned(), why: why.to_owned() };
    let parsed = Url::parse(url.trim()).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(wrong("only http and https are fetched"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(wrong("it holds a user name"));
    }
    let host = parsed.host_str().filter(|host| !host.is_empty()).ok_or_else(|| wrong("it has no host"))?;
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let private = match address {
        Ok(address) => is_private(address),
        Err(_) => {
            !host.contains('.')
                || [".localhost", ".local", ".internal", ".home.arpa"].iter().any(|end| host.ends_with(end))
        }
    };
    let reach = if private { Reach::Private } else { Reach::Public };
    Ok((parsed, Target { host, reach }))
}

/// The addresses that a name stands for; none where it cannot be looked up here, as behind a proxy.
async fn addresses(at: &Url, target: &Target, url: &str) -> Result<Vec<SocketAddr>, FetchError> {
    let port = at.port_or_known_default().unwrap_or(80);
    let name = target.host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = tokio::net::lookup_host((name, port)).await.map(Iterator::collect).unwrap_or_default();
    match found.iter().find(|found| is_private(found.ip())) {
        Some(found) if target.reach == Reach::Public => {
            Err(FetchError::Private { url: url.to_owned(), address: found.ip() })
        }
        _ => Ok(found),
    }
}

/// This machine, a private network, or no address of a single public host (RFC 1918, 6598, 6890, 4193, 4291).
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let shared = v4.octets()[0] == 100 && (64..128).contains(&v4.octets()[1]);
            v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_broadcast()
                || v4.is_multicast()
                || v4.octets()[0] == 0
                || shared
        }
        IpAddr::V6(v6) => match v6.to_ipv4_mapped().or_else(|| nat64(v6)) {
            Some(v4) => is_private(v4.into()),
            None => {
                v6.is_loopback()
                    || v6.is_unspecified()
                    || v6.is_unique_local()
                    || v6.is_unicast_link_local()
                    || v6.is_multicast()
            }
        },
    }
}

/// The address inside one of the well-known prefix `64:ff9b::/96` (RFC 6052).
fn nat64(v6: std::net::Ipv6Addr) -> Option<std::net::Ipv4Addr> {
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(((u32::from(high) << 16) | u32::from(low)).into()),
        _ => None,
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_however_they_are_written() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://LOCALHOST./x",
            "http://10.1.2.3/",
            "http://169.254.169.254/latest",
            "http://100.64.0.1",
            "http://printer/",
            "http://x.internal/",
            "http://0.0.0.0/",
        ] {
            assert_eq!(target(url).expect("an address").reach, Reach::Private, "{url}");
        }
        for url in ["https://docs.rs/x", "http://8.8.8.8/", "http://100.128.0.1/"] {
            assert_eq!(target(url).expect("an address").reach, Reach::Public, "{url}");
        }
        assert_eq!(target("http://2130706433/").expect("an address").host, "127.0.0.1");
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for url in ["file:///etc/passwd", "ftp://x/", "docs.rs/x", "http://", "http://a@b/", "javascript:1"] {
            assert!(target(url).is_err(), "{url}");
        }
    }
}
