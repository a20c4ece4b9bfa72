//! The answers of the language server after random edits are those of the command line on the saved texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::files::temp_dir;
use crate::support::lsp_client::LspClient;
use crate::support::process::call;
use crate::support::random::Random;
use serde_json::{Value, json};

const SEQUENCES: usize = 500;
/// Of so many sequences, one is also compared by its diagnostics, for which the server waits.
const SEQUENCES_PER_DIAGNOSIS: usize = 5;

const FILES: [&str; 6] = [
    "notes/qp-a-x.md", "notes/qp-b.md", "notes/sub/qp-c.md", "notes/plain.md", "mocs/qp-m.md", "journals/2025-01-02.md",
];

/// Pieces of notes that make and break names, links and frontmatter.
const PIECES: [&str; 44] = [
    "[[qp-a]]",
    "[[qp-b]]",
    "[[qp-c|é]]",
    "[[First 😀]]",
    "[[first 😀]]",
    "[[Second]]",
    "[[Second#H]]",
    "[[#H]]",
    "[[plain]]",
    "[[gone]]",
    "[b](qp-b.md)",
    "[c](sub/qp-c.md#h)",
    "[up](../mocs/qp-m.md)",
    "[out](../../x.md)",
    "![[qp-a]]",
    "[r][l]\n",
    "\n[l]: qp-b.md\n",
    "`[[qp-a]]`",
    "<!--",
    "-->",
    "\n```\n",
    "\n---\n",
    "---\n",
    "\nid: qp-a\n",
    "\nid: qp-b\n",
    "\ntitle: Second\n",
    "\ntitle: First 😀\n",
    "\ntitle: a: b\n",
    "\nstatus: draft\n",
    "\naliases: [Eins, qp-b]\n",
    "[[Eins]]",
    "\nlinks:\n- type: supports\n  id: qp-b\n",
    "\nlinks: [{type: odd, id: Second}]\n",
    "\nvalue: 900\n",
    "\n# H\n",
    "\n## 😀 é\n",
    "text é",
    "😀",
    "\n",
    "\r\n",
    "\r",
    " ",
    "[[",
    "]]",
];

fn first_text(file: usize) -> String {
    let (id, title) =
        [("qp-a", "First 😀"), ("qp-b", "Second"), ("qp-c", "Third"), ("", ""), ("qp-m", "Map"), ("j", "Day")][file];
    let link = ["qp-b", "First 😀", "Second", "qp-a", "qp-c", "plain"][file];
    if id.is_empty() {
        return format!("# Plain\n\nSee [[{link}]].\n");
    }
    let kind = if id == "qp-m" { "type: moc\n" } else { "" };
    format!("---\nid: {id}\ntitle: {title}\n{kind}---\n\n# {title}\n\n1. [[{link}]]\n2. [[qp-b]]\n")
}

/// The store of the server with its open texts, and a copy in which they are saved.
struct Stores {
    client: LspClient,
    server_root: PathBuf,
    saved_root: PathBuf,
    /// The texts on disk, and those that are open.
    disk: BTreeMap<&'static str, String>,
    open: BTreeMap<&'static str, String>,
    is_utf8: bool,
    _dirs: [tempfile::TempDir; 2],
}

impl Stores {
    fn new(is_utf8: bool) -> Self {
        let dirs = [temp_dir(), temp_dir()];
        let [server_root, saved_root] = [0, 1].map(|index| dirs[index].path().canonicalize().unwrap());
        let mut disk = BTreeMap::new();
        for (index, file) in FILES.into_iter().enumerate() {
            for root in [&server_root, &saved_root] {
                write(root, file, &first_text(index));
            }
            disk.insert(file, first_text(index));
        }
        for root in [&server_root, &saved_root] {
            fs::write(root.join("Cargo.toml"), "").unwrap();
        }
        let client = LspClient::start(&server_root, is_utf8);
        Self { client, server_root, saved_root, disk, open: BTreeMap::new(), is_utf8, _dirs: dirs }
    }

    /// Makes one random change: of an open text, of what is open, or of a file.
    fn step(&mut self, random: &mut Random) {
        let file = FILES[random.below(FILES.len())];
        match random.below(12) {
            0 => self.close(file),
            1 if self.open.contains_key(file) => {
                // Saved, as an editor does.
                let text = self.open[file].clone();
                write(&self.server_root, file, &text);
                self.disk.insert(file, text);
                let document = json!({"uri": self.client.uri(&in_store(file))});
                self.client.notify("textDocument/didSave", json!({"textDocument": document}));
            }
            2 => {
                // Changed by another program.
                let text = with_random_edit(&self.disk[file], random).0;
                write(&self.server_root, file, &text);
                self.disk.insert(file, text);
            }
            _ => self.edit(file, random),
        }
    }

