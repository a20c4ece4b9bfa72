//! The language server, driven over its pipes by a client of its own. tests/lsp_answers.rs compares its answers with those of
//! the command line, and tests/editors/run drives it with clients of others.

use std::fs;
use std::path::PathBuf;

use crate::support::files::{store, temp_dir};
use crate::support::hang::expect_to_end;
use crate::support::lsp_client::LspClient;
use serde_json::{Value, json};
use tempfile::TempDir;

const A: &str = ".qipu/notes/qp-a-first.md";
const B: &str = ".qipu/notes/qp-b-second.md";
const M: &str = ".qipu/mocs/qp-m.md";
const CODE: &str = "src/disk.rs";

const A_TEXT: &str = "---\nid: qp-a\ntitle: First note\ntype: permanent\ntags: [storage, disk]\naliases: [Eins]\n\
    summary: What comes first.\n---\n\n# First note\n\n## Why it *is*\n\nText about [[qp-b]].\n\n### Detail\n\n\
    More [here](qp-b-second.md).\n\n## End\n\nDone.\n";
const B_TEXT: &str = "---\nid: qp-b\ntitle: Second note\ntags: [storage]\nlinks:\n- type: contradicts\n  id: qp-a\n---\n\n\
    See [[First note]] and [[First note#Why it is|why]], [path](qp-a-first.md#why-it-is). Code: `src/disk.rs:2`.\n";
const M_TEXT: &str = "---\nid: qp-m\ntitle: Map\ntype: moc\n---\n\n1. [[Eins]]\n2. [[Second note]]\n3. [[nowhere]]\n";

/// Creates a project with a store whose notes link to each other in every way.
fn project() -> TempDir {
    let dir = store(&[("notes/qp-a-first.md", A_TEXT), ("notes/qp-b-second.md", B_TEXT), ("mocs/qp-m.md", M_TEXT)]);
    fs::write(dir.path().join("Cargo.toml"), "").unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join(CODE), "fn main() {}\nfn sync() {}\n").unwrap();
    dir
}

fn root(project: &TempDir) -> PathBuf {
    project.path().canonicalize().unwrap()
}

/// Starts a server on the project, with its notes open.
fn open_all(project: &TempDir) -> LspClient {
    let mut client = LspClient::start(&root(project), false);
    for (path, text) in [(A, A_TEXT), (B, B_TEXT), (M, M_TEXT)] {
        client.open(path, text);
    }
    client
}

/// Returns the line and column of the cursor `¦` in the first occurrence of a text.
fn find(text: &str, wanted: &str) -> (usize, usize) {
    let cursor = wanted.find('¦').unwrap();
    let start = text.find(&wanted.replace('¦', "")).unwrap_or_else(|| panic!("no {wanted} in {text}")) + cursor;
    let line = text[..start].matches('\n').count();
    let column = text[..start].rsplit('\n').next().unwrap().encode_utf16().count();
    (line, column)
}

fn ask(client: &mut LspClient, method: &str, path: &str, text: &str, wanted: &str) -> Value {
    let (line, column) = find(text, wanted);
    client.at(method, path, line, column)
}

fn texts(completion: &Value, pointer: &str) -> Vec<String> {
    let items = completion["items"].as_array().unwrap();
    items.iter().map(|item| item.pointer(pointer).unwrap().as_str().unwrap().to_owned()).collect()
}

