//! Notes in the many ways in which people write frontmatter, and what is left of one without a field.

#![allow(dead_code, clippy::unwrap_used, clippy::string_slice)]

use proptest::prelude::*;

/// Ways in which people write each field, the key's line first.
const FORMS: [(&str, &[&str]); 9] = [
    ("id", &["id: n1\n", "id: 'n1'   # the id\n", "\"id\": \"n1\"\n"]),
    (
        "title",
        &[
            "title: Plain words\n",
            "title: 'It''s'\n",
            "title: \"Two: parts\" # why\n",
            "title: >-\n  folded\n  lines\n",
            "title: goes\n  on\n",
            "title:\n",
            "title: |\n  kept\n\n",
        ],
    ),
    ("type", &["type: permanent\n", "type:   moc\n"]),
    ("value", &["value: 10\n", "value: 300 # impossible\n", "value:\n"]),
    (
        "tags",
        &[
            "tags: [a, b]\n",
            "tags: [ a , 'b' ,]\n",
            "tags:\n  - a # one\n  - b\n",
            "tags:\n- a\n\n- b\n",
            "tags: a\n",
            "tags: []\n",
            "tags:\n",
            "tags: [\n  a, # one\n  b\n]\n",
            "tags:\n- [a]\n- b\n",
            "tags: a, b\n",
            "tags: \"a, b\" # both\n",
            "tags: # keep me\n  # and me\n  - a\n",
            "tags: [a, b, # second\n  c]\n",
            "tags: [a, # x, y\n  b # p, q\n]\n",
            "tags: [ # none\n]\n",
            "tags: # none\n",
        ],
    ),
    (
        "links",
        &[
            "links: []\n",
            "links:\n- type: supports\n  id: x\n",
            "links:\n  - {type: supports, id: x}\n  - id: y # c\n    type: related\n",
            "links: [{type: supports, id: x}]\n",
            "links:\n- {type: supports, id: x}\n- {type: supports, id: w}\n",
            "links: x\n",
            "links: # none\n",
            "links: [[x]]\n",
            "links:\n- [[x|label]]\n- y\n",
            "links: [y, x, {id: w, why: because}]\n",
            "links:\n  - type: supports # first\n    id: x\n    why: because # its own\n  # third\n  - y\n",
        ],
    ),
    (
        "custom",
        &[
            "custom:\n  a: 1 # c\n  b: [1, 2]\n",
            "custom: {a: 1}\n",
            "custom: {}\n",
            "custom:\n    deep:\n      x: y\n",
            "custom: {code: \"007\", flag: \"true\"}\n",
            "custom: # none\n",
        ],
    ),
    ("summary", &["summary: One.\n", "summary: >\n  Two\n  lines.\n\n", "summary: \"Quoted \\\"words\\\"\"\n"]),
    (
        "mine",
        &[
            "mine: &anchor {x: [1, 2]}\n",
            "mine: !tag 007\n",
            "mine: |-\n  raw: text\n  # no comment\n",
            "mine: ~\n",
            "'my key': 1.10\n",
        ],
    ),
];

const BETWEEN: [&str; 5] = ["", "", "# a comment\n", "\n", "# two\n# lines\n\n"];
const BODIES: [&str; 5] =
    ["", "Body\n", "\nBody\n---\nno: frontmatter\n", "# H\n\ntext without an end", "tags: [x]\n\u{2028}\u{feff}é\n"];

/// Fields as they stand in braces.
const IN_BRACES: [&[&str]; 6] = [
    &["id: n1", "\"id\": \"n1\""],
    &["title: Plain words", "'title': 'two: parts'"],
    &["tags: [a, b]", "tags: []", "\"tags\":[\"a\"]", "tags: a", "tags: "],
    &["links: [x, y]", "links: [{type: supports, id: x}]", "links: "],
    &["custom: {a: 1}", "custom: {}"],
    &["mine: {x: [1, 2]}", "mine: '}, {'"],
];

/// Notes whose frontmatter is one flow map, on one line or a field a line.
fn note_in_braces() -> impl Strategy<Value = String> {
    let fields = IN_BRACES.map(|forms| (any::<bool>(), prop::sample::select(forms.to_vec())));
    let between = prop::sample::select(vec![", ", ",\n ", ", # c, d\n "]);
    (fields.to_vec(), between, any::<bool>(), prop::sample::select(BODIES.to_vec())).prop_map(
        |(fields, between, ends_so, body)| {
            let fields: Vec<&str> =
                fields.into_iter().filter(|(is_there, _)| *is_there).map(|(_, form)| form).collect();
            let end = if ends_so && !fields.is_empty() { between.trim_end_matches(' ') } else { "" };
            format!("---\n{{{}{end}}}\n---\n{body}", fields.join(between))
        },
    )
}

