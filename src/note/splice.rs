//! Replacement of byte ranges of a text.

use std::ops::Range;

/// Replaces disjoint byte ranges of a text, given in any order; every other byte stays. Equal replacements count once.
/// An error says that two ranges overlap, or that one is not on character boundaries.
pub(crate) fn with_spans(text: &str, mut spans: Vec<(Range<usize>, String)>) -> Result<String, String> {
    spans.sort_by(|(a, new_a), (b, new_b)| (a.start, a.end, new_a).cmp(&(b.start, b.end, new_b)));
    spans.dedup();
    let added: usize = spans.iter().map(|(_, new)| new.len()).sum();
    let (mut result, mut offset) = (String::with_capacity(text.len() + added), 0);
    for (span, new) in spans {
        let before = text.get(offset..span.start).filter(|_| text.is_char_boundary(span.end) && span.start <= span.end);
        result.push_str(before.ok_or("two changes affect the same bytes")?);
        result.push_str(&new);
        offset = span.end;
    }
    result.push_str(text.get(offset..).unwrap_or_default());
    Ok(result)
}

pub(super) fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    debug_assert!(text.get(range.clone()).is_some(), "{range:?} is not a range of the text");
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_replaced_where_they_were_given() {
        let replaced = |spans: &[(Range<usize>, &str)]| {
            with_spans("aébcd", spans.iter().map(|(span, new)| (span.clone(), (*new).to_owned())).collect())
        };
        assert_eq!(replaced(&[]).as_deref(), Ok("aébcd"));
        assert_eq!(replaced(&[(4..5, "C"), (0..1, "long"), (3..3, "+"), (4..5, "C")]).as_deref(), Ok("longé+bCd"));
        for bad in [&[(0..3, ""), (1..4, "")][..], &[(0..1, "x"), (0..1, "y")], &[(2..3, "")], &[(5..9, "")]] {
            assert!(replaced(bad).is_err(), "{bad:?}");
        }
        #[expect(clippy::reversed_empty_ranges)]
        let turned = replaced(&[(3..1, "")]);
        assert!(turned.is_err());
    }
}
