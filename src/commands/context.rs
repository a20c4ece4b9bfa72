//! `qipu context`: a bundle of notes, with comparisons and patterns of journals.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::calendar::parse;
use crate::context::question::Question;
use crate::context::{
    AnswerScore, BlockLimits, CandidateLimits, MAX_NOTES_WITH_PASSAGES, Outdated, QueryContent, RankedNotes, Selection,
    Session, add_passages, assess, choose_blocks, compare, expand, patterns, rerank, select, weigh_mentions,
};
use crate::error::Error;
use crate::note::NoteId;
use crate::report::{
    Analysis, Body, DayEntry, Entry, EntryRole, EntrySummary, Layout, NoteContent, NoteEntry, PATTERNS, Passages,
    PeriodEntry, Report, ReportHead, ShownFields, layout,
};
use crate::request::{
    BlockChoice, BlockOptions, ContextRequest, ExpandRequest, MIN_CANDIDATES, Occasion, RelatedKind, Score,
};
use crate::search::StopWords;
use crate::store::{BlocksSetting, ContextConfig, NoteIdx, Store};

/// The most blocks of a note, without a budget and without a limit of the request.
const MAX_BLOCKS_PER_NOTE: usize = 50;
/// The most blocks of all notes in this case.
const MAX_BLOCKS: usize = 100;

/// The hits that are assessed for each that may be shown, without a budget.
const CANDIDATES_PER_HIT: usize = 5;
/// The most hits, and the most journals of periods, that are searched for blocks without a budget.
const MAX_BLOCK_NOTES: usize = 100;

/// The most references, days, periods and warnings of a question that are shown, so that they leave room for the answer.
const MAX_SHOWN: usize = 16;
/// The most terms of a question that are shown.
const MAX_TERMS: usize = 32;

/// The warning if the named notes contain no word of the question.
const NO_MATCH: &str = "these notes contain no word of the question; their beginnings are shown";

/// Selects notes and reports them in their order, after the comparison and the patterns.
pub(super) fn run(request: &ContextRequest, session: &Session<'_>) -> Result<Report, Error> {
    if let Some(answer) = answer(request, session)? {
        return Ok(answer);
    }
    let failed = || Error::failure("internal error: an embedder that failed is asked again");
    answer(request, session)?.ok_or_else(failed)
}

/// Returns the answer; `None` if an embedder that chose notes failed at their passages: it then takes no part in another one.
fn answer(request: &ContextRequest, session: &Session<'_>) -> Result<Option<Report>, Error> {
    let store = session.store;
    let request = &mut with_settings(request, &store.config.context);
    request.selection.is_semantic = takes_passages(request) && !is_unasked(request);
    // Limits apply after the assessment, so that notes of no use do not replace useful ones.
    let limits = request.assessment.is_some().then(|| CandidateLimits::take(request));
    let mut selection = select(session, &request.selection, Outdated::Hidden)?;
    let mut question = selection.question.take();
    let derived = question.as_mut().map(|question| derived(store, &selection, question)).unwrap_or_default();
    let entry = |note: NoteIdx| super::note_entry(store, &selection.replacements.digests, note, EntryRole::Selected);
    let assessed = request.assessment.as_ref().zip(limits);
    let assessed = assessed.map(|(options, limits)| assess(session, &selection, options, derived.len(), limits, entry));
    let (mut notes, candidates, following) = match assessed.transpose()? {
        Some(assessed) => (assessed.entries, Some(assessed.candidates), assessed.following),
        None => (notes_with_room(request, &selection).map(entry).collect(), None, 0),
    };
    let limits = block_limits(store, request.blocks.unwrap_or_default());
    let content = add_content(&mut notes, &selection, limits);
    let shows_passages = takes_passages(request) && selection.scorer.is_some();
    let passage_chars = request.room.chars.filter(|_| shows_passages);
    if let Some(room) = passage_chars
        && !choose_passages(request, session, &mut selection, &mut notes, room)
    {
        return Ok(None);
    }
    if request.selection.within_notes && passage_chars.is_some() && !notes.iter().any(has_answer) {
        question.iter_mut().for_each(|question| question.warnings.push(NO_MATCH.to_owned()));
    }
    // These are shown even without a block.
    let named = selection.named.iter().map(|position| store.notes()[*position].id.clone()).collect();
    let blocks = request.blocks.map(|blocks| add_blocks(&content, &named, (blocks, limits), &mut notes));
    let blocks = blocks.unwrap_or_default();
    let is_plain = request.selection.asking.as_ref().is_none_or(|asking| asking.is_plain);
    let shown_question = question.filter(|question| !is_plain || !question.intents.is_empty());
    let layout = layout_of(request);
    let head = ReportHead {
        banner: request.banner.or(is_unasked(request).then_some(true)),
        show: shown_fields(request, passage_chars.is_some()),
        matched: (selection.matched + following).saturating_sub(blocks.without),
        is_limited: blocks.is_limited || selection.notes.len() < selection.matched,
        spellings: super::search::spellings(selection.spellings),
        question_match: selection.question_match,
        analysis: shown_question.map(|question| Box::new(analysis(store, &question))),
        is_explained: request.assessment.as_ref().is_some_and(|options| options.explains),
        insufficient: selection.insufficient.filter(|_| candidates.is_none() && derived.is_empty()),
        ..ReportHead::new(layout, Some(&store.shown_path))
    };
    let entries = derived.into_iter().chain(notes.into_iter().map(Entry::Note)).collect();
    Ok(Some(Report { candidates, ..Report::new(head, entries) }))
}

