//! Notes as beliefs: how far each can be relied on, of how much use it is for a purpose, at which level
//! it is shown, and which says nothing new beside others. specs/context-query.md has the rules.

mod confidence;
mod expansion;
mod fields;
mod ranking;
mod utility;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

pub use expansion::expand;
pub use fields::odd_fields;

use super::blocks::answers;
use super::{Selection, Session, edge_entry};
use crate::graph::{Edge, other_end};
use crate::report::{Answers, Assessment, EdgeEntry, EntryRanking, EntryRole, NoteEntry};
use crate::request::{Abstraction, NeedOptions};
use crate::search::{Engine, NoteTerms};
use confidence::{Assessor, SAME_AS, rounded};
use ranking::{Candidate, Candidates};

/// A note that is new to this share or less says nothing new.
const NOVELTY_THRESHOLD: f64 = 0.2;
/// Hits that answer less than this are hardly an answer.
const HARDLY_RELEVANT: f64 = 0.1;
/// Millionths of 1.
const MILLION: f64 = 1_000_000.0;

/// Notes that were weighed.
pub struct RankedNotes {
    /// The notes: those that may be shown by themselves in the order of their relevance, then those that
    /// only follow others.
    pub entries: Vec<NoteEntry>,
    /// Which comes next.
    pub ranking: Box<dyn EntryRanking>,
    /// How many notes only follow others.
    pub following: usize,
}

/// How many notes are looked at, and shown.
#[derive(Debug, Clone, Copy)]
pub struct NeedLimits {
    /// The most hits of a search that are weighed, the most relevant first.
    pub candidates: usize,
    /// The most notes that are shown of those that only the query selected; `None` for no limit.
    pub answers: Option<usize>,
    /// The most notes that are shown in all, without those that only follow others; `None` for no limit.
    pub notes: Option<usize>,
}

/// Weighs selected notes. Entries that stand before them come first, whole.
pub fn weigh(
    desk: &Session<'_>,
    selection: &Selection,
    need: &NeedOptions,
    before: usize,
    limits: NeedLimits,
    entry: impl Fn(usize) -> NoteEntry,
) -> RankedNotes {
    let highlighter = selection.highlighter.as_deref();
    // Notes are weighed side by side: what waits for one that is just made must not be what makes it.
    let (engine, weigher) = rayon::join(|| desk.engine(), || Assessor::new(desk, need.today, highlighter));
    let mut weighing = AssessmentPass {
        weigher: &weigher,
        engine,
        selection,
        need,
        left_out: ExclusionCounts::default(),
        all: Vec::new(),
    };
    weighing.choose(limits.candidates);
    let chosen = weighing.all.len();
    weighing.add_followers();
    weighing.finished(before, chosen, limits, entry)
}

/// How many candidates were left out, by reason.
#[derive(Default)]
struct ExclusionCounts {
    invalid: usize,
    unsure: usize,
    untrusted: usize,
    beyond: usize,
}

/// One note of those that are weighed.
struct AssessedNote {
    place: usize,
    belief: Assessment,
    content: NoteTerms,
    is_named: bool,
}

struct AssessmentPass<'a, 's> {
    weigher: &'a Assessor<'a, 's>,
    engine: &'a Engine<'s>,
    selection: &'a Selection,
    need: &'a NeedOptions,
    left_out: ExclusionCounts,
    all: Vec<AssessedNote>,
}

impl AssessmentPass<'_, '_> {
    /// Takes the notes that may be shown by themselves. Hits that do not count take the place of no other: as many
    /// are looked at as it takes.
    fn choose(&mut self, max_hits: usize) {
        let mut open: Vec<usize> = self.selection.notes.clone();
        let mut hits = 0;
        loop {
            let (looked_at, rest) = self.part(&open, max_hits - hits);
            if looked_at.is_empty() {
                self.left_out.beyond = rest.len();
                break;
            }
            let weighted: Vec<AssessedNote> = looked_at.par_iter().map(|place| self.weighted(*place)).collect();
            let good: Vec<AssessedNote> = weighted.into_iter().filter(|weighted| self.is_good(weighted)).collect();
            hits += good.iter().filter(|weighted| self.is_hit(weighted.place)).count();
            self.all.extend(good);
            open = rest;
        }
        let notes = self.selection.notes.iter().enumerate();
        let order: HashMap<usize, usize> = notes.map(|(number, place)| (*place, number)).collect();
        self.all.sort_by_key(|weighted| order.get(&weighted.place).copied());
    }

    fn is_hit(&self, place: usize) -> bool {
        self.selection.relevance.contains_key(&place)
    }

