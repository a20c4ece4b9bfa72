//! The note that is shown, and its links.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::areas::Areas;
use super::super::model::{Focus, Model};
use super::super::page::{LineKind, LinkDirection, LinkLine, LogicalLine, NotePage, WrappedLine};
use super::super::text::{cut, width};
use super::super::theme::Theme;
use super::{framed, put, row};

pub(super) fn draw(model: &Model, areas: &Areas, buffer: &mut Buffer) {
    let is_active = model.focus == Focus::Note;
    let title = model.page.as_ref().map(|page| title(page, model.scroll, areas.note.height)).unwrap_or_default();
    framed(buffer, areas.note_frame, &title, is_active, model.theme);
    if let Some(page) = &model.page {
        for (line, piece) in page.pieces().iter().skip(model.scroll).take(usize::from(areas.note.height)).enumerate() {
            draw_piece(page, piece, row(areas.note, line), model.theme, buffer);
        }
    }
    links(model, areas, buffer);
}

/// The id, and how much of the note is above the end of the screen.
fn title(page: &NotePage, scroll: usize, height: u16) -> String {
    let (all, end) = (page.pieces().len(), scroll + usize::from(height));
    match end >= all && scroll == 0 {
        true => page.id.to_string(),
        false => format!("{} {}%", page.id, end.min(all) * 100 / all.max(1)),
    }
}

fn draw_piece(page: &NotePage, piece: &WrappedLine, area: Rect, theme: Theme, buffer: &mut Buffer) {
    let Some(line) = page.lines.get(piece.line) else { return };
    let mut column = piece.indent;
    for (text, marks) in line.looks(&piece.range) {
        column = put(buffer, area, column, text, base(line, theme).patch(theme.marked(marks)));
    }
}

fn base(line: &LogicalLine, theme: Theme) -> Style {
    match line.kind {
        LineKind::Title => theme.title().add_modifier(Modifier::UNDERLINED),
        LineKind::Field => theme.faint(),
        LineKind::Tags => theme.tag(),
        LineKind::Odd => theme.odd(),
        LineKind::Body => Style::new(),
    }
}

fn links(model: &Model, areas: &Areas, buffer: &mut Buffer) {
    let is_active = model.focus == Focus::Links;
    framed(buffer, areas.links_frame, &links_title(model), is_active, model.theme);
    let shown = model.links().iter().enumerate().skip(model.link_top).take(usize::from(areas.links.height));
    for (line, (number, link)) in shown.enumerate() {
        let area = row(areas.links, line);
        draw_link(link, area, model.theme, buffer);
        if is_active && number == model.link {
            buffer.set_style(area, model.theme.chosen());
        }
    }
}

fn links_title(model: &Model) -> String {
    let Some(links) = model.page.as_ref().and_then(|page| page.links.as_ref()) else {
        return "Links".to_owned();
    };
    let count = |way: LinkDirection| links.iter().filter(|link| link.way == way).count();
    let mut title = format!("Links {} · Backlinks {}", count(LinkDirection::Out), count(LinkDirection::In));
    match count(LinkDirection::Nowhere) {
        0 => {}
        nowhere => title.push_str(&format!(" · Nowhere {nowhere}")),
    }
    title
}

fn draw_link(link: &LinkLine, area: Rect, theme: Theme, buffer: &mut Buffer) {
    let cells = usize::from(area.width);
    let (arrow, style) = match link.way {
        LinkDirection::Out => ("→ ", Style::new()),
        LinkDirection::In => ("← ", Style::new()),
        LinkDirection::Nowhere => ("✗ ", theme.odd()),
    };
    let id = link.to.as_ref().map(|to| cut(to.as_str(), cells / 3)).unwrap_or_default();
    let mut column = put(buffer, area, 0, arrow, style);
    if !link.kind.is_empty() {
        column = put(buffer, area, column, &cut(&link.kind, cells / 4), theme.tag()) + 1;
    }
    let room = cells.saturating_sub(column + width(&id) + 1);
    put(buffer, area, column, &cut(&link.title, room), style);
    put(buffer, area, cells.saturating_sub(width(&id)), &id, theme.faint());
}
