//! Decodes an index of three notes by specs/internals/index.md, with a decoder that shares no code with the crate.
//!
//! `fixtures/index/notes.index` is the index of the notes in `fixtures/index/.qipu`. When the version of the format
//! changes, `QIPU_UPDATE_INDEX=1 cargo test --test all index_format::` writes it again.

use std::fs;
use std::path::Path;

use crate::support::files::{rebuild_index, temp_dir};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const BLOCK: usize = 4096;

/// Reads values from the beginning of bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.take(1)[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        unreachable!()
    }

    fn zigzag(&mut self) -> i64 {
        let value = self.varint();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    fn text(&mut self) -> String {
        let len = self.varint() as usize;
        String::from_utf8(self.take(len).to_vec()).unwrap()
    }

    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.varint()).map(|_| element(self)).collect()
    }

    fn optional<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.varint() == 1).then(|| value(self))
    }

    fn column(&mut self, count: u64) -> Vec<u64> {
        let width = usize::from(self.take(1)[0]);
        assert!((1..=4).contains(&width));
        let integer = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        self.take(count as usize * width).chunks(width).map(integer).collect()
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }
}

/// Reads bits, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Bits<'_> {
    fn read(&mut self, count: u32) -> u64 {
        let bit = |index: usize| u64::from(self.bytes[index / 8] >> (index % 8) & 1);
        let value = (0..count).map(|index| bit(self.offset + index as usize) << index).sum();
        self.offset += count as usize;
        value
    }

    fn selector_code(&mut self) -> u64 {
        const WIDTHS: [u32; 8] = [3, 5, 7, 9, 11, 13, 15, 32];
        const FIRST: [u64; 8] = [0, 8, 40, 168, 680, 2728, 10_920, 43_688];
        let selector = self.read(3) as usize;
        FIRST[selector] + self.read(WIDTHS[selector])
    }

    fn list(&mut self) -> Vec<usize> {
        (0..self.selector_code()).map(|_| self.selector_code() as usize).collect()
    }

    fn rice(&mut self, low_bits: u32) -> u64 {
        let mut quotient = 0;
        while self.read(1) == 1 {
            quotient += 1;
            if quotient == 32 {
                return self.read(32);
            }
        }
        quotient << low_bits | self.read(low_bits)
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}

fn decompress(bytes: &[u8]) -> Vec<u8> {
    let mut rest = Bytes(bytes);
    let len = rest.u32();
    if len == u32::MAX {
        return rest.0.to_vec();
    }
    let mut out: Vec<u8> = Vec::new();
    let extended = |rest: &mut Bytes<'_>, nibble: u8| {
        let mut len = usize::from(nibble);
        let mut last = if nibble == 15 { 255 } else { 0 };
        while last == 255 {
            last = rest.take(1)[0];
            len += usize::from(last);
        }
        len
    };
    loop {
        let token = rest.take(1)[0];
        let literals = extended(&mut rest, token >> 4);
        out.extend(rest.take(literals));
        if rest.0.is_empty() {
            assert_eq!(out.len(), len as usize);
            return out;
        }
        let distance = usize::from(u16::from_le_bytes(rest.take(2).try_into().unwrap()));
        for _ in 0..extended(&mut rest, token & 15) + 4 {
            out.push(out[out.len() - distance]);
        }
    }
}

/// Returns the sections of a container, after checking its checksums.
fn sections(file: &[u8]) -> Vec<Vec<u8>> {
    let magic_len = file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (magic, end) = (&file[..magic_len], file.len() - magic_len);
    assert_eq!(&file[end..], magic);
    let footer_start = u64::from_le_bytes(file[end - 12..end - 4].try_into().unwrap()) as usize;
    let footer = &file[footer_start..end - 12];
    assert_eq!(crc32(footer).to_le_bytes(), file[end - 4..end]);
    let mut footer = Bytes(footer);
    let ranges = footer.list(|rest| rest.varint() as usize..rest.varint() as usize);
    let block_crcs = footer.list(|rest| rest.varint() as u32);
    assert_eq!(file[..footer_start].chunks(BLOCK).map(crc32).collect::<Vec<_>>(), block_crcs);
    assert!(footer.0.is_empty() && ranges.iter().all(|range| range.start % BLOCK == 0));
    ranges.into_iter().map(|range| file[range].to_vec()).collect()
}

/// The frequencies of a term in a document: body, title, tags, headings, and whether it is a whole tag.
type Freqs = [u64; 5];

#[derive(Debug, PartialEq)]
struct Term {
    text: String,
    is_stop: bool,
    notes: u64,
    paragraphs: u64,
    postings: Vec<(u64, Freqs)>,
}

#[derive(Debug, PartialEq)]
struct Document {
    path: String,
    size: u64,
    id: Option<String>,
    title: String,
    kind: String,
    /// The type and the target of its typed links, and the targets of its inline links.
    links: Vec<String>,
    tags: Vec<String>,
    body_len: u64,
    title_len: u64,
    has_time: bool,
    /// The words of title, tags, headings, summary and body, and the lengths of the paragraphs.
    forward: [Vec<String>; 5],
    paragraphs: Vec<usize>,
}

