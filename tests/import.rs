//! Imports: what a graph or vault holds arrives, links lead where they led, a second import changes
//! nothing, the source stays as it is, and no source does any harm.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::support::files::temp_dir;
use crate::support::generators::{hostile_text, runner};
use crate::support::process::{Answer, call};
use proptest::prelude::*;
use qipu::graph::Graph;
use qipu::note::{LinkTypes, Note};
use qipu::progress;
use qipu::store::{Location, NoteIdx, Store};
use tempfile::TempDir;

/// Files of a source: path and text.
type Files = Vec<(String, String)>;

/// The titles that each title links to.
type Links = BTreeMap<String, BTreeSet<String>>;

/// A project with a store, and a folder `source` beside it.
fn project(files: &[(String, String)]) -> TempDir {
    let dir = temp_dir();
    fs::create_dir(dir.path().join(".git")).unwrap();
    fs::create_dir(dir.path().join("source")).unwrap();
    for (path, text) in files {
        put(&dir, path, text.as_bytes());
    }
    run(&dir, "init");
    dir
}

fn of(files: &[(&str, &str)]) -> TempDir {
    project(&files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect::<Vec<_>>())
}

fn put(dir: &TempDir, path: &str, bytes: &[u8]) {
    let file = dir.path().join("source").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

fn answer(dir: &TempDir, words: &str) -> Answer {
    call(dir.path().to_str().unwrap(), &words.split(' ').collect::<Vec<_>>())
}

fn run(dir: &TempDir, words: &str) -> String {
    let answer = answer(dir, words);
    assert_eq!(answer.code(), 0, "{words}: {:?}\n{}", answer.error, answer.stdout);
    answer.stdout
}

fn store(dir: &TempDir) -> Store {
    Store::open(&Location::default(), dir.path()).unwrap()
}

fn note<'a>(store: &'a Store, title: &str) -> &'a Note {
    let found = store.notes().iter().find(|note| note.title() == title);
    found.unwrap_or_else(|| panic!("no note {title:?}")).parsed().unwrap()
}

/// The titles that a note links to.
fn links(store: &Store, title: &str) -> BTreeSet<String> {
    let types = LinkTypes::default();
    let graph = Graph::new(store.notes(), &types);
    let place = store.position(&note(store, title).id).unwrap();
    graph.outgoing(place).map(|edge| store.notes()[edge.to].title().to_owned()).collect()
}

