//! What keys do to the model. What has to be asked of the store or of the terminal is left as an effect.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::input::Input;
use super::model::{Facet, Focus, Model, Overlay, Picker};
use crate::note::NoteId;

/// What is left to do outside the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Nothing,
    /// List the notes that pass the filter.
    List,
    /// Search the texts.
    Search(String),
    /// Offer types or tags to choose from.
    Offer(Facet),
    /// Open a note in the editor.
    Edit(NoteId),
    /// Copy an id.
    Copy(NoteId),
    /// Read the store again.
    Reload,
    /// Give the terminal back to the shell for a while.
    Suspend,
    /// End.
    Quit,
}

/// Lets a key do what it does.
pub(super) fn update(model: &mut Model, key: KeyEvent) -> Effect {
    if key.kind == KeyEventKind::Release {
        return Effect::Nothing;
    }
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if has_control && key.code == KeyCode::Char('c') {
        return Effect::Quit;
    }
    if has_control && key.code == KeyCode::Char('z') {
        return Effect::Suspend;
    }
    model.status = None;
    match &mut model.overlay {
        Overlay::Help(scroll) => {
            if !help_key(scroll, key.code) {
                model.overlay = Overlay::None;
            }
            return Effect::Nothing;
        }
        Overlay::Pick(_) => return pick_key(model, key),
        Overlay::None => {}
    }
    if let Some(effect) = anywhere(model, key) {
        return effect;
    }
    match model.focus {
        Focus::List if has_control => line_chord(model, key.code),
        Focus::List => list_key(model, key.code),
        _ if has_control => Effect::Nothing,
        Focus::Note => note_key(model, key.code),
        Focus::Links => links_key(model, key.code),
    }
}

/// Keys that do the same in every part of the screen.
fn anywhere(model: &mut Model, key: KeyEvent) -> Option<Effect> {
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let has_alt = key.modifiers.contains(KeyModifiers::ALT);
    let effect = match key.code {
        KeyCode::Char('o') if has_control => on_open(model, Effect::Edit),
        KeyCode::Char('y') if has_control => on_open(model, Effect::Copy),
        KeyCode::Char('t') if has_control => Effect::Offer(Facet::Kind),
        KeyCode::Char('g') if has_control => Effect::Offer(Facet::Tag),
        KeyCode::Char('r') if has_control => Effect::Reload,
        KeyCode::Char('l') if has_control => {
            model.has_preview = !model.has_preview;
            Effect::Nothing
        }
        KeyCode::Left if has_alt => walk(model, true),
        KeyCode::Right if has_alt => walk(model, false),
        KeyCode::Tab => next_part(model, false),
        KeyCode::BackTab => next_part(model, true),
        KeyCode::F(1) | KeyCode::Char('?') => {
            model.overlay = Overlay::Help(0);
            Effect::Nothing
        }
        _ => return None,
    };
    Some(effect)
}

/// Does something with the note that is shown.
fn on_open(model: &mut Model, effect: impl FnOnce(NoteId) -> Effect) -> Effect {
    model.open.clone().map_or(Effect::Nothing, effect)
}

fn walk(model: &mut Model, is_back: bool) -> Effect {
    if !model.walk(is_back) {
        let end = if is_back { "there is no note before this one" } else { "there is no note after this one" };
        model.status = Some(end.to_owned());
    }
    Effect::Nothing
}

/// Goes to the next part of the screen, or the one before.
fn next_part(model: &mut Model, is_back: bool) -> Effect {
    match (model.focus, is_back) {
        (Focus::List, false) => read_chosen(model),
        (Focus::List, true) if model.open.is_some() => {
            read_chosen(model);
            model.focus = Focus::Links;
        }
        (Focus::Note, false) => model.focus = Focus::Links,
        (Focus::Links, true) => model.focus = Focus::Note,
        _ => model.return_to_list(),
    }
    Effect::Nothing
}

