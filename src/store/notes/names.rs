//! The names of notes: ids, files, titles and aliases, and suggestions for names that do not exist.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::collection_reader::CollectionReader;
use super::note_fields::OWN_FIELDS;
use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::store::Store;
use crate::error::{Error, ErrorKind, Remedy};
use crate::escape::one_line;
use crate::note::{COLLECTION_MARK, COMMIT_ID_LEN, MARKDOWN_ENDINGS, NoteId, hash_in};
use crate::store::collections::collection::{Collection, Tier, is_commit};
use crate::store::collections::discover;

/// The most ids or paths that an error lists.
pub(super) const MAX_CANDIDATES: usize = 10;

/// The prefix of ids that qipu makes; a user may omit it.
const ID_PREFIX: &str = "qp-";

/// The fewest characters, besides `qp-`, of the beginning of an id that names a note. Shorter ones are slips more often.
const MIN_PREFIX: usize = 4;

const MAX_SUGGESTIONS: usize = 3;
/// The number of characters of a name that are compared.
const MAX_COMPARED: usize = 80;
/// The least similarity of a title, 0 to 1.
const MIN_SIMILARITY: f64 = 0.7;
/// The least number of characters for a part of a title to match it.
const MIN_PART: usize = 4;

impl Store {
    /// Returns the position in [`Store::notes`] of the note with an id.
    pub fn position(&self, id: &NoteId) -> Option<NoteIdx> {
        position_in(&self.notes, id, Some(&self.first().about))
    }

    /// Returns the position behind the note with an id, whether it still exists or not.
    pub fn position_behind(&self, id: &NoteId) -> NoteIdx {
        let name = id.collection().map(|name| self.first().about.current_name(name));
        let named = self.collections.iter().find(|one| name.is_some_and(|name| name == one.about.name));
        let found = self.position(id);
        let collection = named.unwrap_or_else(|| self.first());
        let notes = self.notes.get(collection.notes.clone()).unwrap_or_default();
        let behind = || notes.partition_point(|note| note.id.local() <= id.local());
        found.map_or_else(|| NoteIdx::new(collection.notes.start + behind()), |found| NoteIdx::new(found.index() + 1))
    }

    /// Returns the position of the note with an id or a path.
    pub fn named(&self, name: &str) -> Option<NoteIdx> {
        let with_id = NoteId::parse_qualified(name).and_then(|id| self.position(&id));
        let is_file = || name.rsplit_once('.').is_some_and(|(_, ending)| MARKDOWN_ENDINGS.contains(&ending));
        with_id.or_else(|| if is_file() { self.position_of_file(name) } else { None })
    }

    /// Returns the position of the note at a path in the store.
    pub fn position_at(&self, path: &str) -> Option<NoteIdx> {
        self.by_path().get(path).copied()
    }

    fn by_path(&self) -> &HashMap<String, NoteIdx> {
        self.by_path.get_or_init(|| {
            let paths = NoteIdx::enumerate(&self.notes);
            paths.map(|(position, note)| (note.path.clone(), position)).collect()
        })
    }

    /// Returns the position of the note in a file, whose path is relative to the current directory or to the store.
    fn position_of_file(&self, name: &str) -> Option<NoteIdx> {
        let by_path = self.by_path();
        // A path that begins with `..` leads out of the store.
        let below = |base: &Path| {
            let path = discover::normalize_lexically(&base.join(name));
            let in_collection = |collection: &CollectionReader| {
                let inside = path.strip_prefix(&collection.root).ok()?;
                by_path.get(format!("{}{}", collection.about.prefix, inside.to_string_lossy()).as_str())
            };
            self.collections.iter().find_map(in_collection)
        };
        below(&self.current_dir).or_else(|| below(&self.first().root)).copied()
    }

