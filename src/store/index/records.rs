//! The records of notes in the index: everything about a note but its text, in five column groups by how often they are
//! read.
//!
//! A column group of [`NOTES_PER_CHUNK`] notes is compressed together and decompressed when the first of them is read.
//! The values borrow from it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use super::column_store::ColumnStore;
use super::id_compression;
use super::record_codec::RecordWriter;
use crate::note::{
    ContentSource, DEFAULT_VALUE, Diagnostic, EncodedTarget, InlineLink, JOURNAL, Note, NoteId, Timestamp, UserFields,
    Value, finding_code, shown_chars,
};
use crate::store::read_errors::ReadErrors;
use crate::store::walk::dir_handle::DirHandle;

/// The number of notes whose columns are compressed together.
pub(crate) const NOTES_PER_CHUNK: usize = 256;

/// The column groups of a record, the most often read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnGroup {
    Identity,
    ListFields,
    Links,
    Relations,
    Cold,
}

/// The number of column groups.
pub(crate) const COLUMN_GROUPS: usize = ColumnGroup::Cold as usize + 1;

/// The records of an index, or of an index being built.
#[derive(Debug)]
pub(crate) struct RecordColumns {
    /// For each column group its chunks, decompressed when first read.
    chunks: [Vec<OnceLock<ColumnChunk>>; COLUMN_GROUPS],
    store: ColumnStore,
    /// The store's folder, where the files of the notes are.
    pub(crate) dir: Arc<DirHandle>,
    pub(crate) errors: Arc<ReadErrors>,
}

/// One column group of [`NOTES_PER_CHUNK`] notes; the last chunk may have fewer.
#[derive(Debug, Default)]
struct ColumnChunk {
    /// The end of each row in `bytes`, relative to `start`.
    ends: Vec<u32>,
    /// The offset of the first row in `bytes`.
    start: usize,
    bytes: Vec<u8>,
}

/// A reference to the record of one note.
#[derive(Debug, Clone)]
pub(crate) struct RecordRef {
    pub(crate) columns: Arc<RecordColumns>,
    /// The ordinal of the note in the index.
    slot: usize,
}

/// Facts about a note that are kept in memory, since every answer asks for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NoteFlags {
    /// 0 to 100.
    pub(crate) value: u8,
    pub(crate) is_moc: bool,
    pub(crate) is_journal: bool,
    pub(crate) has_aliases: bool,
    pub(crate) has_compacts: bool,
    /// Whether its status retires it, or it has a last day.
    pub(crate) may_be_retired: bool,
}

/// The first column group: what every command reads of every note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The id; `None` if the path of the file gives it, or if the note was not read from an index.
    pub(crate) id: Option<&'a str>,
    /// The title.
    pub title: &'a str,
    pub(crate) value: Option<u8>,
    pub(crate) flags: NoteFlags,
    /// See [`Note::body_chars`]; `None` if the note was not read from an index.
    pub body_chars: Option<usize>,
    /// The characters of its summary, white space not counted; `None` if they were not counted.
    pub summary_chars: Option<usize>,
}

/// The second column group: the fields that lists, filters and sort orders read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListFields<'a> {
    /// The title.
    pub title: &'a str,
    /// The type.
    pub kind: &'a str,
    pub(crate) created: Option<EncodedTimestamp<'a>>,
    pub(crate) updated: Option<EncodedTimestamp<'a>>,
    /// The day of a journal, if a field names it: year, month, day.
    pub(crate) day: Option<(i16, i8, i8)>,
    /// The value, 0 to 100, if a field gives it.
    pub value: Option<u8>,
    /// The text of the field `summary`.
    pub summary: Option<&'a str>,
    /// Whether the note has other titles.
    pub has_aliases: bool,
    /// Whether the note replaces others in answers.
    pub has_compacts: bool,
}

/// A timestamp as an index stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EncodedTimestamp<'a> {
    /// Seconds since 1970 of a timestamp that is written as RFC 3339 in UTC.
    Seconds(i64),
    /// Any other spelling, verbatim.
    Text(&'a str),
}

