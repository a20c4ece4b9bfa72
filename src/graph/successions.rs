//! Succession: notes that replace others because those no longer hold, by links of the type `supersedes`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::compactions::barred;
use super::{Compactions, NameIndex};
use crate::note::{SUPERSEDED_BY, SUPERSEDES, Status};
use crate::store::{NoteHandle, NoteIdx, Store};

/// Which notes replace which. Links form no cycles here, and only notes that are in force replace others.
#[derive(Debug, Default)]
pub struct Successions {
    /// The notes that replace each note directly, by creation, then id.
    successors: Adjacency,
    /// The notes that each note replaces directly, by id.
    replaced: Adjacency,
    /// The last note of the chain that begins at each replaced note.
    current: BTreeMap<NoteIdx, NoteIdx>,
    /// The replaced notes, each behind its successors.
    order: Vec<NoteIdx>,
    /// Links without effect, as of a cycle: the index of the note to correct, and the reason as a sentence.
    pub(crate) refused: Vec<(NoteIdx, String)>,
}

type Adjacency = BTreeMap<NoteIdx, Vec<NoteIdx>>;

impl Successions {
    /// Reads the links of all notes. A link has no effect if it leads to the same note or to none, if its successor is
    /// rejected, deprecated or a draft, or [may not replace the note](NoteHandle::may_replace), or if it is part of a cycle, to
    /// which digests count.
    pub fn new(notes: &[Arc<NoteHandle>], digests: &Compactions) -> Self {
        Self::of_links(links(notes, takes_effect), notes, digests)
    }

    /// Reads the links of all notes, also those whose successor is not in force.
    pub fn as_written(notes: &[Arc<NoteHandle>]) -> Self {
        Self::of_links(links(notes, |_| true), notes, &Compactions::default())
    }

    fn of_links(links: WrittenLinks, notes: &[Arc<NoteHandle>], digests: &Compactions) -> Self {
        let WrittenLinks { links, barred } = links;
        let mut successions = Self { refused: barred, ..Self::default() };
        if links.is_empty() {
            return successions;
        }
        let with_digests = NoteIdx::all(notes.len()).filter_map(|note| Some((note, digests.digest_of(note)?)));
        let components = components(&links.iter().copied().chain(with_digests).collect());
        for (old, new) in links {
            if components[&old] == components[&new] {
                let message = format!("it can't supersede `{}`: that note supersedes this one", notes[old].id);
                successions.refused.push((new, message));
                continue;
            }
            successions.successors.entry(old).or_default().push(new);
            successions.replaced.entry(new).or_default().push(old);
        }
        for successors in successions.successors.values_mut() {
            successors.sort_by_key(|new| (notes[*new].list_fields().created(), *new));
        }
        successions.follow_chains();
        successions
    }

    fn follow_chains(&mut self) {
        self.order = post_order(&self.successors);
        self.order.retain(|note| self.successors.contains_key(note));
        for old in &self.order {
            let Some(new) = self.successors.get(old).and_then(|successors| successors.last()) else { continue };
            self.current.insert(*old, self.current.get(new).copied().unwrap_or(*new));
        }
    }

    /// Returns the last note of the chain of successors of a note; the note itself if none replaces it.
    pub fn current(&self, note: NoteIdx) -> NoteIdx {
        self.current.get(&note).copied().unwrap_or(note)
    }

    /// Tells whether another note replaces a note.
    pub fn is_superseded(&self, note: NoteIdx) -> bool {
        self.current.contains_key(&note)
    }

    /// Returns the notes that directly replace a note; the last one stands in for it.
    pub fn successors(&self, note: NoteIdx) -> &[NoteIdx] {
        self.successors.get(&note).map_or(&[], Vec::as_slice)
    }

    /// Returns the notes that a note replaces, at most `limit`: first those that it replaces directly, then theirs.
    pub fn all_replaced(&self, note: NoteIdx, limit: usize) -> Vec<NoteIdx> {
        let (mut found, mut seen) = (vec![note], BTreeSet::from([note]));
        let mut next = 0;
        while let Some(note) = found.get(next).filter(|_| found.len() <= limit) {
            let replaced = self.replaced.get(note).into_iter().flatten();
            let new: Vec<NoteIdx> = replaced.filter(|note| seen.insert(**note)).copied().take(limit).collect();
            found.extend(new);
            next += 1;
        }
        found.into_iter().skip(1).take(limit).collect()
    }

    /// Tells whether a note replaces another, directly or over others.
    pub fn supersedes(&self, note: NoteIdx, other: NoteIdx) -> bool {
        self.all_replaced(note, usize::MAX).contains(&other)
    }

