//! Repositories whose configs and files try to make qipu read what lies outside of them, wait, or take all memory: each
//! setting without effect is reported, and nothing of the outside is in any answer. The real binary runs with limits.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::hang::expect_to_end;
use crate::support::world;
use serde_json::Value;

/// A word that every file outside the repository contains, and one that only those contain.
const WORD: &str = "zanzibar";
const SECRET: &str = "tango4711";
/// What git keeps for itself in the repository.
const HIDDEN: &str = "hidden4711";
/// Limits of one command: seconds of a processor, KiB of address space and open files.
const LIMITS: &str = "ulimit -t 60 && ulimit -v 3000000 && ulimit -n 1024";

/// A hostile repository, and what lies outside of it.
struct World(world::World);

impl Deref for World {
    type Target = world::World;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl World {
    fn new() -> Self {
        let world = Self(world::World::empty());
        let secret =
            format!("---\nid: secret\ntitle: {SECRET}\ntags: [{SECRET}]\n---\n# {SECRET}\n\n{WORD} {SECRET}\n");
        for path in ["secret.md", "deep/secret.md", ".qipu/notes/secret.md", ".qipu/config.toml", "home/x/secret.md"] {
            world.write(&format!("outside/{path}"), if path.ends_with("toml") { "" } else { &secret });
        }
        world.write("outside/broken.toml", &format!("{SECRET}\n"));
        world.write("repo/.git/info/exclude", "");
        world.write("repo/.git/note.md", HIDDEN);
        world.write("repo/.qipu/notes/own.md", &format!("---\nid: own\ntitle: Own\n---\n{WORD}\n"));
        world.write("repo/docs/page.md", &format!("# Page\n\n{WORD}\n"));
        world.write("repo/docs/sub/page.md", "# Second page\n");
        world
    }

    /// Adds links and special files at the places that the configs name.
    fn add_special_files(&self) {
        let link = |target: &str, path: &str| {
            let path = self.at(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(if target.starts_with('/') { target.into() } else { self.at(target) }, path).unwrap();
        };
        link("outside", "repo/link");
        link("outside/secret.md", "repo/linked.md");
        link("outside/.qipu", "repo/linked-store/.qipu");
        link("outside/.qipu/notes", "repo/linked-notes/.qipu/notes");
        link("outside/broken.toml", "repo/linked-config/.qipu/config.toml");
        for name in ["pipe", "pipe.md"] {
            assert!(Command::new("mkfifo").arg(self.at(&format!("repo/{name}"))).status().unwrap().success());
        }
        link("outside/secret.md", "repo/docs/linked.md");
        link("outside", "repo/docs/linked");
        link("/dev/zero", "repo/docs/zero.md");
        link("outside/secret.md", "repo/docs/sub/.gitignore");
        fs::File::create(self.at("repo/docs/huge.md")).unwrap().set_len(1 << 40).unwrap();
        for pipe in ["repo/docs/pipe.md", "repo/docs/.gitignore"] {
            assert!(Command::new("mkfifo").arg(self.at(pipe)).status().unwrap().success());
        }
        for (one, other) in [("one", "other"), ("other", "one")] {
            let config = format!("[[stores]]\npath = \"../{other}\"\n[[documents]]\npath = \"../../outside\"\n");
            self.write(&format!("repo/{one}/.qipu/config.toml"), &config);
        }
        self.write(&format!("repo/{}x.md", "d/".repeat(300)), "Deep.");
    }

    fn configure(&self, config: &str) {
        self.write("repo/.qipu/config.toml", &config.replace("$DIR", self.at("").to_str().unwrap()));
    }

    /// Runs qipu in the repository, with limits. Expects that the answer has nothing of the outside.
    fn run(&self, args: &[&str]) -> Output {
        let output = self.run_openly(args);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        for word in [SECRET, HIDDEN] {
            assert!(!text.contains(word), "{args:?}: {text}");
        }
        assert!(!text.contains('\u{202e}') && !text.contains('\u{7}'), "{args:?}: {text}");
        assert!(!text.contains("panicked"), "{args:?}: {text}");
        output
    }

    fn run_openly(&self, args: &[&str]) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{LIMITS} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_qipu")]).args(args);
        command.current_dir(self.at("repo")).env_clear().env("HOME", self.at("outside/home"));
        // The memory of each thread would depend on the machine.
        command.env("RAYON_NUM_THREADS", "2").stdin(Stdio::null());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        expect_to_end(move || command.wait_with_output().unwrap())
    }

    /// Returns the codes of the findings of a command, without those of notes.
    fn codes(&self, args: &[&str]) -> Vec<String> {
        let output = self.run(args);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = answer["findings"].as_array().unwrap().iter();
        // A file that can't be a note is an error of `doctor`, and no setting is one.
        let mut errors = findings.clone().filter(|finding| finding["level"] == "error");
        let expected = if errors.clone().count() > 0 { 3 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(errors.all(|finding| finding["code"] == "skipped"), "{args:?}: {answer}");
        let of_config = findings.filter(|finding| finding["path"].as_str().unwrap().ends_with("config.toml"));
        of_config.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
    }

    /// Expects that a config has an effect without anything of the outside, and that it gets one finding, or none.
    fn expect_finding(&self, config: &str, code: &str) {
        self.configure(config);
        let expected: Vec<&str> = Some(code).filter(|code| !code.is_empty()).into_iter().collect();
        let config: String = config.chars().take(200).collect();
        assert_eq!(self.codes(&["status", "--json"]), expected, "{config}");
        assert_eq!(self.codes(&["doctor", "--json"]), expected, "{config}");
        for args in [&["list"][..], &["search", WORD, "--json"], &["context", "--query", WORD, "--records"], &["prime"]]
        {
            let output = self.run(args);
            let (text, warnings) =
                (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert_eq!(output.status.code(), Some(0), "{config}: {warnings}");
            assert!(text.contains("own"), "{config}: {text}");
            let is_warned = warnings.lines().any(|line| line.starts_with("warning: .qipu/config.toml: "));
            assert_eq!(is_warned, !code.is_empty(), "{config}: {warnings}");
            assert!(warnings.len() < 2_000, "{config}: {warnings}");
        }
    }
}

fn source(path: &str) -> String {
    format!("[[documents]]\npath = \"{path}\"\n")
}

fn store(path: &str) -> String {
    format!("[[stores]]\npath = \"{path}\"\n")
}

/// Paths of sources, each with the code of its finding; without one, the path has an effect inside the repository.
const SOURCES: [(&str, &str); 40] = [
    ("..", "documents-outside"),
    ("../outside", "documents-outside"),
    ("../outside/secret.md", "documents-outside"),
    ("docs/../../outside", "documents-outside"),
    ("../repo/../outside", "documents-outside"),
    ("../outside/*.md", "documents-outside"),
    ("../*", "documents-outside"),
    ("$DIR/outside", "documents-outside"),
    ("$DIR/outside/**", "documents-outside"),
    ("/", "documents-outside"),
    ("/*", "documents-outside"),
    ("//", "documents-outside"),
    ("/dev/zero", "documents-outside"),
    ("/dev/stdin", "documents-outside"),
    ("/proc/self/cwd/docs", "documents-outside"),
    ("~", "documents-missing"),
    ("~/x", "documents-missing"),
    ("$HOME/x", "documents-missing"),
    ("link", "documents-missing"),
    ("link/deep", "documents-missing"),
    ("link/secret.md", "documents-missing"),
    ("link/*.md", "documents-missing"),
    ("linked.md", "documents-missing"),
    ("docs/linked", "documents-missing"),
    ("docs/linked.md", "documents-missing"),
    ("pipe", "documents-missing"),
    ("pipe.md", "documents-missing"),
    ("do\\u0007cs", "documents-missing"),
    ("\\u202Edocs", "documents-missing"),
    ("docs\\n", "documents-missing"),
    ("", "documents-invalid"),
    ("docs\\u0000", "documents-invalid"),
    ("docs/*/../../../outside/*.md", "documents-invalid"),
    ("**/../../outside/**", "documents-invalid"),
    ("docs/[", "documents-invalid"),
    (".qipu", "documents-in-store"),
    (".qipu/notes/*", "documents-in-store"),
    (".", ""),
    ("**/*.md", ""),
    ("{docs,../outside}/*", ""),
];

const STORES: [(&str, &str); 17] = [
    ("..", "store-outside"),
    ("../outside", "store-outside"),
    ("../*", "store-outside"),
    ("$DIR/outside/.qipu", "store-outside"),
    ("/", "store-outside"),
    ("docs/../../outside", "store-outside"),
    ("link", "store-missing"),
    ("link/.qipu", "store-missing"),
    ("link*", "store-unreadable"),
    ("linked-store", "store-missing"),
    ("linked-store/.qipu", "store-missing"),
    ("linked-config", "store-unreadable"),
    ("pipe", "store-missing"),
    ("*/../../outside", "store-invalid"),
    ("**", "store-invalid"),
    ("linked-notes", ""),
    ("one", ""),
];

#[test]
fn a_path_that_leads_out_of_the_repository_has_no_effect() {
    let world = World::new();
    world.add_special_files();
    SOURCES.iter().for_each(|(path, code)| world.expect_finding(&source(path), code));
    STORES.iter().for_each(|(path, code)| world.expect_finding(&store(path), code));
    world.configure("");
    assert!(world.codes(&["status", "--json"]).is_empty(), "the world itself has no finding");
}

#[test]
fn no_answer_in_any_format_has_anything_of_the_outside() {
    let world = World::new();
    world.add_special_files();
    let lines: String = SOURCES.iter().map(|(path, _)| source(path)).collect();
    let stores: String = STORES.iter().map(|(path, _)| store(path)).collect();
    world.configure(&format!("{lines}{stores}[trust.authors]\nme = 1\n"));
    let commands: [&[&str]; 21] = [
        &["status"],
        &["list"],
        &["list", "--type", "fleeting"],
        &["status", "--tags"],
        &["status"],
        &["prime"],
        &["search", WORD],
        &["ask", WORD],
        &["context", "--query", WORD],
        &["context", "--note", "own", "--max-hops", "3"],
        &["context", "--note", "own", "--note", "page"],
        &["show", "own"],
        &["show", "secret"],
        &["show", "page"],
        &["search", "--like", "own"],
        &["link", "tree", "own"],
        &["about", "docs/linked.md"],
        &["about", "link/secret.md:1"],
        &["doctor"],
        &["review"],
        &["journal"],
    ];
    for args in commands {
        for format in ["human", "json", "records"] {
            let output = world.run(&[args, &["--format", format]].concat());
            assert!(matches!(output.status.code(), Some(0..=3)), "{args:?}");
        }
    }
    for args in [&["export", "page"][..], &["export", "links"], &["export", "passages"], &["dump", "-"]] {
        assert_eq!(world.run(args).status.code(), Some(0), "{args:?}");
    }
    let prompt = world.run(&["context", "--query", WORD, "--format", "prompt"]);
    assert!(String::from_utf8(prompt.stdout).unwrap().contains("Own"));
}

#[test]
fn a_store_that_is_no_plain_folder_or_has_no_plain_config_is_refused() {
    let world = World::new();
    let config = world.at("repo/.qipu/config.toml");
    let refused = |why: &str| {
        for args in [&["status"][..], &["list"], &["search", WORD], &["doctor"], &["capture", "text"]] {
            let output = world.run(args);
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), message.starts_with("qipu: ")), (Some(3), true), "{why}: {message}");
        }
    };
    symlink(world.at("outside/broken.toml"), &config).unwrap();
    refused("a link as config");
    fs::remove_file(&config).unwrap();
    assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
    refused("a pipe as config");
    fs::remove_file(&config).unwrap();
    fs::File::create(&config).unwrap().set_len(1 << 40).unwrap();
    refused("a huge config");
    for line in ["name = \"a\\u202eb\"", "name = \"\"", "name = \"x/y\"", "as = \"evil\"", "writable = \"yes\""] {
        world.configure(&format!("[[documents]]\npath = \"docs\"\n{line}\n"));
        refused(line);
    }
    for config in ["[[documents]]\npath = 5\n", "sources = \"docs\"\n", "[trust.authors]\nme = 5\n"] {
        world.configure(config);
        refused(config);
    }
    fs::remove_dir_all(world.at("repo/.qipu")).unwrap();
    symlink(world.at("outside/.qipu"), world.at("repo/.qipu")).unwrap();
    refused("a link as store");
}

