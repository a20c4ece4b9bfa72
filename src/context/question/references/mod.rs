//! The notes that a question names: `[[target]]`, ids, `the X page`, `note titled X`, titles in quotes.

mod mentions;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use jiff::civil::Date;

use crate::calendar::{DateRange, Tokens, parse, parse_day};
use crate::context::Journals;
use crate::escape::abbreviated;
use crate::note::NoteId;
use crate::store::{NoteHandle, NoteIdx, position_of};
use mentions::{ID_PREFIX, MAX_NAME, Mention, mentions};

/// The most ids in a warning about a name of several notes.
const MAX_LISTED_IDS: usize = 4;
/// The most notes that a title without brackets names. A title of more is a common word: in a tree of documents, each page of
/// a folder `docs` may have it.
const MAX_NAMESAKES: usize = 4;
/// The maximum growth of a name in bytes when its characters are mapped to lower case.
const MAX_KEY_GROWTH: usize = 3;

/// A note, or several notes of one name, that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteReference {
    /// The name in the question.
    pub text: String,
    /// The indices of the notes, in the order of their ids.
    pub notes: Vec<NoteIdx>,
}

/// The notes that a question names.
#[derive(Debug, Default)]
pub(super) struct NoteReferences {
    pub(super) found: Vec<NoteReference>,
    /// The byte ranges of names, in which no date is recognised, sorted by their start.
    pub(super) ranges: Vec<Range<usize>>,
    /// The ranges that are not searched for: days with a journal, generated ids, and `page` beside a name.
    pub(super) not_searched: Vec<Range<usize>>,
    /// The ranges of names in brackets that no note has.
    pub(super) unresolved: Vec<Range<usize>>,
    pub(super) warnings: Vec<String>,
}

/// How a name matches a note, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameMatch {
    Id,
    Title,
    TitleInAnyCase,
    Alias,
    Stem,
}

/// The notes that a name matches, by their indices.
type NoteMatches = Vec<(NameMatch, NoteIdx)>;

/// Finds the notes that a question names. Visits each note once, and none if the question mentions no name.
pub(super) fn references(
    text: &str,
    tokens: &Tokens<'_>,
    today: Date,
    notes: &[Arc<NoteHandle>],
    journals: &mut dyn FnMut() -> Arc<Journals>,
) -> NoteReferences {
    let mut references = NoteReferences::default();
    let mentions = mentions(text, tokens, today);
    if mentions.is_empty() {
        return references;
    }
    let matches = matches(&mentions, notes);
    for (mention, matches) in mentions.iter().zip(&matches) {
        references.add(mention, matches, today, notes, journals);
    }
    references.ranges.sort_by_key(|range| range.start);
    references
}

impl NoteReferences {
    /// Adds the notes of the first name of a mention that matches any; `matches` has those of each name.
    fn add(
        &mut self,
        mention: &Mention,
        matches: &[NoteMatches],
        today: Date,
        notes: &[Arc<NoteHandle>],
        journals: &mut dyn FnMut() -> Arc<Journals>,
    ) {
        let Some(first_name) = mention.names.first() else { return };
        let mut names = mention.names.iter().zip(matches).enumerate();
        let matched = names.find(|(_, (_, matches))| !matches.is_empty());
        match matched {
            Some((index, (name, matches))) if !mention.is_explicit || parse_day(name).is_none() => {
                let named = best(matches, notes);
                if mention.is_explicit || named.len() <= MAX_NAMESAKES {
                    self.add_notes(mention, index, named, notes);
                }
            }
            _ if mention.is_explicit => {
                let day = parse_day(first_name).map(DateRange::Day).or_else(|| parse(first_name, today).ok());
                let of_day =
                    if let Some(DateRange::Day(day)) = day { journals().on(day).collect() } else { Vec::new() };
                self.not_searched.extend((!of_day.is_empty()).then(|| mention.range.clone()));
                let by_name = || matched.map(|(_, (_, matches))| best(matches, notes)).unwrap_or_default();
                let found = if of_day.is_empty() { by_name() } else { of_day };
                self.ranges.push(mention.range.clone());
                if found.is_empty() {
                    self.unresolved.push(mention.range.clone());
                    self.warnings.push(format!("unresolved reference: {}", abbreviated(first_name)));
                } else {
                    self.not_searched.extend(mention.marker.clone());
                    self.push(first_name, found);
                }
            }
            _ => {}
        }
    }

