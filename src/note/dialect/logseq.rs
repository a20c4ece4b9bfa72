//! Pages of Logseq graphs: titles in file names, `key:: value` properties, journals named by their day.

use super::super::frontmatter::Frontmatter;
use super::super::inline_tags::inline_tags;
use super::super::journal_dates::{logseq_title, parse_iso_day};
use super::super::properties::{decoded_name, head, items, plain, timestamp};
use super::super::{JOURNAL, Value, title};
use super::obsidian::add_property_links;

/// The folder of journals.
const JOURNALS: &str = "journals";

pub(super) fn read(fields: &mut Frontmatter, path: &str, body: &str) {
    let name = decoded_name(title::source_stem(path));
    let in_journals = path.rsplit('/').nth(1) == Some(JOURNALS);
    if let Some(day) = parse_iso_day(&name).filter(|_| in_journals) {
        fields.kind = Some(JOURNAL.to_owned());
        fields.date = Some(day);
        fields.title.get_or_insert_with(|| logseq_title(day));
        fields.aliases.push(day.to_string());
    }
    head(body).into_iter().for_each(|(key, value)| add_property(fields, key, value));
    fields.title.get_or_insert(name);
    fields.tags.extend(inline_tags(body));
}

fn add_property(fields: &mut Frontmatter, key: String, value: String) {
    match key.as_str() {
        "title" if !plain(&value).is_empty() => fields.title = Some(plain(&value)),
        "alias" | "aliases" => fields.aliases.extend(items(&value)),
        "tag" | "tags" => fields.tags.extend(items(&value)),
        // A note has one type, the first; the others become tags.
        "type" if fields.kind.is_none() => {
            let mut types = items(&value).into_iter();
            fields.kind = types.next();
            fields.tags.extend(types);
        }
        "created-at" if timestamp(&value).is_some() => fields.created = timestamp(&value),
        "updated-at" if timestamp(&value).is_some() => fields.updated = timestamp(&value),
        _ => {
            add_property_links(fields, &key, &value);
            if !fields.custom.iter().any(|(known, _)| *known == key) {
                fields.custom.push((key, Value::text(value)));
            }
        }
    }
}
