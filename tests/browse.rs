//! `qipu browse`: the real binary in a terminal of tmux, and its error without a terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::files::copy_folder;

const QIPU: &str = env!("CARGO_BIN_EXE_qipu");

/// The number of times that a screen is read before a missing text counts as a hang; 50 ms apart.
const MAX_READS: usize = 1_200;

fn research(name: &str) -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix(name).tempdir().unwrap();
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/research"), dir.path());
    dir
}

/// A shell in a tmux server of its own.
struct Tmux {
    dir: tempfile::TempDir,
    socket: PathBuf,
}

impl Tmux {
    fn new(vars: &[(&str, &str)]) -> Self {
        let dir = research("qipu-browse");
        let tmux = Self { socket: dir.path().join("tmux"), dir };
        let mut start = tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30"]);
        start.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("TERM", "screen-256color");
        start.env("LC_ALL", "C.UTF-8").env("HOME", tmux.dir.path());
        assert!(start.envs(vars.iter().copied()).arg("sh").current_dir(tmux.dir.path()).status().unwrap().success());
        tmux.tmux(&["set-option", "-s", "set-clipboard", "on"]);
        // The typed command differs from its output, so that the wait does not match the echo.
        tmux.type_in("echo shell is re''ady");
        tmux.press(&["Enter"]);
        tmux.wait_for("shell is ready");
        tmux
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(&self.socket).args(args).stdin(Stdio::null());
        command
    }

