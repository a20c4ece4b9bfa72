//! What git knows: the commits, the tracked files and the working trees of a repository. A repository is untrusted.

pub(super) mod blob_reader;
pub(super) mod commit_list;
pub(super) mod commit_reader;
pub(super) mod commit_tree;
pub(super) mod commits_of_code;
pub(super) mod history;
pub(super) mod plain_file;
pub(super) mod plumbing;
mod process;
pub(super) mod ref_state;
pub(super) mod revision;
pub(super) mod source_text;
pub(super) mod tracked_files;
pub(super) mod worktree;

pub(crate) use process::{config, expect_work_tree, merge_by_lines, set_config, user_name};
