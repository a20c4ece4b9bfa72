//! Notes as values: ids, frontmatter, markdown. Pure: no files, no clock.

mod append_section;
mod blocks;
mod changes;
mod code_refs;
mod conflict_markers;
mod destinations;
mod diagnostic;
mod dialect;
pub mod edit;
mod enclosures;
mod folded_name;
mod fragments;
mod frontmatter;
mod headings;
mod id;
pub(crate) mod importance;
mod inline_links;
mod inline_styles;
mod inline_tags;
pub(crate) mod join;
mod journal_dates;
mod language;
mod link_types;
mod list_fields;
mod markdown;
pub mod merge;
mod percent;
mod plain_links;
mod properties;
mod prose;
mod relative_path;
mod revision;
mod shown_chars;
mod source_links;
mod splice;
mod standing;
mod store_head;
mod summary;
mod tasks;
mod timestamp;
mod title;
mod value;
mod verification;
mod verified_edit;
mod yaml;
mod yaml_document;
mod yaml_emitter;
mod yaml_fast_path;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub(crate) use append_section::Section;
pub(crate) use blocks::{Block, BlockKind};
pub use changes::{NoteChange, changes};
pub use code_refs::{CODE, CodeRef, RefOrigin, code_refs_in, code_refs_of, is_project_path, line_text};
pub use conflict_markers::conflict_line;
pub(crate) use destinations::{Destination, destinations, own_sections, relinked};
pub use diagnostic::{Diagnostic, DiagnosticCode};
pub use dialect::Dialect;
pub(crate) use dialect::{COMMIT_ID_LEN, CommitFields, hash_in};
pub(crate) use edit::line_end;
pub(crate) use enclosures::{Enclosures, Surroundings, begins_enclosure};
pub(crate) use folded_name::FoldedName;
pub use fragments::Fragment;
pub(crate) use fragments::{FRAGMENT_SIZES, FragmentSizes, SHORT_FRAGMENT_SIZES, STANDALONE};
pub(crate) use headings::{
    Heading, anchors as heading_anchors, find_fragment as find_heading, fragments as heading_fragments,
    headings as headings_of,
};
pub use id::NoteId;
pub(crate) use id::{COLLECTION_MARK, is_collection_name};
pub use inline_links::{EncodedTarget, InlineLink};
pub(crate) use inline_links::{definitions as link_definitions, file_links};
pub(crate) use inline_styles::{InlineStyle, StyleSet, style_spans};
pub use language::Language;
pub use link_types::{COMPACTS, LinkTypes, RELATED, SUPERSEDED_BY, SUPERSEDES};
pub(crate) use markdown::{is_closed as ends_openly, without_code, without_code_and_comments};
pub(crate) use percent::{percent_decoded_text, percent_encoded};
pub(crate) use relative_path::{join_path, normalize_path, path_like, rebase_path, relative_path};
pub use revision::Revision;
pub(crate) use shown_chars::shown_chars;
pub(crate) use splice::with_spans;
pub use standing::{Retired, STALE_AFTER, Status, UserFields, VALID_UNTIL, is_life_field};
pub(crate) use summary::BodySummary;
pub use summary::SummarySource;
pub use tasks::TaskItem;
pub use timestamp::Timestamp;
pub(crate) use title::MARKDOWN_ENDINGS;
pub use value::Value;
pub use verification::Verification;
pub(crate) use verification::is_human;
pub(crate) use yaml::{YamlNode as YamlKind, parse_long as parse_long_yaml};
pub(crate) use yaml_emitter::quoted as yaml_quoted;

/// The most of a file that is read, in bytes; no text that people write comes near it.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The value of a note that names none.
pub const DEFAULT_VALUE: u8 = 50;
/// The type of a note that is used as a map of content.
pub const MOC: &str = "moc";
/// The type of a note that belongs to a day.
pub const JOURNAL: &str = "journal";
/// The type of a note outside `mocs/` and `journals/` that names none.
pub const DEFAULT_KIND: &str = "fleeting";
/// The types of notes that qipu knows.
pub(crate) const NOTE_KINDS: [&str; 6] = [DEFAULT_KIND, "literature", "permanent", MOC, JOURNAL, "decision"];
/// The folders of a store that contain notes.
pub const NOTE_FOLDERS: [&str; 3] = ["journals", "mocs", "notes"];

