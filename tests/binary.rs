//! The real binary in a process of its own: exit codes, pipes, permissions and concurrent writers.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns a call of the binary in a directory, without the environment of this process.
fn qipu(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
    command.current_dir(dir).env_clear().stdin(Stdio::null());
    command
}

fn run(dir: &Path, args: &[&str]) -> Output {
    qipu(dir).args(args).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// Runs the binary in a directory as a user whom file modes restrict: root without the capabilities that override them.
#[cfg(target_os = "linux")]
fn without_privileges(dir: &Path, args: &[&str], stdin: Stdio) -> Output {
    use std::os::unix::fs::MetadataExt;
    let mut command = qipu(dir);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let dropped = "-dac_override,-dac_read_search";
        command = Command::new("setpriv");
        command.args(["--bounding-set", dropped, "--inh-caps", dropped, env!("CARGO_BIN_EXE_qipu")]);
        command.current_dir(dir).env_remove("XDG_CACHE_HOME");
    }
    command.args(args).stdin(stdin).output().unwrap()
}

#[test]
fn findings_of_settings_are_on_stderr_only_where_the_answer_lacks_them() {
    let dir = store(&[("config.toml", b"[[documents]]\npath = \"nosuch\"\n"), ("notes/a.md", b"# A\n")]);
    for args in [&["status"][..], &["status", "--json"], &["doctor"], &["doctor", "--fix"], &["doctor", "--records"]] {
        let output = run(dir.path(), args);
        assert_eq!(stdout(&output).matches("there is no such folder").count(), 1, "{args:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!told.contains("no such folder"), "{args:?}: {told}");
    }
    for args in [&["list"][..], &["status", "--tags"], &["prime"]] {
        let output = run(dir.path(), args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(told.matches("there is no such folder").count(), 1, "{args:?}: {told}");
    }
}

/// The messages of an MCP client that searches once.
const MCP_SEARCH: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}"#,
    "\n",
);

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs setpriv"]
fn a_journal_that_cannot_be_read_gets_no_second_one() {
    use std::os::unix::fs::PermissionsExt;
    let dir = store(&[("journals/2025-03-05.md", b"- one\n")]);
    let path = dir.path().join(".qipu/journals/2025-03-05.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let output = without_privileges(dir.path(), &["journal", "two", "--date", "2025-03-05"], Stdio::null());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(3) && told.contains("2025-03-05.md can't be read"), "{told}");
    assert_eq!(fs::read_dir(dir.path().join(".qipu/journals")).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs setpriv"]
fn unreadable_notes_are_reported_and_block_commands_that_need_all() {
    use std::os::unix::fs::PermissionsExt;
    let note = |id: &str| format!("---\nid: {id}\ntitle: {id}\ntags: [x]\n---\n[[a]]\n");
    for unreadable in ["notes/sub", "notes/sub/b.md"] {
        let texts = [("notes/a.md", "a"), ("notes/sub/b.md", "b"), ("notes/c.md", "c")];
        let texts = texts.map(|(path, id)| (path, note(id)));
        let dir = store(&texts.each_ref().map(|(path, text)| (*path, text.as_bytes())));
        let path = dir.path().join(".qipu").join(unreadable);
        let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let call = |args: &[&str]| {
            let output = without_privileges(dir.path(), args, Stdio::null());
            let both = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            (output.status.code().unwrap(), both)
        };
        set(0o000);
        let shown = format!(".qipu/{unreadable}");
        for args in [["list", "--records"], ["search", "b"], ["show", "a"], ["update", "a"]] {
            let (code, [_, told]) =
                call(&if args == ["update", "a"] { vec!["update", "a", "--value", "7"] } else { args.to_vec() });
            assert_eq!(code, 0, "{args:?}: {told}");
            assert!(told.contains("warning: some notes can't be read: ") && told.contains(&shown), "{args:?}: {told}");
        }
        let lines = dir.path().join("lines");
        fs::write(&lines, MCP_SEARCH).unwrap();
        let output = without_privileges(dir.path(), &["mcp"], fs::File::open(&lines).unwrap().into());
        let answers = String::from_utf8(output.stdout).unwrap();
        assert!(answers.contains("warning: some notes can't be read: ") && answers.contains(&shown), "{answers}");
        let (code, [found, _]) = call(&["doctor"]);
        assert!(code == 3 && found.contains("skipped") && found.contains(&shown), "{found}");
        let refused: [&[&str]; 10] = [
            // The id or title of the other, if it could be read.
            &["update", "C", "--value", "7"],
            &["delete", "a"],
            &["update", "a", "--title", "Other"],
            &["merge", "a", "c"],
            &["link", "add", "a", "compacts", "c"],
            &["update", "--where", "tag = x", "--untag", "x", "--tag", "z"],
            &["dump", "-"],
            &["export", "passages", "--since-index", "exported.state"],
            &["load", "pack"],
            &["import", "vault"],
        ];
        fs::create_dir_all(dir.path().join("vault")).unwrap();
        fs::write(dir.path().join("vault/e.md"), "# E\n").unwrap();
        let source = store(&[("notes/d.md", b"# D\n")]);
        let pack = run(source.path(), &["dump", "-"]).stdout;
        fs::write(dir.path().join("pack"), pack).unwrap();
        for args in refused {
            let (code, [answer, told]) = call(args);
            assert!(code == 3 && answer.is_empty() && told.contains(&shown), "{args:?} {code}: {told}");
        }
        for answered in
            [&["dump", "-", "--note", "C"][..], &["review", "C"], &["show", "C"], &["delete", "a", "--force"]]
        {
            let (code, [_, told]) = call(answered);
            assert_eq!(code, 0, "{answered:?}: {told}");
        }
        set(0o755);
        assert_eq!(call(&["list", "--records"]).1[1], "");
    }
}

/// An unreadable store is no reason to write into the one around it, and an unreadable note none to link to one of another
/// collection that has its title.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs setpriv"]
fn what_cannot_be_read_is_not_replaced_by_another_of_its_name() {
    use std::os::unix::fs::PermissionsExt;
    let dir = store(&[("notes/b.md", b"# Elsewhere\n"), ("notes/c.md", b"# C\n"), ("attachments/a.txt", b"text")]);
    let lock = |path: &str, mode| {
        fs::set_permissions(dir.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let refused = |folder: &Path, args: &[&str], name: &str| {
        let output = without_privileges(folder, args, Stdio::null());
        let told = format!("{}{}", stdout(&output), std::str::from_utf8(&output.stderr).unwrap());
        assert!(output.status.code() != Some(0) && told.contains(name), "{args:?}: {told}");
    };
    fs::create_dir_all(dir.path().join("inner/qipu/notes")).unwrap();
    lock("inner/qipu", 0o000);
    refused(&dir.path().join("inner"), &["capture", "a thought"], "qipu");
    lock("inner/qipu", 0o755);
    fs::remove_dir_all(dir.path().join("inner")).unwrap();
    fs::create_dir_all(dir.path().join("docs")).unwrap();
    fs::write(dir.path().join("docs/page.md"), "# Elsewhere\n").unwrap();
    fs::write(dir.path().join(".qipu/config.toml"), "[[documents]]\npath = \"docs\"\n").unwrap();
    lock(".qipu/notes/b.md", 0o000);
    for args in [&["link", "add", "c", "Elsewhere"][..], &["capture", "a thought", "--link", "supports:Elsewhere"]] {
        refused(dir.path(), args, "notes/b.md");
    }
    lock(".qipu/notes/b.md", 0o644);
    for path in [".qipu/attachments", ".qipu/attachments/a.txt"] {
        lock(path, 0o000);
        refused(dir.path(), &["doctor"], path);
        lock(path, 0o755);
    }
}

#[cfg(unix)]
#[test]
#[ignore = "needs bash"]
fn a_file_size_limit_prevents_the_index_but_not_the_answer() {
    let notes: Vec<(String, String)> = (0..400)
        .map(|number| (format!("notes/n{number}.md"), format!("# Title {number}\n\nalpha word{number}\n")))
        .collect();
    let dir = store(&notes.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect::<Vec<_>>());
    let limited = |args: &str| {
        let line = format!("ulimit -f 10; exec {} {args}", env!("CARGO_BIN_EXE_qipu"));
        qipu_shell(dir.path(), &line)
    };
    let whole = limited("search alpha --no-index");
    assert!(whole.status.success() && !whole.stdout.is_empty());
    for _ in 0..2 {
        let output = limited("search alpha");
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &whole.stdout));
    }
    let names = fs::read_dir(dir.path().join(".qipu/cache")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), [".gitignore"], "nothing is left over");
    // A change that does not fit is an error, and the file is as it was.
    let before = fs::read(dir.path().join(".qipu/notes/n1.md")).unwrap();
    fs::write(dir.path().join("long"), "long words ".repeat(10_000)).unwrap();
    let output = limited("capture < long");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("too large"), "{output:?}");
    assert_eq!(fs::read(dir.path().join(".qipu/notes/n1.md")).unwrap(), before);
    assert_eq!(fs::read_dir(dir.path().join(".qipu/notes")).unwrap().count(), 400);
}

/// A line of a shell in a directory.
#[cfg(unix)]
fn qipu_shell(dir: &Path, line: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(dir).env("XDG_CACHE_HOME", "/nowhere").stdin(Stdio::null());
    command.output().unwrap()
}

fn demo() -> std::path::PathBuf {
    Path::new(ROOT).join("fixtures/research")
}

#[test]
fn answers_go_to_stdout_and_errors_to_stderr() {
    let output = run(&demo(), &["context", "--note", "qp-h2v6"]);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    let output = run(&demo(), &["context", "--note", "qp-zzzz", "--json"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), b"".as_slice()));
    let json: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(json["error"]["kind"], "no-note");
    let output = run(&demo(), &["context", "--format=json", "--nope"]);
    assert_eq!(output.status.code(), Some(2));
    let json: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(json["error"]["kind"], "usage");
    let output = run(&demo(), &["context", "--note", "qp-zzzz"]);
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("qipu: no such note: `qp-zzzz`"));
}

