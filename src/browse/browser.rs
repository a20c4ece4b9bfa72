//! The browser without a terminal: applies keys to the model and runs the requests that they need.

use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Size;

use super::areas::Focus;
use super::model::{Facet, Model, Overlay, Picker, TextMatches};
use super::page::NotePage;
use super::store_client::StoreClient;
use super::theme::Theme;
use super::update::{Effect, update};
use super::worklist::Worklist;
use crate::error::Error;
use crate::store::Store;

pub(super) struct Browser {
    pub(super) model: Model,
    client: StoreClient,
}

impl Browser {
    /// Creates a browser that lists all notes, or those that `query` finds.
    pub(super) fn new(mut client: StoreClient, size: Size, theme: Theme, query: &str) -> Result<Self, Error> {
        let mut model = Model { today: client.location.today, ..Model::new(size, theme, query) };
        let notes = client.list(&model.filters)?;
        model.set_notes(notes, client.note_count());
        let mut browser = Self { model, client };
        browser.load_page();
        Ok(browser)
    }

    /// Applies a key and runs the request that it causes. Returns the effect that needs the terminal.
    pub(super) fn handle_key(&mut self, key: KeyEvent) -> Effect {
        if self.model.focus != Focus::List {
            // The key may follow a link that is not loaded yet.
            self.load_page();
            self.load_links();
        }
        match update(&mut self.model, key) {
            Effect::Nothing => {}
            Effect::List => self.try_or_show_error(Self::list),
            Effect::Search(query) => self.try_or_show_error(|browser| browser.search(query)),
            Effect::OpenWorklist => self.try_or_show_error(Self::open_worklist),
            Effect::OpenPicker(facet) => self.try_or_show_error(|browser| browser.open_picker(facet)),
            Effect::Reload => {
                self.set_status("the store was reloaded");
                self.try_or_show_error(Self::reload);
            }
            of_terminal @ (Effect::Edit(_) | Effect::Decide(_) | Effect::Copy(_) | Effect::Suspend | Effect::Quit) => {
                return of_terminal;
            }
        }
        self.load_page();
        Effect::Nothing
    }

    /// Runs an action and shows its error, if any, in the status line.
    fn try_or_show_error(&mut self, action: impl FnOnce(&mut Self) -> Result<(), Error>) {
        if let Err(error) = action(self) {
            self.set_status(&error.message);
        }
    }

    pub(super) fn set_status(&mut self, text: &str) {
        self.model.status = Some(text.to_owned());
    }

    fn list(&mut self) -> Result<(), Error> {
        let notes = self.client.list(&self.model.filters)?;
        self.model.set_notes(notes, self.client.note_count());
        Ok(())
    }

    fn search(&mut self, query: String) -> Result<(), Error> {
        // The filter may have changed since the notes were listed.
        self.list()?;
        let (notes, remark) = self.client.search(&query, &self.model.filters)?;
        self.model.set_text_matches(TextMatches { query, notes }, remark);
        Ok(())
    }

    fn open_picker(&mut self, facet: Facet) -> Result<(), Error> {
        let options = match facet {
            Facet::Kind => self.client.kinds(),
            Facet::Tag => self.client.tags()?,
        };
        self.model.overlay = Overlay::Pick(Picker::new(facet, options));
        Ok(())
    }

    fn open_worklist(&mut self) -> Result<(), Error> {
        self.model.overlay = Overlay::Review(Worklist { entries: self.client.worklist()?, ..Worklist::default() });
        Ok(())
    }

    /// Reopens the store. Focus, list and positions stay as they are.
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        self.client.reload()?;
        self.refresh()
    }

    /// Replaces the store by one that was opened with its text index.
    pub(super) fn replace_store(&mut self, store: Store) {
        self.client.replace_store(store);
        self.try_or_show_error(Self::refresh);
    }

    fn refresh(&mut self) -> Result<(), Error> {
        let status = self.model.status.take();
        let query = self.model.text_matches.take().map(|matches| matches.query);
        let cursor = self.model.cursor;
        let first_row = self.model.first_row;
        match query {
            None => self.list()?,
            Some(query) => {
                self.search(query)?;
                self.model.first_row = first_row;
                self.model.select_row(cursor);
            }
        }
        if matches!(self.model.overlay, Overlay::Review(_)) {
            let entries = self.client.worklist()?;
            if let Overlay::Review(worklist) = &mut self.model.overlay {
                worklist.entries = entries;
                // The entry that its key was pressed for may have moved.
                worklist.pending = None;
            }
        }
        self.model.status = status;
        let is_at_end = self.model.is_at_end();
        let had_links = self.model.page.take().is_some_and(|page| page.links.is_some());
        self.load_page();
        if is_at_end {
            self.model.scroll = usize::MAX;
        }
        // Without its links the note would have more rows for a moment, and might be scrolled back to its top.
        if had_links {
            self.load_links();
        }
        Ok(())
    }

    /// Loads the page of the open note, without its links: they cost a request and are loaded once the keys pause.
    fn load_page(&mut self) {
        if self.model.page.as_ref().map(|page| &page.id) == self.model.open_id.as_ref() {
            return;
        }
        let Some(id) = &self.model.open_id else {
            self.model.page = None;
            return;
        };
        let page = self.client.note(id).map(|note| NotePage::new(note, self.model.today));
        if page.is_none() {
            let message = format!("{id} no longer exists");
            self.model.open_id = None;
            self.set_status(&message);
        }
        self.model.page = page;
    }

    /// Returns whether the links of the open note are not loaded yet.
    pub(super) fn has_pending_links(&self) -> bool {
        self.model.page.as_ref().is_some_and(|page| page.links.is_none())
    }

    /// Loads the links of the open note, unless they are loaded.
    pub(super) fn load_links(&mut self) {
        let Some(page) = self.model.page.as_mut().filter(|page| page.links.is_none()) else { return };
        match self.client.links(&page.id) {
            Ok(links) => page.links = Some(links),
            Err(error) => {
                page.links = Some(Vec::new());
                self.model.status = Some(error.message);
            }
        }
    }
}
