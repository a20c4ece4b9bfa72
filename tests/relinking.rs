//! Links follow the notes that they lead to, whichever command moves these: in ten thousand documents the bytes of
//! the targets that had to change did so, and no others.

use std::fs;
use std::path::Path;

use crate::support::files::{store, temp_dir};
use crate::support::process::call;
use crate::support::random::Random;

/// Pieces of documents. `{P}`, `{W}`, `{O}` and `{I}` are targets that may have to change: the path and the name of a
/// note, the path of another note, that of a picture. `{p}` and the like are the same texts where they name
/// nothing. `{n}` is the piece's number.
const PIECES: [&str; 34] = [
    "Text that links [a]({P}) and ![i]({I}).",
    "[a]({P}#part) [a]({P} \"{p}\") ![i]({I} '{i}') [{p}]({P}#{p})",
    "[a](<{P}>) [a](<{P}#part> ({p})) [o]({O}) ![{i}](<{I}>)",
    "[one][r{n}] ![two][r{n}] [r{n}][] [r{n}]\n\n[r{n}]: {P}",
    "[one][r{n}] {p} [two][s{n}]\n\n[r{n}]: {P}\n[s{n}]: {P}#h \"{p}\"",
    "![one][r{n}]\n\n[r{n}]:\n  <{I}>\n  '{i}'\n{i} is text.",
    "[r{n}]: {I} \"never used\"",
    "![e][e{n}] ![o][o{n}]\n\n[e{n}]: 1{i}\n[o{n}]: {I}",
    "[[{W}]] [[{W}|{w}]] ![[{W}]] [[{W}#part]] {w}",
    "| a | b |\n|---|---|\n| [[{W}\\|{w}]] | [c]({P}) `{p}` |\n| ![i]({I}) | \\[d]({p}) |",
    "`[a]({p})` ``![i]({i}) ` [[{w}]]`` [a]({P}) `[r{n}]: {p}`",
    "```\n[a]({p}) [[{w}]]\n[r{n}]: {i}\n```",
    "~~~ {p}\n![i]({i})\n~~~",
    "    [a]({p}) [[{w}]]\n\n    [r{n}]: {i}",
    "<div>\n[a]({p}) ![i]({i})\n</div>",
    "<!-- [a]({p})\n\n[[{w}]] -->",
    "text <a href=\"{p}\">[a]({P})</a> <img src='{i}'> <!-- [[{w}]] --> [[{W}]]",
    "foot[^{n}] note\n\n[^{n}]: See [a]({P}), ![i]({I}), `{p}`\n    and [[{W}]].",
    "> quoted [a]({P})\n> ![i](\n> {I} \"{i}\") and [[{W}]]\n>\n> > [r{n}]\n\n[r{n}]: {O}",
    "> [r{n}]\n>\n> [r{n}]: {P}\n> '{p}'",
    "- item [a]({P})\n  - [[{W}]] ![i]({I})\n\n    [r{n}]: {P}\n  - [r{n}]\n1. [o]({O} \"{p}\")",
    "[![{i}]({I} \"{i}\")]({P} '{p}') [a **b `]({p})` c]({P})",
    "[a \\] b]({P}) [é日本]({P}) ![é]({I})[x]({O})",
    "\\[a]({p}) [a]\\({p}) [a] ({p}) \\[[{w}]] {p} {i}",
    "[a](https://x.org/{p}) <https://x.org/{i}> [a](/{p}) [a](//x.org/{p}) [a](mailto:{p})",
    "# Heading [a]({P}) {p}\n\nSetext ![i]({I})\n===\n",
    "[a]({P}\n\"{p}\") [a](\n{P}) [b]( {P} ) ~~[c]({P})~~ *[d]({P})*",
    "- [ ] [[{W}]] {w}\n- [x] [a]({P})",
    "***\n\n[a\nb]({P})\\\n[c]({O})  \n![d\ne]({I})",
    "[[{W}]][[{W}]]([{p}]({P}))[a]({P})[[{W}|x]]",
    "[&lt;&amp;]({P}) &#91;[a]({P}) [a]({P}#x&amp;y) &copy;",
    "[a]({O}) [b](<{O}#{p}>)",
    "![[{w}.png]] [[no such note]] [b](none.txt) ![](none.png)",
    "[r{n}\\]x]\n\n[r{n}\\]x]: {P} \"{p}\"\n\n[broken]({p} x) [broken]({p} \"x)",
];

/// The targets of a document.
struct Targets {
    path: &'static str,
    name: &'static str,
    other: &'static str,
    picture: &'static str,
}

