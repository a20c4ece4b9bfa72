//! `qipu dump --as okf`: writes notes as a bundle of Open Knowledge Format, version 0.2.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;

use jiff::civil::Date;

use super::frontmatter::concept;
use super::links::{BundleLinker, escaped_label};
use super::places::{Place, Places};
use super::{not_dumped, selected, selected_attachments};
use crate::commands::secrets::SecretSearch;
use crate::error::{Error, ErrorKind};
use crate::escape::one_line;
use crate::import::okf::{INDEX, MADE_INDEX, VERSION_FIELD, trimmed};
use crate::note::{InlineLink, Note, percent_encoded};
use crate::progress;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead};
use crate::request::{DumpRequest, Selectors};
use crate::store::{self, Location, NoteIdx, Store};

/// The version of the format.
const VERSION: &str = "0.2";

/// Writes a bundle into a folder, all of it or nothing.
pub(super) fn run(
    request: &DumpRequest,
    folder: &Path,
    location: &Location,
    current_dir: &Path,
) -> Result<Report, Error> {
    let store = Store::open_target(location, current_dir, None)?;
    let selection = request.selection.as_ref();
    let (store, bundle) = store.with_corruption_retry(location, current_dir, |store| {
        Bundle::of(store, selection, request.is_secret_allowed)
    })?;
    let (store, bundle) = (&*store.unfreed(), bundle?);
    store::export_folder(location, current_dir, folder, &bundle.files)?;
    let created = |path: &String| {
        let path = folder.join(path).to_string_lossy().into_owned();
        Entry::Change(ChangeEntry::of_file("created", path))
    };
    let mut entries: Vec<Entry> = bundle.files.keys().map(created).collect();
    entries.extend(bundle.findings);
    if selection.is_none() {
        entries.extend(store.ignored_entries().into_iter().map(|(path, why)| not_dumped(store, &path, "bundle", why)));
    }
    Ok(Report::new(ReportHead::of_change("dump", false, Some(&store.shown_path)), entries))
}

/// The files of a bundle, by path.
#[derive(Default)]
struct Bundle {
    files: BTreeMap<String, Vec<u8>>,
    findings: Vec<Entry>,
}

/// The texts of the days of a log, the latest day first.
type LogTexts = BTreeMap<Reverse<Date>, Vec<String>>;

impl Bundle {
    fn of(store: &Store, selection: Option<&Selectors>, is_secret_allowed: bool) -> Result<Self, Error> {
        let positions = selected(store, selection)?;
        let (attachments, skipped) = selected_attachments(store, selection, &positions)?;
        let places = Places::new(store, &attachments);
        let (mut bundle, mut secrets) = (Self::default(), SecretSearch::default());
        let mut logs: BTreeMap<&str, LogTexts> = BTreeMap::new();
        let linker = BundleLinker::new(store, &places);
        let work = progress::begin("converting notes", positions.len());
        for index in positions {
            progress::advance();
            let note = store.notes()[index].parsed()?;
            secrets.add_file(&store.shown(&note.path), note.text().as_bytes(), true);
            let (Some(place), false) = (places.of_note(index), note.is_cut) else {
                bundle.findings.push(not_dumped(store, &note.path, "bundle", "it is too long"));
                continue;
            };
            let body = bundle.body(store, &linker, index, note);
            match place {
                Place::Concept(path) => bundle.add_concept(store, &linker, index, path, body),
                Place::Index(path) => bundle.add_index(path, &body),
                Place::Log(path, day) => {
                    logs.entry(path).or_default().entry(Reverse(*day)).or_default().push(trimmed(&body))
                }
            }
        }
        drop(work);
        for (path, log) in logs {
            bundle.files.insert(path.to_owned(), log_text(&log).into_bytes());
        }
        bundle.add_attachments(store, &places, attachments, &mut secrets)?;
        if !is_secret_allowed {
            secrets.expect_none("the bundle")?;
        }
        bundle.add_made_index();
        bundle.findings.extend(skipped.into_iter().map(|(path, why)| not_dumped(store, &path, "bundle", why)));
        Ok(bundle)
    }

    /// Returns the text of a note with the links of the bundle.
    fn body(&mut self, store: &Store, linker: &BundleLinker<'_>, index: NoteIdx, note: &Note) -> String {
        linker.converted(index, note).unwrap_or_else(|reason| {
            self.add_finding(store, index, "links-not-converted", reason);
            note.body().to_owned()
        })
    }

