//! `qipu doctor`: reports the defects of a store, and repairs some with `--fix`.

use std::path::{Path, PathBuf};

use super::change::{self, repair};
use super::collections::{distrusted, setting_findings};
use super::{code_findings, note_findings, note_warning, secrets};
use crate::context::{invalid_fields, map_queries, parse_filters};
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::escape::abbreviated;
use crate::filter::is_query_name;
use crate::graph::{Graph, Replacements};
use crate::note::Dialect;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, Severity, counted, layout};
use crate::request::{DoctorRequest, Filters};
use crate::setup::{self, Project};
use crate::store::{self, Change, Dependence, Location, NoteHandle, NoteIdx, Store, UnknownKey, relative_to};
use crate::warnings;

/// Reports all diagnostics by path and line. Errors fail the check; with `--strict`, warnings do too.
pub(super) fn run(request: &DoctorRequest, location: &Location, current_dir: &Path) -> Result<Report, Error> {
    let store = open(location, current_dir)?.leaked_at_exit();
    Ok(report(request, location, &store, Vec::new()))
}

/// Repairs what can be repaired safely, and reports the repairs and the remaining diagnostics.
pub(super) fn run_fix(request: &DoctorRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let current_dir = &env.current_dir;
    if request.is_dry_run {
        let store = Store::open_target(&Location { no_index: true, ..location.clone() }, current_dir, None)?;
        let planned = repair::plan(&store);
        let mut entries: Vec<Entry> = planned.iter().map(|planned| change::entry(&store, planned, true)).collect();
        let removed_paths = store.foreign_redo_log(location).into_iter().chain(store.stale_temp_files());
        entries.extend(removed_paths.map(|path| removed(store.shown(&path))));
        entries
            .extend(stale_project_files(&store, location).iter().map(|path| removed(shown_project_path(&store, path))));
        return Ok(report(request, location, &store, entries));
    }
    let without_index = Location { no_index: true, ..location.clone() };
    let mut removed_paths = Store::remove_foreign_redo_log(&without_index, current_dir)?;
    let (store, lock, planned) = Store::change(&without_index, current_dir, None, Dependence::AllNotes, |store| {
        let planned = repair::plan(store);
        let changes = change::changes_of(&planned);
        change::expect_held(store, &changes, env, true)?;
        Ok((changes, planned))
    })?;
    let mut entries: Vec<Entry> = planned.iter().map(|planned| change::entry(&store, planned, false)).collect();
    entries.extend(change::finished(&store).map(Entry::Finding));
    removed_paths.extend(store.remove_stale_temp_files(&lock)?);
    entries.extend(removed_paths.iter().map(|path| removed(store.shown(path))));
    for path in stale_project_files(&store, location) {
        store::files::remove(&path)?;
        entries.push(removed(shown_project_path(&store, &path)));
    }
    Ok(report(request, location, &open(location, current_dir)?, entries))
}

/// Returns the repair of a note of the project's store that `doctor` or `review` would make with `--fix`; `None` if it needs
/// none or can't be repaired.
pub fn planned_repair(store: &Store, note: NoteIdx) -> Option<Change> {
    let handle = &store.notes()[note];
    if handle.collection_ordinal() != 0 || !store.collection_of(note).is_writable {
        return None;
    }
    let in_force =
        || code_findings::notes_in_force(store).into_iter().filter(|other| *other == note).collect::<Vec<_>>();
    let moved = || code_findings::plan_moved(store, &code_findings::checked(store, &in_force()).found).pop();
    let planned = repair::plan_note(store, handle).or_else(moved)?;
    change::changes_of(&[planned]).pop()
}

/// Opens the store for a check, without its index: the current content of each file counts.
fn open(location: &Location, current_dir: &Path) -> Result<Store, Error> {
    Store::open(&Location { no_index: true, ..location.clone() }, current_dir)
}

/// Reports that a file is removed. `path`: relative to the current directory.
fn removed(path: String) -> Entry {
    Entry::Change(ChangeEntry::of_file("deleted", path))
}