    /// Returns the position of the note that a user names: by id, file, title, title in any case, alias (such as
    /// the id of a note that was merged into it), the file's name without its folder, its id without `qp-`, or the
    /// beginning of its id; in this order, which is that of links. A draft has only names that no other note has.
    ///
    /// # Errors
    /// `NoNote` if no note has the name; `Usage`, listing the candidates, if several notes have it, or if it is the
    /// beginning of ids and shorter than [`MIN_PREFIX`].
    pub fn resolve(&self, name: &str) -> Result<NoteIdx, Error> {
        let of_prefix = |name: &str, notes: &[NoteIdx]| match notes {
            [note] if name.strip_prefix(ID_PREFIX).unwrap_or(name).chars().count() >= MIN_PREFIX => Ok(*note),
            [_, _, ..] => Err(self.ambiguous(name, "is a prefix of", notes)),
            _ => {
                let message = format!("`{name}` is too short for the beginning of an id");
                Err(self.only_prefix(message, notes))
            }
        };
        self.resolve_with(name, of_prefix)
    }

    /// As [`Store::resolve`], but without beginnings of ids: a slip such as `null`, or a letter, must change no note.
    pub(super) fn resolve_whole(&self, name: &str) -> Result<NoteIdx, Error> {
        self.resolve_with(name, |name, notes| {
            let message = format!("`{name}` is only the beginning of an id, and a change needs a whole name");
            Err(self.only_prefix(message, notes))
        })
    }

    /// See [`Store::resolve`]. `of_prefix`: decides on a name with which the ids of these notes begin.
    fn resolve_with(
        &self,
        name: &str,
        of_prefix: impl Fn(&str, &[NoteIdx]) -> Result<NoteIdx, Error>,
    ) -> Result<NoteIdx, Error> {
        if let Some(position) = self.named(name).or_else(|| self.commit_by_hash(name)) {
            return Ok(position);
        }
        if name.trim().is_empty() {
            return Err(self.unknown(&[format!("`{name}`")]));
        }
        let (name, collections) = self.split_name(name);
        let in_first_collection = |positions: Vec<NoteIdx>| {
            let ordinal = |position: &NoteIdx| self.notes()[*position].collection_ordinal();
            let first = positions.iter().map(ordinal).find(|ordinal| collections.contains(ordinal));
            positions.into_iter().filter(|position| Some(ordinal(position)) == first).collect::<Vec<_>>()
        };
        let names = [false, true].into_iter().flat_map(|is_draft| self.with_text_name(name, is_draft));
        let names = names.chain([("is the id of", self.with_bare_id(name))]);
        let names = names.map(|(what, positions)| (what, in_first_collection(positions)));
        if let Some((what, positions)) = names.into_iter().find(|(_, positions)| !positions.is_empty()) {
            return match positions.as_slice() {
                [position] => Ok(*position),
                _ => Err(self.ambiguous(name, what, &positions)),
            };
        }
        let prefixed = || self.with_id_prefix(&format!("{ID_PREFIX}{name}"));
        let with_prefix = Some(in_first_collection(self.with_id_prefix(name))).filter(|notes| !notes.is_empty());
        let with_prefix = with_prefix.unwrap_or_else(|| in_first_collection(prefixed()));
        if !with_prefix.is_empty() {
            return of_prefix(name, &with_prefix);
        }
        self.resolve_by_other_name(name).ok_or_else(|| self.unknown(&[format!("`{name}`")]))
    }

    /// Returns the commit with a hash of more digits than its id has, or of capitals, behind the name of its collection.
    fn commit_by_hash(&self, name: &str) -> Option<NoteIdx> {
        let (collection, hash) = name.split_once(COLLECTION_MARK).filter(|_| is_commit(name))?;
        let hash = hash.to_ascii_lowercase();
        let id = format!("{collection}{COLLECTION_MARK}{}", hash.get(..COMMIT_ID_LEN)?);
        let position = self.position(&NoteId::parse_qualified(&id)?)?;
        hash_in(self.notes()[position].local_path()).starts_with(&hash).then_some(position)
    }

    /// Returns the note whose id is a name behind [`ID_PREFIX`].
    fn with_bare_id(&self, name: &str) -> Vec<NoteIdx> {
        let id = NoteId::parse(&format!("{ID_PREFIX}{name}"));
        id.and_then(|id| self.position(&id)).into_iter().collect()
    }

