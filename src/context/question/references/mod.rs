//! Notes that a question names: `[[target]]`, ids, `the X page`, `note titled X`, titles in quotes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use jiff::civil::Date;

use crate::calendar::{DateRange, parse, parse_day};
use crate::context::Journals;
use crate::escape::abbreviated;
use crate::note::{Note, NoteId};

/// The most words of a title that stands beside `page` or `note`.
const MAX_WORDS: usize = 8;
/// The most names that are looked for in one question; nobody writes more.
const MAX_MENTIONS: usize = 64;
/// How ids begin that qipu makes.
const ID_PREFIX: &str = "qp-";
/// The fewest characters of such an id that is written without its beginning.
const MIN_ID: usize = 4;
/// The longest name in bytes.
const MAX_NAME: usize = 400;

/// A note, or several of one name, that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteReference {
    /// The name as the question has it.
    pub text: String,
    /// The notes, in the order of their ids.
    pub notes: Vec<usize>,
}

/// What a question names.
#[derive(Debug, Default)]
pub(super) struct NoteReferences {
    pub(super) found: Vec<NoteReference>,
    /// The bytes of the question that are names, and so tell no date: in their order.
    pub(super) ranges: Vec<Range<usize>>,
    /// Those of them that are not searched for: days that stand for their journals, and ids that say nothing.
    pub(super) not_searched: Vec<Range<usize>>,
    pub(super) warnings: Vec<String>,
}

/// A place where a question may name notes.
struct Mention {
    /// Where it stands in the question.
    range: Range<usize>,
    /// The names that it may mean, the best first.
    names: Vec<String>,
    /// Whether it stands in double brackets, where nothing but a name can be meant.
    is_explicit: bool,
    /// Whether its names are ids, and nothing else.
    is_id: bool,
}

/// How a name fits a note; the best are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameMatch {
    Id,
    Title,
    TitleInAnyCase,
    Alias,
    Stem,
}

