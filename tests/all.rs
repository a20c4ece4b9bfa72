//! The tests that need more than one module, in one program: linking is most of the cost of a test program.
//!
//! `cargo test --test all laws::` runs the tests of one file.

#![allow(
    clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout,
    clippy::string_slice, missing_docs
)]
// The fuzz targets, which are a program of their own too, include some of the modules below `support`.
#![allow(clippy::duplicate_mod)]

mod support;

// That of the program; the tests of properties allocate much.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod agent_words;
mod answers;
mod architecture;
mod assessment;
mod authority;
mod binary;
mod browse;
mod capture_from;
mod change_commands;
mod cli;
mod code_reference_histories;
#[cfg(unix)]
mod code_references;
#[cfg(unix)]
mod collections;
#[cfg(unix)]
mod commit_histories;
#[cfg(unix)]
mod commit_messages;
#[cfg(unix)]
mod commits;
mod conflicts;
mod dialects;
mod doc_links;
mod docs;
mod document_findings;
mod edits;
mod embedder;
mod eval;
mod export;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod file_access;
mod file_owners;
mod filters;
mod first_calls;
mod former_titles;
mod frames;
mod fuzz_corpus;
mod generated_docs;
mod graph;
mod hooks;
#[cfg(target_os = "linux")]
mod hostile_collections;
#[cfg(target_os = "linux")]
mod hostile_commits;
mod import;
mod index;
mod index_format;
mod inventories;
mod languages;
mod laws;
mod lsp;
mod lsp_answers;
mod mcp;
mod merge;
mod okf;
mod outcomes;
mod own_notes;
mod pack;
mod passages;
mod plain_output;
mod portable_yaml;
mod question_references;
mod questions;
mod relinking;
mod retired_notes;
mod review;
mod revisions;
mod schemas;
mod search;
mod secrets;
mod settings;
mod setup;
#[cfg(unix)]
mod shells;
mod snapshots;
mod supersession;
mod tasks;
mod terminal;
#[cfg(unix)]
mod time_travel;
mod trust;
mod vaults;
mod whole_names;
#[cfg(unix)]
mod worktrees;
mod writable_sources;
mod wrong_usage;
