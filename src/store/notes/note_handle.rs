//! A note of an open store: parsed from its file, or a record of the index whose file is read when its body is needed.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use jiff::civil::Date;

use super::note_file;
use crate::error::Error;
use crate::note::{
    CodeRef, ContentSource, Diagnostic, DiagnosticCode, Dialect, InlineLink, Note, NoteId, Retired, Status,
    SummarySource, UserFields, Value, Verification, code_refs_of,
};
use crate::store::collections::collection::{Authority, Collection, PROJECT, Tier};
use crate::store::index::record_fields::{
    ColdFields, IdentityFields, LinkFields, ListFields, NoteFlags, RelationFields,
};
use crate::store::index::records::{RecordChunk, RecordRef};

/// A note of an open store.
///
/// Methods that return fields of the frontmatter decode one column group of the index, once if it is the last one. What
/// takes the text reads the file at the first call: see [`NoteHandle::parsed`].
#[derive(Debug, Clone)]
pub struct NoteHandle {
    /// The id by which the store knows the note: that of its frontmatter or path, unless another note has it too.
    pub id: NoteId,
    /// The file's path relative to the first collection, with `/` between names; that of a note of another collection may
    /// begin with `..`.
    pub path: String,
    /// What every answer asks for.
    pub(crate) flags: NoteFlags,
    /// The diagnostic of a note that shares its id with another.
    duplicate_id: Option<Box<Diagnostic>>,
    source: NoteSource,
    /// The collection; `None` for the first one if it is a store.
    collection: Option<Arc<Collection>>,
}

/// Where the content of a note comes from.
#[derive(Debug, Clone)]
enum NoteSource {
    Parsed(Box<Note>),
    Indexed(IndexedNote),
}

/// A note whose fields are columns of the index.
#[derive(Debug, Clone)]
struct IndexedNote {
    record: RecordRef,
    /// Apart, since most notes of a large store need neither.
    more: OnceLock<Box<MoreFields>>,
}

/// What is decoded or read at the first call that needs it.
#[derive(Debug, Clone, Default)]
struct MoreFields {
    cold: OnceLock<ColdFields>,
    /// The note in the file; if that can't be read, an empty one with the reason. Apart, since it is large.
    file: OnceLock<Box<(Note, Option<Error>)>>,
}

impl From<Note> for NoteHandle {
    fn from(note: Note) -> Self {
        let (id, path, flags) = (note.id.clone(), note.path.clone(), NoteFlags::of(&note));
        Self { id, path, flags, duplicate_id: None, source: NoteSource::Parsed(Box::new(note)), collection: None }
    }
}

impl NoteHandle {
    /// Parses a note that is in memory: see [`Note::parse`].
    pub fn parse(path: &str, bytes: Vec<u8>) -> Self {
        Note::parse(path, bytes).into()
    }

    /// Makes a handle of the record of the index with a slot.
    ///
    /// # Errors
    /// Gives the path back if there is none, or the stored id is not valid.
    pub(super) fn from_record(chunks: &[Arc<RecordChunk>], slot: usize, path: String) -> Result<Self, String> {
        let Some(record) = RecordRef::new(chunks, slot) else { return Err(path) };
        let fields = record.key_fields().unwrap_or_default();
        let Some(id) = fields.id_at(&path) else { return Err(path) };
        let flags = fields.flags;
        let source = NoteSource::Indexed(IndexedNote { record, more: OnceLock::new() });
        Ok(Self { id, path, flags, duplicate_id: None, source, collection: None })
    }

    /// Gives the note another id, since another note has its own, and adds a diagnostic.
    pub(super) fn set_duplicate_id(&mut self, id: NoteId, diagnostic: Diagnostic) {
        self.id = id;
        self.duplicate_id = Some(Box::new(diagnostic));
    }

    /// Returns the note with the id that its own file gives it; `None` if it has that id.
    pub(super) fn with_own_id(&self) -> Option<Self> {
        if self.duplicate_id.is_none() && self.id.collection().is_none() {
            return None;
        }
        let id = match &self.source {
            NoteSource::Parsed(note) => Some(note.id.clone()),
            NoteSource::Indexed(indexed) => {
                indexed.record.key_fields().and_then(|fields| fields.id_at(self.local_path()))
            }
        };
        Some(Self { id: id?, duplicate_id: None, ..self.clone() })
    }

    /// Puts the note into a collection: its path becomes relative to the first one.
    pub(in crate::store) fn set_collection(&mut self, collection: &Arc<Collection>) {
        self.path = [collection.prefix.as_str(), &self.path].concat();
        if collection.tier() == Tier::History {
            self.id = self.id.qualified(&collection.name);
        }
        self.collection = Some(Arc::clone(collection));
    }