#[test]
fn globs_and_numbers_of_sources_stay_within_limits() {
    let world = World::new();
    let repeated = |part: &str, length: usize| format!("docs/{}", part.repeat(length / part.len()));
    for part in ["*", "?", "**/", "{a,b}", "{*,?}", "*a", "[a-z]", "[!a]", "*d*", "{a,{b,c}}", "?é"] {
        let code = if ["*", "**/", "{*,?}"].contains(&part) { "" } else { "documents-empty" };
        world.expect_finding(&source(&repeated(part, 4_000)), code);
        world.expect_finding(&source(&repeated(part, 10_000)), "documents-invalid");
        world.expect_finding(&store(&repeated(part, 200_000)), "store-invalid");
        let many: String = (0..60).map(|_| source(&repeated(part, 4_000))).collect();
        world.configure(&many);
        let codes = world.codes(&["status", "--json"]);
        assert_eq!(codes, vec![code; if code.is_empty() { 0 } else { 60 }], "{part}");
    }
    world.expect_finding(&source(&format!("docs/{}{}", "{".repeat(1_500), "}".repeat(1_500))), "documents-invalid");
    world.expect_finding(&store(&"*/".repeat(1_500)), "store-missing");
    world.expect_finding(&source("docs").repeat(200), "");
    world.expect_finding(&source("docs").repeat(9_000), "too-many-collections");
    world.configure(&source("docs/**/no*such").repeat(4_000));
    let codes = world.codes(&["status", "--json"]);
    assert_eq!(codes.iter().filter(|code| *code == "documents-empty").count(), 249, "a search for each");
    assert_eq!(codes.len(), 250, "and too-many-collections");
    let types: String = (0..4_000).map(|n| format!("a{n} = \"b{n}\"\n")).collect();
    world.expect_finding(&format!("{}[link-types]\n{types}", source("docs").repeat(4_000)), "too-many-collections");
    for number in 0..400 {
        world.write(&format!("repo/packages/p{number}/.qipu/notes/n.md"), "Note.\n");
    }
    world.expect_finding(&store("packages/*"), "too-many-collections");
}

