//! What had to be tolerated when a note was read.

use serde::{Serialize, Serializer};

use crate::codec::named::named;

named! {
    /// What kind of defect a diagnostic is about. Names and variants are public in answers, and never change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DiagnosticCode {
        /// A byte order mark begins the file.
        ByteOrderMark = "byte-order-mark",
        /// A text has the markers of a merge that nobody resolved.
        Conflict = "unresolved-conflict",
        /// Two notes have the id.
        DuplicateId = "duplicate-id",
        /// A field is given twice.
        DuplicateKey = "duplicate-key",
        /// A link names no note.
        EmptyLink = "empty-link",
        /// A source has neither an address nor a title.
        EmptySource = "empty-source",
        /// An entry of `verified` does not say by whom.
        EmptyVerification = "empty-verification",
        /// The frontmatter is not YAML, not TOML or not a map.
        FrontmatterBroken = "frontmatter-broken",
        /// The frontmatter has no end.
        FrontmatterUnclosed = "frontmatter-unclosed",
        /// An edit by hand changed the id.
        IdChanged = "id-changed",
        /// A date is none.
        ImpossibleDate = "impossible-date",
        /// An id that no note can have.
        ImpossibleId = "impossible-id",
        /// A value that is no whole number from 0 to 100.
        ImpossibleValue = "impossible-value",
        /// A value of `verified` that is neither true nor false.
        ImpossibleVerified = "impossible-verified",
        /// The body is parsed in part.
        LongBody = "long-body",
        /// The id is derived from the path.
        NoId = "no-id",
        /// The title is derived from the text or the path.
        NoTitle = "no-title",
        /// A field is no list.
        NotAList = "not-a-list",
        /// A field is no map.
        NotAMap = "not-a-map",
        /// A field is no text.
        NotAText = "not-a-text",
        /// Bytes that are not UTF-8.
        NotUtf8 = "not-utf-8",
        /// NUL characters.
        Nul = "nul",
        /// A second block of frontmatter.
        SecondFrontmatter = "second-frontmatter",
        /// The file is read in part.
        TooLong = "too-long",
    }
}

use DiagnosticCode::*;

impl DiagnosticCode {
    /// Returns the code with a name; `None` if there is none.
    pub(crate) fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == text)
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
        serializer.serialize_str(self.name())
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
        for code in DiagnosticCode::ALL {
            assert_eq!(DiagnosticCode::from_name(code.name()), Some(code));
        }
    }
}
