//! Draws the overlays: the help, and the lists of types and tags to select from.

use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

use super::super::areas::Areas;
use super::super::key_help::KEYS;
use super::super::model::{Facet, Model, Picker};
use super::super::text::{one_line, truncated, width};
use super::super::theme::Theme;
use super::super::worklist::Worklist;
use super::{draw_frame, line_area, put_text};

/// The keys of the worklist.
const WORKLIST_KEYS: &str = "a accept · e edit · m merge · s supersede · x reject · Enter read · Esc close";

/// The width of the column of keys, in cells.
const KEY_WIDTH: usize = 20;

/// Draws the help, scrolled down by a number of lines.
pub(super) fn draw_help(theme: Theme, scroll: usize, areas: &Areas, buffer: &mut Buffer) {
    Clear.render(areas.overlay_frame, buffer);
    draw_frame(buffer, areas.overlay_frame, "Keys (↓ more, Esc closes)", true, theme);
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for (heading, keys) in KEYS {
        if !lines.is_empty() {
            lines.push(("", ""));
        }
        lines.push((heading, ""));
        lines.extend(keys);
    }
    let height = usize::from(areas.overlay.height);
    let scroll = scroll.min(lines.len().saturating_sub(height));
    for (line, (key, purpose)) in lines.into_iter().skip(scroll).take(height).enumerate() {
        let area = line_area(areas.overlay, line);
        let style = if purpose.is_empty() { theme.title() } else { theme.tag() };
        let indent = if purpose.is_empty() { 0 } else { 2 };
        put_text(buffer, area, indent, key, style);
        put_text(buffer, area, KEY_WIDTH + 3, purpose, Style::new());
    }
}

/// Draws the worklist: two lines for each entry, and a line with a message, else the keys.
pub(super) fn draw_worklist(model: &Model, worklist: &Worklist, areas: &Areas, buffer: &mut Buffer) {
    let theme = model.theme;
    Clear.render(areas.overlay_frame, buffer);
    let count = worklist.entries.len();
    let title = if count == 0 { "Nothing to review".to_owned() } else { format!("To review: {count} (worst first)") };
    draw_frame(buffer, areas.overlay_frame, &title, true, theme);
    let area = areas.overlay;
    let (cells, rows) = (usize::from(area.width), usize::from(area.height).saturating_sub(1));
    let shown = worklist.entries.iter().enumerate().skip(worklist.first_row).take(rows / 2);
    for (position, (row, entry)) in shown.enumerate() {
        let [first, second] = [0, 1].map(|line| line_area(area, 2 * position + line));
        let kind = put_text(buffer, first, 0, &entry.kind, theme.warning()) + 1;
        let name = format!("{} ({})", one_line(&entry.title), entry.id);
        put_text(buffer, first, kind, &truncated(&name, cells.saturating_sub(kind)), theme.title());
        put_text(buffer, second, 2, &truncated(&one_line(&entry.reason), cells.saturating_sub(2)), Style::new());
        if row == worklist.cursor {
            buffer.set_style(first, theme.selected());
            buffer.set_style(second, theme.selected());
        }
    }
    let (text, style) = match &model.status {
        Some(status) => (one_line(status), theme.warning()),
        None => (WORKLIST_KEYS.to_owned(), theme.faint()),
    };
    put_text(buffer, line_area(area, rows), 0, &truncated(&text, cells), style);
}

/// Draws a list to select from. Returns the position of the cursor.
pub(super) fn draw_picker(model: &Model, picker: &Picker, areas: &Areas, buffer: &mut Buffer) -> Position {
    let (title, selected) = match picker.facet {
        Facet::Kind => ("Filter by type (Enter adds or removes one)", &model.filters.kinds),
        Facet::Tag => ("Filter by tag (Enter adds or removes one)", &model.filters.tags),
    };
    Clear.render(areas.overlay_frame, buffer);
    draw_frame(buffer, areas.overlay_frame, title, true, model.theme);
    let area = areas.overlay;
    let first = line_area(area, 0);
    let prompt = put_text(buffer, first, 0, "❯ ", model.theme.frame(true));
    let (text, cursor) = picker.input.visible(usize::from(area.width).saturating_sub(prompt + 1));
    put_text(buffer, first, prompt, text, Style::new());
    let options = picker.matching_options();
    let room = usize::from(area.height).saturating_sub(1);
    for (line, (option_row, (name, count))) in options.iter().enumerate().skip(picker.first_row).take(room).enumerate()
    {
        let area = line_area(area, line + 1);
        let cells = usize::from(area.width);
        let check_mark = if selected.contains(name) { "✓ " } else { "  " };
        let count = count.to_string();
        put_text(buffer, area, 0, check_mark, Style::new());
        let name = one_line(name);
        put_text(buffer, area, 2, &truncated(&name, cells.saturating_sub(3 + width(&count))), Style::new());
        put_text(buffer, area, cells.saturating_sub(width(&count)), &count, model.theme.faint());
        if option_row == picker.cursor {
            buffer.set_style(area, model.theme.selected());
        }
    }
    Position::new(area.x.saturating_add(super::to_u16(prompt + cursor)), area.y)
}