/// Finds what a question names. Notes are gone through once, and only if it may name any.
pub(super) fn references(
    text: &str,
    today: Date,
    notes: &[Arc<Note>],
    journals: &mut dyn FnMut() -> Arc<Journals>,
) -> NoteReferences {
    let mut mentions = bracketed(text);
    let brackets: Vec<Range<usize>> = mentions.iter().map(|mention| mention.range.clone()).collect();
    let is_free = |mention: &Mention| !brackets.iter().any(|range| overlap(range, &mention.range));
    mentions.extend(quoted(text).into_iter().filter(is_free));
    mentions.extend(beside_words(text).into_iter().filter(is_free));
    mentions.extend(ids(text).into_iter().filter(is_free));
    mentions.extend(whole_title(text, today));
    mentions.sort_by_key(|mention| (mention.range.start, mention.range.end));
    let mut references = NoteReferences::default();
    if mentions.is_empty() {
        return references;
    }
    let fitting = fitting(&mentions, notes);
    for (mention, fitting) in mentions.iter().zip(&fitting) {
        references.add(mention, fitting, today, notes, journals);
    }
    references.ranges.sort_by_key(|range| range.start);
    references
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

impl NoteReferences {
    fn add(
        &mut self,
        mention: &Mention,
        fitting: &[Vec<(NameMatch, usize)>],
        today: Date,
        notes: &[Arc<Note>],
        journals: &mut dyn FnMut() -> Arc<Journals>,
    ) {
        let named = mention.names.iter().zip(fitting).find(|(_, fitting)| !fitting.is_empty());
        let mut on = |day: Date| journals().on(day).collect::<Vec<usize>>();
        let (name, notes_named) = match (named, mention.names.first()) {
            (_, None) => return,
            (Some((name, fitting)), _) if !mention.is_explicit || parse_day(name).is_none() => (name, best(fitting)),
            (named, Some(name)) if mention.is_explicit => {
                let span = parse_day(name).map(DateRange::Day).or_else(|| parse(name, today).ok());
                let found = if let Some(DateRange::Day(day)) = span { on(day) } else { Vec::new() };
                self.not_searched.extend((!found.is_empty()).then(|| mention.range.clone()));
                let found = if found.is_empty() { named.map(|(_, fit)| best(fit)).unwrap_or_default() } else { found };
                self.ranges.push(mention.range.clone());
                if found.is_empty() {
                    return self.warnings.push(format!("unresolved reference: {}", abbreviated(name)));
                }
                return self.push(name, found);
            }
            _ => return,
        };
        self.ranges.push(mention.range.clone());
        if says_nothing(mention, name, &notes_named, notes) {
            self.not_searched.push(mention.range.clone());
        }
        if notes_named.len() > 1 && !self.found.iter().any(|have| have.notes == notes_named) {
            let ids: Vec<&str> =
                notes_named.iter().filter_map(|note| Some(notes.get(*note)?.id.as_str())).take(4).collect();
            let more = if notes_named.len() > ids.len() { ", …" } else { "" };
            let (count, name) = (notes_named.len(), abbreviated(name));
            self.warnings.push(format!("{count} notes are named {name}: {}{more}", ids.join(", ")));
        }
        self.push(name, notes_named);
    }

    fn push(&mut self, name: &str, notes: Vec<usize>) {
        if !self.found.iter().any(|have| have.notes == notes) {
            self.found.push(NoteReference { text: name.to_owned(), notes });
        }
    }
}

/// Tells whether a name is an id made of random characters: no note says more because it holds them.
fn says_nothing(mention: &Mention, name: &str, named: &[usize], notes: &[Arc<Note>]) -> bool {
    let is_id = |note: &usize| notes.get(*note).is_some_and(|note| note.id.as_str() == name);
    name.starts_with(ID_PREFIX) && (mention.is_id || named.iter().any(is_id))
}

/// Returns the notes that a name fits best.
fn best(fitting: &[(NameMatch, usize)]) -> Vec<usize> {
    let least = fitting.iter().map(|(fit, _)| *fit).min();
    let mut notes: Vec<usize> = fitting.iter().filter(|(fit, _)| Some(*fit) == least).map(|(_, note)| *note).collect();
    notes.sort_unstable();
    notes.dedup();
    notes
}

/// Finds `[[target]]`, `[[target|label]]`, `[[target#heading]]`, in one pass.
fn bracketed(text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut at = 0;
    while let Some(end) = text.get(at..).and_then(|rest| rest.find("]]")).map(|end| at + end) {
        let start = text.get(at..end).and_then(|inside| inside.rfind("[[")).map(|start| at + start);
        at = end + 2;
        let Some(start) = start else { continue };
        let inside = text.get(start + 2..end).unwrap_or_default();
        let target = inside.split('|').next().unwrap_or_default().trim();
        let name = target.split_once('#').map(|(name, _)| name.trim());
        let names =
            [Some(target), name].into_iter().flatten().filter(|name| !name.is_empty() && name.len() <= MAX_NAME);
        let names: Vec<String> = names.map(str::to_owned).collect();
        if !names.is_empty() {
            mentions.push(Mention { range: start..at, names, is_explicit: true, is_id: false });
        }
        if mentions.len() == MAX_MENTIONS {
            break;
        }
    }
    mentions
}

/// Finds what stands in quotes: between two neighbouring marks of one kind, if it touches both.
fn quoted(text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut open: [Option<usize>; 4] = [None; 4];
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, mark)) = chars.next() {
        let after = chars.peek().map_or(' ', |(_, c)| *c);
        let kind = match mark {
            '"' => 0,
            '“' | '”' | '„' => 1,
            '«' | '»' => 2,
            // An apostrophe inside a word is no quote.
            '\'' | '‘' | '’' if !before.is_alphanumeric() || !after.is_alphanumeric() => 3,
            _ => {
                before = mark;
                continue;
            }
        };
        before = mark;
        let end = at + mark.len_utf8();
        let start = open.get_mut(kind).and_then(|open| open.replace(end));
        let Some(inside) = start.and_then(|start| text.get(start..at)) else { continue };
        if !inside.is_empty() && inside.trim() == inside && inside.len() <= MAX_NAME && mentions.len() < MAX_MENTIONS {
            let range = start.unwrap_or(at)..at;
            mentions.push(Mention { range, names: vec![inside.to_owned()], is_explicit: false, is_id: false });
        }
    }
    mentions
}

