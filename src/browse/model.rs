//! What the browser knows: everything that is drawn, and nothing else.

use std::sync::Arc;

use ratatui::layout::Size;

use super::areas::{Areas, areas};
use super::finder::Finder;
use super::input::Input;
use super::store_client::{ListFilter, TextHits};
use super::page::{LinkLine, NotePage};
use super::theme::Theme;
use crate::env::Today;
use crate::note::{Note, NoteId};

/// Which part of the screen has the keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Focus {
    /// The list, and the line above it in which one types.
    #[default]
    List,
    /// The note.
    Note,
    /// Its links.
    Links,
}

/// What a filter is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Facet {
    /// Types.
    Kind,
    /// Tags.
    Tag,
}

/// A choice of types or tags.
#[derive(Debug)]
pub(super) struct Picker {
    pub(super) facet: Facet,
    /// All that there are, with how many notes have them.
    pub(super) all: Vec<(String, usize)>,
    /// Narrows them down.
    pub(super) line: Input,
    pub(super) cursor: usize,
    pub(super) top: usize,
}

impl Picker {
    pub(super) fn new(facet: Facet, all: Vec<(String, usize)>) -> Self {
        Self { facet, all, line: Input::default(), cursor: 0, top: 0 }
    }

    /// Returns those that hold what was typed.
    pub(super) fn shown(&self) -> Vec<&(String, usize)> {
        let typed = self.line.text().to_lowercase();
        self.all.iter().filter(|(name, _)| name.to_lowercase().contains(&typed)).collect()
    }
}

/// What lies over the rest.
#[derive(Debug, Default)]
pub(super) enum Overlay {
    /// Nothing.
    #[default]
    None,
    /// The keys, scrolled down so many lines.
    Help(usize),
    /// A choice.
    Pick(Picker),
}

/// A note on the way that was walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) id: NoteId,
    pub(super) scroll: usize,
    pub(super) link: usize,
}

/// What was found in the texts of notes.
#[derive(Debug)]
pub(super) struct TextMatches {
    pub(super) query: String,
    pub(super) notes: Vec<Arc<Note>>,
}

/// What the browser knows.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) size: Size,
    pub(super) theme: Theme,
    pub(super) focus: Focus,
    /// What is typed.
    pub(super) line: Input,
    pub(super) filter: ListFilter,
    pub(super) finder: Finder,
    /// The places of the notes that what is typed finds, the best first.
    pub(super) matches: Vec<u32>,
    /// What was found in texts, where that is shown in place of the matches.
    pub(super) found: Option<TextMatches>,
    /// The row of the list that is chosen, and the first one on the screen.
    pub(super) cursor: usize,
    pub(super) top: usize,
    /// The note that is to be shown, and what is shown.
    pub(super) open: Option<NoteId>,
    pub(super) page: Option<NotePage>,
    /// The first line of the page on the screen; the link that is chosen, and the first on the screen.
    pub(super) scroll: usize,
    pub(super) link: usize,
    pub(super) link_top: usize,
    /// The notes that were walked along, and which of them is shown.
    pub(super) trail: Vec<Visit>,
    pub(super) step: usize,
    pub(super) overlay: Overlay,
    /// What is to be told.
    pub(super) status: Option<String>,
    pub(super) has_preview: bool,
    /// How many notes there are in the store.
    pub(super) total: usize,
    /// The day that counts as today.
    pub(super) today: Today,
}

impl Model {
    /// Makes a model without notes.
    pub(super) fn new(size: Size, theme: Theme, query: &str) -> Self {
        Self {
            size,
            theme,
            focus: Focus::List,
            line: Input::new(query),
            filter: ListFilter::default(),
            finder: Finder::default(),
            matches: Vec::new(),
            found: None,
            cursor: 0,
            top: 0,
            open: None,
            page: None,
            scroll: 0,
            link: 0,
            link_top: 0,
            trail: Vec::new(),
            step: 0,
            overlay: Overlay::None,
            status: None,
            has_preview: true,
            total: 0,
            today: Today::default(),
        }
    }

    /// Takes the notes that are looked through, and stays at the chosen one.
    pub(super) fn take_notes(&mut self, notes: Vec<Arc<Note>>, total: usize) {
        let chosen = self.chosen().map(|note| note.id.clone());
        self.finder = Finder::new(notes);
        self.total = total;
        self.matches = self.finder.find(self.line.text());
        let row = chosen.and_then(|id| (0..self.count()).find(|row| self.row(*row).is_some_and(|note| note.id == id)));
        self.cursor = row.unwrap_or(self.cursor);
        self.choose(self.cursor);
    }

    /// Finds the notes for what is typed.
    pub(super) fn find(&mut self) {
        self.found = None;
        self.matches = self.finder.find(self.line.text());
        self.top = 0;
        self.choose(0);
    }

