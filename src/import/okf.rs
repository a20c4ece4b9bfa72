//! Bundles of Open Knowledge Format: concepts with YAML frontmatter, `index.md` files as maps, `log.md` files as the
//! journals of their days.
//!
//! Source: `okf/SPEC.md`, version 0.2, of github.com/GoogleCloudPlatform/knowledge-catalog.

use jiff::civil::Date;

use super::{FileRole, ImportedPage, extension, stem, to_title};
use crate::note::journal_dates::{day_heading, parse_iso_day};
use crate::note::{JOURNAL, MOC, Note, Timestamp, Value};

/// The names of files that are no concepts, at every level.
pub(crate) const INDEX: &str = "index.md";
pub(crate) const LOG: &str = "log.md";
/// The field of the index at the root, and the version that an export has.
pub(crate) const VERSION_FIELD: &str = "okf_version";
/// The last line of an index that an export made from maps; an import skips it.
pub(crate) const MADE_INDEX: &str = "<!-- qipu made this index from the maps of a store -->";

/// Separates the path of a log from the day of a page.
const DAY_MARK: char = '#';

pub(super) fn role(path: &str) -> FileRole {
    if extension(path) == "md" { FileRole::Page } else { FileRole::Attachment }
}

/// Returns the pages of a file: the concept, the map, or the days of a log.
pub(super) fn pages(path: &str, text: &str) -> Vec<ImportedPage> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        INDEX if text.trim_end().ends_with(MADE_INDEX) => Vec::new(),
        INDEX => vec![map(path, folder, text)],
        LOG => log_days(text).into_iter().map(|(day, text)| journal(path, folder, day, text)).collect(),
        _ => vec![concept(path, text)],
    }
}

