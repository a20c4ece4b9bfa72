//! Reads what git says of commits: date, message and changed files, from processes `git diff-tree --stdin`
//! (git-diff-tree(1)), or where the trees are missing, as in a clone without them, from `git cat-file --batch`.

use std::io::{self, BufRead, BufReader, Read};
use std::process::ChildStdout;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::blob_reader::{BLOBS, BlobReader, ReadAnswer, ReaderProtocol, WantedBlob, read_object};
use super::plumbing::Repository;

/// As much of a field as is read, in bytes, and of the paths of a commit.
const MAX_FIELD: u64 = 64 * 1024;
const MAX_PATHS: usize = 1_000;
/// The processes that read many commits side by side, and from how many on they are many.
const MAX_READERS: usize = 4;
const MANY: usize = 2_000;

/// What git says of a commit, as bytes of UTF-8 or not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct CommitRecord {
    /// The author's date, in RFC 3339.
    pub(in crate::store) date: String,
    pub(in crate::store) subject: String,
    /// The message below the subject.
    pub(in crate::store) message: String,
    /// The changed files, at most [`MAX_PATHS`]; none if the trees are missing.
    pub(in crate::store) paths: Vec<String>,
}

/// Reads commits of a repository.
#[derive(Debug, Default)]
pub(in crate::store) struct CommitReader {
    with_paths: OnceLock<Vec<Option<BlobReader>>>,
    /// Reads those that the others can't.
    without_paths: OnceLock<Option<BlobReader>>,
}

/// The name of a commit is followed by a line that git repeats, so that it marks the end of the answer.
const WITH_PATHS: ReaderProtocol = ReaderProtocol {
    args: &[
        "diff-tree",
        "--stdin",
        "--root",
        "--always",
        "-r",
        "-z",
        "--name-status",
        "--no-renames",
        "--no-notes",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
        "-O/dev/null",
        "--encoding=UTF-8",
        "--format=%H%x00%aI%x00%s%x00%b%x00",
    ],
    name_end: "\n.\n",
    read: read_with_paths,
};

const WITHOUT_PATHS: ReaderProtocol = ReaderProtocol { read: read_without_paths, ..BLOBS };

impl CommitReader {
    /// Lets git read commits while others are parsed; they are expected to be read in this order.
    pub(in crate::store) fn announce<'i>(&self, repository: &Repository, ids: impl Iterator<Item = &'i str>) {
        let ids: Vec<&str> = ids.collect();
        // The other half of the processors parse; each reader unpacks most trees again.
        let count = if ids.len() < MANY { 1 } else { (rayon::current_num_threads() / 2).clamp(1, MAX_READERS) };
        let readers = self.readers(repository, count);
        for (place, reader) in readers.iter().enumerate() {
            let own = ids.iter().filter(|id| place_of(id, readers.len()) == place);
            reader.iter().for_each(|reader| reader.announce(own.clone().map(|id| wanted(id))));
        }
    }

    /// Reads a commit by its whole id.
    ///
    /// # Errors
    /// If git can't read it, or has none with that id.
    pub(in crate::store) fn read(&self, repository: &Repository, id: &str) -> io::Result<CommitRecord> {
        let readers = self.readers(repository, 1);
        let (name, limit) = wanted(id);
        let read = |reader: &Option<BlobReader>| reader.as_ref().map(|reader| reader.read(&name, limit));
        if let Some(Ok(bytes)) = readers.get(place_of(id, readers.len())).and_then(read) {
            return Ok(parse_fields(&bytes));
        }
        let reader = self.without_paths.get_or_init(|| BlobReader::new(&repository.root, WITHOUT_PATHS).ok());
        let bytes = read(reader).unwrap_or_else(|| Err(io::Error::other("git can't be started")))?;
        Ok(parse_fields(&bytes))
    }

    fn readers(&self, repository: &Repository, count: usize) -> &[Option<BlobReader>] {
        let start = |_| BlobReader::new(&repository.root, WITH_PATHS).ok();
        self.with_paths.get_or_init(|| (0..count).map(start).collect())
    }
}

fn wanted(id: &str) -> WantedBlob {
    (id.to_owned(), MAX_FIELD)
}

