//! The store: the only reader and writer of files. Each folder imports only from those before it: [`git`], [`fs`], [`index`],
//! [`collections`], [`notes`], [`writes`].

mod collections;
mod fs;
pub(crate) mod git;
mod index;
mod notes;
mod writes;

pub use collections::collection::{Authority, COMMITS, Collection, CollectionReason, PROJECT, Tier, is_commit};
pub use collections::config::{BlocksSetting, Config, ContextConfig, UnknownKey};
pub use collections::discover::{CollectionScope, Location, expect_inside, find_root, project_root};
pub(crate) use collections::discover::{normalize_lexically, relative_to, shown_in};
pub use collections::find::{CodeTarget, SettingFinding, commits_of_code, reads_commits, user_store};
pub use collections::init::{InitPlan, InitResult, MadeFile, init};
pub use collections::suggest::{
    SuggestedSettings, SuggestedSource, main_folder, suggested_settings, suggested_sources, suggests_commits,
};
pub use collections::user_settings::{EmbedderSettings, UserTrust, shows_receipts};
pub use fs::file_tree::FileTree;
#[cfg(test)]
pub(crate) use fs::in_progress_writes::QUIET_IN_TESTS;
pub use fs::skipped::{IgnoredEntry, is_skipped};
pub(crate) use fs::{atomic_write, files};
pub use git::history::{Blob, BlobChange, FileCommit, GitHistory};
pub use git::revision::CommitName;
pub use git::source_text::{SourceText, words};
pub use index::record_fields::{IdentityFields, LinkFields, ListFields, RelationFields};
pub(crate) use index::source_scan::is_ignored_by_git;
pub use notes::commit_history::CommitHistory;
pub use notes::load::rebuild_index;
pub use notes::names::near_names;
pub(crate) use notes::names::{naming_collection, position_of};
pub use notes::note_fields::OWN_FIELDS;
pub use notes::note_handle::NoteHandle;
pub use notes::note_history::{CommitInfo, NoteVersion};
pub use notes::note_idx::{NoteIdx, NoteSet};
pub use notes::project_files::{MAX_SOURCE, ProjectFiles};
pub use notes::store::Store;
pub use notes::text_index_builder::{
    IndexBuilderFactory, NOTES_PER_BATCH, TextIndex, TextIndexBuilder, TextIndexWorker,
};
pub use notes::vector_cache::{NoteHash, TextHash, VectorCache, note_hash, text_hash};
pub use notes::watch::{ChangeWatcher, fingerprint};
pub use writes::change::Change;
pub(crate) use writes::change::diff;
#[cfg(test)]
pub(crate) use writes::lock::HELD;
pub use writes::lock::Lock;
pub(crate) use writes::lock::{FolderLock, LockState, lock_folder};
pub use writes::open_for_write::{Dependence, Planned};
pub use writes::shown_notes::ShownNotes;
pub use writes::shown_record::{SessionRecord, ShownRecord};
pub use writes::user_file::{StateFile, export, export_stream, read_user_file};
