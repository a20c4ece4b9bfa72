//! `qipu search` and `qipu related`: which notes answer words, or are like a note.

use std::collections::HashSet;
use std::sync::Arc;

use super::list::passes;
use crate::context::{FieldFilter, Session};
use crate::error::Error;
use crate::escape::shortened;
use crate::graph::Compactions;
use crate::report::{
    Body, Entry, EntryRole, Excerpt, MatchInfo, NoteEntry, Report, ReportHead, ReportKind, ShownFields, SnippetText,
    UnknownWord,
};
use crate::request::{RelatedRequest, SearchRequest};
use crate::search::{self, Hit, Query};
use crate::store::Store;

/// Millionths of 1.
const MILLION: f64 = 1_000_000.0;

/// Reports the notes that answer the query, the best first.
pub(super) fn run(request: &SearchRequest, desk: &Session<'_>) -> Result<Report, Error> {
    let filters = FieldFilter::parse_all(&request.only.custom_filters)?;
    let store = desk.store;
    let notes = store.notes();
    let (engine, around) = desk.searching(!request.no_graph);
    let found = engine.search(&Query::parse(&request.query), around.as_ref());
    let digests = Compactions::for_answer(notes, request.no_compaction);
    let least = f64::from(request.min_relevance) / MILLION;
    let mut seen = HashSet::new();
    let is_wanted = |hit: &Hit| {
        let note = &notes[hit.note];
        hit.relevance >= least && passes(&request.only, note) && filters.iter().all(|filter| filter.matches(note))
    };
    let stand_in = |hit: Hit| Hit { note: digests.representative(hit.note), ..hit };
    // Filters look at the note that was found, not at its digest.
    let hits = found.hits.into_iter().filter(is_wanted).map(stand_in).filter(|hit| seen.insert(hit.note));
    let hits: Vec<Hit> = desk.store.retired_last(hits, |hit| hit.note);
    let matched = hits.len();
    let highlighter = found.highlighter;
    let excerpt = Excerpt(Arc::new(move |note| highlighter.as_ref()?.snippet(note.body()).map(snippet)));
    let entry = |hit: &Hit| {
        let parts = if request.explains { parts(hit) } else { Vec::new() };
        let found =
            MatchInfo { relevance: hit.relevance, excerpt: Some(excerpt.clone()), parts, ..MatchInfo::default() };
        let entry = super::note_entry(store, &digests, hit.note, EntryRole::Selected);
        Entry::Note(NoteEntry { found: Some(Box::new(found)), ..entry })
    };
    let entries = hits.iter().take(request.limit.unwrap_or(usize::MAX)).map(entry).collect();
    let head = ReportHead { spellings: spellings(found.spellings), ..head(store, ReportKind::Search, matched) };
    Ok(report(head, entries))
}

/// Reports the notes that are most like one and not linked with it.
pub(super) fn run_related(request: &RelatedRequest, desk: &Session<'_>) -> Result<Report, Error> {
    let store = desk.store;
    let notes = store.notes();
    let place = store.resolve(&request.id)?;
    let around = desk.surroundings();
    let limit = request.limit.unwrap_or(usize::MAX);
    let (relatives, matched) = desk.engine().related(place, &around, &|other| store.is_retired(other), limit);
    let entries = relatives.into_iter().map(|relative| {
        let common = relative.common.iter().map(|note| notes[*note].id.clone()).collect();
        let found =
            MatchInfo { relevance: relative.relevance, shared: relative.shared, common, ..MatchInfo::default() };
        let entry = NoteEntry::alone(&notes[relative.note], EntryRole::Selected);
        Entry::Note(NoteEntry { found: Some(Box::new(found)), ..entry })
    });
    let entries = entries.collect();
    Ok(report(head(store, ReportKind::Related { id: notes[place].id.clone() }, matched), entries))
}

fn head(store: &Store, mode: ReportKind, matched: usize) -> ReportHead {
    let show = ShownFields { body: Body::Hidden, ..ShownFields::default() };
    ReportHead { show, matched, ..ReportHead::new(mode, Some(&store.shown_path)) }
}

fn report(head: ReportHead, entries: Vec<Entry>) -> Report {
    let is_limited = entries.len() < head.matched;
    Report::new(ReportHead { is_limited, ..head }, entries)
}

/// The most words that no note holds that are told, and the most characters of each: what is told
/// of a query must leave room for what it finds.
const MAX_SPELLINGS: usize = 8;
const MAX_CHARS: usize = 64;

/// Returns the words that no note holds, as a report tells them.
pub(super) fn spellings(spellings: Vec<search::Spelling>) -> Vec<UnknownWord> {
    let told = spellings.into_iter().take(MAX_SPELLINGS);
    told.map(|spelling| UnknownWord {
        word: short(&spelling.word),
        shown: spelling.shown.iter().map(|word| short(word)).collect(),
    })
    .collect()
}

/// Shortens a text of the user's that is told beside an answer.
pub(super) fn short(text: &str) -> String {
    shortened(text, MAX_CHARS)
}

fn snippet(found: search::Snippet) -> SnippetText {
    SnippetText { text: found.text, marks: found.marks }
}

/// Names the parts of a score; those that are nothing are left out.
fn parts(hit: &Hit) -> Vec<(&'static str, f64)> {
    let parts = hit.breakdown;
    let all = [
        ("score", hit.score),
        ("words", parts.words),
        ("sequence", parts.sequence),
        ("links", parts.links),
        ("nearness", parts.proximity),
        ("paragraph", parts.paragraph),
        ("likeness", parts.smoothing),
        ("times", parts.factor),
    ];
    all.into_iter().filter(|(_, part)| *part != 0.0).collect()
}
