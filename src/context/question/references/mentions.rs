//! The passages of a question that may name notes.

use std::ops::Range;

use jiff::civil::Date;

use crate::calendar::{DatePhrase, Tokens, parse_day};

/// The most words of a title next to `page` or `note`.
const MAX_WORDS: usize = 8;

/// The most names of each form that are looked up for one question, as a bound on its work.
const MAX_MENTIONS: usize = 64;

impl Mention {
    /// Returns a mention of one name or of spellings of it, which span the passage.
    fn whole(range: Range<usize>, names: Vec<String>) -> Self {
        Self { range, names, spans: Vec::new(), is_explicit: false, is_id: false, is_path: false, marker: None }
    }

    /// Returns the bytes of one of its names.
    pub(super) fn span(&self, name: usize) -> Range<usize> {
        self.spans.get(name).unwrap_or(&self.range).clone()
    }
}

/// Words before the title of `the X page`. A title may begin with them.
const DETERMINERS: [&str; 4] = ["the", "my", "our", "this"];
/// Words after the title.
const NOUNS: [&str; 2] = ["page", "note"];

/// The prefix of generated ids.
pub(super) const ID_PREFIX: &str = "qp-";

/// The minimum length of the random part of an id that is written without [`ID_PREFIX`], in bytes.
const MIN_ID: usize = 4;

/// The extension of the files of notes.
const MARKDOWN: &str = ".md";

/// The maximum length of a name in bytes.
pub(super) const MAX_NAME: usize = 400;

/// A passage of a question that may name notes.
pub(super) struct Mention {
    /// Its bytes in the question.
    pub(super) range: Range<usize>,
    /// The names that it may mean, the best first.
    pub(super) names: Vec<String>,
    /// For each name, its bytes in the question, if it is not the whole passage.
    spans: Vec<Range<usize>>,
    /// Whether it is in double brackets, and thus certainly a name.
    pub(super) is_explicit: bool,
    /// Whether its names can only be ids.
    pub(super) is_id: bool,
    /// Whether its name can only be the path of a file.
    pub(super) is_path: bool,
    /// The bytes of the words beside it that only say that it is a name: `page`, `note titled`.
    pub(super) marker: Option<Range<usize>>,
}

/// Finds all mentions of a question, sorted by their range.
pub(super) fn mentions(text: &str, tokens: &Tokens<'_>, today: Date) -> Vec<Mention> {
    let mut mentions = bracketed(text);
    let brackets: Vec<Range<usize>> = mentions.iter().map(|mention| mention.range.clone()).collect();
    let is_outside = |mention: &Mention| !brackets.iter().any(|range| overlaps(range, &mention.range));
    let words: Vec<(usize, &str)> = words(text).collect();
    mentions.extend(quoted(text).into_iter().filter(is_outside));
    mentions.extend(beside_words(text, &words).into_iter().filter(is_outside));
    mentions.extend(ids(&words).into_iter().filter(is_outside));
    mentions.extend(paths(&words).filter(is_outside));
    mentions.extend(whole_title(text, tokens, today));
    mentions.sort_by_key(|mention| (mention.range.start, mention.range.end));
    mentions
}

fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Finds `[[target]]`, `[[target|label]]` and `[[target#heading]]`.
fn bracketed(text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut offset = 0;
    while let Some(end) = text.get(offset..).and_then(|rest| rest.find("]]")).map(|end| offset + end) {
        let start = text.get(offset..end).and_then(|inside| inside.rfind("[[")).map(|start| offset + start);
        offset = end + 2;
        let Some(start) = start else { continue };
        let inside = text.get(start + 2..end).unwrap_or_default();
        let target = inside.split('|').next().unwrap_or_default().trim();
        let name = target.split_once('#').map(|(name, _)| name.trim());
        let names =
            [Some(target), name].into_iter().flatten().filter(|name| !name.is_empty() && name.len() <= MAX_NAME);
        let names: Vec<String> = names.map(str::to_owned).collect();
        if !names.is_empty() {
            let marker = noun_after(text, offset).or_else(|| noun_before(text, start));
            mentions.push(Mention { is_explicit: true, marker, ..Mention::whole(start..offset, names) });
        }
        if mentions.len() == MAX_MENTIONS {
            break;
        }
    }
    mentions
}

