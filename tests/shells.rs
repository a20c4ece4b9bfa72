//! Answers on a real terminal, and completions in real shells.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, missing_docs)]

mod pty;

use std::path::{Path, PathBuf};
use std::process::Command;

use pty::{Shown, has, run};

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/research")
}

/// Calls the program on a terminal of 12 rows and 60 columns.
fn shown(vars: &[(&str, &str)], args: &[&str]) -> Shown {
    run(&demo(), vars, (12, 60), &[], &[&["qipu"], args].concat())
}

#[test]
fn a_terminal_has_colours_unless_somebody_minds() {
    if !has("python3") {
        return;
    }
    let list = ["list", "--tag", "errors", "--no-pager"];
    let plain = shown(&[("NO_COLOR", "1")], &list);
    assert!(plain.code == 0 && !plain.text.contains('\u{1b}'), "{}", plain.text);
    assert!(plain.text.lines().all(|line| line.trim_end().chars().count() <= 60), "{}", plain.text);
    assert!(plain.text.contains(" ago  "), "{}", plain.text);
    assert!(shown(&[], &list).text.contains("\u{1b}[32m"));
    for vars in [("TERM", "dumb"), ("CLICOLOR", "0"), ("NO_COLOR", "0")] {
        assert!(!shown(&[vars], &list).text.contains('\u{1b}'), "{vars:?}");
    }
    assert!(shown(&[("NO_COLOR", "1")], &[list.as_slice(), &["--color", "always"]].concat()).text.contains('\u{1b}'));
}

#[test]
fn what_is_longer_than_the_screen_is_paged() {
    if !has("python3") {
        return;
    }
    let pager = [("QIPU_PAGER", "sed 's/^/paged:/'"), ("PAGER", "false")];
    let paged = |vars: &[(&str, &str)], args: &[&str]| shown(vars, args).text.starts_with("paged:");
    assert!(paged(&pager, &["list"]) && paged(&[("PAGER", "sed 's/^/paged:/'")], &["list"]));
    for args in [["list", "--no-pager"], ["list", "--json"], ["list", "--records"], ["link", "list"]] {
        let args = [args.as_slice(), if args[0] == "link" { &["qp-h2v6"] } else { &[] }].concat();
        let answer = shown(&pager, &args);
        assert!(!answer.text.contains("paged:") && answer.code == 0, "{args:?}: {}", answer.text);
    }
    for none in ["", "cat", "/nowhere/pager 2>/dev/null"] {
        let answer = shown(&[("QIPU_PAGER", none), ("PAGER", "sed 's/^/paged:/'")], &["list"]);
        assert!(answer.code == 0 && answer.text.matches(" ago").count() >= 38, "{none}: {}", answer.text);
        assert!(!answer.text.contains("paged:"));
    }
    let left = shown(&[("QIPU_PAGER", "head -n 1")], &["list"]);
    assert!(left.code == 0 && left.text.lines().count() == 1, "{}", left.text);
    assert_eq!(shown(&pager, &["show", "qp-zzzz"]).code, 3);
    if has("less") {
        let steps = [("qp-", "q")];
        let answer = run(&demo(), &[], (12, 60), &steps, &["qipu", "list"]);
        assert!(answer.code == 0 && answer.text.lines().count() < 30, "{}", answer.text);
        // One that was interrupted before it was ready stays, and waits for a key.
        let steps: &[_] = match answer.text.contains('\u{7}') {
            true => &[("qp-", "\u{3}"), ("\u{7}", "q")],
            false => &[("qp-", "\u{3}q")],
        };
        let pager = [("PAGER", "less -RK")];
        assert_eq!(run(&demo(), &pager, (12, 60), steps, &["qipu", "list"]).code, 0, "Ctrl-C is the pager's");
    }
}

/// Types a line in an interactive shell, with the key for completions at its end, and then return.
fn completed(shell: &[&str], start: &str, line: &str) -> String {
    // The prompt is known by what comes of the words that set it, not by their echo.
    let start = format!("PS1='rea''dy>'; {start}\r");
    let typed = format!("{line}\t");
    let steps = [("", start.as_str()), ("ready>", &typed), (line, "\r"), ("ready>", "exit\r")];
    run(&demo(), &[("QIPU_PAGER", "cat")], (40, 200), &steps, shell).text
}

#[test]
fn completions_in_shells() {
    if !has("python3") {
        return;
    }
    let bash = (["bash", "--norc", "--noprofile", "-i"].as_slice(), "source <(qipu completions bash)");
    let zsh = (["zsh", "-f", "-i"].as_slice(), "autoload -U compinit; compinit -u; source <(qipu completions zsh)");
    for (shell, start) in [bash, zsh] {
        if !has(shell[0]) {
            continue;
        }
        for (line, answer) in [
            ("qipu show qp-h2", "Retry fsync until it succeeds"),
            ("qipu list --tag postg", "qp-q8s2"),
            ("qipu list --type liter", "qp-q8s2"),
            ("qipu link list qp-h2v6 --type has-pa", "has-part"),
            ("qipu setup --check cla", "tells Claude Code"),
            ("qipu stat", "notes"),
        ] {
            let text = completed(shell, start, line);
            assert!(text.contains(answer), "{} of `{line}`: {text:?}", shell[0]);
        }
    }
}