/// Everything that leads nowhere.
fn unresolved(store: &Store) -> BTreeSet<String> {
    let types = LinkTypes::default();
    let graph = Graph::new(store.notes(), &types);
    NoteIdx::all(store.notes().len())
        .flat_map(|place| graph.unresolved(place).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Every file and folder, with its bytes and the time of its last change.
fn tree(dir: &Path) -> BTreeMap<String, (Option<Vec<u8>>, SystemTime)> {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let entries = entries.filter(|entry| {
        entry.file_name() != ".lock" && !entry.path().components().any(|part| part.as_os_str() == "cache")
    });
    let look = |entry: walkdir::DirEntry| {
        let inside = entry.path().strip_prefix(dir).unwrap().to_string_lossy().into_owned();
        let bytes = entry.file_type().is_file().then(|| fs::read(entry.path()).unwrap());
        (inside, (bytes, fs::symlink_metadata(entry.path()).unwrap().modified().unwrap()))
    };
    entries.map(look).collect()
}

/// What is below a folder, without times.
fn held(dir: &Path) -> BTreeMap<String, Option<String>> {
    let shown = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    tree(dir).into_iter().map(|(path, (bytes, _))| (path, bytes.map(shown))).collect()
}

/// Names what differs.
fn differences<T: PartialEq>(old: &BTreeMap<String, T>, new: &BTreeMap<String, T>) -> Vec<String> {
    let all: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    all.into_iter().filter(|path| old.get(*path) != new.get(*path)).cloned().collect()
}

/// Returns whether an answer reports that nothing was written.
fn is_idle(answer: &str) -> bool {
    let lines = answer.lines().filter(|line| !line.starts_with("warning: "));
    lines
        .map(|line| format!(" {line}"))
        .all(|line| line.contains(" unchanged") || line.contains(" skipped") || line == " Nothing to do.")
}

fn findings(answer: &str, code: &str) -> Vec<String> {
    let json: serde_json::Value = serde_json::from_str(answer).unwrap();
    let all = json["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == code);
    all.map(|finding| format!("{}: {}", finding["path"].as_str().unwrap(), finding["message"].as_str().unwrap()))
        .collect()
}

/// Imports, checks that the source stays and that nothing is left to do, and returns the first answer.
fn import(dir: &TempDir, app: &str) -> String {
    let source = tree(&dir.path().join("source"));
    let shown = run(dir, &format!("import {app} source --dry-run --json"));
    assert_eq!(store(dir).notes().len(), 0, "a dry run made notes");
    let first = run(dir, &format!("import {app} source --json"));
    assert_eq!(shown.matches("\"created\"").count(), first.matches("\"created\"").count());
    let before = held(&dir.path().join(".qipu"));
    let again = run(dir, &format!("import {app} source"));
    assert!(is_idle(&again) && !again.contains("skipped"), "{again}");
    assert_eq!(differences(&before, &held(&dir.path().join(".qipu"))), [""; 0]);
    assert_eq!(differences(&source, &tree(&dir.path().join("source"))), [""; 0], "the source was touched");
    first
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn uuid(number: usize) -> String {
    format!("6401ab12-0000-4000-8000-{number:012x}")
}

/// A graph of 240 pages, 90 journals and 20 assets, and what each page links to.
fn graph() -> (Files, Links) {
    let title = |number: usize| match number % 4 {
        0 => format!("Area {}/Topic {number}", number % 3),
        1 => format!("What is {number}?"),
        2 => format!("日本語 {number}"),
        _ => format!("Page {number}"),
    };
    let day = |number: usize| (number / 28 % 12, number % 28 + 1);
    let journal = |number: usize| {
        let (month, day) = day(number);
        let suffix = match day {
            1 | 21 => "st",
            2 | 22 => "nd",
            3 | 23 => "rd",
            _ => "th",
        };
        format!("{} {day}{suffix}, 2025", MONTHS[month])
    };
    let (pages, journals) = (240, 90);
    let (mut files, mut wanted) = (Vec::new(), BTreeMap::new());
    for number in 0..pages {
        let own = title(number);
        let other = |step: usize| (number + step) % pages;
        let file = match number % 4 {
            3 => format!("renamed-{number}"),
            _ if number % 8 == 0 => own.replace('/', "%2F"),
            _ => own.replace('/', "___").replace('?', "%3F"),
        };
        let mut text = String::new();
        if number % 4 == 3 {
            text.push_str(&format!("title:: {own}\n"));
        }
        text.push_str(&format!(
            "alias:: Alias {number}, [[Other, {number}]]\ntags:: [[two words]], t{}\nauthor:: [[{}]]\n\n",
            number % 5,
            title(other(7))
        ));
        text.push_str(&format!("- first #tag{} and #[[Alias {}]]\n  id:: {}\n", number % 6, other(1), uuid(number)));
        text.push_str(&format!(
            "\t- [[{}]] and [[Alias {}]] on [[{}]]\n",
            title(other(2)),
            other(3),
            journal(number % journals)
        ));
        text.push_str(&format!("\t\t- (({})) {{{{embed (({}))}}}}\n", uuid(other(4)), uuid(other(5))));
        text.push_str(&format!("- ![pic](../assets/pic_{}.png) [label](((({}))))\n", number % 20, uuid(other(6))));
        text = text.replace("((((", "(((").replace("))))\n", ")))\n");
        let links = [other(1), other(2), other(3), other(4), other(5), other(6), other(7)].map(title);
        let mut links: BTreeSet<String> = links.into_iter().collect();
        links.insert(journal(number % journals));
        wanted.insert(own, links);
        files.push((format!("pages/{file}.md"), text));
    }
    for number in 0..journals {
        let (month, day) = day(number);
        let text = format!("- met [[{}]] #daily\n- TODO [[2025 plan]]\n", title(number));
        wanted.insert(journal(number), BTreeSet::from([title(number)]));
        files.push((format!("journals/2025_{:02}_{day:02}.md", month + 1), text));
    }
    for number in 0..20 {
        files.push((format!("assets/pic_{number}.png"), format!("PNG {number}")));
    }
    for (path, text) in [
        ("logseq/config.edn", "{:preferred-workflow :now}"),
        ("logseq/bak/pages/old.md", "- gone"),
        (".git/x.md", "- hidden"),
        ("whiteboards/w.edn", "{}"),
        ("pages/o.org", "* org"),
        ("pages/q.md", "- {{query (todo now)}}\n- [[Nowhere]] ((6401ab12-dead))\n"),
    ] {
        files.push((path.to_owned(), text.to_owned()));
    }
    (files, wanted)
}

/// Loops over many files report progress: a frequent observer sees the name of each phase.
#[test]
fn long_work_reports_progress() {
    let (files, _) = graph();
    let dir = project(&files);
    import(&dir, "logseq");
    for (words, name) in [
        ("import logseq source --dry-run", "reading the folder"),
        ("import logseq source --dry-run", "carrying over links"),
        ("import logseq source --dry-run", "reading attachments"),
        ("dump all.pack", "packing notes"),
        ("load all.pack --dry-run", "comparing with the store"),
    ] {
        let is_seen = (0..50).any(|_| {
            std::thread::scope(|scope| {
                let work = scope.spawn(|| run(&dir, words));
                let mut is_seen = false;
                while !work.is_finished() {
                    is_seen |= progress::now().is_some_and(|now| now.name == name && now.total >= 20);
                }
                is_seen
            })
        });
        assert!(is_seen, "{words}: {name}");
    }
}

#[test]
fn a_logseq_graph_is_imported_completely() {
    let (files, wanted) = graph();
    assert!(files.len() > 300);
    let dir = project(&files);
    let told = import(&dir, "logseq");
    let store = store(&dir);
    assert_eq!(store.notes().len(), wanted.len() + 1);
    for (title, wanted) in &wanted {
        assert_eq!(&links(&store, title), wanted, "{title}");
    }
    // Tags in brackets are links too; the page `two words` does not exist.
    assert_eq!(unresolved(&store), BTreeSet::from(["2025 plan".to_owned(), "Nowhere".to_owned()]));
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("pages/") && path.ends_with(".md")) {
        let note =
            store.notes().iter().find(|note| note.path == path.replace("pages/", "notes/").replace(['?', ':'], "-"));
        let (_, outline) = text.split_once("\n\n").unwrap_or(("", text));
        assert_eq!(note.unwrap().body().unwrap(), outline.replace("../assets/", "../attachments/"), "{path}");
    }
    let journal = note(&store, "Mar 5th, 2025");
    assert_eq!((journal.kind.as_str(), journal.date.unwrap().to_string().as_str()), ("journal", "2025-03-05"));
    assert_eq!(journal.path, "journals/2025_03_05.md");
    assert_eq!(journal.aliases, ["2025-03-05"]);
    let page = note(&store, "Page 3");
    assert_eq!(page.aliases, ["Alias 3", "Other, 3"]);
    assert_eq!(page.tags, ["two words", "t3", "tag3", "Alias 4"]);
    assert_eq!(page.custom.iter().find(|(key, _)| key == "author").unwrap().1.to_line(), "[[日本語 10]]");
    assert!(page.body().contains(&format!("id:: {}", uuid(3))));
    assert_eq!(fs::read_to_string(dir.path().join(".qipu/attachments/pic_7.png")).unwrap(), "PNG 7");
    assert_eq!(findings(&told, "not-imported").len(), 2, "{told}");
    assert_eq!(findings(&told, "query").len(), 1);
    assert_eq!(findings(&told, "broken-link").len(), 2);
    assert_eq!(findings(&told, "broken-block"), ["source/pages/q.md: broken link: no note named `6401ab12-dead`"]);
    let doctor = run(&dir, "doctor --json");
    assert!(!doctor.contains("\"error\""), "{doctor}");
    assert_eq!(findings(&doctor, "broken-link").len(), 91);
}

/// A vault of 250 notes in folders, 70 daily notes and some files, and what each links to.
fn vault() -> (Files, Links) {
    let folder = |number: usize| ["", "Projects/", "Areas/Deep er/", "日本/"][number % 4];
    let name = |number: usize| format!("Note {number}");
    let count = 250;
    let (mut files, mut wanted) = (Vec::new(), BTreeMap::new());
    for number in 0..count {
        let other = |step: usize| (number + step) % count;
        let (path, encoded) =
            (|number| format!("{}{}", folder(number), name(number)), |text: String| text.replace(' ', "%20"));
        let mut text = match number % 3 {
            0 => format!(
                "---\n# mine\naliases: [Alias {number}]   # kept\ntags:\n- \"#nested/t{number}\"\nup: \"[[{}]]\"\n---\n",
                name(other(9))
            ),
            1 => format!("---\nalias: Alias {number}, Other {number}\ntags: a, b\ncssclass: wide\n---\r\n"),
            _ => String::new(),
        };
        text.push_str(&format!(
            "# A heading\n\nSee [[{}]], [[{}|label]] and [[{}#A heading]]. ^anchor\n\n",
            name(other(1)),
            path(other(2)),
            name(other(3)).to_lowercase()
        ));
        text.push_str(&format!(
            "![[{}#^anchor]] [md]({}.md) [short]({}.md#A)\n\n",
            name(other(4)),
            encoded(path(other(5))),
            encoded(name(other(6)))
        ));
        text.push_str(&format!("[[#A heading]] #inline/tag ![[pic {}.png|100]] [[doc.pdf#page=3|the doc]] ![x](files/pic%20{}.png) [[2025-01-{:02}]]\n", number % 5, number % 5, number % 28 + 1));
        let mut links: BTreeSet<String> = (1..7).map(|step| name(other(step))).collect();
        links.insert(format!("2025-01-{:02}", number % 28 + 1));
        if number % 3 == 0 {
            links.insert(name(other(9)));
        }
        wanted.insert(name(number), links);
        files.push((format!("{}{}.md", folder(number), name(number)), text));
    }
    for number in 0..70 {
        let day = format!("2025-{:02}-{:02}", number / 28 + 1, number % 28 + 1);
        wanted.insert(day.clone(), BTreeSet::from([name(number)]));
        files.push((format!("Daily/{day}.md"), format!("- [ ] call [[{}]] #daily\n", name(number))));
    }
    for number in 0..5 {
        files.push((format!("files/pic {number}.png"), format!("PNG {number}")));
    }
    for (path, text) in [
        ("files/doc.pdf", "%PDF"),
        (".obsidian/app.json", "{}"),
        (".trash/Old.md", "old"),
        ("tool.py", "linked"),
        ("src/main.rs", "not linked"),
        ("src/lib.rs", "not linked"),
        ("Board.canvas", "{}"),
        ("Books.base", "views: []"),
        ("Dead.md", "[tool](tool.py) [[Nowhere]] [[Note 1#^nothing]]\n\n```dataview\nLIST\n```\n"),
    ] {
        files.push((path.to_owned(), text.to_owned()));
    }
    (files, wanted)
}

#[test]
fn an_obsidian_vault_is_imported_completely() {
    let (files, wanted) = vault();
    let dir = project(&files);
    let told = import(&dir, "obsidian");
    let store = store(&dir);
    assert_eq!(store.notes().len(), wanted.len() + 1);
    for (title, wanted) in &wanted {
        assert_eq!(&links(&store, title), wanted, "{title}");
    }
    assert_eq!(unresolved(&store), BTreeSet::from(["Nowhere".to_owned()]));
    let daily = note(&store, "2025-02-03");
    assert_eq!((daily.kind.as_str(), daily.path.as_str()), ("journal", "journals/Daily/2025-02-03.md"));
    assert_eq!(daily.date.unwrap().to_string(), "2025-02-03");
    assert_eq!(daily.body(), "- [ ] call [[Note 30]] #daily\n");
    let third = note(&store, "Note 3");
    assert_eq!(third.path, "notes/日本/Note 3.md");
    assert_eq!(third.tags, ["nested/t3", "inline/tag"]);
    let text = fs::read_to_string(dir.path().join(".qipu").join(&third.path)).unwrap();
    assert!(text.starts_with("---\n# mine\naliases: [Alias 3") && text.contains("]   # kept\n"), "{text}");
    assert!(text.contains("![[files/pic 3.png|100]] [the doc](../../attachments/files/doc.pdf#page=3)"), "{text}");
    assert!(text.contains("![x](../../attachments/files/pic%203.png)"), "{text}");
    let first = note(&store, "Note 1");
    assert_eq!(first.aliases, ["Alias 1", "Other 1", "Projects/Note 1"]);
    assert_eq!(first.tags, ["a", "b", "inline/tag"]);
    let plain = note(&store, "Note 2");
    assert!(
        plain.body().starts_with("# A heading\n\nSee [[Note 3]], [[Note 4|label]] and [[note 5#A heading]]. ^anchor\n")
    );
    let left = findings(&told, "not-imported");
    assert!(
        left.len() == 3
            && left[2].ends_with("files that no page links to were not imported; there are 2, and this is the first"),
        "{left:?}"
    );
    assert!(dir.path().join(".qipu/attachments/tool.py").exists());
    assert_eq!(findings(&told, "query").len(), 1);
    assert_eq!(findings(&told, "broken-block").len(), 1);
    let doctor = run(&dir, "doctor --json");
    assert!(!doctor.contains("\"level\":\"error\""), "{doctor}");
    assert_eq!(findings(&doctor, "broken-link").len(), 1);
    // The dump takes every file that is linked along.
    let pack = run(&dir, &format!("dump - --note {}", third.id));
    assert!(pack.contains("attachments=2\n") && pack.contains("attachments/files/doc.pdf"), "{pack}");
}

#[test]
fn an_import_ends_with_totals_and_repeats_no_finding_endlessly() {
    let links: String = (0..40).map(|number| format!("[[Missing {number}]] ")).collect();
    let dir = of(&[("pages/a.md", links.as_str()), ("pages/b.md", "![x](../assets/x.png)\n"), ("assets/x.png", "PNG")]);
    let told = import(&dir, "logseq");
    let broken = findings(&told, "broken-link");
    assert_eq!(broken.len(), 11, "{told}");
    assert!(broken[10].ends_with("30 more findings like these; `qipu doctor` lists broken links"), "{broken:?}");
    let counts = |told: &str| serde_json::from_str::<serde_json::Value>(told).unwrap()["counts"].clone();
    let fact = |name: &str, count: usize| serde_json::json!({"name": name, "count": count});
    assert_eq!(counts(&told), serde_json::json!([fact("notes created", 2), fact("attachments created", 1)]));
    let again = run(&dir, "import logseq source --json");
    assert_eq!(counts(&again), serde_json::json!([fact("notes unchanged", 2), fact("attachments unchanged", 1)]));
    let lines = run(&dir, "import logseq source");
    assert!(lines.ends_with("    2  notes unchanged\n    1  attachments unchanged\n"), "{lines}");
}

#[test]
fn a_missing_path_resolves_to_another_file_only_with_a_finding() {
    let files = [
        ("A.md", "[b](./B.md) ![p](sub/p.png) [c](C.md)\n"),
        ("sub/B.md", "b\n"),
        ("deep/sub/p.png", "PNG"),
        ("deep/C.md", "c\n"),
    ];
    let dir = of(&files);
    let told = import(&dir, "obsidian");
    let named = findings(&told, "link-by-name");
    let to = |path: &str, to: &str| {
        format!("source/A.md: no file at `{path}`; the link leads to `{to}`, which has the same name")
    };
    assert_eq!(named, [to("C.md", "deep/C.md"), to("sub/p.png", "deep/sub/p.png")]);
    assert_eq!(findings(&told, "broken-link"), ["source/A.md: broken link: no note named `./B.md`"]);
    assert!(note(&store(&dir), "A").body().starts_with("[b](./B.md) "));
}

#[test]
fn a_project_is_imported_into_its_own_store_only_when_that_is_meant() {
    let dir = of(&[("A.md", "a\n")]);
    fs::write(dir.path().join("README.md"), "# Read me\n").unwrap();
    let refused = answer(&dir, "import obsidian .");
    let error = format!("{:?}", refused.error);
    assert!(refused.code() == 2 && error.contains("no .obsidian folder") && error.contains("--force"), "{error}");
    assert!(run(&dir, "import obsidian . --force --dry-run").contains("README"));
    fs::create_dir(dir.path().join(".obsidian")).unwrap();
    assert!(run(&dir, "import obsidian . --dry-run").contains("README"));
}

#[test]
fn a_note_follows_its_page_until_it_is_edited() {
    let dir = of(&[("A.md", "one\n"), ("B.md", "one [[A]]\n"), ("C.md", "one\n")]);
    import(&dir, "obsidian");
    let id = |title: &str| note(&store(&dir), title).id.to_string();
    let (b, c) = (id("B"), id("C"));
    run(&dir, &format!("update {b} --value 80"));
    run(&dir, &format!("update {c} --value 80"));
    put(&dir, "A.md", b"two\n");
    put(&dir, "B.md", b"two [[A]]\n");
    let told = run(&dir, "import obsidian source --json");
    assert_eq!(note(&store(&dir), "A").body(), "two\n");
    assert_eq!((note(&store(&dir), "B").body(), note(&store(&dir), "B").value), ("one [[A]]\n", Some(80)));
    assert_eq!(findings(&told, "import-conflict").len(), 1, "{told}");
    assert!(told.contains("\"skipped\"") && told.contains("\"changed\"") && told.contains("\"unchanged\""));
    // A note that was moved is still the page's.
    let from = dir.path().join(".qipu/notes/A.md");
    fs::create_dir(dir.path().join(".qipu/notes/x")).unwrap();
    fs::rename(from, dir.path().join(".qipu/notes/x/moved.md")).unwrap();
    put(&dir, "A.md", b"three\n");
    run(&dir, "import obsidian source");
    assert_eq!(note(&store(&dir), "A").body(), "three\n");
    assert_eq!(store(&dir).notes().len(), 3);
}

#[test]
fn another_folder_with_the_same_names_overwrites_nothing() {
    let dir = of(&[("pages/contents.md", "- first\n")]);
    import(&dir, "logseq");
    let other = dir.path().join("other/pages");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("contents.md"), "- second\n").unwrap();
    let told = run(&dir, "import logseq other --json");
    assert_eq!(findings(&told, "name-clash").len(), 1);
    let bodies: BTreeSet<_> = store(&dir).notes().iter().map(|note| note.body().unwrap().to_owned()).collect();
    assert_eq!(bodies, BTreeSet::from(["- first\n".to_owned(), "- second\n".to_owned()]));
    // The same folder under another name is known by its texts, or by the name it is given.
    fs::rename(dir.path().join("source"), dir.path().join("renamed")).unwrap();
    assert!(run(&dir, "import logseq renamed").contains("unchanged"));
    fs::write(dir.path().join("renamed/pages/contents.md"), "- third\n").unwrap();
    assert!(run(&dir, "import logseq renamed --name source").contains("changed"));
    assert_eq!(store(&dir).notes().len(), 2);
}

#[test]
fn files_that_share_a_name_stay_separate() {
    let dir = of(&[
        ("Index.md", "[[A/Index]] [[B/Index|b]]"),
        ("A/Index.md", "[[Index]]"),
        ("B/Index.md", "---\nid: index\n---\n[up](../Index.md)"),
        ("B/C.md", "[[Deep]] [[Index]] ![[A/x.png]] ![[B/x.png]]"),
        ("A/Deep.md", ""),
        ("B/Deep.md", ""),
        ("A/x.png", "a"),
        ("B/x.png", "b"),
        ("D.md", "---\nid: zettel-1\n---\n"),
        ("E.md", "---\ntitle: broken: [\n---\nbody\n"),
        ("F.md", "---\ncustom: text\n---\nbody\n"),
    ]);
    let told = import(&dir, "obsidian");
    let store = store(&dir);
    let set = |titles: &[&str]| titles.iter().map(|title| (*title).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(links(&store, "Index"), set(&["A/Index", "B/Index"]));
    assert_eq!(links(&store, "B/Index"), set(&["Index"]));
    assert_eq!(note(&store, "C").body(), "[[Deep]] [[Index]] ![[A/x.png]] ![[B/x.png]]");
    assert_eq!(links(&store, "C"), set(&["B/Deep", "Deep", "Index"]));
    assert_eq!(findings(&told, "link-elsewhere").len(), 1, "{told}");
    assert_eq!(note(&store, "D").id.as_str(), "zettel-1");
    assert_eq!(findings(&told, "id-taken").len(), 1, "{told}");
    assert_eq!(findings(&told, "field-not-carried").len(), 2, "{told}");
    assert_eq!(note(&store, "broken: [").body(), "---\ntitle: broken: [\n---\nbody\n");
}

#[test]
fn a_source_that_is_no_graph_or_inside_the_store_is_refused() {
    let dir = of(&[("a.md", "x")]);
    for (words, said) in [
        ("import logseq source", "not a Logseq graph"),
        ("import obsidian nowhere", "no folder"),
        ("import obsidian .qipu", "inside the store"),
        ("import obsidian source --max-chars 100", "--max-chars"),
    ] {
        let answer = answer(&dir, words);
        assert_eq!((answer.code(), answer.stdout.as_str()), (2, ""), "{words}");
        assert!(answer.error.unwrap().to_text(false).contains(said), "{words}");
    }
    let bare = temp_dir();
    fs::create_dir(bare.path().join(".git")).unwrap();
    assert_eq!(answer(&bare, "import obsidian .").code(), 3);
}

#[cfg(unix)]
#[test]
fn nothing_outside_is_read_or_written() {
    use std::os::unix::ffi::OsStrExt;
    let dir =
        of(&[("a.md", "![[secret]] ![x](../secret.txt) ![y](/etc/hostname) [[link]]"), ("b.md", "\u{feff}text\n")]);
    let source = dir.path().join("source");
    fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret.txt"), source.join("link.md")).unwrap();
    std::os::unix::fs::symlink(dir.path(), source.join("folder")).unwrap();
    std::os::unix::fs::symlink("/etc", source.join(".obsidian")).unwrap();
    fs::write(source.join(std::ffi::OsStr::from_bytes(b"odd\xff.md")), "x").unwrap();
    fs::write(source.join("latin.md"), b"caf\xe9").unwrap();
    let long = fs::File::create(source.join("long.md")).unwrap();
    long.set_len(17 * 1024 * 1024).unwrap();
    let long = fs::File::create(source.join("long.png")).unwrap();
    long.set_len(65 * 1024 * 1024).unwrap();
    let before = held(&source.join(".."));
    let told = run(&dir, "import obsidian source --json");
    assert_eq!(findings(&told, "not-imported").len(), 6, "{told}");
    let after = held(&source.join(".."));
    let new: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(new.iter().all(|path| path.starts_with(".qipu/notes/") || path.starts_with(".qipu/cache")), "{new:?}");
    let is_told = |path: &String| {
        path.starts_with(".qipu/notes") && after[path].as_ref().is_some_and(|bytes| bytes.contains("secret\n"))
    };
    assert!(!after.keys().any(is_told));
    assert_eq!(note(&store(&dir), "b").body(), "text\n");
}

/// Names of files that break programs.
fn odd_name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z0-9 ]{1,6}",
        1 => prop::sample::select(vec![
            "..", "...", "%2F", "%2e%2e%2f", "___", "con", "\u{202e}", "\n", "\u{1b}[31m", "日本", "e\u{301}", "é", "\\", ":", "*", "|",
            "[[x]]", "#", "^", "'", "\"", "{{", "2025-03-05", "2025_03_05", "Mar 5th, 2025", "~", "-", "--", "---", "id", "title:: x",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..5)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("no path", |name| !matches!(name.as_str(), "." | ".."))
}

fn odd_path() -> impl Strategy<Value = String> {
    let folder = prop_oneof![
        4 => prop::sample::select(vec!["pages", "journals", "assets", "logseq", ""]).prop_map(str::to_owned),
        1 => odd_name(),
        1 => (1_usize..60, odd_name()).prop_map(|(depth, name)| vec![name; depth].join("/")),
    ];
    let ending = prop::sample::select(vec!["md", "md", "md", "markdown", "MD", "png", "org", "canvas", "edn", ""]);
    (folder, odd_name(), ending)
        .prop_map(|(folder, name, ending)| format!("{folder}/{name}.{ending}").trim_start_matches('/').to_owned())
}

fn odd_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        2 => hostile_text(),
        2 => prop::sample::select(vec![
            "title:: ", "tags:: a, [[b c]], #d\n", "alias:: x, \n", "id:: 6401ab12\n", "type:: moc\n", "imported:: x\n", "- ", "\t- ", "\n",
            "---\n", "---\ntags: [a\n---\n", "---\nid: x\ncustom: 1\n---\n", "---\ntags: {a: b}\nlinks: x\n---\n", "---\nid: qp-a1b2\ntitle: y\n---\n",
            "((6401ab12))", "[[2025-03-05]]", "[[con]]", "![[x.png]]", "[a](../assets/x.png)", "[b](<a b.md>)", "[[../..]]", "#[[t u]]", " #tag",
            "wrote: qipuqipuqipuqipu", "{{query x}}", "^anchor\n", "[r]: x.md\n", "[r]", "\r\n",
        ]).prop_map(str::to_owned),
        1 => odd_name().prop_map(|name| format!("[[{name}]]")),
    ];
    let text = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![6 => text, 1 => prop::collection::vec(any::<u8>(), 0..300)]
}

