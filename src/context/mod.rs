//! Selection: which notes belong into a bundle, and in which order.

mod around;
mod filter;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::mem::ManuallyDrop;

pub use around::surroundings;
pub use filter::Filter;

use crate::error::Error;
use crate::graph::{Digests, Follow, Graph, Limits};
use crate::request::Selectors;
use crate::search::{Engine, Query, Spelling};
use crate::store::Store;

/// What was selected, best first.
#[derive(Debug)]
pub struct Selection {
    /// The notes, as their places in the store.
    pub notes: Vec<usize>,
    /// How many there were before any limit.
    pub matched: usize,
    /// The digests that stand in for notes.
    pub digests: Digests,
    /// Words of the query that no note holds.
    pub spellings: Vec<Spelling>,
}

/// Selects notes: those named, then maps of content, walks, query hits by score, tags and filters
/// by value, and last the backlinks of all these. A note stands once, at its best place.
///
/// `max_hits` limits what the query selects; `max_notes` limits everything.
///
/// # Errors
/// `NoNote` for an id that does not exist; `Usage` for a bad filter expression or when nothing
/// selects.
pub fn select(
    store: &Store,
    selectors: &Selectors,
    max_hits: Option<usize>,
    max_notes: Option<usize>,
) -> Result<Selection, Error> {
    let selectors = with_words(store, selectors);
    if !selects(&selectors) {
        return Err(Error::usage("nothing selects notes")
            .hint("give a query, or one of --note, --tag, --moc, --query, --walk, --min-value, --custom-filter"));
    }
    let filters = Filter::parse_all(&selectors.custom_filters)?;
    let mut selector = Selector {
        store,
        selectors: &selectors,
        filters,
        digests: Digests::in_answer(store.notes(), selectors.no_compaction),
        graph: None,
        chosen: Vec::new(),
        seen: HashSet::new(),
        over_limit: 0,
        spellings: Vec::new(),
    };
    selector.run(max_hits)?;
    let Selector { chosen: mut notes, over_limit, digests, spellings, .. } = selector;
    let matched = notes.len() + over_limit;
    notes.truncate(max_notes.unwrap_or(usize::MAX));
    Ok(Selection { notes, matched, digests, spellings })
}

/// Takes the bare words apart: ids where they name notes, else the query.
fn with_words(store: &Store, selectors: &Selectors) -> Selectors {
    let mut selectors = selectors.clone();
    let (ids, words): (Vec<String>, Vec<String>) =
        std::mem::take(&mut selectors.words).into_iter().partition(|word| store.named(word).is_some());
    selectors.notes.extend(ids);
    if !words.is_empty() {
        let query = selectors.query.take().into_iter().chain(words);
        selectors.query = Some(query.collect::<Vec<_>>().join(" "));
    }
    selectors
}

fn selects(selectors: &Selectors) -> bool {
    !selectors.notes.is_empty()
        || selectors.reads_stdin
        || !selectors.tags.is_empty()
        || !selectors.mocs.is_empty()
        || !selectors.walks.is_empty()
        || selectors.query.is_some()
        || filters_select(selectors)
}

fn filters_select(selectors: &Selectors) -> bool {
    selectors.min_value.is_some() || !selectors.custom_filters.is_empty()
}

struct Selector<'a> {
    store: &'a Store,
    selectors: &'a Selectors,
    filters: Vec<Filter>,
    digests: Digests,
    /// Made when the first selector needs links.
    graph: Option<Graph<'a>>,
    chosen: Vec<usize>,
    seen: HashSet<usize>,
    /// Notes that the query found beyond its limit, and nothing else chose.
    over_limit: usize,
    spellings: Vec<Spelling>,
}

impl<'a> Selector<'a> {
    fn run(&mut self, max_hits: Option<usize>) -> Result<(), Error> {
        for note in self.store.positions(&self.selectors.notes)? {
            self.choose_itself(note);
            self.choose(note);
        }
        let mocs = self.store.positions(&self.selectors.mocs)?;
        let walks = self.store.positions(&self.selectors.walks)?;
        for moc in mocs {
            let members = self.members(moc);
            self.choose_passing(members);
        }
        self.choose_around(&walks);
        let beyond = self.choose_hits(max_hits);
        self.choose_by_value();
        if self.selectors.backlinks {
            self.choose_backlinks();
        }
        self.over_limit = beyond.iter().filter(|note| !self.seen.contains(note)).count();
        Ok(())
    }

