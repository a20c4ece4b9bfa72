//! The fields of a record, in six column groups by how often they are read; borrowed from a note or a chunk.

use jiff::civil::{Date, DateTime};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::calendar::parse_day;
use crate::note::{
    CODE, ContentSource, DEFAULT_VALUE, Diagnostic, DiagnosticCode, EncodedTarget, FoldedName, InlineLink, JOURNAL,
    Note, NoteId, SUPERSEDED_BY, SUPERSEDES, Timestamp, UserFields, Value, Verification, importance, shown_chars,
};

/// Facts about a note that are kept in memory, since every answer asks for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PackedFlags", into = "PackedFlags")]
pub(crate) struct NoteFlags {
    /// 0 to 100.
    pub(crate) value: u8,
    /// The hash of the title as a [`FoldedName`].
    pub(crate) title_hash: u16,
    /// Whether the note is used as a map of content.
    pub(crate) is_moc: bool,
    /// Whether the note is of the type that belongs to a day.
    pub(crate) is_journal: bool,
    /// Whether its title or file name is a date.
    pub(in crate::store) is_named_by_day: bool,
    /// Whether the note has other titles.
    pub(crate) has_aliases: bool,
    /// Whether the note replaces others in answers.
    pub(crate) has_compacts: bool,
    /// Whether its status has an effect, it has a day from which it is due, or a merge left a conflict in it.
    pub(in crate::store) has_lifecycle: bool,
    /// Whether it has a link that says which note replaces which.
    pub(crate) has_succession: bool,
    /// Whether it has the field `code`.
    pub(crate) has_code: bool,
    /// Whether its type, a tag or a folder marks it as a decision, and as a warning.
    pub(crate) is_decision: bool,
    pub(crate) is_warning: bool,
}

/// The value, the flags as bits, and the hash of the title; the lower byte of both first.
type PackedFlags = (u8, [u8; 2], [u8; 2]);

impl From<NoteFlags> for PackedFlags {
    fn from(flags: NoteFlags) -> Self {
        let bits = [
            flags.is_moc, flags.is_journal, flags.has_aliases, flags.has_compacts, flags.has_lifecycle,
            flags.has_succession, flags.has_code, flags.is_named_by_day, flags.is_decision, flags.is_warning,
        ];
        let packed = bits.iter().zip(0..).fold(0, |packed, (bit, place)| packed | u16::from(*bit) << place);
        (flags.value, packed.to_le_bytes(), flags.title_hash.to_le_bytes())
    }
}

impl From<PackedFlags> for NoteFlags {
    fn from((value, packed, title_hash): PackedFlags) -> Self {
        let packed = u16::from_le_bytes(packed);
        let bit = |place: u8| packed >> place & 1 == 1;
        Self {
            value,
            title_hash: u16::from_le_bytes(title_hash),
            is_moc: bit(0),
            is_journal: bit(1),
            has_aliases: bit(2),
            has_compacts: bit(3),
            has_lifecycle: bit(4),
            has_succession: bit(5),
            has_code: bit(6),
            is_named_by_day: bit(7),
            is_decision: bit(8),
            is_warning: bit(9),
        }
    }
}

/// The first column group: what every command reads of every note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct KeyFields<'a> {
    pub(crate) flags: NoteFlags,
    /// The id; `None` if the path of the file gives it.
    pub(crate) id: Option<&'a str>,
}

/// The second column group: what is read of each note that an answer names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityFields<'a> {
    /// The title.
    pub title: &'a str,
    pub(crate) value: Option<u8>,
    /// See [`Note::body_chars`]; `None` if the note was not read from an index.
    pub body_chars: Option<usize>,
    /// The characters of its summary, white space not counted; `None` if they were not counted.
    pub summary_chars: Option<usize>,
}

/// The third column group: the fields that lists, filters and sort orders read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListFields<'a> {
    /// The type.
    pub kind: &'a str,
    #[serde(borrow)]
    pub(crate) created: Option<EncodedTimestamp<'a>>,
    #[serde(borrow)]
    pub(crate) updated: Option<EncodedTimestamp<'a>>,
    /// The day of a journal, if a field names it: year, month, day.
    pub(crate) day: Option<(i16, i8, i8)>,
    /// The text of the field `summary`.
    #[serde(borrow)]
    pub summary: Option<&'a str>,
}

/// A timestamp as an index stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
            Self::Text(text) => Some(Timestamp::parse(text)?.utc),
        }
    }

    fn to_timestamp(self) -> Option<Timestamp> {
        match self {
            Self::Seconds(seconds) => Timestamp::from_seconds(seconds),
            Self::Text(text) => Timestamp::parse(text),
        }
    }
}