    /// Divides a name into the collections where it is searched for, and the name there. A text before a colon that no
    /// collection has as its name belongs to the name.
    fn split_name<'n>(&self, name: &'n str) -> (&'n str, Range<usize>) {
        let named = name.split_once(COLLECTION_MARK).and_then(|(collection, local)| {
            let collection = self.first().about.current_name(collection);
            let ordinal = self.collections.iter().position(|one| one.about.name == collection)?;
            Some((local, ordinal..ordinal + 1))
        });
        named.unwrap_or((name, 0..self.collections.len()))
    }

    /// Returns the drafts, or the other notes, with a title, alias or file name, each with what the name is.
    fn with_text_name(&self, name: &str, is_draft: bool) -> [(&'static str, Vec<NoteIdx>); 3] {
        let (title, folded) = (name.trim(), name.trim().to_lowercase());
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let positions_where =
            |test: &dyn Fn(&NoteHandle) -> bool| self.positions_where(|note| test(note) && note.is_draft() == is_draft);
        let titled = positions_where(&|note| note.title() == title);
        let titled =
            if titled.is_empty() { positions_where(&|note| note.title().to_lowercase() == folded) } else { titled };
        let has_alias = |note: &NoteHandle| note.aliases().iter().any(|alias| alias.to_lowercase() == folded);
        let with_stem = positions_where(&|note| note.stem() == stem);
        [
            ("is the title of", titled),
            ("is an alias of", positions_where(&has_alias)),
            ("is the file name of", with_stem),
        ]
    }

    fn positions_where(&self, test: impl Fn(&NoteHandle) -> bool) -> Vec<NoteIdx> {
        let notes = NoteIdx::enumerate(&self.notes);
        notes.filter(|(_, note)| test(note)).map(|(position, _)| position).collect()
    }

    fn with_id_prefix(&self, prefix: &str) -> Vec<NoteIdx> {
        let in_collection = |collection: &CollectionReader| {
            let notes = self.notes.get(collection.notes.clone()).unwrap_or_default();
            let first = notes.partition_point(|note| note.id.local() < prefix);
            let rest = notes.iter().skip(first);
            let count = rest.take_while(|note| note.id.local().starts_with(prefix)).count();
            let first = collection.notes.start + first;
            (first..first + count).map(NoteIdx::new)
        };
        self.collections.iter().flat_map(in_collection).collect()
    }

    fn ambiguous(&self, name: &str, what: &str, positions: &[NoteIdx]) -> Error {
        let candidates = positions.iter().take(MAX_CANDIDATES);
        let shown: Vec<&str> = candidates.map(|position| self.notes()[*position].id.as_str()).collect();
        let things = if what == "is a prefix of" { "ids" } else { "notes" };
        Error::usage(format!("`{name}` {what} {} {things}", positions.len())).hint(format!("ids: {}", shown.join(", ")))
    }

    /// Returns the error for a name that is only the beginning of the ids of notes, with the notes.
    fn only_prefix(&self, message: String, notes: &[NoteIdx]) -> Error {
        let shown = |position: &NoteIdx| shown_with_title(&self.notes()[*position]);
        let mut shown: Vec<String> = notes.iter().take(MAX_CANDIDATES).map(shown).collect();
        if notes.len() > MAX_CANDIDATES {
            shown.push("…".to_owned());
        }
        Error::usage(message).hint(format!("it may mean {}", shown.join(", ")))
    }

    fn unknown(&self, names: &[String]) -> Error {
        if let Some(error) = names.iter().find_map(|name| self.elsewhere_error(name.trim_matches('`'))) {
            return error;
        }
        let has_commits = self.collections.iter().any(|collection| collection.about.tier() == Tier::History);
        if !has_commits && let Some(commit) = names.iter().find(|name| is_commit(name.trim_matches('`'))) {
            let error = Error::usage(format!("{commit} is a commit, which this command neither changes nor links"));
            return error.hint("`qipu capture` makes a note of one: see `qipu help capture`");
        }
        let message = format!("no such note: {} in {}", names.join(", "), self.shown_path);
        let bare = names.iter().map(|name| name.trim_matches('`'));
        let near: Vec<String> = bare.take(MAX_CANDIDATES).flat_map(|name| near_notes(&self.notes, name)).collect();
        Error::new(ErrorKind::NoNote, message).remedy(Remedy::FindNote { near })
    }

    /// Returns names of fields, qipu's own and those in use, that are similar to one that is not.
    pub fn near_fields(&self, name: &str) -> Vec<String> {
        let fields = self.notes.iter().map(|note| note.extra_fields());
        let in_use = fields.flat_map(|fields| fields.custom.iter().chain(fields.unknown));
        near_names(in_use.map(|(name, _)| name.as_str()).chain(OWN_FIELDS), name)
    }

    /// Expects that a note does not share its id with another: an id such as `x~2` names it only as long as both exist, so
    /// that nothing written to a file can refer to it.
    ///
    /// # Errors
    /// `Usage` if it does.
    pub fn expect_own_id(&self, position: NoteIdx) -> Result<(), Error> {
        let id = &self.notes()[position].id;
        if !id.as_str().contains('~') {
            return Ok(());
        }
        Err(Error::usage(format!("another note has the same id as `{id}`, so no link can refer to it"))
            .hint("give one of the two another id in its file first"))
    }

    /// As [`Store::resolve`], for a note that is changed or linked to, which has the whole name.
    ///
    /// # Errors
    /// As there, and for the beginning of an id; `Store` if the name is neither an id nor a path, and might be that of a note that can't be read.
    pub fn resolve_to_change(&self, name: &str) -> Result<NoteIdx, Error> {
        let found = self.resolve_whole(name)?;
        self.in_progress.need(&self.notes()[found].path);
        if self.named(name).is_none() {
            self.expect_meant(name, &self.notes()[found].id)?;
        }
        Ok(found)
    }

    /// Returns the positions of the notes with these names: see [`Store::resolve`].
    ///
    /// # Errors
    /// `NoNote`, listing the names that no note has; `Usage` for a name that several notes have.
    pub fn positions(&self, ids: &[String]) -> Result<Vec<NoteIdx>, Error> {
        self.positions_by(ids, Self::resolve)
    }

    /// As [`Store::positions`], each note once, for notes that are changed: see [`Store::resolve_to_change`].
    ///
    /// # Errors
    /// As both.
    pub fn positions_to_change(&self, ids: &[String]) -> Result<Vec<NoteIdx>, Error> {
        let mut notes = self.positions_by(ids, Self::resolve_to_change)?;
        let mut seen = HashSet::new();
        notes.retain(|note| seen.insert(*note));
        Ok(notes)
    }

    fn positions_by(
        &self,
        ids: &[String],
        resolve: fn(&Self, &str) -> Result<NoteIdx, Error>,
    ) -> Result<Vec<NoteIdx>, Error> {
        let mut found = Vec::new();
        let mut unknown = Vec::new();
        for text in ids {
            match resolve(self, text) {
                Ok(position) => found.push(position),
                Err(error) if error.kind == ErrorKind::NoNote => unknown.push(format!("`{text}`")),
                Err(error) => return Err(error),
            }
        }
        if unknown.is_empty() {
            return Ok(found);
        }
        Err(self.unknown(&unknown))
    }
}