impl<'a> EncodedTimestamp<'a> {
    fn of(timestamp: &'a Timestamp) -> Self {
        timestamp.seconds().map_or(Self::Text(timestamp.as_str()), Self::Seconds)
    }

    fn date_time(self) -> Option<DateTime> {
        match self {
            Self::Seconds(seconds) => Timestamp::utc_from_seconds(seconds),
            Self::Text(text) => Some(Timestamp::parse(text)?.utc()),
        }
    }

    fn to_timestamp(self) -> Option<Timestamp> {
        match self {
            Self::Seconds(seconds) => Timestamp::from_seconds(seconds),
            Self::Text(text) => Timestamp::parse(text),
        }
    }
}

/// The third column group: the links of a note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFields<'a> {
    /// The type and the target of each link of the frontmatter, as written.
    pub typed: Vec<(&'a str, &'a str)>,
    /// The links in its body, in the order of the text.
    pub inline: Vec<EncodedTarget<'a>>,
}

/// The fourth column group: what else relates a note to others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relations<'a> {
    /// Tags as written, each once.
    #[serde(borrow)]
    pub tags: Vec<&'a str>,
    /// Other titles.
    #[serde(borrow)]
    pub aliases: Vec<&'a str>,
    /// The notes that this digest replaces in answers, as written.
    #[serde(borrow)]
    pub compacts: Vec<&'a str>,
    /// The ordered lists of a map of content, each as the links that its items begin with. Empty unless read from an
    /// index.
    #[serde(borrow)]
    lists: Vec<Vec<EncodedTarget<'a>>>,
}

/// The last column group, decoded: what is read only of notes that are shown in full.
#[derive(Debug, Clone)]
pub(crate) struct ColdFields {
    verified: Option<bool>,
    sources: Vec<ContentSource>,
    custom: Vec<(String, Value)>,
    unknown: Vec<(String, Value)>,
    findings: Vec<Diagnostic>,
    is_cut: bool,
}

/// The last column group, borrowed. Its serialised form is that of [`StoredColdFields`].
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ColdFieldsRef<'a> {
    pub(crate) verified: Option<bool>,
    pub(crate) sources: &'a [ContentSource],
    custom: &'a [(String, Value)],
    unknown: &'a [(String, Value)],
    pub(crate) findings: &'a [Diagnostic],
    pub(crate) is_cut: bool,
}

/// The last column group as it is stored; a diagnostic is its code, line and message.
#[derive(Deserialize)]
struct StoredColdFields {
    verified: Option<bool>,
    sources: Vec<ContentSource>,
    custom: Vec<(String, Value)>,
    unknown: Vec<(String, Value)>,
    findings: Vec<(String, Option<usize>, String)>,
    is_cut: bool,
}

impl NoteFlags {
    /// Computes the flags of a parsed note.
    pub(crate) fn of(note: &Note) -> Self {
        Self {
            value: note.value.unwrap_or(DEFAULT_VALUE),
            is_moc: note.is_moc(),
            is_journal: note.kind == JOURNAL,
            has_aliases: !note.aliases.is_empty(),
            has_compacts: !note.compacts.is_empty(),
            may_be_retired: note.extra_fields().may_be_retired(),
        }
    }
}

impl<'a> Identity<'a> {
    /// Borrows the column group from a parsed note. No characters are counted but those of the field `summary`.
    pub(crate) fn of(note: &'a Note) -> Self {
        Self {
            id: None,
            title: &note.title,
            value: note.value,
            flags: NoteFlags::of(note),
            body_chars: None,
            summary_chars: note.summary_field.as_deref().map(shown_chars),
        }
    }

    /// Returns the id of the note with this path; `None` if the stored id is not valid.
    pub(crate) fn id(&self, path: &str) -> Option<NoteId> {
        self.id.map_or_else(|| Some(NoteId::from_path(path)), NoteId::parse)
    }
}

