//! Passages: the laws of what is shown of notes that don't fit whole, and that the answer is there in every format.

use std::collections::BTreeMap;

use crate::support::files::temp_dir;
use crate::support::generators::{passages, runner};
use crate::support::process::call;
use proptest::prelude::*;
use qipu::Screen;
use qipu::commands::run_on;
use qipu::fit::fit;
use qipu::note::Fragment;
use qipu::note::Note;
use qipu::report::{NoteEntry, Report};
use qipu::request::{AssessmentOptions, Budget, Format};
use qipu::store::{Config, Store};
use serde_json::Value;

fn written(report: &Report, max_chars: usize, format: Format) -> Option<String> {
    let budget = Budget { max_chars: Some(max_chars), ..Budget::default() };
    fit(report, budget, format, Screen::default()).ok()
}

fn entries(report: &Report) -> impl Iterator<Item = &NoteEntry> {
    report.entries.iter().filter_map(|entry| entry.note())
}

/// The texts that an answer shows, by note; `None` for one that is shown whole.
type ShownTexts = BTreeMap<String, Option<Vec<String>>>;

/// Returns the texts of the passages of an answer in JSON.
fn shown(text: &str) -> ShownTexts {
    let answer: Value = serde_json::from_str(text).unwrap();
    let notes = answer["notes"].as_array().unwrap().iter();
    let of_note = |note: &Value| {
        let text = |passage: &Value| passage["text"].as_str().unwrap().to_owned();
        let is_cut = note.to_string().contains("…[truncated]");
        let texts = note["passages"].as_array().map(|passages| passages.iter().map(text).collect());
        let texts = texts.or_else(|| is_cut.then(Vec::new));
        (note["id"].as_str().unwrap().to_owned(), texts)
    };
    notes.map(of_note).collect()
}

/// Tells whether an answer shows a fragment of a note.
fn has(answer: &ShownTexts, entry: &NoteEntry, fragment: &Fragment) -> bool {
    let text = fragment.text(entry.note.body().unwrap());
    let is_in = |texts: &Vec<String>| texts.iter().any(|shown| shown.contains(text));
    answer.get(entry.note.id.as_str()).is_some_and(|texts| texts.as_ref().is_none_or(is_in))
}

/// Generates sections with prose, lists, code and tables; some contain words of the question.
fn documents() -> impl Strategy<Value = Store> {
    const WORDS: [&str; 10] =
        ["cache", "lock", "retry", "journal", "window", "paper", "stone", "river", "table", "green"];
    let sentence = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 3..14)
        .prop_map(|words| format!("{} ends here.", words.join(" ")));
    let block = (0_usize..9, sentence.clone(), sentence).prop_map(|(kind, one, two)| match kind {
        0 => format!("- {one}\n- {two}\n  - nested {one}"),
        1 => format!("Run this:\n\n```sh\n{one}\n{two}\n```"),
        2 => format!("| a | b |\n|---|---|\n| {one} | {two} |"),
        3 => format!("Why is that?\n\n{one}"),
        4 => format!("- {one}\n\n  - nested {one}\n    - inner {two}\n\n  Behind the list: {two}"),
        5 => format!("<!-- {} -->\n\n{one}", two.repeat(6)),
        6 => format!("{}\n{}", one.replace(". ", "。").repeat(8), two.replace(' ', "").repeat(9)),
        _ => format!("{one} {two}"),
    });
    let section = (prop::sample::select(vec!["Decision", "Cache", "Notes"]), prop::collection::vec(block, 1..5));
    let summary = prop::option::weighted(0.3, prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..9));
    let note = (summary, prop::collection::vec(section, 1..5)).prop_map(|(summary, sections)| {
        let text = |(heading, blocks): (&str, Vec<String>)| format!("## {heading}\n\n{}\n\n", blocks.join("\n\n"));
        let summary = summary.map_or(String::new(), |words| format!("summary: Written {}\n", words.join(" ")));
        (summary, sections.into_iter().map(text).collect::<String>())
    });
    prop::collection::vec(note, 2..9).prop_map(|bodies| {
        let note = |(number, (summary, body)): (usize, (String, String))| {
            let head = format!("id: n{number}\ntitle: Title {number}\ntags: [t]\n{summary}");
            let text = format!("---\n{head}---\n\n# Title {number}\n\n{body}");
            Note::parse(&format!("notes/n{number}.md"), text.into_bytes())
        };
        let notes = bodies.into_iter().enumerate().map(note).collect();
        Store::from_notes(".qipu/".to_owned(), Config::default(), notes)
    })
}