/// Makes a document, as it is and as it must become.
fn document(random: &mut Random, old: &Targets, new: &Targets) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    for number in 0..1 + random.below(6) {
        let piece = PIECES.get(random.below(PIECES.len())).unwrap();
        for (text, targets) in [(&mut before, old), (&mut after, new)] {
            let piece = piece.replace("{n}", &number.to_string());
            let piece = piece.replace("{P}", targets.path).replace("{W}", targets.name);
            let piece = piece.replace("{O}", targets.other).replace("{I}", targets.picture);
            let piece = piece.replace("{p}", old.path).replace("{w}", old.name).replace("{i}", old.picture);
            // A line that ends a list or footnote, so that the next piece is not part of it.
            text.push_str(&format!("{piece}\n\nText.\n\n"));
        }
    }
    if random.below(3) == 0 { (before.replace('\n', "\r\n"), after.replace('\n', "\r\n")) } else { (before, after) }
}

fn write(dir: &Path, file: &str, text: &str) {
    let file = dir.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap()
}

fn run(dir: &Path, words: &[&str]) {
    let answer = call(dir.to_str().unwrap(), words);
    assert_eq!(answer.code(), 0, "{words:?}: {:?}", answer.error);
}

/// Runs a command in a store of documents that link to a note, and compares each with what it must become.
fn check_linking(count: usize, seed: u64, words: &[&str], old: &Targets, new: &Targets) {
    let dir = temp_dir();
    let (dir, mut random) = (dir.path(), Random::new(seed));
    write(dir, ".qipu/notes/qp-t1-old.md", "---\nid: qp-t1\ntitle: Old one\n---\nText.\n");
    write(dir, ".qipu/notes/b.md", "---\nid: b\ntitle: B\n---\n");
    write(dir, ".qipu/mocs/o.md", "---\nid: o\ntitle: O\n---\n");
    write(dir, ".qipu/mocs/1.png", "");
    let front = |number: usize| format!("---\nid: d{number}\ntitle: Document {number}\n---\n");
    let wanted: Vec<String> = (0..count)
        .map(|number| {
            let (before, after) = document(&mut random, old, new);
            write(dir, &format!(".qipu/mocs/d{number}.md"), &(front(number) + &before));
            front(number) + &after
        })
        .collect();
    run(dir, words);
    for (number, wanted) in wanted.iter().enumerate() {
        assert_eq!(&read(dir, &format!(".qipu/mocs/d{number}.md")), wanted);
    }
}

#[test]
fn links_follow_a_note_to_another_name() {
    let old = Targets { path: "../notes/qp-t1-old.md", name: "Old one", other: "o.md", picture: "1.png" };
    let new = Targets { path: "../notes/qp-t1-new-one.md", name: "New one", ..old };
    check_linking(3_500, 1, &["update", "qp-t1", "--title", "New one"], &old, &new);
}

#[test]
fn links_follow_a_note_into_another() {
    let old = Targets { path: "../notes/qp-t1-old.md", name: "qp-t1", other: "./o.md", picture: "1.png" };
    let new = Targets { path: "../notes/b.md", name: "b", ..old };
    check_linking(3_500, 2, &["merge", "b", "qp-t1"], &old, &new);
}

#[test]
fn a_moved_text_keeps_its_link_targets() {
    let old = Targets { path: "t.md", name: "from", other: "../../mocs/sub/o.md", picture: "p%20(1).png" };
    let new =
        Targets { path: "../notes/sub/t.md", name: "into", other: "sub/o.md", picture: "../notes/sub/p%20%281%29.png" };
    let dir = temp_dir();
    let (dir, mut random) = (dir.path(), Random::new(3));
    write(dir, ".qipu/notes/sub/t.md", "---\nid: t\ntitle: T\n---\n");
    write(dir, ".qipu/mocs/sub/o.md", "---\nid: o\ntitle: O\n---\n");
    write(dir, ".qipu/notes/sub/p (1).png", "");
    for number in 0..500 {
        let (before, after) = document(&mut random, &old, &new);
        let end = if number % 4 == 0 { "\r\n" } else { "\n" };
        let front = format!("---{end}id: into{end}title: Into{end}---{end}Own.{end}");
        write(dir, ".qipu/mocs/into.md", &front);
        write(dir, ".qipu/notes/sub/from.md", &format!("---\nid: from\ntitle: From\n---\n{before}"));
        run(dir, &["merge", "into", "from"]);
        let merged = read(dir, ".qipu/mocs/into.md");
        let lines: Vec<&str> = after.lines().collect();
        let wanted = format!("Own.{end}{end}## From{end}{end}{}{end}", lines.join(end).trim_end());
        assert_eq!(
            merged.rsplit_once(&format!("---{end}Own.")).map(|(_, text)| format!("Own.{text}")),
            Some(wanted),
            "{before}"
        );
    }
}

