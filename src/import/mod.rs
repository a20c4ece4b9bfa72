//! Reads the folders of other note apps as pages, with their titles, properties and references, and composes the note
//! that a page becomes. Pure: texts in, texts out.

mod body;
mod compose;
mod logseq;
mod names;
mod obsidian;
mod paths;

use jiff::civil::Date;
use sha2::{Digest, Sha256};

pub(crate) use body::{ReferenceTarget, TextReference};
pub(crate) use compose::{AddedFields, ComposedNote, Provenance, compose, is_as_written, with_new_checksum};
pub(crate) use names::{ResolvedName, Vault};
pub(crate) use paths::{attachment_path, markdown_path, note_path};

use crate::codec::hex::hex;
use crate::note::properties;
use crate::note::{JOURNAL, Note, Value};
use crate::request::ImportFrom;
use body::ScannedText;
use logseq::LogseqSettings;
use obsidian::ObsidianSettings;

/// Extensions of files that are imported as attachments even if no page links to them.
const MEDIA: [&str; 26] = [
    "3gp", "avif", "bmp", "flac", "gif", "heic", "jpeg", "jpg", "m4a", "mkv", "mov", "mp3", "mp4", "oga", "ogg", "ogv",
    "opus", "pdf", "png", "svg", "tif", "tiff", "wav", "webm", "webp", "epub",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRole {
    Page,
    Attachment,
    /// A file that can't be imported, and the reason as a clause.
    Unsupported(&'static str),
    AppInternal,
}

#[derive(Debug, Clone)]
pub(crate) enum AppSettings {
    Logseq(LogseqSettings),
    Obsidian(ObsidianSettings),
}

impl AppSettings {
    /// Returns the path of the settings file in the folder, if the app has one.
    pub(crate) fn file(from: ImportFrom) -> Option<&'static str> {
        match from {
            ImportFrom::Logseq => Some("logseq/config.edn"),
            ImportFrom::Obsidian => Some(".obsidian/daily-notes.json"),
        }
    }

    /// Parses the settings file; missing settings have the defaults of the app.
    pub(crate) fn parse(from: ImportFrom, text: &str) -> Self {
        match from {
            ImportFrom::Logseq => Self::Logseq(LogseqSettings::parse(text)),
            ImportFrom::Obsidian => Self::Obsidian(ObsidianSettings::parse(text)),
        }
    }

    pub(crate) fn role(&self, path: &str) -> FileRole {
        match self {
            Self::Logseq(settings) => settings.role(path),
            Self::Obsidian(_) => obsidian::role(path),
        }
    }

    /// Tells whether a file is imported even if no page links to it: media and documents; in Logseq all assets.
    pub(crate) fn is_media(&self, path: &str) -> bool {
        let is_asset = matches!(self, Self::Logseq(_)) && path.starts_with("assets/");
        is_asset || MEDIA.contains(&extension(path).as_str())
    }

    /// Returns the page of a file.
    pub(crate) fn page(&self, path: &str, text: &str) -> ImportedPage {
        let file_text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let page = match self {
            Self::Logseq(settings) => settings.page(path, file_text),
            Self::Obsidian(settings) => settings.page(path, file_text),
        };
        page.with_body_scanned()
    }

    /// Returns the path of a file without the folder in which the app puts all files of its kind.
    fn plain_path<'a>(&self, path: &'a str) -> &'a str {
        match self {
            Self::Logseq(settings) => settings.plain_path(path),
            Self::Obsidian(_) => path,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct ImportedPage {
    /// The path of its file in the folder.
    pub(crate) source: String,
    pub(crate) title: String,
    /// Its type, if it has one or is a journal.
    pub(crate) kind: Option<String>,
    pub(crate) day: Option<Date>,
    /// An ISO 8601 timestamp, as `updated`.
    pub(crate) created: Option<String>,
    pub(crate) updated: Option<String>,
    pub(crate) aliases: Vec<String>,
    /// Its tags, including those in the text.
    pub(crate) tags: Vec<String>,
    /// Other properties, in the order of the page: key, value.
    pub(crate) custom: Vec<(String, String)>,
    /// The pages that properties link to: key, page name.
    pub(crate) property_links: Vec<(String, String)>,
    pub(crate) block_id: Option<String>,
    pub(crate) own_id: Option<String>,
    pub(crate) file_text: String,
    /// The text that becomes the note's: with its own frontmatter, without properties that become frontmatter.
    pub(crate) text: String,
    pub(crate) has_frontmatter: bool,
    /// The offset of the body in `text`.
    body_offset: usize,
    pub(crate) scan: ScannedText,
}

impl ImportedPage {
    /// Creates a page with the title given by its file name, and the day it belongs to as a journal.
    fn parse(path: &str, name: &str, day: Option<Date>, text: &str) -> Self {
        let mut page = Self {
            source: path.to_owned(),
            title: to_title(name),
            kind: day.map(|_| JOURNAL.to_owned()),
            day,
            file_text: text.to_owned(),
            text: text.to_owned(),
            ..Self::default()
        };
        page.read_frontmatter();
        page
    }

    pub(crate) fn digest(&self) -> String {
        digest(&self.file_text)
    }

    /// Returns the references and link definitions in its body, or in the text of the whole file.
    pub(crate) fn targets(&self, is_whole_file: bool) -> Vec<TextReference> {
        let scan = if is_whole_file { &body::scan(&self.file_text) } else { &self.scan };
        [scan.references.as_slice(), &scan.definitions].concat()
    }

    pub(crate) fn body(&self) -> &str {
        self.text.get(self.body_offset..).unwrap_or_default()
    }

    /// Scans the body for references and tags.
    fn with_body_scanned(mut self) -> Self {
        if self.has_frontmatter {
            let note = Note::parse("notes/x.md", self.text.clone().into_bytes());
            self.body_offset = self.text.len().saturating_sub(note.body().len());
        }
        self.scan = body::scan(self.body());
        add_new(&mut self.tags, self.scan.tags.iter().cloned());
        self
    }

    fn read_frontmatter(&mut self) {
        let note = Note::parse("notes/x.md", self.text.clone().into_bytes());
        if note.body().len() == self.text.len() {
            return;
        }
        self.has_frontmatter = true;
        let has_finding = |code: &str| note.findings.iter().any(|finding| finding.code.as_str() == code);
        if !has_finding("no-title") {
            self.title = note.title.clone();
        }
        if !has_finding("no-id") && !has_finding("impossible-id") {
            self.own_id = Some(note.id.to_string());
        }
        let unknown = |names: [&str; 2]| {
            let is_named = |(key, _): &&(String, Value)| names.iter().any(|name| key.eq_ignore_ascii_case(name));
            note.unknown.iter().filter(is_named).flat_map(|(_, value)| texts(value)).collect::<Vec<_>>()
        };
        let tags = note.tags.iter().cloned().chain(unknown(["tag", "Tags"]));
        add_new(&mut self.tags, tags.map(|tag| tag.trim_start_matches('#').trim().to_owned()));
        add_new(&mut self.aliases, note.aliases.iter().cloned().chain(unknown(["alias", "Aliases"])));
        for (key, value) in note.unknown.iter().chain(&note.custom) {
            let pages = properties::pages(&value.to_line());
            self.property_links.extend(pages.into_iter().map(|page| (key.clone(), page)));
        }
    }
}

/// Adds the texts that are not empty and not known yet.
fn add_new(known: &mut Vec<String>, texts: impl IntoIterator<Item = String>) {
    for text in texts {
        if !text.is_empty() && !known.contains(&text) {
            known.push(text);
        }
    }
}

/// Returns the items of a list, or the parts of a text between commas.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(|item| item.to_line().trim().to_owned()).collect(),
        other => other.to_line().split(',').map(|text| text.trim().to_owned()).collect(),
    }
}

/// Returns a digest of a text: 15 hex digits of its SHA-256 after an `s`, so that YAML never reads it as a number.
fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digits = hex(digest.get(..8).unwrap_or_default());
    format!("s{}", digits.get(1..).unwrap_or_default())
}

/// Returns the first 64 bits of the SHA-256 of app, folder name and path: the seed of the id of the note for that page.
pub(crate) fn page_hash(from: ImportFrom, name: &str, path: &str) -> u64 {
    let digest = Sha256::digest(format!("{}\0{name}\0{path}", from.name()).as_bytes());
    digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// Returns a text as a title: on one line and in Unicode normal form C, as links spell it.
fn to_title(text: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    let text: String = text.nfc().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = text.trim();
    if text.is_empty() { "Untitled".to_owned() } else { text.to_owned() }
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(name, |(stem, _)| stem)
}

fn without_extension(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(name, _)| name)
}

/// Returns the extension of a file's name, in lower case.
fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}
