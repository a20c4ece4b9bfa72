//! Notes that no longer hold: their status says so, or their last day is past.

use jiff::civil::Date;

use super::{Timestamp, Value, prose};
use crate::codec::named::named;

/// The last day on which a note holds.
pub const VALID_UNTIL: &str = "valid_until";
/// The first day on which a note needs to be looked at again.
pub const STALE_AFTER: &str = "stale_after";

/// The fields that say whether and until when a note holds, who wrote it, who checked it, and how far it is to be trusted. What
/// they say of one text is not true of another, so that no merge carries them over.
const LIFE: [&str; 13] = [
    "author", "confidence", "generated", "generated-by", "generated_by", "session", STALE_AFTER, "status",
    "superseded-by", "superseded_by", "trust", VALID_UNTIL, "verified",
];

/// Tells whether a field, at the top of the frontmatter or under `custom`, is about the life of its note alone.
pub fn is_life_field(name: &str) -> bool {
    LIFE.contains(&name)
}

named! {
    /// The values of the field `status` that have an effect, in any case. Others, such as `stable`, have none. By each but
    /// `draft`, a note no longer holds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Status {
        /// Nobody has accepted it yet.
        Draft = "draft",
        /// Another note replaces it.
        Superseded = "superseded",
        /// It was considered and turned down.
        Rejected = "rejected",
        /// It should no longer be followed.
        Deprecated = "deprecated",
        /// It no longer holds.
        Obsolete = "obsolete",
    }
}

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
        let status = self.status().filter(|status| *status != Status::Draft).map(Status::name);
        let retired = Retired { status, expired };
        (retired != Retired::default()).then_some(retired)
    }

    /// Returns the day since which the note is due: its last day, if that is past, or the day in `stale_after`, if that
    /// has come; the earlier one of both.
    pub fn due(self, today: impl FnOnce() -> Date) -> Option<Date> {
        let (last_day, stale_after) = (self.day_in(VALID_UNTIL), self.day_in(STALE_AFTER));
        if last_day.is_none() && stale_after.is_none() {
            return None;
        }
        let today = today();
        let past = last_day.filter(|day| *day < today).into_iter();
        past.chain(stale_after.filter(|day| *day <= today)).min()
    }

    /// Returns the status, if it has an effect.
    pub fn status(self) -> Option<Status> {
        let status = self.field("status")?.to_line();
        Status::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(status.trim()))
    }

    /// Whether the note has a status with an effect, or a day from which it is due.
    pub(crate) fn has_lifecycle(self) -> bool {
        self.status().is_some() || [VALID_UNTIL, STALE_AFTER].iter().any(|field| self.day_in(field).is_some())
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
            ("status: draft", None),
            ("stale_after: 2020-01-01", None),
        ] {
            assert_eq!(retired(fields).as_deref(), words, "{fields}");
        }
    }

    #[test]
    fn a_note_is_due_from_a_day_on() {
        for (fields, day) in [
            ("stale_after: 2026-11-23", Some("2026-11-23")),
            ("stale_after: 2026-11-24", None),
            ("valid_until: 2026-11-22", Some("2026-11-22")),
            ("valid_until: 2026-11-23", None),
            ("valid_until: 2026-11-22\nstale_after: 2026-01-01", Some("2026-01-01")),
            ("status: obsolete", None),
            ("custom: {stale_after: soon}", None),
        ] {
            let note = Note::parse("notes/n.md", format!("---\nid: n\n{fields}\n---\nText.\n").into_bytes());
            let due = note.extra_fields().due(|| "2026-11-23".parse().unwrap());
            assert_eq!(due.map(|day| day.to_string()).as_deref(), day, "{fields}");
        }
    }
}
