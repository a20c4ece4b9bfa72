//! What is known of a note, in a form that can be kept: everything but its text, which stays in its
//! file until somebody asks for it.
//!
//! A kept note is five parts: its name, what else is looked at of every note, its links, what else ties it to
//! others, and the rest. The same part of some hundred notes stands together and is read when one of them is
//! asked for; texts are borrowed.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use super::record_codec::RecordWriter;
use super::{
    ContentSource, DEFAULT_VALUE, Diagnostic, InlineLink, Metadata, Note, NoteFlags, NoteId, Timestamp, TypedLink,
    Value, finding_code, id_compression, shown_chars,
};

/// How many notes are kept together.
pub const CHUNK: usize = 256;

/// The parts of a kept note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnGroup {
    Name,
    Head,
    Links,
    Ties,
    Rest,
}

/// How many parts a kept note has.
pub const PARTS: usize = ColumnGroup::Rest as usize + 1;

/// Reads the files of notes, by their paths in the store, and what was kept of them; nothing where that
/// can't be done.
pub trait RecordSource: Debug + Send + Sync {
    /// Returns a file's bytes, of an over-long one the beginning.
    fn read(&self, path: &str) -> Option<Vec<u8>>;

    /// Returns one part of [`CHUNK`] notes, the last ones may be fewer, as [`Keeping::chunk`] made it.
    fn chunk(&self, part: usize, number: usize) -> Option<Vec<u8>>;

    /// Takes note that what was kept can't be read: answers that were made of it are wrong.
    fn tell_broken(&self);
}

/// Notes that were kept.
#[derive(Debug)]
pub struct RecordColumns {
    /// Of each part its chunks, read when somebody asks for one.
    chunks: [Vec<OnceLock<ColumnChunk>>; PARTS],
    files: Arc<dyn RecordSource>,
}

/// One part of some notes.
#[derive(Debug, Default)]
struct ColumnChunk {
    /// Where each note ends in `bytes`, and where the first one begins.
    ends: Vec<u32>,
    start: usize,
    bytes: Vec<u8>,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct RecordRef {
    kept: Arc<RecordColumns>,
    place: usize,
}

/// What every answer asks of every note, borrowed from where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The note's id, where it was kept and the path of its file does not give it.
    pub(super) id: Option<&'a str>,
    /// The note's title.
    pub title: &'a str,
    pub(super) value: Option<u8>,
    pub(super) marks: NoteFlags,
    /// See [`Note::body_chars`]; `None` where nobody has counted them.
    pub body_chars: Option<usize>,
    /// How many characters its summary has, white space not counted; `None` where nobody has counted.
    pub summary_chars: Option<usize>,
}

/// What is looked at of every note, borrowed from where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListFields<'a> {
    /// The note's title.
    pub title: &'a str,
    /// Its type.
    pub kind: &'a str,
    pub(super) created: Option<EncodedTimestamp<'a>>,
    pub(super) updated: Option<EncodedTimestamp<'a>>,
    /// The day a journal belongs to, where the field says it: year, month, day.
    pub(super) day: Option<(i16, i8, i8)>,
    /// How much it is worth, where it says so.
    pub value: Option<u8>,
    /// The summary's text where the frontmatter holds one.
    pub summary: Option<&'a str>,
    /// Whether it has other titles, and whether it stands for other notes.
    pub has_aliases: bool,
    /// See `has_aliases`.
    pub has_compacts: bool,
}

/// A stamp as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EncodedTimestamp<'a> {
    /// Seconds since 1970, written in the usual way.
    Seconds(i64),
    Text(&'a str),
}

impl<'a> EncodedTimestamp<'a> {
    fn of(stamp: &'a Timestamp) -> Self {
        stamp.seconds().map_or(Self::Text(stamp.as_str()), Self::Seconds)
    }

    fn utc(self) -> Option<DateTime> {
        match self {
            Self::Seconds(seconds) => Timestamp::utc_from_seconds(seconds),
            Self::Text(text) => Some(Timestamp::parse(text)?.utc()),
        }
    }

    fn stamp(self) -> Option<Timestamp> {
        match self {
            Self::Seconds(seconds) => Timestamp::from_seconds(seconds),
            Self::Text(text) => Timestamp::parse(text),
        }
    }
}

/// What ties a note to others, borrowed from where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relations<'a> {
    /// Its tags.
    #[serde(borrow)]
    pub tags: Vec<&'a str>,
    /// Its other titles.
    #[serde(borrow)]
    pub aliases: Vec<&'a str>,
    /// The notes that it stands for, as written.
    #[serde(borrow)]
    pub compacts: Vec<&'a str>,
    /// Of a map of content, its ordered lists, each as the links that its items begin with.
    #[serde(borrow)]
    lists: Vec<Vec<EncodedTarget<'a>>>,
}

