//! Files that qipu wrote itself and still does not trust: the index with its sidecars, and the log of pending changes.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use qipu::commands::rebuild_index;
use qipu::store::Location;
use sha2::{Digest, Sha256};

use super::input::Input;
use super::world::{World, expect_no_control};

/// The files of the index.
const FILES: [&str; 4] = ["notes.index", "links.index", "folders.index", "terms.index"];

/// The log of pending changes in a store.
const PENDING: &str = ".qipu-pending";

/// The number of bytes that share a checksum.
const BLOCK: usize = 4096;

/// A container file, as specs/internals/index.md describes it.
#[derive(Clone)]
struct Container {
    magic: Vec<u8>,
    sections: Vec<Vec<u8>>,
}

impl Container {
    fn parse(bytes: &[u8]) -> Self {
        let magic = bytes[..=bytes.iter().position(|byte| *byte == b'\n').unwrap()].to_vec();
        let trailer = bytes.len() - magic.len() - 12;
        let end = u64::from_le_bytes(bytes[trailer..trailer + 8].try_into().unwrap()) as usize;
        let (ranges, _): (Vec<(u64, u64)>, Vec<u32>) = postcard::from_bytes(&bytes[end..trailer]).unwrap();
        let range = |(start, end): &(u64, u64)| Range { start: *start as usize, end: *end as usize };
        Self { sections: ranges.iter().map(|section| bytes[range(section)].to_vec()).collect(), magic }
    }

    /// Returns the file with valid checksums.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.magic.clone();
        let mut ranges = Vec::new();
        for section in &self.sections {
            bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
            ranges.push((bytes.len() as u64, (bytes.len() + section.len()) as u64));
            bytes.extend(section);
        }
        let end = bytes.len() as u64;
        let crcs: Vec<u32> = bytes.chunks(BLOCK).map(crc32fast::hash).collect();
        let footer = postcard::to_allocvec(&(ranges, crcs)).unwrap();
        bytes.extend(&footer);
        bytes.extend(end.to_le_bytes());
        bytes.extend(crc32fast::hash(&footer).to_le_bytes());
        bytes.extend(&self.magic);
        bytes
    }
}

/// A store with an index that is used, and the files of that index.
struct IndexedStore {
    world: World,
    files: BTreeMap<&'static str, Vec<u8>>,
}

impl IndexedStore {
    fn new() -> Self {
        let world = World::with_store(&[
            ("notes/a.md", b"---\nid: a\ntitle: Alpha\ntags: [x, y]\nlinks:\n- {type: supports, id: b}\n---\n# A\n\nfsync fails. [[b]]\n"),
            ("notes/sub/b.md", "---\nid: b\ntitle: \u{dc}ber\nvalue: 7\ncustom: {k: [1, v]}\n---\nWords of the second. [[nowhere]]\n".as_bytes()),
            ("mocs/c.md", b"---\nid: c\ntitle: Map\ntype: moc\n---\n1. [[a]]\n2. [[b]]\n"),
            ("journals/2025-03-05.md", b"- [ ] a task about fsync\n"),
        ]);
        // Until then, the stats of the files count as racy, and the index is not used.
        std::thread::sleep(Duration::from_millis(150));
        rebuild_index(&Location::default(), &world.project()).unwrap();
        for args in [&["context", "--query", "fsync"][..], &["export", "links"], &["list"]] {
            assert!(world.call(args, "").is_ok());
        }
        let folder = world.project().join(".qipu/cache");
        let read = |name: &'static str| Some((name, fs::read(folder.join(name)).ok()?));
        let files = FILES.into_iter().filter_map(read).collect();
        Self { world, files }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.world.project().join(".qipu/cache").join(file)
    }
}

thread_local! {
    static STORE: OnceCell<IndexedStore> = const { OnceCell::new() };
}

