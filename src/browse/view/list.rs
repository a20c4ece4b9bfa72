//! Draws the list: one note per line with its type, title, tags and date.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::areas::{Areas, Focus};
use super::super::finder::{TitleHighlighter, truncated_name};
use super::super::model::Model;
use super::super::text::{clusters, one_line, truncated, width};
use super::{draw_frame, line_area, put_text};
use crate::store::NoteHandle;

/// The width of the column of types, in cells.
const KIND_WIDTH: usize = 10;

/// The width of the column of dates, in cells.
const DATE_WIDTH: usize = 10;

/// The width of the list, in cells, from which it has dates.
const MIN_WIDTH_WITH_DATE: usize = 40;

/// The width of the list, in cells, from which it has tags; a narrower one needs the space for titles.
const MIN_WIDTH_WITH_TAGS: usize = 60;

pub(super) fn draw(model: &Model, areas: &Areas, buffer: &mut Buffer) {
    let title = match &model.text_matches {
        Some(matches) => format!("Search results for “{}”", matches.query),
        None => "Notes".to_owned(),
    };
    draw_frame(buffer, areas.list_frame, &title, model.focus == Focus::List, model.theme);
    if model.row_count() == 0 && !areas.list.is_empty() {
        let text = if model.note_count == 0 { "The store has no notes yet." } else { "Nothing found." };
        put_text(buffer, line_area(areas.list, 0), 0, text, model.theme.faint());
    }
    let is_finding = model.text_matches.is_none() && !model.input.text.is_empty();
    let mut highlighter = is_finding.then(|| TitleHighlighter::new(&model.input.text));
    for line in 0..usize::from(areas.list.height) {
        let row = model.first_row + line;
        if let Some(note) = model.note_in_row(row) {
            let area = line_area(areas.list, line);
            draw_note(model, note, highlighter.as_mut(), area, buffer);
            if row == model.cursor {
                buffer.set_style(area, model.theme.selected());
            }
        }
    }
}

fn draw_note(
    model: &Model,
    note: &NoteHandle,
    highlighter: Option<&mut TitleHighlighter>,
    area: Rect,
    buffer: &mut Buffer,
) {
    let head = note.list_fields();
    let cells = usize::from(area.width);
    let kind = one_line(truncated_name(head.kind));
    put_text(buffer, area, 0, &truncated(&kind, KIND_WIDTH), model.theme.kind(&kind));
    let mut room = cells.saturating_sub(KIND_WIDTH + 1);
    if cells >= MIN_WIDTH_WITH_DATE {
        if let Some(day) = head.changed().map(|timestamp| timestamp.date().to_string()) {
            put_text(buffer, area, cells - DATE_WIDTH, &truncated(&day, DATE_WIDTH), model.theme.faint());
        }
        room = room.saturating_sub(DATE_WIDTH + 1);
    }
    if cells >= MIN_WIDTH_WITH_TAGS {
        let tags: Vec<String> =
            note.tags().iter().take(cells).map(|tag| format!("#{}", one_line(truncated_name(tag)))).collect();
        let tags = tags.join(" ");
        let tags = truncated(&tags, room / 3);
        let start = (KIND_WIDTH + 1 + room).saturating_sub(width(&tags));
        put_text(buffer, area, start, &tags, model.theme.tag());
        room = room.saturating_sub(width(&tags) + 1);
    }
    let title = one_line(truncated_name(note.title()));
    if let Some(retired) = note.retired(|| model.today.day()) {
        let words = retired.words();
        let words = truncated(&words, room / 2);
        let start = (KIND_WIDTH + 1 + room).saturating_sub(width(&words));
        put_text(buffer, area, start, &words, model.theme.warning());
        room = room.saturating_sub(width(&words) + 1);
    }
    put_text(buffer, area, KIND_WIDTH + 1, &truncated(&title, room), model.theme.title());
    if let Some(highlighter) = highlighter {
        highlight(model, &highlighter.matched_clusters(&title), &title, area, room, buffer);
    }
}

/// Highlights the matched clusters of a title, given as ascending ordinals, in the `room` cells that show it.
fn highlight(model: &Model, matched: &[u32], title: &str, area: Rect, room: usize, buffer: &mut Buffer) {
    let mut column = 0;
    for (ordinal, (_, _, width)) in (0..).zip(clusters(title)) {
        if column + width > room {
            return;
        }
        if matched.binary_search(&ordinal).is_ok() && width > 0 {
            let x = area.x.saturating_add(super::to_u16(KIND_WIDTH + 1 + column));
            buffer.set_style(Rect { x, width: super::to_u16(width), ..area }, model.theme.matched());
        }
        column += width;
    }
}