/// Returns the names of the files of locations, each with its first line.
fn places(locations: &Value) -> Vec<(String, u64)> {
    let all = locations.as_array().cloned().unwrap_or_else(|| vec![locations.clone()]);
    let name = |location: &Value| location["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    all.iter().map(|location| (name(location), location["range"]["start"]["line"].as_u64().unwrap())).collect()
}

fn place(name: &str, line: u64) -> (String, u64) {
    (name.to_owned(), line)
}

/// Applies the edits of a workspace edit to a text, which is plain ASCII.
fn edited(text: &str, edit: &Value, uri: &str) -> String {
    let mut text = text.to_owned();
    let changes = edit["documentChanges"].as_array().unwrap();
    for change in changes.iter().filter(|change| change["textDocument"]["uri"] == uri) {
        let mut edits = change["edits"].as_array().unwrap().clone();
        edits.reverse();
        for edit in &edits {
            let offset = |end: &str| {
                let number = |key: &str| edit["range"][end][key].as_u64().unwrap() as usize;
                let before: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
                before + number("character")
            };
            let range = offset("start")..offset("end");
            text.replace_range(range, edit["newText"].as_str().unwrap());
        }
    }
    text
}

#[test]
fn names_are_completed_with_those_of_unsaved_texts() {
    let project = project();
    let mut client = open_all(&project);
    let draft = "---\nid: qp-new\ntitle: Brand é new\n---\n\nA [[Fi\n\n[[First note#\n\n[[qp\n[[Ein\n[[brand\n[[#\n\n# 😀 [[Sec]]\n";
    let path = ".qipu/notes/qp-new.md";
    client.open(path, draft);
    let mut complete = |wanted: &str| ask(&mut client, "textDocument/completion", path, draft, wanted);
    assert_eq!(texts(&complete("[[Fi¦"), "/label"), ["First note"]);
    assert_eq!(texts(&complete("[[Fi¦"), "/textEdit/newText"), ["First note]]"]);
    let headings = ["First note]]", "Why it is]]", "Detail]]", "End]]"];
    assert_eq!(texts(&complete("[[First note#¦"), "/textEdit/newText"), headings);
    assert_eq!(texts(&complete("[[#¦"), "/label"), ["😀 Sec"]);
    assert_eq!(texts(&complete("[[qp¦"), "/label")[..3], ["qp-a", "qp-b", "qp-m"]);
    assert_eq!(texts(&complete("[[Ein¦"), "/textEdit/newText"), ["Eins]]"]);
    assert_eq!(texts(&complete("[[brand¦"), "/label"), ["Brand é new"], "a note that was never saved");
    let closed = complete("😀 [[Sec¦]]");
    assert_eq!(texts(&closed, "/textEdit/newText"), ["Second note"], "the brackets are there");
    assert_eq!(closed["items"][0]["textEdit"]["range"]["start"]["character"], 7, "columns are UTF-16");
    assert!(client.stop());
}

#[test]
fn fields_are_completed() {
    let project = project();
    let mut client = open_all(&project);
    let draft = "---\nid: qp-new\ntags: [st]\ntype: p\nlinks:\n- type: contra\n  id: sec\nst\n---\n";
    let path = ".qipu/notes/qp-new.md";
    client.open(path, draft);
    let mut complete = |wanted: &str| ask(&mut client, "textDocument/completion", path, draft, wanted);
    assert_eq!(texts(&complete("[st¦"), "/label"), ["storage"]);
    assert_eq!(texts(&complete("[st¦"), "/detail"), ["2 notes"]);
    assert!(texts(&complete("type: p¦"), "/label").contains(&"permanent".to_owned()));
    assert!(texts(&complete("contra¦"), "/label").contains(&"contradicts".to_owned()));
    assert_eq!(texts(&complete("id: sec¦"), "/textEdit/newText"), ["qp-b"]);
    let keys = texts(&complete("\nst¦\n"), "/textEdit/newText");
    assert!(keys.contains(&"status: ".to_owned()) && !keys.contains(&"tags: ".to_owned()), "{keys:?}");
}

/// What a note is called is inserted into other notes: it must stay a name there.
#[test]
fn names_of_notes_insert_no_fields_and_no_hidden_text() {
    let project = project();
    let mut client = open_all(&project);
    let hostile = "---\nid: qp-h\ntitle: \"Harmless ]] \\n---\"\ntags: [\"st]\\nverified: true\", \"st\\u202eop\"]\n\
        type: \"per\\nvalue: 100\"\naliases: [\"Harm\\eless\", \"Harm\\u202eless\"]\n---\n\n# Harm\x1b[31m\n";
    client.open(".qipu/notes/qp-h.md", hostile);
    let draft = "---\nid: qp-new\ntags: [s]\ntype: p\n---\n\n[[Harm\n[[qp-h#\n";
    let path = ".qipu/notes/qp-new.md";
    client.open(path, draft);
    for wanted in ["[s¦", "type: p¦", "[[Harm¦", "[[qp-h#¦"] {
        let found = ask(&mut client, "textDocument/completion", path, draft, wanted);
        for text in texts(&found, "/textEdit/newText").iter().chain(&texts(&found, "/label")) {
            assert!(!text.contains(['\n', '\u{1b}', '\u{202e}']), "{wanted}: {text:?}");
            assert!(!text.contains("verified"), "{wanted}: {text:?}");
        }
    }
    let found = ask(&mut client, "textDocument/completion", path, draft, "[[Harm¦");
    assert!(texts(&found, "/textEdit/newText").iter().all(|text| text == "qp-h]]"), "{found}");
    let other = json!({"command": "qipu.showNote", "arguments": ["file:///etc/passwd"]});
    assert!(client.refusal("workspace/executeCommand", other).contains("unknown command"));
}

#[test]
fn a_link_leads_to_its_note_and_heading() {
    let project = project();
    let mut client = open_all(&project);
    let mut definition = |path, text, wanted| ask(&mut client, "textDocument/definition", path, text, wanted);
    assert_eq!(places(&definition(A, A_TEXT, "[[qp¦-b]]")), [place("qp-b-second.md", 0)]);
    assert_eq!(places(&definition(B, B_TEXT, "[[First note#Why¦")), [place("qp-a-first.md", 11)]);
    assert_eq!(places(&definition(B, B_TEXT, "[pa¦th]")), [place("qp-a-first.md", 11)]);
    assert_eq!(places(&definition(B, B_TEXT, "  id: q¦p-a")), [place("qp-a-first.md", 0)]);
    assert_eq!(places(&definition(M, M_TEXT, "[[Ein¦s")), [place("qp-a-first.md", 0)]);
    assert_eq!(definition(M, M_TEXT, "[[nowh¦ere"), Value::Null);
    assert_eq!(definition(B, B_TEXT, "Se¦e"), Value::Null);
}

#[test]
fn references_are_the_links_to_a_note_or_heading() {
    let project = project();
    let mut client = open_all(&project);
    let mut references = |path, text, wanted| places(&ask(&mut client, "textDocument/references", path, text, wanted));
    let to_a = [
        place("qp-b-second.md", 6),
        place("qp-b-second.md", 9),
        place("qp-b-second.md", 9),
        place("qp-b-second.md", 9),
    ];
    let expected = [&to_a[..], &[place("qp-m.md", 6)]].concat();
    assert_eq!(references(A, A_TEXT, "Do¦ne"), expected);
    assert_eq!(references(M, M_TEXT, "[[Ein¦s"), expected);
    assert_eq!(references(A, A_TEXT, "## Why¦"), [place("qp-b-second.md", 9), place("qp-b-second.md", 9)]);
    assert_eq!(references(A, A_TEXT, "## En¦d"), []);
    // A link that is not saved yet counts.
    client.change(M, None, &M_TEXT.replace("nowhere", "First note#End"));
    assert_eq!(places(&ask(&mut client, "textDocument/references", A, A_TEXT, "## En¦d")), [place("qp-m.md", 8)]);
}

#[test]
fn a_heading_is_declared_where_it_stands_even_if_another_has_its_text() {
    let project = project();
    let mut client = open_all(&project);
    let text = A_TEXT.replace("## End", "## Detail");
    client.change(A, None, &text);
    let (line, column) = find(&text, "\n## Det¦ail");
    let found = client.request(
        "textDocument/references",
        json!({
            "textDocument": {"uri": client.uri(A)},
            "position": {"line": line, "character": column},
            "context": {"includeDeclaration": true},
        }),
    );
    assert_eq!(places(&found), [place("qp-a-first.md", line as u64)]);
}

#[test]
fn many_links_on_one_line_are_answered_in_time() {
    let project = project();
    let mut client = open_all(&project);
    client.change(M, None, &M_TEXT.replace("[[Eins]]", &"[[Eins]] ".repeat(30_000)));
    // A search that reads the line again for each link takes minutes.
    let found = expect_to_end(move || ask(&mut client, "textDocument/references", A, A_TEXT, "Do¦ne"));
    assert_eq!(found.as_array().unwrap().len(), 4 + 30_000);
    assert_eq!(found[4 + 29_999]["range"]["start"]["character"], 3 + 9 * 29_999);
}

#[test]
fn fields_without_a_closing_marker_are_located() {
    let project = project();
    let mut client = open_all(&project);
    let (path, text) = (
        ".qipu/notes/qp-d.md",
        "\u{feff}---\nid: qp-d\ntitle: Open\nlinks: [{type: odd, id: Second note}, {type: odd, id: qp-a#End},\n  {type: odd, id: gone}]\n\n\
            links: gone\n",
    );
    client.open(path, text);
    let found = client.diagnostics_of(path);
    let broken = found.iter().find(|one| one["code"] == "broken-link").unwrap();
    assert_eq!(broken["range"], json!({"start": {"line": 4, "character": 18}, "end": {"line": 4, "character": 22}}));
    let mut ask = |method: &str, wanted| ask(&mut client, &format!("textDocument/{method}"), path, text, wanted);
    assert_eq!(places(&ask("definition", "id: Sec¦ond")), [place("qp-b-second.md", 0)]);
    assert_eq!(places(&ask("definition", "qp-a#E¦nd")), [place("qp-a-first.md", 19)]);
    assert_eq!(ask("definition", "¦---"), Value::Null);
    let hover = ask("hover", "id: Sec¦ond");
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("Second note\n"), "{hover}");
    assert!(places(&ask("references", "id: Sec¦ond")).contains(&place("qp-d.md", 3)));
    let start = |prepared: Value| (prepared["placeholder"].clone(), prepared["range"]["start"].clone());
    let at = |line: u64, character: u64| json!({"line": line, "character": character});
    assert_eq!(start(ask("prepareRename", "Op¦en")), ("Open".into(), at(2, 7)));
    assert_eq!(start(ask("prepareRename", "id: Sec¦ond")), ("Second note".into(), at(3, 24)));
    assert_eq!(start(ask("prepareRename", "qp-a#E¦nd")), ("End".into(), at(3, 59)));
    assert_eq!(texts(&ask("completion", "id: Sec¦ond"), "/textEdit/newText"), ["qp-b"]);
    let edit = rename(&mut client, A, A_TEXT, "## En¦d", "Last");
    assert_eq!(edited(text.trim_start_matches('\u{feff}'), &edit, &client.uri(path)).matches("qp-a#Last").count(), 1);
}