    fn close(&mut self, file: &'static str) {
        if self.open.remove(file).is_some() {
            self.client.close_text(&in_store(file));
        }
    }

    fn edit(&mut self, file: &'static str, random: &mut Random) {
        if !self.open.contains_key(file) {
            self.client.open(&in_store(file), &self.disk[file]);
            self.open.insert(file, self.disk[file].clone());
        }
        let old = self.open[file].clone();
        if random.chance(10) {
            let index = FILES.iter().position(|other| *other == file).unwrap();
            self.client.change(&in_store(file), None, &first_text(index));
            self.open.insert(file, first_text(index));
            return;
        }
        let (new, range, piece) = with_random_edit(&old, random);
        let position = |offset: usize| self.position(&old, offset);
        let range = json!({"start": position(range.start), "end": position(range.end)});
        self.client.change(&in_store(file), Some(range), piece);
        self.open.insert(file, new);
    }

    /// Returns the position of a byte offset that is not inside of a line ending.
    fn position(&self, text: &str, offset: usize) -> Value {
        let before = text[..offset].replace("\r\n", "\n").replace('\r', "\n");
        let last = before.rsplit('\n').next().unwrap();
        let column = if self.is_utf8 { last.len() } else { last.encode_utf16().count() };
        json!({"line": before.matches('\n').count(), "character": column})
    }

    /// Saves all texts in the copy.
    fn save(&self) {
        for file in FILES {
            write(&self.saved_root, file, self.open.get(file).unwrap_or(&self.disk[file]));
        }
    }

    /// Returns the answer of the command line to a call on the saved texts.
    fn cli(&self, args: &[&str]) -> Value {
        let args = [&["--no-index", "--json"], args].concat();
        let answer = call(self.saved_root.to_str().unwrap(), &args);
        serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{args:?}: {:?}", answer.error))
    }

    /// Returns the file of a location of the server.
    fn file_of(&self, location: &Value) -> String {
        let prefix = crate::support::lsp_client::uri(&self.server_root.join(".qipu/"));
        location["uri"].as_str().unwrap().strip_prefix(&prefix).unwrap().to_owned()
    }
}

