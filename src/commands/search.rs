//! `qipu search`: reports the notes that a query finds, or that are similar to a note.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::context::{NoteFilter, QueryContent, Session};
use crate::error::Error;
use crate::escape::shortened;
use crate::graph::{Replacements, Successions};
use crate::report::{
    Entry, EntryRole, MatchInfo, NoteContent, NoteEntry, Report, ReportHead, RowValue, UnknownWord, layout,
};
use crate::request::{RelatedRequest, Score, SearchRequest};
use crate::search::{self, BlockScorer, Highlighter, Hit, Query, SearchResults, SimilarNote, by_relevance};
use crate::store::{NoteIdx, Store};

/// Reports the notes that the query finds, the best first.
pub(super) fn run(request: &SearchRequest, session: &Session<'_>) -> Result<Report, Error> {
    let filter = NoteFilter::new(session, &request.filters)?;
    let store = session.store;
    let notes = store.notes();
    let (engine, around) = session.engine_and_neighbourhood(true);
    let query = if request.is_question { Query::question(&request.query) } else { Query::parse(&request.query) };
    let query = query.without(&request.without);
    let mut found = engine.search(&query, around.as_ref());
    let commits = session.search_commits(&query, &|_| true);
    let has_word = |word: &String| commits.as_ref().is_some_and(|commits| !commits.unknown.contains(word));
    found.unknown.retain(|word| !has_word(word));
    let commits = commits.filter(SearchResults::is_answer).unwrap_or_default();
    let replacements = Replacements::for_answer(notes, request.no_compaction);
    let question_match = [&found, &commits].map(SearchResults::question_match);
    let question_match = question_match.into_iter().rev().max_by_key(|matched| matched.level);
    let least = request.min_relevance.map_or(0.0, Score::get);
    let mut seen = HashSet::new();
    let is_wanted = |hit: &Hit| hit.relevance >= least && filter.matches(hit.note);
    // A replaced note is found too, behind the one that stands in for it.
    let shown = |hit: Hit| {
        let own = replacements.digests.representative(hit.note);
        [replacements.representative(own), own].map(|note| Hit { note, ..hit })
    };
    // Filters apply to the note that was found, not to its replacement.
    let hits = by_relevance(found.hits, commits.hits).into_iter().filter(is_wanted).flat_map(shown);
    let hits = hits.filter(|hit| seen.insert(hit.note)).collect();
    let hits = replacements.successions.outdated_last(store, hits, |hit| hit.note);
    let matched = hits.len();
    let content_of = |highlighter: Option<Highlighter>, scorer: Option<BlockScorer>| -> Arc<dyn NoteContent> {
        Arc::new(QueryContent::new(highlighter.map(Arc::new), scorer.map(Arc::new)))
    };
    let content = content_of(found.highlighter, found.scorer);
    let of_commits = content_of(commits.highlighter, commits.scorer);
    let entry = |hit: &Hit| {
        let parts = if request.explains { score_parts(hit) } else { Vec::new() };
        let found = MatchInfo { relevance: hit.relevance, has_snippet: true, parts, ..MatchInfo::default() };
        let entry = super::note_entry(store, &replacements.digests, hit.note, EntryRole::Selected);
        let content = Some(Arc::clone(if entry.note.is_commit() { &of_commits } else { &content }));
        Entry::Note(NoteEntry { match_info: Some(Box::new(found)), content, ..entry })
    };
    let entries = hits.iter().take(request.limit.unwrap_or(usize::MAX)).map(entry).collect();
    let head = ReportHead {
        spellings: spellings(found.spellings),
        question_match,
        ..super::head(store, &layout::SEARCH, false, matched)
    };
    Ok(report(head, entries))
}

/// Reports the notes that are most similar to one and not linked with it.
pub(super) fn run_related(request: &RelatedRequest, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    let notes = store.notes();
    let filter = NoteFilter::new(session, &request.filters)?;
    let position = store.resolve(&request.id)?;
    let around = session.neighbourhood();
    let limit = request.limit.unwrap_or(usize::MAX);
    let successions = session.successions();
    // The limit applies behind the notes that stand in for others.
    let found = if successions.is_empty() { limit } else { usize::MAX };
    let is_left_out = |other| store.is_retired(other) || !filter.matches(other);
    let (similar, matched) = session.engine().related(position, &around, &is_left_out, found);
    let (similar, matched) = if successions.is_empty() {
        (similar, matched)
    } else {
        let similar = with_successors(store, successions, position, similar);
        let count = similar.len();
        (similar, count)
    };
    let entries = similar.into_iter().take(limit).map(|note| {
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

/// Adds the notes that stand in for similar ones, except the one that all are similar to, and moves replaced ones last.
fn with_successors(
    store: &Store,
    successions: &Successions,
    of: NoteIdx,
    similar: Vec<SimilarNote>,
) -> Vec<SimilarNote> {
    let found: HashMap<NoteIdx, SimilarNote> = similar.iter().map(|note| (note.note, note.clone())).collect();
    let with_stand_in = |note: SimilarNote| {
        let current = successions.current(note.note);
        let replacement = match found.get(&current) {
            Some(found) => SimilarNote { relevance: note.relevance.max(found.relevance), ..found.clone() },
            None => SimilarNote { note: current, relevance: note.relevance, shared: Vec::new(), common: Vec::new() },
        };
        [replacement, note]
    };
    let mut seen = HashSet::from([of]);
    let notes = similar.into_iter().flat_map(with_stand_in).filter(|note| seen.insert(note.note));
    successions.outdated_last(store, notes.collect(), |note| note.note)
}

fn report(head: ReportHead, entries: Vec<Entry>) -> Report {
    let is_limited = entries.len() < head.matched;
    Report::new(ReportHead { is_limited, ..head }, entries)
}

/// The most unknown words that are reported, and the most characters of each: they must leave room for the hits.
const MAX_SPELLINGS: usize = 8;
const MAX_CHARS: usize = 64;

/// Returns the words that were read as others, shortened for a report.
pub(super) fn spellings(spellings: Vec<search::Spelling>) -> Vec<UnknownWord> {
    let told = spellings.into_iter().take(MAX_SPELLINGS);
    told.map(|spelling| UnknownWord { word: short(&spelling.word), read_as: spelling.read_as.as_deref().map(short) })
        .collect()
}

/// Shortens a text of the user that is quoted beside an answer.
pub(super) fn short(text: &str) -> String {
    shortened(text, MAX_CHARS)
}

/// Returns the components of a score by name, without those that are 0.
fn score_parts(hit: &Hit) -> Vec<(&'static str, f64)> {
    let parts = hit.breakdown;
    let parts_of_score = [
        ("words", parts.words),
        ("sequence", parts.sequence),
        ("links", parts.links),
        ("nearness", parts.proximity),
        ("paragraph", parts.paragraph),
        ("likeness", parts.smoothing),
        ("times", parts.factor),
    ];
    let all = parts_of_score.map(|(name, part)| (name, f64::from(part)));
    [("score", hit.score)].into_iter().chain(all).filter(|(_, part)| *part != 0.0).collect()
}
