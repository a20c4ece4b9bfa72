//! The difference between two versions of a note: fields of the frontmatter, headings, and blocks of the body.

use similar::DiffOp;

use super::blocks::Block;
use super::frontmatter::split;
use super::yaml::parse;
use super::{Note, Value, headings};
use crate::diff::operations;

/// The most blocks, and headings, of a version that are compared: the time grows with their square.
const MAX_COMPARED: usize = 1_000;
/// Separates the headings above a block.
const SEPARATOR: &str = " › ";

/// One difference between two versions of a note, with the texts as they are in the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteChange {
    /// A field, or an item of a list in it, with its value before and after; `None` where there is none.
    Field {
        /// The key in the frontmatter.
        name: String,
        /// The value before.
        before: Option<String>,
        /// The value after.
        after: Option<String>,
    },
    /// A heading, with its text before and after.
    Heading {
        /// The headings around it and its own, before.
        before: Option<String>,
        /// The same, after.
        after: Option<String>,
    },
    /// A block, with its markdown before and after.
    Block {
        /// The headings above it, the outermost first; empty for a block above the first heading.
        under: String,
        /// The markdown before.
        before: Option<String>,
        /// The markdown after.
        after: Option<String>,
    },
    /// Something else in the text, such as white space, or a body with more than [`MAX_COMPARED`] blocks.
    Text,
}

/// Compares two versions of a note. Fields come first, in the order of the later version, then headings, then blocks.
/// O(n²) for n blocks in the worst case.
pub fn changes(before: &Note, after: &Note) -> Vec<NoteChange> {
    if before.text() == after.text() {
        return Vec::new();
    }
    let mut changes = field_changes(&fields(before), &fields(after));
    let (old, new) = (before.body(), after.body());
    if old != new {
        changes.extend(heading_changes(old, new));
        changes.extend(block_changes(&before.blocks(), &after.blocks()));
    }
    if changes.is_empty() { vec![NoteChange::Text] } else { changes }
}

/// Returns the fields of the frontmatter as they are written, and the title, wherever it is from.
fn fields(note: &Note) -> Vec<(String, Value)> {
    let yaml = split(note.text()).yaml.and_then(|range| note.text().get(range)).unwrap_or_default();
    let mut fields = match parse(yaml).map(|tree| Value::from_yaml(&tree)) {
        Ok(Value::Map(entries)) => entries,
        // What is no list of fields is compared as a whole.
        _ if !yaml.trim().is_empty() => vec![("frontmatter".to_owned(), Value::text(yaml))],
        _ => Vec::new(),
    };
    if !fields.iter().any(|(key, _)| key == "title") {
        fields.push(("title".to_owned(), Value::text(&note.title)));
    }
    fields
}

/// Compares fields: lists item by item, other values as a whole.
fn field_changes(before: &[(String, Value)], after: &[(String, Value)]) -> Vec<NoteChange> {
    fn value<'v>(fields: &'v [(String, Value)], name: &str) -> Option<&'v Value> {
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
    let gone = before.iter().filter(|(name, _)| value(after, name).is_none());
    let change = |(name, _): &(String, Value)| value_changes(name, value(before, name), value(after, name));
    after.iter().chain(gone).flat_map(change).collect()
}

fn value_changes(name: &str, before: Option<&Value>, after: Option<&Value>) -> Vec<NoteChange> {
    let line = |value: Option<&Value>| value.map(Value::to_line);
    let change = |before, after| NoteChange::Field { name: name.to_owned(), before, after };
    if let (Some(Value::List(old)), Some(Value::List(new))) = (before, after) {
        let lines = |items: &[Value]| items.iter().map(Value::to_line).collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        if let Some(pairs) = pairs(&old, &new) {
            let item = |items: &[String], index: Option<usize>| index.and_then(|index| items.get(index)).cloned();
            return pairs.into_iter().map(|(a, b)| change(item(&old, a), item(&new, b))).collect();
        }
    }
    let (before, after) = (line(before), line(after));
    if before == after { Vec::new() } else { vec![change(before, after)] }
}

