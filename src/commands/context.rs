//! `qipu context`: a bundle of notes, and what was found out about them.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::calendar::parse;
use crate::context::question::{PATTERNS, Question};
use crate::context::{
    AnswerScore, BlockLimits, MAX_NOTES_WITH_PASSAGES, NeedLimits, QueryContent, RankedNotes, Selection, Session,
    add_passages, assess, choose_blocks, compare, expand, journal_day, patterns, select,
};
use crate::error::Error;
use crate::note::NoteId;
use crate::report::{
    Analysis, Body, DayEntry, Entry, EntryRole, EntrySummary, LABELS, NoteContent, NoteEntry, Passages, PeriodEntry,
    Report, ReportHead, ReportKind, ShownFields,
};
use crate::request::{BlockChoice, BlockOptions, ContextRequest, ExpandRequest, MIN_CANDIDATES};
use crate::search::StopWords;
use crate::store::{BlocksSetting, ContextConfig, Store};

/// The most blocks of a note, and in all, where there is no budget and nobody names a number.
const MAX_BLOCKS_PER_NOTE: usize = 50;
const MAX_BLOCKS: usize = 100;

/// Without a budget, how many hits are weighed for each that may be shown.
const FOR_ONE: usize = 5;
/// The most hits, and the most journals of periods, that are looked through for blocks where there is no budget.
const MAX_LOOKED_AT: usize = 100;
/// Millionths of 1.
const MILLION: f64 = 1_000_000.0;

/// The most things of a sort that are told of a question, and the most characters of each: what is told
/// must leave room for the answer.
const MAX_TOLD: usize = 16;
const MAX_TERMS: usize = 32;

/// What is said where a question is asked of notes that hold no word of it.
const NO_MATCH: &str = "no word of the question stands there; the beginning is shown";

/// Selects notes and reports them in their order, behind what was found out about several.
pub(super) fn run(request: &ContextRequest, desk: &Session<'_>) -> Result<Report, Error> {
    let store = desk.store;
    let request = &with_settings(request, &store.config.context);
    // What does not count for the task must not take the place of what does, so limits come behind that.
    let limits = request.need.as_ref().map(|_| NeedLimits::of(request));
    let mut selection = match limits {
        Some(_) => select(desk, &request.selection, None, None)?,
        None => select(desk, &request.selection, request.max_hits, request.max_notes)?,
    };
    let mut question = selection.question.take();
    let found_out = question.as_mut().map(|question| found_out(store, &selection, question)).unwrap_or_default();
    let entry = |place: usize| super::note_entry(store, &selection.digests, place, EntryRole::Selected);
    let weighed = request.need.as_ref().zip(limits);
    let weighed = weighed.map(|(need, limits)| assess(desk, &selection, need, found_out.len(), limits, entry));
    let (mut notes, ranking, following) = match weighed {
        Some(weighed) => (weighed.entries, Some(weighed.ranking), weighed.following),
        None => (selection.notes.iter().map(|place| entry(*place)).collect::<Vec<NoteEntry>>(), None, 0),
    };
    let limits = block_limits(store, request.blocks.unwrap_or_default());
    let content = Arc::new(QueryContent {
        max_excerpt_blocks: limits.per_note.unwrap_or(MAX_BLOCKS_PER_NOTE),
        ..QueryContent::new(selection.highlighter.clone())
    });
    for entry in &mut notes {
        entry.content = Some(Arc::clone(&content) as Arc<dyn NoteContent>);
        if selection.journals.is_some() && journal_day(&entry.note).is_some() {
            entry.summary = EntrySummary::Excerpt;
        }
    }
    let shows_passages = request.shows_passages(&selection);
    if let (Some(room), Some(scorer)) = (shows_passages, &selection.scorer) {
        let standings = standings(store, &selection, &notes);
        add_passages(&mut notes, &standings, scorer, room);
    }
    if request.selection.within_notes && shows_passages.is_some() && !notes.iter().any(holds_words) {
        question.iter_mut().for_each(|question| question.warnings.push(NO_MATCH.to_owned()));
    }
    let named = named(store, &selection);
    let blocks = request.blocks.map(|blocks| add_blocks(&content, &named, (blocks, limits), &mut notes));
    let blocks = blocks.unwrap_or_default();
    let is_plain = request.selection.asking.as_ref().is_none_or(|asking| asking.is_plain);
    let told = question.filter(|question| !is_plain || !question.intents.is_empty());
    let head = ReportHead {
        kind: ReportKind::Context,
        store: Some(store.shown_path.clone()),
        banner: request.banner,
        show: ShownFields {
            body: match request.with_body {
                None => Body::ByFormat,
                Some(true) => Body::Shown,
                Some(false) => Body::Hidden,
            },
            has_sources: true,
            has_custom: request.with_custom,
            has_passages: shows_passages.is_some(),
            usual_confidence: usual_confidence(&notes),
            has_best_blocks: request.blocks.is_some_and(|blocks| blocks.choice == Some(BlockChoice::Top)),
        },
        matched: (selection.matched + following).saturating_sub(blocks.without),
        is_limited: blocks.is_limited || selection.notes.len() < selection.matched,
        spellings: super::search::spellings(selection.spellings),
        unknown_names: Vec::new(),
        warnings: Vec::new(),
        analysis: told.map(|question| Box::new(analysis(store, &question))),
        is_explained: request.need.as_ref().is_some_and(|need| need.explains),
        insufficient: selection.insufficient.filter(|_| ranking.is_none() && found_out.is_empty()),
    };
    let entries = found_out.into_iter().chain(notes.into_iter().map(Entry::Note)).collect();
    Ok(Report { ranking, ..Report::new(head, entries) })
}

