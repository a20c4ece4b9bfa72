//! The place in a text that answers a query, with the words that do.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use crate::escape::EscapeFilter;
use crate::search::analysis::stems::Stems;
use crate::search::analysis::tokenizer::{MarkdownToken, for_each_piece, for_each_term};
use crate::search::query::plan::Plan;
use crate::search::read::composite_index::CompositeIndex;
use crate::search::score::ranking::inverse_frequency;

/// How long a snippet is, in characters as people see them.
const LENGTH: usize = 160;
/// How much of that may stand before its first word that is marked.
const BEFORE: usize = 40;
/// How much of a text is looked at, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// The most words in a text that are looked at.
const MAX_MATCHES: usize = 4096;

/// An excerpt on one line, with the byte ranges to mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text; `…` stands where it was cut. White space is one space, control characters are spaces.
    pub text: String,
    /// The bytes of the marked words, in their order.
    pub marks: Vec<Range<usize>>,
}

/// Finds and marks the words of a query in texts. Holds no reference to the index.
pub struct Highlighter {
    stems: Arc<Stems>,
    /// How much each term of the query says.
    terms: HashMap<String, f64>,
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter").field("terms", &self.terms.len()).finish_non_exhaustive()
    }
}

/// An occurrence of a query term in a text.
struct Match {
    range: Range<usize>,
    term: usize,
    says: f64,
}

impl Highlighter {
    pub(crate) fn new(plan: &Plan, index: &CompositeIndex) -> Self {
        let terms = plan.slots.iter().flat_map(|slot| slot.terms.iter().filter_map(|term| index.term(*term)));
        let says = |documents: u32| inverse_frequency(index.len() as f64, f64::from(documents));
        let terms = terms.map(|term| (term.text.to_string(), says(term.documents))).collect();
        Self { stems: Arc::clone(&index.stems), terms }
    }

    /// Returns the piece of a text that holds the most of the query; `None` where it holds nothing.
    pub fn snippet(&self, text: &str) -> Option<Snippet> {
        let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
        let matches = self.matches(text);
        let best = best_place(&matches)?;
        Some(cut(text, best, &matches))
    }

    /// Returns how much of the query a text holds: what each of its terms in it says, each once.
    pub fn says(&self, text: &str) -> f64 {
        let mut found: Vec<(usize, f64)> = self.matches(text).iter().map(|found| (found.term, found.says)).collect();
        found.sort_by_key(|(term, _)| *term);
        found.dedup_by_key(|(term, _)| *term);
        found.iter().fold(0.0, |sum, (_, says)| sum + says)
    }

    fn matches(&self, text: &str) -> Vec<Match> {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut matches: Vec<Match> = Vec::new();
        for_each_piece(text, |piece| {
            let MarkdownToken::RawToken(chunk) = piece else { return };
            if matches.len() >= MAX_MATCHES {
                return;
            }
            let start = chunk.start;
            for_each_term(chunk.text, &self.stems, |term, range, _| {
                let Some(says) = self.terms.get(term) else { return };
                let next = numbers.len();
                let number = *numbers.entry(term.to_owned()).or_insert(next);
                matches.push(Match { range: start + range.start..start + range.end, term: number, says: *says });
            });
        });
        matches
    }
}

/// Returns where the matches begin that say the most together in the length of a snippet; the
/// first such place.
fn best_place(matches: &[Match]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let (mut end, mut sum) = (0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for first in matches {
        while let Some(next) = matches.get(end).filter(|next| next.range.end <= first.range.start + LENGTH - BEFORE) {
            let count = counts.entry(next.term).or_default();
            sum += if *count == 0 { next.says } else { next.says / 16.0 };
            *count += 1;
            end += 1;
        }
        if best.is_none_or(|(most, _)| sum > most + 1e-9) {
            best = Some((sum, first.range.start));
        }
        if let Some(count) = counts.get_mut(&first.term).filter(|count| **count > 0) {
            *count -= 1;
            sum -= if *count == 0 { first.says } else { first.says / 16.0 };
        } else {
            end += 1;
        }
    }
    best.map(|(_, start)| start)
}

/// Cuts a snippet out of a text around a place, at white space where there is some.
fn cut(text: &str, place: usize, matches: &[Match]) -> Snippet {
    let before = text.get(..place).unwrap_or_default();
    // A sentence or line that begins not far before is begun with.
    let window: Vec<usize> = before.grapheme_indices(true).rev().take(BEFORE).map(|(at, _)| at).collect();
    let earliest = window.last().copied().unwrap_or(place);
    let near = text.get(earliest..place).unwrap_or_default();
    let start = match near.rfind("\n\n").map(|at| at + 2).or_else(|| near.rfind(". ").map(|at| at + 2)) {
        Some(at) => earliest + at,
        None if earliest == 0 => 0,
        None => near.find(char::is_whitespace).map_or(place, |at| earliest + at),
    };
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.grapheme_indices(true).nth(LENGTH).map_or(text.len(), |(at, _)| {
        let kept = rest.get(..at).unwrap_or_default();
        let space = kept.rfind(char::is_whitespace).filter(|space| *space > at / 2);
        start + space.unwrap_or(at)
    });
    one_line(text, start..end, matches)
}

fn one_line(text: &str, range: Range<usize>, matches: &[Match]) -> Snippet {
    let mut snippet = Snippet::default();
    let begins_cut = !text.get(..range.start).unwrap_or_default().trim().is_empty();
    if begins_cut {
        snippet.text.push('…');
    }
    let mut inside = matches.iter().filter(|found| found.range.start >= range.start && found.range.end <= range.end);
    let mut next = inside.next();
    let mut begin: Option<(usize, usize)> = None;
    let slice = text.get(range.clone()).unwrap_or_default().trim_end();
    let first = slice.len() - slice.trim_start().len();
    let (mut filter, mut chars) =
        (EscapeFilter::default(), slice.char_indices().skip_while(|(offset, _)| *offset < first).peekable());
    while let Some((offset, c)) = chars.next() {
        let at = range.start + offset;
        while let Some(found) = next.filter(|found| found.range.start <= at) {
            let until = begin.map_or(found.range.end, |(_, end)| end.max(found.range.end));
            if found.range.start == at || begin.is_some() {
                begin = Some((begin.map_or(snippet.text.len(), |(start, _)| start), until));
            }
            next = inside.next();
        }
        match c.is_whitespace() || c.is_control() {
            true if snippet.text.ends_with(' ') => {}
            true => snippet.text.push(' '),
            false => snippet.text.extend(filter.shown(c, chars.peek().map(|(_, next)| *next))),
        }
        if let Some((start, end)) = begin.filter(|(_, end)| at + c.len_utf8() >= *end) {
            let _ = end;
            snippet.marks.push(start..snippet.text.len());
            begin = None;
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
        let terms = words.iter().map(|word| ((*word).to_owned(), 1.0)).collect();
        let highlighter = Highlighter { stems: Arc::new(Stems::new(Language::English)), terms };
        let Some(snippet) = highlighter.snippet(text) else { return "-".to_owned() };
        let mut out = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            out.insert(mark.end, ']');
            out.insert(mark.start, '[');
        }
        out
    }

    #[test]
    fn marks_words_where_most_of_them_stand() {
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