    /// Tells whether no note is replaced.
    pub fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    /// Moves the items whose notes no longer hold or are replaced behind the others, and each replaced one behind its
    /// successors. Items keep their order otherwise.
    pub fn outdated_last<T>(&self, store: &Store, items: Vec<T>, note_of: impl Fn(&T) -> NoteIdx) -> Vec<T> {
        let is_last = |item: &T| store.is_retired(note_of(item)) || self.is_superseded(note_of(item));
        let (last, mut sorted): (Vec<T>, Vec<T>) = items.into_iter().partition(is_last);
        sorted.extend(last);
        self.behind_successors(sorted, note_of)
    }

    /// Moves each item whose note is replaced behind the last of its successors, also through notes without an item. The
    /// others keep their order.
    pub fn behind_successors<T>(&self, items: Vec<T>, note_of: impl Fn(&T) -> NoteIdx) -> Vec<T> {
        if self.is_empty() {
            return items;
        }
        let is_linked = |note: &NoteIdx| self.successors.contains_key(note) || self.replaced.contains_key(note);
        let places = items.iter().enumerate().map(|(place, item)| (note_of(item), (place, 0)));
        // The place that a note takes, and the number of notes that come before it there. A query may find a million other
        // notes.
        let mut places: HashMap<NoteIdx, (usize, usize)> = places.filter(|(note, _)| is_linked(note)).collect();
        for old in &self.order {
            let of_successors = self.successors(*old).iter().filter_map(|new| places.get(new));
            let Some((place, depth)) = of_successors.copied().max() else { continue };
            let behind = (place, depth + 1);
            places.entry(*old).and_modify(|own| *own = behind.max(*own)).or_insert(behind);
        }
        let (mut sorted, mut moved) = (Vec::with_capacity(items.len()), BTreeMap::new());
        for (place, item) in items.into_iter().enumerate() {
            match places.get(&note_of(&item)).filter(|new| **new > (place, 0)) {
                Some(new) => drop(moved.insert((*new, place), item)),
                None => {
                    sorted.push(item);
                    while let Some(next) = moved.first_entry().filter(|next| next.key().0.0 == place) {
                        sorted.push(next.remove());
                    }
                }
            }
        }
        sorted
    }
}

/// The links by which notes replace others.
#[derive(Default)]
struct WrittenLinks {
    /// Pairs of a note and its successor.
    links: BTreeSet<(NoteIdx, NoteIdx)>,
    /// Those whose successor may not replace the note: the note with the link, and the reason as a sentence.
    barred: Vec<(NoteIdx, String)>,
}

/// Collects the links of all notes whose successors may replace others.
fn links(notes: &[Arc<NoteHandle>], may_succeed: fn(&NoteHandle) -> bool) -> WrittenLinks {
    let mut names = None;
    let mut found = WrittenLinks::default();
    // A commit names another by its id alone.
    let (others, commits) = notes.split_at(notes.partition_point(|note| !note.is_commit()));
    let commit = |id: &str| {
        let position = commits.binary_search_by(|commit| commit.id.local().cmp(id)).ok()?;
        Some(NoteIdx::new(others.len() + position))
    };
    for (place, note) in NoteIdx::enumerate(notes).filter(|(_, note)| note.flags.has_succession) {
        for (kind, target) in note.link_fields().typed {
            if kind != SUPERSEDES && kind != SUPERSEDED_BY {
                continue;
            }
            let mut resolve = || names.get_or_insert_with(|| NameIndex::new(others)).resolve_from(place, target);
            let target = if place.index() < others.len() { resolve() } else { commit(target) };
            let Some(target) = target else { continue };
            let (old, new) = if kind == SUPERSEDES { (target, place) } else { (place, target) };
            if old == new || !may_succeed(&notes[new]) {
                continue;
            }
            if notes[new].may_replace(&notes[old]) {
                found.links.insert((old, new));
            } else {
                let reason = barred(&notes[new], &notes[old]);
                let (old, new) = (&notes[old].id, &notes[new].id);
                found.barred.push((place, format!("`{new}` can't supersede `{old}`: {reason}")));
            }
        }
    }
    found
}

/// Tells whether a note may replace others. What nobody has accepted must not hide what was accepted.
fn takes_effect(successor: &NoteHandle) -> bool {
    !matches!(successor.status(), Some(Status::Rejected | Status::Deprecated | Status::Draft))
}