    /// Parts notes into those that are looked at next, with so many hits, and the rest.
    fn part(&self, notes: &[usize], max_hits: usize) -> (Vec<usize>, Vec<usize>) {
        let mut hits = 0;
        notes.iter().partition(|place| {
            hits += usize::from(self.is_hit(**place));
            hits <= max_hits || !self.is_hit(**place)
        })
    }

    fn weighted(&self, place: usize) -> AssessedNote {
        let is_named = self.selection.named.contains(&place);
        let relevance = self.selection.relevance.get(&place).copied().unwrap_or(1.0);
        let content = self.engine.content(place);
        AssessedNote { place, belief: self.belief(place, relevance, &content), content, is_named }
    }

    fn belief(&self, place: usize, relevance: f64, content: &NoteTerms) -> Assessment {
        let belief = self.weigher.belief(place, relevance);
        let utility = self.need.purpose.map(|purpose| {
            let recency = self.weigher.recency(place);
            let parts = [relevance, belief.confidence.overall, belief.trust, recency, content.density];
            utility::utility(purpose, parts.map(rounded))
        });
        let answers = self.selection.highlighter.as_ref().map(|highlighter| Answers::new(answers(highlighter)));
        Assessment { utility, answers, ..belief }
    }

    /// Tells whether a note counts; notes down why where it doesn't.
    fn is_good(&mut self, weighted: &AssessedNote) -> bool {
        let NeedOptions { min_confidence, min_trust, today, .. } = *self.need;
        let note = &self.weigher.desk.store.notes()[weighted.place];
        let is_hit = self.is_hit(weighted.place);
        let is_invalid = is_hit && today.is_some_and(|today| !fields::is_valid(note, today));
        let (is_unsure, is_untrusted) = (
            weighted.belief.confidence.overall < f64::from(min_confidence) / MILLION,
            weighted.belief.trust < f64::from(min_trust) / MILLION,
        );
        let left = &mut self.left_out;
        match () {
            () if weighted.is_named => return true,
            () if is_invalid => left.invalid += 1,
            () if is_unsure => left.unsure += 1,
            () if is_untrusted => left.untrusted += 1,
            () => return true,
        }
        false
    }

    /// Adds the notes that are shown right behind others, where they are not chosen themselves.
    fn add_followers(&mut self) {
        let mut have: BTreeSet<usize> = self.all.iter().map(|weighted| weighted.place).collect();
        let following: BTreeSet<usize> = self
            .all
            .iter()
            .flat_map(|weighted| self.followers(weighted.place))
            .filter(|place| have.insert(*place))
            .collect();
        let add = |place: &usize| {
            let content = NoteTerms::default();
            let relevance = self.selection.relevance.get(place).copied().unwrap_or_default();
            AssessedNote { place: *place, belief: self.belief(*place, relevance, &content), content, is_named: true }
        };
        let added: Vec<AssessedNote> = following.iter().map(add).collect();
        self.all.extend(added);
    }

    fn followers(&self, place: usize) -> Vec<usize> {
        let (weigher, need) = (self.weigher, self.need);
        let origins = need.with_derivations.then(|| weigher.linked(place, confidence::DERIVED_FROM));
        let opponents = need.with_contradictions.then(|| weigher.opponents(place));
        origins.into_iter().chain(opponents).flatten().collect()
    }

