//! Filter expressions on fields: `key`, `!key`, `key=value`, `key!=value`, `key>=3`, `key<2025-03-01`.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::error::Error;
use crate::note::Value;
use crate::store::NoteHandle;

/// A parsed filter expression.
#[derive(Debug, Clone)]
pub struct FieldFilter {
    key: String,
    test: FieldTest,
    /// Whether the field must be absent or fail the test.
    is_negated: bool,
}

#[derive(Debug, Clone)]
enum FieldTest {
    Present,
    Equals(String),
    Compares(ComparisonOperator, Operand),
}

/// Tells whether an operator allows an order of its operands.
type ComparisonOperator = fn(Ordering) -> bool;

/// The right side of a comparison: a number, or a date as text.
#[derive(Debug, Clone)]
enum Operand {
    Number(f64),
    Date(String),
}

/// The comparison operators, the longer ones first.
const SIGNS: [(&str, ComparisonOperator); 4] =
    [(">=", Ordering::is_ge), ("<=", Ordering::is_le), (">", Ordering::is_gt), ("<", Ordering::is_lt)];

impl FieldFilter {
    /// Parses expressions, which are combined by `and`.
    ///
    /// # Errors
    /// `Usage` with the accepted forms.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>, Error> {
        texts.iter().map(|text| Self::parse(text)).collect()
    }

    fn parse(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| {
            Error::usage(format!("`{text}` is not a filter expression")).hint(
                "expected key, !key, key=value, key!=value, or key with one of > >= < <= and a number or YYYY-MM-DD",
            )
        })
    }

    /// Tells whether the expression asks for notes with a status.
    pub fn asks_for_status(&self) -> bool {
        self.key == "status" && !self.is_negated
    }

    /// Tells whether a note satisfies the expression.
    pub fn matches(&self, note: &NoteHandle) -> bool {
        let passes = field(note, &self.key).is_some_and(|field| match &self.test {
            FieldTest::Present => true,
            FieldTest::Equals(expected) => any_text(&field, &|text| equals(text, expected)),
            FieldTest::Compares(allows, operand) => {
                any_text(&field, &|text| compare(text, operand).is_some_and(allows))
            }
        });
        passes != self.is_negated
    }
}

fn parse(text: &str) -> Option<FieldFilter> {
    let text = text.trim();
    let (key, rest) = text.split_at_checked(text.find(['=', '<', '>']).unwrap_or(text.len()))?;
    let (positive_key, test) = if rest.is_empty() {
        (key.strip_prefix('!'), FieldTest::Present)
    } else if let Some(value) = rest.strip_prefix('=') {
        // `!=` holds for another value and for an absent field.
        (key.strip_suffix('!'), FieldTest::Equals(value.trim().to_owned()))
    } else {
        let comparison = SIGNS.iter().find_map(|(sign, comparison)| Some((rest.strip_prefix(sign)?, *comparison)));
        let (operand_text, comparison) = comparison?;
        (None, FieldTest::Compares(comparison, operand(operand_text.trim())?))
    };
    let (key, is_negated) = (positive_key.unwrap_or(key).trim(), positive_key.is_some());
    let is_key = !key.is_empty() && !key.contains(|c: char| c == '!' || c.is_whitespace());
    is_key.then(|| FieldFilter { key: key.to_owned(), test, is_negated })
}

fn operand(text: &str) -> Option<Operand> {
    parse_number(text).map(Operand::Number).or_else(|| is_date(text).then(|| Operand::Date(text.to_owned())))
}

