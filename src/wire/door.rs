//! The way to the web that `fetch_url` is given: the program's one HTTP client, with the settings of the model's.

use crate::query::http::fetch::{self, Bounds, Cut, Reach};
use crate::query::settings::Settings;
use crate::tool::fetch_url::{Door, Host, Page};
use futures::future::BoxFuture;
use std::time::Duration;

/// The way out.
#[derive(Debug, Clone)]
pub struct Web(pub Settings);

impl Door for Web {
    fn host(&self, url: &str) -> Result<Host, String> {
        let target = fetch::target(url).map_err(|error| error.to_string())?;
        Ok(match target.reach {
            Reach::Public => Host::Public(target.host),
            Reach::Private => Host::Private(target.host),
        })
    }

    fn fetch<'a>(&'a self, url: &'a str, time: Duration, bytes: usize) -> BoxFuture<'a, Result<Page, String>> {
        Box::pin(async move {
            let loopback = fetch::target(url).is_ok_and(|target| target.reach == Reach::Private);
            let page = fetch::fetch(&self.0.http(loopback, ""), url, Bounds { time, bytes }).await;
            let page = page.map_err(|error| error.to_string())?;
            let more = if page.cut == Cut::Yes { ", and the page goes on" } else { "" };
            Ok(Page { url: page.url, status: page.status, kind: page.kind, bytes: page.bytes, more })
        })
    }
}
