//! Tests only: edits of notes.

use super::super::yaml_document::BYTES_PARSED;
use super::*;

fn note(yaml: &str) -> String {
    format!("---\n{yaml}---\nBody\n")
}

fn edited(yaml: &str, edit: Edit) -> String {
    let text = apply(&note(yaml), &[edit]).unwrap_or_else(|error| panic!("{error}: {yaml}"));
    text.strip_prefix("---\n").unwrap().strip_suffix("---\nBody\n").unwrap().to_owned()
}

fn check<const N: usize>(cases: [(&str, Edit, &str); N]) {
    for (before, edit, after) in cases {
        assert_eq!(edited(before, edit.clone()), after, "{before} {edit:?}");
    }
}

fn set(text: &str) -> Edit {
    Edit::SetText { key: "title".into(), text: text.into() }
}

fn add(tag: &str) -> Edit {
    Edit::AddItem { key: "tags", text: tag.into() }
}

fn remove(tag: &str) -> Edit {
    Edit::RemoveItem { key: "tags", text: tag.into() }
}

fn custom(key: &str, text: &str) -> Edit {
    Edit::SetCustom { key: key.into(), text: text.into() }
}

fn link(kind: &str, id: &str) -> Vec<(&'static str, String)> {
    vec![("type", kind.to_owned()), ("id", id.to_owned())]
}

fn add_link(kind: &str, id: &str) -> Edit {
    Edit::AddMap { key: "links", entries: link(kind, id) }
}

#[test]
fn setting_a_text_changes_its_bytes_alone() {
    let cases = [
        ("id: a\ntitle: Old # why\ntags: []\n", "id: a\ntitle: New # why\ntags: []\n"),
        ("title:   'Old'\n# c\nid: a\n", "title:   New\n# c\nid: a\n"),
        ("title:\nid: a\n", "title: New\nid: a\n"),
        ("title: >-\n  Old\n  lines\n\nid: a\n", "title: New\n\nid: a\n"),
        ("title: >+ # why, see #12\n  Old\nid: a\n", "title: New # why, see #12\nid: a\n"),
        ("title: !!str | # why\n  Old\nid: a\n", "title: New # why\nid: a\n"),
        ("title: old\n  goes on # c\nid: a\n", "title: New # c\nid: a\n"),
        ("title: [[old]]\nid: a\n", "title: New\nid: a\n"),
        ("id: a\n", "id: a\ntitle: New\n"),
        ("", "title: New\n"),
        ("# only a comment\n", "# only a comment\ntitle: New\n"),
        ("\"title\": Old\n", "\"title\": New\n"),
    ];
    for (before, after) in cases {
        assert_eq!(edited(before, set("New")), after);
    }
    assert_eq!(edited("title: a\n", set("b: \"c\" #d")), "title: \"b: \\\"c\\\" #d\"\n");
    assert_eq!(
        apply("Body\r\n", &[set("New")]).unwrap(),
        "Body\r\n".replace("Body", "---\r\ntitle: New\r\n---\r\nBody")
    );
    assert_eq!(
        apply("\u{feff}---\r\nid: a\r\n---\r\nB", &[set("New")]).unwrap(),
        "\u{feff}---\r\nid: a\r\ntitle: New\r\n---\r\nB"
    );
}

