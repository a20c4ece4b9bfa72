//! Journals: the notes of days.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use crate::calendar::{Period, find_numeric_day, parse_day};
use crate::store::{NoteHandle, NoteIdx};

/// The fewest notes for one thread.
const MIN_NOTES: usize = 1_024;

/// The journals of a store, as indices of notes with their days.
#[derive(Debug, Default)]
pub struct Journals {
    /// Sorted by day, then by id.
    days: Vec<(Date, NoteIdx)>,
}

impl Journals {
    /// Finds the journals among notes in the order of their ids.
    pub fn new(notes: &[Arc<NoteHandle>]) -> Self {
        let day = |(index, note): (usize, &Arc<NoteHandle>)| Some((journal_day(note)?, NoteIdx::new(index)));
        let mut days: Vec<(Date, NoteIdx)> =
            notes.par_iter().enumerate().with_min_len(MIN_NOTES).filter_map(day).collect();
        days.sort_unstable();
        Self { days }
    }

    /// Returns the journals without those that `is_excluded` selects.
    pub fn without(&self, is_excluded: impl Fn(NoteIdx) -> bool) -> Self {
        Self { days: self.days.iter().copied().filter(|(_, note)| !is_excluded(*note)).collect() }
    }

    /// Returns the number of journals.
    pub fn count(&self) -> usize {
        self.days.len()
    }

    /// Returns all journals, the latest day first.
    pub fn latest_first(&self) -> impl Iterator<Item = NoteIdx> {
        self.days.iter().rev().map(|(_, note)| *note)
    }

    /// Returns the journals of a day in the order of their ids.
    pub fn on(&self, day: Date) -> impl Iterator<Item = NoteIdx> {
        self.within(Period { from: Some(day), to: day }).iter().map(|(_, note)| *note)
    }

    /// Returns the journals of a period with their days, the oldest first.
    pub fn within(&self, period: Period) -> &[(Date, NoteIdx)] {
        let first = self.days.partition_point(|(day, _)| period.from.is_some_and(|from| *day < from));
        let end = self.days.partition_point(|(day, _)| *day <= period.to);
        self.days.get(first..end).unwrap_or_default()
    }

    /// Returns the journals of a period, the latest day first; those of one day in the order of their ids.
    pub fn newest_first(&self, period: Period) -> Vec<NoteIdx> {
        let mut journals = self.within(period).to_vec();
        journals.sort_by_key(|(day, note)| (Reverse(*day), *note));
        journals.into_iter().map(|(_, note)| note).collect()
    }
}

/// Returns the day of a journal: a note of that type, or a note whose whole title or file name is a date. The day is
/// that of the field `date`, else of the title, the file name or the creation; never of the file's mtime.
pub fn journal_day(note: &NoteHandle) -> Option<Date> {
    if !note.is_journal() {
        let day = parse_day(note.title()).or_else(|| parse_day(note.stem()))?;
        return Some(note.list_fields().day().unwrap_or(day));
    }
    let head = note.list_fields();
    // A journal may have a title with more than its date, such as `2025-03-05 at the lab`.
    let date_in = |text: &str| parse_day(text).or_else(|| find_numeric_day(text));
    let created = || head.created_day();
    head.day().or_else(|| date_in(note.title())).or_else(|| date_in(note.stem())).or_else(created)
}

/// Returns the day of a note: of a journal its own, else that of the field `date` or of the last change.
pub fn day_of(note: &NoteHandle) -> Option<Date> {
    let head = note.list_fields();
    journal_day(note).or_else(|| head.day()).or_else(|| head.changed().map(|time| time.date()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(path: &str, fields: &str) -> Option<String> {
        let text = format!("---\nid: n\n{fields}---\nText\n");
        journal_day(&NoteHandle::parse(path, text.into_bytes())).map(|day| day.to_string())
    }

    #[test]
    fn a_journal_is_a_note_of_the_type_or_one_that_is_named_by_a_date() {
        let of = |path: &str, fields: &str| day(path, fields).unwrap_or_default();
        assert_eq!(of("journals/x.md", "title: X\ncreated: 2025-03-05T23:30:00-05:00\n"), "2025-03-05");
        assert_eq!(of("journals/2025_03_04.md", "title: X\ncreated: 2025-03-05\n"), "2025-03-04");
        assert_eq!(of("journals/2025_03_04.md", "title: Mar 3rd, 2025\n"), "2025-03-03");
        assert_eq!(of("journals/2025_03_04.md", "title: Mar 3rd, 2025\ndate: 2025-03-02\n"), "2025-03-02");
        assert_eq!(of("notes/a.md", "title: 2025-03-01\n"), "2025-03-01");
        assert_eq!(of("notes/a.md", "title: 2025-03-01\ndate: 2025-02-01\n"), "2025-02-01");
        assert_eq!(of("notes/2025-03-01.md", "title: A title\n"), "2025-03-01");
        assert_eq!(of("notes/a.md", "title: 2025-03-01 at the lab\ntype: journal\n"), "2025-03-01");
        assert_eq!(of("journals/qp-a1-2025-03-01.md", "title: A title\n"), "2025-03-01");
        assert_eq!(of("notes/a.md", "title: 2025-03-01 at the lab\n"), "");
        assert_eq!(of("notes/a.md", "title: A\ndate: 2025-03-01\n"), "");
        assert_eq!(of("journals/a.md", "title: A\nupdated: 2025-03-01\n"), "");
        assert_eq!(of("notes/a.md", "title: 2025-02-30\n"), "");
    }
}
