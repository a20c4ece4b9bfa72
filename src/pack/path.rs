//! Validates the paths in a pack: plain names in the folders of notes or attachments, so that nothing is written
//! elsewhere.

use crate::note::NOTE_FOLDERS;

/// The longest path in bytes; the limit of Linux.
const MAX_BYTES: usize = 4096;
const ATTACHMENTS: &str = "attachments";

/// Returns why a path can't be that of a note or attachment in a pack, as a predicate; `None` if it can.
pub fn path_fault(path: &str, is_note: bool) -> Option<&'static str> {
    if path.len() > MAX_BYTES {
        return Some("is too long");
    }
    if path.contains(|c: char| c.is_control() || c == '\\') {
        return Some("contains a control character or a backslash");
    }
    if path.split('/').any(|name| name.is_empty() || name.starts_with('.')) {
        return Some("has an empty or hidden name, or leads out of the store");
    }
    let folder = path.split_once('/').map_or("", |(folder, _)| folder);
    match folder {
        _ if is_note && !NOTE_FOLDERS.contains(&folder) => Some("is not in a notes folder"),
        _ if is_note && !path.ends_with(".md") => Some("does not end in .md"),
        _ if !is_note && folder != ATTACHMENTS => Some("is not in the attachments folder"),
        _ => None,
    }
}

/// Returns the first path, with its line, that occurs twice or is below another path.
pub(super) fn clash(mut paths: Vec<(&str, usize)>) -> Option<(&str, usize)> {
    // Sorted by components, a path is directly followed by those below it.
    paths.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    let contains = |a: &str, b: &str| b.strip_prefix(a).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    paths.array_windows().find_map(|[(a, _), (b, line)]| contains(a, b).then_some((*b, *line)))
}
