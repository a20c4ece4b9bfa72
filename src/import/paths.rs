//! The paths in the store of pages and files, and relative paths between them.

use super::{AppSettings, ImportedPage, without_extension};
use crate::escape::may_be_harmful;
use crate::note::{JOURNAL, MOC, percent_encoded};

/// The longest name of a file or folder, and the longest path, in bytes: within the limits of common file systems.
const MAX_NAME_BYTES: usize = 150;
const MAX_PATH_BYTES: usize = 600;

/// Returns the path in the store for a page; `None` if it would be too long.
pub(crate) fn note_path(settings: &AppSettings, page: &ImportedPage) -> Option<String> {
    let folder = match page.kind.as_deref() {
        Some(MOC) => "mocs",
        kind if page.day.is_some() || kind == Some(JOURNAL) => "journals",
        _ => "notes",
    };
    let plain = without_extension(settings.plain_path(&page.source));
    if_short_enough(format!("{folder}/{}.md", sanitized(plain)))
}

/// Returns the path in the store for an attachment; `None` if it would be too long.
pub(crate) fn attachment_path(settings: &AppSettings, path: &str) -> Option<String> {
    if_short_enough(format!("attachments/{}", sanitized(settings.plain_path(path))))
}

fn if_short_enough(path: String) -> Option<String> {
    Some(path).filter(|path| path.len() <= MAX_PATH_BYTES)
}

/// Replaces characters in names that some file systems reject, that a shell may run or that a reader can't see, and removes
/// leading dots and dashes, which would hide a file or make it an option.
pub(crate) fn sanitized(path: &str) -> String {
    path.split('/').map(sanitized_name).collect::<Vec<_>>().join("/")
}

fn sanitized_name(name: &str) -> String {
    let is_invalid = |c: char| {
        may_be_harmful(c) || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '$' | '`' | ';' | '&')
    };
    let name: String = name.chars().map(|c| if is_invalid(c) { '-' } else { c }).collect();
    // A program would take a name with a dash for an option.
    let name = name.trim_start_matches(['.', ' ', '-']).trim_end_matches(['.', ' ']);
    if is_device(name) {
        return format!("_{name}");
    }
    // The extension is kept in full.
    let (stem, extension) = name.rsplit_once('.').filter(|(_, extension)| extension.len() <= 10).unwrap_or((name, ""));
    let stem = stem.get(..stem.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or(stem).trim_end();
    match (stem, extension) {
        ("", "") => "_".to_owned(),
        (stem, "") => stem.to_owned(),
        (stem, extension) => format!("{}.{extension}", if stem.is_empty() { "_" } else { stem }),
    }
}

/// Whether Windows takes a name for that of a device, whatever its ending.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let is_numbered = |kind: &&str| {
        let number = stem.split_at_checked(kind.len()).filter(|(start, _)| start.eq_ignore_ascii_case(kind));
        number.is_some_and(|(_, number)| matches!(number.as_bytes(), [b'1'..=b'9']))
    };
    ["con", "prn", "aux", "nul"].iter().any(|device| stem.eq_ignore_ascii_case(device))
        || ["com", "lpt"].iter().any(is_numbered)
}

/// Returns the percent-encoded path of `to` relative to the folder of `from`, as markdown links contain it.
pub(crate) fn markdown_path(from: &str, to: &str) -> String {
    percent_encoded(&crate::note::relative_path(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_there() {
        for (from, to, path) in [
            ("notes/a.md", "attachments/b c.png", "../attachments/b%20c.png"),
            ("notes/x/a.md", "notes/x/b.md", "b.md"),
            ("notes/x/a.md", "notes/y/b(1).md", "../y/b%281%29.md"),
            ("journals/a.md", "journals/é/日.md", "é/日.md"),
            ("notes/notes/a.md", "notes/notes", "../notes"),
        ] {
            assert_eq!(markdown_path(from, to), path);
            assert_eq!(crate::note::join_path(from, &crate::note::percent_decoded_text(path)).as_deref(), Some(to));
        }
    }

    #[test]
    fn names_are_tamed() {
        assert_eq!(sanitized("a:b/..c?/ d ."), "a-b/c-/d");
        assert_eq!(sanitized("/..//x"), "_/_/_/x");
        assert_eq!(sanitized("a\u{202e}gpj/x$(id)/y`id`/z;w&v"), "a-gpj/x-(id)/y-id-/z-w-v");
        assert_eq!(sanitized("-rf/- a/CON.md/lpt1/comet/com10/Con"), "rf/a/_CON.md/_lpt1/comet/com10/_Con");
        assert!(sanitized(&"é".repeat(400)).len() <= MAX_NAME_BYTES + 11);
        assert_eq!(sanitized(&format!("{}.png", "x".repeat(300))).len(), MAX_NAME_BYTES + 4);
    }
}
