//! Packs: what is dumped is loaded again byte for byte, and what was cut, altered or made to
//! escape is refused with nothing written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::files::{path, store_of_bytes as store, temp_dir, write_in_store};
use crate::support::generators::{File, files, runner};
use crate::support::process::{Answer, call, call_with};
use proptest::prelude::*;
use qipu::note::{ContentSource, Note, NoteId};
use qipu::pack::{Pack, PackedFile, PackedNote, parse, write};
use tempfile::TempDir;

/// Calls the program in a store's folder, with a text on standard input.
fn with(dir: &TempDir, words: &str, stdin: &str) -> Answer {
    call_with(path(dir), &words.split(' ').collect::<Vec<_>>(), stdin, &[])
}

fn run(dir: &TempDir, words: &str) -> String {
    let answer = with(dir, words, "");
    assert_eq!(answer.code(), 0, "{words}: {:?}", answer.error);
    answer.stdout
}

fn load(dir: &TempDir, words: &str, pack: &str) -> String {
    let answer = with(dir, format!("load - {words}").trim_end(), pack);
    assert_eq!(answer.code(), 0, "{words}: {:?}", answer.error);
    answer.stdout
}

/// Loads a pack that is refused with this exit code and message, and nothing written.
fn refused(dir: &TempDir, pack: &str, code: u8, said: &str) {
    let before = tree(dir.path());
    for strategy in ["skip", "overwrite", "merge"] {
        let answer = with(dir, &format!("load - --strategy {strategy}"), pack);
        let error = answer.error.as_ref().unwrap_or_else(|| panic!("not refused: {}", answer.stdout));
        assert!(error.message.contains(said), "{said}: {error}");
        assert_eq!((answer.code(), answer.stdout.as_str()), (code, ""));
    }
    assert_eq!(tree(dir.path()), before);
}

/// Every file and folder below a folder, but for locks.
fn tree(dir: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    entries
        .filter(|entry| entry.file_name() != ".lock")
        .map(|entry| {
            let inside = entry.path().strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
            (inside, entry.file_type().is_file().then(|| fs::read(entry.path()).unwrap()))
        })
        .collect()
}

/// The files that packs are made of.
fn held(dir: &TempDir) -> BTreeMap<String, Vec<u8>> {
    let is_held = |path: &str| ["notes", "mocs", "journals", "attachments"].iter().any(|name| path.starts_with(name));
    let files = tree(&dir.path().join(".qipu")).into_iter().filter_map(|(path, bytes)| Some((path, bytes?)));
    files.filter(|(path, _)| is_held(path)).collect()
}

fn read(dir: &TempDir, path: &str) -> String {
    fs::read_to_string(dir.path().join(".qipu").join(path)).unwrap()
}

fn initialised() -> TempDir {
    let dir = temp_dir();
    fs::create_dir(dir.path().join(".git")).unwrap();
    run(&dir, "init");
    dir
}

fn packed(id: &str, path: &str, text: &str) -> PackedNote {
    let note = Note::parse(path, text.into());
    PackedNote {
        id: NoteId::parse(id).unwrap(),
        kind: note.kind.clone(),
        title: note.title.clone(),
        tags: note.tags.clone(),
        sources: note.sources.clone(),
        links: Vec::new(),
        file: PackedFile { path: path.into(), bytes: text.into() },
    }
}

fn pack_of(notes: Vec<PackedNote>, attachments: &[(&str, &str)]) -> String {
    let file = |(path, bytes): &(&str, &str)| PackedFile { path: (*path).into(), bytes: (*bytes).into() };
    write(&Pack { store: ".qipu/".into(), notes, attachments: attachments.iter().map(file).collect() })
}

/// Files that are no notes, or notes that no editor would make.
fn odd_files() -> impl Strategy<Value = Vec<File>> {
    let name = prop_oneof!["attachments/[a-z ,\"é日]{1,6}(/x)?[.](pdf|PNG|b)", "notes/odd[0-9][.]md"];
    prop::collection::vec((name, prop::collection::vec(any::<u8>(), 0..200)), 0..6)
}

