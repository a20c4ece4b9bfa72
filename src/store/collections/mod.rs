//! Which folders count, and on whose word: the settings of stores and of the user, and the collections that they name.

mod at_commit;
pub(super) mod collection;
pub(super) mod config;
pub(super) mod discover;
mod document_config;
pub(super) mod find;
mod guessed_dialect;
pub(super) mod init;
pub(super) mod layout;
pub(super) mod suggest;
pub(super) mod trusted_stores;
pub(super) mod user_settings;