/// Finds quoted text: between two neighbouring quotation marks of one kind, without white space next to them.
fn quoted(text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut open: [Option<usize>; 4] = [None; 4];
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((offset, mark)) = chars.next() {
        let after = chars.peek().map_or(' ', |(_, c)| *c);
        let kind = match mark {
            '"' => 0,
            '“' | '”' | '„' => 1,
            '«' | '»' => 2,
            // An apostrophe inside a word is not a quotation mark.
            '\'' | '‘' | '’' if !before.is_alphanumeric() || !after.is_alphanumeric() => 3,
            _ => {
                before = mark;
                continue;
            }
        };
        before = mark;
        let end = offset + mark.len_utf8();
        let start = open.get_mut(kind).and_then(|open| open.replace(end));
        let Some(inside) = start.and_then(|start| text.get(start..offset)) else { continue };
        if !inside.is_empty() && inside.trim() == inside && inside.len() <= MAX_NAME && mentions.len() < MAX_MENTIONS {
            let range = start.unwrap_or(offset)..offset;
            let marker = noun_after(text, end);
            mentions.push(Mention { marker, ..Mention::whole(range, vec![inside.to_owned()]) });
        }
    }
    mentions
}

/// Finds words that are hardly anything but ids: with the prefix [`ID_PREFIX`], or the random part of such an id; several
/// parts with a digit (`adr-0012`) or separated by two hyphens (`guides--install`). A date, or a plain word such as `index`
/// that may be the id of a file too, is not found.
fn ids(words: &[(usize, &str)]) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for (start, word) in words {
        let id = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_generated = id.starts_with(ID_PREFIX) && id.len() > ID_PREFIX.len();
        let has_parts = id.contains("--") || (id.contains('-') && id.bytes().any(|byte| byte.is_ascii_digit()));
        let name = match id {
            _ if id.len() > MAX_NAME => continue,
            id if is_generated || (has_parts && parse_day(id).is_none()) => id.to_owned(),
            id if is_random(id) => format!("{ID_PREFIX}{id}"),
            _ => continue,
        };
        let start = start + word.find(id).unwrap_or_default();
        mentions.push(Mention { is_id: true, ..Mention::whole(start..start + id.len(), vec![name]) });
        if mentions.len() == MAX_MENTIONS {
            break;
        }
    }
    mentions
}

/// Finds the paths and names of files of notes: words with the extension of Markdown.
fn paths(words: &[(usize, &str)]) -> impl Iterator<Item = Mention> {
    let path = |(start, word): &(usize, &str)| {
        let path = word.trim_matches(|c: char| !c.is_alphanumeric() && !"._-".contains(c)).trim_end_matches('.');
        let is_note = path.len() > MARKDOWN.len() && path.ends_with(MARKDOWN) && path.len() <= MAX_NAME;
        let start = start + word.find(path).unwrap_or_default();
        let name = path.trim_start_matches("../").trim_start_matches("./").to_owned();
        is_note.then(|| Mention { is_path: true, ..Mention::whole(start..start + path.len(), vec![name]) })
    };
    words.iter().filter_map(path).take(MAX_MENTIONS)
}

/// Tells whether a word looks like the random part of an id: a letter after a digit, unlike a version (`ext4`, `utf8`).
fn is_random(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_id = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    bytes.len() >= MIN_ID
        && bytes.iter().all(is_id)
        && bytes.windows(2).any(|two| matches!(two, [a, b] if a.is_ascii_digit() && b.is_ascii_lowercase()))
}

/// Returns the whole text as a title if it has a digit and is no date phrase, so that no part of it is read as a date.
fn whole_title(text: &str, tokens: &Tokens<'_>, today: Date) -> Option<Mention> {
    let title = text.trim();
    let may_be_title = title.len() <= MAX_NAME && title.bytes().any(|byte| byte.is_ascii_digit());
    let start = text.find(title)?;
    let range = start..start + title.len();
    let is_date = || {
        let phrase = tokens.phrase_at(0, today, None);
        matches!(phrase, Some(DatePhrase { range: Some(_), warning: None, end })
            if end == tokens.len() && tokens.range(0, end) == range)
    };
    let is_title = may_be_title && !is_date();
    is_title.then(|| Mention::whole(range, vec![title.to_owned()]))
}

