//! What had to be tolerated when a note was read.

use serde::{Serialize, Serializer};

/// What kind of defect a diagnostic is about. Names and variants are public in answers, and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticCode {
    /// A byte order mark begins the file.
    ByteOrderMark,
    /// A text has the markers of a merge that nobody resolved.
    Conflict,
    /// Two notes have the id.
    DuplicateId,
    /// A field is given twice.
    DuplicateKey,
    /// A link names no note.
    EmptyLink,
    /// A source has neither an address nor a title.
    EmptySource,
    /// An entry of `verified` does not say by whom.
    EmptyVerification,
    /// The frontmatter is not YAML, not TOML or not a map.
    FrontmatterBroken,
    /// The frontmatter has no end.
    FrontmatterUnclosed,
    /// An edit by hand changed the id.
    IdChanged,
    /// A date is none.
    ImpossibleDate,
    /// An id that no note can have.
    ImpossibleId,
    /// A value that is no whole number from 0 to 100.
    ImpossibleValue,
    /// A value of `verified` that is neither true nor false.
    ImpossibleVerified,
    /// The body is parsed in part.
    LongBody,
    /// The id is derived from the path.
    NoId,
    /// The title is derived from the text or the path.
    NoTitle,
    /// A field is no list.
    NotAList,
    /// A field is no map.
    NotAMap,
    /// A field is no text.
    NotAText,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// NUL characters.
    Nul,
    /// A second block of frontmatter.
    SecondFrontmatter,
    /// The file is read in part.
    TooLong,
}

use DiagnosticCode::*;

const NAMES: [(DiagnosticCode, &str); 24] = [
    (ByteOrderMark, "byte-order-mark"),
    (Conflict, "unresolved-conflict"),
    (DuplicateId, "duplicate-id"),
    (DuplicateKey, "duplicate-key"),
    (EmptyLink, "empty-link"),
    (EmptySource, "empty-source"),
    (EmptyVerification, "empty-verification"),
    (FrontmatterBroken, "frontmatter-broken"),
    (FrontmatterUnclosed, "frontmatter-unclosed"),
    (IdChanged, "id-changed"),
    (ImpossibleDate, "impossible-date"),
    (ImpossibleId, "impossible-id"),
    (ImpossibleValue, "impossible-value"),
    (ImpossibleVerified, "impossible-verified"),
    (LongBody, "long-body"),
    (NoId, "no-id"),
    (NoTitle, "no-title"),
    (NotAList, "not-a-list"),
    (NotAMap, "not-a-map"),
    (NotAText, "not-a-text"),
    (NotUtf8, "not-utf-8"),
    (Nul, "nul"),
    (SecondFrontmatter, "second-frontmatter"),
    (TooLong, "too-long"),
];

impl DiagnosticCode {
    /// Returns the name in answers.
    pub fn as_str(self) -> &'static str {
        NAMES.iter().find(|(code, _)| *code == self).map(|(_, name)| *name).unwrap_or_default()
    }

    /// Returns the code with a name; `None` if there is none.
    pub(crate) fn from_name(text: &str) -> Option<Self> {
        NAMES.iter().find(|(_, name)| *name == text).map(|(code, _)| *code)
    }

    /// Whether a field other than the id has a value that was not read.
    pub(crate) fn is_lost_value(self) -> bool {
        matches!(
            self,
            DuplicateKey
                | EmptyLink
                | EmptySource
                | EmptyVerification
                | ImpossibleDate
                | ImpossibleValue
                | ImpossibleVerified
                | NotAMap
        )
    }

    /// Whether what a note says is lost or contradicts another note.
    pub(crate) fn is_error(self) -> bool {
        matches!(
            self,
            Conflict
                | DuplicateId
                | FrontmatterBroken
                | FrontmatterUnclosed
                | ImpossibleDate
                | ImpossibleId
                | ImpossibleValue
                | ImpossibleVerified
                | NotUtf8
        )
    }
}

impl Serialize for DiagnosticCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Something about a note that was tolerated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What kind of defect it is.
    pub code: DiagnosticCode,
    /// The line of the file, from 1, where one can be named.
    pub line: Option<usize>,
    /// One sentence.
    pub message: String,
}

impl Diagnostic {
    /// Makes a diagnostic of the whole file.
    pub(crate) fn new(code: DiagnosticCode, message: impl Into<String>) -> Self {
        Self { code, line: None, message: message.into() }
    }

    /// Whether it is an error: what the note says is lost or contradicts another note.
    pub fn is_error(&self) -> bool {
        self.code.is_error()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_name_that_leads_back() {
        for (code, name) in NAMES {
            assert_eq!((code.as_str(), DiagnosticCode::from_name(name)), (name, Some(code)));
        }
        assert!(NAMES.is_sorted());
        assert_eq!(NAMES.len(), TooLong as usize + 1);
    }
}
