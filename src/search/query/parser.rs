//! Parses queries. Every text is a query: whatever is not syntax is words.

/// A parsed query: its parts in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(crate) parts: Vec<QueryPart>,
    /// The whole text.
    pub(crate) text: String,
    /// Whether the text is not a query that a user wrote, but one whose words may occur in notes: nothing in it is
    /// syntax, and no word of it is corrected.
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
    /// `-word`, `-"words"`: the note must not contain it.
    Without(String),
    /// `tag:x`, `-tag:x`: the note must have the tag, or must not.
    Tag(String, bool),
    /// `type:x`, `-type:x`: the note must be of the type, or must not.
    Kind(String, bool),
    /// `title:word`, `title:"words"`: the title must contain it.
    Title(String),
}

impl Query {
    /// Parses a query. O(bytes); there are no errors.
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

    /// Returns a query for the words of a text that was not written as a query, such as a user's prompt to an agent.
    pub fn verbatim(text: &str) -> Self {
        Self { parts: vec![QueryPart::Words(text.to_owned())], text: text.to_owned(), is_verbatim: true }
    }

    /// Returns the text without quotes around the whole.
    pub(crate) fn unquoted_text(&self) -> &str {
        self.text.trim().trim_matches(['"', '“', '”', '„'])
    }
}

/// Parses the first part of a text that does not begin with white space. Returns it and the rest.
fn next_part(text: &str) -> (QueryPart, &str) {
    let without = text.strip_prefix('-').filter(|rest| !rest.starts_with(['-', ' ']));
    let body = without.unwrap_or(text);
    if let Some((phrase, after)) = quoted(body) {
        let part = if without.is_some() { QueryPart::Without } else { QueryPart::Phrase };
        return (part(phrase.to_owned()), after);
    }
    for (name, field) in FIELDS {
        let Some(value) = body.strip_prefix(name) else { continue };
        let (value, after) = quoted(value).unwrap_or_else(|| first_word(value));
        let is_wanted = without.is_none();
        if !value.is_empty() && (is_wanted || name != "title:") {
            return (field(value.to_owned(), is_wanted), after);
        }
    }
    let (word, after) = first_word(body);
    let has_text = word.chars().any(char::is_alphanumeric);
    let part = match (without, word.strip_suffix('*')) {
        (Some(_), _) if has_text => QueryPart::Without(word.to_owned()),
        (None, Some(start)) if is_prefix(start) => QueryPart::Prefix(start.to_owned()),
        _ => QueryPart::Words(first_word(text).0.to_owned()),
    };
    (part, after)
}

type ParseField = fn(String, bool) -> QueryPart;

const FIELDS: [(&str, ParseField); 3] =
    [("tag:", QueryPart::Tag), ("type:", QueryPart::Kind), ("title:", |text, _| QueryPart::Title(text))];

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

fn first_word(text: &str) -> (&str, &str) {
    text.split_at_checked(text.find(char::is_whitespace).unwrap_or(text.len())).unwrap_or((text, ""))
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
            parts("crash  safe \"torn write\" -linux log* tag:fsync type:moc title:rename -tag:old -\"a b\" end"),
            [
                QueryPart::Words(text("crash safe")),
                QueryPart::Phrase(text("torn write")),
                QueryPart::Without(text("linux")),
                QueryPart::Prefix(text("log")),
                QueryPart::Tag(text("fsync"), true),
                QueryPart::Kind(text("moc"), true),
                QueryPart::Title(text("rename")),
                QueryPart::Tag(text("old"), false),
                QueryPart::Without(text("a b")),
                QueryPart::Words(text("end")),
            ]
        );
        assert_eq!(
            parts("title:\"two words\" tag:\"a b\""),
            [QueryPart::Title(text("two words")), QueryPart::Tag(text("a b"), true)]
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
            "x:y", "(", "-*", "-?",
        ] {
            let only_words = parts(text).iter().all(|part| matches!(part, QueryPart::Words(_) | QueryPart::Prefix(_)));
            assert!(only_words, "{text}: {:?}", parts(text));
        }
        assert_eq!(parts(""), []);
        assert_eq!(parts(" \n\t "), []);
    }
}