/// A parsed note: the fields of its frontmatter, its text, and what had to be tolerated. A pure value: nothing reads a
/// file. What takes a parse of the body is computed at the first call and cached.
#[derive(Debug, Clone)]
pub struct Note {
    /// The note's name in links and on the command line: from the frontmatter, else derived from the path.
    pub id: NoteId,
    /// The file's path in the store, with `/` between names.
    pub path: String,
    /// The title: the field, else the first level-1 heading, else the name of the file or folder made readable.
    pub title: String,
    /// The type (`permanent`, `moc`, …).
    pub kind: String,
    /// When the note was created.
    pub created: Option<Timestamp>,
    /// When its content last changed: the field `updated`, else the entry `at` of `generated`.
    pub updated: Option<Timestamp>,
    /// The day of a journal, if a field names it.
    pub date: Option<Date>,
    /// Tags as written, each once.
    pub tags: Vec<String>,
    /// The value of the note, 0 to 100, if a field gives it.
    pub value: Option<u8>,
    /// Whether a person has checked the note, if a field says so.
    pub verified: Option<bool>,
    /// Who has checked the note, and when; if there are any, `verified` is true.
    pub verifications: Vec<Verification>,
    /// Where its content comes from.
    pub sources: Vec<ContentSource>,
    /// Links of the frontmatter, as written.
    pub links: Vec<TypedLink>,
    /// Other titles.
    pub aliases: Vec<String>,
    /// The notes that this digest replaces in answers, as written.
    pub compacts: Vec<String>,
    /// The fields under `custom`.
    pub custom: Vec<(String, Value)>,
    /// Top-level fields that qipu does not know.
    pub unknown: Vec<(String, Value)>,
    /// What had to be tolerated.
    pub findings: Vec<Diagnostic>,
    /// Whether only the beginning of an over-long file was read.
    pub is_cut: bool,
    /// The text of the field `summary`.
    pub summary_field: Option<String>,
    dialect: Dialect,
    text: String,
    /// The bytes of `text` that are the body.
    body: Range<usize>,
    body_summary: OnceLock<Option<BodySummary>>,
    inline_links: OnceLock<Vec<InlineLink>>,
    body_chars: OnceLock<usize>,
}

/// Where a note's content comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentSource {
    /// The address; empty when only a title is given.
    pub url: String,
    /// The title.
    pub title: Option<String>,
    /// When it was read, as written.
    pub accessed: Option<String>,
}

/// A link of the frontmatter, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedLink {
    /// The link type.
    pub kind: String,
    /// The id (or title) of the note it leads to.
    pub target: String,
}

/// Returns the entry `at` of the field `generated`, as Open Knowledge Format has it.
fn generated_at(unknown: &[(String, Value)]) -> Option<Timestamp> {
    let (_, value) = unknown.iter().find(|(key, _)| key == "generated")?;
    Timestamp::parse(&value.entry("at")?.to_line())
}

impl Note {
    /// Reads a note. Any bytes give one; `path` is its path in the store. Of a file longer than
    /// [`MAX_BYTES`], only the beginning is read.
    pub fn parse(path: &str, bytes: Vec<u8>) -> Self {
        Self::parse_as(Dialect::Qipu, path, bytes)
    }

