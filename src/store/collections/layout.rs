//! The names of the files and folders of a store, besides its folders of notes.

/// The file of settings.
pub(in crate::store) const CONFIG_FILE: &str = "config.toml";
/// The folder of the files that are not notes.
pub(in crate::store) const ATTACHMENTS: &str = "attachments";
/// The folder of templates for new notes.
pub(in crate::store) const TEMPLATES: &str = "templates";
/// The redo log.
pub(in crate::store) const PENDING_FILE: &str = ".qipu-pending";