/// Adds the fragments from which passages are chosen. Returns `false` if an embedder failed at that.
fn choose_passages(
    request: &ContextRequest,
    session: &Session<'_>,
    selection: &mut Selection,
    notes: &mut [NoteEntry],
    room: usize,
) -> bool {
    let Some(scorer) = &selection.scorer else { return true };
    let scores = answer_scores(session, selection, notes);
    add_passages(notes, &scores, (scorer, selection.commits.as_ref()), room, is_unasked(request));
    if let Some((embedder, found)) = session.embedder().zip(selection.semantic.as_ref()) {
        if !rerank(notes, session.store, embedder, found) {
            return false;
        }
        // Without a passage, there is nothing to order.
        let matched = selection.question_match.iter_mut().filter(|_| !notes.is_empty());
        matched.for_each(|matched| matched.model = Some(embedder.name().to_owned()));
    }
    if !request.selection.mentions.is_empty() {
        let position = |entry: &NoteEntry| session.store.position(&entry.note.id);
        let is_hit = |entry: &NoteEntry| position(entry).is_some_and(|note| selection.relevance.contains_key(&note));
        let is_late = occasion(request).is_some_and(Occasion::is_prompt);
        weigh_mentions(notes.iter_mut().filter(|entry| !is_hit(entry)), &request.selection.mentions, is_late);
    }
    true
}

/// Lets the notes show what of them answers the query, and journals among the selected days a part of their text. Returns
/// the content that they share.
fn add_content(notes: &mut [NoteEntry], selection: &Selection, limits: BlockLimits) -> Arc<QueryContent> {
    let content_of = |highlighter, scorer| {
        let max_excerpt_items = limits.per_note.unwrap_or(MAX_BLOCKS_PER_NOTE);
        Arc::new(QueryContent { max_excerpt_items, ..QueryContent::new(highlighter, scorer) })
    };
    let content = content_of(selection.highlighter.clone(), selection.scorer.clone());
    let of_commits = selection.commits.clone();
    let of_commits = of_commits.map(|commits| content_of(commits.highlighter, Some(commits.scorer)));
    for entry in notes {
        let is_commit = entry.note.is_commit();
        let own = of_commits.as_ref().filter(|_| is_commit).unwrap_or(&content);
        entry.content = Some(Arc::clone(own) as Arc<dyn NoteContent>);
        if selection.journals.is_some() && entry.note.journal_day().is_some() {
            entry.summary = EntrySummary::Excerpt;
        }
    }
    content
}

/// Whether an answer consists of passages, if words are searched for.
fn takes_passages(request: &ContextRequest) -> bool {
    let has_room = request.room.chars.is_some() && request.blocks.is_none();
    request.shows_passages && has_room && request.with_body != Some(false)
}

/// Returns the notes from which an answer without an assessment is filled. A query may select a million; those without a
/// matching block take no room.
fn notes_with_room(request: &ContextRequest, selection: &Selection) -> impl Iterator<Item = NoteIdx> {
    let most = request.room.entries.filter(|_| request.blocks.is_none()).unwrap_or(usize::MAX);
    selection.notes.iter().take(most).copied()
}

/// Whether a hook answers what nobody asked.
fn is_unasked(request: &ContextRequest) -> bool {
    occasion(request).is_some()
}

fn occasion(request: &ContextRequest) -> Option<Occasion> {
    request.selection.asking.as_ref()?.occasion
}

fn layout_of(request: &ContextRequest) -> &'static Layout {
    match (is_unasked(request), request.selection.mentions.is_empty()) {
        (true, _) => &layout::HOOK_NOTES,
        _ if request.has_pages => &layout::ASK,
        (false, false) => &layout::ABOUT,
        (false, true) => &layout::CONTEXT,
    }
}