fn read_chosen(model: &mut Model) {
    if let Some(id) = model.chosen().map(|note| note.id.clone()) {
        model.visit(id);
    }
}

fn list_key(model: &mut Model, code: KeyCode) -> Effect {
    let page = usize::from(model.areas().list.height).max(1);
    match code {
        KeyCode::Up => model.choose(model.cursor.saturating_sub(1)),
        KeyCode::Down => model.choose(model.cursor + 1),
        KeyCode::PageUp => model.choose(model.cursor.saturating_sub(page)),
        KeyCode::PageDown => model.choose(model.cursor + page),
        KeyCode::Home => model.choose(0),
        KeyCode::End => model.choose(usize::MAX),
        KeyCode::Enter => read_chosen(model),
        KeyCode::Esc => return step_back(model),
        code => {
            if edit_line(&mut model.line, code) {
                model.find();
            }
        }
    }
    Effect::Nothing
}

/// Takes back the last thing that narrows the list; ends where there is none.
fn step_back(model: &mut Model) -> Effect {
    if model.found.is_some() || !model.line.is_empty() {
        model.line.clear();
        model.find();
        return Effect::Nothing;
    }
    if model.filter != Default::default() {
        model.filter = Default::default();
        return Effect::List;
    }
    Effect::Quit
}

/// Lets a key change a line; tells whether its text may have changed.
fn edit_line(line: &mut Input, code: KeyCode) -> bool {
    match code {
        KeyCode::Char(c) => line.insert(c),
        KeyCode::Backspace => line.backspace(),
        KeyCode::Delete => line.delete(),
        KeyCode::Left => line.left(),
        KeyCode::Right => line.right(),
        _ => {}
    }
    matches!(code, KeyCode::Char(_) | KeyCode::Backspace | KeyCode::Delete)
}

fn line_chord(model: &mut Model, code: KeyCode) -> Effect {
    match code {
        KeyCode::Char('n') => return list_key(model, KeyCode::Down),
        KeyCode::Char('p') => return list_key(model, KeyCode::Up),
        KeyCode::Char('a') => model.line.home(),
        KeyCode::Char('e') => model.line.end(),
        KeyCode::Char('h') => return list_key(model, KeyCode::Backspace),
        KeyCode::Char('u') => {
            model.line.clear();
            model.find();
        }
        KeyCode::Char('w') => {
            model.line.delete_word();
            model.find();
        }
        KeyCode::Char('f') if model.line.text().trim().is_empty() => {
            model.status = Some("type what to search the texts for, then Ctrl-F".to_owned());
        }
        KeyCode::Char('f') => return Effect::Search(model.line.text().to_owned()),
        _ => {}
    }
    Effect::Nothing
}

fn note_key(model: &mut Model, code: KeyCode) -> Effect {
    let page = usize::from(model.areas().note.height).saturating_sub(1).max(1);
    match code {
        KeyCode::Up | KeyCode::Char('k') => model.scroll = model.scroll.saturating_sub(1),
        // What is too far is taken back before it is drawn.
        KeyCode::Down | KeyCode::Char('j') => model.scroll = model.scroll.saturating_add(1),
        KeyCode::PageUp => model.scroll = model.scroll.saturating_sub(page),
        KeyCode::PageDown | KeyCode::Char(' ') => model.scroll = model.scroll.saturating_add(page),
        KeyCode::Home | KeyCode::Char('g') => model.scroll = 0,
        KeyCode::End | KeyCode::Char('G') => model.scroll = usize::MAX,
        KeyCode::Enter => model.focus = Focus::Links,
        KeyCode::Esc => model.return_to_list(),
        code => return reading_key(model, code),
    }
    Effect::Nothing
}

