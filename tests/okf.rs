//! Open Knowledge Format: its fields and links are read.

use std::fs;
use std::path::Path;

use crate::support::files::{rebuild_index, temp_dir};
use crate::support::process::{Answer, call, call_with_settings, trust};
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
    note.findings.iter().map(|finding| finding.code.name()).collect()
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
    assert_eq!(note.findings.iter().map(|finding| finding.code.name()).collect::<Vec<_>>(), ["empty-verification"; 2]);
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
    for is_indexed in [false, true] {
        if is_indexed {
            rebuild_index(dir.path());
        }
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
    run(dir.path(), "update a --title B");
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