    /// Shows what was found in texts.
    pub(super) fn take_hits(&mut self, query: String, hits: TextHits) {
        self.found = Some(TextMatches { query, notes: hits.notes });
        self.status = hits.remark;
        self.top = 0;
        self.choose(0);
    }

    /// Returns how many rows the list has.
    pub(super) fn count(&self) -> usize {
        self.found.as_ref().map_or(self.matches.len(), |found| found.notes.len())
    }

    /// Returns the note in a row of the list.
    pub(super) fn row(&self, row: usize) -> Option<&Arc<Note>> {
        match &self.found {
            Some(found) => found.notes.get(row),
            None => self.finder.notes().get(*self.matches.get(row)? as usize),
        }
    }

    /// Returns the note in the chosen row.
    pub(super) fn chosen(&self) -> Option<&Arc<Note>> {
        self.row(self.cursor)
    }

    /// Chooses a row, or the last one; its note is shown, unless one reads.
    pub(super) fn choose(&mut self, row: usize) {
        self.cursor = row.min(self.count().saturating_sub(1));
        if self.focus == Focus::List {
            let id = self.chosen().map(|note| note.id.clone());
            self.show(id, 0, 0);
        }
    }

    /// Shows a note, from a line on.
    fn show(&mut self, id: Option<NoteId>, scroll: usize, link: usize) {
        if self.open != id {
            (self.scroll, self.link, self.link_top) = (scroll, link, 0);
        }
        self.open = id;
    }

    /// Goes to a note; what was ahead on the trail is forgotten.
    pub(super) fn visit(&mut self, id: NoteId) {
        self.leave();
        if self.trail.get(self.step).is_none_or(|visit| visit.id != id) {
            self.trail.truncate(if self.trail.is_empty() { 0 } else { self.step + 1 });
            self.trail.push(Visit { id: id.clone(), scroll: 0, link: 0 });
            self.step = self.trail.len() - 1;
        }
        self.focus = Focus::Note;
        self.show(Some(id), 0, 0);
    }

    /// Notes down where one stands in the note that is left.
    fn leave(&mut self) {
        if let (Some(visit), Some(open)) = (self.trail.get_mut(self.step), &self.open)
            && visit.id == *open
        {
            (visit.scroll, visit.link) = (self.scroll, self.link);
        }
    }

    /// Goes back on the trail, or forward; tells whether there was somewhere to go.
    pub(super) fn walk(&mut self, is_back: bool) -> bool {
        let to = if is_back { self.step.checked_sub(1) } else { Some(self.step + 1) };
        let Some((to, visit)) = to.and_then(|to| Some((to, self.trail.get(to)?.clone()))) else {
            return false;
        };
        self.leave();
        self.step = to;
        if self.focus == Focus::List {
            self.focus = Focus::Note;
        }
        self.show(Some(visit.id), visit.scroll, visit.link);
        true
    }

    /// Goes back to the list, and shows what is chosen there.
    pub(super) fn return_to_list(&mut self) {
        self.leave();
        self.focus = Focus::List;
        self.choose(self.cursor);
    }

    /// Returns the links of the page, where they are known.
    pub(super) fn links(&self) -> &[LinkLine] {
        self.page.as_ref().and_then(|page| page.links.as_deref()).unwrap_or_default()
    }

    /// Returns where things are on the screen.
    pub(super) fn areas(&self) -> Areas {
        let links = self.page.as_ref().map_or(0, |page| page.links.as_ref().map_or(0, Vec::len));
        areas(self.size, self.focus, self.has_preview, links)
    }

    /// Brings everything into the bounds of the screen, before it is drawn.
    pub(super) fn prepare(&mut self) {
        let areas = self.areas();
        let rows = usize::from(areas.list.height);
        self.top = visible_from(self.top, self.cursor, rows);
        if let Some(page) = &mut self.page {
            page.wrap(usize::from(areas.note.width).max(1));
            let last = page.pieces().len().saturating_sub(usize::from(areas.note.height).max(1));
            self.scroll = self.scroll.min(last);
        }
        if self.page.as_ref().is_some_and(|page| page.links.is_some()) {
            self.link = self.link.min(self.links().len().saturating_sub(1));
        }
        self.link_top = visible_from(self.link_top, self.link, usize::from(areas.links.height));
        if let Overlay::Pick(picker) = &mut self.overlay {
            picker.cursor = picker.cursor.min(picker.shown().len().saturating_sub(1));
            picker.top = visible_from(picker.top, picker.cursor, usize::from(areas.overlay.height).saturating_sub(1));
        }
    }
}

/// Returns the first row on the screen, so that a row is seen and as little as possible moves.
fn visible_from(top: usize, row: usize, rows: usize) -> usize {
    top.min(row).max((row + 1).saturating_sub(rows.max(1)))
}
