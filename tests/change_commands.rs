//! Commands that change notes, in process: digests, merges, editing, repairs.

use std::fs;
use std::path::Path;

use crate::support::files::{path, store, store_of_bytes, temp_dir, write_in_store};
use crate::support::frontmatter::{self, squeezed, without_field};
use crate::support::generators;
use crate::support::process::{call, call_with, call_with_editor, call_with_settings, trust};
use proptest::prelude::*;

fn text(dir: &tempfile::TempDir, file: &str) -> String {
    fs::read_to_string(dir.path().join(".qipu").join(file)).unwrap()
}

/// The notes of records, in their order.
fn names(records: &str) -> Vec<&str> {
    let notes = records.lines().filter(|line| line.starts_with("N ") || line.starts_with("M "));
    notes.map(|line| line.split(' ').nth(1).unwrap()).collect()
}

fn lines<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(prefix)).collect()
}

fn digests() -> tempfile::TempDir {
    store(&[
        ("notes/a.md", "---\nid: a\ntitle: A\ncreated: 2025-02-01\nvalue: 90\ntags: [t]\n---\nApple. [[x]]\n"),
        ("notes/b.md", "---\nid: b\ntitle: B\nvalue: 80\ntags: [t]\n---\nApple. [[a]] [[y]]\n"),
        ("notes/c.md", "---\nid: c\ntitle: C\nvalue: 70\ntags: [t]\n---\nApple.\n"),
        ("notes/d.md", "---\nid: d\ntitle: The digest\n---\nWhat a and b say.\n"),
        ("notes/x.md", "---\nid: x\ntitle: X\nlinks: [{type: supports, id: b}]\n---\n"),
        ("notes/y.md", "---\nid: y\ntitle: Y\n---\n[[z]]\n"),
        ("notes/z.md", "---\nid: z\ntitle: Z\nupdated: 2025-03-01\n---\n"),
    ])
}

#[test]
fn a_digest_replaces_its_notes_until_it_is_undone() {
    let dir = digests();
    let run = |args: &[&str]| call(path(&dir), args);
    let tagged = ["context", "--tag", "t", "--records"];
    let before = run(&tagged).stdout;
    assert_eq!(names(&before), ["a", "b", "c"]);
    assert_eq!(
        run(&["link", "add", "d", "compacts", "a", "b", "--today", "2025-03-31"]).stdout,
        "d changed .qipu/notes/d.md\n"
    );
    assert!(text(&dir, "notes/d.md").contains("updated: 2025-03-31\n") && text(&dir, "notes/d.md").contains("[a, b]"));
    assert_eq!(run(&["link", "add", "d", "compacts", "b"]).stdout, "d unchanged .qipu/notes/d.md\n");

    let bundle = run(&tagged).stdout;
    assert_eq!(names(&bundle), ["d", "c"], "at the place of the first of its notes");
    assert_eq!(lines(&bundle, "D compacted"), ["D compacted a from=d", "D compacted b from=d"]);
    assert_eq!(names(&run(&["context", "--tag", "t", "--records", "--no-compaction"]).stdout), ["a", "b", "c"]);
    let named = run(&["context", "--note", "b", "--note", "c", "--records"]).stdout;
    assert_eq!(names(&named), ["b", "d", "c"], "a note that is named is shown, and its digest too");
    assert_eq!(names(&run(&["context", "--query", "apple", "--records"]).stdout), ["c", "d"]);
    assert_eq!(names(&run(&["context", "--moc", "b", "--records"]).stdout), ["d", "y"]);

    let tree = run(&["link", "tree", "a", "--records"]).stdout;
    assert_eq!(names(&tree), ["d", "x", "y", "z"], "the digest has the links of its notes");
    assert_eq!(
        lines(&tree, "E "),
        ["E d related x inline", "E d supported-by x virtual", "E d related y inline", "E y related z inline"]
    );
    assert_eq!(lines(&tree, "D compacted").len(), 2);
    assert_eq!(
        names(&run(&["link", "tree", "a", "--no-compaction", "--max-hops", "1", "--records"]).stdout),
        ["a", "b", "x"]
    );
    assert_eq!(names(&run(&["link", "path", "x", "z", "--records"]).stdout), ["x", "d", "y", "z"]);
    assert!(run(&["link", "list", "d"]).stdout.starts_with("The digest (d) [digest of a, b]\n"));
    let json = run(&["context", "--tag", "t", "--json"]).stdout;
    assert!(json.contains("\"compacts\":[\"a\",\"b\"]"), "{json}");

    let primed = run(&["prime", "--records"]).stdout;
    assert!(!names(&primed).contains(&"a") && names(&primed).contains(&"d"), "{primed}");

    assert_eq!(run(&["delete", "a"]).code(), 1, "a digest refers to it");
    assert_eq!(run(&["link", "remove", "d", "compacts", "a", "b"]).code(), 0);
    assert_eq!(run(&tagged).stdout, before);
}

#[test]
fn digests_replace_digests_but_not_in_a_cycle() {
    let dir = digests();
    let run = |args: &[&str]| call(path(&dir), args);
    assert_eq!(
        (run(&["link", "add", "d", "compacts", "a"]).code(), run(&["link", "add", "c", "compacts", "d"]).code()),
        (0, 0)
    );
    let bundle = run(&["context", "--tag", "t", "--records"]).stdout;
    assert_eq!(names(&bundle), ["c", "b"]);
    assert_eq!(lines(&bundle, "D compacted"), ["D compacted d from=c"]);
    assert_eq!(names(&run(&["context", "--note", "a", "--records"]).stdout), ["a", "c"]);
    for [digest, member] in [["a", "c"], ["a", "a"], ["z", "a"]] {
        let answer = run(&["link", "add", digest, "compacts", member]);
        assert_eq!(answer.code(), 2, "{digest} {member}: {}", answer.stdout);
    }
    // Fields that are written by hand are read as far as possible, and doctor reports the rest.
    fs::write(dir.path().join(".qipu/notes/a.md"), "---\nid: a\ntitle: A\ntags: [t]\ncompacts: [c, nobody]\n---\n")
        .unwrap();
    assert_eq!(names(&run(&["context", "--tag", "t", "--records"]).stdout), ["b", "a"], "the first by id wins");
    let findings = run(&["doctor"]).stdout;
    assert_eq!(findings.matches("broken-digest").count(), 2, "{findings}");
}

