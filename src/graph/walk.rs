//! Breadth-first traversal of the graph: the notes reached, their distances, and the edges between them.

use std::collections::{HashMap, HashSet};

use super::{Direction, Edge, Follow, Graph, LinkKey, other_end};
use crate::store::NoteIdx;

/// The bounds of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkLimits {
    /// The largest distance from the root, in hops.
    pub max_hops: usize,
    /// The largest number of notes, the root included.
    pub max_nodes: Option<usize>,
    /// The least value of a note, 0 to 100; the root is exempt.
    pub min_value: u8,
}

impl WalkLimits {
    fn without_count(&self) -> Self {
        Self { max_nodes: None, ..*self }
    }
}

/// A note reached by a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached<'g> {
    /// Its index.
    pub note: NoteIdx,
    /// Its distance from the root in hops.
    pub hop: usize,
    /// The position in the walk of the note from which it was first reached; `None` for the root.
    pub parent: Option<usize>,
    /// The edges between it and notes before it in the walk.
    pub edges: Vec<Edge<'g>>,
}

/// The notes of a walk: the root, then sorted by distance, value (highest first) and id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk<'g> {
    /// The notes reached.
    pub reached: Vec<Reached<'g>>,
    /// The number of notes without `max_nodes`.
    pub matched: usize,
}

impl Walk<'_> {
    /// Tells whether `max_nodes` excluded a note.
    pub fn is_limited(&self) -> bool {
        self.reached.len() < self.matched
    }
}

impl Graph<'_> {
    /// Walks breadth first from a note.
    pub fn walk(&self, root: NoteIdx, follow: &Follow, limits: &WalkLimits) -> Walk<'_> {
        let (reached, has_refused) = self.walk_to(root, None, follow, limits);
        if !has_refused {
            return Walk { matched: reached.len(), reached };
        }
        // Only a second walk gives the number of notes.
        let all = self.walk_to(root, None, follow, &limits.without_count()).0;
        Walk { reached, matched: all.len() }
    }

    /// Finds a shortest path. `None` if there is none within the limits; the flag then tells whether one exists without
    /// `max_nodes`.
    pub fn path(
        &self,
        from: NoteIdx,
        to: NoteIdx,
        follow: &Follow,
        limits: &WalkLimits,
    ) -> (Option<Vec<Reached<'_>>>, bool) {
        let (reached, has_refused) = self.walk_to(from, Some(to), follow, limits);
        let Some(mut position) = reached.iter().position(|step| step.note == to) else {
            let without = || self.walk_to(from, Some(to), follow, &limits.without_count()).0;
            return (None, has_refused && without().iter().any(|step| step.note == to));
        };
        let mut path = vec![position];
        while let Some(parent) = reached[position].parent {
            path.push(parent);
            position = parent;
        }
        path.reverse();
        let mut before = None;
        let steps = path.into_iter().map(|position| {
            let mut step = reached[position].clone();
            step.edges.retain(|edge| before == Some(other_end(edge, step.note)));
            step.parent = before.map(|_| step.hop - 1);
            before = Some(step.note);
            step
        });
        (Some(steps.collect()), false)
    }

    /// Walks until `goal` is reached, or to the end. The flag tells whether a limit excluded a note.
    fn walk_to(
        &self,
        root: NoteIdx,
        goal: Option<NoteIdx>,
        follow: &Follow,
        limits: &WalkLimits,
    ) -> (Vec<Reached<'_>>, bool) {
        let mut walker = Walker {
            graph: self,
            follow,
            limits,
            goal,
            position_of: HashMap::from([(root, 0)]),
            used: HashSet::new(),
            has_refused: false,
            reached: vec![Reached { note: root, hop: 0, parent: None, edges: Vec::new() }],
        };
        let mut first_of_hop = 0;
        for hop in 1..=limits.max_hops {
            let is_done = goal.is_some_and(|goal| walker.position_of.contains_key(&goal));
            let end = walker.reached.len();
            if is_done || first_of_hop == end {
                break;
            }
            for position in first_of_hop..end {
                walker.expand(position, hop);
            }
            walker.end_hop(end);
            first_of_hop = end;
        }
        (walker.reached, walker.has_refused)
    }
}

struct Walker<'g, 'a, 'f> {
    graph: &'g Graph<'a>,
    follow: &'f Follow,
    limits: &'f WalkLimits,
    goal: Option<NoteIdx>,
    /// The position in the walk of each note, by note index.
    position_of: HashMap<NoteIdx, usize>,
    /// The stored links already shown at a note of the walk.
    used: HashSet<LinkKey>,
    /// Whether the limit of notes excluded one on at least one way.
    has_refused: bool,
    reached: Vec<Reached<'g>>,
}

impl<'g> Walker<'g, '_, '_> {
    fn expand(&mut self, position: usize, hop: usize) {
        let from = self.reached[position].note;
        for (edge, link) in self.graph.edges_at(from, self.follow) {
            let other = other_end(&edge, from);
            let is_end = self.goal == Some(other) || self.reached[0].note == other;
            if !is_end && self.graph.notes[other].value_or_default() < self.limits.min_value {
                continue;
            }
            let other_position = self.position_of.get(&other);
            // The earlier note has refused the link as it is seen from there, if each end follows it.
            let is_seen_from_both = self.follow.direction == Direction::Both;
            if other_position.is_some_and(|earlier| *earlier < position) && is_seen_from_both {
                continue;
            }
            let other_position = self.position_in_walk(other, position, hop);
            if self.used.insert(link) {
                add_edge(&mut self.reached[position.max(other_position)].edges, edge);
            }
        }
    }

    /// Returns the position of a note in the walk; appends the note if it is new.
    fn position_in_walk(&mut self, note_index: NoteIdx, parent: usize, hop: usize) -> usize {
        let next = self.reached.len();
        let position = *self.position_of.entry(note_index).or_insert(next);
        if position == next {
            self.reached.push(Reached { note: note_index, hop, parent: Some(parent), edges: Vec::new() });
        }
        position
    }

    /// Sorts the notes of the hop that begins at `start`, and drops the last ones if `max_nodes` is exceeded.
    fn end_hop(&mut self, start: usize) {
        let graph = self.graph;
        self.reached[start..].sort_by_key(|reached| graph.rank(reached.note));
        let max_nodes = self.limits.max_nodes.unwrap_or(usize::MAX).max(start);
        for refused in self.reached.drain(max_nodes.min(self.reached.len())..) {
            self.position_of.remove(&refused.note);
            self.has_refused = true;
        }
        for (position, reached) in self.reached.iter().enumerate().skip(start) {
            self.position_of.insert(reached.note, position);
        }
    }
}

/// Adds an edge, or merges it into the last one if both are the same link, stored in one direction and seen in the
/// other. Such edges are adjacent in the order of [`Graph::edges_at`].
fn add_edge<'g>(edges: &mut Vec<Edge<'g>>, edge: Edge<'g>) {
    match edges.last_mut() {
        Some(last) if (last.from, last.to, &last.kind) == (edge.from, edge.to, &edge.kind) => {
            last.sources.is_typed |= edge.sources.is_typed;
            last.sources.is_inline |= edge.sources.is_inline;
            last.sources.is_virtual |= edge.sources.is_virtual;
        }
        _ => edges.push(edge),
    }
}
