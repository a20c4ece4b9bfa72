//! Stores to measure on: any number of notes that look like notes, the same on every machine.
//!
//! A store is made once and kept in the machine's folder for temporary files.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::random::Random;
use crate::words::Vocabulary;

/// Counted up whenever other text comes out, so that no older store is taken for a new one.
const VERSION: u32 = 1;
const SEED: u64 = 0x7169_7075;
/// The number of notes for each map of content.
const NOTES_PER_MAP: usize = 100;
/// The most notes that a store has without folders below `notes`, and the number of notes in each folder of a larger one.
const MAX_FLAT_NOTES: usize = 100_000;
const NOTES_PER_FOLDER: usize = 1_000;
/// The bytes of frontmatter and body together that a note is written towards.
const NOTE_BYTES: (usize, usize) = (900, 1_900);

const KINDS: [&str; 5] = ["permanent", "permanent", "literature", "fleeting", "decision"];
const LINK_TYPES: [&str; 6] = ["related", "supports", "derived-from", "part-of", "follows", "refines"];
const TAGS: &str = "\
    storage linux rust parsing testing performance network security design decision database search build release \
    docs agents memory concurrency errors formats cli unicode caching deployment monitoring api research team \
    tooling history";

/// A generated store.
pub(crate) struct Store {
    /// The folder that holds `.qipu/`.
    pub(crate) dir: PathBuf,
    /// The number of notes that are no maps.
    pub(crate) notes: usize,
    /// A note like any other.
    pub(crate) sample_id: String,
}

impl Store {
    /// Returns the store with a number of notes, and generates it unless it exists.
    pub(crate) fn of_size(notes: usize) -> Result<Self> {
        let parent = std::env::temp_dir().join(format!("qipu-bench-{VERSION}"));
        let dir = parent.join(notes.to_string());
        let mut random = Random::new(SEED);
        let ids = ids(&mut random, notes + notes.div_ceil(NOTES_PER_MAP));
        if !dir.is_dir() {
            fs::create_dir_all(&parent).with_context(|| format!("can't make {}", parent.display()))?;
            Generator::new(random, &ids, notes).write_store(&parent, &dir)?;
        }
        Ok(Self { dir, notes, sample_id: ids[notes / 2].clone() })
    }

    /// Returns the folder that the index is in.
    pub(crate) fn cache(&self) -> PathBuf {
        self.notes_dir().join("cache")
    }

    /// Removes the index, if there is one.
    pub(crate) fn remove_cache(&self) {
        let _ = fs::remove_dir_all(self.cache());
    }

    /// Returns the files of a number of notes, spread evenly over the store.
    pub(crate) fn some_notes(&self, count: usize) -> Result<Vec<PathBuf>> {
        let mut paths = files_below(&self.notes_dir().join("notes"))?;
        paths.sort();
        let step = paths.len() / count.max(1);
        Ok(paths.into_iter().step_by(step.max(1)).take(count).collect())
    }

    /// Returns the folder that holds the notes' folders.
    pub(crate) fn notes_dir(&self) -> PathBuf {
        self.dir.join(".qipu")
    }
}

/// Lists the files below a folder, in no order.
fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { files.extend(files_below(&entry.path())?) } else { files.push(entry.path()) }
    }
    Ok(files)
}

/// Returns ids as qipu makes them: eight letters and digits, one digit at least.
fn ids(random: &mut Random, count: usize) -> Vec<String> {
    let alphabet = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut taken = HashSet::new();
    let mut ids = Vec::with_capacity(count);
    while ids.len() < count {
        let tail: String = (0..8).map(|_| char::from(alphabet[random.below(alphabet.len())])).collect();
        if tail.contains(|c: char| c.is_ascii_digit()) && taken.insert(tail.clone()) {
            ids.push(format!("qp-{tail}"));
        }
    }
    ids
}

/// Writes notes. The ids of the maps stand behind those of the other notes.
struct Generator<'a> {
    random: Random,
    vocabulary: Vocabulary,
    tags: Vec<&'static str>,
    ids: &'a [String],
    notes: usize,
}

