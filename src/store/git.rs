//! What git is asked to do. It runs as a process of its own, never through a shell.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// Exit codes of `git merge-file` from here on are failures; below, they count conflicts.
const FAILED: i32 = 128;

/// What a merge by lines came to.
#[derive(Debug)]
pub(crate) struct MergedFile {
    /// The text, with markers around each conflict.
    pub(crate) bytes: Vec<u8>,
    /// How many conflicts are in it; from 127 on not counted further.
    pub(crate) conflicts: i32,
}

/// Merges ours, base and theirs by lines, as git merges any text.
///
/// # Errors
/// When git is not there, or refuses: it takes no binary files.
pub(crate) fn merge_by_lines(dir: &Path, [ours, base, theirs]: &[Vec<u8>; 3], marker_size: u16) -> Result<MergedFile> {
    let folder = tempfile::tempdir().context("can't make a temporary folder")?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).with_context(|| format!("can't write {}", path.display())).map(|()| path)
    };
    let paths = [write("ours", ours)?, write("base", base)?, write("theirs", theirs)?];
    let size = format!("--marker-size={marker_size}");
    let words = ["merge-file", "-p", &size, "-L", "ours", "-L", "base", "-L", "theirs", "--"];
    let words = words.iter().map(OsStr::new).chain(paths.iter().map(|path| path.as_os_str()));
    let output = run(dir, words)?;
    match output.status.code() {
        Some(conflicts) if conflicts < FAILED => Ok(MergedFile { bytes: output.stdout, conflicts }),
        _ => bail!("git can't merge this: {}", complaint(&output)),
    }
}

/// Tells whether a folder is in a repository's working tree.
///
/// # Errors
/// When git is not there, says why it looks at no repository, or only at its inside.
pub(crate) fn expect_work_tree(dir: &Path) -> Result<()> {
    let output = run(dir, ["rev-parse", "--is-inside-work-tree"])?;
    match output.stdout.trim_ascii() {
        b"true" if output.status.success() => Ok(()),
        _ if output.status.success() => bail!("{} is not in a working tree of git", dir.display()),
        _ => bail!("{} is not in a git repository: {}", dir.display(), complaint(&output)),
    }
}

/// Returns the values that a repository's own configuration gives to a key; none where there is no
/// repository.
///
/// # Errors
/// When git is not there.
pub(crate) fn config(dir: &Path, key: &str) -> Result<Vec<String>> {
    let output = run(dir, ["config", "--local", "--null", "--get-all", key])?;
    let text = String::from_utf8_lossy(&output.stdout);
    let values = text.split_terminator('\0').map(str::to_owned);
    Ok(if output.status.success() { values.collect() } else { Vec::new() })
}

/// Gives a key of a repository's own configuration one value, or none.
///
/// # Errors
/// When git is not there, or can't write its configuration.
pub(crate) fn set_config(dir: &Path, key: &str, value: Option<&str>) -> Result<()> {
    let output = match value {
        Some(value) => run(dir, ["config", "--local", "--replace-all", key, value])?,
        None => run(dir, ["config", "--local", "--unset-all", key])?,
    };
    if !output.status.success() {
        bail!("git can't set {key}: {}", complaint(&output));
    }
    Ok(())
}

fn run(dir: &Path, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Output> {
    let output = Command::new("git").args(words).current_dir(dir).stdin(Stdio::null()).output();
    output.map_err(|error| match error.kind() {
        ErrorKind::NotFound if dir.is_dir() => anyhow::anyhow!("git is not installed, or not on the PATH"),
        _ => anyhow::Error::new(error).context("can't run git"),
    })
}

/// Returns the first line that git complained with.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why");
    line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}
