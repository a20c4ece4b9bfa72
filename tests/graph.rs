//! Pictures of the graph: what hostile notes hold can't break their form, every note and link of the report is in
//! them, no budget is overrun, and files of others stay as they are.

use std::collections::BTreeSet;
use std::fs;

use crate::support::files::temp_dir;
use crate::support::generators::{runner, stores};
use crate::support::process::call;
use proptest::prelude::*;
use qipu::Screen;
use qipu::commands::run_on;
use qipu::error::ErrorKind;
use qipu::fit::fit;
use qipu::report::{Format, GraphFormat, Report};
use qipu::request::{Budget, Command, Selectors};
use serde_json::Value;

const PICTURES: [GraphFormat; 5] =
    [GraphFormat::Dot, GraphFormat::Mermaid, GraphFormat::Markdown, GraphFormat::Graphml, GraphFormat::Html];

fn draw(report: &Report, picture: GraphFormat, max_chars: Option<usize>) -> Result<String, qipu::error::Error> {
    fit(report, Budget { max_chars, ..Budget::default() }, Format::Graph(picture), Screen::default())
}

/// What a picture holds: the texts of notes by which they go there, pairs of notes that are linked, and whether it
/// says that something is left out.
#[derive(Debug, PartialEq)]
struct Drawn {
    notes: BTreeSet<String>,
    links: Vec<(String, String)>,
    is_truncated: bool,
}

/// Reads a picture as a strict reader of its form would.
fn read(text: &str, picture: GraphFormat) -> Drawn {
    let (notes, mut links) = match picture {
        GraphFormat::Dot => read_dot(text),
        GraphFormat::Mermaid => read_mermaid(text),
        GraphFormat::Markdown => {
            let inner = text.strip_prefix("```mermaid\n").unwrap().strip_suffix("```\n").unwrap();
            assert!(!inner.contains("```"), "a note ends the block: {text}");
            read_mermaid(inner)
        }
        GraphFormat::Graphml => read_graphml(text),
        GraphFormat::Html => read_html(text),
    };
    links.sort();
    let head = text.lines().find(|line| line.contains("qipu graph: ")).unwrap();
    let count = format!("notes={} ", notes.len());
    assert!(head.contains(&count), "{head}: {count}");
    let all: BTreeSet<&String> = links.iter().flat_map(|(from, to)| [from, to]).collect();
    assert!(all.iter().all(|id| notes.contains(*id)), "a link to nothing: {links:?} {notes:?}");
    Drawn { notes, links, is_truncated: head.contains("truncated=true") }
}

type Parts = (BTreeSet<String>, Vec<(String, String)>);

/// The words of a DOT text: strings without their quotes and escapes, and all else between white space.
fn dot_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let mut word = String::new();
                loop {
                    match chars.next().unwrap_or_else(|| panic!("a string does not end: {line}")) {
                        '"' => break,
                        '\\' => word.push(chars.next().unwrap()),
                        c => word.push(c),
                    }
                }
                words.push(word);
            }
            ' ' => {}
            '[' | ']' | ',' | ';' | '=' => words.push(c.to_string()),
            c => {
                let mut word = c.to_string();
                while let Some(c) = chars.next_if(|c| !" \"[],;=".contains(*c)) {
                    word.push(c);
                }
                words.push(word);
            }
        }
    }
    words
}

fn read_dot(text: &str) -> Parts {
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("// qipu graph: "));
    assert_eq!(lines.next(), Some("digraph qipu {"));
    let (mut notes, mut links) = (BTreeSet::new(), Vec::new());
    let lines: Vec<&str> = lines.skip(3).collect();
    let (last, lines) = lines.split_last().unwrap();
    assert_eq!(*last, "}");
    for line in lines {
        let words = dot_words(line);
        assert_eq!(words[words.len() - 2..], ["]", ";"], "{line}");
        let open = if words[1] == "->" { 3 } else { 1 };
        assert_eq!((words[open].as_str(), words[open + 1].as_str()), ("[", "label"), "{line}");
        // Attributes are names with values and nothing else.
        let attributes = words[open + 1..words.len() - 2].chunks(4);
        assert!(
            attributes.clone().all(|four| four[1] == "=" && four.get(3).is_none_or(|comma| comma == ",")),
            "{line}"
        );
        let known = ["label", "type", "tags", "value", "fillcolor", "style"];
        assert!(attributes.clone().all(|four| known.contains(&four[0].as_str())), "{line}");
        match open {
            3 => links.push((words[0].clone(), words[2].clone())),
            _ => assert!(notes.insert(words[0].clone()), "twice: {line}"),
        }
    }
    (notes, links)
}

