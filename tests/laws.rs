//! The laws, as properties over hostile stores: every command, every format, any budget.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use qipu::Screen;
use qipu::commands::run_on;
use qipu::fit::{ShownText, fit, fit_unseen, write_list};
use qipu::note::{Note, NoteId};
use qipu::report::HookEnvelope;
use qipu::request::{Budget, Format, ListRequest, MentionTarget, PrimeRequest, ReadCommand};
use qipu::store::{Config, NoteIdx, Store};
use serde_json::Value;

use crate::support::answer_laws::{BANNER, chars, check, check_form, check_tool_result, hidden, said, write};
use crate::support::generators::{
    self, commands, everything, hook_notes, hostile_text, passages, runner, store_of, stores,
};

const FORMATS: [Format; 3] = [Format::Human, Format::Json, Format::Records];
/// How many cases the ordinary test run must see at least.
const CASES: usize = 10_000;

/// The result of a tool is within the budget as a whole, and valid: as JSON, with a text that begins with the banner, and
/// with the same answer for programs if these are asked for. Every other format begins with the banner too, records after
/// their head.
#[test]
fn results_of_tools_are_within_the_budget_as_a_whole() {
    let cases = AtomicUsize::new(0);
    let formats = [(false, false), (false, true), (true, false), (true, true)];
    let formats = formats.map(|(is_prompt, is_structured)| Format::ToolResult { is_prompt, is_structured });
    runner(40)
        .run(&(stores(), prop::collection::vec(0_usize..6000, 3), 0..formats.len()), |(store, budgets, turn)| {
            for (index, command) in commands(&store).into_iter().enumerate() {
                let Ok(mut report) = run_on(&command, &store) else { continue };
                report.head.banner = Some(true);
                let marks = [
                    (Format::Human, "> "),
                    (Format::Json, "{\"banner\":\""),
                    (Format::Prompt, ""),
                    (Format::Records, "W "),
                ];
                let (other, mark) = marks[(index + turn) % marks.len()];
                let text = write(&report, None, other).unwrap();
                let said = if other == Format::Records { text.split_once('\n').unwrap().1 } else { &text };
                prop_assert!(said.starts_with(&format!("{mark}{BANNER}")), "{:?}: {}", other, text);
                let format = formats[(index / marks.len() + turn) % formats.len()];
                let whole = write(&report, None, format).unwrap();
                let near = [chars(&whole), chars(&whole) - 1, chars(&whole) + 1, chars(&whole) / 2];
                for budget in budgets.iter().copied().chain(near) {
                    cases.fetch_add(1, Ordering::Relaxed);
                    check(&report, &whole, budget, format, &command);
                    if let Ok(text) = write(&report, Some(budget), format) {
                        check_tool_result(&text, format);
                        prop_assert!(budget < chars(&whole) || text == whole);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(cases.into_inner() >= CASES);
}

/// What a hook answers is JSON in any budget, and its string is the human text.
#[test]
fn a_hooks_answer_is_sound() {
    runner(60)
        .run(&(stores(), prop::collection::vec(0_usize..4000, 4)), |(store, budgets)| {
            let prime = PrimeRequest { banner: Some(true), is_hook: true, ..PrimeRequest::default() };
            let report = run_on(&ReadCommand::Prime(prime), &store).unwrap();
            let said = |text: &str| {
                let json: Value = serde_json::from_str(text).unwrap();
                json["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
            };
            let whole = write(&report, None, Format::Hook(HookEnvelope::SESSION_START)).unwrap();
            // Beside the backslashes in the tags of tools.
            let untagged = |text: &str| text.replace("<\\", "<");
            let human = write(&report, None, Format::Human).unwrap();
            prop_assert_eq!(untagged(&said(&whole)), untagged(&human));
            for budget in budgets.into_iter().chain([chars(&whole), chars(&whole) - 1]) {
                if let Ok(text) = write(&report, Some(budget), Format::Hook(HookEnvelope::SESSION_START)) {
                    prop_assert!(chars(&text) <= budget);
                    prop_assert!(text.ends_with("}}\n") && text.lines().count() == 1 && !said(&text).is_empty());
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Returns the longest line of a part of a note, if nothing in it is escaped, and it is long enough to be told from others.
fn telling_line(text: &str) -> Option<&str> {
    let is_plain = |line: &&str| line.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' ');
    text.lines().map(str::trim).filter(is_plain).max_by_key(|line| line.len()).filter(|line| line.len() >= 24)
}

/// What a hook adds to a session: an answer without seen parts is the usual one; one with them is within its budget,
/// shows none of them, and nothing is left of it once its own parts are seen.
#[test]
fn a_hook_shows_nothing_that_was_seen() {
    let (shown, reduced, receipts) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let format = Format::Hook(HookEnvelope::SESSION_START);
    runner(120)
        .run(&(stores(), prop::collection::vec(300_usize..4000, 3), any::<u64>()), |(store, budgets, dice)| {
            let mentions = vec![MentionTarget::Symbol("fsync".to_owned())];
            let commands = [
                hook_notes(Vec::new()),
                hook_notes(mentions),
                passages("fsync word item", None),
                everything(&store, true),
            ];
            for (command, max_chars) in
                commands.iter().flat_map(|command| budgets.iter().map(move |max| (command, *max)))
            {
                let Ok(report) = run_on(command, &store) else { continue };
                let budget = Budget { max_chars: Some(max_chars), ..Budget::default() };
                let ask = |seen: &BTreeSet<ShownText>| fit_unseen(&report, budget, format, &|part| seen.contains(part));
                let Ok(first) = ask(&BTreeSet::new()) else {
                    prop_assert!(write(&report, Some(max_chars), format).is_err());
                    continue;
                };
                let Some((text, parts)) = first else { continue };
                shown.fetch_add(1, Ordering::Relaxed);
                prop_assert_eq!(&text, &write(&report, Some(max_chars), format).unwrap());
                prop_assert!(!parts.is_empty());
                let with_receipt = Format::Hook(HookEnvelope::SESSION_START.with_receipt("systemMessage"));
                let told = fit_unseen(&report, budget, with_receipt, &|_| false).unwrap().unwrap();
                prop_assert!(chars(&told.0) <= max_chars && told.1 == parts, "{}", told.0);
                let [mut answer, alone] = [&told.0, &text].map(|text| serde_json::from_str::<Value>(text).unwrap());
                let receipt = answer.as_object_mut().unwrap().remove("systemMessage");
                prop_assert_eq!(answer, alone);
                if let Some(receipt) = receipt.as_ref().and_then(Value::as_str) {
                    receipts.fetch_add(1, Ordering::Relaxed);
                    prop_assert!(receipt.chars().count() <= 120 && hidden(receipt).is_empty(), "{}", receipt);
                    prop_assert!(!receipt.contains(char::is_control), "{:?}", receipt);
                }
                // Some of the parts were seen, with one that is not in the answer.
                let is_some = |(index, _): &(usize, &ShownText)| dice >> (index % 64) & 1 == 1;
                let other = ("n0".to_owned(), "another part".to_owned());
                let mut seen: BTreeSet<ShownText> =
                    parts.iter().enumerate().filter(is_some).map(|(_, part)| part.clone()).chain([other]).collect();
                let again = ask(&seen).unwrap();
                prop_assert_eq!(&again, &ask(&seen).unwrap());
                let Some((text, new)) = again else { continue };
                reduced.fetch_add(usize::from(new.len() < parts.len()), Ordering::Relaxed);
                prop_assert!(chars(&text) <= max_chars, "{} in {}", chars(&text), max_chars);
                prop_assert!(!new.is_empty() && new.iter().all(|part| parts.contains(part) && !seen.contains(part)));
                for (_, part) in &seen {
                    let Some(line) = telling_line(part) else { continue };
                    let is_elsewhere =
                        new.iter().any(|(_, part)| part.contains(line)) || text.matches(line).count() == 0;
                    prop_assert!(is_elsewhere, "{:?} in {}", line, text);
                }
                seen.extend(new);
                prop_assert_eq!(ask(&parts.iter().cloned().collect()).unwrap(), None);
                prop_assert_eq!(ask(&seen).unwrap(), None);
            }
            Ok(())
        })
        .unwrap();
    let (shown, reduced) = (shown.into_inner(), reduced.into_inner());
    assert!(shown > 300 && reduced > 100, "{shown} {reduced}");
    let receipts = receipts.into_inner();
    assert!(receipts > 100 && receipts < shown, "{receipts} of {shown}");
}

/// An instruction that nobody sees reaches nobody: in no answer of any command and format, nor in what programs make
/// of it, is a character that is invisible or reorders others.
#[test]
fn no_answer_contains_invisible_characters() {
    let terminal = Screen { is_terminal: true, has_color: false, columns: Some(60), today: None };
    let formats = FORMATS.into_iter().chain([Format::Prompt, Format::Hook(HookEnvelope::SESSION_START)]);
    let mut forms: Vec<(Format, Screen)> =
        formats.flat_map(|format| [(format, Screen::default()), (format, terminal)]).collect();
    forms.push((Format::ToolResult { is_prompt: true, is_structured: false }, terminal));
    runner(60)
        .run(&(stores(), 0..forms.len()), |(store, turn)| {
            for (index, command) in commands(&store).into_iter().enumerate() {
                let Ok(report) = run_on(&command, &store) else { continue };
                // Each store takes some of the forms, so that each command meets all of them in a fifth of the time.
                for (format, screen) in forms.iter().cycle().skip(turn + index).step_by(5).take(2) {
                    let text = fit(&report, Budget::default(), *format, *screen).unwrap();
                    for text in [&text, &said(&text, *format)] {
                        prop_assert_eq!(hidden(text), Vec::<char>::new(), "{:?} as {:?}", command, format);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

/// A list without a budget is written in parts. Its text is the one that is written as a whole.
#[test]
fn a_list_that_is_written_in_parts_is_the_same_text() {
    let command = ReadCommand::List(ListRequest::default());
    for count in [40, 17_000] {
        let files = (0..count).map(|number| (format!("notes/{number}.md"), hostile_note(number)));
        let store = store_of(files.collect());
        let report = run_on(&command, &store).unwrap();
        for format in FORMATS {
            let mut parts = Vec::new();
            let is_list = write_list(&report, Budget::default(), format, Screen::default(), &mut parts).unwrap();
            assert!(is_list, "{format:?}");
            assert!(String::from_utf8(parts).unwrap() == write(&report, None, format).unwrap(), "{format:?}");
            let limited = Budget { max_chars: Some(usize::MAX - 1), ..Budget::default() };
            assert!(!write_list(&report, limited, format, Screen::default(), &mut Vec::new()).unwrap());
        }
    }
}

fn hostile_note(number: usize) -> Vec<u8> {
    format!("---\nid: qp-{number}\ntitle: \"T {number} \\e[31m\"\n---\nFirst {number}.\n\nOther\u{202e} text.\n")
        .into_bytes()
}

#[test]
fn the_law_of_fit_holds_for_every_command_format_and_budget() {
    let cases = AtomicUsize::new(0);
    let cut = AtomicUsize::new(0);
    let mut runner = runner(120);
    let strategy = (stores(), prop::collection::vec(0_usize..4000, 3), 0..FORMATS.len());
    runner
        .run(&strategy, |(store, budgets, turn)| {
            for (index, command) in commands(&store).into_iter().enumerate() {
                let Ok(report) = run_on(&command, &store) else { continue };
                let format = FORMATS[(index + turn) % FORMATS.len()];
                let whole = write(&report, None, format).expect("without a budget everything fits");
                check_form(&whole, format, &command);
                let length = chars(&whole);
                let near = [length, length.saturating_sub(1), length + 1, length / 2];
                for budget in budgets.iter().copied().chain(near) {
                    cases.fetch_add(1, Ordering::Relaxed);
                    let shown = check(&report, &whole, budget, format, &command);
                    cut.fetch_add(usize::from(shown), Ordering::Relaxed);
                }
            }
            Ok(())
        })
        .unwrap();
    let (cases, cut) = (cases.into_inner(), cut.into_inner());
    assert!(cases >= CASES, "only {cases} cases");
    assert!(cut >= CASES / 10, "only {cut} of them left anything out and still showed a note");
}

/// What is shown is what a plain greedy packing of the unbudgeted answer shows, note by note.
#[test]
fn notes_are_shown_whole_in_rank_order_and_skipped_if_they_do_not_fit() {
    let mut runner = runner(300);
    runner
        .run(&(stores(), 60_usize..3000, 0_usize..200, any::<bool>()), |(store, budget, less, is_near)| {
            let command = everything(&store, true);
            let report = run_on(&command, &store).unwrap();
            let whole = write(&report, None, Format::Records).unwrap();
            let budget = if is_near { chars(&whole).saturating_sub(less) } else { budget };
            if chars(&whole) <= budget {
                return Ok(());
            }
            let notes = blocks(&whole);
            let head = |shown: usize| {
                let line = format!(
                    "H qipu=1 records=1 store=.qipu/ mode=context notes={shown} matched={} truncated=true\n",
                    notes.len()
                );
                chars(&line) + chars(whole.lines().nth(1).unwrap()) + 1
            };
            let mut kept: Vec<&str> = Vec::new();
            for (number, note) in notes.iter().enumerate() {
                let used: usize = kept.iter().map(|note| chars(note)).sum();
                let is_everything = number + 1 == notes.len() && kept.len() == number;
                if !is_everything && head(kept.len() + 1) + used + chars(note) <= budget {
                    kept.push(note);
                }
            }
            let Ok(text) = write(&report, Some(budget), Format::Records) else {
                prop_assert!(head(0) > budget);
                return Ok(());
            };
            if kept.is_empty() {
                let shown = blocks(&text);
                prop_assert!(shown.len() <= 1);
                for note in shown {
                    prop_assert!(note.contains("…[truncated]\n"), "{note}");
                    prop_assert!(notes[0].starts_with(note.lines().next().unwrap()));
                }
            } else {
                prop_assert_eq!(blocks(&text), kept);
            }
            Ok(())
        })
        .unwrap();
}

/// Splits records into the texts of their notes.
fn blocks(text: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut at = 0;
    let mut body_lines = 0_usize;
    for line in text.split_inclusive('\n') {
        if body_lines > 0 {
            body_lines -= 1;
        } else if line.starts_with("N ") {
            starts.push(at);
        } else if line.starts_with("B ") {
            body_lines = line.trim_end().rsplit_once("lines=").unwrap().1.parse::<usize>().unwrap() + 1;
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

#[test]
fn tokens_are_four_characters_and_the_stricter_limit_wins() {
    let mut runner = runner(60);
    runner
        .run(&(stores(), 1_usize..600, 1_usize..2400), |(store, tokens, max_chars)| {
            let report = run_on(&everything(&store, false), &store).unwrap();
            for format in FORMATS {
                let both = Budget { max_chars: Some(max_chars), max_tokens: Some(tokens), ..Budget::default() };
                let stricter = write(&report, Some(max_chars.min(tokens * 4)), format).ok();
                let text = fit(&report, both, format, Screen::default()).ok();
                prop_assert_eq!(&text, &stricter);
                prop_assert!(text.is_none_or(|text| chars(&text).div_ceil(4) <= tokens));
            }
            Ok(())
        })
        .unwrap();
}

/// Any text is a valid question: its answer or warning stays within the budget.
#[test]
fn any_text_is_a_question() {
    let phrases = include_str!("../src/calendar/phrases.tsv").lines().filter_map(|line| line.split_once('\t'));
    let phrases: Vec<&str> = phrases.map(|(phrase, _)| phrase).collect();
    let words = [
        "[[", "]]", "|", "the ", " page", " note called ", "\"", "“", "compare ", " with ", " versus ", "patterns ",
        "journal ", "c++ (why", "2025-02-30", "\\", "(?:", "-", "*",
    ];
    let piece = prop_oneof![
        2 => prop::sample::select(phrases).prop_map(|phrase| format!("{phrase} ")),
        2 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        2 => hostile_text(),
        1 => any::<String>(),
    ];
    let texts = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
    let mut runner = runner(400);
    runner
        .run(
            &(stores(), texts, 0_usize..3000, prop::sample::select(FORMATS.to_vec())),
            |(store, text, budget, format)| {
                let command = generators::question(&text, None);
                let report = run_on(&command, &store).unwrap();
                let whole = write(&report, None, format).unwrap();
                check_form(&whole, format, &command);
                check(&report, &whole, budget, format, &command);
                // What was understood never makes the least budget larger.
                prop_assert!(write(&report, Some(250), format).is_ok(), "{text}");
                Ok(())
            },
        )
        .unwrap();
}

#[test]
fn any_bytes_give_a_note() {
    let mut runner = runner(3000);
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..400),
        hostile_text().prop_map(String::into_bytes),
        (hostile_text(), hostile_text()).prop_map(|(a, b)| format!("---\n{a}\n---\n{b}").into_bytes()),
        (hostile_text(), any::<Vec<u8>>(), any::<prop::sample::Index>()).prop_map(|(text, noise, place)| {
            let mut bytes = format!("---\nid: x\ntitle: {text}\ntags: [a, b]\n---\nBody [[x]]\n").into_bytes();
            let place = place.index(bytes.len());
            bytes.splice(place..place, noise);
            bytes
        }),
    ];
    runner
        .run(&(bytes, 0..3_usize, 0..FORMATS.len()), |(bytes, first, turn)| {
            let note = Note::parse("notes/some name.md", bytes.clone());
            prop_assert!(NoteId::parse(note.id.as_str()).is_some());
            prop_assert!(!note.title.is_empty());
            prop_assert!(std::str::from_utf8(&bytes).is_ok() || !note.findings.is_empty());
            let store = store_of(vec![("notes/some name.md".into(), bytes)]);
            // Each note takes a third of the commands.
            for (index, command) in commands(&store).into_iter().skip(first).step_by(3).enumerate() {
                let report = run_on(&command, &store).unwrap();
                let format = FORMATS[(index + turn) % FORMATS.len()];
                check_form(&write(&report, None, format).unwrap(), format, &command);
            }
            Ok(())
        })
        .unwrap();
}

/// The order of files on disk does not show.
#[test]
fn the_order_of_files_makes_no_difference() {
    let mut runner = runner(60);
    runner
        .run(&(generators::files(), 0..FORMATS.len()), |(files, turn)| {
            let forwards = store_of(files.clone());
            let backwards = store_of(files.into_iter().rev().collect());
            for (index, command) in commands(&forwards).into_iter().enumerate() {
                let format = FORMATS[(index + turn) % FORMATS.len()];
                let text =
                    |store: &Store| run_on(&command, store).map(|report| write(&report, Some(900), format).ok()).ok();
                prop_assert_eq!(text(&forwards), text(&backwards));
            }
            Ok(())
        })
        .unwrap();
}

/// The ids of files that name none depend on their paths alone, whatever other files come and go; all ids differ, and
/// each names its note.
#[test]
fn derived_ids_do_not_depend_on_other_files() {
    let name =
        prop::sample::select(vec!["a", "b", "a-b", "a--b", "a b", "é", "README", "readme", "notes", "2025-03-05"]);
    let folder = prop::sample::select(vec!["notes", "mocs", "journals"]);
    let path = (folder, prop::collection::vec(name, 1..4)).prop_map(|(f, names)| format!("{f}/{}.md", names.join("/")));
    let own_id = prop::option::weighted(0.3, prop::sample::select(vec!["a", "README", "a--b", "2025-03-05", "own"]));
    let files = prop::collection::btree_map(path, own_id, 1..12);
    let open = |files: &[(String, Option<&str>)]| {
        let note = |(path, id): &(String, Option<&str>)| {
            let text = id.map_or_else(String::new, |id| format!("---\nid: {id}\n---\n"));
            Note::parse(path, text.into_bytes())
        };
        Store::from_notes("./".to_owned(), Config::default(), files.iter().map(note).collect())
    };
    let ids = |store: &Store| -> BTreeMap<String, String> {
        store.notes().iter().map(|note| (note.path.clone(), note.id.to_string())).collect()
    };
    runner(400)
        .run(&(files, prop::collection::vec(any::<bool>(), 12)), |(files, stays)| {
            let files: Vec<_> = files.into_iter().collect();
            let all = open(&files);
            let all_ids = ids(&all);
            prop_assert_eq!(all_ids.values().collect::<BTreeSet<_>>().len(), files.len(), "{:?}", all_ids);
            for (place, note) in NoteIdx::all(all.notes().len()).zip(all.notes()) {
                prop_assert_eq!(all.resolve(note.id.as_str()).ok(), Some(place), "{}", note.id);
            }
            let others = files.iter().zip(stays).filter(|((_, own), stays)| own.is_some() || *stays);
            let fewer = ids(&open(&others.map(|(file, _)| file.clone()).collect::<Vec<_>>()));
            for (path, id) in fewer {
                prop_assert_eq!(Some(&id), all_ids.get(&path), "{}", path);
            }
            for (path, own) in &files {
                let is_claimed = files.iter().any(|(_, own)| *own == Some(NoteId::from_path(path).as_str()));
                if own.is_none() {
                    let derived = NoteId::from_path(path).to_string();
                    prop_assert_eq!(all_ids[path] == derived, !is_claimed, "{}", path);
                    prop_assert!(all_ids[path].starts_with(&derived), "{}", path);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Explicit names keep their order, and nothing is shown twice.
#[test]
fn a_note_is_shown_once() {
    let mut runner = runner(100);
    runner
        .run(&stores(), |store: Store| {
            let report = run_on(&everything(&store, false), &store).unwrap();
            let mut ids: Vec<_> =
                report.entries.iter().filter_map(|entry| Some(entry.note()?.note.id.clone())).collect();
            let count = ids.len();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), count);
            Ok(())
        })
        .unwrap();
}

/// What a format leaves out of a text does not count against it.
#[test]
fn invisible_characters_do_not_push_out_a_note_that_fits() {
    let odd = format!("---\nid: a\ntitle: A\nsummary: \"x{} y\"\n---\n", "\\x1c\\t\\n\\r ".repeat(300));
    let plain = format!("---\nid: b\ntitle: B\nsummary: {}\n---\n", "long ".repeat(200));
    let store = store_of(vec![("notes/a.md".into(), odd.into_bytes()), ("notes/b.md".into(), plain.into_bytes())]);
    let report = run_on(&everything(&store, false), &store).unwrap();
    let text = write(&report, Some(300), Format::Records).unwrap();
    assert!(text.contains("\nS a x y\n"), "{text}");
}
