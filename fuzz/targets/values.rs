//! Small texts: arguments, dates, ids and references, questions with answers.

use std::ffi::OsString;

use qipu::calendar;
use qipu::cli::COMPLETE;
use qipu::note::{CodeRef, NoteId, code_refs_in, is_project_path};

use super::input::Input;
use super::world::{TODAY, World, expect_no_control};

/// Any arguments are parsed or refused with a sentence; the words of a shell are completed.
pub(crate) fn arguments(data: &[u8]) {
    let mut input = Input::new(data);
    let is_completion = input.number(4) == 3;
    let world = World::with_store(&[("notes/a.md", b"---\nid: a\ntitle: A\ntags: [t]\n---\nText.\n")]);
    let rest = input.text();
    // No argument of a process has a NUL.
    if rest.contains('\0') {
        return;
    }
    let words = rest.lines().take(24).map(OsString::from).collect::<Vec<_>>();
    let words: Vec<OsString> = std::iter::once("qipu".into()).chain(words).collect();
    let mut env = world.env("standard input");
    if is_completion {
        let shell = input.choose(&["bash", "zsh", "fish"]);
        env.vars.insert(COMPLETE.to_owned(), shell.into());
        let words = [&["qipu".into(), "--".into()], &words[..]].concat();
        let text = qipu::complete::answer(&words, &env).unwrap();
        let text = String::from_utf8(text).unwrap();
        // A completion repeats the word that is being typed.
        if !rest.contains(|c: char| c != '\n' && (c.is_control() || !c.is_ascii())) {
            expect_no_control(&text.replace('\u{b}', " "));
        }
        return;
    }
    let once = qipu::cli::parse(&words, &env);
    match (&once, qipu::cli::parse(&words, &env)) {
        (Ok(qipu::cli::ParsedCli::Request(first)), Ok(qipu::cli::ParsedCli::Request(second))) => {
            assert_eq!(first.command, second.command);
        }
        (Err(first), Err(second)) => assert_eq!(first.message, second.message),
        (first, second) => assert_eq!(first.is_ok(), second.is_ok()),
    }
    if let Err(error) = once {
        expect_no_control(&error.to_text(false));
        assert!(!error.message.is_empty());
        serde_json::from_str::<serde_json::Value>(&error.to_json()).unwrap();
    }
}

/// A phrase gives the same period each time, and it begins no later than it ends.
pub(crate) fn dates(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for parse in [calendar::parse, calendar::parse_with_short_forms] {
        let range = parse(&text, TODAY);
        assert_eq!(format!("{range:?}"), format!("{:?}", parse(&text, TODAY)));
        match range {
            Ok(range) => {
                let period = range.period();
                assert!(period.from.is_none_or(|from| from <= period.to), "{text:?}: {period:?}");
                assert!(period.contains(period.to), "{text:?}");
            }
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
}

/// Ids that are parsed are written as they were; ids of paths are ids; a reference to code is what it is shown as.
pub(crate) fn ids(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for id in [NoteId::parse(&text), NoteId::parse_qualified(&text)].into_iter().flatten() {
        assert_eq!(id.as_str(), text);
        assert_eq!(NoteId::parse_qualified(id.as_str()), Some(id));
    }
    for id in [NoteId::from_path(&text), NoteId::from_source_path(&text)] {
        assert_eq!(NoteId::parse(id.as_str()), Some(id.clone()), "{text:?}");
        expect_no_control(id.as_str());
    }
    if let Some(reference) = CodeRef::parse(&text) {
        let shown = reference.shown();
        assert_eq!(CodeRef::parse(&shown).map(|again| again.shown()), Some(shown), "{text:?}");
    }
    for reference in code_refs_in(&text) {
        assert!(is_project_path(&reference.path), "{reference:?}");
    }
}

/// Any question file is run, or refused with its line.
pub(crate) fn questions(data: &[u8]) {
    let mut input = Input::new(data);
    let limit = input.budget().to_string();
    let world = World::with_store(&[
        ("notes/a.md", b"---\nid: a\ntitle: Alpha\n---\n# Alpha\n\nThe cache is rebuilt after a crash.\n"),
        ("notes/b.md", b"---\nid: b\ntitle: Beta\n---\n## Fsync\n\nA failed fsync is not retried. [[a]]\n"),
    ]);
    let text = input.text();
    for format in ["human", "json", "records"] {
        let answer = world.call(&["eval", "-", "--max-chars", &limit, "--format", format], &text);
        assert!(answer.text.is_empty() || answer.text.chars().count() <= limit.parse().unwrap());
        expect_no_control(&answer.text);
    }
}
