//! `qipu import DIR`: copies the notes of a folder of Markdown, and the files that they link to, into the store. What
//! counts as a note there, and where a link leads, is what reading the folder in place finds.
//!
//! The folder keeps its structure below one folder of its name in the store, so that most links work as they are written.
//! An id comes from the path: a second import knows what is there already. What is there and is not what it would write
//! is of another folder with the same name, or a version of the document: no link may lead to it, and nothing is imported.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::super::change::CLAIMS;
use super::folder_links::{CopiedNote, FolderLinks, add_aliases, store_after};
use super::plan::LoadPlan;
use crate::error::{Error, ErrorKind};
use crate::graph::NameIndex;
use crate::note::edit::{Edit, apply};
use crate::note::{DEFAULT_KIND, DiagnosticCode, Dialect, JOURNAL, Note, NoteId, Timestamp, Value, line_end, stem};
use crate::pack::path_fault;
use crate::progress;
use crate::report::{DiagnosticEntry, counted};
use crate::request::{LoadRequest, Strategy, TextSource};
use crate::store::{self, Change, Location, NoteIdx, Store};

/// The most differing files that an error names.
const MAX_NAMED: usize = 20;
/// The type of a document that names none, and that of its note, which its author kept: it is not fleeting.
const DOCUMENT: &str = "document";
const PERMANENT: &str = "permanent";
/// The codes of findings about what is not copied.
const NOT_IMPORTED: &str = "not-imported";
const FIELD_NOT_CARRIED: &str = "field-not-carried";

/// Opens the folder to import as documents; `None` if the call names a pack.
///
/// # Errors
/// `Usage` for a folder that is not copied: a store, one around a store, up to the whole disk, or a Logseq graph, whose
/// outlines and properties are no Markdown.
pub(super) fn open(request: &LoadRequest, location: &Location, current_dir: &Path) -> Result<Option<Store>, Error> {
    let TextSource::File(dir) = &request.from else { return Ok(None) };
    let shown = dir.display();
    let stores = [store::find_root(location, current_dir), store::user_store(location)];
    let real = current_dir.join(dir).canonicalize().ok();
    let is_around = |root: &PathBuf| root.ancestors().skip(2).any(|above| Some(above) == real.as_deref());
    if stores.iter().flatten().any(is_around) {
        let message = format!("{shown} is a folder around a store, with more than notes");
        return Err(Error::usage(message).hint("name the folder of the notes to copy"));
    }
    let opened = Store::open_folder(dir, location, current_dir).map_err(|error| match error.kind {
        ErrorKind::NoStore => Error::usage(format!("{shown} contains no Markdown")),
        _ => error,
    });
    let Some(folder) = opened? else { return Ok(None) };
    let (what, hint) = match folder.dialect() {
        Dialect::Qipu => (
            "is a store, or contains one",
            format!(
                "`qipu export pack FILE --store {shown}` writes its notes for `qipu import`; or name a folder in it"
            ),
        ),
        Dialect::Logseq => (
            "is a Logseq graph, which is not converted",
            format!(
                "read it in place: `qipu ask WORDS --store {shown}`, or `qipu init --documents {shown}` for good; with \
                 `writable = true` in its settings, qipu writes there too"
            ),
        ),
        _ if request.strategy != Strategy::Skip => {
            ("is a folder, and --strategy is for packs", "omit it: notes that are there already stay".to_owned())
        }
        _ => return Ok(Some(folder)),
    };
    Err(Error::usage(format!("{shown} {what}")).hint(hint))
}

/// Plans the notes of a folder that the store does not have, with the files that they link to.
pub(super) fn plan(plan: &mut LoadPlan<'_>, folder: &Store) -> Result<(), Error> {
    if folder.real_path("").starts_with(plan.store.real_path("")) {
        return Err(Error::usage("the folder is inside the store").hint("its notes are already in the store"));
    }
    // A copy would repeat each of its notes in every answer.
    if let Some(name) = plan.store.name_of_reader(folder) {
        let message = format!("{} is read where it is, as `{name}`", folder.shown_path);
        let hint =
            "ask and search it as it is; to copy it instead, first remove it from `[[documents]]` in the settings";
        return Err(Error::usage(message).hint(hint));
    }
    for (path, why) in folder.ignored_entries() {
        plan.add_finding(folder, &path, NOT_IMPORTED, why.to_owned());
    }
    let mut copies = copies(plan, folder)?;
    let names = NameIndex::of(folder);
    add_aliases(plan.store, folder, &names, &mut copies);
    let after = store_after(plan.store, &copies);
    let mut links = FolderLinks::new(plan.store, folder, &names, &after, &copies);
    let mut differing = Vec::new();
    let _work = progress::begin("carrying over links", copies.len());
    for copy in copies.iter().flatten() {
        progress::advance();
        let (text, refused) = links.adapted(copy);
        let local_path = folder.notes()[copy.from].local_path();
        if let Some(there) = plan.store.position_at(&copy.path) {
            if is_copy(plan.store.notes()[there].parsed()?, &Note::parse(&copy.path, text.into_bytes())) {
                plan.add_change_entry(Some(&copy.id), "skipped", &copy.path, None);
            } else {
                differing.push((local_path.to_owned(), copy.path.clone()));
            }
            continue;
        }
        plan.add_change(Some(&copy.id), Change::Create { path: copy.path.clone(), new: text.into_bytes() })?;
        if let Some(reason) = refused {
            plan.add_finding(folder, local_path, FIELD_NOT_CARRIED, reason);
        }
    }
    for (from, file) in links.files {
        let file = match file {
            Ok(file) => file,
            Err(why) => {
                plan.add_finding(folder, &from, NOT_IMPORTED, why);
                continue;
            }
        };
        match plan.store.file(&file.path)? {
            Some(old) if old != file.bytes => differing.push((from, file.path)),
            old => plan.plan_attachment(&file, old)?,
        }
    }
    expect_none_differs(plan.store, folder, &differing)
}

