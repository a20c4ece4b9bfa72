//! Settings that have no effect, and why.

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

/// What kind of defect a finding of settings is about. Names are public in answers, and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingCode {
    /// A key of an earlier version.
    FormerSetting,
    /// A path of a repository in the user's settings is relative.
    RepositoryInvalid,
    /// The user's settings, or a path in them, can't be read.
    SettingsInvalid,
    /// A folder of documents contains none.
    DocumentsEmpty,
    /// A value of a setting of documents has no meaning.
    DocumentsInvalid,
    /// A folder of documents is inside a store.
    DocumentsInStore,
    /// A folder of documents is not there or unreadable.
    DocumentsMissing,
    /// A folder of documents is outside the project.
    DocumentsOutside,
    /// A value of a setting of stores has no meaning.
    StoreInvalid,
    /// A store is not there or unreadable.
    StoreMissing,
    /// A store is outside the project.
    StoreOutside,
    /// A store or its settings are unreadable.
    StoreUnreadable,
    /// More collections are named than are read.
    TooManyCollections,
    /// The user does not trust the store that says whom to trust.
    TrustIgnored,
}

impl SettingCode {
    /// Returns the name in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FormerSetting => "former-setting",
            Self::RepositoryInvalid => "repository-invalid",
            Self::SettingsInvalid => "settings-invalid",
            Self::DocumentsEmpty => "documents-empty",
            Self::DocumentsInvalid => "documents-invalid",
            Self::DocumentsInStore => "documents-in-store",
            Self::DocumentsMissing => "documents-missing",
            Self::DocumentsOutside => "documents-outside",
            Self::StoreInvalid => "store-invalid",
            Self::StoreMissing => "store-missing",
            Self::StoreOutside => "store-outside",
            Self::StoreUnreadable => "store-unreadable",
            Self::TooManyCollections => "too-many-collections",
            Self::TrustIgnored => "trust-ignored",
        }
    }

    /// Whether a collection is not read because of it.
    pub(in crate::store) fn is_missing_collection(self) -> bool {
        matches!(self, Self::DocumentsMissing | Self::StoreMissing | Self::StoreUnreadable | Self::SettingsInvalid)
    }
}
