//! Settings that have no effect, and why.

use crate::codec::named::named;

/// A setting that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingFinding {
    /// The file of the setting, as it is shown.
    pub file: String,
    /// What kind of defect it is.
    pub code: SettingCode,
    /// One sentence.
    pub message: String,
    /// The name that the collection of the setting would have.
    pub collection: Option<String>,
}

named! {
    /// What kind of defect a finding of settings is about. Names are public in answers, and never change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SettingCode {
        /// A key of an earlier version.
        FormerSetting = "former-setting",
        /// A path of a repository or a project in the user's settings is relative.
        RepositoryInvalid = "repository-invalid",
        /// The user's settings, or a path in them, can't be read.
        SettingsInvalid = "settings-invalid",
        /// A folder of documents contains none.
        DocumentsEmpty = "documents-empty",
        /// A value of a setting of documents has no meaning.
        DocumentsInvalid = "documents-invalid",
        /// A folder of documents is inside a store.
        DocumentsInStore = "documents-in-store",
        /// A folder of documents is not there or unreadable.
        DocumentsMissing = "documents-missing",
        /// A folder of documents is outside the project.
        DocumentsOutside = "documents-outside",
        /// The history of a folder that is in no repository is switched on.
        HistoryMissing = "history-missing",
        /// A value of a setting of stores has no meaning.
        StoreInvalid = "store-invalid",
        /// A store is not there or unreadable.
        StoreMissing = "store-missing",
        /// A store is outside the project.
        StoreOutside = "store-outside",
        /// A store or its settings are unreadable.
        StoreUnreadable = "store-unreadable",
        /// A collection of the user counts in other projects only. Never in an answer.
        OtherProject = "other-project",
        /// More collections are named than are read.
        TooManyCollections = "too-many-collections",
        /// The user does not trust the store that says whom to trust.
        TrustIgnored = "trust-ignored",
    }
}

impl SettingCode {
    /// Whether a collection is not read because of it.
    pub(in crate::store) fn is_missing_collection(self) -> bool {
        matches!(self, Self::DocumentsMissing | Self::StoreMissing | Self::StoreUnreadable | Self::SettingsInvalid)
    }
}
