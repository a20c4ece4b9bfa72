//! What can stand at the cursor. The text is being typed, so that it need not be well-formed.

use std::ops::Range;

use super::span;

/// What can stand at a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The target of a link. `is_closed`: whether its brackets are closed already.
    Link {
        is_closed: bool,
    },
    /// A heading of the note with a name; of the note itself if that is empty.
    Heading {
        name: String,
        is_closed: bool,
    },
    /// The id of a note, in frontmatter.
    Id,
    Tag,
    /// The type of the note.
    Kind,
    LinkType,
    Status,
    /// The key of a field.
    Key,
}

/// What can stand at a cursor, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) wanted: Wanted,
    /// The bytes that were typed before the cursor.
    pub(super) typed: Range<usize>,
    /// The bytes that a completion replaces.
    pub(super) replaced: Range<usize>,
}

/// Returns the bytes of the frontmatter without its markers; without a closing marker, up to the first blank line.
pub(super) fn frontmatter(text: &str) -> Range<usize> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lines = text.get(start..).unwrap_or_default().split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return 0..0 };
    let start = start + first.len();
    let (mut end, mut blank) = (start, None);
    for line in lines {
        match line.trim_end() {
            "---" | "..." => return start..end,
            "" => blank = blank.or(Some(end)),
            _ => {}
        }
        end += line.len();
    }
    start..blank.unwrap_or(end)
}

/// Returns what can stand at a cursor; `None` in other text. `has_tags`: whether `#tag` in the body is a tag.
pub(super) fn read(text: &str, offset: usize, has_tags: bool) -> Option<Cursor> {
    let front = frontmatter(text);
    if front.start > 0 && front.start <= offset && offset <= front.end {
        return in_frontmatter(text, &front, offset);
    }
    if offset < front.end {
        return None;
    }
    let line = line_around(text, offset);
    let before = text.get(line.start..offset)?;
    if let Some(open) = before.rfind("[[").filter(|open| !before.get(*open..).unwrap_or_default().contains("]]")) {
        return in_link(text, line.start + open + 2, offset, line.end);
    }
    let mark = before.rfind('#').filter(|_| has_tags)?;
    let is_word = |c: char| c.is_alphanumeric() || ['-', '_', '/'].contains(&c);
    let (typed, is_first) =
        (before.get(mark + 1..)?, before.get(..mark)?.chars().next_back().is_none_or(char::is_whitespace));
    let typed_range = span(line.start + mark + 1, offset);
    // A blank behind the mark makes a heading.
    (is_first && typed.chars().all(is_word) && (mark > 0 || !typed.is_empty())).then(|| Cursor {
        wanted: Wanted::Tag,
        replaced: typed_range.clone(),
        typed: typed_range,
    })
}

/// Returns the bytes of the line of an offset, without its ending.
fn line_around(text: &str, offset: usize) -> Range<usize> {
    let ends = ['\n', '\r'];
    let start = text.get(..offset).and_then(|before| before.rfind(ends)).map_or(0, |end| end + 1);
    let end = text.get(offset..).and_then(|rest| rest.find(ends)).map_or(text.len(), |end| offset + end);
    start..end
}

/// Reads a link that begins at `start` with its target.
fn in_link(text: &str, start: usize, offset: usize, line_end: usize) -> Option<Cursor> {
    let typed = text.get(start..offset)?;
    if typed.contains('|') {
        return None;
    }
    let rest = text.get(offset..line_end)?;
    let close = rest.find("]]").filter(|close| !rest.get(..*close).unwrap_or_default().contains("[["));
    let is_closed = close.is_some();
    let end_of_name =
        |ends: &[char]| close.map_or(offset, |close| offset + rest.find(ends).map_or(close, |end| end.min(close)));
    match typed.find('#') {
        None => Some(Cursor {
            wanted: Wanted::Link { is_closed },
            typed: span(start, offset),
            replaced: span(start, end_of_name(&['|', '#'])),
        }),
        Some(mark) => Some(Cursor {
            wanted: Wanted::Heading { name: typed.get(..mark)?.to_owned(), is_closed },
            typed: span(start + mark + 1, offset),
            replaced: span(start + mark + 1, end_of_name(&['|'])),
        }),
    }
}