fn read_mermaid(text: &str) -> Parts {
    let line = regex::Regex::new(
        r#"^  (?:(n\d+)(?:\{\{|\[/?|\()"([^"`%<>{}\[\]|\\&]+)"(?:\}\}|/?\]|\))|(n\d+) (?:-->|-\.->)\|"([^"`%<>{}\[\]|\\&]+)"\| (n\d+))$"#,
    );
    let line = line.unwrap();
    // Every number sign begins a character's number.
    let is_escaped = |text: &str| {
        text.split('#').skip(1).all(|rest| rest.split_once(';').is_some_and(|(n, _)| n.parse::<u32>().is_ok()))
    };
    let (mut notes, mut links) = (BTreeSet::new(), Vec::new());
    assert_eq!(text.lines().nth(1), Some("flowchart LR"));
    for text in text.lines().skip(2) {
        let parts = line.captures(text).unwrap_or_else(|| panic!("{text:?}"));
        let part = |number: usize| parts.get(number).map(|part| part.as_str().to_owned());
        assert!(is_escaped(text), "{text}");
        match part(1) {
            Some(note) => assert!(notes.insert(note)),
            None => links.push((part(3).unwrap(), part(5).unwrap())),
        }
    }
    (notes, links)
}

fn read_graphml(text: &str) -> Parts {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let (mut notes, mut links) = (BTreeSet::new(), Vec::new());
    let keys: BTreeSet<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let attribute = |name: &str| node.attribute(name).unwrap().to_owned();
        match node.tag_name().name() {
            "node" => assert!(notes.insert(attribute("id"))),
            "edge" => links.push((attribute("source"), attribute("target"))),
            "data" => assert!(keys.contains(attribute("key").as_str()) && node.children().all(|child| child.is_text())),
            name => assert!(["graphml", "graph", "key"].contains(&name), "{name}"),
        }
    }
    (notes, links)
}

/// Returns the data of a page, as a browser finds them: up to the first end of a script.
fn data_of(text: &str) -> Value {
    let (_, data) = text.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let end = data.to_ascii_lowercase().find("</script").unwrap();
    assert!(!data[..end].contains(['<', '\u{2028}', '\u{2029}']));
    serde_json::from_str(&data[..end]).unwrap()
}

fn read_html(text: &str) -> Parts {
    let data = data_of(text);
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let notes = data["notes"].as_array().unwrap();
    for html in notes.iter().filter_map(|note| note["html"].as_str()) {
        check_body(html);
    }
    let links = data["links"].as_array().unwrap().iter().map(|link| (word(&link["from"]), word(&link["to"]))).collect();
    // The scripts and styles are ours and no others.
    let behind = text.split_once("id=\"data\">").unwrap().1.to_ascii_lowercase();
    assert_eq!((behind.matches("<script").count(), behind.matches("</script").count()), (2, 3));
    (notes.iter().map(|note| word(&note["id"])).collect(), links)
}

/// A body holds nothing but elements that show text, and links to the web.
fn check_body(html: &str) {
    const ELEMENTS: &str =
        "p|h[1-6]|pre|code|blockquote|ul|ol|li|em|strong|del|table|thead|tbody|tr|th|td|hr|br|a|span|input";
    let tag = regex::Regex::new(&format!(
        r#"^</?(?:{ELEMENTS})(?: (?:start="\d+"|class="(?:image|language-[^"<>]*)"|style="text-align: \w+"|type="checkbox"|disabled=""|checked=""|rel="noreferrer"|target="_blank"|data-to="[^"<>]*"|href="(?i:https?://|mailto:)[^"<>]*"))*(?: ?/)?>"#
    ));
    let tag = tag.unwrap();
    for (place, _) in html.match_indices('<') {
        assert!(tag.is_match(&html[place..]), "{}", &html[place..]);
    }
}

