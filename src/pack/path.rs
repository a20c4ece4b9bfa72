//! Validates the paths in a pack: plain names in the folders of notes or attachments, so that nothing is written
//! elsewhere.

use crate::note::NOTE_FOLDERS;

/// The longest path in bytes; the limit of Linux.
const MAX_BYTES: usize = 4096;
const ATTACHMENTS: &str = "attachments";

/// Returns the reason, as a predicate, why a path can't be that of a note, or of an attachment, in a pack; `None` if it
/// can.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_in_the_right_folders() {
        for (path, is_note) in
            [("notes/a.md", true), ("mocs/b/c d.md", true), ("journals/日本.md", true), ("attachments/a/b", false)]
        {
            assert_eq!(path_fault(path, is_note), None, "{path}");
        }
        for path in [
            "", "/", "a.md", "notes", "notes/", "/notes/a.md", "notes//a.md", "notes/./a.md", "notes/../a.md",
            "../a.md", "notes/.a.md", "notes/.md", "notes/.x/a.md", "notes/a", "notes/a\\b.md", "notes/a\0.md",
            "notes/a\n.md", "notes/a\u{85}.md", "attachments/a.md", "templates/a.md", "C:/a.md", "notes/a.md/",
        ] {
            assert!(path_fault(path, true).is_some(), "{path:?}");
        }
        for path in ["attachments", "attachments/", "notes/a.md", "attachments/../x", "config.toml", "attachments/.x"] {
            assert!(path_fault(path, false).is_some(), "{path:?}");
        }
        assert!(path_fault(&format!("notes/{}.md", "a/".repeat(3_000)), true).is_some());
    }

    #[test]
    fn a_file_is_no_folder() {
        assert_eq!(clash(vec![("a/b", 1), ("a/b-c", 2), ("a/c", 3)]), None);
        assert_eq!(clash(vec![("a/b/d", 1), ("a/b-c", 2), ("a/b", 3)]), Some(("a/b/d", 1)));
        assert_eq!(clash(vec![("a/b", 1), ("a/b", 2)]), Some(("a/b", 2)));
    }
}
