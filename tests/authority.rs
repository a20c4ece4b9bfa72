//! What the notes of a repository can't do to those of the user: hide them, stand in for them, or make them less certain.

use std::fs;
use std::ops::Deref;

use crate::support::world;
use serde_json::Value;

/// The words of the question, which all notes contain.
const WORDS: &str = "pipe curl to a shell";
/// The note that another one claims to replace.
const OLD: &str = "Never pipe curl to a shell";

/// Where a note lies: its folder, and the name of its collection.
type Place = (&'static str, &'static str);

const PROJECT: Place = ("repo/app/.qipu/notes", "project");
const DOCS: Place = ("repo/app/docs", "docs");
const ROOT: Place = ("repo/.qipu/notes", "root");
const WEB: Place = ("repo/app/web/.qipu/notes", "web");
const USER: Place = ("data/qipu/notes", "user");
const VAULT: Place = ("vault", "vault");
const TEAM: Place = ("team/.qipu/notes", "team");
const GUIDES: Place = ("guides", "guides");

/// The folders of a user and a project of theirs.
struct World(world::World);

impl Deref for World {
    type Target = world::World;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl World {
    /// Makes a repository with documents, a user with an own store, and a store and documents that lie elsewhere.
    fn new() -> Self {
        let world = Self(world::World::empty());
        for (folder, name) in [PROJECT, DOCS, ROOT, WEB, USER, VAULT, TEAM, GUIDES] {
            world.write(&format!("{folder}/{name}-page.md"), "Nothing of interest.\n");
        }
        fs::create_dir(world.at("repo/.git")).unwrap();
        world.write(
            "repo/app/.qipu/config.toml",
            "[[documents]]\npath = \"docs\"\n[[documents]]\npath = \"../settled\"\n[[stores]]\npath = \"web\"\n",
        );
        let (vault, team, settled) = (world.at("vault"), world.at("team"), world.at("repo/settled"));
        let settings = format!(
            "[[documents]]\npath = {vault:?}\n[[documents]]\npath = {settled:?}\nname = \"settled\"\n[[stores]]\npath = {team:?}\n"
        );
        world.write("settings/qipu/config.toml", &settings);
        fs::create_dir(&settled).unwrap();
        world
    }

    /// Writes a note with fields.
    fn note(&self, (folder, _): Place, file: &str, title: &str, fields: &str, body: &str) {
        self.write(&format!("{folder}/{file}.md"), &format!("---\ntitle: {title}\n{fields}\n---\n{body}\n"));
    }

    fn run(&self, args: &[&str]) -> String {
        self.answer_in("repo/app", args)
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[args, &["--json"]].concat())).unwrap()
    }

    /// Returns the findings with a code.
    fn findings(&self, code: &str) -> Vec<Value> {
        let all = self.json(&["doctor"])["findings"].as_array().unwrap().clone();
        all.into_iter().filter(|finding| finding["code"] == code).collect()
    }
}

/// Pairs of the place of a note that replaces another, of that other, and whether it has an effect.
const REPLACED: [(Place, Place, bool); 20] = [
    (PROJECT, USER, false),
    (DOCS, USER, false),
    (ROOT, USER, false),
    (WEB, USER, false),
    (DOCS, VAULT, false),
    (PROJECT, TEAM, false),
    (WEB, TEAM, false),
    (USER, PROJECT, true),
    (USER, DOCS, true),
    (USER, ROOT, true),
    (USER, WEB, true),
    (VAULT, DOCS, true),
    (TEAM, PROJECT, true),
    (VAULT, USER, true),
    (USER, TEAM, true),
    (DOCS, PROJECT, true),
    (PROJECT, DOCS, true),
    (ROOT, PROJECT, true),
    (WEB, ROOT, true),
    (PROJECT, PROJECT, true),
];

/// The fields of the old and the new note, by which the new one replaces the old one.
fn fields(how: &str, old: Place, new: Place) -> (String, String) {
    let link =
        |kind: &str, place: Place, title: &str| format!("links: [{{type: {kind}, id: \"{}:{title}\"}}]", place.1);
    match how {
        "supersedes" => (String::new(), link("supersedes", old, OLD)),
        "superseded-by" => (link("superseded-by", new, "Pipe curl"), String::new()),
        _ => (String::new(), format!("compacts: [\"{}:{OLD}\"]", old.1)),
    }
}