    /// Returns the position of the note's collection among those of the store.
    pub fn collection_ordinal(&self) -> usize {
        self.collection.as_ref().map_or(0, |collection| collection.ordinal)
    }

    /// Returns the note's collection; `None` for a note of the project's store.
    pub fn collection(&self) -> Option<&Collection> {
        self.collection.as_deref()
    }

    /// Returns the tier of the note's collection.
    pub fn tier(&self) -> Tier {
        self.collection.as_ref().map_or(Tier::Own, |collection| collection.tier())
    }

    /// Whether the note is a commit of the repository.
    pub fn is_commit(&self) -> bool {
        self.tier() == Tier::History
    }

    /// Whether the note is the project's [own word](Collection::is_own_word).
    pub fn is_own_word(&self) -> bool {
        self.collection.as_ref().is_none_or(|collection| collection.is_own_word())
    }

    /// Returns the name of the note's collection.
    pub fn collection_name(&self) -> &str {
        self.collection.as_ref().map_or(PROJECT, |collection| collection.name.as_str())
    }

    /// Returns the dialect of the note's file.
    pub fn dialect(&self) -> Dialect {
        self.collection.as_ref().map(|collection| collection.dialect).unwrap_or_default()
    }

    /// Whether the note lies in the repository of the first collection.
    pub fn is_in_repository(&self) -> bool {
        self.collection.as_ref().is_none_or(|collection| collection.is_in_repository)
    }

    /// Whether the note may hide another or stand in for it: one of the repository replaces no note of the user.
    pub fn may_replace(&self, other: &Self) -> bool {
        self.authority() >= other.authority()
    }

    /// Returns on whose word the note counts.
    pub fn authority(&self) -> Authority {
        self.collection.as_ref().map_or(Authority::Repository, |collection| collection.authority)
    }

    /// Returns the file's path in the folder of its collection.
    pub fn local_path(&self) -> &str {
        self.collection.as_ref().map_or(&self.path, |collection| collection.local_path(&self.path))
    }