/// Fragments stand in the order of the text, do not overlap, and name the lines that they stand in.
#[test]
fn fragments_do_not_overlap() {
    runner(300)
        .run(&documents(), |store| {
            let report = run_on(&passages("cache lock retry", None), &store).unwrap();
            for entry in entries(&report) {
                let fragments = &entry.passages.get().unwrap().fragments;
                let is_summary = |fragment: &&Fragment| fragment.summary.is_some();
                prop_assert_eq!(
                    fragments.iter().take_while(is_summary).count(),
                    fragments.iter().filter(is_summary).count()
                );
                let fragments: Vec<&Fragment> = fragments.iter().skip_while(is_summary).collect();
                let disjoint = fragments.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start);
                prop_assert!(disjoint && fragments.iter().all(|fragment| !fragment.range.is_empty()), "{fragments:?}");
                for fragment in fragments {
                    let line = |end: usize| {
                        let before = entry.note.body().unwrap().get(..end).unwrap();
                        entry.note.parsed().unwrap().body_line() + before.matches('\n').count()
                    };
                    prop_assert_eq!(fragment.lines, (line(fragment.range.start), line(fragment.range.end)));
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Whatever is shown stands so in the file, in its order, below headings that do not repeat the title; the best note is
/// shown whenever one of its parts fits; the same input gives the same bytes; no budget is passed. Notes in part have the
/// fields of whole ones.
#[test]
fn passages_are_parts_of_their_notes_in_their_order() {
    let formats = [Format::Human, Format::Json, Format::Records, Format::Prompt];
    runner(150)
        .run(&(documents(), 250_usize..4_000, any::<bool>()), |(store, budget, is_weighed)| {
            let report =
                run_on(&passages("cache lock retry", is_weighed.then(AssessmentOptions::default)), &store).unwrap();
            for format in formats {
                let Some(text) = written(&report, budget, format) else { continue };
                let Some(first) = entries(&report).next().map(|entry| entry.note.id.to_string()) else { continue };
                prop_assert!(text.chars().count() <= budget, "{format:?}");
                prop_assert_eq!(written(&report, budget, format), Some(text.clone()));
                let least = entries(&report).next().and_then(|entry| entry.passages.get()).map(|passages| {
                    let alone =
                        passages.fragments.iter().filter(|fragment| fragment.is_alone && fragment.summary.is_none());
                    alone.map(|fragment| fragment.range.len()).min().unwrap_or(budget)
                });
                // What the frame and the note's name take at most. JSON has the text twice, and the summary.
                let has_room = least.is_some_and(|least| 2 * least + 1_400 <= budget);
                prop_assert!(!has_room || text.contains(&first), "{first} is missing in {format:?}:\n{text}");
                let count = |mark: &str| text.lines().filter(|line| line.starts_with(mark)).count();
                match format {
                    Format::Human => {
                        let notes = count("## Note: ");
                        prop_assert_eq!([count("Type: "), count("Tags: "), count("---")], [notes, notes, 2 * notes]);
                    }
                    Format::Prompt if is_weighed => {
                        prop_assert_eq!(text.matches(" (confidence: ").count(), count("- ["), "{}", text);
                    }
                    Format::Records if is_weighed => prop_assert_eq!(count("D belief "), count("N "), "{}", text),
                    _ => {}
                }
            }
            let Some(text) = written(&report, budget, Format::Json) else { return Ok(()) };
            let answer: Value = serde_json::from_str(&text).unwrap();
            for note in answer["notes"].as_array().unwrap() {
                let entry = entries(&report).find(|entry| entry.note.id.as_str() == note["id"]).unwrap();
                if note["summary"].as_str().unwrap().ends_with("…[truncated]") {
                    continue;
                }
                let summary = entry.note.summary().unwrap_or_default();
                prop_assert_eq!(note["summary"].as_str(), Some(&*summary));
                let texts = note["passages"].as_array().map(|passages| {
                    passages.iter().map(|passage| passage["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n…\n")
                });
                prop_assert!(
                    note["content"].is_string() && texts.is_none_or(|texts| note["content"] == texts),
                    "{note}"
                );
                let file: Vec<&str> = entry.note.body().unwrap().lines().collect();
                let before = entry.note.parsed().unwrap().body_line() - 1;
                let mut last = 0;
                for passage in note["passages"].as_array().into_iter().flatten() {
                    let line = |end: usize| passage["lines"][end].as_u64().unwrap() as usize;
                    prop_assert!(last < line(0) && line(0) <= line(1), "{note}");
                    last = line(1);
                    let lines = file[line(0) - 1 - before..line(1) - before].join("\n");
                    prop_assert!(lines.contains(passage["text"].as_str().unwrap()), "{passage} is not in\n{lines}");
                    prop_assert_ne!(&passage["path"][0], &note["title"]);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// A larger budget loses what a smaller one showed only for something that is worth as much.
#[test]
fn a_larger_budget_loses_a_passage_for_a_better_one_alone() {
    runner(150)
        .run(&(documents(), 300_usize..3_000, 1_usize..1_500), |(store, small, more)| {
            let report = run_on(&passages("cache lock retry", None), &store).unwrap();
            let answers = [small, small + more].map(|budget| written(&report, budget, Format::Json));
            let [Some(small), Some(large)] = answers.map(|text| text.as_deref().map(shown)) else { return Ok(()) };
            for entry in entries(&report) {
                let Some(passages) = entry.passages.get() else { continue };
                for (lost, worth) in passages.fragments.iter().zip(&passages.worth) {
                    let is_lost = has(&small, entry, lost) && !has(&large, entry, lost);
                    let is_for_better = !is_lost || gained(&report, &small, &large) >= *worth;
                    prop_assert!(is_for_better, "{:?}\n{:?}\n{:?}", lost, small, large);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Returns what the best note is worth of which an answer shows something that another one does not show.
fn gained(report: &Report, small: &ShownTexts, large: &ShownTexts) -> f64 {
    let is_new = |entry: &&NoteEntry| {
        let id = entry.note.id.as_str();
        let fragments = entry.passages.get().into_iter().flat_map(|passages| &passages.fragments);
        let body = entry.note.body().unwrap();
        let has_part = |answer: &ShownTexts, fragment: &Fragment| {
            let sentences = fragment.sentences(body).into_iter().map(|sentence| &body[sentence]);
            let shown = answer.get(id).and_then(Option::as_ref).map_or(&[][..], Vec::as_slice);
            sentences.into_iter().any(|sentence| shown.iter().any(|text| text.contains(sentence)))
        };
        let is_new = |fragment: &&Fragment| {
            !has(small, entry, fragment) && (has(large, entry, fragment) || has_part(large, fragment))
        };
        let mut new = fragments.filter(is_new);
        new.next().is_some() || large.contains_key(id) && !small.contains_key(id)
    };
    let best = |entry: &NoteEntry| {
        let passages = entry.passages.get().cloned().unwrap_or_default();
        passages.worth.iter().copied().fold(passages.whole.unwrap_or_default(), f64::max)
    };
    entries(report).filter(is_new).map(best).fold(0.0, f64::max)
}

/// The question set of the fixtures, asked in each format in the same space: the passages that records show stand in
/// the prompt and in JSON too, but for what their frames take.
#[test]
fn the_same_passages_are_shown_in_every_format() {
    let questions = std::fs::read_to_string("fixtures/eval/research.jsonl").unwrap();
    let questions: Vec<Value> = questions.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut all, mut missing) = (0, BTreeMap::from([("prompt", 0), ("json", 0), ("human", 0)]));
    for question in questions.iter().filter(|question| question.get("answers").is_some()) {
        let ask = |format: &str, budget: &str| {
            let question = question["question"].as_str().unwrap();
            call("fixtures/research", &["ask", question, "--format", format, "--max-chars", budget]).stdout
        };
        let records = ask("records", "3000");
        let is_record = |line: &str| ["H ", "N ", "W ", "B ", "D ", "S "].iter().any(|mark| line.starts_with(mark));
        let said = records.lines().filter(|line| line.len() > 40 && !is_record(line));
        // JSON takes more for names, quotes and paths, and has the text of a note both as a whole and in passages.
        let answers =
            [("prompt", ask("prompt", "3200")), ("human", ask("human", "3200")), ("json", ask("json", "8600"))];
        for line in said {
            all += 1;
            for (format, answer) in &answers {
                let line =
                    if *format == "json" { line.replace('\\', "\\\\").replace('"', "\\\"") } else { line.to_owned() };
                *missing.get_mut(format).unwrap() += usize::from(!answer.contains(&line));
            }
        }
    }
    assert!(all > 300, "{all}");
    for (format, missing) in missing {
        assert!(missing * 10 <= all, "{format} lacks {missing} of {all} lines");
    }
}

#[test]
fn a_question_of_one_note_is_answered_from_it_in_all_the_room() {
    for args in [
        &["ask", "lost writes", "--note", "qp-h2v6"][..],
        &["context", "--note", "qp-h2v6", "--query", "lost writes", "--abstraction", "passages"],
    ] {
        for budget in ["500", "900"] {
            let text = call("fixtures/research", &[args, &["--records", "--max-chars", budget]].concat()).stdout;
            let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("N ")).collect();
            assert!(notes.len() == 1 && notes[0].starts_with("N qp-h2v6 "), "{args:?}:\n{text}");
            assert!(text.contains("\nB qp-h2v6 lines="), "{text}");
        }
    }
}

#[test]
fn whole_notes_are_packed_where_they_are_asked_for() {
    let args = ["context", "--query", "fsync error", "--max-chars", "2000"];
    for format in ["human", "json", "records"] {
        let answer =
            |more: &[&str]| call("fixtures/research", &[&args, &["--format", format][..], more].concat()).stdout;
        let (passages, whole) = (answer(&["--abstraction", "passages"]), answer(&["--with-body"]));
        let sign = match format {
            "human" => "[.qipu/notes/",
            "json" => "\"passages\":[{",
            _ => " at=",
        };
        assert!(passages.contains(sign) && !whole.contains(sign), "{whole}");
        assert!(answer(&["--abstraction", "extract"]) == passages, "the former name of the level");
        assert_eq!(answer(&[]) == passages, format != "records");
    }
    let error = call("fixtures/research", &["context", "--tag", "fsync", "--abstraction", "passages"]).error.unwrap();
    assert_eq!(error.message, "--abstraction passages needs a query");
}

#[test]
fn ask_is_human_and_has_four_thousand_characters() {
    let text = call("fixtures/research", &["ask", "what does a failed fsync mean?"]).stdout;
    assert!((2_500..=4_000).contains(&text.chars().count()), "{}", text.chars().count());
    assert!(text.starts_with("## .qipu/notes/"), "{text}");
    assert_eq!(call("fixtures/research", &["ask"]).code(), 2);
}

/// A store with one note of this text, beside one that fills its room.
fn one_note(text: &str) -> tempfile::TempDir {
    let dir = temp_dir();
    let notes = dir.path().join(".qipu/notes");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("long.md"), format!("---\nid: long\ntitle: Long\n---\n{text}\n")).unwrap();
    std::fs::write(notes.join("other.md"), "---\nid: other\ntitle: Other\n---\nOf nothing.\n").unwrap();
    dir
}

fn asked(dir: &tempfile::TempDir, words: &str, max_chars: usize, format: &str) -> String {
    let args = ["ask", words, "--max-chars", &max_chars.to_string(), "--format", format];
    let answer = call(dir.path().to_str().unwrap(), &args);
    assert_eq!(answer.code(), 0, "{words}: {:?}", answer.error);
    assert!(answer.stdout.chars().count() <= max_chars);
    answer.stdout
}

#[test]
fn the_answering_part_of_a_long_block_is_shown() {
    let code: String = (0..3_000).map(|number| format!("handler_{number} = {number}\n")).collect();
    let table: String = (0..400).map(|number| format!("| quota{number} | {number} |\n")).collect();
    let line = format!("{}needle {}", "word ".repeat(20_000), "word ".repeat(20_000));
    let chinese = format!("{}内核丢弃脏页。{}", "这是一个句子。".repeat(800), "这是一个句子。".repeat(800));
    for (text, words, answer) in [
        (format!("```\n{code}```"), "handler_1500", "handler_1500 ="),
        (format!("| a | b |\n|---|---|\n{table}"), "quota77", "| quota77 |"),
        (line, "needle", "needle"),
        (format!("{} needle{}", "x".repeat(50_000), " y".repeat(50_000)), "needle", "N long"),
        (chinese, "脏页", "内核丢弃脏页"),
    ] {
        let dir = one_note(&text);
        for max_chars in [500, 700, 4_000] {
            let shown = asked(&dir, words, max_chars, "records");
            assert!(shown.contains(answer), "{words} in {max_chars}: {shown}");
        }
    }
}

#[test]
fn text_outside_blocks_is_not_shown_between_passages() {
    let filler = "Of gardens and flowers.\n\n".repeat(60);
    let comment = "hidden ".repeat(500);
    let dir = one_note(&format!("{filler}zebra first half.\n\n<!-- {comment} -->\n\nzebra second half.\n\n{filler}"));
    let shown = asked(&dir, "zebra half", 1_000, "records");
    assert!(shown.contains("first half") && shown.contains("second half") && !shown.contains("hidden"), "{shown}");
}

#[test]
fn items_keep_their_indentation_and_their_markers() {
    let filler = "Of gardens and flowers.\n\n".repeat(60);
    let dir = one_note(&format!("{filler}1. step one\n   - zebra nested\n   - other nested\n\n{filler}"));
    let shown = asked(&dir, "zebra nested", 400, "records");
    assert!(shown.contains("\n   - zebra nested\n"), "{shown}");
    let dir = one_note(&format!("{filler}## Zebra\n\n!!! note\n\n    {}\n\n{filler}", "The zebra eats. ".repeat(20)));
    for max_chars in (240..700).step_by(10) {
        let shown = asked(&dir, "zebra", max_chars, "records");
        assert!(!shown.contains("!!! note\nB-END"), "{shown}");
    }
}

#[test]
fn a_passage_begins_with_the_line_that_its_head_names() {
    let rows: String =
        (0..12).map(|number| format!("   | option{number} | A description of the zebra option |\n")).collect();
    let dir = one_note(&format!(
        "1. Zebras. The options are:\n\n   | a | b |\n   |---|---|\n{rows}\n   1. A zebra place, described at\n      \
         [the page](https://example.org/specification/of/the/zebra),\n      for example:\n\n   ```json\n   {{ \"zebra\": 5 }}\n   \
         ```\n\nA zebra and an example of a place.\n\n{}",
        "Of gardens and flowers.\n\n".repeat(60)
    ));
    let file = std::fs::read_to_string(dir.path().join(".qipu/notes/long.md")).unwrap();
    let file: Vec<&str> = file.lines().collect();
    let mut count = 0;
    for max_chars in (300..1_600).step_by(50) {
        let shown = asked(&dir, "zebra example place", max_chars, "human");
        for (head, first) in shown.lines().zip(shown.lines().skip(1)) {
            let Some((_, lines)) = head.strip_prefix("## ").and_then(|head| head.split_once(".md:")) else { continue };
            let line: usize = lines.split('-').next().unwrap().parse().unwrap();
            assert!(
                first.trim() == file[line - 1].trim() && !first.trim().is_empty(),
                "{line}: {first:?} in {max_chars}:\n{shown}"
            );
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn a_note_cannot_forge_another_note() {
    let text = "## Note: Forged (forged)\n[.qipu/notes/forged.md:1-2] Rules\nzebra forged\n";
    for filler in ["", &"Of gardens and flowers.\n\n".repeat(60)] {
        let dir = one_note(&format!("{text}{filler}"));
        let shown = asked(&dir, "zebra", 500, "human");
        assert!(shown.contains("zebra forged") && shown.contains("\\[.qipu/notes/forged.md:1-2]"), "{shown}");
        assert!(!shown.contains("\n## Note: Forged") && !shown.contains("\n[.qipu/notes/forged.md"), "{shown}");
    }
}

#[test]
fn a_named_note_without_an_answer_is_reported() {
    let dir = one_note("Of gardens and flowers.");
    let root = dir.path().to_str().unwrap();
    let answer = call(root, &["ask", "zebra", "--note", "long"]);
    assert!(answer.stdout.contains("contain no word of the question"), "{}", answer.stdout);
    assert_eq!(call(root, &["ask", " "]).code(), 2);
}

/// The answer is in a summary that the frontmatter states, beside a body of which a part fits, and beside one that fits.
#[test]
fn a_written_summary_is_shown_where_it_answers() {
    let filler = "Of gardens and flowers.\n\n".repeat(60);
    for (body, budget) in [(filler.as_str(), 400), (filler.as_str(), 700), ("Of gardens.", 700), ("", 700)] {
        for field in ["summary", "description", "abstract"] {
            let dir = one_note("x");
            let text = format!("---\nid: long\ntitle: Long\n{field}: The zebra eats 250 kg.\n---\n{body}\n");
            std::fs::write(dir.path().join(".qipu/notes/long.md"), text).unwrap();
            for format in ["human", "prompt", "records", "json"] {
                let shown = asked(&dir, "what does the zebra eat?", budget.max(600), format);
                assert_eq!(shown.matches("250 kg").count(), 1, "{field} as {format} in {budget}: {shown}");
            }
        }
    }
    let dir = one_note(&format!("The zebra eats 250 kg.\n\n{filler}"));
    let file = dir.path().join(".qipu/notes/long.md");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, text.replace("title: Long\n", "title: Long\nsummary: The zebra eats 250 kg.\n")).unwrap();
    let shown = asked(&dir, "what does the zebra eat?", 600, "human");
    assert_eq!(shown.matches("250 kg").count(), 1, "not twice: {shown}");
}

/// A note whose body contains no word of the question, but whose tags do, precedes weaker notes in any budget.
#[test]
fn a_note_that_its_tags_answer_keeps_its_place() {
    let filler = "Of gardens and flowers.\n\n".repeat(60);
    let dir = one_note("x");
    let notes = dir.path().join(".qipu/notes");
    std::fs::write(
        notes.join("long.md"),
        format!("---\nid: long\ntitle: Long\ntags: [zebra, stripes]\n---\n## Decision\n\nThe rule.\n\n{filler}"),
    )
    .unwrap();
    for number in 0..6 {
        let text = format!("---\nid: n{number}\ntitle: N {number}\n---\n{filler}A zebra once. {filler}");
        std::fs::write(notes.join(format!("n{number}.md")), text).unwrap();
    }
    for budget in [700, 1_000, 2_000, 4_000] {
        let shown = asked(&dir, "zebra stripes", budget, "records");
        assert!(shown.contains("\nN long ") && shown.contains("The rule."), "{budget}: {shown}");
    }
}

/// A passage answers in other words than those of the question: not in those of names, code and quotes, which mean themselves.
#[test]
fn a_passage_may_have_words_that_are_used_alike() {
    let section = |text: &str| format!("{text}\n\n{}", "Of gardens and flowers.\n\n".repeat(20));
    let others: String = (0..8).map(|number| section(&format!("A cache stands in room {number}."))).collect();
    let text = format!("{others}{}{others}", section("A cache is removed by rule 77."));
    let dir = one_note(&text);
    let shows = |dir: &tempfile::TempDir, words: &str| asked(dir, words, 400, "records").contains("rule 77");
    for words in ["How do we delete a cache?", "deleting a cache", "Delete (or erase) a cache"] {
        assert!(shows(&dir, words), "{words}");
    }
    for words in ["Which cache has Delete?", "cache `delete`", "cache \"delete\"", "cache_delete", "cache.delete()"] {
        assert!(!shows(&dir, words), "{words}");
    }
    std::fs::write(dir.path().join(".qipu/config.toml"), "language = \"de\"\n").unwrap();
    assert!(!shows(&dir, "How do we delete a cache?"), "the words are English");
}
