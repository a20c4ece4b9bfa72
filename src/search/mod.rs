//! Search: which notes answer a question, best first.

mod analysis;
mod duplicates;

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::note::Note;
pub use duplicates::{Alike, near_duplicates};

use analysis::{for_each_term, query_terms};

/// A note that a query found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The note's place among the notes that were searched.
    pub note: usize,
    /// How well it answers; comparable within one query only.
    pub score: f64,
}

/// BM25's saturation, and how much a body's length counts.
const K1: f64 = 1.6;
const B_BODY: f64 = 0.5;
const B_TITLE: f64 = 0.75;
/// How much a term counts in a title and in a tag, a body being 1.
const TITLE_WEIGHT: f64 = 2.0;
const TAG_WEIGHT: f64 = 2.0;

/// How often each of the query's terms stands in a note, by field: aliases count with the title,
/// a summary of the frontmatter with the body.
struct Counts {
    title: Vec<u32>,
    title_len: u32,
    tags: Vec<u32>,
    body: Vec<u32>,
    body_len: u32,
}

/// Ranks the notes that hold a word of the query: by score, then value, then place.
///
/// BM25 over title, tags and body with the weights above (Robertson and Zaragoza 2009, section
/// 3.4: fields are weighted before saturation). Sums run in the query's order, so that scores are
/// the same on every machine.
pub fn rank(notes: &[Arc<Note>], query: &str) -> Vec<Hit> {
    let terms = Terms::new(query);
    if terms.list.is_empty() {
        return Vec::new();
    }
    let counts: Vec<Counts> = notes.par_iter().map(|note| count(note, &terms)).collect();
    let idf = inverse_frequencies(&counts, terms.list.len());
    let average = |len: fn(&Counts) -> u32| {
        let total: u64 = counts.iter().map(|count| u64::from(len(count))).sum();
        (total as f64 / counts.len().max(1) as f64).max(1.0)
    };
    let body_average = average(|count| count.body_len);
    let title_average = average(|count| count.title_len);
    let mut hits = Vec::new();
    for (note, count) in counts.iter().enumerate() {
        let body_norm = 1.0 - B_BODY + B_BODY * f64::from(count.body_len) / body_average;
        let title_norm = 1.0 - B_TITLE + B_TITLE * f64::from(count.title_len) / title_average;
        let mut score = 0.0;
        for (term, (_, weight)) in terms.list.iter().enumerate() {
            let frequency = f64::from(count.body[term]) / body_norm
                + TITLE_WEIGHT * f64::from(count.title[term]) / title_norm
                + TAG_WEIGHT * f64::from(count.tags[term]);
            score += weight * idf[term] * (K1 + 1.0) * frequency / (frequency + K1);
        }
        if score > 0.0 {
            hits.push(Hit { note, score });
        }
    }
    hits.sort_by(|a, b| {
        let value = |hit: &Hit| notes[hit.note].value_or_default();
        b.score.total_cmp(&a.score).then_with(|| value(b).cmp(&value(a))).then_with(|| a.note.cmp(&b.note))
    });
    hits
}

/// `ln(1 + (N − df + ½) / (df + ½))` for each term.
fn inverse_frequencies(counts: &[Counts], terms: usize) -> Vec<f64> {
    (0..terms)
        .map(|term| {
            let holds = |count: &&Counts| count.title[term] + count.tags[term] + count.body[term] > 0;
            let frequency = counts.iter().filter(holds).count() as f64;
            let total = counts.len() as f64;
            (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln()
        })
        .collect()
}

fn count(note: &Note, terms: &Terms) -> Counts {
    let mut title = vec![0; terms.list.len()];
    let mut title_len = count_field(&note.title, terms, &mut title);
    for alias in &note.aliases {
        title_len += count_field(alias, terms, &mut title);
    }
    let mut tags = vec![0; terms.list.len()];
    for tag in &note.tags {
        count_field(tag, terms, &mut tags);
    }
    let mut body = vec![0; terms.list.len()];
    let mut body_len = count_field(note.body(), terms, &mut body);
    if let Some(summary) = note.summary_field() {
        body_len += count_field(summary, terms, &mut body);
    }
    Counts { title, title_len, tags, body, body_len }
}

/// Counts the query's terms in a text and returns how many terms the text has.
fn count_field(text: &str, terms: &Terms, counts: &mut [u32]) -> u32 {
    let mut len = 0;
    for_each_term(text, |term| {
        len += 1;
        let may_be_one = term.as_bytes().first().is_some_and(|byte| terms.first_bytes[usize::from(*byte)]);
        if may_be_one && let Some(place) = terms.place_of.get(term) {
            counts[*place] += 1;
        }
    });
    len
}

/// The terms of a query, with a table that turns most other words away at their first byte.
struct Terms {
    list: Vec<(String, f64)>,
    place_of: HashMap<String, usize>,
    first_bytes: [bool; 256],
}

impl Terms {
    fn new(query: &str) -> Self {
        let list = query_terms(query);
        let mut first_bytes = [false; 256];
        for byte in list.iter().filter_map(|(term, _)| term.as_bytes().first()) {
            first_bytes[usize::from(*byte)] = true;
        }
        let place_of = list.iter().enumerate().map(|(place, (term, _))| (term.clone(), place)).collect();
        Self { list, place_of, first_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(notes: &[(&str, &str)], query: &str) -> Vec<String> {
        let note = |(id, body): &(&str, &str)| {
            let text = format!("---\nid: {id}\ntitle: T\n---\n{body}");
            Arc::new(Note::parse(&format!("notes/{id}.md"), text.into_bytes()))
        };
        let notes: Vec<_> = notes.iter().map(note).collect();
        rank(&notes, query).iter().map(|hit| notes[hit.note].id.to_string()).collect()
    }

    #[test]
    fn finds_words_in_any_case_and_the_best_first() {
        let notes = [("a", "one fsync among many other words here"), ("b", "Fsync, fsync!"), ("c", "nothing")];
        assert_eq!(found(&notes, "What is FSYNC?"), ["b", "a"]);
        assert_eq!(found(&notes, "c++ (why"), [""; 0]);
        assert_eq!(found(&notes, ""), [""; 0]);
    }

    #[test]
    fn finds_pieces_of_text_without_spaces() {
        let notes = [("a", "停電後のファイル"), ("b", "電気")];
        assert_eq!(found(&notes, "停電"), ["a"]);
        assert_eq!(found(&notes, "ファイル"), ["a"]);
    }

    #[test]
    fn words_that_say_nothing_count_only_when_alone() {
        let notes = [("a", "the cat"), ("b", "the the the")];
        assert_eq!(found(&notes, "the cat"), ["a"]);
        assert_eq!(found(&notes, "the"), ["b", "a"]);
    }
}
