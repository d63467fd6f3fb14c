//! Building the HTTP client: trust roots, an extra certificate authority, proxies, time to connect.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpSettings {
    /// PEM files with further certificate authorities; the system's stay trusted.
    pub ca_files: Vec<PathBuf>,
    /// Whether the system's proxy is used.
    pub proxy: Proxy,
    /// Time to connect.
    pub connect_timeout: Duration,
}

/// Which proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proxy {
    /// As the environment and the system say.
    #[default]
    System,
    /// None.
    Off,
    /// This one for everything.
    Url(String),
}

/// Why the client could not be built.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The file with certificates cannot be read.
    #[error("read the certificates in {}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file holds no certificate.
    #[error("use the certificates in {}: {why}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The proxy's address is wrong.
    #[error("use the proxy {url}: {why}")]
    Proxy {
        /// Its address.
        url: String,
        /// Why.
        why: String,
    },
    /// The TLS stack is not there.
    #[error("start the HTTP client: {0}")]
    Build(String),
}

impl HttpError {
    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::CaFile { .. } | Self::Certificates { .. } => {
                "model.ca_file (and model.ca_files, by provider) should name a PEM file with certificates"
            }
            Self::Proxy { .. } => "model.proxy is `system`, `off` or an address such as http://proxy.example:3128",
            Self::Build(_) => "this is a bug, or the system has no usable TLS roots",
        }
    }
}

/// The HTTP client, cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(pub(super) reqwest::Client);

impl Client {
    /// Build it. A TLS provider must have been installed for the process.
    ///
    /// # Errors
    /// A certificate file or proxy cannot be used.
    pub fn new(settings: &HttpSettings) -> Result<Self, HttpError> {
        Self::built(settings, |builder| builder)
    }

    /// The same for one host, at these addresses only where there are any.
    ///
    /// # Errors
    /// As above.
    pub fn pinned(settings: &HttpSettings, host: &str, addresses: &[SocketAddr]) -> Result<Self, HttpError> {
        Self::built(settings, |builder| match addresses {
            [] => builder,
            addresses => builder.resolve_to_addrs(host, addresses),
        })
    }

    fn built(
        settings: &HttpSettings,
        more: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<Self, HttpError> {
        // Redirects are refused: a POST that becomes a GET elsewhere helps nobody, and keys stay with their host.
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.connect_timeout)
            .tcp_keepalive(Duration::from_secs(30))
            .user_agent(concat!("selfsmith-agent/", env!("CARGO_PKG_VERSION")));
        builder = match &settings.proxy {
            Proxy::System => builder,
            Proxy::Off => builder.no_proxy(),
            Proxy::Url(url) => {
                let proxy = reqwest::Proxy::all(url);
                builder.proxy(proxy.map_err(|why| HttpError::Proxy { url: url.clone(), why: why.to_string() })?)
            }
        };
        for path in &settings.ca_files {
            let pem = std::fs::read(path).map_err(|source| HttpError::CaFile { path: path.clone(), source })?;
            let wrong = |why: String| HttpError::Certificates { path: path.clone(), why };
            let certificates = reqwest::Certificate::from_pem_bundle(&pem).map_err(|why| wrong(why.to_string()))?;
            if certificates.is_empty() {
                return Err(wrong("it holds no certificate".into()));
            }
            builder = builder.tls_certs_merge(certificates);
        }
        more(builder).build().map(Self).map_err(|why| HttpError::Build(why.to_string()))
    }

    /// The client itself.
    pub(super) fn inner(&self) -> reqwest::Client {
        self.0.clone()
    }
}