#[test]
fn a_merged_note_is_found_in_the_other() {
    let dir = store(&[
        (
            "notes/a.md",
            "---\nid: a\ntitle: A # mine\ntags: [one]\nlinks:\n- {type: refines, id: b}\n- {type: supports, id: x}\ncustom:\n  k: 1\n---\nText of a, see [[b]] and [b](b.md).\n",
        ),
        (
            "notes/b.md",
            "---\nid: b\ntitle: The other\naliases: [Bee]\ntags: [two, one]\nsummary: In short.\nsources: [{url: https://x.org, title: X}]\nlinks:\n- {type: supports, id: x}\n- {type: follows, id: y}\n- {type: related, id: a}\ncustom:\n  k: 2\n  own: yes\nmine: 3\n---\nText of b, by [[a]], [y](../mocs/y.md).\n",
        ),
        (
            "mocs/y.md",
            "---\nid: y\ntitle: Y\nlinks:\n  - type: supports # why\n    id: b\n  - {type: supports, id: a}\n---\r\n[[b]], [[b|label]], [[The other]], [[bee#part]], [it](../notes/b.md#h), ![[b]] `[[b]]`\r\nmixed line\nends\n",
        ),
        ("notes/x.md", "---\nid: x\ntitle: X\ncompacts: [b]\nlinks: [b]\n---\nNothing.\n"),
        ("notes/z.md", "---\nid: z\ntitle: Z\n---\nNothing.\n"),
    ]);
    let run = |args: &[&str]| call(path(&dir), args);
    let untouched = text(&dir, "notes/z.md");
    let dry = run(&["merge", "a", "b", "--dry-run", "--today", "2025-03-31"]);
    assert_eq!((dry.code(), text(&dir, "notes/a.md").contains("aliases")), (0, false), "{:?}", dry.error);
    let done = run(&["merge", "a", "b", "--today", "2025-03-31"]);
    assert_eq!(done.code(), 0);
    assert_eq!(
        done.stdout,
        "a changed .qipu/notes/a.md\nx changed .qipu/notes/x.md\ny changed .qipu/mocs/y.md\nb deleted .qipu/notes/b.md\n\
         warning: .qipu/notes/a.md: `custom.k: 2` of `b` is not carried over (field-not-merged)\n\
         warning: .qipu/notes/a.md: `mine: 3` of `b` is not carried over (field-not-merged)\n"
    );
    assert_eq!(
        text(&dir, "notes/a.md"),
        "---\nid: a\ntitle: A # mine\ntags: [one, two]\nlinks:\n- {type: supports, id: x}\n- type: follows\n  id: y\n\
         custom:\n  k: 1\n  own: yes\naliases: [The other, b, Bee]\nsources:\n  - url: https://x.org\n    title: X\nupdated: 2025-03-31\n---\n\
         Text of a, see [[a]] and [b](a.md).\n\n## The other\n\nIn short.\n\nText of b, by [[a]], [y](../mocs/y.md).\n"
    );
    assert_eq!(
        text(&dir, "mocs/y.md"),
        "---\nid: y\ntitle: Y\nlinks:\n  - type: supports # why\n    id: a\n  - {type: supports, id: a}\n---\r\n\
         [[a]], [[a|label]], [[The other]], [[bee#part]], [it](../notes/a.md#h), ![[a]] `[[b]]`\r\nmixed line\nends\n"
    );
    assert_eq!(text(&dir, "notes/x.md"), "---\nid: x\ntitle: X\ncompacts: [a]\nlinks: [a]\n---\nNothing.\n");
    assert_eq!(text(&dir, "notes/z.md"), untouched);
    assert!(run(&["show", "b"]).stdout.starts_with("A (a)\n"), "the old id still names it");
    assert_eq!(run(&["doctor"]).stdout.matches("broken").count(), 0, "{}", run(&["doctor"]).stdout);
    assert_eq!(run(&["merge", "a", "a"]).code(), 2);
}

#[test]
fn links_keep_their_order_and_attributes() {
    let dir = store(&[
        ("notes/a.md", "---\nid: a\ntitle: A\nlinks: []\n---\n"),
        (
            "notes/b.md",
            "---\nid: b\ntitle: Old\nsources:\n- url: https://x.org\n  page: 7\nlinks:\n- {id: x, why: because}\ncustom: {code: \"007\", flag: \"true\", m: 7, l: [1, '2']}\n---\n",
        ),
        (
            "mocs/m.md",
            "---\nid: m\ntitle: M\ntype: moc\nlinks:\n- id: old # first\n  why: it begins here\n# then\n- id: x\n- [[b]]\n- a\n---\n",
        ),
        ("notes/x.md", "---\nid: x\ntitle: X\ntags: a, b\n---\n"),
    ]);
    let run = |args: &[&str]| assert_eq!(call(path(&dir), &[args, &["--today", "2025-03-31"]].concat()).code(), 0);
    run(&["update", "b", "--title", "New"]);
    assert_eq!(
        text(&dir, "mocs/m.md"),
        "---\nid: m\ntitle: M\ntype: moc\nlinks:\n- id: b # first\n  why: it begins here\n# then\n- id: x\n- [[b]]\n- a\n---\n"
    );
    run(&["merge", "a", "b"]);
    assert_eq!(
        text(&dir, "mocs/m.md"),
        "---\nid: m\ntitle: M\ntype: moc\nlinks:\n- id: a # first\n  why: it begins here\n# then\n- id: x\n- [[a]]\n- a\n---\n"
    );
    assert_eq!(
        text(&dir, "notes/a.md"),
        "---\nid: a\ntitle: A\nlinks:\n  - id: x\n    why: because\naliases: [New, b, Old]\nsources:\n  - url: https://x.org\n    page: 7\n\
         custom:\n  code: \"007\"\n  flag: \"true\"\n  m: 7\n  l: [1, \"2\"]\nupdated: 2025-03-31\n---\n"
    );
    run(&["update", "--where", "tag = a", "--untag", "a", "--tag", "c"]);
    assert!(text(&dir, "notes/x.md").contains("tags: [c, b]\n"));
    run(&["update", "x", "--untag", "b", "--tag", "d"]);
    assert!(text(&dir, "notes/x.md").contains("tags: [c, d]\n"));
}

#[test]
fn a_title_that_a_third_note_has_too_does_not_take_links_with_it() {
    let dir = store(&[
        ("notes/a.md", "---\nid: a\ntitle: A\n---\n"),
        ("notes/b.md", "---\nid: b\ntitle: Same\n---\nB.\n"),
        ("notes/c.md", "---\nid: c\ntitle: Same\n---\nC.\n"),
        ("notes/d.md", "---\nid: d\ntitle: D\n---\n[[Same]]\n"),
    ]);
    assert_eq!(call(path(&dir), &["merge", "a", "b"]).code(), 0);
    assert_eq!(text(&dir, "notes/d.md"), "---\nid: d\ntitle: D\n---\n[[a]]\n");
}

fn notes_to_correct() -> tempfile::TempDir {
    store(&[
        ("notes/a.md", "---\nid: a\ntitle: A\n---\n# A\r\n\r\n## Why\r\nEvery hour.\r\n\r\n## How\r\nx x"),
        ("notes/b.md", "---\nid: b\ntitle: B\n---\n## Why\n\nEvery hour. ```\n\n```\n## How\n```\n\n# C\n\n## Why\n"),
        ("notes/c.md", "---\nid: c\ntitle: C\n---\nEvery hour.\n\n```\nopen\n"),
    ])
}

#[test]
fn a_correction_changes_a_part_of_each_text_or_none() {
    let dir = notes_to_correct();
    let run = |args: &[&str], stdin: &str| {
        let args = [args, &["--today", "2025-03-31"]].concat();
        call_with(path(&dir), &args, stdin, &[])
    };
    let body = |file: &str| {
        let text = text(&dir, &format!("notes/{file}.md"));
        text.split_once("updated: 2025-03-31\n---\n").unwrap().1.to_owned()
    };
    let shown = run(&["update", "a", "c", "--replace", "hour", "day", "--dry-run"], "").stdout;
    assert_eq!(shown.matches("-Every hour.").count(), 2, "{shown}");
    assert_eq!(shown.matches("+Every day.").count(), 2, "{shown}");
    assert!(!text(&dir, "notes/a.md").contains("updated"), "a dry run changes nothing");
    assert_eq!(run(&["update", "a", "c", "--replace", "hour", "-"], "day\n").code(), 0);
    assert_eq!(body("a"), "# A\r\n\r\n## Why\r\nEvery day.\r\n\r\n## How\r\nx x");
    assert_eq!(body("c"), "Every day.\n\n```\nopen\n");
    assert_eq!(run(&["update", "a", "--section", "A › Why", "--body", "-"], "- One\n- Two\n").code(), 0);
    assert_eq!(run(&["update", "a", "--section", "## How", "--body", "y"], "").code(), 0);
    let expected = "# A\r\n\r\n## Why\r\n- One\n- Two\r\n\r\n## How\r\ny";
    assert_eq!(body("a"), expected, "new lines end as the first line of the file");
    assert_eq!(run(&["update", "b", "--append", "-", "--tag", "t"], "- more\n\n").code(), 0);
    assert!(body("b").ends_with("# C\n\n## Why\n\n- more\n"), "{}", body("b"));
    assert_eq!(run(&["update", "b", "--section", "C › Why", "--body", ""], "").code(), 0);
    assert!(body("b").ends_with("```\n\n# C\n\n## Why\n"), "{}", body("b"));
    assert!(run(&["update", "b", "--replace", "C", "C"], "").stdout.contains("unchanged"));
}

