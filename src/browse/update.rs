//! The update function: applies keys to the model. Requests to the store and the terminal are returned as effects.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::areas::Focus;
use super::input::Input;
use super::model::{Facet, Model, Overlay};
use super::worklist::{Decision, WorklistEntry};
use crate::note::NoteId;

/// The rows by which a page key scrolls an overlay.
const PAGE_ROWS: usize = 10;

/// The most lines that the help scrolls: more than it has.
const MAX_HELP_SCROLL: usize = 60;

/// What remains to be done after a key: a request to the store, or something that needs the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    List,
    Search(String),
    /// Open a list of types or tags to select from.
    OpenPicker(Facet),
    /// Open the list of notes that a person should look at.
    OpenWorklist,
    /// Carry out a decision about a note.
    Decide(Decision),
    Reload,
    Edit(NoteId),
    Copy(NoteId),
    /// Stop the process until the shell continues it.
    Suspend,
    Quit,
}

/// Applies a key to the model. Returns the action that remains to be done.
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
        Overlay::Pick(_) => return picker_key(model, key),
        Overlay::Review(_) if has_control => return Effect::Nothing,
        Overlay::Review(_) => return worklist_key(model, key.code),
        Overlay::None => {}
    }
    if let Some(effect) = global_key(model, key) {
        return effect;
    }
    match model.focus {
        Focus::List if has_control => input_chord(model, key.code),
        Focus::List => list_key(model, key.code),
        _ if has_control => Effect::Nothing,
        Focus::Note => note_key(model, key.code),
        Focus::Links => links_key(model, key.code),
    }
}

/// Applies a key that has one effect in all areas; `None` if it is no such key.
fn global_key(model: &mut Model, key: KeyEvent) -> Option<Effect> {
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let has_alt = key.modifiers.contains(KeyModifiers::ALT);
    let effect = match key.code {
        KeyCode::Char('o') if has_control => with_open_note(model, Effect::Edit),
        KeyCode::Char('y') if has_control => with_open_note(model, Effect::Copy),
        KeyCode::Char('t') if has_control => Effect::OpenPicker(Facet::Kind),
        KeyCode::Char('g') if has_control => Effect::OpenPicker(Facet::Tag),
        KeyCode::F(2) => Effect::OpenWorklist,
        KeyCode::Char('v') if has_control => Effect::OpenWorklist,
        KeyCode::Char('r') if has_control => Effect::Reload,
        KeyCode::Char('l') if has_control => {
            model.has_preview = !model.has_preview;
            Effect::Nothing
        }
        KeyCode::Left if has_alt => go_in_history(model, true),
        KeyCode::Right if has_alt => go_in_history(model, false),
        KeyCode::Tab => move_focus(model, false),
        KeyCode::BackTab => move_focus(model, true),
        KeyCode::F(1) | KeyCode::Char('?') => {
            model.overlay = Overlay::Help(0);
            Effect::Nothing
        }
        _ => return None,
    };
    Some(effect)
}

/// Returns an effect on the open note; nothing if no note is open.
fn with_open_note(model: &mut Model, effect: impl FnOnce(NoteId) -> Effect) -> Effect {
    model.open_id.clone().map_or(Effect::Nothing, effect)
}

fn go_in_history(model: &mut Model, is_back: bool) -> Effect {
    if !model.go_in_history(is_back) {
        let end = if is_back { "there is no note before this one" } else { "there is no note after this one" };
        model.status = Some(end.to_owned());
    }
    Effect::Nothing
}

/// Moves the focus to the next area, or to the one before.
fn move_focus(model: &mut Model, is_back: bool) -> Effect {
    match (model.focus, is_back) {
        (Focus::List, false) => open_selected(model),
        (Focus::List, true) if model.open_id.is_some() => {
            open_selected(model);
            model.focus = Focus::Links;
        }
        (Focus::Note, false) => model.focus = Focus::Links,
        (Focus::Links, true) => model.focus = Focus::Note,
        _ => model.return_to_list(),
    }
    Effect::Nothing
}

fn open_selected(model: &mut Model) {
    if let Some(id) = model.selected().map(|note| note.id.clone()) {
        model.visit(id);
    }
}

fn list_key(model: &mut Model, code: KeyCode) -> Effect {
    let page = usize::from(model.areas().list.height).max(1);
    match code {
        KeyCode::Up => model.select_row(model.cursor.saturating_sub(1)),
        KeyCode::Down => model.select_row(model.cursor + 1),
        KeyCode::PageUp => model.select_row(model.cursor.saturating_sub(page)),
        KeyCode::PageDown => model.select_row(model.cursor + page),
        KeyCode::Home => model.select_row(0),
        KeyCode::End => model.select_row(usize::MAX),
        KeyCode::Enter => open_selected(model),
        KeyCode::Esc => return clear_or_quit(model),
        code => {
            if edit_input(&mut model.input, code) {
                model.find();
            }
        }
    }
    Effect::Nothing
}

