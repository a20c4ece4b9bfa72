//! `import DIR`: what a folder of Markdown holds arrives, links lead where they led, a second import changes nothing, the
//! folder stays as it is, and no folder does any harm.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::support::files::temp_dir;
use crate::support::generators::{hostile_text, runner};
use crate::support::process::{Answer, call};
use crate::support::random::Random;
use proptest::prelude::*;
use qipu::graph::Graph;
use qipu::note::Note;
use qipu::progress;
use qipu::store::{Location, NoteIdx, Store};
use tempfile::TempDir;

/// A project with a store, a README, and a folder `vault`.
fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = temp_dir();
    fs::create_dir(dir.path().join(".git")).unwrap();
    fs::write(dir.path().join("README.md"), "# Read me\n").unwrap();
    fs::create_dir(dir.path().join("vault")).unwrap();
    files.iter().for_each(|(path, text)| put(&dir, path, text.as_bytes()));
    run(&dir, "init");
    dir
}

fn put(dir: &TempDir, path: &str, bytes: &[u8]) {
    let file = dir.path().join("vault").join(path);
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

/// The note that a file of the vault became.
fn note<'a>(store: &'a Store, path: &str) -> &'a Note {
    let path = format!("notes/vault/{path}");
    store.notes().iter().find(|note| note.path == path).unwrap_or_else(|| panic!("no {path}")).parsed().unwrap()
}

