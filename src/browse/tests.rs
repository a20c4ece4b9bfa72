//! Tests only: the browser without a terminal, on the fixtures.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;
use ratatui::style::Color;

use super::areas::Focus;
use super::browser::Browser;
use super::model::Overlay;
use super::store_client::StoreClient;
use super::theme::Theme;
use super::update::Effect;
use super::view;
use crate::store::Location;

fn open(dir: &Path, query: &str) -> Browser {
    let location = Location { no_index: true, ..Location::default() };
    let client = StoreClient::open(&location, dir).unwrap();
    Browser::new(client, Size::new(80, 24), Theme { has_color: true }, query).unwrap()
}

fn fixture(name: &str, query: &str) -> Browser {
    open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name), query)
}

/// Creates a store of notes, given with their ids.
fn store(notes: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    for (id, text) in notes {
        fs::write(dir.path().join(format!(".qipu/notes/{id}.md")), text).unwrap();
    }
    dir
}

fn press(browser: &mut Browser, code: KeyCode) -> Effect {
    browser.handle_key(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Presses keys that neither need the terminal nor quit.
fn press_all(browser: &mut Browser, codes: &[KeyCode]) {
    codes.iter().for_each(|code| assert_eq!(press(browser, *code), Effect::Nothing));
}

fn control(browser: &mut Browser, letter: char) -> Effect {
    browser.handle_key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
}

fn type_in(browser: &mut Browser, text: &str) {
    text.chars().for_each(|c| assert_eq!(press(browser, KeyCode::Char(c)), Effect::Nothing));
}

/// Loads the links and draws the browser on a terminal of a size in cells.
fn drawn(browser: &mut Browser, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    browser.load_links();
    browser.model.size = Size::new(width, height);
    browser.model.clamp_to_screen();
    terminal.draw(|frame| view::draw(&browser.model, frame)).unwrap();
    terminal
}

/// Returns the screen as lines of text.
fn screen(browser: &mut Browser, width: u16, height: u16) -> String {
    let terminal = drawn(browser, width, height);
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for y in 0..height {
        let mut line = String::new();
        let mut covered = 0;
        for x in 0..width {
            let symbol = buffer[(x, y)].symbol();
            if covered == 0 {
                line.push_str(symbol);
            }
            covered = super::text::width(symbol).max(covered).saturating_sub(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn expect(name: &str, browser: &mut Browser) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    for (width, height) in [(80, 24), (120, 40), (20, 5)] {
        let picture = screen(browser, width, height);
        settings.bind(|| insta::assert_snapshot!(format!("browse@{name}@{width}x{height}"), picture));
    }
}

#[test]
fn every_screen_equals_its_snapshot() {
    let mut browser = fixture("research", "");
    expect("list", &mut browser);
    type_in(&mut browser, "retry fsync");
    expect("found", &mut browser);
    press_all(&mut browser, &[KeyCode::Enter, KeyCode::PageDown]);
    expect("note", &mut browser);
    press(&mut browser, KeyCode::Tab);
    expect("links", &mut browser);
    press(&mut browser, KeyCode::Char('?'));
    expect("help", &mut browser);
    press(&mut browser, KeyCode::Esc);
    control(&mut browser, 'g');
    expect("tags", &mut browser);
    press_all(&mut browser, &[KeyCode::Esc, KeyCode::F(2)]);
    expect("worklist", &mut browser);
    expect("hostile", &mut fixture("hostile", ""));
    expect("languages", &mut fixture("languages", ""));
}

/// `QIPU_UPDATE_DOCS=1 cargo test --lib browse` updates the screen in the guide.
#[test]
fn guide_shows_the_current_screen() {
    let picture = screen(&mut fixture("research", "torn"), 100, 11);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/guide/people.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("```text\nfind ❯").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    let true_page = format!("{before}```text\n{picture}```\n{after}");
    match std::env::var_os("QIPU_UPDATE_DOCS") {
        Some(_) => fs::write(path, true_page).unwrap(),
        None => assert!(page == true_page, "the guide is not true: it should show\n{picture}"),
    }
}

#[test]
fn typing_filters_and_text_search_ranks_as_the_command_does() {
    let mut browser = fixture("research", "");
    let all = browser.model.row_count();
    type_in(&mut browser, "retry until");
    assert_eq!(browser.model.selected().unwrap().id.as_str(), "qp-h2v6");
    assert!(browser.model.row_count() < all);
    control(&mut browser, 'u');
    assert_eq!(browser.model.row_count(), all);
    type_in(&mut browser, "what happens when fsync fails");
    control(&mut browser, 'f');
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/research");
    let store = crate::commands::open_to_search(&Location::default(), &dir).unwrap();
    let search = crate::request::SearchRequest {
        query: "what happens when fsync fails".to_owned(),
        no_compaction: true,
        ..Default::default()
    };
    let report = crate::commands::run_on(&crate::request::ReadCommand::Search(search), &store).unwrap();
    let wanted: Vec<_> = report.entries.iter().filter_map(|entry| Some(entry.note()?.note.id.clone())).collect();
    let rows: Vec<_> =
        (0..browser.model.row_count()).map(|row| browser.model.note_in_row(row).unwrap().id.clone()).collect();
    assert!(rows.len() > 3);
    assert_eq!(rows, wanted);
    press(&mut browser, KeyCode::Esc);
    assert_eq!(browser.model.row_count(), all, "Esc clears what was searched for");
    assert_eq!(press(&mut browser, KeyCode::Esc), Effect::Quit);
}

#[test]
fn links_are_followed_and_the_history_goes_back_and_forward() {
    let dir = store(&[
        ("qp-aaaa", "---\nid: qp-aaaa\ntitle: First\nlinks:\n- {type: supports, id: qp-bbbb}\n---\n[[nowhere]]\n"),
        ("qp-bbbb", "---\nid: qp-bbbb\ntitle: Second\n---\n[[qp-cccc]]\n"),
        ("qp-cccc", "---\nid: qp-cccc\ntitle: Third\n---\n"),
    ]);
    let mut browser = open(dir.path(), "first");
    let shown = |browser: &Browser| browser.model.page.as_ref().unwrap().id.to_string();
    press_all(&mut browser, &[KeyCode::Enter, KeyCode::Enter]);
    assert_eq!((browser.model.focus, shown(&browser)), (Focus::Links, "qp-aaaa".to_owned()));
    // The links are not loaded yet: the key loads them.
    press(&mut browser, KeyCode::Enter);
    assert_eq!((browser.model.focus, shown(&browser)), (Focus::Note, "qp-bbbb".to_owned()));
    browser.load_links();
    let text = screen(&mut browser, 100, 30);
    assert!(text.contains("→ related Third"), "{text}");
    assert!(text.contains("← supports First"), "{text}");
    press_all(&mut browser, &[KeyCode::Tab, KeyCode::Enter]);
    assert_eq!(shown(&browser), "qp-cccc");
    press_all(&mut browser, &[KeyCode::Left, KeyCode::Left]);
    assert_eq!(shown(&browser), "qp-aaaa");
    press(&mut browser, KeyCode::Left);
    assert!(browser.model.status.is_some(), "the status line says that the history has no earlier note");
    press_all(&mut browser, &[KeyCode::Right, KeyCode::Right]);
    assert_eq!(shown(&browser), "qp-cccc");
    press_all(&mut browser, &[KeyCode::Left, KeyCode::Left, KeyCode::Enter, KeyCode::Down, KeyCode::Enter]);
    assert!(browser.model.status.as_ref().unwrap().contains("no such note"));
    assert_eq!(control(&mut browser, 'z'), Effect::Suspend);
    assert_eq!(control(&mut browser, 'c'), Effect::Quit);
}

#[test]
fn filters_apply_to_the_list_and_to_searches() {
    let mut browser = fixture("research", "");
    let all = browser.model.row_count();
    control(&mut browser, 't');
    assert!(matches!(browser.model.overlay, Overlay::Pick(_)));
    type_in(&mut browser, "moc");
    press(&mut browser, KeyCode::Enter);
    let maps = browser.model.row_count();
    assert!(0 < maps && maps < all);
    assert!((0..maps).all(|row| browser.model.note_in_row(row).unwrap().flags.is_moc));
    type_in(&mut browser, "fsync");
    control(&mut browser, 'f');
    assert!(browser.model.row_count() <= maps && browser.model.row_count() > 0);
    press_all(&mut browser, &[KeyCode::Esc, KeyCode::Esc]);
    assert_eq!(browser.model.row_count(), all, "Esc takes filters away before it quits");
}

#[test]
fn a_reload_shows_changes_on_disk_and_keeps_the_selection() {
    let dir = store(&[("qp-aaaa", "---\nid: qp-aaaa\ntitle: First\n---\nold\n"), ("qp-bbbb", "# Second\n")]);
    let mut browser = open(dir.path(), "");
    while browser.model.selected().unwrap().id.as_str() != "qp-bbbb" {
        press(&mut browser, KeyCode::Down);
    }
    fs::write(dir.path().join(".qipu/notes/qp-bbbb.md"), "# Second, again\n").unwrap();
    fs::write(dir.path().join(".qipu/notes/qp-cccc.md"), "# Third\n").unwrap();
    control(&mut browser, 'r');
    assert_eq!(browser.model.row_count(), 3);
    assert_eq!(browser.model.selected().unwrap().id.as_str(), "qp-bbbb");
    assert!(screen(&mut browser, 100, 30).contains("Second, again"));
    control(&mut browser, 'r');
    assert!(!browser.has_pending_links(), "the note keeps its links, and so its rows and its position");
    press(&mut browser, KeyCode::Enter);
    fs::remove_file(dir.path().join(".qipu/notes/qp-bbbb.md")).unwrap();
    press(&mut browser, KeyCode::Char('r'));
    assert_eq!(browser.model.row_count(), 2);
    assert!(screen(&mut browser, 100, 30).contains("qp-bbbb no longer exists"));
}

#[test]
fn the_open_note_is_edited_and_copied() {
    let mut browser = fixture("research", "retry until");
    let id = || crate::note::NoteId::parse("qp-h2v6").unwrap();
    assert_eq!(control(&mut browser, 'y'), Effect::Copy(id()));
    assert_eq!(control(&mut browser, 'o'), Effect::Edit(id()));
    press(&mut browser, KeyCode::Enter);
    assert_eq!(press(&mut browser, KeyCode::Char('y')), Effect::Copy(id()));
    assert_eq!(press(&mut browser, KeyCode::Char('e')), Effect::Edit(id()));
    assert_eq!(press(&mut browser, KeyCode::Char('q')), Effect::Quit);
    let mut clipboard = Vec::new();
    super::copy_to_clipboard(&mut clipboard, "qp-h2v6").unwrap();
    assert_eq!(clipboard, b"\x1b]52;c;cXAtaDJ2Ng==\x07");
}

/// Carries out a decision as `person` does, and reads the store again.
fn decide(dir: &Path, browser: &mut Browser, effect: Effect) -> String {
    let Effect::Decide(decision) = effect else { panic!("no decision: {effect:?}") };
    let change = decision.request("Inès", "2025-03-31".to_owned());
    let env = crate::env::Env {
        current_dir: dir.into(),
        vars: std::collections::BTreeMap::new(),
        is_only_call: false,
        ..crate::env::Env::of_process().unwrap()
    };
    let today = crate::env::Today::new(Some("2025-03-31".parse().unwrap()), || unreachable!("the day is given"));
    let location = Location { no_index: true, today, ..Location::default() };
    let report = crate::commands::run_change(&change, &location, &env).unwrap();
    browser.reload().unwrap();
    super::summary_line(&report)
}

#[test]
fn the_worklist_is_settled_with_keys() {
    let long = "The queue keeps each job until a worker confirms it, and then forgets it for good and all.";
    let note = |id: &str, fields: &str, body: &str| format!("---\nid: {id}\n{fields}\n---\n{body}\n");
    let dir = store(&[
        ("n1", &note("n1", "title: Limit\nlimit: 3\ncreated: 2024-01-01\nlinks: [{id: n5}]", "Three.")),
        ("n2", &note("n2", "title: Limit\nlimit: 5\ncreated: 2024-05-01\nlinks: [{id: n5}]", "Five.")),
        ("n3", &note("n3", "title: Guess\nstatus: draft\nvalue: 90\nlinks: [{id: n5}]", "A guess.")),
        ("n4", &note("n4", "title: Wrong\nstatus: draft\nverified: true\nlinks: [{id: n5}]", "A wrong guess.")),
        ("n5", &note("n5", "title: Queue", long)),
        ("n6", &note("n6", "title: Jobs\nlinks: [{id: n5}]", long)),
    ]);
    let text = |id: &str| fs::read_to_string(dir.path().join(format!(".qipu/notes/{id}.md"))).unwrap();
    let mut browser = open(dir.path(), "");
    control(&mut browser, 'v');
    let picture = screen(&mut browser, 80, 24);
    assert!(picture.contains("To review: 4") && picture.contains("contradiction Limit (n1)"), "{picture}");
    // A change that removes a note needs its key twice, on one entry.
    assert_eq!(press(&mut browser, KeyCode::Char('s')), Effect::Nothing);
    assert!(screen(&mut browser, 80, 24).contains("press s again to let n2 supersede n1"));
    press_all(&mut browser, &[KeyCode::Down, KeyCode::Char('x'), KeyCode::Up, KeyCode::Char('s')]);
    let effect = press(&mut browser, KeyCode::Char('s'));
    assert!(decide(dir.path(), &mut browser, effect).contains("changed .qipu/notes/n2.md"));
    assert!(text("n1").contains("status: superseded") && text("n2").contains("type: supersedes"));
    // The next entry takes its place.
    assert!(screen(&mut browser, 80, 24).contains("To review: 3"));
    press(&mut browser, KeyCode::Char('m'));
    assert!(screen(&mut browser, 80, 24).contains("this entry names no other note"));
    let effect = press(&mut browser, KeyCode::Char('a'));
    decide(dir.path(), &mut browser, effect);
    let accepted =
        "status: stable\nvalue: 90\nlinks: [{id: n5}]\nverified:\n  - by: \"human:Inès\"\n    at: \"2025-03-31\"\n";
    assert!(text("n3").contains(accepted), "{}", text("n3"));
    assert_eq!(press(&mut browser, KeyCode::Char('e')), Effect::Edit(crate::note::NoteId::parse("n4").unwrap()));
    press_all(&mut browser, &[KeyCode::Char('x')]);
    let effect = press(&mut browser, KeyCode::Char('x'));
    decide(dir.path(), &mut browser, effect);
    assert!(text("n4").contains("status: rejected\nverified: true"), "{}", text("n4"));
    press_all(&mut browser, &[KeyCode::Char('m')]);
    let effect = press(&mut browser, KeyCode::Char('m'));
    decide(dir.path(), &mut browser, effect);
    assert!(!dir.path().join(".qipu/notes/n6.md").exists());
    assert!(screen(&mut browser, 80, 24).contains("Nothing to review"));
    press_all(&mut browser, &[KeyCode::Char('a'), KeyCode::Enter, KeyCode::Esc]);
    assert!(matches!(browser.model.overlay, Overlay::None));
}

#[test]
fn an_accepted_note_is_due_again_later() {
    let dir = store(&[
        (
            "n1",
            "---\nid: n1\nstale_after: 2025-01-01\ncustom: {status: settled, valid_until: 2025-02-01}\nverified: false\n---\nA.\n",
        ),
        ("n2", "---\nid: n2\nverified:\n- {by: human:Ann, at: 2024-01-01}\nstale_after: 2025-03-31\n---\nB.\n"),
    ]);
    let text = |id: &str| fs::read_to_string(dir.path().join(format!(".qipu/notes/{id}.md"))).unwrap();
    let mut browser = open(dir.path(), "");
    for id in ["n1", "n2"] {
        let accept = super::worklist::Decision::Accept(crate::note::NoteId::parse(id).unwrap());
        decide(dir.path(), &mut browser, Effect::Decide(accept));
    }
    let first = text("n1");
    for line in [
        "stale_after: \"2025-06-29\"",
        "status: settled, valid_until: 2025-06-29",
        "verified:\n  - by: \"human:Inès\"\n",
    ] {
        assert!(first.contains(line), "{line}: {first}");
    }
    let second = text("n2");
    let verified = "verified:\n- {by: human:Ann, at: 2024-01-01}\n- by: \"human:Inès\"\n  at: \"2025-03-31\"\n";
    assert!(second.contains(verified) && second.contains("status: stable"), "{second}");
}

#[test]
fn an_empty_store_can_be_browsed() {
    let dir = store(&[]);
    let mut browser = open(dir.path(), "x");
    for code in [KeyCode::Enter, KeyCode::Tab, KeyCode::BackTab, KeyCode::Down, KeyCode::Esc] {
        press(&mut browser, code);
    }
    assert!(screen(&mut browser, 80, 24).contains("The store has no notes yet."));
}

#[test]
fn only_the_sixteen_colours_of_the_terminal_are_used_or_none() {
    for has_color in [true, false] {
        let mut browser = fixture("research", "fsync");
        browser.model.theme = Theme { has_color };
        let terminal = drawn(&mut browser, 120, 40);
        let colors: Vec<Color> =
            terminal.backend().buffer().content().iter().flat_map(|cell| [cell.fg, cell.bg]).collect();
        assert_eq!(colors.iter().any(|color| *color != Color::Reset), has_color);
        assert!(!colors.iter().any(|color| matches!(color, Color::Rgb(..) | Color::Indexed(_))));
    }
}

/// Generates keys; most have an effect.
fn key() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        3 => prop::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::BackTab, KeyCode::Up, KeyCode::Down, KeyCode::Left,
            KeyCode::Right, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home, KeyCode::End, KeyCode::Backspace,
            KeyCode::Delete, KeyCode::F(1), KeyCode::F(2),
        ]),
        2 => prop::sample::select("acefghjklmnoprstuvwxy?/# !^'é日".chars().map(KeyCode::Char).collect::<Vec<_>>()),
        1 => any::<char>().prop_map(KeyCode::Char),
    ];
    let modifiers =
        prop::sample::select(vec![KeyModifiers::NONE, KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT]);
    (code, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

/// Generates texts that try to break the layout or to control the terminal.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\u{1b}[2J\u{9b}31m\u{7}".to_owned()),
        Just("\u{202e}\u{2066}\u{200e}".to_owned()),
        Just("日本語👨‍👩‍👧\u{ff9e}".to_owned()),
        Just(format!("a{}", "\u{301}".repeat(40))),
        Just("ᄀ".repeat(30)),
        Just("\u{200b}\u{ad}\u{2028}\u{85}\u{0}".to_owned()),
        Just("\t- *a **b `c` [[d]]\n> # q\n1. x\n```\n".to_owned()),
        Just("word ".repeat(30)),
        "\\PC{0,20}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases())]

    /// Any keys on any notes at any size draw a screen without control characters.
    #[test]
    fn hostile_notes_send_no_control_characters(
        notes in prop::collection::vec((hostile_text(), hostile_text(), hostile_text()), 0..4),
        keys in prop::collection::vec((key(), 0_u16..130, 0_u16..45), 1..30),
    ) {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let dir = store(&[]);
        for (note_idx, (title, tag, body)) in notes.iter().enumerate() {
            let (title, tag) = (quoted(title), quoted(tag));
            let text = format!("---\nid: qp-{note_idx}\ntitle: {title}\ntype: {tag}\ntags: [{tag}]\nlinks:\n- {{type: {tag}, id: qp-0}}\n---\n{body}[[qp-1]]");
            fs::write(dir.path().join(format!(".qipu/notes/{note_idx}.md")), text).unwrap();
        }
        let mut browser = open(dir.path(), "");
        for (key, width, height) in keys {
            browser.handle_key(key);
            let terminal = drawn(&mut browser, width, height);
            for cell in terminal.backend().buffer().content() {
                let is_harmful = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}');
                prop_assert!(!cell.symbol().contains(is_harmful), "{:?}", cell.symbol());
            }
        }
    }
}

/// Returns a configuration with the same cases in every run, so that a failure is caused by the change that is tested;
/// with other cases in each run if `QIPU_RANDOM_CASES` is set.
fn cases() -> ProptestConfig {
    let config = ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() };
    match std::env::var_os("QIPU_RANDOM_CASES") {
        Some(_) => config,
        None => ProptestConfig { rng_seed: RngSeed::Fixed(1), ..config },
    }
}
