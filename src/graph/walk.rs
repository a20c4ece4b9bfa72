//! Walking along links: who is reached, in how many hops, and by which links.

use std::collections::{HashMap, HashSet};

use super::{Edge, Follow, Graph, LinkKey, other_end};

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkLimits {
    /// The most hops from the root.
    pub max_hops: usize,
    /// The most notes in all, the root included.
    pub max_nodes: Option<usize>,
    /// The most notes that are reached from one note.
    pub max_fanout: Option<usize>,
    /// Notes of less value are passed over, 0 to 100; never the root.
    pub min_value: u8,
}

impl WalkLimits {
    /// Returns the limits that choose notes, without those that only keep an answer short.
    fn without_counts(&self) -> Self {
        Self { max_nodes: None, max_fanout: None, ..*self }
    }
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
    /// How many notes there are without `max_nodes` and `max_fanout`.
    pub matched: usize,
}

impl Walk<'_> {
    /// Tells whether `max_nodes` or `max_fanout` kept a note out.
    pub fn is_limited(&self) -> bool {
        self.reached.len() < self.matched
    }
}

impl Graph<'_> {
    /// Walks breadth first from a note.
    pub fn walk(&self, root: usize, follow: &Follow, limits: &WalkLimits) -> Walk<'_> {
        let (reached, has_refused) = self.walk_to(root, None, follow, limits);
        // A note that was kept out may be reached by another way, but later: what lies behind it may then be too far.
        let matched = match has_refused {
            true => self.walk_to(root, None, follow, &limits.without_counts()).0.len(),
            false => reached.len(),
        };
        Walk { reached, matched }
    }

    /// Finds a shortest path. `None` when there is none within the limits; the flag then says whether there is one
    /// without `max_nodes` and `max_fanout`.
    pub fn path(
        &self,
        from: usize,
        to: usize,
        follow: &Follow,
        limits: &WalkLimits,
    ) -> (Option<Vec<Reached<'_>>>, bool) {
        let (reached, has_refused) = self.walk_to(from, Some(to), follow, limits);
        let Some(mut at) = reached.iter().position(|step| step.note == to) else {
            let without = || self.walk_to(from, Some(to), follow, &limits.without_counts()).0;
            return (None, has_refused && without().iter().any(|step| step.note == to));
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

    /// Walks until `goal` is reached, or everything is. Returns also whether a limit kept out a note on some way.
    fn walk_to(
        &self,
        root: usize,
        goal: Option<usize>,
        follow: &Follow,
        limits: &WalkLimits,
    ) -> (Vec<Reached<'_>>, bool) {
        let mut walker = Walker {
            graph: self,
            follow,
            limits,
            goal,
            place_of: HashMap::from([(root, 0)]),
            used: HashSet::new(),
            has_refused: false,
            passed_over: Vec::new(),
            reached: vec![Reached { note: root, hop: 0, parent: None, edges: Vec::new() }],
        };
        let mut first_of_hop = 0;
        for hop in 1..=limits.max_hops {
            let is_done = goal.is_some_and(|goal| walker.place_of.contains_key(&goal));
            let end = walker.reached.len();
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
    limits: &'f WalkLimits,
    goal: Option<usize>,
    /// Where in the walk a note stands.
    place_of: HashMap<usize, usize>,
    /// The links, as written, that some note of the walk shows already.
    used: HashSet<LinkKey>,
    /// Whether a limit kept out a note, on one way at least.
    has_refused: bool,
    /// Links to notes that `max_fanout` kept out there.
    passed_over: Vec<Edge<'g>>,
    reached: Vec<Reached<'g>>,
}

impl<'g> Walker<'g, '_, '_> {
    fn expand(&mut self, place: usize, hop: usize) {
        let at = self.reached[place].note;
        let mut added = 0;
        for (edge, written) in self.graph.seen(at, self.follow) {
            let other = other_end(&edge, at);
            if self.is_passed_over(other) {
                continue;
            }
            let is_new = !self.place_of.contains_key(&other);
            if is_new && self.limits.max_fanout.is_some_and(|most| added >= most) {
                self.has_refused = true;
                if self.used.insert(written) {
                    self.passed_over.push(edge);
                }
                continue;
            }
            added += usize::from(is_new);
            let other_place = self.place_in_walk(other, place, hop);
            if self.used.insert(written) {
                add_edge(&mut self.reached[place.max(other_place)].edges, edge);
            }
        }
    }

    fn is_passed_over(&self, note: usize) -> bool {
        let is_end = self.goal == Some(note) || self.reached[0].note == note;
        !is_end && self.graph.notes[note].value_or_default() < self.limits.min_value
    }

    /// Returns where a note stands in the walk; adds it behind its parent if it is not there.
    fn place_in_walk(&mut self, note: usize, parent: usize, hop: usize) -> usize {
        let next = self.reached.len();
        let place = *self.place_of.entry(note).or_insert(next);
        if place == next {
            self.reached.push(Reached { note, hop, parent: Some(parent), edges: Vec::new() });
        }
        place
    }

    /// Puts the notes of the hop that begins at `start` in their order, and leaves out the last of
    /// them where there are too many.
    fn end_hop(&mut self, start: usize) {
        let graph = self.graph;
        self.reached[start..].sort_by_key(|reached| graph.rank(reached.note));
        let most = self.limits.max_nodes.unwrap_or(usize::MAX).max(start);
        for refused in self.reached.drain(most.min(self.reached.len())..) {
            self.place_of.remove(&refused.note);
            self.has_refused = true;
        }
        for (place, reached) in self.reached.iter().enumerate().skip(start) {
            self.place_of.insert(reached.note, place);
        }
    }

    /// Ends the walk. Notes that were reached by another way have the links by which they were kept out, too.
    fn end(mut self) -> (Vec<Reached<'g>>, bool) {
        for edge in std::mem::take(&mut self.passed_over) {
            let places = self.place_of.get(&edge.from).zip(self.place_of.get(&edge.to));
            let later = places.map(|(from, to)| *from.max(to)).and_then(|place| self.reached.get_mut(place));
            if let Some(later) = later {
                add_edge(&mut later.edges, edge);
            }
        }
        (self.reached, self.has_refused)
    }
}

/// Adds an edge; one that is seen both as written and as the inverse of another is one edge.
/// Two such edges are seen one right after the other.
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
