//! Answers about stores that are made of the input: every command, format and budget.

use qipu::Screen;
use qipu::commands::run_on;
use qipu::fit::fit;
use qipu::in_process::ids_of_records;
use qipu::note::Note;
use qipu::report::{HookEnvelope, Report};
use qipu::request::{Budget, Filters, Format, ListRequest, ReadCommand, SearchRequest, TasksRequest};
use qipu::store::{Config, Store};

use super::answer_laws::{chars, check, check_form, check_tool_result, hidden, write};
use super::commands::{commands, everything, passages, question};
use super::input::Input;
use super::world::World;

const FORMATS: [Format; 3] = [Format::Human, Format::Json, Format::Records];

/// The paths of files that name none.
const PATHS: [&str; 6] =
    ["notes/n0.md", "notes/n1.md", "mocs/n2.md", "journals/2025-03-05.md", "notes/deep/日本 4.md", "notes/n5.md"];

/// Returns the files of an input. One that begins with `@` has its path in its first line.
pub(crate) fn files(input: &Input<'_>) -> Vec<(String, Vec<u8>)> {
    let named = |part: &[u8]| {
        let end = part.iter().position(|byte| *byte == b'\n')?;
        let path = std::str::from_utf8(part[..end].strip_prefix(b"@")?).ok()?;
        let is_inside = path.split('/').all(|name| !matches!(name, "" | "." | "..") && name.len() < 100);
        let is_note = ["notes/", "mocs/", "journals/"].iter().any(|folder| path.starts_with(folder));
        (is_inside && is_note && !path.contains('\0')).then(|| (path.to_owned(), part[end + 1..].to_vec()))
    };
    let parts = input.parts(PATHS.len()).into_iter().zip(PATHS);
    let mut files: Vec<_> =
        parts.map(|(part, path)| named(part).unwrap_or_else(|| (path.to_owned(), part.to_vec()))).collect();
    files.sort();
    files.dedup_by(|second, first| second.0 == first.0);
    files
}

fn store_of(files: Vec<(String, Vec<u8>)>, config: Config) -> Store {
    let notes = files.into_iter().map(|(path, bytes)| Note::parse(&path, bytes)).collect();
    Store::from_notes(".qipu/".to_owned(), config, notes)
}

/// A store for inputs that are no notes.
fn fixed_store(config: Config) -> Store {
    let texts = [
        "---\nid: n0\ntitle: Fsync fails\ntype: decision\ntags: [all, disk]\nvalue: 80\nupdated: 2025-03-01\nsummary: Abort.\n\
         links:\n- {type: supports, id: n1}\ncustom: {status: accepted, k: 3}\n---\n# Fsync\n\nWord item fsync. [[n1]]\n\n\
         ## Why\n\nA failed `fsync` is not retried.\n\n- [ ] task one\n- [x] task two\n",
        "---\nid: n1\ntitle: 日本語のノート\ntags: [all]\nvalue: 20\nstatus: draft\n---\nCaches are rebuilt after a crash.\n",
        "---\nid: n2\ntitle: Title 2\ntype: moc\n---\n1. [[n0]]\n2. [[n1|label]]\n",
        "---\nid: j\ntitle: 2025-03-05\ntype: journal\n---\n- fsync again, see [[n0]]\n- \"quoted\" words\n",
    ];
    let files = texts.iter().zip(PATHS).map(|(text, path)| (path.to_owned(), text.as_bytes().to_vec()));
    store_of(files.collect(), config)
}