/// Returns the range of `page` or `note` as the next word after an offset.
fn noun_after(text: &str, offset: usize) -> Option<Range<usize>> {
    let (start, word) = words(text.get(offset..)?).next()?;
    let start = offset + start;
    is_noun(word).then(|| start..start + word.len())
}

/// Returns the range of `page` or `note` as the last word before an offset.
fn noun_before(text: &str, offset: usize) -> Option<Range<usize>> {
    let head = text.get(..offset)?.trim_end();
    let word = head.split_whitespace().next_back()?;
    is_noun(word).then(|| head.len() - word.len()..head.len())
}

fn is_noun(word: &str) -> bool {
    NOUNS.contains(&bare(word).to_lowercase().as_str())
}

/// Finds `the X page`, `my X note`, `page X`, and the words after `page called` or `note titled`.
fn beside_words(text: &str, words: &[(usize, &str)]) -> Vec<Mention> {
    let bare = |index: usize| words.get(index).map(|(_, word)| bare(word).to_lowercase()).unwrap_or_default();
    let range = |from: usize, to: usize| {
        let (start, _) = words.get(from)?;
        let (last, word) = words.get(to.checked_sub(1)?)?;
        Some(*start..last + word.len())
    };
    let begins_name = |from: usize| DETERMINERS.contains(&bare(from).as_str());
    let may_begin = |from: &usize| begins_name(*from) || from.checked_sub(1).is_some_and(begins_name);
    let mut mentions = Vec::new();
    for index in 0..words.len() {
        if mentions.len() >= MAX_MENTIONS {
            break;
        }
        let noun = bare(index);
        if !NOUNS.contains(&noun.as_str()) {
            continue;
        }
        let before = (1..=MAX_WORDS.min(index)).rev().map(|count| index - count).filter(may_begin);
        mentions.extend(mention(text, before.filter_map(|from| range(from, index)), range(index, index + 1)));
        let has_verb = matches!(bare(index + 1).as_str(), "called" | "titled" | "named");
        // In lower case, `page cache` and `note that` are ordinary words.
        let is_name = noun == "page" && words.get(index + 1).is_some_and(|(_, word)| is_like_name(word));
        if has_verb || is_name {
            let first = index + 1 + usize::from(has_verb);
            let after = (1..=MAX_WORDS).rev().map(|count| first + count).filter(|to| *to <= words.len());
            mentions.extend(mention(text, after.filter_map(|to| range(first, to)), range(index, first)));
        }
    }
    mentions
}

/// Tells whether a word begins with neither a lower-case letter nor a sign.
fn is_like_name(word: &str) -> bool {
    bare(word).chars().next().is_some_and(|first| first.is_alphanumeric() && !first.is_lowercase())
}

/// Makes a mention of spans, the longest first; punctuation around a span may belong to its name or not.
fn mention(text: &str, spans: impl Iterator<Item = Range<usize>>, marker: Option<Range<usize>>) -> Option<Mention> {
    let mut whole: Option<Range<usize>> = None;
    let (mut names, mut name_spans) = (Vec::new(), Vec::new());
    for span in spans {
        let source = text.get(span.clone()).unwrap_or_default();
        if source.len() > MAX_NAME {
            continue;
        }
        let has_signs = bare(source) != source && !bare(source).is_empty();
        for name in [Some(source), Some(bare(source)).filter(|_| has_signs)].into_iter().flatten() {
            names.push(name.to_owned());
            name_spans.push(span.clone());
        }
        whole.get_or_insert(span);
    }
    Some(Mention { spans: name_spans, marker, ..Mention::whole(whole?, names) })
}

/// Returns a word without quotation marks and punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| "\"'“”„‘’«».,;:?!()*_".contains(c))
}

/// Returns the words between white space, with their byte offsets.
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
