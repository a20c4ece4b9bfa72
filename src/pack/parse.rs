//! Parses the text of a pack: all of it, or an error with the line.
//!
//! Each line is parsed, formatted again and compared: a line that differs from what qipu writes is rejected. No memory
//! is allocated for what a pack only claims to contain.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::write::{
    LINE_BYTES, attachment_line, data_line, end_line, head_line, link_line, note_line, prefix, source_line,
};
use super::{MAGIC, Pack, PackedFile, PackedLink, PackedNote, path};
use crate::note::{ContentSource, NoteId};

/// The reason why a text is no pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackError {
    /// The line, from 1.
    pub line: usize,
    /// The reason, as a clause.
    pub reason: String,
}

impl PackError {
    fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}

/// Parses a pack.
///
/// # Errors
/// The first invalid line; the last line if the checksum does not match.
pub fn parse(bytes: &[u8]) -> Result<Pack, PackError> {
    let text = text_before_checksum(bytes)?;
    let mut lines = PackLines { rest: text.strip_suffix('\n').unwrap_or(text).split('\n').peekable(), line_number: 0 };
    let (store, notes, attachments) =
        lines.parsed("H", head, |(store, notes, attachments)| head_line(store, *notes, *attachments))?;
    let mut pack = Pack { store, ..Pack::default() };
    let mut paths = Vec::new();
    while lines.next_is("N ") {
        paths.push(lines.line_number + 1);
        let note = lines.note(pack.notes.last())?;
        pack.notes.push(note);
    }
    while lines.next_is("A ") {
        paths.push(lines.line_number + 1);
        let file = lines.attachment(&pack.store, pack.attachments.last())?;
        pack.attachments.push(file);
    }
    if let Some(line) = lines.rest.next() {
        let letter = line.split(' ').next().unwrap_or_default();
        return Err(PackError::new(lines.line_number + 1, format!("unexpected `{letter}` line")));
    }
    let (note_count, attachment_count) = (pack.notes.len(), pack.attachments.len());
    if (note_count, attachment_count) != (notes, attachments) {
        let counts = format!("{note_count} notes and {attachment_count} attachments");
        return Err(PackError::new(1, format!("the pack contains {counts}, which is not what this line says")));
    }
    let files = pack.notes.iter().map(|note| &note.file).chain(&pack.attachments).map(|file| file.path.as_str());
    match path::clash(files.zip(paths).collect()) {
        Some((path, line)) => {
            Err(PackError::new(line, format!("the path `{path}` clashes with another file of the pack")))
        }
        None => Ok(pack),
    }
}

/// Checks the last line and returns the text before it.
fn text_before_checksum(bytes: &[u8]) -> Result<&str, PackError> {
    if !bytes.starts_with(MAGIC.as_bytes()) {
        return Err(PackError::new(1, "this is not a qipu pack"));
    }
    if !bytes.starts_with(format!("{MAGIC}1 ").as_bytes()) {
        return Err(PackError::new(1, "this version of the pack format is not supported"));
    }
    let last = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let truncated = || PackError::new(last, "the pack ends here, before its END line: it was truncated");
    let whole = bytes.strip_suffix(b"\n").ok_or_else(truncated)?;
    let start = whole.iter().rposition(|byte| *byte == b'\n').ok_or_else(truncated)? + 1;
    let (before, end) = whole.split_at_checked(start).ok_or_else(truncated)?;
    // `END` alone is accepted: it ends a pack without a checksum.
    let is_bare = end == b"END";
    if !is_bare && !end.starts_with(b"END ") {
        return Err(truncated());
    }
    if !is_bare && end != end_line(before).as_bytes() {
        return Err(PackError::new(last, "the checksum does not match: the pack was truncated or altered"));
    }
    std::str::from_utf8(before).map_err(|error| {
        let before = before.iter().take(error.valid_up_to());
        PackError::new(before.filter(|byte| **byte == b'\n').count() + 1, "it is not UTF-8")
    })
}

