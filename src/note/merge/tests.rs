//! Tests only: merges of frontmatter.

use super::super::yaml_document::BYTES_PARSED;
use super::*;

fn note(yaml: &str) -> String {
    format!("---\n{yaml}---\nBody\n")
}

/// Merges three frontmatters. Returns the result, or the three results separated by `|` if they differ.
fn merged(base: &str, ours: &str, theirs: &str) -> String {
    let MergeTexts { base, ours, theirs } = merge(&note(base), &note(ours), &note(theirs)).unwrap();
    let yaml = |text: &str| text.strip_prefix("---\n").unwrap().strip_suffix("---\nBody\n").unwrap().to_owned();
    if ours == base && ours == theirs {
        return yaml(&ours);
    }
    [ours, base, theirs].map(|text| yaml(&text)).join("|")
}

#[test]
fn fields_and_their_items_and_comments_are_merged() {
    for (base, ours, theirs, result) in [
        // Fields that one side added, removed, or spelled differently.
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
        // An order of links that only one side changed, and entries of one item.
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
        // Lists whose items have no keys: appended items.
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
        // True conflicts stay three versions of one field.
        ("x: 1\n", "x: 2\nz: 1\n", "y: 1\nx: 3\n", "y: 1\nx: 2\nz: 1\n|y: 1\nx: 1\nz: 1\n|y: 1\nx: 3\nz: 1\n"),
        ("x: 1\ny: 1\n", "y: 1\n", "x: 2\ny: 1\n", "y: 1\n|x: 1\ny: 1\n|x: 2\ny: 1\n"),
        (
            "custom:\n  a: 1\n  b: 1\n",
            "custom:\n  a: 2\n  b: 2\n",
            "custom:\n  a: 3\n  b: 1\n  c: 1\n",
            "custom:\n  a: 2\n  b: 2\n  c: 1\n|custom:\n  a: 1\n  b: 2\n  c: 1\n|custom:\n  a: 3\n  b: 2\n  c: 1\n",
        ),
        ("mine: [1, 2]\n", "mine: [1, 2, 2]\n", "mine: [2, 1]\n", "mine: [1, 2, 2]\n|mine: [1, 2]\n|mine: [2, 1]\n"),
        ("", "mine: [1]\n", "mine: [2]\n", "mine: [1]\n||mine: [2]\n"),
        (
            "custom: {l: [1, 2], m: 1}\n",
            "custom: {l: [2, 1], m: 2}\n",
            "custom: {l: [1], m: 1}\n",
            "custom: {l: [2, 1], m: 2}\n|custom: {l: [1, 2], m: 2}\n|custom: {l: [1], m: 2}\n",
        ),
        // An item that both sides changed differently, or that one changed and the other removed.
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
        // A comment without a position in our lines, or whose line the other side removed.
        ("tags: [a]\n", "tags: [a, b]\n", "tags:\n  - a # why\n", "tags: [a, b]\n|tags: [a]\n|tags:\n  - a # why\n"),
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

/// A merge of a number of items: the head of the field, the text of an item in base, ours and theirs, and a text that
/// occurs in the result for each item.
type ListMerge = (&'static str, fn(usize, usize) -> String, &'static str);

const LIST_MERGES: [ListMerge; 8] = [
    // Fields of a map: both changed all of them, or every other one; one side wrote them in many lines.
    ("custom:\n", |side, k| format!("  k{k}: {}\n", ["v", "w", "x"][side]), "<<<"),
    ("custom:\n", |side, k| format!("  k{k}: {}\n", if k % 2 + 1 == side { 3 } else { 2 }), ": 3\n"),
    ("custom: {", |side, k| format!("k{k}: {}, ", if k % 2 + 1 == side { "new" } else { "old" }), "k"),
    // Comments at the items of a list.
    ("tags:\n", |side, k| ["- aK\n", "- aK # o\n", "# tK\n- aK\n"][side].replace('K', &k.to_string()), "# t"),
    // Items that both sides added or removed.
    ("tags:\n- a\n", |side, k| ["", "- oK\n", "- tK\n"][side].replace('K', &k.to_string()), "- t"),
    ("tags:\n- a\n", |side, k| if k % 4 == [2, 0, 1][side] { String::new() } else { format!("- b{k}\n") }, "- b"),
    // Entries of links.
    (
        "links:\n",
        |side, k| format!("- id: a{k}\n  type: t\n{}", ["", "  why: x\n", "  since: y\n"][side]),
        "  since: y\n",
    ),
    // Fields of the note itself.
    ("id: a\n", |side, k| ["", "oK: 1\n", "tK: 1\n"][side].replace('K', &k.to_string()), "t"),
];

/// The work of a merge, counted in parsed bytes, grows with the length of the notes.
#[test]
fn work_grows_with_the_length_of_the_notes() {
    for (case, (head, item, sign)) in LIST_MERGES.into_iter().enumerate() {
        let cost = |count: usize| {
            let end = if head.ends_with('{') { "}\n" } else { "" };
            let side = |side| format!("{head}{}{end}", (0..count).map(|k| item(side, k)).collect::<String>());
            let [base, ours, theirs] = [0, 1, 2].map(|number| note(&side(number)));
            BYTES_PARSED.set(0);
            let merged = merge(&base, &ours, &theirs).unwrap();
            let is_done = merged.ours == merged.theirs && merged.ours.matches(sign).count() >= count / 2 - 1;
            assert!(is_done || sign == "<<<", "case {case}: {}", merged.ours);
            assert!(sign != "<<<" || (merged.ours, merged.theirs) == (ours.clone(), theirs.clone()));
            BYTES_PARSED.get() as f64 / (base.len() + ours.len() + theirs.len()) as f64
        };
        let (few, many) = (cost(100), cost(800));
        assert!(many < 1.2 * few && many < 40.0, "case {case}: {few} bytes a byte, then {many}");
    }
}

#[test]
fn what_can_not_be_told_apart_is_refused() {
    let good = note("id: a\n");
    for bad in
        ["Body\n".to_owned(), note("a: b: c\n"), note("a: 1\na: 2\n"), note("{a: 1, b: 2}\n"), "---\na: 1\n".to_owned()]
    {
        assert!(merge(&good, &good, &bad).is_err(), "{bad}");
        assert!(merge(&good, &bad, &good).is_err(), "{bad}");
    }
    assert!(merge(&note("a: &x 1\n"), &note("a: &x 1\nb: *x\n"), &note("c: 1\n")).is_err(), "the anchor would go");
    assert!(merge("", &good, &good).is_ok() && merge("Body\n", &good, &good).is_ok());
}
