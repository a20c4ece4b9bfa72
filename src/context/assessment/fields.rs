//! What notes say of themselves as beliefs: fields that other programs may not know, read where they
//! make sense and passed over where they don't.

use jiff::civil::Date;

use crate::note::{Note, Value};
use crate::report::{Confidence, DIMENSIONS, LABELS};

/// Names of the fields.
const CONFIDENCE: &str = "confidence";
const TRUST: &str = "trust";
const VALID_FROM: &str = "valid_from";
const VALID_UNTIL: &str = "valid_until";
const AUTHOR: &str = "author";
const GENERATED: [&str; 3] = ["generated", "generated_by", "generated-by"];
/// In a map of dimensions: the number for all of them.
const OVERALL: &str = "overall";
const METHOD_QUALITY: &str = "method_quality";
/// What people write for `moderate`.
const MEDIUM: &str = "medium";

/// What a note says of how far it can be relied on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum StatedConfidence {
    /// One number.
    Overall(f64),
    /// Some dimensions, and perhaps a number for all of them.
    Dimensions([Option<f64>; 6], Option<f64>),
}

/// Returns the confidence that a note states, where that makes sense.
pub(super) fn confidence(note: &Note) -> Option<StatedConfidence> {
    match note.field(CONFIDENCE)? {
        value @ Value::Text { .. } => share_or_label(value).map(StatedConfidence::Overall),
        Value::Map(entries) => {
            let said = |name: &str| entries.iter().find(|(key, _)| key == name).and_then(|(_, value)| share(value));
            let (dimensions, overall) = (DIMENSIONS.map(said), said(OVERALL));
            let says_something = overall.is_some() || dimensions.iter().any(Option::is_some);
            says_something.then_some(StatedConfidence::Dimensions(dimensions, overall))
        }
        Value::List(_) => None,
    }
}

/// Returns the quality of method that a note states, where that makes sense.
pub(super) fn method_quality(note: &Note) -> Option<f64> {
    let place = DIMENSIONS.iter().position(|name| *name == METHOD_QUALITY)?;
    match confidence(note)? {
        StatedConfidence::Dimensions(dimensions, _) => dimensions.get(place).copied().flatten(),
        StatedConfidence::Overall(_) => None,
    }
}

/// Returns the trust that a note states, where that makes sense.
pub(super) fn trust(note: &Note) -> Option<f64> {
    share(note.field(TRUST)?)
}

/// Returns who wrote a note, where it says so.
pub(super) fn author(note: &Note) -> Option<String> {
    note.field(AUTHOR).map(Value::to_line).filter(|author| !author.trim().is_empty())
}

/// Tells whether a note says that a program made it.
pub(super) fn is_generated(note: &Note) -> bool {
    GENERATED.iter().any(|name| note.field(name).is_some_and(|value| !matches!(value.to_line().trim(), "" | "false")))
}

/// Tells whether what a note says holds on a day.
pub(super) fn is_valid(note: &Note, day: Date) -> bool {
    note.day_in(VALID_FROM).is_none_or(|from| from <= day) && note.day_in(VALID_UNTIL).is_none_or(|until| day <= until)
}

/// Reads a number from 0 to 1.
fn share(value: &Value) -> Option<f64> {
    let Value::Text { text, .. } = value else { return None };
    let number: f64 = text.trim().parse().ok()?;
    (0.0..=1.0).contains(&number).then_some(number)
}

fn share_or_label(value: &Value) -> Option<f64> {
    let Value::Text { text, .. } = value else { return None };
    let said = match text.trim() {
        MEDIUM => "moderate",
        said => said,
    };
    let label = LABELS.iter().find(|(label, _)| *label == said).map(|(_, number)| *number);
    label.or_else(|| share(value))
}

