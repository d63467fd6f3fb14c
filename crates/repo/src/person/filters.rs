//! Filters (LFS, encryption) of files that are about to be committed. Promises that a file whose filter is missing is never
//! committed raw: git itself would do so unless the filter is marked as required.

use super::paths::nul_list;
use super::{Class, PersonError, WorkTree, error};
use crate::path::TreePath;
use crate::program::fields;
use std::collections::BTreeMap;

impl WorkTree<'_> {
    /// The filters of these paths by name.
    ///
    /// # Errors
    /// A filter that `.gitattributes` names and no configuration knows.
    pub(super) fn filters_of(&self, paths: &[TreePath]) -> Result<Vec<String>, PersonError> {
        let done = self.git().stdin(nul_list(paths)).finish(&["check-attr", "-z", "--stdin", "filter"])?;
        if !done.ok() {
            return Err(error::of_command("read attributes", &done));
        }
        let output = done.stdout()?;
        let mut drivers = BTreeMap::new();
        let mut fields = fields(&output);
        while let (Some(path), Some(_), Some(driver)) = (fields.next(), fields.next(), fields.next()) {
            if !matches!(driver, b"unspecified" | b"unset" | b"set") {
                let driver = String::from_utf8_lossy(driver).into_owned();
                drivers.entry(driver).or_insert_with(|| TreePath::new(path));
            }
        }
        for (driver, path) in &drivers {
            if !self.has_clean(driver)? {
                let message = format!(
                    "commit {path}: .gitattributes gives it the filter {driver}, and no program is configured for that filter"
                );
                return Err(PersonError::new(Class::Filter, message));
            }
        }
        Ok(drivers.into_keys().collect())
    }

    fn has_clean(&self, driver: &str) -> Result<bool, PersonError> {
        for program in ["clean", "process"] {
            let value = self.git().finish(&["config", "--get", &format!("filter.{driver}.{program}")])?;
            if value.ok() && !value.stdout()?.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
