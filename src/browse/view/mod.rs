//! The model as a picture. Only what is seen is looked at.

mod list;
mod note;
mod overlay;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::symbols::border;

use super::model::{Focus, Model, Overlay};
use super::text::{cut, one_line, width};
use super::theme::Theme;

/// What stands before the line in which one types.
const FIND: &str = "find ❯ ";
const TEXT: &str = "text ❯ ";

/// Draws everything.
pub(super) fn draw(model: &Model, frame: &mut Frame<'_>) {
    let areas = model.areas();
    let buffer = frame.buffer_mut();
    list::draw(model, &areas, buffer);
    note::draw(model, &areas, buffer);
    status(model, areas.status, buffer);
    let in_line = typed(model, areas.line, buffer);
    let cursor = match &model.overlay {
        Overlay::None => Some(in_line).filter(|_| model.focus == Focus::List),
        Overlay::Help(scroll) => {
            overlay::help(model.theme, *scroll, &areas, buffer);
            None
        }
        Overlay::Pick(picker) => Some(overlay::pick(model, picker, &areas, buffer)),
    };
    let area = frame.area();
    if let Some(cursor) = cursor.filter(|cursor| area.contains(*cursor)) {
        frame.set_cursor_position(cursor);
    }
}

/// Draws the line in which one types, the filters and the counts. Returns where the cursor is.
fn typed(model: &Model, area: Rect, buffer: &mut Buffer) -> Position {
    let prompt = if model.found.is_some() { TEXT } else { FIND };
    let mut right = format!("{}/{}", model.count(), model.total);
    for kind in &model.filter.kinds {
        right = format!("type:{} {right}", one_line(kind));
    }
    for tag in &model.filter.tags {
        right = format!("#{} {right}", one_line(tag));
    }
    let cells = usize::from(area.width);
    let right = cut(&right, cells / 2);
    let x = put(buffer, area, 0, prompt, model.theme.frame(model.focus == Focus::List));
    let room = cells.saturating_sub(x + width(&right) + 2);
    let (text, cursor) = model.line.shown(room);
    put(buffer, narrowed(area, x + room), x, text, Style::new());
    put(buffer, area, cells.saturating_sub(width(&right)), &right, model.theme.faint());
    Position::new(area.x.saturating_add(to_u16(x + cursor)), area.y)
}

/// Draws the lowest line: what there is to tell, else the keys that matter here.
fn status(model: &Model, area: Rect, buffer: &mut Buffer) {
    let keys = match model.focus {
        Focus::List => "Enter read · Ctrl-F search texts · Ctrl-T type · Ctrl-G tag · ? help · Esc quit",
        Focus::Note => "Enter links · ← → back, forward · e edit · y copy id · / list · ? help · q quit",
        Focus::Links => "Enter follow · ← → back, forward · Esc note · / list · ? help · q quit",
    };
    let (text, style) = match &model.status {
        Some(text) => (one_line(text), model.theme.odd()),
        None => (keys.to_owned(), model.theme.faint()),
    };
    put(buffer, area, 0, &cut(&text, usize::from(area.width)), style);
}

/// Puts a text on the first line of an area, from a column on. Returns the column behind it.
fn put(buffer: &mut Buffer, area: Rect, column: usize, text: &str, style: Style) -> usize {
    let room = usize::from(area.width).saturating_sub(column);
    if room == 0 || area.height == 0 {
        return column;
    }
    let x = area.x.saturating_add(to_u16(column));
    let (end, _) = buffer.set_stringn(x, area.y, text, room, style);
    usize::from(end.saturating_sub(area.x))
}

/// Draws a frame with a title.
fn framed(buffer: &mut Buffer, area: Rect, title: &str, is_active: bool, theme: Theme) {
    if area.width < 2 || area.height < 2 {
        return;
    }
    let style = theme.frame(is_active);
    let set = border::ROUNDED;
    let across = set.horizontal_top.repeat(usize::from(area.width) - 2);
    let (first, last) = (row(area, 0), row(area, usize::from(area.height) - 1));
    put(buffer, first, 0, &format!("{}{across}{}", set.top_left, set.top_right), style);
    put(buffer, last, 0, &format!("{}{across}{}", set.bottom_left, set.bottom_right), style);
    for line in 1..usize::from(area.height) - 1 {
        put(buffer, row(area, line), 0, set.vertical_left, style);
        put(buffer, row(area, line), usize::from(area.width) - 1, set.vertical_right, style);
    }
    let title = cut(title, usize::from(area.width).saturating_sub(4));
    if !title.is_empty() {
        put(buffer, first, 1, &format!(" {title} "), style);
    }
}

/// Returns a line of an area; an empty one where it has no such line.
fn row(area: Rect, line: usize) -> Rect {
    match line < usize::from(area.height) {
        true => Rect { y: area.y.saturating_add(to_u16(line)), height: 1, ..area },
        false => Rect::default(),
    }
}

fn narrowed(area: Rect, width: usize) -> Rect {
    Rect { width: area.width.min(to_u16(width)), ..area }
}

fn to_u16(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
