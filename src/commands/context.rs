//! `qipu context`: a bundle of notes, and what was found out about them.

use std::num::NonZeroUsize;

use crate::context::question::{PATTERNS, Question};
use crate::context::{
    BlockLimits, Desk, Selection, Weighed, compare, expand, gist, journal_day, patterns, select, show_blocks, weigh,
};
use crate::error::Error;
use crate::report::{Analysis, Body, DayEntry, Entry, Head, Mode, NoteEntry, PeriodEntry, Report, Role, Show};
use crate::request::{Blocks, Context, Expand};
use crate::search::StopWords;
use crate::store::Store;

/// The most blocks of a note, and in all, where there is no budget and nobody names a number.
const MAX_BLOCKS_PER_NOTE: usize = 50;
const MAX_BLOCKS: usize = 100;

/// The most things of a sort that are told of a question, and the most characters of each: what is told
/// must leave room for the answer.
const MAX_TOLD: usize = 16;
const MAX_TERMS: usize = 32;

/// Selects notes and reports them in their order, behind what was found out about several.
pub(super) fn run(request: &Context, desk: &Desk<'_>) -> Result<Report, Error> {
    let store = desk.store;
    let config = &store.config.context;
    let max_hits = request.max_hits.map(|usual| config.max_notes.map_or(usual, Into::into));
    let mut selection = select(desk, &request.selection, max_hits, request.max_notes)?;
    let mut question = selection.question.take();
    let found_out = question.as_mut().map(|question| found_out(store, &selection, question)).unwrap_or_default();
    let entry = |place: usize| super::note_entry(store, &selection.digests, place, Role::Selected);
    let weighed = request.need.as_ref().map(|need| {
        let max_hits = request.max_candidates.unwrap_or(usize::MAX);
        weigh(desk, &selection, need, found_out.len(), max_hits, entry)
    });
    let (mut notes, ranking) = match weighed {
        Some(weighed) => (weighed.entries, Some(weighed.ranking)),
        None => (selection.notes.iter().map(|place| entry(*place)).collect::<Vec<NoteEntry>>(), None),
    };
    if selection.journals.is_some() {
        let per_note = block_limits(store, request.blocks.unwrap_or_default()).per_note;
        let gist = gist(per_note.or(Some(MAX_BLOCKS_PER_NOTE)));
        let journals = notes.iter_mut().filter(|entry| journal_day(&entry.note).is_some());
        journals.for_each(|entry| entry.gist = Some(gist.clone()));
    }
    let lacks_blocks = request.blocks.is_some_and(|blocks| add_blocks(store, &selection, blocks, &mut notes));
    let is_plain = request.selection.asking.as_ref().is_none_or(|asking| asking.is_plain);
    let told = question.filter(|question| !is_plain || !question.intents.is_empty());
    let head = Head {
        mode: Mode::Context,
        store: Some(store.shown_path.clone()),
        banner: request.banner,
        show: Show {
            body: match request.with_body {
                None => Body::ByFormat,
                Some(true) => Body::Shown,
                Some(false) => Body::Hidden,
            },
            sources: true,
            custom: request.with_custom,
        },
        matched: selection.matched,
        is_limited: lacks_blocks || selection.notes.len() < selection.matched,
        spellings: super::search::spellings(selection.spellings),
        unknown_names: Vec::new(),
        analysis: told.map(|question| Box::new(analysis(store, &question))),
        explains: request.need.as_ref().is_some_and(|need| need.explains),
    };
    let entries = found_out.into_iter().chain(notes.into_iter().map(Entry::Note)).collect();
    Ok(Report { ranking, ..Report::new(head, entries) })
}

/// Shows more of notes that were shown.
pub(super) fn run_expand(request: &Expand, desk: &Desk<'_>) -> Result<Report, Error> {
    let Weighed { entries, ranking } = expand(desk, request)?;
    let head = Head {
        banner: request.banner,
        show: Show { sources: request.evidence, ..Show::default() },
        matched: entries.len(),
        ..Head::new(Mode::Expansion, Some(&desk.store.shown_path))
    };
    Ok(Report { ranking: Some(ranking), ..Report::new(head, entries.into_iter().map(Entry::Note).collect()) })
}

/// Compares and looks for patterns, where the question wants that.
fn found_out(store: &Store, selection: &Selection, question: &mut Question) -> Vec<Entry> {
    let Some(journals) = &selection.journals else { return Vec::new() };
    let stop_words = StopWords::new(store.config.language);
    let mut entries = Vec::new();
    if let Some(sides) = &question.comparison {
        entries.push(Entry::Comparison(Box::new(compare(store.notes(), journals, sides, &stop_words))));
    }
    if question.intents.contains(&PATTERNS) {
        // Days that `--since` and `--until` leave nothing of have no journals.
        let found = question.patterns.map(|period| patterns(store.notes(), journals, period, &stop_words));
        let (patterns, count) = found.unwrap_or_default();
        if count < 2 {
            question.warnings.push(format!("patterns need at least two journals, and there are {count}"));
        }
        question.tell(count);
        entries.extend(patterns.into_iter().map(Entry::Pattern));
    }
    entries
}

/// Gives notes the blocks that are shown of them. Returns whether limits left any out.
fn add_blocks(store: &Store, selection: &Selection, blocks: Blocks, entries: &mut [NoteEntry]) -> bool {
    let limits = block_limits(store, blocks);
    let notes = entries.iter().map(|entry| &entry.note);
    let (shown, is_limited) = show_blocks(notes, blocks.choice, limits, selection.marker.as_ref());
    for (entry, blocks) in entries.iter_mut().zip(shown) {
        entry.blocks = Some(blocks);
    }
    is_limited
}

fn block_limits(store: &Store, blocks: Blocks) -> BlockLimits {
    let config = &store.config.context;
    let usual = |config: Option<NonZeroUsize>, most| blocks.has_defaults.then(|| config.map_or(most, Into::into));
    BlockLimits {
        per_note: blocks.max_per_note.or_else(|| usual(config.max_blocks_per_note, MAX_BLOCKS_PER_NOTE)),
        in_all: blocks.max_in_all.or_else(|| usual(config.max_blocks, MAX_BLOCKS)),
    }
}

/// Returns what is told of a question.
fn analysis(store: &Store, question: &Question) -> Analysis {
    let short = super::search::short;
    let notes = store.notes();
    let references = question.references.iter().map(|reference| {
        let ids = reference.notes.iter().take(MAX_TOLD).filter_map(|note| Some(notes.get(*note)?.id.clone()));
        (short(&reference.text), ids.collect())
    });
    let dates = question.dates.iter().map(|named| DayEntry {
        text: short(&named.text),
        day: named.day,
        journals: named.journals,
    });
    let periods = question.periods.iter().map(|named| PeriodEntry {
        text: short(&named.text),
        from: named.period.from,
        to: named.period.to,
        journals: named.journals,
    });
    Analysis {
        references: references.take(MAX_TOLD).collect(),
        dates: dates.take(MAX_TOLD).collect(),
        periods: periods.take(MAX_TOLD).collect(),
        intents: question.intents.clone(),
        terms: question.terms.iter().take(MAX_TERMS).map(|term| short(term)).collect(),
        warnings: question.warnings.iter().take(MAX_TOLD).cloned().collect(),
    }
}
