//! Tests only: what questions are understood to mean.

use super::*;
use crate::store::NoteHandle;

const TODAY: &str = "2025-03-31";

fn notes() -> Vec<Arc<NoteHandle>> {
    let note = |path: &str, text: &str| Arc::new(NoteHandle::parse(path, text.as_bytes().to_vec()));
    let mut notes = vec![
        note("notes/qp-a1.md", "---\nid: qp-a1\ntitle: Projects\naliases: [Work, plans]\n---\n"),
        note("notes/qp-b2-roadmap.md", "---\nid: qp-b2\ntitle: Q3 Roadmap\n---\n"),
        note("notes/qp-c3.md", "---\nid: qp-c3\ntitle: The Daily\n---\n"),
        note("notes/qp-d4.md", "---\nid: qp-d4\ntitle: Twice\n---\n"),
        note("notes/qp-d5.md", "---\nid: qp-d5\ntitle: twice\n---\n"),
        note("notes/qp-d6.md", "---\nid: qp-d6\ntitle: Twice\n---\n"),
        note("notes/qp-e1.md", "---\nid: qp-e1\ntitle: Meeting notes\n---\n"),
    ];
    for number in 0..5 {
        notes.push(note(&format!("notes/qp-f{number}.md"), &format!("---\nid: qp-f{number}\ntitle: Docs\n---\n")));
    }
    for (number, day) in ["2025-03-17", "2025-03-24", "2025-03-30", "2025-03-31"].iter().enumerate() {
        notes.push(note(&format!("journals/{day}.md"), &format!("---\nid: qp-j{number}\ntitle: {day}\n---\n- x\n")));
    }
    notes
}

fn understood(text: &str) -> Question {
    let notes = notes();
    let window = Period { from: None, to: Date::MAX };
    let today = TODAY.parse().unwrap_or_default();
    QuestionContext { notes: &notes, language: Language::English, today, window, journals: None, is_hidden: &|_| false }
        .parse(text)
}

fn is_only_words(question: &Question) -> bool {
    let Question { references, dates, periods, intents, warnings, .. } = question;
    references.is_empty() && dates.is_empty() && periods.is_empty() && intents.is_empty() && warnings.is_empty()
}

fn ids(question: &Question) -> Vec<String> {
    let notes = notes();
    let named = question.references.iter();
    named
        .map(|reference| {
            reference.notes.iter().map(|note| notes[note.index()].id.as_str()).collect::<Vec<_>>().join("+")
        })
        .collect()
}

fn periods(question: &Question) -> String {
    let describe = |named: &PeriodEntry| {
        let from = named.period.from.map_or(String::new(), |from| from.to_string());
        format!("{}={from}..{}:{}", named.text, named.period.to, named.journals)
    };
    question.periods.iter().map(describe).collect::<Vec<_>>().join(" ")
}

#[test]
fn double_brackets_name_by_id_title_alias_and_file() {
    for (text, id) in [
        ("Summarize [[Projects]]", "qp-a1"),
        ("[[projects|those]] and more", "qp-a1"),
        ("see [[Projects#Plan]]", "qp-a1"),
        ("[[qp-b2]]", "qp-b2"),
        ("[[PLANS]]", "qp-a1"),
        ("[[qp-b2-roadmap]]", "qp-b2"),
        ("[[ twice ]]", "qp-d5"),
        ("[[TWICE]]", "qp-d4+qp-d5+qp-d6"),
        ("[[Docs]]", "qp-f0+qp-f1+qp-f2+qp-f3+qp-f4"),
        ("[[Twice]]", "qp-d4+qp-d6"),
        ("[[2025-03-24]]", "qp-j1"),
        ("[[Mar 24th, 2025]]", "qp-j1"),
        ("[[yesterday]]", "qp-j2"),
        ("[[ [[Projects]]", "qp-a1"),
    ] {
        let question = understood(text);
        assert_eq!(ids(&question).join(" "), id, "{text}");
        assert_eq!(!question.warnings.is_empty(), id.contains('+'), "{text}: {:?}", question.warnings);
        // An id or a day is not searched for.
        let is_name = id.starts_with("qp-j") || text == "[[qp-b2]]";
        assert_eq!(question.rest.is_none(), is_name, "the words of a reference are searched for too: {text}");
    }
    let question = understood("[[Nothing here]] and [[2020-01-01]] [[]] [[|]]");
    assert_eq!(question.warnings, ["unresolved reference: Nothing here", "unresolved reference: 2020-01-01"]);
    assert!(question.references.is_empty() && question.dates.is_empty());
}