#[test]
fn no_note_of_a_repository_replaces_one_of_the_user() {
    for how in ["supersedes", "superseded-by", "compacts"] {
        for (new, old, has_effect) in REPLACED {
            let world = World::new();
            let (of_old, of_new) = fields(how, old, new);
            // In the user's own store, names that depend on the project mean nothing.
            let (holder, other) = if how == "superseded-by" { (old, new) } else { (new, old) };
            let is_named = holder != USER || ![PROJECT, DOCS, ROOT, WEB].contains(&other);
            let has_effect = has_effect && is_named;
            world.note(
                old,
                "old",
                OLD,
                &format!("type: permanent\nvalue: 90\ntags: [decision]\n{of_old}"),
                &format!("Do not {WORDS}."),
            );
            world.note(new, "new", "Pipe curl", &of_new, &format!("We {WORDS}."));
            let case = format!("{how} {} -> {}", new.1, old.1);
            for args in [
                &["context", "--query", WORDS][..],
                &["ask", WORDS],
                &["context", "--query", WORDS, "--format", "prompt"],
            ] {
                let text = world.run(args);
                assert_eq!(text.contains(&format!("Do not {WORDS}")), !has_effect, "{case} {args:?}: {text}");
            }
            for args in [&["list"][..], &["search", WORDS]] {
                let text = world.run(&[args, &["--records"]].concat());
                let is_marked = text.lines().any(|line| line.contains(OLD) && line.contains("superseded-by"));
                assert_eq!(is_marked, has_effect && how != "compacts", "{case} {args:?}: {text}");
            }
            let primer = world.run(&["prime"]);
            assert_eq!(primer.contains(OLD), !has_effect, "{case}: {primer}");
            let code = if how == "compacts" { "broken-digest" } else { "broken-succession" };
            let findings = world.findings(code);
            // A name that means nothing is a broken link, and a finding of a digest.
            let is_found = !has_effect && (is_named || how == "compacts");
            assert_eq!(findings.len(), usize::from(is_found), "{case}: {findings:?}");
            for finding in findings.into_iter().filter(|_| is_named) {
                let reason = format!("notes of `{}` replace none of `{}`", new.1, old.1);
                assert!(finding["message"].as_str().unwrap().ends_with(&reason), "{case}: {finding}");
                let holder = if how == "superseded-by" { "old.md" } else { "new.md" };
                assert!(finding["path"].as_str().unwrap().ends_with(holder), "{case}: {finding}");
            }
            // The link itself is a link.
            if how != "compacts" {
                let graph = world.json(&["export", "links"]);
                assert_eq!(graph["links"].as_array().unwrap().len(), usize::from(is_named), "{case}: {graph}");
            }
        }
    }
}

#[test]
fn what_a_flag_names_is_replaced_by_no_note_of_the_repository() {
    let world = World::new();
    let (of_old, of_new) = fields("supersedes", TEAM, PROJECT);
    world.note(TEAM, "old", OLD, &of_old, &format!("Do not {WORDS}."));
    world.note(PROJECT, "new", "Pipe curl", &of_new, &format!("We {WORDS}."));
    let team = world.at("team");
    let flags = ["--store", ".qipu", "--store", team.to_str().unwrap()];
    let text = world.run(&[&["ask", WORDS][..], &flags].concat());
    assert!(text.contains(&format!("Do not {WORDS}")), "{text}");
    // What a flag names may replace notes of the repository.
    let (_, of_new) = fields("supersedes", PROJECT, TEAM);
    world.note(PROJECT, "new", OLD, "", &format!("Do not {WORDS}."));
    world.note(TEAM, "old", "Pipe curl", &of_new, &format!("We {WORDS}."));
    let text = world.run(&[&["ask", WORDS][..], &flags].concat());
    assert!(!text.contains(&format!("Do not {WORDS}")), "{text}");
    // What lies in the repository is the repository's, whatever else names it.
    let world = World::new();
    let (of_old, of_new) = fields("supersedes", USER, ("repo/settled", "settled"));
    world.note(USER, "old", OLD, &of_old, &format!("Do not {WORDS}."));
    world.note(("repo/settled", "settled"), "new", "Pipe curl", &of_new, &format!("We {WORDS}."));
    for only in [&[][..], &["--in", "user", "--in", "settled"]] {
        let text = world.run(&[&["ask", WORDS][..], only].concat());
        assert!(text.contains(&format!("Do not {WORDS}")), "{text}");
    }
    fs::remove_dir_all(world.at("repo/app/.qipu")).unwrap();
    fs::remove_dir_all(world.at("repo/.qipu")).unwrap();
    let docs = world.at("repo/settled");
    fs::write(world.at("settings/qipu/config.toml"), "").unwrap();
    let own = world.at("data/qipu");
    let text = world.run(&["ask", WORDS, "--store", own.to_str().unwrap(), "--store", docs.to_str().unwrap()]);
    assert!(text.contains(&format!("Do not {WORDS}")), "without a store: {text}");
}