    fn add_concept(&mut self, store: &Store, linker: &BundleLinker<'_>, index: NoteIdx, path: &str, mut body: String) {
        let handle = &store.notes()[index];
        let note = handle.parsed_or_empty();
        let related = linker.related(handle, index, &body);
        if note.ends_openly() {
            body.push_str(&related);
        } else if !related.is_empty() {
            let reason = "its text ends inside a code block or a comment".to_owned();
            self.add_finding(store, index, "links-not-converted", reason);
        }
        let (text, reasons) = concept(note, &handle.id, &body);
        reasons.into_iter().for_each(|reason| self.add_finding(store, index, "field-not-converted", reason));
        self.files.insert(path.to_owned(), text.into_bytes());
    }

    /// Adds the map of a folder. Only that of the root may have a field: the version.
    fn add_index(&mut self, path: &str, body: &str) {
        let is_fields = Note::parse(path, body.as_bytes().to_vec()).body().len() < body.len();
        let head = match path {
            INDEX => version_field(),
            _ if is_fields => "\n".to_owned(),
            _ => String::new(),
        };
        self.files.insert(path.to_owned(), format!("{head}{body}").into_bytes());
    }

    fn add_attachments(
        &mut self,
        store: &Store,
        places: &Places,
        attachments: Vec<String>,
        secrets: &mut SecretSearch,
    ) -> Result<(), Error> {
        let _work = progress::begin("reading attachments", attachments.len());
        for path in attachments {
            progress::advance();
            let gone = || {
                let message = format!("{} was removed while it was being read", store.shown(&path));
                Error::new(ErrorKind::Failure, message)
            };
            let bytes = store.file(&path)?.ok_or_else(gone)?;
            secrets.add_file(&store.shown(&path), &bytes, false);
            self.files.extend(places.of_attachment(&path).map(|place| (place.to_owned(), bytes)));
        }
        Ok(())
    }

    /// Adds the index of the root if no map is one: a section for each map, and one for the concepts in no map. It
    /// depends on the files alone, so that an import may skip it.
    fn add_made_index(&mut self) {
        if self.files.contains_key(INDEX) {
            return;
        }
        let is_concept =
            |path: &str| path.ends_with(".md") && !["log.md", INDEX].contains(&path.rsplit('/').next().unwrap_or(path));
        let files = self.files.iter().filter(|(path, _)| is_concept(path));
        let concepts: BTreeMap<&str, Note> =
            files.map(|(path, bytes)| (path.as_str(), Note::parse(&format!("notes/{path}"), bytes.clone()))).collect();
        let (mut text, mut listed) = (version_field(), HashSet::new());
        for (map_path, map) in concepts.iter().filter(|(_, note)| note.is_moc()) {
            let path = |link: &InlineLink| match link {
                InlineLink::Path(path) => concepts.get_key_value(path.strip_prefix('/')?).map(|(path, _)| *path),
                InlineLink::Wiki(_) => None,
            };
            let mut seen = HashSet::new();
            let items: Vec<&str> =
                map.inline_links().iter().filter_map(path).filter(|path| seen.insert(*path)).collect();
            let heading = format!("[{}](/{})", escaped_label(&map.title), percent_encoded(map_path));
            section(&mut text, &heading, items.iter().map(|path| (*path, &concepts[path])));
            listed.extend(items.into_iter().chain([*map_path]));
        }
        let others = concepts.iter().filter(|(path, _)| !listed.contains(*path)).map(|(path, note)| (*path, note));
        section(&mut text, "Concepts", others);
        let _ = writeln!(text, "\n{MADE_INDEX}");
        self.files.insert(INDEX.to_owned(), text.into_bytes());
    }

    fn add_finding(&mut self, store: &Store, index: NoteIdx, code: &'static str, reason: String) {
        let note = &store.notes()[index];
        let warning = DiagnosticEntry::warning(code, store.shown(&note.path), reason);
        self.findings.push(Entry::Finding(DiagnosticEntry { id: Some(note.id.clone()), ..warning }));
    }
}

fn version_field() -> String {
    format!("---\n{VERSION_FIELD}: \"{VERSION}\"\n---\n")
}

/// Appends a section with an item for each concept.
fn section<'n>(text: &mut String, heading: &str, concepts: impl Iterator<Item = (&'n str, &'n Note)>) {
    let mut concepts = concepts.peekable();
    if concepts.peek().is_none() {
        return;
    }
    let _ = writeln!(text, "\n# {heading}\n");
    for (path, note) in concepts {
        let description = note.written_summary().map(|summary| format!(" - {}", escaped_label(&one_line(summary))));
        let (label, path) = (escaped_label(&note.title), percent_encoded(path));
        let _ = writeln!(text, "* [{label}](/{path}){}", description.unwrap_or_default());
    }
}

fn log_text(log: &LogTexts) -> String {
    let mut text = "# Log\n".to_owned();
    for (Reverse(day), texts) in log {
        let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let _ = write!(text, "\n## {day}\n\n{}", texts.join("\n"));
    }
    text
}