pub(crate) fn note() -> impl Strategy<Value = String> {
    prop_oneof![9 => note_of_lines(), 1 => note_in_braces()]
}

fn note_of_lines() -> impl Strategy<Value = String> {
    let fields = FORMS.map(|(_, forms)| {
        (any::<bool>(), prop::sample::select(forms.to_vec()), prop::sample::select(BETWEEN.to_vec()))
    });
    (fields.to_vec(), prop::sample::select(BODIES.to_vec()), any::<[bool; 3]>(), any::<prop::sample::Index>()).prop_map(
        |(fields, body, [crlf, bom, rotate], by)| {
            let mut pieces: Vec<String> = fields
                .into_iter()
                .filter(|(is_there, ..)| *is_there)
                .map(|(_, form, between)| format!("{between}{form}"))
                .collect();
            if rotate && !pieces.is_empty() {
                let by = by.index(pieces.len());
                pieces.rotate_left(by);
            }
            let text = format!("---\n{}---\n{body}", pieces.concat());
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if bom { format!("\u{feff}{text}") } else { text }
        },
    )
}

/// Returns a note without the lines of one field: its key's line and what is indented (or a list
/// item, or a bracket's inside) below it. Knows nothing of YAML, as a reader's eye does not.
pub(crate) fn without_field(text: &str, key: &str) -> String {
    if let Some((fields, body)) =
        text.strip_prefix("---").and_then(|rest| rest.trim_start().strip_prefix('{')?.split_once("}\n---"))
    {
        let is_other = |field: &&str| {
            let name = field.split(':').next().unwrap().trim().trim_matches(['"', '\'']);
            name != key && !name.is_empty()
        };
        let fields: Vec<&str> = fields_in_braces(fields).into_iter().filter(is_other).collect();
        return format!("---\n{{{}}}\n---{body}", fields.join(","));
    }
    let mut out = String::new();
    let (mut in_field, mut blank, mut marks) = (false, String::new(), 0);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end().trim_start_matches('\u{feff}');
        if marks == 2 {
            out.push_str(line);
            continue;
        }
        if bare == "---" {
            marks += 1;
            in_field = false;
        } else if !bare.is_empty() && !bare.starts_with([' ', '-', '#', ']', '}']) {
            in_field = bare.starts_with(&format!("{key}:")) || bare.starts_with(&format!("\"{key}\":"));
        } else if bare.starts_with('#') {
            in_field = false;
        }
        if bare.is_empty() && in_field {
            blank.push_str(line);
        } else if !in_field {
            out.push_str(&blank);
            out.push_str(line);
            blank.clear();
        } else {
            blank.clear();
        }
    }
    out + &blank
}

/// Cuts what stands in braces at the commas between fields, and leaves comments away.
fn fields_in_braces(text: &str) -> Vec<&str> {
    let (mut fields, mut start, mut depth, mut quote, mut is_comment) = (Vec::new(), 0, 0, None, false);
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('\n', _) if is_comment => (is_comment, start) = (false, at),
            _ if is_comment => {}
            (_, Some(_)) if is_escaped => is_escaped = false,
            ('\\', Some('"')) => is_escaped = true,
            (c, Some(open)) => quote = if c == open { None } else { quote },
            ('"' | '\'', None) => quote = Some(c),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth -= 1,
            ('#', None) => {
                fields.push(text[start..at].trim());
                is_comment = true;
            }
            (',', None) if depth == 0 => {
                fields.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !is_comment {
        fields.push(text[start..].trim());
    }
    fields
}

/// Returns the comments of the frontmatter that stand on lines of their own, behind a key, or in brackets.
pub(crate) fn comments(text: &str) -> Vec<String> {
    let front = text.split("---").nth(1).unwrap_or_default();
    let lines = front.lines().filter(|line| !line.trim_start().starts_with('-') && !line.contains(['|', '>']));
    let comment = |line: &str| line.find('#').map(|at| line[at..].trim_end().to_owned());
    let is_kept = |comment: &String| comment != "# no comment";
    lines.filter_map(comment).filter(is_kept).collect()
}

/// Leaves away blank lines in the frontmatter: those at the end of a block text belong to it.
pub(crate) fn squeezed(text: &str) -> String {
    let Some((front, body)) = text.rsplit_once("---") else { return text.to_owned() };
    let lines = front.split_inclusive('\n').filter(|line| !line.trim().is_empty());
    format!("{}---{body}", lines.collect::<String>())
}
