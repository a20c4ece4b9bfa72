//! Folders of other note apps as pages: what a page is called, what it says of itself, what it
//! refers to; and the note that it becomes. Pure: texts in, texts out.

mod body;
mod compose;
mod dates;
mod logseq;
mod names;
mod obsidian;
mod paths;
mod properties;

use jiff::civil::Date;
use sha2::{Digest, Sha256};

pub use body::{ReferenceTarget, TextReference};
pub use compose::{AddedFields, ComposedNote, Provenance, compose, is_as_written};
pub use names::{ResolvedName, Vault};
pub use paths::{attachment_path, markdown_path, note_path};

use crate::note::{JOURNAL, Note};
use crate::request::ImportFrom;
use body::ScannedText;

/// Endings of files that people put beside their notes.
const MEDIA: [&str; 26] = [
    "3gp", "avif", "bmp", "flac", "gif", "heic", "jpeg", "jpg", "m4a", "mkv", "mov", "mp3", "mp4", "oga", "ogg", "ogv",
    "opus", "pdf", "png", "svg", "tif", "tiff", "wav", "webm", "webp", "epub",
];

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// It is a page, which becomes a note.
    Page,
    /// It is kept as it is, among the attachments.
    Attachment,
    /// It can't be carried over, and why.
    Left(&'static str),
    /// It is the app's own.
    Own,
}

/// What an app is told about the folder, as far as it matters here.
#[derive(Debug, Clone)]
pub struct AppSettings(SettingsOfApp);

#[derive(Debug, Clone)]
enum SettingsOfApp {
    Logseq(logseq::LogseqSettings),
    Obsidian(obsidian::ObsidianSettings),
}

impl AppSettings {
    /// Returns the file in the folder that holds them.
    pub fn file(from: ImportFrom) -> &'static str {
        match from {
            ImportFrom::Logseq => "logseq/config.edn",
            ImportFrom::Obsidian => ".obsidian/daily-notes.json",
        }
    }

    /// Reads them. What they don't say is as the app has it on its first day.
    pub fn read(from: ImportFrom, text: &str) -> Self {
        Self(match from {
            ImportFrom::Logseq => SettingsOfApp::Logseq(logseq::LogseqSettings::read(text)),
            ImportFrom::Obsidian => SettingsOfApp::Obsidian(obsidian::ObsidianSettings::read(text)),
        })
    }

    /// Says what becomes of a file, by its path in the folder.
    pub fn role(&self, path: &str) -> FileRole {
        match &self.0 {
            SettingsOfApp::Logseq(settings) => settings.role(path),
            SettingsOfApp::Obsidian(_) => obsidian::role(path),
        }
    }

    /// Tells whether a file is an attachment whether or not a page links to it: pictures, sound, films and
    /// documents; in Logseq, what lies among the assets.
    pub fn is_media(&self, path: &str) -> bool {
        let is_asset = matches!(&self.0, SettingsOfApp::Logseq(_)) && path.starts_with("assets/");
        is_asset || MEDIA.contains(&ending(path).as_str())
    }

    /// Reads a page; `text` is its file's.
    pub fn page(&self, path: &str, text: &str) -> ImportedPage {
        let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
        let page = match &self.0 {
            SettingsOfApp::Logseq(settings) => settings.page(path, whole),
            SettingsOfApp::Obsidian(settings) => settings.page(path, whole),
        };
        page.read_body()
    }

    /// Returns the path of a page's file as it would be in a store, without the folder of the store and
    /// without what the app puts all pages in.
    fn plain_path<'a>(&self, path: &'a str) -> &'a str {
        match &self.0 {
            SettingsOfApp::Logseq(settings) => settings.plain_path(path),
            SettingsOfApp::Obsidian(_) => path,
        }
    }
}

/// A page, and what it says.
#[derive(Debug, Default)]
pub struct ImportedPage {
    /// Its file's path in the folder.
    pub source: String,
    /// Its title.
    pub title: String,
    /// Its type, where it says so or is a journal.
    pub kind: Option<String>,
    /// The day it belongs to.
    pub day: Option<Date>,
    /// When it was made.
    pub created: Option<String>,
    /// When it was changed.
    pub updated: Option<String>,
    /// Other titles.
    pub aliases: Vec<String>,
    /// Tags, those in the text included.
    pub tags: Vec<String>,
    /// Other properties, in their order.
    pub custom: Vec<(String, String)>,
    /// Pages that properties name, each with the property's name.
    pub property_links: Vec<(String, String)>,
    /// The id of the whole page among the ids of blocks.
    pub block: Option<String>,
    /// The id that its own frontmatter gives it.
    pub own_id: Option<String>,
    /// What the file says.
    pub whole: String,
    /// What becomes the note's text: without properties that become frontmatter; with frontmatter of its own.
    pub text: String,
    /// Whether that begins with frontmatter of its own.
    pub has_frontmatter: bool,
    /// Where the text below frontmatter of its own begins.
    body_start: usize,
    scan: ScannedText,
}