#[test]
fn pages_link_to_attachments_at_their_paths() {
    let old = Targets { path: "../T.md", name: "T", other: "sub/O.md", picture: "../img/1.png" };
    let new = Targets { picture: "../../../attachments/V/img/1.png", ..old };
    let dir = temp_dir();
    let (dir, mut random) = (dir.path(), Random::new(4));
    write(dir, ".qipu/config.toml", "");
    write(dir, "V/img/1.png", "picture");
    write(dir, "V/T.md", "Text.\n");
    write(dir, "V/d/sub/O.md", "Text.\n");
    let wanted: Vec<String> = (0..2_500)
        .map(|number| {
            let (before, after) = document(&mut random, &old, &new);
            let front = ["", "---\ntitle: a: b\n---\n"][usize::from(number % 5 == 0)];
            write(dir, &format!("V/d/D{number}.md"), &format!("{front}{before}"));
            format!("---\n{front}{after}")
        })
        .collect();
    run(dir, &["import", "V"]);
    for (number, wanted) in wanted.iter().enumerate() {
        let text = read(dir, &format!(".qipu/notes/V/d/D{number}.md")).replace("---\r\n", "---\n");
        assert!(text.ends_with(wanted), "{text}\n!=\n{wanted}");
    }
}

/// Returns the code and the text of an error.
fn refusal(dir: &Path, words: &[&str]) -> (u8, String) {
    let answer = call(dir.to_str().unwrap(), words);
    (answer.code(), answer.error.map(|error| error.message).unwrap_or_default())
}

#[test]
fn each_link_is_compared_and_not_the_notes_that_a_note_leads_to() {
    let dir = store(&[
        ("notes/apple.md", "---\nid: apple\ntitle: Apple\naliases: [Fruit]\n---\n"),
        ("notes/pear.md", "---\nid: pear\ntitle: Pear\n---\n"),
        ("notes/z.md", "---\nid: z\ntitle: Z\n---\nSee [[apple]] and [[pear]]. The best is [[Fruit]].\n"),
    ]);
    let (code, message) = refusal(dir.path(), &["update", "pear", "--title", "Fruit"]);
    assert_eq!((code, message.as_str()), (1, "with this title, links of `z` would lead to other notes"));
    assert!(read(dir.path(), ".qipu/notes/pear.md").contains("title: Pear"));
    // The same where a note that goes had the name by which a third note is known from then on.
    let dir = store(&[
        ("notes/a.md", "---\nid: a\ntitle: A\n---\n"),
        ("notes/b.md", "---\nid: b\ntitle: Same\n---\nSee [[a]] and [[Same]] and [[c]].\n"),
        ("notes/c.md", "---\nid: c\ntitle: same\n---\n"),
        ("notes/d.md", "---\nid: d\ntitle: D\n---\n[[a]] [[c]] [[Same]]\n"),
    ]);
    run(dir.path(), &["merge", "a", "b"]);
    assert!(read(dir.path(), ".qipu/notes/d.md").ends_with("[[a]] [[c]] [[a]]\n"));
    assert!(read(dir.path(), ".qipu/notes/a.md").ends_with("See [[a]] and [[a]] and [[c]].\n"));
}

#[test]
fn a_rename_that_changes_no_link_target_is_done() {
    let dir = store(&[
        (
            "notes/qp-a1-old.md",
            "---\nid: qp-a1\ntitle: Old\nlinks: [{type: related, id: Old}, {type: supports, id: \"old#part\"}]\n---\n",
        ),
        (
            "notes/b.md",
            "---\nid: b\ntitle: B\ncompacts: [Old]\n---\n[one][a] and [two][b]\n\n[a]: qp-a1-old.md\n[b]: qp-a1-old.md#h\n",
        ),
        ("notes/c.md", "---\nid: c\ntitle: C\n---\n[[old]] [[qp-a1-old]]\n"),
    ]);
    run(dir.path(), &["update", "qp-a1", "--title", "Old"]);
    assert!(read(dir.path(), ".qipu/notes/c.md").ends_with("[[old]] [[qp-a1-old]]\n"), "nothing goes away");
    run(dir.path(), &["update", "qp-a1", "--title", "A `new` one"]);
    let renamed = read(dir.path(), ".qipu/notes/qp-a1-a-new-one.md");
    assert!(renamed.contains("[{type: related, id: qp-a1}, {type: supports, id: \"qp-a1#part\"}]"), "{renamed}");
    assert_eq!(
        read(dir.path(), ".qipu/notes/b.md"),
        "---\nid: b\ntitle: B\ncompacts: [qp-a1]\n---\n[one][a] and [two][b]\n\n[a]: qp-a1-a-new-one.md\n[b]: qp-a1-a-new-one.md#h\n"
    );
    assert!(
        read(dir.path(), ".qipu/notes/c.md").ends_with("[[qp-a1]] [[qp-a1]]\n"),
        "that title can't stand in a link"
    );
}