impl ContextRequest {
    /// Returns the most characters of an answer that shows passages; `None` where it shows none.
    fn shows_passages(&self, selection: &Selection) -> Option<usize> {
        let is_wanted = self.with_body != Some(false) && self.blocks.is_none() && selection.scorer.is_some();
        self.passages_within.filter(|_| is_wanted)
    }
}

/// Tells whether a passage of a note holds a word of the question.
fn holds_words(entry: &NoteEntry) -> bool {
    let holds = |passages: &Passages| passages.fragments.iter().any(|fragment| fragment.worth > 0.0);
    entry.passages.as_deref().is_some_and(holds)
}

/// Returns for each entry of which passages may be shown how well its note answers, the best having 1; so have those
/// that were asked for by name. With a purpose, notes that are of less use for it answer less.
fn standings(store: &Store, selection: &Selection, entries: &[NoteEntry]) -> Vec<AnswerScore> {
    let utility = |entry: &NoteEntry| Some(entry.assessment.as_ref()?.utility?.total());
    let most = entries.iter().filter_map(utility).fold(0.0, f64::max);
    let standing = |entry: &NoteEntry| {
        let place = store.position(&entry.note.id)?;
        let is_named = selection.named.contains(&place);
        let is_hit = selection.relevance.contains_key(&place) && !is_named;
        let use_of_most = utility(entry).filter(|_| most > 0.0).map_or(1.0, |utility| utility / most);
        let share = if is_hit { use_of_most * selection.shares.get(&place).copied().unwrap_or_default() } else { 1.0 };
        Some(AnswerScore { share, is_named })
    };
    let standing = |entry| standing(entry).unwrap_or(AnswerScore { share: 1.0, is_named: false });
    entries.iter().take(MAX_NOTES_WITH_PASSAGES).map(standing).collect()
}

/// Returns the word for the confidence that most of the notes have of which passages are shown.
fn usual_confidence(entries: &[NoteEntry]) -> Option<&'static str> {
    let shown = entries.iter().filter(|entry| entry.passages.is_some());
    let labels: Vec<&str> = shown.filter_map(|entry| Some(entry.assessment.as_ref()?.confidence.label())).collect();
    let count = |label: &str| labels.iter().filter(|other| **other == label).count();
    LABELS.iter().map(|(label, _)| *label).max_by_key(|label| count(label)).filter(|label| count(label) > 0)
}

impl NeedLimits {
    /// Returns the limits of a request. Several times as many hits are weighed as are shown.
    fn of(request: &ContextRequest) -> Self {
        let max_hits = request.max_hits;
        let shown = max_hits.or(request.max_notes);
        let weighed = || shown.map_or(usize::MAX, |most| most.saturating_mul(FOR_ONE).max(MIN_CANDIDATES));
        Self { candidates: request.max_candidates.unwrap_or_else(weighed), answers: max_hits, notes: request.max_notes }
    }
}