#[test]
fn titles_beside_page_and_note_and_in_quotes() {
    for (text, id) in [
        ("the Projects page", "qp-a1"),
        ("what is on the projects page?", "qp-a1"),
        ("the meeting notes for the Projects page", "qp-a1"),
        ("the Q3 Roadmap page", "qp-b2"),
        ("open the daily note", "qp-c3"),
        ("the page called Q3 Roadmap please", "qp-b2"),
        ("a note titled \"Q3 roadmap\".", "qp-b2"),
        ("the page called Projects?", "qp-a1"),
        ("what about \"projects\" then", "qp-a1"),
        ("what about “Projects”", "qp-a1"),
        ("what about 'Projects'?", "qp-a1"),
        ("a 5\" disk in \"Projects\"", "qp-a1"),
        ("compare the Q3 Roadmap page and the Projects page", "qp-b2 qp-a1"),
        ("[[Q3 Roadmap]] then \"Projects\"", "qp-b2 qp-a1"),
        ("the Twice note", "qp-d4+qp-d5+qp-d6"),
        ("what does my Projects page say", "qp-a1"),
        ("our projects page, this Q3 Roadmap page", "qp-a1 qp-b2"),
        ("what does page Projects say", "qp-a1"),
        ("the [[Projects]] page", "qp-a1"),
        ("what does page [[Projects]] say", "qp-a1"),
        ("what does \"Projects\" page say", "qp-a1"),
    ] {
        let question = understood(text);
        assert_eq!(ids(&question).join(" "), id, "{text}");
        let words = |text: &str| {
            let words = text.split_whitespace().map(|word| word.trim_matches(['?', '.', ',', '"', '“', '”', '\'']));
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let mut rest = words(text);
        // The last two only express a request.
        rest.retain(|word| !["page", "note", "called", "titled", "compare", "please"].contains(&word.as_str()));
        let found = words(question.rest.as_deref().unwrap());
        assert_eq!(found, rest, "the words that mark a name are not searched for: {text}");
    }
    for text in "the Unknown page|Projects|a Projects page|the page|page called|note|\"nothing\"|the plans page|\
        it's Projects' plan|page projects|note Projects|my page|the docs page can't load|\"Docs\""
        .split('|')
    {
        let question = understood(text);
        assert!(is_only_words(&question), "{text}: {question:?}");
    }
}

#[test]
fn words_before_a_page_may_name_days() {
    let question = understood("what did our team do last week on the Projects page");
    assert_eq!(
        (ids(&question).join(" ").as_str(), periods(&question).as_str()),
        ("qp-a1", "last week=2025-03-24..2025-03-31:3")
    );
}

#[test]
fn a_name_that_no_note_has_leaves_the_other_words() {
    let fallback = |text: &str| understood(text).fallback;
    assert_eq!(fallback("[[Lexer]] parser").as_deref(), Some("parser"));
    assert_eq!(
        fallback("how fast is the parser of [[Lexer rewrite|it]] with [[Projects]]?").as_deref(),
        Some("how fast is the parser of with [[Projects]]?")
    );
    assert_eq!(fallback("fsync on [[2025-03-25]]").as_deref(), Some("fsync on"));
    for text in ["[[Lexer]]", "the [[Lexer]]", "parser", "[[Projects]] parser"] {
        assert_eq!(fallback(text), None, "{text}");
    }
}

#[test]
fn days_and_periods_are_not_searched_for() {
    let question = understood("what did I learn about fsync last week?");
    assert_eq!(periods(&question), "last week=2025-03-24..2025-03-31:3");
    assert_eq!(
        (question.terms.join(" ").as_str(), question.rest.as_deref()),
        ("learn fsync", Some("what did I learn about fsync"))
    );
    let question = understood("today's journal");
    assert_eq!((question.dates[0].text.as_str(), question.rest.as_deref()), ("today's journal", None));
    let question = understood("what happened in January 2020 with fsync");
    assert_eq!(periods(&question), "January 2020=2020-01-01..2020-01-31:0", "{question:?}");
    assert_eq!(question.rest.as_deref(), Some("what in with fsync"));
    assert_eq!(question.favoured.len(), 1);
    let question = understood("everything before 2025-03-20");
    assert_eq!(periods(&question), "before 2025-03-20=..2025-03-19:1");
    let question = understood("last week and the week before");
    assert_eq!(periods(&question), "last week=2025-03-24..2025-03-31:3 the week before=2025-03-17..2025-03-23:1");
    let question = understood("tag:a fsync, #b last week (again) c++");
    assert_eq!(question.rest.as_deref(), Some("tag:a fsync, #b (again) c++"));
    let question = understood("2025-02-30 fsync");
    assert_eq!(question.warnings, ["`2025-02-30` is not a valid date"]);
    assert_eq!(question.rest.as_deref(), Some("fsync"));
}

#[test]
fn periods_ahead_are_warned_of_in_every_spelling() {
    for text in ["since 2087-10-01", "October 2087", "2087-10", "2087-10-01 to 2087-11-01", "after tomorrow"] {
        assert_eq!(understood(text).warnings, [format!("`{text}` is in the future")], "{text}");
    }
    assert_eq!(understood("compare 2087-10 with today").warnings, ["`2087-10` is in the future"]);
    for text in ["tomorrow", "this week", "this year", "2087-10-01", "before 2087-10-01"] {
        assert!(understood(text).warnings.is_empty(), "{text}");
    }
}

#[test]
fn warnings_quote_a_long_name_shortened_and_keep_their_own_words() {
    let question = understood("between 2025-03-10 and 2025-03-01");
    let expected = "`2025-03-10 and 2025-03-01` ends before it begins; start and end are swapped";
    assert_eq!(question.warnings, [expected]);
    let name = "n".repeat(300);
    let question = understood(&format!("[[{name}]] since January"));
    let reference = format!("unresolved reference: {}…", name.get(..120).unwrap());
    let period = "`since January` can't be read as a period; it is searched for as words";
    assert_eq!(question.warnings, [reference.as_str(), period]);
    assert_eq!(question.terms.last().map(String::as_str), Some("january"));
}

#[test]
fn digits_of_a_day_that_has_journals_are_not_searched_for() {
    let terms = |text: &str| understood(text).terms.join(" ");
    assert_eq!(terms("fsync on [[2025-03-24]]"), "fsync");
    assert_eq!(terms("what of [[yesterday]] and [[Projects]]"), "projects");
    assert_eq!(understood("what did I do on [[2025-03-24]]").rest, None);
    // Nothing but its words can find what is known of other days.
    assert_eq!(terms("fsync on [[2025-03-25]]"), "fsync 2025 03 25");
    let question = understood("2025-03-25 and today");
    assert_eq!(question.dates.iter().map(|named| named.journals).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn comparisons_name_two_sides() {
    let sides = |text: &str| {
        let question = understood(text);
        let sides = question.comparison.as_ref();
        (sides.map(|[a, b]| format!("{}|{}", a.text, b.text)), question.rest)
    };
    for (text, expected) in [
        ("compare today's journal with last week", "today's journal|last week"),
        ("Compare my journals from last week to yesterday", "journals from last week|yesterday"),
        ("compare last week", "last week|today"),
        ("last week versus the week before", "last week|the week before"),
        ("2025-03-24 vs. 2025-03-31", "2025-03-24|2025-03-31"),
        ("what changed between yesterday and today?", "yesterday|today"),
        ("what has changed between 2025-03-24 and 2025-03-30", "2025-03-24|2025-03-30"),
        ("what is the difference between last week and the week before", "last week|the week before"),
        ("differences between yesterday and today?", "yesterday|today"),
        ("how did last week differ from the week before?", "last week|the week before"),
        ("How was last week's journal different from today's journal", "last week's journal|today's journal"),
        ("compare March with February", "March|February"),
        ("compare march with Q4", "march|Q4"),
        ("March vs February", "March|February"),
        ("what changed between February and March", "February|March"),
    ] {
        assert_eq!(sides(text), (Some(expected.to_owned()), None), "{text}");
    }
    for text in "compare rust with go|rust versus go|what changed between versions|compare|versus|\
        difference between rust and go|difference between March and the parser|how does rust differ from go|\
        compare March|edition 2018 versus 2021"
        .split('|')
    {
        assert_eq!(sides(text), (None, Some(text.to_owned())), "{text}");
    }
}

#[test]
fn patterns_are_an_intent_where_nothing_else_is_the_subject() {
    for text in [
        "What patterns do you see in my journals?",
        "recurring themes",
        "what are my habits",
        "any trends last week?",
        "recurring topics in the journal",
    ] {
        let question = understood(text);
        assert_eq!((question.intents.as_slice(), question.rest), ([PATTERNS].as_slice(), None), "{text}");
    }
    let question = understood("trends in fsync errors last week");
    assert_eq!(question.rest.as_deref(), Some("in fsync errors"));
    assert_eq!(question.patterns.map(|period| period.from.is_some()), Some(true));
    for text in ["flow patterns over wings", "design patterns in Rust", "recurring bugs", "patterned"] {
        let question = understood(text);
        assert!(is_only_words(&question) && question.rest.as_deref() == Some(text), "{text}");
    }
}
