//! Obsidian vaults: notes with YAML frontmatter, named by their files.

use super::{FileRole, ImportedPage, extension, stem, without_extension};
use crate::note::journal_dates::{DatePattern, parse_iso_day};

#[derive(Debug, Clone)]
pub(crate) struct ObsidianSettings {
    folder: String,
    format: DatePattern,
}

impl ObsidianSettings {
    /// Parses `daily-notes.json`; missing settings have Obsidian's defaults.
    pub(super) fn parse(text: &str) -> Self {
        let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let text = |key: &str| json.get(key).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
        let folder = text("folder").map(|folder| folder.trim_matches('/')).filter(|folder| !folder.is_empty());
        Self {
            folder: folder.map(|folder| format!("{folder}/")).unwrap_or_default(),
            format: DatePattern::new(text("format").unwrap_or("YYYY-MM-DD")),
        }
    }

    pub(super) fn page(&self, path: &str, text: &str) -> ImportedPage {
        ImportedPage::parse(path, stem(path), self.day(path), text)
    }

    /// Returns the day of a note with a name in the configured folder and format, or whose whole name is a day.
    fn day(&self, path: &str) -> Option<jiff::civil::Date> {
        let name = without_extension(path);
        let configured = name.strip_prefix(self.folder.as_str()).and_then(|name| self.format.parse(name));
        configured.or_else(|| parse_iso_day(stem(path)))
    }
}

pub(super) fn role(path: &str) -> FileRole {
    match extension(path).as_str() {
        "md" | "markdown" => FileRole::Page,
        "canvas" => FileRole::Unsupported("canvases are not imported"),
        "base" => FileRole::Unsupported("bases are queries over notes and are not imported"),
        "excalidraw" => FileRole::Unsupported("drawings are not imported"),
        "org" => FileRole::Unsupported("org-mode files are not imported; export the page as markdown"),
        _ => FileRole::Attachment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daily_notes_have_their_day() {
        let day = |settings: &str, path: &str| ObsidianSettings::parse(settings).day(path).map(|day| day.to_string());
        assert_eq!(day("", "2025-03-05.md").as_deref(), Some("2025-03-05"));
        assert_eq!(day("{\"folder\":\"Daily\"}", "deep/2025-03-05.md").as_deref(), Some("2025-03-05"));
        let settings = "{\"folder\":\"Daily/\",\"format\":\"YYYY/MMMM/Do\"}";
        assert_eq!(day(settings, "Daily/2025/March/5th.md").as_deref(), Some("2025-03-05"));
        assert_eq!(day(settings, "2025/March/5th.md"), None);
        assert_eq!(day("", "2025-13-05.md"), None);
    }
}
