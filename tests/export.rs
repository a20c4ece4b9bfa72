//! `qipu export passages`: the documents of notes, changes since an earlier state, and what happens to that state on failure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::support::files::temp_dir;
use crate::support::generators::{self, File};
use crate::support::process::{Answer, call};
use proptest::prelude::*;
use serde_json::Value;

/// A folder with a store in `.qipu` and a source in `docs`.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let dir = temp_dir();
        for folder in [".git", ".qipu/notes", "docs"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join(".qipu/config.toml"), "[[documents]]\npath = \"docs\"\n").unwrap();
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn call(&self, args: &[&str]) -> Answer {
        call(self.path().to_str().unwrap(), &[&["export", "passages"], args].concat())
    }

    /// Exports and returns the lines.
    fn export(&self, args: &[&str]) -> String {
        let answer = self.call(args);
        assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
        answer.stdout
    }

    /// Replaces all notes: those of the store, and some of them as documents too.
    fn replace_notes(&self, files: &[File]) {
        for folder in [".qipu/notes", ".qipu/mocs", ".qipu/journals", "docs"] {
            let _ = fs::remove_dir_all(self.path().join(folder));
            fs::create_dir_all(self.path().join(folder)).unwrap();
        }
        for (index, (path, bytes)) in files.iter().enumerate() {
            self.write(&format!(".qipu/{path}"), bytes);
            if index % 2 == 0 {
                self.write(&format!("docs/{path}"), bytes);
            }
        }
    }

    fn state(&self) -> Vec<u8> {
        fs::read(self.path().join("state")).unwrap()
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

/// Applies lines of `ndjson` to documents by id.
fn apply_ndjson(lines: &str, documents: &mut BTreeMap<String, Value>) {
    for line in lines.lines() {
        let mut document = parsed(line);
        let id = document.as_object_mut().unwrap().shift_remove("_id").unwrap();
        let id = id.as_str().unwrap().to_owned();
        if document["deleted"] == true {
            assert!(documents.remove(&id).is_some(), "{id} was not there");
        } else {
            documents.insert(id, document);
        }
    }
}

/// Applies lines of `bulk` to documents by id.
fn apply_bulk(lines: &str, documents: &mut BTreeMap<String, Value>) {
    let mut lines = lines.lines();
    while let Some(line) = lines.next() {
        let action = parsed(line);
        let (name, target) = action.as_object().unwrap().iter().next().unwrap();
        assert_eq!((&target["_index"], target.as_object().unwrap().len()), (&Value::from("qipu"), 2), "{line}");
        let id = target["_id"].as_str().unwrap().to_owned();
        match name.as_str() {
            "index" => {
                let document = parsed(lines.next().unwrap());
                assert!(document.get("_id").is_none(), "the engine refuses this field in a document");
                documents.insert(id, document);
            }
            "delete" => assert!(documents.remove(&id).is_some(), "{id} was not there"),
            _ => panic!("{line}"),
        }
    }
}

/// Edits of stores: each state keeps some files of the one before, in any order.
fn histories() -> impl Strategy<Value = Vec<Vec<File>>> {
    let edit = (generators::files(), any::<u8>());
    (generators::files(), prop::collection::vec(edit, 1..4)).prop_map(|(first, edits)| {
        let mut states = vec![first];
        for (new, kept) in edits {
            let before = states.last().unwrap();
            let mut files: BTreeMap<String, Vec<u8>> = new.into_iter().take(2).collect();
            let is_kept = |index: usize| kept & (1 << (index % 8)) != 0;
            let old = before.iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, file)| file.clone());
            for (path, bytes) in old {
                files.entry(path).or_insert(bytes);
            }
            states.push(files.into_iter().collect());
        }
        states
    })
}

