//! The codec of the first three column groups of records. Every command decodes the first one of all notes, so the layout
//! is made for speed: a row is the length of its numbers, the numbers as varints, then all texts, whose UTF-8 is checked at
//! once.

use super::record_fields::{EncodedTimestamp, IdentityFields, LinkFields, ListFields, NoteFlags};
use crate::codec::varint::{self, VarintReader};
use crate::note::{DEFAULT_VALUE, EncodedTarget};

/// The flag bits of an [`IdentityFields`].
const ID: u64 = 1;
const VALUE: u64 = 1 << 1;
const MOC: u64 = 1 << 2;
const JOURNAL: u64 = 1 << 3;
const ALIASES: u64 = 1 << 4;
const COMPACTS: u64 = 1 << 5;
const BODY_CHARS: u64 = 1 << 6;
const SUMMARY_CHARS: u64 = 1 << 7;
const MAY_BE_RETIRED: u64 = 1 << 8;

/// The flag bits of [`ListFields`].
const SUMMARY: u64 = 1;
const CREATED: u64 = 1 << 1;
const CREATED_TEXT: u64 = 1 << 2;
const UPDATED: u64 = 1 << 3;
const UPDATED_TEXT: u64 = 1 << 4;
const DAY: u64 = 1 << 5;

fn bit(is_set: bool, bit: u64) -> u64 {
    if is_set { bit } else { 0 }
}

/// The encoder of a row; reused for many rows.
#[derive(Debug, Default)]
pub(crate) struct RecordWriter {
    numbers: Vec<u8>,
    texts: String,
}

impl RecordWriter {
    fn number(&mut self, number: u64) {
        varint::write(&mut self.numbers, number);
    }

    /// Appends a signed number in zigzag encoding.
    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.texts.push_str(text);
    }

    fn stamp(&mut self, stamp: Option<EncodedTimestamp<'_>>) {
        match stamp {
            Some(EncodedTimestamp::Seconds(seconds)) => self.signed(seconds),
            Some(EncodedTimestamp::Text(text)) => self.text(text),
            None => {}
        }
    }

    /// Appends the row to `bytes` and clears the encoder.
    fn finish(&mut self, bytes: &mut Vec<u8>) {
        varint::write(bytes, self.numbers.len() as u64);
        bytes.extend_from_slice(&self.numbers);
        bytes.extend_from_slice(self.texts.as_bytes());
        self.numbers.clear();
        self.texts.clear();
    }
}

struct RecordReader<'a> {
    numbers: &'a [u8],
    texts: &'a str,
}

impl<'a> RecordReader<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Self { numbers: bytes, texts: "" };
        let length = rest.size()?;
        let (numbers, texts) = rest.numbers.split_at_checked(length)?;
        Some(Self { numbers, texts: std::str::from_utf8(texts).ok()? })
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut rest = VarintReader(self.numbers);
        let number = rest.read_u64();
        self.numbers = rest.0;
        number
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.size()?;
        let (text, rest) = self.texts.split_at_checked(length)?;
        self.texts = rest;
        Some(text)
    }

    /// Decodes an optional value; `None` if it is damaged.
    fn optional<T>(&mut self, is_set: bool, decode: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if is_set { decode(self).map(Some) } else { Some(None) }
    }

    fn stamp(&mut self, is_seconds: bool, is_text: bool) -> Option<Option<EncodedTimestamp<'a>>> {
        match (is_seconds, is_text) {
            (true, _) => Some(Some(EncodedTimestamp::Seconds(self.signed()?))),
            (_, true) => Some(Some(EncodedTimestamp::Text(self.text()?))),
            _ => Some(None),
        }
    }

    fn day(&mut self) -> Option<(i16, i8, i8)> {
        let (year, month, day) = (self.signed()?, self.signed()?, self.signed()?);
        Some((year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?))
    }
}

