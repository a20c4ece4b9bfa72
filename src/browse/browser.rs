//! The browser without a terminal: keys go in, what is to be drawn comes out.

use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Size;

use super::store_client::Library;
use super::model::{Facet, Focus, Model, Overlay, Picker};
use super::page::NotePage;
use super::theme::Theme;
use super::update::{Effect, update};
use crate::error::Error;
use crate::note::NoteId;
use crate::store::Store;

/// What a key leaves to the terminal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyOutcome {
    /// Draw.
    Stay,
    /// Let the user edit a note.
    Edit(NoteId),
    /// Put an id on the clipboard.
    Copy(NoteId),
    /// Give the terminal back to the shell for a while.
    Suspend,
    /// End.
    Quit,
}

/// A model and the store that it is about.
pub(super) struct Browser {
    pub(super) model: Model,
    library: Library,
}

impl Browser {
    /// Makes a browser that shows all notes, or those that a text finds.
    ///
    /// # Errors
    /// As `qipu list`.
    pub(super) fn new(mut library: Library, size: Size, theme: Theme, query: &str) -> Result<Self, Error> {
        let mut model = Model { today: library.today(), ..Model::new(size, theme, query) };
        let notes = library.list(&model.filter)?;
        model.take_notes(notes, library.count());
        let mut browser = Self { model, library };
        browser.settle();
        Ok(browser)
    }

    /// Lets a key do what it does.
    pub(super) fn press(&mut self, key: KeyEvent) -> KeyOutcome {
        if self.model.focus != Focus::List {
            // Keys may walk along links that nobody has waited for.
            self.settle();
            self.look_for_links();
        }
        let outcome = match update(&mut self.model, key) {
            Effect::Nothing => KeyOutcome::Stay,
            Effect::Quit => return KeyOutcome::Quit,
            Effect::Suspend => return KeyOutcome::Suspend,
            Effect::Edit(id) => return KeyOutcome::Edit(id),
            Effect::Copy(id) => return KeyOutcome::Copy(id),
            Effect::List => self.told(Self::list),
            Effect::Search(query) => self.told(|browser| browser.search(query)),
            Effect::Offer(facet) => self.told(|browser| browser.offer(facet)),
            Effect::Reload => self.told(Self::reload_said),
        };
        self.settle();
        outcome
    }

    /// Does something; tells the user where it fails.
    fn told(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) -> KeyOutcome {
        if let Err(error) = work(self) {
            self.say(&error.message);
        }
        KeyOutcome::Stay
    }

    /// Tells the user something.
    pub(super) fn say(&mut self, text: &str) {
        self.model.status = Some(text.to_owned());
    }

    fn list(&mut self) -> Result<(), Error> {
        let notes = self.library.list(&self.model.filter)?;
        self.model.take_notes(notes, self.library.count());
        Ok(())
    }

    fn search(&mut self, query: String) -> Result<(), Error> {
        // A filter may just have changed.
        self.list()?;
        let hits = self.library.search(&query, &self.model.filter)?;
        self.model.take_hits(query, hits);
        Ok(())
    }

    fn offer(&mut self, facet: Facet) -> Result<(), Error> {
        let all = match facet {
            Facet::Kind => self.library.kinds(),
            Facet::Tag => self.library.tags()?,
        };
        self.model.overlay = Overlay::Pick(Picker::new(facet, all));
        Ok(())
    }

    fn reload_said(&mut self) -> Result<(), Error> {
        self.library.reload()?;
        self.say("the store was read again");
        self.refresh()
    }

    /// Reads the store again and stays where the user is.
    ///
    /// # Errors
    /// As `qipu list`.
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        self.library.reload()?;
        self.refresh()
    }

    /// Takes the store, which was read again with the words of its texts.
    pub(super) fn replace(&mut self, store: Store) {
        self.library.replace(store);
        self.told(Self::refresh);
    }

    fn refresh(&mut self) -> Result<(), Error> {
        let status = self.model.status.take();
        let found = self.model.found.take().map(|found| found.query);
        let (cursor, top) = (self.model.cursor, self.model.top);
        self.list()?;
        if let Some(query) = found {
            let hits = self.library.search(&query, &self.model.filter)?;
            self.model.take_hits(query, hits);
            self.model.top = top;
            self.model.choose(cursor);
        }
        self.model.status = status;
        self.model.page = None;
        self.settle();
        Ok(())
    }

    /// Reads the note that is to be shown; its links are left for when there is time.
    fn settle(&mut self) {
        if self.model.page.as_ref().map(|page| &page.id) == self.model.open.as_ref() {
            return;
        }
        let Some(id) = &self.model.open else {
            self.model.page = None;
            return;
        };
        let page = self.library.note(id).map(|note| NotePage::new(note, self.model.today));
        if page.is_none() {
            let gone = format!("{id} is not there any more");
            self.model.open = None;
            self.say(&gone);
        }
        self.model.page = page;
    }

    /// Tells whether the links of the note that is shown are still to be looked for.
    pub(super) fn owes_links(&self) -> bool {
        self.model.page.as_ref().is_some_and(|page| page.links.is_none())
    }

    /// Looks for the links of the note that is shown.
    pub(super) fn look_for_links(&mut self) {
        let Some(page) = self.model.page.as_mut().filter(|page| page.links.is_none()) else { return };
        match self.library.links(&page.id) {
            Ok(links) => page.links = Some(links),
            Err(error) => {
                page.links = Some(Vec::new());
                self.model.status = Some(error.message);
            }
        }
    }
}