impl<'a> Generator<'a> {
    fn new(mut random: Random, ids: &'a [String], notes: usize) -> Self {
        let vocabulary = Vocabulary::new(&mut random);
        Self { random, vocabulary, tags: TAGS.split(' ').collect(), ids, notes }
    }

    /// Writes all notes beside their place and moves them there when they are complete.
    fn write_store(mut self, parent: &Path, dir: &Path) -> Result<()> {
        let unfinished = tempfile::tempdir_in(parent)?;
        let store = unfinished.path().join(".qipu");
        for folder in ["notes", "mocs"] {
            fs::create_dir_all(store.join(folder))?;
        }
        let ids = self.ids;
        for (number, id) in ids.iter().enumerate() {
            let is_map = number >= self.notes;
            let title = self.title();
            let text = self.note(id, &title, is_map);
            let name = format!("{id}-{}.md", title.to_lowercase().replace(": ", "-").replace(' ', "-"));
            let mut folder = store.join(if is_map { "mocs" } else { "notes" });
            if self.notes > MAX_FLAT_NOTES {
                folder.push(format!("{:04}", number % self.notes / NOTES_PER_FOLDER));
                fs::create_dir_all(&folder)?;
            }
            fs::write(folder.join(name), text)?;
        }
        fs::rename(unfinished.path(), dir).with_context(|| format!("can't move a store to {}", dir.display()))?;
        let _ = unfinished.keep();
        Ok(())
    }

    fn note(&mut self, id: &str, title: &str, is_map: bool) -> String {
        let mut text = format!("---\nid: {id}\n");
        self.push_frontmatter(&mut text, title, is_map);
        text.push_str("---\n");
        push_line(&mut text, format_args!("# {title}"));
        if is_map {
            self.push_map(&mut text);
        } else {
            self.push_body(&mut text);
        }
        text
    }

    fn push_frontmatter(&mut self, text: &mut String, title: &str, is_map: bool) {
        let quote = if title.contains(": ") { "\"" } else { "" };
        push_line(text, format_args!("title: {quote}{title}{quote}"));
        push_line(text, format_args!("type: {}", if is_map { "moc" } else { self.random.choice(&KINDS) }));
        let mut stamps = [self.stamp(), self.stamp()];
        stamps.sort();
        push_line(text, format_args!("created: {}\nupdated: {}", stamps[0], stamps[1]));
        self.push_tags(text);
        push_line(text, format_args!("value: {}", self.random.between(10, 100)));
        if self.random.chance(50) {
            let words = self.random.between(8, 20);
            push_line(text, format_args!("summary: {}", self.sentence(words)));
        }
        if self.random.chance(20) {
            self.push_sources(text);
        }
        let links = self.random.below(4);
        if links > 0 {
            text.push_str("links:\n");
        }
        for _ in 0..links {
            let kind = self.random.choice(&LINK_TYPES);
            push_line(text, format_args!("  - type: {kind}\n    id: {}", self.other_id()));
        }
    }

    fn push_tags(&mut self, text: &mut String) {
        let count = self.random.between(1, 4);
        let mut tags: Vec<&str> = (0..count).map(|_| self.random.choice(&self.tags)).collect();
        tags.sort_unstable();
        tags.dedup();
        if self.random.chance(50) {
            push_line(text, format_args!("tags: [{}]", tags.join(", ")));
        } else {
            push_line(text, format_args!("tags:\n  - {}", tags.join("\n  - ")));
        }
    }

    fn push_sources(&mut self, text: &mut String) {
        text.push_str("sources:\n");
        for _ in 0..self.random.between(1, 2) {
            let path = format!("{}/{}", self.content_word(), self.content_word());
            let (title, accessed) = (self.sentence(4), self.stamp());
            push_line(
                text,
                format_args!("  - url: https://example.org/{path}\n    title: {title}\n    accessed: {accessed}"),
            );
        }
    }

