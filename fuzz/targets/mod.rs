//! The fuzz targets: one for each kind of input that qipu does not trust. Each checks the laws of its input, and panics where
//! one is broken. `fuzz/main.rs` runs them under libFuzzer, `tests/fuzz_corpus.rs` replays their corpora in an ordinary
//! build. CONTRIBUTING.md says how to run them.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice, missing_docs)]

#[path = "../../tests/support/answer_laws.rs"]
mod answer_laws;
#[path = "../../tests/support/commands.rs"]
mod commands;
#[path = "../../tests/support/schema.rs"]
mod schema;

mod answers;
mod changes;
mod derived;
mod input;
mod projects;
mod servers;
mod texts;
mod values;
mod world;

/// A target: checks the laws for one input.
pub(crate) type Target = fn(&[u8]);

/// All targets, by name.
pub(crate) const TARGETS: [(&str, Target); 25] = [
    ("arguments", values::arguments),
    ("changes", changes::changes),
    ("config", answers::config),
    ("dates", values::dates),
    ("disk", answers::disk),
    ("edits", texts::edits),
    ("eval", values::questions),
    ("filters", answers::filters),
    ("frontmatter", texts::frontmatter),
    ("hooks", servers::hooks),
    ("ids", values::ids),
    ("import", projects::import),
    ("index", derived::index),
    ("lsp", servers::lsp),
    ("markdown", texts::markdown),
    ("mcp", servers::mcp),
    ("merge", texts::merge),
    ("pack", projects::pack),
    ("query", answers::query),
    ("records", answers::records),
    ("redo_log", derived::redo_log),
    ("secrets", texts::secrets),
    ("setup", projects::setup),
    ("stale", projects::stale),
    ("store", answers::store),
];

/// Writes inputs for `index` into a folder: the sections of an index as it is written now.
pub(crate) fn write_seeds(folder: &std::path::Path) {
    std::fs::create_dir_all(folder).unwrap();
    for (file, section, bytes) in derived::sections() {
        for (command, patch) in (0..6).zip([false, true].into_iter().cycle()) {
            let head = [file as u8, section as u8, u8::from(patch), command].map(|number| b'0' + number);
            let body = if patch { &[] } else { bytes.as_slice() };
            let name = format!("{file}-{section}-{command}");
            std::fs::write(folder.join(name), [&head, body].concat()).unwrap();
        }
    }
}

/// Returns the target of a name.
pub(crate) fn find(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(other, _)| *other == name).map(|(_, target)| *target)
}