/// Lists the temporary files of killed processes in those folders of the project that `setup` writes to.
fn stale_project_files(store: &Store, location: &Location) -> Vec<PathBuf> {
    let place = Project::find(location, &store.current_dir, false);
    setup::target_folders(&place).iter().flat_map(|folder| store.stale_files(folder)).collect()
}

/// Returns the path of a file outside the store, relative to the current directory.
fn shown_project_path(store: &Store, path: &Path) -> String {
    relative_to(path, &store.current_dir).trim_end_matches('/').to_owned()
}

/// Returns what an editor shows, by path and line: the diagnostics of a store, and the references to code that no longer hold.
pub fn editor_diagnostics(location: &Location, store: &Store) -> Vec<DiagnosticEntry> {
    let code = code_findings::checked(store, &code_findings::notes_in_force(store)).found;
    let mut findings = diagnostics(location, store);
    findings.extend(code.iter().map(|finding| finding.entry(store)));
    findings.sort_by(|a, b| (&a.path, a.line, a.code).cmp(&(&b.path, b.line, b.code)));
    findings
}

/// Returns all diagnostics of a store, by path and line.
fn diagnostics(location: &Location, store: &Store) -> Vec<DiagnosticEntry> {
    let mut findings = note_diagnostics(store);
    findings.extend(link_diagnostics(store));
    findings.extend(field_diagnostics(store));
    findings.extend(file_diagnostics(store, location));
    findings.extend(config_diagnostics(store));
    findings.extend(query_diagnostics(store));
    findings.extend(secrets::attachment_diagnostics(store));
    findings.sort_by(|a, b| (&a.path, a.line, a.code).cmp(&(&b.path, b.line, b.code)));
    findings
}

/// Returns the report of the diagnostics, behind the entries of repairs.
fn report(request: &DoctorRequest, location: &Location, store: &Store, mut entries: Vec<Entry>) -> Report {
    let findings = diagnostics(location, store);
    // They depend on the user, not on the notes: a check that passes here must pass in a clone.
    distrusted(store).into_iter().for_each(|finding| warnings::add(finding.message));
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    entries.extend(findings.into_iter().map(Entry::Finding));
    let mut report = Report::new(ReportHead::new(&layout::DOCTOR, Some(&store.shown_path)), entries);
    if errors > 0 || (request.is_strict && warnings > 0) {
        let message = format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"));
        report.verdict = Some(Error::new(ErrorKind::Store, message));
    }
    report
}

/// Returns the diagnostics of reading, and those about secrets. None is an error in a document that is only read: it was
/// written for another tool, and its examples may look like secrets.
fn note_diagnostics(store: &Store) -> Vec<DiagnosticEntry> {
    let mut findings = Vec::new();
    for (position, note) in NoteIdx::enumerate(store.notes()) {
        let is_writable = store.collection_of(position).is_writable;
        let found = note_findings(store, note).chain(secrets::note_diagnostics(store, note));
        let as_warning = |finding| DiagnosticEntry { severity: Severity::Warning, ..finding };
        findings.extend(found.map(|finding| if is_writable { finding } else { as_warning(finding) }));
    }
    findings
}

/// Returns diagnostics about files that are no notes: ignored, of an unfinished command, or temporary ones.
fn file_diagnostics(store: &Store, location: &Location) -> Vec<DiagnosticEntry> {
    let ignored = store.ignored_entries().into_iter().map(|(path, why)| {
        let warning = DiagnosticEntry::warning("skipped", store.shown(&path), why.to_string());
        if store::is_skipped(why) { warning } else { DiagnosticEntry { severity: Severity::Error, ..warning } }
    });
    let unfinished = store.unfinished_changes(location).map(|why| DiagnosticEntry {
        severity: Severity::Error,
        ..DiagnosticEntry::warning("unfinished-change", store.redo_log_path(), why)
    });
    let left = store.stale_temp_files().into_iter().map(|path| store.shown(&path));
    let of_project = stale_project_files(store, location).into_iter().map(|path| shown_project_path(store, &path));
    let why = "a temporary file that an interrupted command left behind; `qipu doctor --fix` removes it";
    let driver = setup::attributes_without_driver(&Project::find(location, &store.current_dir, false));
    let driver =
        driver.map(|path| DiagnosticEntry::warning("no-merge-driver", path, setup::UNREGISTERED_DRIVER.to_owned()));
    let left = left.chain(of_project).map(|path| DiagnosticEntry::warning("left-over", path, why.to_owned()));
    ignored.chain(unfinished).chain(left).chain(driver).collect()
}

