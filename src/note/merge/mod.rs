//! Merging two versions of a note with the one they both come from, field by field.
//!
//! What comes out are three texts whose frontmatter is the same but for fields in which the sides
//! truly disagree. An ordinary merge by lines of these three then finds nothing to argue about in
//! the frontmatter but those fields, and merges the body as it always does.

mod comments;
mod field;
mod field_lines;
mod list;

pub(super) use list::item_at;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::items::plain;
use field::{LineEnding, ThreeWay};
use field_lines::{FieldLines, FieldSource, FieldText};

/// Three texts for a merge by lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeTexts {
    /// What both sides come from.
    pub base: String,
    /// Our side.
    pub ours: String,
    /// Their side.
    pub theirs: String,
}

/// Merges the frontmatter of three versions of a note. Line ends, and the frontmatter's order, are
/// those of ours.
///
/// # Errors
/// A sentence that says why the fields can't be told apart: no frontmatter, or none that is YAML.
/// A merge by lines is all that can be done then.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<MergeTexts, String> {
    let (base, theirs) = (with_line_ends_of(ours, base), with_line_ends_of(ours, theirs));
    let [base, ours, theirs] = [FieldLines::read(&base)?, FieldLines::read(ours)?, FieldLines::read(&theirs)?];
    if !ours.has_frontmatter() || !theirs.has_frontmatter() {
        return Err("one side has no frontmatter".to_owned());
    }
    let (rows, tail) = rows(&base, &ours, &theirs);
    let text = |place: usize, side: &FieldLines<'_>| written(&rows, &tail, place, &ours, side);
    Ok(MergeTexts { ours: text(0, &ours)?, base: text(1, &base)?, theirs: text(2, &theirs)? })
}

/// Tells whether a text's frontmatter, where it has one, can be read as fields.
pub fn is_sound(text: &str) -> bool {
    FieldLines::read(text).is_ok()
}

/// Gives a text the line ends of another, where that one has only one sort of them.
fn with_line_ends_of<'t>(model: &str, text: &'t str) -> Cow<'t, str> {
    let (all, long) = (model.matches('\n').count(), model.matches("\r\n").count());
    if all == 0 || (long != 0 && long != all) {
        return Cow::Borrowed(text);
    }
    let short = text.replace("\r\n", "\n");
    Cow::Owned(if long == 0 { short } else { short.replace('\n', "\r\n") })
}

/// A field of the result.
struct MergedField {
    key: String,
    /// Comments and blank lines above it, the same in all three texts.
    above: String,
    three: ThreeWay,
}

/// Merges all fields, and what stands below them. Fields stand as in ours; one that only theirs
/// has comes behind the field that it stands behind in theirs.
fn rows(base: &FieldLines<'_>, ours: &FieldLines<'_>, theirs: &FieldLines<'_>) -> (Vec<MergedField>, String) {
    let end = if ours.head.ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut rows = Vec::new();
    // Comments that somebody wrote above a field which is gone now.
    let mut left_over = String::new();
    for field in &ours.fields {
        let (in_base, in_theirs) = (base.field(&field.key), theirs.field(&field.key));
        let three = merged(&field.key, in_base, Some(field), in_theirs, end);
        let base_above = in_base.map_or("", |field| field.above);
        if three.iter().all(Option::is_none) {
            if field.above != base_above {
                left_over.push_str(field.above);
            }
            continue;
        }
        let above = merged_comments(base_above, field.above, in_theirs.map_or(base_above, |field| field.above));
        rows.push(MergedField { key: field.key.clone(), above: std::mem::take(&mut left_over) + &above, three });
    }
    let places: HashMap<String, usize> =
        rows.iter().enumerate().map(|(place, row)| (row.key.clone(), place + 1)).collect();
    // What comes before the first row, and behind each.
    let mut behind: Vec<Vec<MergedField>> = std::iter::repeat_with(Vec::new).take(rows.len() + 1).collect();
    let mut place = 0;
    for field in &theirs.fields {
        if let Some(own) = places.get(&field.key) {
            place = *own;
            continue;
        }
        let in_base = base.field(&field.key);
        if ours.field(&field.key).is_some() {
            continue;
        }
        let three = merged(&field.key, in_base, None, Some(field), end);
        if three.iter().all(Option::is_none) {
            left_over.push_str(&added_comments(in_base.map_or("", |field| field.above), "", field.above));
            continue;
        }
        if let Some(behind) = behind.get_mut(place) {
            behind.push(MergedField { key: field.key.clone(), above: field.above.to_owned(), three });
        }
    }
    let rows = std::iter::once(None).chain(rows.into_iter().map(Some)).zip(behind);
    let rows = rows.flat_map(|(row, behind)| row.into_iter().chain(behind)).collect();
    (rows, left_over + &merged_comments(base.tail, ours.tail, theirs.tail))
}