fn head(fields: &mut LineFields<'_>) -> Option<(String, usize, usize)> {
    let store = fields.value_after("qipu=1 pack=1 store=")?;
    let notes = fields.value_after(" notes=")?.parse().ok()?;
    Some((store, notes, fields.value_after(" attachments=")?.parse().ok()?))
}

fn note(fields: &mut LineFields<'_>) -> Option<PackedNote> {
    let id = fields.id()?;
    let kind = fields.value_after(" ")?;
    let title = fields.value_after(" ")?;
    fields.skip(" tags=")?;
    let tags = fields.tags()?;
    let file = PackedFile { path: fields.value_after(" path=")?, bytes: Vec::new() };
    Some(PackedNote { id, kind, title, tags, sources: Vec::new(), links: Vec::new(), file })
}

fn source(fields: &mut LineFields<'_>) -> Option<(NoteId, ContentSource)> {
    let id = fields.id()?;
    let url = fields.value_after(" url=")?;
    let (title, accessed) = (fields.value_after(" title="), fields.value_after(" accessed="));
    Some((id, ContentSource { url, title, accessed }))
}

fn link(fields: &mut LineFields<'_>) -> Option<(NoteId, PackedLink)> {
    let from = fields.id()?;
    fields.skip(" ")?;
    let to = fields.id()?;
    let kind = fields.value_after(" type=")?;
    let is_inline = fields.value_after(" inline=")?.parse().ok()?;
    Some((from, PackedLink { to, kind, is_inline }))
}

/// The remaining lines of a pack, and the number of the last one that was read, from 1.
struct PackLines<'a> {
    rest: std::iter::Peekable<std::str::Split<'a, char>>,
    line_number: usize,
}

impl<'a> PackLines<'a> {
    fn next(&mut self, wanted: &str) -> Result<&'a str, PackError> {
        self.line_number += 1;
        self.rest.next().ok_or_else(|| self.error(format!("`{wanted}` is missing before this line")))
    }

    fn next_is(&mut self, beginning: &str) -> bool {
        self.rest.peek().is_some_and(|line| line.starts_with(beginning))
    }

    /// Parses the next line, and rejects it unless `format` restores it exactly.
    fn parsed<T>(
        &mut self,
        letter: &str,
        parse: impl FnOnce(&mut LineFields<'_>) -> Option<T>,
        format: impl FnOnce(&T) -> String,
    ) -> Result<T, PackError> {
        let line = self.next(letter)?;
        let mut fields = LineFields { rest: line };
        let found = fields.skip(letter).and_then(|()| fields.skip(" ")).and_then(|()| parse(&mut fields));
        let found = found.filter(|value| fields.rest.is_empty() && format(value) == line);
        found.ok_or_else(|| self.invalid_line(letter))
    }

    /// Parses a note; its id must be greater than that of the note before.
    fn note(&mut self, before: Option<&PackedNote>) -> Result<PackedNote, PackError> {
        let mut packed = self.parsed("N", note, note_line)?;
        if let Some(fault) = path::path_fault(&packed.file.path, true) {
            return Err(self.error(format!("the path `{}` {fault}", packed.file.path)));
        }
        if before.is_some_and(|before| before.id >= packed.id) {
            return Err(self.error(format!("the id `{}` is repeated or out of order", packed.id)));
        }
        while self.next_is("S ") {
            let (id, source) = self.parsed("S", source, |(id, source)| source_line(id, source))?;
            self.expect_same_note(&id, &packed.id)?;
            packed.sources.push(source);
        }
        while self.next_is("L ") {
            let (from, link) = self.parsed("L", link, |(from, link)| link_line(from, link))?;
            self.expect_same_note(&from, &packed.id)?;
            packed.links.push(link);
        }
        packed.file.bytes = self.data('C')?;
        Ok(packed)
    }

    /// Parses an attachment; its path must be greater than that of the attachment before.
    fn attachment(&mut self, store: &str, before: Option<&PackedFile>) -> Result<PackedFile, PackError> {
        let inside = |fields: &mut LineFields<'_>| {
            let path = fields.value()?;
            fields.rest = "";
            Some(PackedFile { path: path.strip_prefix(prefix(store))?.to_owned(), bytes: Vec::new() })
        };
        let mut file = self.parsed("A", inside, |file| attachment_line(store, file))?;
        if let Some(fault) = path::path_fault(&file.path, false) {
            return Err(self.error(format!("the path `{}` {fault}", file.path)));
        }
        if before.is_some_and(|before| before.path >= file.path) {
            return Err(self.error(format!("the path `{}` is repeated or out of order", file.path)));
        }
        file.bytes = self.data('D')?;
        Ok(file)
    }

    fn data(&mut self, letter: char) -> Result<Vec<u8>, PackError> {
        let end = format!("{letter}-END");
        let mut bytes = Vec::new();
        let mut is_last = false;
        loop {
            let line = self.next(&end)?;
            if line == end {
                return Ok(bytes);
            }
            let chunk = line.strip_prefix(letter).and_then(|rest| STANDARD.decode(rest.strip_prefix(' ')?).ok());
            let is_valid =
                |chunk: &Vec<u8>| (1..=LINE_BYTES).contains(&chunk.len()) && data_line(letter, chunk) == line;
            let chunk = chunk.filter(|chunk| !is_last && is_valid(chunk)).ok_or_else(|| self.invalid_line(letter))?;
            is_last = chunk.len() < LINE_BYTES;
            bytes.extend(chunk);
        }
    }

    fn expect_same_note(&self, id: &NoteId, wanted: &NoteId) -> Result<(), PackError> {
        let other = || self.error(format!("this line is about `{id}`, but follows the note `{wanted}`"));
        (id == wanted).then_some(()).ok_or_else(other)
    }

    fn invalid_line(&self, letter: impl fmt::Display) -> PackError {
        self.error(format!("this is not a valid `{letter}` line"))
    }

    /// Returns an error in the line that was read last.
    fn error(&self, reason: String) -> PackError {
        PackError { line: self.line_number, reason }
    }
}

