//! Finds the part of a text that answers a query, and marks the words that do.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use super::analysis::stems::Stems;
use super::analysis::subtokens::for_each_term;
use super::analysis::term_beginnings::TermBeginnings;
use super::analysis::tokenizer::for_each_raw_token;
use super::query::plan::Plan;
use super::read::composite_index::CompositeIndex;
use super::score::bm25f::idf;
use crate::escape::EscapeFilter;

/// The length of a snippet, in grapheme clusters.
const LENGTH: usize = 160;
/// The most grapheme clusters before its first marked word.
const BEFORE: usize = 40;
/// The most bytes of a text that are searched.
const MAX_BYTES: usize = 256 * 1024;
/// The most matches in a text that are considered.
const MAX_MATCHES: usize = 4096;
/// The divisor of the weight of a repeated term.
const REPETITION: f64 = 16.0;
/// The least difference of weights that counts: sums of the same weights in another order differ by less.
const EPSILON: f64 = 1e-9;

/// An excerpt on one line, with the byte ranges to mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text, with `…` where it was cut. White space becomes one space, control characters become spaces.
    pub text: String,
    /// The byte ranges of the marked words, in order.
    pub marks: Vec<Range<usize>>,
    /// The byte offset in the searched text of the first of the words for which it was chosen.
    pub offset: usize,
}

/// Finds and marks the words of a query in texts. Holds no reference to the index.
#[derive(Debug)]
pub struct Highlighter {
    stems: Arc<Stems>,
    /// The inverse document frequency of each term of the query.
    idf: HashMap<String, f64>,
    beginnings: TermBeginnings,
}

/// An occurrence of a query term in a text.
struct Match {
    range: Range<usize>,
    /// The ordinal of the term among those of the text.
    term: usize,
    idf: f64,
}

impl Highlighter {
    pub(crate) fn new(plan: &Plan, index: &CompositeIndex) -> Self {
        let terms = plan.query_terms.iter().flat_map(|query_term| &query_term.terms);
        let entries = terms.filter_map(|term| index.term(*term));
        let idf_of = |doc_freq: u32| idf(index.note_count() as f64, f64::from(doc_freq));
        let idf = entries.map(|term| (term.text.to_string(), idf_of(term.doc_freq))).collect();
        Self::of(Arc::clone(&index.stems), idf)
    }

    fn of(stems: Arc<Stems>, idf: HashMap<String, f64>) -> Self {
        let beginnings = TermBeginnings::of(idf.keys().map(String::as_str));
        Self { stems, idf, beginnings }
    }

    /// Returns the part of a text that contains the most of the query; `None` if it contains nothing of it.
    pub fn snippet(&self, text: &str) -> Option<Snippet> {
        let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
        let matches = self.matches(text);
        let best = best_start(&matches)?;
        Some(Snippet { offset: best, ..cut_around(text, best, &matches) })
    }

    /// Returns the sum of the inverse document frequencies of the distinct query terms in a text; 0 if there are none.
    pub fn idf_weight(&self, text: &str) -> f64 {
        let mut found: Vec<(usize, f64)> = self.matches(text).iter().map(|found| (found.term, found.idf)).collect();
        found.sort_by_key(|(term, _)| *term);
        found.dedup_by_key(|(term, _)| *term);
        found.iter().fold(0.0, |sum, (_, idf)| sum + idf)
    }

    fn matches(&self, text: &str) -> Vec<Match> {
        let mut ordinals: HashMap<String, usize> = HashMap::new();
        let mut matches: Vec<Match> = Vec::new();
        for_each_raw_token(text, |token| {
            let is_ruled_out = || self.beginnings.content_terms_without(token.text, &self.stems).is_some();
            if matches.len() >= MAX_MATCHES || is_ruled_out() {
                return;
            }
            for_each_term(token.text, &self.stems, |term, range, _| {
                let Some(idf) = self.idf.get(term) else { return };
                let next = ordinals.len();
                let ordinal = *ordinals.entry(term.to_owned()).or_insert(next);
                let range = token.start + range.start..token.start + range.end;
                matches.push(Match { range, term: ordinal, idf: *idf });
            });
        });
        matches
    }
}

