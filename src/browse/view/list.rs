//! The list: a note a line, with its type, title, tags and date.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::areas::Areas;
use super::super::finder::{TitleHighlighter, short};
use super::super::model::{Focus, Model};
use super::super::text::{clusters, cut, one_line, width};
use super::{framed, put, row};
use crate::note::Note;

/// How many cells a type takes, and a date.
const KIND: usize = 10;
const DATE: usize = 10;
/// From this width on there are dates; from the next on, tags.
const WITH_DATE: usize = 40;
const WITH_TAGS: usize = 60;

pub(super) fn draw(model: &Model, areas: &Areas, buffer: &mut Buffer) {
    let title = match &model.found {
        Some(found) => format!("Texts that answer “{}”", found.query),
        None => "Notes".to_owned(),
    };
    framed(buffer, areas.list_frame, &title, model.focus == Focus::List, model.theme);
    if model.count() == 0 && !areas.list.is_empty() {
        let text = if model.total == 0 { "The store has no notes yet." } else { "Nothing is found." };
        put(buffer, row(areas.list, 0), 0, text, model.theme.faint());
    }
    let mut marker =
        (model.found.is_none() && !model.line.is_empty()).then(|| TitleHighlighter::new(model.line.text()));
    for line in 0..usize::from(areas.list.height) {
        let number = model.top + line;
        if let Some(note) = model.row(number) {
            let area = row(areas.list, line);
            draw_note(model, note, marker.as_mut(), area, buffer);
            if number == model.cursor {
                buffer.set_style(area, model.theme.chosen());
            }
        }
    }
}

fn draw_note(model: &Model, note: &Note, marker: Option<&mut TitleHighlighter>, area: Rect, buffer: &mut Buffer) {
    let head = note.head();
    let cells = usize::from(area.width);
    let kind = one_line(short(head.kind));
    put(buffer, area, 0, &cut(&kind, KIND), model.theme.kind(&kind));
    let mut room = cells.saturating_sub(KIND + 1);
    if cells >= WITH_DATE {
        if let Some(day) = head.changed().map(|moment| moment.date().to_string()) {
            put(buffer, area, cells - DATE, &cut(&day, DATE), model.theme.faint());
        }
        room = room.saturating_sub(DATE + 1);
    }
    if cells >= WITH_TAGS {
        let tags: Vec<String> =
            note.ties().tags.iter().take(cells).map(|tag| format!("#{}", one_line(short(tag)))).collect();
        let tags = tags.join(" ");
        let tags = cut(&tags, room / 3);
        let start = (KIND + 1 + room).saturating_sub(width(&tags));
        put(buffer, area, start, &tags, model.theme.tag());
        room = room.saturating_sub(width(&tags) + 1);
    }
    let title = one_line(short(head.title));
    if let Some(retired) = note.retired(|| model.today.day()) {
        let words = retired.words();
        let words = cut(&words, room / 2);
        let start = (KIND + 1 + room).saturating_sub(width(&words));
        put(buffer, area, start, &words, model.theme.odd());
        room = room.saturating_sub(width(&words) + 1);
    }
    put(buffer, area, KIND + 1, &cut(&title, room), model.theme.title());
    if let Some(marker) = marker {
        mark(model, &marker.marks(&title), &title, area, room, buffer);
    }
}

/// Marked the letters of a title that were typed.
fn mark(model: &Model, marks: &[u32], title: &str, area: Rect, room: usize, buffer: &mut Buffer) {
    let mut column = 0;
    for (number, (_, _, width)) in clusters(title).enumerate() {
        if column + width > room {
            return;
        }
        let is_marked = u32::try_from(number).is_ok_and(|number| marks.binary_search(&number).is_ok());
        if is_marked && width > 0 {
            let x = area.x.saturating_add(super::to_u16(KIND + 1 + column));
            buffer.set_style(Rect { x, width: super::to_u16(width), ..area }, model.theme.found());
        }
        column += width;
    }
}