/// Clears what narrows the list: first the input or the search, then the filters. Quits if there is neither.
fn clear_or_quit(model: &mut Model) -> Effect {
    if model.text_matches.is_some() || !model.input.text.is_empty() {
        model.input.clear();
        model.find();
        return Effect::Nothing;
    }
    if model.filters != Default::default() {
        model.filters = Default::default();
        return Effect::List;
    }
    Effect::Quit
}

/// Applies an editing key to a line. Returns whether its text may have changed.
fn edit_input(line: &mut Input, code: KeyCode) -> bool {
    match code {
        KeyCode::Char(c) => line.insert(c),
        KeyCode::Backspace => line.backspace(),
        KeyCode::Delete => line.delete(),
        KeyCode::Left => line.move_left(),
        KeyCode::Right => line.move_right(),
        _ => {}
    }
    matches!(code, KeyCode::Char(_) | KeyCode::Backspace | KeyCode::Delete)
}

fn input_chord(model: &mut Model, code: KeyCode) -> Effect {
    match code {
        KeyCode::Char('n') => return list_key(model, KeyCode::Down),
        KeyCode::Char('p') => return list_key(model, KeyCode::Up),
        KeyCode::Char('a') => model.input.move_home(),
        KeyCode::Char('e') => model.input.move_end(),
        KeyCode::Char('h') => return list_key(model, KeyCode::Backspace),
        KeyCode::Char('u') => {
            model.input.clear();
            model.find();
        }
        KeyCode::Char('w') => {
            model.input.delete_word();
            model.find();
        }
        KeyCode::Char('f') if model.input.text.trim().is_empty() => {
            model.status = Some("type the words to search for, then press Ctrl-F".to_owned());
        }
        KeyCode::Char('f') => return Effect::Search(model.input.text.clone()),
        _ => {}
    }
    Effect::Nothing
}

fn note_key(model: &mut Model, code: KeyCode) -> Effect {
    let page = usize::from(model.areas().note.height).saturating_sub(1).max(1);
    match code {
        KeyCode::Up | KeyCode::Char('k') => model.scroll = model.scroll.saturating_sub(1),
        // `Model::clamp_to_screen` limits it to the last line.
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
        KeyCode::Up | KeyCode::Char('k') => model.link_row = model.link_row.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => model.link_row = (model.link_row + 1).min(last),
        KeyCode::PageUp => model.link_row = model.link_row.saturating_sub(page),
        KeyCode::PageDown | KeyCode::Char(' ') => model.link_row = (model.link_row + page).min(last),
        KeyCode::Home | KeyCode::Char('g') => model.link_row = 0,
        KeyCode::End | KeyCode::Char('G') => model.link_row = last,
        KeyCode::Enter => follow_link(model),
        KeyCode::Esc => model.focus = Focus::Note,
        code => return reading_key(model, code),
    }
    Effect::Nothing
}

fn follow_link(model: &mut Model) {
    match model.links().get(model.link_row).map(|link| link.to.clone()) {
        Some(Some(id)) => model.visit(id),
        Some(None) => model.status = Some("broken link: no such note".to_owned()),
        None => model.status = Some("this note has no links".to_owned()),
    }
}

/// Applies a key that has one effect in a note and in its links.
fn reading_key(model: &mut Model, code: KeyCode) -> Effect {
    match code {
        KeyCode::Char('q') => Effect::Quit,
        KeyCode::Char('e') => with_open_note(model, Effect::Edit),
        KeyCode::Char('y') => with_open_note(model, Effect::Copy),
        KeyCode::Char('r') => Effect::Reload,
        KeyCode::Char('t') => Effect::OpenPicker(Facet::Kind),
        KeyCode::Char('#') => Effect::OpenPicker(Facet::Tag),
        KeyCode::Left | KeyCode::Backspace | KeyCode::Char('b') => go_in_history(model, true),
        KeyCode::Right | KeyCode::Char('f') => go_in_history(model, false),
        KeyCode::Char('/') => {
            model.return_to_list();
            Effect::Nothing
        }
        _ => Effect::Nothing,
    }
}

