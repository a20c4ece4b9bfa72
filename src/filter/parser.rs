//! The parser of filters: recursive descent over tokens.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::lexer::{FilterToken, LexicalError, TokenKind, tokens};
use super::{Comparison, Condition, Expression, Key};
use crate::calendar::{self, Period};
use crate::error::Error;
use crate::escape::abbreviated;

/// The most characters of a filter.
const MAX_CHARS: usize = 4_096;
/// The most parentheses, `not` and queries around a test.
const MAX_DEPTH: usize = 64;
/// The most queries that one filter opens, and the most tests of it, those in queries included.
const MAX_QUERIES: usize = 32;
const MAX_TESTS: usize = 256;

const HINT: &str = "write tests such as `tag = linux`, `created >= yesterday`, `type in (a, b)` and `done`, joined by `and`, \
                    `or`, `not` and parentheses; `qipu search WORDS` searches the text of notes";

/// What a filter refers to.
pub struct FilterContext<'a> {
    /// The day relative to which dates are described.
    pub today: &'a dyn Fn() -> Date,
    /// Returns the filter of a query of the config.
    pub query: &'a dyn Fn(&str) -> Option<&'a str>,
}

/// What is wrong with a filter.
struct Failure {
    /// The query of the config whose filter is wrong; `None` for the given one.
    query: Option<String>,
    /// The character of that filter, from 0.
    character: usize,
    what: String,
}

/// Parses a filter.
///
/// # Errors
/// `Usage` with the place and what was expected there.
pub fn parse(text: &str, context: &FilterContext<'_>) -> Result<Expression, Error> {
    Parser::parse(text, context, 0, &mut Counts::default()).map_err(|failure| {
        let subject = failure.query.map_or_else(
            || format!("the filter `{}`", abbreviated(text)),
            |query| format!("the filter of the query `{}` in config.toml", abbreviated(&query)),
        );
        Error::usage(format!("{subject} is not valid at character {}: {}", failure.character + 1, failure.what))
            .hint(HINT)
    })
}

/// Tells whether a query of this name can be written in a filter: whether it is one word.
pub fn is_query_name(name: &str) -> bool {
    let tokens = tokens(&format!("@{name}")).unwrap_or_default();
    let is_query = |token: &FilterToken| token.kind == TokenKind::Query(name.to_owned());
    !name.is_empty() && tokens.len() == 1 && tokens.iter().all(is_query)
}

/// Parses a test of one field, as `--custom-filter` takes it: `key`, `!key`, `key=value`, `key!=value`, `key>=3`,
/// `key<2025-03-01`. Everything behind the sign is the value.
///
/// # Errors
/// `Usage` with the accepted forms.
pub fn parse_field_test(text: &str, today: &dyn Fn() -> Date) -> Result<Expression, Error> {
    field_test(text, today).ok_or_else(|| {
        Error::usage(format!("`{text}` is not a filter expression"))
            .hint("expected key, !key, key=value, key!=value, or key with one of > >= < <= and a number or YYYY-MM-DD")
    })
}

fn field_test(text: &str, today: &dyn Fn() -> Date) -> Option<Expression> {
    let text = text.trim();
    let (key, rest) = text.split_at_checked(text.find(['=', '<', '>']).unwrap_or(text.len()))?;
    let (positive_key, condition) = if rest.is_empty() {
        (key.strip_prefix('!'), Condition::Present)
    } else if let Some(value) = rest.strip_prefix('=') {
        // `!=` holds for another value and for an absent field.
        (key.strip_suffix('!'), Condition::OneOf(vec![value.trim().to_owned()]))
    } else {
        let (sign, comparison) = COMPARISONS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
        let is_date = Key::Field(key.trim().to_owned()).is_date();
        (None, ordered(is_date, comparison, rest.strip_prefix(sign)?.trim(), today)?)
    };
    let (key, is_negated) = (positive_key.unwrap_or(key).trim(), positive_key.is_some());
    let is_key = !key.is_empty() && !key.contains(|c: char| c == '!' || c.is_whitespace());
    let test = is_key.then(|| Expression::test(Key::Field(key.to_owned()), condition))?;
    Some(if is_negated { test.negated() } else { test })
}