fn in_store(file: &str) -> String {
    format!(".qipu/{file}")
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(".qipu").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Replaces a random part of a text by a piece. Returns the new text, the bytes that were replaced, and the piece.
fn with_random_edit(text: &str, random: &mut Random) -> (String, std::ops::Range<usize>, &'static str) {
    let mut boundary = |from: usize, most: usize| {
        let offset = text.floor_char_boundary(from + random.below(most + 1));
        let is_divided = text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
        offset - usize::from(is_divided)
    };
    let start = boundary(0, text.len());
    let end = boundary(start, (text.len() - start).min(12)).max(start);
    let piece = random.choice(&PIECES);
    let mut new = text.to_owned();
    new.replace_range(start..end, piece);
    (new, start..end, piece)
}

/// Returns the files of notes in an answer of the command line, without the first so many.
fn files(answer: &Value, skipped: usize) -> BTreeSet<String> {
    let notes = answer["notes"].as_array().unwrap().iter().skip(skipped);
    notes.map(|note| note["path"].as_str().unwrap().strip_prefix(".qipu/").unwrap().to_owned()).collect()
}

/// Returns a text as an editor shows a title or a message: on one line.
fn on_one_line(text: &Value) -> String {
    text.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the ids and titles of all notes by their files.
fn ids(stores: &Stores) -> BTreeMap<String, (String, String)> {
    let answer = stores.cli(&["list"]);
    let text = |note: &Value, key: &str| note[key].as_str().unwrap().to_owned();
    let notes = answer["notes"].as_array().unwrap().iter();
    let names = |note| (text(note, "id"), on_one_line(&note["title"]));
    notes.map(|note| (text(note, "path")[".qipu/".len()..].to_owned(), names(note))).collect()
}

fn compare_symbols(stores: &mut Stores, ids: &BTreeMap<String, (String, String)>) {
    let symbols = stores.client.request("workspace/symbol", json!({"query": ""}));
    let symbol = |symbol: &Value| {
        let id = symbol["containerName"].as_str().unwrap().to_owned();
        (stores.file_of(&symbol["location"]), (id, on_one_line(&symbol["name"])))
    };
    let found: BTreeMap<_, _> = symbols.as_array().unwrap().iter().map(symbol).collect();
    assert_eq!(&found, ids);
}

/// Compares the references of an open note, and the targets of everything in it that may be a link.
fn compare_links(stores: &mut Stores, file: &'static str, id: &str) {
    let path = in_store(file);
    let params = json!({
        "textDocument": {"uri": stores.client.uri(&path)},
        "position": stores.position(&stores.open[file], stores.open[file].len()),
    });
    let named = stores.client.request("textDocument/prepareRename", params.clone());
    // The end of a link names its note.
    if named.is_null() && stores.open[file].ends_with('\n') {
        let mut params = params;
        params["context"] = json!({"includeDeclaration": false});
        let found = stores.client.request("textDocument/references", params);
        let found: BTreeSet<String> = found.as_array().unwrap().iter().map(|found| stores.file_of(found)).collect();
        let expected = files(&stores.cli(&["link", "list", "--no-compaction", "--direction", "in", "--", id]), 1);
        assert_eq!(found, expected, "references of {file}: {}", stores.open[file]);
    }
    let text = stores.open[file].clone();
    let mut found = BTreeSet::new();
    for offset in text.char_indices().map(|(offset, _)| offset).filter(|offset| !text[..*offset].ends_with('\r')) {
        let is_start = |at: usize| ["[", "qp-", "Second"].iter().any(|start| text[at..].starts_with(start));
        if is_start(offset) {
            let params =
                json!({"textDocument": {"uri": stores.client.uri(&path)}, "position": stores.position(&text, offset)});
            let location = stores.client.request("textDocument/definition", params);
            found.extend((!location.is_null()).then(|| stores.file_of(&location)));
        }
    }
    found.remove(file);
    let expected = files(&stores.cli(&["link", "list", "--no-compaction", "--direction", "out", "--", id]), 1);
    assert_eq!(found, expected, "definitions of {file}: {text:?}");
}

fn compare_diagnostics(stores: &mut Stores) {
    let answer = stores.cli(&["doctor"]);
    // A new version of each text: diagnostics of an older one may still be on their way.
    for (file, text) in &stores.open {
        stores.client.change(&in_store(file), None, text);
    }
    for file in stores.open.keys().copied().collect::<Vec<_>>() {
        let path = in_store(file);
        let found = stores.client.diagnostics_of(&path);
        let code = |found: &Value| (found["code"].as_str().unwrap().to_owned(), on_one_line(&found["message"]));
        let mut found: Vec<_> = found.iter().map(code).collect();
        let own = answer["findings"].as_array().unwrap().iter().filter(|finding| finding["path"] == path);
        let mut expected: Vec<_> = own.map(code).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "diagnostics of {file}: {:?}", stores.open[file]);
    }
}

/// Compares the answers of a server after each of some sequences of edits. Returns how many notes were compared.
fn compare(is_utf8: bool, sequences: usize) -> usize {
    // The two servers meet different sequences.
    let mut random = Random::new(Random::seed(7) * 2 + u64::from(is_utf8));
    let mut compared = 0;
    let mut stores = Stores::new(is_utf8);
    for sequence in 0..sequences {
        for _ in 0..random.between(1, 6) {
            stores.step(&mut random);
        }
        stores.save();
        let ids = ids(&stores);
        compare_symbols(&mut stores, &ids);
        for file in stores.open.keys().copied().collect::<Vec<_>>() {
            compare_links(&mut stores, file, &ids[file].0);
            compared += 1;
        }
        if sequence % SEQUENCES_PER_DIAGNOSIS == 0 {
            compare_diagnostics(&mut stores);
        }
    }
    assert!(stores.client.stop());
    compared
}

#[test]
fn after_random_edits_the_answers_are_those_on_the_saved_texts() {
    // Side by side: a server waits a quarter of a second before it sends diagnostics.
    let compared: usize = std::thread::scope(|scope| {
        let servers = [false, true].map(|is_utf8| scope.spawn(move || compare(is_utf8, SEQUENCES / 2)));
        servers.map(|server| server.join().unwrap()).iter().sum()
    });
    assert!(compared > SEQUENCES, "only {compared} notes were open");
}
