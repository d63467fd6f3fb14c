//! Where the model is: one function builds every URL.

use std::fmt;

/// A base URL without what people add to it by habit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// `https://host[:port]/path`, without a final slash.
    base: String,
    /// `?…`, kept for servers that need it, or empty.
    query: String,
    host: String,
    port: Option<u16>,
}

/// Why a base URL is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("use the base URL {url:?}: {why}")]
pub struct EndpointError {
    url: String,
    why: &'static str,
}

impl EndpointError {
    /// What is wrong with it.
    pub const fn why(&self) -> &'static str {
        self.why
    }

    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        "write it as https://host/v1, in model.base_url or SELFSMITH_BASE_URL"
    }
}

impl Endpoint {
    /// Read a base URL; blanks around it, slashes at its end and a final `/chat/completions` do no harm.
    ///
    /// # Errors
    /// It has no scheme that is known, or no host.
    pub fn parse(url: &str) -> Result<Self, EndpointError> {
        let wrong = |why| EndpointError { url: url.to_owned(), why };
        let text = url.trim();
        let text = text.split('#').next().unwrap_or_default();
        let (path, query) =
            text.split_once('?').map_or((text, String::new()), |(path, query)| (path, format!("?{query}")));
        if path.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong("it has a blank inside"));
        }
        let mut base = path.trim_end_matches('/');
        for habit in ["/chat/completions", "/completions", "/models"] {
            base = base.strip_suffix(habit).unwrap_or(base).trim_end_matches('/');
        }
        let Some((scheme, rest)) = base.split_once("://") else {
            return Err(wrong("it does not begin with https:// or http://"));
        };
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Err(wrong("only http and https are spoken"));
        }
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.contains('@') {
            return Err(wrong("it holds a user name; the key belongs in a variable"));
        }
        let (host, port) = host_and_port(authority).ok_or_else(|| wrong("its port is no number"))?;
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        Ok(Self { base: base.to_owned(), query, host: host.to_ascii_lowercase(), port })
    }

    /// The address of a path such as `/chat/completions`.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}{}", self.base, self.query)
    }

    /// The base, as given to people.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Host name or address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, where one is named.
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.ends_with(".localhost")
            || self.address().is_some_and(|address| address.is_loopback())
    }

    /// Whether the server is on this machine or in this house: such servers need no key.
    pub fn is_local(&self) -> bool {
        let private = self.address().is_some_and(|address| match address {
            std::net::IpAddr::V4(v4) => v4.is_private() || v4.is_link_local() || v4.is_unspecified(),
            std::net::IpAddr::V6(v6) => v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_unspecified(),
        });
        let named = self.address().is_none()
            && (!self.host.contains('.') || self.host.ends_with(".local") || self.host.ends_with(".internal"));
        self.is_loopback() || private || named
    }

    /// The same with `/v1` behind, where the path is empty: the usual slip.
    pub fn with_v1(&self) -> Option<Self> {
        let after_scheme = self.base.split_once("://").map_or("", |(_, rest)| rest);
        (!after_scheme.contains('/')).then(|| Self { base: format!("{}/v1", self.base), ..self.clone() })
    }

    fn address(&self) -> Option<std::net::IpAddr> {
        self.host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    if let Some(end) = authority.find(']') {
        let (host, rest) = authority.split_at_checked(end + 1)?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => Some((host, None)),
        };
    }
    match authority.rsplit_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((authority, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(url: &str) -> Option<String> {
        Endpoint::parse(url).ok().map(|endpoint| endpoint.url("/chat/completions"))
    }

    #[test]
    fn blanks_slashes_and_pasted_paths_do_no_harm() {
        let want = Some("https://llm.example/v1/chat/completions".to_owned());
        for url in [
            "https://llm.example/v1",
            "https://llm.example/v1/",
            " https://llm.example/v1// ",
            "https://llm.example/v1/chat/completions",
            "https://llm.example/v1/chat/completions/\n",
        ] {
            assert_eq!(chat(url), want, "{url:?}");
        }
        assert_eq!(chat("https://a.example/x?v=1").as_deref(), Some("https://a.example/x/chat/completions?v=1"));
    }

    #[test]
    fn what_is_no_url_is_refused_with_a_reason() {
        for url in
            ["", "llm.example/v1", "ftp://a/v1", "https:///v1", "https://a:port/v1", "https://u:p@a/v1", "https://a b/"]
        {
            let error = Endpoint::parse(url).map_err(|error| error.to_string());
            assert!(error.is_err(), "{url:?}");
        }
    }

    #[test]
    fn local_servers_are_recognised() {
        let is_local = |url: &str| Endpoint::parse(url).is_ok_and(|endpoint| endpoint.is_local());
        for url in [
            "http://localhost:11434/v1",
            "http://127.0.0.1/v1",
            "http://[::1]:8080/v1",
            "http://192.168.1.9/v1",
            "http://gpu/v1",
        ] {
            assert!(is_local(url), "{url}");
        }
        assert!(!is_local("https://api.example.com/v1") && !is_local("http://8.8.8.8/v1"));
    }

    #[test]
    fn a_bare_host_gets_its_v1_only_where_the_path_is_empty() {
        let v1 = |url: &str| Endpoint::parse(url).ok()?.with_v1().map(|endpoint| endpoint.base().to_owned());
        assert_eq!(v1("http://127.0.0.1:9/").as_deref(), Some("http://127.0.0.1:9/v1"));
        assert_eq!(v1("http://127.0.0.1:9/v1"), None);
    }
}
