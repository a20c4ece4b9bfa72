//! Files that were not written for qipu, read as notes: a table of files for each dialect, and the laws of all of them.

use proptest::prelude::*;
use qipu::note::{Dialect, InlineLink, Note, NoteId, Timestamp};

const ALL: [Dialect; 6] =
    [Dialect::Qipu, Dialect::Markdown, Dialect::Obsidian, Dialect::Logseq, Dialect::Okf, Dialect::Adr];

fn read(dialect: Dialect, path: &str, text: &str) -> Note {
    Note::parse_as(dialect, path, text.as_bytes().to_vec())
}

/// Reads a file that has no finding.
fn clean(dialect: Dialect, path: &str, text: &str) -> Note {
    let note = read(dialect, path, text);
    assert!(note.findings.is_empty(), "{path}: {:?}", note.findings);
    note
}

fn codes(note: &Note) -> Vec<&str> {
    note.findings.iter().map(|finding| finding.code.name()).collect()
}

fn time(timestamp: Option<&Timestamp>) -> &str {
    timestamp.map_or("", Timestamp::as_str)
}

fn links(note: &Note) -> Vec<String> {
    note.links.iter().map(|link| format!("{} {}", link.kind, link.target)).collect()
}

fn field<'a>(note: &'a Note, name: &str) -> &'a str {
    let value = note.extra_fields().field(name);
    let Some(qipu::note::Value::Text { text, .. }) = value else { return "" };
    text
}

#[test]
fn a_page_of_a_site_has_the_title_of_its_field_menu_heading_or_file() {
    for (path, text, title) in [
        ("guides/docker.md", "---\nTitle: Containers\n---\n# Docker\n", "Containers"),
        ("guides/docker.md", "---\nsidebar_label: Containers\n---\n# Docker\n", "Containers"),
        ("guides/docker.md", "---\nnav_title: Containers\n---\n# Docker\n", "Containers"),
        ("guides/docker.md", "Intro.\n\n# Docker {#docker}\n", "Docker"),
        ("guides/docker.md", "Docker\n======\n\nText.\n", "Docker"),
        ("README.md", "<h1 align=\"center\">Docker</h1>\n\nText.\n", "Docker"),
        ("guides/first-steps.mdx", "import X from './x';\n\nText.\n", "first steps"),
        ("guides/first-steps.markdown", "", "first steps"),
        ("first-steps/README.md", "Text.\n", "first steps"),
        ("guides/first-steps/_index.md", "+++\nweight = 3\n+++\nText.\n", "first steps"),
        ("README.md", "Text.\n", "README"),
    ] {
        let note = clean(Dialect::Markdown, path, text);
        assert_eq!((note.title.as_str(), note.kind.as_str()), (title, "document"), "{path}: {text:?}");
    }
}

