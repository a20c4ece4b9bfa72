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
        ],
    ),
    (
        "custom",
        &["custom:\n  a: 1 # c\n  b: [1, 2]\n", "custom: {a: 1}\n", "custom: {}\n", "custom:\n    deep:\n      x: y\n"],
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

pub(crate) fn note() -> impl Strategy<Value = String> {
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

/// Leaves away blank lines in the frontmatter: those at the end of a block text belong to it.
pub(crate) fn squeezed(text: &str) -> String {
    let Some((front, body)) = text.rsplit_once("---") else { return text.to_owned() };
    let lines = front.split_inclusive('\n').filter(|line| !line.trim().is_empty());
    format!("{}---{body}", lines.collect::<String>())
}
