//! The desk: an open store, with what an answer may need of it, made when it is first needed and kept
//! for the next answer.

use std::sync::OnceLock;

use super::neighbours::{linked, sequences};
use crate::graph::{self, Graph};
use crate::search::{Engine, Neighbourhood, Sequences};
use crate::store::Store;
use crate::timings;

/// An open store, its links and the words of its notes.
///
/// These are made by all threads. Work that is itself shared among threads asks for them before it begins: a
/// thread that waits while one of them is made may take up other work, which would wait for this thread.
pub struct Session<'a> {
    /// The store.
    pub store: &'a Store,
    graph: OnceLock<Graph<'a>>,
    sequences: OnceLock<Sequences>,
    engine: OnceLock<Engine<'a>>,
}

impl<'a> Session<'a> {
    /// Lays a store on the desk.
    pub fn new(store: &'a Store) -> Self {
        Self { store, graph: OnceLock::new(), sequences: OnceLock::new(), engine: OnceLock::new() }
    }

    /// Returns the links of all notes.
    pub fn graph(&self) -> &Graph<'a> {
        let store = self.store;
        self.graph.get_or_init(|| {
            let (notes, types) = (store.notes(), &store.config.link_types);
            let kept = store.kept(graph::CACHE_KEY).and_then(|bytes| Graph::from_bytes(notes, types, &bytes));
            kept.unwrap_or_else(|| {
                let graph = Graph::new(notes, types);
                if store.keep(graph::CACHE_KEY, || graph.to_bytes()) {
                    timings::end("links written");
                }
                graph
            })
        })
    }

    /// Returns what searches the notes.
    pub fn engine(&self) -> &Engine<'a> {
        let store = self.store;
        self.engine.get_or_init(|| Engine::open(store.notes(), store.config.language, store.gathered()))
    }

    fn sequences(&self) -> &Sequences {
        self.sequences.get_or_init(|| {
            let sequences = sequences(self.store, self.graph());
            timings::end("sequences found");
            sequences
        })
    }

    /// Returns what stands around each note.
    pub fn surroundings(&self) -> Neighbourhood<'_> {
        let (graph, sequences) = (self.graph(), self.sequences());
        Neighbourhood { linked: Box::new(move |note| linked(graph, sequences, note)), sequences }
    }

    /// Returns what searches the notes, and what stands around each where that counts.
    pub fn searching(&self, with_graph: bool) -> (&Engine<'a>, Option<Neighbourhood<'_>>) {
        // Side by side: each has steps in which it can use one thread only.
        let (engine, _) = rayon::join(|| self.engine(), || with_graph.then(|| self.sequences()));
        (engine, with_graph.then(|| self.surroundings()))
    }
}
