//! The embedder: a program of the user's that turns texts into vectors, by which passages in other words are found.
//!
//! Only the user's settings name it. What it does wrong costs its part of the answer and gives one warning.

mod process;
mod protocol;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::codec::unit_vector::cosine;
use crate::progress;
use crate::store::{EmbedderSettings, NoteIdx, Store, TextHash, VectorCache, note_hash, text_hash};
use crate::warnings;
use process::Process;

/// How long the next answer of a program may take that embeds a whole store.
const BATCH_TIME: Duration = Duration::from_secs(60);
/// The vectors that are kept at once while a store is embedded, so that a call that is stopped loses little.
const SAVED_AT_ONCE: usize = 2_048;

/// A text of a note.
#[derive(Debug, Clone)]
pub struct EmbeddedText {
    /// The note.
    pub note: NoteIdx,
    /// The text, with what says what it is about.
    pub text: String,
}

/// The embedder of the user's settings, for one call.
#[derive(Debug)]
pub struct Embedder<'a> {
    store: &'a Store,
    settings: EmbedderSettings,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Started at the first use.
    process: Option<Process>,
    /// Whether it failed, after which it is not asked again.
    has_failed: bool,
    /// The vectors of each collection, read at the first use.
    caches: BTreeMap<usize, VectorCache>,
}

impl<'a> Embedder<'a> {
    /// Returns the embedder; `None` if the user's settings name none.
    pub fn of_store(store: &'a Store) -> Option<Self> {
        Some(Self { store, settings: store.embedder()?, state: Mutex::default() })
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Starts the program, so that it loads its model while notes are searched.
    pub fn start(&self) {
        self.with_state(|state| state.started(&self.settings).map(|_| ()));
    }

    /// Ends the program.
    pub fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).process = None;
    }

    /// Returns the vector of a question; `None` if the embedder failed.
    pub fn question(&self, text: &str) -> Option<Vec<u8>> {
        let deadline = self.deadline();
        self.with_state(|state| {
            let mut all = Vec::new();
            state.started(&self.settings)?.vectors(&[text], &mut || deadline, &mut |_, vectors| all = vectors)?;
            all.pop().ok_or_else(|| "gave no vector".to_owned())
        })
    }

    /// Returns the vectors of texts, in their order; `None` if the embedder failed. Those of the first `count` are made, and
    /// kept, if they are not there yet.
    pub fn vectors(&self, texts: &[EmbeddedText], count: usize) -> Option<Vec<Option<Vec<u8>>>> {
        let deadline = self.deadline();
        self.with_state(|state| {
            self.embed(state, texts.get(..count).unwrap_or(texts), &mut || deadline)?;
            let vector = |text: &EmbeddedText| {
                let cache = self.cache(state, self.collection(text.note));
                cache.get(&text_hash(&text.text)).map(<[u8]>::to_vec)
            };
            Ok(texts.iter().map(vector).collect())
        })
    }

    /// Returns the notes of the passages that are nearest to a question, the nearest first, each with the cosine of its best
    /// passage, at most `count`; and what all passages have, to compare with. Only collections count whose passages were all
    /// embedded.
    pub fn nearest(&self, question: &[u8], count: usize) -> NearestNotes {
        self.with_state(|state| {
            let mut nearest = NearestNotes::default();
            for (collection, notes) in self.store.notes_by_collection().into_iter().enumerate() {
                let cache = self.cache(state, collection);
                if !cache.is_complete {
                    continue;
                }
                let start = notes.first().and_then(|first| self.store.position(&first.id)).map_or(0, NoteIdx::index);
                let by_hash: HashMap<_, _> = notes
                    .iter()
                    .enumerate()
                    .map(|(index, note)| (note_hash(&note.id), NoteIdx::new(start + index)))
                    .collect();
                let records: Vec<_> = cache.records().collect();
                let cosines = records.par_iter().map(|record| (record.note, cosine(question, record.vector)));
                for (note, cosine) in cosines.collect::<Vec<_>>() {
                    nearest.add(by_hash.get(&note).copied(), cosine);
                }
            }
            nearest.keep_best(count);
            Ok(nearest)
        })
        .unwrap_or_default()
    }

    /// Embeds texts that are all of some collections, and forgets others. Returns the number of vectors and of their bytes.
    ///
    /// # Errors
    /// Why the embedder failed, as the rest of a sentence about it.
    pub fn embed_all(&self, texts: &[EmbeddedText]) -> Result<(usize, usize), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let _progress = progress::begin("embedding passages", texts.len());
        self.embed(&mut state, texts, &mut || Instant::now() + BATCH_TIME)?;
        let mut size = (0, 0);
        for collection in 0..self.store.collections().len() {
            let own = texts.iter().filter(|text| self.collection(text.note) == collection);
            let own: HashSet<TextHash> = own.map(|text| text_hash(&text.text)).collect();
            let cache = self.cache(&mut state, collection);
            cache.retain(|text| own.contains(text));
            cache.save();
            cache.set_complete();
            let (vectors, bytes) = cache.size();
            size = (size.0 + vectors, size.1 + bytes);
        }
        Ok(size)
    }

    /// Returns until when an answer waits.
    fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.settings.timeout_seconds)
    }

    /// Makes and keeps the vectors of the texts that have none.
    fn embed(
        &self,
        state: &mut State,
        texts: &[EmbeddedText],
        deadline: &mut dyn FnMut() -> Instant,
    ) -> Result<(), String> {
        let mut seen = HashSet::new();
        let mut missing: Vec<(usize, TextHash, &EmbeddedText)> = Vec::new();
        for text in texts {
            let (collection, hash) = (self.collection(text.note), text_hash(&text.text));
            let is_known = self.cache(state, collection).get(&hash).is_some();
            if is_known {
                progress::advance();
            } else if seen.insert((collection, hash)) {
                missing.push((collection, hash, text));
            }
        }
        if missing.is_empty() {
            // Those of notes that are gone go.
            state.caches.values_mut().for_each(VectorCache::save);
            return Ok(());
        }
        let dimensions = state.started(&self.settings)?.hello(deadline())?.dimensions;
        state.caches.values_mut().for_each(|cache| cache.expect_dimensions(dimensions));
        for part in missing.chunks(SAVED_AT_ONCE) {
            let State { process: Some(process), caches, .. } = state else { break };
            let texts: Vec<&str> = part.iter().map(|(.., text)| text.text.as_str()).collect();
            let mut is_done = |first: usize, vectors: Vec<Vec<u8>>| {
                for ((collection, hash, text), vector) in part.iter().skip(first).zip(vectors) {
                    let note = note_hash(&self.store.notes()[text.note].id);
                    caches.entry(*collection).or_default().add(*hash, note, &vector);
                    progress::advance();
                }
            };
            let made = process.vectors(&texts, deadline, &mut is_done);
            // What was made in time serves the next call.
            caches.values_mut().for_each(VectorCache::save);
            made?;
        }
        Ok(())
    }

    fn cache<'s>(&self, state: &'s mut State, collection: usize) -> &'s mut VectorCache {
        let read = || self.store.vector_cache(collection, self.name());
        state.caches.entry(collection).or_insert_with(read)
    }

    fn collection(&self, note: NoteIdx) -> usize {
        self.store.notes()[note].collection_ordinal()
    }

    /// Does some work, unless the embedder failed before. If it fails now, its process is ended, and a warning added.
    fn with_state<T>(&self, work: impl FnOnce(&mut State) -> Result<T, String>) -> Option<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.has_failed {
            return None;
        }
        work(&mut state)
            .map_err(|reason| {
                (state.has_failed, state.process) = (true, None);
                warnings::add(format!("the embedder {} {reason}; the answer is by words alone", self.name()));
            })
            .ok()
    }
}

