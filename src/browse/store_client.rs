//! The open store: asks it what the command line would ask, and hands on the answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::page::{self, LinkLine};
use crate::commands;
use crate::env::Today;
use crate::error::Error;
use crate::graph::{Follow, WalkLimits};
use crate::note::{Note, NoteId};
use crate::report::{Entry, Report};
use crate::request::{Command, LinkRequest, LinkView, ListRequest, SearchRequest};
use crate::store::{Location, Store};

/// Which notes are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListFilter {
    /// Only notes of these types; empty for all.
    pub(super) kinds: Vec<String>,
    /// Only notes with any of these tags; empty for all.
    pub(super) tags: Vec<String>,
}

/// What words found in the texts of notes.
pub(super) struct TextHits {
    /// The notes, the best first.
    pub(super) notes: Vec<Arc<Note>>,
    /// What is to be said of words that no note holds.
    pub(super) remark: Option<String>,
}

/// An open store.
pub(super) struct Library {
    location: Location,
    current_dir: PathBuf,
    store: Store,
    /// Whether the store was opened with the words of its texts.
    has_words: bool,
}

impl Library {
    /// Opens the store.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub(super) fn open(location: &Location, current_dir: &Path) -> Result<Self, Error> {
        let store = Store::open(location, current_dir)?;
        Ok(Self { location: location.clone(), current_dir: current_dir.to_path_buf(), store, has_words: false })
    }

    /// Returns the day that counts as today.
    pub(super) fn today(&self) -> Today {
        self.location.today
    }

    /// Returns how many notes there are.
    pub(super) fn count(&self) -> usize {
        self.store.notes().len()
    }

    /// Reads the store again.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        self.store = Store::open(&self.location, &self.current_dir)?;
        self.has_words = false;
        Ok(())
    }

    /// Takes the store, which somebody else has opened with the words of its texts.
    pub(super) fn replace(&mut self, store: Store) {
        self.store = store;
        self.has_words = true;
    }

    /// Asks the store. What was kept of the notes may turn out to be damaged; then it is asked again
    /// without that, as a call of the program would.
    fn ask(&mut self, command: &Command) -> Result<Report, Error> {
        let report = commands::run_on(command, &self.store);
        if !self.store.is_broken() {
            return report;
        }
        self.store.discard_index(&self.location);
        let without = Location { no_index: true, ..self.location.clone() };
        self.store = Store::open(&without, &self.current_dir)?;
        self.has_words = false;
        commands::run_on(command, &self.store)
    }

    fn only(&self, filter: &ListFilter) -> ListRequest {
        let (kinds, tags) = (filter.kinds.clone(), filter.tags.clone());
        ListRequest { location: self.location.clone(), kinds, tags, ..ListRequest::default() }
    }

    /// Returns the notes that pass a filter, the latest change first.
    ///
    /// # Errors
    /// As `qipu list`.
    pub(super) fn list(&mut self, filter: &ListFilter) -> Result<Vec<Arc<Note>>, Error> {
        let request = self.only(filter);
        Ok(notes(&self.ask(&Command::List(request))?))
    }

    /// Searches the texts of the notes that pass a filter.
    ///
    /// # Errors
    /// As `qipu search`.
    pub(super) fn search(&mut self, query: &str, filter: &ListFilter) -> Result<TextHits, Error> {
        if !self.has_words {
            self.store = commands::open_to_search(&self.location, &self.current_dir)?;
            self.has_words = true;
        }
        let only = self.only(filter);
        // The list shows notes although a digest stands for them, so this does too.
        let search = SearchRequest { query: query.to_owned(), only, no_compaction: true, ..SearchRequest::default() };
        let report = self.ask(&Command::Search(search))?;
        let remarks = report.head.spellings.iter().map(|spelling| match spelling.shown.as_slice() {
            [] => format!("no note holds `{}`", spelling.word),
            shown => format!("no note holds `{}`; searched for {}", spelling.word, shown.join(", ")),
        });
        let remark = remarks.reduce(|all, next| format!("{all}; {next}"));
        Ok(TextHits { notes: notes(&report), remark })
    }

    /// Returns the links at a note, both ways, as they are written.
    ///
    /// # Errors
    /// As `qipu link list`.
    pub(super) fn links(&mut self, id: &NoteId) -> Result<Vec<LinkLine>, Error> {
        let link = LinkRequest {
            location: self.location.clone(),
            view: LinkView::List(id.to_string()),
            follow: Follow { is_raw: true, ..Follow::default() },
            limits: WalkLimits { max_hops: 1, max_nodes: None, max_fanout: None, min_value: 0 },
            no_compaction: true,
        };
        Ok(page::links(id, &self.ask(&Command::Link(link))?))
    }

    /// Returns a note.
    pub(super) fn note(&self, id: &NoteId) -> Option<&Arc<Note>> {
        self.store.notes().get(self.store.position(id)?)
    }

    /// Returns the tags in use with how many notes have them, the most used first.
    ///
    /// # Errors
    /// As `qipu tags`.
    pub(super) fn tags(&mut self) -> Result<Vec<(String, usize)>, Error> {
        let report = self.ask(&Command::Tags(self.location.clone()))?;
        let tags = report.entries.into_iter().filter_map(|entry| match entry {
            Entry::Tag { tag, count } => Some((tag, count)),
            _ => None,
        });
        Ok(tags.collect())
    }

    /// Returns the types in use with how many notes are of them, a to z.
    pub(super) fn kinds(&self) -> Vec<(String, usize)> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for note in self.store.notes() {
            *kinds.entry(note.head().kind).or_default() += 1;
        }
        kinds.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect()
    }
}

fn notes(report: &Report) -> Vec<Arc<Note>> {
    report.entries.iter().filter_map(Entry::note).map(|entry| Arc::clone(&entry.note)).collect()
}
