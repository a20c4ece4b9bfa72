//! `qipu search` and `qipu related`: report the notes that a query finds, or that are similar to a note.

use std::collections::HashSet;
use std::sync::Arc;

use super::list::passes;
use crate::context::{FieldFilter, QueryContent, Session};
use crate::error::Error;
use crate::escape::shortened;
use crate::graph::Compactions;
use crate::report::{
    Entry, EntryRole, MatchInfo, NoteContent, NoteEntry, Report, ReportHead, RowValue, UnknownWord, layout,
};
use crate::request::{RelatedRequest, Score, SearchRequest};
use crate::search::{self, Hit, Query};

/// Reports the notes that the query finds, the best first.
pub(super) fn run(request: &SearchRequest, session: &Session<'_>) -> Result<Report, Error> {
    let filters = FieldFilter::parse_all(&request.only.custom_filters)?;
    let store = session.store;
    let notes = store.notes();
    let (engine, around) = session.engine_and_neighbourhood(!request.no_graph);
    let found = engine.search(&Query::parse(&request.query), around.as_ref());
    let digests = Compactions::for_answer(notes, request.no_compaction);
    let least = request.min_relevance.map_or(0.0, Score::get);
    let mut seen = HashSet::new();
    let is_wanted = |hit: &Hit| {
        let note = &notes[hit.note];
        hit.relevance >= least && passes(&request.only, note) && filters.iter().all(|filter| filter.matches(note))
    };
    let stand_in = |hit: Hit| Hit { note: digests.representative(hit.note), ..hit };
    // Filters apply to the note that was found, not to its digest.
    let hits = found.hits.into_iter().filter(is_wanted).map(stand_in).filter(|hit| seen.insert(hit.note));
    let hits: Vec<Hit> = session.store.retired_last(hits, |hit| hit.note);
    let matched = hits.len();
    let content: Arc<dyn NoteContent> = Arc::new(QueryContent::new(found.highlighter.map(Arc::new)));
    let entry = |hit: &Hit| {
        let parts = if request.explains { score_parts(hit) } else { Vec::new() };
        let found = MatchInfo { relevance: hit.relevance, has_snippet: true, parts, ..MatchInfo::default() };
        let entry = super::note_entry(store, &digests, hit.note, EntryRole::Selected);
        let content = Some(Arc::clone(&content));
        Entry::Note(NoteEntry { match_info: Some(Box::new(found)), content, ..entry })
    };
    let entries = hits.iter().take(request.limit.unwrap_or(usize::MAX)).map(entry).collect();
    let head =
        ReportHead { spellings: spellings(found.spellings), ..super::head(store, &layout::SEARCH, false, matched) };
    Ok(report(head, entries))
}

/// Reports the notes that are most similar to one and not linked with it.
pub(super) fn run_related(request: &RelatedRequest, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    let notes = store.notes();
    let position = store.resolve(&request.id)?;
    let around = session.neighbourhood();
    let limit = request.limit.unwrap_or(usize::MAX);
    let (similar, matched) = session.engine().related(position, &around, &|other| store.is_retired(other), limit);
    let entries = similar.into_iter().map(|note| {
        let common = note.common.iter().map(|note| notes[*note].id.clone()).collect();
        let found = MatchInfo { relevance: note.relevance, shared: note.shared, common, ..MatchInfo::default() };
        let entry = NoteEntry::alone(&notes[note.note], EntryRole::Selected);
        Entry::Note(NoteEntry { match_info: Some(Box::new(found)), ..entry })
    });
    let entries = entries.collect();
    let mut head = super::head(store, &layout::RELATED, false, matched);
    head.facts.push(("id", RowValue::name(&notes[position].id)));
    Ok(report(head, entries))
}

fn report(head: ReportHead, entries: Vec<Entry>) -> Report {
    let is_limited = entries.len() < head.matched;
    Report::new(ReportHead { is_limited, ..head }, entries)
}

/// The most unknown words that are reported, and the most characters of each: they must leave room for the hits.
const MAX_SPELLINGS: usize = 8;
const MAX_CHARS: usize = 64;

/// Returns the words that no note contains, shortened for a report.
pub(super) fn spellings(spellings: Vec<search::Spelling>) -> Vec<UnknownWord> {
    let told = spellings.into_iter().take(MAX_SPELLINGS);
    told.map(|spelling| UnknownWord {
        word: short(&spelling.word),
        shown: spelling.shown.iter().map(|word| short(word)).collect(),
    })
    .collect()
}

/// Shortens a text of the user that is quoted beside an answer.
pub(super) fn short(text: &str) -> String {
    shortened(text, MAX_CHARS)
}

/// Returns the components of a score by name, without those that are 0.
fn score_parts(hit: &Hit) -> Vec<(&'static str, f64)> {
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
