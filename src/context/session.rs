//! A session: an open store with its graph and its search engine, built on first use and reused by later answers.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::neighbours::{linked, sequences};
use crate::embedder::Embedder;
use crate::graph::{self, CollectionLinks, Graph, Replacements, Successions};
use crate::search::{Engine, Neighbourhood, NoteTerms, Query, SearchResults, Sequences};
use crate::store::{NoteHandle, NoteIdx, Store};
use crate::timings;

/// An open store, its graph and its search engine.
///
/// These are built by all threads. Parallel work must request them before it starts: a thread that waits for one of them
/// may run other work of the pool, which would wait for this thread in turn.
pub struct Session<'a> {
    /// The store.
    pub store: &'a Store,
    graph: OnceLock<Graph<'a>>,
    sequences: OnceLock<Sequences>,
    engine: OnceLock<Engine<'a>>,
    commits_engine: OnceLock<Engine<'a>>,
    successions: OnceLock<Successions>,
    embedder: OnceLock<Option<Embedder<'a>>>,
}

impl<'a> Session<'a> {
    /// Starts a session on a store, without building anything.
    pub fn new(store: &'a Store) -> Self {
        let (graph, sequences, engine) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (commits_engine, successions, embedder) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { store, graph, sequences, engine, commits_engine, successions, embedder }
    }

    /// Returns the graph of all notes, from the sidecar if it is valid.
    pub fn graph(&self) -> &Graph<'a> {
        let store = self.store;
        self.graph.get_or_init(|| {
            let first = Some(store.first_collection());
            // Commits have no links that a reader follows.
            let notes = store.notes_without_commits();
            Graph::of_collections(notes, &store.config.link_types, first, self.collection_links())
        })
    }

    /// Returns the links inside each collection, from its sidecar if that is valid.
    fn collection_links(&self) -> Vec<CollectionLinks> {
        let links = |(ordinal, notes): (usize, &[Arc<NoteHandle>])| {
            let kept = self.store.cached(ordinal, graph::CACHE_KEY);
            let kept = kept.and_then(|bytes| CollectionLinks::from_bytes(&bytes, notes.len()));
            kept.unwrap_or_else(|| {
                let links = CollectionLinks::new(notes);
                if self.store.put_cached(ordinal, graph::CACHE_KEY, || links.to_bytes()) {
                    timings::end("links written");
                }
                links
            })
        };
        let mut notes = self.store.notes_by_collection();
        notes.truncate(notes.len() - usize::from(self.store.commits_start() < self.store.notes().len()));
        notes.into_par_iter().enumerate().map(links).collect()
    }

    /// Returns the search engine for all notes but the commits, which have one of their own.
    pub fn engine(&self) -> &Engine<'a> {
        let store = self.store;
        self.engine.get_or_init(|| {
            let (language, indexes) = (store.config.language, store.text_indexes());
            let kept = store.cached_terms();
            let notes = store.notes_without_commits();
            let engine = Engine::open(notes, language, &indexes, kept.as_deref());
            if let Some(terms) = engine.merged_terms() {
                store.put_cached_terms(terms);
            }
            engine
        })
    }

    /// Returns the commits that have words of a query; `None` if none are read. They are ranked by their own words, so
    /// that they change nothing of how notes and documents are found.
    pub fn search_commits(&self, query: &Query, is_shown: &(dyn Fn(NoteIdx) -> bool + Sync)) -> Option<SearchResults> {
        let start = self.store.commits_start();
        let engine = self.commits_engine()?;
        let in_store = |note: NoteIdx| NoteIdx::new(note.index() + start);
        let mut found = engine.search_for(query, None, &|note| is_shown(in_store(note)));
        found.hits.iter_mut().for_each(|hit| hit.note = in_store(hit.note));
        Some(found)
    }

    /// Returns the search engine for the commits; `None` if none are read.
    fn commits_engine(&self) -> Option<&Engine<'a>> {
        let store = self.store;
        let commits = store.notes().get(store.commits_start()..).filter(|commits| !commits.is_empty())?;
        Some(self.commits_engine.get_or_init(|| {
            let index = store.commits_index();
            Engine::open(commits, store.config.language, &index.iter().collect::<Vec<_>>(), None)
        }))
    }

    /// Returns the content terms of a note. Those of commits have other ids than the same ones of notes.
    pub fn note_terms(&self, note: NoteIdx) -> Arc<NoteTerms> {
        let start = self.store.commits_start();
        let Some(engine) = Some(()).filter(|()| note.index() >= start).and_then(|()| self.commits_engine()) else {
            return self.engine().note_terms(note);
        };
        let found = engine.note_terms(NoteIdx::new(note.index() - start));
        let terms = found.terms.iter().map(|term| term | 1 << 31).collect();
        Arc::new(NoteTerms { terms, density: found.density })
    }

    /// Returns the embedder of the user's settings; `None` if these name none.
    pub fn embedder(&self) -> Option<&Embedder<'a>> {
        self.embedder.get_or_init(|| Embedder::of_store(self.store)).as_ref()
    }

    /// Ends what the session started. A session of the last call of a process is never dropped.
    pub fn end(&self) {
        self.embedder.get().into_iter().flatten().for_each(Embedder::end);
    }

    /// Returns which notes replace which.
    pub fn successions(&self) -> &Successions {
        self.successions.get_or_init(|| Replacements::for_answer(self.store.notes(), true).successions)
    }

    /// Returns the sequences of notes, for score propagation.
    fn sequences(&self) -> &Sequences {
        self.sequences.get_or_init(|| {
            let sequences = sequences(self.store, self.graph());
            timings::end("sequences found");
            sequences
        })
    }

    /// Whether a note follows another one or is followed by one.
    pub fn is_in_sequence(&self, note: NoteIdx) -> bool {
        self.sequences().has(note)
    }

    /// Returns the neighbours of each note, for score propagation.
    pub fn neighbourhood(&self) -> Neighbourhood<'_> {
        let (graph, sequences) = (self.graph(), self.sequences());
        Neighbourhood { linked: Box::new(move |note| linked(graph, sequences, note)), sequences }
    }

    /// Returns the search engine, and the neighbours of each note if `with_graph`.
    pub fn engine_and_neighbourhood(&self, with_graph: bool) -> (&Engine<'a>, Option<Neighbourhood<'_>>) {
        // In parallel, since each has steps that use one thread only.
        let (engine, _) = rayon::join(|| self.engine(), || with_graph.then(|| self.sequences()));
        (engine, with_graph.then(|| self.neighbourhood()))
    }
}