    fn graph(&mut self) -> &Graph<'a> {
        let store = self.store;
        self.graph.get_or_insert_with(|| Graph::new(store.notes(), &store.config.link_types))
    }

    /// Chooses a note, or the digest that stands for it.
    fn choose(&mut self, note: usize) {
        self.choose_itself(self.digests.stand_in(note));
    }

    fn choose_itself(&mut self, note: usize) {
        if self.seen.insert(note) {
            self.chosen.push(note);
        }
    }

    fn choose_passing(&mut self, notes: impl IntoIterator<Item = usize>) {
        for note in notes {
            if self.passes(note) {
                self.choose(note);
            }
        }
    }

    /// Tells whether a note passes the filters.
    fn passes(&self, place: usize) -> bool {
        let note = &self.store.notes()[place];
        self.selectors.min_value.is_none_or(|least| note.value_or_default() >= least)
            && self.filters.iter().all(|filter| filter.matches(note))
    }

    /// Returns a map and what it links to, in its own order; with `transitive`, maps among these
    /// are opened too, breadth first.
    fn members(&mut self, moc: usize) -> Vec<usize> {
        let (store, transitive) = (self.store, self.selectors.transitive);
        let graph = self.graph();
        let mut members = vec![moc];
        let mut seen = HashSet::from([moc]);
        let mut next = 0;
        while let Some(&member) = members.get(next) {
            if next == 0 || (transitive && store.notes()[member].is_moc()) {
                let targets = graph.written(member).iter().map(|edge| edge.to);
                members.extend(targets.filter(|target| seen.insert(*target)));
            }
            next += 1;
        }
        members
    }

    /// Chooses the notes around several ones by hops; those of the first root first.
    fn choose_around(&mut self, roots: &[usize]) {
        let limits = Limits { max_hops: self.selectors.max_hops, max_nodes: None, max_fanout: None, min_value: 0 };
        let mut reached: Vec<(usize, usize)> = Vec::new();
        for root in roots {
            let walk = self.graph().walk(*root, &Follow::default(), &limits);
            reached.extend(walk.reached.iter().map(|step| (step.hop, step.note)));
        }
        reached.sort_by_key(|(hop, _)| *hop);
        self.choose_passing(reached.into_iter().map(|(_, note)| note));
    }

    /// Chooses what the query finds, and returns what it finds beyond its limit.
    fn choose_hits(&mut self, max_hits: Option<usize>) -> Vec<usize> {
        let Some(query) = &self.selectors.query else {
            return Vec::new();
        };
        let store = self.store;
        let needs_graph = !self.selectors.no_graph && self.graph.is_none();
        // Side by side: each has steps in which it can use one thread only. Like the store, the engine
        // is left to the end of the process.
        let (engine, graph) = rayon::join(
            || ManuallyDrop::new(Engine::open(store.notes(), store.config.language, store.gathered())),
            || needs_graph.then(|| Graph::new(store.notes(), &store.config.link_types)),
        );
        self.graph = graph.or(self.graph.take());
        let graph = if self.selectors.no_graph { None } else { Some(self.graph()) };
        let around = graph.map(|graph| surroundings(store, graph));
        let found = engine.search(&Query::parse(query), around.as_ref());
        drop(around);
        self.spellings = found.spellings;
        let mut hits: Vec<usize> = found.hits.iter().map(|hit| hit.note).collect();
        hits.retain(|note| self.passes(*note));
        let mut seen = HashSet::new();
        hits = hits.iter().map(|note| self.digests.stand_in(*note)).filter(|note| seen.insert(*note)).collect();
        let beyond = hits.split_off(hits.len().min(max_hits.unwrap_or(usize::MAX)));
        hits.into_iter().for_each(|note| self.choose(note));
        beyond
    }

    /// Chooses what tags select, or filters where nothing else selects: by value, then the
    /// latest change, then id.
    fn choose_by_value(&mut self) {
        let selectors = self.selectors;
        let only_filters = filters_select(selectors)
            && !selects(&Selectors { min_value: None, custom_filters: Vec::new(), ..selectors.clone() });
        if !only_filters && selectors.tags.is_empty() {
            return;
        }
        let notes = self.store.notes();
        let is_wanted = |note: &usize| {
            let has_tag = |tag: &String| notes[*note].ties().tags.contains(&tag.as_str());
            only_filters || selectors.tags.iter().any(has_tag)
        };
        let mut wanted: Vec<usize> = (0..notes.len()).filter(is_wanted).filter(|note| self.passes(*note)).collect();
        wanted.sort_by_cached_key(|place| {
            let note = &notes[*place];
            (Reverse(note.value_or_default()), Reverse(note.head().changed()), *place)
        });
        wanted.into_iter().for_each(|note| self.choose(note));
    }

    fn choose_backlinks(&mut self) {
        let chosen = self.chosen.clone();
        for note in chosen {
            let backlinks: Vec<usize> = self.graph().backlinks(note).collect();
            self.choose_passing(backlinks);
        }
    }
}