impl<'a> IdentityFields<'a> {
    pub(crate) fn write(self, row: &mut RecordWriter, bytes: &mut Vec<u8>) {
        let NoteFlags { is_moc, is_journal, has_aliases, has_compacts, may_be_retired, value: _ } = self.flags;
        let bits = bit(self.id.is_some(), ID)
            | bit(self.value.is_some(), VALUE)
            | bit(is_moc, MOC)
            | bit(is_journal, JOURNAL)
            | bit(has_aliases, ALIASES)
            | bit(has_compacts, COMPACTS)
            | bit(self.body_chars.is_some(), BODY_CHARS)
            | bit(self.summary_chars.is_some(), SUMMARY_CHARS)
            | bit(may_be_retired, MAY_BE_RETIRED);
        row.number(bits);
        self.value.into_iter().for_each(|value| row.number(u64::from(value)));
        [self.body_chars, self.summary_chars].into_iter().flatten().for_each(|chars| row.number(chars as u64));
        self.id.into_iter().chain([self.title]).for_each(|text| row.text(text));
        row.finish(bytes);
    }

    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = RecordReader::open(bytes)?;
        let bits = rest.number()?;
        let has = |bit| bits & bit != 0;
        let value = rest.optional(has(VALUE), |rest| u8::try_from(rest.number()?).ok())?;
        let body_chars = rest.optional(has(BODY_CHARS), RecordReader::size)?;
        let summary_chars = rest.optional(has(SUMMARY_CHARS), RecordReader::size)?;
        let flags = NoteFlags {
            value: value.unwrap_or(DEFAULT_VALUE),
            is_moc: has(MOC),
            is_journal: has(JOURNAL),
            has_aliases: has(ALIASES),
            has_compacts: has(COMPACTS),
            may_be_retired: has(MAY_BE_RETIRED),
        };
        Some(Self {
            id: rest.optional(has(ID), RecordReader::text)?,
            title: rest.text()?,
            value,
            flags,
            body_chars,
            summary_chars,
        })
    }
}

impl<'a> ListFields<'a> {
    /// Appends the encoded row to `bytes`, without the fields that are in the [`IdentityFields`].
    pub(crate) fn write(self, row: &mut RecordWriter, bytes: &mut Vec<u8>) {
        let stamp = |stamp, seconds, text| match stamp {
            Some(EncodedTimestamp::Seconds(_)) => seconds,
            Some(EncodedTimestamp::Text(_)) => text,
            None => 0,
        };
        let bits = bit(self.summary.is_some(), SUMMARY)
            | stamp(self.created, CREATED, CREATED_TEXT)
            | stamp(self.updated, UPDATED, UPDATED_TEXT)
            | bit(self.day.is_some(), DAY);
        row.number(bits);
        [self.kind].into_iter().chain(self.summary).for_each(|text| row.text(text));
        row.stamp(self.created);
        row.stamp(self.updated);
        let day = self.day.map(|(year, month, day)| [i64::from(year), i64::from(month), i64::from(day)]);
        day.into_iter().flatten().for_each(|part| row.signed(part));
        row.finish(bytes);
    }

    pub(crate) fn from_bytes(name: IdentityFields<'a>, bytes: &'a [u8]) -> Option<Self> {
        let mut rest = RecordReader::open(bytes)?;
        let bits = rest.number()?;
        let has = |bit| bits & bit != 0;
        Some(Self {
            title: name.title,
            value: name.value,
            has_aliases: name.flags.has_aliases,
            has_compacts: name.flags.has_compacts,
            kind: rest.text()?,
            summary: rest.optional(has(SUMMARY), RecordReader::text)?,
            created: rest.stamp(has(CREATED), has(CREATED_TEXT))?,
            updated: rest.stamp(has(UPDATED), has(UPDATED_TEXT))?,
            day: rest.optional(has(DAY), RecordReader::day)?,
        })
    }
}