/// Returns which of several readers reads a commit.
fn place_of(id: &str, readers: usize) -> usize {
    id.bytes().next_back().map_or(0, usize::from) % readers.max(1)
}

/// The fields of a commit lie side by side, each ended by a NUL, which is in none of them.
fn parse_fields(bytes: &[u8]) -> CommitRecord {
    let mut fields = bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut next = || fields.next().unwrap_or_default();
    let (date, subject, message) = (next(), next(), next());
    CommitRecord { date, subject, message, paths: fields.filter(|path| !path.is_empty()).collect() }
}

/// Reads up to a NUL, and keeps of it what is short enough, with the NUL.
fn read_field(output: &mut BufReader<ChildStdout>, field: &mut Vec<u8>) -> Option<()> {
    let begin = field.len();
    loop {
        let before = field.len();
        output.by_ref().take(MAX_FIELD).read_until(0, field).ok()?;
        let is_end = field.len() > before && field.last() == Some(&0);
        if field.len() == before {
            return None;
        }
        if field.len() - begin > MAX_FIELD as usize {
            field.truncate(begin + MAX_FIELD as usize);
            if is_end {
                field.push(0);
            }
        }
        if is_end {
            return Some(());
        }
    }
}

/// Reads an answer of `diff-tree`: the fields of the format, then behind a line end pairs of a status and a path, then the
/// line that marks the end.
fn read_with_paths(output: &mut BufReader<ChildStdout>, (id, _): &WantedBlob) -> Option<ReadAnswer> {
    let (mut fields, mut skipped) = (Vec::new(), Vec::new());
    if at_end(output)? {
        return Some(None);
    }
    read_field(output, &mut skipped)?;
    if skipped.strip_suffix(&[0]) != Some(id.as_bytes()) {
        return None;
    }
    for _ in 0..3 {
        read_field(output, &mut fields)?;
    }
    let mut count = 0;
    while !at_end(output)? {
        skipped.clear();
        read_field(output, &mut skipped)?;
        // The NUL and the line end behind the message.
        if matches!(skipped.as_slice(), [0] | [b'\n', 0]) {
            continue;
        }
        skipped.clear();
        let path = if count < MAX_PATHS { &mut fields } else { &mut skipped };
        read_field(output, path)?;
        count += 1;
    }
    Some(Some(fields))
}

/// Reads the line that marks the end of an answer, if that follows: no status begins with its sign.
fn at_end(output: &mut BufReader<ChildStdout>) -> Option<bool> {
    while output.fill_buf().ok()?.first()? == &b'\n' {
        output.consume(1);
    }
    if output.fill_buf().ok()?.first()? != &b'.' {
        return Some(false);
    }
    let mut end = Vec::new();
    output.by_ref().take(2).read_until(b'\n', &mut end).ok()?;
    (end == b".\n").then_some(true)
}

/// Reads a commit as it is stored: lines of fields, an empty line, and the message.
fn read_without_paths(output: &mut BufReader<ChildStdout>, wanted: &WantedBlob) -> Option<ReadAnswer> {
    let Some((_, content)) = read_object(output, wanted)?.filter(|(kind, _)| kind == "commit") else {
        return Some(None);
    };
    let text = String::from_utf8_lossy(&content);
    let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
    let author = head.lines().find_map(|line| line.strip_prefix("author ")).unwrap_or_default();
    let (subject, body) = message.trim_start_matches('\n').split_once("\n\n").unwrap_or((message, ""));
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    let fields = [&date(author).unwrap_or_default(), &subject, body, ""];
    Some(Some(fields.map(|field| field.replace('\0', " ")).join("\0").into_bytes()))
}

/// Returns the date of an author in RFC 3339, from seconds and the offset of the time zone: `A <a@b.c> 1714550400 +0200`.
fn date(author: &str) -> Option<String> {
    let mut words = author.rsplit(' ');
    let (zone, seconds) = (words.next()?, words.next()?.parse().ok()?);
    let minutes: i32 = zone.get(1..3)?.parse::<i32>().ok()? * 60 + zone.get(3..5)?.parse::<i32>().ok()?;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone = TimeZone::fixed(Offset::from_seconds(sign * minutes * 60).ok()?);
    let time = Timestamp::from_second(seconds).ok()?.to_zoned(zone);
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}