#[test]
fn a_dump_is_loaded_byte_for_byte() {
    let strategy = (files(), odd_files());
    runner(96)
        .run(&strategy, |(files, odd)| {
            let from = store(&[]);
            for (path, bytes) in files.iter().chain(&odd) {
                write_in_store(from.path(), path, bytes);
            }
            run(&from, "dump p.qipu");
            let pack = fs::read_to_string(from.path().join("p.qipu")).unwrap();
            prop_assert_eq!(&run(&from, "dump -"), &pack);
            prop_assert_eq!(write(&parse(pack.as_bytes()).unwrap()), pack.as_str());
            let to = initialised();
            load(&to, "", &pack);
            prop_assert_eq!(held(&to), held(&from));
            prop_assert_eq!(&run(&to, "dump -"), &pack);
            let before = tree(to.path());
            for strategy in ["skip", "overwrite", "merge"] {
                let again = load(&to, &format!("--strategy {strategy}"), &pack);
                prop_assert!(
                    again.lines().all(|line| line.contains("unchanged ") || line == "Nothing to do."),
                    "{again}"
                );
                prop_assert_eq!(tree(to.path()), before.clone());
            }
            Ok(())
        })
        .unwrap();
}

/// Loading what another store has, by any strategy, leaves nothing to do for a second time, and
/// nothing that only one of the two had is gone.
#[test]
fn a_second_load_changes_nothing() {
    let strategy = (files(), files(), 0..3_usize);
    runner(96)
        .run(&strategy, |(theirs, ours, which)| {
            let (from, to) = (store(&[]), store(&[]));
            theirs.iter().for_each(|(path, bytes)| write_in_store(from.path(), path, bytes));
            ours.iter().for_each(|(path, bytes)| write_in_store(to.path(), path, bytes));
            let words = format!("load - --strategy {}", ["skip", "overwrite", "merge"][which]);
            let pack = run(&from, "dump -");
            let before = held(&to);
            let answer = with(&to, &words, &pack);
            if answer.code() != 0 {
                prop_assert!(answer.error.unwrap().message.contains("can't add `"));
                prop_assert_eq!(held(&to), before);
                return Ok(());
            }
            let after = tree(to.path());
            for (path, bytes) in &before {
                let now = &after[&format!(".qipu/{path}")];
                prop_assert!(which != 0 || now.as_ref() == Some(bytes), "skip changed {path}");
                prop_assert!(now.is_some());
            }
            let second = with(&to, &words, &pack);
            prop_assert_eq!(second.code(), 0);
            for word in ["created", "changed"] {
                let acts = second.stdout.lines().any(|line| line.split(' ').nth(1) == Some(word));
                prop_assert!(!acts, "first:\n{}\nsecond:\n{}", answer.stdout, second.stdout);
            }
            prop_assert_eq!(tree(to.path()), after);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_pack_that_is_cut_or_altered_anywhere_is_refused() {
    let from = store(&[
        ("notes/a.md", b"---\nid: a\ntitle: \"A: b\"\ntags: [x, \"y z\"]\nsources: [https://x.org]\n---\n[[b]]\n"),
        ("notes/b.md", b"\xff\xfe no UTF-8, and a line of base64 that is quite full of bytes"),
        ("attachments/c d.png", b"\x89PNG\r\n"),
    ]);
    let pack = run(&from, "dump -").into_bytes();
    assert!(parse(&pack).is_ok());
    let to = initialised();
    let before = tree(to.path());
    let file = from.path().join("bad.qipu");
    let load = |bytes: &[u8], what: &str| {
        fs::write(&file, bytes).unwrap();
        let answer = call(path(&to), &["load", file.to_str().unwrap()]);
        assert_eq!((answer.code(), answer.stdout.as_str()), (3, ""), "{what}");
        assert!(answer.error.unwrap().message.starts_with("this pack can't be loaded: line "), "{what}");
    };
    for end in 0..pack.len() {
        load(&pack[..end], &format!("cut at {end}"));
    }
    for at in 0..pack.len() {
        let mut bad = pack.clone();
        for other in 0..=255 {
            bad[at] = other;
            let is_same = other == pack[at];
            assert_eq!(parse(&bad).is_ok(), is_same, "byte {at} is {other}");
        }
        for other in [pack[at] ^ 1, pack[at] ^ 0x20, b'\n'] {
            bad[at] = other;
            if other != pack[at] {
                load(&bad, &format!("byte {at} is {other}"));
            }
        }
    }
    for more in ["\n", " ", "x", "END\n"] {
        load(&[pack.as_slice(), more.as_bytes()].concat(), "more behind it");
    }
    load(&pack.repeat(2), "twice");
    assert_eq!(tree(to.path()), before);
}

#[test]
fn paths_that_leave_the_store_are_refused() {
    let to = initialised();
    for bad in [
        "../x.md", "notes/../../x.md", "/tmp/x.md", "notes//x.md", "notes/./x.md", "notes/.x.md", ".git/x.md",
        "templates/x.md", "notes/x", "notes\\..\\x.md", "notes/a\\b.md", "notes/a\nb.md", "notes/a\0.md",
        "config.toml", "attachments/x.md", "x.md", "", "notes/", "notes/.md", "/", "C:/a.md", "notes/a\u{85}.md",
        "notes/a.md/", "notes/.x/a.md",
    ] {
        let note = packed("x", bad, "---\nid: x\n---\n");
        refused(&to, &pack_of(vec![packed("a", "notes/a.md", "---\nid: a\n---\n"), note], &[]), 3, "the path");
    }
    let deep = packed("x", &format!("notes/{}.md", "a/".repeat(3_000)), "---\nid: x\n---\n");
    refused(&to, &pack_of(vec![deep], &[]), 3, "the path");
    for bad in
        ["../x", "attachments/../x", "attachments/.x", "attachments/", "attachments", "notes/x.md", "/etc/x", ".lock"]
    {
        refused(&to, &pack_of(Vec::new(), &[("attachments/a", "1"), (bad, "2")]), 3, "");
    }
    let note = |id: &str, path: &str| packed(id, path, &format!("---\nid: {id}\n---\n"));
    for (notes, said) in [
        (vec![note("a", "notes/a.md"), note("b", "notes/a.md")], "clashes with another"),
        (vec![note("a", "notes/a.md"), note("b", "notes/a.md/b.md")], "clashes with another"),
        (vec![note("a", "notes/a.md"), note("a", "notes/b.md")], "is repeated"),
        (vec![note("b", "notes/b.md"), note("a", "notes/a.md")], "out of order"),
        (vec![packed("a", "notes/a.md", "---\nid: b\n---\n")], "the file of `a` has the id `b`"),
    ] {
        refused(&to, &pack_of(notes, &[]), 3, said);
    }
    refused(&to, &pack_of(Vec::new(), &[("attachments/a", ""), ("attachments/a", "")]), 3, "is repeated");
    refused(&to, &pack_of(Vec::new(), &[("attachments/a", ""), ("attachments/a/b", "")]), 3, "clashes with another");
    // In the order of the pack, another name stands between the two; alone it clashes with none.
    let [short, other, below] = ["attachments/a", "attachments/a-b", "attachments/a/b"].map(|path| (path, ""));
    refused(&to, &pack_of(Vec::new(), &[short, other, below]), 3, "clashes with another");
    assert!(parse(pack_of(Vec::new(), &[other, below]).as_bytes()).is_ok());
    refused(&to, "", 3, "line 1: this is not a qipu pack");
    refused(&to, &run(&to, "dump -").replace("pack=1", "pack=2"), 3, "this version of the pack format");
}

/// What a reader of a pack sees is what its files say.
#[test]
fn lines_that_contradict_their_file_are_refused() {
    let text = "---\nid: a\ntitle: True\ntags: [x]\nsources: [https://x.org]\n---\n";
    type Lie = (&'static str, fn(&mut PackedNote));
    let lies: [Lie; 6] = [
        ("type", |note| note.kind = "moc".into()),
        ("title", |note| note.title = "Other".into()),
        ("tags", |note| note.tags = Vec::new()),
        ("tags", |note| note.tags.push("y".into())),
        ("sources", |note| note.sources.clear()),
        ("sources", |note| note.sources[0].accessed = Some("2025-01-01".into())),
    ];
    let true_note = || packed("a", "notes/a.md", text);
    let to = initialised();
    let refuses = |note: PackedNote, part: &str| {
        let said = format!("the {part} of `a` in its lines differs from its file");
        refused(&to, &pack_of(vec![note, packed("b", "notes/b.md", "---\nid: b\n---\n")], &[]), 3, &said);
    };
    for (part, lie) in lies {
        let mut note = true_note();
        lie(&mut note);
        refuses(note, part);
    }
    let mut note = true_note();
    note.sources.push(ContentSource { url: "https://y.org".into(), title: None, accessed: None });
    refuses(note, "sources");
    load(&to, "", &pack_of(vec![true_note()], &[]));
    assert_eq!(read(&to, "notes/a.md"), text);
}

#[cfg(unix)]
#[test]
fn attachments_that_are_no_files_are_reported() {
    let from = store(&[
        ("notes/a.md", b"---\nid: a\n---\n![x](../attachments/h.txt) ![y](../attachments/deep/y.png)\n"),
        ("notes/b.md", b"---\nid: b\n---\n"),
        ("attachments/x", b"x"),
        ("elsewhere/y.png", b"y"),
    ]);
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, from.path().join(".qipu").join(name)).unwrap();
    link("/etc/hostname", "attachments/h.txt");
    link("../elsewhere", "attachments/deep");
    link("nowhere", "attachments/.hidden");
    let left = |name: &str| {
        format!("warning: .qipu/attachments/{name}: not in the pack: a symbolic link is not followed (not-dumped)\n")
    };
    let (deep, file) = (left("deep"), left("h.txt"));
    assert_eq!(run(&from, "dump p"), format!("created p\n{deep}{file}"));
    assert_eq!(run(&from, "dump q --note a"), format!("created q\n{deep}{file}"));
    assert_eq!(run(&from, "dump r --note b"), "created r\n");
    fs::rename(from.path().join(".qipu/attachments"), from.path().join("files")).unwrap();
    link("../files", "attachments");
    let said = run(&from, "dump s");
    assert!(said.starts_with("created s\nwarning: .qipu/attachments: not in the pack"), "{said}");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_store_are_not_followed() {
    let outside = temp_dir();
    fs::write(outside.path().join("x"), "mine").unwrap();
    let to = initialised();
    std::os::unix::fs::symlink(outside.path(), to.path().join(".qipu/attachments")).unwrap();
    std::os::unix::fs::symlink(outside.path(), to.path().join(".qipu/notes/deep")).unwrap();
    refused(&to, &pack_of(Vec::new(), &[("attachments/x", "theirs")]), 1, "leads out of the store");
    let note = packed("a", "notes/deep/a.md", "---\nid: a\n---\n");
    refused(
        &to,
        &pack_of(vec![packed("0", "notes/0.md", "---\nid: '0'\n---\n"), note], &[]),
        1,
        "leads out of the store",
    );
    assert_eq!(tree(outside.path()).len(), 2);
    assert!(run(&to, "dump -").starts_with("H qipu=1 pack=1 store=.qipu/ notes=0 attachments=0\n"));
}

const OURS: &str =
    "---\nid: qp-a1 # mine\ntitle: Ours\ntags: [x]\nupdated: 2025-01-01\nmine: 1\ncustom:\n  k: 1\n---\nOur body\n";
const THEIRS: &str = "---\nid: qp-a1\ntitle: Theirs\ntype: permanent\ntags: [z, x]\nvalue: 9\nverified: true\nsummary: S\n\
                      updated: 2025-02-02\nsources:\n- url: https://x.org\n  title: X\nlinks:\n- {type: supports, id: qp-b2}\naliases: [Other]\ncompacts: [qp-b2]\n\
                      custom: {k: 2, more: new, l: [1]}\nodd: 3\n---\nTheir body\n";

fn two() -> (TempDir, String) {
    let from =
        store(&[("notes/t.md", THEIRS.as_bytes()), ("attachments/f.txt", b"theirs"), ("attachments/n/g", b"new")]);
    (store(&[("mocs/o.md", OURS.as_bytes()), ("attachments/f.txt", b"ours")]), run(&from, "dump -"))
}

#[test]
fn skip_keeps_existing_notes() {
    let (to, pack) = two();
    assert_eq!(
        load(&to, "", &pack),
        "qp-a1 skipped .qipu/mocs/o.md\nskipped .qipu/attachments/f.txt\ncreated .qipu/attachments/n/g\n\
         warning: .qipu/attachments/f.txt: the attachment to import differs; the store's was kept (attachment-differs)\n"
    );
    assert_eq!((read(&to, "mocs/o.md").as_str(), read(&to, "attachments/f.txt").as_str()), (OURS, "ours"));
    assert_eq!(read(&to, "attachments/n/g"), "new");
}

#[test]
fn overwrite_replaces_existing_notes() {
    let (to, pack) = two();
    let said = load(&to, "--strategy overwrite", &pack);
    assert_eq!(said, "qp-a1 changed .qipu/mocs/o.md\nchanged .qipu/attachments/f.txt\ncreated .qipu/attachments/n/g\n");
    assert_eq!((read(&to, "mocs/o.md").as_str(), read(&to, "attachments/f.txt").as_str()), (THEIRS, "theirs"));
    assert!(!to.path().join(".qipu/notes/t.md").exists());

    // What has its id from its name would be another note under another name.
    let from = store(&[("notes/name.md", b"no id")]);
    let to = store(&[("notes/else.md", b"---\nid: name\n---\n")]);
    assert!(load(&to, "--strategy overwrite", &run(&from, "dump -")).contains("(not-overwritten)"));
    assert_eq!(read(&to, "notes/else.md"), "---\nid: name\n---\n");
}

#[test]
fn merge_joins_both_notes_and_prefers_the_later() {
    let (to, pack) = two();
    let said = load(&to, "--strategy merge", &pack);
    assert!(said.contains("qp-a1 changed .qipu/mocs/o.md\n"), "{said}");
    assert!(said.contains("the bodies differ; the pack's was kept: it is later (bodies-differ)"), "{said}");
    assert!(said.contains("other values for `odd`, `verified` (fields-differ)"), "{said}");
    assert_eq!(
        read(&to, "mocs/o.md"),
        "---\nid: qp-a1 # mine\ntitle: Theirs\ntags: [x, z]\nupdated: 2025-02-02\nmine: 1\ncustom:\n  k: 2\n  more: new\n  l: [1]\n\
         sources:\n  - url: https://x.org\n    title: X\nlinks:\n  - type: supports\n    id: qp-b2\naliases: [Other]\ncompacts: [qp-b2]\n\
         type: permanent\nsummary: S\nvalue: 9\n---\nTheir body\n"
    );
    let second = load(&to, "--strategy merge", &pack);
    assert!(second.starts_with("qp-a1 unchanged "), "{second}");

    let from = store(&[("notes/t.md", THEIRS.replace("2025-02-02", "2024-12-31").as_bytes())]);
    let to = store(&[("mocs/o.md", OURS.as_bytes())]);
    let said = load(&to, "--strategy merge", &run(&from, "dump -"));
    assert!(said.contains("the bodies differ; the store's was kept"), "{said}");
    let merged = read(&to, "mocs/o.md");
    assert!(merged.starts_with(
        "---\nid: qp-a1 # mine\ntitle: Ours\ntags: [x, z]\nupdated: 2025-01-01\nmine: 1\ncustom:\n  k: 1\n  more: new\n"
    ));
    assert!(merged.ends_with("---\nOur body\n"));
}

/// What the pack says of its note's life is told, and not true of the store's.
#[test]
fn merge_leaves_the_life_of_the_stores_note() {
    let theirs = "---\nid: qp-a1\ntitle: T\nupdated: 2025-02-02\nverified: true\nstatus: superseded\n\
                  links: [{type: superseded-by, id: qp-b2}, {type: supports, id: qp-b2}]\n\
                  custom: {status: rejected, valid_until: 2025-01-01, generated_by: x, trust: 1, mine: 2}\n---\nText.\n";
    let from = store(&[("notes/t.md", theirs.as_bytes())]);
    let to = store(&[("notes/o.md", b"---\nid: qp-a1\ntitle: T\ncustom: {trust: 0.5}\n---\nText.\n")]);
    let said = load(&to, "--strategy merge", &run(&from, "dump -"));
    assert_eq!(
        read(&to, "notes/o.md"),
        "---\nid: qp-a1\ntitle: T\ncustom: {trust: 0.5, mine: 2}\nlinks:\n  - type: supports\n    id: qp-b2\n\
         updated: 2025-02-02\n---\nText.\n"
    );
    assert!(
        said.contains(
            "other values for `custom.status`, `custom.valid_until`, `custom.generated_by`, `custom.trust`, `status`, \
             `verified`, `links: superseded-by qp-b2` (fields-differ)"
        ),
        "{said}"
    );
}

#[test]
fn merge_keeps_notes_that_it_cannot_edit() {
    for ours in [
        &b"---\nid: qp-a1\ntitle: a: b\n---\n"[..],
        b"---\nid: qp-a1\n---\n\xff",
        b"---\nid: qp-a1\ntags: &a [x]\nb: *a\n---\n",
    ] {
        let (_, pack) = two();
        let to = store(&[("notes/o.md", ours)]);
        let said = load(&to, "--strategy merge", &pack);
        assert!(said.starts_with("qp-a1 unchanged ") && said.contains("(not-merged)"), "{said}");
        assert_eq!(fs::read(to.path().join(".qipu/notes/o.md")).unwrap(), ours);
    }
    let from = store(&[("notes/o.md", b"---\nid: qp-a1\nupdated: 2026-01-01\n---\n\xff")]);
    let to = store(&[("notes/o.md", OURS.as_bytes())]);
    assert!(load(&to, "--strategy merge", &run(&from, "dump -")).contains("the packed note is not UTF-8"));
    assert_eq!(read(&to, "notes/o.md"), OURS);
}

#[test]
fn a_taken_path_gets_a_path_with_the_id() {
    let from = store(&[("notes/x.md", b"---\nid: qp-a1\n---\n"), ("notes/y.md", b"y")]);
    let pack = run(&from, "dump -");
    let to = store(&[("notes/x.md", b"---\nid: other\n---\n")]);
    assert_eq!(load(&to, "", &pack), "qp-a1 created .qipu/notes/x-qp-a1.md\ny created .qipu/notes/y.md\n");
    assert_eq!(load(&to, "", &pack), "qp-a1 unchanged .qipu/notes/x-qp-a1.md\ny unchanged .qipu/notes/y.md\n");
    let to = store(&[("notes/x.md", b"---\nid: other\n---\n"), ("notes/x-qp-a1.md", b"---\nid: third\n---\n")]);
    refused(&to, &pack, 3, "can't add `qp-a1`");
    let to = store(&[("notes/y.md", b"---\nid: other\n---\n")]);
    refused(&to, &pack, 3, "can't add `y`");
}

#[test]
fn a_dry_run_shows_and_writes_nothing() {
    let (to, pack) = two();
    let before = tree(to.path());
    let said = load(&to, "--strategy overwrite --dry-run", &pack);
    assert!(said.contains("+++ .qipu/mocs/o.md\n") && said.contains("\n-Our body\n+Their body\n"), "{said}");
    assert!(said.ends_with("changed .qipu/attachments/f.txt\ncreated .qipu/attachments/n/g\n"), "{said}");
    assert_eq!(tree(to.path()), before);
    let json = load(&to, "--dry-run --json", &pack);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["mode"], &json["changes"][0]["action"]), (&"load".into(), &"skipped".into()));
    let records = load(&to, "--records", &pack);
    assert!(records.starts_with("H qipu=1 records=1 store=.qipu/ mode=load dry_run=false\nD change action=skipped "));
}

#[test]
fn a_selection_takes_the_attachments_it_links_to() {
    let from = store(&[
        ("notes/a.md", b"---\nid: a\ntags: [t]\nlinks: [{type: supports, id: b}]\n---\n[x](../attachments/a%20b.pdf#p) ![y](<../attachments/deep/c.png>) [[b]]\n\n[up](../../attachments/no) `[z](../attachments/code)`\n"),
        ("notes/b.md", b"---\nid: b\n---\n![[d.png]] ![[attachments/e.png]] ![[../attachments/f.png]] [[g.png]]\n"),
        ("attachments/a b.pdf", b"1"), ("attachments/deep/c.png", b"2"), ("attachments/d.png", b"3"),
        ("attachments/e.png", b"4"), ("attachments/f.png", b"5"), ("attachments/g.png", b"6"),
        ("attachments/no", b"7"), ("attachments/code", b"8"), ("attachments/.hidden", b"9"),
    ]);
    let lines = |words: &str, prefix: &str| -> Vec<String> {
        let pack = run(&from, words);
        pack.lines().filter(|line| line.starts_with(prefix)).map(str::to_owned).collect()
    };
    assert_eq!(
        lines("dump - --tag t", "A "),
        [
            "A \".qipu/attachments/a b.pdf\" name=\"a b.pdf\" content_type=application/pdf",
            "A .qipu/attachments/deep/c.png name=c.png content_type=image/png"
        ]
    );
    assert_eq!(lines("dump - --tag t", "L "), ["L a b type=supports inline=false"]);
    assert_eq!(lines("dump - --tag t", "N "), ["N a fleeting \"a\" tags=t path=notes/a.md"]);
    assert_eq!(lines("dump - --note b", "A ").len(), 4);
    assert_eq!(lines("dump - --note b --max-hops 1", "N ").len(), 2);
    assert_eq!(lines("dump -", "A ").len(), 8);
    assert_eq!(lines("dump - --min-value 99", "H "), ["H qipu=1 pack=1 store=.qipu/ notes=0 attachments=0"]);
    assert_eq!(with(&from, "dump - --note zzz", "").code(), 3);
    assert_eq!(with(&from, "dump - --backlinks", "").code(), 2);
}

#[test]
fn an_empty_pack_is_a_pack() {
    let empty = initialised();
    let pack = run(&empty, "dump -");
    assert_eq!(pack.lines().count(), 2);
    let to = store(&[]);
    let before = tree(to.path());
    assert_eq!(load(&to, "", &pack), "Nothing to do.\n");
    assert_eq!(tree(to.path()), before);
}

#[test]
fn a_dump_replaces_nothing_but_packs() {
    let dir = store(&[("notes/a.md", b"a"), ("attachments/x", b"x"), ("config.toml", b"")]);
    assert_eq!(run(&dir, "dump p"), "created p\n");
    assert_eq!(run(&dir, "dump p"), "unchanged p\n");
    let json: serde_json::Value = serde_json::from_str(&run(&dir, "dump p --note a --json")).unwrap();
    assert_eq!((&json["mode"], &json["changes"][0]["action"]), (&"dump".into(), &"changed".into()));
    let before = tree(dir.path());
    fs::write(dir.path().join("mine"), "mine").unwrap();
    for (words, code) in [
        ("dump mine", 2),
        ("dump .qipu/notes/a.md", 2),
        ("dump .qipu/notes/new", 2),
        ("dump .qipu/attachments/x", 2),
        ("dump .qipu/config.toml", 2),
        ("dump .qipu/.lock", 2),
        ("dump nowhere/p", 2),
        ("dump .qipu", 2),
        ("dump - --json", 2),
        ("dump - --records", 2),
        ("dump p --dry-run", 2),
        ("dump p --max-chars 100", 2),
        ("load p --max-chars 100", 2),
        ("load nowhere", 2),
        ("load .qipu", 2),
        ("load p --strategy other", 2),
    ] {
        let answer = with(&dir, words, "");
        assert_eq!((answer.code(), answer.stdout.as_str()), (code, ""), "{words}: {:?}", answer.error);
    }
    fs::remove_file(dir.path().join("mine")).unwrap();
    assert_eq!(tree(dir.path()), before);
    run(&dir, "dump .qipu/p.pack");
    assert_eq!(call(dir.path().join(".qipu").to_str().unwrap(), &["dump", "notes/p"]).code(), 2);
}