impl<'a> ListFields<'a> {
    /// Borrows the column group from a parsed note.
    pub(crate) fn of(note: &'a Note) -> Self {
        Self {
            title: &note.title,
            kind: &note.kind,
            created: note.created.as_ref().map(EncodedTimestamp::of),
            updated: note.updated.as_ref().map(EncodedTimestamp::of),
            day: note.date.map(|date| (date.year(), date.month(), date.day())),
            value: note.value,
            summary: note.summary_field.as_deref(),
            has_aliases: !note.aliases.is_empty(),
            has_compacts: !note.compacts.is_empty(),
        }
    }

    /// Returns the value, [`DEFAULT_VALUE`] if no field gives it.
    pub fn value_or_default(&self) -> u8 {
        self.value.unwrap_or(DEFAULT_VALUE)
    }

    /// Returns the day of a journal, if a field names it.
    pub fn day(&self) -> Option<Date> {
        self.day.and_then(|(year, month, day)| Date::new(year, month, day).ok())
    }

    /// Returns when the note last changed: `updated`, else `created`.
    pub fn changed(&self) -> Option<DateTime> {
        self.updated.or(self.created)?.date_time()
    }

    /// Returns the day on which the note was created, in the offset in which it is written.
    pub fn created_day(&self) -> Option<Date> {
        match self.created? {
            EncodedTimestamp::Text(text) => text.get(..10)?.parse().ok(),
            seconds => Some(seconds.date_time()?.date()),
        }
    }

    /// Returns when the note was created.
    pub fn created(&self) -> Option<DateTime> {
        self.created?.date_time()
    }

    /// Returns when the note was created, in the spelling of its author.
    pub fn created_as_written(&self) -> Option<Timestamp> {
        self.created?.to_timestamp()
    }

    /// Returns the field `updated` in the spelling of the author.
    pub fn updated_as_written(&self) -> Option<Timestamp> {
        self.updated?.to_timestamp()
    }

    /// Returns when the note last changed, in the spelling of its author: `updated`, else `created`.
    pub fn changed_as_written(&self) -> Option<Timestamp> {
        self.updated.or(self.created)?.to_timestamp()
    }
}

impl<'a> Relations<'a> {
    /// Borrows the column group from a parsed note, without its ordered lists.
    pub(crate) fn of(note: &'a Note) -> Self {
        let borrowed = |texts: &'a [String]| texts.iter().map(String::as_str).collect();
        Self {
            tags: borrowed(&note.tags),
            aliases: borrowed(&note.aliases),
            compacts: borrowed(&note.compacts),
            lists: Vec::new(),
        }
    }

    /// Returns the ordered lists.
    pub(crate) fn ordered_lists(&self) -> Vec<Vec<InlineLink>> {
        self.lists.iter().map(|list| list.iter().map(|link| link.to_link()).collect()).collect()
    }
}

impl<'a> LinkFields<'a> {
    /// Borrows the column group from a parsed note. Parses its body at the first call.
    pub(crate) fn of(note: &'a Note) -> Self {
        Self {
            typed: note.links.iter().map(|link| (link.kind.as_str(), link.target.as_str())).collect(),
            inline: note.inline_links().iter().map(EncodedTarget::of).collect(),
        }
    }
}

impl ColdFields {
    /// Decodes the column group; `None` if the bytes are not what was stored.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let stored: StoredColdFields = postcard::from_bytes(bytes).ok()?;
        let finding =
            |(code, line, message): (String, _, _)| Some(Diagnostic { code: finding_code(&code)?, line, message });
        Some(Self {
            verified: stored.verified,
            sources: stored.sources,
            custom: stored.custom,
            unknown: stored.unknown,
            findings: stored.findings.into_iter().map(finding).collect::<Option<_>>()?,
            is_cut: stored.is_cut,
        })
    }

    /// Borrows the column group.
    pub(crate) fn borrowed(&self) -> ColdFieldsRef<'_> {
        let Self { verified, sources, custom, unknown, findings, is_cut } = self;
        ColdFieldsRef { verified: *verified, sources, custom, unknown, findings, is_cut: *is_cut }
    }
}