    /// Reads a file as a note. Any bytes give one; `path` is its path in the store or in the folder of its source.
    pub fn parse_as(dialect: Dialect, path: &str, mut bytes: Vec<u8>) -> Self {
        let mut findings = Vec::new();
        let is_cut = bytes.len() > MAX_BYTES;
        if is_cut {
            bytes.truncate(MAX_BYTES);
            findings
                .push(Diagnostic::new(DiagnosticCode::TooLong, format!("only the first {MAX_BYTES} bytes are read")));
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            findings.push(Diagnostic::new(
                DiagnosticCode::NotUtf8,
                "some bytes are not UTF-8; they are shown as `\u{fffd}`",
            ));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        find_odd_form(dialect, &text, &mut findings);
        let head = match dialect {
            Dialect::Qipu => store_head::read(path, &text, &mut findings),
            dialect => dialect::read(dialect, path, &text, &mut findings),
        };
        let fields = head.fields;
        Self {
            id: head.id,
            path: path.to_owned(),
            title: head.title,
            kind: head.kind,
            created: fields.created,
            updated: fields.updated.or_else(|| generated_at(&fields.unknown)),
            date: fields.date,
            tags: fields.tags,
            value: fields.value,
            verified: fields.verified,
            verifications: fields.verifications,
            sources: fields.sources,
            links: fields.links,
            aliases: fields.aliases,
            compacts: fields.compacts,
            custom: fields.custom,
            unknown: fields.unknown,
            findings,
            is_cut,
            summary_field: fields.summary,
            dialect,
            text,
            body: head.body,
            body_summary: OnceLock::new(),
            inline_links: OnceLock::new(),
            body_chars: OnceLock::new(),
        }
    }

    /// Returns how the file was read.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the text of the file, as far as it is read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a merge left a conflict in the text.
    pub(crate) fn has_conflict(&self) -> bool {
        self.has_finding(DiagnosticCode::Conflict)
    }

    /// Whether something of a kind was tolerated.
    pub fn has_finding(&self, code: DiagnosticCode) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    /// Returns the markdown below the frontmatter, byte for byte as in the file.
    pub fn body(&self) -> &str {
        self.text.get(self.body.clone()).unwrap_or_default()
    }

    /// Returns the bytes of the body in the text.
    pub(crate) fn body_range(&self) -> Range<usize> {
        self.body.clone()
    }

    /// Returns the text up to the end of the fields: all before the body; without a closing marker, the lines of the body that
    /// are read as fields too.
    pub(crate) fn text_to_fields_end(&self) -> &str {
        let is_unclosed = self.has_finding(DiagnosticCode::FrontmatterUnclosed);
        let start = self.body.start;
        let end = if is_unclosed { frontmatter::leading_fields(&self.text, start).end } else { start };
        self.text.get(..end).unwrap_or_default()
    }

    /// Returns the line of the file in which the body begins, from 1.
    pub fn body_line(&self) -> usize {
        let before = self.text.get(..self.body.start).unwrap_or_default();
        before.bytes().filter(|byte| *byte == b'\n').count() + 1
    }

    /// Returns the items of task lists, with their lines and offsets in the file.
    pub fn tasks(&self) -> Vec<TaskItem> {
        tasks::tasks(&self.text, self.body.clone())
    }

    /// Counts the characters of the body that every format keeps: all but white space and U+001C to U+001E.
    pub fn body_chars(&self) -> usize {
        *self.body_chars.get_or_init(|| shown_chars(self.body()))
    }

    /// Returns the first of: the field `summary` or `description`, the property `description::` of the body, the field
    /// `abstract`, the section `Summary`, prose, list items. A summary from a field may contain line breaks.
    pub fn summary(&self) -> Option<&str> {
        self.summary_from(SummarySource::Outline)
    }

    /// Returns the summary from a source up to and including `last` in the order of [`Note::summary`].
    pub fn summary_from(&self, last: SummarySource) -> Option<&str> {
        let of_body = |last| self.body_summary().filter(|summary| summary.source <= last);
        let of_body = |last| of_body(last).map(|summary| summary.text.as_str());
        let described = || self.described_by("abstract").map(|text| of_body(SummarySource::Property).unwrap_or(text));
        let field = self.summary_field.as_deref().or_else(|| self.described_by("description"));
        field.or_else(described).or_else(|| of_body(last))
    }

    /// Returns the summary that a field gives: `summary`, else `description`, else `abstract`.
    pub fn written_summary(&self) -> Option<&str> {
        let described = || ["description", "abstract"].into_iter().find_map(|key| self.described_by(key));
        self.summary_field.as_deref().or_else(described)
    }

    /// Whether the note has the field `summary`, which says what the text says; a description says what it is about.
    pub(crate) fn has_summary_field(&self) -> bool {
        self.summary_field.is_some()
    }

    /// Returns the summary that a field gives, on one line, unless it is a part of the body.
    pub(crate) fn separate_summary(&self) -> Option<String> {
        let summary = self.written_summary().filter(|summary| !self.body().contains(summary.trim()))?;
        Some(crate::escape::one_line(summary)).filter(|summary| !summary.is_empty())
    }

    fn described_by(&self, key: &str) -> Option<&str> {
        self.extra_fields().description(key, &self.title)
    }

    fn body_summary(&self) -> Option<&BodySummary> {
        self.body_summary.get_or_init(|| summary::of_body(self.body(), &self.title)).as_ref()
    }

    /// Returns the fields that are not qipu's own.
    pub fn extra_fields(&self) -> UserFields<'_> {
        UserFields { unknown: &self.unknown, custom: &self.custom }
    }