/// Returns the files of an index with the bytes of their sections, from which inputs are made.
pub(crate) fn sections() -> Vec<(usize, usize, Vec<u8>)> {
    STORE.with(|store| {
        let store = store.get_or_init(IndexedStore::new);
        let mut all = Vec::new();
        for (file, name) in FILES.iter().enumerate() {
            let Some(bytes) = store.files.get(name) else { continue };
            let sections = Container::parse(bytes).sections.into_iter().enumerate();
            all.extend(sections.map(|(section, bytes)| (file, section, bytes)));
        }
        all
    })
}

/// Any bytes in any section of the index, behind valid checksums: answers keep their form and budget, and a rebuilt index
/// gives the true answer again.
pub(crate) fn index(data: &[u8]) {
    let mut input = Input::new(data);
    let (file, section, is_patch) = (input.choose(&FILES), input.number(32), input.flag());
    let command = input.number(6);
    STORE.with(|store| {
        let store = store.get_or_init(IndexedStore::new);
        for (name, bytes) in &store.files {
            fs::write(store.path(name), bytes).unwrap();
        }
        let Some(bytes) = store.files.get(file) else { return };
        let mut container = Container::parse(bytes);
        let count = container.sections.len();
        let section = &mut container.sections[section % count];
        if is_patch {
            for patch in input.bytes().chunks(4) {
                let [low, high, new @ ..] = patch else { break };
                let offset = usize::from(*low) | usize::from(*high) << 8;
                let end = (offset + new.len()).min(section.len());
                if let Some(old) = section.get_mut(offset..end) {
                    old.copy_from_slice(&new[..old.len()]);
                }
            }
        } else {
            *section = input.bytes().to_vec();
        }
        fs::write(store.path(file), container.to_bytes()).unwrap();
        check_answers(&store.world, command);
    });
}

fn check_answers(world: &World, command: usize) {
    let words: &[&str] = match command {
        0 => &["list", "--json"],
        1 => &["search", "fsync words uber", "--json", "--explain"],
        2 => &["context", "--query", "fsync", "--with-body", "--records"],
        3 => &["export", "links"],
        4 => &["link", "tree", "a", "--json"],
        _ => &["search", "--like", "a", "--json"],
    };
    let call = |more: &[&str]| world.call(&[words, &["--max-chars", "3000"], more].concat(), "");
    let answer = call(&[]);
    assert!(answer.text.chars().count() <= 3000, "{}", answer.text);
    expect_no_control(&answer.text);
    if words.contains(&"--json") && !answer.text.is_empty() {
        serde_json::from_str::<serde_json::Value>(&answer.text)
            .unwrap_or_else(|error| panic!("{error}: {}", answer.text));
    }
    let before = world.tree();
    expect_no_control(&world.call(&["doctor"], "").text);
    rebuild_index(&Location::default(), &world.project()).unwrap();
    assert_eq!(call(&[]).text, call(&["--no-index"]).text, "{words:?}: another answer from a new index");
    assert_eq!(world.tree(), before, "a note changed");
}

/// Any log of pending changes: it is applied inside the store or refused, and never a second time.
pub(crate) fn redo_log(data: &[u8]) {
    let mut input = Input::new(data);
    let is_witnessed = input.number(8) != 7;
    let log = input.bytes();
    let world = World::with_store(&[("notes/a.md", b"A"), ("notes/b.md", b"B")]);
    world.write("outside.md", "B");
    world.write(&format!(".qipu/{PENDING}"), log);
    if is_witnessed {
        let root = world.project().join(".qipu");
        let name: String =
            Sha256::digest(root.as_os_str().as_encoded_bytes())[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let folder = world.cache().join("qipu").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("pending"), Sha256::digest(log)).unwrap();
    }
    let outside = world.tree_outside_store();
    let notes = world.tree();
    expect_no_control(&world.call(&["list"], "").text);
    assert_eq!(world.tree(), notes, "a command that reads applied the log");
    let outcome = world.call(&["capture", "A new note.", "--title", "New"], "");
    assert_eq!(world.tree_outside_store(), outside, "the log led out of the store");
    assert!(is_witnessed || !outcome.is_ok(), "a log of another user was applied");
    if outcome.is_ok() {
        assert!(!world.project().join(".qipu").join(PENDING).exists(), "the log stayed");
    }
}