/// What a shell is answered when it asks as its script does.
#[test]
fn completions_know_the_store_and_fail_in_silence() {
    let ask = |dir: &Path, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
        let index = (words.len() - 1).to_string();
        command.current_dir(dir).env_clear().env("QIPU_COMPLETE", "zsh").env("_CLAP_COMPLETE_INDEX", index);
        let output = command.env("_CLAP_IFS", "\n").arg("--").args(words).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(ask(&demo(), &["qipu", "show", "qp-h2"]), "qp-h2v6:Retry fsync until it succeeds");
    assert!(ask(&demo(), &["qipu", "list", "--tag", "fs"]).contains("fsync"));
    assert!(ask(&demo(), &["qipu", "tags", "rename", "fs"]).contains("fsync"));
    assert!(ask(&demo(), &["qipu", "link", "add", "qp-h2v6", "qp-9f2t", "--type", "sup"]).contains("supports"));
    assert!(ask(&demo(), &["qipu", "update", "qp-h2v6", "--type", "per"]).contains("permanent"));
    assert!(ask(&demo(), &["qipu", "setup", "cl"]).contains("claude"));
    assert_eq!(ask(&demo(), &["qipu", "man", "jour"]), "journal:Show today's journal, or add to it");
    let below: Vec<String> = ask(&demo(), &["qipu", "man", "link", ""]).lines().map(str::to_owned).collect();
    assert!(below.iter().any(|line| line.starts_with("tree:")) && !below.iter().any(|line| line.starts_with("help")));
    assert!(ask(&demo(), &["qipu", "jour"]).starts_with("journal"));
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(ask(empty.path(), &["qipu", "show", "q"]), "");
    let root = demo();
    assert!(ask(empty.path(), &["qipu", "--root", root.to_str().unwrap(), "show", "qp-h2"]).starts_with("qp-h2v6"));
    let hostile = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile");
    let all = ask(&hostile, &["qipu", "show", ""]);
    assert!(all.lines().count() > 10 && !all.contains(|c: char| c.is_control() && c != '\n'), "{all:?}");
}

#[test]
fn all_pages_go_into_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let man = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
        let output = command.current_dir(dir.path()).env_clear().arg("man").args(args).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert!(man(&["--dir", "share/man1", "--dry-run"]).1.contains("qipu.1"));
    assert!(!dir.path().join("share").exists());
    let (code, told) = man(&["--dir", "share/man1"]);
    assert!(code == 0 && told.contains("created share/man1/qipu-link-tree.1\n"), "{told}");
    let pages: Vec<_> = std::fs::read_dir(dir.path().join("share/man1")).unwrap().map(Result::unwrap).collect();
    assert!(pages.len() == told.lines().count() && pages.len() > 35, "{told}");
    for page in &pages {
        let name = page.file_name().into_string().unwrap();
        let words: Vec<&str> = name.strip_suffix(".1").unwrap().split('-').skip(1).collect();
        assert_eq!(std::fs::read_to_string(page.path()).unwrap(), man(&words).1, "{name}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    std::fs::write(dir.path().join("share/man1/qipu.1"), ".TH qipu of old").unwrap();
    assert!(man(&["--dir", "share/man1"]).0 == 2, "somebody else's");
    std::fs::write(dir.path().join("share/man1/qipu.1"), "x\n.TH qipu 1 old\n").unwrap();
    let told = man(&["--dir", "share/man1"]).1;
    assert!(told.contains("changed share/man1/qipu.1\n") && told.matches("unchanged ").count() == pages.len() - 1);
}

#[test]
fn errors_on_a_terminal_have_colours_unless_somebody_minds() {
    if !has("python3") {
        return;
    }
    let (red, cyan) = ("\u{1b}[1m\u{1b}[31mqipu:\u{1b}[0m ", "\u{1b}[1m\u{1b}[36mhint:\u{1b}[0m ");
    let wrong = ["list", "--max-chars", "x"];
    let colored = shown(&[], &["graph", "--format", "prompt"]);
    assert!(colored.code == 2 && colored.text.contains(red) && colored.text.contains(cyan), "{:?}", colored.text);
    for vars in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
        assert!(!shown(&[vars], &wrong).text.contains('\u{1b}'), "{vars:?}");
    }
    assert!(!shown(&[], &[wrong.as_slice(), &["--color=never"]].concat()).text.contains('\u{1b}'));
    assert!(!shown(&[], &[wrong.as_slice(), &["--json"]].concat()).text.contains('\u{1b}'));
    let piped = |args: &[&str], vars: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
        let output = command.env_clear().envs(vars.iter().copied()).args(wrong).args(args).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(piped(&[], &[]).starts_with("qipu: ") && !piped(&["--", "--color=always"], &[]).contains('\u{1b}'));
    assert!(
        piped(&["--color", "always"], &[]).starts_with(red) && piped(&[], &[("CLICOLOR_FORCE", "1")]).starts_with(red)
    );
}

#[test]
fn man_reads_the_pages() {
    let page = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
        let output = command.env_clear().arg("man").args(args).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = page(&[]);
    assert!(code == 0 && text.contains(".TH") && text.contains("qipu capture"), "{text}");
    assert!(page(&["link", "tree"]).1.contains("max\\-hops"));
    assert_eq!(page(&["nonsense"]).0, 2);
    assert_eq!(page(&["qipu"]), page(&[]));
    assert_eq!(page(&["qipu", "link", "tree"]), page(&["link", "tree"]));
    assert!(!page(&["link"]).1.contains("help(1)"), "there is no such page");
    if has("man") {
        let mut man = Command::new("sh");
        let line = format!("'{}' man context | man -l -", env!("CARGO_BIN_EXE_qipu"));
        let output = man.args(["-c", &line]).env("MANPAGER", "cat").env("MANWIDTH", "80").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let examples: Vec<&str> = text.lines().skip_while(|line| *line != "EXAMPLES").collect();
        assert!(text.contains("SYNOPSIS") && examples.len() > 5 && !text.contains("EXTRA"), "{text}");
        assert!(examples.iter().skip(1).take(3).all(|line| line.trim().starts_with("qipu context")), "{text}");
    }
}