fn links_key(model: &mut Model, code: KeyCode) -> Effect {
    let count = model.links().len();
    let page = usize::from(model.areas().links.height).max(1);
    let last = count.saturating_sub(1);
    match code {
        KeyCode::Up | KeyCode::Char('k') => model.link = model.link.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => model.link = (model.link + 1).min(last),
        KeyCode::PageUp => model.link = model.link.saturating_sub(page),
        KeyCode::PageDown | KeyCode::Char(' ') => model.link = (model.link + page).min(last),
        KeyCode::Home | KeyCode::Char('g') => model.link = 0,
        KeyCode::End | KeyCode::Char('G') => model.link = last,
        KeyCode::Enter => follow(model),
        KeyCode::Esc => model.focus = Focus::Note,
        code => return reading_key(model, code),
    }
    Effect::Nothing
}

fn follow(model: &mut Model) {
    match model.links().get(model.link).map(|link| link.to.clone()) {
        Some(Some(id)) => model.visit(id),
        Some(None) => model.status = Some("there is no such note".to_owned()),
        None => model.status = Some("this note has no links".to_owned()),
    }
}

/// Keys that do the same in a note and in its links.
fn reading_key(model: &mut Model, code: KeyCode) -> Effect {
    match code {
        KeyCode::Char('q') => Effect::Quit,
        KeyCode::Char('e') => on_open(model, Effect::Edit),
        KeyCode::Char('y') => on_open(model, Effect::Copy),
        KeyCode::Char('r') => Effect::Reload,
        KeyCode::Char('t') => Effect::Offer(Facet::Kind),
        KeyCode::Char('#') => Effect::Offer(Facet::Tag),
        KeyCode::Left | KeyCode::Backspace | KeyCode::Char('b') => walk(model, true),
        KeyCode::Right | KeyCode::Char('f') => walk(model, false),
        KeyCode::Char('/') => {
            model.return_to_list();
            Effect::Nothing
        }
        _ => Effect::Nothing,
    }
}

/// Scrolls the help; tells whether it stays.
fn help_key(scroll: &mut usize, code: KeyCode) -> bool {
    match code {
        KeyCode::Up | KeyCode::Char('k') => *scroll = scroll.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => *scroll += 1,
        KeyCode::PageUp => *scroll = scroll.saturating_sub(10),
        KeyCode::PageDown | KeyCode::Char(' ') => *scroll += 10,
        _ => return false,
    }
    // It is a page or two long.
    *scroll = (*scroll).min(60);
    true
}

fn pick_key(model: &mut Model, key: KeyEvent) -> Effect {
    let Overlay::Pick(picker) = &mut model.overlay else { return Effect::Nothing };
    match key.code {
        KeyCode::Up => picker.cursor = picker.cursor.saturating_sub(1),
        KeyCode::Down => picker.cursor += 1,
        KeyCode::PageUp => picker.cursor = picker.cursor.saturating_sub(10),
        KeyCode::PageDown => picker.cursor += 10,
        KeyCode::Esc => model.overlay = Overlay::None,
        KeyCode::Enter => return pick(model),
        _ if key.modifiers.contains(KeyModifiers::CONTROL) => {}
        code => {
            if edit_line(&mut picker.line, code) {
                picker.cursor = 0;
            }
        }
    }
    Effect::Nothing
}

/// Adds what is chosen to the filter, or takes it away where it is there.
fn pick(model: &mut Model) -> Effect {
    let Overlay::Pick(picker) = std::mem::take(&mut model.overlay) else { return Effect::Nothing };
    let Some((name, _)) = chosen(&picker) else { return Effect::Nothing };
    let list = match picker.facet {
        Facet::Kind => &mut model.filter.kinds,
        Facet::Tag => &mut model.filter.tags,
    };
    match list.iter().position(|have| *have == name) {
        Some(place) => drop(list.remove(place)),
        None => list.push(name),
    }
    model.return_to_list();
    match model.found.take() {
        Some(found) => Effect::Search(found.query),
        None => Effect::List,
    }
}

fn chosen(picker: &Picker) -> Option<(String, usize)> {
    picker.shown().get(picker.cursor).map(|chosen| (*chosen).clone())
}
