//! Where everything stood after an operation, or at a time: read from the chain alone, so that any clone with the judge's refs
//! can tell.

use super::{Item, ReviewError, items};
use crate::judgement::candidate::CommitId;
use crate::store::lineage;
use crate::store::record::{End, Kind, Record};
use selfsmith_repo::Repo;
use serde::Serialize;
use std::collections::BTreeMap;

/// A moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// Just after this cycle, decision or operation.
    After(String),
    /// In seconds since the epoch.
    Time(i64),
}

/// What stood then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stood {
    /// Id of the last thing that had happened.
    pub after: String,
    /// When that was, in seconds since the epoch.
    pub at: i64,
    /// Each target that the judge had moved by then, and where it stood.
    pub targets: BTreeMap<String, CommitId>,
    /// The candidates, newest first.
    pub items: Vec<Item>,
}

/// What stood at a moment.
pub fn at(repo: &Repo, moment: &Moment) -> Result<Stood, ReviewError> {
    let links = lineage::list(repo)?;
    let last = match moment {
        Moment::After(id) => links.iter().position(|link| link.record.id == *id),
        Moment::Time(time) => links.iter().position(|link| link.record.at <= *time),
    };
    let Some(last) = last else {
        let what = match moment {
            Moment::After(id) => format!("find the operation {id}: there is none"),
            Moment::Time(_) => "look back so far: nothing had happened then".to_owned(),
        };
        let hint = "`selfsmith ops` and `selfsmith lineage` list what happened".to_owned();
        return Err(ReviewError::Unfit { what, hint });
    };
    let past = links.get(last..).unwrap_or_default();
    let record = past.first().map(|link| &link.record);
    Ok(Stood {
        after: record.map(|record| record.id.clone()).unwrap_or_default(),
        at: record.map(|record| record.at).unwrap_or_default(),
        targets: past.iter().rev().filter_map(|link| moved(&link.record)).collect(),
        items: items(past),
    })
}

/// Where a record left its target.
fn moved(record: &Record) -> Option<(String, CommitId)> {
    let landed = record.landed.clone().filter(|_| record.end == End::Landed)?;
    (record.kind != Kind::Forgetting).then(|| (record.target.clone(), landed))
}
