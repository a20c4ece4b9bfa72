//! More of notes that were shown: their bodies, and the notes that stand behind or against them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::confidence::{Assessor, SUPPORTED_BY};
use super::ranking::{Candidate, Candidates};
use super::{LinkFilter, RankedNotes, alone, link_entries};
use crate::context::Session;
use crate::error::Error;
use crate::note::{Block, Note};
use crate::report::{Answers, Assessment, BlockEntry, Level, NoteEntry, ShownBlocks};
use crate::request::ExpandRequest;

/// Selects what there is more of notes to show: each body that says more than its summary, then the
/// notes around, the most reliable first.
///
/// # Errors
/// `NoNote` for an id that does not exist.
pub fn expand(desk: &Session<'_>, request: &ExpandRequest) -> Result<RankedNotes, Error> {
    let asked = desk.store.positions(&request.ids)?;
    let weigher = Assessor::new(desk, Some(desk.store.today.day()), None);
    let mut expansion = Expansion { weigher: &weigher, chosen: Vec::new(), number_of: HashMap::new() };
    let around = asked.iter().map(|place| expansion.neighbours(*place, request)).collect::<Vec<_>>();
    for (place, around) in asked.iter().zip(&around) {
        let note = &desk.store.notes()[*place];
        // A note that says no more is named where there is something to say of it: its sources, and what others are
        // to it.
        let has_more = !around.is_empty() || (request.evidence && !note.sources.is_empty());
        match says_more(note) {
            true => expansion.add(*place, Level::Detailed),
            false if has_more => expansion.add(*place, Level::Essence),
            false => {}
        }
    }
    let around = around.into_iter().flatten().filter(|neighbour| !asked.contains(neighbour));
    around.for_each(|neighbour| expansion.add(neighbour, Level::Summary));
    Ok(expansion.finished(request))
}

/// Finds all blocks of a note, the first ones first.
fn first_blocks() -> Answers {
    let entry = |block: Block| BlockEntry {
        id: String::new(),
        path: block.path,
        text: block.text,
        depth: block.depth,
        score: 1.0,
    };
    Answers::new(ShownBlocks(Arc::new(move |note: &Note| note.blocks().into_iter().map(entry).collect())))
}

/// Tells whether a note's body says more than what was shown of it before.
fn says_more(note: &Note) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let body = words(note.body());
    !body.is_empty() && body != words(note.summary().unwrap_or_default())
}

struct Expansion<'a, 's> {
    weigher: &'a Assessor<'a, 's>,
    chosen: Vec<(usize, Level)>,
    /// The number of each note that is chosen.
    number_of: HashMap<usize, usize>,
}

impl Expansion<'_, '_> {
    fn add(&mut self, place: usize, level: Level) {
        if !self.number_of.contains_key(&place) {
            self.number_of.insert(place, self.chosen.len());
            self.chosen.push((place, level));
        }
    }

    /// Returns the notes around one that were asked for: by confidence, then id.
    fn neighbours(&self, place: usize, request: &ExpandRequest) -> Vec<usize> {
        let weigher = self.weigher;
        let mut found: BTreeSet<usize> = BTreeSet::new();
        if request.derivation {
            found.extend(weigher.origins(place));
        }
        if request.evidence {
            found.extend(weigher.linked(place, SUPPORTED_BY));
        }
        if request.contradictions {
            found.extend(weigher.opponents(place));
        }
        let mut found: Vec<(f64, usize)> =
            found.into_iter().map(|note| (weigher.confidence(note).overall, note)).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, note)| note).collect()
    }

    fn finished(self, request: &ExpandRequest) -> RankedNotes {
        let desk = self.weigher.desk;
        let notes = desk.store.notes();
        let ExpandRequest { derivation, evidence, contradictions, .. } = *request;
        let told = LinkFilter { derivation, evidence, contradictions };
        let (mut entries, mut all) = (Vec::new(), Vec::new());
        for (place, level) in &self.chosen {
            let belief = Assessment { answers: Some(first_blocks()), ..self.weigher.belief(*place, 1.0) };
            let edges = link_entries(desk, *place, told, |other| self.number_of.get(&other).copied());
            let opponents = self.weigher.opponents(*place);
            let entry = NoteEntry { edges, belief: Some(Box::new(belief.clone())), ..alone(desk, *place) };
            all.push(Candidate {
                id: notes[*place].id.clone(),
                belief,
                value: notes[*place].value_or_default(),
                terms: Vec::new(),
                level: *level,
                is_named: true,
                is_retired: false,
                is_answer: false,
                same: Vec::new(),
                has_opponents_beyond: opponents.iter().any(|opponent| !self.number_of.contains_key(opponent)),
                opponents: opponents.iter().filter_map(|opponent| self.number_of.get(opponent).copied()).collect(),
                followers: Vec::new(),
                // A body that is too long is cut to its first blocks; what stands around is summed up.
                is_fixed: *level < Level::Detailed,
            });
            entries.push(entry);
        }
        let insufficient = entries.is_empty().then(|| "there is nothing to add".to_owned());
        let ranking = Candidates {
            before: 0,
            chosen: all.len(),
            is_adaptive: true,
            compares_texts: true,
            threshold: 0.0,
            aim: "to expand".to_owned(),
            left_out: Vec::new(),
            beyond: 0,
            max_answers: None,
            max_notes: None,
            insufficient,
            is_filtered: false,
            relevance_beyond: 0.0,
            holders: Vec::new(),
            all,
        };
        RankedNotes { entries, ranking: Box::new(ranking), following: 0 }
    }
}
