//! Architecture decision records: numbers in titles and file names, a status, and links to the records that they replace.
//! Sources: the forms of Nygard (2011), MADR 2 to 4, and adr-tools.

use super::super::frontmatter::Frontmatter;
use super::super::{TypedLink, Value, title};
use super::adr_metadata::{Metadata, leading_number, relation_kind};

/// The type of a record.
const DECISION: &str = "decision";
/// What precedes the number in a title or file name.
const PREFIXES: [&str; 3] = ["architecture decision record", "architectural decision record", "adr"];

/// Reads the fields of a record; returns its title without its number.
pub(super) fn read(fields: &mut Frontmatter, path: &str, body: &str, title: String) -> String {
    let stem = title::source_stem(path);
    if title::is_folder_file(stem) {
        return title;
    }
    fields.kind.get_or_insert_with(|| DECISION.to_owned());
    let (number, subject) = without_number(&title, file_number(stem));
    let subject = subject.to_owned();
    fields.aliases.extend(number.into_iter().flat_map(names_of));
    let mut metadata = Metadata::new(path);
    fields.unknown.iter().for_each(|(key, value)| read_field(&mut metadata, key, value));
    metadata.read_body(body);
    if fields.created.is_none() {
        fields.created = metadata.created;
    }
    fields.tags.extend(metadata.tags);
    if let Some(status) = metadata.status {
        fields.unknown.retain(|(key, _)| key != "status");
        fields.unknown.push(("status".to_owned(), Value::text(status)));
    }
    let links = metadata.relations.into_iter().map(|(kind, target)| TypedLink { kind: kind.to_owned(), target });
    for link in links {
        if !fields.links.contains(&link) {
            fields.links.push(link);
        }
    }
    subject
}

fn read_field(metadata: &mut Metadata, key: &str, value: &Value) {
    let name = key.to_lowercase().replace(['_', '-'], " ");
    let texts = || match value {
        Value::List(items) => items.iter().map(Value::to_line).collect::<Vec<_>>(),
        other => vec![other.to_line()],
    };
    if name == "status" {
        metadata.status_line(&value.to_line());
    } else if let Some(kind) = relation_kind(&name) {
        texts().iter().for_each(|text| metadata.add_relation(kind, text));
    }
}

/// Returns the names under which other records refer to a number.
fn names_of(n: u32) -> [String; 4] {
    [format!("ADR-{n:04}"), format!("ADR-{n}"), format!("ADR {n}"), format!("{n:04}")]
}

/// Returns the number at the beginning of a file name: `0012-use-x`, `adr-12`, `ADR012_x`; a date is none.
fn file_number(stem: &str) -> Option<u32> {
    let after_prefix = without_prefix(stem);
    let (number, rest) = leading_number(after_prefix.unwrap_or(stem))?;
    let is_date = after_prefix.is_none()
        && rest.strip_prefix('-').is_some_and(|rest| rest.bytes().take_while(u8::is_ascii_digit).count() == 2);
    let ends = rest.is_empty() || rest.starts_with(['-', '_', ' ', '.']);
    (ends && !is_date).then_some(number)
}

/// Returns the number of a title, else that of the file, and the title without a number: `Use X` of `12. Use X`,
/// `ADR 12: Use X`, `ADR-0012 - Use X`.
fn without_number(title: &str, of_file: Option<u32>) -> (Option<u32>, &str) {
    let after_prefix = without_prefix(title);
    let Some((number, rest)) = leading_number(after_prefix.unwrap_or(title)) else { return (of_file, title) };
    let spaced = rest.trim_start();
    let subject = spaced.strip_prefix(['.', ':', ')', '-', '–', '—', '|']);
    let is_of_file = of_file == Some(number);
    let is_number = match subject {
        Some(subject) => subject.starts_with(char::is_whitespace) || after_prefix.is_some() || is_of_file,
        None => (after_prefix.is_some() || is_of_file) && spaced.len() < rest.len(),
    };
    let subject = subject.unwrap_or(spaced).trim();
    if is_number && !subject.is_empty() { (Some(number), subject) } else { (of_file, title) }
}

fn without_prefix(text: &str) -> Option<&str> {
    let after = |prefix: &&str| {
        let is_prefix = text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        text.get(prefix.len()..).filter(|_| is_prefix)
    };
    PREFIXES.iter().find_map(after).map(|rest| rest.trim_start_matches([' ', '-', '_', '#', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_no_part_of_the_title() {
        for (title, file, number, subject) in [
            ("12. Use X", None, Some(12), "Use X"),
            ("ADR 12: Use X", None, Some(12), "Use X"),
            ("ADR-0012 - Use X", None, Some(12), "Use X"),
            ("ADR-012 Use X", None, Some(12), "Use X"),
            ("Architecture Decision Record 7 – Use X", None, Some(7), "Use X"),
            ("0012 Use X", Some(12), Some(12), "Use X"),
            ("0012-Use-X", Some(12), Some(12), "Use-X"),
            ("12 factor apps", None, None, "12 factor apps"),
            ("12-factor apps", Some(3), Some(3), "12-factor apps"),
            ("3.5 is the version", None, None, "3.5 is the version"),
            ("2020-01-05 Use X", None, None, "2020-01-05 Use X"),
            ("12.", None, None, "12."),
            ("Use X", Some(4), Some(4), "Use X"),
            ("ADRs are short", None, None, "ADRs are short"),
        ] {
            assert_eq!(without_number(title, file), (number, subject), "{title}");
        }
        for (stem, number) in [
            ("0012-use-x", Some(12)),
            ("adr-0012-use-x", Some(12)),
            ("ADR012_x", Some(12)),
            ("12", Some(12)),
            ("2020-01-05-use-x", None),
            ("20200105-use-x", None),
            ("use-12-x", None),
            ("12th", None),
        ] {
            assert_eq!(file_number(stem), number, "{stem}");
        }
    }
}