/// Shows more of notes that were shown.
pub(super) fn run_expand(request: &ExpandRequest, desk: &Session<'_>) -> Result<Report, Error> {
    let RankedNotes { mut entries, ranking, .. } = expand(desk, request)?;
    let content: Arc<dyn NoteContent> = Arc::new(QueryContent { default_score: 1.0, ..QueryContent::new(None) });
    entries.iter_mut().for_each(|entry| entry.content = Some(Arc::clone(&content)));
    let head = ReportHead {
        banner: request.banner,
        show: ShownFields { has_sources: request.evidence, ..ShownFields::default() },
        matched: entries.len(),
        ..ReportHead::new(ReportKind::Expansion, Some(&desk.store.shown_path))
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
        question.add_pattern_period(count);
        entries.extend(patterns.into_iter().map(Entry::Pattern));
    }
    entries
}

/// Fills in what the store's config says where no flag does.
fn with_settings(request: &ContextRequest, config: &ContextConfig) -> ContextRequest {
    let mut request = request.clone();
    request.max_hits = request.max_hits.map(|usual| config.max_notes.map_or(usual, Into::into));
    let setting = config.blocks.map(|setting| match setting {
        BlocksSetting::All => BlockChoice::All,
        BlocksSetting::Matched => BlockChoice::Matched,
        BlocksSetting::Top => BlockChoice::Top,
    });
    let has_budget = request.max_candidates.is_some();
    match &mut request.blocks {
        Some(blocks) => blocks.choice = blocks.choice.or(setting).or(Some(BlockChoice::All)),
        // Notes at levels, and notes whose text is asked for or refused, have no blocks.
        blocks @ None if request.need.is_none() && request.with_body.is_none() => {
            let by_setting =
                |choice| BlockOptions { choice: Some(choice), has_defaults: !has_budget, ..BlockOptions::default() };
            *blocks = setting.map(by_setting);
        }
        None => {}
    }
    let chooses = request.blocks.is_some_and(|blocks| blocks.choice != Some(BlockChoice::All));
    if let Some(asking) = &mut request.selection.asking {
        let period = |text: &Option<String>| Some(parse(text.as_deref()?, asking.today).ok()?.period());
        let (since, until) = (period(&config.since), period(&config.until));
        asking.since = asking.since.or_else(|| since?.from);
        asking.until = asking.until.or_else(|| Some(until?.to));
        asking.search_limit = asking.search_limit.or_else(|| config.search_limit.map(Into::into));
        let millionths = |share: f64| (share * MILLION).round() as u32;
        asking.min_relevance = asking.min_relevance.or_else(|| config.min_relevance.map(millionths));
        asking.blocks_within = chooses.then(|| request.max_candidates.unwrap_or(MAX_LOOKED_AT));
    }
    request
}

/// Returns the notes that are shown whatever they hold: those that flags and the question name one by one.
fn named(store: &Store, selection: &Selection) -> HashSet<NoteId> {
    let notes = selection.named.iter().filter_map(|place| store.notes().get(*place));
    notes.map(|note| note.id.clone()).collect()
}

/// What came of choosing blocks.
#[derive(Default)]
struct BlocksAdded {
    /// Whether limits left any out.
    is_limited: bool,
    /// How many notes are left out since none of their blocks was asked for.
    without: usize,
}

/// Gives notes the blocks that are shown of them. Notes without one are left out, unless they are named: these
/// keep their place with their summary.
fn add_blocks(
    content: &QueryContent,
    named: &HashSet<NoteId>,
    (blocks, limits): (BlockOptions, BlockLimits),
    entries: &mut Vec<NoteEntry>,
) -> BlocksAdded {
    let choice = blocks.choice.unwrap_or_default();
    let notes = entries.iter().map(|entry| &entry.note);
    let (chosen, is_limited) = choose_blocks(notes, choice, limits, content);
    // Where nothing is searched for, no block can be wanted more than another.
    let keeps_all = choice == BlockChoice::All || content.highlighter.is_none();
    let mut added = BlocksAdded { is_limited, without: 0 };
    let all = std::mem::take(entries).into_iter().zip(chosen);
    for (entry, chosen) in all {
        if chosen.is_shown || keeps_all || named.contains(&entry.note.id) {
            entries.push(NoteEntry { shown_blocks: Some(chosen.blocks), ..entry });
        } else {
            added.without += usize::from(!chosen.has_any);
            added.is_limited |= chosen.has_any;
        }
    }
    added
}

fn block_limits(store: &Store, blocks: BlockOptions) -> BlockLimits {
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