#[test]
fn a_full_export_equals_an_earlier_one_with_the_changes_since() {
    generators::runner(100)
        .run(&histories(), |states| {
            let project = Project::new();
            let (mut lines, mut bulk) = (BTreeMap::new(), BTreeMap::new());
            for files in states {
                project.replace_notes(&files);
                apply_ndjson(&project.export(&["--since-index", "state"]), &mut lines);
                apply_bulk(&project.export(&["--bulk", "qipu", "--since-index", "bulk-state"]), &mut bulk);
                let mut full = BTreeMap::new();
                apply_ndjson(&project.export(&[]), &mut full);
                prop_assert_eq!(&lines, &full);
                prop_assert_eq!(&bulk, &full);
                prop_assert_eq!(project.export(&["--since-index", "state"]), "");
                prop_assert_eq!(project.state(), fs::read(project.path().join("bulk-state")).unwrap());
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_note_can_forge_a_line_or_hide_in_one() {
    let is_hidden = |c: char| c.is_control() || "\u{2028}\u{2029}\u{202e}\u{2066}\u{feff}\u{e0049}".contains(c);
    generators::runner(100)
        .run(&generators::files(), |files| {
            let project = Project::new();
            project.replace_notes(&files);
            let text = project.export(&[]);
            let mut ids = BTreeSet::new();
            let mut notes = BTreeSet::new();
            for line in text.split_terminator('\n') {
                prop_assert!(!line.contains(is_hidden), "{:?}", line);
                let document = parsed(line);
                let id = document["_id"].as_str().unwrap().to_owned();
                let (note, ordinal) = id.rsplit_once('#').unwrap();
                prop_assert!(note.starts_with(&format!("{}:", document["in"].as_str().unwrap())), "{}", id);
                prop_assert!(ordinal.parse::<usize>().is_ok() && id.len() <= 300, "{}", id);
                notes.insert(note.to_owned());
                prop_assert!(ids.insert(id), "{:?} is repeated", line);
            }
            let is_text = |(_, bytes): &&File| !bytes.iter().take(8_192).any(|byte| *byte == 0);
            let documents = files.iter().step_by(2).filter(is_text).count();
            prop_assert_eq!(notes.len(), files.len() + documents, "every note has a passage");
            Ok(())
        })
        .unwrap();
}

#[test]
fn passages_are_where_they_say_and_contain_every_word() {
    let comments = regex::Regex::new("(?s)<!--.*?-->").unwrap();
    for (store, least) in [("research", 40), ("collections", 1)] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(store).join(".qipu");
        let text = call(&format!("fixtures/{store}"), &["export", "passages", "--in", "project"]).stdout;
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for document in text.lines().map(parsed) {
            let path = document["path"].as_str().unwrap();
            let file = fs::read_to_string(root.join(path)).unwrap();
            let line = |index: usize| usize::try_from(document["lines"][index].as_u64().unwrap()).unwrap();
            let lines: Vec<&str> = file.lines().skip(line(0) - 1).take(line(1) + 1 - line(0)).collect();
            let passage = document["text"].as_str().unwrap();
            assert!(lines.join("\n").contains(passage), "{path}: {passage:?} is not in {lines:?}");
            texts
                .entry(path.to_owned())
                .or_default()
                .push_str(&format!("{}\n{passage}\n{}\n", document["title"], document["heading_path"]));
        }
        assert!(texts.len() >= least, "{store} has {} notes", texts.len());
        for (path, exported) in texts {
            let file = fs::read_to_string(root.join(&path)).unwrap();
            let body = file.strip_prefix("---\n").map_or(&*file, |rest| rest.split_once("\n---\n").unwrap().1);
            // Comments are no text of a note.
            let body = comments.replace_all(body, "");
            let is_word = |word: &&str| word.chars().all(char::is_alphabetic);
            let missing: Vec<&str> =
                body.split_whitespace().filter(is_word).filter(|word| !exported.contains(word)).collect();
            assert!(missing.is_empty(), "{path}: {missing:?}");
        }
    }
}

#[test]
fn what_is_found_names_notes_for_context() {
    let found = call("fixtures/collections", &["export", "passages"]).stdout;
    let ids: BTreeSet<String> = found.lines().map(|line| parsed(line)["id"].as_str().unwrap().to_owned()).collect();
    let stdin: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let args = ["context", "--note", "-", "--json", "--without-body"];
    let answer = crate::support::process::call_with("fixtures/collections", &args, &stdin, &[]).stdout;
    let shown: BTreeSet<String> = parsed(&answer)["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(shown, ids);
}

#[test]
fn only_the_named_collections_are_exported() {
    let stores = |args: &[&str]| -> BTreeSet<String> {
        let text = call("fixtures/collections", &[&["export", "passages"], args].concat()).stdout;
        text.lines().map(|line| parsed(line)["in"].as_str().unwrap().to_owned()).collect()
    };
    assert!(stores(&[]).len() > 2);
    assert_eq!(stores(&["--in", "docs", "--in", "adr"]), ["adr", "docs"].map(str::to_owned).into());
}

#[test]
fn the_index_does_not_change_the_answer() {
    let project = Project::new();
    for number in 0..400 {
        project.write(
            &format!(".qipu/notes/n{number}.md"),
            format!("---\nid: n{number}\ntitle: Note {number}\ntags: [x]\n---\nAlpha [[n{}]].\n", number / 2),
        );
    }
    let cold = project.export(&[]);
    assert_eq!(cold.lines().count(), 400);
    assert_eq!(project.export(&[]), cold, "from the index");
    assert_eq!(project.export(&["--no-index"]), cold);
}

/// A project with an exported note that has changed since.
fn changed_project() -> Project {
    let project = Project::new();
    project.write(".qipu/notes/a.md", "---\nid: a\ntitle: A\n---\nOne.\n");
    project.export(&["--since-index", "state"]);
    project.write(".qipu/notes/a.md", "---\nid: a\ntitle: A\n---\nTwo.\n");
    project
}

#[test]
fn a_damaged_state_is_an_error_and_stays() {
    let project = changed_project();
    let good = project.state();
    let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|end| good[..end].to_vec()).collect();
    bad.extend((0..good.len()).map(|index| {
        let mut bytes = good.clone();
        bytes[index] ^= 1;
        bytes
    }));
    bad.push([&good[..], b"\n"].concat());
    bad.push(b"# A document\n".to_vec());
    bad.push(String::from_utf8(good.clone()).unwrap().replacen("state 1", "state 2", 1).into_bytes());
    for bytes in bad {
        project.write("state", &bytes);
        let answer = project.call(&["--since-index", "state"]);
        assert!([2, 3].contains(&answer.code()), "{}: {:?}", String::from_utf8_lossy(&bytes), answer.error);
        assert_eq!((answer.stdout, project.state()), (String::new(), bytes));
    }
    project.write("state", good);
    assert_eq!(project.export(&["--since-index", "state"]).lines().count(), 1);
}

/// Fails at the first write, or when it is flushed.
struct FullDisk {
    is_buffered: bool,
}

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_buffered { Ok(bytes.len()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn the_state_is_not_written_if_the_output_fails() {
    let project = changed_project();
    let before = project.state();
    for is_buffered in [false, true] {
        let error = crate::support::process::call_into(
            project.path().to_str().unwrap(),
            &["export", "passages", "--since-index", "state"],
            &mut FullDisk { is_buffered },
        );
        assert_eq!(error.map(|error| error.kind.exit_code()), Some(1));
        assert_eq!(project.state(), before);
    }
    assert_eq!(project.export(&["--since-index", "state"]).lines().count(), 1);
    assert!(project.state() != before);
}

#[test]
fn a_missing_collection_is_not_reported_as_deleted() {
    let project = changed_project();
    project.write("docs/page.md", "# Page\n\nText.\n");
    assert_eq!(project.export(&["--since-index", "state"]).lines().count(), 2);
    let before = project.state();
    fs::remove_dir_all(project.path().join("docs")).unwrap();
    for only in [vec![], vec!["--in", "project"]] {
        let answer = project.call(&[vec!["--since-index", "state"], only].concat());
        assert_eq!((answer.code(), answer.stdout.as_str()), (3, ""), "{:?}", answer.error);
        assert_eq!(project.state(), before);
    }
    assert_eq!(project.export(&[]).lines().count(), 1, "a full export is possible");
    project.write(".qipu/config.toml", "");
    assert_eq!(project.export(&["--since-index", "state"]), "{\"_id\":\"docs:page#0\",\"deleted\":true}\n");
}

#[test]
fn hostile_notes_and_collections() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    let bulk: &[&str] = &["--bulk", "qipu"];
    for (store, form, flags) in
        [("hostile", "ndjson", &[][..]), ("collections", "ndjson", &[]), ("collections", "bulk", bulk)]
    {
        let answer = call(&format!("fixtures/{store}"), &[&["export", "passages"], flags].concat());
        assert!(answer.error.is_none(), "{:?}", answer.error);
        insta::assert_snapshot!(format!("{store}@export@{form}"), answer.stdout);
    }
}