/// Parses a decimal number, without the `inf`, `nan` and `1_000` of programming languages.
fn parse_number(text: &str) -> Option<f64> {
    let is_decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    let parse_number: f64 = is_decimal.then(|| text.parse().ok()).flatten()?;
    parse_number.is_finite().then_some(parse_number)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn equals(text: &str, expected: &str) -> bool {
    match (parse_number(text), parse_number(expected)) {
        (Some(text), Some(expected)) => text == expected,
        _ => text == expected,
    }
}

/// Compares a text with an operand; `None` if its type differs. Dates are compared by their first ten characters.
fn compare(text: &str, operand: &Operand) -> Option<Ordering> {
    match operand {
        Operand::Number(expected) => parse_number(text)?.partial_cmp(expected),
        Operand::Date(expected) => {
            let day = text.get(..10).filter(|day| is_date(day))?;
            Some(day.cmp(expected))
        }
    }
}

/// Returns a field: a custom one, else an unknown one, else a known one.
fn field<'a>(note: &'a NoteHandle, key: &str) -> Option<Cow<'a, Value>> {
    let named = note.extra_fields().custom.iter().chain(note.extra_fields().unknown).find(|(name, _)| name == key);
    if let Some((_, value)) = named {
        return (!value.is_null()).then_some(Cow::Borrowed(value));
    }
    let texts = |texts: &[&str]| (!texts.is_empty()).then(|| texts.iter().map(|text| Value::text(*text)).collect());
    let value = match key {
        "id" => Value::text(note.id.as_str()),
        "title" => Value::text(note.title()),
        "type" => Value::text(note.list_fields().kind),
        "path" => Value::text(&note.path),
        "created" => Value::text(note.list_fields().created_as_written()?.as_str()),
        "updated" => Value::text(note.list_fields().updated_as_written()?.as_str()),
        "date" => Value::text(note.list_fields().day()?.to_string()),
        "summary" => Value::text(note.list_fields().summary?),
        "value" => Value::text(note.value_or_default().to_string()),
        "verified" => Value::text(note.verified()?.to_string()),
        "tags" => Value::List(texts(&note.tags())?),
        "aliases" => Value::List(texts(&note.aliases())?),
        "compacts" => Value::List(texts(&note.relations().compacts)?),
        "sources" => Value::List(texts(&note.sources().iter().map(|source| source.url.as_str()).collect::<Vec<_>>())?),
        "links" => Value::List(texts(&note.link_fields().typed.iter().map(|(_, target)| *target).collect::<Vec<_>>())?),
        _ => return None,
    };
    Some(Cow::Owned(value))
}

/// Tells whether a text, or any item of a list, satisfies a predicate.
fn any_text(value: &Value, passes: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::Text { text, .. } => passes(text),
        Value::List(items) => items.iter().any(|item| any_text(item, passes)),
        Value::Map(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(expression: &str) -> bool {
        let text = "---\nid: n\ntitle: T\nvalue: 70\ntags: [a, b]\nauthor: Ann\nupdated: 2025-03-05T10:00:00Z\ncustom:\n  \
                    effort: 3\n  status: done\n  ratio: 0.50\n  empty: \"\"\n  nothing:\n  due: 2025-03-05\n  value: 5\n---\n";
        let note = NoteHandle::parse("notes/n.md", text.as_bytes().to_vec());
        FieldFilter::parse(expression).unwrap().matches(&note)
    }

    #[test]
    fn every_form_selects_what_it_says() {
        for yes in [
            "effort", "!missing", "effort=3", "effort=3.0", "status=done", "effort>2", "effort>=3", "effort<3.5",
            "effort<=3", "effort>-1", "due>2025-03-04", "due>=2025-03-05", "due<2025-03-06", "due<=2025-03-05",
            "empty=", "empty", "author=Ann", "tags=b", "type=fleeting", "updated>=2025-03-05", "updated<2025-03-06",
            "value=5", "ratio=.5", "status!=open", "effort != 4", "missing!=done", "tags!=c", " effort >= 3 ",
        ] {
            assert!(passes(yes), "{yes}");
        }
        for no in [
            "missing", "nothing", "!effort", "effort=4", "status=Done", "effort>3", "effort<3", "status>1",
            "due>2025-03-05", "missing=", "missing>1", "effort=", "status>2025-01-01", "effort>2025-01-01", "value=70",
            "tags=c", "status!=done", "effort!=3.0", "tags!=b",
        ] {
            assert!(!passes(no), "{no}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "", "!", "=x", "a>", "a>x", "a>=2025-02-30", "a b", "!!a", "a<nan", "a>inf", ">3", "a>3x", "!a=3", "a!>3",
            "!=3",
        ] {
            assert_eq!(FieldFilter::parse(bad).err().map(|error| error.kind.exit_code()), Some(2), "{bad}");
        }
    }
}
