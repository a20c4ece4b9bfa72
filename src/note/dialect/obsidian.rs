//! Notes of Obsidian vaults: named by their files, with tags in their texts and days in the names of daily notes.

use super::super::frontmatter::Frontmatter;
use super::super::inline_tags::inline_tags;
use super::super::journal_dates::parse_iso_day;
use super::super::{JOURNAL, LinkTypes, TypedLink, properties, title};

pub(super) fn read(fields: &mut Frontmatter, path: &str, body: &str) {
    let name = title::source_stem(path);
    // Links name the file, whatever its title is.
    fields.aliases.push(name.to_owned());
    fields.title.get_or_insert_with(|| name.to_owned());
    fields.tags.extend(inline_tags(body));
    if let Some(day) = parse_iso_day(name) {
        fields.date = Some(day);
        fields.kind.get_or_insert_with(|| JOURNAL.to_owned());
    }
    let values: Vec<(String, String)> =
        fields.unknown.iter().map(|(key, value)| (key.clone(), value.to_line())).collect();
    values.iter().for_each(|(key, value)| add_property_links(fields, key, value));
}

/// Adds the links in the value of a property. Their type is the name of the property, if that is a link type.
pub(super) fn add_property_links(fields: &mut Frontmatter, key: &str, value: &str) {
    let pages = properties::pages(value);
    let kind = if !pages.is_empty() && LinkTypes::default().knows(key) { key } else { "related" };
    for page in pages {
        let target = page.split_once('#').map_or(page.as_str(), |(page, _heading)| page).trim();
        if !target.is_empty() {
            fields.links.push(TypedLink { kind: kind.to_owned(), target: target.to_owned() });
        }
    }
}
