//! What is known of a note, in a form that can be kept: everything but its text, which stays in its
//! file until somebody asks for it.
//!
//! A kept note is four parts, each behind its length: what is looked at of every note, its links, what
//! else ties it to others, and the rest. Each is read by itself, and texts are borrowed.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use super::{
    DEFAULT_VALUE, Finding, InlineLink, Meta, Note, Source, Stamp, TypedLink, Value, finding_code, shown_chars,
};

/// Reads the files of notes, by their paths in the store; nothing where that can't be done.
pub trait Files: Debug + Send + Sync {
    /// Returns a file's bytes, of an over-long one the beginning.
    fn read(&self, path: &str) -> Option<Vec<u8>>;

    /// Takes note that what was kept can't be read: answers that were made of it are wrong.
    fn tell_broken(&self);
}

/// Notes that were kept.
#[derive(Debug)]
pub struct Kept {
    /// One behind the other.
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u64>,
    files: Arc<dyn Files>,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct KeptNote {
    kept: Arc<Kept>,
    place: usize,
}

/// What is looked at of every note, borrowed from where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head<'a> {
    /// The note's id.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its type.
    pub kind: &'a str,
    created: Option<Written<'a>>,
    updated: Option<Written<'a>>,
    /// The day a journal belongs to, where the field says it: year, month, day.
    day: Option<(i16, i8, i8)>,
    /// How much it is worth, where it says so.
    pub value: Option<u8>,
    /// The summary's text where the frontmatter holds one.
    pub summary: Option<&'a str>,
    /// See [`Note::body_chars`]; `None` where nobody has counted them.
    pub body_chars: Option<usize>,
    /// How many characters its summary has, white space not counted; `None` where nobody has counted.
    summary_chars: Option<usize>,
    /// Whether it has other titles, and whether it stands for other notes.
    pub has_aliases: bool,
    /// See `has_aliases`.
    pub has_compacts: bool,
}

/// A stamp as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Written<'a> {
    /// Seconds since 1970, written in the usual way.
    Seconds(i64),
    Text(&'a str),
}

impl<'a> Written<'a> {
    fn of(stamp: &'a Stamp) -> Self {
        stamp.seconds().map_or(Self::Text(stamp.as_str()), Self::Seconds)
    }

    fn moment(self) -> Option<DateTime> {
        match self {
            Self::Seconds(seconds) => Stamp::moment(seconds),
            Self::Text(text) => Some(Stamp::parse(text)?.at()),
        }
    }

    fn stamp(self) -> Option<Stamp> {
        match self {
            Self::Seconds(seconds) => Stamp::from_seconds(seconds),
            Self::Text(text) => Stamp::parse(text),
        }
    }
}

/// What ties a note to others, borrowed from where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ties<'a> {
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
    lists: Vec<Vec<Target<'a>>>,
}

/// The links of a note, borrowed from where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links<'a> {
    /// The type and the target of each link of the frontmatter, as written.
    #[serde(borrow)]
    pub typed: Vec<(&'a str, &'a str)>,
    /// The links in its body.
    #[serde(borrow)]
    pub inline: Vec<Target<'a>>,
}

/// A link in a body: see [`InlineLink`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target<'a> {
    /// The target of a link in double brackets.
    Wiki(&'a str),
    /// The path of a markdown link.
    Path(&'a str),
}

/// What only a note that is shown needs.
#[derive(Serialize, Deserialize)]
struct Rest {
    verified: Option<bool>,
    sources: Vec<Source>,
    custom: Vec<(String, Value)>,
    unknown: Vec<(String, Value)>,
    findings: Vec<(String, Option<usize>, String)>,
    is_cut: bool,
}

impl<'a> Head<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            id: note.id.as_str(),
            title: &note.title,
            kind: &note.kind,
            created: note.created.as_ref().map(Written::of),
            updated: note.updated.as_ref().map(Written::of),
            day: note.date.map(|date| (date.year(), date.month(), date.day())),
            value: note.value,
            summary: note.summary_field(),
            body_chars: note.body_chars.get().copied(),
            summary_chars: None,
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
        self.updated.or(self.created)?.moment()
    }

    /// Returns the day on which the note was made, as it is written.
    pub fn created_day(&self) -> Option<Date> {
        match self.created? {
            Written::Text(text) => text.get(..10)?.parse().ok(),
            seconds => Some(seconds.moment()?.date()),
        }
    }

    /// Returns the moment at which the note was made.
    pub fn created(&self) -> Option<DateTime> {
        self.created?.moment()
    }

    /// Returns a number of characters that the summary has at least, white space not counted.
    pub fn least_summary_chars(&self) -> usize {
        self.summary_chars.or_else(|| self.summary.map(shown_chars)).unwrap_or_default()
    }
}