/// Returns diagnostics about unknown settings in the config.
fn config_diagnostics(store: &Store) -> Vec<DiagnosticEntry> {
    let finding = |key: &UnknownKey| {
        let known = key.known.join(", ");
        let message = format!("unknown setting `{}`; known settings here: {known}", abbreviated(&key.name));
        let warning = DiagnosticEntry::warning("unknown-setting", store.shown("config.toml"), message);
        DiagnosticEntry { line: Some(key.line), ..warning }
    };
    let without_effect = setting_findings(store);
    let queries = store.config.queries.keys().filter_map(|name| {
        let message = if is_query_name(name) {
            query_error(store, &format!("@{name}"))?.message
        } else {
            format!(
                "no filter can name the query `{}`: a name is one word, without quotes and signs",
                abbreviated(name)
            )
        };
        Some(DiagnosticEntry::warning("query-invalid", store.shown("config.toml"), message))
    });
    store.config.unknown_keys.iter().map(finding).chain(without_effect).chain(queries).collect()
}

/// Returns what is wrong with a filter.
fn query_error(store: &Store, filter: &str) -> Option<Error> {
    parse_filters(store, &Filters::of(filter)).err()
}

/// Returns diagnostics about queries in maps of content.
fn query_diagnostics(store: &Store) -> Vec<DiagnosticEntry> {
    let of_note = |note: &NoteHandle| {
        let errors = map_queries(note).into_iter().filter_map(|query| query_error(store, &query));
        errors.map(|error| note_warning(store, note, "query-invalid", error.message)).collect::<Vec<_>>()
    };
    store.notes().iter().flat_map(|note| of_note(note)).collect()
}

/// Returns diagnostics about invalid values in the fields that state how trustworthy a note is.
fn field_diagnostics(store: &Store) -> Vec<DiagnosticEntry> {
    let mut findings = Vec::new();
    for note in store.notes() {
        for (field, expected) in invalid_fields(note) {
            let message = format!("`{field}` is ignored: expected {expected}");
            findings.push(note_warning(store, note, "odd-belief", message));
        }
    }
    findings
}

/// Returns diagnostics about links, and about digests and successors that contradict one another.
fn link_diagnostics(store: &Store) -> Vec<DiagnosticEntry> {
    let types = &store.config.link_types;
    let graph = Graph::of_store(store);
    let mut findings = Vec::new();
    for (place, note) in NoteIdx::enumerate(store.notes()) {
        let mut warn = |code, message: String| findings.push(note_warning(store, note, code, message));
        let is_document = note.dialect() != Dialect::Qipu;
        let is_lost = |target: &&str| store.leads_nowhere(note, target);
        let (outside, elsewhere): (Vec<_>, Vec<_>) =
            graph.outside(place).partition(|path| !store.is_in_project(note, path));
        let elsewhere = elsewhere.into_iter().filter(|_| is_document);
        for target in graph.unresolved(place).chain(elsewhere).filter(is_lost) {
            warn("broken-link", format!("broken link: no note named `{target}`"));
        }
        for path in outside {
            warn("link-leaves-project", format!("`{path}` is outside the project"));
        }
        for (kind, _) in note.link_fields().typed.iter().filter(|(kind, _)| !types.knows(kind)) {
            warn("unknown-link-type", format!("unknown link type `{kind}`"));
        }
    }
    let Replacements { digests, successions } = Replacements::for_answer(store.notes(), false);
    for (code, refused) in [("broken-digest", digests.refused), ("broken-succession", successions.refused)] {
        let finding = |(place, message): (NoteIdx, String)| note_warning(store, &store.notes()[place], code, message);
        findings.extend(refused.into_iter().map(finding));
    }
    findings
}
