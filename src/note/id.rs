//! The ids of notes.

use std::fmt;

use serde::Serialize;

use super::NOTE_FOLDERS;

/// The id of a note: ASCII letters, digits, `.`, `_` and `-`, with `~<n>` or `~<hash>` after a duplicate.
///
/// Ids are ordered by their bytes; that order is the last tie-breaker of every list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct NoteId(Box<str>);

/// Separates the name of a collection from an id in it.
pub(crate) const COLLECTION_MARK: char = ':';

/// The maximum length, in bytes; longer texts are hardly ids, and no file name can contain them.
const MAX_LEN: usize = 200;

/// The maximum length of an id from a path without its hash, in bytes.
const MAX_DERIVED: usize = 100;
const SEPARATOR: &str = "--";
/// What generated ids begin with, and the least and most bytes behind it.
const GENERATED_PREFIX: &str = "qp-";
const MIN_RANDOM: usize = 4;
const MAX_RANDOM: usize = 16;
/// The length of a hash in an id, in characters.
const HASH_LEN: usize = 8;

impl NoteId {
    /// Parses an id; `None` if it has other characters.
    pub fn parse(text: &str) -> Option<Self> {
        let stem = match text.split_once('~') {
            Some((stem, suffix)) => {
                let is_number = || suffix.parse().is_ok_and(|n: usize| n >= 2 && n.to_string() == suffix);
                (is_hash(suffix) || is_number()).then_some(stem)?
            }
            None => text,
        };
        (is_plain(stem) && stem.len() <= MAX_LEN).then(|| Self(text.into()))
    }

    /// Derives an id from the path of a file in the store only. A file name that begins with a generated id,
    /// such as `qp-a1b2-some-title`, is shortened to it, whatever its folder. Otherwise no two paths have the same id.
    ///
    /// The names below `notes/` are joined by [`SEPARATOR`]: `notes/guides/docker.md` becomes `guides--docker`. If the
    /// path can't be recovered from that, a hash of the path follows.
    pub fn from_path(path: &str) -> Self {
        let path = path.strip_suffix(".md").unwrap_or(path);
        if let Some(id) = generated_id(path.rsplit('/').next().unwrap_or(path)) {
            return Self(id.into());
        }
        let names = without_default_folder(path);
        if names.len() <= MAX_DERIVED && names.split('/').all(is_reversible) {
            return Self(names.replace('/', SEPARATOR).into());
        }
        Self::with_hash(names, path, "-")
    }

    /// Derives an id from the path of a file in a folder that is no store. No two paths have the same id.
    ///
    /// Names are joined by [`SEPARATOR`], and `.md` is omitted; other endings stay: `guides/a.md` becomes `guides--a`,
    /// `guides/a.mdx` becomes `guides--a.mdx`. If the path can't be recovered from that, a hash of the path follows
    /// after three hyphens, which no other id contains.
    pub fn from_source_path(path: &str) -> Self {
        let stem = path.strip_suffix(".md");
        let names = stem.unwrap_or(path);
        let keeps_ending = [".markdown", ".mdx"].iter().any(|ending| names.ends_with(ending));
        // `a.mdx.md` has to differ from `a.mdx`.
        let is_exact = stem.is_some() != keeps_ending;
        if is_exact && names.len() <= MAX_DERIVED && names.split('/').all(is_reversible) {
            return Self(names.replace('/', SEPARATOR).into());
        }
        Self::with_hash(names, path, "---")
    }

    /// Makes an id of the words in a path and a hash of the whole path.
    fn with_hash(names: &str, path: &str, before_hash: &str) -> Self {
        let mut words: Vec<String> = names.split('/').map(id_words).filter(|words| !words.is_empty()).collect();
        // The file name is more specific than the folders, so the outermost folders are removed first.
        while words.len() > 1 && words.iter().map(|words| words.len() + SEPARATOR.len()).sum::<usize>() > MAX_DERIVED {
            words.remove(0);
        }
        let mut readable = words.join(SEPARATOR);
        readable.truncate(MAX_DERIVED);
        let hash = path_hash(path);
        match readable.trim_end_matches('-') {
            "" => Self(format!("qp{before_hash}{hash}").into()),
            readable => Self(format!("{readable}{before_hash}{hash}").into()),
        }
    }

    /// Makes an id from a random number: `qp-` and [`HASH_LEN`] letters and digits with at least one digit. For a
    /// thousand new notes on each of two branches, the probability of a collision is about one in a million.
    pub fn generated(random: u64) -> Self {
        let text = base36(random);
        let has_digit = text.bytes().any(|b| b.is_ascii_digit());
        let text = if has_digit { text } else { text.chars().skip(1).chain(['7']).collect() };
        Self(format!("qp-{text}").into())
    }