#[test]
fn a_correction_that_is_not_unique_is_refused_with_the_count() {
    let dir = notes_to_correct();
    let files = || ["a", "b", "c"].map(|name| text(&dir, &format!("notes/{name}.md")));
    let before = files();
    for (args, message) in [
        (
            &["a", "b", "--replace", "x x", "y"][..],
            "can't change `b`: its text does not contain the text to replace (0 occurrences)",
        ),
        (
            &["a", "--replace", "x", "y"],
            "can't change `a`: the text to replace occurs 2 times; give more of the text around it",
        ),
        (
            &["b", "--replace", "``", "y"],
            "can't change `b`: the text to replace occurs 3 times; give more of the text around it",
        ),
        (
            &["b", "--replace", "id: b", "id: c"],
            "can't change `b`: its text does not contain the text to replace (0 occurrences)",
        ),
        (
            &["a", "b", "--section", "Why", "--body", "y"],
            "can't change `b`: it has 2 headings `Why`; name the heading above too: `A › B`",
        ),
        (&["b", "--section", "How", "--body", "y"], "can't change `b`: it has no heading `How` (0 headings)"),
        (
            &["a", "--section", "Why", "--body", "## How\n\ny"],
            "can't change `a`: the text has a heading that would end the section",
        ),
        (
            &["a", "--section", "Why", "--body", "```\ny"],
            "can't change `a`: its other headings would change their meaning with that text",
        ),
        (&["a", "c", "--append", "y"], "can't change `c`: its text ends inside a code block or a comment"),
    ] {
        let answer = call(path(&dir), &[&["update"], args].concat());
        assert_eq!(answer.code(), 3, "{args:?}");
        assert_eq!(answer.error.unwrap().message, message);
    }
    for args in [
        &["--append", " "][..],
        &["--append", "x", "--body", "y"],
        &["--append", "x", "--replace", "y", "z"],
        &["--append", "x", "--section", "y", "--body", "z"],
        &["--replace", "x"],
        &["--replace", "", "x"],
        &["--replace", "-", "-"],
        &["--replace", "x", "y", "--body", "z"],
        &["--section", "Why"],
        &["--section", " ", "--body", "x"],
    ] {
        assert_eq!(call(path(&dir), &[&["update", "a"], args].concat()).code(), 2, "{args:?}");
    }
    assert_eq!(files(), before);
}

/// Every mutating command on notes in every form: only what it reports is changed, in these notes
/// only the fields that it is about, and the change reads back; what is refused changes nothing.
#[test]
fn a_command_changes_its_fields_of_its_notes_and_nothing_else() {
    let calls: [(&[&str], &[&str]); 14] = [
        (&["update", "n1", "--title", "two: parts"], &["title"]),
        (&["update", "n1", "n2", "--tag", "new"], &["tags"]),
        (&["update", "n1", "--untag", "a"], &["tags"]),
        (&["update", "n1", "--value", "33", "--verified"], &["value", "verified"]),
        (&["update", "n1", "--summary", "- \"x\": y", "--type", "moc"], &["summary", "type"]),
        (&["update", "n1", "--source", "https://x.org/#a"], &["sources"]),
        (&["update", "n1", "--set", "a=true"], &["custom"]),
        (&["update", "n1", "--body", "Another text."], &["body"]),
        (&["link", "add", "n1", "refines", "n2"], &["links"]),
        (&["link", "remove", "n1", "x"], &["links"]),
        (&["update", "--where", "tag = a", "--untag", "a", "--tag", "c"], &["tags"]),
        (&["link", "add", "n1", "compacts", "n2", "n3"], &["compacts"]),
        (&["update", "n1", "--title", "Another title"], &["title", "aliases", "body", "links", "id"]),
        (&["merge", "n1", "n2"], &["aliases", "tags", "sources", "links", "custom", "compacts", "body"]),
    ];
    let changed = std::sync::atomic::AtomicUsize::new(0);
    let case = (frontmatter::note(), frontmatter::note(), prop::sample::select(calls.to_vec()));
    generators::runner(300)
        .run(&case, |(first, second, (words, fields))| {
            let named = |text: &str, id: &str| {
                format!("---\n{}", text.trim_start_matches('\u{feff}').trim_start_matches("---"))
                    .replace("id: n1", &format!("id: {id}"))
                    .replace("'n1'", id)
                    .replace("\"n1\"", id)
            };
            let third = "---\nid: n3\ntitle: Third\n---\n[[n1]] [[n2]]\n";
            let x = "---\nid: x\ntitle: X\n---\n";
            let dir = store(&[
                ("notes/n1.md", &first),
                ("notes/n2.md", &named(&second, "n2")),
                ("notes/n3.md", third),
                ("notes/x.md", x),
            ]);
            let files =
                || ["n1", "n2", "n3", "x"].map(|name| fs::read(dir.path().join(format!(".qipu/notes/{name}.md"))).ok());
            let before = files();
            let dry = [words, &["--dry-run", "--today", "2025-03-31", "--records"]].concat();
            let planned = call(path(&dir), &dry);
            prop_assert_eq!(&files(), &before, "a dry run");
            let answer = call(path(&dir), &[words, &["--today", "2025-03-31", "--records"]].concat());
            let after = files();
            prop_assert_eq!(answer.code(), planned.code());
            if answer.code() != 0 {
                prop_assert_eq!(after, before);
                return Ok(());
            }
            let reported = |name: &str| {
                lines(&answer.stdout, "D change")
                    .iter()
                    .any(|line| line.contains(&format!("notes/{name}.md ")) && !line.contains("unchanged"))
            };
            for (place, name) in ["n1", "n2", "n3", "x"].iter().enumerate() {
                let (Some(old), Some(new)) = (&before[place], &after[place]) else { continue };
                prop_assert_eq!(old != new, reported(name), "{}", name);
                let without = |bytes: &Vec<u8>| {
                    let mut text = String::from_utf8(bytes.clone()).unwrap();
                    if fields.contains(&"body") {
                        let body = qipu::note::Note::parse("notes/x.md", bytes.clone()).body().len();
                        text.truncate(text.len() - body);
                    }
                    for field in fields.iter().chain(&["updated"]) {
                        text = without_field(&text, field);
                    }
                    squeezed(&text)
                };
                prop_assert_eq!(without(old), without(new), "{}: {:?}", name, words);
            }
            changed.fetch_add(usize::from(before != after), std::sync::atomic::Ordering::Relaxed);
            let again = call(path(&dir), &[words, &["--today", "2025-03-31", "--records"]].concat());
            if words[0] != "merge" && !words.contains(&"--where") {
                prop_assert_eq!((again.code(), files()), (0, after), "twice is once: {:?}", again.error);
            }
            Ok(())
        })
        .unwrap();
    let changed = changed.into_inner();
    assert!(changed > 180, "only {changed} changed anything");
}

#[test]
fn doctor_repairs_what_is_safe_and_reports_the_rest() {
    let long: String = (0..60).map(|n| format!("word{n} ")).collect();
    let dir = store(&[
        ("notes/qp-a1b2-title.md", "---\ntitle: Paper: the X # y\r\ntags: [a] # kept\n---\nBody: [[b]]\n"),
        ("notes/b.md", &format!("---\nid: b\ntitle: B\n---\n[[qp-a1b2]] {long}\n")),
        ("notes/c.md", &format!("---\nid: c\ntitle: C\n---\n{long}\n")),
        ("notes/d.md", "---\nid: d\ntitle: [[x]]\ntags: [unclosed\n---\n"),
        ("notes/plain.md", "No frontmatter. [[b]]\n"),
        ("notes/.qipu-tmp-Ab1xyz", "half"),
        (".qipu-tmp-Ab2xyz", "half"),
        ("notes/.qipu-draft.md", "my own"),
    ]);
    let run = |args: &[&str]| call(path(&dir), args);
    let codes = |text: &str| {
        let found = text.lines().filter_map(|line| line.rsplit_once(" (")?.1.strip_suffix(')').map(str::to_owned));
        found.collect::<Vec<_>>()
    };
    let before = codes(&run(&["doctor"]).stdout);
    for code in ["frontmatter-broken", "no-id", "left-over"] {
        assert!(before.contains(&code.to_owned()), "{code} in {before:?}");
    }
    let shown = run(&["doctor", "--fix", "--dry-run"]).stdout;
    assert!(shown.contains("+title: \"Paper: the X # y\""), "{shown}");
    assert_eq!(codes(&run(&["doctor"]).stdout), before, "a dry run mends nothing");
    let mended = run(&["doctor", "--fix"]);
    assert_eq!(mended.code(), 3, "one error remains");
    assert!(
        mended.stdout.starts_with(
            "qp-a1b2 changed .qipu/notes/qp-a1b2-title.md\ndeleted .qipu/.qipu-tmp-Ab2xyz\ndeleted .qipu/notes/.qipu-tmp-Ab1xyz\n"
        ),
        "{}",
        mended.stdout
    );
    assert_eq!(
        text(&dir, "notes/qp-a1b2-title.md"),
        "---\ntitle: \"Paper: the X # y\"\r\ntags: [a] # kept\nid: qp-a1b2\n---\nBody: [[b]]\n"
    );
    assert_eq!(text(&dir, "notes/.qipu-draft.md"), "my own");
    assert_eq!(text(&dir, "notes/plain.md"), "No frontmatter. [[b]]\n");
    assert_eq!(run(&["doctor", "--fix"]).stdout.matches("changed").count(), 0);
}

