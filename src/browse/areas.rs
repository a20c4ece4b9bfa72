//! Where things are on the screen, whatever its size.

use ratatui::layout::{Rect, Size};

use super::model::Focus;

/// From this width on, the list and the note stand side by side.
const WIDE: u16 = 100;

/// Where things are; a part without room has no height or no width. Frames are not counted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// The line in which one types.
    pub(super) line: Rect,
    /// The list with its frame, and inside.
    pub(super) list_frame: Rect,
    pub(super) list: Rect,
    /// The note with its frame, and inside.
    pub(super) note_frame: Rect,
    pub(super) note: Rect,
    /// The links with their frame, and inside.
    pub(super) links_frame: Rect,
    pub(super) links: Rect,
    /// The line that tells something.
    pub(super) status: Rect,
    /// What lies over the rest, with its frame, and inside.
    pub(super) overlay_frame: Rect,
    pub(super) overlay: Rect,
}

/// Divides the screen.
pub(super) fn areas(size: Size, focus: Focus, has_preview: bool, links: usize) -> Areas {
    let screen = Rect::new(0, 0, size.width, size.height);
    let (line, rest) = top(screen, 1);
    let (middle, status) = top(rest, rest.height.saturating_sub(1));
    let is_reading = focus != Focus::List;
    let (list_frame, reading) = match (size.width >= WIDE, is_reading || has_preview) {
        (_, false) => (middle, Rect::default()),
        (true, true) => {
            let list = middle.width * 2 / 5;
            (Rect { width: list, ..middle }, Rect { x: middle.x + list, width: middle.width - list, ..middle })
        }
        // There is room for one of them only.
        (false, true) if is_reading => (Rect::default(), middle),
        (false, true) if middle.height < 12 => (middle, Rect::default()),
        (false, true) => top(middle, middle.height * 2 / 5),
    };
    let wanted = u16::try_from(links).unwrap_or(u16::MAX).clamp(1, 12).saturating_add(2);
    let (note_frame, links_frame) = match reading.height {
        ..6 if focus == Focus::Links => (Rect::default(), reading),
        ..6 => (reading, Rect::default()),
        height => top(reading, height - wanted.min(height / 3).max(3)),
    };
    let overlay_frame = centred(screen, 80, 40);
    Areas {
        line,
        list_frame,
        list: inside(list_frame),
        note_frame,
        note: inside(note_frame),
        links_frame,
        links: inside(links_frame),
        status,
        overlay_frame,
        overlay: inside(overlay_frame),
    }
}

/// Takes so many lines from the top.
fn top(area: Rect, lines: u16) -> (Rect, Rect) {
    let lines = lines.min(area.height);
    (Rect { height: lines, ..area }, Rect { y: area.y + lines, height: area.height - lines, ..area })
}

fn inside(frame: Rect) -> Rect {
    Rect {
        x: frame.x.saturating_add(1),
        y: frame.y.saturating_add(1),
        width: frame.width.saturating_sub(2),
        height: frame.height.saturating_sub(2),
    }
}

fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    Rect { x: (screen.width - width) / 2, y: (screen.height - height) / 2, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_on_the_screen_whatever_its_size() {
        for (width, height) in (0..130).flat_map(|width| (0..50).map(move |height| (width, height))) {
            for focus in [Focus::List, Focus::Note, Focus::Links] {
                let areas = areas(Size { width, height }, focus, true, 5);
                let screen = Rect::new(0, 0, width, height);
                let all = [areas.line, areas.list_frame, areas.note_frame, areas.links_frame, areas.status];
                for area in all.iter().chain([&areas.overlay_frame]) {
                    assert!(area.is_empty() || screen.union(*area) == screen, "{area:?} in {width}×{height}");
                }
                let cells = |area: &Rect| u32::from(area.width) * u32::from(area.height);
                let sum: u32 = all.iter().map(cells).sum();
                assert!(sum <= u32::from(width) * u32::from(height), "parts overlap in {width}×{height}");
                for area in [areas.list, areas.note, areas.links, areas.overlay] {
                    assert!(area.is_empty() || screen.union(area) == screen);
                }
            }
        }
    }
}
