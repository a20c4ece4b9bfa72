//! Obsidian vaults: notes with YAML frontmatter, named by their files, in folders.

use super::dates::{Pattern, usual};
use super::{Page, Role, ending, stem};

/// What `daily-notes.json` says.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    folder: String,
    format: Pattern,
}

impl Settings {
    /// Reads `daily-notes.json`.
    pub(super) fn read(text: &str) -> Self {
        let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let text = |key: &str| json.get(key).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
        let folder = text("folder").map(|folder| folder.trim_matches('/')).filter(|folder| !folder.is_empty());
        Self {
            folder: folder.map(|folder| format!("{folder}/")).unwrap_or_default(),
            format: Pattern::new(text("format").unwrap_or("YYYY-MM-DD")),
        }
    }

    /// Reads a note.
    pub(super) fn page(&self, path: &str, text: &str) -> Page {
        Page::read(path, stem(path), self.day(path), text)
    }

    /// A daily note lies where the settings say, or its whole name is a day.
    fn day(&self, path: &str) -> Option<jiff::civil::Date> {
        let name = path.rsplit_once('.').map_or(path, |(name, _)| name);
        let set = name.strip_prefix(self.folder.as_str()).and_then(|name| self.format.read(name));
        set.or_else(|| usual(stem(path)))
    }
}

/// Says what becomes of a file.
pub(super) fn role(path: &str) -> Role {
    match ending(path).as_str() {
        "md" | "markdown" => Role::Page,
        "canvas" => Role::Left("a canvas is no text"),
        "base" => Role::Left("a base is a query over notes, and nothing answers it here"),
        "excalidraw" => Role::Left("a drawing is no text"),
        "org" => Role::Left("org mode is not read; export the page as markdown"),
        _ => Role::Attachment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_its_frontmatter_says() {
        let text = "---\ntags: [\"#a\", b]\nalias: x, y\nup: \"[[Home]]\"\n---\n# H\n#c text\n";
        let page = Settings::read("").page("dir/Some note.md", text).read_body();
        assert_eq!(page.title, "Some note");
        assert_eq!(page.tags, ["a", "b", "c"]);
        assert_eq!(page.aliases, ["x", "y"]);
        assert_eq!(page.property_links, [("up".to_owned(), "Home".to_owned())]);
        assert!(page.has_frontmatter);
    }

    #[test]
    fn daily_notes_have_their_day() {
        let day = |settings: &str, path: &str| Settings::read(settings).day(path).map(|day| day.to_string());
        assert_eq!(day("", "2025-03-05.md").as_deref(), Some("2025-03-05"));
        assert_eq!(day("{\"folder\":\"Daily\"}", "deep/2025-03-05.md").as_deref(), Some("2025-03-05"));
        let settings = "{\"folder\":\"Daily/\",\"format\":\"YYYY/MMMM/Do\"}";
        assert_eq!(day(settings, "Daily/2025/March/5th.md").as_deref(), Some("2025-03-05"));
        assert_eq!(day(settings, "2025/March/5th.md"), None);
        assert_eq!(day("", "2025-13-05.md"), None);
    }
}
