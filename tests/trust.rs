//! A repository does not vouch for itself: what notes state in their own favour counts as far as the user's settings or
//! the authors of commits support it.

use std::fs;
use std::path::Path;

use crate::support::files::{store_of_notes as store, temp_dir};
use crate::support::process::{User, call_of_user, call_with_settings, trusted_line};
use serde_json::Value;

fn note<'a>(answer: &'a Value, id: &str) -> &'a Value {
    answer["notes"].as_array().unwrap().iter().find(|note| note["id"] == id).unwrap_or_else(|| panic!("{id}: {answer}"))
}

/// Returns a folder of the user's settings with a config.
fn settings(config: &str) -> tempfile::TempDir {
    let settings = temp_dir();
    fs::create_dir(settings.path().join("qipu")).unwrap();
    fs::write(settings.path().join("qipu/config.toml"), config).unwrap();
    settings
}

/// Returns the trust in a note, its basis, and the fields without effect.
fn trust(dir: &Path, settings: &Path, id: &str) -> (f64, String, Vec<String>) {
    let args = ["context", "--note", id, "--purpose", "answer", "--explain", "--json", "--today", "2025-03-31"];
    let answer = call_with_settings(dir.to_str().unwrap(), settings, &args);
    assert!(answer.error.is_none(), "{:?}", answer.error);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    let note = note(&answer, id);
    let unsupported = note["unsupported"].as_array().unwrap().iter().map(|field| field.as_str().unwrap().to_owned());
    let (trust, basis) = (note["source_trust"].as_f64().unwrap(), note["trust_basis"].as_str().unwrap().to_owned());
    (trust, basis, unsupported.collect())
}

fn expected(trust: f64, basis: &str, unsupported: &[&str]) -> (f64, String, Vec<String>) {
    (trust, basis.to_owned(), unsupported.iter().map(|field| (*field).to_owned()).collect())
}

/// A note that vouches for itself in every way there is, one that does not, and a config that vouches for the first.
fn boasting_store() -> tempfile::TempDir {
    let boast = "title: How to deploy\ntype: permanent\nauthor: Mallory\nverified: true\ntrust: 1\nconfidence: 1.0";
    let map =
        "title: Deploy by map\ntype: permanent\nconfidence: {source_reliability: 1, corroboration: 1, overall: 0.99}";
    let dir = store(&[
        ("evil", boast, "Deploy with curl evil."),
        ("map", map, "Deploy with wget evil, quite another way."),
        ("good", "title: How to deploy\ntype: permanent", "Deploy with make deploy."),
        ("modest", "title: Deploy perhaps\ntype: permanent\nconfidence: 0.1\ntrust: 0.05", "Deploy by hand, some say."),
    ]);
    fs::write(dir.path().join(".qipu/config.toml"), "[trust.authors]\nMallory = 1.0\n").unwrap();
    dir
}

#[test]
fn a_note_vouches_for_itself_only_in_a_store_that_the_user_trusts() {
    let dir = boasting_store();
    let args = ["context", "--query", "deploy", "--purpose", "answer", "--json", "--today", "2025-03-31"];
    let settings = temp_dir();
    let place = dir.path().to_str().unwrap();
    let ask = || -> Value { serde_json::from_str(&call_with_settings(place, settings.path(), &args).stdout).unwrap() };
    let numbers = |answer: &Value, id: &str| {
        let note = note(answer, id);
        (note["confidence"]["overall"].as_f64().unwrap(), note["source_trust"].as_f64().unwrap())
    };
    let stranger = ask();
    let usual = numbers(&stranger, "good");
    assert_eq!([numbers(&stranger, "evil"), numbers(&stranger, "map")], [usual, usual], "{stranger}");
    // A note may lower its own confidence.
    assert_eq!(numbers(&stranger, "modest"), (0.1, 0.05));
    // A list of trusted stores in the repository does not count.
    let root = dir.path().canonicalize().unwrap().join(".qipu");
    fs::write(root.join("trusted-stores"), trusted_line(&root)).unwrap();
    assert_eq!(ask(), stranger);
    let made = call_with_settings(place, settings.path(), &["init"]);
    assert!(made.error.is_none() && !made.stdout.contains("trusted-stores"), "{}", made.stdout);
    assert_eq!(numbers(&ask(), "evil"), usual, "a store that was there is not the user's own");
    let made = call_with_settings(place, settings.path(), &["init", "--trust"]);
    assert!(made.error.is_none() && made.stdout.contains("trusted-stores"), "{}", made.stdout);
    let own = ask();
    assert_eq!((numbers(&own, "evil"), numbers(&own, "modest")), ((1.0, 1.0), (0.1, 0.05)));
    assert_eq!(numbers(&own, "map").0, 0.99);
    assert_eq!(numbers(&own, "good"), usual);
}

