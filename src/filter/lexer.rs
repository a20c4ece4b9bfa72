//! The tokens of a filter.

/// A token with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FilterToken {
    /// Its first character, from 0.
    pub(super) start: usize,
    pub(super) kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// A word without quotes: a name, a value, or `and`, `or`, `not`, `in`.
    Word(String),
    /// A text in quotes.
    Quoted(String),
    /// The name of a query, behind `@`.
    Query(String),
    /// One of [`SIGNS`].
    Sign(&'static str),
}

/// The signs, the longer ones first.
const SIGNS: [&str; 11] = ["!=", "<=", ">=", "=", "<", ">", "~", "!", "(", ")", ","];
const QUOTES: [char; 2] = ['"', '\''];

/// A text that is no sequence of tokens: the place, and what is wrong.
pub(super) type LexicalError = (usize, String);

/// Divides a filter into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<FilterToken>, LexicalError> {
    let (mut tokens, mut rest, mut start) = (Vec::new(), text, 0);
    while let Some(first) = rest.chars().next() {
        let (kind, len) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if QUOTES.contains(&first) {
            let (quoted, len) = quoted(rest, first).ok_or_else(|| (start, format!("{first} without an end")))?;
            (Some(TokenKind::Quoted(quoted)), len)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Some(TokenKind::Sign(sign)), sign.len())
        } else {
            let len = rest.find(ends_word).unwrap_or(rest.len());
            let word = rest.get(..len).unwrap_or_default();
            let query = word.strip_prefix('@').map(|name| TokenKind::Query(name.to_owned()));
            (Some(query.unwrap_or_else(|| TokenKind::Word(word.to_owned()))), len)
        };
        tokens.extend(kind.map(|kind| FilterToken { start, kind }));
        let (read, more) = rest.split_at_checked(len).unwrap_or((rest, ""));
        start += read.chars().count();
        rest = more;
    }
    Ok(tokens)
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || QUOTES.contains(&c) || matches!(c, '=' | '<' | '>' | '~' | '!' | '(' | ')' | ',')
}

/// Returns the text in quotes at the beginning of `text`, and the bytes of it with its quotes; `None` without an end. A
/// backslash takes the meaning from a quote or a backslash behind it.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let (mut inside, mut chars) = (String::new(), text.char_indices().skip(1).peekable());
    while let Some((index, c)) = chars.next() {
        if c == quote {
            return Some((inside, index + c.len_utf8()));
        }
        let escaped = chars.peek().map(|(_, next)| *next).filter(|next| c == '\\' && (*next == quote || *next == '\\'));
        inside.push(escaped.unwrap_or(c));
        if escaped.is_some() {
            chars.next();
        }
    }
    None
}
