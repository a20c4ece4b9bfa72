//! The codec of the first three column groups. Every command decodes the first one of all notes, so rows are made for
//! speed: the length of the numbers, the numbers as varints, then all texts, whose UTF-8 is checked at once.

use std::array;

use super::record_fields::{EncodedTimestamp, IdentityFields, LinkFields, ListFields, NoteFlags};
use crate::codec::varint::{self, VarintReader};
use crate::note::{DEFAULT_VALUE, EncodedTarget};

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

    /// Appends flags as one number, the first flag in the lowest bit.
    fn flags<const N: usize>(&mut self, flags: [bool; N]) {
        self.number(flags.into_iter().rev().fold(0, |bits, flag| bits << 1 | u64::from(flag)));
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

    fn flags<const N: usize>(&mut self) -> Option<[bool; N]> {
        let bits = self.number()?;
        Some(array::from_fn(|flag| bits >> flag & 1 == 1))
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
        let NoteFlags {
            is_moc,
            is_journal,
            has_aliases,
            has_compacts,
            has_lifecycle,
            has_succession,
            has_code,
            value: _,
        } = self.flags;
        row.flags([
            self.id.is_some(),
            self.value.is_some(),
            is_moc,
            is_journal,
            has_aliases,
            has_compacts,
            self.body_chars.is_some(),
            self.summary_chars.is_some(),
            has_lifecycle,
            has_succession,
            has_code,
        ]);
        self.value.into_iter().for_each(|value| row.number(u64::from(value)));
        [self.body_chars, self.summary_chars].into_iter().flatten().for_each(|chars| row.number(chars as u64));
        self.id.into_iter().chain([self.title]).for_each(|text| row.text(text));
        row.finish(bytes);
    }

    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = RecordReader::open(bytes)?;
        let [
            has_id,
            has_value,
            is_moc,
            is_journal,
            has_aliases,
            has_compacts,
            has_body,
            has_summary,
            has_lifecycle,
            has_succession,
            has_code,
        ] = rest.flags()?;
        let value = rest.optional(has_value, |rest| u8::try_from(rest.number()?).ok())?;
        let body_chars = rest.optional(has_body, RecordReader::size)?;
        let summary_chars = rest.optional(has_summary, RecordReader::size)?;
        let (id, title) = (rest.optional(has_id, RecordReader::text)?, rest.text()?);
        let value_or_default = value.unwrap_or(DEFAULT_VALUE);
        let flags = NoteFlags {
            value: value_or_default,
            is_moc,
            is_journal,
            has_aliases,
            has_compacts,
            has_lifecycle,
            has_succession,
            has_code,
        };
        Some(Self { id, title, value, flags, body_chars, summary_chars })
    }
}

impl<'a> ListFields<'a> {
    pub(crate) fn write(self, row: &mut RecordWriter, bytes: &mut Vec<u8>) {
        let is_seconds = |stamp| matches!(stamp, Some(EncodedTimestamp::Seconds(_)));
        let is_text = |stamp| matches!(stamp, Some(EncodedTimestamp::Text(_)));
        row.flags([
            self.summary.is_some(),
            is_seconds(self.created),
            is_text(self.created),
            is_seconds(self.updated),
            is_text(self.updated),
            self.day.is_some(),
        ]);
        [self.kind].into_iter().chain(self.summary).for_each(|text| row.text(text));
        row.stamp(self.created);
        row.stamp(self.updated);
        let day = self.day.map(|(year, month, day)| [i64::from(year), i64::from(month), i64::from(day)]);
        day.into_iter().flatten().for_each(|part| row.signed(part));
        row.finish(bytes);
    }

    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = RecordReader::open(bytes)?;
        let [has_summary, created_seconds, created_text, updated_seconds, updated_text, has_day] = rest.flags()?;
        Some(Self {
            kind: rest.text()?,
            summary: rest.optional(has_summary, RecordReader::text)?,
            created: rest.stamp(created_seconds, created_text)?,
            updated: rest.stamp(updated_seconds, updated_text)?,
            day: rest.optional(has_day, RecordReader::day)?,
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
    use std::fmt::Debug;

    use super::*;

    fn written(write: impl FnOnce(&mut RecordWriter, &mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut RecordWriter::default(), &mut bytes);
        bytes
    }

    /// Expects that a row is read as `fields`, and no beginning of it.
    fn expect_read<'a, T: Debug + PartialEq>(fields: &T, row: &'a [u8], read: fn(&'a [u8]) -> Option<T>) {
        assert_eq!(read(row).as_ref(), Some(fields));
        (0..row.len()).for_each(|end| assert_ne!(read(&row[..end]).as_ref(), Some(fields), "{end}"));
    }

    #[test]
    fn fields_are_read_as_they_were_written() {
        let title = "Ein Titel für \u{1f600}";
        let none = NoteFlags { value: DEFAULT_VALUE, ..NoteFlags::default() };
        let some = NoteFlags { value: 7, is_moc: true, has_aliases: true, ..none };
        let all = NoteFlags {
            is_journal: true,
            has_compacts: true,
            has_lifecycle: true,
            has_succession: true,
            has_code: true,
            ..some
        };
        for (title, value, flags) in [(title, Some(7), some), (title, Some(7), all), ("", None, none)] {
            for id in [Some("qp-1"), None] {
                let (body_chars, summary_chars) = (value.map(|_| 300), id.map(|_| 0));
                let fields = IdentityFields { id, title, value, flags, body_chars, summary_chars };
                let row = written(|row, bytes| fields.write(row, bytes));
                expect_read(&fields, &row, IdentityFields::from_bytes);
            }
        }
        let updated = Some(EncodedTimestamp::Text("2025-01-02"));
        let created = Some(EncodedTimestamp::Seconds(-1));
        let first = ListFields { kind: "moc", created, updated, day: Some((-1, 2, 3)), summary: Some("") };
        let updated = Some(EncodedTimestamp::Seconds(i64::MIN));
        for fields in [first, ListFields { created: None, updated, summary: Some("x"), ..first }, ListFields::default()]
        {
            let row = written(|row, bytes| fields.write(row, bytes));
            expect_read(&fields, &row, ListFields::from_bytes);
        }
        let inline = vec![EncodedTarget::Wiki("a"), EncodedTarget::Path("../é.md"), EncodedTarget::Wiki("")];
        for links in [LinkFields { typed: vec![("supports", "qp-2"), ("", "ü")], inline }, LinkFields::default()] {
            expect_read(&links, &written(|row, bytes| links.write(row, bytes)), LinkFields::from_bytes);
        }
        // Rows that say that they are longer than they are.
        assert_eq!(LinkFields::from_bytes(&[2, 0xff, 0x7f]), None);
        assert_eq!(LinkFields::from_bytes(&[0xff; 12]), None);
    }
}
