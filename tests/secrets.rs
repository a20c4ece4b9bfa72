//! Secrets: how many of a corpus are found and how many false alarms there are, that commands refuse them, and that no output
//! contains their values.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::files::{path, store, temp_dir, write_in_store};
use crate::support::generators::runner;
use crate::support::hang::expect_to_end;
use crate::support::process::{Answer, call, call_with, call_with_editor};
use crate::support::random::Random;
use crate::support::secret_values::{
    KINDS, base64, base64_url, github, hex, jwt, negatives, of, pem, prefixed_assignments,
};
use proptest::prelude::*;
use qipu::secrets::{KnownSecrets, find, find_new, rules};

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

/// Each rule has a generator, and each text that begins its values occurs in the values of one.
#[test]
fn every_rule_has_a_generator() {
    let mut random = Random::new(37);
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    for (kind, generate) in KINDS {
        let texts = values.entry(kind).or_default();
        (0..200).for_each(|_| *texts += &format!("{}\n", generate(&mut random).to_lowercase()));
    }
    let count = |kind| KINDS.iter().filter(|(other, _)| *other == kind).count();
    for (kind, anchors) in rules() {
        let forms = rules().filter(|(other, _)| *other == kind).count();
        assert!(count(kind) >= forms, "{kind} has {forms} rules and {} generators", count(kind));
        let missing = |anchor: &&&str| !values[kind].contains(&anchor.to_lowercase());
        assert_eq!(anchors.iter().find(missing), None, "no value of {kind} has it");
    }
}