    /// Whether a text is this id, in any case, with `qp-` or without.
    pub fn is_named(&self, text: &str) -> bool {
        let is = |id: &str| id.eq_ignore_ascii_case(text);
        // All three are ends of the id.
        let end = self.0.len().checked_sub(text.len()).and_then(|start| self.0.get(start..));
        if !end.is_some_and(is) {
            return false;
        }
        is(self.as_str()) || is(self.local()) || self.local().strip_prefix(GENERATED_PREFIX).is_some_and(is)
    }

    /// Whether it has the form of [`NoteId::generated`].
    pub fn is_generated(&self) -> bool {
        generated_id(self.local()) == Some(self.local())
    }

    /// Returns the id of the `n`-th note (from 2) with this id.
    pub(crate) fn duplicate(&self, n: usize) -> Self {
        Self(format!("{}~{n}", self.0).into())
    }

    /// Returns the id of a note whose path has this id, which the frontmatter of another note claims.
    pub(crate) fn disambiguated(&self, path: &str) -> Self {
        Self(format!("{}~{}", self.0, path_hash(path.strip_suffix(".md").unwrap_or(path))).into())
    }

    /// Returns the id in the note, without the suffix of a duplicate.
    pub fn claimed(&self) -> &str {
        self.local().split_once('~').map_or(self.local(), |(claimed, _)| claimed)
    }

    /// Returns the id behind the name of its collection, by which it is known where an earlier collection has the same id.
    pub(crate) fn qualified(&self, collection: &str) -> Self {
        Self(format!("{collection}{COLLECTION_MARK}{}", self.local()).into())
    }

    /// Parses an id that may be behind the name of a collection; `None` if one of both has other characters.
    pub fn parse_qualified(text: &str) -> Option<Self> {
        let local = match text.split_once(COLLECTION_MARK) {
            Some((collection, local)) => is_collection_name(collection).then_some(local)?,
            None => text,
        };
        Self::parse(local).map(|_| Self(text.into()))
    }

    /// Returns the name of the collection before the id, if there is one.
    pub fn collection(&self) -> Option<&str> {
        Some(self.0.split_once(COLLECTION_MARK)?.0)
    }

    /// Returns the id in its collection.
    pub fn local(&self) -> &str {
        self.0.split_once(COLLECTION_MARK).map_or(&*self.0, |(_, local)| local)
    }

    /// Returns the text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text can be the name of a collection: 1 to 64 ASCII letters, digits, `.`, `_` and `-`, no `-` or `.` first.
pub(crate) fn is_collection_name(text: &str) -> bool {
    is_plain(text) && text.len() <= 64 && !text.starts_with(['-', '.'])
}

fn is_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| is_id_char(char::from(byte)))
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_LEN && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// Returns the path without its default folder: `notes/`, or `journals/` for a file named by a date. A path in `notes/`
/// keeps it if the rest looks like a path in another folder.
fn without_default_folder(path: &str) -> &str {
    let is_ambiguous = |rest: &str| match rest.split_once('/') {
        Some((folder, _)) => NOTE_FOLDERS.contains(&folder),
        None => is_day(rest),
    };
    let in_notes = path.strip_prefix("notes/").filter(|rest| !is_ambiguous(rest));
    let in_journals = || path.strip_prefix("journals/").filter(|rest| is_day(rest));
    in_notes.or_else(in_journals).unwrap_or(path)
}

/// Tells whether a name has the form of a date: `2025-03-05` or `2025_03_05`.
fn is_day(name: &str) -> bool {
    let is_part = |(n, byte): (usize, u8)| match n {
        4 | 7 => matches!(byte, b'-' | b'_'),
        _ => byte.is_ascii_digit(),
    };
    name.len() == 10 && name.bytes().enumerate().all(is_part)
}

/// Tells whether a name can be recovered from an id with [`SEPARATOR`], and does not look like an option.
fn is_reversible(name: &str) -> bool {
    is_plain(name) && !name.contains(SEPARATOR) && !name.starts_with('-') && !name.ends_with('-')
}

