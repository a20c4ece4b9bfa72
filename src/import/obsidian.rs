//! Obsidian vaults: notes with YAML frontmatter, named by their files, in folders.

use super::dates::{DatePattern, usual};
use super::{FileRole, ImportedPage, ending, stem};

/// What `daily-notes.json` says.
#[derive(Debug, Clone)]
pub(super) struct ObsidianSettings {
    folder: String,
    format: DatePattern,
}

impl ObsidianSettings {
    /// Reads `daily-notes.json`.
    pub(super) fn read(text: &str) -> Self {
        let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let text = |key: &str| json.get(key).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
        let folder = text("folder").map(|folder| folder.trim_matches('/')).filter(|folder| !folder.is_empty());
        Self {
            folder: folder.map(|folder| format!("{folder}/")).unwrap_or_default(),
            format: DatePattern::new(text("format").unwrap_or("YYYY-MM-DD")),
        }
    }

    /// Reads a note.
    pub(super) fn page(&self, path: &str, text: &str) -> ImportedPage {
        ImportedPage::read(path, stem(path), self.day(path), text)
    }

    /// A daily note lies where the settings say, or its whole name is a day.
    fn day(&self, path: &str) -> Option<jiff::civil::Date> {
        let name = path.rsplit_once('.').map_or(path, |(name, _)| name);
        let set = name.strip_prefix(self.folder.as_str()).and_then(|name| self.format.read(name));
        set.or_else(|| usual(stem(path)))
    }
}

/// Says what becomes of a file.
pub(super) fn role(path: &str) -> FileRole {
    match ending(path).as_str() {
        "md" | "markdown" => FileRole::Page,
        "canvas" => FileRole::Left("a canvas is no text"),
        "base" => FileRole::Left("a base is a query over notes, and nothing answers it here"),
        "excalidraw" => FileRole::Left("a drawing is no text"),
        "org" => FileRole::Left("org mode is not read; export the page as markdown"),
        _ => FileRole::Attachment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_its_frontmatter_says() {
        let text = "---\ntags: [\"#a\", b]\nalias: x, y\nup: \"[[Home]]\"\n---\n# H\n#c text\n";
        let page = ObsidianSettings::read("").page("dir/Some note.md", text).read_body();
        assert_eq!(page.title, "Some note");
        assert_eq!(page.tags, ["a", "b", "c"]);
        assert_eq!(page.aliases, ["x", "y"]);
        assert_eq!(page.property_links, [("up".to_owned(), "Home".to_owned())]);
        assert!(page.has_frontmatter);
    }

    #[test]
    fn daily_notes_have_their_day() {
        let day = |settings: &str, path: &str| ObsidianSettings::read(settings).day(path).map(|day| day.to_string());
        assert_eq!(day("", "2025-03-05.md").as_deref(), Some("2025-03-05"));
        assert_eq!(day("{\"folder\":\"Daily\"}", "deep/2025-03-05.md").as_deref(), Some("2025-03-05"));
        let settings = "{\"folder\":\"Daily/\",\"format\":\"YYYY/MMMM/Do\"}";
        assert_eq!(day(settings, "Daily/2025/March/5th.md").as_deref(), Some("2025-03-05"));
        assert_eq!(day(settings, "2025/March/5th.md"), None);
        assert_eq!(day("", "2025-13-05.md"), None);
    }
}
