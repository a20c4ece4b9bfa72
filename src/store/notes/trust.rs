//! Whose statements about reliability count.

use super::collection_reader::CollectionReader;
use super::store::Store;
use crate::error::Error;
use crate::store::collections::trusted_stores;
use crate::store::collections::user_settings::{UserSettings, UserTrust};

impl Store {
    /// Whether the user trusts what the notes and config of each collection state about reliability. A source is trusted as
    /// the first store if it lies in the same repository, or if the user names it. A store in memory is trusted.
    pub fn trusted_collections(&self) -> Vec<bool> {
        let settings = self.settings.as_deref();
        let is_trusted = |one: &CollectionReader| {
            !one.about.is_source()
                && (one.root.as_os_str().is_empty() || trusted_stores::is_trusted(&one.root, settings))
        };
        let stores: Vec<bool> = self.collections.iter().map(is_trusted).collect();
        let is_first_trusted = stores.first() == Some(&true);
        let trusted = self.collections.iter().zip(&stores).map(|(one, is_trusted)| match &one.about.reason {
            reason if reason.is_of_settings() => true,
            _ if one.about.is_source() => is_first_trusted && one.about.is_in_repository,
            _ => *is_trusted,
        });
        trusted.collect()
    }

    /// Returns what the user trusts in every store.
    ///
    /// # Errors
    /// `Store` if the user's settings are not valid.
    pub fn user_trust(&self) -> Result<UserTrust, Error> {
        Ok(UserSettings::load(self.settings.as_deref())?.trust)
    }
}