fn in_frontmatter(text: &str, front: &Range<usize>, offset: usize) -> Option<Cursor> {
    let line = line_around(text, offset);
    let before = text.get(line.start..offset)?;
    let typed_from = |start: usize| span(start, offset);
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if is_name(before) && !before.starts_with('-') {
        let rest = text.get(offset..line.end)?;
        // A field that has its colon already is complete.
        let typed = typed_from(line.start);
        return (!rest.contains(':')).then(|| Cursor {
            wanted: Wanted::Key,
            replaced: span(line.start, line.end),
            typed,
        });
    }
    let value_start = before.rfind([' ', ',', '[', '{', '"', '\'', ':']).map_or(0, |mark| mark + 1);
    let typed = typed_from(line.start + value_start);
    let key = before.get(..value_start)?.rsplit([',', '{']).next()?;
    let own_key = key.trim_start().trim_start_matches("- ").split(':').next().unwrap_or_default().trim();
    let field = field_of(text.get(front.start..line.start)?, before);
    let has_colon = key.contains(':');
    let wanted = match (field, own_key, has_colon) {
        ("links", "type", true) => Wanted::LinkType,
        ("links", "id", true) => Wanted::Id,
        ("type", _, _) => Wanted::Kind,
        ("status", _, _) => Wanted::Status,
        ("tags", _, _) => Wanted::Tag,
        ("compacts", _, _) => Wanted::Id,
        _ => return None,
    };
    let rest = text.get(offset..line.end)?;
    let end = rest.find([' ', ',', ']', '}', '"', '\'', ':', '#']).unwrap_or(rest.len());
    Some(Cursor { wanted, replaced: span(typed.start, offset + end), typed })
}

/// Returns the key of the top-level field to which a line belongs: its own, or that of the last line above that is not
/// indented and no item.
fn field_of<'t>(above: &'t str, line: &'t str) -> &'t str {
    let key = |line: &'t str| {
        let is_item = line.starts_with([' ', '\t', '-', '#']);
        line.split_once(':').map(|(key, _)| key.trim()).filter(|_| !is_item)
    };
    key(line).or_else(|| above.lines().rev().find_map(key)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is wanted at `|` in a text, with the bytes that were typed and those that are replaced.
    fn wanted(marked: &str) -> Option<(Wanted, String, String)> {
        let offset = marked.find('¦').unwrap();
        let text = marked.replace('¦', "");
        let Cursor { wanted, typed, replaced } = read(&text, offset, true)?;
        Some((wanted, text.get(typed)?.to_owned(), text.get(replaced)?.to_owned()))
    }

    #[test]
    fn the_cursor_is_in_a_link_a_heading_or_a_tag() {
        let link = |is_closed| Wanted::Link { is_closed };
        let heading = |name: &str, is_closed| Wanted::Heading { name: name.to_owned(), is_closed };
        for (text, expected) in [
            ("see [[¦", Some((link(false), "", ""))),
            ("see [[no¦te]] x", Some((link(true), "no", "note"))),
            ("[[a]] [[b c¦ and [[d]]", Some((link(false), "b c", "b c"))),
            ("[[a¦#h|x]]", Some((link(true), "a", "a"))),
            ("[[a#h¦ead|x]]", Some((heading("a", true), "h", "head"))),
            ("[[#¦", Some((heading("", false), "", ""))),
            ("[[a|x¦]]", None),
            ("[[a]] ¦", None),
            ("text ¦", None),
            ("a #ta¦g", Some((Wanted::Tag, "ta", "ta"))),
            ("# ¦", None),
            ("a#b¦", None),
            ("é [[😀¦", Some((link(false), "😀", "😀"))),
        ] {
            let expected = expected.map(|(wanted, typed, replaced)| (wanted, typed.to_owned(), replaced.to_owned()));
            assert_eq!(wanted(text), expected, "{text}");
        }
    }

    #[test]
    fn the_cursor_is_in_a_field() {
        for (fields, expected) in [
            ("¦", Some((Wanted::Key, "", ""))),
            ("id: a\nti¦", Some((Wanted::Key, "ti", "ti"))),
            ("ti¦tle: x", None),
            ("type: ¦", Some((Wanted::Kind, "", ""))),
            ("type: per¦m", Some((Wanted::Kind, "per", "perm"))),
            ("status: ¦", Some((Wanted::Status, "", ""))),
            ("tags: [a, b¦]", Some((Wanted::Tag, "b", "b"))),
            ("tags:\n- ¦", Some((Wanted::Tag, "", ""))),
            ("tags:\n  - a\n  - b¦c", Some((Wanted::Tag, "b", "bc"))),
            ("links:\n- type: su¦", Some((Wanted::LinkType, "su", "su"))),
            ("links:\n- type: supports\n  id: qp-¦", Some((Wanted::Id, "qp-", "qp-"))),
            ("links: [{type: supports, id: q¦}]", Some((Wanted::Id, "q", "q"))),
            ("compacts: [qp-a, ¦]", Some((Wanted::Id, "", ""))),
            ("title: a ¦", None),
        ] {
            for text in [format!("---\n{fields}\n---\nBody"), format!("---\n{fields}\n\nBody")] {
                let expected = expected.clone();
                let expected =
                    expected.map(|(wanted, typed, replaced)| (wanted, typed.to_owned(), replaced.to_owned()));
                assert_eq!(wanted(&text), expected, "{text}");
            }
        }
    }
}