#[test]
fn a_value_that_begins_like_a_token_of_another_shape_is_found_beside_a_word() {
    let mut random = Random::new(29);
    let texts: Vec<String> = (0..40).flat_map(|_| prefixed_assignments(&mut random)).collect();
    let missed: Vec<&String> = texts.iter().filter(|text| find(text).is_empty()).collect();
    assert!(missed.len() as f64 <= (1.0 - LEAST_RECALL) * texts.len() as f64, "{missed:#?}");
    let name_of = |text: &String| text.split('=').next().unwrap().to_owned();
    let found = texts.iter().filter(|text| !missed.contains(text)).map(name_of);
    assert_eq!(found.collect::<BTreeSet<_>>().len(), 9, "each form is found");
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
    let classes: BTreeSet<&str> = texts.iter().map(|(what, _)| *what).collect();
    for class in classes {
        let count = |texts: &mut dyn Iterator<Item = &'static str>| texts.filter(|what| *what == class).count();
        let (of_class, all) = (count(&mut alarms.iter().map(|a| a.0)), count(&mut texts.iter().map(|t| t.0)));
        assert!(of_class as f64 <= 2.0 * MOST_FALSE_ALARMS * all as f64, "{of_class} of {all} {class}: {shown:#?}");
    }
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

/// Answers leave invisible characters out, so that a token which they divide is shown whole.
#[test]
fn a_text_is_searched_as_it_is_shown() {
    let mut random = Random::new(31);
    let invisible =
        ['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{200d}', '\u{fe0f}', '\u{34f}', '\u{180e}', '\u{e0101}'];
    runner(200)
        .run(&(any::<u64>(), prop::collection::vec((0..40_usize, 0..invisible.len()), 1..8)), |(seed, inserted)| {
            let token = github(&mut Random::new(seed));
            let mut hidden: Vec<char> = token.chars().collect();
            for (position, index) in inserted {
                hidden.insert(position, invisible[index]);
            }
            let text = format!("é:\u{a0}{}\n", hidden.iter().collect::<String>());
            let found = find(&text);
            prop_assert_eq!(found.len(), 1, "{:?}", text);
            prop_assert!(text[found[0].offset..].starts_with(token.chars().next().unwrap()));
            let mut known = KnownSecrets::default();
            known.add(&token);
            prop_assert_eq!(find_new(&text, &known), vec![]);
            Ok(())
        })
        .unwrap();
    let value = format!("k7{}Q3", of(&mut random, "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ", 20));
    assert_eq!(find(&format!("password:\u{a0}{value}")).len(), 1);
}

/// Only a whole value of documentation makes a token an example.
#[test]
fn a_token_of_a_service_is_no_example() {
    let mut random = Random::new(32);
    let header = base64_url(r#"{"alg":"HS256","typ":"JWT"}"#);
    let signature = base64_url(&of(&mut random, "abcdefghijklmnopqrstuvwxyz0123456789", 32));
    for (claims, is_found) in [
        (r#"{"sub":"svc-billing","scope":"rows:insert"}"#, true),
        (r#"{"sub":"u1","name":"Ann Sample"}"#, true),
        (r#"{"sub":"41234567","role":"your-team"}"#, true),
        (r#"{"sub":"1234567890","name":"John Doe","iat":1516239022}"#, false),
        (r#"{"iss":"joe","exp":1300819380,"http://example.com/is_root":true}"#, false),
    ] {
        let token = format!("Deploy token: {header}.{}.{signature}", base64_url(claims));
        assert_eq!(!find(&token).is_empty(), is_found, "{claims}");
    }
}

#[test]
fn digests_references_and_values_for_tests_are_no_secrets() {
    let mut random = Random::new(33);
    let digest = hex(&mut random, 64);
    for text in [
        format!("secret: sha256:{digest}"),
        format!("token: sha512-{}", base64(&mut random, 64)),
        format!("--password-hash {digest}"),
        "secret_ref: vault:kv/data/payments/Db2024#password1".to_owned(),
        "secret: aws-sm:prod/payments/Db2024Password1".to_owned(),
        "password: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-Ab12Cd".to_owned(),
        "api_key: test_1a2B3c4D5e6F7g8H".to_owned(),
        "api_key: fake-1a2B3c4D5e6F7g8H".to_owned(),
        "| password | varchar(255) |".to_owned(),
        "curl -u \"$USER:$PASSWORD\" https://db.acme.io/".to_owned(),
        "curl -u user:password https://db.acme.io/".to_owned(),
        "curl -u app:k3yOfTheD4y http://localhost:9200/".to_owned(),
        "Authorization: Bearer <token>".to_owned(),
        "pass base64url2Decode to the parser".to_owned(),
    ] {
        assert_eq!(find(&text), [], "{text}");
    }
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
        // A quadratic search of a mebibyte takes minutes; this takes milliseconds with optimization.
        expect_to_end(move || drop(find(&text)));
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

/// Asserts that a call is refused for its secret, without the value in any output.
fn expect_refused(answer: &Answer, value: &str, place: &str) {
    let error = answer.error.as_ref().unwrap_or_else(|| panic!("not refused: {}", answer.stdout));
    assert_eq!(answer.code(), 1, "{error:?}");
    assert!(error.message.contains("secret") && error.message.contains(place), "{error:?}");
    assert!(error.hint.as_ref().unwrap().contains("--allow-secret"), "{error:?}");
    for output in [&answer.stdout, &error.to_text(false), &error.to_text(true), &error.to_json()] {
        assert!(!output.contains(&value[..value.len().min(12)]), "{output}");
    }
}

fn notes(dir: &tempfile::TempDir) -> Vec<String> {
    let files = walkdir::WalkDir::new(dir.path().join(".qipu")).sort_by_file_name().into_iter().map(Result::unwrap);
    let notes = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"));
    notes.map(|entry| fs::read_to_string(entry.path()).unwrap()).collect()
}

#[test]
fn commands_refuse_secrets_and_allow_them_if_told() {
    let token = github(&mut Random::new(30));
    let text = format!("The key of the build:\n{token}");
    let field = format!("build={token}");
    let calls: [(&[&str], &str); 13] = [
        (&["capture", &text], "GitHub token in line 2, column 1 of the text"),
        (&["capture", "A text.", "--title", &token], "GitHub token in the field `title`"),
        (&["capture", "A text.", "--tag", &token], "GitHub token in the field `tags`"),
        (&["capture", "--title", "A title", "--body", &text], "line 2"),
        (&["capture", "--title", &token], "the field `title`"),
        (&["capture", "--title", "A title", "--summary", &token], "the field `summary`"),
        (&["capture", "--title", "A title", "--set", &field], "the fields"),
        (&["capture", "--title", "A title", "--source", &token], "the field `sources`"),
        (&["update", "a", "--body", &text], "line 2"),
        (&["update", "a", "--set", &field], "the fields"),
        (&["journal", &token], "column 3 of the text"),
        (&["update", "a", "--title", &token], "the field `title`"),
        (&["update", "--where", "tag = t", "--untag", "t", "--tag", &token], "the field `tags`"),
    ];
    for (args, place) in calls {
        let dir = store(&[("notes/a.md", "---\nid: a\ntitle: A\ntags: [t]\n---\nA text.\n")]);
        let before = notes(&dir);
        for flags in [&[][..], &["--json"], &["--records"], &["--dry-run"], &["--dry-run", "--json"]] {
            expect_refused(&call(path(&dir), &[args, flags].concat()), &token, place);
        }
        assert_eq!(notes(&dir), before, "{args:?}");
        let answer = call(path(&dir), &[args, &["--allow-secret"]].concat());
        assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
        assert!(notes(&dir).iter().any(|note| note.contains(&token)), "{args:?}");
    }
    let dir = store(&[]);
    expect_refused(&call_with(path(&dir), &["capture"], &text, &[]), &token, "line 2");
    assert_eq!(call(path(&dir), &["list", "--allow-secret"]).code(), 2, "it saves no text");
}

/// The words of an agent can't say that a secret in them is an example; a secret that was there before stays.
#[test]
fn a_comment_by_an_agent_exempts_nothing() {
    let mut random = Random::new(36);
    let (old, new) = (github(&mut random), github(&mut random));
    let note = format!("---\nid: a\ntitle: A\n---\n{old} <!-- qipu:allow-secret -->\n");
    let (text, session) = (format!("{new} <!-- qipu:allow-secret -->"), [("CODEX_THREAD_ID", "t1")]);
    type Call<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);
    let calls: [Call<'_>; 4] = [
        (&["capture", &text, "--by", "script"], &[]),
        (&["capture", &text], &session),
        (&["update", "a", "--append", &text], &session),
        (&["update", "a", "--replace", &old, &new], &session),
    ];
    for (args, vars) in calls {
        let dir = store(&[("notes/a.md", &note)]);
        let answer = call_with(path(&dir), args, "", vars);
        let error = answer.error.as_ref().unwrap_or_else(|| panic!("not refused: {args:?}"));
        assert!(error.message.contains("GitHub token") && !error.to_text(false).contains("allow"), "{error:?}");
        assert_eq!(notes(&dir), std::slice::from_ref(&note), "{args:?}");
        let answer = call_with(path(&dir), &["update", "a", "--append", "More."], "", &session);
        assert_eq!(answer.code(), 0, "{:?}", answer.error);
    }
    let dir = store(&[]);
    assert_eq!(call(path(&dir), &["capture", &text]).code(), 0, "a person may");
}

#[test]
fn a_multiline_key_in_a_field_is_refused() {
    let dir = store(&[]);
    let key = pem(&mut Random::new(31), "PRIVATE KEY", &[0x30, 0x2e], 48);
    let answer = call(path(&dir), &["capture", "--title", "A title", "--summary", &key]);
    expect_refused(&answer, key.lines().nth(1).unwrap(), "private key in the field `summary`");
}

#[test]
fn a_secret_that_a_note_has_blocks_no_other_edit() {
    let mut random = Random::new(32);
    let (old, new) = (github(&mut random), github(&mut random));
    let dir = store(&[("notes/a.md", &format!("---\nid: a\ntitle: A\ntags: [t]\n---\nIt is {old}.\n"))]);
    let body = format!("Now it is {old}, as before.");
    for args in [
        &["update", "a", "--value", "3"][..],
        &["update", "a", "--body", &body],
        &["update", "a", "--title", "B"],
        &["update", "--where", "tag = t", "--untag", "t", "--tag", "u"],
    ] {
        let answer = call(path(&dir), args);
        assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
    }
    let body = format!("{old}\n{new}");
    expect_refused(&call(path(&dir), &["update", "a", "--body", &body]), &new, "1 secret: GitHub token in line 2");
    // A text that moves from one note to another is not new.
    write_in_store(dir.path(), "notes/b.md", "---\nid: b\ntitle: Other\n---\nA text.\n");
    assert_eq!(call(path(&dir), &["merge", "b", "a"]).code(), 0);
}

/// A new title may be given because the old one contains a secret, which must not stay in the note as an alias.
#[test]
fn an_old_title_with_a_secret_becomes_no_alias() {
    let token = github(&mut Random::new(32));
    let dir = store(&[("notes/a.md", &format!("---\nid: a\ntitle: Key {token}\n---\nText.\n"))]);
    let answer = call(path(&dir), &["update", "a", "--title", "Key of the build"]);
    assert_eq!(answer.code(), 0, "{:?}", answer.error);
    assert!(!notes(&dir)[0].contains(&token) && !answer.stdout.contains("alias"), "{}", answer.stdout);
}

#[test]
fn packs_and_imports_with_secrets_are_refused() {
    let token = github(&mut Random::new(33));
    let note = format!("---\nid: a\ntitle: A\n---\nIt is\n{token}\n");
    let dir = store(&[("notes/a.md", &note), ("attachments/key.txt", &token), ("notes/b.md", "# B\n")]);
    let pack = dir.path().join("a.pack");
    let dump = ["dump", pack.to_str().unwrap()];
    expect_refused(&call(path(&dir), &dump), &token, "GitHub token in line 6, column 1 of .qipu/notes/a.md");
    expect_refused(&call(path(&dir), &["dump", "-"]), &token, "2 secrets");
    assert!(!pack.exists());
    assert_eq!(call(path(&dir), &[&dump[..], &["--allow-secret"]].concat()).code(), 0);

    let other = store(&[]);
    let load = ["load", pack.to_str().unwrap()];
    expect_refused(&call(path(&other), &load), &token, "line 6, column 1 of .qipu/notes/a.md");
    expect_refused(&call(path(&other), &[&load[..], &["--dry-run"]].concat()), &token, "attachments/key.txt");
    assert_eq!(notes(&other).len(), 0);
    assert_eq!(call(path(&other), &[&load[..], &["--allow-secret"]].concat()).code(), 0);
    assert_eq!(call(path(&other), &load).code(), 0, "the store has them already");

    let vault = temp_dir();
    fs::write(vault.path().join("Page.md"), format!("A page.\n\n{token}\n")).unwrap();
    fs::write(vault.path().join(format!("{token}.md")), "A page.\n").unwrap();
    let store = store(&[]);
    let import = ["import", vault.path().to_str().unwrap()];
    expect_refused(&call(path(&store), &import), &token, "Page.md; GitHub token in the name of a file");
    expect_refused(&call(path(&store), &[&import[..], &["--dry-run", "--json"]].concat()), &token, "2 secrets");
    assert_eq!(call(path(&store), &[&import[..], &["--allow-secret"]].concat()).code(), 0);
    assert_eq!(call(path(&store), &import).code(), 0, "the store has them already");
}

#[test]
fn doctor_reports_secrets_without_their_values() {
    let mut random = Random::new(34);
    let (token, secret) = (github(&mut random), of(&mut random, "0123456789abcdefghijkmnpqrstuvwxyzABC", 30));
    let note = format!("---\nid: a\ntitle: A\nsummary: {token}\n---\npassword: {secret}\n");
    let example = format!("---\nid: b\ntitle: B\n---\n{token} <!-- qipu:allow-secret -->\n[[a]]\n");
    let long = format!("{token}\n{}", hex(&mut random, 2 << 20));
    let dir = store(&[
        ("notes/a.md", &note),
        ("notes/b.md", &example),
        ("attachments/c.env", &format!("\nA={token}\n")),
        ("attachments/long.txt", &long),
    ]);
    for format in [&[][..], &["--json"], &["--records"]] {
        let answer = call(path(&dir), &[&["doctor"], format].concat());
        assert_eq!(answer.code(), 3);
        assert!(!answer.stdout.contains(&token) && !answer.stdout.contains(&secret), "{}", answer.stdout);
    }
    let json: serde_json::Value = serde_json::from_str(&call(path(&dir), &["doctor", "--json"]).stdout).unwrap();
    let found = json["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == "secret");
    let found: Vec<_> =
        found.map(|f| (f["path"].as_str().unwrap(), f["line"].as_u64().unwrap(), &f["level"])).collect();
    let expected = [(".qipu/attachments/c.env", 2), (".qipu/notes/a.md", 4), (".qipu/notes/a.md", 6)];
    assert_eq!(found.iter().map(|(path, line, _)| (*path, *line)).collect::<Vec<_>>(), expected, "{json}");
}

#[test]
fn the_secrets_that_a_person_writes_in_the_editor_are_reported() {
    let token = github(&mut Random::new(35));
    let dir = store(&[("notes/a.md", "---\nid: a\ntitle: A\n---\nA text.\n")]);
    let added = format!("{token}\n");
    let editor = move |file: &Path| fs::write(file, fs::read_to_string(file)? + &added);
    let shown = call_with_editor(path(&dir), &["update", "a"], editor).stdout;
    assert!(shown.contains("GitHub token") && !shown.contains(&token), "{shown}");
}