#[test]
fn lists_and_maps_keep_their_style() {
    check([
        ("tags: [a, b] # c\n", add("x"), "tags: [a, b, x] # c\n"),
        ("tags: [a, b,]\n", add("x"), "tags: [a, b, x]\n"),
        ("tags: []\n", add("x"), "tags: [x]\n"),
        ("tags: one\n", add("x"), "tags: [one, x]\n"),
        ("tags: ~\n", add("x"), "tags: [x]\n"),
        ("id: a\n", add("x y: z"), "id: a\ntags: [\"x y: z\"]\n"),
        ("tags:\n  - a # 1\n  - b # 2\nid: q\n", add("x"), "tags:\n  - a # 1\n  - b # 2\n  - x\nid: q\n"),
        ("tags:\n- a\n# end\nid: q\n", add("x"), "tags:\n- a\n- x\n# end\nid: q\n"),
        ("tags: [a, b]\n", add("b"), "tags: [a, b]\n"),
        ("tags: [a, b, c]\n", remove("a"), "tags: [b, c]\n"),
        ("tags: [a, b, c]\n", remove("c"), "tags: [a, b]\n"),
        ("tags: [a]\n", remove("a"), "tags: []\n"),
        ("tags: a\n", remove("a"), "tags: []\n"),
        ("tags:\n  - a # 1\n  - b # 2\nid: q\n", remove("a"), "tags:\n  - b # 2\nid: q\n"),
        ("tags:\n  - a\nid: q\n", remove("a"), "tags: []\nid: q\n"),
        ("tags: [a]\n", remove("z"), "tags: [a]\n"),
        // Maps in lists, and custom fields.
        ("id: a\n", add_link("supports", "b"), "id: a\nlinks:\n  - type: supports\n    id: b\n"),
        (
            "links:\n- type: x\n  id: y # c\nid: q\n",
            add_link("t", "b"),
            "links:\n- type: x\n  id: y # c\n- type: t\n  id: b\nid: q\n",
        ),
        ("links: [{type: x, id: y}]\n", add_link("t", "b"), "links: [{type: x, id: y}, {type: t, id: b}]\n"),
        (
            "links:\n  - {type: x, id: y}\n",
            add_link("t", "b"),
            "links:\n  - {type: x, id: y}\n  - type: t\n    id: b\n",
        ),
        (
            "links:\n- type: x\n  id: y\n- type: z\n  id: y\n",
            Edit::RemoveMap { key: "links", entries: link("x", "y") },
            "links:\n- type: z\n  id: y\n",
        ),
        ("custom:\n  a: 1\n  b: 2 # c\nid: q\n", custom("c", "3"), "custom:\n  a: 1\n  b: 2 # c\n  c: 3\nid: q\n"),
        ("custom: {a: 1}\n", custom("c", "x"), "custom: {a: 1, c: x}\n"),
        ("custom:\n  a: 1 # c\n", custom("a", "2"), "custom:\n  a: 2 # c\n"),
        ("id: q\n", custom("a", "2"), "id: q\ncustom:\n  a: 2\n"),
        // Tags in one text are several.
        ("tags: a, b # c\n", add("c"), "tags: [a, b, c] # c\n"),
        ("tags: \"a, 2025\"\n", add("c"), "tags: [a, \"2025\", c]\n"),
        ("tags: a, 2025\n", add("c"), "tags: [a, \"2025\", c]\n"),
        ("tags: 2024, yes\n", add("c"), "tags: [\"2024\", \"yes\", c]\n"),
        ("tags: 2025\n", add("c"), "tags: [2025, c]\n"),
        ("tags: a, b\n", add("b"), "tags: a, b\n"),
        ("tags: a, b\n", remove("a"), "tags: [b]\n"),
        ("tags: a, b\n", remove("a, b"), "tags: a, b\n"),
        ("tags: a\n", remove("a"), "tags: []\n"),
        // Comments outlive items.
        ("tags:\n  # keep me\n  - a # 1\n  - b\n", remove("a"), "tags:\n  # keep me\n  - b\n"),
        ("tags: [a, b, # second\n c,]\n", remove("c"), "tags: [a, b, # second\n ]\n"),
        ("tags: [a, # first\n b]\n", remove("a"), "tags: [ # first\n b]\n"),
        ("tags: [a # first\n , b]\n", remove("a"), "tags: [ # first\n  b]\n"),
        ("tags: [a, b, # x, y\n]\n", add("c"), "tags: [a, b, c # x, y\n]\n"),
        ("tags: [a, b, c, b, c]\n", remove("c"), "tags: [a, b, b]\n"),
        ("tags: [a, # 1\n  a]\n", remove("a"), "tags: [ # 1\n  ]\n"),
        // Frontmatter in braces gets its fields inside.
        ("{id: f, tags: [x]}\n", set("New"), "{id: f, tags: [x], title: New}\n"),
        ("{\n  id: f, # c, d\n}\n", set("New"), "{\n  id: f, title: New # c, d\n}\n"),
        ("{id: f,\n tags: [x] # c\n}\n", add("c"), "{id: f,\n tags: [x, c] # c\n}\n"),
        ("{\"id\":\"f\"}\n", add("c"), "{\"id\":\"f\", tags: [c]}\n"),
        ("{id: f}\n", add_link("t", "b"), "{id: f, links: [{type: t, id: b}]}\n"),
        ("{links: , id: f}\n", add_link("t", "b"), "{links: [{type: t, id: b}] , id: f}\n"),
        ("{id: f}\n", custom("a", "1"), "{id: f, custom: {a: 1}}\n"),
        ("{id: f, custom: {b: 2}}\n", custom("a", "1"), "{id: f, custom: {b: 2, a: 1}}\n"),
        ("{}\n", set("New"), "{title: New}\n"),
    ]);
}