struct LineFields<'a> {
    rest: &'a str,
}

impl LineFields<'_> {
    fn skip(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn id(&mut self) -> Option<NoteId> {
        NoteId::parse(&self.value()?)
    }

    /// Parses a value: a JSON string, or the text before the next space or comma.
    fn value(&mut self) -> Option<String> {
        if !self.rest.starts_with('"') {
            let (value, rest) = self.rest.split_at(self.rest.find([' ', ',']).unwrap_or(self.rest.len()));
            self.rest = rest;
            return Some(value.to_owned());
        }
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter();
        let value = values.next()?.ok()?;
        self.rest = self.rest.get(values.byte_offset()..)?;
        Some(value)
    }

    fn value_after(&mut self, text: &str) -> Option<String> {
        self.skip(text)?;
        self.value()
    }

    fn tags(&mut self) -> Option<Vec<String>> {
        if self.rest.starts_with("- ") {
            self.skip("-")?;
            return Some(Vec::new());
        }
        let mut tags = vec![self.value()?];
        while self.skip(",").is_some() {
            tags.push(self.value()?);
        }
        Some(tags)
    }
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use super::*;

    fn id(text: &str) -> NoteId {
        NoteId::parse(text).unwrap()
    }

    fn note(name: &str, path: &str, bytes: &[u8]) -> PackedNote {
        PackedNote {
            id: id(name),
            kind: "odd, type".into(),
            title: "T \"q\"\n\u{2028}END sha256=0".into(),
            tags: vec!["-".into(), "a b".into(), "日本".into(), "x,y".into()],
            sources: vec![
                ContentSource { url: String::new(), title: Some("x".into()), accessed: None },
                ContentSource { url: "https://x.org".into(), title: None, accessed: Some("2025 ?".into()) },
            ],
            links: vec![PackedLink { to: id("b~2"), kind: "a\nb".into(), is_inline: true }],
            file: PackedFile { path: path.into(), bytes: bytes.to_vec() },
        }
    }

    fn pack() -> Pack {
        let bare = PackedNote { tags: Vec::new(), sources: Vec::new(), ..note("b", "notes/b c.md", b"") };
        Pack {
            store: "my store/.qipu/".into(),
            notes: vec![note("a", "notes/a.md", &[0xff; 57]), bare, note("b~2", "mocs/x.md", &[b'\n'; 58])],
            attachments: vec![PackedFile { path: "attachments/a b.PDF".into(), bytes: (0..=255).collect() }],
        }
    }

    fn sealed(text: &str) -> String {
        let (before, _) = text.rsplit_once("END sha256=").unwrap();
        format!("{before}{}\n", end_line(before.as_bytes()))
    }

    #[test]
    fn what_is_written_is_read() {
        for pack in [pack(), Pack { store: "./".into(), ..pack() }, Pack { store: "./".into(), ..Pack::default() }] {
            let text = write(&pack);
            assert!(!text.replace('\n', "").contains(char::is_control));
            assert_eq!(parse(text.as_bytes()), Ok(pack));
        }
    }

    #[test]
    fn an_end_without_a_checksum_is_an_end() {
        let text = write(&pack());
        let (before, _) = text.rsplit_once("END sha256=").unwrap();
        assert_eq!(parse(format!("{before}END\n").as_bytes()), Ok(pack()));
        for cut in ["END", "EN\n", "END x\n", "END \n", ""] {
            assert!(parse(format!("{before}{cut}").as_bytes()).is_err(), "{cut:?}");
        }
        let less = before.replacen("notes=3", "notes=4", 1);
        assert!(parse(format!("{less}END\n").as_bytes()).is_err());
    }

    #[test]
    fn what_is_written_otherwise_is_refused_although_its_checksum_is_right() {
        let text = write(&pack());
        assert_eq!(sealed(&text), text);
        for (old, new, line) in [
            ("notes=3", "notes=4", 1),
            ("notes=3", "notes=03", 1),
            ("notes=3", "notes=99999999999999999999999999", 1),
            ("attachments=1", "attachments=0", 1),
            ("pack=1", "pack=2", 1),
            ("H qipu=1", "H  qipu=1", 1),
            ("N a ", "N b ", 3),
            ("N a ", "N a/ ", 2),
            ("\nN a ", "\n\nN a ", 2),
            ("\nN a ", "\r\nN a ", 1),
            ("path=notes/a.md", "path=notes/../a.md", 2),
            ("path=notes/a.md", "path=\"notes/a.md\"", 2),
            ("path=notes/a.md", "path=notes/a.md more=1", 2),
            ("path=notes/a.md", "path=\"notes/b c.md\"", 8),
            ("path=notes/a.md", "path=\"notes/b c.md/x.md\"", 2),
            ("S a url=\"\"", "S b url=\"\"", 3),
            ("S a url=\"\"", "S a url=", 3),
            ("L a b~2", "L b b~2", 5),
            ("inline=true", "inline=yes", 5),
            ("C ////", "C  ////", 6),
            ("C ////", "C /////", 6),
            ("C ////", "C ////\nC ////", 7),
            ("C-END", "C-EN", 7),
            ("C-END\nN", "C-END\nC-END\nN", 8),
            ("C Cg==", "C Ch==", 16),
            ("D-END\n", "", 24),
            ("D-END", "D-END\nB x", 25),
            ("content_type=application/pdf", "content_type=text/html", 18),
            ("name=\"a b.PDF\"", "name=x", 18),
            ("A \"my store/.qipu/att", "A \"att", 18),
            ("store=\"my store/.qipu/\"", "store=other/", 18),
        ] {
            assert!(text.contains(old), "{old}");
            let broken = parse(sealed(&text.replacen(old, new, 1)).as_bytes()).unwrap_err();
            assert_eq!(broken.line, line, "{old} → {new}: {broken:?}");
        }
    }
}