/// The links of a note, borrowed from where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFields<'a> {
    /// The type and the target of each link of the frontmatter, as written.
    pub typed: Vec<(&'a str, &'a str)>,
    /// The links in its body.
    pub inline: Vec<EncodedTarget<'a>>,
}

/// A link in a body: see [`InlineLink`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EncodedTarget<'a> {
    /// The target of a link in double brackets.
    Wiki(&'a str),
    /// The path of a markdown link.
    Path(&'a str),
}

/// What only a note that is shown needs.
#[derive(Deserialize)]
struct ColdFields {
    verified: Option<bool>,
    sources: Vec<ContentSource>,
    custom: Vec<(String, Value)>,
    unknown: Vec<(String, Value)>,
    findings: Vec<(String, Option<usize>, String)>,
    is_cut: bool,
}

/// A [`Rest`] as it is written.
#[derive(Serialize)]
struct ColdFieldsRef<'a> {
    verified: Option<bool>,
    sources: &'a [ContentSource],
    custom: &'a [(String, Value)],
    unknown: &'a [(String, Value)],
    findings: Vec<(&'a str, Option<usize>, &'a str)>,
    is_cut: bool,
}

impl<'a> Identity<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            id: None,
            title: &note.title,
            value: note.value,
            marks: note.marks,
            body_chars: note.body_chars.get().copied(),
            summary_chars: note.summary_field().map(shown_chars),
        }
    }

    /// Returns the id of the note in a file; `None` where it can't be one.
    pub(super) fn id(&self, path: &str) -> Option<NoteId> {
        self.id.map_or_else(|| Some(NoteId::from_path(path)), NoteId::parse)
    }
}

impl<'a> ListFields<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            title: &note.title,
            kind: &note.kind,
            created: note.created.as_ref().map(EncodedTimestamp::of),
            updated: note.updated.as_ref().map(EncodedTimestamp::of),
            day: note.date.map(|date| (date.year(), date.month(), date.day())),
            value: note.value,
            summary: note.summary_field(),
            has_aliases: !note.aliases.is_empty(),
            has_compacts: !note.compacts.is_empty(),
        }
    }

    /// Returns the value, 50 where the note names none.
    pub fn value_or_default(&self) -> u8 {
        self.value.unwrap_or(DEFAULT_VALUE)
    }

    /// Returns the day a journal belongs to, where the field says it.
    pub fn day(&self) -> Option<Date> {
        self.day.and_then(|(year, month, day)| Date::new(year, month, day).ok())
    }

    /// Returns the moment at which the note last changed (`updated`, else `created`), which is enough
    /// to put notes in order.
    pub fn changed(&self) -> Option<DateTime> {
        self.updated.or(self.created)?.utc()
    }

    /// Returns the day on which the note was made, as it is written.
    pub fn created_day(&self) -> Option<Date> {
        match self.created? {
            EncodedTimestamp::Text(text) => text.get(..10)?.parse().ok(),
            seconds => Some(seconds.utc()?.date()),
        }
    }

    /// Returns the moment at which the note was made.
    pub fn created(&self) -> Option<DateTime> {
        self.created?.utc()
    }
}

impl<'a> Relations<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            tags: texts(&note.tags),
            aliases: texts(&note.aliases),
            compacts: texts(&note.compacts),
            lists: Vec::new(),
        }
    }
}

impl<'a> LinkFields<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            typed: note.links.iter().map(|link| (link.kind.as_str(), link.target.as_str())).collect(),
            inline: note.inline_links().iter().map(EncodedTarget::of).collect(),
        }
    }
}

fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

impl<'a> EncodedTarget<'a> {
    /// Borrows a link.
    pub fn of(link: &'a InlineLink) -> Self {
        match link {
            InlineLink::Wiki(target) => Self::Wiki(target),
            InlineLink::Path(path) => Self::Path(path),
        }
    }

    fn to_link(self) -> InlineLink {
        match self {
            Self::Wiki(target) => InlineLink::Wiki(target.to_owned()),
            Self::Path(path) => InlineLink::Path(path.to_owned()),
        }
    }
}

/// What is to be kept of notes, one after the other.
#[derive(Debug, Default)]
pub struct RecordColumnsBuilder {
    parts: [ColumnBuilder; PARTS],
    /// Where one of a note's parts is put together.
    row: RecordWriter,
    bytes: Vec<u8>,
}

