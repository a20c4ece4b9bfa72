//! Calls of git, as a process without a shell. Each fails if git is not installed, or refuses what it is asked.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// The least exit code of `git merge-file` that means a failure; lower ones are the number of conflicts.
const FAILED: i32 = 128;

/// Merges ours, base and theirs by lines, as git merges any text. Returns the text, with markers around each conflict,
/// and the number of conflicts in it; 127 means 127 or more.
pub(crate) fn merge_by_lines(
    dir: &Path,
    [ours, base, theirs]: &[Vec<u8>; 3],
    marker_size: u16,
) -> Result<(Vec<u8>, i32)> {
    let folder = tempfile::tempdir().context("can't create a temporary folder")?;
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
        Some(conflicts) if conflicts < FAILED => Ok((output.stdout, conflicts)),
        _ => bail!("git can't merge this: {}", error_line(&output)),
    }
}

/// Expects that a folder is in the working tree of a repository.
pub(crate) fn expect_work_tree(dir: &Path) -> Result<()> {
    let output = run(dir, ["rev-parse", "--is-inside-work-tree"])?;
    match output.stdout.trim_ascii() {
        b"true" if output.status.success() => Ok(()),
        _ if output.status.success() => bail!("{} is not in a working tree of git", dir.display()),
        _ => bail!("{} is not in a git repository: {}", dir.display(), error_line(&output)),
    }
}

/// Returns the name of the user in git's global configuration, if git is installed and it has one.
pub(crate) fn user_name(dir: &Path) -> Option<String> {
    let output = run(dir, ["config", "--global", "--null", "--get", "user.name"]).ok()?;
    let name = String::from_utf8_lossy(&output.stdout);
    let name = name.trim_end_matches('\0').trim();
    (output.status.success() && !name.is_empty()).then(|| name.to_owned())
}

/// The exit code of `git config` for a key without a value.
const NO_VALUE: i32 = 1;

/// Returns the values of a key in the local configuration of a repository; none if there is no repository.
///
/// # Errors
/// If git can't be run in a repository, or fails there.
pub(crate) fn config(dir: &Path, key: &str) -> Result<Vec<String>> {
    let output = match run(dir, ["config", "--local", "--null", "--get-all", key]) {
        Ok(output) if output.status.code() == Some(NO_VALUE) => return Ok(Vec::new()),
        Ok(output) if output.status.success() => output,
        _ if !dir.ancestors().any(|above| above.join(".git").exists()) => return Ok(Vec::new()),
        failed => bail!("git can't read {key}: {}", error_line(&failed?)),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split_terminator('\0').map(str::to_owned).collect())
}

/// Sets a key in the local configuration of a repository to one value, or removes it.
pub(crate) fn set_config(dir: &Path, key: &str, value: Option<&str>) -> Result<()> {
    let output = match value {
        Some(value) => run(dir, ["config", "--local", "--replace-all", key, value])?,
        None => run(dir, ["config", "--local", "--unset-all", key])?,
    };
    if !output.status.success() {
        bail!("git can't set {key}: {}", error_line(&output));
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

/// Returns the first line of git's error message.
fn error_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}