#[test]
fn attributes_of_shared_links_and_sources_are_joined() {
    let dir = store(&[
        ("notes/x.md", "---\nid: x\ntitle: X\n---\n"),
        (
            "notes/into.md",
            "---\nid: into\ntitle: Into\nlinks:\n  - {type: supports, id: x} # c\nsources:\n  - {url: \"https://a.org\", page: 1}\n---\nown\n",
        ),
        (
            "notes/from.md",
            "---\nid: from\ntitle: From\nvalue: 300\nlinks:\n  - type: supports\n    id: X\n    why: \"measured: twice\"\nsources:\n  - url: https://a.org\n    page: 17\n---\n",
        ),
    ]);
    let told = call(dir.path().to_str().unwrap(), &["merge", "into", "from", "--today", "2025-03-31"]).stdout;
    assert!(told.contains("not carried over from `from`: `value: 300` is not a whole number"), "{told}");
    assert_eq!(
        read(dir.path(), ".qipu/notes/into.md"),
        "---\nid: into\ntitle: Into\nlinks:\n  - {type: supports, id: x, why: \"measured: twice\"} # c\nsources:\n  - {url: \"https://a.org\", page: 1}\n  \
         - url: https://a.org\n    page: 17\naliases: [From, from]\nupdated: 2025-03-31\n---\nown\n"
    );
    let dir = temp_dir();
    let note = |updated: &str, source: &str| {
        format!(
            "---\nid: a\ntitle: A\nupdated: {updated}\nsources:\n  - {{url: \"https://a.org\"{source}}}\n---\nown\n"
        )
    };
    for (theirs, kept, is_told) in [("2025-02-01", 8, false), ("2024-02-01", 7, true)] {
        write(dir.path(), "one/.qipu/notes/a.md", &note(theirs, ", title: T, page: 8"));
        write(dir.path(), "two/.qipu/notes/a.md", &note("2025-01-01", ", page: 7"));
        let call = |words: &[&str]| call(dir.path().to_str().unwrap(), words).stdout;
        call(&["--store", "one/.qipu", "dump", "p.pack"]);
        let load = ["--store", "two/.qipu", "load", "p.pack", "--strategy", "merge"];
        assert_eq!(call(&load).contains("the pack has other values for `sources.page`"), is_told);
        let updated = if is_told { "2025-01-01" } else { theirs };
        assert_eq!(read(dir.path(), "two/.qipu/notes/a.md"), note(updated, &format!(", page: {kept}, title: T")));
        assert!(call(&load).contains("unchanged"));
    }
}

#[test]
fn a_merge_keeps_texts_and_link_targets() {
    let dir = store(&[
        ("mocs/into.md", "---\nid: into\ntitle: Into\nlinks:\n- {type: refines, id: from}\n---\nown"),
        (
            "notes/sub/from.md",
            "---\nid: from\ntitle: \"[1] #\"\nsummary: S\ntype: moc\n---\n\n    make [[x]]\n\ntext  \n[r](../../../README.md) ![[pic.png]] \
             [later](later.md) [no](www.example.org) ![](x.md)\n \n\n",
        ),
        ("notes/sub/pic.png", ""),
        ("notes/sub/x.md", "---\nid: x\ntitle: X\n---\n"),
    ]);
    run(dir.path(), &["merge", "into", "from", "--today", "2025-03-31"]);
    assert_eq!(
        read(dir.path(), ".qipu/mocs/into.md"),
        "---\nid: into\ntitle: Into\naliases: [\"[1] #\", from]\nupdated: 2025-03-31\n---\nown\n\n## \\[1\\] \\#\n\nS\n\n    make [[x]]\n\ntext  \n\
         [r](../../README.md) ![[notes/sub/pic.png]] [later](../notes/sub/later.md) [no](www.example.org) ![](../notes/sub/x.md)\n"
    );
    for (into, from) in [
        ("x[^1]\n\n[^1]: one\n", "---\nid: b\n---\ny[^1]\n\n[^1]: two\n"),
        ("see [1]\n", "---\nid: b\n---\n[1]: c.md\n"),
        ("x\n", "---\nid: b\ntitle: a: b\nmine: 7\n---\ny\n"),
    ] {
        let dir = store(&[("notes/a.md", &format!("---\nid: a\n---\n{into}")), ("notes/b.md", from)]);
        assert_eq!(refusal(dir.path(), &["merge", "a", "b"]).0, 1, "{into} {from}");
        assert_eq!(read(dir.path(), ".qipu/notes/b.md"), from);
    }
}