/// Returns the start of the window of a snippet's length with the highest sum of idf; the first such window.
fn best_start(matches: &[Match]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let (mut end, mut sum) = (0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for first in matches {
        while let Some(next) = matches.get(end).filter(|next| next.range.end <= first.range.start + LENGTH - BEFORE) {
            let count = counts.entry(next.term).or_default();
            sum += if *count == 0 { next.idf } else { next.idf / REPETITION };
            *count += 1;
            end += 1;
        }
        if best.is_none_or(|(highest, _)| sum > highest + EPSILON) {
            best = Some((sum, first.range.start));
        }
        if let Some(count) = counts.get_mut(&first.term).filter(|count| **count > 0) {
            *count -= 1;
            sum -= if *count == 0 { first.idf } else { first.idf / REPETITION };
        } else {
            end += 1;
        }
    }
    best.map(|(_, start)| start)
}

/// Cuts a snippet around a byte offset: from the beginning of a near sentence or line, else from white space.
fn cut_around(text: &str, offset: usize, matches: &[Match]) -> Snippet {
    let before = text.get(..offset).unwrap_or_default();
    let earliest = before.grapheme_indices(true).rev().take(BEFORE).last().map_or(offset, |(start, _)| start);
    let near = text.get(earliest..offset).unwrap_or_default();
    let sentence = near.rfind("\n\n").map(|end| end + 2).or_else(|| near.rfind(". ").map(|end| end + 2));
    let start = match sentence {
        Some(distance) => earliest + distance,
        None if earliest == 0 => 0,
        None => near.find(char::is_whitespace).map_or(offset, |distance| earliest + distance),
    };
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.grapheme_indices(true).nth(LENGTH).map_or(text.len(), |(length, _)| {
        let longest = rest.get(..length).unwrap_or_default();
        let space = longest.rfind(char::is_whitespace).filter(|space| *space > length / 2);
        start + space.unwrap_or(length)
    });
    to_one_line(text, start..end, matches)
}

/// Returns a range of a text on one line, with the ranges of the matches in it; overlapping ones are joined.
fn to_one_line(text: &str, range: Range<usize>, matches: &[Match]) -> Snippet {
    let mut snippet = Snippet::default();
    if !text.get(..range.start).unwrap_or_default().trim().is_empty() {
        snippet.text.push('…');
    }
    let mut inside = matches.iter().filter(|found| found.range.start >= range.start && found.range.end <= range.end);
    let mut next = inside.next();
    // The start of the open mark in the snippet, and its end in the text.
    let mut open: Option<(usize, usize)> = None;
    let slice = text.get(range.clone()).unwrap_or_default().trim_end();
    let indent = slice.len() - slice.trim_start().len();
    let mut filter = EscapeFilter::default();
    let mut chars = slice.char_indices().skip_while(|(offset, _)| *offset < indent).peekable();
    while let Some((offset, c)) = chars.next() {
        let position = range.start + offset;
        while let Some(found) = next.filter(|found| found.range.start <= position) {
            if let Some((_, end)) = &mut open {
                *end = (*end).max(found.range.end);
            } else if found.range.start == position {
                open = Some((snippet.text.len(), found.range.end));
            }
            next = inside.next();
        }
        if !c.is_whitespace() && !c.is_control() {
            snippet.text.extend(filter.shown(c, chars.peek().map(|(_, next)| *next)));
        } else if !snippet.text.ends_with(' ') {
            snippet.text.push(' ');
        }
        if let Some((start, _)) = open.take_if(|(_, end)| position + c.len_utf8() >= *end) {
            snippet.marks.push(start..snippet.text.len());
        }
    }
    if !text.get(range.end..).unwrap_or_default().trim().is_empty() {
        snippet.text.push('…');
    }
    snippet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Language;

    fn marked(text: &str, words: &[&str]) -> String {
        let idf = words.iter().map(|word| ((*word).to_owned(), 1.0)).collect();
        let highlighter = Highlighter::of(Arc::new(Stems::new(Language::English)), idf);
        let Some(snippet) = highlighter.snippet(text) else { return "-".to_owned() };
        let mut out = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            out.insert(mark.end, ']');
            out.insert(mark.start, '[');
        }
        out
    }

    #[test]
    fn marks_words_where_most_of_them_occur() {
        let far = "Filler words here. ".repeat(20);
        assert_eq!(marked("Syncing, then\n\tSYNC again.", &["sync"]), "[Syncing], then [SYNC] again.");
        assert_eq!(marked("nothing", &["sync"]), "-");
        assert_eq!(
            marked(&format!("one sync. {far}And a torn write in a sync call. {far}"), &["sync", "tear"])
                .split(" Filler")
                .next(),
            Some("…And a [torn] write in a [sync] call.")
        );
        assert_eq!(marked("停電後のファイル", &["ファ", "ァイ", "イル"]), "停電後の[ファイル]");
        assert_eq!(marked("a HashMap, b", &["hashmap", "map"]), "a [HashMap], b");
        assert_eq!(marked("l'\u{e9}t\u{e9} \u{1b}[31m", &["ete"]), "[l'\u{e9}t\u{e9}] [31m");
    }
}
