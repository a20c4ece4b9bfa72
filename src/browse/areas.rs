//! The layout: divides a screen of any size into areas.

use ratatui::layout::{Rect, Size};

/// The width, in cells, from which the list and the note are side by side.
const TWO_COLUMN_WIDTH: u16 = 100;

/// The height, in lines, from which one column has room for a list and a note below it.
const MIN_PREVIEW_HEIGHT: u16 = 12;

/// The height, in lines, from which a note has room for its links below it.
const MIN_HEIGHT_WITH_LINKS: u16 = 6;

/// The most links that are shown without scrolling.
const MAX_LINK_ROWS: u16 = 12;

/// The area that receives the keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Focus {
    /// The list, and the input line above it.
    #[default]
    List,
    Note,
    Links,
}

/// The areas of a screen, in cells. An area without room has no height or no width. Each area with a frame is given
/// twice: with the frame, and inside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Areas {
    pub(super) input: Rect,
    pub(super) list_frame: Rect,
    pub(super) list: Rect,
    pub(super) note_frame: Rect,
    pub(super) note: Rect,
    pub(super) links_frame: Rect,
    pub(super) links: Rect,
    pub(super) status: Rect,
    pub(super) overlay_frame: Rect,
    pub(super) overlay: Rect,
}

/// Divides a screen of `size` cells. `links` is the number of links of the note that is shown.
pub(super) fn areas(size: Size, focus: Focus, has_preview: bool, links: usize) -> Areas {
    let screen = Rect::new(0, 0, size.width, size.height);
    let (input, rest) = split_top(screen, 1);
    let (middle, status) = split_top(rest, rest.height.saturating_sub(1));
    let is_reading = focus != Focus::List;
    let (list_frame, reader) = if !is_reading && !has_preview {
        (middle, Rect::default())
    } else if size.width >= TWO_COLUMN_WIDTH {
        let list_width = middle.width * 2 / 5;
        let reader = Rect { x: middle.x + list_width, width: middle.width - list_width, ..middle };
        (Rect { width: list_width, ..middle }, reader)
    } else if is_reading {
        // One column has room for only one of them.
        (Rect::default(), middle)
    } else if middle.height < MIN_PREVIEW_HEIGHT {
        (middle, Rect::default())
    } else {
        split_top(middle, middle.height * 2 / 5)
    };
    let links_height = u16::try_from(links).unwrap_or(u16::MAX).clamp(1, MAX_LINK_ROWS).saturating_add(2);
    let (note_frame, links_frame) = if reader.height >= MIN_HEIGHT_WITH_LINKS {
        split_top(reader, reader.height - links_height.min(reader.height / 3).max(3))
    } else if focus == Focus::Links {
        (Rect::default(), reader)
    } else {
        (reader, Rect::default())
    };
    let overlay_frame = centred(screen, 80, 40);
    Areas {
        input,
        list_frame,
        list: inside_frame(list_frame),
        note_frame,
        note: inside_frame(note_frame),
        links_frame,
        links: inside_frame(links_frame),
        status,
        overlay_frame,
        overlay: inside_frame(overlay_frame),
    }
}

/// Splits an area below its first `lines` lines.
fn split_top(area: Rect, lines: u16) -> (Rect, Rect) {
    let lines = lines.min(area.height);
    (Rect { height: lines, ..area }, Rect { y: area.y + lines, height: area.height - lines, ..area })
}

fn inside_frame(frame: Rect) -> Rect {
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
    fn all_areas_lie_on_the_screen_at_any_size() {
        for (width, height) in (0..130).flat_map(|width| (0..50).map(move |height| (width, height))) {
            for focus in [Focus::List, Focus::Note, Focus::Links] {
                let areas = areas(Size { width, height }, focus, true, 5);
                let screen = Rect::new(0, 0, width, height);
                let all = [areas.input, areas.list_frame, areas.note_frame, areas.links_frame, areas.status];
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