#[test]
fn fields_of_other_tools_are_read_without_findings() {
    let jekyll = clean(
        Dialect::Markdown,
        "_posts/2015-11-17-cache.md",
        "---\nlayout: post\ntitle: A cache\ndate: 2015-11-17 16:16:01 -0600\ncategories: [web, speed]\ntags: http, cache\n\
         draft: true\npermalink: /cache/\n---\nText.\n",
    );
    assert_eq!(jekyll.tags, ["web", "speed", "http", "cache"]);
    assert_eq!((time(jekyll.created.as_ref()), jekyll.date), ("2015-11-17", None));
    assert_eq!(jekyll.extra_fields().status(), None);

    let docusaurus = clean(
        Dialect::Markdown,
        "intro.md",
        "---\nid: intro\ntitle: Introduction\ndescription: Where to begin.\nkeywords: [start]\n\
         tags:\n  - label: Basics\n    permalink: /basics\nlast_update: {date: 2024-02-03, author: Ann}\n---\nText.\n",
    );
    assert_eq!((docusaurus.id.as_str(), docusaurus.summary()), ("intro", Some("Where to begin.")));
    assert_eq!(docusaurus.tags, ["start", "Basics"]);
    assert_eq!((time(docusaurus.updated.as_ref()), docusaurus.aliases.len()), ("2024-02-03", 0));
    let deeper = clean(Dialect::Markdown, "guides/intro.md", "---\nid: intro\ntitle: To begin\n---\n");
    assert_eq!((deeper.id.as_str(), deeper.aliases.as_slice()), ("guides--intro", &["intro".to_owned()][..]));

    let other = clean(
        Dialect::Markdown,
        "a.md",
        "---\nstatus: {a: b}\ndate: some day\nlinks:\n  - url: https://x.org\n  - https://y.org\ntype: landing page\n\
         sources: 3\nverified: by Ann\nvalue: high\ncustom: yes\ntags: {a: b}\nid: [a]\nDescription: What.\n---\nText.\n",
    );
    assert_eq!((other.kind.as_str(), other.links.len(), other.verified, other.value), ("document", 0, None, None));
    let unknown: Vec<&str> = other.unknown.iter().map(|(key, _)| key.as_str()).collect();
    for key in ["status", "date", "links", "type", "verified", "value", "custom", "tags", "id", "description"] {
        assert!(unknown.contains(&key), "{key} is lost: {unknown:?}");
    }
    let own = clean(
        Dialect::Markdown,
        "a.md",
        "---\ntype: guide\nvalue: 70\nverified: true\nlinks: [{type: supports, id: b}]\ncreated: 2020-01-02\n\
         updated: January 5, 2021\nsources: [{url: https://x.org}]\n---\n",
    );
    assert_eq!((own.kind.as_str(), own.value, own.verified), ("guide", Some(70), Some(true)));
    assert_eq!(
        (links(&own), own.link_values().len(), own.source_values().len()),
        (vec!["supports b".to_owned()], 1, 1)
    );
    assert_eq!((time(own.created.as_ref()), time(own.updated.as_ref())), ("2020-01-02", "2021-01-05"));
}

#[test]
fn frontmatter_in_toml_is_read() {
    let hugo = clean(
        Dialect::Markdown,
        "posts/a.md",
        "+++\ntitle = 'A post'\ndate = 2024-05-06T07:08:09Z\nlastmod = 2024-06-01\ntags = ['one', 'two']\n\
         categories = ['c']\ndescription = 'What it is.'\ndraft = true\naliases = ['/old/']\n[params]\nauthor = 'Ann'\n+++\n\nBody [x](b.md).\n",
    );
    assert_eq!((hugo.title.as_str(), hugo.summary()), ("A post", Some("What it is.")));
    assert_eq!((time(hugo.created.as_ref()), time(hugo.updated.as_ref())), ("2024-05-06T07:08:09Z", "2024-06-01"));
    assert_eq!((hugo.body(), hugo.body_line()), ("\nBody [x](b.md).\n", 13));
    let mut tags = hugo.tags.clone();
    tags.sort();
    assert_eq!(
        (tags, hugo.aliases.as_slice()),
        (vec!["c".into(), "one".into(), "two".into()], &["/old/".to_owned()][..])
    );
    assert_eq!(hugo.extra_fields().status(), None);
    let zola = clean(Dialect::Markdown, "a.md", "+++\n[taxonomies]\ntags = ['x']\n+++\n");
    assert_eq!(zola.tags, ["x"]);
    assert_eq!(codes(&read(Dialect::Markdown, "a.md", "+++\ntitle = \n+++\nText")), ["frontmatter-broken"]);
    assert_eq!(read(Dialect::Markdown, "a.md", "+++\na = 1\n").body(), "+++\na = 1\n");
}

#[test]
fn only_defects_of_the_file_are_found() {
    for (text, found) in [
        ("\u{feff}---\ntitle: A\n---\nText.\n", vec![]),
        ("---\n\nText after a rule.\n", vec![]),
        ("---\ntitle: A: b\n---\nText.\n", vec!["frontmatter-broken"]),
        ("---\n{% a %}: b: c\n---\nText.\n", vec![]),
        ("---\ntitle: A\nText.\n", vec!["frontmatter-unclosed"]),
        ("---\na: 1\na: 2\n---\n", vec!["duplicate-key"]),
        ("a\0b", vec!["nul"]),
    ] {
        assert_eq!(codes(&read(Dialect::Markdown, "a.md", text)), found, "{text:?}");
    }
    assert_eq!(codes(&Note::parse_as(Dialect::Adr, "a.md", vec![0xff])), ["not-utf-8"]);
}