#[test]
fn the_stores_of_the_user_count_whatever_a_repository_names() {
    let world = World::new();
    world.write("outside/home/.local/share/qipu/notes/mine.md", "---\nid: mine\ntitle: Mine\n---\nText.\n");
    let names = |world: &World| -> Vec<(String, String)> {
        let answer: Value = serde_json::from_slice(&world.run(&["status", "--json"]).stdout).unwrap();
        let rows = answer["collections"].as_array().unwrap().iter();
        rows.map(|row| (row["name"].as_str().unwrap().into(), row["reason"].as_str().unwrap().into())).collect()
    };
    for taken in ["project", "user", "root"] {
        world.configure(&format!("[[documents]]\npath = \"docs\"\nname = \"{taken}\"\nwritable = true\n"));
        let all = names(&world);
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!((all[0].0.as_str(), all[0].1.as_str()), ("project", "nearest store"));
        assert!(all.contains(&("user".to_owned(), "your own store".to_owned())), "{all:?}");
    }
    world.configure("[[documents]]\npath = \"docs\"\nname = \"user\"\nwritable = true\n");
    assert_eq!(world.run(&["capture", "--in", "user", "A private thought"]).status.code(), Some(0));
    assert_eq!(fs::read_dir(world.at("outside/home/.local/share/qipu/notes")).unwrap().count(), 2);
    // Without a store of the user, nothing has its name.
    fs::remove_dir_all(world.at("outside/home/.local")).unwrap();
    let output = world.run(&["capture", "--in", "user", "A private thought"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(fs::read_dir(world.at("repo/docs")).unwrap().count(), 2);

    world.write("outside/home/.local/share/qipu/notes/mine.md", "Text.\n");
    world.configure(&source("docs").repeat(9_000));
    assert!(names(&world).contains(&("user".to_owned(), "your own store".to_owned())));
}

#[test]
fn a_config_gives_its_repository_no_trust_and_no_program() {
    let world = World::new();
    world.expect_finding("[trust.authors]\nme = 1\n", "trust-ignored");
    world.expect_finding("[trust.hosts]\n\"example.org\" = 1\n", "trust-ignored");
    // A setting without a meaning is one of `doctor`, as everywhere.
    for setting in
        ["allowed-repositories = [\"$DIR/repo\"]", "editor = \"touch $DIR/ran\"", "[hooks]\nrun = \"touch $DIR/ran\""]
    {
        world.configure(&format!("{setting}\n\n[[documents]]\npath = \"../outside\"\n"));
        assert_eq!(world.codes(&["status", "--json"]), ["documents-outside"], "{setting}");
        let mut codes = world.codes(&["doctor", "--json"]);
        codes.sort();
        assert_eq!(codes, ["documents-outside", "unknown-setting"], "{setting}");
    }
    world.configure(
        "[[documents]]\npath = \"docs\"\nallowed-repositories = [\"$DIR/repo\"]\ncommand = \"touch $DIR/ran\"\n",
    );
    assert_eq!(world.codes(&["doctor", "--json"]), ["unknown-setting", "unknown-setting"]);
    assert!(!world.at("ran").exists());
}

#[test]
fn the_user_allows_a_repository_to_name_folders_outside() {
    let world = World::new();
    world.add_special_files();
    world.configure(&format!("{}{}{}", source("../outside"), source("$DIR/outside/deep"), store("../outside")));
    let settings = "outside/home/.config/qipu/config.toml";
    let root = world.at("repo");
    let allow = |path: &str| world.write(settings, &format!("allowed-repositories = [\"{path}\"]\n"));
    for other in
        ["repo", ".", "~/../repo", "/", world.at("").to_str().unwrap(), world.at("repo/docs").to_str().unwrap()]
    {
        allow(other);
        let mut codes = vec!["repository-invalid"; usize::from(!other.starts_with(['/', '~']))];
        codes.extend(["documents-outside", "documents-outside", "store-outside"]);
        assert_eq!(world.codes(&["status", "--json"]), codes, "{other}");
        world.run(&["search", WORD]);
    }
    // A path with links leads to the same folder.
    symlink(&root, world.at("way")).unwrap();
    for path in [&root, &world.at("way")].map(|path: &PathBuf| path.to_str().unwrap().to_owned()) {
        allow(&path);
        let found = |args: &[&str]| String::from_utf8(world.run_openly(args).stdout).unwrap();
        assert_eq!(found(&["status", "--json"]).matches("\"reason\":\"config.toml of project\"").count(), 3);
        assert!(found(&["status", "--json"]).contains("\"findings\":[]"));
        for name in ["outside", "deep", "outside-2"] {
            assert!(found(&["search", WORD, "--in", name]).contains(SECRET), "{name}: {}", found(&["status"]));
        }
    }
    // Links inside of a collection lead nowhere even then, and its config has no effect.
    world.configure(&format!("{}{}", source("docs"), store("one")));
    assert_eq!(world.codes(&["status", "--json"]), Vec::<String>::new());
    let listed = String::from_utf8(world.run(&["list"]).stdout).unwrap();
    assert_eq!(listed.lines().count(), 3, "{listed}");
}

#[test]
fn a_folder_without_a_repository_ends_at_the_folder_of_its_store() {
    let world = World::new();
    fs::remove_dir_all(world.at("repo/.git")).unwrap();
    world.write("secret.md", SECRET);
    for (path, code) in [("..", "documents-outside"), ("../*.md", "documents-outside"), ("docs", "")] {
        world.expect_finding(&source(path), code);
    }
    assert!(Path::new(&world.at("secret.md")).exists());
}

#[test]
fn patterns_of_git_stay_within_limits() {
    let world = World::new();
    world.configure(&source("docs"));
    let many = |count: usize, last: &str| -> String {
        let lines: String = (0..count).map(|number| format!("no{number}-*.x\n")).collect();
        format!("# A comment\n\nfirst.md\n{lines}{last}\n")
    };
    for name in ["first.md", "last.md", "sub/last.md"] {
        world.write(&format!("repo/docs/{name}"), WORD);
    }
    let listed = |world: &World| String::from_utf8(world.run(&["list", "--json"]).stdout).unwrap();
    let findings = |world: &World| -> Vec<(String, String)> {
        let answer: Value = serde_json::from_slice(&world.run(&["doctor", "--json"]).stdout).unwrap();
        let rows = answer["findings"].as_array().unwrap().iter().filter(|row| row["code"] == "skipped");
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        rows.map(|row| (text(row, "path"), text(row, "message"))).collect()
    };
    // All of the patterns of a long file that people write count.
    world.write("repo/docs/.gitignore", &many(998, "last.md"));
    let shown = listed(&world);
    assert!(!shown.contains("last.md") && !shown.contains("first.md"), "{shown}");
    assert_eq!(findings(&world), []);
    let cut = "only its first 64 KiB and 1,000 patterns count";
    for path in ["docs/.gitignore", ".gitignore", "docs/sub/.gitignore"] {
        world.write("repo/docs/.gitignore", "");
        let long = format!("{}\nlast.md\n", "x".repeat(70_000));
        for (text, ignores_first) in [(many(40_000, "last.md"), true), (long, false)] {
            world.write(&format!("repo/{path}"), &text);
            let shown = listed(&world);
            assert!(shown.contains("docs/last.md") && shown.contains("docs/sub/last.md"), "{path}: {shown}");
            let has_first = shown.contains("first.md");
            assert_eq!(has_first, !ignores_first || path.contains("sub"), "{path}: {shown}");
            assert_eq!(findings(&world), [(path.to_owned(), cut.to_owned())]);
        }
        fs::remove_file(world.at(&format!("repo/{path}"))).unwrap();
    }
    // The files nearest to the root count first, then those of folders in an order that does not depend on the disk.
    for number in 0..8 {
        world.write(&format!("repo/docs/f{number}/.gitignore"), &many(900, "last.md"));
        world.write(&format!("repo/docs/f{number}/last.md"), WORD);
    }
    let ignored: Vec<usize> = (0..8).filter(|number| !listed(&world).contains(&format!("f{number}/last.md"))).collect();
    assert_eq!(ignored, [4, 5, 6, 7]);
    let all = findings(&world);
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all.iter().all(|(_, message)| message.starts_with("its patterns do not count")), "{all:?}");
}
