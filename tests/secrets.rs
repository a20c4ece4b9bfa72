//! Secrets: how many of a corpus are found and how many false alarms there are, that commands refuse them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, missing_docs)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use qipu::secrets::{KnownSecrets, find, find_new};
use support::generators::runner;
use support::random::Random;
use support::secret_values::{KINDS, base64, github, jwt, negatives};

const LEAST_RECALL: f64 = 0.95;
const MOST_FALSE_ALARMS: f64 = 0.01;

/// Texts around a value.
const WRAPPINGS: usize = 8;

fn wrapped(wrapping: usize, value: &str) -> String {
    match wrapping {
        0 => value.to_owned(),
        1 => format!("A line before.\n\nUse {value} for the deployment, not the old one.\n"),
        2 => format!("```sh\nexport SERVICE_KEY={value}\nmake deploy\n```\n"),
        3 => format!("service:\n  credentials: {value}\n"),
        4 => format!("{{\"value\": \"{}\", \"n\": 1}}", value.replace('"', "'").replace('\n', "\\n")),
        5 => format!("- `{value}` (rotated last week)"),
        6 => format!("curl -H 'Authorization: Bearer {value}' https://api.acme.io/v1/jobs"),
        _ => format!("> \u{201c}{value}\u{201d}, wrote Zoë."),
    }
}

#[test]
fn secrets_of_every_kind_are_found() {
    let mut random = Random::new(22);
    let mut missed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut count = 0;
    for (kind, generate) in KINDS {
        for wrapping in 0..WRAPPINGS {
            let text = wrapped(wrapping, &generate(&mut random));
            let found = find(&text);
            count += 1;
            if !found.iter().any(|secret| secret.kind == kind) {
                let others: Vec<&str> = found.iter().map(|secret| secret.kind).collect();
                missed.entry(kind).or_default().push(format!("{others:?} in {text}"));
            }
        }
    }
    let misses = missed.values().map(Vec::len).sum::<usize>();
    let recall = 1.0 - misses as f64 / f64::from(count);
    assert!(count >= 300 && recall >= LEAST_RECALL, "{misses} of {count} missed: {missed:#?}");
    assert!(missed.values().all(|texts| texts.len() <= WRAPPINGS / 2), "a kind is mostly missed: {missed:#?}");
}

#[test]
fn what_is_no_secret_raises_no_alarm() {
    let mut texts = negatives(&mut Random::new(23));
    for folder in ["src", "specs", "tests", "fixtures"] {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap) {
            let text = entry.file_type().is_file().then(|| fs::read_to_string(entry.path()).ok()).flatten();
            texts.extend(text.map(|text| ("this repository", format!("{}\n{text}", entry.path().display()))));
        }
    }
    let is_alarm = |(_, text): &&(&str, String)| !find(text).is_empty();
    let alarms: Vec<_> = texts.iter().filter(is_alarm).collect();
    let shown: Vec<String> =
        alarms.iter().map(|(what, text)| format!("{what}: {:?} in {:.120}", find(text), text)).collect();
    let share = alarms.len() as f64 / texts.len() as f64;
    assert!(texts.len() >= 1000 && share <= MOST_FALSE_ALARMS, "{} of {}: {shown:#?}", alarms.len(), texts.len());
}

#[test]
fn the_position_is_that_of_the_value() {
    let mut random = Random::new(24);
    let token = github(&mut random);
    let text = format!("é\nein Schlüssel: {token}\r\n{token}");
    let found = find(&text);
    let places: Vec<_> = found.iter().map(|secret| (secret.line, secret.column, secret.offset)).collect();
    assert_eq!(places, [(2, 16, text.find(&token).unwrap()), (3, 1, text.rfind(&token).unwrap())]);
    assert!(!format!("{found:?}").contains(&token));
}

#[test]
fn a_comment_exempts_its_line_alone() {
    let mut random = Random::new(25);
    let (first, second) = (github(&mut random), github(&mut random));
    for comment in ["<!-- qipu:allow-secret -->", "# qipu:allow-secret", "// gitleaks:allow"] {
        let text = format!("{first} {comment}\n{second}\n{first}\n");
        assert_eq!(find(&text).iter().map(|secret| secret.line).collect::<Vec<_>>(), [2, 3], "{comment}");
    }
}

#[test]
fn known_secrets_are_not_new() {
    let mut random = Random::new(26);
    let (old, new) = (github(&mut random), jwt(&mut random));
    let mut known = KnownSecrets::default();
    known.add(&format!("It was {old}."));
    assert!(!format!("{known:?}").contains(&old));
    let found = find_new(&format!("key: {old}\nkey: {new}\n"), &known);
    assert_eq!(found.iter().map(|secret| secret.line).collect::<Vec<_>>(), [2]);
}

#[test]
fn hostile_text_takes_linear_time() {
    let mut random = Random::new(27);
    let token = github(&mut random);
    let units = [
        "eyJ",
        ".eyJ",
        "-eyJ",
        "ghp_",
        "-ghp_",
        "://",
        "a://b:",
        "secret=",
        "secret: ",
        "password",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----",
        "AKIA",
        "sk-",
        "sk-ant-api03-",
        "\u{e9}",
        "A",
        "-us",
        ":AA",
        "8Q~",
        "qipu:allow-secret ",
        "qipu:allow-secret\n",
        "\\n",
        "pypi-AgEIcHlwaS5vcmc",
        "-glpat-",
    ];
    let mut texts: Vec<String> = units.iter().map(|unit| unit.repeat((1 << 20) / unit.len())).collect();
    texts.push(format!("{token} ").repeat((1 << 20) / 41));
    texts.push(format!("{token} qipu:allow-secret\n").repeat((1 << 20) / 59));
    texts.push(base64(&mut random, 3 << 18));
    for text in texts {
        let shown: String = text.chars().take(40).collect();
        let begin = Instant::now();
        let count = find(&text).len();
        let time = begin.elapsed();
        // A quadratic search of a mebibyte takes minutes; this takes milliseconds with optimization.
        assert!(time < Duration::from_secs(5), "{time:?} for {count} in {shown}");
    }
}

#[test]
fn any_text_is_searched() {
    let parts = prop::collection::vec(
        prop_oneof![
            ".*",
            prop::sample::select(KINDS.map(|(_, generate)| generate(&mut Random::new(28))).to_vec()),
            prop::sample::select(vec!["://", "secret = \"", "-----BEGIN ", "eyJ", ".", ":", "@", "\\n", "é", "="])
                .prop_map(str::to_owned),
        ],
        0..6,
    );
    let checked = runner(400).run(&parts, |parts| {
        let text = parts.concat();
        for secret in find(&text) {
            prop_assert!(text.is_char_boundary(secret.offset) && secret.line > 0 && secret.column > 0);
            let line = text[..secret.offset].matches('\n').count() + 1;
            prop_assert_eq!(secret.line, line);
        }
        Ok(())
    });
    checked.unwrap();
}
