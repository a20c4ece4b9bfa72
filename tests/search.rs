//! What holds of every search, over hostile stores and over small ones.

use std::collections::BTreeSet;

use crate::support::files::{store_of_notes, temp_dir};
use crate::support::generators::{files, hostile_text, runner, store_of};
use crate::support::hang::expect_to_end;
use crate::support::process::call;
use proptest::prelude::*;
use qipu::commands::run_on;
use qipu::context::Session;
use qipu::note::Note;
use qipu::report::{Entry, Report};
use qipu::request::{ReadCommand, RelatedRequest, Score, SearchRequest};
use qipu::search::{Engine, Query, SearchResults};
use qipu::store::{Config, Store};

fn find(store: &Store, query: &str) -> SearchResults {
    found(store, &Query::parse(query))
}

fn found(store: &Store, query: &Query) -> SearchResults {
    let desk = Session::new(store);
    let (engine, around) = desk.engine_and_neighbourhood(true);
    engine.search(query, around.as_ref())
}

/// What was found: ids, scores and relevance to the bit.
fn told(store: &Store, query: &str) -> Vec<(String, u64, u64)> {
    told_of(store, &find(store, query))
}

fn told_of(store: &Store, found: &SearchResults) -> Vec<(String, u64, u64)> {
    let hits = &found.hits;
    hits.iter()
        .map(|hit| (store.notes()[hit.note].id.to_string(), hit.score.to_bits(), hit.relevance.to_bits()))
        .collect()
}

fn ids(store: &Store, query: &str) -> Vec<String> {
    told(store, query).into_iter().map(|(id, ..)| id).collect()
}

fn store(notes: &[(&str, &str, &str)]) -> Store {
    let note = |(id, fields, body): &(&str, &str, &str)| {
        Note::parse(&format!("notes/{id}.md"), format!("---\nid: {id}\n{fields}\n---\n{body}\n").into_bytes())
    };
    Store::from_notes(".qipu/".to_owned(), Config::default(), notes.iter().map(note).collect())
}

