//! Answers on a terminal: colours, lines that end where it does, days in words, markdown as it is meant.
//! In process, where the terminal is simulated; `tests/support/pty.rs` has a real one.

use crate::support::generators::{commands, runner, stores};
use crate::support::process::{call, call_on_terminal};
use jiff::civil::date;
use proptest::prelude::*;
use qipu::Screen;
use qipu::commands::run_on;
use qipu::fit::fit;
use qipu::request::{Budget, Format};
use regex::Regex;

fn screen(columns: usize, has_color: bool) -> Screen {
    Screen { is_terminal: true, has_color, columns: Some(columns), today: Some(date(2025, 3, 31)) }
}

/// The law of fit holds for the text that is written, colours and all; and only our own colours are in it.
#[test]
fn budgets_and_colours_are_correct_on_any_screen() {
    let color = Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    let strategy = (stores(), prop::collection::vec(0_usize..4000, 2), 1_usize..120, any::<bool>());
    let check = |text: &str| {
        let plain = color.replace_all(text, "");
        let steers =
            |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!plain.contains(steers), "{plain:?}");
        let is_reset = |found: &str| found == "\u{1b}[0m";
        let last = color.find_iter(text).last();
        assert!(last.is_none_or(|last| is_reset(last.as_str())), "a colour stays on: {text:?}");
    };
    runner(6)
        .run(&strategy, |(store, budgets, columns, has_color)| {
            let screen = screen(columns, has_color);
            for command in commands(&store) {
                let Ok(report) = run_on(&command, &store) else { continue };
                let whole = fit(&report, Budget::default(), Format::Human, screen).unwrap();
                check(&whole);
                assert!(has_color || !whole.contains('\u{1b}'));
                let length = whole.chars().count();
                for max in budgets.iter().copied().chain([length, length.saturating_sub(1), length / 2]) {
                    let budget = Budget { max_chars: Some(max), ..Budget::default() };
                    if let Ok(text) = fit(&report, budget, Format::Human, screen) {
                        prop_assert!(text.chars().count() <= max);
                        prop_assert!(text == whole || max < length);
                        check(&text);
                    } else {
                        prop_assert!(max < length);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Defines a test for each call whose answer on a terminal, plain and in colour, is a snapshot.
macro_rules! snapshots_on_a_terminal {
    ($($test:ident: $store:literal, $case:literal, [$($word:literal),*];)*) => {
        $(#[test]
        fn $test() {
            check_on_a_terminal($store, $case, &[$($word),*]);
        })*
    };
}

snapshots_on_a_terminal! {
    list_on_a_terminal: "research", "list", ["list", "--tag", "errors"];
    search_on_a_terminal: "research", "search", ["search", "fsync again", "--limit", "3"];
    show_on_a_terminal: "research", "show", ["show", "qp-h2v6", "--today", "2025-03-31"];
    context_on_a_terminal: "research", "context", ["context", "--note", "qp-9f2t", "--banner"];
    blocks_on_a_terminal: "research", "blocks",
        ["context", "--query", "fsync from last week", "--blocks", "top", "--limit", "3", "--today", "2025-03-31"];
    link_tree_on_a_terminal: "research", "link-tree",
        ["link", "tree", "qp-9f2t", "--max-hops", "2", "--limit", "12"];
    tags_on_a_terminal: "research", "tags", ["status", "--tags"];
    doctor_on_a_terminal: "hostile", "doctor", ["doctor"];
    show_hostile_notes_on_a_terminal: "hostile", "show", ["show", "forged-records", "escapes", "--links"];
}

fn check_on_a_terminal(store: &str, case: &str, args: &[&str]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    let shown = |columns, has_color| {
        let answer = call_on_terminal(&format!("fixtures/{store}"), args, columns, has_color);
        format!("==== {columns} columns\n{}", answer.stdout.replace('\u{1b}', "ESC"))
    };
    insta::assert_snapshot!(format!("terminal@{store}@{case}"), shown(60, false) + &shown(100, true));
}

/// `--color` overrides the terminal and the variables, in both directions.
#[test]
fn flags_override_the_choice_of_colours() {
    let colored = |args: &[&str], has_color| {
        call_on_terminal("fixtures/research", &[&["status", "--tags"][..], args].concat(), 80, has_color)
            .stdout
            .contains('\u{1b}')
    };
    assert!(colored(&[], true) && colored(&["--color", "auto"], true) && colored(&["--color=always"], false));
    assert!(!colored(&[], false) && !colored(&["--color", "never"], true));
    let piped = |args: &[&str]| call("fixtures/research", args).stdout;
    assert!(piped(&["status", "--tags", "--color", "always"]).contains('\u{1b}'));
    for format in ["json", "records"] {
        let words = ["list", "--format", format];
        assert_eq!(piped(&[words.as_slice(), &["--color", "always"]].concat()), piped(&words));
        assert_eq!(call_on_terminal("fixtures/research", &words, 40, true).stdout, piped(&words), "{format}");
    }
    let hook = ["hook", "claude", "SessionStart"];
    assert_eq!(call_on_terminal("fixtures/research", &hook, 40, true).stdout, piped(&hook));
}
