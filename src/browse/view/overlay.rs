//! What lies over the rest: the help, and choices of types and tags.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

use super::super::areas::Areas;
use super::super::keys::KEYS;
use super::super::model::{Facet, Model, Picker};
use super::super::text::{cut, one_line, width};
use super::super::theme::Theme;
use super::{framed, put, row};

/// How many cells the name of a key takes.
const KEY: usize = 20;

/// Draws the keys.
pub(super) fn help(theme: Theme, scroll: usize, areas: &Areas, buffer: &mut Buffer) {
    Clear.render(areas.overlay_frame, buffer);
    framed(buffer, areas.overlay_frame, "Keys (↓ more, Esc closes)", true, theme);
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for (place, keys) in KEYS {
        if !lines.is_empty() {
            lines.push(("", ""));
        }
        lines.push((place, ""));
        lines.extend(keys);
    }
    let height = usize::from(areas.overlay.height);
    let scroll = scroll.min(lines.len().saturating_sub(height));
    for (line, (key, purpose)) in lines.into_iter().skip(scroll).take(height).enumerate() {
        let area = row(areas.overlay, line);
        let style = if purpose.is_empty() { theme.title() } else { theme.tag() };
        let indent = if purpose.is_empty() { 0 } else { 2 };
        put(buffer, area, indent, key, style);
        put(buffer, area, KEY + 3, purpose, Style::new());
    }
}

/// Draws a choice. Returns where the cursor is.
pub(super) fn pick(model: &Model, picker: &Picker, areas: &Areas, buffer: &mut Buffer) -> Position {
    let (title, have) = match picker.facet {
        Facet::Kind => ("Only notes of a type (Enter adds it or takes it away)", &model.filter.kinds),
        Facet::Tag => ("Only notes with a tag (Enter adds it or takes it away)", &model.filter.tags),
    };
    Clear.render(areas.overlay_frame, buffer);
    framed(buffer, areas.overlay_frame, title, true, model.theme);
    let area = areas.overlay;
    let first = row(area, 0);
    let prompt = put(buffer, first, 0, "❯ ", model.theme.frame(true));
    let (text, cursor) = picker.line.shown(usize::from(area.width).saturating_sub(prompt + 1));
    put(buffer, first, prompt, text, Style::new());
    let shown = picker.shown();
    let room = usize::from(area.height).saturating_sub(1);
    for (line, (number, (name, count))) in shown.iter().enumerate().skip(picker.top).take(room).enumerate() {
        let area: Rect = row(area, line + 1);
        let cells = usize::from(area.width);
        let sign = if have.contains(name) { "✓ " } else { "  " };
        let count = count.to_string();
        put(buffer, area, 0, sign, Style::new());
        let name = one_line(name);
        put(buffer, area, 2, &cut(&name, cells.saturating_sub(3 + width(&count))), Style::new());
        put(buffer, area, cells.saturating_sub(width(&count)), &count, model.theme.faint());
        if number == picker.cursor {
            buffer.set_style(area, model.theme.chosen());
        }
    }
    Position::new(area.x.saturating_add(super::to_u16(prompt + cursor)), area.y)
}