#[test]
fn a_renamed_item_keeps_its_place_and_all_comments() {
    let rename = || Edit::RenameItem { key: "tags", from: "old".into(), to: "new".into() };
    for (before, after) in [
        ("tags: [old, x] # c\n", "tags: [new, x] # c\n"),
        ("tags:\n  # a\n  - old # why\n  - x\n", "tags:\n  # a\n  - new # why\n  - x\n"),
        ("tags:\n- old # 1\n- new # 2\nid: q\n", "tags:\n- new # 1\n# 2\nid: q\n"),
        ("tags:\n  - 'new' # 1\n  - x\n  - old # 2\n", "tags:\n  - 'new' # 1\n  - x\n  # 2\n"),
        ("tags: [old, # 1\n  x, new]\n", "tags: [new, # 1\n  x]\n"),
        ("tags: [old, old]\n", "tags: [new]\n"),
        ("tags: old # c\n", "tags: [new] # c\n"),
        ("tags: old, x\n", "tags: [new, x]\n"),
        ("tags: [x]\n", "tags: [x]\n"),
        ("id: q\n", "id: q\n"),
    ] {
        assert_eq!(edited(before, rename()), after, "{before}");
    }
}

#[test]
fn what_is_written_is_read_the_same_by_every_reader_of_yaml() {
    let custom = |text: &str| edited("id: q\n", Edit::SetCustom { key: "k".into(), text: text.into() });
    for text in ["-", "0x_", "1_000", "._1", "2024-13-45", "why?", "https://a.org/?q=1"] {
        assert_eq!(custom(text), format!("id: q\ncustom:\n  k: \"{text}\"\n"));
    }
    for text in ["7", "-0.5", "2024-12-05", "1.2.3", "true", "a_b", "https://a.org/p"] {
        assert_eq!(custom(text), format!("id: q\ncustom:\n  k: {text}\n"));
    }
    assert_eq!(edited("title: null\n", set("null")), "title: \"null\"\n");
}

#[test]
fn a_link_gets_another_target_in_its_place() {
    let to = |kind: &str, id: &str| Edit::Retarget { key: "links", entries: link(kind, id), to: "new".into() };
    check([
        (
            "links:\n- type: t # 1\n  id: b # 2\n  why: x\n# c\n- type: t\n  id: z\n",
            to("t", "b"),
            "links:\n- type: t # 1\n  id: new # 2\n  why: x\n# c\n- type: t\n  id: z\n",
        ),
        ("links: [{id: b, type: t, why: [1]}, z]\n", to("t", "b"), "links: [{id: new, type: t, why: [1]}, z]\n"),
        ("links: [b, z] # c\n", to("related", "b"), "links: [new, z] # c\n"),
        ("links: b # c\n", to("related", "b"), "links: new # c\n"),
        ("links: {id: b, why: c}\n", to("related", "b"), "links: {id: new, why: c}\n"),
        ("links: [[b]]\n", to("related", "b"), "links: [[new]]\n"),
        ("links:\n  - [[b|label]]\n  - z\n", to("related", "b"), "links:\n  - [[\"new|label\"]]\n  - z\n"),
        ("links:\n  - id: '[[b]]'\n", to("related", "b"), "links:\n  - id: \"[[new]]\"\n"),
        (
            "links:\n  - b\n  - z\n  - id: new # kept\n",
            to("related", "b"),
            "links:\n  - new\n  - z\n  - id: new # kept\n",
        ),
        ("links: [new, z, b]\n", to("related", "b"), "links: [new, z, new]\n"),
        ("links: [z, z, b]\n", to("related", "b"), "links: [z, z, new]\n"),
        ("links: [b, {id: new, why: x}]\n", to("related", "b"), "links: [new, {id: new, why: x}]\n"),
        ("links: [{type: t, id: b}]\n", to("related", "b"), "links: [{type: t, id: b}]\n"),
    ]);
}

#[test]
fn copied_values_keep_what_they_are() {
    let value = |yaml: &str| YamlDocument::parse(yaml, "\n").unwrap().values()[0].1.clone();
    let set = |yaml: &str| Edit::SetCustomValue { key: "k".into(), value: value(yaml) };
    let add = |yaml: &str| Edit::AddValue { key: "links", value: value(yaml) };
    check([
        ("id: q\n", set("x: \"007\"\n"), "id: q\ncustom:\n  k: \"007\"\n"),
        ("id: q\n", set("x: 007\n"), "id: q\ncustom:\n  k: 007\n"),
        ("id: q\n", set("x: !!str 007\n"), "id: q\ncustom:\n  k: \"007\"\n"),
        ("id: q\n", set("x: {a: !!str 7, b: !!int 7}\n"), "id: q\ncustom:\n  k: {a: \"7\", b: 7}\n"),
        ("custom:\n  k: 007\n", set("x: '007'\n"), "custom:\n  k: \"007\"\n"),
        ("custom:\n  k: 007\n", set("x: 007\n"), "custom:\n  k: 007\n"),
        ("id: q\n", set("x: 2025-01-01T10:00:00Z\n"), "id: q\ncustom:\n  k: 2025-01-01T10:00:00Z\n"),
        ("id: q\n", set("x:\n- 'true'\n- {a: 1, b: }\n"), "id: q\ncustom:\n  k: [\"true\", {a: 1, b: null}]\n"),
        ("links: [z]\n", add("x: {id: b, page: 7}\n"), "links: [z, {id: b, page: 7}]\n"),
        ("links:\n- z\n", add("x: {id: b, page: '7'}\n"), "links:\n- z\n- id: b\n  page: \"7\"\n"),
        ("id: q\n", add("x: [[b]]\n"), "id: q\nlinks: [[[b]]]\n"),
    ]);
}

