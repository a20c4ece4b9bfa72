//! Selection: the notes of a bundle and their order, with the passages, blocks and assessments that are shown of them.

mod assessment;
mod blocks;
mod comparison;
mod edges;
mod embeds;
mod filter;
mod importance;
mod journal_texts;
mod journals;
mod map_queries;
mod mentions;
mod namespaces;
mod neighbours;
mod passages;
mod patterns;
mod query_content;
mod query_selection;
pub mod question;
mod reranking;
mod session;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use assessment::{
    CandidateLimits, DistrustedStatements, RankedNotes, assess, assess_note, distrusted_statements, expand,
    invalid_fields,
};
pub use blocks::{BlockLimits, ChosenBlocks, choose_blocks};
pub use comparison::compare;
pub use edges::edge_entry;
pub use filter::{NoteFilter, parse_filters};
pub use importance::stated_type;
pub use journals::{Journals, day_of};
pub use map_queries::map_queries;
pub use mentions::weigh_mentions;
pub use namespaces::Namespaces;
pub use passages::{AnswerScore, MAX_NOTES_WITH_PASSAGES, add_passages};
pub use patterns::patterns;
pub use query_content::QueryContent;
pub use reranking::{SemanticHits, embedded_texts, rerank};
pub use session::Session;

use map_queries::notes_of_query;
use question::Question;

use crate::error::Error;
use crate::graph::{CONTRADICTS, Replacements, WalkLimits};
use crate::report::QuestionMatch;
use crate::request::{Occasion, Selectors};
use crate::search::{BlockScorer, Highlighter, Spelling};
use crate::store::{NoteIdx, NoteSet, Store};
use crate::warnings;

/// The selected notes, the best first.
#[derive(Debug, Default)]
pub struct Selection {
    /// The notes, as indices in the store.
    pub notes: Vec<NoteIdx>,
    /// The number of notes before any limit.
    pub matched: usize,
    /// The digests and successors that replace notes.
    pub replacements: Replacements,
    /// The words of the query that were read as others, and its phrases that no note contains.
    pub spellings: Vec<Spelling>,
    /// What an embedder finds for the question, if one takes part.
    pub semantic: Option<SemanticHits>,
    /// How well the hits match the question; `None` without one.
    pub question_match: Option<QuestionMatch>,
    /// The interpretation of the query, if it is a question.
    pub question: Option<Question>,
    /// The journals of the store, if the question needs them.
    pub journals: Option<Arc<Journals>>,
    /// Finds and weighs the words of the query in texts.
    pub highlighter: Option<Arc<Highlighter>>,
    /// Scores the blocks of notes.
    pub scorer: Option<Arc<BlockScorer>>,
    /// The same for commits, if some answer the query.
    pub commits: Option<CommitWords>,
    /// The score of each hit as a share of the best one, 0 to 1.
    pub shares: HashMap<NoteIdx, f64>,
    /// How well each mere hit answers, 0 to 1. Notes without an entry are selected by name, link or field.
    pub relevance: HashMap<NoteIdx, f64>,
    /// The own notes that contain every word of the query in one sentence, which precede documents.
    pub full_sentences: HashSet<NoteIdx>,
    /// The notes that a flag or the question names.
    pub named: HashSet<NoteIdx>,
    /// The notes that only the query selects, to which a limit may apply.
    pub answers: NoteSet,
    /// Why the query selects no note.
    pub insufficient: Option<String>,
    /// Whether hits were removed by a filter or a threshold.
    pub has_filtered: bool,
}

/// The words of a query in commits, which are ranked apart from notes.
#[derive(Debug, Clone)]
pub struct CommitWords {
    /// Finds and weighs them in texts.
    pub highlighter: Option<Arc<Highlighter>>,
    /// Scores the blocks of commits.
    pub scorer: Arc<BlockScorer>,
    /// The factor by which a score becomes comparable with one of notes.
    pub factor: f64,
    /// Whether the commits match weakly.
    pub is_weak: bool,
}

/// Whether a selection shows notes that others replace, or that were turned down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outdated {
    /// All of them, as any other note.
    Shown,
    /// Only those that the request asks for, and what was turned down where it contradicts a selected note. So are drafts,
    /// if the store hides them.
    Hidden,
}