    fn tmux(&self, args: &[&str]) -> String {
        String::from_utf8(self.command(args).output().unwrap().stdout).unwrap()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Presses keys, as tmux names them.
    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    fn type_in(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Reads the screen until a condition holds, and returns it. Fails if it never does.
    fn wait(&self, expected: &str, condition: impl Fn(&str) -> bool) -> String {
        for _ in 0..MAX_READS {
            let screen = self.screen();
            if condition(&screen) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{expected} never appeared:\n{}", self.screen());
    }

    fn wait_for(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }

    /// Waits for the shell, and checks that the terminal is in its former modes.
    fn expect_restored(&self, code: u8) {
        self.wait_for(&format!("ended with {code}"));
        assert_eq!(self.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]).trim(), "0 1");
        self.type_in("clear; stty -a | tr ' ;' '\\n\\n' | grep -xE 'icanon|echo|isig|opost' | wc -l | sed s/^/modes:/");
        self.press(&["Enter"]);
        self.wait("modes:4", |screen| screen.lines().any(|line| line.trim() == "modes:4"));
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Starts the browser from the shell.
fn browse(tmux: &Tmux, words: &str) {
    tmux.type_in(&format!("clear; {QIPU} browse {words}; echo ended with $?"));
    tmux.press(&["Enter"]);
}

#[test]
#[ignore = "needs tmux"]
fn a_user_finds_a_note_follows_links_and_quits() {
    let tmux = Tmux::new(&[]);
    browse(&tmux, "");
    tmux.wait_for("56/56");
    tmux.type_in("retry until");
    tmux.wait_for("1/56");
    tmux.press(&["Enter"]);
    tmux.wait("the note with its links", |screen| {
        screen.contains("the disk was probably just busy") && screen.contains("Links 1 · Backlinks 6")
    });
    tmux.press(&["Tab", "Enter"]);
    tmux.wait("the note behind the link", |screen| {
        screen.contains("qp-r7a1 · permanent") && screen.contains("→ contradicts Retry fsync")
    });
    tmux.press(&["b"]);
    tmux.wait_for("qp-h2v6 · fleeting");
    tmux.press(&["f"]);
    tmux.wait_for("qp-r7a1 · permanent");
    tmux.press(&["?"]);
    tmux.wait_for("Alt-←, Alt-→");
    tmux.press(&["Escape"]);
    tmux.wait("the note again", |screen| !screen.contains("Alt-←, Alt-→"));
    tmux.press(&["y"]);
    tmux.wait_for("copied qp-r7a1");
    tmux.wait("the clipboard", |_| tmux.tmux(&["show-buffer"]) == "qp-r7a1");
    tmux.tmux(&["resize-window", "-x", "60", "-y", "20"]);
    tmux.wait("the screen at its new size", |screen| {
        screen.lines().any(|line| line.chars().count() == 60 && line.ends_with('╮'))
    });
    tmux.press(&["q"]);
    tmux.expect_restored(0);
}

#[test]
#[ignore = "needs tmux"]
fn the_editor_gets_the_terminal_and_its_changes_are_shown() {
    let editor = "printf 'written by hand\\n' >> ";
    let tmux = Tmux::new(&[("VISUAL", editor)]);
    browse(&tmux, "--today 2030-02-03 retry until");
    tmux.wait_for("1/56");
    tmux.press(&["C-o"]);
    tmux.wait_for("changed .qipu/notes/qp-h2v6");
    let file = tmux.dir.path().join(".qipu/notes/qp-h2v6-retry-fsync-until-it-succeeds.md");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("updated: 2030-02-03"), "as `qipu update ID` does:\n{text}");
    tmux.press(&["Enter", "G"]);
    tmux.wait_for("written by hand");
    // Another process changes the note.
    fs::write(&file, text.replace("written by hand", "written by another hand")).unwrap();
    tmux.wait_for("written by another hand");
    tmux.press(&["Escape"]);
    // A key that comes at once would be taken for one with Alt.
    tmux.wait_for("Enter read · Ctrl-F");
    tmux.press(&["C-u"]);
    tmux.type_in("can a log be torn");
    tmux.press(&["C-f"]);
    tmux.wait_for("Search results for");
    tmux.press(&["C-c"]);
    tmux.expect_restored(0);
}

#[test]
#[ignore = "needs tmux"]
fn suspending_restores_the_terminal_for_the_shell() {
    let tmux = Tmux::new(&[]);
    browse(&tmux, "retry until");
    tmux.wait_for("1/56");
    tmux.press(&["C-z"]);
    // The shell reports a stopped program as 128 plus the signal.
    tmux.expect_restored(148);
    tmux.type_in("clear; fg; echo ended with $?");
    tmux.press(&["Enter"]);
    tmux.wait_for("1/56");
    tmux.press(&["Enter"]);
    tmux.wait_for("the disk was probably just busy");
    tmux.press(&["q"]);
    tmux.expect_restored(0);
}

/// The name of who accepts a note is that of the user, whatever name the repository gives.
#[test]
#[ignore = "needs tmux and git"]
fn a_note_is_accepted_in_the_name_of_the_user() {
    for (config, name) in [("[user]\n\tname = Ann Example\n", "Ann Example"), ("", "account")] {
        let tmux = Tmux::new(&[("USER", "account")]);
        let home = tmux.dir.path();
        fs::write(home.join(".gitconfig"), config).unwrap();
        assert!(Command::new("git").args(["init", "-q"]).current_dir(home).status().unwrap().success());
        fs::write(home.join(".git/config"), "[core]\n\tbare = false\n[user]\n\tname = Mallory\n").unwrap();
        browse(&tmux, "--today 2030-02-03");
        tmux.wait_for("56/56");
        tmux.press(&["C-v"]);
        tmux.wait_for("To review: ");
        tmux.press(&["a"]);
        tmux.wait_for("changed .qipu/notes/");
        tmux.press(&["C-c"]);
        tmux.expect_restored(0);
        let notes = fs::read_dir(home.join(".qipu/notes")).unwrap().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = notes.filter_map(|path| fs::read_to_string(path).ok()).collect();
        let accepted = format!("by: \"human:{name}\"\n    at: \"2030-02-03\"\n");
        assert_eq!(texts.iter().filter(|text| text.contains(&accepted)).count(), 1, "{name}");
        assert!(!texts.iter().any(|text| text.contains("Mallory")));
    }
}

#[test]
fn browse_without_a_terminal_suggests_other_commands() {
    let dir = research("qipu-pipe");
    let output = Command::new(QIPU).arg("browse").current_dir(dir.path()).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), b"".as_slice()));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("needs a terminal") && error.contains("`qipu list`") && error.contains("`qipu search"));
    for flags in [&["--max-chars", "100"], &["--format", "json"]] {
        let output = Command::new(QIPU).arg("browse").args(flags).current_dir(dir.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(!String::from_utf8(output.stderr).unwrap().contains("needs a terminal"), "{flags:?} can't be kept");
    }
}

#[test]
#[ignore = "needs tmux"]
fn browse_with_redirected_input_restores_the_terminal() {
    let tmux = Tmux::new(&[]);
    browse(&tmux, "< /dev/null");
    tmux.wait_for("needs a terminal");
    tmux.expect_restored(2);
}