fn shown_fields(request: &ContextRequest, has_passages: bool) -> ShownFields {
    let is_unasked = is_unasked(request);
    ShownFields {
        body: request.with_body.map_or(Body::ByFormat, |is_shown| if is_shown { Body::Shown } else { Body::Hidden }),
        has_sources: !is_unasked,
        has_custom: request.with_custom,
        // Who names notes may read them to change them.
        has_revision: request.with_custom && request.with_body == Some(true) && !request.selection.notes.is_empty(),
        has_passages,
        has_pages: request.has_pages,
        after: request.after,
        has_only_matches: is_unasked,
        has_best_blocks: request.blocks.is_some_and(|blocks| blocks.choice == Some(BlockChoice::Top)),
    }
}

/// Whether a passage of a note contains a word of the question.
fn has_answer(entry: &NoteEntry) -> bool {
    let has_worth = |passages: &Passages| passages.worth.iter().any(|worth| *worth > 0.0);
    entry.passages.get().is_some_and(|passages| has_worth(passages))
}

/// Returns how well the note of each entry with passages answers: 1 for the best hit and for notes that are no hits. With
/// a purpose, the score of a hit is multiplied by its utility as a share of the highest one.
fn answer_scores(session: &Session<'_>, selection: &Selection, entries: &[NoteEntry]) -> Vec<AnswerScore> {
    let utility = |entry: &NoteEntry| Some(entry.assessment.as_ref()?.utility?.total());
    let most = entries.iter().filter_map(utility).fold(0.0, f64::max);
    let score = |entry: &NoteEntry| {
        let position = session.store.position(&entry.note.id)?;
        let is_named = selection.named.contains(&position);
        let is_hit = selection.relevance.contains_key(&position) && !is_named;
        let utility_share = utility(entry).filter(|_| most > 0.0).map_or(1.0, |utility| utility / most);
        let share =
            if is_hit { utility_share * selection.shares.get(&position).copied().unwrap_or_default() } else { 1.0 };
        let is_first = is_named || selection.full_sentences.contains(&position);
        Some(AnswerScore { share, is_first, is_hit, is_in_sequence: session.is_in_sequence(position) })
    };
    let other = AnswerScore { share: 1.0, is_first: false, is_hit: false, is_in_sequence: false };
    let score = |entry| score(entry).unwrap_or(other);
    entries.iter().take(MAX_NOTES_WITH_PASSAGES).map(score).collect()
}

impl CandidateLimits {
    /// Takes the limits out of a request. Several times as many hits are assessed as are shown.
    fn take(request: &mut ContextRequest) -> Self {
        let (answers, notes) = (request.selection.max_hits.take(), request.selection.max_notes.take());
        let shown = answers.or(notes);
        let assessed = || shown.map_or(usize::MAX, |most| most.saturating_mul(CANDIDATES_PER_HIT).max(MIN_CANDIDATES));
        Self { candidates: request.room.candidates.unwrap_or_else(assessed), answers, notes }
    }
}

/// Reports more text of notes that an earlier bundle showed.
pub(super) fn run_expand(request: &ExpandRequest, session: &Session<'_>) -> Result<Report, Error> {
    let RankedNotes { mut entries, candidates, .. } = expand(session, request)?;
    let content: Arc<dyn NoteContent> = Arc::new(QueryContent { default_score: 1.0, ..QueryContent::new(None, None) });
    entries.iter_mut().for_each(|entry| entry.content = Some(Arc::clone(&content)));
    let head = ReportHead {
        banner: request.banner,
        show: ShownFields { has_sources: request.include.contains(&RelatedKind::Evidence), ..ShownFields::default() },
        matched: entries.len(),
        ..ReportHead::new(&layout::EXPANSION, Some(&session.store.shown_path))
    };
    Ok(Report { candidates: Some(candidates), ..Report::new(head, entries.into_iter().map(Entry::Note).collect()) })
}

/// Returns the comparison and the patterns that the question asks for.
fn derived(store: &Store, selection: &Selection, question: &mut Question) -> Vec<Entry> {
    let Some(journals) = &selection.journals else { return Vec::new() };
    let stop_words = StopWords::new(store.config.language);
    let mut entries = Vec::new();
    if let Some(sides) = &question.comparison {
        entries.push(Entry::Comparison(Box::new(compare(store.notes(), journals, sides, &stop_words))));
    }
    if question.intents.contains(&PATTERNS) {
        // A period outside `--since` and `--until` has no journals.
        let found = question.patterns.map(|period| patterns(store.notes(), journals, period, &stop_words));
        let (patterns, count) = found.unwrap_or_default();
        if count < 2 {
            question.warnings.push(format!("patterns need at least two journals; there are {count}"));
        }
        question.add_pattern_period(count);
        entries.extend(patterns.into_iter().map(Entry::Pattern));
    }
    entries
}

