//! Journals: which notes they are, and to which day each belongs.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use crate::calendar::{Period, find_numeric_day, parse_day};
use crate::note::Note;

/// Fewer notes are looked through by one thread.
const MIN_NOTES: usize = 1_024;

/// The journals of a store, as places of notes by their days.
#[derive(Debug, Default)]
pub struct Journals {
    /// In the order of the days, then of the ids.
    days: Vec<(Date, usize)>,
}

impl Journals {
    /// Looks for the journals among notes that are in the order of their ids.
    pub fn new(notes: &[Arc<Note>]) -> Self {
        let day = |(place, note): (usize, &Arc<Note>)| Some((journal_day(note)?, place));
        let mut days: Vec<(Date, usize)> =
            notes.par_iter().enumerate().with_min_len(MIN_NOTES).filter_map(day).collect();
        days.sort_unstable();
        Self { days }
    }

    /// Returns the journals without those for which `is_out` holds.
    pub fn without(&self, is_out: impl Fn(usize) -> bool) -> Self {
        Self { days: self.days.iter().copied().filter(|(_, note)| !is_out(*note)).collect() }
    }

    /// Returns how many journals there are.
    pub fn count(&self) -> usize {
        self.days.len()
    }

    /// Returns all journals, those of the latest day first.
    pub fn latest_first(&self) -> impl Iterator<Item = usize> {
        self.days.iter().rev().map(|(_, note)| *note)
    }

    /// Returns the journals of a day, in the order of their ids.
    pub fn on(&self, day: Date) -> impl Iterator<Item = usize> {
        self.within(Period { from: Some(day), to: day }).iter().map(|(_, note)| *note)
    }

    /// Returns the journals of a period with their days, the oldest first.
    pub fn within(&self, period: Period) -> &[(Date, usize)] {
        let first = self.days.partition_point(|(day, _)| period.from.is_some_and(|from| *day < from));
        let end = self.days.partition_point(|(day, _)| *day <= period.to);
        self.days.get(first..end).unwrap_or_default()
    }

    /// Returns the journals of a period, those of the latest day first; of one day in the order of their
    /// ids.
    pub fn newest_first(&self, period: Period) -> Vec<usize> {
        let mut found = self.within(period).to_vec();
        found.sort_by_key(|(day, note)| (Reverse(*day), *note));
        found.into_iter().map(|(_, note)| note).collect()
    }
}

/// Returns the day of a journal: a note of that type, or one whose whole title or file name is a date.
/// The field says it, else the title, else the file's name, else when it was made; never the file's time.
pub fn journal_day(note: &Note) -> Option<Date> {
    let named = |text: &str| parse_day(text);
    if !note.is_journal() {
        let day = named(note.title()).or_else(|| named(note.stem()))?;
        return Some(note.head().day().unwrap_or(day));
    }
    let head = note.head();
    // Journals may say more than the date, such as `2025-03-05 at the lab`.
    let in_name = |text: &str| named(text).or_else(|| find_numeric_day(text));
    let created = || head.created_day();
    head.day().or_else(|| in_name(head.title)).or_else(|| in_name(note.stem())).or_else(created)
}

/// Returns the day that a note belongs to: of a journal its own, else that of the latest change.
pub fn day_of(note: &Note) -> Option<Date> {
    let head = note.head();
    journal_day(note).or_else(|| head.day()).or_else(|| head.changed().map(|moment| moment.date()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(path: &str, fields: &str) -> Option<String> {
        let text = format!("---\nid: n\n{fields}---\nText\n");
        journal_day(&Note::parse(path, text.into_bytes())).map(|day| day.to_string())
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