#[test]
fn hover_tells_what_is_known_and_is_plain_text() {
    let project = project();
    let mut client = open_all(&project);
    let hover = ask(&mut client, "textDocument/hover", M, M_TEXT, "[[Ein¦s");
    assert_eq!(hover["contents"]["kind"], "plaintext");
    let text = hover["contents"]["value"].as_str().unwrap();
    for part in ["First note\nqp-a · permanent #storage #disk\n", "What comes first.", "confidence: 0.", "2 backlinks"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("contradicts: qp-b · Second note"), "{text}");
    let hostile = "---\nid: qp-b\ntitle: \"x\\e[31m\\n[a](command:b)\\u202e\"\nstatus: superseded\nstale_after: 2025-01-01\n---\n";
    client.change(B, None, hostile);
    let hover = ask(&mut client, "textDocument/hover", M, M_TEXT, "[[Eins]]\n2. [[¦");
    assert_eq!(hover, Value::Null, "the title has changed");
    let hover = ask(&mut client, "textDocument/hover", A, A_TEXT, "[[qp¦-b");
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("superseded"), "{text}");
    assert_eq!(hover["contents"]["kind"], "plaintext");
}

#[test]
fn symbols_are_headings_and_notes() {
    let project = project();
    let mut client = open_all(&project);
    let symbols = client.request("textDocument/documentSymbol", client.position(A, 0, 0));
    assert_eq!(symbols.pointer("/0/name").unwrap(), "First note");
    assert_eq!(symbols.pointer("/0/children/0/name").unwrap(), "Why it is");
    assert_eq!(symbols.pointer("/0/children/0/children/0/name").unwrap(), "Detail");
    assert_eq!(symbols.pointer("/0/children/1/name").unwrap(), "End");
    let found = client.request("workspace/symbol", json!({"query": "secnd"}));
    assert_eq!(found.as_array().unwrap().len(), 1, "letters in between may lack: {found}");
    assert_eq!(found[0]["name"], "Second note");
    let all = client.request("workspace/symbol", json!({"query": ""}));
    assert_eq!(all.as_array().unwrap().len(), 3);
}