impl State {
    fn started(&mut self, settings: &EmbedderSettings) -> Result<&mut Process, String> {
        if self.process.is_none() {
            self.process = Some(Process::start(settings)?);
        }
        self.process.as_mut().ok_or_else(|| "can't be started".to_owned())
    }
}

/// The notes whose passages are nearest to a question.
#[derive(Debug, Default)]
pub struct NearestNotes {
    /// The notes with the cosine of the best passage of each, the nearest first.
    pub notes: Vec<(NoteIdx, f64)>,
    /// The number of passages that were compared, and the sum of their cosines.
    count: usize,
    sum: f64,
    best: HashMap<NoteIdx, f64>,
}

impl NearestNotes {
    fn add(&mut self, note: Option<NoteIdx>, cosine: f64) {
        self.count += 1;
        self.sum += cosine;
        if let Some(note) = note {
            let best = self.best.entry(note).or_insert(cosine);
            *best = best.max(cosine);
        }
    }

    fn keep_best(&mut self, count: usize) {
        let mut all: Vec<(NoteIdx, f64)> = std::mem::take(&mut self.best).into_iter().collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(count);
        self.notes = all;
    }

    /// Returns how near the best passage is, from 0 for an average one to 1 for the question itself; 0 without passages. The
    /// cosines of one model lie around 0, those of another around 0.8.
    pub fn nearness(&self) -> f64 {
        let mean = self.sum / self.count as f64;
        let best = self.notes.first().map_or(mean, |(_, cosine)| *cosine);
        let nearness = (best - mean) / (1.0 - mean);
        if nearness.is_finite() { nearness.max(0.0) } else { 0.0 }
    }
}