/// One part of notes in the making: where that of each ends.
#[derive(Debug, Default)]
struct ColumnBuilder {
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl RecordColumnsBuilder {
    /// Writes down what is to be kept of the next note, its links and the length of its body included.
    pub fn add(&mut self, note: &Note) {
        note.body_chars();
        let lists = if note.is_moc() { note.ordered_lists() } else { Vec::new() };
        let lists = lists.iter().map(|list| list.iter().map(EncodedTarget::of).collect()).collect();
        let ties = Relations { lists, ..Relations::of(note) };
        let findings = note.findings.iter().map(|f| (f.code, f.line, f.message.as_str()));
        let rest = ColdFieldsRef {
            verified: note.verified,
            sources: &note.sources,
            custom: &note.custom,
            unknown: &note.unknown,
            findings: findings.collect(),
            is_cut: note.is_cut,
        };
        let id = Some(note.id.as_str()).filter(|_| NoteId::from_path(&note.path) != note.id);
        let name = Identity { id, summary_chars: note.summary().map(shown_chars), ..Identity::of(note) };
        let Self { parts: [names, heads, links, all_ties, rests], row, bytes } = self;
        name.write(row, &mut names.bytes);
        ListFields::of(note).write(row, &mut heads.bytes);
        LinkFields::of(note).write(row, &mut links.bytes);
        write(&ties, bytes, &mut all_ties.bytes);
        write(&rest, bytes, &mut rests.bytes);
        self.parts.iter_mut().for_each(|column| column.ends.push(column.bytes.len()));
    }

    /// Adds other notes behind these.
    pub fn append(&mut self, others: &Self) {
        for (column, other) in self.parts.iter_mut().zip(&others.parts) {
            let before = column.bytes.len();
            column.ends.extend(other.ends.iter().map(|end| before + end));
            column.bytes.extend_from_slice(&other.bytes);
        }
    }

    /// Takes all notes away, but not the room that they took.
    pub fn clear(&mut self) {
        for column in &mut self.parts {
            column.bytes.clear();
            column.ends.clear();
        }
    }

    /// Takes the first notes away.
    pub fn remove_first(&mut self, count: usize) {
        for column in &mut self.parts {
            let start = column.start(count);
            column.bytes.drain(..start);
            column.ends.drain(..count.min(column.ends.len()));
            column.ends.iter_mut().for_each(|end| *end -= start);
        }
    }

    /// Returns how many notes there are.
    pub fn count(&self) -> usize {
        self.parts.first().map_or(0, |column| column.ends.len())
    }

    /// Puts one part of some of the notes together: how long that of each is, and all of them.
    pub fn chunk(&self, part: usize, notes: Range<usize>) -> Vec<u8> {
        let Some(column) = self.parts.get(part) else { return Vec::new() };
        let lengths: Vec<usize> = notes.clone().map(|note| column.start(note + 1) - column.start(note)).collect();
        let mut bytes = postcard::to_allocvec(&lengths).unwrap_or_default();
        let range = column.start(notes.start)..column.start(notes.end);
        bytes.extend_from_slice(column.bytes.get(range).unwrap_or_default());
        if part == ColumnGroup::Links as usize { id_compression::shorten(&bytes) } else { bytes }
    }
}

impl ColumnBuilder {
    /// Returns where a note begins, the one behind the last one too.
    fn start(&self, note: usize) -> usize {
        note.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(self.bytes.len()))
    }
}

/// Puts something together in `own`, and adds it to `to`. Writing into memory can't fail; were it to, what is kept could
/// not be read and would be read again.
fn write(what: &impl Serialize, own: &mut Vec<u8>, to: &mut Vec<u8>) {
    own.clear();
    *own = postcard::to_extend(what, std::mem::take(own)).unwrap_or_default();
    to.extend_from_slice(own);
}

impl ColumnChunk {
    /// Takes what [`Keeping::chunk`] made of a part.
    fn open(bytes: Vec<u8>, part: ColumnGroup) -> Option<Self> {
        let bytes = if part == ColumnGroup::Links { id_compression::expand(&bytes)? } else { bytes };
        let (mut ends, rest): (Vec<u32>, _) = postcard::take_from_bytes(&bytes).ok()?;
        let start = bytes.len() - rest.len();
        let mut end = 0_u32;
        for length in &mut ends {
            end = end.checked_add(*length)?;
            *length = end;
        }
        Some(Self { ends, start, bytes })
    }

    /// Returns what it has of a note; nothing where it has no such note.
    fn note(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(place).copied());
        let range = range.map(|(start, end)| self.start + start as usize..self.start + end as usize);
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }
}