/// A picture has exactly the notes and links of the report.
#[test]
fn every_picture_of_hostile_notes_is_sound_and_complete() {
    let strategy = (stores(), prop::collection::vec(0_usize..3000, 3));
    runner(60)
        .run(&strategy, |(store, budgets)| {
            let report = run_on(&Command::Graph { selection: Selectors::default(), saved: None }, &store).unwrap();
            let notes = report.count_notes();
            let links: usize = report.entries.iter().map(|entry| entry.note().unwrap().edges.len()).sum();
            prop_assert_eq!(notes, store.notes().len() - hidden(&store));
            for picture in PICTURES {
                let whole = draw(&report, picture, None).unwrap();
                let drawn = read(&whole, picture);
                prop_assert_eq!((drawn.notes.len(), drawn.links.len(), drawn.is_truncated), (notes, links, false));
                let length = whole.chars().count();
                prop_assert_eq!(&draw(&report, picture, Some(length)).unwrap(), &whole);
                for less in budgets.iter().copied().chain([1]) {
                    check_budget(&report, picture, length.saturating_sub(less), &drawn);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Counts the notes for which another stands.
fn hidden(store: &qipu::store::Store) -> usize {
    let digests = qipu::graph::Compactions::new(store.notes());
    qipu::store::NoteIdx::all(store.notes().len()).filter(|note| digests.representative(*note) != *note).count()
}

fn check_budget(report: &Report, picture: GraphFormat, budget: usize, all: &Drawn) {
    match draw(report, picture, Some(budget)) {
        Ok(text) => {
            assert!(text.chars().count() <= budget);
            let drawn = read(&text, picture);
            assert!(drawn.notes.is_subset(&all.notes) && drawn.is_truncated, "{drawn:?}");
            let expected = all.links.iter().filter(|(from, to)| drawn.notes.contains(from) && drawn.notes.contains(to));
            assert!(expected.eq(drawn.links.iter()), "links between shown notes are missing: {drawn:?}");
        }
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Budget);
            let least: usize = error.message.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(least > budget && draw(report, picture, Some(least)).is_ok());
            assert!(draw(report, picture, Some(least - 1)).is_err());
        }
    }
}

/// Every format preserves titles, on one line each.
#[test]
fn titles_are_preserved_in_every_picture() {
    let dir = temp_dir();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at(".qipu/notes")).unwrap();
    let title = "a \"b\" \\c\\ <d> & &amp; #35; %%{init}%% ]] end";
    let note = format!("---\nid: x\ntitle: {}\n---\n</script>", Value::from(title));
    fs::write(at(".qipu/notes/x.md"), note).unwrap();
    let drawn = |form: &str| call(dir.path().to_str().unwrap(), &["graph", "--as", form]).stdout;
    let dot = drawn("dot");
    let words = dot_words(dot.lines().find(|line| line.starts_with("  \"x\"")).unwrap());
    assert_eq!(words[4].replace("&amp;", "&"), title);
    let graphml = drawn("graphml");
    let document = roxmltree::Document::parse(&graphml).unwrap();
    let said = document.descendants().find(|node| node.attribute("key") == Some("title")).unwrap();
    assert_eq!(said.text(), Some(title));
    assert_eq!(data_of(&drawn("html"))["notes"][0]["title"], title);
    let mermaid = drawn("mermaid");
    let number = regex::Regex::new(r"#(\d+);").unwrap();
    let char_of = |found: &regex::Captures<'_>| char::from_u32(found[1].parse().unwrap()).unwrap().to_string();
    assert!(number.replace_all(&mermaid, char_of).contains(&format!("n0(\"{title} (x)\")")), "{mermaid}");
}

/// Defines a test for each picture of a fixture whose text is a snapshot.
macro_rules! pictures {
    ($($test:ident: $store:literal, $form:literal, [$($word:literal),*];)*) => {
        $(#[test]
        fn $test() {
            check_picture($store, $form, &[$($word),*]);
        })*
    };
}

pictures! {
    research_as_dot: "research", "dot", ["graph", "--moc", "qp-9f2t"];
    research_as_mermaid: "research", "mermaid", ["graph", "--moc", "qp-9f2t"];
    research_as_graphml: "research", "graphml", ["graph", "--moc", "qp-9f2t"];
    research_as_html: "research", "html", ["graph", "--moc", "qp-9f2t"];
    hostile_as_dot: "hostile", "dot", ["graph"];
    hostile_as_mermaid: "hostile", "mermaid", ["graph"];
    hostile_as_graphml: "hostile", "graphml", ["graph"];
    hostile_as_html: "hostile", "html", ["graph"];
}

fn check_picture(store: &str, form: &str, words: &[&str]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    let answer = call(&format!("fixtures/{store}"), &[words, &["--as", form]].concat());
    assert_eq!(answer.code(), 0);
    let text = if form == "html" { fields_by_line(&data_of(&answer.stdout)) } else { answer.stdout };
    insta::assert_snapshot!(format!("{store}@graph@{form}"), text);
}

/// Returns the data of a page, which is all that depends on the store, with a line for each field and list item.
fn fields_by_line(data: &Value) -> String {
    let mut text = String::new();
    for (name, value) in data.as_object().unwrap() {
        match value.as_array() {
            Some(items) => items.iter().for_each(|item| text.push_str(&format!("{name}: {item}\n"))),
            None => text.push_str(&format!("{name}: {value}\n")),
        }
    }
    text
}

/// Calls, each with the notes and links that it selects.
#[test]
fn a_graph_has_the_selected_notes_and_links() {
    let counts = |words: &str| {
        let mut args: Vec<&str> = words.split('|').collect();
        args.push("--json");
        let json: Value = serde_json::from_str(&call("fixtures/research", &args).stdout).unwrap();
        (json["notes"].as_array().unwrap().len(), json["links"].as_array().unwrap().clone())
    };
    let (all, links) = counts("graph");
    let list: Value = serde_json::from_str(&call("fixtures/research", &["list", "--json"]).stdout).unwrap();
    assert_eq!(all, list["notes"].as_array().unwrap().len());
    // The links of each note are those of `link list`.
    let own: Value = serde_json::from_str(
        &call("fixtures/research", &["link", "list", "qp-9f2t", "--no-inversion", "--json"]).stdout,
    )
    .unwrap();
    let at = |link: &&Value| link["from"] == "qp-9f2t" || link["to"] == "qp-9f2t";
    assert_eq!(links.iter().filter(at).count(), own["links"].as_array().unwrap().len());
    // A walk shows the notes that `link tree` shows.
    for way in ["--direction|out", "--direction|in", "--type|supports", "--type|supported-by", "--exclude-type|related"]
    {
        let (notes, links) = counts(&format!("graph|--walk|qp-r7a1|--max-hops|2|{way}"));
        let mut tree: Vec<&str> = "link|tree|qp-r7a1|--max-hops|2|--json".split('|').collect();
        tree.extend(way.split('|'));
        let tree: Value = serde_json::from_str(&call("fixtures/research", &tree).stdout).unwrap();
        assert_eq!(notes, tree["notes"].as_array().unwrap().len(), "{way}");
        let kinds: BTreeSet<&str> = links.iter().map(|link| link["type"].as_str().unwrap()).collect();
        assert!(!way.contains("supported-by") || kinds == BTreeSet::from(["supports"]), "{kinds:?}");
        assert!(!way.contains("exclude") || !kinds.contains("related"));
    }
    let inline = |links: &[Value]| links.iter().filter(|link| link["source"][0] == "inline").count();
    let (typed_only, inline_only) = (counts("graph|--typed-only").1, counts("graph|--inline-only").1);
    assert!(inline(&typed_only) == 0 && !typed_only.is_empty() && inline(&inline_only) > 0);
    assert_eq!(counts("graph|--limit|3").0, 3);
    assert!(
        call("fixtures/research", &["graph", "--limit", "3"])
            .stdout
            .contains(&format!("notes=3 matched={all} truncated=true"))
    );
}

/// A picture goes to its file whole; what is not a picture stays.
#[test]
fn a_picture_is_saved_and_replaces_no_other_file() {
    let dir = temp_dir();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at(".qipu/notes")).unwrap();
    fs::write(at(".qipu/notes/x.md"), "---\nid: x\ntitle: One\n---\nText").unwrap();
    let call = |words: &[&str]| call(dir.path().to_str().unwrap(), words);
    for (name, form) in
        [("a.html", "html"), ("a.HTM", "html"), ("a.dot", "dot"), ("a.mmd", "mermaid"), ("a.graphml", "graphml")]
    {
        assert_eq!(call(&["graph", "-o", name]).stdout, format!("created {name}\n"));
        assert_eq!(fs::read_to_string(at(name)).unwrap(), call(&["graph", "--as", form]).stdout);
        assert_eq!(call(&["graph", "-o", name]).stdout, format!("unchanged {name}\n"));
    }
    assert_eq!(call(&["graph", "-o", "a.dot", "--as", "mermaid"]).stdout, "changed a.dot\n");
    let fenced = format!("```mermaid\n{}```\n", call(&["graph", "--as", "mermaid"]).stdout);
    for (words, done) in
        [(&["graph", "-o", "a.md"][..], "created"), (&["graph", "-o", "a.md", "--as", "mermaid"], "unchanged")]
    {
        assert_eq!(call(words).stdout, format!("{done} a.md\n"));
        assert_eq!(fs::read_to_string(at("a.md")).unwrap(), fenced);
    }
    assert_eq!(call(&["graph", "-o", "plain"]).stdout, "created plain\n");
    assert_eq!(fs::read_to_string(at("plain")).unwrap(), call(&["graph"]).stdout);
    for (name, hint) in [("a.txt", ".dot, .gv, .mermaid, .mmd, .md,"), ("a.PNG", "Graphviz")] {
        let error = call(&["graph", "-o", name]).error.unwrap();
        assert!(error.kind.exit_code() == 2 && error.hint.unwrap().contains(hint) && !at(name).exists(), "{name}");
        assert_eq!(call(&["graph", "-o", name, "--as", "dot"]).stdout, format!("created {name}\n"));
    }
    assert_eq!(call(&["graph", "-o", "-"]).stdout, call(&["graph"]).stdout);
    let json: Value = serde_json::from_str(&call(&["graph", "-o", "a.dot", "--json"]).stdout).unwrap();
    assert_eq!(json["changes"][0]["action"], "changed");

    fs::write(at("mine.md"), "mine").unwrap();
    for place in ["mine.md", ".qipu/notes/x.md", ".qipu/notes/new.html", ".qipu/config.toml", "no/folder.html"] {
        let before = fs::read(at(place)).ok();
        let answer = call(&["graph", "-o", place, "--as", "dot"]);
        assert!(answer.code() != 0 && answer.stdout.is_empty(), "{place}");
        assert_eq!(fs::read(at(place)).ok(), before, "{place}");
    }
    // Nothing is written that there is no room to tell of, or that does not fit.
    for budget in ["1", "20", "300"] {
        let answer = call(&["graph", "-o", "b.html", "--max-chars", budget]);
        assert!(answer.code() == 2 && !at("b.html").exists(), "{budget}");
    }
    assert_eq!(call(&["graph", "--as", "dot", "--json"]).code(), 2);
    assert_eq!(call(&["graph", "--dry-run"]).code(), 2);
}

#[test]
fn a_file_that_cannot_be_written_is_named_as_it_was_given() {
    let dir = temp_dir();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    let error = |file: &str| {
        let error = call(dir.path().to_str().unwrap(), &["graph", "--as", "html", "-o", file]).error.unwrap();
        (error.kind, error.message, error.hint.unwrap_or_default())
    };
    for (file, message, hint) in [
        (
            "missing/x.html",
            "can't write missing/x.html: there is no folder missing",
            "create it, or name another folder",
        ),
        ("a/b/x.html", "can't write a/b/x.html: there is no folder a/b", "create it, or name another folder"),
        ("file/x.html", "can't write file/x.html: there is no folder file", "create it, or name another folder"),
        ("folder", "folder is a folder", "name a file in it"),
    ] {
        assert_eq!(error(file), (ErrorKind::Usage, message.to_owned(), hint.to_owned()));
    }
    let long = format!("folder/{}.html", "x".repeat(300));
    let (_, message, _) = error(&long);
    assert!(message.contains(&long) && !message.contains(dir.path().to_str().unwrap()), "{message}");
}

/// `--type` looks at the type that an edge has as it is shown: as seen from the earlier note, whatever other types are wanted.
#[test]
fn an_edge_of_a_tree_is_seen_from_its_earlier_note() {
    let dir = crate::support::files::store_of_notes(&[
        ("a", "title: A\nlinks: [{type: related, id: b}, {type: related, id: c}]", ""),
        ("b", "title: B\nlinks: [{type: follows, id: c}]", ""),
        ("c", "title: C", ""),
    ]);
    let edges = |args: &[&str]| {
        let answer = call(dir.path().to_str().unwrap(), &[&["link", "tree", "c", "--records"], args].concat());
        answer.stdout.lines().filter(|line| line.starts_with("E ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let all = ["E c related a virtual", "E c precedes b virtual", "E a related b typed"];
    assert_eq!(edges(&[]), all);
    assert_eq!(edges(&["--type", "related", "--type", "follows"]), [all[0], all[2]]);
    assert_eq!(edges(&["--exclude-type", "precedes"]), [all[0], all[2]]);
    assert_eq!(edges(&["--type", "related", "--type", "precedes"]), all);
}