/// The links of a folder or store: paths of notes in the vault, and the type; and the targets that lead nowhere.
fn links(store: &Store) -> BTreeSet<(String, String, String)> {
    let graph = Graph::of_store(store);
    let path = |place: NoteIdx| {
        let path = store.notes()[place].local_path();
        path.strip_prefix("notes/vault/").unwrap_or(path).replace("markdown.md", "markdown")
    };
    let all = NoteIdx::all(store.notes().len());
    let links = all.flat_map(|from| {
        let lost = graph.unresolved(from).map(|target| ("nothing".to_owned(), target.to_owned()));
        let found = graph.outgoing(from).map(|edge| (edge.kind.into_owned(), path(edge.to)));
        found.chain(lost).map(|(kind, to)| (path(from), kind, to)).collect::<Vec<_>>()
    });
    links.collect()
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

/// Everything in the project except the store's notes and attachments.
fn outside(dir: &TempDir) -> BTreeMap<String, (Option<Vec<u8>>, SystemTime)> {
    let mut tree = tree(dir.path());
    tree.retain(|path, _| ![".qipu/notes", ".qipu/attachments"].iter().any(|own| path.starts_with(own)));
    // A folder changes with its entries.
    tree.retain(|path, _| path != ".qipu");
    tree
}

fn findings(answer: &str, code: &str) -> Vec<String> {
    let json: serde_json::Value = serde_json::from_str(answer).unwrap();
    let all = json["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == code);
    all.map(|finding| format!("{}: {}", finding["path"].as_str().unwrap(), finding["message"].as_str().unwrap()))
        .collect()
}

fn counts(answer: &str) -> BTreeMap<String, u64> {
    let json: serde_json::Value = serde_json::from_str(answer).unwrap();
    let counts = json["counts"].as_array().unwrap().iter();
    counts.map(|one| (one["name"].as_str().unwrap().to_owned(), one["count"].as_u64().unwrap())).collect()
}

/// Imports the vault, and checks that nothing outside the store changes and that nothing is left to do.
fn import(dir: &TempDir) -> String {
    let (before, held) = (outside(dir), tree(&dir.path().join(".qipu")));
    let shown = run(dir, "import vault --dry-run --json");
    assert_eq!(tree(&dir.path().join(".qipu")), held, "a dry run wrote something");
    let told = run(dir, "import vault --json");
    assert_eq!(counts(&shown), counts(&told));
    let imported = tree(&dir.path().join(".qipu"));
    let again = counts(&run(dir, "import vault --json"));
    assert!(again.keys().all(|name| ["notes skipped", "attachments unchanged"].contains(&name.as_str())), "{again:?}");
    assert_eq!(tree(&dir.path().join(".qipu")), imported);
    assert!(outside(dir) == before, "something outside the store changed");
    told
}

const BROKEN: &str = "---\ntitle: a: [b\n---\n# Broken\n\nSee [[Home]].\n";

/// A vault with what vaults have.
const VAULT: [(&str, &str); 23] = [
    (".obsidian/app.json", "{}"),
    (".obsidian/templates.json", "{\"folder\": \"Meta/Templates\"}"),
    (".trash/Old.md", "[[Home]]\n"),
    ("Meta/Templates/Daily.md", "[[Home]]\n"),
    ("Board.canvas", "{}"),
    ("Plan.canvas", "{\"nodes\": []}"),
    ("unlinked.png", "PNG"),
    ("img/pic 1.png", "PNG 1"),
    ("files/doc.pdf", "%PDF"),
    (
        "Home.md",
        "# Welcome\n\n[[Torn write]], [[torn WRITE#Part|label]], [[Areas/Deep/Topic|deep]], [[Topic]], [[Fsync pages]].\n\n\
         ![[Torn write#^b1]] [md](Areas/Topic.md#Part) [short](Areas/Torn%20write) [[#Welcome]] #inline/tag\n\n\
         ![](img/pic%201.png) ![[pic 1.png|100]] [[doc.pdf#page=3|the *doc*]] [[Plan.canvas]] ![r][r] `[[Topic]]`\n\n\
         [[Nowhere]] [out](../README.md) [lost](../lost.md) [web](https://x.org/a.md) <a href=\"Code.md\">html</a>\n\n\
         [r]: <img/pic 1.png> \"img/pic 1.png\"\n",
    ),
    (
        "Areas/Torn write.md",
        "---\n# mine\naliases: [Fsync pages]   # kept\ntags: \"#db\"\nid: 2024 01\nup: \"[[Home]]\"\nsupports: \"[[Topic]]\"\n\
         created: 2024-01-05\ncssclass: wide\n---\n# A heading\n\nText. ^b1\n\n[up](../Home.md)\n",
    ),
    ("Areas/Topic.md", "# Part\n\n[[Topic]] [[Home]]\n"),
    ("Areas/Deep/Topic.md", "---\r\ntags: [x]\r\n---\r\n[[Topic]] [[Areas/Topic]]\r\n![](../../img/pic%201.png)\r\n"),
    ("Areas/Deep/Long.markdown", "[[Home]]\n"),
    ("Code.md", "\u{feff}[[Long]] [l](Areas/Deep/Long.markdown)\n"),
    ("Broken.md", BROKEN),
    ("Toml.md", "+++\ntitle = \"In TOML\"\ntags = [\"t\"]\n+++\n[[Home]]\n"),
    ("Daily/2025-03-05.md", "- [ ] call [[Torn write]]\n"),
    ("Zettel.md", "---\nid: zettel-1\ntitle: Another title\n---\n[[Home]]\n"),
    ("Same id.md", "---\nid: zettel-1\n---\n[[Zettel]] [[zettel-1]]\n"),
    ("Empty.md", ""),
    ("In.md", "[[In TOML]] [[Toml]] [[2025-03-05]] [[Another title]] [[Broken]]\n"),
    ("Embeds.md", "![[Home]] ![[Areas/Topic#Part]]\n\n| a |\n|---|\n| [[Areas/Topic\\|t]] ![[pic 1.png\\|50]] |\n"),
];

#[test]
fn a_vault_keeps_its_links_and_texts() {
    let dir = project(&VAULT);
    let vault = Store::open_folder(Path::new("vault"), &Location::default(), dir.path()).unwrap().unwrap();
    let before = links(&vault);
    let told = import(&dir);
    let store = store(&dir);
    assert_eq!(
        counts(&told),
        BTreeMap::from([("attachments created".into(), 3), ("notes created".into(), 14)]),
        "{told}"
    );
    let found = |links: &BTreeSet<(String, String, String)>| {
        links.iter().filter(|link| link.1 != "nothing").cloned().collect::<BTreeSet<_>>()
    };
    assert_eq!(found(&links(&store)), found(&before));
    assert!(
        before.len() > 20
            && before.contains(&("Areas/Torn write.md".into(), "supports".into(), "Areas/Deep/Topic.md".into()))
    );
    // What has nothing to be adapted has the same text.
    for (path, text) in &VAULT[9..] {
        let (path, plain) = (path.replace(".markdown", ".markdown.md"), Note::parse(path, text.as_bytes().to_vec()));
        let is_adapted = ["Home.md", "Code.md", "Areas/Topic.md", "Areas/Deep/Topic.md", "Broken.md", "Embeds.md"]
            .contains(&path.as_str());
        assert!(
            is_adapted || note(&store, &path).body().ends_with(plain.body()),
            "{path}: {}",
            note(&store, &path).body()
        );
    }
    // What is wrong is what was wrong; what leads nowhere is what led nowhere.
    let wrong = |words: &str, prefix: &str| {
        let doctor: serde_json::Value = serde_json::from_str(&run(&dir, words)).unwrap();
        let finding = |one: &serde_json::Value| {
            let text = |key: &str| one[key].as_str().unwrap().to_owned();
            (text("code"), text("path").strip_prefix(prefix).unwrap().to_owned(), text("message"))
        };
        doctor["findings"].as_array().unwrap().iter().map(finding).collect::<BTreeSet<_>>()
    };
    let (was, is) = (wrong("doctor --json --store vault", "vault/"), wrong("doctor --json", ".qipu/notes/vault/"));
    assert_eq!(is.difference(&was).collect::<Vec<_>>(), Vec::<&(String, String, String)>::new());
    assert_eq!(findings(&told, "field-not-carried").len(), 1, "{told}");
}

#[test]
fn links_to_files_lead_to_their_copies() {
    let dir = project(&VAULT);
    import(&dir);
    let store = store(&dir);
    let home = note(&store, "Home.md").body();
    for text in [
        "![](../../attachments/vault/img/pic%201.png) ![100](../../attachments/vault/img/pic%201.png) \
         [the \\*doc\\*](../../attachments/vault/files/doc.pdf#page=3) \
         [Plan.canvas](../../attachments/vault/Plan.canvas) ![r][r] `[[Topic]]`\n",
        "[[Nowhere]] [out](../../../README.md) [lost](../lost.md) [web](https://x.org/a.md)",
        "[r]: <../../attachments/vault/img/pic%201.png> \"img/pic 1.png\"\n",
        "[md](Areas/Topic.md#Part) [short](Areas/Torn%20write.md) [[#Welcome]]",
    ] {
        assert!(home.contains(text), "{text}\n{home}");
    }
    let embeds = note(&store, "Embeds.md").body();
    assert!(embeds.contains("![50](../../attachments/vault/img/pic%201.png)"), "{embeds}");
    assert_eq!(fs::read(dir.path().join(".qipu/attachments/vault/img/pic 1.png")).unwrap(), b"PNG 1");
    // A pack takes the files along.
    assert!(run(&dir, "export pack").contains("attachments=3\n"));
}

#[test]
fn notes_have_the_fields_of_reading_in_place() {
    let dir = project(&VAULT);
    import(&dir);
    let store = store(&dir);
    let torn = note(&store, "Areas/Torn write.md");
    assert_eq!((torn.title.as_str(), torn.kind.as_str()), ("Torn write", "permanent"));
    assert_eq!(
        (torn.tags.as_slice(), torn.aliases.as_slice()),
        (&["db".to_owned()][..], &["Fsync pages".to_owned(), "2024 01".to_owned()][..])
    );
    assert!(torn.text().starts_with("---\n# mine\naliases: [Fsync pages, \"2024 01\"]   # kept\n"), "{}", torn.text());
    assert!(torn.id.is_generated());
    let daily = note(&store, "Daily/2025-03-05.md");
    assert_eq!((daily.kind.as_str(), daily.date.unwrap().to_string().as_str()), ("journal", "2025-03-05"));
    assert!(run(&dir, "journal --date 2025-03-05").contains("call"));
    assert_eq!(note(&store, "Home.md").tags, ["inline/tag"]);
    assert_eq!(note(&store, "Toml.md").title, "In TOML");
    assert_eq!(note(&store, "Same id.md").id.as_str(), "zettel-1");
    let zettel = note(&store, "Zettel.md");
    assert!(zettel.id.is_generated() && zettel.aliases.is_empty(), "{:?}", zettel.aliases);
    assert_eq!(note(&store, "Areas/Topic.md").aliases, ["Areas/Topic"]);
    let broken = note(&store, "Broken.md");
    assert!(broken.body() == BROKEN && broken.title == "a: [b", "{}", broken.text());
}

#[test]
fn names_of_notes_in_the_store_take_no_link() {
    let dir = project(&[("A.md", "[[B]] [[C#h|c]] [[new]]\n"), ("B.md", "[[A]]\n"), ("C.md", "")]);
    fs::write(dir.path().join(".qipu/notes/b.md"), "---\nid: b\ntitle: B\n---\n").unwrap();
    let told = import(&dir);
    assert_eq!(findings(&told, "duplicate-title"), ["vault/B.md: `b` has the title of the new note too"]);
    let store = store(&dir);
    let body = note(&store, "A.md").body();
    assert_eq!(body, format!("[[{}]] [[C#h|c]] [[new]]\n", note(&store, "B.md").id));
}

#[test]
fn a_second_import_adds_what_is_new() {
    let dir = project(&[(".obsidian/app.json", "{}"), ("x/A.md", "one ![[p.png]]\n"), ("x/p.png", "PNG")]);
    import(&dir);
    let id = note(&store(&dir), "x/A.md").id.to_string();
    run(&dir, &format!("update {id} --tag kept --value 80"));
    put(&dir, "B.md", b"[[x/A]] [p](x/p.png)\n");
    let told = run(&dir, "import vault --json");
    let expected = [("attachments unchanged", 1), ("notes created", 1), ("notes skipped", 1)];
    assert_eq!(counts(&told), expected.map(|(name, count)| (name.to_owned(), count)).into());
    let store = store(&dir);
    assert_eq!(note(&store, "B.md").body(), format!("[[{id}]] [p](../../attachments/vault/x/p.png)\n"));
    assert_eq!(store.notes().len(), 2);
    assert_eq!(note(&store, "x/A.md").tags, ["kept"]);
}

#[test]
fn another_folder_with_the_same_names_overwrites_nothing() {
    let files = [("setup.md", "---\nid: setup\n---\n# Setup of A\n\n![](p.png)\n"), ("p.png", "A"), ("b.md", "")];
    let dir = project(&files);
    import(&dir);
    let expect_refused = |from: &str, both: [&str; 2]| {
        let before = tree(dir.path());
        let answer = answer(&dir, &format!("import {from}"));
        let error = answer.error.unwrap_or_else(|| panic!("{from}: {}", answer.stdout));
        assert_eq!((error.kind.exit_code(), answer.stdout.as_str()), (1, ""), "{from}: {error}");
        assert!(error.to_string().contains(&both.join(" and ")), "{error}");
        assert!(tree(dir.path()) == before, "{from}");
    };
    put(&dir, "../other/vault/setup.md", b"# Setup of B\n");
    put(&dir, "../other/vault/guide.md", b"[setup](setup.md)\n");
    expect_refused("other/vault", ["other/vault/setup.md", ".qipu/notes/vault/setup.md"]);
    // Its own id is that of another note, or its attachment has the path of another.
    put(&dir, "../own/x.md", b"---\nid: setup\n---\nown\n");
    expect_refused("own", ["own/x.md", ".qipu/notes/vault/setup.md"]);
    put(&dir, "../image/vault/i.md", b"![](p.png)\n");
    put(&dir, "../image/vault/p.png", b"B");
    expect_refused("image/vault", ["image/vault/p.png", ".qipu/attachments/vault/p.png"]);
    // A document that changed, in its text or in its fields.
    for (path, text) in [("setup.md", files[0].1.replace(" A", " C")), ("b.md", "---\nsummary: new\n---\n".to_owned())]
    {
        put(&dir, path, text.as_bytes());
        expect_refused("vault", [&format!("vault/{path}"), &format!(".qipu/notes/vault/{path}")]);
        put(&dir, path, files.iter().find(|file| file.0 == path).unwrap().1.as_bytes());
    }
    import(&dir);
    fs::rename(dir.path().join("other/vault"), dir.path().join("b")).unwrap();
    run(&dir, "import b");
    let bodies: BTreeSet<_> =
        store(&dir).notes().iter().map(|note| note.parsed().unwrap().body().trim().to_owned()).collect();
    assert_eq!(
        bodies,
        ["", "# Setup of A\n\n![](../../attachments/vault/p.png)", "# Setup of B", "[setup](setup.md)"]
            .map(str::to_owned)
            .into()
    );
}

#[test]
fn files_that_share_a_name_stay_separate() {
    let files = [
        (".obsidian/app.json", "{}"),
        ("Index.md", "[[A/Index]] [[B/Index|b]]"),
        ("A/Index.md", "[[Index]]"),
        ("B/Index.md", "---\nid: index\n---\n[up](../Index.md)"),
        ("B/C.md", "[[Deep]] [[Index]] ![[A/x.png]] ![[B/x.png]]"),
        ("A/Deep.md", ""),
        ("B/Deep.md", ""),
        ("A/x.png", "a"),
        ("B/x.png", "b"),
        // A path that leads nowhere leads to an attachment of its name, as in the vault, and to no note.
        ("Lost.md", "[c](C.md) ![p](sub/p.png) [b](./F.md)"),
        ("deep/sub/p.png", "PNG"),
        ("sub/F.md", ""),
    ];
    let dir = project(&files);
    let vault = Store::open_folder(Path::new("vault"), &Location::default(), dir.path()).unwrap().unwrap();
    let before = links(&vault);
    import(&dir);
    let store = store(&dir);
    assert_eq!(links(&store), before);
    assert_eq!(store.notes().len(), 8);
    let c = note(&store, "B/C.md").body();
    assert!(
        c.ends_with("![A/x.png](../../../attachments/vault/A/x.png) ![B/x.png](../../../attachments/vault/B/x.png)"),
        "{c}"
    );
    for (name, bytes) in [("A", "a"), ("B", "b")] {
        assert_eq!(
            fs::read_to_string(dir.path().join(format!(".qipu/attachments/vault/{name}/x.png"))).unwrap(),
            bytes
        );
    }
    let lost = note(&store, "Lost.md").body();
    assert_eq!(lost, "[c](C.md) ![p](../../attachments/vault/deep/sub/p.png) [b](./F.md)");
}

#[test]
fn what_is_no_folder_of_documents_is_refused() {
    let dir = project(&[("a.md", "x")]);
    for folder in ["graph/logseq", "graph/pages", "other/.qipu/notes", "bare"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    fs::write(dir.path().join("graph/pages/a.md"), "- a\n").unwrap();
    fs::create_dir_all(dir.path().join("docs/inner")).unwrap();
    fs::write(dir.path().join("docs/inner/a.md"), "# A\n").unwrap();
    run(&dir, "init --documents docs");
    run(&dir, "capture text");
    let before = tree(dir.path());
    for (words, message, hint) in [
        ("import graph", "graph is a Logseq graph", "--store graph`"),
        ("import other", "other is a store", "--store other`"),
        ("import .", ". is a store", "export pack"),
        ("import .qipu/notes", "inside the store", "already"),
        ("import /", "/ is a folder around a store", "name the folder"),
        ("import docs", "docs/ is read where it is, as `docs`", "`[[documents]]`"),
        ("import docs/inner", "docs/inner/ is read where it is, as `docs`", "`[[documents]]`"),
        ("import bare", "bare contains no Markdown", ""),
        ("import nowhere", "there is no file nowhere", ""),
        ("import vault/a.md", "vault/a.md is one file of Markdown", "qipu capture < vault/a.md`"),
        ("import vault --strategy merge", "--strategy is for packs", "omit"),
    ] {
        let answer = answer(&dir, words);
        assert_eq!((answer.code(), answer.stdout.as_str()), (2, ""), "{words}: {:?}", answer.error);
        let error = answer.error.unwrap();
        assert!(error.to_string().contains(message), "{words}: {error}");
        assert!(error.hint.unwrap_or_default().contains(hint), "{words}");
    }
    assert!(tree(dir.path()) == before);
    // What the error of a graph teaches.
    assert!(run(&dir, "list --store graph").contains("a"));
    run(&dir, "init --documents graph");
    let config = dir.path().join(".qipu/config.toml");
    fs::write(&config, fs::read_to_string(&config).unwrap() + "writable = true\n").unwrap();
    run(&dir, "update graph:a --append more --in graph");
    assert_eq!(fs::read_to_string(dir.path().join("graph/pages/a.md")).unwrap(), "- a\n\nmore\n");
}

/// Names that several notes have, and forms of links.
#[test]
fn links_of_any_vault_lead_where_they_led() {
    const NAMES: [&str; 6] = ["A", "B c", "index", "é", "C#", "2025-01-02"];
    const FOLDERS: [&str; 5] = ["", "x/", "x/y/", "A/", "日 本/"];
    let mut random = Random::new(7);
    for _ in 0..60 {
        let mut files = BTreeMap::new();
        for _ in 0..random.between(2, 9) {
            let path = |random: &mut Random| format!("{}{}", random.choice(&FOLDERS), random.choice(&NAMES));
            let mut text = match random.below(4) {
                0 => format!(
                    "---\naliases: [{}]\nrelated: \"[[{}]]\"\n---\n",
                    random.choice(&NAMES),
                    random.choice(&NAMES)
                ),
                1 => format!("---\ntitle: \"{}\"\n---\n", random.choice(&NAMES)),
                _ => String::new(),
            };
            for _ in 0..random.below(8) {
                let (target, up) = (path(&mut random), ["", "../", "../../"][random.below(3)]);
                text += &match random.below(5) {
                    0 => format!("[[{target}]]\n"),
                    1 => format!("[[{}#h|label]]\n", random.choice(&NAMES)),
                    2 => format!("![[{}]] ", random.choice(&NAMES).to_lowercase()),
                    3 => format!("[m](<{up}{}.md>)\n", target.replace('#', "%23")),
                    _ => format!("[m](<{up}{}>)\n", target.replace('#', "%23")),
                };
            }
            files.insert(format!("{}.md", path(&mut random)), text);
        }
        let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        if random.chance(70) {
            files.push((".obsidian/app.json", "{}"));
        }
        let dir = project(&files);
        let vault = Store::open_folder(Path::new("vault"), &Location::default(), dir.path()).unwrap().unwrap();
        let before = links(&vault);
        import(&dir);
        let found = |links: BTreeSet<(String, String, String)>| {
            links.into_iter().filter(|link| link.1 != "nothing").collect::<BTreeSet<_>>()
        };
        assert_eq!(found(links(&store(&dir))), found(before), "{files:?}");
    }
}

/// Loops over many files report progress: a frequent observer sees the name of each phase.
#[test]
fn long_work_reports_progress() {
    let names: Vec<String> = (0..150).map(|number| format!("N{number}")).collect();
    let dir = project(&[]);
    for name in &names {
        put(&dir, &format!("{name}.md"), format!("[[N1]] ![]({name}.png)\n").as_bytes());
        put(&dir, &format!("{name}.png"), b"PNG");
    }
    run(&dir, "capture text");
    run(&dir, "export pack all.pack");
    for (words, name) in
        [("import vault --dry-run", "reading the folder"), ("import vault --dry-run", "carrying over links")]
    {
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

#[cfg(unix)]
#[test]
fn nothing_outside_is_read_or_written() {
    use std::os::unix::ffi::OsStrExt;
    let dir = project(&[
        (
            "a.md",
            "![[secret.txt]] ![x](link.txt) ![y](/etc/hostname) ![z](.hidden.png) ![l](long.png) ![s](folder/secret.txt)\n",
        ),
        (".hidden.png", "PNG"),
    ]);
    let vault = dir.path().join("vault");
    fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    for (to, name) in
        [("../secret.txt", "link.txt"), ("../secret.txt", "link.md"), ("..", "folder"), ("/etc", ".obsidian")]
    {
        std::os::unix::fs::symlink(to, vault.join(name)).unwrap();
    }
    fs::write(vault.join(std::ffi::OsStr::from_bytes(b"odd\xff.md")), "x").unwrap();
    fs::write(vault.join("latin.md"), b"caf\xe9").unwrap();
    fs::File::create(vault.join("long.md")).unwrap().set_len(17 * 1024 * 1024).unwrap();
    fs::File::create(vault.join("long.png")).unwrap().set_len(65 * 1024 * 1024).unwrap();
    let before = outside(&dir);
    let told = run(&dir, "import vault --json");
    let left = findings(&told, "not-imported");
    assert_eq!(left.len(), 6, "{left:?}");
    let a = note(&store(&dir), "a.md").body().to_owned();
    assert!(a.ends_with("![l](../../../vault/long.png) ![s](../../../vault/folder/secret.txt)\n"), "{a}");
    assert!(outside(&dir) == before);
    assert_eq!(store(&dir).notes().len(), 2);
    assert!(!dir.path().join(".qipu/attachments/vault").exists());
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
        4 => prop::sample::select(vec!["pages", "daily", ".obsidian", ""]).prop_map(str::to_owned),
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
            "title:: ", "tags:: a, [[b c]], #d\n", "alias:: x, \n", "id:: 6401ab12\n", "type:: moc\n", "- ", "\t- ", "\n",
            "---\n", "---\ntags: [a\n---\n", "---\nid: x\ncustom: 1\n---\n", "---\ntags: {a: b}\nlinks: x\n---\n", "---\nid: qp-a1b2\ntitle: y\n---\n",
            "((6401ab12))", "[[2025-03-05]]", "[[con]]", "![[x.png]]", "[a](../assets/x.png)", "[b](<a b.md>)", "[[../..]]", "#[[t u]]", " #tag",
            "{{query x}}", "^anchor\n", "[r]: x.md\n", "[r]", "\r\n",
        ]).prop_map(str::to_owned),
        1 => odd_name().prop_map(|name| format!("[[{name}]]")),
    ];
    let text = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![6 => text, 1 => prop::collection::vec(any::<u8>(), 0..300)]
}

#[test]
fn hostile_folders_are_imported_safely() {
    let source = prop::collection::vec((odd_path(), odd_text()), 1..12);
    runner(150)
        .run(&source, |files| {
            let dir = project(&[("pages/kept.md", "[[con]]\n")]);
            for (path, bytes) in &files {
                let file = dir.path().join("vault").join(path);
                // Two may want one place, or a file and a folder.
                if !path.split('/').any(|name| name == ".." || name == ".")
                    && fs::create_dir_all(file.parent().unwrap()).is_ok()
                {
                    let _ = fs::write(file, bytes);
                }
            }
            import(&dir);
            prop_assert!(answer(&dir, "export pack ../pack").code() == 0);
            for note in store(&dir).notes() {
                prop_assert!(!note.findings().any(|finding| finding.code.name() == "duplicate-id"), "{}", note.path);
            }
            Ok(())
        })
        .unwrap();
}