fn heading_changes(before: &str, after: &str) -> Vec<NoteChange> {
    let paths = |body| headings::headings(body).into_iter().map(|heading| heading.path).collect::<Vec<_>>();
    let (before, after) = (paths(before), paths(after));
    let change = |before: Option<&String>, after: Option<&String>| NoteChange::Heading {
        before: before.cloned(),
        after: after.cloned(),
    };
    pairs(&before, &after).map_or_else(Vec::new, |pairs| {
        pairs
            .into_iter()
            .map(|(old, new)| change(old.and_then(|old| before.get(old)), new.and_then(|new| after.get(new))))
            .collect()
    })
}

fn block_changes(before: &[Block], after: &[Block]) -> Vec<NoteChange> {
    fn texts(blocks: &[Block]) -> Vec<&str> {
        blocks.iter().map(|block| block.text.trim()).collect()
    }
    let Some(pairs) = pairs(&texts(before), &texts(after)) else { return vec![NoteChange::Text] };
    let change = |(old, new): (Option<usize>, Option<usize>)| {
        let (old, new) = (old.and_then(|old| before.get(old)), new.and_then(|new| after.get(new)));
        let under = new.or(old).map(|block| block.heading_path.join(SEPARATOR)).unwrap_or_default();
        let text = |block: Option<&Block>| block.map(|block| block.text.trim().to_owned());
        NoteChange::Block { under, before: text(old), after: text(new) }
    };
    pairs.into_iter().map(change).collect()
}

/// Returns the items that differ between two lists: the index in each, `None` in the list that lacks the item. Items that
/// replace others are paired in their order. `None` if the lists are too long to be compared.
fn pairs<T: Eq + std::hash::Hash + Ord>(before: &[T], after: &[T]) -> Option<Vec<(Option<usize>, Option<usize>)>> {
    if before.len() > MAX_COMPARED || after.len() > MAX_COMPARED {
        return None;
    }
    let mut pairs = Vec::new();
    for op in operations(before, after) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        let both = old.len().min(new.len());
        pairs.extend(old.clone().zip(new.clone()).map(|(old, new)| (Some(old), Some(new))));
        pairs.extend(old.skip(both).map(|old| (Some(old), None)));
        pairs.extend(new.skip(both).map(|new| (None, Some(new))));
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &str, after: &str) -> Vec<NoteChange> {
        let note = |text: &str| Note::parse("notes/a.md", text.as_bytes().to_vec());
        changes(&note(before), &note(after))
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn fields_headings_and_blocks_are_compared() {
        let before = "---\nid: a\ntitle: A\nstatus: draft\ntags: [x, y]\naliases: [k]\n---\n# Why\n\nOne.\n\nTwo.\n";
        let after = "---\nid: a\ntitle: A\nstatus: stable\nvalue: 3\ntags: [x, z, w]\n---\n# Why\n\nOne!\n\nTwo.\n\n## How\n\n- three\n";
        let field = |name: &str, before, after| NoteChange::Field { name: name.to_owned(), before, after };
        let block = |under: &str, before, after| NoteChange::Block { under: under.to_owned(), before, after };
        assert_eq!(
            between(before, after),
            [
                field("status", text("draft"), text("stable")),
                field("value", None, text("3")),
                field("tags", text("y"), text("z")),
                field("tags", None, text("w")),
                field("aliases", text("k"), None),
                NoteChange::Heading { before: None, after: text("Why › How") },
                block("Why", text("One."), text("One!")),
                block("Why › How", None, text("three")),
            ]
        );
        assert_eq!(between(before, before), []);
        assert_eq!(between(before, &before.replace("\n\nTwo", "\n\n\nTwo")), [NoteChange::Text]);
    }

    #[test]
    fn titles_from_headings_and_broken_fields_are_compared() {
        let title = NoteChange::Field { name: "title".to_owned(), before: text("A"), after: text("B") };
        assert_eq!(between("# A\n", "# B\n").first(), Some(&title));
        let broken = between("---\na: [\n---\nx\n", "---\na: {\n---\nx\n");
        assert!(matches!(broken.first(), Some(NoteChange::Field { name, .. }) if name == "frontmatter"), "{broken:?}");
        let long = |item: &str| format!("- {item}\n").repeat(MAX_COMPARED + 1);
        assert_eq!(between(&long("a"), &long("b")), [NoteChange::Text]);
    }
}