#[derive(Debug, PartialEq)]
struct Decoded {
    key: String,
    counts: Vec<u64>,
    documents: Vec<Document>,
    terms: Vec<Term>,
}

/// Splits the chunks of a section, and decompresses them.
fn chunks<'a>(section: &mut Bytes<'a>, lens: &[u64]) -> Vec<Vec<u8>> {
    lens.iter().map(|len| decompress(section.take(*len as usize))).collect()
}

/// Returns the records of a chunk.
fn records(chunk: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = Bytes(chunk);
    let lens = rest.list(Bytes::varint);
    lens.into_iter().map(|len| rest.take(len as usize).to_vec()).collect()
}

fn id(record: &[u8]) -> Option<String> {
    let mut rest = Bytes(record);
    let _flags = rest.take(5);
    rest.optional(Bytes::text)
}

fn links(record: &[u8]) -> Vec<String> {
    let mut rest = Bytes(record);
    let mut links = rest.list(|rest| format!("{} {}", rest.text(), rest.text()));
    links.extend(rest.list(|rest| (rest.varint(), rest.text()).1));
    links
}

fn postings(list: &[u8], notes: u64, documents: u64) -> Vec<(u64, Freqs)> {
    let low_bits = (11 * (documents - notes) / (16 * notes)).max(1).ilog2().min(31);
    let (mut bits, mut next) = (Bits { bytes: list, offset: 0 }, 0);
    let posting = |_| {
        let doc = next + bits.rice(low_bits);
        next = doc + 1;
        if bits.read(1) == 0 {
            return (doc, [1, 0, 0, 0, 0]);
        }
        let packed = [3, 1, 1, 1, 1].map(|width| bits.read(width));
        let is_long = packed.iter().all(|freq| *freq == 0);
        (doc, if is_long { [32, 8, 8, 8, 8].map(|width| bits.read(width)) } else { packed })
    };
    (0..notes).map(posting).collect()
}

fn decode(file: &[u8]) -> Decoded {
    let sections = sections(file);
    assert_eq!(sections.len(), 12);
    let header = decompress(&sections[0]);
    let mut header = Bytes(&header);
    let (_begun, _tick, key) = (header.zigzag(), header.zigzag(), header.text());
    let file_chunks = header.list(Bytes::varint);
    let record_chunks: [Vec<u64>; 6] = std::array::from_fn(|_| header.list(Bytes::varint));

    let mut files = Vec::new();
    for chunk in chunks(&mut Bytes(&sections[1]), &file_chunks) {
        let mut rest = Bytes(&chunk);
        let suffixes = rest.text();
        let mut suffixes = Bytes(suffixes.as_bytes());
        let lens = rest.list(|rest| (rest.varint() as usize, rest.varint() as usize));
        let sizes = rest.list(|rest| (rest.varint(), rest.zigzag(), rest.zigzag(), rest.varint()).0);
        let mut path = Vec::new();
        for ((shared, own), size) in lens.into_iter().zip(sizes) {
            path.truncate(shared);
            path.extend(suffixes.take(own));
            files.push((String::from_utf8(path.clone()).unwrap(), size));
        }
    }

    let mut columns = Bytes(&sections[2]);
    let groups: Vec<Vec<Vec<u8>>> = (0..6)
        .map(|group| chunks(&mut columns, &record_chunks[group]).iter().flat_map(|chunk| records(chunk)).collect())
        .collect();

    let mut rest = Bytes(&sections[3]);
    let counts: Vec<u64> = (0..8).map(|_| rest.varint()).collect();
    let (documents, mut forward, mut lists) = (counts[2], Bytes(&sections[10]), Bytes(&sections[11]));

    let suffixes = decompress(&sections[6]);
    let (mut rest, mut suffixes, mut text) = (Bytes(&sections[5]), Bytes(&suffixes), Vec::new());
    let mut terms = Vec::new();
    let numbers: [Vec<u64>; 3] = std::array::from_fn(|_| rest.column(counts[0]));
    let lengths: [Vec<u64>; 2] = std::array::from_fn(|_| suffixes.column(counts[0]));
    assert!(rest.0.is_empty());
    for term in 0..counts[0] as usize {
        let [notes, paragraphs, list_len] = std::array::from_fn(|column| numbers[column][term]);
        let [shared, own] = std::array::from_fn(|column| lengths[column][term]);
        text.truncate(shared as usize);
        text.extend(suffixes.take(own as usize));
        let (list, is_stop, notes) = (lists.take(list_len as usize), notes & 1 == 1, notes >> 1);
        let postings = if is_stop { Vec::new() } else { postings(list, notes, documents) };
        terms.push(Term { text: String::from_utf8(text.clone()).unwrap(), is_stop, notes, paragraphs, postings });
    }

    let (rows, texts) = (decompress(&sections[8]), decompress(&sections[9]));
    let (mut rows, mut texts) = (Bytes(&rows), Bytes(&texts));
    let mut words = Vec::new();
    for term in Bytes(&sections[7]).column(counts[1]) {
        assert_eq!(terms[term as usize >> 1].is_stop, term & 1 == 1);
        let (term, kind) = (&terms[term as usize >> 1].text, rows.varint() & 3);
        let len = if kind == 2 { rows.varint() as usize } else { 0 };
        let own = String::from_utf8(texts.take(len).to_vec()).unwrap();
        words.push(if kind == 2 { own } else { term.clone() });
    }

    let norms = decompress(&sections[4]);
    let mut norms = Bytes(&norms);
    let document = |(position, (path, size)): (usize, (String, u64))| {
        let (forward_len, body, title_len) = (norms.varint(), norms.varint(), norms.varint());
        let mut bits = Bits { bytes: forward.take(forward_len as usize), offset: 0 };
        let lists: [Vec<usize>; 6] = std::array::from_fn(|_| bits.list());
        let [title, tags, headings, paragraphs, summary, text] = lists;
        let (mut tag_words, mut rest) = (Vec::new(), tags.as_slice());
        while let Some((count, others)) = rest.split_first() {
            tag_words.extend(&others[..*count]);
            rest = &others[*count..];
        }
        let spelled = |ids: &Vec<usize>| ids.iter().map(|id| words[*id].clone()).collect();
        Document {
            path,
            size,
            id: id(&groups[0][position]),
            title: Bytes(&groups[1][position]).text(),
            kind: Bytes(&groups[2][position]).text(),
            links: links(&groups[3][position]),
            tags: Bytes(&groups[4][position]).list(Bytes::text),
            body_len: body >> 5,
            title_len,
            has_time: body & 1 == 1,
            forward: [&title, &tag_words, &headings, &summary, &text].map(spelled),
            paragraphs,
        }
    };
    let documents: Vec<Document> = files.into_iter().enumerate().map(document).collect();
    assert!(norms.0.is_empty() && forward.0.is_empty() && lists.0.is_empty());
    assert_eq!((terms.len() as u64, words.len() as u64, documents.len() as u64), (counts[0], counts[1], counts[2]));
    Decoded { key, counts, documents, terms }
}