/// Returns a request with the settings of the store for all flags that are not given.
fn with_settings(request: &ContextRequest, config: &ContextConfig) -> ContextRequest {
    let mut request = request.clone();
    let max_hits = &mut request.selection.max_hits;
    *max_hits = max_hits.map(|usual| config.max_notes.map_or(usual, Into::into));
    let setting = config.blocks.map(|setting| match setting {
        BlocksSetting::All => BlockChoice::All,
        BlocksSetting::Matched => BlockChoice::Matched,
        BlocksSetting::Top => BlockChoice::Top,
    });
    let has_budget = request.room.chars.is_some();
    match &mut request.blocks {
        Some(blocks) => blocks.choice = blocks.choice.or(setting).or(Some(BlockChoice::All)),
        // Assessed notes, and notes with an explicit choice of bodies, have no blocks.
        blocks @ None if request.assessment.is_none() && request.with_body.is_none() => {
            let by_setting = |choice| BlockOptions { choice: Some(choice), has_defaults: !has_budget };
            *blocks = setting.map(by_setting);
        }
        None => {}
    }
    if let Some(assessment) = &mut request.assessment {
        let threshold = config.novelty_threshold.map(Score::new);
        assessment.novelty_threshold = assessment.novelty_threshold.or(threshold);
    }
    let chooses = request.blocks.is_some_and(|blocks| blocks.choice != Some(BlockChoice::All));
    if let Some(asking) = &mut request.selection.asking {
        let period = |text: &Option<String>| Some(parse(text.as_deref()?, asking.today).ok()?.period());
        let (since, until) = (period(&config.since), period(&config.until));
        asking.since = asking.since.or_else(|| since?.from);
        asking.until = asking.until.or_else(|| Some(until?.to));
        asking.search_limit = asking.search_limit.or_else(|| config.search_limit.map(Into::into));
        asking.min_relevance = asking.min_relevance.or_else(|| config.min_relevance.map(Score::new));
        asking.blocks_within = chooses.then(|| request.room.candidates.unwrap_or(MAX_BLOCK_NOTES));
    }
    request
}

/// The effect of a choice of blocks on the notes.
#[derive(Default)]
struct BlocksAdded {
    /// Whether limits left out any block.
    is_limited: bool,
    /// The number of notes removed for want of a matching block.
    without: usize,
}

/// Sets the blocks that are shown of each note. Notes without one are removed, and so are all after the limit is reached,
/// except for named ones, which are shown with their summary.
fn add_blocks(
    content: &QueryContent,
    named: &HashSet<NoteId>,
    (blocks, limits): (BlockOptions, BlockLimits),
    entries: &mut Vec<NoteEntry>,
) -> BlocksAdded {
    let choice = blocks.choice.unwrap_or_default();
    let notes = entries.iter().map(|entry| &entry.note);
    let (chosen, is_limited) = choose_blocks(notes, choice, limits, content);
    // Without a query, no block is better than another.
    let keeps_all = choice == BlockChoice::All || content.highlighter.is_none();
    let mut added = BlocksAdded { is_limited, without: 0 };
    let all = std::mem::take(entries).into_iter().zip(chosen);
    let mut is_full = false;
    for (entry, chosen) in all {
        is_full |= chosen.has_any && !chosen.is_shown;
        if chosen.is_shown || (keeps_all && !is_full) || named.contains(&entry.note.id) {
            entries.push(NoteEntry { shown_blocks: Some(Box::new(chosen.blocks)), ..entry });
        } else {
            added.without += usize::from(!chosen.has_any);
            added.is_limited |= chosen.has_any;
        }
    }
    added
}

fn block_limits(store: &Store, blocks: BlockOptions) -> BlockLimits {
    let config = &store.config.context;
    let limit = |set: Option<NonZeroUsize>, usual| set.map(Into::into).or(blocks.has_defaults.then_some(usual));
    BlockLimits {
        per_note: limit(config.max_blocks_per_note, MAX_BLOCKS_PER_NOTE),
        in_all: limit(config.max_blocks, MAX_BLOCKS),
    }
}

/// Returns the interpretation of a question for the report.
fn analysis(store: &Store, question: &Question) -> Analysis {
    let short = super::search::short;
    let notes = store.notes();
    let references = question.references.iter().map(|reference| {
        let ids = reference.notes.iter().take(MAX_SHOWN).map(|note| notes[*note].id.clone());
        (short(&reference.text), ids.collect())
    });
    let dates = question.dates.iter().map(|named| DayEntry { text: short(&named.text), ..named.clone() });
    let periods = question.periods.iter().map(|named| PeriodEntry { text: short(&named.text), ..named.clone() });
    Analysis {
        references: references.take(MAX_SHOWN).collect(),
        dates: dates.take(MAX_SHOWN).collect(),
        periods: periods.take(MAX_SHOWN).collect(),
        intents: question.intents.clone(),
        terms: question.terms.iter().take(MAX_TERMS).map(|term| short(term)).collect(),
        warnings: question.warnings.iter().take(MAX_SHOWN).cloned().collect(),
    }
}