/// Scrolls the help. Returns whether it stays open.
fn help_key(scroll: &mut usize, code: KeyCode) -> bool {
    match code {
        KeyCode::Up | KeyCode::Char('k') => *scroll = scroll.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => *scroll += 1,
        KeyCode::PageUp => *scroll = scroll.saturating_sub(PAGE_ROWS),
        KeyCode::PageDown | KeyCode::Char(' ') => *scroll += PAGE_ROWS,
        _ => return false,
    }
    *scroll = (*scroll).min(MAX_HELP_SCROLL);
    true
}

fn picker_key(model: &mut Model, key: KeyEvent) -> Effect {
    let Overlay::Pick(picker) = &mut model.overlay else { return Effect::Nothing };
    match key.code {
        KeyCode::Up => picker.cursor = picker.cursor.saturating_sub(1),
        KeyCode::Down => picker.cursor += 1,
        KeyCode::PageUp => picker.cursor = picker.cursor.saturating_sub(PAGE_ROWS),
        KeyCode::PageDown => picker.cursor += PAGE_ROWS,
        KeyCode::Esc => model.overlay = Overlay::None,
        KeyCode::Enter => return toggle_picked(model),
        _ if key.modifiers.contains(KeyModifiers::CONTROL) => {}
        code => {
            if edit_input(&mut picker.input, code) {
                picker.cursor = 0;
            }
        }
    }
    Effect::Nothing
}

/// Adds the selected option to the filter, or removes it from there, and closes the picker.
fn toggle_picked(model: &mut Model) -> Effect {
    let Overlay::Pick(picker) = std::mem::take(&mut model.overlay) else { return Effect::Nothing };
    let Some((name, _)) = picker.matching_options().get(picker.cursor).copied().cloned() else {
        return Effect::Nothing;
    };
    let names = match picker.facet {
        Facet::Kind => &mut model.filters.kinds,
        Facet::Tag => &mut model.filters.tags,
    };
    match names.iter().position(|filtered| *filtered == name) {
        Some(position) => drop(names.remove(position)),
        None => names.push(name),
    }
    model.return_to_list();
    match model.text_matches.take() {
        Some(matches) => Effect::Search(matches.query),
        None => Effect::List,
    }
}

/// Applies a key to the worklist.
fn worklist_key(model: &mut Model, code: KeyCode) -> Effect {
    let Overlay::Review(worklist) = &mut model.overlay else { return Effect::Nothing };
    let pending = worklist.pending.take();
    let last = worklist.entries.len().saturating_sub(1);
    match code {
        KeyCode::Up | KeyCode::Char('k') => worklist.cursor = worklist.cursor.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => worklist.cursor = (worklist.cursor + 1).min(last),
        KeyCode::PageUp => worklist.cursor = worklist.cursor.saturating_sub(PAGE_ROWS),
        KeyCode::PageDown => worklist.cursor = (worklist.cursor + PAGE_ROWS).min(last),
        KeyCode::Home => worklist.cursor = 0,
        KeyCode::End => worklist.cursor = last,
        KeyCode::Esc | KeyCode::Char('q') => model.overlay = Overlay::None,
        code => {
            let Some(entry) = worklist.entries.get(worklist.cursor).cloned() else { return Effect::Nothing };
            return entry_key(model, entry, code, pending);
        }
    }
    Effect::Nothing
}

/// Applies a key to an entry. A change that removes a note from answers needs its key twice.
fn entry_key(model: &mut Model, entry: WorklistEntry, code: KeyCode, pending: Option<char>) -> Effect {
    let WorklistEntry { id, other, .. } = entry;
    let (key, decision, question) = match (code, other) {
        (KeyCode::Enter, _) => {
            model.overlay = Overlay::None;
            model.visit(id);
            return Effect::Nothing;
        }
        (KeyCode::Char('e'), _) => return Effect::Edit(id),
        (KeyCode::Char('a'), _) => return Effect::Decide(Decision::Accept(id)),
        (KeyCode::Char('x'), _) => ('x', Decision::Reject(id.clone()), format!("reject {id}")),
        (KeyCode::Char('m'), Some(other)) => {
            let question = format!("merge {id} into {other}");
            ('m', Decision::Merge { from: id, into: other }, question)
        }
        (KeyCode::Char('s'), Some(other)) => {
            let question = format!("let {other} supersede {id}");
            ('s', Decision::Supersede { old: id, new: other }, question)
        }
        (KeyCode::Char('m' | 's'), None) => {
            model.status = Some("this entry names no other note".to_owned());
            return Effect::Nothing;
        }
        _ => return Effect::Nothing,
    };
    if pending == Some(key) {
        return Effect::Decide(decision);
    }
    model.status = Some(format!("press {key} again to {question}"));
    if let Overlay::Review(worklist) = &mut model.overlay {
        worklist.pending = Some(key);
    }
    Effect::Nothing
}
