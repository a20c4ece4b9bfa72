//! The neighbours of notes for ranking: sequences and links.

use jiff::civil::Date;

use super::journals::Journals;
use crate::calendar::Period;
use crate::graph::{Edge, Graph, other_end};
use crate::search::{Sequences, neighbour_in};
use crate::store::{NoteIdx, Store};

/// The type of a link from a note to its predecessor, and the inverse type.
const FOLLOWS: &str = "follows";
const PRECEDES: &str = "precedes";

/// The most days between neighbouring journals; a weekend may be between them.
const MAX_DAYS_BETWEEN: i32 = 3;

/// Returns the sequences of all notes. A note has one position in one sequence: by its `follows` links, else by an
/// ordered list of a map of content, else by the days of journals.
pub(super) fn sequences(store: &Store, graph: &Graph<'_>) -> Sequences {
    let notes = store.notes_without_commits();
    let mut sequences = Sequences { before: vec![None; notes.len()], after: vec![None; notes.len()] };
    for edge in graph.links_of_types(&[FOLLOWS, PRECEDES]) {
        let (first, second) = if edge.kind == FOLLOWS { (edge.to, edge.from) } else { (edge.from, edge.to) };
        make_neighbours(&mut sequences, first, second);
    }
    for list in graph.ordered_lists() {
        for neighbours in list.windows(2) {
            if let [first, second] = *neighbours {
                make_neighbours(&mut sequences, first, second);
            }
        }
    }
    let journals = Journals::new(notes);
    for neighbours in journals.within(Period { from: None, to: Date::MAX }).windows(2) {
        if let [(day, first), (next_day, second)] = *neighbours
            && day.until(next_day).is_ok_and(|span| span.get_days() <= MAX_DAYS_BETWEEN)
        {
            make_neighbours(&mut sequences, first, second);
        }
    }
    sequences
}

/// Makes two notes neighbours, unless one of them has a neighbour on that side already.
fn make_neighbours(sequences: &mut Sequences, first: NoteIdx, second: NoteIdx) {
    if first == second {
        return;
    }
    if let (Some(after @ None), Some(before @ None)) =
        (sequences.after.get_mut(first.index()), sequences.before.get_mut(second.index()))
    {
        *after = Some(second);
        *before = Some(first);
    }
}

/// Returns the notes at the other ends of a note's links, each once, sorted. Links that form a sequence are omitted; a
/// link whose position in a sequence is taken by another one is not.
pub(super) fn linked(graph: &Graph<'_>, sequences: &Sequences, index: NoteIdx) -> Vec<NoteIdx> {
    let links = graph.outgoing(index).chain(graph.incoming(index));
    let is_next = |first: NoteIdx, second: NoteIdx| neighbour_in(&sequences.after, first) == Some(second);
    let makes_sequence = |edge: &Edge<'_>| match &*edge.kind {
        FOLLOWS => is_next(edge.to, edge.from),
        PRECEDES => is_next(edge.from, edge.to),
        _ => false,
    };
    let links = links.filter(|edge| !makes_sequence(edge));
    let mut linked: Vec<NoteIdx> = links.map(|edge| other_end(&edge, index)).collect();
    linked.sort_unstable();
    linked.dedup();
    linked
}