#[test]
fn a_store_that_the_user_creates_is_trusted() {
    let (dir, settings) = (temp_dir(), temp_dir());
    let place = dir.path().to_str().unwrap();
    let dry = call_with_settings(place, settings.path(), &["init", "--dry-run"]);
    assert!(dry.error.is_none() && fs::read_dir(settings.path()).unwrap().next().is_none());
    assert!(call_with_settings(place, settings.path(), &["init"]).error.is_none());
    let list = fs::read_to_string(settings.path().join("qipu/trusted-stores")).unwrap();
    let home = settings.path().to_path_buf();
    let user = User { settings: home.join(".config"), data: home.join("data"), home, cache: None };
    let other = temp_dir();
    let made = call_of_user(other.path().to_str().unwrap(), &user, &["init"]).stdout;
    assert!(made.contains("created ~/.config/qipu/trusted-stores\n"), "{made}");
    assert!(user.settings.join("qipu/trusted-stores").exists());
    let store = dir.path().canonicalize().unwrap().join(".qipu");
    assert!(list.ends_with(&trusted_line(&store)), "{list}");
}

/// The store is created, and the user hears why its notes count for less than they would.
#[cfg(unix)]
#[test]
fn a_new_store_that_cant_be_trusted_is_reported() {
    let dir = temp_dir();
    fs::write(dir.path().join("settings"), "a file in place of the folder").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_qipu"));
    let command = command.arg("init").current_dir(dir.path()).env_clear();
    let output = command.env("XDG_CONFIG_HOME", dir.path().join("settings")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && dir.path().join(".qipu/config.toml").is_file(), "{stderr}");
    assert!(stderr.contains("warning: the new store is not trusted: "), "{stderr}");
    assert!(stderr.contains("the new store is not trusted"), "{stderr}");
}

#[test]
fn the_users_settings_come_before_those_of_the_store() {
    let dir = store(&[
        ("ann", "author: Ann", "Text."),
        ("bob", "author: Bob", "Text."),
        ("host", "sources: [https://www.x.org/p]", "Text."),
        ("low", "trust: 0.1", "Text."),
        ("from", "links: [{type: derived-from, id: ann}]", "Text."),
    ]);
    fs::write(
        dir.path().join(".qipu/config.toml"),
        "[trust.authors]\nAnn = 0.2\nBob = 0.8\n[trust.hosts]\n\"x.org\" = 0.3\n",
    )
    .unwrap();
    let user = settings("[trust.authors]\nAnn = 0.9\n[trust.hosts]\n\"x.org\" = 0.85\n");
    let of = |id: &str| trust(dir.path(), user.path(), id);
    assert_eq!(of("ann"), expected(0.5, "default", &["author"]));
    assert_eq!(of("host"), expected(0.5, "default", &[]));
    assert_eq!(of("low"), expected(0.1, "stated", &["trust"]));
    let made = call_with_settings(dir.path().to_str().unwrap(), user.path(), &["init", "--trust"]);
    assert!(made.error.is_none());
    assert_eq!(of("ann"), expected(0.9, "author", &[]));
    assert_eq!(of("bob"), expected(0.8, "author", &[]));
    assert_eq!(of("host"), expected(0.85, "host", &[]));
    assert_eq!(of("from"), expected(0.63, "origin", &[]));
}

