//! Journals: the notes of days.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use crate::calendar::Period;
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
        let day = |(index, note): (usize, &Arc<NoteHandle>)| Some((note.journal_day()?, NoteIdx::new(index)));
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

/// Returns the day of a note: of a journal its own, else that of the field `date` or of the last change.
pub fn day_of(note: &NoteHandle) -> Option<Date> {
    let head = note.list_fields();
    note.journal_day().or_else(|| head.day()).or_else(|| head.changed().map(|time| time.date()))
}