#[test]
fn help_and_version_are_answers() {
    for args in [
        vec!["--help"],
        vec!["--version"],
        vec!["context", "--help"],
        vec!["link", "tree", "--help"],
        vec!["help", "setup"],
    ] {
        let output = run(&demo(), &args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty());
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let big = "a line of text\n".repeat(100_000);
    let dir = store(&[("notes/a.md", big.as_bytes())]);
    let mut child = qipu(dir.path())
        .args(["context", "--note", "a"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

/// The same store gives the same bytes in any environment.
#[test]
fn the_environment_does_not_change_the_answer() {
    let words: [&[&str]; 4] = [
        &["prime", "--records"],
        &["context", "--query", "fsync", "--json"],
        &["link", "tree", "qp-7d1x"],
        &["context", "--tag", "errors", "--records", "--max-chars", "1500"],
    ];
    // A second store with the same files, made in another order and at other times.
    let copy = temp_dir();
    let mut files: Vec<_> = walkdir::WalkDir::new(demo().join(".qipu")).into_iter().map(Result::unwrap).collect();
    files.reverse();
    for file in files.iter().filter(|file| file.file_type().is_file()) {
        let target = copy.path().join(file.path().strip_prefix(demo()).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file.path(), target).unwrap();
    }
    for args in words {
        let plain = run(&demo(), args);
        assert_eq!(plain.status.code(), Some(0));
        assert_eq!(stdout(&plain), stdout(&run(copy.path(), args)), "{args:?} in a copy");
        for vars in [[("TZ", "Asia/Tokyo"), ("LANG", "tr_TR.UTF-8")], [("TZ", "America/Chicago"), ("LC_ALL", "C")]] {
            let output = qipu(&demo())
                .args(args)
                .envs(vars)
                .env("HOME", "/nowhere")
                .env("RAYON_NUM_THREADS", "1")
                .output()
                .unwrap();
            assert_eq!(stdout(&plain), stdout(&output), "{args:?} with {vars:?}");
        }
        let below = qipu(&demo().join(".qipu/notes")).args(args).output().unwrap();
        let shown = stdout(&below)
            .replace("store=../", "store=.qipu/")
            .replace("\"../", "\".qipu/")
            .replace("Store: ../", "Store: .qipu/");
        if !args.contains(&"--max-chars") {
            assert_eq!(stdout(&plain), shown, "{args:?} from below");
        }
        assert!(!stdout(&plain).contains(ROOT), "an absolute path");
    }
}

/// Links out of the store, pipes and folders named like notes are skipped without blocking.
#[test]
fn files_that_are_no_notes_are_skipped() {
    let dir =
        store(&[("notes/real.md", b"Real."), ("notes/folder.md/inner.md", b"Inner."), ("outside.md", b"No note.")]);
    let notes = dir.path().join(".qipu/notes");
    fs::write(dir.path().join("secret.md"), "secret").unwrap();
    std::os::unix::fs::symlink("../../secret.md", notes.join("secret.md")).unwrap();
    std::os::unix::fs::symlink("/etc", notes.join("etc")).unwrap();
    std::os::unix::fs::symlink("..", notes.join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc", dir.path().join(".qipu/mocs")).unwrap();
    assert!(Command::new("mkfifo").arg(notes.join("pipe.md")).status().unwrap().success());
    let odd_name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    fs::write(notes.join(odd_name), "An odd name.").unwrap();
    let output = run(dir.path(), &["context", "--min-value", "0", "--records"]);
    let ids: Vec<_> = stdout(&output)
        .lines()
        .filter(|line| line.starts_with("N "))
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    assert!(ids.contains(&"real") && ids.contains(&"folder.md--inner"));
    assert!(!stdout(&output).contains("secret"));
}

use std::os::unix::ffi::OsStrExt;

use crate::support::files::{store_of_bytes as store, temp_dir};

/// Holds a lease on a file, as file servers do, until another process opens it (fcntl(2), F_SETLEASE).
#[cfg(target_os = "linux")]
const HOLDER: &str = "
import fcntl, signal, sys
note = open(sys.argv[1], 'r+')
signal.signal(signal.SIGIO, lambda *_: fcntl.fcntl(note, fcntl.F_SETLEASE, fcntl.F_UNLCK))
fcntl.fcntl(note, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()
";

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs python3"]
fn a_note_with_a_file_lease_is_waited_for() {
    let dir = store(&[("notes/held.md", b"Held."), ("notes/free.md", b"Free.")]);
    let note = dir.path().join(".qipu/notes/held.md");
    let mut python = Command::new("python3");
    let mut holder =
        python.args(["-c", HOLDER]).arg(note).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut held = [0; 5];
    holder.stdout.as_mut().unwrap().read_exact(&mut held).unwrap();
    assert_eq!(&held, b"held\n");
    let output = run(dir.path(), &["list"]);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(stdout(&output).lines().count(), 2, "{}", stdout(&output));
}

/// A note of 40 MB in one line costs neither the memory nor the budget.
#[test]
fn a_huge_note_is_cut_and_says_so() {
    let huge = format!("---\nid: huge\ntitle: Huge\n---\n{}", "[[x]] **a** `b` ".repeat(2_500_000));
    let dir = store(&[("notes/huge.md", huge.as_bytes()), ("notes/small.md", b"small")]);
    let output = run(
        dir.path(),
        &["context", "--note", "huge", "--note", "small", "--records", "--with-body", "--max-chars", "500"],
    );
    assert!(stdout(&output).contains("\nN small "), "{}", stdout(&output));
    let output = run(dir.path(), &["context", "--note", "huge", "--json", "--max-chars", "500"]);
    assert_eq!(stdout(&output).chars().count(), 500);
    let whole = run(dir.path(), &["context", "--note", "huge", "--records", "--with-body"]);
    assert!(stdout(&whole).lines().next().unwrap().ends_with("truncated=true"), "only its beginning is read");
    assert!(stdout(&whole).ends_with("…[truncated]\nB-END\n"));
    assert_eq!(run(dir.path(), &["link", "tree", "huge"]).status.code(), Some(0));
}

#[test]
fn an_argument_that_is_not_text_is_wrong_usage() {
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let output = qipu(&demo()).args(["context", "--query"]).arg(odd).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

/// A config that is a link or a pipe is neither followed nor waited for.
#[test]
fn a_config_that_is_no_plain_file_is_an_error() {
    let dir = store(&[("notes/a.md", b"A.")]);
    let config = dir.path().join(".qipu/config.toml");
    std::os::unix::fs::symlink("/etc/hostname", &config).unwrap();
    let output = run(dir.path(), &["context", "--note", "a"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a regular file"));
    fs::remove_file(&config).unwrap();
    assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
    assert_eq!(run(dir.path(), &["context", "--note", "a"]).status.code(), Some(3));
    assert_eq!(run(dir.path(), &["hook", "claude", "SessionStart"]).status.code(), Some(0));
}

/// Reads a number from the environment, so that the same test can be run longer.
fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Several writers at once, some of them killed: what was said to be done is done, every file is
/// whole, and nobody waits for a lock of the dead.
/// `QIPU_WRITERS=8 QIPU_ROUNDS=200 cargo test --release --test all binary::writers` runs it longer.
#[test]
fn concurrent_writers_lose_nothing_and_write_no_partial_file() {
    let (writers, rounds) = (number("QIPU_WRITERS", 6), number("QIPU_ROUNDS", 12));
    let dir = store(&[
        ("notes/a.md", b"---\nid: a\ntitle: A # kept\ntags: [first]\n---\nBody of a.\n"),
        ("notes/b.md", b"---\nid: b\ntitle: B\n---\n[[a]]\n"),
    ]);
    let dir = &dir;
    let write = |writer: usize| {
        let (mut tagged, mut made, mut killed) = (Vec::new(), Vec::new(), 0);
        for round in 0..rounds {
            let tag = format!("w{writer}-{round}");
            let id = if round % 2 == 0 { "a" } else { "b" };
            let captures = round % 5 == 4;
            let link = format!("[[a]] {tag}");
            let words = if captures { vec!["capture", &link] } else { vec!["update", id, "--tag", &tag] };
            let mut child = qipu(dir.path()).args(words).stdout(Stdio::piped()).spawn().unwrap();
            if (writer + round).is_multiple_of(4) {
                std::thread::sleep(std::time::Duration::from_micros(700 * (round as u64 % 16 + 1)));
                let _ = child.kill();
            }
            let output = child.wait_with_output().unwrap();
            killed += usize::from(output.status.code().is_none());
            match (output.status.success(), captures) {
                (true, true) => made.push(stdout(&output).split(' ').next().unwrap().to_owned()),
                (true, false) => tagged.push((id, tag)),
                (false, _) => assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr)),
            }
        }
        (tagged, made, killed)
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let killed: usize = done.iter().map(|(.., killed)| killed).sum();
    let tagged: Vec<_> = done.iter().flat_map(|(tagged, ..)| tagged).collect();
    let made: Vec<_> = done.iter().flat_map(|(_, made, _)| made).collect();
    let summary = format!("{writers} writers, {} done, {killed} killed", tagged.len() + made.len());
    writeln!(std::io::stderr(), "{summary}").unwrap();
    assert!(killed > 0 && tagged.len() + made.len() >= writers * rounds / 2, "{killed} were killed");
    for (id, body) in [("a", "Body of a.\n"), ("b", "[[a]]\n")] {
        let bytes = fs::read(dir.path().join(format!(".qipu/notes/{id}.md"))).unwrap();
        let note = qipu::note::Note::parse("notes/x.md", bytes);
        assert_eq!(note.body(), body);
        assert_eq!(note.findings, []);
        for (_, tag) in tagged.iter().filter(|(of, _)| *of == id) {
            assert!(note.tags.contains(tag), "{tag} of {id} is lost");
        }
    }
    for id in made {
        assert_eq!(run(dir.path(), &["show", id]).status.code(), Some(0), "{id} is lost");
    }
    // What the dead left behind is told, and taken away.
    assert_eq!(run(dir.path(), &["doctor", "--fix", "--strict"]).status.code(), Some(0));
    let text = fs::read_to_string(dir.path().join(".qipu/notes/a.md")).unwrap();
    assert!(text.starts_with("---\nid: a\ntitle: A # kept\ntags: [first, w"), "{text}");
}

/// A lock that is a pipe is not waited for, and one that is a link makes no file elsewhere.
#[test]
fn a_lock_that_is_no_plain_file_is_refused() {
    let dir = store(&[("notes/a.md", b"---\nid: a\n---\n")]);
    let lock = dir.path().join(".qipu/.lock");
    assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success());
    assert_eq!(run(dir.path(), &["update", "a", "--value", "3"]).status.code(), Some(1));
    fs::remove_file(&lock).unwrap();
    let outside = dir.path().join("outside");
    std::os::unix::fs::symlink(&outside, &lock).unwrap();
    assert_eq!(run(dir.path(), &["update", "a", "--value", "3"]).status.code(), Some(1));
    assert!(!outside.exists());
}

#[test]
fn a_pack_goes_through_a_pipe_and_one_that_is_no_text_is_refused() {
    let from = store(&[("notes/a.md", b"---\nid: a\n---\n\xff")]);
    let pack = run(from.path(), &["dump", "-"]).stdout;
    let load = |bytes: &[u8]| {
        let to = store(&[]);
        fs::create_dir_all(to.path().join(".qipu")).unwrap();
        let mut child =
            qipu(to.path()).args(["load", "-"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        Write::write_all(&mut child.stdin.take().unwrap(), bytes).unwrap();
        let code = child.wait().unwrap().code();
        (code, fs::read(to.path().join(".qipu/notes/a.md")).ok())
    };
    assert_eq!(load(&pack), (Some(0), Some(b"---\nid: a\n---\n\xff".to_vec())));
    assert_eq!(load(&[b"\xff", pack.as_slice()].concat()), (Some(3), None));
}

#[test]
fn a_quiet_capture_prints_its_id_and_warns_on_stderr() {
    let dir = store(&[("notes/old.md", b"---\nid: old\ntitle: Taken\n---\n")]);
    let mut command = qipu(dir.path());
    command.args(["capture", "-q", "Taken", "--link", "supports:old"]).env("CLAUDE_CODE_SESSION_ID", "5c1f-a7");
    let output = command.output().unwrap();
    let warning = "warning: .qipu/notes/old.md: `old` has the title of the new note too: Taken (duplicate-title)\n";
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), warning));
    let id = stdout(&output).strip_suffix('\n').unwrap();
    assert!(id.starts_with("qp-") && id.len() == 11, "{id}");
    let text = fs::read_to_string(dir.path().join(format!(".qipu/notes/{id}-taken.md"))).unwrap();
    assert!(text.ends_with("custom:\n  generated_by: claude-code\n  session: 5c1f-a7\n---\nTaken\n"), "{text}");
    let failed = run(dir.path(), &["capture", "-q", " "]);
    assert_eq!((failed.status.code(), stdout(&failed)), (Some(2), ""));
}