    /// Adds the notes with one of the names of a mention.
    fn add_notes(&mut self, mention: &Mention, index: usize, named: Vec<NoteIdx>, notes: &[Arc<NoteHandle>]) {
        let Some(name) = mention.names.get(index) else { return };
        self.ranges.push(mention.span(index));
        self.not_searched.extend(mention.marker.clone());
        // The random characters of a generated id are no evidence for the notes that contain them.
        let is_id = |index: &NoteIdx| notes.get(index.index()).is_some_and(|note| note.id.as_str() == name);
        if mention.is_path {
            self.not_searched.push(mention.range.clone());
        }
        if name.starts_with(ID_PREFIX) && (mention.is_id || named.iter().any(is_id)) {
            self.not_searched.push(mention.range.clone());
        }
        if named.len() > 1 && !self.found.iter().any(|other| other.notes == named) {
            let ids = named.iter().filter_map(|index| Some(notes.get(index.index())?.id.as_str()));
            let ids: Vec<&str> = ids.take(MAX_LISTED_IDS).collect();
            let more = if named.len() > ids.len() { ", …" } else { "" };
            let (count, name) = (named.len(), abbreviated(name));
            self.warnings.push(format!("{count} notes are named {name}: {}{more}", ids.join(", ")));
        }
        self.push(name, named);
    }

    fn push(&mut self, name: &str, notes: Vec<NoteIdx>) {
        if !self.found.iter().any(|other| other.notes == notes) {
            self.found.push(NoteReference { text: name.to_owned(), notes });
        }
    }
}

/// Returns the notes that a name matches best, sorted. As for links, a draft has only names that no other note has.
fn best(matches: &[(NameMatch, NoteIdx)], notes: &[Arc<NoteHandle>]) -> Vec<NoteIdx> {
    let rank = |(name_match, note): &(NameMatch, NoteIdx)| {
        let is_draft = notes.get(note.index()).is_some_and(|note| note.is_draft());
        (*name_match != NameMatch::Id && is_draft, *name_match)
    };
    let best = matches.iter().map(rank).min();
    let of_best = matches.iter().filter(|found| Some(rank(found)) == best);
    let mut notes: Vec<NoteIdx> = of_best.map(|(_, note)| *note).collect();
    notes.sort_unstable();
    notes.dedup();
    notes
}

/// The names of mentions, indexed by their keys.
struct MentionIndex<'m> {
    mentions: &'m [Mention],
    /// For each key, the indices of a mention and of one of its names.
    by_key: HashMap<String, Vec<(usize, usize)>, RandomState>,
    /// Whether a key has this length in bytes; most names of notes are excluded by their lengths alone.
    has_length: Vec<bool>,
    /// For each mention and name, the notes that match.
    matches: Vec<Vec<NoteMatches>>,
    buffer: String,
}

impl<'m> MentionIndex<'m> {
    fn new(mentions: &'m [Mention]) -> Self {
        let matches = mentions.iter().map(|mention| vec![Vec::new(); mention.names.len()]).collect();
        let mut by_key: HashMap<String, Vec<(usize, usize)>, RandomState> = HashMap::default();
        let mut has_length = vec![false; MAX_NAME + 1];
        for (mention_index, mention) in
            mentions.iter().enumerate().filter(|(_, mention)| !mention.is_id && !mention.is_path)
        {
            for (name_index, name) in mention.names.iter().enumerate() {
                let key = key(name, String::new());
                if let Some(has_length) = has_length.get_mut(key.len()) {
                    *has_length = true;
                }
                by_key.entry(key).or_default().push((mention_index, name_index));
            }
        }
        Self { mentions, by_key, has_length, matches, buffer: String::new() }
    }

