//! Lines of the human format that stand below each other: lists, findings, changes, recipes.

use super::human::Human;
use super::paint::TextRole as As;
use super::{EntryText, days, flow};
use crate::escape::{as_one_line, lines, one_line};
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, NoteEntry, RecipeEntry, Report, ReportKind};

/// How many entries are looked at for the widths of columns.
const LOOKED_AT: usize = 1_000;
/// The widest that a column gets; what is longer pushes the rest of its line away.
const WIDEST: usize = 24;
/// More than most lines of a list take, in bytes.
const USUAL_LINE: usize = 128;
/// What stands between columns.
const GAP: &str = "  ";

/// The widths of the columns of a list on a terminal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Widths {
    id: usize,
    kind: usize,
    changed: usize,
}

impl Widths {
    /// Returns how far in the last column begins.
    pub(super) fn hang(self) -> usize {
        self.id + self.kind + self.changed + 3 * GAP.len()
    }
}

impl Human<'_> {
    /// Looks at the beginning of a list for how wide its columns are.
    pub(super) fn widths(&self) -> Widths {
        let is_list = |report: &Report| {
            matches!(report.head.mode, ReportKind::List | ReportKind::Search | ReportKind::Related { .. })
        };
        let mut widths = Widths::default();
        if self.screen.columns.is_none() || !is_list(self.report) {
            return widths;
        }
        for entry in self.report.entries.iter().filter_map(Entry::note).take(LOOKED_AT) {
            let wider = |now: usize, text: &str| now.max(flow::width(text)).min(WIDEST);
            let head = entry.note.head();
            widths.id = wider(widths.id, entry.note.id.as_str());
            widths.kind = wider(widths.kind, &one_line(head.kind));
            widths.changed = wider(widths.changed, &self.changed(entry));
        }
        widths
    }

    /// Says when a note changed, where days are told in words.
    fn changed(&self, entry: &NoteEntry) -> String {
        let day = entry.note.changed().map(|stamp| stamp.date());
        day.zip(self.screen.today).map_or(String::new(), |(day, today)| days::in_words(day, today))
    }

    /// A note of a list; the id comes first, so that a script can take it.
    pub(super) fn list_line(&self, entry: &NoteEntry) -> String {
        let (head, tags) = (entry.note.head(), entry.note.ties().tags);
        let mut line = String::with_capacity(USUAL_LINE);
        let mut column = |role, text: &str, columns| {
            self.add_column(&mut line, role, text, columns);
            line.push_str(GAP);
        };
        column(As::Kind(head.kind), entry.note.id.as_str(), self.widths.id);
        column(As::Kind(head.kind), &as_one_line(head.kind), self.widths.kind);
        if self.screen.columns.is_some() {
            column(As::Quiet, &self.changed(entry), self.widths.changed);
        }
        self.add_column(&mut line, As::Title, &as_one_line(head.title), 0);
        line.push_str(&self.retired(entry));
        if !tags.is_empty() {
            line.push_str(GAP);
            self.screen.paint_onto(&mut line, As::Tag, |line| {
                for (number, tag) in tags.iter().enumerate() {
                    line.push_str(if number == 0 { "[" } else { ", " });
                    line.push_str(&as_one_line(tag));
                }
                line.push(']');
            });
        }
        line.push('\n');
        line
    }

    /// Adds a text, and spaces until it is as wide as its column.
    fn add_column(&self, line: &mut String, role: As<'_>, text: &str, columns: usize) {
        if !text.is_empty() {
            self.screen.paint_onto(line, role, |line| line.push_str(text));
        }
        if columns > 0 {
            line.extend(std::iter::repeat_n(' ', columns.saturating_sub(flow::width(text))));
        }
    }

    pub(super) fn finding_line(&self, finding: &DiagnosticEntry) -> String {
        let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
        let (path, message) = (one_line(&finding.path), one_line(&finding.message));
        let role = if finding.is_error { As::Error } else { As::Warning };
        let level = self.screen.paint(role, finding.level());
        let code = self.screen.paint(As::Quiet, &format!("({})", finding.code));
        format!("{level}: {path}{line}: {message} {code}\n")
    }

    /// What was done to a file. The id comes first, so that a script can take it. A difference is shown
    /// as it is: broken lines would not be those of the file.
    pub(super) fn change(&self, change: &ChangeEntry, piece: &mut EntryText) {
        let id = change.id.as_ref().map_or(String::new(), |id| format!("{id} "));
        let action = self.screen.paint(As::Good, change.action);
        let mut text = self.flowing(format!("{id}{action} {}\n", one_line(&change.path)));
        let diff = change.diff.as_deref().map(lines).unwrap_or_default();
        text.extend(diff.split_inclusive('\n').map(|line| self.painted_diff(line)));
        piece.add(0, text);
    }

    fn painted_diff(&self, line: &str) -> String {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let role = match line.chars().next() {
            Some('+') => As::Good,
            Some('-') => As::Error,
            Some('@') => As::Link,
            _ => return format!("{line}{end}"),
        };
        self.screen.paint(role, line) + end
    }

    pub(super) fn recipe_line(&self, recipe: &RecipeEntry) -> String {
        let fits = if recipe.fits == Some(true) { "; fits this project" } else { "" };
        let role = match recipe.state {
            "missing" => As::Quiet,
            "stale" | "edited" => As::Warning,
            _ => As::Good,
        };
        let state = self.screen.paint(role, recipe.state);
        let fits = self.screen.paint(As::Good, fits);
        let name = self.screen.paint(As::Title, recipe.name);
        format!("{name}: {state} ({}): {}{fits}\n", one_line(&recipe.path), recipe.about)
    }
}