impl<'a> ColdFieldsRef<'a> {
    /// Borrows the column group from a parsed note.
    pub(crate) fn of(note: &'a Note) -> Self {
        Self {
            verified: note.verified,
            sources: &note.sources,
            custom: &note.custom,
            unknown: &note.unknown,
            findings: &note.findings,
            is_cut: note.is_cut,
        }
    }

    /// Returns the fields that are not qipu's own.
    pub(crate) fn extra_fields(self) -> UserFields<'a> {
        UserFields { unknown: self.unknown, custom: self.custom }
    }
}

/// A builder of record columns, fed note by note.
#[derive(Debug, Default)]
pub(crate) struct RecordColumnsBuilder {
    columns: [ColumnBuilder; COLUMN_GROUPS],
    /// Reused for the rows of all notes.
    row: RecordWriter,
    bytes: Vec<u8>,
}

/// One column group of the notes added so far.
#[derive(Debug, Default)]
struct ColumnBuilder {
    /// The end of each row in `bytes`.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl RecordColumnsBuilder {
    /// Appends the record of a note. Counts the characters of its body and parses the body for links.
    pub(crate) fn add(&mut self, note: &Note) {
        let lists = if note.is_moc() { note.ordered_lists() } else { Vec::new() };
        let lists = lists.iter().map(|list| list.iter().map(EncodedTarget::of).collect()).collect();
        let id = Some(note.id.as_str()).filter(|_| NoteId::from_path(&note.path) != note.id);
        let identity = Identity {
            id,
            body_chars: Some(note.body_chars()),
            summary_chars: note.summary().map(shown_chars),
            ..Identity::of(note)
        };
        let Self { columns: [identities, list_fields, links, relations, cold], row, bytes } = self;
        identity.write(row, &mut identities.bytes);
        ListFields::of(note).write(row, &mut list_fields.bytes);
        LinkFields::of(note).write(row, &mut links.bytes);
        append(&Relations { lists, ..Relations::of(note) }, bytes, &mut relations.bytes);
        append(&ColdFieldsRef::of(note), bytes, &mut cold.bytes);
        self.columns.iter_mut().for_each(|column| column.ends.push(column.bytes.len()));
    }

    /// Appends the records of another builder.
    pub(crate) fn append(&mut self, other: &Self) {
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            let before = column.bytes.len();
            column.ends.extend(other.ends.iter().map(|end| before + end));
            column.bytes.extend_from_slice(&other.bytes);
        }
    }

    /// Removes all records and keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        for column in &mut self.columns {
            column.bytes.clear();
            column.ends.clear();
        }
    }

    /// Removes the first `count` records.
    pub(crate) fn remove_first(&mut self, count: usize) {
        for column in &mut self.columns {
            let start = column.row_start(count);
            column.bytes.drain(..start);
            column.ends.drain(..count.min(column.ends.len()));
            column.ends.iter_mut().for_each(|end| *end -= start);
        }
    }

    /// Returns the number of records.
    pub(crate) fn count(&self) -> usize {
        self.columns.first().map_or(0, |column| column.ends.len())
    }

    /// Encodes one column group of some records: the lengths of the rows, then the rows.
    pub(crate) fn chunk(&self, group: usize, records: Range<usize>) -> Vec<u8> {
        let Some(column) = self.columns.get(group) else { return Vec::new() };
        let length = |record| column.row_start(record + 1) - column.row_start(record);
        let lengths: Vec<usize> = records.clone().map(length).collect();
        let mut bytes = postcard::to_allocvec(&lengths).unwrap_or_default();
        let range = column.row_start(records.start)..column.row_start(records.end);
        bytes.extend_from_slice(column.bytes.get(range).unwrap_or_default());
        if group == ColumnGroup::Links as usize { id_compression::compress(&bytes) } else { bytes }
    }
}

impl ColumnBuilder {
    /// Returns the offset at which a row begins; for the ordinal behind the last row, the length of the column.
    fn row_start(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(self.bytes.len()))
    }
}

