//! Evaluates filters for notes: fields, links, days, confidence.

use std::borrow::Cow;

use super::assessment::ConfidenceSource;
use super::{Namespaces, Session, day_of};
use crate::calendar::Period;
use crate::error::Error;
use crate::filter::{Comparison, Condition, Expression, FieldTest, FilterContext, Key, parse, parse_field_test};
use crate::request::Filters;
use crate::store::{NoteIdx, Store};

/// A filter for the notes of a store.
pub struct NoteFilter<'a, 's> {
    session: &'a Session<'s>,
    check: ResolvedExpression,
    confidence: Option<ConfidenceSource<'a, 's>>,
    /// Whether the filter asks for notes with a status.
    pub asks_for_status: bool,
}

/// An expression whose names of notes are resolved.
enum ResolvedExpression {
    All(Vec<ResolvedExpression>),
    Any(Vec<ResolvedExpression>),
    Not(Box<ResolvedExpression>),
    Field(FieldTest),
    /// Whether the note has a link to one of the notes, or one of them to it; to any note if there are none.
    Links {
        is_outgoing: bool,
        notes: Option<Vec<NoteIdx>>,
    },
    Broken,
    Confidence(Condition),
    Trust(Condition),
    /// Whether the note is in one of the namespaces; in any if there are none.
    Namespace(Option<Namespaces>),
    Day(Condition),
}

/// Parses the filters of a request, which must all hold.
///
/// # Errors
/// `Usage` with the place of a mistake.
pub fn parse_filters(store: &Store, filters: &Filters) -> Result<Expression, Error> {
    let (today, queries) = (|| store.today.day(), &store.config.queries);
    let query = |name: &str| queries.get(name).map(String::as_str);
    let context = FilterContext { today: &today, query: &query };
    let tests = filters.field_tests.iter().map(|text| parse_field_test(text, &today));
    let expressions = filters.expressions.iter().map(|text| parse(text, &context));
    let parts = short_forms(filters).into_iter().map(Ok).chain(tests).chain(expressions);
    Ok(Expression::All(parts.collect::<Result<_, _>>()?))
}