/// Finds words that can hardly be anything but ids: what begins with `qp-`, or is one without it; names of several
/// parts with a digit (`adr-0012`) or between two hyphens (`guides--install`). A plain word such as `index` may be the
/// id of a file too, and names none; nor does a date.
fn ids(text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for (start, word) in words(text) {
        let id = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_made = id.starts_with(ID_PREFIX) && id.len() > ID_PREFIX.len();
        let has_parts = id.contains("--") || (id.contains('-') && id.bytes().any(|byte| byte.is_ascii_digit()));
        let name = match id {
            _ if id.len() > MAX_NAME => continue,
            id if is_made || (has_parts && parse_day(id).is_none()) => id.to_owned(),
            id if is_random(id) => format!("{ID_PREFIX}{id}"),
            _ => continue,
        };
        let start = start + word.find(id).unwrap_or_default();
        mentions.push(Mention { range: start..start + id.len(), names: vec![name], is_explicit: false, is_id: true });
        if mentions.len() == MAX_MENTIONS {
            break;
        }
    }
    mentions
}

/// Tells whether a word looks like the random part of an id: letters behind digits, as no version (`ext4`, `utf8`)
/// has them.
fn is_random(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_id = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    bytes.len() >= MIN_ID
        && bytes.iter().all(is_id)
        && bytes.windows(2).any(|two| matches!(two, [a, b] if a.is_ascii_digit() && b.is_ascii_lowercase()))
}

/// Takes the whole text for a title where it has a digit, so that no part of a title is read as a date.
fn whole_title(text: &str, today: Date) -> Option<Mention> {
    let title = text.trim();
    let may_be_title = title.len() <= MAX_NAME && title.bytes().any(|byte| byte.is_ascii_digit());
    let start = text.find(title)?;
    (may_be_title && parse(title, today).is_err()).then(|| Mention {
        range: start..start + title.len(),
        names: vec![title.to_owned()],
        is_explicit: false,
        is_id: false,
    })
}

/// Finds `the X page`, `the X note`, and what stands behind `page called`, `note titled`.
fn beside_words(text: &str) -> Vec<Mention> {
    let words: Vec<(usize, &str)> = words(text).collect();
    let bare = |at: usize| words.get(at).map(|(_, word)| bare(word).to_lowercase()).unwrap_or_default();
    let range = |from: usize, to: usize| {
        let (start, _) = words.get(from)?;
        let (last, word) = words.get(to.checked_sub(1)?)?;
        Some(*start..last + word.len())
    };
    let mut mentions = Vec::new();
    for (at, _) in words.iter().enumerate() {
        if mentions.len() >= MAX_MENTIONS {
            break;
        }
        if !matches!(bare(at).as_str(), "page" | "note") {
            continue;
        }
        let is_the =
            |from: usize| bare(from) == "the" || from.checked_sub(1).is_some_and(|before| bare(before) == "the");
        let before = (1..=MAX_WORDS.min(at)).rev().map(|count| at - count).filter(|from| is_the(*from));
        mentions.extend(mention(text, before.filter_map(|from| range(from, at))));
        if matches!(bare(at + 1).as_str(), "called" | "titled" | "named") {
            let after = (1..=MAX_WORDS).rev().map(|count| at + 2 + count).filter(|to| *to <= words.len());
            mentions.extend(mention(text, after.filter_map(|to| range(at + 2, to))));
        }
    }
    mentions
}

/// Makes a mention of spans, the longest first; each may have quotes and a full stop around.
fn mention(text: &str, spans: impl Iterator<Item = Range<usize>>) -> Option<Mention> {
    let mut whole: Option<Range<usize>> = None;
    let mut names = Vec::new();
    for span in spans {
        let written = text.get(span.clone()).unwrap_or_default();
        if written.len() > MAX_NAME {
            continue;
        }
        names.push(written.to_owned());
        if bare(written) != written && !bare(written).is_empty() {
            names.push(bare(written).to_owned());
        }
        whole.get_or_insert(span);
    }
    Some(Mention { range: whole?, names, is_explicit: false, is_id: false })
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| {
        matches!(
            c,
            '"' | '\''
                | '“'
                | '”'
                | '„'
                | '‘'
                | '’'
                | '«'
                | '»'
                | '.'
                | ','
                | ';'
                | ':'
                | '?'
                | '!'
                | '('
                | ')'
                | '*'
                | '_'
        )
    })
}