/// Selects notes: named ones, maps of content with their members, what is linked to the named ones, the notes of a query, tags
/// and filters by value, and last the backlinks of all these. Each note occurs once, at its first position.
///
/// # Errors
/// `NoNote` for an id that does not exist; `Usage` for a bad filter expression or when nothing
/// selects.
pub fn select(session: &Session<'_>, selectors: &Selectors, outdated: Outdated) -> Result<Selection, Error> {
    let store = session.store;
    if !selectors.selects() {
        return Err(Error::usage("no notes are selected")
            .hint("give one of --note, --tag, --moc, --query, --where, --min-value, --type, --since, --until"));
    }
    let filter = NoteFilter::new(session, &selectors.filters)?;
    let hides_outdated = outdated == Outdated::Hidden && !filter.asks_for_status;
    let replacements = if hides_outdated { Replacements::for_answer } else { Replacements::only_digests };
    let of_config = selectors.asking.as_ref().map_or(&[][..], |_| &store.config.context.exclude_namespaces);
    let mut selector = Selector {
        session,
        store,
        selectors,
        filter,
        chosen: Vec::new(),
        seen: NoteSet::default(),
        over_limit: 0,
        result: Selection {
            replacements: replacements(store.notes(), selectors.no_compaction),
            ..Selection::default()
        },
        excluded: Namespaces::new(of_config),
        hides_outdated,
        asked: HashSet::new(),
    };
    selector.run()?;
    let Selector { chosen: mut notes, over_limit, result, .. } = selector;
    let insufficient = result.insufficient.filter(|_| notes.is_empty());
    let matched = notes.len() + over_limit;
    notes.truncate(selectors.max_notes.unwrap_or(usize::MAX));
    Ok(Selection { notes, matched, insufficient, ..result })
}

struct Selector<'a, 's> {
    session: &'a Session<'s>,
    store: &'a Store,
    selectors: &'a Selectors,
    filter: NoteFilter<'a, 's>,
    chosen: Vec<NoteIdx>,
    seen: NoteSet,
    /// The number of notes beyond the limit of the query that nothing else selects.
    over_limit: usize,
    /// The selection without its notes.
    result: Selection,
    /// The namespaces whose notes only `--note` selects.
    excluded: Namespaces,
    /// Whether notes that others replace, or that were turned down, are shown only if the request asks for them.
    hides_outdated: bool,
    /// Such notes that the request names without [`Selection::named`].
    asked: HashSet<NoteIdx>,
}

impl<'a, 's> Selector<'a, 's> {
    fn run(&mut self) -> Result<(), Error> {
        let roots = self.store.positions(&self.selectors.notes)?;
        for note in roots.iter().copied() {
            self.choose_itself(note);
            self.choose_itself(self.result.replacements.digests.representative(note));
        }
        self.result.named.extend(&self.chosen);
        // A graph and a pack have the notes that are named, and no others.
        if self.hides_outdated {
            let embedded = embeds::embedded_notes(self.session, &self.chosen);
            self.choose_passing(embedded);
        }
        let mocs = self.store.positions(&self.selectors.mocs)?;
        self.asked.extend(&mocs);
        for moc in mocs {
            let members = self.members(moc);
            self.choose_passing(members);
        }
        self.choose_around(&roots);
        let is_prompt = self.occasion().is_some_and(Occasion::is_prompt);
        if !is_prompt {
            self.choose_mentioning();
        }
        let beyond = self.choose_answers();
        if is_prompt {
            self.choose_mentioning();
        }
        self.choose_by_value();
        let with_backlinks = if self.selectors.backlinks { self.chosen.clone() } else { Vec::new() };
        for note in with_backlinks {
            let backlinks: Vec<NoteIdx> = self.session.graph().backlinks(note).collect();
            self.choose_passing(backlinks);
        }
        // Each counts once.
        self.over_limit = beyond.into_iter().filter(|note| self.seen.insert(*note)).count();
        Ok(())
    }

    /// Adds a note, or the one that stands in for it.
    fn choose(&mut self, note: NoteIdx) {
        let is_asked = self.asked.contains(&note);
        let replacements = &self.result.replacements;
        let shown =
            if is_asked { replacements.digests.representative(note) } else { replacements.representative(note) };
        self.choose_itself(shown);
    }

    fn choose_itself(&mut self, note: NoteIdx) {
        if self.seen.insert(note) {
            self.chosen.push(note);
        }
    }

    fn choose_passing(&mut self, notes: impl IntoIterator<Item = NoteIdx>) {
        let passing: Vec<NoteIdx> = notes.into_iter().filter(|note| self.passes(*note)).collect();
        self.without_withheld(passing, |note| *note).into_iter().for_each(|note| self.choose(note));
    }

    /// Removes notes that were turned down and hidden drafts, unless the request names them, or they were turned down and
    /// contradict one of the others.
    fn without_withheld<T>(&mut self, mut items: Vec<T>, note_of: impl Fn(&T) -> NoteIdx) -> Vec<T> {
        let out: Vec<NoteIdx> = items.iter().map(&note_of).filter(|note| self.is_hidden(*note)).collect();
        if out.is_empty() {
            return items;
        }
        let others = items.iter().map(&note_of).filter(|note| !self.is_hidden(*note));
        let others: HashSet<NoteIdx> = others.chain(self.chosen.iter().copied()).collect();
        // A draft does not get into an answer by a link of its own.
        let is_opponent = |note: NoteIdx| {
            let opponents = opponents(self.session, note);
            !self.store.is_hidden_draft(note) && opponents.iter().any(|other| others.contains(other))
        };
        let out: HashSet<NoteIdx> = out.into_iter().filter(|note| !is_opponent(*note)).collect();
        self.result.has_filtered |= !out.is_empty();
        items.retain(|item| !out.contains(&note_of(item)));
        items
    }