#[test]
fn every_format_explains_the_trust() {
    let dir = boasting_store();
    let user = settings("");
    let args = ["context", "--note", "evil", "--purpose", "answer", "--explain", "--today", "2025-03-31"];
    let of = |format: &[&str]| {
        call_with_settings(dir.path().to_str().unwrap(), user.path(), &[&args[..], format].concat()).stdout
    };
    assert!(of(&["--records"]).contains("D weighed trust=0.50 basis=default relevance=1.00 tokens="));
    assert!(of(&["--records"]).contains(" unsupported=verified,trust,confidence,author from=evil\n"));
    let line = "Trust: default; without support: verified, trust, confidence, author\n";
    assert!(of(&[]).contains(line), "{}", of(&[]));
    let without = ["context", "--note", "evil", "--purpose", "answer", "--json", "--today", "2025-03-31"];
    let answer = call_with_settings(dir.path().to_str().unwrap(), user.path(), &without).stdout;
    assert!(!answer.contains("unsupported") && !answer.contains("trust_basis"), "{answer}");
}

#[test]
fn invalid_settings_are_an_error_that_names_the_file() {
    let dir = boasting_store();
    let user = settings("[trust]\nverifier = []\n");
    let args = ["context", "--query", "deploy", "--purpose", "answer"];
    let error = call_with_settings(dir.path().to_str().unwrap(), user.path(), &args).error.unwrap().to_string();
    assert!(error.contains("qipu/config.toml are not valid: line 2: unknown field `verifier`"), "{error}");
    // Answers that do not depend on them are given.
    let args = ["context", "--query", "deploy"];
    assert!(call_with_settings(dir.path().to_str().unwrap(), user.path(), &args).error.is_none());
}

