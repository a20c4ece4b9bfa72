//! What is written into the frontmatter of a note from that of another: every YAML reader takes it for the same values.

use std::fs;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use qipu::note::Note;
use qipu::note::merge::merge;

use crate::support::files::{path, store, temp_dir};
use crate::support::generators::runner;
use crate::support::process::{call, call_with};

/// Pieces of texts that YAML readers take differently, in flow style above all.
const PIECES: [&str; 44] = [
    "?", ":", "-", ",", "[", "]", "{", "}", "#", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`", "=", "~", "<<",
    " ", "  ", ": ", " #", "- ", "? ", "\\", "\u{2019}", "\u{85}", "\u{2028}", "\u{a0}", "\u{feff}", "é", "日", "🦀",
    "a", "B", "0", "12", "https://x.org/p?q=1", "2025-02-30", "true",
];

/// Texts that readers may take for other values than texts.
const TYPED: [&str; 40] = [
    "7",
    "-1",
    "+2",
    "007",
    "0o17",
    "0x1f",
    "0x_",
    "0b_",
    "1_000",
    "1.5",
    ".5",
    "1.",
    "1e3",
    "1e+3",
    ".inf",
    "-.inf",
    ".nan",
    "true",
    "No",
    "off",
    "~",
    "null",
    "Null",
    "2025-01-01",
    "0000-01-01",
    "2025-13-01",
    "2025-01-01T10:00:00Z",
    "2025-01-01 10:00:00",
    "2025-01-01T25:00:00Z",
    "2025-01-01T10:00:60Z",
    "2025-01-01T10:00:00+24:00",
    "2025-01-01T10:00:00-05:00",
    "12:30",
    "1:2:3.5",
    "190:20:30",
    "=",
    "<<",
    "-",
    "...",
    "---",
];

fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..6).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => pieces, 2 => prop::sample::select(TYPED.to_vec()).prop_map(str::to_owned), 1 => "[ -~]{1,12}"]
}

/// Writes a value for a block field: plain if our reader takes it for the text, else in quotes.
fn block_value(text: &str, wants_plain: bool) -> String {
    let read = Note::parse("n.md", format!("---\nid: n\nother:\n  k: {text}\n---\n").into_bytes());
    let is_same = read.findings.iter().all(|finding| !finding.code.name().starts_with("frontmatter"))
        && matches!(read.unknown.as_slice(), [(_, value)] if value.to_json() == serde_json::json!({"k": text}) || value.to_line() == format!("k: {text}"));
    // Some readers take these for line breaks.
    let has_break = text.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}']);
    if wants_plain && is_same && !has_break { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// A note whose frontmatter is in block style, with values that are hard to write in flow style.
fn block_note() -> impl Strategy<Value = String> {
    let value = || (hostile(), any::<bool>()).prop_map(|(text, is_plain)| block_value(&text, is_plain));
    (prop::collection::vec((value(), value()), 0..3), prop::collection::vec(value(), 0..3), value(), value()).prop_map(
        |(sources, list, custom, tag)| {
            let sources: String = sources
                .iter()
                .enumerate()
                .map(|(number, (url, title))| {
                    format!("  - url: {url}\n    title: {title}\n    number{number}: {number}\n")
                })
                .collect();
            let list: String = list.iter().map(|item| format!("    - {item}\n")).collect();
            let sources = if sources.is_empty() { String::new() } else { format!("sources:\n{sources}") };
            let list = if list.is_empty() { String::new() } else { format!("  list:\n{list}") };
            format!("---\nid: from\n{sources}tags:\n  - {tag}\ncustom:\n  one: {custom}\n{list}---\nText.\n")
        },
    )
}

/// Notes in flow style, into which the others are merged.
const INTO: [&str; 4] = [
    "---\nid: into\ntitle: I\nsources: [{url: \"https://a.org\"}]\ntags: [x]\ncustom: {own: 1}\n---\nx\n",
    "---\n{id: into, title: I, sources: [], tags: [x], custom: {own: 1}}\n---\nx\n",
    "---\nid: into\ntitle: I\ntags: !!str \"x, y\"\n---\nx\n",
    "---\nid: into\ntitle: I\nsources:\n  - {url: \"https://a.org\"}\ntags:\n- x\ncustom:\n  own: 1\n---\nx\n",
];

/// Merges a note into another, in one of three ways; `None` if that is refused.
fn merged(into: &str, from: &str, way: usize) -> Option<String> {
    let dir = store(&[("notes/into.md", into)]);
    let read = || fs::read_to_string(dir.path().join(".qipu/notes/into.md")).unwrap();
    match way {
        0 => {
            fs::write(dir.path().join(".qipu/notes/from.md"), from).unwrap();
            (call(path(&dir), &["merge", "into", "from"]).code() == 0).then(read)
        }
        1 => {
            let from = store(&[("notes/from.md", &from.replace("id: from", "id: into\nupdated: 2025-01-01"))]);
            let pack = call(path(&from), &["dump", "-", "--allow-secret"]).stdout;
            let args = ["load", "-", "--strategy", "merge", "--allow-secret"];
            (call_with(path(&dir), &args, &pack, &[]).code() == 0).then(read)
        }
        _ => {
            let base = into.replace("custom: {own: 1}", "custom: {own: 1, two: 2}");
            merge(&base, into, &from.replace("id: from", "id: into")).ok().map(|merged| merged.ours)
        }
    }
}

/// Our own reader finds each value of the other note in the merged one, with its type.
#[test]
fn values_of_another_note_keep_their_meaning() {
    let carried = std::cell::Cell::new(0);
    runner(400)
        .run(&(prop::sample::select(INTO.to_vec()), block_note(), 0_usize..3), |(into, from, way)| {
            let Some(text) = merged(into, &from, way) else { return Ok(()) };
            let (into, from) = (Note::parse("n.md", text.clone().into_bytes()), Note::parse("n.md", from.into_bytes()));
            prop_assert!(
                into.findings.iter().all(|finding| !finding.code.name().starts_with("frontmatter")),
                "{}",
                text
            );
            if way == 2 {
                return Ok(());
            }
            for source in &from.sources {
                prop_assert!(into.sources.iter().any(|other| other.url == source.url), "{:?}: {}", source, text);
            }
            let one = |note: &Note| note.custom.iter().find(|(key, _)| key == "one").map(|(_, value)| value.to_json());
            prop_assert_eq!(one(&into), one(&from), "{}", text);
            prop_assert!(from.tags.iter().all(|tag| into.tags.contains(tag)), "{}", text);
            carried.set(carried.get() + 1);
            Ok(())
        })
        .unwrap();
    assert!(carried.get() > 150, "{}", carried.get());
}

#[test]
fn a_tag_of_yaml_goes_with_its_value() {
    for (fields, args, new) in [
        ("tags: !!str \"x, y\"", &["--tag", "z"][..], "tags: [x, \"y\", z]"),
        ("tags: !!str x # why", &["--tag", "z"], "tags: [x, z]"),
        ("tags: !!str \"x, z\"", &["--untag", "z"], "tags: [x]"),
        ("title: !!str 7", &["--title", "T: u"], "title: \"T: u\""),
        ("value: !!int 7", &["--value", "8"], "value: 8"),
        ("custom: {k: !!int 7}", &["--set", "k=text"], "custom: {k: text}"),
    ] {
        let dir = store(&[("notes/n.md", &format!("---\nid: n\n{fields}\n---\nText.\n"))]);
        let answer = call(path(&dir), &[&["update", "n"], args].concat());
        // A title renames the file.
        let file = fs::read_dir(dir.path().join(".qipu/notes")).unwrap().next().unwrap().unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(
            text.contains(&format!("{new}\n")) || text.contains(&format!("{new} #")),
            "{fields}: {:?}: {text}",
            answer.error
        );
    }
    let set = "---\nid: n\nlinks: !!omap [{a: b}]\n---\nText.\n";
    let dir = store(&[("notes/n.md", set), ("notes/m.md", "---\nid: m\n---\n")]);
    assert_eq!(call(path(&dir), &["link", "add", "n", "m"]).code(), 3);
    assert_eq!(fs::read_to_string(dir.path().join(".qipu/notes/n.md")).unwrap(), set);
}

/// Reads each merged frontmatter with two of three readers, and compares the values of the other note as each of them reads it.
/// The two that are written in Python take turns: they need ten and twenty times as long as libyaml.
const CHECK: &str = r#"
import functools, io, json, sys, yaml
from ruamel.yaml import YAML
def text(value):
    if isinstance(value, dict):
        return sorted((repr(key), text(entry)) for key, entry in value.items())
    return [text(item) for item in value] if isinstance(value, list) else repr(value)
front = lambda note: note.split('---\n')[1]
libyaml = ('libyaml', lambda front: yaml.load(front, yaml.CSafeLoader))
in_turn = [('PyYAML', yaml.safe_load), ('ruamel', lambda front: YAML(typ='safe', pure=True).load(io.StringIO(front)))]
@functools.cache
def takes(read, note):
    try: read(front(note))
    except Exception: return False
    return True
count = 0
for number, line in enumerate(open(sys.argv[1], encoding='utf-8')):
    case = json.loads(line)
    for name, read in [libyaml, in_turn[number % len(in_turn)]]:
        if not takes(read, case['into']): continue
        try: old = read(front(case['from']))
        except Exception: old = None
        # git takes whole lines of a side as they are.
        if old is None and case['way'] == 2: continue
        try: new = read(front(case['text']))
        except Exception as error: sys.exit(f"{name}: {error}\n{case['from']}\n{case['text']}")
        count += 1
        if old is None or case['way'] == 2: continue
        urls = lambda note: [text(source.get('url')) for source in note.get('sources') or [] if isinstance(source, dict)]
        for url in urls(old):
            if url.startswith("'") and url not in urls(new): sys.exit(f"{name}: {url} is lost\n{case['from']}\n{case['text']}")
        one = (old.get('custom') or {}).get('one')
        if isinstance(one, str) and (new.get('custom') or {}).get('one') != one: sys.exit(f"{name}: {one!r} is lost\n{case['from']}\n{case['text']}")
print(count)
"#;

#[test]
#[ignore = "needs python3 with PyYAML and ruamel.yaml"]
fn other_readers_take_what_merges_write() {
    let mut runner = runner(1);
    let strategy = (prop::sample::select(INTO.to_vec()), block_note());
    let mut lines = String::new();
    let mut count = 0;
    for number in 0.. {
        if count == 5_000 {
            break;
        }
        let (into, from) = strategy.new_tree(&mut runner).unwrap().current();
        let way = number % 3;
        let Some(text) = merged(into, &from, way) else { continue };
        lines += &format!("{}\n", serde_json::json!({"into": into, "from": from, "text": text, "way": way}));
        count += 1;
    }
    let dir = temp_dir();
    let file = dir.path().join("merged.jsonl");
    fs::write(&file, lines).unwrap();
    // The packages of the system's package manager belong to its own Python.
    let output = Command::new("/usr/bin/python3").args(["-c", CHECK]).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    assert!(read > 6_500, "{read}");
}