/// Returns the position of the note with an id, of the first collection that has it unless the id names one. The notes are
/// sorted by collection and id.
pub(crate) fn position_of(notes: &[Arc<NoteHandle>], id: &NoteId) -> Option<NoteIdx> {
    position_in(notes, id, naming_collection(notes))
}

/// Returns a collection that knows the other names of all; `None` if there is only the project's store, whose notes do not
/// know them.
pub(crate) fn naming_collection(notes: &[Arc<NoteHandle>]) -> Option<&Collection> {
    notes.last().and_then(|last| last.collection())
}

/// See [`position_of`]. `about`: a collection that knows the other names of all.
fn position_in(notes: &[Arc<NoteHandle>], id: &NoteId, about: Option<&Collection>) -> Option<NoteIdx> {
    let collection = id.collection().map(|name| about.map_or(name, |about| about.current_name(name)));
    let mut first = 0;
    while let Some(note) = notes.get(first) {
        let ordinal = note.collection_ordinal();
        let rest = notes.get(first..).unwrap_or_default();
        // Most stores are one collection.
        let is_last = rest.last().is_some_and(|last| last.collection_ordinal() == ordinal);
        let count =
            if is_last { rest.len() } else { rest.partition_point(|note| note.collection_ordinal() <= ordinal) };
        let own = rest.get(..count).unwrap_or_default();
        if collection.is_none_or(|name| name == note.collection_name())
            && let Ok(found) = own.binary_search_by(|note| note.id.local().cmp(id.local()))
        {
            return Some(NoteIdx::new(first + found));
        }
        first += count;
    }
    None
}

