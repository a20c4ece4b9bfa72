//! What stands around each note, as far as it counts when notes are ranked: sequences and links.

use jiff::civil::Date;
use rayon::prelude::*;

use super::journals::Journals;
use crate::calendar::Period;
use crate::graph::{Edge, Graph};
use crate::note::MOC;
use crate::search::Surroundings;
use crate::store::Store;

/// The type of a link from a note to the one before it, and its inverse.
const FOLLOWS: &str = "follows";
const PRECEDES: &str = "precedes";

/// Days that lie so near that their journals are neighbours: a weekend may be between them.
const MAX_DAYS_BETWEEN: i32 = 3;

/// Collects the neighbours of all notes. A note has one place in one sequence: what its `follows`
/// links say, else an ordered list of a map of content, else the days of journals.
pub fn surroundings(store: &Store, graph: &Graph<'_>) -> Surroundings {
    let notes = store.notes();
    let mut around = Surroundings {
        linked: vec![Vec::new(); notes.len()],
        before: vec![None; notes.len()],
        after: vec![None; notes.len()],
    };
    for edge in (0..notes.len()).flat_map(|note| graph.written(note)) {
        match edge.kind.as_str() {
            FOLLOWS => join(&mut around, edge.to, edge.from),
            PRECEDES => join(&mut around, edge.from, edge.to),
            _ => link(&mut around.linked, edge),
        }
    }
    around.linked.par_iter_mut().for_each(|linked| {
        linked.sort_unstable();
        linked.dedup();
    });
    let maps = notes.iter().enumerate().filter(|(_, note)| note.kind == MOC);
    for list in maps.flat_map(|(place, _)| graph.ordered_lists(place)) {
        for pair in list.windows(2) {
            if let [first, second] = *pair {
                join(&mut around, first, second);
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
fn join(around: &mut Surroundings, first: usize, second: usize) {
    if first == second {
        return;
    }
    if let (Some(after @ None), Some(before @ None)) = (around.after.get_mut(first), around.before.get_mut(second)) {
        *after = Some(second);
        *before = Some(first);
    }
}

/// Notes a link at both of its ends. Links that make sequences count by those.
fn link(linked: &mut [Vec<usize>], edge: &Edge) {
    for (at, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
        if let Some(linked) = linked.get_mut(at) {
            linked.push(other);
        }
    }
}