/// Checks the answer to a command in one format: without a budget, with the given one, and with those around its length.
fn check_answer(command: &ReadCommand, store: &Store, format: Format, budget: usize) {
    let Ok(mut report) = run_on(command, store) else { return };
    let is_result = matches!(format, Format::ToolResult { .. });
    if is_result {
        report.head.banner = Some(true);
    }
    let whole = write(&report, None, format).expect("without a budget everything fits");
    assert_eq!(Ok(&whole), write(&report, None, format).as_ref().map_err(|_| ()), "twice is not the same");
    check_form(&whole, format, command);
    assert_eq!(hidden(&whole), Vec::<char>::new(), "{command:?} as {format:?}:\n{whole}");
    let length = chars(&whole);
    for budget in [budget, length, length.saturating_sub(1), length / 2] {
        check(&report, &whole, budget, format, command);
        if let (true, Ok(text)) = (is_result, write(&report, Some(budget), format)) {
            check_tool_result(&text, format);
        }
    }
    check_on_terminal(&report, command);
}

fn check_on_terminal(report: &Report, command: &ReadCommand) {
    let screen = Screen { is_terminal: true, has_color: false, columns: Some(60), today: None };
    let text = fit(report, Budget::default(), Format::Human, screen).unwrap();
    assert_eq!(hidden(&text), Vec::<char>::new(), "{command:?} on a terminal:\n{text}");
    if report.head.layout.name == "export.links" {
        let text = fit(report, Budget::default(), Format::Page, Screen::default()).unwrap();
        let (_, data) = text.split_once("id=\"data\">").expect("a page has data");
        let data = data.split_once("</script>").expect("the data end").0;
        serde_json::from_str::<serde_json::Value>(data).unwrap_or_else(|error| panic!("{error}: {data}"));
        assert_eq!(hidden(data), Vec::<char>::new(), "{command:?} as a page:\n{data}");
    }
    if report.head.layout.name == "prime" {
        let text = fit(report, Budget::default(), Format::Hook(HookEnvelope::SESSION_START), screen).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    }
}

fn format(input: &mut Input<'_>) -> Format {
    match input.number(8) {
        0 | 1 => Format::Human,
        2 | 3 => Format::Json,
        4 | 5 => Format::Records,
        other => Format::ToolResult { is_prompt: false, is_structured: other == 7 },
    }
}

/// The most bytes of an answer without a budget, for each byte of its notes and beside them.
const MAX_GROWTH: usize = 64;
const MAX_FRAME: usize = 64 * 1024;

/// A handful of files through a command, a format and a budget.
pub(crate) fn store(data: &[u8]) {
    let mut input = Input::new(data);
    let (choice, format, budget) = (input.number(256), format(&mut input), input.budget());
    let store = store_of(files(&input), Config::default());
    let commands = commands(&store);
    let command = &commands[choice % commands.len()];
    check_answer(command, &store, format, budget);
    if let Ok(report) = run_on(command, &store) {
        let length = write(&report, None, format).unwrap().len();
        assert!(length <= MAX_GROWTH * data.len() + MAX_FRAME, "{command:?}: {length} bytes of {}", data.len());
    }
}

/// Nothing in a note adds, hides or changes a record: the reader of records finds the notes that JSON has.
pub(crate) fn records(data: &[u8]) {
    let input = Input::new(data);
    let store = store_of(files(&input), Config::default());
    let report = run_on(&everything(&store, true), &store).unwrap();
    let json: serde_json::Value = serde_json::from_str(&write(&report, None, Format::Json).unwrap()).unwrap();
    let ids: Vec<&str> = json["notes"].as_array().unwrap().iter().map(|note| note["id"].as_str().unwrap()).collect();
    let answer = write(&report, None, Format::Records).unwrap();
    assert_eq!(ids_of_records(&answer), ids, "{answer}");
    // Whatever else is read as an answer has no more notes than lines.
    let text = input.text();
    assert!(ids_of_records(&text).len() <= text.lines().count());
}