#[test]
fn no_note_of_a_repository_makes_one_of_the_user_redundant_or_uncertain() {
    let link =
        |kind: &str, place: Place| format!("type: permanent\nlinks: [{{type: {kind}, id: \"{}:{OLD}\"}}]", place.1);
    let old_and_new = |old: Place, new: Place, kind: &str| -> (Option<f64>, usize) {
        let world = World::new();
        world.note(old, "old", OLD, "type: permanent", &format!("Do not {WORDS}."));
        let fields = if kind.is_empty() { "type: permanent".to_owned() } else { link(kind, old) };
        let body = format!("A {WORDS}: {WORDS} is how we install, {WORDS}, and every script is read before it runs.");
        world.note(new, "new", OLD, &fields, &body);
        let answer = world.json(&["context", "--query", WORDS, "--purpose", "answer", "--max-chars", "8000"]);
        let notes = answer["notes"].as_array().unwrap();
        let note = notes.iter().find(|note| note["path"].as_str().unwrap().ends_with("old.md"));
        (note.map(|note| note["confidence"]["overall"].as_f64().unwrap()), notes.len())
    };
    for (old, new, has_effect) in
        [(USER, DOCS, false), (USER, PROJECT, false), (PROJECT, DOCS, true), (DOCS, VAULT, true), (DOCS, USER, false)]
    {
        let case = format!("{} of {}", new.1, old.1);
        let (alone, count) = old_and_new(old, new, "");
        assert_eq!((alone.is_some(), count), (true, 2), "{case}");
        let (opposed, _) = old_and_new(old, new, "contradicts");
        assert_eq!(opposed < alone, has_effect, "{case}: {opposed:?} {alone:?}");
        let (same, count) = old_and_new(old, new, "same-as");
        assert!(same.is_some() || has_effect, "{case}");
        assert!(old != PROJECT || count == 1, "{case}: one of two of the repository is left out");
    }
}

#[test]
fn a_note_of_a_repository_inherits_no_trust_from_one_of_the_user() {
    for (from, origin, inherits) in [
        (PROJECT, USER, false),
        (DOCS, USER, false),
        (ROOT, TEAM, false),
        (TEAM, PROJECT, true),
        (USER, PROJECT, false),
        (USER, TEAM, true),
        (DOCS, PROJECT, true),
    ] {
        let world = World::new();
        let settings = fs::read_to_string(world.at("settings/qipu/config.toml")).unwrap();
        world.write("settings/qipu/config.toml", &format!("{settings}\n[trust.authors]\nAnn = 1.0\n"));
        let stores = ["repo/app/.qipu", "repo/.qipu", "data/qipu", "team/.qipu"].map(|store| world.at(store));
        crate::support::process::trust(&world.at("settings"), &stores);
        world.note(origin, "old", OLD, "author: Ann", "Nothing.");
        let link = format!("links: [{{type: derived-from, id: \"{}:{OLD}\"}}]", origin.1);
        world.note(from, "new", "Copied", &link, &format!("We {WORDS}."));
        let answer =
            world.json(&["context", "--query", WORDS, "--purpose", "answer", "--max-chars", "8000", "--explain"]);
        let notes = answer["notes"].as_array().unwrap();
        let case = format!("{} from {}: {answer}", from.1, origin.1);
        let note = notes.iter().find(|note| note["path"].as_str().unwrap().ends_with("new.md"));
        let note = note.unwrap_or_else(|| panic!("{case}"));
        assert_eq!(note["trust_basis"] == "origin", inherits, "{case}");
    }
}

#[test]
fn each_side_decides_whether_its_own_drafts_are_hidden() {
    for (project, user, hidden) in [("hide", "mark", "project"), ("mark", "hide", "user"), ("hide", "", "project")] {
        let world = World::new();
        let setting =
            |drafts: &str| if drafts.is_empty() { String::new() } else { format!("[review]\ndrafts = \"{drafts}\"\n") };
        let config = fs::read_to_string(world.at("repo/app/.qipu/config.toml")).unwrap();
        world.write("repo/app/.qipu/config.toml", &format!("{}{config}", setting(project)));
        world.write("data/qipu/config.toml", &setting(user));
        for place in [PROJECT, DOCS, ROOT, USER, VAULT, TEAM] {
            world.note(place, "draft", &format!("Draft of {}", place.1), "status: draft", &format!("We {WORDS}."));
        }
        let hides = |name: &str| match name {
            "project" | "docs" | "root" => hidden == "project",
            "user" => hidden == "user",
            _ => false,
        };
        for args in [&["context", "--query", WORDS][..], &["ask", WORDS]] {
            let answer = world.run(args);
            for (_, name) in [PROJECT, ROOT, USER, TEAM] {
                let is_shown = answer.contains(&format!("Draft of {name}"));
                assert_eq!(is_shown, !hides(name), "{project} {user} {name} {args:?}: {answer}");
            }
        }
    }
}
