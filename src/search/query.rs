//! What a query's text means. Every text means something: what is no known syntax is words.

/// A query: its parts in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(super) parts: Vec<Part>,
    /// The whole text.
    pub(super) text: String,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Words; a note need not hold them.
    Words(String),
    /// `"words"`: they stand side by side.
    Phrase(String),
    /// `start*`: any word that begins so.
    Prefix(String),
    /// `-word`, `-"words"`: the note does not hold it.
    Without(String),
    /// `tag:x`, `-tag:x`: the note has the tag, or has it not.
    Tag(String, bool),
    /// `type:x`, `-type:x`: the note is of the type, or is not.
    Kind(String, bool),
    /// `title:word`, `title:"words"`: the title holds it.
    Title(String),
}

impl Query {
    /// Reads a query.
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (part, after) = next_part(rest);
            match (part, parts.last_mut()) {
                (Part::Words(word), Some(Part::Words(words))) => {
                    words.push(' ');
                    words.push_str(&word);
                }
                (part, _) => parts.push(part),
            }
            rest = after.trim_start();
        }
        Self { parts, text: text.to_owned() }
    }

    /// Returns the query as one line, without quotes around the whole of it.
    pub(super) fn whole(&self) -> &str {
        self.text.trim().trim_matches(['"', '“', '”', '„'])
    }
}

/// Takes the first part of a text that does not begin with white space.
fn next_part(text: &str) -> (Part, &str) {
    let without = text.strip_prefix('-').filter(|rest| !rest.starts_with(['-', ' ']));
    let body = without.unwrap_or(text);
    if let Some((phrase, after)) = quoted(body) {
        let part = if without.is_some() { Part::Without } else { Part::Phrase };
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
        (Some(_), _) if has_text => Part::Without(word.to_owned()),
        (None, Some(start)) if is_word(start) => Part::Prefix(start.to_owned()),
        _ => Part::Words(first_word(text).0.to_owned()),
    };
    (part, after)
}

type Field = fn(String, bool) -> Part;

const FIELDS: [(&str, Field); 3] =
    [("tag:", Part::Tag), ("type:", Part::Kind), ("title:", |text, _| Part::Title(text))];

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns what stands in the quotes that a text begins with, and what follows; `None` where it
/// begins with none, or they are not closed, or hold nothing.
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

    fn parts(text: &str) -> Vec<Part> {
        Query::parse(text).parts
    }

    #[test]
    fn every_form_is_understood() {
        let text = |text: &str| text.to_owned();
        assert_eq!(
            parts("crash  safe \"torn write\" -linux log* tag:fsync type:moc title:rename -tag:old -\"a b\" end"),
            [
                Part::Words(text("crash safe")),
                Part::Phrase(text("torn write")),
                Part::Without(text("linux")),
                Part::Prefix(text("log")),
                Part::Tag(text("fsync"), true),
                Part::Kind(text("moc"), true),
                Part::Title(text("rename")),
                Part::Tag(text("old"), false),
                Part::Without(text("a b")),
                Part::Words(text("end")),
            ]
        );
        assert_eq!(
            parts("title:\"two words\" tag:\"a b\""),
            [Part::Title(text("two words")), Part::Tag(text("a b"), true)]
        );
        assert_eq!(
            parts("「停電」 “a phrase” x"),
            [Part::Words(text("「停電」")), Part::Phrase(text("a phrase")), Part::Words(text("x"))]
        );
    }

    #[test]
    fn anything_else_is_words() {
        for odd in [
            "?", "-", "--", "- x", "c++ (why", "\"open", "*", "**", "a b* c*d", "tag:", "title: x", "--flag", "\"\"",
            "x:y", "(", "-*", "-?",
        ] {
            let only_words = parts(odd).iter().all(|part| matches!(part, Part::Words(_) | Part::Prefix(_)));
            assert!(only_words, "{odd}: {:?}", parts(odd));
        }
        assert_eq!(parts(""), []);
        assert_eq!(parts(" \n\t "), []);
    }
}