/// Returns the strongly connected component of each note of a graph, by Kosaraju's algorithm, without recursion.
fn components(edges: &BTreeSet<(NoteIdx, NoteIdx)>) -> BTreeMap<NoteIdx, NoteIdx> {
    let (mut forwards, mut backwards) = (Adjacency::new(), Adjacency::new());
    for (from, to) in edges {
        forwards.entry(*from).or_default().push(*to);
        backwards.entry(*to).or_default().push(*from);
    }
    let mut components = BTreeMap::new();
    for root in post_order(&forwards).into_iter().rev() {
        let mut open = vec![root];
        while let Some(note) = open.pop() {
            if let Entry::Vacant(entry) = components.entry(note) {
                entry.insert(root);
                open.extend(backwards.get(&note).into_iter().flatten());
            }
        }
    }
    components
}

/// Returns the notes of a graph in the order in which a depth-first search leaves them: in a graph without cycles, each
/// behind the notes that its edges lead to.
fn post_order(edges: &Adjacency) -> Vec<NoteIdx> {
    let targets = |note: NoteIdx| edges.get(&note).map_or(&[][..], Vec::as_slice);
    let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
    for root in edges.keys() {
        let mut path = if seen.insert(*root) { vec![(*root, targets(*root).iter())] } else { Vec::new() };
        while let Some((note, rest)) = path.last_mut() {
            match rest.next() {
                Some(target) if seen.insert(*target) => path.push((*target, targets(*target).iter())),
                Some(_) => {}
                None => {
                    order.push(*note);
                    path.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes notes `a`, `b` and so on, each with its fields.
    fn notes(fields: &[&str]) -> Vec<Arc<NoteHandle>> {
        let note = |(id, fields): (char, &&str)| {
            let text = format!("---\nid: {id}\n{fields}\n---\nText.\n");
            Arc::new(NoteHandle::parse(&format!("notes/{id}.md"), text.into_bytes()))
        };
        ('a'..).zip(fields).map(note).collect()
    }

    /// Returns what replaces each note, in the end, and the number of links that are refused.
    fn current(fields: &[&str]) -> (String, usize) {
        let notes = &notes(fields)[..];
        let successions = Successions::new(notes, &Compactions::new(notes));
        let current = NoteIdx::all(notes.len()).map(|note| notes[successions.current(note)].id.to_string());
        (current.collect(), successions.refused.len())
    }

    #[test]
    fn a_chain_leads_to_its_end() {
        let by = |id: &str| format!("links: [{{type: superseded-by, id: {id}}}]");
        let of = |id: &str| format!("links: [{{type: supersedes, id: {id}}}]");
        assert_eq!(current(&[&by("b"), &by("c"), ""]), ("ccc".to_owned(), 0));
        assert_eq!(current(&["", &of("a"), &of("b")]), ("ccc".to_owned(), 0));
        assert_eq!(current(&[&by("b"), &of("a")]), ("bb".to_owned(), 0), "both ends say so");
        assert_eq!(current(&[&by("a"), &by("zz")]), ("ab".to_owned(), 0), "itself and nothing");
        assert_eq!(current(&[&by("b"), &by("a"), &by("a")]), ("aba".to_owned(), 2), "a cycle and a note before it");
        let later = format!("created: 2025-01-02\n{}", of("a"));
        assert_eq!(current(&["", &later, &of("a")]), ("bbc".to_owned(), 0), "the last of two");
    }

    #[test]
    fn only_what_is_in_force_replaces_others() {
        for (status, end) in [("draft", "a"), ("Rejected", "a"), ("deprecated", "a"), ("stable", "b"), ("settled", "b")]
        {
            let fields = format!("status: {status}\nlinks: [{{type: supersedes, id: a}}]");
            assert_eq!(current(&["", &fields]).0, format!("{end}b"), "{status}");
        }
        let digest = "compacts: [a]\nlinks: [{type: superseded-by, id: a}]";
        assert_eq!(current(&["", digest]), ("ab".to_owned(), 1), "its own digest");
    }

    #[test]
    fn a_replaced_note_moves_behind_its_successor() {
        let by = |id: &str| format!("links: [{{type: superseded-by, id: {id}}}]");
        let notes = &notes(&[&by("b"), &by("c"), "", ""])[..];
        let successions = Successions::new(notes, &Compactions::default());
        let all: Vec<NoteIdx> = NoteIdx::all(notes.len()).collect();
        let sorted = |letters: &str| -> String {
            let notes_of: Vec<NoteIdx> = letters.bytes().map(|letter| all[usize::from(letter - b'a')]).collect();
            let sorted = successions.behind_successors(notes_of, |note| *note);
            sorted.into_iter().map(|note| notes[note].id.to_string()).collect()
        };
        assert_eq!(["abcd", "dcba", "adc", "bad"].map(sorted), ["cbad", "dcba", "dca", "bad"]);
    }
}