impl<'a> LinkFields<'a> {
    pub(crate) fn write(&self, row: &mut RecordWriter, bytes: &mut Vec<u8>) {
        row.number(self.typed.len() as u64);
        for (kind, target) in &self.typed {
            row.text(kind);
            row.text(target);
        }
        for link in &self.inline {
            let (text, is_path) = match *link {
                EncodedTarget::Wiki(text) => (text, false),
                EncodedTarget::Path(text) => (text, true),
            };
            row.number((text.len() as u64) << 1 | u64::from(is_path));
            row.texts.push_str(text);
        }
        row.finish(bytes);
    }

    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = RecordReader::open(bytes)?;
        let count = rest.size()?;
        // A link takes two bytes at least, so that a damaged count can't exhaust memory.
        let mut typed = Vec::with_capacity(count.min(rest.numbers.len()));
        for _ in 0..count {
            typed.push((rest.text()?, rest.text()?));
        }
        let mut inline = Vec::with_capacity(rest.numbers.len());
        while !rest.numbers.is_empty() {
            let number = rest.size()?;
            let (text, others) = rest.texts.split_at_checked(number >> 1)?;
            rest.texts = others;
            inline.push(if number & 1 == 1 { EncodedTarget::Path(text) } else { EncodedTarget::Wiki(text) });
        }
        Some(Self { typed, inline })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut RecordWriter, &mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut RecordWriter::default(), &mut bytes);
        bytes
    }

    fn head() -> ListFields<'static> {
        ListFields {
            title: "Ein Titel für \u{1f600}",
            kind: "moc",
            created: Some(EncodedTimestamp::Seconds(-1)),
            updated: Some(EncodedTimestamp::Text("2025-01-02")),
            day: Some((-1, 2, 3)),
            value: Some(7),
            summary: Some(""),
            has_aliases: true,
            has_compacts: false,
        }
    }

    #[test]
    fn heads_are_read_as_they_were_written() {
        let other = ListFields {
            created: None,
            updated: Some(EncodedTimestamp::Seconds(i64::MIN)),
            summary: Some("x"),
            ..head()
        };
        for head in [head(), other, ListFields::default(), ListFields { has_compacts: true, ..head() }] {
            for id in [Some("qp-1"), None] {
                let ListFields { title, value, has_aliases, has_compacts, .. } = head;
                let flags =
                    NoteFlags { value: head.value_or_default(), has_aliases, has_compacts, ..NoteFlags::default() };
                let flags = NoteFlags { is_moc: has_aliases, is_journal: has_compacts, ..flags };
                let flags = NoteFlags { may_be_retired: has_compacts, ..flags };
                let (body_chars, summary_chars) = (value.map(|_| 300), id.map(|_| 0));
                let name = IdentityFields { id, title, value, flags, body_chars, summary_chars };
                let names = written(|row, bytes| name.write(row, bytes));
                let heads = written(|row, bytes| head.write(row, bytes));
                assert_eq!(
                    (IdentityFields::from_bytes(&names), ListFields::from_bytes(name, &heads)),
                    (Some(name), Some(head))
                );
                (0..names.len())
                    .for_each(|end| assert_ne!(IdentityFields::from_bytes(&names[..end]), Some(name), "{end}"));
                (0..heads.len())
                    .for_each(|end| assert_ne!(ListFields::from_bytes(name, &heads[..end]), Some(head), "{end}"));
            }
        }
    }

    #[test]
    fn links_are_read_as_they_were_written() {
        let inline = vec![EncodedTarget::Wiki("a"), EncodedTarget::Path("../é.md"), EncodedTarget::Wiki("")];
        for links in [LinkFields { typed: vec![("supports", "qp-2"), ("", "ü")], inline }, LinkFields::default()] {
            let bytes = written(|row, bytes| links.write(row, bytes));
            assert_eq!(LinkFields::from_bytes(&bytes), Some(links.clone()));
            (0..bytes.len()).for_each(|end| assert_ne!(LinkFields::from_bytes(&bytes[..end]), Some(links.clone())));
        }
        // Rows that say that they are longer than they are.
        assert_eq!(LinkFields::from_bytes(&[2, 0xff, 0x7f]), None);
        assert_eq!(LinkFields::from_bytes(&[0xff; 12]), None);
    }
}
