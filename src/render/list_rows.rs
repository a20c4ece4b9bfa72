//! Rows for people: lists of notes, diagnostics, recipes and lines of diffs.

use super::paint::TextRole as As;
use super::tool_marks::without_marks_in_lines;
use super::{Screen, relative_days, wrap};
use crate::escape::{as_one_line, escape_lines, one_line};
use crate::report::{DiagnosticEntry, Entry, NoteEntry, NoteLayout, RecipeEntry, Report, RowEntry, Severity};

/// The most entries by which the columns are sized.
const MAX_MEASURED: usize = 1_000;
/// The maximum width of a sized column. A longer value shifts the rest of its line.
const MAX_WIDTH: usize = 24;
/// The initial capacity of a row in bytes, enough for most.
const USUAL_LINE: usize = 128;
const GAP: &str = "  ";

/// The widths of the columns of a list, in terminal columns; 0 for columns that are not aligned.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColumnWidths {
    id: usize,
    kind: usize,
    changed: usize,
}

impl ColumnWidths {
    /// Measures the first rows of a list on a terminal.
    pub(super) fn of(report: &Report, screen: Screen) -> Self {
        let mut widths = Self::default();
        if screen.columns.is_none() || report.head.layout.note != NoteLayout::Row {
            return widths;
        }
        for entry in report.entries.iter().filter_map(Entry::note).take(MAX_MEASURED) {
            let wider = |width: usize, text: &str| width.max(wrap::width(text)).min(MAX_WIDTH);
            widths.id = wider(widths.id, entry.note.id.as_str());
            widths.kind = wider(widths.kind, &one_line(entry.note.list_fields().kind));
            widths.changed = wider(widths.changed, &screen.changed(entry));
        }
        widths
    }

    /// Returns the column at which the title begins.
    pub(super) fn hang(self) -> usize {
        self.id + self.kind + self.changed + 3 * GAP.len()
    }
}

impl Screen {
    /// Returns the row of a note. The id comes first, so that a script can cut it off.
    pub(super) fn list_line(self, entry: &NoteEntry, widths: ColumnWidths) -> String {
        let (head, tags) = (entry.note.list_fields(), entry.note.tags());
        let mut line = String::with_capacity(USUAL_LINE);
        let mut column = |role, text: &str, width| {
            self.add_column(&mut line, role, text, width);
            line.push_str(GAP);
        };
        column(As::Kind(head.kind), entry.note.id.as_str(), widths.id);
        column(As::Kind(head.kind), &as_one_line(head.kind), widths.kind);
        if self.columns.is_some() {
            column(As::Quiet, &self.changed(entry), widths.changed);
        }
        self.add_column(&mut line, As::Title, &as_one_line(entry.note.title()), 0);
        line.push_str(&self.state(entry));
        if !tags.is_empty() {
            line.push_str(GAP);
            self.style_onto(&mut line, As::Tag.style(), |line| {
                for (index, tag) in tags.iter().enumerate() {
                    line.push_str(if index == 0 { "[" } else { ", " });
                    line.push_str(&as_one_line(tag));
                }
                line.push(']');
            });
        }
        line.push('\n');
        line
    }

    /// Returns the day of the last change in words; empty where dates are not related to today.
    fn changed(self, entry: &NoteEntry) -> String {
        let day = entry.note.list_fields().changed().map(|changed| changed.date());
        day.zip(self.today).map_or(String::new(), |(day, today)| relative_days::in_words(day, today))
    }

    /// Returns whether a note holds and what it replaces, after a space; empty for a note like any other.
    pub(super) fn state(self, entry: &NoteEntry) -> String {
        let Some(words) = entry.state_in_words() else { return String::new() };
        format!(" {}", self.paint(As::Warning, &format!("[{words}]")))
    }

    /// Adds a text and pads it with spaces to `width`.
    fn add_column(self, line: &mut String, role: As<'_>, text: &str, width: usize) {
        if !text.is_empty() {
            self.style_onto(line, role.style(), |line| line.push_str(text));
        }
        if width > 0 {
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(wrap::width(text))));
        }
    }

    pub(super) fn finding_line(self, finding: &DiagnosticEntry) -> String {
        let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
        let (path, message) = (one_line(&finding.path), one_line(&finding.message));
        let role = match finding.severity {
            Severity::Error => As::Error,
            Severity::Warning => As::Warning,
            Severity::Info => As::Quiet,
        };
        let level = self.paint(role, finding.severity.name());
        let code = self.paint(As::Quiet, &format!("({})", finding.code));
        let text = format!("{path}{line}: {message}");
        format!("{level}: {} {code}\n", without_marks_in_lines(&text))
    }

    /// Returns a unified diff, with its lines coloured.
    pub(super) fn diff(self, diff: &str) -> String {
        escape_lines(diff).split_inclusive('\n').map(|line| self.diff_line(line)).collect()
    }

    fn diff_line(self, line: &str) -> String {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let role = match line.chars().next() {
            Some('+') => As::Good,
            Some('-') => As::Error,
            Some('@') => As::Link,
            _ => return format!("{line}{end}"),
        };
        self.paint(role, line) + end
    }

    pub(super) fn recipe_line(self, recipe: &RecipeEntry) -> String {
        let fits = if recipe.fits == Some(true) { "; fits this project" } else { "" };
        let role = match recipe.state {
            "missing" => As::Quiet,
            "stale" | "edited" => As::Warning,
            _ => As::Good,
        };
        let state = self.paint(role, recipe.state);
        let fits = self.paint(As::Good, fits);
        let name = self.paint(As::Title, recipe.name);
        format!("{name}: {state} ({}): {}{fits}\n", one_line(&recipe.path), recipe.about)
    }
}

/// Returns the line of a table, behind its number if it has one, with its details below.
pub(super) fn table_line(row: &RowEntry) -> String {
    let line = one_line(&row.line);
    let detail: String = row.detail.lines().map(|line| format!("    {}\n", escape_lines(line))).collect();
    let figure = if row.figure.is_empty() { String::new() } else { format!("{:>5}  ", one_line(&row.figure)) };
    format!("{figure}{line}\n{detail}")
}
