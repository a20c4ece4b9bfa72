//! The days of journals.

use jiff::civil::Date;

use super::note_handle::NoteHandle;
use crate::calendar::{find_numeric_day, parse_day};

impl NoteHandle {
    /// Returns the day of a journal: a note of that type, or a note whose whole title or file name is a date. The day is
    /// that of the field `date`, else of the title, the file name or the creation; never of the file's mtime.
    pub fn journal_day(&self) -> Option<Date> {
        if !self.flags.is_journal && !self.flags.is_named_by_day {
            return None;
        }
        let fields = self.list_fields();
        if !self.flags.is_journal {
            let day = parse_day(self.title()).or_else(|| parse_day(self.stem()))?;
            return Some(fields.day().unwrap_or(day));
        }
        let created = || fields.created_day();
        fields.day().or_else(|| day_in(self.title())).or_else(|| day_in(self.stem())).or_else(created)
    }

    /// Returns the day of a journal whose title does not contain it.
    pub fn untitled_day(&self) -> Option<Date> {
        self.journal_day().filter(|day| day_in(self.title()) != Some(*day))
    }
}

/// Returns the day in the name of a journal, which may contain more than a date, such as `2025-03-05 at the lab`.
fn day_in(text: &str) -> Option<Date> {
    parse_day(text).or_else(|| find_numeric_day(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(path: &str, fields: &str) -> Option<String> {
        let text = format!("---\nid: n\n{fields}---\nText\n");
        NoteHandle::parse(path, text.into_bytes()).journal_day().map(|day| day.to_string())
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

    #[test]
    fn a_title_may_not_contain_the_day() {
        let of = |fields: &str| {
            let text = format!("---\nid: n\ntype: journal\n{fields}---\nText\n");
            NoteHandle::parse("journals/a.md", text.into_bytes()).untitled_day().map(|day| day.to_string())
        };
        assert_eq!(of("title: A good day\ndate: 2025-03-01\n").as_deref(), Some("2025-03-01"));
        assert_eq!(of("title: 2025-03-02\ndate: 2025-03-01\n").as_deref(), Some("2025-03-01"));
        assert_eq!(of("title: Mar 1st, 2025\n"), None);
        assert_eq!(of("title: 2025-03-01 at the lab\n"), None);
    }
}
