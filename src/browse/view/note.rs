//! Draws the open note and its links.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::areas::{Areas, Focus};
use super::super::model::Model;
use super::super::page::{LineKind, LinkDirection, LinkLine, LogicalLine, NotePage, WrappedLine};
use super::super::text::{truncated, width};
use super::super::theme::Theme;
use super::{draw_frame, line_area, put_text};

pub(super) fn draw(model: &Model, areas: &Areas, buffer: &mut Buffer) {
    let is_active = model.focus == Focus::Note;
    let title = model.page.as_ref().map(|page| title(page, model.scroll, areas.note.height)).unwrap_or_default();
    draw_frame(buffer, areas.note_frame, &title, is_active, model.theme);
    if let Some(page) = &model.page {
        let visible = page.wrapped_lines.iter().skip(model.scroll).take(usize::from(areas.note.height));
        for (line, wrapped) in visible.enumerate() {
            draw_wrapped_line(page, wrapped, line_area(areas.note, line), model.theme, buffer);
        }
    }
    draw_links(model, areas, buffer);
}

/// Returns the id and, if the note is longer than the screen, the percentage of it down to the last visible line.
fn title(page: &NotePage, scroll: usize, height: u16) -> String {
    let line_count = page.wrapped_lines.len();
    let end = scroll + usize::from(height);
    if end >= line_count && scroll == 0 {
        return page.id.to_string();
    }
    format!("{} {}%", page.id, end.min(line_count) * 100 / line_count.max(1))
}

fn draw_wrapped_line(page: &NotePage, wrapped: &WrappedLine, area: Rect, theme: Theme, buffer: &mut Buffer) {
    let Some(line) = page.lines.get(wrapped.line_idx) else { return };
    let mut column = wrapped.indent;
    for (text, styles) in line.styled_runs(&wrapped.range) {
        column = put_text(buffer, area, column, text, line_style(line, theme).patch(theme.inline(styles)));
    }
}

fn line_style(line: &LogicalLine, theme: Theme) -> Style {
    match line.kind {
        LineKind::Title => theme.title().add_modifier(Modifier::UNDERLINED),
        LineKind::Field => theme.faint(),
        LineKind::Tags => theme.tag(),
        LineKind::Warning => theme.warning(),
        LineKind::Body => Style::new(),
    }
}

fn draw_links(model: &Model, areas: &Areas, buffer: &mut Buffer) {
    let is_active = model.focus == Focus::Links;
    draw_frame(buffer, areas.links_frame, &links_title(model), is_active, model.theme);
    let visible = model.links().iter().enumerate().skip(model.first_link_row).take(usize::from(areas.links.height));
    for (line, (link_row, link)) in visible.enumerate() {
        let area = line_area(areas.links, line);
        draw_link(link, area, model.theme, buffer);
        if is_active && link_row == model.link_row {
            buffer.set_style(area, model.theme.selected());
        }
    }
}

fn links_title(model: &Model) -> String {
    let Some(links) = model.page.as_ref().and_then(|page| page.links.as_ref()) else {
        return "Links".to_owned();
    };
    let count = |direction: LinkDirection| links.iter().filter(|link| link.direction == direction).count();
    let mut title = format!("Links {} · Backlinks {}", count(LinkDirection::Out), count(LinkDirection::In));
    let unresolved = count(LinkDirection::Unresolved);
    if unresolved > 0 {
        title.push_str(&format!(" · Broken {unresolved}"));
    }
    title
}

fn draw_link(link: &LinkLine, area: Rect, theme: Theme, buffer: &mut Buffer) {
    let cells = usize::from(area.width);
    let (arrow, style) = match link.direction {
        LinkDirection::Out => ("→ ", Style::new()),
        LinkDirection::In => ("← ", Style::new()),
        LinkDirection::Unresolved => ("✗ ", theme.warning()),
    };
    let id = link.to.as_ref().map(|to| truncated(to.as_str(), cells / 3)).unwrap_or_default();
    let mut column = put_text(buffer, area, 0, arrow, style);
    if !link.kind.is_empty() {
        column = put_text(buffer, area, column, &truncated(&link.kind, cells / 4), theme.tag()) + 1;
    }
    let room = cells.saturating_sub(column + width(&id) + 1);
    put_text(buffer, area, column, &truncated(&link.title, room), style);
    put_text(buffer, area, cells.saturating_sub(width(&id)), &id, theme.faint());
}
