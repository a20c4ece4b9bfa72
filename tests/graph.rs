//! The page and the links of notes: what hostile notes hold can't break their form, every note and link of the report is in
//! them, no budget is overrun, and files of others stay as they are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command as Process;

use crate::support::files::{copy_folder, temp_dir};
use crate::support::generators::{runner, stores};
use crate::support::process::call;
use proptest::prelude::*;
use qipu::Screen;
use qipu::commands::run_on;
use qipu::error::ErrorKind;
use qipu::fit::fit;
use qipu::report::{Format, Report};
use qipu::request::{Budget, ReadCommand, Selectors};
use serde_json::Value;

fn draw(report: &Report, max_chars: Option<usize>) -> Result<String, qipu::error::Error> {
    fit(report, Budget { max_chars, ..Budget::default() }, Format::Page, Screen::default())
}

/// What a page holds: the ids of notes, pairs of notes that are linked, and whether it says that something is left out.
#[derive(Debug, PartialEq)]
struct Drawn {
    notes: BTreeSet<String>,
    links: Vec<(String, String)>,
    is_truncated: bool,
}

/// Reads a page as a strict browser would.
fn read(text: &str) -> Drawn {
    let (notes, mut links) = read_data(text);
    links.sort();
    let head = text.lines().find(|line| line.contains("qipu export page: ")).unwrap();
    let count = format!("notes={} ", notes.len());
    assert!(head.contains(&count), "{head}: {count}");
    let all: BTreeSet<&String> = links.iter().flat_map(|(from, to)| [from, to]).collect();
    assert!(all.iter().all(|id| notes.contains(*id)), "a link to nothing: {links:?} {notes:?}");
    Drawn { notes, links, is_truncated: head.contains("truncated=true") }
}

/// Returns the data of a page, as a browser finds them: up to the first end of a script.
fn data_of(text: &str) -> Value {
    let (_, data) = text.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let end = data.to_ascii_lowercase().find("</script").unwrap();
    assert!(!data[..end].contains(['<', '\u{2028}', '\u{2029}']));
    serde_json::from_str(&data[..end]).unwrap()
}