#[test]
fn no_body_becomes_fields() {
    let with_body = |text: &str, body: &str| apply(text, &[Edit::SetBody(body.into())]);
    for (before, body, after) in [
        ("Old\n", "---\nid: x\n---\nNew\n", "---\n---\n---\nid: x\n---\nNew\n"),
        ("Old\n", "---\nid: x\n\nNew\n", "---\n---\n---\nid: x\n\nNew\n"),
        ("Old\n", "---\nNew\n", "---\n---\n---\nNew\n"),
        ("Old\n", "\u{feff}New\n", "---\n---\n\u{feff}New\n"),
        ("Old\n", "New\n", "New\n"),
        // Several carriage returns before a line feed are one line ending.
        ("", "New\r\r\nline\n", "New\nline\n"),
        ("Old\r\n", "---\nid: x\n---\n", "---\r\n---\r\n---\r\nid: x\r\n---\r\n"),
        ("---\nid: a\n---", "New\n", "---\nid: a\n---\nNew\n"),
        ("---\nid: a\n---\nOld", "---\nid: x\n---\n", "---\nid: a\n---\n---\nid: x\n---\n"),
    ] {
        assert_eq!(with_body(before, body).unwrap(), after);
        assert!(apply(after, &[set("T")]).is_ok(), "{after}");
    }
    assert!(with_body("---\nid: a\nno end\n", "New\n").is_err());
}

#[test]
fn appended_lines_change_no_byte_before_them() {
    let append = |text: &str, is_apart| apply(text, &[Edit::Append { lines: "- x\n  y".into(), is_apart }]).unwrap();
    for (before, is_apart, added) in [
        ("---\r\nid: a\r\n---\r\nfirst\nsecond\n", true, "\n- x\n  y\n"),
        ("---\nid: a\n---\nfirst\r\nsecond\r\n", true, "\r\n- x\r\n  y\r\n"),
        ("first\nsecond\r\nthird\rx\n", true, "\n- x\n  y\n"),
        ("---\nid: a\n---\n- a\n- \n", false, "- x\n  y\n"),
        ("---\nid: a\n---\ntext  \n \n", true, "- x\n  y\n"),
        ("---\nid: a\n---\n- a", false, "\n- x\n  y\n"),
        ("---\nid: a\n---\ntext", true, "\n\n- x\n  y\n"),
        ("---\nid: a\n---\n", true, "- x\n  y\n"),
        ("---\r\nid: a\r\n---", true, "\r\n- x\r\n  y\r\n"),
        ("", true, "- x\n  y\n"),
    ] {
        assert_eq!(append(before, is_apart), format!("{before}{added}"), "{before:?}");
    }
}

#[test]
fn what_can_not_be_changed_alone_is_refused() {
    assert!(apply("---\ntitle: Paper: X\n---\n", &[set("New")]).unwrap_err().contains("line 2"));
    assert!(apply("---\ntitle: X\nno end", &[set("New")]).is_err());
    assert!(apply(&note("title: &a Old\nother: *a\n"), &[set("New")]).is_err());
}

/// Many tags and fields are written in a few passes over the frontmatter.
#[test]
fn many_tags_and_fields_are_parsed_in_linear_time() {
    let cost = |count: usize| {
        let tags = (0..count).map(|number| Edit::AddItem { key: "tags", text: format!("tag{number}") });
        let fields = (0..count).map(|number| Edit::SetCustom { key: format!("k{number}"), text: "v".to_owned() });
        let edits: Vec<Edit> = tags.chain(fields).collect();
        BYTES_PARSED.set(0);
        let text = apply("---\nid: n\n---\n", &edits).unwrap();
        let last = count - 1;
        assert!(text.contains(&format!("tag{last}")) && text.contains(&format!("k{last}: v")));
        BYTES_PARSED.get() as f64 / text.len() as f64
    };
    let (few, many) = (cost(100), cost(800));
    assert!(many < 1.2 * few && many < 40.0, "{few} bytes a byte, then {many}");
}