/// Replaces each run of characters that are not allowed in an id by a `-`.
fn id_words(name: &str) -> String {
    let words = name.split(|c: char| c == '-' || !is_id_char(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// Returns the `qp-a1b2` of `qp-a1b2-title` or `qp-a1b2`. A generated id has a letter and a digit, so titles such as
/// `qp-notes-on-x` or `qp-2025-plan` are none.
pub(super) fn generated_id(stem: &str) -> Option<&str> {
    let rest = stem.strip_prefix(GENERATED_PREFIX)?;
    // Whatever is longer than an id has no mark among the first bytes.
    let len = rest.bytes().take(MAX_RANDOM + 1).position(|byte| byte == b'-').unwrap_or(rest.len());
    let random = rest.get(..len)?.as_bytes();
    let (mut digits, mut letters) = (0, 0);
    for byte in random {
        digits += usize::from(byte.is_ascii_digit());
        letters += usize::from(byte.is_ascii_lowercase());
    }
    let is_generated = (MIN_RANDOM..=MAX_RANDOM).contains(&len) && digits > 0 && letters > 0 && digits + letters == len;
    is_generated.then(|| stem.get(..GENERATED_PREFIX.len() + len)).flatten()
}

/// Returns the hash of a path in the store without `.md`, by FNV-1a with 64 bits (Fowler, Noll and Vo): stable across
/// machines and versions, unlike the standard hashers.
fn path_hash(path: &str) -> String {
    let next = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    base36(path.bytes().fold(0xcbf2_9ce4_8422_2325, next))
}

/// Writes the low bits of a number as [`HASH_LEN`] letters and digits, the lowest first.
fn base36(value: u64) -> String {
    let rests = std::iter::successors(Some(value), |value| Some(value / 36)).take(HASH_LEN);
    rests.filter_map(|value| char::from_digit((value % 36) as u32, 36)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_hold_ascii_letters_digits_and_three_marks() {
        for good in ["qp-a1b2", "A.b_c-9", "2025-03-05", "qp-a1~2"] {
            assert_eq!(NoteId::parse(good).unwrap().as_str(), good);
        }
        assert_eq!(NoteId::parse("a~k3j9x0ab").unwrap().claimed(), "a");
        for bad in ["", "a b", "ä", "a/b", "a~", "a~1", "a~02", "a~x", "a~K3j9x0ab", "~2", "a\n"] {
            assert!(NoteId::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_path_becomes_an_id_whatever_it_holds() {
        let id = |path: &str| NoteId::from_path(path).to_string();
        for (path, expected) in [
            ("notes/docker.md", "docker"),
            ("notes/guides/docker/README.md", "guides--docker--README"),
            ("notes/a.b_c-9.md", "a.b_c-9"),
            ("notes/qp-a1b2-some-title.md", "qp-a1b2"),
            ("notes/sub/qp-a1b2.md", "qp-a1b2"),
            ("notes/qp-notes-on-x.md", "qp-notes-on-x"),
            ("notes/qp-2025-plan.md", "qp-2025-plan"),
            ("mocs/docker.md", "mocs--docker"),
            ("notes/mocs/docker.md", "notes--mocs--docker"),
            ("journals/2025-03-05.md", "2025-03-05"),
            ("journals/2025_03_05.md", "2025_03_05"),
            ("notes/2025-03-05.md", "notes--2025-03-05"),
            ("journals/2025/2025-03-05.md", "journals--2025--2025-03-05"),
            ("journals/travel.md", "journals--travel"),
        ] {
            assert_eq!(id(path), expected, "{path}");
        }
        let hashed = |path: &str| id(path).rsplit_once('-').map(|(readable, _)| readable.to_owned()).unwrap();
        for (path, readable) in [
            ("notes/My first note!.md", "My-first-note"),
            ("notes/日本語.md", "qp"),
            ("notes/a--b.md", "a-b"),
            ("notes/-x.md", "x"),
            ("notes/über uns/Ärzte 1.md", "ber-uns--rzte-1"),
            ("notes/???.md", "qp"),
        ] {
            assert_eq!(hashed(path), readable, "{path}");
        }
        let deep = format!("notes/{}last.md", "folder/".repeat(40));
        assert!(hashed(&deep).ends_with("folder--last") && id(&deep).len() <= MAX_DERIVED + 1 + HASH_LEN, "{deep}");
        assert_eq!(id(&format!("notes/{}.md", "x".repeat(300))).len(), MAX_DERIVED + 1 + HASH_LEN);
    }

    #[test]
    fn different_paths_give_different_valid_ids() {
        let names =
            ["a", "b", "a-b", "a--b", "-a", "a-", "a b", "é", "日本", "notes", "mocs", "journals", "2025-03-05"];
        let names = names.into_iter().chain(["README", "readme", "A.b_c", "~", "a~2", "-", "--", "___"]);
        let names: Vec<&str> = names.collect();
        let mut seen = std::collections::HashMap::new();
        let mut check = |path: String| {
            let id = NoteId::from_path(&path);
            assert_eq!(NoteId::parse(id.as_str()).as_ref(), Some(&id), "{path}");
            assert!(!id.as_str().starts_with('-') && !id.as_str().contains('~'), "{path}");
            let before = seen.insert(id.clone(), path.clone());
            assert_eq!(before, None, "{path} gives {id} too");
        };
        for folder in ["notes", "mocs", "journals"] {
            for name in &names {
                check(format!("{folder}/{name}.md"));
                for below in &names {
                    check(format!("{folder}/{name}/{below}.md"));
                    names.iter().for_each(|last| check(format!("{folder}/{name}/{below}/{last}.md")));
                }
            }
        }
    }
}