/// Returns the notes whose id or title is similar to a name, the most similar first, as they are shown.
fn near_notes(notes: &[Arc<NoteHandle>], name: &str) -> Vec<String> {
    let name = folded(name);
    let score = |note: &NoteHandle| {
        let title = folded(note.title());
        let by_id = if is_typo(&folded(note.id.as_str()), &name) { 1.0 } else { 0.0 };
        let by_part = if name.chars().count() >= MIN_PART && title.contains(&name) { 0.9 } else { 0.0 };
        f64::max(by_id, f64::max(by_part, strsim::normalized_levenshtein(&title, &name)))
    };
    most_similar(notes.iter().map(|note| (score(note), note))).map(|note| shown_with_title(note)).collect()
}

fn shown_with_title(note: &NoteHandle) -> String {
    format!("{} ({})", note.id, one_line(note.title()))
}

/// Returns the names in use that are similar to one that is not, the most similar first.
pub fn near_names<'a>(in_use: impl Iterator<Item = &'a str>, name: &str) -> Vec<String> {
    let tags: BTreeSet<&str> = in_use.collect();
    let name = folded(name);
    let score = |tag: &str| {
        let tag = folded(tag);
        let is_part = name.chars().count() >= MIN_PART && (tag.contains(&name) || name.contains(&tag));
        let is_similar = is_typo(&tag, &name) || (is_part && tag.chars().count() >= MIN_PART);
        let similarity = strsim::normalized_levenshtein(&tag, &name);
        if is_similar { similarity.max(MIN_SIMILARITY) } else { similarity }
    };
    most_similar(tags.into_iter().map(|tag| (score(tag), tag))).map(one_line).collect()
}

/// Yields the first [`MAX_SUGGESTIONS`] items by their similarity; of equal ones, the first.
fn most_similar<T>(scored: impl Iterator<Item = (f64, T)>) -> impl Iterator<Item = T> {
    let mut near: Vec<_> = scored.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, item)| item)
}

/// Whether a name is another one with one typing error, two in names of more than eight characters.
fn is_typo(a: &str, b: &str) -> bool {
    let allowed = if a.chars().count() > 8 { 2 } else { 1 };
    a.chars().count().abs_diff(b.chars().count()) <= allowed && strsim::osa_distance(a, b) <= allowed
}