/// Whether a note is the copy of a document: it says all that a new copy would. Fields that it got in the store may stay.
fn is_copy(note: &Note, new: &Note) -> bool {
    fn has<T: PartialEq>(all: &[T], some: &[T]) -> bool {
        some.iter().all(|one| all.contains(one))
    }
    // A program's copy has no claims.
    let has_fields = |all: &[(String, Value)], some: &[(String, Value)]| {
        some.iter().all(|field| CLAIMS.contains(&field.0.as_str()) || all.contains(field))
    };
    (note.body(), &note.title, &note.kind) == (new.body(), &new.title, &new.kind)
        && has(note.date.as_slice(), new.date.as_slice())
        && has(note.summary_field.as_slice(), new.summary_field.as_slice())
        && has(&note.tags, &new.tags)
        && has(&note.aliases, &new.aliases)
        && has(&note.sources, &new.sources)
        && has(&note.links, &new.links)
        && has_fields(&note.custom, &new.custom)
        && has_fields(&note.unknown, &new.unknown)
}

/// Refuses files of the folder, each with the path of one in the store that is not its copy.
fn expect_none_differs(store: &Store, folder: &Store, differing: &[(String, String)]) -> Result<(), Error> {
    if differing.is_empty() {
        return Ok(());
    }
    let named = differing.iter().take(MAX_NAMED);
    let mut named: Vec<String> =
        named.map(|(from, path)| format!("{} and {}", folder.shown(from), store.shown(path))).collect();
    if differing.len() > MAX_NAMED {
        named.push(format!("{} more", differing.len() - MAX_NAMED));
    }
    let message = format!(
        "the store has {} of the folder with another content: {}",
        counted(differing.len(), "file"),
        named.join("; ")
    );
    Err(Error::failure(message).hint(
        "nothing was written; if they are other documents, rename the folder (or change their `id`); if not, make the two \
         the same",
    ))
}

/// Returns what each note of the folder becomes, in their order; `None` for those that can't be copied.
fn copies(plan: &mut LoadPlan<'_>, folder: &Store) -> Result<Vec<Option<CopiedNote>>, Error> {
    let (mut copies, mut ids, mut paths) = (Vec::new(), HashSet::new(), HashSet::new());
    let names = NameIndex::of(plan.store);
    let _work = progress::begin("reading the folder", folder.notes().len());
    for (from, note) in NoteIdx::enumerate(folder.notes()) {
        progress::advance();
        let (local_path, in_place) = (note.local_path(), note.parsed()?);
        let ending = if local_path.ends_with(".md") { "" } else { ".md" };
        let path = format!("notes/{}/{local_path}{ending}", folder.first_collection().name);
        if let Some(fault) = fault(in_place, &path, paths.insert(path.clone())) {
            plan.add_finding(folder, local_path, NOT_IMPORTED, fault);
            copies.push(None);
            continue;
        }
        let plain = Note::parse(&path, in_place.text().trim_start_matches('\u{feff}').as_bytes().to_vec());
        let is_own = !plain.has_finding(DiagnosticCode::NoId) && !plain.id.as_str().contains('~');
        let id =
            Some(plain.id.clone()).filter(|id| is_own && !ids.contains(id.as_str())).unwrap_or_else(|| id_of(&path));
        ids.insert(id.to_string());
        let there = plan.store.position(&id).or_else(|| plan.store.position_at(&path));
        let there = there.map(|there| &plan.store.notes()[there]);
        let (id, path) = there.map_or((id, path), |there| (there.id.clone(), there.path.clone()));
        let (text, refused) = with_fields(in_place, &plain, &id, &ids);
        let is_new = there.is_none();
        if let Some(other) = names.resolve(&in_place.title).filter(|_| is_new) {
            let message = format!("`{}` has the title of the new note too", plan.store.notes()[other].id);
            plan.add_finding(folder, local_path, "duplicate-title", message);
        }
        for reason in refused.into_iter().filter(|_| is_new) {
            plan.add_finding(folder, local_path, FIELD_NOT_CARRIED, reason);
        }
        copies.push(Some(CopiedNote { from, id, path, is_new, text }));
    }
    Ok(copies)
}