#[test]
fn hostile_sources_are_imported_safely() {
    let source = prop::collection::vec((odd_path(), odd_text()), 1..12);
    runner(150)
        .run(&(source, any::<bool>()), |(files, is_logseq)| {
            let dir = of(&[("pages/kept.md", "[[con]]\n")]);
            for (path, bytes) in &files {
                let file = dir.path().join("source").join(path);
                // Two may want one place, or a file and a folder.
                if !path.split('/').any(|name| name == ".." || name == ".")
                    && fs::create_dir_all(file.parent().unwrap()).is_ok()
                {
                    let _ = fs::write(file, bytes);
                }
            }
            let app = if is_logseq { "logseq" } else { "obsidian" };
            let source = tree(&dir.path().join("source"));
            let first = answer(&dir, &format!("import {app} source"));
            prop_assert_eq!(first.code(), 0, "{:?}", first.error);
            let before = held(&dir.path().join(".qipu"));
            let again = answer(&dir, &format!("import {app} source"));
            prop_assert_eq!(again.code(), 0);
            prop_assert!(is_idle(&again.stdout), "{}", again.stdout);
            prop_assert_eq!(differences(&before, &held(&dir.path().join(".qipu"))), Vec::<String>::new());
            prop_assert_eq!(differences(&source, &tree(&dir.path().join("source"))), Vec::<String>::new());
            let outside: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            prop_assert_eq!(outside.len(), 3, "{:?}", outside);
            prop_assert!(answer(&dir, "dump pack").code() == 0);
            for note in store(&dir).notes() {
                prop_assert!(!note.findings().any(|finding| finding.code.as_str() == "duplicate-id"), "{}", note.path);
            }
            Ok(())
        })
        .unwrap();
}