/// Any words are a query and a question: the answers keep their budget.
pub(crate) fn query(data: &[u8]) {
    let mut input = Input::new(data);
    let (choice, format, budget) = (input.number(4), format(&mut input), input.budget());
    let text = String::from_utf8_lossy(&input.repeated()).into_owned();
    let store = fixed_store(Config::default());
    let command = match choice {
        0 => question(&text, None),
        1 => passages(&text, None),
        2 => ReadCommand::Search(SearchRequest { query: text, explains: true, ..SearchRequest::default() }),
        _ => ReadCommand::Search(SearchRequest { query: text, limit: Some(2), ..SearchRequest::default() }),
    };
    check_answer(&command, &store, format, budget);
    if choice == 0 {
        let report = run_on(&command, &store).unwrap();
        assert!(write(&report, Some(250), format).is_ok() || matches!(format, Format::ToolResult { .. }));
    }
}

/// A filter selects the same notes each time, and its negation the others; a wrong one is refused with its place.
pub(crate) fn filters(data: &[u8]) {
    let mut input = Input::new(data);
    let (format, budget) = (format(&mut input), input.budget());
    let text = input.text().into_owned();
    let store = fixed_store(Config::default());
    let list =
        |filter: String| ReadCommand::List(ListRequest { filters: Filters::of(filter), ..ListRequest::default() });
    let count = |command: &ReadCommand| run_on(command, &store).map(|report| report.count_notes());
    let command = list(text.clone());
    check_answer(&command, &store, format, budget);
    let Ok(selected) = count(&command) else { return };
    if let Ok(others) = count(&list(format!("not ({text}\n)"))) {
        // The list hides some notes unless the filter names their status.
        assert!(selected + others <= store.notes().len(), "{text:?}: {selected} and {others}");
    }
    check_answer(
        &ReadCommand::Tasks(TasksRequest { filters: Filters::of(text), ..TasksRequest::default() }),
        &store,
        format,
        budget,
    );
}

/// Any config is read or refused with its line; a store with it answers.
pub(crate) fn config(data: &[u8]) {
    let mut input = Input::new(data);
    let (choice, format, budget) = (input.number(256), format(&mut input), input.budget());
    let text = input.text();
    match Config::parse(&text) {
        Ok(config) => {
            let store = fixed_store(config);
            let commands = commands(&store);
            check_answer(&commands[choice % commands.len()], &store, format, budget);
        }
        Err(error) => super::world::expect_no_control(&error.to_text(false)),
    }
    let world = World::with_store(&[("config.toml", text.as_bytes()), ("notes/a.md", b"---\nid: a\n---\nText.\n")]);
    for args in [&["list", "--json"][..], &["doctor"], &["status"]] {
        super::world::expect_no_control(&world.call(args, "").text);
    }
}

/// A store on disk gives the same answers without an index, with a new one, and with one that is there; and the answer of the
/// same notes in memory.
pub(crate) fn disk(data: &[u8]) {
    let mut input = Input::new(data);
    let choice = input.number(8);
    let budget = input.budget().to_string();
    let format = input.choose(&["human", "json", "records"]);
    let files = files(&input);
    let world = World::with_store(&[]);
    for (path, bytes) in &files {
        world.write(&format!(".qipu/{path}"), bytes);
    }
    let before = world.tree();
    let words: &[&str] = match choice {
        0 => &["list"],
        1 => &["search", "fsync word title"],
        2 => &["context", "--query", "fsync word title", "--with-body"],
        3 => &["ask", "fsync item n1"],
        4 => &["tasks", "--all"],
        5 => &["export", "links"],
        6 => &["tags"],
        _ => &["doctor"],
    };
    let format = if choice == 5 { "json" } else { format };
    let call = |more: &[&str]| {
        let args = [words, &["--format", format, "--max-chars", &budget], more].concat();
        let outcome = world.call(&args, "");
        assert!(outcome.text.chars().count() <= budget.parse().unwrap(), "{args:?}: {}", outcome.text);
        (outcome.text, outcome.error.map(|error| error.message))
    };
    let plain = call(&["--no-index"]);
    for _ in 0..2 {
        assert_eq!(call(&[]), plain, "{words:?} {format} {budget}");
    }
    assert_eq!(world.tree(), before, "a command that reads wrote something");
}
