//! Open Knowledge Format: its fields and links are read, a bundle is imported and exported, and what is exported is
//! imported as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::files::temp_dir;
use crate::support::process::{Answer, call, call_with_settings, trust};
use crate::support::random::Random;
use qipu::graph::Graph;
use qipu::note::{LinkTypes, Note};
use qipu::store::{Location, NoteIdx, Store};
use tempfile::TempDir;

/// A project with a store.
fn project() -> TempDir {
    let dir = temp_dir();
    fs::create_dir(dir.path().join(".git")).unwrap();
    run(dir.path(), "init");
    dir
}

fn answer(dir: &Path, words: &str) -> Answer {
    call(dir.to_str().unwrap(), &words.split(' ').collect::<Vec<_>>())
}

fn run(dir: &Path, words: &str) -> String {
    let answer = answer(dir, words);
    assert_eq!(answer.code(), 0, "{words}: {:?}\n{}", answer.error, answer.stdout);
    answer.stdout
}

fn write(dir: &Path, path: &str, text: &str) {
    let file = dir.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn store(dir: &Path) -> Store {
    Store::open(&Location::default(), dir).unwrap()
}

/// The ids of the notes to which a note links, and the targets that are unresolved.
fn links(store: &Store, id: &str) -> (Vec<String>, Vec<String>) {
    let types = LinkTypes::default();
    let graph = Graph::new(store.notes(), &types);
    let index = NoteIdx::all(store.notes().len()).find(|index| store.notes()[*index].id.as_str() == id).unwrap();
    let out = graph.outgoing(index).map(|edge| store.notes()[edge.to].id.to_string()).collect();
    (out, graph.unresolved(index).map(str::to_owned).collect())
}

fn codes(fields: &str) -> Vec<&'static str> {
    let note = Note::parse("notes/n.md", format!("---\nid: n\ntitle: T\n{fields}\n---\nText.\n").into_bytes());
    note.findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn its_fields_are_no_defects() {
    for fields in [
        "verified:\n  - { by: human:ahormati, at: 2026-06-25T09:00:00Z }\n  - { by: process:finance-nightly, at: 2026-06-26T02:00:00Z }",
        "verified: { by: human:ahormati, at: 2026-06-25T09:00:00Z }",
        "verified: []",
        "verified: [{by: x, at: soon}]",
        "sources:\n  - id: ga4-schema\n    resource: https://developers.google.com/analytics/bigquery/export-schema\n    usage_count: 5000",
        "sources:\n  - { resource: all queries in project X }\nusage_window: { from: 2026-06-01, to: 2026-06-30 }",
        "generated: { by: reference_agent/gemini-2.5-pro, at: 2026-05-28T14:30:00Z }\nstatus: stable\nstale_after: 2026-09-23",
        "description: One row per order.\nresource: https://example.com/t\nruntime: bigquery\nparameters:\n  - { name: year, type: integer }",
    ] {
        assert_eq!(codes(fields), Vec::<&str>::new(), "{fields}");
    }
    // What names nobody is tolerated, and no error.
    let note = Note::parse("notes/n.md", b"---\nid: n\ntitle: T\nverified: [yes, {at: 2026-01-01}]\n---\n".to_vec());
    assert_eq!(
        note.findings.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(),
        ["empty-verification"; 2]
    );
    assert!(note.findings.iter().all(|finding| !finding.is_error()));
    assert_eq!(note.verified, None);
}

#[test]
fn its_fields_are_read() {
    let text = "---\nid: n\ntitle: T\nverified:\n- {by: human:ahormati, at: 2026-06-25T09:00:00Z}\n- {by: process:nightly}\n\
                sources:\n- {id: a, resource: 'https://x.org/a', title: A}\n- {url: 'https://x.org/b', resource: no}\n\
                generated: {by: human:ahormati, at: 2026-06-20T22:53:05Z}\ndescription: In short.\n---\nText.\n";
    let dir = project();
    write(dir.path(), ".qipu/notes/n.md", text);
    for flag in ["index", "status"] {
        run(dir.path(), flag);
        let store = store(dir.path());
        let note = store.notes().iter().find(|note| note.id.as_str() == "n").unwrap();
        let by: Vec<_> = note.verifications().iter().map(|by| (by.by.as_str(), by.is_human(), by.time())).collect();
        assert_eq!(note.verified(), Some(true));
        assert_eq!((by[0].0, by[0].1, by[1].0, by[1].1), ("human:ahormati", true, "process:nightly", false));
        assert_eq!(by[0].2.as_ref().map(|time| time.as_str()), Some("2026-06-25T09:00:00Z"));
        let urls: Vec<_> = note.sources().iter().map(|source| source.url.as_str()).collect();
        assert_eq!(urls, ["https://x.org/a", "https://x.org/b"]);
        assert_eq!(note.summary().as_deref(), Some("In short."));
        assert_eq!(note.list_fields().changed_as_written().unwrap().as_str(), "2026-06-20T22:53:05Z");
    }
}

/// The confidence in a note with these fields, in a store that the user trusts.
fn confidence(fields: &str) -> f64 {
    let dir = project();
    write(dir.path(), ".qipu/notes/n.md", &format!("---\nid: n\ntitle: T\n{fields}\n---\nText.\n"));
    let settings = dir.path().join("settings");
    trust(&settings, &[dir.path().canonicalize().unwrap().join(".qipu")]);
    let words = ["context", "--note", "n", "--explain", "--json"];
    let answer = call_with_settings(dir.path().to_str().unwrap(), &settings, &words).stdout;
    let json: serde_json::Value = serde_json::from_str(&answer).unwrap();
    json["notes"][0]["confidence"]["overall"].as_f64().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_person_who_wrote_a_note_generates_none() {
    let plain = confidence("updated: 2026-01-01");
    assert_eq!(confidence("generated: {by: human:ann, at: 2026-01-01}"), plain);
    assert!(confidence("generated: {by: agent/1, at: 2026-01-01}") < plain);
    assert!(confidence("verified: [{by: human:ann, at: 2026-01-01}]") > plain);
    assert_eq!(confidence("verified: {by: human:ann, at: 2026-01-01}"), confidence("verified: true"), "as the boolean");
}

#[test]
fn links_from_the_root_lead_to_notes() {
    let dir = project();
    write(dir.path(), ".qipu/notes/tables/a.md", "---\nid: a\ntitle: A\n---\nText.\n");
    write(dir.path(), ".qipu/mocs/m.md", "---\nid: m\ntitle: M\n---\nText.\n");
    let text =
        "[a](/tables/a.md) [a](/notes/tables/a.md#h) [m](/m.md) [no](/etc/x.md) [no](/x.md) [no](//x.org/a.md)\n";
    write(dir.path(), ".qipu/notes/n.md", &format!("---\nid: n\ntitle: N\n---\n{text}"));
    assert_eq!(links(&store(dir.path()), "n"), (vec!["a".to_owned(), "m".to_owned()], Vec::new()));
    assert!(!run(dir.path(), "doctor").contains("broken-link"));
    run(dir.path(), "rename a B");
    let changed = fs::read_to_string(dir.path().join(".qipu/notes/n.md")).unwrap();
    assert!(
        changed.ends_with(
            "[a](/notes/tables/a-b.md) [a](/notes/tables/a-b.md#h) [m](/m.md) [no](/etc/x.md) [no](/x.md) [no](//x.org/a.md)\n"
        ),
        "{changed}"
    );
    run(dir.path(), "merge m a");
    let changed = fs::read_to_string(dir.path().join(".qipu/notes/n.md")).unwrap();
    assert!(changed.contains("\n[a](/mocs/m.md) [a](/mocs/m.md#h) [m](/m.md) [no](/etc/x.md)"), "{changed}");
    run(dir.path(), "merge m n");
    let merged = fs::read_to_string(dir.path().join(".qipu/mocs/m.md")).unwrap();
    assert!(merged.contains("[no](/etc/x.md) [no](/x.md) [no](//x.org/a.md)"), "{merged}");
}

/// The files of a folder, by path.
type Files = BTreeMap<String, Vec<u8>>;

fn files(dir: &Path) -> Files {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let entries = entries.filter(|entry| entry.file_type().is_file());
    let path = |path: &Path| path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
    entries.map(|entry| (path(entry.path()), fs::read(entry.path()).unwrap())).collect()
}

fn is_reserved(path: &str) -> bool {
    ["index.md", "log.md"].contains(&path.rsplit('/').next().unwrap())
}

fn concepts(files: &Files) -> BTreeMap<&str, Note> {
    let concepts = files.iter().filter(|(path, _)| path.ends_with(".md") && !is_reserved(path));
    concepts.map(|(path, bytes)| (path.as_str(), Note::parse(&format!("notes/{path}"), bytes.clone()))).collect()
}

/// The keys that the specification gives a meaning.
const KEYS: [&str; 13] = [
    "description", "resource", "generated", "status", "stale_after", "usage_window", "runtime", "parameters",
    "computation", "executor", "attester", "timestamp", "owner",
];

/// What the specification gives a meaning in a concept, but for its links. A title may be that of the file.
fn meaning(path: &str, note: &Note) -> String {
    let has_title = note.findings.iter().all(|finding| finding.code.as_str() != "no-title");
    let stem = || path.rsplit('/').next().unwrap().trim_end_matches(".md").to_owned();
    let title = if has_title { note.title.clone() } else { stem() };
    let fields: Vec<_> = KEYS.iter().map(|key| note.extra_fields().field(key)).collect();
    format!("{:?}", (title, &note.kind, &note.tags, fields, note.source_values(), &note.verified, &note.verifications))
}

/// The targets of the links of a file of a bundle: paths of its files, or the text of those that are broken. Reads what
/// the specification says by itself: a path from the root, or one from the folder of the file.
fn targets(files: &Files, path: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(&files[path]).into_owned();
    let body = Note::parse("notes/x.md", text.into_bytes());
    let resolve = |target: &str| {
        let target = &target.replace("%20", " ");
        let mut names: Vec<&str> = if target.starts_with('/') { Vec::new() } else { path.split('/').collect() };
        names.pop();
        for name in target.split('/').filter(|name| !name.is_empty() && *name != ".") {
            match name {
                ".." if names.pop().is_none() => return format!("broken {target}"),
                ".." => {}
                name => names.push(name),
            }
        }
        let file = names.join("/");
        let index = format!("{file}/index.md").trim_start_matches('/').to_owned();
        if files.contains_key(&file) {
            file
        } else if target.ends_with('/') && files.contains_key(&index) {
            index
        } else {
            format!("broken {target}")
        }
    };
    let mut targets = Vec::new();
    for event in pulldown_cmark::Parser::new_ext(body.body(), pulldown_cmark::Options::ENABLE_TABLES) {
        if let pulldown_cmark::Event::Start(
            pulldown_cmark::Tag::Link { dest_url, .. } | pulldown_cmark::Tag::Image { dest_url, .. },
        ) = event
        {
            let (target, fragment) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
            targets
                .push(format!("{}#{fragment}", if target.contains(':') { target.to_owned() } else { resolve(target) }));
        }
    }
    targets
}

/// Compares a bundle with what was exported after its import.
fn expect_same(before: &Files, after: &Files) {
    let (old, new) = (concepts(before), concepts(after));
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    for (path, note) in &old {
        assert_eq!(meaning(path, note), meaning(path, &new[path]), "{path}");
    }
    for (path, bytes) in before {
        if path.ends_with(".md") {
            assert_eq!(targets(before, path), targets(after, path), "{path}");
        } else {
            assert_eq!(Some(bytes), after.get(path), "{path}");
        }
    }
}

/// Imports a bundle twice and exports it; imports and exports that again. Returns the first export.
fn round_trip(bundle: &Path) -> Files {
    let dir = project();
    let import = format!("import okf {}", bundle.display());
    run(dir.path(), &import);
    let imported = files(&dir.path().join(".qipu"));
    let again = run(dir.path(), &import);
    assert!(!again.contains(" created ") && !again.contains(" changed "), "{again}");
    assert_eq!(
        files(&dir.path().join(".qipu/notes")).len(),
        imported.keys().filter(|path| path.starts_with("notes/")).count()
    );
    run(dir.path(), "dump --as okf out");
    let exported = files(&dir.path().join("out"));
    expect_same_export(&dir.path().join("out"), &exported);
    exported
}

/// Expects that the import of an export is exported with the same bytes.
fn expect_same_export(bundle: &Path, exported: &Files) {
    let dir = project();
    run(dir.path(), &format!("import okf {}", bundle.display()));
    run(dir.path(), "dump --as okf out");
    let again = files(&dir.path().join("out"));
    for (path, bytes) in exported {
        let shown = |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(shown(again.get(path)), shown(Some(bytes)), "{path}");
    }
    assert_eq!(again.keys().collect::<Vec<_>>(), exported.keys().collect::<Vec<_>>());
}

#[test]
fn the_bundle_of_the_specification_comes_back() {
    let bundle = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/okf");
    let exported = round_trip(&bundle);
    expect_same(&files(&bundle), &exported);
    assert_eq!(exported.len(), 13);
    let dir = project();
    run(dir.path(), &format!("import okf {}", bundle.display()));
    let doctor = answer(dir.path(), "doctor");
    assert_eq!(doctor.code(), 0, "{}", doctor.stdout);
    // Links lead from note to note, and the fields are still there byte for byte.
    let orders = fs::read_to_string(dir.path().join(".qipu/notes/tables/orders.md")).unwrap();
    let before = fs::read_to_string(bundle.join("tables/orders.md")).unwrap();
    assert!(orders.starts_with(before.split_once("\n---\n").unwrap().0), "{orders}");
    assert!(orders.contains("[customer](customers.md)"), "{orders}");
    let journal = fs::read_to_string(dir.path().join(".qipu/journals/2026-05-22.md")).unwrap();
    assert!(journal.contains("type: journal\ndate: 2026-05-22\n") && journal.contains("(../notes/tables/orders.md)"));
    assert!(fs::read_to_string(dir.path().join(".qipu/mocs/index.md")).unwrap().contains("type: moc\n"));
}

#[test]
fn an_import_can_be_tried() {
    let bundle = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/okf");
    let dir = project();
    let before = files(dir.path());
    let plan = run(dir.path(), &format!("import okf {} --dry-run", bundle.display()));
    assert!(plan.contains(".qipu/notes/tables/orders.md") && plan.contains("+title: Customer Orders"), "{plan}");
    assert_eq!(files(dir.path()), before);
}

/// Pieces of texts of concepts; `{}` is a path.
const PIECES: [&str; 14] = [
    "[a]({})",
    "[a]({}#part \"t\")",
    "![i]({})",
    "[a][r]\n\n[r]: {}\n\n",
    "| a |\n|---|\n| [x]({}) |\n\n",
    "`[a]({})`",
    "\n```\n[a]({})\n```\n",
    "text é日本 ",
    "\n\n# Part\n\n",
    "[^s]\n\n[^s]: See [a]({}).\n\n",
    "<https://x.org/a.md>",
    "[a](https://x.org/a.md)",
    "- [ ] [a](<{}>)\n",
    "((x)) #tag $y$ \\[a]({}) \n",
];

const FIELDS: [&str; 12] = [
    "title: Some title",
    "description: In short.",
    "tags: [a, b]",
    "status: deprecated",
    "status: draft",
    "verified: {by: human:ann, at: 2026-01-01T10:00:00Z}",
    "verified:\n  - {by: process:x, at: 2026-01-01}",
    "generated: {by: agent/1, at: 2026-01-01T10:00:00Z}",
    "sources:\n- {id: s, resource: /a.md, usage_count: 5}",
    "stale_after: 2027-01-01",
    "owner: [x, {y: 1.10}]",
    "resource: 'https://x.org/?q=1'",
];

fn random_text(random: &mut Random, paths: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..random.between(0, 8) {
        let target = match random.between(0, 5) {
            0 => "../../../etc/x.md".to_owned(),
            1 => "/no such.md".replace(' ', "%20"),
            2 => format!("./{}", random.choice(paths)),
            3 => "sub/".to_owned(),
            _ => format!("/{}", random.choice(paths)),
        };
        text.push_str(&random.choice(&PIECES).replace("{}", &target));
        text.push_str(random.choice(&["", " ", "\n", "\n\n"]));
    }
    text
}

/// A bundle with concepts in two folders, indexes, a log and a file.
fn random_bundle(random: &mut Random, dir: &Path) {
    let names = ["a", "b", "sub/a", "sub/c", "sub/deep/d", "é x"];
    let paths: Vec<String> = names.iter().map(|name| format!("{}.md", name.replace(' ', "%20"))).collect();
    let files = ["sub/data.csv", "sub/index.md", "index.md"];
    let paths: Vec<&str> = paths.iter().map(String::as_str).chain(files).collect();
    for name in names {
        let mut fields = vec!["type: Metric".to_owned()];
        for (index, field) in FIELDS.iter().enumerate() {
            // One of the two with a key.
            let is_second = index == 4 && fields.iter().any(|field| field.starts_with("status"));
            if random.between(0, 3) == 0 && !is_second {
                fields.push((*field).to_owned());
            }
        }
        let text = format!("---\n{}\n---\n{}", fields.join("\n"), random_text(random, &paths));
        write(dir, &format!("{name}.md"), &text);
    }
    write(dir, "sub/data.csv", "1,2\n");
    write(dir, "sub/index.md", &format!("# Sub\n\n{}", random_text(random, &paths)));
    if random.between(0, 1) == 0 {
        write(dir, "index.md", &format!("---\nokf_version: \"0.2\"\n---\n{}", random_text(random, &paths)));
    } else {
        write(dir, "index.md", "# All\n");
    }
    let days: Vec<_> =
        (1..4).map(|day| format!("## 2026-05-0{}\n{}\n\n", 4 - day, random_text(random, &paths))).collect();
    write(dir, "log.md", &format!("# Log\n\n{}", days.concat()));
}

#[test]
fn random_bundles_come_back() {
    let mut random = Random::new(7);
    for round in 0..60 {
        let bundle = temp_dir();
        random_bundle(&mut random, bundle.path());
        let before = files(bundle.path());
        let exported = round_trip(bundle.path());
        let (old, new) = (concepts(&before), concepts(&exported));
        assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>(), "{round}");
        for (path, note) in &old {
            assert_eq!(meaning(path, note), meaning(path, &new[path]), "{round} {path}");
            assert_eq!(targets(&before, path), targets(&exported, path), "{round} {path}");
        }
        for path in ["index.md", "sub/index.md"] {
            assert_eq!(targets(&before, path), targets(&exported, path), "{round} {path}");
        }
        assert_eq!(before["sub/data.csv"], exported["sub/data.csv"]);
    }
}

#[test]
fn random_stores_are_exported_alike_twice() {
    let mut random = Random::new(11);
    let names = [
        "notes/a", "notes/sub/b", "mocs/a", "mocs/sub/index", "journals/2026-05-01", "journals/x/2026-05-01",
        "notes/log", "notes/q:?",
    ];
    let targets = ["id0", "id1", "Title 2", "Title 3#part", "id4", "pic.png", "no such", "id7|**label**", "id1\\|x"];
    let paths = ["../notes/a.md", "b.md", "../mocs/a.md", "../attachments/pic.png", "log.md", "a.md"];
    for round in 0..60 {
        let dir = project();
        for (number, name) in names.iter().enumerate() {
            let mut fields = format!("id: id{number}\ntitle: \"Title {number} | [x] `y` é\"\n");
            if number < 4 {
                fields = format!("id: id{number}\ntitle: Title {number}\n");
            }
            for field in [
                "summary: In short.",
                "verified: true",
                "sources:\n- {url: https://x.org, accessed: 2026-01-01}\n- https://y.org",
                "links:\n- {type: supports, id: id1}\n- {type: refines, id: id0}",
                "custom: {own: 1}",
                "tags: ['#x', y]",
                "value: 70",
            ] {
                if random.between(0, 2) == 0 {
                    fields.push_str(field);
                    fields.push('\n');
                }
            }
            let mut text = random_text(&mut random, &paths);
            for _ in 0..random.between(0, 4) {
                let mark = random.choice(&["[[", "![[", "\n| a |\n|---|\n| [["]);
                text.push_str(&format!("{mark}{}]]\n\n", random.choice(&targets)));
            }
            text.push_str(
                random.choice(&["", "```\nopen", "<!-- open", "## 2026-01-01\n", "---\nx: y\n---\n", "\n\n\n"]),
            );
            let front = random.between(0, 5);
            let text = match front {
                0 => text,
                1 => format!("---\n{fields}broken: [\n---\n{text}"),
                _ => format!("---\n{fields}---\n{text}"),
            };
            write(dir.path(), &format!(".qipu/{name}.md"), &text);
        }
        write(dir.path(), ".qipu/attachments/pic.png", "png");
        write(dir.path(), ".qipu/attachments/page.md", "no note");
        run(dir.path(), "dump --as okf out");
        let exported = files(&dir.path().join("out"));
        for (path, note) in concepts(&exported) {
            let broken: Vec<_> = note
                .findings
                .iter()
                .filter(|finding| finding.is_error() || finding.code.as_str() == "no-title")
                .collect();
            assert!(broken.is_empty() && !note.kind.is_empty(), "{round} {path}: {broken:?}\n{}", note.text());
        }
        assert!(
            exported.contains_key("index.md")
                && exported.contains_key("log-note.md")
                && exported.contains_key("page.md.txt")
        );
        expect_same_export(&dir.path().join("out"), &exported);
    }
}

#[test]
fn an_export_is_a_bundle() {
    let dir = project();
    write(
        dir.path(),
        ".qipu/notes/a.md",
        "---\nid: a\ntitle: A\nsummary: Short.\nverified: true\nsources:\n- {url: 'https://x.org', title: X}\nlinks:\n- {type: supersedes, id: b}\n- {type: supports, id: c}\n---\nSee [[c|that]], [[C#Part one]], ![[pic.png]] and [[gone]].\n",
    );
    write(dir.path(), ".qipu/notes/b.md", "---\nid: b\ntitle: 'B | [b]'\n---\nText.\n");
    write(dir.path(), ".qipu/mocs/c.md", "---\nid: c\ntitle: C\n---\n1. [[b]]\n");
    write(dir.path(), ".qipu/journals/2026-05-02.md", "---\nid: j2\ntitle: J\n---\n- Two [[a]].\n");
    write(dir.path(), ".qipu/journals/2026-05-01.md", "---\nid: j1\ntitle: J\n---\n- One.\n");
    write(dir.path(), ".qipu/attachments/pic.png", "png");
    run(dir.path(), "dump --as okf out");
    let exported = files(&dir.path().join("out"));
    let text = |path: &str| String::from_utf8(exported[path].clone()).unwrap();
    assert_eq!(
        text("a.md"),
        "---\nid: a\ntitle: A\nlinks:\n- {type: supersedes, id: b}\n- {type: supports, id: c}\ntype: fleeting\ndescription: Short.\ncustom:\n  verified: true\nsources:\n  - resource: https://x.org\n    title: X\n---\n\
         See [that](/c.md), [C](/c.md#Part%20one), ![pic.png](/pic.png) and [[gone]].\n\n# Related\n\n* supersedes [B \\| \\[b\\]](/b.md)\n"
    );
    assert_eq!(text("log.md"), "# Log\n\n## 2026-05-02\n\n- Two [A](/a.md).\n\n## 2026-05-01\n\n- One.\n");
    assert_eq!(
        text("index.md"),
        "---\nokf_version: \"0.2\"\n---\n\n# [C](/c.md)\n\n* [B \\| \\[b\\]](/b.md)\n\n# Concepts\n\n* [A](/a.md) - Short.\n\n\
         <!-- qipu made this index from the maps of a store -->\n"
    );
    // A part of the store, with links to notes that are not in it.
    run(dir.path(), "dump --as okf part --note a");
    assert_eq!(files(&dir.path().join("part")).into_keys().collect::<Vec<_>>(), ["a.md", "index.md", "pic.png"]);
}

#[test]
fn an_export_keeps_the_custom_fields_of_the_user() {
    let dir = project();
    let fields = "id: n\ntitle: T\nverified: true\ncustom:\n  imported: mine\n  verified: x\n";
    write(dir.path(), ".qipu/notes/n.md", &format!("---\n{fields}---\nText.\n"));
    let shown = run(dir.path(), "dump --as okf out");
    let text = fs::read_to_string(dir.path().join("out/n.md")).unwrap();
    assert!(text.contains("verified: true\ncustom:\n  imported: mine\n  verified: x\n"), "{text}");
    assert!(shown.contains("field-not-converted"), "{shown}");
}

#[test]
fn an_export_replaces_nothing() {
    let dir = project();
    write(dir.path(), ".qipu/notes/a.md", "---\nid: a\ntitle: A\n---\nText.\n");
    fs::create_dir(dir.path().join("empty")).unwrap();
    run(dir.path(), "dump --as okf empty");
    let before = files(dir.path());
    for (words, error) in [
        ("dump --as okf empty", "empty is not empty; not overwritten"),
        ("dump --as okf .qipu/notes/x", ".qipu/notes/x belongs to the store"),
        ("dump --as okf .qipu/mocs", ".qipu/mocs belongs to the store"),
        ("dump --as okf .qipu/x", ".qipu/x belongs to the store"),
        ("dump --as okf .qipu/notes/new/deep", ".qipu/notes/new/deep belongs to the store"),
        ("dump --as okf empty/no/deep", "can't write empty/no/deep: there is no folder empty/no"),
        ("dump --as okf empty/a.md", "empty/a.md is not a folder"),
        ("dump --as okf -", "a bundle is a folder"),
    ] {
        let answer = answer(dir.path(), words);
        assert_eq!((answer.code(), answer.error.unwrap().message), (2, error.to_owned()), "{words}");
    }
    assert!(!dir.path().join(".qipu/notes/new").exists());
    assert_eq!(files(dir.path()), before);
}

#[test]
fn secrets_are_neither_imported_nor_exported() {
    let key = format!("AKIA{}", "IOSFODNN7QXRZPLK");
    let bundle = temp_dir();
    write(bundle.path(), "a.md", &format!("---\ntype: Note\n---\nThe key is {key}.\n"));
    let dir = project();
    let import = format!("import okf {}", bundle.path().display());
    assert_eq!(answer(dir.path(), &import).code(), 1);
    run(dir.path(), &format!("{import} --allow-secret"));
    let refused = answer(dir.path(), "dump --as okf out");
    assert_eq!(refused.code(), 1, "{}", refused.stdout);
    assert!(!refused.error.unwrap().message.contains(&key) && !dir.path().join("out").exists());
    run(dir.path(), "dump --as okf out --allow-secret");
    assert!(String::from_utf8_lossy(&files(&dir.path().join("out"))["a.md"]).contains(&key));
}

#[test]
fn a_folder_that_is_no_bundle_is_refused() {
    let dir = project();
    write(dir.path(), "other/x.txt", "text");
    for (words, error) in [
        ("import okf other", "other is not a bundle: it contains no markdown file"),
        ("import okf .", ". contains this store"),
        ("import okf gone", "there is no folder gone"),
        ("import okf .qipu", "the folder is inside the store"),
    ] {
        let answer = answer(dir.path(), words);
        assert_eq!((answer.code(), answer.error.unwrap().message), (2, error.to_owned()), "{words}");
    }
}

#[cfg(unix)]
#[test]
fn hostile_bundles_do_no_harm() {
    let outside = temp_dir();
    write(outside.path(), "secret.md", "---\ntype: Note\ntitle: Secret\n---\nsecret text\n");
    let bundle = temp_dir();
    let write = |path: &str, text: &str| write(bundle.path(), path, text);
    write(
        "a.md",
        "---\ntype: \"Note\\u0007\\e[31m\"\ntitle: \"A\\u202e\\u001b]0;x\"\n---\n[x](../../../../etc/passwd) [y](/../secret.md) [z](link.md) [b](broken.md)\n",
    );
    write("broken.md", "---\ntype: [\n---\nText with [a](/a.md).\n");
    write("none.md", "No frontmatter.\n");
    write("unclosed.md", "---\ntype: x\nText\n");
    write("empty.md", "");
    write("index.md", "---\nid: ../../evil\nokf_version: 9\n---\n[a](a.md)\n");
    write("log.md", "Before.\n\n## 9999-99-99\n## 2026-02-30\n## 2026-02-03\n```\nopen\n## 2026-02-02\n");
    write("sub/log.md/x.md", "---\ntype: x\n---\n");
    write("a\u{7}b.md", "---\ntype: x\n---\n");
    write("deep.md", &format!("---\ntype: x\ndeep: {}{}\n---\n", "[".repeat(3000), "]".repeat(3000)));
    fs::write(bundle.path().join("latin.md"), b"---\ntype: x\n---\n\xff\xfe\n").unwrap();
    fs::File::create(bundle.path().join("huge.md")).unwrap().set_len(64 << 20).unwrap();
    fs::File::create(bundle.path().join("huge.bin")).unwrap().set_len(65 << 20).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.md"), bundle.path().join("link.md")).unwrap();
    std::os::unix::fs::symlink(outside.path(), bundle.path().join("folder")).unwrap();
    std::os::unix::fs::symlink(".", bundle.path().join("loop")).unwrap();
    let before = files(outside.path());
    let dir = project();
    let imported = run(dir.path(), &format!("import okf {}", bundle.path().display()));
    assert!(!imported.contains(['\u{7}', '\u{1b}', '\u{202e}']), "{imported:?}");
    for (path, why) in [
        ("link.md", "a symbolic link is not followed"),
        ("folder", "a symbolic link is not followed"),
        ("loop", "a symbolic link is not followed"),
        ("latin.md", "it is not UTF-8"),
        ("huge.md", "bytes"),
        ("huge.bin", "bytes"),
        ("log.md", "its text before the first day was not imported"),
    ] {
        let line = imported.lines().find(|line| line.contains(&format!("/{path}: ")) && line.contains("not-imported"));
        assert!(line.is_some_and(|line| line.contains(why)), "{path}: {imported}");
    }
    let store = files(&dir.path().join(".qipu"));
    assert!(store.keys().all(|path| !path.contains("..") && !path.contains('\u{7}')));
    assert!(store.values().all(|bytes| !String::from_utf8_lossy(bytes).contains("secret text")));
    assert_eq!(files(outside.path()), before);
    let doctor = answer(dir.path(), "doctor");
    assert!(!doctor.stdout.contains("not-utf-8") && !doctor.stdout.contains("skipped"), "{}", doctor.stdout);
    run(dir.path(), "dump --as okf out");
    let exported = files(&dir.path().join("out"));
    assert!(concepts(&exported).values().all(|note| !note.findings.iter().any(|finding| finding.is_error())));
    expect_same_export(&dir.path().join("out"), &exported);
}
