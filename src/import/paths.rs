//! Where pages and files of a folder come to lie in a store, and how one leads to the other.

use super::{AppSettings, ImportedPage};
use crate::note::{JOURNAL, MOC, percent_encoded};

/// The longest name of a file or folder that is made, and the longest path, in bytes. Other systems
/// allow little more.
const MAX_NAME: usize = 150;
const MAX_PATH: usize = 600;

/// Returns the path in the store that a page's file would have; `None` where that would be too long.
pub fn note_path(settings: &AppSettings, page: &ImportedPage) -> Option<String> {
    let folder = match page.kind.as_deref() {
        Some(MOC) => "mocs",
        _ if page.day.is_some() => "journals",
        Some(JOURNAL) => "journals",
        _ => "notes",
    };
    let plain = settings.plain_path(&page.source);
    let plain = plain.rsplit_once('.').map_or(plain, |(name, _)| name);
    within(&format!("{folder}/{}.md", tame(plain)))
}

/// Returns the path in the store that a file would have among the attachments; `None` where that would
/// be too long.
pub fn attachment_path(settings: &AppSettings, path: &str) -> Option<String> {
    within(&format!("attachments/{}", tame(settings.plain_path(path))))
}

fn within(path: &str) -> Option<String> {
    (path.len() <= MAX_PATH).then(|| path.to_owned())
}

/// Makes names that every file system takes, and that are not hidden.
fn tame(path: &str) -> String {
    let names: Vec<String> = path.split('/').map(tame_name).collect();
    names.join("/")
}

fn tame_name(name: &str) -> String {
    let is_odd = |c: char| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let name: String = name.chars().map(|c| if is_odd(c) { '-' } else { c }).collect();
    let name = name.trim_start_matches(['.', ' ']).trim_end_matches(['.', ' ']);
    // The end says what kind of file it is.
    let (stem, ending) = name.rsplit_once('.').filter(|(_, ending)| ending.len() <= 10).unwrap_or((name, ""));
    let stem = stem.get(..stem.floor_char_boundary(MAX_NAME)).unwrap_or(stem).trim_end();
    match (stem, ending) {
        ("", "") => "_".to_owned(),
        (stem, "") => stem.to_owned(),
        (stem, ending) => format!("{}.{ending}", if stem.is_empty() { "_" } else { stem }),
    }
}

/// Returns the way from one file to another in the store, as markdown links write it.
pub fn markdown_path(from: &str, to: &str) -> String {
    percent_encoded(&crate::graph::relative_path(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_there() {
        for (from, to, way) in [
            ("notes/a.md", "attachments/b c.png", "../attachments/b%20c.png"),
            ("notes/x/a.md", "notes/x/b.md", "b.md"),
            ("notes/x/a.md", "notes/y/b(1).md", "../y/b%281%29.md"),
            ("journals/a.md", "journals/é/日.md", "é/日.md"),
            ("notes/notes/a.md", "notes/notes", "../notes"),
        ] {
            assert_eq!(markdown_path(from, to), way);
            assert_eq!(crate::graph::join_path(from, &super::super::body::decoded(way)).as_deref(), Some(to));
        }
    }

    #[test]
    fn names_are_tamed() {
        assert_eq!(tame("a:b/..c?/ d ."), "a-b/c-/d");
        assert_eq!(tame("/..//x"), "_/_/_/x");
        assert!(tame(&"é".repeat(400)).len() <= MAX_NAME + 11);
        assert_eq!(tame(&format!("{}.png", "x".repeat(300))).len(), MAX_NAME + 4);
    }
}