/// Returns the words between white space, with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        let start = text.len() - rest.len();
        rest = after;
        (!word.is_empty()).then_some((start, word))
    })
}

/// Finds for each name of each mention the notes that it fits: all in one pass over the notes.
fn fitting(mentions: &[Mention], notes: &[Arc<Note>]) -> Vec<Vec<Vec<(NameMatch, usize)>>> {
    let mut found: Vec<Vec<Vec<(NameMatch, usize)>>> =
        mentions.iter().map(|mention| vec![Vec::new(); mention.names.len()]).collect();
    let mut wanted: HashMap<String, Vec<(usize, usize)>, RandomState> = HashMap::default();
    let mut lengths = vec![false; MAX_NAME + 1];
    for (at, mention) in mentions.iter().enumerate().filter(|(_, mention)| !mention.is_id) {
        for (number, name) in mention.names.iter().enumerate() {
            let key = key(name, String::new());
            if let Some(is_wanted) = lengths.get_mut(key.len()) {
                *is_wanted = true;
            }
            wanted.entry(key).or_default().push((at, number));
        }
    }
    let has_explicit = mentions.iter().any(|mention| mention.is_explicit);
    let mut buffer = String::new();
    for (place, note) in notes.iter().enumerate().filter(|_| !wanted.is_empty()) {
        let mut look = |text: &str, fit: fn(&str, &str) -> Option<NameMatch>, is_title: bool| {
            // Nearly all names differ in their length already.
            let has_length = lengths.get(text.len()).is_some_and(|is_wanted| *is_wanted);
            if !has_length && (is_plain(text) || text.len() > 3 * MAX_NAME) {
                return;
            }
            buffer = key(text, std::mem::take(&mut buffer));
            let Some(places) = wanted.get(buffer.as_str()) else { return };
            for (at, number) in places {
                let Some(mention) = mentions.get(*at).filter(|mention| is_title || mention.is_explicit) else {
                    continue;
                };
                let fit = mention.names.get(*number).and_then(|name| fit(name, text));
                // Outside of brackets people don't mind the case.
                let fit = fit.map(|fit| if mention.is_explicit { fit } else { NameMatch::TitleInAnyCase });
                let fitting = found.get_mut(*at).and_then(|mention| mention.get_mut(*number));
                if let (Some(fit), Some(fitting)) = (fit, fitting) {
                    fitting.push((fit, place));
                }
            }
        };
        look(
            note.title(),
            |name, title| Some(if name == title { NameMatch::Title } else { NameMatch::TitleInAnyCase }),
            true,
        );
        if has_explicit {
            let ties = if note.has_aliases() { note.ties() } else { Default::default() };
            ties.aliases.iter().for_each(|alias| look(alias, |_, _| Some(NameMatch::Alias), false));
            look(note.stem(), |_, _| Some(NameMatch::Stem), false);
        }
    }
    for (mention, found) in mentions.iter().zip(&mut found).filter(|(mention, _)| mention.is_explicit || mention.is_id)
    {
        for (name, fitting) in mention.names.iter().zip(found) {
            let id = NoteId::parse(name).and_then(|id| notes.binary_search_by(|note| note.id.cmp(&id)).ok());
            fitting.extend(id.map(|place| (NameMatch::Id, place)));
        }
    }
    found
}

/// Tells whether a name is ASCII with single spaces between words, so that its key is as long as it is.
fn is_plain(name: &str) -> bool {
    let mut before = b' ';
    let is_fine = name.bytes().all(|byte| {
        let is_fine = byte.is_ascii_graphic() || (byte == b' ' && before != b' ');
        before = byte;
        is_fine
    });
    is_fine && before != b' '
}

/// Brings a name to small letters and single spaces, in a text that is used again.
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