/// Serialises a value with postcard and appends it to `to`; `scratch` is reused. Writing into memory can't fail; if it
/// did, the record would be unreadable and the note would be read from its file.
fn append(value: &impl Serialize, scratch: &mut Vec<u8>, to: &mut Vec<u8>) {
    scratch.clear();
    *scratch = postcard::to_extend(value, std::mem::take(scratch)).unwrap_or_default();
    to.extend_from_slice(scratch);
}

impl ColumnChunk {
    /// Decodes the offsets of a chunk; `None` if the bytes are not what [`RecordColumnsBuilder::chunk`] returned.
    fn open(bytes: Vec<u8>, group: ColumnGroup) -> Option<Self> {
        let bytes = if group == ColumnGroup::Links { id_compression::decompress(&bytes)? } else { bytes };
        let (mut ends, rest): (Vec<u32>, _) = postcard::take_from_bytes(&bytes).ok()?;
        let start = bytes.len() - rest.len();
        let mut end = 0_u32;
        for length in &mut ends {
            end = end.checked_add(*length)?;
            *length = end;
        }
        Some(Self { ends, start, bytes })
    }

    /// Returns a row; empty if the chunk has no such row.
    fn row(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(row).copied());
        let range = range.map(|(start, end)| self.start + start as usize..self.start + end as usize);
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }
}

impl RecordColumns {
    /// Opens the records of `count` notes.
    pub(crate) fn new(count: usize, store: ColumnStore, dir: &Arc<DirHandle>, errors: &Arc<ReadErrors>) -> Self {
        let chunks = || (0..count.div_ceil(NOTES_PER_CHUNK)).map(|_| OnceLock::new()).collect();
        Self { chunks: std::array::from_fn(|_| chunks()), store, dir: Arc::clone(dir), errors: Arc::clone(errors) }
    }

    /// Returns one column group of a record; empty if there is none or it can't be read.
    fn row(&self, slot: usize, group: ColumnGroup) -> &[u8] {
        let ordinal = slot / NOTES_PER_CHUNK;
        let Some(chunk) = self.chunks[group as usize].get(ordinal) else { return &[] };
        let read = || {
            let bytes = self.store.chunk(group as usize, ordinal);
            bytes.and_then(|bytes| ColumnChunk::open(bytes, group)).unwrap_or_default()
        };
        chunk.get_or_init(read).row(slot % NOTES_PER_CHUNK)
    }
}

/// Each method decodes one column group, O(length of the row) after the first read of its chunk. `None` means that the
/// index is damaged, which is recorded in [`ReadErrors`].
impl RecordRef {
    /// Returns a reference to the record with an ordinal.
    pub(crate) fn new(columns: &Arc<RecordColumns>, slot: usize) -> Self {
        Self { columns: Arc::clone(columns), slot }
    }

    pub(crate) fn identity(&self) -> Option<Identity<'_>> {
        self.checked(self.read_identity())
    }

    pub(crate) fn list_fields(&self) -> Option<ListFields<'_>> {
        let read = |identity| ListFields::from_bytes(identity, self.row(ColumnGroup::ListFields));
        self.checked(self.read_identity().and_then(read))
    }

    pub(crate) fn link_fields(&self) -> Option<LinkFields<'_>> {
        self.checked(LinkFields::from_bytes(self.row(ColumnGroup::Links)))
    }

    pub(crate) fn relations(&self) -> Option<Relations<'_>> {
        self.checked(postcard::from_bytes(self.row(ColumnGroup::Relations)).ok())
    }

    pub(crate) fn cold_fields(&self) -> Option<ColdFields> {
        self.checked(ColdFields::from_bytes(self.row(ColumnGroup::Cold)))
    }

    fn read_identity(&self) -> Option<Identity<'_>> {
        Identity::from_bytes(self.row(ColumnGroup::Identity))
    }

    fn row(&self, group: ColumnGroup) -> &[u8] {
        self.columns.row(self.slot, group)
    }

    fn checked<T>(&self, read: Option<T>) -> Option<T> {
        if read.is_none() {
            self.columns.errors.mark_corrupt();
        }
        read
    }
}
