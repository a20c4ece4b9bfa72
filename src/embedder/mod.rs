//! The embedder: a program of the user's that turns texts into vectors, by which passages in other words are found.
//!
//! Only the user's settings name it. What it does wrong costs its part of the answer and gives one warning.

mod process;
mod protocol;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::codec::unit_vector::cosine;
use crate::progress;
use crate::store::{EmbedderSettings, NoteHash, NoteIdx, Store, TextHash, VectorCache, note_hash, text_hash};
use crate::warnings;
use process::Process;

/// How long the next answer of a program may take that embeds a whole store.
const BATCH_TIME: Duration = Duration::from_secs(60);
/// The vectors that are kept at once while a store is embedded, so that a call that is stopped loses little.
const SAVED_AT_ONCE: usize = 2_048;

/// A text of a note.
#[derive(Debug, Clone)]
pub struct EmbeddedText {
    note: NoteIdx,
    text: String,
    /// The hash of the text.
    pub hash: TextHash,
}

impl EmbeddedText {
    /// Makes it of a text with what says what it is about.
    pub fn new(note: NoteIdx, text: String) -> Self {
        Self { note, hash: text_hash(&text), text }
    }
}

/// The embedder of the user's settings, for one call.
#[derive(Debug)]
pub struct Embedder<'a> {
    store: &'a Store,
    settings: EmbedderSettings,
    /// The notes by the hashes of their ids, computed at the first vector that is kept.
    notes: OnceLock<HashMap<NoteHash, NoteIdx>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Started at the first use.
    process: Option<Process>,
    /// Whether it failed, after which it is not asked again.
    has_failed: bool,
    /// The numbers of each vector, once the program has told them.
    dimensions: Option<usize>,
    /// Until when the current answer waits.
    deadline: Option<Instant>,
    /// The vectors of each collection, read at the first use.
    caches: BTreeMap<usize, VectorCache>,
}

impl<'a> Embedder<'a> {
    /// Returns the embedder; `None` if the user's settings name none.
    pub fn of_store(store: &'a Store) -> Option<Self> {
        Some(Self { store, settings: store.embedder()?, notes: OnceLock::new(), state: Mutex::default() })
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Starts the program for an answer, so that it loads its model while notes are searched.
    pub fn start(&self) {
        self.with_state(|state| {
            state.deadline = Some(Instant::now() + Duration::from_secs(self.settings.timeout_seconds));
            state.started(&self.settings).map(|_| ())
        });
    }

    /// Ends the program.
    pub fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).process = None;
    }

    /// Returns the vector of a question; `None` if the embedder failed.
    pub fn question(&self, text: &str) -> Option<Vec<u8>> {
        self.with_state(|state| {
            let deadline = state.deadline.unwrap_or_else(Instant::now);
            self.expect_dimensions(state, deadline)?;
            let mut all = Vec::new();
            state.started(&self.settings)?.vectors(&[text], &mut || deadline, &mut |_, vectors| all = vectors)?;
            all.pop().ok_or_else(|| "gave no vector".to_owned())
        })
    }

    /// Returns the vectors of texts, in their order; `None` if the embedder failed. Those of the first `count` are made, and
    /// kept, if they are not there yet.
    pub fn vectors(&self, texts: &[EmbeddedText], count: usize) -> Option<Vec<Option<Vec<u8>>>> {
        self.with_state(|state| {
            let deadline = state.deadline.unwrap_or_else(Instant::now);
            self.embed(state, texts.get(..count).unwrap_or(texts), &mut || deadline)?;
            let vector = |text: &EmbeddedText| {
                let cache = self.cache(state, self.collection(text.note));
                cache.get(&text.hash).map(<[u8]>::to_vec)
            };
            Ok(texts.iter().map(vector).collect())
        })
    }

    /// Returns the passages that are near to a question, the nearest first, at most `count`, of notes for which a condition holds;
    /// and how far passages are on average. Only collections count whose passages were all embedded.
    pub fn nearest(&self, question: &[u8], count: usize, is_shown: &dyn Fn(NoteIdx) -> bool) -> NearestPassages {
        self.with_state(|state| {
            let mut nearest = NearestPassages::default();
            for collection in 0..self.store.collections().len() {
                let cache = self.cache(state, collection);
                let records: Vec<_> = cache.records().filter(|_| cache.is_complete).collect();
                let cosines = records.par_iter().map(|record| cosine(question, record.vector));
                for (record, cosine) in records.iter().zip(cosines.collect::<Vec<f64>>()) {
                    nearest.add(self.notes().get(&record.note).copied(), record.text, cosine);
                }
            }
            nearest.keep_near(count, is_shown);
            Ok(nearest)
        })
        .unwrap_or_default()
    }

    /// Embeds texts, which are all of the open collections, and forgets others. Returns the number of their vectors and of the
    /// bytes of these.
    ///
    /// # Errors
    /// Why the embedder failed, as the rest of a sentence about it.
    pub fn embed_all(&self, texts: &[EmbeddedText]) -> Result<(usize, usize), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let _progress = progress::begin("embedding passages", texts.len());
        self.expect_dimensions(&mut state, Instant::now() + BATCH_TIME)?;
        self.embed(&mut state, texts, &mut || Instant::now() + BATCH_TIME)?;
        let mut size = (0, 0);
        for collection in 0..self.store.collections().len() {
            let own = texts.iter().filter(|text| self.collection(text.note) == collection);
            let own: HashSet<(TextHash, NoteHash)> = own.map(|text| (text.hash, self.note_hash(text))).collect();
            let cache = self.cache(&mut state, collection);
            cache.retain(|text, note| own.contains(&(*text, *note)));
            if !cache.save() && !own.is_empty() {
                return Err("made vectors that can't be kept: there is no room in your cache folder".to_owned());
            }
            cache.set_complete();
            let (vectors, bytes) = cache.size();
            size = (size.0 + vectors, size.1 + bytes);
        }
        Ok(size)
    }

    /// Makes and keeps the vectors of the texts that have none, by the program whose dimensions are known.
    fn embed(
        &self,
        state: &mut State,
        texts: &[EmbeddedText],
        deadline: &mut dyn FnMut() -> Instant,
    ) -> Result<(), String> {
        let mut missing: Vec<&EmbeddedText> = Vec::new();
        for text in texts {
            let note = self.note_hash(text);
            if self.cache(state, self.collection(text.note)).has(text.hash, note) {
                progress::advance();
            } else {
                missing.push(text);
            }
        }
        for part in missing.chunks(SAVED_AT_ONCE) {
            let State { process: Some(process), caches, .. } = state else { break };
            let texts: Vec<&str> = part.iter().map(|text| text.text.as_str()).collect();
            let mut is_done = |first: usize, vectors: Vec<Vec<u8>>| {
                for (text, vector) in part.iter().skip(first).zip(vectors) {
                    let cache = caches.entry(self.collection(text.note)).or_default();
                    cache.add(text.hash, self.note_hash(text), &vector);
                    progress::advance();
                }
            };
            let made = process.vectors(&texts, deadline, &mut is_done);
            // What was made in time serves the next call.
            state.save();
            made?;
        }
        // What is of no use goes, also where nothing was missing.
        state.save();
        Ok(())
    }

    /// Returns the vectors of a collection; none of other dimensions than those of the program.
    fn cache<'s>(&self, state: &'s mut State, collection: usize) -> &'s mut VectorCache {
        let dimensions = state.dimensions;
        state.caches.entry(collection).or_insert_with(|| {
            let is_gone = |note: &NoteHash| !self.notes().contains_key(note);
            let mut cache = self.store.vector_cache(collection, self.name(), &is_gone);
            dimensions.into_iter().for_each(|dimensions| cache.expect_dimensions(dimensions));
            cache
        })
    }

    /// Learns the dimensions of the vectors from the program.
    fn expect_dimensions(&self, state: &mut State, deadline: Instant) -> Result<(), String> {
        let dimensions = state.started(&self.settings)?.hello(deadline)?.dimensions;
        if state.dimensions.replace(dimensions) != Some(dimensions) {
            state.caches.values_mut().for_each(|cache| cache.expect_dimensions(dimensions));
        }
        Ok(())
    }

    fn notes(&self) -> &HashMap<NoteHash, NoteIdx> {
        let notes = self.store.notes();
        self.notes.get_or_init(|| NoteIdx::enumerate(notes).map(|(idx, note)| (note_hash(&note.id), idx)).collect())
    }

    /// Returns the hash of the note of a text.
    fn note_hash(&self, text: &EmbeddedText) -> NoteHash {
        note_hash(&self.store.notes()[text.note].id)
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

    /// Keeps what is new of all collections.
    fn save(&mut self) {
        for cache in self.caches.values_mut() {
            cache.save();
        }
    }
}