#[test]
fn a_note_of_a_vault_has_the_name_of_its_file() {
    let note = clean(
        Dialect::Obsidian,
        "Areas/Note taking.md",
        "---\nalias: Notes, PKM\ntags: [a]\nup: \"[[Home|home]]\"\npart-of: [\"[[Map#x]]\"]\n---\n# Heading\n\nText #b/c and `#no` [[Other]].\n",
    );
    assert_eq!((note.title.as_str(), note.kind.as_str()), ("Note taking", "document"));
    assert_eq!(
        (note.aliases.as_slice(), note.tags.as_slice()),
        (&["Notes".into(), "PKM".into()][..], &["a".into(), "b/c".into()][..])
    );
    assert_eq!(links(&note), ["related Home", "part-of Map"]);
    assert_eq!(note.inline_links(), [InlineLink::Wiki("Other".into())]);
    let titled = clean(Dialect::Obsidian, "x.md", "---\ntitle: A title\n---\n");
    assert_eq!((titled.title.as_str(), titled.aliases.len()), ("A title", 0));
    let daily = clean(Dialect::Obsidian, "Daily/2025-03-05.md", "Text.\n");
    assert_eq!((daily.kind.as_str(), daily.date.unwrap().to_string()), ("journal", "2025-03-05".into()));
    let two_days = clean(Dialect::Obsidian, "2025-03-05 talk.md", "---\ndate: 2025-03-05\n---\n");
    assert_eq!((two_days.kind.as_str(), two_days.date), ("document", None));
}

#[test]
fn a_page_of_a_graph_has_its_properties() {
    let page = clean(
        Dialect::Logseq,
        "pages/fsync___Windows%3F.md",
        "alias:: FlushFileBuffers, [[flush]]\ntags:: fsync, [[two words]]\ntype:: [[Tool]], [[C library]]\nauthor:: [[Ann]]\n\
         created-at:: 1741168800000\n\n- Text #durability\n",
    );
    assert_eq!((page.title.as_str(), page.kind.as_str()), ("fsync/Windows?", "Tool"));
    assert_eq!(page.aliases, ["FlushFileBuffers", "flush"]);
    assert_eq!(page.tags, ["fsync", "two words", "C library", "durability"]);
    assert_eq!((links(&page), time(page.created.as_ref())), (vec!["related Ann".to_owned()], "2025-03-05T10:00:00Z"));
    assert_eq!(field(&page, "author"), "[[Ann]]");
    assert_eq!(clean(Dialect::Logseq, "pages/a.md", "- title:: B\n- text\n").title, "B");
    let journal = clean(Dialect::Logseq, "journals/2025_03_05.md", "- Text\n");
    assert_eq!((journal.title.as_str(), journal.kind.as_str()), ("Mar 5th, 2025", "journal"));
    assert_eq!(
        (journal.date.unwrap().to_string(), journal.aliases.as_slice()),
        ("2025-03-05".into(), &["2025-03-05".into()][..])
    );
    assert_eq!(clean(Dialect::Logseq, "pages/2025_03_05.md", "").kind, "document");
}

#[test]
fn a_bundle_has_concepts_maps_and_logs() {
    let concept = clean(
        Dialect::Okf,
        "tables/orders.md",
        "---\ntype: BigQuery Table\ntitle: Orders\ndescription: All orders.\ntimestamp: 2026-01-02T03:04:05Z\n\
         sources:\n  - resource: https://x.org\nverified: {by: \"human:ann\", at: 2026-01-03}\nstatus: draft\n---\nSee [[no]] and [customers](/tables/customers.md).\n",
    );
    assert_eq!((concept.id.as_str(), concept.kind.as_str()), ("tables--orders", "BigQuery Table"));
    assert_eq!((time(concept.updated.as_ref()), concept.verified), ("2026-01-02T03:04:05Z", Some(true)));
    assert_eq!((concept.sources[0].url.as_str(), field(&concept, "status")), ("https://x.org", "draft"));
    assert_eq!(concept.inline_links(), [InlineLink::Path("/tables/customers.md".into())]);
    let index = clean(Dialect::Okf, "tables/index.md", "---\nokf_version: \"0.2\"\n---\n* [Orders](orders.md)\n");
    assert_eq!((index.title.as_str(), index.kind.as_str()), ("tables", "moc"));
    let log = clean(Dialect::Okf, "log.md", "# Log\n\n## 2026-05-22\n* Two.\n\n## 2026-05-15\n* One.\n");
    assert_eq!(
        (log.title.as_str(), log.kind.as_str(), log.date.unwrap().to_string()),
        ("Log", "journal", "2026-05-22".into())
    );
    assert_eq!(clean(Dialect::Okf, "a-b.md", "Text.\n").title, "a-b");
}