fn rename(client: &mut LspClient, path: &str, text: &str, wanted: &str, new: &str) -> Value {
    let (line, column) = find(text, wanted);
    let mut params = client.position(path, line, column);
    params["newName"] = new.into();
    client.request("textDocument/rename", params)
}

#[test]
fn renaming_a_note_rewrites_every_link_and_moves_its_file() {
    let project = project();
    let mut client = open_all(&project);
    let prepared = ask(&mut client, "textDocument/prepareRename", B, B_TEXT, "[[First¦ note]]");
    assert_eq!(prepared["placeholder"], "First note");
    assert_eq!(ask(&mut client, "textDocument/prepareRename", B, B_TEXT, "Se¦e"), Value::Null);
    // An unsaved link counts, and unsaved text stays.
    let unsaved = M_TEXT.replace("[[nowhere]]", "[[first note]], unsaved");
    client.change(M, None, &unsaved);
    let edit = rename(&mut client, B, B_TEXT, "[[First¦ note]]", "The better one");
    let b = edited(B_TEXT, &edit, &client.uri(B));
    assert!(
        b.contains("[[The better one]] and [[The better one#Why it is|why]], [path](qp-a-the-better-one.md#why-it-is)"),
        "{b}"
    );
    let m = edited(&unsaved, &edit, &client.uri(M));
    assert_eq!(m, unsaved.replace("[[first note]]", "[[The better one]]"));
    let a = edited(A_TEXT, &edit, &client.uri(A));
    assert!(a.contains("title: The better one\n") && a.contains("updated: 2025-06-15\n"), "{a}");
    assert!(a.contains("aliases: [Eins, First note]\n"), "{a}");
    let moved = edit["documentChanges"].as_array().unwrap().iter().find(|change| change["kind"] == "rename").unwrap();
    assert!(moved["newUri"].as_str().unwrap().ends_with("/notes/qp-a-the-better-one.md"), "{moved}");
    let versions =
        edit["documentChanges"].as_array().unwrap().iter().filter_map(|edit| edit["textDocument"]["version"].as_i64());
    assert_eq!(versions.collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn renaming_a_heading_rewrites_every_link_to_it() {
    let project = project();
    let mut client = open_all(&project);
    let prepared = ask(&mut client, "textDocument/prepareRename", A, A_TEXT, "## Why¦");
    assert_eq!(prepared["placeholder"], "Why it *is*");
    let edit = rename(&mut client, A, A_TEXT, "## Why¦", "The reason");
    assert!(edited(A_TEXT, &edit, &client.uri(A)).contains("\n## The reason\n"));
    let b = edited(B_TEXT, &edit, &client.uri(B));
    assert!(b.contains("[[First note]] and [[First note#The reason|why]], [path](qp-a-first.md#the-reason)"), "{b}");
    assert_eq!(edit["documentChanges"].as_array().unwrap().len(), 2);
    let (line, column) = find(A_TEXT, "## Why¦");
    for bad in ["", "a\nb", "a\n# b"] {
        let mut params = client.position(A, line, column);
        params["newName"] = bad.into();
        assert!(client.refusal("textDocument/rename", params).contains("no text for one heading"));
    }
}

#[test]
fn renaming_a_heading_rewrites_the_table_of_contents() {
    let project = project();
    let mut client = open_all(&project);
    let text = "---\nid: qp-m\ntitle: Map\n---\n- [One](#limits) [[#Limits]]\n- [two](<#limits> \"t\") [three][l] [l] [no](#limit)\n\n\
                [l]: #limits\n\n`[x](#limits)`\n\n## Limits\n\n## Limits\n\n[other](#limits-1)\n";
    client.change(M, None, text);
    let expected = text.replacen("## Limits", "## Quota", 1).replace("[[#Limits]]", "[[#Quota]]");
    let expected = expected.replacen("(#limits)", "(#quota)", 1).replace("<#limits>", "<#quota>");
    let expected = expected.replace("[l]: #limits", "[l]: #quota").replace("#limits-1", "#limits");
    // From the heading, and from a link to it.
    for at in ["## Limi¦ts", "[One](#lim¦its)", "[l]: #lim¦its"] {
        let edit = rename(&mut client, M, text, at, "Quota");
        assert_eq!(edited(text, &edit, &client.uri(M)), expected, "{at}");
    }
    let definition = ask(&mut client, "textDocument/definition", M, text, "[One](#lim¦its)");
    assert_eq!(definition["range"]["start"]["line"], 11, "{definition}");
    assert_eq!(places(&ask(&mut client, "textDocument/references", M, text, "## Limi¦ts")).len(), 6);
}

#[test]
fn a_link_to_a_heading_never_leads_to_another_one() {
    let project = project();
    let mut client = open_all(&project);
    let front = "---\nid: qp-b\ntitle: Second note\n---\n\n";
    let text = format!("{front}# Beta\n\n## Sec\n\n## Sec\n\n## Late\n\nAt [[#Late]].\n");
    client.change(B, None, &text);
    let links = "---\nid: qp-m\ntitle: Map\n---\n\n[[Second note#Sec]] [[Second note#sec-1]] [[Second note#\n";
    client.change(M, None, links);
    let edit = rename(&mut client, B, &text, "## Sec¦", "Beta");
    let (b, m) = (edited(&text, &edit, &client.uri(B)), edited(links, &edit, &client.uri(M)));
    assert!(b.contains("# Beta\n\n## Beta\n\n## Sec\n"), "{b}");
    assert!(m.contains("[[Second note#beta-1]] [[Second note#sec]]"), "{m}");
    let edit = rename(&mut client, B, &text, "## Late¦", "Sec");
    assert!(edited(&text, &edit, &client.uri(B)).ends_with("## Sec\n\nAt [[#sec-2]].\n"), "{edit}");
    let found = ask(&mut client, "textDocument/completion", M, links, "sec-1]] [[Second note#¦");
    assert_eq!(texts(&found, "/textEdit/newText"), ["Beta]]", "Sec]]", "sec-1]]", "Late]]"]);
}

#[test]
fn documents_that_are_only_read_are_not_renamed() {
    let project = project();
    fs::write(project.path().join(".qipu/config.toml"), "[[documents]]\npath = \"docs\"\n").unwrap();
    fs::create_dir(project.path().join("docs")).unwrap();
    let page = "# Page\n\n## Part\n\nSee [next](next.md).\n";
    fs::write(project.path().join("docs/page.md"), page).unwrap();
    fs::write(project.path().join("docs/next.md"), "# Next\n").unwrap();
    let mut client = open_all(&project);
    client.open("docs/page.md", page);
    let definition = ask(&mut client, "textDocument/definition", "docs/page.md", page, "[ne¦xt]");
    assert_eq!(places(&definition), [place("next.md", 0)]);
    for wanted in ["## Par¦t", "[ne¦xt]"] {
        let (line, column) = find(page, wanted);
        let mut params = client.position("docs/page.md", line, column);
        params["newName"] = "New".into();
        let refusal = client.refusal("textDocument/rename", params);
        assert!(refusal.contains("only read"), "{refusal}");
    }
    // With several collections, a note of the store is still renamed as `qipu update ID --title TITLE` does.
    let edit = rename(&mut client, B, B_TEXT, "[[First¦ note]]", "The better one");
    assert!(edited(B_TEXT, &edit, &client.uri(B)).contains("[[The better one]]"));
}

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().map(|one| one["code"].as_str().unwrap()).collect()
}

fn actions(client: &mut LspClient, path: &str, (line, column): (usize, usize), diagnostics: &[Value]) -> Vec<Value> {
    let position = json!({"line": line, "character": column});
    let params = json!({
        "textDocument": {"uri": client.uri(path)},
        "range": {"start": position, "end": position},
        "context": {"diagnostics": diagnostics, "triggerKind": 1},
    });
    client.request("textDocument/codeAction", params).as_array().unwrap().clone()
}

#[test]
fn findings_of_doctor_are_diagnostics_with_their_repairs() {
    let project = project();
    let mut client = open_all(&project);
    let found = client.diagnostics_of(M);
    assert_eq!(codes(&found), ["broken-link"]);
    assert_eq!(found[0]["range"], json!({"start": {"line": 8, "character": 3}, "end": {"line": 8, "character": 14}}));
    let broken = A_TEXT.replace("title: First note", "title: First: note").replace("id: qp-a\n", "");
    client.change(A, None, &broken);
    let found = client.diagnostics_of(A);
    assert!(codes(&found).contains(&"frontmatter-broken") && codes(&found).contains(&"no-id"), "{found:?}");
    let fixes = actions(&mut client, A, (1, 0), &found);
    let fix = fixes.iter().find(|action| action["kind"] == "quickfix").unwrap();
    let repaired = edited(&broken, &fix["edit"], &client.uri(A));
    assert!(repaired.contains("title: \"First: note\"\n") && repaired.contains("id: qp-a-first\n"), "{repaired}");
    client.change(A, None, &repaired);
    assert_eq!(codes(&client.diagnostics_of(A)), [""; 0]);
    client.close_text(M);
    client.request("workspace/symbol", json!({"query": ""}));
    let closed = &client.diagnostics[&client.uri(M)];
    assert_eq!(closed["diagnostics"], json!([]));
}

#[test]
fn the_config_has_diagnostics_and_repairs_need_one() {
    let project = project();
    let config = "[context]\nmax_note = 3\n";
    fs::write(project.path().join(".qipu/config.toml"), config).unwrap();
    let mut client = open_all(&project);
    client.open(".qipu/config.toml", config);
    let found = client.diagnostics_of(".qipu/config.toml");
    assert_eq!((codes(&found), &found[0]["range"]["start"]["line"]), (vec!["unknown-setting"], &json!(1)));
    assert!(actions(&mut client, A, (1, 0), &[]).iter().all(|action| action["kind"] != "quickfix"));
}

#[test]
fn a_section_becomes_a_note() {
    let project = project();
    let mut client = open_all(&project);
    let offered = actions(&mut client, A, find(A_TEXT, "### Det¦ail"), &[]);
    let extract = offered.iter().find(|action| action["kind"] == "refactor.extract").unwrap();
    let edit = &extract["edit"];
    let create = edit["documentChanges"].as_array().unwrap().iter().find(|change| change["kind"] == "create").unwrap();
    let uri = create["uri"].as_str().unwrap();
    let (id, created) = (uri.rsplit('/').next().unwrap(), edited("", edit, uri));
    assert!(id.starts_with("qp-") && id.ends_with("-detail.md"), "{id}");
    assert!(
        created.contains("title: Detail\ntype: permanent\n") && created.ends_with("More [here](qp-b-second.md).\n"),
        "{created}"
    );
    let id = id.strip_suffix("-detail.md").unwrap();
    let rest = edited(A_TEXT, edit, &client.uri(A));
    assert_eq!(rest, A_TEXT.replace("More [here](qp-b-second.md).", &format!("[[{id}]]")));
    let none = actions(&mut client, A, find(A_TEXT, "Do¦ne"), &[]);
    assert!(none.iter().all(|action| action["kind"] != "refactor.extract"));
}

/// Returns the text of the note that the action makes of a section, and the rest; `None` if it is not offered.
fn extracted(client: &mut LspClient, path: &str, text: &str, wanted: &str) -> Option<(String, String)> {
    client.change(path, None, text);
    let offered = actions(client, path, find(text, wanted), &[]);
    let edit = &offered.iter().find(|action| action["kind"] == "refactor.extract")?["edit"];
    let create = edit["documentChanges"].as_array().unwrap().iter().find(|change| change["kind"] == "create").unwrap();
    Some((edited("", edit, create["uri"].as_str().unwrap()), edited(text, edit, &client.uri(path))))
}

#[test]
fn links_to_headings_survive_the_extraction_of_a_section() {
    let project = project();
    let mut client = open_all(&project);
    let mut extract = |body: &str| {
        let text = format!("---\nid: qp-m\ntitle: Map\n---\n\n{body}");
        extracted(&mut client, M, &text, "## Sec¦").map(|(new, _)| new)
    };
    let new = extract("## Sec\n\nsee [[#Other]], [[#Sub|it]], [[Map#Other]]\n\n### Sub\n\n## Other\n").unwrap();
    assert!(new.contains("see [[qp-m#Other]], [[#Sub|it]], [[Map#Other]]\n"), "{new}");
    for body in [
        "See [[#Sub]].\n\n## Sec\n\n### Sub\n",
        "See [it](#sub).\n\n## Sec\n\n### Sub\n",
        "## Sec\n\nSee [[Map#Sub]].\n\n### Sub\n",
        "## Sec\n\nSee [it](#other).\n\n## Other\n",
        "See [[#sub-1]].\n\n## Sec\n\n### Sub\n\n## Sub\n",
        "## Sec\n\nSee [[#sub-1]].\n\n### Sub\n\n## Other\n\n### Sub\n",
    ] {
        assert_eq!(extract(body), None, "{body}");
    }
    assert!(extract("See [[#Sec]].\n\n## Sec\n\n[it](#sub), [[#nowhere]]\n\n### Sub\n").is_some());
    // A link from another note.
    let mut extract = |wanted| extracted(&mut client, A, A_TEXT, wanted);
    assert!(extract("## Why¦").is_some());
    assert_eq!(extract("# Fir¦st note\n\n"), None);
}

#[test]
fn links_and_supersession_are_offered() {
    let project = project();
    let mut client = open_all(&project);
    let offered = actions(&mut client, M, find(M_TEXT, "[[Ein¦s"), &[]);
    let supersede = offered.iter().find(|action| action["title"].as_str().unwrap().contains("superseded")).unwrap();
    let edit = &supersede["edit"];
    assert!(edited(A_TEXT, edit, &client.uri(A)).contains("status: superseded\n"));
    assert!(edited(M_TEXT, edit, &client.uri(M)).contains("type: supersedes\n"), "{edit}");
    let third =
        "---\nid: qp-c\ntitle: Third\ntags: [storage]\n---\n\nWhat comes first is disk storage, text about the disk.\n";
    fs::write(project.path().join(".qipu/notes/qp-c.md"), third).unwrap();
    client.open(".qipu/notes/qp-c.md", third);
    let offered = actions(&mut client, ".qipu/notes/qp-c.md", (7, 0), &[]);
    let link = offered.iter().find(|action| action["title"] == "Link to “First note”").unwrap();
    let linked = edited(third, &link["edit"], &client.uri(".qipu/notes/qp-c.md"));
    assert!(linked.contains("links:\n  - type: related\n    id: qp-a\n"), "{linked}");
}

#[test]
fn lenses_count_backlinks_and_name_the_notes_about_code() {
    let project = project();
    let mut client = open_all(&project);
    let lens = client.request("textDocument/codeLens", client.position(A, 0, 0));
    assert_eq!(lens[0]["command"]["title"], "2 backlinks");
    client.open(CODE, "// new\nfn main() {}\nfn sync() {}\n");
    let lenses = client.request("textDocument/codeLens", client.position(CODE, 0, 0));
    assert_eq!(lenses[0]["command"]["title"], "note: Second note");
    assert_eq!(lenses[0]["range"]["start"]["line"], 1);
    let command = json!({"command": lenses[0]["command"]["command"], "arguments": lenses[0]["command"]["arguments"]});
    client.request("workspace/executeCommand", command);
    client.request("workspace/symbol", json!({"query": ""}));
    let shown = client.received.iter().find(|message| message["method"] == "window/showDocument").unwrap();
    assert_eq!(shown["params"]["uri"], client.uri(B));
}

#[test]
fn what_other_programs_change_counts_at_once() {
    let project = project();
    let mut client = open_all(&project);
    let count =
        |client: &mut LspClient| client.request("workspace/symbol", json!({"query": ""})).as_array().unwrap().len();
    assert_eq!(count(&mut client), 3);
    fs::write(project.path().join(".qipu/notes/new.md"), "---\nid: new\ntitle: New\n---\n[[qp-a]]").unwrap();
    assert_eq!(count(&mut client), 4);
    let lens = client.request("textDocument/codeLens", client.position(A, 0, 0));
    assert_eq!(lens[0]["command"]["title"], "3 backlinks");
    // A text that is open hides its file until it is closed.
    fs::write(project.path().join(M), "---\nid: qp-m\ntitle: Other\n---\n").unwrap();
    let found = |client: &mut LspClient| client.request("workspace/symbol", json!({"query": "Other"}));
    assert_eq!(found(&mut client), json!([]));
    client.close_text(M);
    assert_eq!(found(&mut client)[0]["name"], "Other");
    fs::remove_dir_all(project.path().join(".qipu")).unwrap();
    assert_eq!(found(&mut client), json!([]));
    fs::create_dir_all(project.path().join(".qipu/notes")).unwrap();
    fs::write(project.path().join(".qipu/notes/x.md"), "---\ntitle: Other again\n---\n").unwrap();
    assert_eq!(found(&mut client)[0]["name"], "Other again");
}

#[test]
fn nothing_outside_of_the_store_is_answered() {
    let project = project();
    let outside = temp_dir();
    let text = "---\nid: out\ntitle: Outside\n---\n[[qp-a]]";
    fs::write(outside.path().join("out.md"), text).unwrap();
    let mut client = open_all(&project);
    let mut paths = vec![
        outside.path().join("out.md"),
        root(&project).join("README.md"),
        root(&project).join(".qipu/templates/t.md"),
    ];
    fs::create_dir(project.path().join(".qipu/templates")).unwrap();
    #[cfg(unix)]
    {
        let link = root(&project).join(".qipu/notes/link.md");
        std::os::unix::fs::symlink(outside.path().join("out.md"), &link).unwrap();
        paths.push(link);
    }
    for path in paths {
        let path = path.to_str().unwrap();
        client.open(path, text);
        assert_eq!(client.at("textDocument/definition", path, 4, 3), Value::Null, "{path}");
        assert_eq!(client.at("textDocument/hover", path, 4, 3), Value::Null);
        assert_eq!(client.request("workspace/symbol", json!({"query": "Outside"})), json!([]));
    }
}

#[test]
fn the_unit_of_columns_is_agreed_on() {
    let project = project();
    let text = "---\nid: qp-u\ntitle: U\n---\n\n😀é [[qp-a]]\n";
    for (is_utf8, name, column) in [(true, "utf-8", 7), (false, "utf-16", 4)] {
        let mut client = LspClient::start_uninitialized(&root(&project));
        let encodings = if is_utf8 { json!(["utf-16", "utf-8"]) } else { Value::Null };
        let capabilities = json!({"general": {"positionEncodings": encodings}});
        let capabilities = if is_utf8 { capabilities } else { json!({}) };
        let root = crate::support::lsp_client::uri(&root(&project));
        let params = json!({"processId": null, "rootUri": root, "capabilities": capabilities});
        let result = client.request("initialize", params);
        assert_eq!(result["capabilities"]["positionEncoding"], name);
        let path = ".qipu/notes/qp-u.md";
        client.open(path, text);
        assert_eq!(client.at("textDocument/definition", path, 5, column - 1), Value::Null, "{name}");
        assert_eq!(places(&client.at("textDocument/definition", path, 5, column)), [place("qp-a-first.md", 0)]);
    }
}

#[test]
fn the_protocol_is_kept() {
    let project = project();
    let mut client = LspClient::start_uninitialized(&root(&project));
    assert!(client.refusal("textDocument/hover", json!({})).contains("not initialized"));
    client.notify("textDocument/didOpen", json!({}));
    drop(client);
    let mut client = LspClient::start(&root(&project), false);
    assert!(client.refusal("initialize", json!({"capabilities": {}})).contains("initialized already"));
    assert!(client.refusal("textDocument/unheardOf", json!({})).contains("unknown method"));
    assert!(client.refusal("textDocument/hover", json!({"position": 1})).contains("invalid type"));
    client.notify("textDocument/didChange", json!({"textDocument": 3}));
    client.notify("$/unheardOf", Value::Null);
    for (bytes, code) in
        [("Content-Length: 3\r\n\r\n{]}", -32700), ("Content-Length: 2\r\n\r\n[]", -32600), ("X: y\r\n\r\n", -32700)]
    {
        client.send_bytes(bytes.as_bytes());
        assert_eq!(client.read()["error"]["code"], code);
    }
    // A request that is cancelled before it is begun is answered too: both arrive at once.
    let message = |content: Value| format!("Content-Length: {}\r\n\r\n{content}", content.to_string().len());
    let all: Vec<String> = vec![
        message(json!({"jsonrpc": "2.0", "id": "first", "method": "workspace/symbol", "params": {"query": ""}})),
        message(json!({"jsonrpc": "2.0", "id": "x", "method": "workspace/symbol", "params": {"query": ""}})),
        message(json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "x"}})),
    ];
    client.send_bytes(all.concat().as_bytes());
    let answers = [client.read(), client.read()];
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!("first"), &json!("x")));
    let cancelled = &answers[1]["error"]["code"];
    assert!(*cancelled == -32800 || answers[1].get("result").is_some(), "{answers:?}");
    client.request("shutdown", Value::Null);
    assert!(client.refusal("workspace/symbol", json!({"query": ""})).contains("shut down"));
    client.notify("exit", Value::Null);
    assert!(client.server.wait().unwrap().success());
}