/// The fourth column group: the links of a note.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFields<'a> {
    /// The type and the target of each link of the frontmatter, as written.
    #[serde(borrow)]
    pub typed: Vec<(&'a str, &'a str)>,
    /// The links in its body, in the order of the text.
    #[serde(borrow)]
    pub inline: Vec<EncodedTarget<'a>>,
}

/// The fifth column group: what else relates a note to others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationFields<'a> {
    /// Tags as written, each once.
    #[serde(borrow)]
    pub tags: Vec<&'a str>,
    /// Other titles.
    #[serde(borrow)]
    pub aliases: Vec<&'a str>,
    /// The notes that this digest replaces in answers, as written.
    #[serde(borrow)]
    pub compacts: Vec<&'a str>,
    /// The ordered lists of a map of content, each as the first links of its items. Empty unless from an index.
    #[serde(borrow)]
    pub(super) lists: Vec<Vec<EncodedTarget<'a>>>,
}

/// The last column group, decoded: what is read only of notes that are shown in full.
#[derive(Debug, Clone, Deserialize)]
pub(in crate::store) struct ColdFields {
    pub(crate) verified: Option<bool>,
    pub(crate) verifications: Vec<Verification>,
    pub(crate) sources: Vec<ContentSource>,
    custom: Vec<(String, Value)>,
    unknown: Vec<(String, Value)>,
    #[serde(deserialize_with = "known_findings")]
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) is_cut: bool,
}

/// Deserialises diagnostics; one with an unknown code is an error.
fn known_findings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Diagnostic>, D::Error> {
    let stored: Vec<(String, Option<usize>, String)> = Vec::deserialize(deserializer)?;
    let finding = |(code, line, message): (String, _, _)| {
        Some(Diagnostic { code: DiagnosticCode::from_name(&code)?, line, message })
    };
    let known: Option<Vec<_>> = stored.into_iter().map(finding).collect();
    known.ok_or_else(|| D::Error::custom("an unknown code"))
}

impl NoteFlags {
    pub(crate) fn of(note: &Note) -> Self {
        Self {
            value: note.value.unwrap_or(DEFAULT_VALUE),
            title_hash: FoldedName::of(&note.title).hash,
            is_moc: note.is_moc(),
            is_journal: note.kind == JOURNAL,
            is_named_by_day: parse_day(&note.title).is_some() || parse_day(crate::note::stem(&note.path)).is_some(),
            has_aliases: !note.aliases.is_empty(),
            has_compacts: !note.compacts.is_empty(),
            has_lifecycle: note.extra_fields().has_lifecycle() || note.has_conflict(),
            is_decision: importance::is_decision(note),
            is_warning: importance::is_warning(note),
            has_code: note.unknown.iter().any(|(key, value)| key == CODE && !value.is_null()),
            has_succession: note.links.iter().any(|link| [SUPERSEDES, SUPERSEDED_BY].contains(&link.kind.as_str())),
        }
    }
}

impl<'a> KeyFields<'a> {
    /// Borrows the column group from a parsed note.
    pub(crate) fn of(note: &'a Note) -> Self {
        let id = Some(note.id.as_str()).filter(|_| NoteId::from_path(&note.path) != note.id);
        Self { flags: NoteFlags::of(note), id }
    }

    /// Returns the id of the note with this path; `None` if the stored id is not valid.
    pub(crate) fn id_at(&self, path: &str) -> Option<NoteId> {
        self.id.map_or_else(|| Some(NoteId::from_path(path)), NoteId::parse)
    }
}

impl<'a> IdentityFields<'a> {
    /// Borrows the column group from a parsed note. No characters are counted but those of the field `summary`.
    pub(crate) fn of(note: &'a Note) -> Self {
        Self {
            title: &note.title,
            value: note.value,
            body_chars: None,
            summary_chars: note.summary_field.as_deref().map(shown_chars),
        }
    }
}

impl<'a> ListFields<'a> {
    pub(crate) fn of(note: &'a Note) -> Self {
        Self {
            kind: &note.kind,
            created: note.created.as_ref().map(EncodedTimestamp::of),
            updated: note.updated.as_ref().map(EncodedTimestamp::of),
            day: note.date.map(|date| (date.year(), date.month(), date.day())),
            summary: note.summary_field.as_deref(),
        }
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

impl<'a> RelationFields<'a> {
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
    /// Borrows the fields from a parsed note as those of a record.
    pub(super) fn of(note: &Note) -> impl Serialize {
        let Note { verified, verifications, sources, custom, unknown, findings, is_cut, .. } = note;
        (verified, verifications, sources, custom, unknown, findings, is_cut)
    }

    pub(crate) fn extra_fields(&self) -> UserFields<'_> {
        UserFields { unknown: &self.unknown, custom: &self.custom }
    }
}
