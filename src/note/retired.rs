//! Notes that no longer hold: their status says so, or their last day is past.

use jiff::civil::Date;

use super::{Timestamp, Value, prose};

/// The values of the field `status` that retire a note, in any case.
const STATUSES: [&str; 4] = ["superseded", "rejected", "deprecated", "obsolete"];
const VALID_UNTIL: &str = "valid_until";

/// Why a note no longer holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retired {
    /// Its status: `superseded`, `rejected`, `deprecated` or `obsolete`.
    pub status: Option<&'static str>,
    /// The last day on which it held, where that is past.
    pub expired: Option<Date>,
}

impl Retired {
    /// Returns the reasons in words: `rejected`, `expired 2026-11-01`.
    pub fn words(self) -> String {
        let expired = self.expired.map(|day| format!("expired {day}"));
        [self.status.map(str::to_owned), expired].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The fields of a note that are not qipu's own.
#[derive(Debug, Clone, Copy)]
pub struct UserFields<'a> {
    /// Top-level fields that qipu does not know.
    pub unknown: &'a [(String, Value)],
    /// The fields under `custom`.
    pub custom: &'a [(String, Value)],
}

impl<'a> UserFields<'a> {
    /// Returns the value of a field at the top of the frontmatter, else under `custom`; `None` if absent or null.
    pub fn field(self, name: &str) -> Option<&'a Value> {
        let found = self.unknown.iter().chain(self.custom).find(|(key, _)| key == name);
        found.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// Returns the day that a field names.
    pub fn day_in(self, name: &str) -> Option<Date> {
        Some(Timestamp::parse(&self.field(name)?.to_line())?.date())
    }

    /// Returns the text of a top-level field in which other tools store summaries, unless it repeats the title.
    pub(crate) fn description(self, key: &str, title: &str) -> Option<&'a str> {
        let (_, value) = self.unknown.iter().find(|(name, _)| name == key)?;
        let Value::Text { text, .. } = value else { return None };
        Some(text.trim()).filter(|text| !text.is_empty() && !value.is_null() && !prose::is_same_text(text, title))
    }

    /// Returns why the note no longer holds on a day; `None` if it does. Calls `today` only for a note with a last day.
    pub fn retired(self, today: impl FnOnce() -> Date) -> Option<Retired> {
        let expired = self.day_in(VALID_UNTIL).filter(|day| *day < today());
        let retired = Retired { status: self.retired_status(), expired };
        (retired != Retired::default()).then_some(retired)
    }

    /// Whether the note has a status that retires it, or a last day.
    pub(crate) fn may_be_retired(self) -> bool {
        self.retired_status().is_some() || self.day_in(VALID_UNTIL).is_some()
    }

    fn retired_status(self) -> Option<&'static str> {
        let status = self.field("status")?.to_line();
        STATUSES.into_iter().find(|known| known.eq_ignore_ascii_case(status.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Note;
    use super::*;

    fn retired(fields: &str) -> Option<String> {
        let note = Note::parse("notes/n.md", format!("---\nid: n\n{fields}\n---\nText.\n").into_bytes());
        note.extra_fields().retired(|| "2026-11-23".parse().unwrap()).map(Retired::words)
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