    /// Whether a note was turned down or is a hidden draft, and the request does not name it.
    fn is_hidden(&self, note: NoteIdx) -> bool {
        let shown = self.result.replacements.representative(note);
        self.hides_outdated && !self.store.is_shown_unasked(shown) && !self.is_named(note)
    }

    /// The occasion if nobody asked for notes.
    fn occasion(&self) -> Option<Occasion> {
        self.selectors.asking.as_ref()?.occasion
    }

    fn is_named(&self, note: NoteIdx) -> bool {
        self.asked.contains(&note) || self.result.named.contains(&note)
    }

    fn passes(&self, position: NoteIdx) -> bool {
        self.filter.matches(position) && !self.excluded.contains(&self.store.notes()[position])
    }

    /// Returns a map of content, its link targets and the notes of its queries; with `transitive`, those of maps among them
    /// too, breadth first. A query that is not valid has no notes.
    fn members(&mut self, moc: NoteIdx) -> Vec<NoteIdx> {
        let (store, transitive) = (self.store, self.selectors.transitive);
        let graph = self.session.graph();
        let mut members = vec![moc];
        let mut seen = HashSet::from([moc]);
        let mut next = 0;
        while let Some(&member) = members.get(next) {
            if next == 0 || (transitive && store.notes()[member].flags.is_moc) {
                let targets = graph.outgoing(member).map(|edge| edge.to);
                members.extend(targets.filter(|target| seen.insert(*target)));
                let found = self.notes_of_queries(member).into_iter();
                members.extend(found.filter(|note| seen.insert(*note)));
            }
            next += 1;
        }
        members
    }

    /// Returns the notes of the queries of a map, and warns of those that are not valid.
    fn notes_of_queries(&self, map: NoteIdx) -> Vec<NoteIdx> {
        let map = &self.store.notes()[map];
        let warn = |error: Error| warnings::add(format!("{}: {}", self.store.shown(&map.path), error.message));
        let found = map_queries(map).into_iter().map(|query| notes_of_query(self.session, &query));
        found.filter_map(|found| found.map_err(warn).ok()).flatten().collect()
    }

    /// Adds the notes within the walks from several roots, by hops, then in the order of the roots.
    fn choose_around(&mut self, roots: &[NoteIdx]) {
        if self.selectors.max_hops == 0 {
            return;
        }
        let limits = WalkLimits { max_hops: self.selectors.max_hops, max_nodes: None, min_value: 0 };
        let mut reached: Vec<(usize, NoteIdx)> = Vec::new();
        for root in roots {
            let walk = self.session.graph().walk(*root, &self.selectors.follow, &limits);
            reached.extend(walk.reached.iter().map(|step| (step.hop, step.note)));
        }
        reached.sort_by_key(|(hop, _)| *hop);
        self.choose_passing(reached.into_iter().map(|(_, note)| note));
    }

    /// Adds the notes with one of the tags, or that pass the filters if nothing else selects: by value, then latest change,
    /// then id; notes that are no longer valid last.
    fn choose_by_value(&mut self) {
        let selectors = self.selectors;
        let only_filters = selectors.selects_by_filters_alone();
        if !only_filters && selectors.tags.is_empty() {
            return;
        }
        let notes = self.store.notes();
        let is_wanted = |note: &NoteIdx| {
            let has_tag = |tag: &String| notes[*note].tags().contains(&tag.as_str());
            only_filters || selectors.tags.iter().any(has_tag)
        };
        let mut wanted: Vec<NoteIdx> =
            NoteIdx::all(notes.len()).filter(is_wanted).filter(|note| self.passes(*note)).collect();
        wanted.sort_by_cached_key(|position| {
            let note = &notes[*position];
            (Reverse(note.value_or_default()), Reverse(note.list_fields().changed()), *position)
        });
        let wanted = self.without_withheld(wanted, |note| *note);
        for note in self.outdated_last(wanted) {
            self.choose(note);
            self.result.relevance.remove(&self.result.replacements.representative(note));
        }
    }

    /// Moves the notes last whose replacements no longer hold.
    fn outdated_last(&self, notes: Vec<NoteIdx>) -> Vec<NoteIdx> {
        self.store.retired_last(notes, |note| self.result.replacements.representative(*note))
    }
}

/// Returns the notes that contradict a note, or that it contradicts.
fn opponents(session: &Session<'_>, note: NoteIdx) -> Vec<NoteIdx> {
    let graph = session.graph();
    let edges = graph.outgoing(note).chain(graph.incoming(note));
    let opposing = edges.filter(|edge| CONTRADICTS.contains(&&*edge.kind));
    opposing.map(|edge| if edge.from == note { edge.to } else { edge.from }).collect()
}