/// The signs of an order, the longer ones first.
const COMPARISONS: [(&str, Comparison); 4] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// The signs of other languages as two of filters, and what is written for each.
const FOREIGN_SIGNS: [([&str; 2], &str); 5] =
    [(["=", "="], "="), (["<", ">"], "!="), (["!=", "="], "!="), (["=", ">"], ">="), (["=", "<"], "<=")];

/// Returns the comparison with a number, unless the field is a date, else with a day or a period; `None` if the text is
/// neither.
fn ordered(is_date: bool, comparison: Comparison, text: &str, today: &dyn Fn() -> Date) -> Option<Condition> {
    let number = super::parse_number(text).filter(|_| !is_date).map(|number| Condition::Number(comparison, number));
    number.or_else(|| Some(Condition::Days(comparison, period(text, is_date, today)?)))
}

/// Returns the days that a text means. `is_date`: a year is a period, and no number.
fn period(text: &str, is_date: bool, today: &dyn Fn() -> Date) -> Option<Period> {
    let year = Some(text).filter(|_| is_date).and_then(year);
    let day = || day_of_moment(text).map(|day| Period { from: Some(day), to: day });
    year.or_else(day).or_else(|| Some(calendar::parse_with_short_forms(text, today()).ok()?.period()))
}

/// Returns the day that a moment begins with, as that of a field is read.
fn day_of_moment(text: &str) -> Option<Date> {
    let is_moment = text.parse::<Timestamp>().is_ok() || text.parse::<DateTime>().is_ok();
    is_moment.then(|| super::date_in(text)).flatten()
}

/// Returns the days of a year of four digits. In a question such a number may be anything.
fn year(text: &str) -> Option<Period> {
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let first = is_year.then(|| Date::new(text.parse().ok()?, 1, 1).ok()).flatten()?;
    Some(Period { from: Some(first), to: first.last_of_year() })
}

struct Parser<'c, 'a> {
    tokens: Vec<FilterToken>,
    /// The number of tokens that are read.
    read: usize,
    /// The number of characters.
    end: usize,
    context: &'c FilterContext<'a>,
    depth: usize,
    counts: &'c mut Counts,
}

/// What was read of a filter and of the queries in it.
#[derive(Default)]
struct Counts {
    queries: usize,
    tests: usize,
    /// The queries around the current token, the outermost first.
    open: Vec<String>,
}

