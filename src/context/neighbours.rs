//! What stands around each note, as far as it counts when notes are ranked: sequences and links.

use jiff::civil::Date;

use super::journals::Journals;
use crate::calendar::Period;
use crate::graph::{Edge, Graph, other_end};
use crate::search::Sequences;
use crate::store::Store;

/// The type of a link from a note to the one before it, and its inverse.
const FOLLOWS: &str = "follows";
const PRECEDES: &str = "precedes";

/// Days that lie so near that their journals are neighbours: a weekend may be between them.
const MAX_DAYS_BETWEEN: i32 = 3;

/// Finds the sequences of all notes. A note has one place in one sequence: what its `follows`
/// links say, else an ordered list of a map of content, else the days of journals.
pub(super) fn sequences(store: &Store, graph: &Graph<'_>) -> Sequences {
    let notes = store.notes();
    let mut around = Sequences { before: vec![None; notes.len()], after: vec![None; notes.len()] };
    for edge in (0..notes.len()).flat_map(|note| graph.outgoing(note)) {
        match &*edge.kind {
            FOLLOWS => join(&mut around, edge.to, edge.from),
            PRECEDES => join(&mut around, edge.from, edge.to),
            _ => {}
        }
    }
    for list in graph.ordered_lists() {
        for pair in list.windows(2) {
            if let [first, second] = *pair {
                join(&mut around, first as usize, second as usize);
            }
        }
    }
    let journals = Journals::new(notes);
    for pair in journals.within(Period { from: None, to: Date::MAX }).windows(2) {
        if let [(day, first), (next_day, second)] = *pair
            && day.until(next_day).is_ok_and(|span| span.get_days() <= MAX_DAYS_BETWEEN)
        {
            join(&mut around, first, second);
        }
    }
    around
}

/// Puts two notes one behind the other, unless one of them has its place already.
fn join(around: &mut Sequences, first: usize, second: usize) {
    if first == second {
        return;
    }
    if let (Some(after @ None), Some(before @ None)) = (around.after.get_mut(first), around.before.get_mut(second)) {
        *after = Some(second);
        *before = Some(first);
    }
}

/// Returns the notes at the other ends of a note's links, each once, in order. Links that make
/// sequences count by those; one whose place in a sequence another one took is a link as any other.
pub(super) fn linked(graph: &Graph<'_>, sequences: &Sequences, note: usize) -> Vec<usize> {
    let links = graph.outgoing(note).chain(graph.incoming(note));
    let is_next = |first: usize, second: usize| sequences.after.get(first).copied().flatten() == Some(second);
    let makes_sequence = |edge: &Edge<'_>| match &*edge.kind {
        FOLLOWS => is_next(edge.to, edge.from),
        PRECEDES => is_next(edge.from, edge.to),
        _ => false,
    };
    let links = links.filter(|edge| !makes_sequence(edge));
    let mut linked: Vec<usize> = links.map(|edge| other_end(&edge, note)).collect();
    linked.sort_unstable();
    linked.dedup();
    linked
}