/// Returns the bytes of a new index of the notes of the fixture.
fn new_index() -> Vec<u8> {
    let dir = temp_dir();
    let notes = dir.path().join(".qipu/notes");
    fs::create_dir_all(&notes).unwrap();
    for entry in fs::read_dir(Path::new(ROOT).join("fixtures/index/.qipu/notes")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), notes.join(entry.file_name())).unwrap();
    }
    rebuild_index(dir.path());
    fs::read(dir.path().join(".qipu/cache/notes.index")).unwrap()
}

fn stored_index() -> Vec<u8> {
    let path = Path::new(ROOT).join("fixtures/index/notes.index");
    if std::env::var_os("QIPU_UPDATE_INDEX").is_some() {
        fs::write(&path, new_index()).unwrap();
    }
    fs::read(path).unwrap()
}

#[test]
fn the_index_of_three_notes_is_decoded_by_its_page() {
    let Decoded { key, counts, documents, terms } = decode(&stored_index());
    assert_eq!((key.as_str(), counts[2]), ("english 5", 3));
    let paths: Vec<&str> = documents.iter().map(|document| document.path.as_str()).collect();
    assert_eq!(paths, ["notes/qp-0000000a.md", "notes/qp-0000000b.md", "notes/wal.md"]);
    let [fsync, rename, wal] = &documents[..] else { panic!("{documents:?}") };
    assert_eq!((fsync.id.as_deref(), fsync.title.as_str(), fsync.kind.as_str()), (None, "Calling fsync", "permanent"));
    assert_eq!((wal.id.as_deref(), &wal.tags), (Some("log"), &vec!["storage".to_owned(), "write ahead".to_owned()]));
    assert_eq!(rename.links, ["supports qp-0000000a", "log"]);
    assert_eq!(rename.forward[0], ["atomic", "rename"]);
    assert_eq!(rename.forward[2], ["crash", "safety"]);
    assert_eq!(wal.forward[1], ["storage", "write", "ahead"]);
    assert_eq!((wal.has_time, fsync.has_time), (true, false));
    assert_eq!(fsync.paragraphs.iter().sum::<usize>(), fsync.forward[4].len());
    let fsync_term = terms.iter().find(|term| term.text == "fsync").unwrap();
    assert_eq!((fsync_term.notes, fsync_term.paragraphs, fsync_term.is_stop), (2, 3, false));
    assert_eq!(fsync_term.postings, [(0, [9, 1, 0, 0, 0]), (1, [1, 0, 0, 0, 0])]);
    let storage = terms.iter().find(|term| term.text == "storag").unwrap();
    assert_eq!(storage.postings, [(2, [0, 0, 1, 0, 1])]);
    assert!(terms.iter().any(|term| term.is_stop && term.text == " the"));
    assert!(terms.is_sorted_by(|a, b| a.text < b.text));
}

#[test]
fn the_program_writes_the_index_of_the_page() {
    assert_eq!(decode(&new_index()), decode(&stored_index()));
}