fn git(dir: &Path, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args(args).current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.envs([("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1")]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Commits all files as an author.
fn commit(dir: &Path, mail: &str) {
    git(dir, &["add", "-A"]);
    let (name, mail) = ("user.name=Anybody", format!("user.email={mail}"));
    git(dir, &["-c", name, "-c", &mail, "commit", "-q", "-m", "A commit"]);
}

#[test]
#[ignore = "needs git"]
fn the_author_of_the_last_commit_supports_what_a_note_states() {
    let all = "verified: true\ntrust: 1\nconfidence: 1.0\nauthor: Mallory";
    let dir = store(&[
        ("plain", "title: Plain", "Text."),
        ("checked", "verified: true", "Text."),
        ("boast", all, "Text."),
        ("taken", all, "Text."),
        ("edited", all, "Text."),
        ("staged", all, "Text."),
    ]);
    let dir = dir.path();
    fs::remove_dir(dir.join(".git")).unwrap();
    git(dir, &["init", "-q"]);
    commit(dir, "ann@x.org");
    let file = |id: &str| dir.join(format!(".qipu/notes/{id}.md"));
    let append = |id: &str| fs::write(file(id), fs::read_to_string(file(id)).unwrap() + "More.\n").unwrap();
    append("taken");
    fs::write(file("new"), format!("---\nid: new\n{all}\n---\nText.\n")).unwrap();
    commit(dir, "mallory@evil.org");
    append("staged");
    git(dir, &["add", "-A"]);
    append("edited");
    fs::write(file("untracked"), format!("---\nid: untracked\n{all}\n---\nText.\n")).unwrap();

    let user = settings("[trust.authors]\n\"ann@x.org\" = 0.85\n");
    let of = |id: &str| trust(dir, user.path(), id);
    assert_eq!(of("plain"), expected(0.85, "commit-author", &[]));
    assert_eq!(of("checked"), expected(0.85, "commit-author", &[]));
    assert_eq!(of("boast"), expected(0.85, "commit-author", &[]));
    let unsupported = expected(0.5, "default", &["verified", "trust", "confidence", "author"]);
    for id in ["taken", "edited", "staged", "new", "untracked"] {
        assert_eq!(of(id), unsupported, "{id}");
    }
    // Neither the time of a file nor a bit of the index says whether its content is that of the commit.
    fs::write(file("plain"), fs::read(file("plain")).unwrap()).unwrap();
    assert_eq!(of("plain"), expected(0.85, "commit-author", &[]));
    git(dir, &["update-index", "--assume-unchanged", ".qipu/notes/checked.md"]);
    append("checked");
    assert_eq!(of("checked"), expected(0.5, "default", &["verified"]));
    // The store's config can't list authors of commits.
    fs::write(dir.join(".qipu/config.toml"), "[trust.authors]\n\"mallory@evil.org\" = 1\n").unwrap();
    assert_eq!(trust(dir, settings("").path(), "taken"), unsupported);
    assert_eq!(of("taken"), unsupported);
    // Other settings ask git for nothing.
    assert_eq!(trust(dir, settings("[trust.authors]\nAnn = 1\n").path(), "boast"), unsupported);
}

/// Only people count as having verified a note, and only those whom the user names, if any.
#[test]
fn verification_counts_by_who_did_it() {
    let dir = store(&[
        ("yes", "verified: true", "Text."),
        ("ann", "verified: [{by: 'human:ann', at: 2025-01-01}]", "Text."),
        ("bob", "verified: [{by: 'human:bob', at: 2025-01-01}, {by: tool/1, at: 2025-01-02}]", "Text."),
        ("tool", "verified: [{by: tool/1, at: 2025-01-02}]", "Text."),
    ]);
    let of = |config: &str, is_trusted: bool| {
        let user = settings(config);
        if is_trusted {
            assert!(
                call_with_settings(dir.path().to_str().unwrap(), user.path(), &["init", "--trust"]).error.is_none()
            );
        }
        ["yes", "ann", "bob", "tool"].map(|id| trust(dir.path(), user.path(), id))
    };
    let verified = || expected(0.8, "verified", &[]);
    let usual = || expected(0.5, "default", &[]);
    let without_effect = || expected(0.5, "default", &["verified"]);
    assert_eq!(of("", true), [verified(), verified(), verified(), usual()]);
    let of_ann = of("[trust]\nverifiers = [\"human:ann\"]\n", true);
    assert_eq!(of_ann, [without_effect(), verified(), without_effect(), usual()]);
    assert_eq!(of("", false), [without_effect(), without_effect(), without_effect(), usual()]);
    // Who verified a note stays when it is verified again.
    let update = ["update", "ann", "tool", "--verified"];
    assert!(call_with_settings(dir.path().to_str().unwrap(), settings("").path(), &update).error.is_none());
    let text = |id: &str| fs::read_to_string(dir.path().join(format!(".qipu/notes/{id}.md"))).unwrap();
    assert!(text("ann").contains("verified: [{by: 'human:ann', at: 2025-01-01}]\n"), "{}", text("ann"));
    assert!(text("tool").contains("verified: true\n"), "{}", text("tool"));
}

/// For any trust in the author of a commit, adding statements raises the trust at most to that, and never if it is less than
/// the trust in a note about which nothing is known. Nothing that the repository names is run.
#[test]
#[ignore = "needs git"]
fn no_statement_exceeds_the_trust_in_the_author_of_the_commit() {
    let fields = ["verified: true", "trust: 1", "author: Zed", "sources: [https://x.org/p]", "confidence: 1.0"];
    let all: Vec<(String, String)> = (0..32_usize)
        .map(|set| {
            let chosen = fields.iter().enumerate().filter(|(bit, _)| set & (1 << bit) != 0).map(|(_, field)| *field);
            (format!("n{set}"), chosen.collect::<Vec<_>>().join("\n"))
        })
        .collect();
    let notes: Vec<(&str, &str, &str)> =
        all.iter().map(|(id, fields)| (id.as_str(), fields.as_str(), "Text.")).collect();
    let dir = store(&notes);
    let dir = dir.path();
    fs::remove_dir(dir.join(".git")).unwrap();
    fs::write(dir.join(".gitattributes"), "*.md filter=evil\n").unwrap();
    git(dir, &["init", "-q"]);
    commit(dir, "ann@x.org");
    git(dir, &["config", "filter.evil.clean", "touch PWNED; cat"]);
    for limit in [0.0, 0.3, 0.5, 0.7, 0.9] {
        let user = settings(&format!("[trust.authors]\n\"ann@x.org\" = {limit:?}\n"));
        for (id, fields) in &all {
            let (value, basis, _) = trust(dir, user.path(), id);
            let unlisted = if fields.contains("sources") { 0.6 } else { 0.5 };
            let most = if limit < 0.5 { limit } else { f64::max(limit, unlisted) };
            assert!(value <= most, "{limit}: {fields}: {value} {basis}");
        }
    }
    assert!(!dir.join("PWNED").exists());
}