    /// Records a note under all names that equal one of its names; `match_of` compares the two exactly. Mentions that are
    /// not explicit match titles only, in any case.
    fn record(&mut self, index: NoteIdx, name: &str, is_title: bool, match_of: impl Fn(&str) -> NameMatch) {
        let may_match = self.has_length.get(name.len()).is_some_and(|has_length| *has_length);
        if !may_match && (is_plain(name) || name.len() > MAX_KEY_GROWTH * MAX_NAME) {
            return;
        }
        self.buffer = key(name, std::mem::take(&mut self.buffer));
        for (mention_index, name_index) in self.by_key.get(self.buffer.as_str()).into_iter().flatten() {
            let mention = self.mentions.get(*mention_index).filter(|mention| is_title || mention.is_explicit);
            let matches = self.matches.get_mut(*mention_index).and_then(|names| names.get_mut(*name_index));
            let mentioned = mention.and_then(|mention| Some((mention, mention.names.get(*name_index)?)));
            if let (Some((mention, mentioned)), Some(matches)) = (mentioned, matches) {
                let name_match = if mention.is_explicit { match_of(mentioned) } else { NameMatch::TitleInAnyCase };
                matches.push((name_match, index));
            }
        }
    }

    /// Records the notes whose ids are names of explicit mentions and of ids.
    fn record_ids(&mut self, notes: &[Arc<NoteHandle>]) {
        let may_name_id = |(mention, _): &(&Mention, &mut Vec<NoteMatches>)| mention.is_explicit || mention.is_id;
        for (mention, matches) in self.mentions.iter().zip(&mut self.matches).filter(may_name_id) {
            for (name, matches) in mention.names.iter().zip(matches) {
                let note = NoteId::parse_qualified(name).and_then(|id| position_of(notes, &id));
                matches.extend(note.map(|note| (NameMatch::Id, note)));
            }
        }
    }

    /// Records the notes whose files are named, by the ends of their paths: a path begins in the current folder, in that of the
    /// project, or in that of the notes.
    fn record_paths(&mut self, notes: &[Arc<NoteHandle>]) {
        for (mention, matches) in self.mentions.iter().zip(&mut self.matches).filter(|(mention, _)| mention.is_path) {
            for (name, matches) in mention.names.iter().zip(matches) {
                let path = |note: &NoteHandle| note.path.trim_start_matches("../").to_owned();
                let is_named = |note: &NoteHandle| has_end(&path(note), name) || has_end(name, &path(note));
                let named = NoteIdx::enumerate(notes).filter(|(_, note)| is_named(note));
                matches.extend(named.map(|(note, _)| (NameMatch::Id, note)));
            }
        }
    }
}

/// Whether a path ends with another one.
fn has_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn matches(mentions: &[Mention], notes: &[Arc<NoteHandle>]) -> Vec<Vec<NoteMatches>> {
    let mut names = MentionIndex::new(mentions);
    let has_explicit = mentions.iter().any(|mention| mention.is_explicit);
    let notes_to_visit = if names.by_key.is_empty() { &[] } else { notes };
    for (index, note) in NoteIdx::enumerate(notes_to_visit) {
        let title = note.title();
        let match_of = |name: &str| if name == title { NameMatch::Title } else { NameMatch::TitleInAnyCase };
        names.record(index, title, true, match_of);
        if has_explicit {
            let ties = if note.flags.has_aliases { note.relations() } else { Default::default() };
            ties.aliases.iter().for_each(|alias| names.record(index, alias, false, |_| NameMatch::Alias));
            names.record(index, note.stem(), false, |_| NameMatch::Stem);
        }
    }
    names.record_ids(notes);
    names.record_paths(notes);
    names.matches
}

/// Tells whether a name is ASCII with single spaces between words, so that its key has the same length.
fn is_plain(name: &str) -> bool {
    let mut before = b' ';
    let is_plain = name.bytes().all(|byte| {
        let is_plain = byte.is_ascii_graphic() || (byte == b' ' && before != b' ');
        before = byte;
        is_plain
    });
    is_plain && before != b' '
}

/// Returns a name in lower case with single spaces, in a reused buffer.
fn key(name: &str, mut buffer: String) -> String {
    buffer.clear();
    if is_plain(name) {
        buffer.push_str(name);
        buffer.make_ascii_lowercase();
        return buffer;
    }
    for word in name.split_whitespace() {
        if !buffer.is_empty() {
            buffer.push(' ');
        }
        buffer.extend(word.chars().flat_map(char::to_lowercase));
    }
    buffer
}