impl RecordColumns {
    /// Takes so many notes that were kept.
    pub fn new(count: usize, files: Arc<dyn RecordSource>) -> Self {
        let chunks = || (0..count.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect();
        Self { chunks: std::array::from_fn(|_| chunks()), files }
    }

    /// Returns a part of a note; nothing where there is none or it can't be read.
    fn part(&self, place: usize, part: ColumnGroup) -> &[u8] {
        let number = place / CHUNK;
        let Some(chunk) = self.chunks[part as usize].get(number) else { return &[] };
        let read = || {
            self.files.chunk(part as usize, number).and_then(|bytes| ColumnChunk::open(bytes, part)).unwrap_or_default()
        };
        chunk.get_or_init(read).note(place % CHUNK)
    }
}

impl RecordRef {
    /// Names one of the notes that were kept.
    pub fn new(kept: &Arc<RecordColumns>, place: usize) -> Self {
        Self { kept: Arc::clone(kept), place }
    }

    /// Reads its file.
    pub(super) fn read_file(&self, path: &str) -> Option<Vec<u8>> {
        self.kept.files.read(path)
    }

    pub(super) fn name(&self) -> Identity<'_> {
        self.known(self.read_name())
    }

    pub(super) fn head(&self) -> ListFields<'_> {
        self.known(self.read_head())
    }

    fn read_head(&self) -> Option<ListFields<'_>> {
        ListFields::from_bytes(self.read_name()?, self.kept.part(self.place, ColumnGroup::Head))
    }

    fn read_name(&self) -> Option<Identity<'_>> {
        Identity::from_bytes(self.kept.part(self.place, ColumnGroup::Name))
    }

    pub(super) fn links(&self) -> LinkFields<'_> {
        self.known(LinkFields::from_bytes(self.kept.part(self.place, ColumnGroup::Links)))
    }

    pub(super) fn ties(&self) -> Relations<'_> {
        self.known(self.read(ColumnGroup::Ties))
    }

    fn read<'a, T: Deserialize<'a>>(&'a self, part: ColumnGroup) -> Option<T> {
        postcard::from_bytes(self.kept.part(self.place, part)).ok()
    }

    fn known<T: Default>(&self, read: Option<T>) -> T {
        read.unwrap_or_else(|| {
            self.kept.files.tell_broken();
            T::default()
        })
    }

    /// Returns the ordered lists of a map of content.
    pub(super) fn lists(&self) -> Vec<Vec<InlineLink>> {
        let links = |list: &Vec<EncodedTarget<'_>>| list.iter().map(|link| link.to_link()).collect();
        self.ties().lists.iter().map(links).collect()
    }

    /// Makes everything that a note says of itself; `None` where this can't be what was kept.
    pub(super) fn meta(&self) -> Option<Metadata> {
        let meta = self.read_meta();
        if meta.is_none() {
            self.kept.files.tell_broken();
        }
        meta
    }

    fn read_meta(&self) -> Option<Metadata> {
        let name = self.read_name()?;
        let head = ListFields::from_bytes(name, self.kept.part(self.place, ColumnGroup::Head))?;
        let links = LinkFields::from_bytes(self.kept.part(self.place, ColumnGroup::Links))?;
        let ties: Relations<'_> = self.read(ColumnGroup::Ties)?;
        let rest: ColdFields = self.read(ColumnGroup::Rest)?;
        let stamp = |stamp: Option<EncodedTimestamp<'_>>| stamp.map_or(Some(None), |stamp| stamp.stamp().map(Some));
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        let finding =
            |(code, line, message): (String, _, _)| Some(Diagnostic { code: finding_code(&code)?, line, message });
        let link = |(kind, target): &(&str, &str)| TypedLink { kind: (*kind).to_owned(), target: (*target).to_owned() };
        Some(Metadata {
            title: head.title.to_owned(),
            kind: head.kind.to_owned(),
            created: stamp(head.created)?,
            updated: stamp(head.updated)?,
            date: head.day(),
            tags: owned(&ties.tags),
            value: head.value,
            verified: rest.verified,
            sources: rest.sources,
            links: links.typed.iter().map(link).collect(),
            aliases: owned(&ties.aliases),
            compacts: owned(&ties.compacts),
            custom: rest.custom,
            unknown: rest.unknown,
            findings: rest.findings.into_iter().map(finding).collect::<Option<_>>()?,
            is_cut: rest.is_cut,
            summary_field: head.summary.map(str::to_owned),
            body_summary: OnceLock::new(),
            inline: OnceLock::from(links.inline.iter().map(|link| link.to_link()).collect::<Vec<_>>()),
            body_chars: name.body_chars.map_or_else(OnceLock::new, OnceLock::from),
        })
    }
}