    /// Whether the note is used as a map of content.
    pub fn is_moc(&self) -> bool {
        self.kind == MOC
    }

    /// Returns when the note last changed: `updated`, else `created`.
    pub fn changed(&self) -> Option<&Timestamp> {
        self.updated.as_ref().or(self.created.as_ref())
    }

    /// Returns the links in the body, in the order of the text.
    pub fn inline_links(&self) -> &[InlineLink] {
        self.inline_links.get_or_init(|| match self.dialect {
            Dialect::Qipu => inline_links::links(self.body()),
            // Where it says `[a](b)`, a message means text.
            Dialect::Commit => Vec::new(),
            dialect => source_links::links(self.body(), dialect.has_wiki_links()),
        })
    }

    /// Returns the targets of `![[target]]` in the body, in the order of the text. Parses a body with one.
    pub(crate) fn embeds(&self) -> Vec<String> {
        if self.dialect.has_wiki_links() { inline_links::embeds(self.body()) } else { Vec::new() }
    }

    /// Returns [`Note::inline_links`] with their bytes in the body, in the order of the text. Those of HTML are not located.
    /// Parses the body.
    pub(crate) fn located_links(&self) -> Vec<Destination> {
        let links: HashSet<&InlineLink> = self.inline_links().iter().collect();
        destinations(self.body()).into_iter().filter(|found| links.contains(&found.link)).collect()
    }

    /// Returns the headings of the body, in their order. Parses the body.
    pub(crate) fn headings(&self) -> Vec<Heading> {
        headings::headings(self.body())
    }

    /// Returns the bytes of the text of a heading of the body in the file.
    pub(crate) fn heading_range(&self, heading: &Heading) -> Range<usize> {
        let range = heading.text_range(self.body());
        self.body.start + range.start..self.body.start + range.end
    }

    /// Returns the ordered lists in the body, each as the links that its items begin with. Parses the body.
    pub fn ordered_lists(&self) -> Vec<Vec<InlineLink>> {
        match self.dialect {
            Dialect::Qipu => inline_links::ordered_lists(self.body()),
            dialect => source_links::ordered_lists(self.body(), dialect.has_wiki_links()),
        }
    }

    /// Returns the blocks of the body, in its order. Parses the body.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        blocks::blocks(self.body())
    }

    /// Divides the body into fragments of some sizes. `title`: that of the note where its file gives none. Parses the body.
    pub(crate) fn fragments(&self, title: &str, sizes: &FragmentSizes) -> Vec<Fragment> {
        fragments::fragments(self.body(), self.body_line(), title, sizes)
    }

    /// Returns the items of [`links`](Self::links) with all they say, in the same order. Parses the frontmatter.
    pub fn link_values(&self) -> Vec<Value> {
        if self.dialect != Dialect::Qipu {
            let value = |link: &TypedLink| map_value(&[("type", Some(&link.kind)), ("id", Some(&link.target))]);
            return self.links.iter().map(value).collect();
        }
        frontmatter::raw_items(&self.text, "links")
    }

    /// Returns the items of [`sources`](Self::sources) with all they say, in the same order. Parses the frontmatter.
    pub fn source_values(&self) -> Vec<Value> {
        if self.dialect != Dialect::Qipu {
            let value = |source: &ContentSource| {
                let url = Some(&source.url).filter(|url| !url.is_empty());
                map_value(&[("url", url), ("title", source.title.as_ref()), ("accessed", source.accessed.as_ref())])
            };
            return self.sources.iter().map(value).collect();
        }
        frontmatter::raw_items(&self.text, "sources")
    }
}

fn map_value(entries: &[(&str, Option<&String>)]) -> Value {
    let entries =
        entries.iter().filter_map(|(key, text)| Some(((*key).to_owned(), Value::text(text.as_ref()?.as_str()))));
    Value::Map(entries.collect())
}

