//! A client of the open store: makes the requests of the command line and returns their results as values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::page::{self, LinkLine};
use super::worklist::{self, MAX_ENTRIES, WorklistEntry};
use crate::commands;
use crate::error::Error;
use crate::graph::{Follow, WalkLimits};
use crate::note::NoteId;
use crate::report::{Entry, Report, no_note_has};
use crate::request::{Filters, LinkRequest, LinkView, ListRequest, ReadCommand, ReviewRequest, SearchRequest};
use crate::store::{Location, NoteHandle, Store};

/// An open store and the request that reopens it.
pub(super) struct StoreClient {
    pub(super) location: Location,
    current_dir: PathBuf,
    store: Store,
    /// Whether the store was opened with its text index.
    has_text_index: bool,
}

impl StoreClient {
    pub(super) fn open(location: &Location, current_dir: &Path) -> Result<Self, Error> {
        let store = Store::open(location, current_dir)?;
        Ok(Self { location: location.clone(), current_dir: current_dir.to_path_buf(), store, has_text_index: false })
    }

    pub(super) fn note_count(&self) -> usize {
        self.store.notes().len()
    }

    pub(super) fn reload(&mut self) -> Result<(), Error> {
        *self = Self::open(&self.location, &self.current_dir)?;
        Ok(())
    }

    /// Replaces the store by one that was opened with its text index.
    pub(super) fn replace_store(&mut self, store: Store) {
        self.store = store;
        self.has_text_index = true;
    }

    /// Runs a command. If the index turns out to be corrupt, the store is reopened without it and the command runs
    /// again, as on the command line.
    fn run(&mut self, command: &ReadCommand) -> Result<Report, Error> {
        let report = commands::run_on(command, &self.store);
        if !self.store.is_index_corrupt() {
            return report;
        }
        self.store.discard_index(&self.location);
        let without_index = Location { no_index: true, ..self.location.clone() };
        self.store = Store::open(&without_index, &self.current_dir)?;
        self.has_text_index = false;
        commands::run_on(command, &self.store)
    }

    /// Returns the notes that pass all filters, the latest changed first.
    pub(super) fn list(&mut self, filters: &Filters) -> Result<Vec<Arc<NoteHandle>>, Error> {
        Ok(notes_of(&self.run(&ReadCommand::List(ListRequest { filters: filters.clone(), ..ListRequest::default() }))?))
    }

    /// Searches the notes that pass all filters. Returns the hits, best first, and a message about words that no note has.
    pub(super) fn search(
        &mut self,
        query: &str,
        filters: &Filters,
    ) -> Result<(Vec<Arc<NoteHandle>>, Option<String>), Error> {
        self.open_text_index()?;
        let filters = filters.clone();
        // The list shows notes that a digest replaces, so the search shows them too.
        let search =
            SearchRequest { query: query.to_owned(), filters, no_compaction: true, ..SearchRequest::default() };
        let report = self.run(&ReadCommand::Search(search))?;
        let remarks = report.head.spellings.iter().map(|spelling| match &spelling.read_as {
            None => format!("no note has \"{}\"", spelling.word),
            Some(other) => format!("read \"{}\" as \"{other}\"", spelling.word),
        });
        let unknown = report.head.question_match.iter().filter_map(|matched| no_note_has(&matched.unknown));
        let remarks = unknown.chain(remarks);
        let remark = remarks.reduce(|all, next| format!("{all}; {next}"));
        Ok((notes_of(&report), remark))
    }

    fn open_text_index(&mut self) -> Result<(), Error> {
        if !self.has_text_index {
            self.store = commands::open_to_search(&self.location, &self.current_dir)?;
            self.has_text_index = true;
        }
        Ok(())
    }

    /// Returns the notes that a person should look at, the worst first.
    pub(super) fn worklist(&mut self) -> Result<Vec<WorklistEntry>, Error> {
        self.open_text_index()?;
        let review = ReviewRequest { limit: Some(MAX_ENTRIES), ..ReviewRequest::default() };
        Ok(worklist::entries(&self.run(&ReadCommand::Review(review))?))
    }

    /// Returns the links of a note in both directions, with their types as written.
    pub(super) fn links(&mut self, id: &NoteId) -> Result<Vec<LinkLine>, Error> {
        let link = LinkRequest {
            view: LinkView::List(id.to_string()),
            follow: Follow { is_raw: true, ..Follow::default() },
            limits: WalkLimits { max_hops: 1, max_nodes: None, min_value: 0 },
            no_compaction: true,
        };
        Ok(page::links(id, &self.run(&ReadCommand::Link(link))?))
    }

    /// Returns the note with an id; `None` if the store has none.
    pub(super) fn note(&self, id: &NoteId) -> Option<&Arc<NoteHandle>> {
        self.store.position(id).map(|position| &self.store.notes()[position])
    }

    /// Returns the tags in use and the number of notes with each, the most frequent first.
    pub(super) fn tags(&mut self) -> Result<Vec<(String, usize)>, Error> {
        let report = self.run(&ReadCommand::Status { only_tags: true, embeds: false })?;
        let tags = report.entries.into_iter().filter_map(|entry| match entry {
            Entry::Tag(tag, count) => Some((tag, count)),
            _ => None,
        });
        Ok(tags.collect())
    }

    /// Returns the types in use and the number of notes of each, in alphabetical order.
    pub(super) fn kinds(&self) -> Vec<(String, usize)> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for note in self.store.notes() {
            *kinds.entry(note.list_fields().kind).or_default() += 1;
        }
        kinds.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect()
    }
}

fn notes_of(report: &Report) -> Vec<Arc<NoteHandle>> {
    report.entries.iter().filter_map(Entry::note).map(|entry| Arc::clone(&entry.note)).collect()
}