impl ImportedPage {
    /// Reads a page with the title that its file's name says, and the day that it belongs to as a journal.
    fn read(path: &str, name: &str, day: Option<Date>, text: &str) -> Self {
        let mut page = Self {
            source: path.to_owned(),
            title: titled(name),
            kind: day.map(|_| JOURNAL.to_owned()),
            day,
            whole: text.to_owned(),
            text: text.to_owned(),
            ..Self::default()
        };
        page.read_frontmatter();
        page
    }

    /// Returns a sum of what the file says.
    pub fn digest(&self) -> String {
        digest(&self.whole)
    }

    /// Returns what its text refers to.
    pub fn references(&self) -> &[TextReference] {
        &self.scan.references
    }

    /// Returns what stands for other places in its text, definitions included; or in all that its file says.
    pub fn targets(&self, is_whole: bool) -> Vec<TextReference> {
        if is_whole { body::scan(&self.whole).targets() } else { self.scan.targets() }
    }

    /// Returns its text without fields of its own.
    pub fn body(&self) -> &str {
        self.text.get(self.body_start..).unwrap_or_default()
    }

    /// Returns how many queries it holds.
    pub fn queries(&self) -> usize {
        self.scan.queries
    }

    /// Returns where the text below its own frontmatter begins.
    fn find_body(&self) -> usize {
        if !self.has_frontmatter {
            return 0;
        }
        let note = Note::parse("notes/x.md", self.text.clone().into_bytes());
        self.text.len().saturating_sub(note.body().len())
    }

    fn read_body(mut self) -> Self {
        self.body_start = self.find_body();
        self.scan = body::scan(self.body());
        for tag in &self.scan.tags {
            if !self.tags.contains(tag) {
                self.tags.push(tag.clone());
            }
        }
        self
    }

    /// Takes what frontmatter of its own says.
    fn read_frontmatter(&mut self) {
        let note = Note::parse("notes/x.md", self.text.clone().into_bytes());
        let said = note.body().len() < self.text.len();
        if !said {
            return;
        }
        self.has_frontmatter = true;
        let lacks = |code: &str| note.findings.iter().any(|finding| finding.code == code);
        if !lacks("no-title") {
            self.title = note.title.clone();
        }
        if !lacks("no-id") && !lacks("impossible-id") {
            self.own_id = Some(note.id.to_string());
        }
        let unknown = |names: [&str; 2]| {
            let has =
                |(key, _): &&(String, crate::note::Value)| names.iter().any(|name| key.eq_ignore_ascii_case(name));
            let found = note.unknown.iter().filter(has).flat_map(|(_, value)| texts(value));
            found.collect::<Vec<_>>()
        };
        let is_new = |have: &[String], text: &String| !text.is_empty() && !have.contains(text);
        for tag in note.tags.iter().cloned().chain(unknown(["tag", "Tags"])) {
            let tag = tag.trim_start_matches('#').trim().to_owned();
            if is_new(&self.tags, &tag) {
                self.tags.push(tag);
            }
        }
        for alias in note.aliases.iter().cloned().chain(unknown(["alias", "Aliases"])) {
            if is_new(&self.aliases, &alias) {
                self.aliases.push(alias);
            }
        }
        for (key, value) in note.unknown.iter().chain(&note.custom) {
            let pages = properties::pages(&value.to_line());
            self.property_links.extend(pages.into_iter().map(|page| (key.clone(), page)));
        }
    }
}

/// Returns the texts that a value holds: a list's, or those of a text with commas between.
fn texts(value: &crate::note::Value) -> Vec<String> {
    match value {
        crate::note::Value::List(items) => items.iter().map(|item| item.to_line().trim().to_owned()).collect(),
        other => other.to_line().split(',').map(|text| text.trim().to_owned()).collect(),
    }
}

/// Returns a short sum of a text that never reads as a number.
fn digest(text: &str) -> String {
    let sum = Sha256::digest(text.as_bytes());
    let hex: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("s{}", hex.get(1..).unwrap_or_default())
}

/// Returns a number that stands for a page: the same for the same page of the same folder.
pub fn page_hash(from: ImportFrom, name: &str, path: &str) -> u64 {
    let sum = Sha256::digest(format!("{}\0{name}\0{path}", from.name()).as_bytes());
    sum.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns a text that can be a title: on one line, composed as links write it.
fn titled(text: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    let text: String = text.nfc().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = text.trim();
    if text.is_empty() { "Untitled".to_owned() } else { text.to_owned() }
}

/// Returns the name of a file without its ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(name, |(stem, _)| stem)
}

/// Returns the ending of a file's name, in small letters.
fn ending(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default()
}
