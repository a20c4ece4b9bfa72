//! Retirement of notes by their status or by the last day of their validity.

use jiff::civil::Date;

use super::{Metadata, Note, Timestamp, Value};

/// The values of the field `status` that retire a note, in any case.
const STATUSES: [&str; 4] = ["superseded", "rejected", "deprecated", "obsolete"];
const STATUS: &str = "status";
const VALID_UNTIL: &str = "valid_until";

/// The reasons why a note is retired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retired {
    /// Its status: `superseded`, `rejected`, `deprecated` or `obsolete`.
    pub status: Option<&'static str>,
    /// The last day of its validity, if that is past.
    pub expired: Option<Date>,
}

impl Retired {
    /// Returns the reasons as text: `rejected`, `expired 2026-11-01`.
    pub fn words(self) -> String {
        let expired = self.expired.map(|day| format!("expired {day}"));
        let reasons: Vec<String> = self.status.map(str::to_owned).into_iter().chain(expired).collect();
        reasons.join(", ")
    }
}

impl Metadata {
    /// Returns a field without a meaning for qipu, from the top level or else from `custom`; `None` if it is absent or
    /// null.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let field = self.unknown.iter().chain(&self.custom).find(|(key, _)| key == name);
        field.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// Returns the date in a field.
    pub fn day_in(&self, name: &str) -> Option<Date> {
        Some(Timestamp::parse(&self.field(name)?.to_line())?.date())
    }

    /// Returns the last day of the note's validity.
    pub fn valid_until(&self) -> Option<Date> {
        self.day_in(VALID_UNTIL)
    }

    fn retired_status(&self) -> Option<&'static str> {
        let status = self.field(STATUS)?.to_line();
        STATUSES.into_iter().find(|known| known.eq_ignore_ascii_case(status.trim()))
    }

    /// Tells whether the note has a status that retires it, or a last day.
    pub(super) fn may_be_retired(&self) -> bool {
        self.retired_status().is_some() || self.valid_until().is_some()
    }
}

impl Note {
    /// Returns the reasons why a note is retired; `None` if it is not. Decodes the fields, and calls `today`, only for
    /// a note that may be retired.
    pub fn retired(&self, today: impl FnOnce() -> Date) -> Option<Retired> {
        if !self.marks.may_be_retired {
            return None;
        }
        let last_day = self.valid_until();
        let retired = Retired { status: self.retired_status(), expired: last_day.filter(|day| *day < today()) };
        (retired != Retired::default()).then_some(retired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retired(fields: &str) -> Option<String> {
        let note = Note::parse("notes/n.md", format!("---\nid: n\n{fields}\n---\nText.\n").into_bytes());
        note.retired(|| "2026-11-23".parse().unwrap()).map(Retired::words)
    }

    #[test]
    fn status_and_last_day_retire_a_note() {
        for (fields, words) in [
            ("status: superseded", Some("superseded")),
            ("status: ' Rejected '", Some("rejected")),
            ("custom:\n  status: DEPRECATED", Some("deprecated")),
            ("status: accepted\ncustom:\n  status: obsolete", None),
            ("status: accepted", None),
            ("status: [superseded, rejected]", None),
            ("valid_until: 2026-11-22", Some("expired 2026-11-22")),
            ("valid_until: 2026-11-23", None),
            ("valid_until: soon", None),
            ("custom:\n  valid_until: 2020-01-01T10:00:00Z", Some("expired 2020-01-01")),
            ("status: obsolete\nvalid_until: 2020-01-01", Some("obsolete, expired 2020-01-01")),
            ("title: superseded", None),
        ] {
            assert_eq!(retired(fields).as_deref(), words, "{fields}");
        }
    }
}