    fn finished(
        self,
        before: usize,
        chosen: usize,
        limits: NeedLimits,
        entry: impl Fn(usize) -> NoteEntry,
    ) -> RankedNotes {
        let number_of: HashMap<usize, usize> =
            self.all.iter().enumerate().map(|(number, weighted)| (weighted.place, number)).collect();
        let numbers = |places: BTreeSet<usize>| -> Vec<usize> {
            places.iter().filter_map(|place| number_of.get(place).copied()).collect()
        };
        let mut entries: Vec<NoteEntry> = Vec::with_capacity(self.all.len());
        for weighted in &self.all {
            let belief = Some(Box::new(weighted.belief.clone()));
            entries.push(NoteEntry {
                belief,
                edges: self.edges(weighted.place, &number_of, before),
                ..entry(weighted.place)
            });
        }
        // What was found out about several notes answers too.
        let insufficient = if before > 0 { None } else { self.insufficient(chosen) };
        let notes = self.weigher.desk.store.notes();
        let candidate = |weighted: &AssessedNote| {
            let place = weighted.place;
            let opponents = self.weigher.opponents(place);
            Candidate {
                id: notes[place].id.clone(),
                value: notes[place].value_or_default(),
                level: utility::deserved(
                    self.need.abstraction,
                    weighted.belief.relevance,
                    notes[place].value_or_default(),
                ),
                is_named: weighted.is_named,
                is_answer: self.selection.answers.contains(&place),
                is_retired: self.weigher.desk.store.is_retired(place),
                same: numbers(self.weigher.linked(place, SAME_AS)),
                has_opponents_beyond: opponents.iter().any(|opponent| !number_of.contains_key(opponent)),
                opponents: numbers(opponents),
                followers: self.followers(place).iter().filter_map(|place| number_of.get(place).copied()).collect(),
                terms: weighted.content.terms.clone(),
                belief: weighted.belief.clone(),
                is_fixed: false,
            }
        };
        let ExclusionCounts { invalid, unsure, untrusted, beyond } = self.left_out;
        let selection_beyond = self.selection.matched.saturating_sub(self.selection.notes.len());
        let mut not_weighed: Vec<(&usize, &f64)> =
            self.selection.relevance.iter().filter(|(place, _)| !number_of.contains_key(place)).collect();
        not_weighed.sort_by_key(|(place, _)| **place);
        let relevance_beyond = not_weighed.into_iter().fold(0.0, |sum, (_, relevance)| sum + relevance);
        let all: Vec<Candidate> = self.all.iter().map(candidate).collect();
        let ranking = Candidates {
            before,
            chosen,
            is_adaptive: self.need.abstraction == Abstraction::Adaptive,
            // Passages of a note may say what another note holds in other passages only.
            compares_texts: self.need.abstraction != Abstraction::Passages || self.need.novelty_threshold.is_some(),
            threshold: self.need.novelty_threshold.map_or(NOVELTY_THRESHOLD, |share| f64::from(share) / MILLION),
            aim: self.need.purpose.map_or("by relevance".to_owned(), |purpose| format!("for {}", purpose.name())),
            left_out: vec![
                (invalid, "not valid today"),
                (unsure, "below --min-confidence"),
                (untrusted, "below --min-trust"),
            ],
            beyond: beyond + selection_beyond,
            max_answers: limits.answers,
            max_notes: limits.notes,
            insufficient,
            is_filtered: self.selection.has_filtered,
            relevance_beyond,
            holders: Vec::new(),
            all,
        };
        let following = entries.len() - chosen;
        RankedNotes { entries, ranking: Box::new(ranking.with_holders()), following }
    }

    /// Says why nothing relevant was found, where nothing was.
    fn insufficient(&self, chosen: usize) -> Option<String> {
        let best = self.all.iter().take(chosen).map(|weighted| weighted.belief.relevance).reduce(f64::max);
        match best {
            None if self.selection.notes.is_empty() => {
                Some(self.selection.insufficient.clone().unwrap_or_else(|| "no note answers this".to_owned()))
            }
            None => Some("no note that answers this is valid and reliable enough".to_owned()),
            Some(best) if best < HARDLY_RELEVANT => {
                Some(format!("what was found hardly answers this (relevance {best:.2})"))
            }
            Some(_) => None,
        }
    }

    /// Returns the links of a note that say why notes follow one another, where both may be shown.
    fn edges(&self, place: usize, number_of: &HashMap<usize, usize>, before: usize) -> Vec<EdgeEntry> {
        let NeedOptions { with_derivations, with_contradictions, .. } = *self.need;
        let told = LinkFilter { derivation: with_derivations, evidence: false, contradictions: with_contradictions };
        link_entries(self.weigher.desk, place, told, |other| number_of.get(&other).map(|number| before + number))
    }
}

/// Which links say why a note is shown beside another one, written at either end.
#[derive(Clone, Copy)]
struct LinkFilter {
    derivation: bool,
    evidence: bool,
    contradictions: bool,
}

impl LinkFilter {
    fn has(self, edge: &Edge<'_>) -> bool {
        match &*edge.kind {
            confidence::DERIVED_FROM | "source-of" => self.derivation,
            "supports" | confidence::SUPPORTED_BY => self.evidence,
            kind => self.contradictions && confidence::CONTRADICTS.contains(&kind),
        }
    }
}

/// Returns the links at a note as they are written, each with the entry at its other end.
fn link_entries(
    desk: &Session<'_>,
    place: usize,
    told: LinkFilter,
    entry_of: impl Fn(usize) -> Option<usize>,
) -> Vec<EdgeEntry> {
    let (graph, store) = (desk.graph(), desk.store);
    let links = graph.outgoing(place).chain(graph.incoming(place)).filter(|edge| told.has(edge));
    let entry = |edge: Edge<'_>| Some(edge_entry(store, &edge, entry_of(other_end(&edge, place))?));
    links.filter_map(entry).collect()
}

/// Makes the entry of a note that stands for itself.
fn alone(desk: &Session<'_>, place: usize) -> NoteEntry {
    NoteEntry::alone(&Arc::clone(&desk.store.notes()[place]), EntryRole::Selected)
}
