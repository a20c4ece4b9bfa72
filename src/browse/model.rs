//! The state of the browser: what is drawn depends on nothing else.

use std::sync::Arc;

use ratatui::layout::Size;

use super::areas::{Areas, Focus, areas};
use super::finder::Finder;
use super::input::Input;
use super::page::{LinkLine, NotePage};
use super::theme::Theme;
use super::worklist::Worklist;
use crate::env::Today;
use crate::note::NoteId;
use crate::request::Filters;
use crate::store::NoteHandle;

/// A property of notes that a filter tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Facet {
    Kind,
    Tag,
}

/// A list of types or tags to select from.
#[derive(Debug)]
pub(super) struct Picker {
    pub(super) facet: Facet,
    /// The types or tags in use, each with the number of notes that have it.
    pub(super) options: Vec<(String, usize)>,
    /// Only options that contain this text are listed.
    pub(super) input: Input,
    pub(super) cursor: usize,
    pub(super) first_row: usize,
}

impl Picker {
    pub(super) fn new(facet: Facet, options: Vec<(String, usize)>) -> Self {
        Self { facet, options, input: Input::default(), cursor: 0, first_row: 0 }
    }

    /// Returns the options that contain the typed text, in any case.
    pub(super) fn matching_options(&self) -> Vec<&(String, usize)> {
        let typed = self.input.text.to_lowercase();
        self.options.iter().filter(|(name, _)| name.to_lowercase().contains(&typed)).collect()
    }
}

/// A window above the others.
#[derive(Debug, Default)]
pub(super) enum Overlay {
    #[default]
    None,
    /// The list of keys, scrolled down by a number of lines.
    Help(usize),
    Pick(Picker),
    Review(Worklist),
}

/// A note in the history, with the position in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) id: NoteId,
    pub(super) scroll: usize,
    pub(super) link_row: usize,
}

/// The result of a search in the texts of notes, best first.
#[derive(Debug)]
pub(super) struct TextMatches {
    pub(super) query: String,
    pub(super) notes: Vec<Arc<NoteHandle>>,
}

/// The state of the browser.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) size: Size,
    pub(super) theme: Theme,
    pub(super) focus: Focus,
    pub(super) input: Input,
    /// The request that lists the notes: all of them, or those of some types and tags.
    pub(super) filters: Filters,
    pub(super) finder: Finder,
    /// The notes that the input finds, as indices into the notes of the finder, best first.
    pub(super) matches: Vec<u32>,
    /// The result of a search, which replaces the matches in the list.
    pub(super) text_matches: Option<TextMatches>,
    /// The selected row of the list, and the first row on the screen.
    pub(super) cursor: usize,
    pub(super) first_row: usize,
    /// The note to show, and the page of the note that is shown.
    pub(super) open_id: Option<NoteId>,
    pub(super) page: Option<NotePage>,
    /// The first line of the page on the screen, the selected link, and the first link on the screen.
    pub(super) scroll: usize,
    pub(super) link_row: usize,
    pub(super) first_link_row: usize,
    /// The notes that were opened, the oldest first, and the index of the one that is shown.
    pub(super) history: Vec<Visit>,
    pub(super) history_idx: usize,
    pub(super) overlay: Overlay,
    /// A message for the status line.
    pub(super) status: Option<String>,
    pub(super) has_preview: bool,
    pub(super) note_count: usize,
    /// The day that dates are compared with.
    pub(super) today: Today,
}

impl Model {
    /// Creates a model without notes.
    pub(super) fn new(size: Size, theme: Theme, query: &str) -> Self {
        Self { size, theme, input: Input::new(query), has_preview: true, ..Self::default() }
    }

    /// Replaces the notes of the list and keeps the selected note, if it is still listed. `note_count` is the number of
    /// notes in the store.
    pub(super) fn set_notes(&mut self, notes: Vec<Arc<NoteHandle>>, note_count: usize) {
        let selected = self.selected().map(|note| note.id.clone());
        self.finder = Finder::new(notes);
        self.note_count = note_count;
        self.matches = self.finder.find(&self.input.text);
        let row_of =
            |id: NoteId| (0..self.row_count()).find(|row| self.note_in_row(*row).is_some_and(|note| note.id == id));
        let row = selected.and_then(row_of).unwrap_or(self.cursor);
        self.select_row(row);
    }

    /// Finds the notes that match the input and selects the first.
    pub(super) fn find(&mut self) {
        self.text_matches = None;
        self.matches = self.finder.find(&self.input.text);
        self.first_row = 0;
        self.select_row(0);
    }

    /// Lists the result of a search in place of the matches, and selects the first hit.
    pub(super) fn set_text_matches(&mut self, matches: TextMatches, remark: Option<String>) {
        self.text_matches = Some(matches);
        self.status = remark;
        self.first_row = 0;
        self.select_row(0);
    }

    pub(super) fn row_count(&self) -> usize {
        self.text_matches.as_ref().map_or(self.matches.len(), |found| found.notes.len())
    }

    pub(super) fn note_in_row(&self, row: usize) -> Option<&Arc<NoteHandle>> {
        match &self.text_matches {
            Some(found) => found.notes.get(row),
            None => self.finder.notes.get(*self.matches.get(row)? as usize),
        }
    }