#[test]
fn a_message_that_is_too_long_is_answered_at_once() {
    let project = project();
    let mut client = LspClient::start(&root(&project), false);
    client.send_bytes(format!("Content-Length: {}\r\n\r\n", 65 * 1024 * 1024).as_bytes());
    assert_eq!(client.read()["error"]["code"], -32600);
    client.send_bytes(&vec![b'x'; 65 * 1024 * 1024]);
    client.request("workspace/symbol", json!({"query": ""}));
    client.send_bytes(b"Content-Length: 9999999999999\r\n\r\n");
    assert_eq!(client.read()["error"]["code"], -32600);
    assert!(!client.server.wait().unwrap().success(), "nobody knows where the next message begins");
}

#[test]
fn the_server_ends_with_its_client() {
    let project = project();
    let mut client = open_all(&project);
    client.close();
    assert!(!client.server.wait().unwrap().success(), "the protocol asks for an error without a shutdown");
    // The process of the client ends, and its pipe stays open.
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let mut client = LspClient::start_uninitialized(&root(&project));
    client.request("initialize", json!({"processId": other.id(), "capabilities": {}}));
    client.request("workspace/symbol", json!({"query": ""}));
    other.kill().unwrap();
    other.wait().unwrap();
    if cfg!(target_os = "linux") {
        expect_to_end(move || client.server.wait().unwrap());
    }
}
