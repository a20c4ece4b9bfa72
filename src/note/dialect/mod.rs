//! Dialects: how a markdown file that was not written for qipu is read as a note.

mod adr;
mod adr_metadata;
mod barred_changes;
mod commit;
mod logseq;
mod obsidian;
mod okf;

use std::ops::Range;

use foldhash::{HashSet, HashSetExt};
use serde::{Deserialize, Serialize};

use super::frontmatter::{Frontmatter, read_foreign};
use super::title::is_markdown_ending;
use super::{Diagnostic, EncodedTarget, JOURNAL, NoteId, Value, find_long_body, title};
use crate::codec::named::named;
pub(crate) use commit::{CommitFields, ID_LEN as COMMIT_ID_LEN, hash_in};

/// The type of a document that names none.
const DOCUMENT: &str = "document";
/// The fields with a title for menus, which is used if there is no other.
const MENU_TITLES: [&str; 2] = ["sidebar_label", "nav_title"];

named! {
    /// How a file is read.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Dialect {
        /// A note of a store.
        #[default]
        Qipu = "qipu",
        /// A document, as sites of documentation and blogs have it.
        Markdown = "markdown",
        /// A note of an Obsidian vault.
        Obsidian = "obsidian",
        /// A page of a Logseq graph.
        Logseq = "logseq",
        /// A file of a bundle of Open Knowledge Format.
        Okf = "okf",
        /// An architecture decision record.
        Adr = "adr",
        /// A commit of git, whose message is the body: see [`CommitFields`].
        Commit = "commit",
    }
}

impl Dialect {
    /// The names of the dialects of folders of documents.
    pub const NAMES: [&str; 5] = ["markdown", "obsidian", "logseq", "okf", "adr"];

    /// Parses the name of a dialect of folders of documents.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| Self::NAMES.contains(&name) && dialect.name() == name)
    }

    /// Whether `[[name]]` is a link.
    pub(super) fn has_wiki_links(self) -> bool {
        !matches!(self, Self::Okf | Self::Commit)
    }

    /// Whether a link of the body can only mean a note, so that it is broken if there is none. In documents, other paths may
    /// be those of a published site, and double brackets are often no links.
    pub(crate) fn can_break(self, link: EncodedTarget<'_>) -> bool {
        match link {
            _ if self == Self::Qipu => true,
            _ if self == Self::Commit => false,
            EncodedTarget::Wiki(_) => matches!(self, Self::Obsidian | Self::Logseq),
            EncodedTarget::Path(path) => path.rsplit_once('.').is_some_and(|(_, ending)| is_markdown_ending(ending)),
        }
    }
}

/// The fields of a file, with its name, title and type, and its body.
pub(super) struct NoteHead {
    pub(super) id: NoteId,
    pub(super) title: String,
    pub(super) kind: String,
    pub(super) fields: Frontmatter,
    pub(super) body: Range<usize>,
}

/// Reads the fields of a file of a source; `path` is its path in the folder of the source.
pub(super) fn read(dialect: Dialect, path: &str, text: &str, findings: &mut Vec<Diagnostic>) -> NoteHead {
    if dialect == Dialect::Commit {
        return commit::read(path, text);
    }
    let (mut fields, range) = read_foreign(text, findings);
    find_long_body(&range, findings);
    let body = text.get(range.clone()).unwrap_or_default();
    match dialect {
        Dialect::Obsidian => obsidian::read(&mut fields, path, body),
        Dialect::Logseq => logseq::read(&mut fields, path, body),
        Dialect::Okf => okf::read(&mut fields, path, body),
        Dialect::Qipu | Dialect::Markdown | Dialect::Adr | Dialect::Commit => {}
    }
    let id = NoteId::from_source_path(path);
    let mut title = fields.title.take().unwrap_or_else(|| title_without_field(&fields, path, body));
    if dialect == Dialect::Adr {
        title = adr::read(&mut fields, path, body, title);
    }
    if title.trim().is_empty() {
        title = path.to_owned();
    }
    let kind = kind(dialect, &mut fields);
    fields.date = fields.date.filter(|_| kind == JOURNAL);
    fields.tags = distinct(&fields.tags, &[]);
    fields.aliases = distinct(&fields.aliases, &[id.as_str(), &title]);
    NoteHead { id, title, kind, fields, body: range }
}

fn title_without_field(fields: &Frontmatter, path: &str, body: &str) -> String {
    let menu_title = |name: &&str| {
        let (_, value) = fields.unknown.iter().find(|(key, _)| key == name)?;
        Some(value.to_line().trim().to_owned()).filter(|text| !text.is_empty())
    };
    let name = || title::of_source_path(path);
    MENU_TITLES.iter().find_map(menu_title).or_else(|| title::of_body_named(body, name)).unwrap_or_else(name)
}

/// Returns the type: that of the field if it is a word, or any in a bundle, whose concepts have types of several words.
fn kind(dialect: Dialect, fields: &mut Frontmatter) -> String {
    let is_word_char = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match fields.kind.take() {
        Some(kind) if dialect == Dialect::Okf || kind.chars().all(is_word_char) => return kind,
        Some(kind) => fields.unknown.push(("type".to_owned(), Value::text(kind))),
        None => {}
    }
    DOCUMENT.to_owned()
}

/// Returns the texts that are not empty, each once, without some.
fn distinct(texts: &[String], without: &[&str]) -> Vec<String> {
    let mut seen = HashSet::new();
    let texts = texts.iter().filter(|text| !text.is_empty() && !without.contains(&text.as_str()));
    texts.filter(|text| seen.insert(text.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_have_names() {
        let named: Vec<_> = Dialect::NAMES.iter().filter_map(|name| Dialect::parse(name)).map(Dialect::name).collect();
        assert_eq!(named, Dialect::NAMES);
        assert_eq!(["qipu", "commit", "Markdown"].map(Dialect::parse), [None; 3]);
    }
}