    /// Writes paragraphs, among them headings, lists and code, and one to four links.
    fn push_body(&mut self, text: &mut String) {
        let mut links = self.random.between(1, 4);
        let end = self.random.between(NOTE_BYTES.0, NOTE_BYTES.1);
        loop {
            text.push('\n');
            match self.random.below(10) {
                0 => self.push_heading(text),
                1 => self.push_list(text),
                2 => self.push_code(text),
                _ => self.push_paragraph(text, &mut links),
            }
            if text.len() >= end {
                break;
            }
        }
        if links > 0 {
            text.push_str("\nSee also");
            (0..links).for_each(|_| text.push_str(&format!(" [[{}]]", self.other_id())));
            text.push_str(".\n");
        }
    }

    /// Writes what a map of content holds: a paragraph and a list of notes.
    fn push_map(&mut self, text: &mut String) {
        text.push('\n');
        self.push_paragraph(text, &mut 0);
        text.push('\n');
        for _ in 0..self.random.between(15, 40) {
            push_line(text, format_args!("- [[{}]]: {}", self.other_id(), self.sentence(6)));
        }
    }

    fn push_heading(&mut self, text: &mut String) {
        push_line(text, format_args!("## {}\n", self.sentence(3).trim_end_matches('.')));
        self.push_paragraph(text, &mut 0);
    }

    fn push_list(&mut self, text: &mut String) {
        for _ in 0..self.random.between(2, 5) {
            let words = self.random.between(4, 10);
            push_line(text, format_args!("- **{}**: {}", self.content_word(), self.sentence(words)));
        }
    }

    fn push_code(&mut self, text: &mut String) {
        text.push_str("```rust\n");
        for _ in 0..self.random.between(1, 4) {
            let (name, call, argument) = (self.content_word(), self.content_word(), self.content_word());
            push_line(text, format_args!("let {name} = {call}(&{argument})?;"));
        }
        text.push_str("```\n");
    }

    /// Writes some sentences; about every second one ends in a link while there are links to write.
    fn push_paragraph(&mut self, text: &mut String, links: &mut usize) {
        let sentences = self.random.between(2, 4);
        for number in 0..sentences {
            let words = self.random.between(7, 16);
            let mut sentence = self.sentence(words);
            if *links > 0 && self.random.chance(50) {
                *links -= 1;
                sentence = format!("{}, see [[{}]].", sentence.trim_end_matches('.'), self.other_id());
            }
            let space = if number == 0 { "" } else { " " };
            text.push_str(&format!("{space}{sentence}"));
        }
        text.push('\n');
    }

    /// Returns some words, the first in upper case, with a full stop; now and then one in code.
    fn sentence(&mut self, words: usize) -> String {
        let mut sentence = capitalized(self.vocabulary.word(&mut self.random));
        for _ in 1..words {
            let mark = if self.random.chance(3) { "`" } else { "" };
            let word = self.vocabulary.word(&mut self.random);
            sentence.push_str(&format!(" {mark}{word}{mark}"));
        }
        sentence.push('.');
        sentence
    }

    /// Returns three to seven words, some with a colon behind the first.
    fn title(&mut self) -> String {
        let mut title = capitalized(&self.content_word());
        if self.random.chance(10) {
            title.push(':');
        }
        for _ in 0..self.random.between(2, 6) {
            title.push(' ');
            title.push_str(self.vocabulary.word(&mut self.random));
        }
        title
    }

    fn content_word(&mut self) -> String {
        self.vocabulary.content_word(&mut self.random).to_owned()
    }

    /// Returns a note to link to; a few of them are linked to often.
    fn other_id(&mut self) -> &'a str {
        let place = self.random.below(self.notes);
        let place = if self.random.chance(20) { place * place / self.notes } else { place };
        &self.ids[place]
    }

    fn stamp(&mut self) -> String {
        let random = &mut self.random;
        let (year, month, day) = (random.between(2022, 2025), random.between(1, 12), random.between(1, 28));
        let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
        format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn push_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}
