//! Walking along links: who is reached, in how many hops, and by which links.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{AsWritten, Edge, Follow, Graph, other_end};

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most hops from the root.
    pub max_hops: usize,
    /// The most notes in all, the root included.
    pub max_nodes: Option<usize>,
    /// The most notes that are reached from one note.
    pub max_fanout: Option<usize>,
    /// Notes of less value are passed over, 0 to 100; never the root.
    pub min_value: u8,
}

/// A note that a walk came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached<'g> {
    /// The note.
    pub note: usize,
    /// Its distance from the root in hops.
    pub hop: usize,
    /// The place in the walk of the note that it was first reached from; `None` for the root.
    pub parent: Option<usize>,
    /// The links between it and notes that come before it in the walk.
    pub edges: Vec<Edge<'g>>,
}

/// The notes of a walk: the root, then by hops, then by value, then by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk<'g> {
    /// Who was reached.
    pub reached: Vec<Reached<'g>>,
    /// Whether `max_nodes` or `max_fanout` kept something out.
    pub is_limited: bool,
}

impl Graph<'_> {
    /// Walks breadth first from a note.
    pub fn walk(&self, root: usize, follow: &Follow, limits: &Limits) -> Walk<'_> {
        self.walk_to(root, None, follow, limits)
    }

    /// Finds a shortest path. `None` when there is none within the limits; the walk's
    /// `is_limited` then says whether a limit may be why.
    pub fn path(&self, from: usize, to: usize, follow: &Follow, limits: &Limits) -> (Option<Vec<Reached<'_>>>, bool) {
        let Walk { reached, is_limited } = self.walk_to(from, Some(to), follow, limits);
        let Some(mut at) = reached.iter().position(|step| step.note == to) else {
            return (None, is_limited);
        };
        let mut path = vec![at];
        while let Some(parent) = reached[at].parent {
            path.push(parent);
            at = parent;
        }
        path.reverse();
        let mut before = None;
        let steps = path.into_iter().map(|at| {
            let mut step = reached[at].clone();
            step.edges.retain(|edge| before == Some(other_end(edge, step.note)));
            step.parent = before.map(|_| step.hop - 1);
            before = Some(step.note);
            step
        });
        (Some(steps.collect()), false)
    }

    /// Walks until `goal` is reached, or everything is.
    fn walk_to(&self, root: usize, goal: Option<usize>, follow: &Follow, limits: &Limits) -> Walk<'_> {
        let mut walker = Walker {
            graph: self,
            follow,
            limits,
            goal,
            place_of: HashMap::from([(root, 0)]),
            used: HashSet::new(),
            refused: BTreeSet::new(),
            walk: Walk {
                reached: vec![Reached { note: root, hop: 0, parent: None, edges: Vec::new() }],
                is_limited: false,
            },
        };
        let mut first_of_hop = 0;
        for hop in 1..=limits.max_hops {
            let is_done = goal.is_some_and(|goal| walker.place_of.contains_key(&goal));
            let end = walker.walk.reached.len();
            if is_done || first_of_hop == end {
                break;
            }
            for place in first_of_hop..end {
                walker.expand(place, hop);
            }
            walker.end_hop(end);
            first_of_hop = end;
        }
        walker.end()
    }
}

struct Walker<'g, 'a, 'f> {
    graph: &'g Graph<'a>,
    follow: &'f Follow,
    limits: &'f Limits,
    goal: Option<usize>,
    /// Where in the walk a note stands.
    place_of: HashMap<usize, usize>,
    /// The links, as written, that some note of the walk shows already.
    used: HashSet<AsWritten>,
    /// Notes that a limit kept out, by one way at least.
    refused: BTreeSet<usize>,
    walk: Walk<'g>,
}

impl<'g> Walker<'g, '_, '_> {
    fn expand(&mut self, place: usize, hop: usize) {
        let at = self.walk.reached[place].note;
        let mut added = 0;
        for (edge, written) in self.graph.seen(at, self.follow) {
            let other = other_end(&edge, at);
            if self.is_passed_over(other) {
                continue;
            }
            let is_new = !self.place_of.contains_key(&other);
            if is_new && self.limits.max_fanout.is_some_and(|most| added >= most) {
                self.refused.insert(other);
                continue;
            }
            added += usize::from(is_new);
            let other_place = self.place_in_walk(other, place, hop);
            if self.used.insert(written) {
                add_edge(&mut self.walk.reached[place.max(other_place)].edges, edge);
            }
        }
    }

    fn is_passed_over(&self, note: usize) -> bool {
        let is_end = self.goal == Some(note) || self.walk.reached[0].note == note;
        !is_end && self.graph.notes[note].value_or_default() < self.limits.min_value
    }

    /// Returns where a note stands in the walk; adds it behind its parent if it is not there.
    fn place_in_walk(&mut self, note: usize, parent: usize, hop: usize) -> usize {
        let next = self.walk.reached.len();
        let place = *self.place_of.entry(note).or_insert(next);
        if place == next {
            self.walk.reached.push(Reached { note, hop, parent: Some(parent), edges: Vec::new() });
        }
        place
    }

    /// Puts the notes of the hop that begins at `start` in their order, and leaves out the last of
    /// them where there are too many.
    fn end_hop(&mut self, start: usize) {
        let graph = self.graph;
        self.walk.reached[start..].sort_by_key(|reached| graph.rank(reached.note));
        let most = self.limits.max_nodes.unwrap_or(usize::MAX).max(start);
        for refused in self.walk.reached.drain(most.min(self.walk.reached.len())..) {
            self.place_of.remove(&refused.note);
            self.refused.insert(refused.note);
        }
        for (place, reached) in self.walk.reached.iter().enumerate().skip(start) {
            self.place_of.insert(reached.note, place);
        }
    }

    /// Ends the walk: it is limited where a note was refused and not reached by another way.
    fn end(mut self) -> Walk<'g> {
        self.walk.is_limited = self.refused.iter().any(|note| !self.place_of.contains_key(note));
        self.walk
    }
}

/// Adds an edge; one that is seen both as written and as the inverse of another is one edge.
/// Two such edges are seen one right after the other.
fn add_edge<'g>(edges: &mut Vec<Edge<'g>>, edge: Edge<'g>) {
    match edges.last_mut() {
        Some(last) if (last.from, last.to, &last.kind) == (edge.from, edge.to, &edge.kind) => {
            last.sources.typed |= edge.sources.typed;
            last.sources.inline |= edge.sources.inline;
            last.sources.virtually |= edge.sources.virtually;
        }
        _ => edges.push(edge),
    }
}