/// Path, text, title, status, created, links.
type DecisionCase = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const DECISIONS: [DecisionCase; 6] = [
    (
        "0012-use-postgres.md",
        "# 12. Use Postgres\n\nDate: 2020-01-05\n\n## Status\n\nAccepted\n\nSupersedes [3. Use files](0003-use-files.md)\n\n## Context\n\nText.\n",
        "Use Postgres",
        "accepted",
        "2020-01-05",
        &["supersedes 0003-use-files"],
    ),
    (
        "doc/adr/0003-use-files.md",
        "# 3. Use files\n\nDate: 2019-02-03\n\n## Status\n\nAccepted\n\nSuperceded by [12. Use Postgres](0012-use-postgres.md)\n\nAmended by [4. Names](0004-names.md)\n",
        "Use files",
        "superseded",
        "2019-02-03",
        &["superseded-by doc--adr--0012-use-postgres", "refined-by doc--adr--0004-names"],
    ),
    (
        "0012-use-x.md",
        "# ADR-0012: Use X\n\n* Status: superseded by [ADR-0013](0013-use-y.md)\n* Deciders: Ann\n* Date: 2021-03-04\n\n## Context and Problem Statement\n\nText.\n",
        "Use X",
        "superseded",
        "2021-03-04",
        &["superseded-by 0013-use-y"],
    ),
    (
        "decisions/0012-use-x.md",
        "---\nstatus: superseded by ADR-0013\ndate: 2022-04-05\ndecision-makers: Ann, Bob\nconsulted: []\n---\n# Use X\n\n## Context and Problem Statement\n\nText.\n",
        "Use X",
        "superseded",
        "2022-04-05",
        &["superseded-by ADR-0013"],
    ),
    (
        "ADR-12.md",
        "---\ntitle: \"ADR 12: Use X\"\nstatus: draft\nsuperseded-by:\nsupersedes: [\"ADR-3\", \"[files](./0004-files.md)\"]\n---\n",
        "Use X",
        "proposed",
        "",
        &["supersedes ADR-0003", "supersedes 0004-files"],
    ),
    ("adr-0012-use-x.md", "## Status\n\nRejected, because of its cost.\n", "use x", "rejected", "", &[]),
];

#[test]
fn a_decision_has_a_number_a_status_and_relations() {
    for (path, text, title, status, created, expected) in DECISIONS {
        let note = clean(Dialect::Adr, path, text);
        assert_eq!((note.title.as_str(), note.kind.as_str()), (title, "decision"), "{path}");
        assert_eq!((field(&note, "status"), time(note.created.as_ref())), (status, created), "{path}");
        assert_eq!(links(&note), expected, "{path}");
        let is_first = path.contains("0003");
        let names =
            if is_first { ["ADR-0003", "ADR-3", "ADR 3", "0003"] } else { ["ADR-0012", "ADR-12", "ADR 12", "0012"] };
        let names = names.into_iter().filter(|name| *name != note.id.as_str());
        assert_eq!(note.aliases, names.collect::<Vec<_>>(), "{path}");
        assert!(note.extra_fields().status().is_none_or(|known| known.name() != "draft"), "{path}");
    }
    let index = clean(Dialect::Adr, "adr/README.md", "# Decisions\n\n* [12. Use X](0012-use-x.md)\n");
    assert_eq!((index.kind.as_str(), index.aliases.len()), ("document", 0));
    let plain = clean(Dialect::Adr, "use-x.md", "# Use X\n\n## Status\n\nProposed\n");
    assert_eq!((plain.aliases.len(), field(&plain, "status")), (0, "proposed"));
}

#[test]
fn ids_of_sources_depend_on_the_path_only() {
    for (path, id) in [
        ("guides/docker.md", "guides--docker"),
        ("notes/a.md", "notes--a"),
        ("journals/2025-03-05.md", "journals--2025-03-05"),
        ("qp-a1b2-title.md", "qp-a1b2-title"),
        ("a.mdx", "a.mdx"),
        ("a.markdown", "a.markdown"),
        ("v1.2/_index.md", "v1.2--_index"),
    ] {
        assert_eq!(NoteId::from_source_path(path).as_str(), id);
        assert_eq!(read(Dialect::Markdown, path, "---\nid: other\n---\n").id.as_str(), id);
    }
    let hashed = NoteId::from_source_path("My first note.md");
    assert_eq!(hashed.as_str().split_once("---").unwrap().0, "My-first-note");
}