/// Tells whether a log has text that no page has: more than a heading before its first day.
pub(super) fn has_preamble(path: &str, text: &str) -> bool {
    let is_log = path.rsplit('/').next() == Some(LOG);
    let mut before = text.lines().take_while(|line| day_heading(line).is_none());
    is_log && before.any(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

fn concept(path: &str, text: &str) -> ImportedPage {
    let note = Note::parse("notes/x.md", text.as_bytes().to_vec());
    let mut page = with_plain_fields(ImportedPage::parse(path, stem(path), None, text), &note);
    // Other types than these have no folder of their own.
    page.kind = Some(note.kind.clone()).filter(|kind| kind == MOC || kind == JOURNAL);
    let legacy = note.unknown.iter().find(|(key, _)| key == "timestamp").map(|(_, value)| value.to_line());
    page.updated = legacy.filter(|time| note.updated.is_none() && Timestamp::parse(time).is_some());
    page
}

/// Returns the map of a folder. The version of the format is not a field of the map.
fn map(path: &str, folder: &str, text: &str) -> ImportedPage {
    let note = Note::parse("notes/x.md", text.as_bytes().to_vec());
    let is_version = |(key, _): &(String, Value)| key == VERSION_FIELD;
    let has_version_only = !note.unknown.is_empty() && note.unknown.iter().all(is_version);
    let is_plain = has_version_only
        && ["no-id", "no-title"].iter().all(|code| note.findings.iter().any(|finding| finding.code.as_str() == *code));
    let title = if folder.is_empty() { stem(path) } else { folder };
    let mut page = if is_plain {
        let (source, title, text) = (path.to_owned(), to_title(title), note.body().to_owned());
        ImportedPage { source, title, file_text: text.clone(), text, ..ImportedPage::default() }
    } else {
        with_plain_fields(ImportedPage::parse(path, title, None, text), &note)
    };
    page.kind = Some(MOC.to_owned());
    page
}

/// Gives a page the lists of its fields as they are written, and no links by names, which the format does not have.
fn with_plain_fields(page: ImportedPage, note: &Note) -> ImportedPage {
    let (tags, aliases) = (note.tags.clone(), note.aliases.clone());
    ImportedPage { tags, aliases, property_links: Vec::new(), ..page }
}

fn journal(path: &str, folder: &str, day: Date, text: String) -> ImportedPage {
    ImportedPage {
        source: format!("{path}{DAY_MARK}{day}"),
        title: to_title(&format!("{folder} {day}")),
        kind: Some(JOURNAL.to_owned()),
        day: Some(day),
        file_text: text.clone(),
        text,
        ..ImportedPage::default()
    }
}

/// Returns the path of the page of a day without its extension, in the folder of the log; `None` for other pages.
pub(super) fn day_path(source: &str) -> Option<String> {
    let (log, day) = source.rsplit_once(DAY_MARK)?;
    let folder = log.strip_suffix(LOG).filter(|folder| folder.is_empty() || folder.ends_with('/'))?;
    parse_iso_day(day).map(|day| format!("{folder}{day}"))
}

/// Returns the path of the log with a page's day.
pub(super) fn log_of_day(source: &str) -> Option<&str> {
    day_path(source).and_then(|_| source.rsplit_once(DAY_MARK)).map(|(log, _)| log)
}

/// Splits a log at its headings `## YYYY-MM-DD` outside of fenced code. Returns the days in ascending order, with the
/// text below each; texts of one day are joined.
pub(crate) fn log_days(text: &str) -> Vec<(Date, String)> {
    let mut days: Vec<(Date, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match day_heading(line).filter(|_| fence.is_none()) {
            Some(day) => days.push((day, String::new())),
            None => {
                fence = open_fence(fence, line);
                if let Some((_, text)) = days.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    days.sort_by_key(|(day, _)| *day);
    let mut joined: Vec<(Date, String)> = Vec::new();
    for (day, text) in days {
        let text = trimmed(&text);
        match joined.last_mut().filter(|(last, _)| *last == day) {
            Some((_, before)) if !before.is_empty() && !text.is_empty() => *before = format!("{before}\n{text}"),
            Some((_, before)) => before.push_str(&text),
            None => joined.push((day, text)),
        }
    }
    joined
}

/// Returns a text without blank lines around it, ending in a line ending if it is not empty.
pub(crate) fn trimmed(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end();
    let blank = text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    let text = text.get(blank..).unwrap_or_default();
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

/// Returns the marker of the fence that is open after a line (CommonMark 0.31, section 4.5).
fn open_fence<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    let inside = line.trim_start_matches(' ');
    let mark = inside.chars().next().filter(|mark| "`~".contains(*mark) && line.len() - inside.len() < 4);
    let Some(mark) = mark else { return open };
    let (marker, rest) = inside.split_at(inside.len() - inside.trim_start_matches(mark).len());
    match open {
        Some(begun) if begun.starts_with(mark) && marker.len() >= begun.len() && rest.trim().is_empty() => None,
        None if marker.len() > 2 && (mark == '~' || !rest.contains('`')) => Some(marker),
        unchanged => unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(text: &str) -> Vec<(String, String)> {
        log_days(text).into_iter().map(|(day, text)| (day.to_string(), text)).collect()
    }

    #[test]
    fn a_log_is_split_at_its_days() {
        let pair = |day: &str, text: &str| (day.to_owned(), text.to_owned());
        let log = "# Log\n\nIntro\n\n## 2026-05-22\n* **Update**: One.\n\n* Two.\n\n## 2026-05-15\n\n* Three.\n";
        assert_eq!(days(log), [pair("2026-05-15", "* Three.\n"), pair("2026-05-22", "* **Update**: One.\n\n* Two.\n")]);
        let fenced = "## 2026-05-22\n```\n## 2026-05-01\n~~~\n```\n### 2026-05-02\n## 2026-5-3\n## 2026-05-04 \n";
        assert_eq!(days(fenced)[0], pair("2026-05-04", ""));
        assert_eq!(days(fenced).len(), 2);
        assert_eq!(days("## 2026-05-22\nb\n## 2026-05-22\n\n\nc\n\n"), [pair("2026-05-22", "b\n\nc\n")]);
        assert!(has_preamble("a/log.md", log) && !has_preamble("log.md", "# Log\n\n## 2026-05-22\nx\n"));
    }

    #[test]
    fn days_have_paths_beside_their_log() {
        assert_eq!(day_path("a/log.md#2026-05-22").as_deref(), Some("a/2026-05-22"));
        assert_eq!(day_path("log.md#2026-05-22").as_deref(), Some("2026-05-22"));
        assert_eq!(log_of_day("a/log.md#2026-05-22"), Some("a/log.md"));
        for other in ["a/catalog.md#2026-05-22", "a/log.md#x", "a/log.md", "x#y.md"] {
            assert_eq!(day_path(other), None, "{other}");
        }
    }
}
