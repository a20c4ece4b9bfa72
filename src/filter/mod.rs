//! The language of filters: `tag = linux and not (created < "last week")`. The rules are in
//! specs/reference/search-and-filters.md.
//!
//! An expression is parsed without a store; `context` evaluates it for notes.

mod lexer;
mod parser;

use std::cmp::Ordering;

use jiff::civil::Date;

use crate::calendar::Period;
pub use parser::{FilterContext, is_query_name, parse, parse_field_test};

/// The fields that hold a date, whose value is read as a day or a period.
const DATE_FIELDS: [&str; 3] = ["created", "updated", "date"];

/// A parsed filter.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// True if all are; true without any.
    All(Vec<Expression>),
    /// True if one is.
    Any(Vec<Expression>),
    /// True if the other is not.
    Not(Box<Expression>),
    /// A test of a field.
    Test(FieldTest),
}

/// A test of one property of a note.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldTest {
    /// The property.
    pub key: Key,
    /// What it must satisfy.
    pub condition: Condition,
}

/// A property of notes that a test is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A field: a custom one, else one that qipu does not know, else one of its own.
    Field(String),
    /// A field of qipu's own, whatever custom ones there are.
    Own(&'static str),
    /// The notes that it links to.
    LinksTo,
    /// The notes that link to it.
    LinkedFrom,
    /// Whether a link of it leads nowhere.
    Broken,
    /// How reliable it is, 0 to 1, or in a word.
    Confidence,
    /// How far its source is trusted, 0 to 1.
    Trust,
    /// The namespaces that it is in.
    Namespace,
    /// The day of a journal, else of the last change.
    Day,
}

impl Key {
    /// Returns the property with a name without quotes.
    fn of(name: &str) -> Self {
        match name {
            "links-to" => Self::LinksTo,
            "linked-from" => Self::LinkedFrom,
            "broken" => Self::Broken,
            "confidence" => Self::Confidence,
            "trust" => Self::Trust,
            "namespace" => Self::Namespace,
            "day" => Self::Day,
            _ => Self::Field(name.to_owned()),
        }
    }

    /// Whether it holds a date, so that a value is read as a day or a period.
    fn is_date(&self) -> bool {
        match self {
            Self::Field(name) => DATE_FIELDS.contains(&name.as_str()),
            key => *key == Self::Day,
        }
    }

    /// Returns what it takes, as the rest of a sentence; `None` if it takes any condition.
    fn rule(&self) -> Option<&'static str> {
        match self {
            Self::Field(_) | Self::Own(_) => None,
            Self::Broken => Some("takes no value"),
            Self::LinksTo | Self::LinkedFrom => Some("takes `=`, `!=` or `in` and the name of a note"),
            Self::Confidence => {
                Some("takes a number from 0 to 1, or `=`, `!=` or `in` and a label such as `low` or `high`")
            }
            Self::Trust => Some("takes a number from 0 to 1"),
            Self::Namespace => Some("takes `=`, `!=` or `in` and the name of a namespace"),
            Self::Day => Some("takes `=`, `!=`, `in`, `<`, `<=`, `>` or `>=` and a day or period"),
        }
    }

    /// Whether it takes a condition.
    fn allows(&self, condition: &Condition) -> bool {
        match (self, condition) {
            (Self::Field(_) | Self::Own(_), _) | (_, Condition::Present) => true,
            (Self::Confidence | Self::Trust, Condition::Number(_, number)) => (0.0..=1.0).contains(number),
            (Self::LinksTo | Self::LinkedFrom | Self::Confidence | Self::Namespace, condition) => {
                matches!(condition, Condition::OneOf(_))
            }
            (Self::Day, condition) => matches!(condition, Condition::Days(..) | Condition::InPeriods(_)),
            (Self::Broken | Self::Trust, _) => false,
        }
    }
}

/// A condition of a field. A list satisfies it if one of its items does; no condition holds for an absent field.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The note has the field.
    Present,
    /// It equals one of these texts, as numbers if both are.
    OneOf(Vec<String>),
    /// It contains this text, which is in lower case, in any case.
    Contains(String),
    /// It compares so with a number.
    Number(Comparison, f64),
    /// It is a date that compares so with a period: behind its end, before its first day, or in it.
    Days(Comparison, Period),
    /// It is a date in one of these periods.
    InPeriods(Vec<Period>),
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Expression {
    /// Tells whether the expression asks for notes with a status, and not only for notes without one.
    pub fn asks_for_status(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::asks_for_status),
            Self::Not(_) => false,
            Self::Test(test) => test.key == Key::Field("status".to_owned()),
        }
    }

    /// Returns the test that a property satisfies a condition.
    pub fn test(key: Key, condition: Condition) -> Self {
        Self::Test(FieldTest { key, condition })
    }

    /// Returns the test that it does not hold.
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Calls `visit` with all tests.
    pub fn for_each_test(&self, visit: &mut impl FnMut(&FieldTest)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.for_each_test(visit)),
            Self::Not(part) => part.for_each_test(visit),
            Self::Test(test) => visit(test),
        }
    }
}

impl Condition {
    /// Tells whether a text satisfies the condition.
    pub fn holds_for(&self, text: &str) -> bool {
        match self {
            Self::Present => true,
            Self::OneOf(values) => values.iter().any(|value| equals(text, value)),
            Self::Contains(part) => text.to_lowercase().contains(part),
            Self::Number(comparison, number) => {
                parse_number(text).and_then(|own| own.partial_cmp(number)).is_some_and(|order| comparison.allows(order))
            }
            Self::Days(..) | Self::InPeriods(_) => date_in(text).is_some_and(|day| self.holds_for_day(day)),
        }
    }

    /// Tells whether a day satisfies a condition on days, or that there is one.
    pub fn holds_for_day(&self, day: Date) -> bool {
        match self {
            Self::Days(comparison, period) => comparison.allows(order_of(day, *period)),
            Self::InPeriods(periods) => periods.iter().any(|period| period.contains(day)),
            other => *other == Self::Present,
        }
    }
}

/// Returns whether a day is before a period, in it, or behind it.
fn order_of(day: Date, period: Period) -> Ordering {
    if period.contains(day) {
        Ordering::Equal
    } else if day > period.to {
        Ordering::Greater
    } else {
        Ordering::Less
    }
}

/// Parses a decimal number, without the `inf`, `nan` and `1_000` of programming languages.
fn parse_number(text: &str) -> Option<f64> {
    let is_decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    let number: f64 = is_decimal.then(|| text.parse().ok()).flatten()?;
    number.is_finite().then_some(number)
}

/// Returns the date that a text begins with, as its first ten characters.
fn date_in(text: &str) -> Option<Date> {
    text.get(..10)?.parse().ok()
}

fn equals(text: &str, expected: &str) -> bool {
    match (parse_number(text), parse_number(expected)) {
        (Some(text), Some(expected)) => text == expected,
        _ => text == expected,
    }
}