fn find_long_body(body: &Range<usize>, findings: &mut Vec<Diagnostic>) {
    if body.len() > markdown::MAX_PARSED {
        let message = "only the beginning of the body is searched for links and the summary";
        findings.push(Diagnostic::new(DiagnosticCode::LongBody, message));
    }
}

/// Returns the name of a file without its folder and extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

fn find_odd_form(dialect: Dialect, text: &str, findings: &mut Vec<Diagnostic>) {
    // Other tools write a byte order mark on purpose.
    if dialect == Dialect::Qipu && text.starts_with('\u{feff}') {
        findings.push(Diagnostic::new(DiagnosticCode::ByteOrderMark, "the file begins with a byte order mark"));
    }
    if text.contains('\0') {
        findings.push(Diagnostic::new(DiagnosticCode::Nul, "the file contains NUL characters"));
    }
    if let Some(line) = conflict_line(text).filter(|_| dialect != Dialect::Commit) {
        let message = "a merge left a conflict here; keep what holds and remove the markers".to_owned();
        findings.push(Diagnostic { code: DiagnosticCode::Conflict, line: Some(line), message });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Note {
        Note::parse("notes/qp-a1b2-some-title.md", text.as_bytes().to_vec())
    }

    fn codes(note: &Note) -> Vec<&str> {
        note.findings.iter().map(|finding| finding.code.name()).collect()
    }

    #[test]
    fn reads_every_field() {
        let note = note(
            "---\nid: qp-x1\ntitle: \"A title\"\ntype: permanent\ncreated: 2025-01-02T03:04:05Z\nupdated: 2025-02-03\n\
             date: 2025-03-04\ntags: [a, b]\nsummary: >-\n  Two\n  lines\nvalue: 80\nverified: true\nsources:\n- url: https://x.org\n  \
             title: X\n  accessed: 2025-01-01\nlinks:\n- type: supports\n  id: qp-y2\naliases:\n- Other\ncustom:\n  n: 3\n  s: x\nmine: 1 # c\n---\n\nBody [[qp-z3]].\n",
        );
        assert_eq!(codes(&note), [""; 0]);
        assert_eq!((note.id.as_str(), note.title.as_str(), note.kind.as_str()), ("qp-x1", "A title", "permanent"));
        assert_eq!(note.changed().map(Timestamp::as_str), Some("2025-02-03"));
        assert_eq!(note.date.map(|date| date.to_string()).as_deref(), Some("2025-03-04"));
        assert_eq!(note.tags, ["a", "b"]);
        assert_eq!(note.summary(), Some("Two lines"));
        assert_eq!((note.value, note.verified), (Some(80), Some(true)));
        assert_eq!(note.sources[0].accessed.as_deref(), Some("2025-01-01"));
        assert_eq!((note.links[0].kind.as_str(), note.links[0].target.as_str()), ("supports", "qp-y2"));
        assert_eq!(note.aliases, ["Other"]);
        assert_eq!(note.custom[0].1.to_json().to_string(), "3");
        assert_eq!(note.unknown[0].0, "mine");
        assert_eq!(note.body(), "\nBody [[qp-z3]].\n");
        assert_eq!(note.inline_links(), &[InlineLink::Wiki("qp-z3".into())]);
    }

    #[test]
    fn tolerates_what_people_write() {
        let n = note(
            "\u{feff}---\r\ntitle: Paper: the X\r\ntags: one\r\nvalue: 70\r\ncreated: 2025-01-02\r\n---\r\nBody\r\n",
        );
        assert_eq!((n.id.as_str(), n.title.as_str(), n.value), ("qp-a1b2", "Paper: the X", Some(70)));
        assert_eq!(n.tags, ["one"]);
        assert_eq!(n.body(), "Body\r\n");
        assert!(codes(&n).contains(&"frontmatter-broken"));

        let n = note(
            "---\nid: a b\ntitle: [[qp-1]]\ntags: [#x, y]\nvalue: 300\nupdated: 2025-02-30\ntype: {a: b}\nverified: maybe\nlinks: qp-9\nsources: https://x.org\n---\n",
        );
        assert_eq!((n.id.as_str(), n.title.as_str()), ("qp-a1b2", "[[qp-1]]"));
        assert_eq!(n.tags, ["#x", "y"]);
        assert_eq!((n.value, n.updated.is_none(), n.verified), (None, true, None));
        assert_eq!(n.links[0].target, "qp-9");
        assert_eq!(n.sources[0].url, "https://x.org");

        let n = note("---\ntitle: @x\nvalue: 10\n---\nB");
        assert_eq!((n.title.as_str(), n.value, n.body()), ("@x", Some(10), "B"));

        let n = note("---\nid: qp-open\ntitle: No end\n\nThe text: goes on.\n");
        assert_eq!((n.id.as_str(), n.title.as_str()), ("qp-open", "No end"));
        assert_eq!(n.body(), "---\nid: qp-open\ntitle: No end\n\nThe text: goes on.\n");

        let n = note("---\ntitle:\ndescription: |\n  What it\n  is.\nabstract: no\n---\n# A heading\n\nText");
        assert_eq!((n.title.as_str(), n.summary()), ("A heading", Some("What it\nis.")));
        let n = note("---\ntitle: ''\nabstract: What it is.\ndescription: A heading\n---\n# A heading\n\nText");
        assert_eq!(
            (n.title.as_str(), n.summary(), n.summary_field.as_deref()),
            ("A heading", Some("What it is."), None)
        );
        let n = note("---\nabstract: no\n---\ndescription:: What it is.\n\nText");
        assert_eq!((n.title.as_str(), n.summary()), ("some title", Some("What it is.")));

        let n = note("# A heading\n\nText");
        assert_eq!((n.title.as_str(), n.kind.as_str()), ("A heading", "fleeting"));
        assert_eq!(Note::parse("mocs/x.md", Vec::new()).kind, MOC);
        assert_eq!(Note::parse("journals/2025/x.md", Vec::new()).kind, JOURNAL);

        let n = Note::parse("notes/b.md", b"---\ntitle: caf\xe9\n---\n\xff".to_vec());
        assert_eq!((n.title.as_str(), n.body()), ("caf\u{fffd}", "\u{fffd}"));
    }

    #[test]
    fn hostile_frontmatter_is_read_in_bounded_time_and_memory() {
        let bomb = format!("x: &x [{}]\n", "y, ".repeat(900));
        let keys: String = (0..5_000).map(|n| format!("k{n}: [*x, *x, *x]\n")).collect();
        let tags: String = (0..40_000).map(|n| format!("t{n},")).collect();
        for yaml in [
            format!("{bomb}{keys}"),
            format!("{bomb}{keys}broken: [\n"),
            format!("tags: {tags}\n"),
            "a:\n".repeat(80_000),
        ] {
            let note = note(&format!("---\nid: n\n{yaml}---\nBody"));
            assert_eq!((note.id.as_str(), note.body()), ("n", "Body"));
        }
    }

    #[test]
    fn what_only_looks_like_frontmatter_is_body() {
        let text = "---\nA rule above, no field.\n\n---\nmore";
        assert_eq!(note(text).body(), text);
        assert_eq!(note("---\n# only a comment\n---\nB").body(), "B");
        assert_eq!(note("---\n---\nB").body(), "B");
        assert_eq!(note("----\nid: x\n---\n").id.as_str(), "qp-a1b2");
        let second = note("---\nid: a\n--- x\nvalue: 7\n---\nB");
        assert_eq!((second.id.as_str(), second.value, second.body()), ("a", Some(7), "B"));
        assert!(codes(&second).contains(&"frontmatter-broken"));
        let open = note("---\r\nid: a\r\n\r\nvalue: 7\r\n");
        assert_eq!((open.id.as_str(), open.value), ("a", None));
    }

    #[test]
    fn findings_name_the_line() {
        let n = note("---\nid: qp-1\ntitle: T\nvalue: 300\n---\n");
        assert_eq!(n.findings[0].line, Some(4));
        let n = note("---\nid: qp-1\ntitle: a: b\nvalue: 300\n---\n");
        let lines: Vec<_> = n.findings.iter().map(|f| (f.code.name(), f.line)).collect();
        assert_eq!(lines, [("frontmatter-broken", Some(3)), ("impossible-value", Some(4))]);
    }
}