impl<'a> Ties<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            tags: texts(&note.tags),
            aliases: texts(&note.aliases),
            compacts: texts(&note.compacts),
            lists: Vec::new(),
        }
    }
}

impl<'a> Links<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            typed: note.links.iter().map(|link| (link.kind.as_str(), link.target.as_str())).collect(),
            inline: note.inline_links().iter().map(Target::of).collect(),
        }
    }
}

fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

impl<'a> Target<'a> {
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

/// Writes down what is to be kept of a note, its links and the length of its body included.
pub fn keep(note: &Note) -> Vec<u8> {
    note.body_chars();
    let lists = if note.is_moc() { note.ordered_lists() } else { Vec::new() };
    let lists = lists.iter().map(|list| list.iter().map(Target::of).collect()).collect();
    let ties = Ties { lists, ..Ties::of(note) };
    let rest = Rest {
        verified: note.verified,
        sources: note.sources.clone(),
        custom: note.custom.clone(),
        unknown: note.unknown.clone(),
        findings: note.findings.iter().map(|f| (f.code.to_owned(), f.line, f.message.clone())).collect(),
        is_cut: note.is_cut,
    };
    let head = Head { summary_chars: note.summary().map(shown_chars), ..Head::of(note) };
    // Writing into memory can't fail; were it to, what is kept could not be read and would be read again.
    let head = postcard::to_allocvec(&head).unwrap_or_default();
    let links = postcard::to_allocvec(&Links::of(note)).unwrap_or_default();
    let ties = postcard::to_allocvec(&ties).unwrap_or_default();
    let rest = postcard::to_allocvec(&rest).unwrap_or_default();
    let parts: [&[u8]; 4] = [&head, &links, &ties, &rest];
    postcard::to_allocvec(&parts).unwrap_or_default()
}

impl Kept {
    /// Takes notes that were kept: one behind the other, and where each ends.
    pub fn new(bytes: Vec<u8>, ends: Vec<u64>, files: Arc<dyn Files>) -> Self {
        Self { bytes, ends, files }
    }

    /// Returns the bytes of a note; none where there is no such place.
    fn note(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(place).copied());
        let range = range.and_then(|(start, end)| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }
}

impl KeptNote {
    /// Names one of the notes that were kept.
    pub fn new(kept: &Arc<Kept>, place: usize) -> Self {
        Self { kept: Arc::clone(kept), place }
    }

    /// Reads its file.
    pub(super) fn read_file(&self, path: &str) -> Option<Vec<u8>> {
        self.kept.files.read(path)
    }

    pub(super) fn head(&self) -> Head<'_> {
        self.part(0)
    }

    pub(super) fn links(&self) -> Links<'_> {
        self.part(1)
    }

    pub(super) fn ties(&self) -> Ties<'_> {
        self.part(2)
    }

    /// Reads one of the parts.
    fn part<'a, T: Default + Deserialize<'a>>(&'a self, number: usize) -> T {
        let part = self.parts().and_then(|parts| postcard::from_bytes(parts[number]).ok());
        part.unwrap_or_else(|| {
            self.kept.files.tell_broken();
            T::default()
        })
    }

    fn parts(&self) -> Option<[&[u8]; 4]> {
        postcard::from_bytes(self.kept.note(self.place)).ok()
    }

    /// Returns the ordered lists of a map of content.
    pub(super) fn lists(&self) -> Vec<Vec<InlineLink>> {
        let links = |list: &Vec<Target<'_>>| list.iter().map(|link| link.to_link()).collect();
        self.ties().lists.iter().map(links).collect()
    }

    /// Makes everything that a note says of itself; `None` where this can't be what was kept.
    pub(super) fn meta(&self) -> Option<Meta> {
        let meta = self.read_meta();
        if meta.is_none() {
            self.kept.files.tell_broken();
        }
        meta
    }

    fn read_meta(&self) -> Option<Meta> {
        let [head, links, ties, rest] = self.parts()?;
        let head: Head<'_> = postcard::from_bytes(head).ok()?;
        let links: Links<'_> = postcard::from_bytes(links).ok()?;
        let ties: Ties<'_> = postcard::from_bytes(ties).ok()?;
        let rest: Rest = postcard::from_bytes(rest).ok()?;
        let stamp = |stamp: Option<Written<'_>>| stamp.map_or(Some(None), |stamp| stamp.stamp().map(Some));
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        let finding =
            |(code, line, message): (String, _, _)| Some(Finding { code: finding_code(&code)?, line, message });
        let link = |(kind, target): &(&str, &str)| TypedLink { kind: (*kind).to_owned(), target: (*target).to_owned() };
        Some(Meta {
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
            body_chars: head.body_chars.map_or_else(OnceLock::new, OnceLock::from),
        })
    }
}
