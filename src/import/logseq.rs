//! Logseq graphs: outlines in pages and journals, titles in file names, and `key:: value` properties.

use super::{FileRole, ImportedPage, add_new, extension, stem, to_title};
use crate::note::journal_dates::{DatePattern, LOGSEQ_TITLE, parse_iso_day};
use crate::note::properties::{self, decoded_name, items, plain};
use crate::note::{Timestamp, percent_decoded_text};

/// The settings in `config.edn` that concern names.
#[derive(Debug, Clone)]
pub(crate) struct LogseqSettings {
    pages: String,
    journals: String,
    title: DatePattern,
    file: DatePattern,
}

impl LogseqSettings {
    pub(super) fn parse(text: &str) -> Self {
        let value = |key: &str, default: &str| setting(text, key).unwrap_or_else(|| default.to_owned());
        Self {
            pages: format!("{}/", value(":pages-directory", "pages").trim_matches('/')),
            journals: format!("{}/", value(":journals-directory", "journals").trim_matches('/')),
            title: DatePattern::new(&value(":journal/page-title-format", LOGSEQ_TITLE)),
            file: DatePattern::new(&value(":journal/file-name-format", "yyyy_MM_dd")),
        }
    }

    pub(super) fn role(&self, path: &str) -> FileRole {
        let is_in = |folder: &str| path.starts_with(folder);
        match extension(path).as_str() {
            _ if is_in("logseq/") => FileRole::AppInternal,
            _ if is_in("whiteboards/") => FileRole::Unsupported("whiteboards are not imported"),
            _ if is_in("draws/") => FileRole::Unsupported("drawings are not imported"),
            _ if is_in("assets/") => FileRole::Attachment,
            "md" | "markdown" => FileRole::Page,
            "org" => FileRole::Unsupported("org-mode files are not imported; export the page as markdown"),
            "excalidraw" | "tldr" => FileRole::Unsupported("drawings are not imported"),
            _ => FileRole::Attachment,
        }
    }

    pub(super) fn plain_path<'a>(&self, path: &'a str) -> &'a str {
        let folders = [self.pages.as_str(), self.journals.as_str(), "assets/"];
        folders.iter().find_map(|folder| path.strip_prefix(folder)).unwrap_or(path)
    }

    pub(super) fn page(&self, path: &str, text: &str) -> ImportedPage {
        let day = self.day(path);
        let name = match day {
            Some(day) => self.title.format(day),
            None => decoded_name(stem(path)),
        };
        let mut page = ImportedPage::parse(path, &name, day, text);
        if !page.has_frontmatter {
            let head = properties::head(text);
            page.text = text.get(head.range.end..).unwrap_or_default().to_owned();
            head.properties.into_iter().for_each(|(key, value)| add_property(&mut page, key, value));
        }
        let iso = day.map(|day| day.to_string()).filter(|iso| *iso != page.title);
        add_new(&mut page.aliases, iso);
        page
    }

    fn day(&self, path: &str) -> Option<jiff::civil::Date> {
        let name = path.strip_prefix(self.journals.as_str())?;
        let name = percent_decoded_text(stem(name));
        self.file.parse(&name).or_else(|| parse_iso_day(&name)).or_else(|| self.title.parse(&name))
    }
}

fn add_property(page: &mut ImportedPage, key: String, value: String) {
    match key.as_str() {
        "title" if !value.is_empty() => page.title = to_title(&plain(&value)),
        "alias" | "aliases" => add_new(&mut page.aliases, items(&value)),
        "tag" | "tags" => add_new(&mut page.tags, items(&value)),
        // A note has one type, the first; the others become tags.
        "type" if !items(&value).is_empty() && page.day.is_none() => {
            let mut types = items(&value).into_iter();
            page.kind = types.next();
            add_new(&mut page.tags, types);
        }
        "created-at" if timestamp(&value).is_some() => page.created = timestamp(&value),
        "updated-at" if timestamp(&value).is_some() => page.updated = timestamp(&value),
        _ => {
            page.property_links.extend(properties::pages(&value).into_iter().map(|name| (key.clone(), name)));
            if key == "id" {
                page.block_id = Some(value.to_lowercase());
            }
            if !page.custom.iter().any(|(known, _)| *known == key) {
                page.custom.push((key, value));
            }
        }
    }
}

fn timestamp(value: &str) -> Option<String> {
    properties::timestamp(value).as_ref().map(Timestamp::as_str).map(str::to_owned)
}

/// Returns the string value of a key in EDN. Comments begin with `;`.
fn setting(text: &str, key: &str) -> Option<String> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with(';'));
    let value = |line: &str| {
        let (_, rest) = line.split_once(key)?;
        let rest = rest.strip_prefix([' ', '\t'])?.trim_start().strip_prefix('"')?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    lines.filter_map(value).find(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let text = ";; :journal/page-title-format \"no\"\n{:journal/page-title-format \"yyyy-MM-dd\"\n :pages-directory \"p\"}";
        let settings = LogseqSettings::parse(text);
        assert_eq!(settings.page("journals/2025_03_05.md", "").title, "2025-03-05");
        assert_eq!(settings.plain_path("p/a.md"), "a.md");
        assert_eq!(LogseqSettings::parse("").page("journals/2025_03_05.md", "").title, "Mar 5th, 2025");
    }

    #[test]
    fn a_page_says_what_its_properties_say() {
        let text = "type:: [[Tool]], [[Whiteboard/Object]]\ntags:: x\ncreated-at:: 1741168800000\n";
        let page = LogseqSettings::parse("").page("pages/a.md", text);
        assert_eq!((page.kind.as_deref(), page.created.as_deref()), (Some("Tool"), Some("2025-03-05T10:00:00Z")));
        assert_eq!(page.tags, ["Whiteboard/Object", "x"]);
        for (file, title) in
            [("a___b%3Fc.md", "a/b?c"), ("x%2Fy.md", "x/y"), ("plain.MD", "plain"), (" .md", "Untitled")]
        {
            assert_eq!(LogseqSettings::parse("").page(&format!("pages/{file}"), "").title, title);
        }
    }
}