fn folded(name: &str) -> String {
    name.chars().take(MAX_COMPARED).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Note;
    use crate::store::collections::config::Config;

    fn store(notes: &[(&str, &str, &str)]) -> Store {
        let note = |(id, title, aliases): &(&str, &str, &str)| {
            let text = format!("---\nid: {id}\ntitle: {title}\naliases: [{aliases}]\n---\n");
            Note::parse(&format!("notes/{id}.md"), text.into_bytes())
        };
        Store::from_notes("./".to_owned(), Config::default(), notes.iter().map(note).collect())
    }

    #[test]
    fn a_note_is_named_by_its_id_its_title_an_alias_or_the_beginning_of_its_id() {
        let store = store(&[
            ("Start", "Something else", ""),
            ("qp-77xv1a2b", "Start here", "qp-old1, Way in"),
            ("qp-78aa0000", "start HERE", ""),
            ("qp-9c9c9c9c", "Start", "Ambiguous, qp-77xv1a2b"),
            ("qp-9d9d9d9d", "Twice", "Ambiguous, Start here"),
            ("qp-9e9e9e9e", "Twice", ""),
            ("x7", "77xv1a2b and more", ""),
        ]);
        let resolved = |name: &str| match store.resolve(name) {
            Ok(position) => store.notes()[position].id.to_string(),
            Err(error) => format!("{}; {}", error.message, error.hint.unwrap_or_default()),
        };
        for (name, id) in [
            ("Start", "Start"),
            ("qp-77xv1a2b", "qp-77xv1a2b"),
            ("Start here", "qp-77xv1a2b"),
            (" start HERE ", "qp-78aa0000"),
            ("something ELSE", "Start"),
            ("qp-old1", "qp-77xv1a2b"),
            ("way in", "qp-77xv1a2b"),
            ("77xv1a2b", "qp-77xv1a2b"),
            ("77xv", "qp-77xv1a2b"),
            ("qp-78aa", "qp-78aa0000"),
        ] {
            assert_eq!(resolved(name), id, "{name}");
        }
        assert_eq!(resolved("START here"), "`START here` is the title of 2 notes; ids: qp-77xv1a2b, qp-78aa0000");
        assert_eq!(resolved("Twice"), "`Twice` is the title of 2 notes; ids: qp-9d9d9d9d, qp-9e9e9e9e");
        assert_eq!(resolved("ambiguous"), "`ambiguous` is an alias of 2 notes; ids: qp-9c9c9c9c, qp-9d9d9d9d");
        assert_eq!(resolved("9"), "`9` is a prefix of 3 ids; ids: qp-9c9c9c9c, qp-9d9d9d9d, qp-9e9e9e9e");
        assert_eq!(
            resolved("qp-77x"),
            "`qp-77x` is too short for the beginning of an id; it may mean qp-77xv1a2b (Start here)"
        );
        assert_eq!(resolved("x"), "`x` is too short for the beginning of an id; it may mean x7 (77xv1a2b and more)");
        for name in ["", " ", "nobody", "start her", "~", "qp-"] {
            let error = store.resolve(name).unwrap_err();
            let several = name == "qp-";
            assert_eq!(error.kind, if several { ErrorKind::Usage } else { ErrorKind::NoNote }, "{name}");
        }
        // A change takes the same names, without the beginnings.
        let to_change = |name: &str| store.resolve_to_change(name).map(|found| store.notes()[found].id.to_string());
        for name in ["qp-77xv1a2b", "77xv1a2b", "notes/qp-77xv1a2b.md", "Start here", "way in"] {
            assert_eq!(to_change(name).unwrap(), "qp-77xv1a2b", "{name}");
        }
        let error = to_change("77xv1a2").unwrap_err();
        assert_eq!(error.message, "`77xv1a2` is only the beginning of an id, and a change needs a whole name");
        assert_eq!(error.hint.as_deref(), Some("it may mean qp-77xv1a2b (Start here)"));
        let error = to_change("9").unwrap_err();
        assert_eq!(
            error.hint.as_deref(),
            Some("it may mean qp-9c9c9c9c (Start), qp-9d9d9d9d (Twice), qp-9e9e9e9e (Twice)")
        );
    }

    #[test]
    fn slips_and_parts_are_near_and_strangers_are_not() {
        let note = |id: &str, title: &str, tag: &str| {
            let text = format!("---\nid: {id}\ntitle: {title}\ntags: [{tag}]\n---\n");
            Arc::new(NoteHandle::parse(&format!("notes/{id}.md"), text.into_bytes()))
        };
        let notes = [
            note("qp-1a2b", "Retry fsync until it succeeds", "errors"),
            note("qp-9z9z", "Deploy windows", "deployment"),
            note("journal-2025-03-05", "2025-03-05", "api"),
        ];
        assert_eq!(near_notes(&notes, "qp-1a2c"), ["qp-1a2b (Retry fsync until it succeeds)"]);
        assert_eq!(near_notes(&notes, "Deploy Window"), ["qp-9z9z (Deploy windows)"]);
        assert_eq!(near_notes(&notes, "until it"), ["qp-1a2b (Retry fsync until it succeeds)"]);
        assert!(near_notes(&notes, "qp-zzzz").is_empty() && near_notes(&notes, "").is_empty());
        let tags = |name: &str| near_names(notes.iter().flat_map(|note| note.tags()), name);
        assert_eq!(tags("eror"), Vec::<String>::new());
        assert_eq!(tags("error"), ["errors"]);
        assert_eq!(tags("deploy"), ["deployment"]);
        assert_eq!(tags("apis"), ["api"]);
        assert!(tags("xyz").is_empty());
    }
}
