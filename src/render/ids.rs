//! The format for scripts: the ids of the notes that a command changed, one on each line. What else the
//! answer says goes to standard error.

use super::{EntryText, Included, Renderer, Screen, ShownPart};
use crate::report::{Entry, Report};

pub(super) struct Ids<'a> {
    pub(super) report: &'a Report,
}

impl Renderer for Ids<'_> {
    /// Returns the line of a changed note. Diagnostics are lines of [`stderr_lines`].
    fn render(&self, index: usize, _: ShownPart, _: &Included) -> EntryText {
        match &self.report.entries[index] {
            // Of a command that creates a note, a script wants the id of that note.
            Entry::Change(change) if self.report.head.creates() && change.action != "created" => EntryText::default(),
            Entry::Change(change) => EntryText::of(change.id.iter().map(|id| format!("{id}\n")).collect()),
            _ => EntryText::default(),
        }
    }
}

/// Returns the diagnostics of a report as lines for people.
pub(super) fn stderr_lines(report: &Report) -> Vec<String> {
    let line = |entry: &Entry| match entry {
        Entry::Finding(finding) => Some(Screen::default().finding_line(finding).trim_end().to_owned()),
        _ => None,
    };
    report.entries.iter().filter_map(line).collect()
}
