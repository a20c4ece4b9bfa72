//! Answers on a real terminal, and completions in real shells.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::files::temp_dir;
use crate::support::pty::{Shown, run};

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/research")
}

/// Calls the program on a terminal of 12 rows and 60 columns.
fn shown(vars: &[(&str, &str)], args: &[&str]) -> Shown {
    run(&demo(), vars, (12, 60), &[], &[&["qipu"], args].concat())
}

#[test]
#[ignore = "needs python3"]
fn a_terminal_gets_colours_unless_they_are_turned_off() {
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
#[ignore = "needs python3 and less"]
fn answers_longer_than_the_screen_are_paged() {
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
    let steps = [("qp-", "q")];
    let answer = run(&demo(), &[], (12, 60), &steps, &["qipu", "list"]);
    assert!(answer.code == 0 && answer.text.lines().count() < 30, "{}", answer.text);
    // A pager that is interrupted before it is ready stays open and waits for a key.
    let steps: &[_] =
        if answer.text.contains('\u{7}') { &[("qp-", "\u{3}"), ("\u{7}", "q")] } else { &[("qp-", "\u{3}q")] };
    let pager = [("PAGER", "less -RK")];
    assert_eq!(run(&demo(), &pager, (12, 60), steps, &["qipu", "list"]).code, 0, "Ctrl-C is the pager's");
}

/// A shell: the command that starts it interactively, and the line that sets its prompt and loads the completions.
type Shell = (&'static [&'static str], &'static str);

const BASH: Shell = (&["bash", "--norc", "--noprofile", "-i"], "PS1='rea''dy>'; source <(qipu completions bash)");
const ZSH: Shell = (
    &["zsh", "-f", "-i"],
    "PS1='rea''dy>'; setopt extendedglob; autoload -U compinit; compinit -u; source <(qipu completions zsh)",
);
const FISH: Shell =
    (&["fish", "--no-config", "-i"], "function fish_prompt; echo -n rea''dy'>'; end; qipu completions fish | source");

/// A program that answers completions as `qipu` does and records the arguments of all other calls.
const RECORDER: &str = "#!/bin/sh
if [ -n \"$QIPU_COMPLETE\" ] || [ \"$1\" = completions ]; then exec BIN \"$@\"; fi
printf '<%s>' \"$@\" >> HOME/calls; echo >> HOME/calls
";

/// Types lines in an interactive shell, each followed by the keys Tab and Return. Returns the arguments of each call.
fn completed(dir: &Path, (shell, start): Shell, lines: &[&str]) -> Vec<String> {
    let home = temp_dir();
    let recorder = home.path().join("qipu");
    let script = RECORDER.replace("BIN", env!("CARGO_BIN_EXE_qipu")).replace("HOME", home.path().to_str().unwrap());
    std::fs::write(&recorder, script).unwrap();
    std::fs::set_permissions(&recorder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", home.path().display(), std::env::var("PATH").unwrap());
    let typed: Vec<String> = lines.iter().map(|line| format!("{line}\t\r")).collect();
    let start = format!("{start}\r");
    let mut steps = vec![("", start.as_str())];
    steps.extend(typed.iter().map(|line| ("ready>", line.as_str())));
    steps.push(("ready>", "exit\r"));
    let shown = run(dir, &[("PATH", &path), ("LC_ALL", "C.UTF-8")], (40, 200), &steps, shell);
    let calls = std::fs::read_to_string(home.path().join("calls")).unwrap_or_default();
    assert_eq!(calls.lines().count(), lines.len(), "{calls}\n{}", shown.text);
    calls.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs python3 and bash"]
fn bash_completes_values() {
    check_completions(BASH);
}

#[test]
#[ignore = "needs python3 and zsh"]
fn zsh_completes_values() {
    check_completions(ZSH);
}

#[test]
#[ignore = "needs python3 and fish"]
fn fish_completes_values() {
    check_completions(FISH);
}

fn check_completions(shell: Shell) {
    let lines = [
        ("qipu show qp-h2", "<show><qp-h2v6>"),
        ("qipu list --tag postg", "<list><--tag><postgresql>"),
        ("qipu list --type liter", "<list><--type><literature>"),
        ("qipu link list qp-h2v6 --via has-pa", "<link><list><qp-h2v6><--via><has-part>"),
        ("qipu setup --print cla", "<setup><--print><claude>"),
        ("qipu stat", "<status>"),
    ];
    let (typed, called): (Vec<&str>, Vec<&str>) = lines.into_iter().unzip();
    assert_eq!(completed(&demo(), shell, &typed), called);
}

#[test]
#[ignore = "needs python3 and bash"]
fn bash_executes_nothing_from_completions() {
    check_hostile_completions(BASH);
}

#[test]
#[ignore = "needs python3 and zsh"]
fn zsh_executes_nothing_from_completions() {
    check_hostile_completions(ZSH);
}

#[test]
#[ignore = "needs python3 and fish"]
fn fish_executes_nothing_from_completions() {
    check_hostile_completions(FISH);
}

/// Completes values from hostile notes, settings and files; executing the completed line must run only `qipu`.
fn check_hostile_completions(shell: Shell) {
    let dir = temp_dir();
    let (store, owned) = (dir.path().join(".qipu"), dir.path().join("owned"));
    std::fs::create_dir_all(store.join("notes")).unwrap();
    let run = format!("touch${{IFS}}{}", owned.display());
    let evil = [
        format!("ta$({run})"),
        format!("tb`{run}`"),
        format!("tc;{run}"),
        format!("td|{run}"),
        format!("te&{run}&"),
        format!("tf\n{run}"),
        format!("tg\r{run}"),
        format!("th({run})"),
        "ti*".to_owned(),
        "tj~".to_owned(),
        "tk!!".to_owned(),
        "tl{a,b}".to_owned(),
        "tm 1".to_owned(),
        "tn\u{3}".to_owned(),
        "to'".to_owned(),
        "tp\"".to_owned(),
        "tq\\".to_owned(),
        format!("tr>{}", owned.display()),
        "ts#".to_owned(),
        "tt\u{1b}x".to_owned(),
        "tu^".to_owned(),
        "tv?".to_owned(),
        "tw[a]".to_owned(),
        "tx$HOME".to_owned(),
        "ty\u{b}z".to_owned(),
    ];
    let quoted: Vec<String> = evil.iter().map(|tag| serde_json::to_string(tag).unwrap()).collect();
    let note = format!(
        "---\nid: a\ntitle: \"$({run})\"\ntags: [{}, =ls, ~root, -x]\ntype: {}\n---\nText.\n",
        quoted.join(", "),
        serde_json::to_string(&format!("fl;{run}")).unwrap()
    );
    std::fs::write(store.join("notes/a.md"), note).unwrap();
    std::fs::write(store.join("config.toml"), format!("[link-types]\n'lt;{run}' = 'lu$({run})'\n")).unwrap();
    let in_name = "touch${IFS}owned";
    for name in [format!("fa$({in_name})"), format!("fb;{in_name}"), format!("fc`{in_name}`"), "fd e".to_owned()] {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    let letters: Vec<char> = ('a'..='y').collect();
    let mut lines: Vec<String> = letters.iter().map(|letter| format!("qipu list --tag t{letter}")).collect();
    lines.extend(
        ["list --tag =", "list --tag -x", "list --type fl", "link list a --type lt"].map(|line| format!("qipu {line}")),
    );
    let calls: Vec<String> =
        lines.iter().map(|line| format!("<{}>", line.replacen("qipu ", "", 1).replace(' ', "><"))).collect();
    for path in ["fa", "fb", "fc", "fd"] {
        lines.push(format!("qipu list --store {path}"));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let called = completed(dir.path(), shell, &lines);
    assert_eq!(called[..calls.len()], calls);
    // Shells quote the names of the files that they complete.
    assert!(called[calls.len()..].iter().all(|call| call.starts_with("<list><--store><f")), "{called:?}");
    assert!(!owned.exists(), "{called:?}");
}

/// Requests completions as the scripts of the shells do.
#[test]
fn completions_come_from_the_store_and_fail_silently() {
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
    assert!(ask(&demo(), &["qipu", "link", "add", "qp-h2v6", "sup"]).contains("supports"));
    assert!(ask(&demo(), &["qipu", "update", "qp-h2v6", "--type", "per"]).contains("permanent"));
    assert!(ask(&demo(), &["qipu", "setup", "cl"]).contains("claude"));
    assert_eq!(ask(&demo(), &["qipu", "man", "jour"]), "journal:Read today's journal, or add a line");
    let below: Vec<String> = ask(&demo(), &["qipu", "man", "link", ""]).lines().map(str::to_owned).collect();
    assert!(below.iter().any(|line| line.starts_with("tree:")) && !below.iter().any(|line| line.starts_with("help")));
    assert!(ask(&demo(), &["qipu", "jour"]).starts_with("journal"));
    let empty = temp_dir();
    assert_eq!(ask(empty.path(), &["qipu", "show", "q"]), "");
    let root = demo();
    assert!(ask(empty.path(), &["qipu", "--store", root.to_str().unwrap(), "show", "qp-h2"]).starts_with("qp-h2v6"));
    let hostile = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile");
    let all = ask(&hostile, &["qipu", "show", ""]);
    assert!(all.lines().count() > 10 && !all.contains(|c: char| c.is_control() && c != '\n'), "{all:?}");
}

#[test]
fn manual_pages_are_written_to_a_folder() {
    let dir = temp_dir();
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
#[ignore = "needs python3"]
fn errors_on_a_terminal_have_colours_unless_they_are_turned_off() {
    let (red, cyan) = ("\u{1b}[1m\u{1b}[31mqipu:\u{1b}[0m ", "\u{1b}[1m\u{1b}[36mhint:\u{1b}[0m ");
    let wrong = ["list", "--max-chars", "x"];
    let colored = shown(&[], &["list", "--format", "prompt"]);
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
fn manual_pages_are_printed_by_name() {
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
}

#[test]
#[ignore = "needs man"]
fn man_formats_the_pages() {
    let mut man = Command::new("sh");
    let line = format!("'{}' man context | man -l -", env!("CARGO_BIN_EXE_qipu"));
    let output = man.args(["-c", &line]).env("MANPAGER", "cat").env("MANWIDTH", "80").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let examples: Vec<&str> = text.lines().skip_while(|line| *line != "EXAMPLES").collect();
    assert!(text.contains("SYNOPSIS") && examples.len() > 5 && !text.contains("EXTRA"), "{text}");
    assert!(examples.iter().skip(1).take(3).all(|line| line.trim().starts_with("qipu context")), "{text}");
}