#[test]
fn any_text_is_a_query() {
    runner(400)
        .run(&(files(), hostile_text(), any::<String>()), |(files, text, other)| {
            let store = store_of(files);
            for query in
                [text.clone(), other.clone(), format!("\"{text}\" -{other} tag:{text} title:\"{other}\" {text}*")]
            {
                let found = find(&store, &query);
                for hit in &found.hits {
                    prop_assert!(hit.score.is_finite() && (0.0..=1.0).contains(&hit.relevance), "{hit:?}");
                    let body = store.notes()[hit.note].body().unwrap();
                    if let Some(snippet) = found.highlighter.as_ref().and_then(|highlighter| highlighter.snippet(body))
                    {
                        prop_assert!(!snippet.text.contains(char::is_control));
                        prop_assert!(snippet.marks.iter().all(|mark| snippet.text.get(mark.clone()).is_some()));
                        prop_assert!(snippet.marks.is_sorted_by(|a, b| a.end <= b.start));
                    }
                }
                let is_sorted = found.hits.is_sorted_by(|a, b| a.relevance >= b.relevance);
                prop_assert!(is_sorted, "relevance falls from hit to hit: {query:?}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_order_of_files_changes_nothing() {
    runner(150)
        .run(&(files(), hostile_text(), any::<prop::sample::Index>()), |(files, query, turn)| {
            let mut turned = files.clone();
            let length = turned.len().max(1);
            turned.rotate_left(turn.index(length).min(files.len()));
            // Two files with one id differ by their paths, in any order.
            prop_assert_eq!(told(&store_of(files), &query), told(&store_of(turned), &query));
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_note_is_first_for_its_whole_title() {
    runner(200)
        .run(&(files(), any::<prop::sample::Index>()), |(files, which)| {
            let store = store_of(files);
            if store.notes().is_empty() {
                return Ok(());
            }
            let title = store.notes()[which.index(store.notes().len())].title().to_owned();
            let is_plain =
                title.chars().any(char::is_alphanumeric) && !title.contains(['"', '“', '”', '„', '-', ':', '*']);
            // An id as the whole query names its note.
            let is_id = store.notes().iter().any(|note| note.id.as_str().eq_ignore_ascii_case(title.trim()));
            for query in [title.clone(), title.to_uppercase(), format!("  {title}\n")] {
                // A title whose upper case is not its letters' (ß) is another text.
                if !is_plain || is_id || query.to_lowercase().trim() != title.to_lowercase().trim() {
                    continue;
                }
                let found = find(&store, &query);
                let first = found.hits.first().map(|hit| (store.notes()[hit.note].title().to_owned(), hit.relevance));
                let (best, relevance) = first.unwrap();
                let line = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
                prop_assert_eq!(line(&best), line(&title));
                prop_assert!((relevance - 1.0).abs() < f64::EPSILON);
            }
            Ok(())
        })
        .unwrap();
}

/// Notes on one subject, ranked clearly, and notes that have nothing to do with it.
#[test]
fn an_irrelevant_note_changes_only_statistics() {
    let mut notes = vec![
        ("a", "title: Torn writes", "A torn write leaves half a block. Torn writes are found by checksums."),
        ("b", "title: Checksums", "A checksum finds a torn write."),
        ("c", "title: Blocks", "A block is what a drive writes at once. Something torn is elsewhere."),
        ("d", "title: Trains", "The train leaves at noon."),
    ];
    let before = ids(&store(&notes), "torn writes checksum");
    let extra: Vec<(String, String)> =
        (0..40).map(|n| (format!("x{n:02}"), format!("Gardens need water number {n}, and cats sleep."))).collect();
    for (id, body) in &extra {
        notes.push((id, "title: Garden", body));
        let store = store(&notes);
        assert_eq!(ids(&store, "torn writes checksum"), before, "with {id}");
    }
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn relevance_does_not_depend_on_what_else_is_found() {
    let lone = [("a", "title: One", "An fsync that fails."), ("z", "title: Other", "Nothing to see.")];
    let store = store(&lone);
    let relevance = |query: &str| find(&store, query).hits.first().map(|hit| hit.relevance).unwrap();
    let known = relevance("fsync fails");
    assert!((0.2..0.9).contains(&known), "{known}");
    assert!(relevance("fsync fails xylophone") < known);
    assert!(relevance("fsync fails xylophone marimba") < relevance("fsync fails xylophone"));
    assert!((relevance("oNe") - 1.0).abs() < f64::EPSILON);
    assert!(relevance("one fsync") < 1.0);
}

#[test]
fn query_syntax_restricts_hits() {
    let store = store(&[
        ("a", "title: Torn write\ntags: [disk, Linux]\ntype: permanent", "A torn write on linux."),
        ("b", "title: Write\ntags: [disk]\ntype: moc", "Write, then torn. Also logging and logs."),
        ("c", "title: Log", "Nothing of that, but writes."),
    ]);
    let sorted = |query: &str| ids(&store, query).into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
    for (query, found) in [
        ("torn", vec!["a", "b"]),
        ("\"torn write\"", vec!["a"]),
        ("“torn write”", vec!["a"]),
        // A hyphen before a word is no operator.
        ("torn -linux", vec!["a", "b"]),
        ("zebra -\"torn write\"", vec!["a", "b", "c"]),
        ("-linux", vec!["a"]),
        // Other forms of a word that begins so are that word.
        ("logg*", vec!["b", "c"]),
        ("lo*", vec!["b", "c"]),
        ("?", vec![]),
        ("", vec![]),
        ("zebra giraffe", vec![]),
    ] {
        assert_eq!(sorted(query), found, "{query}");
    }
    for (query, without, left) in [
        ("torn", &["linux"][..], &["b"][..]),
        ("write", &["torn write"], &["b", "c"]),
        ("write", &["linux", "nothing of"], &["b"]),
        ("Torn write", &["disk"], &["c"]),
        ("write", &["zebra", "", "?"], &["a", "b", "c"]),
        ("", &["linux"], &[]),
        ("?", &["linux"], &[]),
    ] {
        let without: Vec<String> = without.iter().map(|word| (*word).to_owned()).collect();
        let hits = found(&store, &Query::parse(query).without(&without)).hits;
        let ids: BTreeSet<&str> = hits.iter().map(|hit| store.notes()[hit.note].id.as_str()).collect();
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), left, "{query} without {without:?}");
    }
    // In a sentence, quotes are punctuation; a phrase that occurs in no note is searched as words.
    assert_eq!(sorted("what is a \"write torn\" there?"), ["a", "b", "c"]);
    assert_eq!(sorted("\"torn xylophone\""), ["a", "b"]);
}

#[test]
fn misspelt_words_are_read_as_others() {
    let store = store(&[
        ("a", "title: Runtime", "Tokio drives futures, and makes older ones."),
        ("b", "title: Other", "Serialisation with serde."),
        ("c", "title: Nothing", "Unrelated."),
    ]);
    for (query, word, other) in [
        ("tokoi", "tokoi", "tokio"),
        ("Serdee", "Serdee", "serde"),
        ("futyres", "futyres", "futures"),
        ("what of futres", "futres", "futures"),
    ] {
        let found = find(&store, query);
        assert_eq!(found.spellings.len(), 1, "{query}");
        assert_eq!((found.spellings[0].word.as_str(), found.spellings[0].read_as.as_deref()), (word, Some(other)));
        assert_eq!(found.hits.len(), 1, "{query}");
        assert_eq!(found.unknown, [] as [&str; 0], "{query}");
    }
    // Names, words of English, short words, and words that are two edits away or begin otherwise are missing.
    for query in ["of Futyres", "folder", "tokko2", "tiko", "futyrez", "okio", "xyzzy", "a1b2c3", "abc"] {
        let found = find(&store, query);
        assert!(found.spellings.is_empty(), "{query}: {:?}", found.spellings);
        assert_eq!(found.unknown.len(), 1, "{query}");
    }
    let text = call("fixtures/research", &["search", "fsyncc", "--limit", "1"]).stdout;
    assert!(text.starts_with("read \"fsyncc\" as \"fsync\"\n"), "{text}");
    let text = call("fixtures/research", &["context", "--query", "fsyncc", "--limit", "1", "--records"]).stdout;
    assert!(text.contains("D spelling word=\"fsyncc\" read-as=fsync\n"), "{text}");
}

#[test]
fn scores_propagate_along_sequences_and_links() {
    let turns = [
        ("t1", "title: T1", "Where did you buy the telescope?"),
        ("t2", "title: T2\nlinks: [{type: follows, id: t1}]", "At the old shop in Bergen."),
        ("t3", "title: T3", "Bergen has an old shop for tea."),
    ];
    let store_of_turns = store(&turns);
    let order = ids(&store_of_turns, "telescope shop");
    let place = |id: &str| order.iter().position(|have| have == id).unwrap();
    assert!(place("t2") < place("t3"), "{order:?}");
    let engine = Engine::new(store_of_turns.notes(), store_of_turns.config.language);
    let alone = engine.search(&Query::parse("telescope"), None);
    assert_eq!(alone.hits.len(), 1);
    // The days of journals, and the items of an ordered list of a map, are sequences too.
    let days = [
        ("j1", "title: 2025-03-03\ntype: journal\ndate: 2025-03-03", "Started on the telescope."),
        ("j2", "title: 2025-03-04\ntype: journal\ndate: 2025-03-04", "The mirror came."),
        ("j9", "title: 2025-05-09\ntype: journal\ndate: 2025-05-09", "The mirror broke."),
    ];
    assert_eq!(ids(&store(&days), "telescope mirror")[..2], ["j1", "j2"]);
    let map = [
        ("m", "title: M\ntype: moc", "1. [[p1]]\n2. [[p2]]\n"),
        ("p1", "title: P1", "About the telescope."),
        ("p2", "title: P2", "The mirror of it."),
        ("p3", "title: P3", "The mirror of it."),
    ];
    let order = ids(&store(&map), "telescope mirror");
    let place = |id: &str| order.iter().position(|have| have == id).unwrap();
    assert!(place("p2") < place("p3"), "{order:?}");
}

#[test]
fn long_queries_take_linear_time() {
    let notes: Vec<(String, String)> =
        (0..200).map(|n| (format!("n{n}"), format!("word{n} and word{} again", n + 1))).collect();
    let notes: Vec<_> = notes.iter().map(|(id, body)| (id.as_str(), "title: T", body.as_str())).collect();
    let store = store(&notes);
    let words = |count: usize| (0..count).map(|n| format!("word{n} ")).collect::<String>();
    let queries = [
        words(60_000),
        "word1 ".repeat(300_000),
        "\"word1 word2\" ".repeat(6_000),
        "wor* ".repeat(900),
        "x".repeat(3_000_000),
    ];
    expect_to_end(move || queries.iter().for_each(|query| drop(find(&store, query))));
}

fn notes_of(report: &Report) -> Vec<String> {
    report.entries.iter().filter_map(Entry::note).map(|entry| entry.note.id.to_string()).collect()
}

#[test]
fn related_notes_are_near_and_not_linked() {
    let store = store(&[
        (
            "a",
            "title: Torn writes\nlinks: [{type: related, id: b}, {type: related, id: hub}]",
            "A torn write leaves half a block on the drive.",
        ),
        ("b", "title: Linked", "A torn write leaves half a block on the drive."),
        ("c", "title: Like it", "Half a block is left by a torn write."),
        ("d", "title: Trains", "The train is late.\n\n[[hub]]"),
        ("hub", "title: Hub", "Everything."),
        ("e", "title: Cats", "A cat sleeps."),
    ]);
    let request = RelatedRequest { id: "a".to_owned(), ..RelatedRequest::default() };
    let report = run_on(&ReadCommand::Related(request), &store).unwrap();
    assert_eq!(notes_of(&report), ["c", "d"]);
    let found = report.entries[0].note().unwrap().match_info.as_ref().unwrap();
    assert!(found.shared.contains(&"torn".to_owned()), "{:?}", found.shared);
    let common = &report.entries[1].note().unwrap().match_info.as_ref().unwrap().common;
    assert_eq!(common.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["hub"]);
}

#[test]
fn filters_and_limits_choose_among_hits() {
    let store = store(&[
        ("a", "title: A\ntype: moc\nvalue: 90\nupdated: 2025-01-01", "fsync fsync"),
        ("b", "title: B\ntags: [x]\nvalue: 10\nupdated: 2025-02-01", "fsync"),
        (
            "c",
            "title: C\ntags: [x]\nvalue: 60\nupdated: 2025-03-01",
            "fsync once among many other words that stand here",
        ),
    ]);
    let search = |change: &dyn Fn(&mut SearchRequest)| {
        let mut request = SearchRequest { query: "fsync".to_owned(), ..SearchRequest::default() };
        change(&mut request);
        let report = run_on(&ReadCommand::Search(request), &store).unwrap();
        (notes_of(&report), report.head.matched, report.head.is_limited)
    };
    assert_eq!(search(&|_| ()).0.len(), 3);
    assert_eq!(search(&|request| request.filters.kinds.push("moc".to_owned())).0, ["a"]);
    assert_eq!(search(&|request| request.filters.min_value = Some(60)).0.len(), 2);
    let (notes, matched, is_limited) = search(&|request| request.limit = Some(1));
    assert_eq!((notes.len(), matched, is_limited), (1, 3, true));
    assert!(search(&|request| request.min_relevance = Some(Score::new(0.990_001))).0.is_empty());
    assert_eq!(search(&|request| request.filters.since = "2025-02-15".parse().ok()).0, ["c"]);
}

/// A question about `-9`, `"x"` or `x*` finds what the words find, with the same scores.
#[test]
fn a_question_has_no_operators() {
    let words = || prop::collection::vec(("[a-z]{1,8}", 0..6_usize), 1..6);
    runner(400)
        .run(&(files(), hostile_text(), words()), |(files, text, words)| {
            let store = store_of(files);
            let plain: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
            let written = words.iter().map(|(word, form)| match form {
                0 => format!("-{word}"),
                1 => format!("\"{word}\""),
                2 => format!("{word}*"),
                3 => format!("-\"{word}\""),
                4 => format!("--{word}"),
                _ => word.clone(),
            });
            let (plain, written) = (plain.join(" "), written.collect::<Vec<_>>().join(" "));
            for (plain, written) in
                [(plain.clone(), written.clone()), (format!("{plain} {text}"), format!("{written} {text}"))]
            {
                let hits = |text: &str| told_of(&store, &found(&store, &Query::question(text)));
                prop_assert_eq!(hits(&written), hits(&plain), "{}", written);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn words_that_look_like_flags_are_words() {
    for args in [
        vec!["search", "-linux", "fsync"],
        vec!["ask", "what", "does", "kill", "-9", "do", "--max-chars", "500"],
        vec!["ask", "df", "-h", "shows", "what"],
        vec!["context", "--query", "-9"],
        vec!["search", "push", "--without", "-f"],
        vec!["search", "?"],
        vec!["search", "-"],
        vec!["search", "--max-chars is what?", "--json"],
        vec!["search", "fsync", "-v", "--format", "json"],
        vec!["search", "--", "--odd"],
        vec!["search", "c++ (why"],
        vec!["context", "--query", "-linux fsync"],
    ] {
        let answer = call("fixtures/research", &args);
        assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
    }
    assert_eq!(call("fixtures/research", &["search", "--nosuch", "x"]).code(), 2);
    assert_eq!(call("fixtures/research", &["search", "x", "--min-relevance", "1.5"]).code(), 2);
    let hits =
        |more: &[&str]| call("fixtures/research", &[&["search", "fsync", "--limit", "50"], more].concat()).stdout;
    assert!(hits(&["-postgresql"]).contains("qp-q8s2"));
    let text = hits(&["--without", "postgresql"]);
    assert!(text.contains("qp-") && !text.contains("qp-q8s2"), "{text}");
    for args in [&["ask", "x", "--top-k", "5"][..], &["search", "rm", "--force", "all"]] {
        let error = call("fixtures/research", args).error.unwrap();
        assert!(error.hint.unwrap().ends_with("put `--` before the words"), "{args:?}");
    }
}

#[test]
fn a_title_that_reads_as_a_query_is_still_that_note() {
    let dir = temp_dir();
    let notes = dir.path().join(".qipu/notes");
    std::fs::create_dir_all(&notes).unwrap();
    let titles = ["Why -O2 breaks", "-flag of cargo", "tag:rust", "\"quoted phrase\"", "Cafe\u{301} bar", "start* x"];
    for (number, title) in titles.iter().enumerate() {
        let title = serde_json::Value::from(*title);
        let text = format!("---\nid: n{number}\ntitle: {title}\ntags: [t{number}]\n---\nText {number}.\n");
        std::fs::write(notes.join(format!("n{number}.md")), text).unwrap();
    }
    std::fs::write(notes.join("r.md"), "---\nid: r\ntitle: R\ntags: [rust]\n---\nOn O2 and -flag of cargo.\n").unwrap();
    let path = dir.path().to_str().unwrap();
    for (number, query) in titles.iter().enumerate() {
        for query in [(*query).to_owned(), query.to_uppercase(), query.replace("e\u{301}", "é")] {
            let found = call(path, &["search", &query, "--json"]).stdout;
            let found: serde_json::Value = serde_json::from_str(&found).unwrap();
            assert_eq!(found["notes"][0]["id"], format!("n{number}"), "{query}");
            assert_eq!(found["notes"][0]["relevance"], 1.0, "{query}");
        }
    }
}

#[test]
fn a_very_long_word_takes_no_space_from_the_answer() {
    let dir = temp_dir();
    let notes = dir.path().join(".qipu/notes");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("a.md"), format!("thing xylophone{}\n", "q".repeat(200_000))).unwrap();
    std::fs::write(notes.join("b.md"), "alpha\n").unwrap();
    let path = dir.path().to_str().unwrap();
    for query in ["xylophone alpha", &format!("xylophone{} alpha", "r".repeat(10_000))] {
        for format in ["human", "json", "records"] {
            let answer = call(path, &["search", query, "--max-chars", "900", "--format", format]);
            assert!(answer.error.is_none() && answer.stdout.contains('b'), "{:?}", answer.error);
        }
    }
}

#[test]
fn an_id_or_a_file_name_is_that_note() {
    let notes = [
        ("qp-a1b2c3d4", "title: Languages", "The parser is written in C++."),
        ("plain", "title: Named in words", "See qp-a1b2c3d4 and other.md before anything else, in qp-a1b2c3d4."),
        ("other", "title: Something else", "Nothing of the kind."),
    ];
    let store = store(&notes);
    for (query, first) in [
        ("qp-a1b2c3d4", "qp-a1b2c3d4"),
        ("a1b2c3d4", "qp-a1b2c3d4"),
        ("QP-A1B2C3D4", "qp-a1b2c3d4"),
        ("other.md", "other"),
        ("notes/other.md", "other"),
        ("Other.MD", "other"),
    ] {
        let found = find(&store, query);
        let hit = found.hits.first().unwrap();
        assert_eq!((store.notes()[hit.note].id.as_str(), hit.relevance), (first, 1.0), "{query}");
    }
    assert_ne!(ids(&store, "ther.md").first().map(String::as_str), Some("other"));
}

#[test]
fn a_hit_has_the_line_of_its_snippet() {
    let filler = "Filler about chairs.\n\n".repeat(40);
    let dir = store_of_notes(&[
        ("long", "title: Long", format!("{filler}The vector database is rebuilt at night.\n").as_str()),
        ("titled", "title: A vector database", "Of which the text says nothing.\n"),
    ]);
    let run = |args: &[&str]| {
        let dir = dir.path().to_str().unwrap();
        call(dir, &[&["search", "vector database"], args].concat()).stdout
    };
    let text = std::fs::read_to_string(dir.path().join(".qipu/notes/long.md")).unwrap();
    let line = text.lines().position(|line| line.contains("vector")).unwrap() + 1;
    let json: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let of = |id: &str| json["notes"].as_array().unwrap().iter().find(|note| note["id"] == id).unwrap().clone();
    assert_eq!((of("long")["line"].as_u64(), of("titled")["line"].is_null()), (Some(line as u64), true));
    let human = run(&[]);
    assert!(human.contains(&format!("\n    .qipu/notes/long.md:{line}: ")), "{human}");
    assert!(human.contains("\n    .qipu/notes/titled.md\n"), "{human}");
    assert!(run(&["--records"]).contains(&format!(" line={line} snippet=")));
    let fields = run(&["--fields", "path,line"]);
    assert!(fields.lines().any(|row| row == format!(".qipu/notes/long.md\t{line}")), "{fields}");
}