fn merged(
    key: &str,
    base: Option<&FieldSource<'_>>,
    ours: Option<&FieldSource<'_>>,
    theirs: Option<&FieldSource<'_>>,
    end: LineEnding,
) -> ThreeWay {
    let piece = |field: Option<&'_ FieldSource<'_>>| field.map(|field| field.piece.clone());
    let (base, ours, theirs) = (piece(base), piece(ours), piece(theirs));
    field::merge(key, base.as_ref(), ours.as_ref(), theirs.as_ref(), end)
}

/// Merges comments and blank lines; where both sides changed them, theirs' new ones come behind.
fn merged_comments(base: &str, ours: &str, theirs: &str) -> String {
    if theirs == base || theirs == ours {
        return ours.to_owned();
    }
    if ours == base {
        return theirs.to_owned();
    }
    format!("{ours}{}", added_comments(base, ours, theirs))
}

/// Returns the comments of theirs that nobody else has.
fn added_comments(base: &str, ours: &str, theirs: &str) -> String {
    let known: HashSet<&str> = base.lines().chain(ours.lines()).collect();
    let is_new = |line: &&str| line.starts_with('#') && !known.contains(line.trim_end());
    theirs.split_inclusive('\n').filter(is_new).collect()
}

/// Writes one of the three texts: the frontmatter with that text's ways of writing fields, and a
/// side's own body.
fn written(
    rows: &[MergedField],
    tail: &str,
    place: usize,
    ours: &FieldLines<'_>,
    side: &FieldLines<'_>,
) -> Result<String, String> {
    let pieces = || rows.iter().map(|row| row.three.get(place).and_then(Option::as_ref));
    let mut text = ours.head.to_owned();
    for (row, piece) in rows.iter().zip(pieces()) {
        text.push_str(&row.above);
        text.push_str(piece.map_or("", |piece| &piece.lines));
    }
    text.push_str(tail);
    text.push_str(ours.closing.trim_end_matches(['\r', '\n']));
    let closing = if side.has_frontmatter() { side.closing } else { ours.closing };
    text.push_str(closing.get(closing.trim_end_matches(['\r', '\n']).len()..).unwrap_or_default());
    text.push_str(side.body);
    let wanted: Vec<(&str, &FieldText)> =
        rows.iter().zip(pieces()).filter_map(|(row, piece)| Some((row.key.as_str(), piece?))).collect();
    let says = FieldLines::read(&text)?;
    let is_right = says.body == side.body
        && says.fields.len() == wanted.len()
        && says
            .fields
            .iter()
            .zip(wanted)
            .all(|(field, (key, piece))| field.key == key && plain(&field.piece.value) == plain(&piece.value));
    if is_right { Ok(text) } else { Err("a field's meaning depends on others".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::yaml_document::BYTES_PARSED;
    use super::*;

    fn note(yaml: &str) -> String {
        format!("---\n{yaml}---\nBody\n")
    }

    /// Merges three frontmatters; where they differ afterwards, the three with `|` between.
    fn merged(base: &str, ours: &str, theirs: &str) -> String {
        let MergeTexts { base, ours, theirs } = merge(&note(base), &note(ours), &note(theirs)).unwrap();
        let yaml = |text: &str| text.strip_prefix("---\n").unwrap().strip_suffix("---\nBody\n").unwrap().to_owned();
        if ours == base && ours == theirs {
            return yaml(&ours);
        }
        [ours, base, theirs].map(|text| yaml(&text)).join("|")
    }

    #[test]
    fn fields_are_merged_one_by_one() {
        for (base, ours, theirs, result) in [
            // Fields that one side added, took out, wrote in another way.
            ("id: a\n", "id: a\nx: 1\n", "id: a\ny: 2 # c\n", "id: a\ny: 2 # c\nx: 1\n"),
            ("id: a\nx: 1\nz: 3\n", "id: b\nx: 1\nz: 3\n", "id: a\nz: 3\n", "id: b\nz: 3\n"),
            ("x: a\n", "x: a\nb: 1\n", "x: 'a'\n", "x: 'a'\nb: 1\n"),
            ("x: a\n", "x: \"a\" # ours\n", "x: 'a'\n", "x: \"a\" # ours\n"),
            ("x: a\n", "x: b\n", "x: \"b\"\n", "x: b\n"),
            // Comments stay with the field below them.
            ("x: 1\n", "# ours\nx: 1\n", "# theirs\nx: 2\n# end\n", "# ours\n# theirs\nx: 2\n# end\n"),
            ("# old\nx: 1\ny: 2\n", "# new\nx: 1\ny: 2\n", "y: 2\n", "# new\ny: 2\n"),
            ("# old\nx: 1\ny: 2\n", "# old\nx: 1\ny: 3\n", "y: 2\n", "y: 3\n"),
            // Lists.
            ("tags: [a]\n", "tags: [a, b]\n", "", "tags: [b]\n"),
            ("tags: [a]\n", "id: a\n", "tags: [a, b] # c\n", "tags: [b] # c\nid: a\n"),
            ("", "tags:\n  - a # 1\n", "tags: [b, a]\n", "tags:\n  - a # 1\n  - b\n"),
            ("links: []\n", "links: x\n", "links: [{id: \"[[x]]\", type: related}, y]\n", "links: [x, y]\n"),
            (
                "links: [{type: t, id: a}]\n",
                "links:\n- id: a\n  type: t\n- b\n",
                "links: [{type: t, id: c}]\n",
                "links:\n- b\n- type: t\n  id: c\n",
            ),
            (
                "",
                "sources:\n  - https://x.org\n",
                "sources:\n  - url: https://x.org\n  - url: https://y.org\n    accessed: 2025-01-01\n",
                "sources:\n  - https://x.org\n  - url: https://y.org\n    accessed: 2025-01-01\n",
            ),
            // A link's order that only one side changed, and entries of one item.
            ("links: [a, b]\n", "links: [b, a, c]\n", "links: [a, b, d]\n", "links: [b, a, c, d]\n"),
            ("links: [a, b]\n", "links: [a, b, c]\n", "links: [b, d, a]\n", "links: [b, d, a, c]\n"),
            (
                "sources:\n  - url: https://x.org # c\n",
                "sources:\n  - url: https://x.org # c\n    title: X\n  - https://y.org\n",
                "sources:\n  - url: https://x.org # c\n    accessed: 2025-01-01\n",
                "sources:\n  - url: https://x.org # c\n    title: X\n    accessed: 2025-01-01\n  - https://y.org\n",
            ),
            (
                "sources: [https://x.org]\n",
                "sources: [https://x.org, https://y.org]\n",
                "sources:\n- url: https://x.org\n  title: X\n",
                "sources: [{url: https://x.org, title: X}, https://y.org]\n",
            ),
            (
                "links:\n- {type: t, id: a}\n- id: b\n  why: x\n",
                "links:\n- {type: t, id: a, why: 1}\n- id: b\n  why: x\n",
                "links:\n- {type: t, id: a, since: 2}\n- id: b\n  type: related\n",
                "links:\n- {type: t, id: a, why: 1, since: 2}\n- id: b\n",
            ),
            // Lists without names: what was appended.
            ("mine: [1]\n", "mine: [1, 2]\n", "mine: [1, [3], 1]\n", "mine: [1, 2, [3], 1]\n"),
            ("mine: [1]\n", "mine: [1, 2]\n", "mine: [1, 2, 3]\n", "mine: [1, 2, 3]\n"),
            ("mine: [1, 2]\n", "mine: [1, 2,] # c\n", "mine: [1, 2, 2]\n", "mine: [1, 2, 2] # c\n"),
            // Comments in a field.
            ("tags:\n  - a\n", "tags:\n  - a # why\n", "tags:\n  - a\n  - b\n", "tags:\n  - a # why\n  - b\n"),
            ("tags:\n  - a\n", "tags:\n  - a\n  - b\n", "tags:\n  - a  # why\n", "tags:\n  - a  # why\n  - b\n"),
            (
                "tags:\n  - a # x\n  - c # old\n",
                "tags:\n  # top\n  - a # x\n  - c # old\n  - b # ours\n",
                "tags:\n  - a # y\n  # two\n  # lines\n  - c\n  - d # theirs\n  # end\n",
                "tags:\n  # top\n  - a # y\n  # two\n  # lines\n  - c\n  - b # ours\n  - d # theirs\n  # end\n",
            ),
            ("tags: [a]\n", "tags: [a, b]\n", "tags: [a] # why\n", "tags: [a, b] # why\n"),
            ("x: 'a#b'\n", "x: 'a#b' # ours\n", "x: 'c #d'\n", "x: 'c #d' # ours\n"),
            ("x: a\n", "x: a # ours\n", "x: >-\n  b\n  # no comment\n", "x: \"b # no comment\" # ours\n"),
            // Times.
            ("updated: 2025-01-01\n", "updated: 2025-01-03\n", "updated: 2025-01-02\n", "updated: 2025-01-03\n"),
            ("", "created: 2025-01-02 # c\n", "created: 2025-01-01T10:00:00Z\n", "created: 2025-01-01T10:00:00Z # c\n"),
            // Maps.
            (
                "custom:\n  a: 1 # c\n  b: 2\n  c: 3\n",
                "custom:\n  a: 4 # c\n  b: 2\n  c: 3\n",
                "custom:\n  a: 1 # c\n  c: x y\n  d: [1]\n",
                "custom:\n  a: 4 # c\n  c: x y\n  d: [1]\n",
            ),
            ("custom:\n  a: 1\n", "custom:\n  a: 1 # why\n", "custom:\n  a: 2\n", "custom:\n  a: 2 # why\n"),
            ("custom: {l: [1]}\n", "custom: {l: [1, 2]}\n", "custom: {l: [1, 3]}\n", "custom: {l: [1, 2, 3]}\n"),
            ("", "custom: {a: 1}\n", "custom:\n  b: 2\n", "custom: {a: 1, b: 2}\n"),
        ] {
            assert_eq!(merged(base, ours, theirs), result, "{base:?} {ours:?} {theirs:?}");
        }
    }

    #[test]
    fn true_conflicts_stay_three_ways_of_writing_one_field() {
        for (base, ours, theirs, result) in [
            ("x: 1\n", "x: 2\nz: 1\n", "y: 1\nx: 3\n", "y: 1\nx: 2\nz: 1\n|y: 1\nx: 1\nz: 1\n|y: 1\nx: 3\nz: 1\n"),
            ("x: 1\ny: 1\n", "y: 1\n", "x: 2\ny: 1\n", "y: 1\n|x: 1\ny: 1\n|x: 2\ny: 1\n"),
            (
                "custom:\n  a: 1\n  b: 1\n",
                "custom:\n  a: 2\n  b: 2\n",
                "custom:\n  a: 3\n  b: 1\n  c: 1\n",
                "custom:\n  a: 2\n  b: 2\n  c: 1\n|custom:\n  a: 1\n  b: 2\n  c: 1\n|custom:\n  a: 3\n  b: 2\n  c: 1\n",
            ),
            (
                "mine: [1, 2]\n",
                "mine: [1, 2, 2]\n",
                "mine: [2, 1]\n",
                "mine: [1, 2, 2]\n|mine: [1, 2]\n|mine: [2, 1]\n",
            ),
            ("", "mine: [1]\n", "mine: [2]\n", "mine: [1]\n||mine: [2]\n"),
            (
                "custom: {l: [1, 2], m: 1}\n",
                "custom: {l: [2, 1], m: 2}\n",
                "custom: {l: [1], m: 1}\n",
                "custom: {l: [2, 1], m: 2}\n|custom: {l: [1, 2], m: 2}\n|custom: {l: [1], m: 2}\n",
            ),
            // An item that the sides tell two things of, or that one changed and the other took out.
            (
                "links: [a]\n",
                "links: [{id: a, why: x}]\n",
                "links: [{id: a, why: y}]\n",
                "links: [{id: a, why: x}]\n|links: [a]\n|links: [{id: a, why: y}]\n",
            ),
            (
                "sources: [{url: u}]\n",
                "sources: [{url: u, title: T}]\n",
                "sources: []\n",
                "sources: [{url: u, title: T}]\n|sources: [{url: u}]\n|sources: []\n",
            ),
            // A comment that has no place, or that the other side took out with what it stands at.
            (
                "tags: [a]\n",
                "tags: [a, b]\n",
                "tags:\n  - a # why\n",
                "tags: [a, b]\n|tags: [a]\n|tags:\n  - a # why\n",
            ),
            (
                "tags:\n  - a\n  - b\n",
                "tags:\n  - a # why\n  - b\n",
                "tags:\n  - b\n",
                "tags:\n  - a # why\n  - b\n|tags:\n  - a\n  - b\n|tags:\n  - b\n",
            ),
            ("tags: [a]\n", "", "tags: [a] # why\n", "|tags: [a]\n|tags: [a] # why\n"),
            ("mine: 1\n", "mine: [1]\n", "mine: {a: b}\n", "mine: [1]\n|mine: 1\n|mine: {a: b}\n"),
            ("updated: soon\n", "updated: x\n", "updated: y\n", "updated: x\n|updated: soon\n|updated: y\n"),
        ] {
            assert_eq!(merged(base, ours, theirs), result, "{base:?} {ours:?} {theirs:?}");
        }
    }

    /// A merge of so many items: its base, ours and theirs, and what stands in the result so often.
    type ListMerge = (fn(usize) -> [String; 3], &'static str);

    fn lines(head: &str, count: usize, line: impl Fn(usize) -> String) -> String {
        (0..count).map(line).fold(head.to_owned(), |text, line| text + &line)
    }

    /// The work of a merge grows with the length of the notes. It is counted in bytes that are parsed.
    #[test]
    fn work_grows_with_the_length_of_the_notes() {
        let cases: [ListMerge; 8] = [
            // Fields of a map: both changed all of them, or every other one; one side wrote them in many lines.
            (|n| ["v", "w", "x"].map(|v| lines("custom:\n", n, |k| format!("  k{k}: {v}\n"))), "<<<"),
            (
                |n| {
                    [[2, 2], [3, 2], [2, 3]]
                        .map(|values| lines("custom:\n", n, |k| format!("  k{k}: {}\n", values[k % 2])))
                },
                ": 3\n",
            ),
            (
                |n| {
                    let side = |rest: usize, new: &str| {
                        lines("custom: {", n, |k| format!("k{k}: {}, ", if k % 2 == rest { new } else { "old" }))
                            + "}\n"
                    };
                    [side(2, ""), side(0, "ours"), side(1, "theirs")]
                },
                "k",
            ),
            // Comments at the items of a list.
            (
                |n| {
                    [
                        lines("tags:\n", n, |k| format!("- a{k}\n")),
                        lines("tags:\n", n, |k| format!("- a{k} # o\n")),
                        lines("tags:\n", n, |k| format!("# t{k}\n- a{k}\n")),
                    ]
                },
                "# t",
            ),
            // Items that both added, and that both took out.
            (
                |n| {
                    ["", "o", "t"].map(|side| {
                        lines("tags:\n- a\n", if side.is_empty() { 0 } else { n }, |k| format!("- {side}{k}\n"))
                    })
                },
                "- t",
            ),
            (
                |n| {
                    [2, 0, 1].map(|side| {
                        lines("tags:\n- a\n", n, |k| if k % 4 == side { String::new() } else { format!("- b{k}\n") })
                    })
                },
                "- b",
            ),
            // Entries of links.
            (
                |n| {
                    [["", ""], ["  why: x\n", ""], ["", "  since: y\n"]]
                        .map(|[why, since]| lines("links:\n", n, |k| format!("- id: a{k}\n  type: t\n{why}{since}")))
                },
                "  since: y\n",
            ),
            // Fields of the note itself.
            (
                |n| {
                    ["", "o", "t"].map(|side| {
                        lines("id: a\n", n, |k| if side.is_empty() { String::new() } else { format!("{side}{k}: 1\n") })
                    })
                },
                "t",
            ),
        ];
        for (number, (sides, sign)) in cases.into_iter().enumerate() {
            let cost = |count: usize| {
                let [base, ours, theirs] = sides(count).map(|yaml| note(&yaml));
                BYTES_PARSED.set(0);
                let merged = merge(&base, &ours, &theirs).unwrap();
                let is_done = merged.ours == merged.theirs && merged.ours.matches(sign).count() >= count / 2 - 1;
                assert!(is_done || sign == "<<<", "case {number}: {}", merged.ours);
                assert!(sign != "<<<" || (merged.ours, merged.theirs) == (ours.clone(), theirs.clone()));
                BYTES_PARSED.get() as f64 / (base.len() + ours.len() + theirs.len()) as f64
            };
            let (few, many) = (cost(100), cost(800));
            assert!(many < 1.2 * few && many < 40.0, "case {number}: {few} bytes a byte, then {many}");
        }
    }

    #[test]
    fn what_can_not_be_told_apart_is_refused() {
        let good = note("id: a\n");
        for bad in [
            "Body\n".to_owned(),
            note("a: b: c\n"),
            note("a: 1\na: 2\n"),
            note("{a: 1, b: 2}\n"),
            "---\na: 1\n".to_owned(),
        ] {
            assert!(merge(&good, &good, &bad).is_err(), "{bad}");
            assert!(merge(&good, &bad, &good).is_err(), "{bad}");
        }
        assert!(merge(&note("a: &x 1\n"), &note("a: &x 1\nb: *x\n"), &note("c: 1\n")).is_err(), "the anchor would go");
        assert!(merge("", &good, &good).is_ok() && merge("Body\n", &good, &good).is_ok());
    }
}