fn read_data(text: &str) -> (BTreeSet<String>, Vec<(String, String)>) {
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

/// A page has exactly the notes and links of the report.
#[test]
fn a_page_of_hostile_notes_is_sound_and_complete() {
    let strategy = (stores(), prop::collection::vec(0_usize..3000, 3));
    runner(60)
        .run(&strategy, |(store, budgets)| {
            let command = ReadCommand::ExportLinks { selection: Selectors::default(), saved: None };
            let report = run_on(&command, &store).unwrap();
            let notes = report.count_notes();
            let links: usize = report.entries.iter().map(|entry| entry.note().unwrap().edges.len()).sum();
            prop_assert_eq!(notes, store.notes().len() - hidden(&store));
            let whole = draw(&report, None).unwrap();
            let drawn = read(&whole);
            prop_assert_eq!((drawn.notes.len(), drawn.links.len(), drawn.is_truncated), (notes, links, false));
            let length = whole.chars().count();
            prop_assert_eq!(&draw(&report, Some(length)).unwrap(), &whole);
            for less in budgets.iter().copied().chain([1]) {
                check_budget(&report, length.saturating_sub(less), &drawn);
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

fn check_budget(report: &Report, budget: usize, all: &Drawn) {
    match draw(report, Some(budget)) {
        Ok(text) => {
            assert!(text.chars().count() <= budget);
            let drawn = read(&text);
            assert!(drawn.notes.is_subset(&all.notes) && drawn.is_truncated, "{drawn:?}");
            let expected = all.links.iter().filter(|(from, to)| drawn.notes.contains(from) && drawn.notes.contains(to));
            assert!(expected.eq(drawn.links.iter()), "links between shown notes are missing: {drawn:?}");
        }
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Budget);
            let least: usize = error.message.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(least > budget && draw(report, Some(least)).is_ok());
            assert!(draw(report, Some(least - 1)).is_err());
        }
    }
}

const TITLE: &str = "a \"b\" \\c\\ <d> & &amp; #35; %%{init}%% ]] end";

/// Adds a note whose title has a meaning in every form.
fn add_hostile_note(dir: &Path) {
    let notes = dir.join(".qipu/notes");
    fs::create_dir_all(&notes).unwrap();
    let note = format!("---\nid: x\ntitle: {}\nlinks: [{{type: related, id: x}}]\n---\n</script>", Value::from(TITLE));
    fs::write(notes.join("x.md"), note).unwrap();
}

#[test]
fn a_page_preserves_titles() {
    let dir = temp_dir();
    add_hostile_note(dir.path());
    let page = call(dir.path().to_str().unwrap(), &["export", "page"]).stdout;
    assert_eq!(data_of(&page)["notes"][0]["title"], TITLE);
}

/// The lines of jq in specs/guide/people.md that draw with Graphviz.
#[test]
#[ignore = "needs jq"]
fn documented_drawing_has_every_note_and_link() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("specs/guide/people.md")).unwrap();
    let script = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let dir = temp_dir();
    copy_folder(&root.join("fixtures/research"), dir.path());
    add_hostile_note(dir.path());
    let bin = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
    let mut shell = Process::new("bash");
    shell
        .args(["-c", &format!("set -euo pipefail\n{script}")])
        .current_dir(dir.path())
        .env_clear()
        .env("HOME", dir.path());
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    assert!(shell.env("PATH", path).status().unwrap().success());
    let drawn = fs::read_to_string(dir.path().join("notes.dot")).unwrap();
    let text = r#""(?:[^"\\]|\\.)*""#;
    let line = regex::Regex::new(&format!(r"^  ({text})( -> {text})? \[label=({text})\];$")).unwrap();
    let links = call(dir.path().to_str().unwrap(), &["export", "links"]).stdout;
    let links: Value = serde_json::from_str(&links).unwrap();
    let mut counts = [0, 0];
    let body = drawn.strip_prefix("digraph {\n").unwrap().strip_suffix("}\n").unwrap();
    for text in body.lines() {
        let parts = line.captures(text).unwrap_or_else(|| panic!("{text}"));
        counts[usize::from(parts.get(2).is_some())] += 1;
        if parts[1] == *"\"x\"" && parts.get(2).is_none() {
            let label: String = serde_json::from_str(&parts[3]).unwrap();
            assert_eq!(label.replace("&amp;", "&"), TITLE);
        }
    }
    assert_eq!(counts, ["notes", "links"].map(|name| links[name].as_array().unwrap().len()));
    assert!(counts[0] > 50 && counts[1] > 100, "{counts:?}");
}

#[test]
fn research_as_page() {
    check_page("research", &["--moc", "qp-9f2t"]);
}

#[test]
fn hostile_as_page() {
    check_page("hostile", &[]);
}

fn check_page(store: &str, words: &[&str]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    let answer = call(&format!("fixtures/{store}"), &[&["export", "page"], words].concat());
    assert_eq!(answer.code(), 0);
    insta::assert_snapshot!(format!("{store}@export-page"), fields_by_line(&data_of(&answer.stdout)));
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
fn an_export_has_the_selected_notes_and_links() {
    let counts = |words: &str| {
        let args: Vec<&str> = words.split('|').collect();
        let json: Value = serde_json::from_str(&call("fixtures/research", &args).stdout).unwrap();
        (json["notes"].as_array().unwrap().len(), json["links"].as_array().unwrap().clone())
    };
    let (all, links) = counts("export|links");
    let list: Value = serde_json::from_str(&call("fixtures/research", &["list", "--json"]).stdout).unwrap();
    assert_eq!(all, list["notes"].as_array().unwrap().len());
    // The links of each note are those of `link list`.
    let own = |direction: &str| {
        let answer = call("fixtures/research", &["link", "list", "qp-9f2t", "--direction", direction, "--json"]);
        serde_json::from_str::<Value>(&answer.stdout).unwrap()["links"].as_array().unwrap().len()
    };
    let at = |link: &&Value| link["from"] == "qp-9f2t" || link["to"] == "qp-9f2t";
    assert_eq!(links.iter().filter(at).count(), own("out") + own("in"));
    // A walk shows the notes that `link tree` shows.
    for way in ["--direction|out", "--direction|in", "--via|supports", "--via|supported-by", "--via|typed"] {
        let (notes, links) = counts(&format!("export|links|--note|qp-r7a1|--max-hops|2|{way}"));
        let mut tree: Vec<&str> = "link|tree|qp-r7a1|--max-hops|2|--json".split('|').collect();
        tree.extend(way.split('|'));
        let tree: Value = serde_json::from_str(&call("fixtures/research", &tree).stdout).unwrap();
        assert_eq!(notes, tree["notes"].as_array().unwrap().len(), "{way}");
        let kinds: BTreeSet<&str> = links.iter().map(|link| link["type"].as_str().unwrap()).collect();
        assert!(!way.contains("supported-by") || kinds == BTreeSet::from(["supports"]), "{kinds:?}");
    }
    let inline = |links: &[Value]| links.iter().filter(|link| link["source"][0] == "inline").count();
    let (typed_only, inline_only) = (counts("export|links|--via|typed").1, counts("export|links|--via|inline").1);
    assert!(inline(&typed_only) == 0 && !typed_only.is_empty() && inline(&inline_only) > 0);
    assert_eq!(counts("export|links|--limit|3").0, 3);
    let page = call("fixtures/research", &["export", "page", "--limit", "3"]).stdout;
    assert!(page.contains(&format!("notes=3 matched={all} truncated=true")));
}

/// An export goes to its file whole; what is no export of its kind stays.
#[test]
fn an_export_is_saved_and_replaces_no_other_file() {
    let dir = temp_dir();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at(".qipu/notes")).unwrap();
    fs::write(at(".qipu/notes/x.md"), "---\nid: x\ntitle: One\n---\nText").unwrap();
    let call = |words: &[&str]| call(dir.path().to_str().unwrap(), words);
    fs::write(at("mine.md"), "mine").unwrap();
    fs::write(at("mine.json"), "{\"mode\":\"list\"}\n").unwrap();
    for (form, name) in [("page", "a.html"), ("links", "a.json"), ("passages", "a.ndjson")] {
        let export = |words: &[&str]| call(&[&["export", form], words].concat());
        let text = export(&[]).stdout;
        assert_eq!(export(&["-"]).stdout, text);
        assert_eq!(export(&[name]).stdout, format!("created {name}\n"));
        assert_eq!(fs::read_to_string(at(name)).unwrap(), text);
        let again = if form == "passages" { "changed" } else { "unchanged" };
        assert_eq!(export(&[name]).stdout, format!("{again} {name}\n"));
        fs::write(at("empty"), "").unwrap();
        assert_eq!(export(&["empty"]).stdout, "changed empty\n");
        fs::write(at(".qipu/notes/x.md"), format!("---\nid: x\ntitle: {form}\n---\nText")).unwrap();
        let json: Value = serde_json::from_str(&export(&[name, "--json"]).stdout).unwrap();
        assert_eq!(json["changes"][0]["action"], "changed");
        assert!(fs::read_to_string(at(name)).unwrap() != text);
        let others = ["a.html", "a.json", "a.ndjson"].into_iter().filter(|other| *other != name && at(other).exists());
        let places =
            ["mine.md", "mine.json", ".qipu/notes/x.md", ".qipu/notes/new.html", ".qipu/config.toml", "no/folder.html"];
        for place in others.chain(places) {
            let before = fs::read(at(place)).ok();
            let answer = export(&[place]);
            assert!(answer.code() != 0 && answer.stdout.is_empty(), "{form} {place}");
            assert_eq!(fs::read(at(place)).ok(), before, "{form} {place}");
        }
        assert_eq!(export(&["--dry-run"]).code(), 2);
        assert_eq!(export(&["--records"]).error.unwrap().message, "an export has its own format");
        assert_eq!(export(&["--json"]).code(), if form == "links" { 0 } else { 2 });
    }
    // Nothing is written that there is no room to tell of, or that does not fit.
    for budget in ["1", "20", "300"] {
        let answer = call(&["export", "page", "b.html", "--max-chars", budget]);
        assert!(answer.code() == 2 && !at("b.html").exists(), "{budget}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named_as_it_was_given() {
    let dir = temp_dir();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    let error = |form: &str, file: &str| {
        let error = call(dir.path().to_str().unwrap(), &["export", form, file]).error.unwrap();
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
        for form in ["page", "links", "passages"] {
            assert_eq!(error(form, file), (ErrorKind::Usage, message.to_owned(), hint.to_owned()));
        }
    }
    let long = format!("folder/{}.html", "x".repeat(300));
    for form in ["page", "links", "passages"] {
        let (_, message, _) = error(form, &long);
        assert!(message.contains(&long) && !message.contains(dir.path().to_str().unwrap()), "{message}");
    }
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
    assert_eq!(edges(&["--via", "related,follows"]), [all[0], all[2]]);
    assert_eq!(edges(&["--via", "related", "--via", "precedes"]), all);
}