/// Returns why a note can't be copied to a path.
fn fault(note: &Note, path: &str, is_free: bool) -> Option<String> {
    match path_fault(path, true) {
        _ if note.has_finding(DiagnosticCode::NotUtf8) => Some("it is not UTF-8; convert it first".to_owned()),
        Some(fault) => Some(format!("its path {fault}")),
        None => (!is_free).then(|| format!("another file becomes {path}")),
    }
}

/// Makes an id from the path of a note.
fn id_of(path: &str) -> NoteId {
    let digest = Sha256::digest(path.as_bytes());
    NoteId::generated(digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte)))
}

/// Returns the text of a note with its id, and with the fields that reading in place finds elsewhere, such as a tag in the
/// text; and the reasons why a field can't be written. Where its own fields can't be edited, they become text.
fn with_fields(in_place: &Note, plain: &Note, id: &NoteId, ids: &HashSet<String>) -> (String, Vec<String>) {
    let (mut text, mut refused) = (plain.text().to_owned(), Vec::new());
    let mut edits = field_edits(in_place, plain, id, ids);
    if let Err(reason) = apply(&text, edits.get(..1).unwrap_or_default()) {
        let line_end = line_end(&text);
        text = format!("---{line_end}---{line_end}{text}");
        edits = field_edits(in_place, &Note::parse(&plain.path, text.clone().into_bytes()), id, ids);
        refused.push(format!("its fields are kept as text: {reason}"));
    }
    for edit in &edits {
        match apply(&text, std::slice::from_ref(edit)) {
            Ok(new) => text = new,
            Err(reason) => refused.push(reason),
        }
    }
    (text, refused)
}

/// Returns the edits that give a note the fields of reading in place; `plain` is how a store reads the same file.
fn field_edits(in_place: &Note, plain: &Note, id: &NoteId, ids: &HashSet<String>) -> Vec<Edit> {
    let text = |key: &str, text: &str| Edit::SetText { key: key.to_owned(), text: text.to_owned() };
    let mut edits = vec![text("id", id.as_str())];
    if in_place.title != plain.title || plain.has_finding(DiagnosticCode::NoTitle) {
        edits.push(text("title", &in_place.title));
    }
    match in_place.kind.as_str() {
        DOCUMENT if plain.kind == DEFAULT_KIND => edits.push(text("type", PERMANENT)),
        kind if kind != plain.kind && kind != DOCUMENT => edits.push(text("type", kind)),
        _ => {}
    }
    let day = in_place.date.filter(|day| in_place.kind == JOURNAL && plain.date != Some(*day));
    let time = |time: &Option<Timestamp>, have: &Option<Timestamp>| {
        time.as_ref().filter(|_| have.is_none()).map(|time| time.as_str().to_owned())
    };
    let dates = [
        ("date", day.map(|day| day.to_string())),
        ("created", time(&in_place.created, &plain.created)),
        ("updated", time(&in_place.updated, &plain.updated)),
    ];
    edits.extend(dates.into_iter().filter_map(|(key, text)| Some(Edit::SetPlain { key, text: text? })));
    let is_missing = |item: &&String, have: &[String]| !have.contains(*item);
    let tags = in_place.tags.iter().filter(|tag| is_missing(tag, &plain.tags));
    edits.extend(tags.map(|tag| Edit::AddItem { key: "tags", text: tag.clone() }));
    let others = plain.tags.iter().filter(|tag| is_missing(tag, &in_place.tags));
    edits.extend(others.map(|tag| Edit::RemoveItem { key: "tags", text: tag.clone() }));
    // The name of the file is a name of the note in any case, and the id of a copy is no name of another.
    let is_known = |alias: &str| alias == stem(&in_place.path) || ids.contains(alias);
    let aliases = in_place.aliases.iter().filter(|alias| is_missing(alias, &plain.aliases) && !is_known(alias));
    edits.extend(aliases.map(|alias| Edit::AddItem { key: "aliases", text: alias.clone() }));
    edits
}

impl LoadPlan<'_> {
    /// Adds a finding about a file of the folder.
    fn add_finding(&mut self, folder: &Store, path: &str, code: &'static str, message: String) {
        self.findings.push(DiagnosticEntry::warning(code, folder.shown(path), message));
    }
}