/// The passages that are near to a question.
#[derive(Debug, Default)]
pub struct NearestPassages {
    /// The notes and the hashes of the texts, with their cosines, the nearest first.
    pub passages: Vec<NearPassage>,
    /// The number of passages that were compared, and the sum of their cosines in units of [`UNIT`]: a sum of integers is the
    /// same in every order.
    count: i64,
    sum: i64,
    /// The highest of these.
    best: i64,
}

/// A passage with the cosine of its vector and that of a question.
#[derive(Debug, Clone, Copy)]
pub struct NearPassage {
    /// Its note.
    pub note: NoteIdx,
    /// The hash of its text.
    pub text: TextHash,
    /// The cosine.
    pub cosine: f64,
}

/// The unit of sums of cosines.
const UNIT: f64 = 1e-9;
/// The least nearness of a passage that words do not find. None of 57 questions that three stores can't answer is as near to a
/// passage, near misses aside.
const MIN_NEARNESS: f64 = 0.42;

impl NearestPassages {
    fn add(&mut self, note: Option<NoteIdx>, text: TextHash, cosine: f64) {
        let units = (cosine / UNIT).round() as i64;
        (self.count, self.sum, self.best) = (self.count + 1, self.sum + units, self.best.max(units));
        self.passages.extend(note.map(|note| NearPassage { note, text, cosine }));
    }

    /// Keeps the near passages of notes for which a condition holds, at most `count`.
    fn keep_near(&mut self, count: usize, is_shown: &dyn Fn(NoteIdx) -> bool) {
        let mut near = std::mem::take(&mut self.passages);
        near.retain(|passage| self.is_near(passage.cosine) && is_shown(passage.note));
        near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then((a.note, a.text).cmp(&(b.note, b.text))));
        near.truncate(count);
        self.passages = near;
    }

    /// Whether a passage with this cosine is clearly nearer than others are by chance: by the way from the average one, 0, to the
    /// question itself, 1. The cosines of one model lie around 0, those of another around 0.8.
    pub fn is_near(&self, cosine: f64) -> bool {
        // The best one would hide itself in a small store.
        let average = (self.sum - self.best) as f64 * UNIT / (self.count - 1).max(1) as f64;
        self.count > 0 && cosine - average >= MIN_NEARNESS * (1.0 - average)
    }
}