impl<'c, 'a> Parser<'c, 'a> {
    fn parse(
        text: &str,
        context: &'c FilterContext<'a>,
        depth: usize,
        counts: &'c mut Counts,
    ) -> Result<Expression, Failure> {
        let end = text.chars().count();
        if end > MAX_CHARS {
            return Err(Failure {
                query: None,
                character: MAX_CHARS,
                what: format!("more than {MAX_CHARS} characters"),
            });
        }
        let failure = |(character, what): LexicalError| Failure { query: None, character, what };
        let mut parser = Self { tokens: tokens(text).map_err(failure)?, read: 0, end, context, depth, counts };
        let expression = parser.alternatives()?;
        if parser.peek().is_some() {
            return Err(parser.expected("`and`, `or` or the end; a value of several words is written in quotes"));
        }
        Ok(expression)
    }

    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.read).map(|token| &token.kind)
    }

    /// Reads the next token if it is this word without quotes, in any case.
    fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(TokenKind::Word(next)) if next.eq_ignore_ascii_case(word));
        self.read += usize::from(is_next);
        is_next
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(TokenKind::Sign(next)) if *next == sign);
        self.read += usize::from(is_next);
        is_next
    }

    fn expected(&self, what: &str) -> Failure {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(TokenKind::Word(text) | TokenKind::Quoted(text)) => format!("`{}`", abbreviated(text)),
            Some(TokenKind::Query(name)) => format!("`@{}`", abbreviated(name)),
            Some(TokenKind::Sign(sign)) => format!("`{sign}`"),
        };
        self.failure(self.read, format!("expected {what}, found {found}"))
    }

    /// Returns a failure at a token.
    fn failure(&self, token: usize, what: String) -> Failure {
        Failure { query: None, character: self.tokens.get(token).map_or(self.end, |token| token.start), what }
    }

    fn alternatives(&mut self) -> Result<Expression, Failure> {
        Ok(one_or(self.separated(|parser| parser.take_word("or"), Self::conjunction)?, Expression::Any))
    }

    fn conjunction(&mut self) -> Result<Expression, Failure> {
        Ok(one_or(self.separated(|parser| parser.take_word("and"), Self::negation)?, Expression::All))
    }

    /// Parses one or more items. `has_next`: reads what separates two of them, if it is next.
    fn separated<T>(
        &mut self,
        has_next: impl Fn(&mut Self) -> bool,
        item: impl Fn(&mut Self) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let first = item(self)?;
        let mut items = vec![first];
        while has_next(self) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn negation(&mut self) -> Result<Expression, Failure> {
        if self.depth >= MAX_DEPTH {
            return Err(self.failure(self.read, format!("more than {MAX_DEPTH} parts inside one another")));
        }
        self.depth += 1;
        let expression =
            if self.take_word("not") || self.take_sign("!") { self.negation()?.negated() } else { self.primary()? };
        self.depth -= 1;
        Ok(expression)
    }

    fn primary(&mut self) -> Result<Expression, Failure> {
        if self.take_sign("(") {
            let inner = self.alternatives()?;
            return if self.take_sign(")") { Ok(inner) } else { Err(self.expected("`and`, `or` or `)`")) };
        }
        match self.peek().cloned() {
            Some(TokenKind::Query(name)) => self.open_query(&name),
            Some(TokenKind::Word(name)) if !is_keyword(&name) => self.test(Key::of(&name), &name),
            Some(TokenKind::Quoted(name)) => self.test(Key::Field(name.clone()), &name),
            _ => Err(self.expected("the name of a field, `@` with the name of a query, `not` or `(`")),
        }
    }

    /// Parses the filter of a query in its place.
    fn open_query(&mut self, name: &str) -> Result<Expression, Failure> {
        let Some(text) = (self.context.query)(name) else {
            return Err(self.failure(self.read, format!("config.toml has no query `{}`", abbreviated(name))));
        };
        if self.counts.open.iter().any(|open| open == name) {
            let circle = self.counts.open.iter().map(String::as_str).skip_while(|open| *open != name).chain([name]);
            let circle: Vec<String> = circle.map(|name| format!("`@{}`", abbreviated(name))).collect();
            return Err(self.failure(self.read, format!("a query contains itself: {}", circle.join(" opens "))));
        }
        self.counts.queries += 1;
        if self.counts.queries > MAX_QUERIES {
            return Err(self.failure(self.read, format!("it opens more than {MAX_QUERIES} queries")));
        }
        let in_query = |failure: Failure| Failure { query: failure.query.or_else(|| Some(name.to_owned())), ..failure };
        self.counts.open.push(name.to_owned());
        let expression = Parser::parse(text, self.context, self.depth, self.counts).map_err(in_query)?;
        self.counts.open.pop();
        self.read += 1;
        Ok(expression)
    }

    /// Parses a test, whose key is the next token.
    fn test(&mut self, key: Key, name: &str) -> Result<Expression, Failure> {
        let start = self.read;
        self.counts.tests += 1;
        if self.counts.tests > MAX_TESTS {
            return Err(self.failure(start, format!("more than {MAX_TESTS} tests")));
        }
        self.read += 1;
        let (condition, is_negated) = self.condition(&key, name)?;
        if let Some(rule) = key.rule().filter(|_| !key.allows(&condition)) {
            return Err(self.failure(start, format!("`{name}` {rule}")));
        }
        let test = Expression::test(key, condition);
        Ok(if is_negated { test.negated() } else { test })
    }

    /// Parses what follows the name of a field. Returns the condition, and whether it must not hold.
    fn condition(&mut self, key: &Key, name: &str) -> Result<(Condition, bool), Failure> {
        self.expect_known_sign()?;
        for (sign, is_negated) in [("=", false), ("!=", true)] {
            if self.take_sign(sign) {
                return Ok((self.equal(key)?, is_negated));
            }
        }
        if self.take_sign("~") {
            return Ok((Condition::Contains(self.value()?.to_lowercase()), false));
        }
        for (sign, comparison) in COMPARISONS {
            if self.take_sign(sign) {
                if key.is_date() {
                    return Ok((Condition::Days(comparison, self.period()?), false));
                }
                let (at, text) = (self.read, self.phrase()?);
                let condition = ordered(false, comparison, &text, self.context.today);
                let what = || match key.rule() {
                    Some(rule) => format!("`{name}` {rule}"),
                    None => format!("`{}` is neither a number nor a day or period", abbreviated(&text)),
                };
                return Ok((condition.ok_or_else(|| self.failure(at, what()))?, false));
            }
        }
        let before = self.read;
        let is_negated = self.take_word("not");
        if self.take_word("in") {
            return Ok((self.one_of(key)?, is_negated));
        }
        self.read = before;
        Ok((Condition::Present, false))
    }

    /// Fails at a sign of another language, and names the one of filters.
    fn expect_known_sign(&self) -> Result<(), Failure> {
        let sign = |token: usize| match self.tokens.get(token).map(|token| &token.kind) {
            Some(TokenKind::Sign(sign)) => Some(*sign),
            _ => None,
        };
        let (Some(first), Some(second)) = (sign(self.read), sign(self.read + 1)) else { return Ok(()) };
        let meant = FOREIGN_SIGNS.iter().find(|(foreign, _)| *foreign == [first, second]);
        let what = |meant: &str| format!("there is no `{first}{second}`; write `{meant}`");
        meant.map_or(Ok(()), |(_, meant)| Err(self.failure(self.read, what(meant))))
    }

    /// Parses the value of an equation.
    fn equal(&mut self, key: &Key) -> Result<Condition, Failure> {
        if key.is_date() {
            Ok(Condition::InPeriods(vec![self.period()?]))
        } else {
            Ok(Condition::OneOf(vec![self.value()?]))
        }
    }

    /// Parses what follows `in`: a list in parentheses, or the period that a date is in.
    fn one_of(&mut self, key: &Key) -> Result<Condition, Failure> {
        if !self.take_sign("(") {
            return if key.is_date() { self.equal(key) } else { Err(self.expected("`(` and the values of a list")) };
        }
        if key.is_date() {
            Ok(Condition::InPeriods(self.list(Self::period)?))
        } else {
            Ok(Condition::OneOf(self.list(Self::value)?))
        }
    }

    /// Parses the items of a list and the parenthesis behind it.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
        let items = self.separated(|parser| parser.take_sign(","), item)?;
        if self.take_sign(")") { Ok(items) } else { Err(self.expected("`,` or `)`")) }
    }

    /// Parses the words of a day or period.
    fn period(&mut self) -> Result<Period, Failure> {
        let (at, text) = (self.read, self.phrase()?);
        let what = || format!("`{}` is no day or period", abbreviated(&text));
        period(&text, true, self.context.today).ok_or_else(|| self.failure(at, what()))
    }

    fn value(&mut self) -> Result<String, Failure> {
        match self.peek().cloned() {
            Some(TokenKind::Quoted(text)) => {
                self.read += 1;
                Ok(text)
            }
            Some(TokenKind::Word(text)) if !is_keyword(&text) => {
                self.read += 1;
                Ok(text)
            }
            _ => Err(self.expected("a value")),
        }
    }

    /// Parses a value that may have several words.
    fn phrase(&mut self) -> Result<String, Failure> {
        let mut words = vec![self.value()?];
        while let Some(TokenKind::Word(word)) =
            self.peek().cloned().filter(|next| !matches!(next, TokenKind::Word(word) if is_keyword(word)))
        {
            words.push(word);
            self.read += 1;
        }
        Ok(words.join(" "))
    }
}

/// Whether a word without quotes is part of the grammar.
fn is_keyword(word: &str) -> bool {
    ["and", "or", "not", "in"].iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Returns the only part, or all of them joined.
fn one_or(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            join(parts)
        }
    }
}