/// Returns the expressions that flags are short for.
fn short_forms(filters: &Filters) -> Vec<Expression> {
    let Filters { min_value, kinds, tags, since, until, expressions: _, field_tests: _ } = filters;
    let one_of = |field, values: &[String]| {
        (!values.is_empty()).then(|| Expression::test(Key::Own(field), Condition::OneOf(values.to_vec())))
    };
    let least = |least| Condition::Number(Comparison::GreaterOrEqual, f64::from(least));
    let day =
        |day, comparison| Expression::test(Key::Day, Condition::Days(comparison, Period { from: Some(day), to: day }));
    [
        one_of("type", kinds),
        one_of("tags", tags),
        since.map(|since| day(since, Comparison::GreaterOrEqual)),
        until.map(|until| day(until, Comparison::LessOrEqual)),
        min_value.map(|value| Expression::test(Key::Own("value"), least(value))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl<'a, 's> NoteFilter<'a, 's> {
    /// Makes the filter of a request.
    ///
    /// # Errors
    /// `Usage` with the place of a mistake, or if a named note is not unique; `NoNote` if it does not exist.
    pub fn new(session: &'a Session<'s>, filters: &Filters) -> Result<Self, Error> {
        Self::of(session, parse_filters(session.store, filters)?)
    }

    /// Makes a filter of an expression.
    ///
    /// # Errors
    /// `NoNote` if a named note does not exist; `Usage` if it is not unique.
    pub fn of(session: &'a Session<'s>, expression: Expression) -> Result<Self, Error> {
        let asks_for_status = expression.asks_for_status();
        let check = ResolvedExpression::new(expression, session.store)?;
        let confidence = check.has_confidence().then(|| ConfidenceSource::new(session)).transpose()?;
        Ok(Self { session, check, confidence, asks_for_status })
    }

    /// Tells whether a note satisfies the filter.
    pub fn matches(&self, note: NoteIdx) -> bool {
        self.passes(&self.check, note)
    }

    fn passes(&self, check: &ResolvedExpression, note: NoteIdx) -> bool {
        match check {
            ResolvedExpression::All(parts) => parts.iter().all(|part| self.passes(part, note)),
            ResolvedExpression::Any(parts) => parts.iter().any(|part| self.passes(part, note)),
            ResolvedExpression::Not(part) => !self.passes(part, note),
            ResolvedExpression::Field(test) => {
                let note = &self.session.store.notes()[note];
                let texts = match &test.key {
                    Key::Own(name) => note.own_texts(name),
                    Key::Field(name) => note.field_texts(name),
                    _ => None,
                };
                let holds = |texts: &[Cow<'_, str>]| texts.iter().any(|text| test.condition.holds_for(text));
                texts.is_some_and(|texts| test.condition == Condition::Present || holds(&texts))
            }
            ResolvedExpression::Day(condition) => {
                day_of(&self.session.store.notes()[note]).is_some_and(|day| condition.holds_for_day(day))
            }
            ResolvedExpression::Links { is_outgoing, notes } => {
                let is_meant = |other: NoteIdx| notes.as_ref().is_none_or(|notes| notes.contains(&other));
                let graph = self.session.graph();
                if *is_outgoing {
                    graph.outgoing(note).any(|edge| is_meant(edge.to))
                } else {
                    graph.incoming(note).any(|edge| is_meant(edge.from))
                }
            }
            ResolvedExpression::Broken => {
                let (store, mut targets) = (self.session.store, self.session.graph().unresolved(note));
                targets.any(|target| store.leads_nowhere(&store.notes()[note], target))
            }
            ResolvedExpression::Confidence(condition) => self.confidence.as_ref().is_some_and(|source| {
                let confidence = source.of(note);
                condition.holds_for(&confidence.overall.to_string()) || condition.holds_for(confidence.label())
            }),
            ResolvedExpression::Trust(condition) => {
                self.confidence.as_ref().is_some_and(|source| condition.holds_for(&source.trust_of(note).to_string()))
            }
            ResolvedExpression::Namespace(namespaces) => {
                let note = &self.session.store.notes()[note];
                match namespaces {
                    Some(namespaces) => namespaces.contains(note),
                    None => Namespaces::has_any(note),
                }
            }
        }
    }
}

impl ResolvedExpression {
    fn new(expression: Expression, store: &Store) -> Result<Self, Error> {
        let all =
            |parts: Vec<Expression>| parts.into_iter().map(|part| Self::new(part, store)).collect::<Result<_, _>>();
        Ok(match expression {
            Expression::All(parts) => Self::All(all(parts)?),
            Expression::Any(parts) => Self::Any(all(parts)?),
            Expression::Not(part) => Self::Not(Box::new(Self::new(*part, store)?)),
            Expression::Test(test) => match test.key {
                Key::LinksTo | Key::LinkedFrom => {
                    let named = |names: Vec<String>| names.iter().map(|name| store.resolve(name)).collect();
                    let notes = if let Condition::OneOf(names) = test.condition { Some(named(names)) } else { None };
                    Self::Links { is_outgoing: test.key == Key::LinksTo, notes: notes.transpose()? }
                }
                Key::Broken => Self::Broken,
                Key::Confidence => Self::Confidence(test.condition),
                Key::Trust => Self::Trust(test.condition),
                Key::Namespace => match test.condition {
                    Condition::OneOf(names) => Self::Namespace(Some(Namespaces::new(&names))),
                    _ => Self::Namespace(None),
                },
                Key::Day => Self::Day(test.condition),
                Key::Field(_) | Key::Own(_) => Self::Field(test),
            },
        })
    }

    fn has_confidence(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::has_confidence),
            Self::Not(part) => part.has_confidence(),
            Self::Confidence(_) | Self::Trust(_) => true,
            Self::Field(_) | Self::Links { .. } | Self::Broken | Self::Namespace(_) | Self::Day(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::Date;

    use super::*;
    use crate::note::Note;
    use crate::store::Config;

    fn passes(expression: &str) -> bool {
        let text = "---\nid: n\ntitle: T\nvalue: 70\ntags: [a, b]\nauthor: Ann\nupdated: 2025-03-05T10:00:00Z\ncustom:\n  \
                    effort: 3\n  status: done\n  ratio: 0.50\n  empty: \"\"\n  nothing:\n  due: 2025-03-05\n  value: 5\n---\n";
        let note = Note::parse("notes/n.md", text.as_bytes().to_vec());
        let store = Store::from_notes(".qipu/".to_owned(), Config::default(), vec![note]);
        let texts = Filters { field_tests: vec![expression.to_owned()], ..Filters::default() };
        NoteFilter::new(&Session::new(&store), &texts).unwrap().matches(NoteIdx::new(0))
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
            let refused = parse_field_test(bad, &|| Date::constant(2025, 3, 5));
            assert_eq!(refused.err().map(|error| error.kind.exit_code()), Some(2), "{bad}");
        }
    }
}
