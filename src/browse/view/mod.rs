//! Draws the model. The cost depends on the size of the screen, not on the number of notes.

mod list;
mod note;
mod overlay;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Block, BorderType, Widget};

use super::areas::Focus;
use super::model::{Model, Overlay};
use super::text::{one_line, truncated, width};
use super::theme::Theme;

/// The prompt of the input line while it matches titles.
const FIND_PROMPT: &str = "find ❯ ";

/// The prompt of the input line while the list shows the result of a search.
const TEXT_PROMPT: &str = "text ❯ ";

/// Draws the screen and sets the cursor.
pub(super) fn draw(model: &Model, frame: &mut Frame<'_>) {
    let areas = model.areas();
    let buffer = frame.buffer_mut();
    list::draw(model, &areas, buffer);
    note::draw(model, &areas, buffer);
    draw_status(model, areas.status, buffer);
    let input_cursor = draw_input(model, areas.input, buffer);
    let cursor = match &model.overlay {
        Overlay::None => Some(input_cursor).filter(|_| model.focus == Focus::List),
        Overlay::Help(scroll) => {
            overlay::draw_help(model.theme, *scroll, &areas, buffer);
            None
        }
        Overlay::Review(worklist) => {
            overlay::draw_worklist(model, worklist, &areas, buffer);
            None
        }
        Overlay::Pick(picker) => Some(overlay::draw_picker(model, picker, &areas, buffer)),
    };
    let area = frame.area();
    if let Some(cursor) = cursor.filter(|cursor| area.contains(*cursor)) {
        frame.set_cursor_position(cursor);
    }
}

/// Draws the input line, the filters and the counts. Returns the position of the cursor.
fn draw_input(model: &Model, area: Rect, buffer: &mut Buffer) -> Position {
    let prompt = if model.text_matches.is_some() { TEXT_PROMPT } else { FIND_PROMPT };
    let mut right = format!("{}/{}", model.row_count(), model.note_count);
    for kind in &model.filters.kinds {
        right = format!("type:{} {right}", one_line(kind));
    }
    for tag in &model.filters.tags {
        right = format!("#{} {right}", one_line(tag));
    }
    let cells = usize::from(area.width);
    let right = truncated(&right, cells / 2);
    let x = put_text(buffer, area, 0, prompt, model.theme.frame(model.focus == Focus::List));
    let room = cells.saturating_sub(x + width(&right) + 2);
    let (text, cursor) = model.input.visible(room);
    let before_right = Rect { width: area.width.min(to_u16(x + room)), ..area };
    put_text(buffer, before_right, x, text, Style::new());
    put_text(buffer, area, cells.saturating_sub(width(&right)), &right, model.theme.faint());
    Position::new(area.x.saturating_add(to_u16(x + cursor)), area.y)
}

/// Draws the status line: the message, else the keys of the area that has the focus.
fn draw_status(model: &Model, area: Rect, buffer: &mut Buffer) {
    let keys = match model.focus {
        Focus::List => "Enter read · Ctrl-F search texts · Ctrl-T type · Ctrl-G tag · ? help · Esc quit",
        Focus::Note => "Enter links · ← → back, forward · e edit · y copy id · / list · ? help · q quit",
        Focus::Links => "Enter follow · ← → back, forward · Esc note · / list · ? help · q quit",
    };
    let (text, style) = match &model.status {
        Some(text) => (one_line(text), model.theme.warning()),
        None => (keys.to_owned(), model.theme.faint()),
    };
    put_text(buffer, area, 0, &truncated(&text, usize::from(area.width)), style);
}

/// Draws a text on the first line of an area, from a column on, and clips it at the edge. Returns the column after it.
fn put_text(buffer: &mut Buffer, area: Rect, column: usize, text: &str, style: Style) -> usize {
    let room = usize::from(area.width).saturating_sub(column);
    if room == 0 || area.height == 0 {
        return column;
    }
    let x = area.x.saturating_add(to_u16(column));
    let (end, _) = buffer.set_stringn(x, area.y, text, room, style);
    usize::from(end.saturating_sub(area.x))
}

fn draw_frame(buffer: &mut Buffer, area: Rect, title: &str, is_active: bool, theme: Theme) {
    if area.width < 2 || area.height < 2 {
        return;
    }
    let style = theme.frame(is_active);
    Block::bordered().border_type(BorderType::Rounded).border_style(style).render(area, buffer);
    let title = truncated(title, usize::from(area.width).saturating_sub(4));
    if !title.is_empty() {
        put_text(buffer, area, 1, &format!(" {title} "), style);
    }
}

/// Returns the area of a line of an area; an empty area if it has no such line.
fn line_area(area: Rect, line: usize) -> Rect {
    area.rows().nth(line).unwrap_or_default()
}

fn to_u16(cells: usize) -> u16 {
    u16::try_from(cells).unwrap_or(u16::MAX)
}