#[test]
fn commands_that_create_files_have_a_dry_run() {
    let dir = temp_dir();
    let run = |args: &[&str]| call(path(&dir), args);
    let count = || fs::read_dir(dir.path()).unwrap().count();
    assert!(run(&["init", "--dry-run"]).stdout.starts_with("created .qipu/config.toml\n--- /dev/null\n"));
    assert!(run(&["setup", "agents-md", "--dry-run"]).stdout.starts_with("created AGENTS.md\n--- /dev/null\n"));
    assert_eq!(count(), 0);
    assert_eq!((run(&["init"]).code(), run(&["setup", "agents-md"]).code()), (0, 0));
    assert_eq!(run(&["setup", "agents-md", "--dry-run"]).stdout, "Nothing to do.\n");
    assert!(run(&["setup", "agents-md", "--remove", "--dry-run"]).stdout.contains("+++ /dev/null"));
    assert_eq!(count(), 2);
    assert_eq!(run(&["setup", "--check", "agents-md", "--dry-run"]).code(), 2);
}

/// What a person saves while a command works is never written over.
#[test]
fn a_file_that_was_changed_meanwhile_stays_and_so_do_all_others() {
    use qipu::store::{Change, Dependence, Location, Store};
    let notes = [("notes/a.md", "A"), ("notes/b.md", "B"), ("notes/c.md", "C")];
    let replace = |path: &str, old: &str| Change::Replace { path: path.into(), old: old.into(), new: "new".into() };
    for (changes, is_done) in [
        (vec![replace("notes/a.md", "A")], true),
        (vec![replace("notes/a.md", "another")], false),
        (vec![replace("notes/a.md", "A"), replace("notes/b.md", "another")], false),
        (vec![replace("notes/a.md", "A"), Change::Delete { path: "notes/b.md".into(), old: "another".into() }], false),
        (vec![replace("notes/a.md", "A"), Change::Create { path: "notes/b.md".into(), new: "new".into() }], false),
        (
            vec![
                Change::Move { from: "notes/a.md".into(), to: "notes/d.md".into(), old: "A".into(), new: "new".into() },
                replace("notes/c.md", "another"),
            ],
            false,
        ),
        (vec![replace("notes/a.md", "A"), replace("../outside.md", "")], false),
        (vec![replace("notes/a.md", "A"), replace("config.toml", "")], false),
        (vec![replace("notes/a.md", "A"), Change::Create { path: "notes/.hidden/x.md".into(), new: "".into() }], false),
    ] {
        let dir = store(&notes);
        let location = Location { store: Some(dir.path().join(".qipu")), ..Location::default() };
        let plan = |_: &Store| Ok((changes.clone(), ()));
        let made = Store::change(&location, dir.path(), None, Dependence::Named, plan).map(drop);
        assert_eq!(made.is_ok(), is_done, "{changes:?}");
        let now: Vec<String> = notes.iter().map(|(path, _)| text(&dir, path)).collect();
        let is_old = now.iter().zip(&notes).all(|(now, (_, old))| now == old);
        assert_eq!(is_old, !is_done, "{changes:?}: {now:?}");
        let names =
            walkdir::WalkDir::new(dir.path()).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file());
        assert_eq!(names.count(), notes.len() + 1, "nothing is left behind but the lock: {changes:?}");
    }
}

/// A redo log that came with a repository can change the content of a note, and nothing else.
#[test]
fn a_forged_redo_log_changes_no_other_file() {
    for change in [
        r#"{"Move":{"from":"tool.sh","to":".git/hooks/post-commit","old":"dA==","new":"dA=="}}"#,
        r#"{"Create":{"path":"../out.md","new":"dA=="}}"#,
        r#"{"Create":{"path":"/tmp/qipu-out.md","new":"dA=="}}"#,
        r#"{"Create":{"path":"notes/../../out.md","new":"dA=="}}"#,
        r#"{"Replace":{"path":"config.toml","old":"","new":"dA=="}}"#,
        r#"{"Delete":{"path":"tool.sh","old":"dA=="}}"#,
    ] {
        let dir = store(&[("notes/a.md", "A"), ("tool.sh", "t"), ("config.toml", "")]);
        let list = format!(r#"{{"version":1,"changes":[{{"Create":{{"path":"notes/a.md","new":"QQ=="}}}},{change}]}}"#);
        fs::write(dir.path().join(".qipu/.qipu-pending"), list).unwrap();
        let doctor = call(path(&dir), &["doctor"]).stdout;
        assert!(doctor.contains("unfinished-change"), "{doctor}");
        let answer = call(path(&dir), &["capture", "x"]);
        assert_eq!(answer.code(), 3, "{change}");
        assert!(answer.error.unwrap().hint.unwrap().contains("remove"), "it tells the way out");
        assert_eq!((text(&dir, "tool.sh").as_str(), text(&dir, "config.toml").as_str()), ("t", ""));
        assert!(!dir.path().join("out.md").exists() && !dir.path().join(".qipu/.git").exists());
    }
}

/// A redo log that came with a repository is not applied. Reads work nevertheless, and doctor removes it.
#[test]
fn a_foreign_redo_log_is_refused_and_removed() {
    let dir = store(&[("notes/a.md", "A"), ("notes/b.md", "B")]);
    let list = r#"{"version":1,"changes":[{"Create":{"path":"notes/a.md","new":"QQ=="}},{"Replace":{"path":"notes/b.md","old":"Qg==","new":"Yg=="}}]}"#;
    fs::write(dir.path().join(".qipu/.qipu-pending"), list).unwrap();
    let refused = call(path(&dir), &["capture", "x"]);
    assert_eq!((refused.code(), refused.stdout.as_str()), (3, ""));
    let error = refused.error.unwrap();
    assert!(
        error.message.starts_with("the changes listed in .qipu/.qipu-pending can't be completed: it was not left by"),
        "{error}"
    );
    assert_eq!(error.hint.unwrap().matches("doctor --fix").count(), 1);
    assert_eq!(call(path(&dir), &["show", "b"]).code(), 0);
    let told = call(path(&dir), &["doctor"]).stdout;
    assert!(
        told.contains("no command can change notes until it is removed") && told.contains("unfinished-change"),
        "{told}"
    );
    let planned = call(path(&dir), &["doctor", "--fix", "--dry-run"]).stdout;
    assert!(planned.contains("deleted .qipu/.qipu-pending\n"), "{planned}");
    let mended = call(path(&dir), &["doctor", "--fix"]).stdout;
    assert!(mended.contains("deleted .qipu/.qipu-pending\n") && !mended.contains("unfinished"), "{mended}");
    assert_eq!((text(&dir, "notes/a.md"), text(&dir, "notes/b.md")), ("A".into(), "B".into()));
    assert_eq!(call(path(&dir), &["capture", "x"]).code(), 0);
}

/// A store that a repository only links to is not opened, nor is one made there.
#[test]
fn a_store_behind_a_link_is_opened_only_by_name() {
    let dir = store(&[("notes/a.md", "secret")]);
    let project = dir.path().join("project");
    fs::create_dir(&project).unwrap();
    std::os::unix::fs::symlink("../.qipu", project.join(".qipu")).unwrap();
    let project = project.to_str().unwrap();
    for words in [&["list"][..], &["capture", "x"], &["init"], &["context", "--note", "a"]] {
        let answer = call(project, words);
        assert_eq!((answer.code(), answer.stdout.as_str()), (3, ""), "{words:?}");
    }
    assert_eq!(call(project, &["hook", "claude", "SessionStart"]).stdout, "");
    assert_eq!(call(project, &["list", "--store", ".qipu"]).code(), 0);
    std::os::unix::fs::symlink("/etc", dir.path().join(".qipu/templates")).unwrap();
    assert_eq!(call(path(&dir), &["capture", "--title", "T", "--type", "os-release"]).code(), 1);
}

#[test]
fn a_merge_that_would_lose_content_is_refused_or_reported() {
    let long = "x".repeat(9_000_000);
    let refused = [
        ("a", "A.\n```\nopen", "b", "B."),
        ("a", "A. [x][1]\n\n[1]: https://a.org\n", "b", "B. [x][1]\n\n[1]: https://b.org\n"),
        ("a", &*long, "b", &*long),
    ];
    for (a, text_a, b, text_b) in refused {
        let note = |id: &str, text: &str| format!("---\nid: {id}\ntitle: {id}\n---\n{text}");
        let dir = store(&[("notes/a.md", &note(a, text_a)), ("notes/b.md", &note(b, text_b))]);
        assert_eq!(call(path(&dir), &["merge", a, b]).code(), 1);
        assert!(text(&dir, "notes/b.md").ends_with(text_b));
    }
    let dir = store(&[
        ("notes/a.md", "---\nid: a\ntitle: A\n---\nA.\n"),
        (
            "notes/sub/b.md",
            "---\nid: b\ntitle: B\ntype: permanent\nvalue: 90\nverified: true\ncreated: 2020-01-01\n---\n![p](../../attachments/p.png) [here](../c.md) [no](../none.png)\n",
        ),
        ("notes/c.md", "---\nid: c\n---\n"),
        ("attachments/p.png", "picture"),
    ]);
    fs::write(dir.path().join(".qipu/notes/d.md"), b"---\nid: d\n---\ncaf\xe9").unwrap();
    assert_eq!(call(path(&dir), &["merge", "a", "d"]).code(), 3, "bytes that can't be read are not thrown away");
    let told = call(path(&dir), &["merge", "a", "b"]).stdout;
    for field in ["type: permanent", "value: 90", "verified: true", "created: 2020-01-01"] {
        assert!(told.contains(&format!("`{field}` of `b` is not carried over")), "{field}: {told}");
    }
    let merged = text(&dir, "notes/a.md");
    assert!(merged.ends_with("![p](../attachments/p.png) [here](c.md) [no](../none.png)\n"), "{merged}");
}

/// The fields of the life of a note, each with a value, at the top or under `custom`.
fn life() -> impl Strategy<Value = String> {
    let keys = [
        "status", "superseded-by", "valid_until", "stale_after", "verified", "generated", "generated_by", "trust",
        "author",
    ];
    let values = ["superseded", "rejected", "x", "2020-01-01", "true", "[{by: \"human:a\"}]", "{by: b}", "0.9"];
    let field = (prop::sample::select(keys.to_vec()), prop::sample::select(values.to_vec()), any::<bool>());
    prop::collection::btree_map(prop::sample::select(keys.to_vec()), field, 0..6).prop_map(|fields| {
        let (top, custom): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(_, (_, _, is_top))| *is_top);
        let lines = |fields: Vec<(&str, (&str, &str, bool))>, indent: &str| -> String {
            fields.into_iter().map(|(key, (_, value, _))| format!("{indent}{key}: {value}\n")).collect()
        };
        format!("{}custom:\n  mine: 1\n{}", lines(top, ""), lines(custom, "  "))
    })
}