    /// Returns the note in the selected row.
    pub(super) fn selected(&self) -> Option<&Arc<NoteHandle>> {
        self.note_in_row(self.cursor)
    }

    /// Selects a row, or the last one if `row` is beyond it. Shows its note if the list has the focus.
    pub(super) fn select_row(&mut self, row: usize) {
        self.cursor = row.min(self.row_count().saturating_sub(1));
        if self.focus == Focus::List {
            let id = self.selected().map(|note| note.id.clone());
            self.show(id, 0, 0);
        }
    }

    /// Shows a note from the line `scroll` on, with a link selected. A note that is shown already stays as it is.
    fn show(&mut self, id: Option<NoteId>, scroll: usize, link_row: usize) {
        if self.open_id != id {
            self.scroll = scroll;
            self.link_row = link_row;
            self.first_link_row = 0;
        }
        self.open_id = id;
    }

    /// Opens a note and appends it to the history, in place of the notes after the current one.
    pub(super) fn visit(&mut self, id: NoteId) {
        self.save_scroll();
        if self.history.get(self.history_idx).is_none_or(|visit| visit.id != id) {
            self.history.truncate(if self.history.is_empty() { 0 } else { self.history_idx + 1 });
            self.history.push(Visit { id: id.clone(), scroll: 0, link_row: 0 });
            self.history_idx = self.history.len() - 1;
        }
        self.focus = Focus::Note;
        self.show(Some(id), 0, 0);
    }

    /// Saves the position in the open note to its entry in the history.
    fn save_scroll(&mut self) {
        if let (Some(visit), Some(open)) = (self.history.get_mut(self.history_idx), &self.open_id)
            && visit.id == *open
        {
            visit.scroll = self.scroll;
            visit.link_row = self.link_row;
        }
    }

    /// Opens the note before the current one in the history, or the one after it. Returns `false` if there is none.
    pub(super) fn go_in_history(&mut self, is_back: bool) -> bool {
        let target_idx = if is_back { self.history_idx.checked_sub(1) } else { Some(self.history_idx + 1) };
        let Some(target_idx) = target_idx else { return false };
        let Some(visit) = self.history.get(target_idx).cloned() else { return false };
        self.save_scroll();
        self.history_idx = target_idx;
        if self.focus == Focus::List {
            self.focus = Focus::Note;
        }
        self.show(Some(visit.id), visit.scroll, visit.link_row);
        true
    }

    /// Gives the focus to the list and shows the note that is selected there.
    pub(super) fn return_to_list(&mut self) {
        self.save_scroll();
        self.focus = Focus::List;
        self.select_row(self.cursor);
    }

    /// Returns the links of the page; none until they are loaded.
    pub(super) fn links(&self) -> &[LinkLine] {
        self.page.as_ref().and_then(|page| page.links.as_deref()).unwrap_or_default()
    }

    pub(super) fn areas(&self) -> Areas {
        let links = self.page.as_ref().map_or(0, |page| page.links.as_ref().map_or(0, Vec::len));
        areas(self.size, self.focus, self.has_preview, links)
    }

    /// Whether the open note is scrolled to its end.
    pub(super) fn is_at_end(&self) -> bool {
        let end = self.scroll.saturating_add(usize::from(self.areas().note.height));
        self.scroll > 0 && self.page.as_ref().is_some_and(|page| end >= page.wrapped_lines.len())
    }

    /// Wraps the page for its area and limits all positions to what the screen can show.
    pub(super) fn clamp_to_screen(&mut self) {
        let areas = self.areas();
        let rows = usize::from(areas.list.height);
        self.first_row = first_visible_row(self.first_row, self.cursor, rows);
        if let Some(page) = &mut self.page {
            page.wrap(usize::from(areas.note.width).max(1));
            let last = page.wrapped_lines.len().saturating_sub(usize::from(areas.note.height).max(1));
            self.scroll = self.scroll.min(last);
        }
        if self.page.as_ref().is_some_and(|page| page.links.is_some()) {
            self.link_row = self.link_row.min(self.links().len().saturating_sub(1));
        }
        self.first_link_row = first_visible_row(self.first_link_row, self.link_row, usize::from(areas.links.height));
        let rows = usize::from(areas.overlay.height).saturating_sub(1);
        match &mut self.overlay {
            Overlay::Pick(picker) => {
                picker.cursor = picker.cursor.min(picker.matching_options().len().saturating_sub(1));
                picker.first_row = first_visible_row(picker.first_row, picker.cursor, rows);
            }
            Overlay::Review(worklist) => {
                worklist.cursor = worklist.cursor.min(worklist.entries.len().saturating_sub(1));
                // An entry has two lines.
                worklist.first_row = first_visible_row(worklist.first_row, worklist.cursor, rows / 2);
            }
            Overlay::None | Overlay::Help(_) => {}
        }
    }
}

/// Returns the first row to show among `rows` lines, so that `row` is visible and the list scrolls as little as possible.
fn first_visible_row(first_row: usize, row: usize, rows: usize) -> usize {
    first_row.min(row).max((row + 1).saturating_sub(rows.max(1)))
}