#[test]
fn long_hostile_files_are_read() {
    let heading = format!("## {}\n", "x".repeat(50_000)) + &"a\n".repeat(20_000);
    let units = [
        "[[1]](",
        "<a href=\"",
        "<!--",
        "<a ",
        "a:: [[b]]\n",
        "Status: superseded by [x](x.md)\n",
        "ADR 1 ",
        "#a ",
        "[a](b) ",
        "- ",
        "superseded by ",
        "+++\n",
        "a = [\n",
        "## Status\n",
        "{[",
        "k: [[a]]\n",
    ];
    let texts = units.iter().map(|unit| unit.repeat(60_000 / unit.len()));
    let starts = ["", "---\n", "+++\n", "## Status\n"];
    for text in texts.chain([heading]) {
        for (dialect, start) in ALL.into_iter().flat_map(|dialect| starts.map(|start| (dialect, start))) {
            let note = read(dialect, "a.md", &format!("{start}{text}\n{start}"));
            assert!(!note.id.as_str().is_empty() && note.summary().is_none_or(|summary| summary.len() <= text.len()));
            assert!(note.inline_links().len() + note.ordered_lists().len() <= text.len(), "{dialect:?}");
        }
    }
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a", "b", "a-b", "a--b", "-a", "a-", "a b", "é", "notes", "journals", "qp-a1b2-x", "2025-03-05", "README",
        "index", "log", "0012-x", "adr-3", "a.mdx", "a.markdown", "a.md", "a---b", "", ".", "~", "%2F", "___",
    ]);
    let ending = prop::sample::select(vec![".md", ".markdown", ".mdx", ".MD", ""]);
    let names = prop::collection::vec(prop_oneof![4 => name.prop_map(str::to_owned), 1 => ".{0,12}"], 1..4);
    (names, ending).prop_map(|(names, ending)| names.join("/") + ending)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "---\n", "+++\n", "title: A", "id: x", "tags: a, b", "status: ", "date: 2020-01-01", "links: [", "[[a", "]]",
        "type = 'a'", "[a](b", ".md)", "(", ")", "\n", "\n\n", "# ", "## Status\n", "Superseded by ", "ADR 12", "ADR-",
        "0013", "* Status: ", "<a href=\"", "\">", "<!--", "-->", "```\n", "a:: b", "- ", "#tag", "|", ": ", "{", "}",
        "é", "\r\n", "\u{feff}", "\0", "=", "===\n", "&x ", "*x", "'", "\"", "supersedes", "partially ", "99999999",
    ]);
    let pieces = prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![6 => pieces, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_note_whose_id_is_that_of_its_path(path in path(), text in text()) {
        for dialect in ALL {
            let note = Note::parse_as(dialect, &path, text.clone());
            prop_assert!(!note.title.trim().is_empty() || path.trim().is_empty() || dialect == Dialect::Qipu, "{dialect:?}");
            prop_assert!(NoteId::parse(note.id.as_str()).is_some());
            prop_assert!(note.text().ends_with(note.body()));
            if dialect == Dialect::Qipu {
                let same = Note::parse(&path, text.clone());
                prop_assert_eq!(format!("{note:?}"), format!("{same:?}"));
            } else {
                prop_assert_eq!(&note.id, &NoteId::from_source_path(&path));
                prop_assert!(!codes(&note).iter().any(|code| ["no-id", "no-title"].contains(code)));
                prop_assert_eq!(note.links.len(), note.link_values().len());
            }
            let _ = (note.summary(), note.inline_links(), note.ordered_lists(), note.source_values());
        }
    }

    #[test]
    fn two_paths_have_two_ids(one in path(), other in path()) {
        let (id, other_id) = (NoteId::from_source_path(&one), NoteId::from_source_path(&other));
        prop_assert_eq!(one == other, id == other_id);
        // An id that contains a hash is not the id of another path that spells it.
        let spelled = format!("{id}.md");
        prop_assert!(one == spelled || NoteId::from_source_path(&spelled) != id);
    }
}
