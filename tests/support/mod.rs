//! What several test programs share. Each program uses a part of it.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::string_slice)]

pub(crate) mod answer_laws;
pub(crate) mod collection_model;
pub(crate) mod commands;
pub(crate) mod commit_repository;
pub(crate) mod files;
pub(crate) mod frontmatter;
pub(crate) mod generators;
#[cfg(unix)]
pub(crate) mod git_history;
pub(crate) mod hang;
pub(crate) mod imports;
pub(crate) mod layouts;
pub(crate) mod lsp_client;
pub(crate) mod mcp_client;
pub(crate) mod process;
pub(crate) mod pty;
pub(crate) mod random;
pub(crate) mod repository;
pub(crate) mod schema;
pub(crate) mod secret_values;
pub(crate) mod world;
