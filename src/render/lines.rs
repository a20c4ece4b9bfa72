//! The format for scripts: a line for each note or row with the fields that the request names, separated by tabs.

use super::summary_lines::{meant, unknown_name_line};
use super::{EntryText, Included, Renderer, ShownPart};
use crate::escape::one_line;
use crate::report::{Entry, LineFormat, NoteEntry, NoteHandle, Report, RowEntry, RowValue, UnknownName};

/// The keys of filters that are no fields, unless notes have fields of these names.
const ONLY_FILTERS: [&str; 5] = ["links-to", "linked-from", "broken", "confidence", "day"];

pub(super) struct Lines<'a> {
    pub(super) report: &'a Report,
    pub(super) format: &'a LineFormat,
}

impl Renderer for Lines<'_> {
    fn render(&self, index: usize, _: ShownPart, _: &Included) -> EntryText {
        let entry = &self.report.entries[index];
        let values: Vec<String> = match entry {
            Entry::Note(note) => self.format.fields.iter().map(|field| self.of_note_entry(note, field)).collect(),
            Entry::Row(row) => self.format.fields.iter().map(|field| self.of_row(row, field)).collect(),
            _ => return EntryText::default(),
        };
        let separator = if self.format.is_name { ":" } else { "\t" };
        EntryText::of(values.join(separator) + if self.format.ends_with_nul { "\0" } else { "\n" })
    }
}

impl Lines<'_> {
    fn of_note_entry(&self, entry: &NoteEntry, field: &str) -> String {
        let text = match field {
            "relevance" => entry.match_info.as_ref().map(|found| format!("{:.3}", found.relevance)),
            "line" if entry.match_info.is_some() => entry.snippet().map(|snippet| snippet.line.to_string()),
            // The status that has an effect. The note may have none, or spell it in another way.
            "status" => entry.status().map(str::to_owned),
            "summary" => entry.summary().map(|summary| summary.into_owned()),
            _ => None,
        };
        text.map_or_else(|| self.of_note(&entry.note, field), |text| cell(&text))
    }

    fn of_row(&self, row: &RowEntry, field: &str) -> String {
        match row.fields.iter().find(|(name, _)| *name == field) {
            Some((_, RowValue::Nothing)) => String::new(),
            Some((_, value)) => cell(&value.to_text()),
            None => row.note.as_ref().map(|note| self.of_note(note, field)).unwrap_or_default(),
        }
    }

    fn of_note(&self, note: &NoteHandle, field: &str) -> String {
        match field {
            "path" => self.path(note),
            "collection" => cell(note.collection_name()),
            _ => cell(&note.field_texts(field).unwrap_or_default().join(",")),
        }
    }

    /// Returns the path of the file from the current directory. Alone before a NUL it is written as it is.
    fn path(&self, note: &NoteHandle) -> String {
        let path = self.report.head.path_of(note);
        // Else a program would take it for an option.
        let path = if path.starts_with('-') { format!("./{path}") } else { path };
        if self.format.ends_with_nul && self.format.fields.len() == 1 { path } else { cell(&path) }
    }
}

/// Returns a text without tabs and line ends.
fn cell(text: &str) -> String {
    one_line(text).replace('\t', " ")
}

/// Returns a line for each name that no note has, and for each field that no note of the answer has.
pub(super) fn stderr_lines(report: &Report) -> Vec<String> {
    let absent = report.absent_fields();
    let absent = absent.iter().map(absent_field_line);
    report.head.unknown_names.iter().map(unknown_name_line).chain(absent).collect()
}

fn absent_field_line(field: &UnknownName) -> String {
    let name = one_line(&field.name);
    if ONLY_FILTERS.contains(&field.name.as_str()) {
        return format!("'{name}' is only a filter, and no note of the answer has such a field");
    }
    format!("no note of the answer has the field '{name}'{}", meant(&field.near))
}

/// Returns a line about what is left out of an answer; `None` if nothing is. `text`: the answer, as it is shown; `None` if
/// it has all entries.
pub(super) fn left_out_line(report: &Report, text: Option<&str>) -> Option<String> {
    let entries = report.entries.iter().filter(|entry| matches!(entry, Entry::Note(_) | Entry::Row(_))).count();
    let end = if report.head.lines.ends_with_nul { '\0' } else { '\n' };
    let shown = text.map_or(entries, |text| text.matches(end).count());
    match report.head.matched {
        0 => (shown < entries || report.head.is_limited).then(|| "(output truncated)".to_owned()),
        matched => (shown < matched).then(|| format!("({shown} of {matched} notes shown)")),
    }
}
