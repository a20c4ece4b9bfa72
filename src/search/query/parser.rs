//! Queries of `search` and questions. Every text is a query: whatever is not syntax is words, and a question has no
//! syntax.

/// A parsed query: its parts in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(crate) parts: Vec<QueryPart>,
    /// The whole text.
    pub(crate) text: String,
    /// Whether the text is one that nobody wrote as a query, such as a prompt to an agent: no word of it is corrected.
    pub(crate) is_verbatim: bool,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueryPart {
    /// Words; a note need not contain them.
    Words(String),
    /// `"words"`: adjacent, in this order.
    Phrase(String),
    /// `prefix*`: any word with the prefix.
    Prefix(String),
    /// Words that the note must not contain next to each other. Only a flag gives them: in a text, a hyphen before a word
    /// is more often part of a command line (`kill -9`) than an operator, and a note that it excludes is never seen.
    Without(String),
}

impl Query {
    /// Parses a query of `search`. O(bytes); there are no errors.
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (part, after) = next_part(rest);
            match (part, parts.last_mut()) {
                (QueryPart::Words(word), Some(QueryPart::Words(words))) => {
                    words.push(' ');
                    words.push_str(&word);
                }
                (part, _) => parts.push(part),
            }
            rest = after.trim_start();
        }
        Self { parts, text: text.to_owned(), is_verbatim: false }
    }

    /// Returns a query for all words of a question, as they are.
    pub fn question(text: &str) -> Self {
        Self { parts: vec![QueryPart::Words(text.to_owned())], text: text.to_owned(), is_verbatim: false }
    }

    /// Returns a query for the words of a text that was not written as a question, such as a user's prompt to an agent.
    pub fn verbatim(text: &str) -> Self {
        Self { is_verbatim: true, ..Self::question(text) }
    }

    /// Returns the query without the notes that contain one of some words or phrases.
    #[must_use]
    pub fn without(mut self, excluded: &[String]) -> Self {
        self.parts.extend(excluded.iter().cloned().map(QueryPart::Without));
        self
    }

    /// Returns the text without quotes around the whole.
    pub(crate) fn unquoted_text(&self) -> &str {
        self.text.trim().trim_matches(['"', '“', '”', '„'])
    }
}

/// Parses the first part of a text that does not begin with white space. Returns it and the rest.
fn next_part(text: &str) -> (QueryPart, &str) {
    if let Some((phrase, after)) = quoted(text) {
        return (QueryPart::Phrase(phrase.to_owned()), after);
    }
    let (word, after) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    let part = match word.strip_suffix('*') {
        Some(start) if is_prefix(start) => QueryPart::Prefix(start.to_owned()),
        _ => QueryPart::Words(word.to_owned()),
    };
    (part, after)
}

fn is_prefix(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the content of the quotes that a text begins with, and the rest; `None` if it does not begin with quotes, or
/// they are not closed or have no letter or digit between them.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(['"', '“', '„'])?;
    let (inside, after) = rest.split_once(['"', '”', '“'])?;
    inside.chars().any(char::is_alphanumeric).then_some((inside, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<QueryPart> {
        Query::parse(text).parts
    }

    #[test]
    fn every_form_is_parsed() {
        let text = |text: &str| text.to_owned();
        assert_eq!(
            parts("crash  safe \"torn write\" log* end"),
            [
                QueryPart::Words(text("crash safe")),
                QueryPart::Phrase(text("torn write")),
                QueryPart::Prefix(text("log")),
                QueryPart::Words(text("end")),
            ]
        );
        assert_eq!(
            parts("「停電」 “a phrase” x"),
            [QueryPart::Words(text("「停電」")), QueryPart::Phrase(text("a phrase")), QueryPart::Words(text("x"))]
        );
    }

    #[test]
    fn anything_else_is_words() {
        for text in [
            "?", "-", "--", "- x", "c++ (why", "\"open", "*", "**", "a b* c*d", "tag:", "title: x", "--flag", "\"\"",
            "x:y", "(", "tag:x", "type:moc", "title:x", "-*", "-?", "kill -9", "rm -rf", "ld: cannot find -lssl",
            "-\"a b\"", "-tag:x", "-type:x",
        ] {
            let only_words = parts(text).iter().all(|part| matches!(part, QueryPart::Words(_) | QueryPart::Prefix(_)));
            assert!(only_words, "{text}: {:?}", parts(text));
        }
        assert_eq!(parts(""), []);
        assert_eq!(parts(" \n\t "), []);
    }

    #[test]
    fn a_question_is_words() {
        for text in ["tag:x \"a b\" log* title:y -z", "", "“a” -"] {
            assert_eq!(Query::question(text).parts, [QueryPart::Words(text.to_owned())]);
            assert_eq!(Query::verbatim(text).parts, Query::question(text).parts);
        }
    }
}