    /// Returns a handle with the parsed note, which frees the note when it is dropped: a pass over all notes then keeps
    /// neither their texts nor columns of the index in memory. A parsed note is not copied.
    ///
    /// # Errors
    /// As [`NoteHandle::parsed`].
    pub fn reparsed(&self) -> Result<Cow<'_, Self>, Error> {
        let NoteSource::Indexed(indexed) = &self.source else { return Ok(Cow::Borrowed(self)) };
        let (note, failure) = indexed.read(self.local_path(), &self.path);
        if let Some(error) = failure {
            return Err(error);
        }
        Ok(Cow::Owned(Self {
            id: self.id.clone(),
            path: self.path.clone(),
            flags: self.flags,
            duplicate_id: self.duplicate_id.clone(),
            source: NoteSource::Parsed(Box::new(note)),
            collection: self.collection.clone(),
        }))
    }

    /// Returns the parsed note. Reads and parses the file of an indexed note at the first call, O(bytes).
    ///
    /// # Errors
    /// `Store`, naming the file, if it can't be read, for example since it was removed after the store was opened.
    pub fn parsed(&self) -> Result<&Note, Error> {
        let note = self.parsed_or_empty();
        self.read_failure().map_or(Ok(note), |error| Err(error.clone()))
    }

    /// Returns the parsed note, or an empty one if its file can't be read, for callers that can't return an error: that
    /// becomes the error of the command, by [`super::store::Store::with_corruption_retry`] or [`NoteHandle::read_failure`].
    pub fn parsed_or_empty(&self) -> &Note {
        match &self.source {
            NoteSource::Parsed(note) => note,
            NoteSource::Indexed(indexed) => indexed.file(self.local_path(), &self.path),
        }
    }

    /// Calls `use_note` with the parsed note, or with an empty one as [`NoteHandle::parsed_or_empty`] does. A note that is
    /// read for this call is not kept, so that a pass over all notes needs no memory for their texts.
    pub fn read_once<T>(&self, use_note: impl FnOnce(&Note) -> T) -> T {
        let indexed = match &self.source {
            NoteSource::Parsed(note) => return use_note(note),
            NoteSource::Indexed(indexed) => indexed,
        };
        if let Some(read) = indexed.more.get().and_then(|more| more.file.get()) {
            return use_note(&read.0);
        }
        let read = indexed.read(self.local_path(), &self.path);
        let result = use_note(&read.0);
        if read.1.is_some() {
            // Unless another thread has kept it.
            let _ = indexed.more().file.set(Box::new(read));
        }
        result
    }

    /// Returns the error of the last read of the file; `None` if it succeeded or was not needed.
    pub fn read_failure(&self) -> Option<&Error> {
        match &self.source {
            NoteSource::Parsed(_) => None,
            NoteSource::Indexed(indexed) => {
                let read = indexed.more.get()?.file.get()?;
                read.1.as_ref()
            }
        }
    }

    /// Returns the markdown below the frontmatter.
    ///
    /// # Errors
    /// As [`NoteHandle::parsed`].
    pub fn body(&self) -> Result<&str, Error> {
        Ok(self.parsed()?.body())
    }

    /// Returns the column group of titles. Of an index that is damaged, the file is read, as by all methods below.
    pub fn identity(&self) -> IdentityFields<'_> {
        self.column(RecordRef::identity, IdentityFields::of)
    }

    /// Returns the title. Decodes the column group of titles.
    pub fn title(&self) -> &str {
        match &self.source {
            NoteSource::Parsed(note) => &note.title,
            NoteSource::Indexed(_) => self.identity().title,
        }
    }

    /// Returns the column group of lists: type, dates, summary.
    pub fn list_fields(&self) -> ListFields<'_> {
        self.column(RecordRef::list_fields, ListFields::of)
    }

    /// Returns the column group of links. Parses the body of a note that is not from the index.
    pub fn link_fields(&self) -> LinkFields<'_> {
        self.column(RecordRef::link_fields, LinkFields::of)
    }

    /// Returns the column group of relations: tags, aliases, the notes of a digest.
    pub fn relations(&self) -> RelationFields<'_> {
        self.column(RecordRef::relations, RelationFields::of)
    }

    /// Returns the tags of the note.
    pub fn tags(&self) -> Vec<&str> {
        self.column(RecordRef::tags, |note| RelationFields::of(note).tags)
    }

    /// Returns the other titles of the note.
    pub fn aliases(&self) -> Vec<&str> {
        if !self.flags.has_aliases {
            return Vec::new();
        }
        self.column(RecordRef::aliases, |note| RelationFields::of(note).aliases)
    }

    /// Returns the ordered lists of a map of content, each as the links that its items begin with; none of any
    /// other note.
    pub fn ordered_lists(&self) -> Vec<Vec<InlineLink>> {
        match &self.source {
            _ if !self.flags.is_moc => Vec::new(),
            NoteSource::Parsed(note) => note.ordered_lists(),
            NoteSource::Indexed(indexed) => match indexed.record.relations() {
                Some(relations) => relations.ordered_lists(),
                None => self.parsed_or_empty().ordered_lists(),
            },
        }
    }

    fn column<'a, T>(&'a self, decode: fn(&'a RecordRef) -> Option<T>, of_note: fn(&'a Note) -> T) -> T {
        let decoded = match &self.source {
            NoteSource::Parsed(_) => None,
            NoteSource::Indexed(indexed) => decode(&indexed.record),
        };
        decoded.unwrap_or_else(|| of_note(self.parsed_or_empty()))
    }

    /// Returns a field of the last column group.
    fn cold<'a, T>(&'a self, of_record: fn(&'a ColdFields) -> T, of_note: fn(&'a Note) -> T) -> T {
        let cold = match &self.source {
            NoteSource::Parsed(_) => None,
            NoteSource::Indexed(indexed) => indexed.cold_fields(),
        };
        cold.map_or_else(|| of_note(self.parsed_or_empty()), of_record)
    }

    /// Whether the note was checked, if a field says so.
    pub fn verified(&self) -> Option<bool> {
        self.cold(|cold| cold.verified, |note| note.verified)
    }

    /// Returns who has checked the note, if the field names them.
    pub fn verifications(&self) -> &[Verification] {
        self.cold(|cold| &cold.verifications[..], |note| &note.verifications)
    }

    /// Returns where the content comes from.
    pub fn sources(&self) -> &[ContentSource] {
        self.cold(|cold| &cold.sources[..], |note| &note.sources)
    }

    /// Returns the fields that are not qipu's own.
    pub fn extra_fields(&self) -> UserFields<'_> {
        self.cold(ColdFields::extra_fields, Note::extra_fields)
    }

    /// Returns what had to be tolerated.
    pub fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.cold(|cold| &cold.findings, |note| &note.findings).iter().chain(self.duplicate_id.as_deref())
    }

    /// Whether something of a kind was tolerated.
    pub fn has_finding(&self, code: DiagnosticCode) -> bool {
        self.findings().any(|finding| finding.code == code)
    }

    /// Whether a merge left a conflict in the text.
    pub fn has_conflict(&self) -> bool {
        self.flags.has_lifecycle && self.has_finding(DiagnosticCode::Conflict)
    }

    /// Whether only the beginning of an over-long file was read.
    pub fn is_cut(&self) -> bool {
        self.cold(|cold| cold.is_cut, |note| note.is_cut)
    }

    /// Whether the frontmatter gives the note's id, so that its path does not.
    pub(super) fn names_its_id(&self) -> bool {
        !self.has_finding(DiagnosticCode::NoId)
    }

    /// Returns the value of a field that is not qipu's own: see [`UserFields::field`].
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.extra_fields().field(name)
    }

    /// Returns why the note no longer holds on a day; `None` if it does. Calls `today` only if the note may be retired.
    pub fn retired(&self, today: impl FnOnce() -> Date) -> Option<Retired> {
        if self.flags.has_lifecycle { self.extra_fields().retired(today) } else { None }
    }

    /// Returns the day since which the note is due: see [`UserFields::due`].
    pub fn due(&self, today: impl FnOnce() -> Date) -> Option<Date> {
        if self.flags.has_lifecycle { self.extra_fields().due(today) } else { None }
    }

    /// Returns the status, if it has an effect.
    pub fn status(&self) -> Option<Status> {
        if self.flags.has_lifecycle { self.extra_fields().status() } else { None }
    }

    /// Whether the note was turned down: its status is rejected or deprecated.
    pub fn is_turned_down(&self) -> bool {
        matches!(self.status(), Some(Status::Rejected | Status::Deprecated))
    }

    /// Whether nobody has accepted the note yet: its status is draft.
    pub fn is_draft(&self) -> bool {
        self.status() == Some(Status::Draft)
    }

    /// Returns the references in the field `code`. Decodes the last column group, of a note with that field only.
    pub fn code_refs(&self) -> Vec<CodeRef> {
        if self.flags.has_code { code_refs_of(self.extra_fields()) } else { Vec::new() }
    }

    /// Returns the summary: see [`Note::summary`].
    pub fn summary(&self) -> Option<Cow<'_, str>> {
        self.summary_from(SummarySource::Outline)
    }

    /// Returns the summary up to the source `last`: see [`Note::summary_from`]. Reads a file only if no field gives one,
    /// and keeps nothing of it: a list of many notes needs no memory for them.
    pub fn summary_from(&self, last: SummarySource) -> Option<Cow<'_, str>> {
        let indexed = match &self.source {
            NoteSource::Parsed(note) => return note.summary_from(last).map(Cow::Borrowed),
            NoteSource::Indexed(indexed) => indexed,
        };
        if let Some(summary) = self.list_fields().summary {
            return Some(Cow::Borrowed(summary));
        }
        let cold = indexed.record.cold_fields();
        let described = cold.as_ref().and_then(|cold| cold.extra_fields().description("description", self.title()));
        let owned = |summary: &str| Cow::Owned(summary.to_owned());
        described.map(owned).or_else(|| self.read_once(|note| note.summary_from(last).map(owned)))
    }

    /// Counts the characters of the body that every format keeps: see [`Note::body_chars`]. The index has the number.
    pub fn body_chars(&self) -> usize {
        self.identity().body_chars.unwrap_or_else(|| self.parsed_or_empty().body_chars())
    }

    /// Returns the value, 0 to 100; [`crate::note::DEFAULT_VALUE`] if no field gives it.
    pub fn value_or_default(&self) -> u8 {
        self.flags.value
    }

    /// Returns the file's name without its extension.
    pub fn stem(&self) -> &str {
        crate::note::stem(&self.path)
    }
}

impl IndexedNote {
    fn more(&self) -> &MoreFields {
        self.more.get_or_init(Box::default)
    }

    fn file(&self, local_path: &str, path: &str) -> &Note {
        let read = self.more().file.get_or_init(|| Box::new(self.read(local_path, path)));
        &read.0
    }

    /// Reads the file. If that fails, the note is empty, and the error is recorded and returned.
    fn read(&self, local_path: &str, path: &str) -> (Note, Option<Error>) {
        let (columns, mut bytes) = (self.record.columns(), Vec::new());
        let read = note_file::read_into(&columns.dir, Path::new(local_path), &mut bytes);
        let failure = read.err().map(|error| columns.errors.add_note(path, &error));
        if failure.is_some() {
            bytes.clear();
        }
        (Note::parse_as(columns.dialect, local_path, bytes), failure)
    }

    fn cold_fields(&self) -> Option<&ColdFields> {
        let cold = &self.more().cold;
        if cold.get().is_none()
            && let Some(decoded) = self.record.cold_fields()
        {
            // Another thread may have decoded the same bytes first.
            let _ = cold.set(decoded);
        }
        cold.get()
    }
}
