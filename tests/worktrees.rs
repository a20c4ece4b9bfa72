//! Linked working trees of real git: which store counts in each, what `where` says of it, and that a folder which only
//! pretends to be one gives no access to another repository.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use crate::support::files::temp_dir;
use crate::support::hang::expect_to_end;
use crate::support::repository::Repository;
use serde_json::Value;
use tempfile::TempDir;

/// The word of the notes of the main working tree.
const MAIN_WORD: &str = "wombat";
const NEAREST: &str = "nearest store";
const OF_MAIN: &str = "store of the main worktree";

/// A repository and a folder beside it for its linked working trees.
struct Worktrees {
    main: Repository,
    dir: TempDir,
}

impl Worktrees {
    /// Creates a repository with one commit, of some code, and no store.
    fn new() -> Self {
        let main = Repository::new();
        fs::remove_dir_all(main.path(".qipu")).unwrap();
        main.write("src/deep/a.rs", "fn run() {\n    start();\n}\n");
        main.git(&["add", "src"]);
        main.git(&["commit", "--quiet", "-m", "m"]);
        Self { main, dir: temp_dir() }
    }

    /// Creates a repository whose store git does not track, with a note, and a linked working tree.
    fn with_untracked_store() -> (Self, PathBuf) {
        let trees = Self::new();
        trees.main.ok(&["init"]);
        trees.main.note("n", "", MAIN_WORD);
        let linked = trees.add("linked");
        (trees, linked)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    /// Adds a linked working tree.
    fn add(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        self.main.git(&["worktree", "add", "--quiet", "-b", name, path.to_str().unwrap()]);
        path
    }

    /// Runs qipu in a folder and returns what it prints.
    fn ok(&self, dir: &Path, args: &[&str]) -> String {
        let output = self.main.qipu_in(dir, args);
        assert!(output.status.success(), "{args:?} in {dir:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Expects that no store counts in a folder.
    fn expect_no_store(&self, dir: &Path) {
        let output = self.main.qipu_in(dir, &["status"]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(message.starts_with("qipu: no store in this folder or its parents"), "{message}");
    }

    /// Expects the collections of a folder, as name, folder and reason of each, from `where` as JSON and as text.
    fn expect_where(&self, dir: &Path, expected: &[(&str, PathBuf, &str)]) {
        let answer: Value = serde_json::from_str(&self.ok(dir, &["status", "--json"])).unwrap();
        let text = self.ok(dir, &["status"]);
        let rows = answer["collections"].as_array().unwrap();
        assert_eq!(rows.len(), expected.len(), "{text}");
        assert!(text.lines().nth(expected.len()).is_some_and(|line| line.ends_with("  notes")), "{text}");
        for ((row, line), (name, folder, reason)) in rows.iter().zip(text.lines()).zip(expected) {
            let path = row["path"].as_str().unwrap();
            assert_eq!(row["name"], *name);
            assert_eq!(row["reason"], *reason, "{text}");
            assert_eq!(dir.join(path).canonicalize().unwrap(), folder.canonicalize().unwrap(), "{text}");
            assert!(line.ends_with(&format!("  {name} {path} (store; {reason})")), "{line}");
        }
    }

    /// Expects that a folder uses one store.
    fn expect_store(&self, dir: &Path, store: &Path, reason: &str) {
        self.expect_where(dir, &[("project", store.to_path_buf(), reason)]);
    }
}

fn git(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args).env("HOME", dir).env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Creates a store that git does not track, in each of the ways to make one.
fn create_untracked(main: &Repository, kind: &str) -> PathBuf {
    match kind {
        "stealth" => drop(main.ok(&["init", "--stealth"])),
        "visible" => drop(main.ok(&["init", "--visible"])),
        "excluded" => {
            main.ok(&["init"]);
            let exclude = main.path(".git/info/exclude");
            fs::write(&exclude, "/.qipu/\n").unwrap();
            assert_eq!(main.git(&["status", "--porcelain", "--", ".qipu"]), "");
        }
        "ignored" => {
            main.ok(&["init"]);
            main.write(".gitignore", "/.qipu/\n");
            main.git(&["add", ".gitignore"]);
            main.git(&["commit", "--quiet", "-m", "ignore"]);
        }
        _ => drop(main.ok(&["init"])),
    }
    main.path(if kind == "visible" { "qipu" } else { ".qipu" })
}

#[test]
#[ignore = "git"]
fn a_worktree_without_a_store_uses_that_of_the_main_one() {
    for kind in ["stealth", "visible", "excluded", "ignored", "untracked"] {
        let trees = Worktrees::new();
        let store = create_untracked(&trees.main, kind);
        trees.main.ok(&["capture", "--title", "From main", MAIN_WORD]);
        let linked = trees.add("linked");
        assert!(!linked.join(store.file_name().unwrap()).exists(), "{kind}");
        for dir in [linked.clone(), linked.join("src/deep")] {
            trees.expect_store(&dir, &store, OF_MAIN);
            assert!(trees.ok(&dir, &["search", MAIN_WORD]).contains("From main"), "{kind}");
        }
        trees.expect_store(&trees.main.path("src"), &store, NEAREST);
        trees.ok(&linked.join("src/deep"), &["capture", "--title", "From linked", "kangaroo"]);
        assert!(trees.main.ok(&["search", "kangaroo"]).contains("From linked"), "{kind}");
        assert_eq!(String::from_utf8(git(&linked, &["status", "--porcelain"]).stdout).unwrap(), "", "{kind}");
    }
}

#[test]
#[ignore = "git"]
fn a_worktree_has_its_committed_store_unless_it_shares() {
    let trees = Worktrees::new();
    trees.main.ok(&["init"]);
    trees.main.note("n", "", MAIN_WORD);
    trees.main.git(&["add", ".qipu"]);
    trees.main.git(&["commit", "--quiet", "-m", "store"]);
    let linked = trees.add("linked");
    let (main, deep) = (trees.main.path(".qipu"), linked.join("src/deep"));
    trees.expect_store(&deep, &linked.join(".qipu"), NEAREST);
    let id = trees.ok(&deep, &["capture", "-q", "--title", "Of the branch", "kangaroo"]);
    assert!(!trees.main.ok(&["list"]).contains(id.trim()));
    assert_eq!(trees.ok(&deep, &["list"]).lines().count(), 2);

    // The config of the working tree itself decides.
    fs::write(main.join("config.toml"), "[worktrees]\nshare = true\n").unwrap();
    trees.expect_store(&deep, &linked.join(".qipu"), NEAREST);
    fs::write(linked.join(".qipu/config.toml"), "[worktrees]\nshare = true\n").unwrap();
    trees.expect_store(&deep, &main, OF_MAIN);
    trees.expect_store(&trees.main.path("src"), &main, NEAREST);
    assert!(!trees.ok(&deep, &["list"]).contains(id.trim()));
    // Options name a store as everywhere.
    let row = "  project ../../.qipu/ (store; option)\n";
    assert!(trees.ok(&deep, &["status", "--store", "../../.qipu"]).contains(row));
    fs::remove_dir_all(main).unwrap();
    trees.expect_store(&deep, &linked.join(".qipu"), NEAREST);
    assert!(trees.ok(&deep, &["list"]).contains(id.trim()));
}

#[test]
#[ignore = "git"]
fn the_store_of_the_corresponding_folder_is_the_nearest() {
    let (trees, linked) = Worktrees::with_untracked_store();
    trees.main.write("src/.qipu/notes/p.md", "---\nid: p\ntitle: Package\n---\n");
    let (root, package) = (trees.main.path(".qipu"), trees.main.path("src/.qipu"));
    let parent = "store of a parent folder";
    for dir in [linked.join("src/deep"), linked.join("src")] {
        let both = [("project", package.clone(), OF_MAIN), ("root", root.clone(), parent)];
        trees.expect_where(&dir, &both);
    }
    trees.expect_store(&linked, &root, OF_MAIN);
    // A folder that only this branch has corresponds to none; its parents do.
    fs::create_dir_all(linked.join("only/here")).unwrap();
    trees.expect_store(&linked.join("only/here"), &root, OF_MAIN);
    // A store of the working tree comes before all of the main one.
    fs::create_dir_all(linked.join(".qipu/notes")).unwrap();
    trees.expect_store(&linked.join("src/deep"), &linked.join(".qipu"), NEAREST);
}

#[test]
#[ignore = "git"]
fn a_worktree_inside_the_main_one_uses_its_store() {
    let (trees, _) = Worktrees::with_untracked_store();
    let inner = trees.main.path("trees/inner");
    trees.main.git(&["worktree", "add", "--quiet", "-b", "inner", "trees/inner"]);
    trees.expect_store(&inner.join("src"), &trees.main.path(".qipu"), OF_MAIN);
    let nested = trees.main.path("src/deep/tree");
    trees.main.git(&["worktree", "add", "--quiet", "--detach", "src/deep/tree"]);
    trees.expect_store(&nested.join("src/deep"), &trees.main.path(".qipu"), OF_MAIN);
}

#[test]
#[ignore = "git"]
fn a_worktree_that_moved_or_lost_its_repository_has_no_store() {
    let (trees, linked) = Worktrees::with_untracked_store();
    let (moved, store) = (trees.path("moved"), trees.main.path(".qipu"));
    trees.main.git(&["worktree", "move", linked.to_str().unwrap(), moved.to_str().unwrap()]);
    trees.expect_store(&moved.join("src"), &store, OF_MAIN);
    // The repository does not know where it is until it is repaired.
    fs::rename(&moved, &linked).unwrap();
    trees.expect_no_store(&linked.join("src"));
    git(&linked, &["worktree", "repair"]);
    trees.expect_store(&linked.join("src"), &store, OF_MAIN);
    // A copy is none of its working trees either.
    crate::support::files::copy_folder(&linked, &trees.path("copy"));
    trees.expect_no_store(&trees.path("copy/src"));

    let away = trees.path("away");
    fs::create_dir(&away).unwrap();
    fs::rename(trees.main.path(".git"), away.join(".git")).unwrap();
    trees.expect_no_store(&linked.join("src"));
    fs::rename(away.join(".git"), trees.main.path(".git")).unwrap();
    trees.expect_store(&linked, &store, OF_MAIN);
    fs::remove_dir_all(&store).unwrap();
    trees.expect_no_store(&linked);
}

#[test]
#[ignore = "git"]
fn worktrees_of_a_bare_repository_have_their_own_stores() {
    let trees = Worktrees::new();
    trees.main.ok(&["init"]);
    trees.main.note("n", "", MAIN_WORD);
    trees.main.write(".qipu/config.toml", "[worktrees]\nshare = true\n");
    let source = trees.main.path("");
    for (bare, name) in [("bare.git", "a"), ("project/.bare", "project/b")] {
        git(&trees.path(""), &["clone", "--quiet", "--bare", source.to_str().unwrap(), bare]);
        let tree = trees.path(name);
        git(&trees.path(bare), &["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
        // A store in the folder of the bare repository, or around it, is not in a working tree.
        fs::create_dir_all(trees.path(bare).join(".qipu/notes")).unwrap();
        fs::create_dir_all(trees.path("project/.qipu/notes")).unwrap();
        trees.expect_no_store(&tree.join("src"));
        crate::support::files::copy_folder(&trees.main.path(".qipu"), &tree.join(".qipu"));
        trees.expect_store(&tree.join("src"), &tree.join(".qipu"), NEAREST);
    }
}

#[test]
#[ignore = "git"]
fn a_submodule_does_not_use_the_store_of_the_repository_around_it() {
    let (trees, linked) = Worktrees::with_untracked_store();
    let inner = trees.path("inner");
    git(&trees.path(""), &["clone", "--quiet", trees.main.path("").to_str().unwrap(), inner.to_str().unwrap()]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.to_str().unwrap(), "module"];
    git(&trees.main.path(""), &add);
    trees.expect_no_store(&trees.main.path("module/src"));
    git(&linked, &add);
    trees.expect_no_store(&linked.join("module/src"));
    trees.expect_store(&linked.join("src"), &trees.main.path(".qipu"), OF_MAIN);
}

#[test]
#[ignore = "git"]
fn the_sources_of_a_shared_store_are_those_of_the_main_worktree() {
    let (trees, linked) = Worktrees::with_untracked_store();
    trees.main.write(".qipu/config.toml", "[[documents]]\npath = \"src\"\nwritable = true\n");
    trees.main.write("src/page.md", "# Of main\n");
    fs::write(linked.join("src/page.md"), "# Of the branch\n").unwrap();
    for dir in [trees.main.path("src"), linked.join("src/deep")] {
        let listed = trees.ok(&dir, &["list", "--in", "src"]);
        assert!(listed.contains("Of main") && !listed.contains("branch"), "{listed}");
    }
    trees.ok(&linked, &["update", "page", "--append", "More.", "--in", "src"]);
    assert_eq!(fs::read_to_string(trees.main.path("src/page.md")).unwrap(), "# Of main\n\nMore.\n");
    assert_eq!(fs::read_to_string(linked.join("src/page.md")).unwrap(), "# Of the branch\n");
}

/// A folder that pretends to be a linked working tree of the repository of others.
struct Forgery<'t> {
    trees: &'t Worktrees,
    /// The repository that it pretends to belong to.
    victim: PathBuf,
    /// A working tree that the repository knows.
    linked: PathBuf,
    dir: PathBuf,
}

impl Forgery<'_> {
    fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git_file(&self, dir: &str) {
        self.write(".git", &format!("gitdir: {dir}\n"));
    }

    /// Writes a folder that looks like that of a working tree in a repository.
    fn git_dir(&self, path: &str, common: &str) {
        self.write(&format!("{path}/gitdir"), &format!("{}\n", self.dir.join(".git").display()));
        self.write(&format!("{path}/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{path}/commondir"), &format!("{common}\n"));
    }

    fn make(&self, kind: &str) {
        let (common, linked) = (self.victim.join(".git"), self.victim.join(".git/worktrees/linked"));
        let [common, linked] = [common, linked].map(|path| path.to_str().unwrap().to_owned());
        let upwards = "../".repeat(self.dir.components().count());
        match kind {
            "working tree of another folder" => self.git_file(&linked),
            "relative path" => self.git_file(&format!("{upwards}{}", linked.trim_start_matches('/'))),
            "repository itself" => self.git_file(&common),
            "own folder" => {
                self.git_dir("fake", &common);
                self.git_file("fake");
            }
            "own folder, as in a repository" => {
                self.git_dir("fake/.git/worktrees/linked", &common);
                self.git_file("fake/.git/worktrees/linked");
            }
            "own folder with a relative repository" => {
                self.git_dir("fake", &format!("../{upwards}{}", common.trim_start_matches('/')));
                self.git_file("fake");
            }
            "own folder behind a link" => {
                self.git_dir("real/worktrees/linked", "../..");
                symlink(self.dir.join("real/worktrees"), self.dir.join("worktrees")).unwrap();
                symlink(&common, self.dir.join("real/.git")).unwrap();
                self.write("real/worktrees/linked/commondir", "../../.git\n");
                self.git_file("worktrees/linked");
            }
            "link to the folder" => {
                symlink(&linked, self.dir.join("fake")).unwrap();
                self.git_file("fake");
            }
            "link to the repository" => {
                symlink(&common, self.dir.join("common")).unwrap();
                self.git_dir("fake", "../common");
                self.git_file("fake");
            }
            "link to the file" => symlink(self.linked.join(".git"), self.dir.join(".git")).unwrap(),
            "link as a part" => {
                fs::create_dir(self.dir.join(".git")).unwrap();
                for part in ["HEAD", "config", "objects", "refs"] {
                    symlink(Path::new(&common).join(part), self.dir.join(".git").join(part)).unwrap();
                }
            }
            "blank before the path" => {
                self.git_dir(" fake", &common);
                fs::create_dir(self.dir.join("fake")).unwrap();
                self.git_file(" fake");
            }
            "repository with another folder" => self.git_dir(".git", &common),
            "link to .git" => symlink(&common, self.dir.join(".git")).unwrap(),
            "long file" => self.write(".git", &format!("gitdir: {linked}\n{}", "x".repeat(64 << 20))),
            "long line" => self.git_file(&format!("{}{linked}", "/".repeat(1 << 20))),
            other => self.make_special(other, &linked),
        }
    }

    fn make_special(&self, kind: &str, linked: &str) {
        let common = self.victim.join(".git").to_str().unwrap().to_owned();
        let pipe_in_fake = |name: &str| {
            self.git_dir("fake", &common);
            fs::remove_file(self.dir.join("fake").join(name)).unwrap();
            make_pipe(&self.dir.join("fake").join(name));
            self.git_file("fake");
        };
        match kind {
            "pipe" => make_pipe(&self.dir.join(".git")),
            "pipe as gitdir" => pipe_in_fake("gitdir"),
            "pipe as commondir" => pipe_in_fake("commondir"),
            "device" => symlink("/dev/zero", self.dir.join(".git")).unwrap(),
            "device as folder" => self.git_file("/dev/zero"),
            "nothing" => self.write(".git", ""),
            "no path" => self.git_file(""),
            "NUL" => self.git_file(&format!("{linked}\0")),
            "not UTF-8" => fs::write(self.dir.join(".git"), b"gitdir: \xff\xfe\n").unwrap(),
            "folder" => fs::create_dir(self.dir.join(".git")).unwrap(),
            other => panic!("unknown kind: {other}"),
        }
    }

    /// Expects that no command reads anything of the other repository, and that none waits.
    fn expect_refused(&self, kind: &str, args: &[&str]) {
        let mut command = self.trees.main.qipu_command();
        command.current_dir(self.dir.join("src")).args(args);
        let output = expect_to_end(move || command.output().unwrap());
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains(MAIN_WORD) && !text.contains("Note n"), "{kind}: {args:?}: {text}");
        assert_eq!(output.status.code(), Some(3), "{kind}: {args:?}: {text}");
        assert!(text.starts_with("qipu: no store in this folder or its parents"), "{kind}: {args:?}: {text}");
    }
}

/// The ways to pretend.
const FORGERIES: [&str; 26] = [
    "working tree of another folder",
    "relative path",
    "repository itself",
    "own folder",
    "own folder, as in a repository",
    "own folder with a relative repository",
    "own folder behind a link",
    "link to the folder",
    "link to the repository",
    "link to the file",
    "link to .git",
    "link as a part",
    "blank before the path",
    "repository with another folder",
    "long file",
    "long line",
    "pipe",
    "pipe as gitdir",
    "pipe as commondir",
    "device",
    "device as folder",
    "nothing",
    "no path",
    "NUL",
    "not UTF-8",
    "folder",
];

#[test]
#[ignore = "git"]
fn a_folder_that_the_repository_does_not_know_reads_nothing_of_it() {
    let (trees, linked) = Worktrees::with_untracked_store();
    // Each command would find the note.
    let commands: [&[&str]; 7] = [
        &["status"],
        &["list"],
        &["search", MAIN_WORD],
        &["context", "--note", "n"],
        &["prime"],
        &["show", "n"],
        &["capture", "a note"],
    ];
    assert!(trees.ok(&linked, commands[2]).contains("Note n"));
    for (number, kind) in FORGERIES.into_iter().enumerate() {
        let dir = trees.path(&format!("forged-{number}"));
        fs::create_dir_all(dir.join("src")).unwrap();
        let victim = trees.main.path("").canonicalize().unwrap();
        let forgery = Forgery { trees: &trees, victim, linked: linked.clone(), dir };
        forgery.make(kind);
        commands.iter().for_each(|args| forgery.expect_refused(kind, args));
        // A store of its own that wants to share does not get another one.
        fs::create_dir_all(forgery.dir.join(".qipu/notes")).unwrap();
        forgery.write(".qipu/config.toml", "[worktrees]\nshare = true\n");
        trees.expect_store(&forgery.dir.join("src"), &forgery.dir.join(".qipu"), NEAREST);
    }
    assert_eq!(trees.main.ok(&["list"]).lines().count(), 1, "nothing was captured");
}

/// The commands that read git's history.
const OF_HISTORY: [&[&str]; 4] = [
    &["list", "--at", "HEAD"],
    &["search", MAIN_WORD, "--at", "HEAD"],
    &["history", "--since", "HEAD"],
    &["history", "own"],
];

#[test]
#[ignore = "git"]
fn a_folder_that_the_repository_does_not_know_reads_nothing_of_its_history() {
    let (trees, linked) = Worktrees::with_untracked_store();
    trees.main.git(&["add", "--force", ".qipu"]);
    trees.main.git(&["commit", "--quiet", "-m", "notes"]);
    for (number, kind) in FORGERIES.into_iter().enumerate() {
        let dir = trees.path(&format!("forged-{number}"));
        let victim = trees.main.path("").canonicalize().unwrap();
        let forgery = Forgery { trees: &trees, victim, linked: linked.clone(), dir };
        forgery.write("src/.qipu/notes/own.md", "---\nid: own\n---\nx\n");
        forgery.make(kind);
        for args in OF_HISTORY {
            let mut command = trees.main.qipu_command();
            command.current_dir(forgery.dir.join("src")).args(args);
            let output = expect_to_end(move || command.output().unwrap());
            let text =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(!text.contains("Note n") && !text.contains("notes/n.md"), "{kind}: {args:?}: {text}");
            assert_ne!(output.status.code(), Some(0), "{kind}: {args:?}: {text}");
            assert!(!text.contains("no commit here yet"), "{kind}: {args:?}: {text}");
        }
    }
}

#[test]
#[ignore = "git"]
fn worktrees_submodules_and_separate_repositories_have_a_history() {
    let trees = Worktrees::new();
    trees.main.write("src/.qipu/notes/own.md", "---\nid: own\ntitle: Note n\n---\nwombat\n");
    trees.main.git(&["add", "--force", "src"]);
    trees.main.git(&["commit", "--quiet", "-m", "notes"]);
    let (main, apart, outer) = (trees.main.path(""), trees.path("apart"), trees.path("outer"));
    let url = main.to_str().unwrap();
    let separate = trees.path("separate-git");
    let separate = format!("--separate-git-dir={}", separate.display());
    git(&main, &["clone", "--quiet", &separate, url, apart.to_str().unwrap()]);
    git(&main, &["init", "--quiet", outer.to_str().unwrap()]);
    git(&outer, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "module"]);
    for dir in [main, trees.add("linked"), apart, outer.join("module")] {
        for args in OF_HISTORY {
            let told = trees.ok(&dir.join("src"), args);
            assert_eq!(told.contains("own "), args.contains(&"--at"), "{dir:?}: {args:?}: {told}");
        }
    }
}

#[test]
#[ignore = "git"]
fn relative_paths_and_paths_through_links_lead_to_the_repository() {
    let (trees, linked) = Worktrees::with_untracked_store();
    let (store, known) = (trees.main.path(".qipu"), trees.main.path(".git/worktrees/linked"));
    let upwards = |dir: &Path| "../".repeat(dir.canonicalize().unwrap().components().count() - 1);
    let relative =
        |from: &Path, to: &Path| format!("{}{}", upwards(from), to.to_str().unwrap().trim_start_matches('/'));
    // As git writes them with `worktree.useRelativePaths`.
    fs::write(linked.join(".git"), format!("gitdir: {}\n", relative(&linked, &known))).unwrap();
    fs::write(known.join("gitdir"), format!("{}\n", relative(&known, &linked.join(".git")))).unwrap();
    assert_eq!(git(&linked, &["rev-parse", "--is-inside-work-tree"]).stdout, b"true\n");
    trees.expect_store(&linked.join("src"), &store, OF_MAIN);
    let link = trees.path("link");
    symlink(trees.main.path(""), &link).unwrap();
    fs::write(linked.join(".git"), format!("gitdir: {}/.git/worktrees/linked\n", link.display())).unwrap();
    assert_eq!(git(&linked, &["rev-parse", "--is-inside-work-tree"]).stdout, b"true\n");
    trees.expect_store(&linked.join("src"), &store, OF_MAIN);
    fs::write(linked.join(".git"), format!("gitdir: {}\r\n", known.display())).unwrap();
    trees.expect_store(&linked.join("src"), &store, OF_MAIN);
}

#[test]
#[ignore = "git"]
fn references_to_code_lead_to_the_files_of_the_current_worktree() {
    let (trees, linked) = Worktrees::with_untracked_store();
    trees.ok(&trees.main.path(""), &["update", "n", "--code", "src/deep/a.rs#run"]);
    let stale = |dir: &Path| {
        let answer: Value = serde_json::from_str(&trees.ok(dir, &["review", "--kind", "code", "--json"])).unwrap();
        let codes = answer["worklist"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap());
        codes.map(str::to_owned).collect::<Vec<_>>()
    };
    let (main, deep) = (trees.main.path(""), linked.join("src/deep"));
    assert_eq!((stale(&main), stale(&deep)), (vec![], vec![]));
    fs::write(deep.join("a.rs"), "fn walk() {}\n").unwrap();
    assert_eq!((stale(&main), stale(&deep)), (vec![], vec!["code-gone".to_owned()]));
    assert!(trees.ok(&deep, &["about", "a.rs"]).contains("Note n"));
    assert!(trees.ok(&linked, &["about", "src/deep/a.rs"]).contains("Note n"));
    // A new anchor is one of the files here.
    fs::write(deep.join("b.rs"), "fn only_here() {}\n").unwrap();
    git(&linked, &["add", "src/deep/b.rs"]);
    trees.ok(&deep, &["update", "n", "--code", "b.rs#only_here"]);
    assert!(trees.main.read_note("n").contains("src/deep/b.rs"), "{}", trees.main.read_note("n"));
    assert_eq!(stale(&main), ["code-gone"], "the main working tree has no b.rs");
}

#[test]
#[ignore = "git"]
fn a_worktree_ignores_the_documents_that_its_repository_excludes() {
    let trees = Worktrees::new();
    trees.main.ok(&["init"]);
    trees.main.write(".qipu/config.toml", "[[documents]]\npath = \"docs\"\n");
    trees.main.write(".gitignore", "ignored.md\n");
    fs::write(trees.main.path(".git/info/exclude"), "docs/excluded*\n!docs/excluded-not.md\n").unwrap();
    let names = ["shown.md", "ignored.md", "excluded.md", "excluded-not.md"];
    names.iter().for_each(|name| trees.main.write(&format!("docs/{name}"), "Text.\n"));
    trees.main.git(&["add", "--force", ".qipu", ".gitignore", "docs"]);
    trees.main.git(&["commit", "--quiet", "-m", "documents"]);
    let linked = trees.add("linked");
    for dir in [trees.main.path(""), linked] {
        let not_ignored = names.iter().filter(|name| {
            let path = format!("docs/{name}");
            let args = ["-C", dir.to_str().unwrap(), "check-ignore", "--quiet", "--no-index", &path];
            !Command::new("git").args(args).status().unwrap().success()
        });
        let mut expected: Vec<&str> = not_ignored.map(|name| name.trim_end_matches(".md")).collect();
        expected.sort_unstable();
        assert_eq!(expected, ["excluded-not", "shown"]);
        let listed = trees.ok(&dir, &["list", "--in", "docs", "--sort", "id"]);
        let listed: Vec<&str> = listed.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(listed, expected, "{dir:?}");
    }
}

#[test]
#[ignore = "git"]
fn commands_in_two_worktrees_change_one_store_at_once() {
    const CAPTURES: usize = 20;
    const NOTES: usize = 300;
    let (trees, first) = Worktrees::with_untracked_store();
    // A store of fewer notes gets no index.
    (1..NOTES).for_each(|number| trees.main.note(&format!("n{number}"), "", &format!("{MAIN_WORD} word{number}")));
    let second = trees.add("second");
    let ids: Vec<String> = thread::scope(|scope| {
        let capture = |dir: &PathBuf, name: &str| {
            let one = |number: usize| {
                let text = format!("kangaroo {name}{number}");
                let id = trees.ok(dir, &["capture", "-q", "--title", &format!("{name} {number}"), &text]);
                // Each process sees its own note at once, and builds the index meanwhile.
                let found = trees.ok(dir, &["search", &format!("{name}{number}")]);
                assert!(found.contains(id.trim()), "{found}");
                id.trim().to_owned()
            };
            (0..CAPTURES).map(one).collect::<Vec<_>>()
        };
        let both = [(&first, "left"), (&second, "right")];
        let both = both.map(|(dir, name)| scope.spawn(move || capture(dir, name)));
        both.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), 2 * CAPTURES);
    assert_eq!(fs::read_dir(trees.main.path(".qipu/notes")).unwrap().count(), NOTES + 2 * CAPTURES);
    for args in [&["search", "kangaroo"][..], &["search", MAIN_WORD], &["list"], &["status", "--tags"], &["prime"]] {
        for dir in [&first, &second] {
            let json = |more: &[&str]| trees.ok(dir, &[args, &["--json"], more].concat());
            let (cold, warm) = (json(&["--no-index"]), json(&[]));
            assert_eq!(cold, warm, "{args:?}");
        }
    }
    let found = trees.ok(&first, &["search", "kangaroo", "--limit", "1000", "--json"]);
    assert!(ids.iter().all(|id| found.contains(id.as_str())));
    let facts: Value = serde_json::from_str(&trees.ok(&second, &["status", "--json"])).unwrap();
    assert!(facts.to_string().contains(&(NOTES + 2 * CAPTURES).to_string()), "{facts}");
    assert!(!trees.ok(&first, &["doctor"]).contains("error:"));
}

#[test]
#[ignore = "git"]
fn a_change_of_the_store_of_the_main_worktree_says_so() {
    let (trees, linked) = Worktrees::with_untracked_store();
    let stderr = |dir: &Path, args: &[&str]| {
        let output = trees.main.qipu_in(dir, args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let store = trees.main.path(".qipu").canonicalize().unwrap();
    for args in [&["capture", "A thought"][..], &["capture", "Another", "-q"], &["update", "n", "--tag", "x", "--json"]]
    {
        let note = stderr(&linked, args);
        assert!(note.starts_with("note: this changed the store of the main worktree, "), "{args:?}: {note}");
        assert_eq!(note.lines().count(), 1, "{note}");
        let shown = note.trim_end().rsplit(' ').next().unwrap();
        assert_eq!(linked.join(shown).canonicalize().unwrap(), store);
        assert!(!stderr(&trees.main.path("src"), args).contains("note: "), "{args:?}");
    }
    for args in [&["list"][..], &["capture", "A thought", "--dry-run"], &["update", "n", "--tag", "x"]] {
        assert_eq!(stderr(&linked, args), "", "{args:?}");
    }
    let named = trees.main.path("");
    assert_eq!(stderr(&linked, &["capture", "Named", "--store", named.to_str().unwrap()]), "");
}