/// Merging two notes changes nothing that is said of the life of the one that stays, and tells what is lost.
#[test]
fn a_merged_note_keeps_its_life() {
    generators::runner(60)
        .run(&(life(), life()), |(ours, theirs)| {
            let note = |id: &str, fields: &str| format!("---\nid: {id}\ntitle: {id}\n{fields}---\nText of {id}.\n");
            let dir = store(&[("notes/a.md", &note("a", &ours)), ("notes/b.md", &note("b", &theirs))]);
            let answer = call(path(&dir), &["merge", "a", "b"]);
            prop_assert_eq!(answer.code(), 0);
            let merged = text(&dir, "notes/a.md");
            let (head, _) = merged.split_once("aliases:").unwrap();
            prop_assert_eq!(head, format!("---\nid: a\ntitle: a\n{ours}"));
            for line in theirs.lines().filter(|line| !ours.contains(line.trim()) && !line.contains("mine")) {
                let (key, value) = line.trim().split_once(": ").unwrap_or((line, ""));
                let is_told = answer
                    .stdout
                    .lines()
                    .any(|told| told.contains(&format!("{key}: ")) && told.contains("not carried over"));
                prop_assert!(is_told || value.is_empty(), "{}: {}", line, answer.stdout);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_merge_makes_no_note_superseded() {
    let new = "---\nid: new\ntitle: New\nlinks: [{type: supersedes, id: old}]\n---\nNew.\n";
    let of = |text: &str, status: &str| format!("---\nid: {text}\ntitle: {text}\n{status}---\n{text}.\n");
    let superseded =
        of("old", "status: superseded\nlinks: [{type: superseded-by, id: new}, {type: supports, id: new}]\n");
    let dir = store(&[("notes/new.md", new), ("notes/old.md", &superseded), ("notes/other.md", &of("other", ""))]);
    let before = ["new", "old", "other"].map(|id| text(&dir, &format!("notes/{id}.md")));
    let error = call(path(&dir), &["merge", "other", "old"]).error.unwrap();
    assert_eq!(error.message, "after this merge, `new` would supersede `other`");
    assert!(error.hint.unwrap().contains("`qipu link remove new supersedes old`"));
    assert_eq!(before, ["new", "old", "other"].map(|id| text(&dir, &format!("notes/{id}.md"))));
    // A draft replaces nothing, and merging it into a note in force is no decision about a third one.
    let draft = of("draft", "status: draft\nlinks: [{type: supersedes, id: other}]\n");
    write_in_store(dir.path(), "notes/draft.md", draft);
    let error = call(path(&dir), &["merge", "new", "draft"]).error.unwrap();
    assert_eq!(error.message, "after this merge, `new` would supersede `other`");
    // Its successor is what a superseded note is merged into.
    let told = call(path(&dir), &["merge", "new", "old"]).stdout;
    assert!(told.contains("`status: superseded` of `old` is not carried over"), "{told}");
    let merged = text(&dir, "notes/new.md");
    assert!(!merged.contains("superseded") && !merged.contains("links"), "{merged}");
    // The other way round, the note keeps its status, and that is told.
    let dir = store(&[("notes/new.md", new), ("notes/old.md", &superseded)]);
    let told = call(path(&dir), &["merge", "old", "new"]).stdout;
    assert!(
        told.contains("its status is still superseded") && text(&dir, "notes/old.md").contains("status: superseded"),
        "{told}"
    );
}

#[test]
fn a_heading_that_was_the_title_is_renamed_with_it() {
    for (heading, title, new) in [
        ("# Old name", "New name", "# New name"),
        ("Old name\n========", "New name", "New name\n========"),
        ("# Another", "New name", "# Another"),
        ("## Old name", "New name", "## Old name"),
        ("# Old name", "New [x]", "# Old name"),
    ] {
        let dir = store(&[("notes/page.md", &format!("---\nid: a\ntitle: Old name\n---\n{heading}\n\nText.\n"))]);
        assert_eq!(call(path(&dir), &["update", "a", "--title", title]).code(), 0);
        let text = text(&dir, "notes/page.md");
        assert!(text.ends_with(&format!("---\n{new}\n\nText.\n")), "{text}");
    }
}

#[test]
fn rename_has_a_dry_run_and_repairs_a_stale_file_name() {
    let dir = store(&[
        ("notes/qp-a1-old.md", "---\nid: qp-a1\ntitle: New\n---\n"),
        ("notes/b.md", "---\nid: b\ntitle: B\n---\n[x](qp-a1-old.md)\n"),
        ("notes/qp-c1-title.md", "---\nid: qp-c1\ntitle: Title\n---\n"),
        ("notes/qp-c1-taken.md", "---\nid: x\ntitle: X\n---\n"),
    ]);
    let run = |args: &[&str]| call(path(&dir), args);
    assert!(run(&["update", "qp-a1", "--title", "New"]).stdout.starts_with("qp-a1 renamed .qipu/notes/qp-a1-new.md\n"));
    assert!(text(&dir, "notes/b.md").ends_with("[x](qp-a1-new.md)\n"));
    for words in [&["update", "qp-c1", "--title", "Taken", "--dry-run"][..], &["update", "qp-c1", "--title", "Taken"]] {
        let answer = run(words);
        assert_eq!(
            (answer.code(), answer.error.unwrap().message),
            (1, ".qipu/notes/qp-c1-taken.md exists already".into())
        );
    }
}

#[test]
fn changes_that_break_links_are_reported_or_refused() {
    let dir = store(&[
        ("notes/a.md", "---\nid: a\ntitle: Alpha\n---\n"),
        ("notes/a2.md", "---\nid: a\ntitle: Second\n---\n"),
        ("notes/b.md", "---\nid: b\ntitle: B\n---\n[[Alpha]]\n"),
        (
            "templates/paper.md",
            "---\ntitle: {{title}}\nsummary: About {{title}}\nmine: \"{{title}}\"\n---\n# {{title}}\n",
        ),
    ]);
    let run = |args: &[&str]| call(path(&dir), args);
    run(&["update", "a", "--title", "Other"]);
    assert!(text(&dir, "notes/b.md").ends_with("[[Other]]\n"), "the link follows");
    for words in [
        &["link", "add", "b", "a~2"][..],
        &["link", "add", "b", "compacts", "a~2"],
        &["update", "b", "--title", " "],
        &["capture", "--title", "x", "--type", ""],
    ] {
        assert_eq!(run(words).code(), 2, "{words:?}");
    }
    let made = run(&["capture", "--title", "Paper: \"X\" # y", "--type", "paper"]).stdout;
    let file = made.trim_end().rsplit(' ').next().unwrap().trim_start_matches(".qipu/").to_owned();
    let note = text(&dir, &file);
    assert!(
        note.contains("summary: \"About Paper: \\\"X\\\" # y\"\n") && note.ends_with("# Paper: \"X\" # y\n"),
        "{note}"
    );
    assert_eq!(run(&["doctor"]).stdout.matches("frontmatter-broken").count(), 0);
}

/// Returns the frontmatter of the note that a dry run of a command would create, with the variables of an environment.
fn created(args: &[&str], vars: &[(&str, &str)]) -> String {
    let dir = store(&[]);
    let answer = call_with(path(&dir), &[args, &["--dry-run", "--today", "2025-03-31"]].concat(), "", vars);
    let lines = answer.stdout.lines().skip_while(|line| *line != "+---").skip(1).take_while(|line| *line != "+---");
    lines.map(|line| format!("{}\n", line.trim_start_matches('+'))).collect()
}

/// An editor gets the note's own file; `updated` follows what it changed, and no lock is held.
#[test]
fn an_update_without_flags_on_a_terminal_opens_the_editor() {
    let dir = store(&[
        ("notes/a b.md", "---\nid: a\ntitle: A # kept\n---\nOld text.\n"),
        ("notes/c.md", "---\nid: c\n---\n"),
    ]);
    let at = path(&dir).to_owned();
    let edit = |args: &[&str], editor: qipu::env::Editor| {
        call_with_editor(path(&dir), &[args, &["--today", "2025-03-31"]].concat(), editor)
    };
    let rewrite = move |file: &Path| {
        assert_eq!(call(&at, &["update", "c", "--value", "3"]).code(), 0);
        fs::write(file, fs::read_to_string(file)?.replace("Old", "New"))
    };
    assert_eq!(edit(&["update", "a"], Box::new(rewrite)).stdout, "a changed .qipu/notes/a b.md\n");
    let edited = "---\nid: a\ntitle: A # kept\nupdated: 2025-03-31\n---\nNew text.\n";
    assert_eq!(text(&dir, "notes/a b.md"), edited);
    let same = edit(&["update", "a"], Box::new(|_| Ok(())));
    assert_eq!((same.stdout.as_str(), same.code()), ("a unchanged .qipu/notes/a b.md\n", 0));
    let failed = edit(&["update", "a"], Box::new(|_| Err(std::io::Error::other("exit status 3"))));
    assert_eq!((failed.stdout.as_str(), failed.code()), ("", 1));
    assert!(failed.error.unwrap().hint.unwrap().contains("VISUAL"));
    let odd = edit(&["update", "a", "--json"], Box::new(|file| fs::write(file, "---\ntitle: a: b\n---\n")));
    assert!(odd.stdout.contains("\"frontmatter-broken\"") && odd.code() == 0, "{}", odd.stdout);
    // Without a terminal, with several notes, or with --dry-run, there is nothing to do.
    for args in [&["update", "a", "c"][..], &["update", "a", "--dry-run"]] {
        assert_eq!(edit(args, Box::new(|_| panic!("opened"))).code(), 2, "{args:?}");
    }
    assert!(call(path(&dir), &["update", "c"]).error.unwrap().message.contains("nothing to change"));
}

#[test]
fn one_call_gives_a_note_a_title_fields_and_code() {
    let dir = store(&[
        ("notes/qp-a1-old.md", "---\nid: qp-a1\ntitle: Old\n---\n"),
        ("notes/b.md", "---\nid: b\n---\n[[Old]]\n"),
    ]);
    fs::write(dir.path().join("code.rs"), "fn run() {}\nfn stop() {}\n").unwrap();
    let run = |args: &[&str]| call(path(&dir), args);
    let done =
        run(&["update", "Old", "--title", "New one", "--tag", "t", "--append", "More.", "--code", "code.rs#run"]);
    assert!(done.stdout.starts_with("qp-a1 renamed .qipu/notes/qp-a1-new-one.md\n    alias: Old\n"), "{done:?}");
    let new = text(&dir, "notes/qp-a1-new-one.md");
    assert!(new.contains("title: New one\n") && new.contains("tags: [t]") && new.contains("symbol: run"), "{new}");
    assert!(new.ends_with("---\nMore.\n") && text(&dir, "notes/b.md").ends_with("[[New one]]\n"), "{new}");
    let made = run(&["capture", "A text.", "--code", "code.rs#run", "--code", "code.rs:2"]).stdout;
    let made = run(&["show", made.split(' ').next().unwrap(), "--raw"]).stdout;
    assert!(made.contains("symbol: run") && made.contains("line: 2\n"), "{made}");
    // A reference to the same symbol is replaced, also if all are read again.
    fs::write(dir.path().join("code.rs"), "\nfn run() {}\nfn stop() {}\n").unwrap();
    assert_eq!(run(&["update", "qp-a1", "--code", "code.rs#run", "--verified"]).code(), 0);
    let new = text(&dir, "notes/qp-a1-new-one.md");
    assert!(new.matches("symbol: run").count() == 1 && new.contains("line: 2\n"), "{new}");
    let refused = run(&["update", "qp-a1", "b", "--title", "Both"]);
    assert_eq!(refused.error.unwrap().message, "a title is for one note");
}

#[test]
fn a_filter_changes_many_notes_only_on_a_word() {
    let notes: Vec<(String, String)> =
        (0..21).map(|n| (format!("notes/n{n}.md"), format!("---\nid: n{n}\ntags: [x]\n---\n"))).collect();
    let notes: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let dir = store(&notes);
    let args = ["update", "--where", "tag = x", "--value", "7", "-q"];
    let refused = call(path(&dir), &args).error.unwrap();
    assert_eq!((refused.kind.exit_code(), refused.message.as_str()), (2, "21 notes match the filter, more than 20"));
    for flag in ["--dry-run", "--yes"] {
        let done = call(path(&dir), &[&args[..], &[flag]].concat());
        assert_eq!(done.stdout.lines().count(), 21, "{flag}: {:?}", done.error);
    }
    // Two notes with one id are both meant.
    let twice =
        store(&[("notes/a.md", "---\nid: a\ntags: [x]\n---\n"), ("notes/b.md", "---\nid: a\ntags: [x]\n---\n")]);
    assert_eq!(call(path(&twice), &args).code(), 0);
    assert!(["notes/a.md", "notes/b.md"].iter().all(|file| text(&twice, file).contains("value: 7")));
}

#[test]
fn a_capture_of_a_title_on_a_terminal_opens_the_editor() {
    let dir = store(&[("templates/fleeting.md", "---\nmine: kept\n---\n## Why\n")]);
    let editor = |file: &Path| fs::write(file, fs::read_to_string(file)? + "Because.\n");
    let raw = |made: &str| call(path(&dir), &["show", made.split(' ').next().unwrap(), "--raw"]).stdout;
    let args = ["capture", "--title", "Made", "--today", "2025-03-31"];
    let text = raw(&call_with_editor(path(&dir), &args, editor).stdout);
    assert!(text.contains("mine: kept") && text.ends_with("updated: 2025-03-31\n---\n## Why\nBecause.\n"), "{text}");
    for (without_editor, body) in
        [(&["--body", "Text."][..], "Text."), (&["Text."], "Text."), (&["--body", ""], "## Why")]
    {
        let made = call_with_editor(path(&dir), &[&args[..], without_editor].concat(), |_| panic!("opened"));
        assert!(raw(&made.stdout).ends_with(&format!("---\n{body}\n")), "{without_editor:?}");
    }
    // A pipe without a text is no reason to refuse a title.
    assert!(raw(&call(path(&dir), &args).stdout).ends_with("---\n## Why\n"));
    assert!(raw(&call_with(path(&dir), &args, "Piped.", &[]).stdout).ends_with("---\nPiped.\n"));
}

#[test]
fn a_capture_takes_the_session_from_the_environment_of_an_agent_tool() {
    let custom = |args: &[&str], vars: &[(&str, &str)]| {
        let fields = created(args, vars);
        fields.split_once("custom:\n").map_or(String::new(), |(_, custom)| custom.to_owned())
    };
    let capture = ["capture", "A thought."];
    for (variable, tool) in [
        ("CLAUDE_CODE_SESSION_ID", "claude-code"),
        ("CODEX_THREAD_ID", "codex"),
        ("GEMINI_SESSION_ID", "gemini-cli"),
        ("COPILOT_AGENT_SESSION_ID", "copilot-cli"),
    ] {
        let vars = [(variable, "019d1afb-b2c7")];
        assert_eq!(custom(&capture, &vars), format!("  generated_by: {tool}\n  session: 019d1afb-b2c7\n"));
        assert_eq!(custom(&["journal", "A thought"], &vars), "", "a journal has many authors");
    }
    let codex = [("CODEX_THREAD_ID", "t1")];
    for claim in ["trust=1", "author=boss", "verified=true"] {
        let dir = store(&[]);
        let answer = call_with(path(&dir), &[&capture[..], &["--set", claim]].concat(), "", &codex);
        let (key, _) = claim.split_once('=').unwrap();
        assert_eq!(answer.error.unwrap().message, format!("an agent can't set `{key}`"));
    }
    let given = custom(&[&capture[..], &["--by", "me", "--session", " s1 "]].concat(), &codex);
    assert_eq!(given, "  generated_by: me\n  session: s1\n");
    assert_eq!(custom(&[&capture[..], &["--session", "s1"]].concat(), &[]), "  generated_by: agent\n  session: s1\n");
    assert_eq!(custom(&[&capture[..], &["--by", "a: b"]].concat(), &[]), "  generated_by: \"a: b\"\n");
    let long = "x".repeat(129);
    for odd in ["", " ", "a\nb", "a\u{1b}[31m", &long] {
        let fields = if odd.is_empty() { "" } else { "  generated_by: codex\n" };
        assert_eq!(custom(&capture, &[("CODEX_THREAD_ID", odd)]), fields, "{odd:?}");
        let both = [("CODEX_THREAD_ID", odd), ("GEMINI_SESSION_ID", "g1")];
        assert_eq!(custom(&capture, &both), "  generated_by: gemini-cli\n  session: g1\n", "{odd:?}");
    }
    assert_eq!(custom(&capture, &[("CODEX_SESSION_ID", "t1"), ("QIPU_SESSION", "t2")]), "");
}

#[test]
fn a_note_by_an_agent_takes_no_claims_from_a_template_and_is_trusted_less() {
    let block = "---\nverified: true # yes\nauthor: Ann\ntrust: 1\nconfidence:\n  overall: 1\ngenerated: false\nmine: kept\n\
                 custom:\n  generated_by: human\n  author: x\n  own: 3\n---\n";
    let flow = "---\n{verified: true, mine: kept, trust: 1, custom: {confidence: 1, own: 3}}\n---\n";
    for template in [block, flow] {
        let dir = store(&[("templates/fleeting.md", template)]);
        let run = |args: &[&str], vars: &[(&str, &str)]| call_with(path(&dir), args, "", vars).stdout;
        let raw = |args: &[&str], vars: &[(&str, &str)]| {
            let made = run(args, vars);
            run(&["show", made.split(' ').next().unwrap(), "--raw"], &[])
        };
        for (args, vars, program) in [
            (&["capture", "A thought."][..], &[("CODEX_THREAD_ID", "t1")][..], "codex"),
            (&["capture", "One more.", "--by", "reviewer"], &[], "reviewer"),
            (&["capture", "A third.", "--session", "s"], &[], "agent"),
            (&["capture", "--title", "A fourth", "--by", "Ann"], &[("CODEX_THREAD_ID", "t1")], "Ann"),
        ] {
            let text = raw(args, vars);
            assert!(text.contains("mine: kept") && text.contains("own: 3"), "{text}");
            assert!(text.contains(&format!("generated_by: {program}")), "{text}");
            let claims = ["verified", "author", "trust", "confidence", "generated:", "human"];
            assert!(!claims.iter().any(|key| text.contains(key)), "{text}");
        }
        assert!(raw(&["capture", "By a person."], &[]).contains("verified: true"));
    }
    let trust = |args: &[&str], vars: &[(&str, &str)]| {
        let (settings, dir) = (temp_dir(), store(&[]));
        trust(settings.path(), &[dir.path().canonicalize().unwrap().join(".qipu")]);
        let made = call_with(path(&dir), args, "", vars);
        let id = made.stdout.split(' ').next().unwrap();
        let shown = ["context", "--note", id, "--abstraction", "essence", "--json"];
        let answer = call_with_settings(path(&dir), settings.path(), &shown);
        let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
        json["notes"][0]["source_trust"].as_f64().unwrap()
    };
    let agent = [("CODEX_THREAD_ID", "t1")];
    assert_eq!(trust(&["capture", "Text."], &[]), 0.5);
    assert_eq!(trust(&["capture", "Text.", "--by", "Ann"], &[]), 0.4, "a claim of one's own never raises trust");
    assert_eq!(trust(&["capture", "Text."], &agent), 0.4);
    assert_eq!(trust(&["capture", "Text.", "--set", "author=Ann"], &[]), 0.75);
}

#[test]
fn a_status_is_the_custom_field_that_set_writes() {
    let short = created(&["capture", "A thought.", "--status", " superseded "], &[]);
    assert_eq!(short, created(&["capture", "A thought.", "--set", "status=superseded"], &[]));
    assert!(short.ends_with("custom:\n  status: superseded\n"), "{short}");
    let dir = store(&[("notes/a.md", "---\nid: a\nstatus: proposed\n---\n")]);
    assert_eq!(call(path(&dir), &["update", "a", "--status", "accepted", "--dry-run"]).code(), 0);
}

/// A text of a hundred different words.
fn long_text() -> String {
    (0..100).map(|n| format!("word{n} ")).collect()
}

#[test]
fn a_new_note_that_repeats_another_is_created_with_a_warning() {
    let other = format!("---\nid: old\ntitle: The Old\u{1b} one\n---\n{}\n", long_text());
    let dir = store(&[("notes/old.md", &other), ("notes/b.md", "---\nid: b\ntitle: Taken\n---\nShort.\n")]);
    let findings = |args: &[&str]| {
        let answer = call(path(&dir), &[args, &["--json"]].concat());
        assert_eq!(answer.code(), 0, "{args:?}");
        let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!(json["changes"].as_array().unwrap().len(), 1, "{args:?}");
        let finding = |finding: &serde_json::Value| {
            assert_eq!(finding["level"], "warning");
            let part = |name: &str| finding[name].as_str().unwrap().to_owned();
            let message = part("message");
            let (said, calls) = message.split_once("; ").map_or((&*message, ""), |parts| parts);
            let new = json["changes"][0]["id"].as_str().unwrap();
            let expected =
                format!("`qipu supersede old {new}` replaces it, or correct that one and `qipu delete {new}`");
            assert!(calls == expected || part("code") == "duplicate-title", "{message}");
            (part("code"), part("id"), part("path"), said.to_owned())
        };
        json["findings"].as_array().unwrap().iter().map(finding).collect::<Vec<_>>()
    };
    let near = |percent: u8| {
        let message = format!("`old` may say the same ({percent} % alike): The Old␛ one");
        ("similar-note".to_owned(), "old".to_owned(), ".qipu/notes/old.md".to_owned(), message)
    };
    let same = |title: &str| {
        let message = format!("`b` has the title of the new note too: {title}");
        ("duplicate-title".to_owned(), "b".to_owned(), ".qipu/notes/b.md".to_owned(), message)
    };
    let (text, changed) = (long_text(), long_text().replace("word50 ", "other "));
    for dry in [&["--dry-run"][..], &["--dry-run", "--no-index"]] {
        let with = |args: &[&str]| findings(&[args, dry].concat());
        assert_eq!(with(&["capture", &text]), [near(100)]);
        assert_eq!(with(&["capture", "--title", "taken", &changed]), [same("Taken"), near(99)]);
        assert_eq!(with(&["capture", "--title", "Taken"]), [same("Taken")]);
        assert_eq!(with(&["capture", "--title", "New", "--body", &changed]), [near(99)]);
        assert_eq!(with(&["capture", "Something else altogether, in a dozen words or so, and then some more."]), []);
    }
    assert_eq!(findings(&["capture", "Taken"]), [same("Taken")]);
    let human = call(path(&dir), &["capture", "Taken"]).stdout;
    assert!(
        human.contains("\nwarning: .qipu/notes/b.md: `b` has the title of the new note too: Taken (duplicate-title)\n")
    );
    write_in_store(dir.path(), "templates/paper.md", text.clone());
    assert_eq!(findings(&["capture", "--title", "From a template", "--type", "paper"]), []);
    let journal = call(path(&dir), &["journal", &text, "--json"]).stdout;
    assert!(journal.contains("\"findings\":[]"), "{journal}");
}

/// Returns the ids of the notes that may say the same as a new one.
fn alike(dir: &tempfile::TempDir, args: &[&str]) -> Vec<String> {
    let answer = call(path(dir), &[&["capture", "--json", "--dry-run"], args].concat());
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    let findings = json["findings"].as_array().unwrap().iter();
    let alike = findings.filter(|finding| finding["code"] == "similar-note");
    alike.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_new_note_in_other_words_names_the_notes_that_may_say_the_same() {
    let mapping = "The business units map to products as follows: unit A owns the till, unit B owns the warehouse scanner, \
                   unit C owns returns and refunds handling.";
    let retries = "Charge retries are capped at three. The provider bans keys after five failures in a minute.";
    let dir = store(&[
        ("notes/map.md", &format!("---\nid: map\ntitle: BU product mapping\n---\n{mapping}\n")),
        ("notes/retry.md", &format!("---\nid: retry\ntitle: Charge retries\n---\n{retries}\n")),
        ("notes/old.md", &format!("---\nid: old\ntitle: Charges\nstatus: superseded\n---\n{retries}\n")),
        ("journals/day.md", &format!("---\nid: day\ntitle: Today\ndate: 2025-03-01\n---\n{retries}\n")),
    ]);
    let updated = "Updated findings: the business units map to products thus: unit A owns the till, unit B owns the \
                   warehouse scanner and labels, unit C owns returns and refund handling.";
    assert_eq!(alike(&dir, &["--title", "Mapping analysis", updated]), ["map"]);
    let digits = "Charge retries are capped at 3: the provider bans keys after 5 failures in one minute.";
    assert_eq!(alike(&dir, &["--title", "Retries of charges", digits]), ["retry"]);
    let shortened = "Cap charge retries at three, the provider bans keys after five failures.";
    assert_eq!(alike(&dir, &[shortened]), ["retry"]);
    // Who links to a note knows it.
    for args in [["--supersedes", "retry"], ["--link", "refines:retry"]] {
        assert_eq!(alike(&dir, &[&args[..], &[digits]].concat()), [] as [&str; 0]);
    }
    assert_eq!(alike(&dir, &["--type", "journal", "--set", "date=2025-03-02", digits]), [] as [&str; 0]);
    for other in [
        "Refunds of the till are booked at night, since the bank is closed.",
        "Keys of the provider are rotated in March; the old ones work for a week.",
        "Charge retries.",
    ] {
        assert_eq!(alike(&dir, &[other]), [] as [&str; 0], "{other}");
    }
    let copy = call(path(&dir), &["capture", "--title", "Copy", retries]);
    assert_eq!(copy.code(), 0);
    call(path(&dir), &["capture", "--title", "Another copy", retries]);
    assert_eq!(alike(&dir, &["--title", "A third one", retries]).len(), 2, "at most two are named");
}

#[test]
fn quiet_prints_the_ids_of_the_changes_alone() {
    let ids_of = |json: &str| {
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let ids =
            json["changes"].as_array().unwrap().iter().filter_map(|change| Some(change["id"].as_str()?.to_owned()));
        ids.map(|id| format!("{id}\n")).collect::<String>()
    };
    let titles = prop_oneof![generators::hostile_text(), Just("n1".to_owned()), Just("Title".to_owned())];
    let case = (generators::files(), titles);
    generators::runner(40)
        .run(&case, |(files, text)| {
            let files: Vec<(&str, &[u8])> =
                files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
            let dir = store_of_bytes(&files);
            for words in [
                &["capture", "--by", "x", "--", &text][..],
                &["capture", "--title", "T", "--", &text],
                &["update", "n1", "n2", "n1", "--tag", "x"],
                &["update", "n1", "--title", &text],
                &["merge", "n1", "n2"],
                &["link", "add", "n1", "compacts", "n2"],
                &["delete", "n1", "n2", "--force"],
                &["journal", "--", &text],
                &["update", "--where", "tag = all", "--untag", "all", "--tag", "every"],
                &["link", "add", "n1", "n2"],
                &["link", "remove", "n1", "n2"],
                &["import", "../documents/docs"],
            ] {
                let with = |flag: &str| call(path(&dir), &[&["--dry-run", flag], words].concat());
                let (json, quiet) = (with("--json"), with("-q"));
                prop_assert_eq!(json.code(), quiet.code(), "{:?}", words);
                let expected = if json.stdout.is_empty() { String::new() } else { ids_of(&json.stdout) };
                prop_assert_eq!(quiet.stdout, expected, "{:?}", words);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn quiet_lists_what_other_commands_that_change_notes_list() {
    let dir = store(&[("notes/a.md", "---\nid: a\ntitle: A\n---\n"), ("notes/b.md", "---\nid: b\n---\n[[a]]\n")]);
    let run = |args: &[&str]| call(path(&dir), args).stdout;
    assert_eq!(run(&["update", "a", "--title", "B", "-q"]), "a\n");
    assert_eq!(run(&["dump", "../out.pack", "--json"]).matches("out.pack").count(), 1);
    assert_eq!(run(&["load", "../out.pack", "--quiet"]), "a\nb\n", "skipped ones too");
    assert_eq!(run(&["delete", "b", "-q"]), "b\n");
    let imported = call("fixtures/research", &["import", "../documents/docs", "--dry-run", "-q"]).stdout;
    assert!(imported.lines().count() > 3 && imported.lines().all(|line| !line.contains([' ', '/'])), "{imported}");
}