/// Returns the fields of a note that count as absent since they make no sense, each with what was
/// expected.
pub fn odd_fields(note: &Note) -> Vec<(&'static str, &'static str)> {
    let mut odd = Vec::new();
    if note.field(CONFIDENCE).is_some_and(|value| !is_confidence(value)) {
        odd.push((
            CONFIDENCE,
            "a number from 0 to 1, very-low, low, moderate, high, very-high, or a map of dimensions",
        ));
    }
    if note.field(TRUST).is_some() && trust(note).is_none() {
        odd.push((TRUST, "a number from 0 to 1"));
    }
    for name in [VALID_FROM, VALID_UNTIL] {
        if note.field(name).is_some() && note.day_in(name).is_none() {
            odd.push((name, "a date"));
        }
    }
    odd
}

fn is_confidence(value: &Value) -> bool {
    match value {
        Value::Map(entries) => {
            let is_known = |key: &str| key == OVERALL || DIMENSIONS.contains(&key);
            entries.iter().all(|(key, value)| is_known(key) && share(value).is_some())
        }
        value => share_or_label(value).is_some(),
    }
}

impl StatedConfidence {
    /// Returns the confidence, with dimensions that were not stated as they are derived. What is stated raises none
    /// unless `may_raise`.
    pub(super) fn completed(
        self,
        derived: [f64; 6],
        may_raise: bool,
        combine: impl Fn(&[f64; 6]) -> f64,
    ) -> Confidence {
        let counted = |stated: f64, usual: f64| if may_raise { stated } else { stated.min(usual) };
        match self {
            Self::Overall(overall) => match combine(&derived) {
                usual if overall > usual && !may_raise => Confidence { overall: usual, dimensions: Some(derived) },
                _ => Confidence { overall, dimensions: None },
            },
            Self::Dimensions(stated, overall) => {
                let mut dimensions = derived;
                for (have, stated) in dimensions.iter_mut().zip(stated) {
                    *have = stated.map_or(*have, |stated| counted(stated, *have));
                }
                let combined = combine(&dimensions);
                let overall = overall.map_or(combined, |overall| counted(overall, combined));
                Confidence { overall, dimensions: Some(dimensions) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(fields: &str) -> Note {
        Note::parse("notes/n.md", format!("---\nid: n\n{fields}\n---\nText.\n").into_bytes())
    }

    #[test]
    fn reads_what_makes_sense_and_tells_of_the_rest() {
        let stated = |fields: &str| confidence(&note(fields));
        assert_eq!(stated("confidence: 0.7"), Some(StatedConfidence::Overall(0.7)));
        assert_eq!(stated("confidence: very-high"), Some(StatedConfidence::Overall(0.95)));
        assert_eq!(stated("confidence: medium"), stated("confidence: moderate"));
        assert_eq!(stated("custom:\n  confidence: '1'"), Some(StatedConfidence::Overall(1.0)));
        let map = stated("confidence:\n  corroboration: 0.5\n  method_quality: 2");
        assert_eq!(map, Some(StatedConfidence::Dimensions([None, None, None, None, Some(0.5), None], None)));
        for odd in ["confidence: 1.5", "confidence: sure", "confidence: [1]", "confidence: nan", "confidence:\n  x: 1"]
        {
            assert_eq!(stated(odd), None, "{odd}");
            assert_eq!(odd_fields(&note(odd)).len(), 1, "{odd}");
        }
        assert_eq!(odd_fields(&note("trust: -1\nvalid_from: soon\nvalid_until: 2025-01-01")).len(), 2);
        assert!(odd_fields(&note("confidence:\ntrust: 0")).is_empty());
    }

    #[test]
    fn a_note_holds_from_its_first_day_to_its_last() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        let held = note("valid_from: 2025-02-01\nvalid_until: 2025-02-03T10:00:00Z");
        let holds = |text| is_valid(&held, day(text));
        assert_eq!(["2025-01-31", "2025-02-01", "2025-02-03", "2025-02-04"].map(holds), [false, true, true, false]);
        assert!(is_generated(&note("generated_by: a model")) && !is_generated(&note("generated: false")));
        assert_eq!(author(&note("author: Ann")).as_deref(), Some("Ann"));
    }
}
