//! What a command that succeeded has made durable, by its system calls: a loss of power after its end loses nothing.
//!
//! The content of a file is durable after fsync(2) of the file, its name after fsync of its folder, and the name of a new
//! folder after fsync of the folder above.

use std::collections::BTreeSet;

use super::world::Call;

/// Returns what is not durable in the end, or not durable before a step that relies on it. `is_folder`: whether a folder was
/// there before the command.
pub(crate) fn findings(calls: &[Call], is_folder: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: BTreeSet<(String, String)> = BTreeSet::new();
    let mut contents: BTreeSet<String> = BTreeSet::new();
    let mut made: BTreeSet<String> = BTreeSet::new();
    let mut findings = Vec::new();
    for call in calls.iter().filter(|call| counts(&call.path) || counts(&call.to)) {
        match (&*call.name, call.class) {
            ("mkdir" | "mkdirat", _) if !is_folder(&call.path) && made.insert(call.path.clone()) => {
                names.insert((folder(&call.path), call.path.clone()));
            }
            ("write" | "ftruncate" | "pwrite64" | "writev", _) => {
                contents.insert(call.path.clone());
            }
            ("fsync" | "fdatasync", _) => {
                contents.remove(&call.path);
                names.retain(|(folder, _)| *folder != call.path);
            }
            ("rename" | "renameat" | "renameat2" | "linkat" | "link", _) => {
                if contents.contains(&call.path) {
                    findings.push(format!("{} gets its name before its content is durable", call.to));
                }
                // What is below a folder goes with it.
                names = names
                    .into_iter()
                    .filter(|(_, name)| *name != call.path)
                    .map(|(above, name)| {
                        let moved = |path: String| {
                            path.strip_prefix(&call.path).map(|rest| call.to.clone() + rest).unwrap_or(path)
                        };
                        (moved(above), moved(name))
                    })
                    .collect();
                names.insert((folder(&call.to), call.to.clone()));
                if !is_temporary(&call.path) {
                    names.insert((folder(&call.path), call.path.clone()));
                }
            }
            ("unlink" | "unlinkat", _) if call.path.ends_with(".qipu-pending") => {
                findings.extend(names.iter().map(|(_, name)| format!("the log is removed before {name} is durable")));
                names.insert((folder(&call.path), call.path.clone()));
            }
            // An empty folder that comes back does no harm.
            ("unlink" | "unlinkat", _) if !is_temporary(&call.path) => {
                names.insert((folder(&call.path), call.path.clone()));
            }
            _ => {}
        }
    }
    findings.extend(names.into_iter().map(|(_, name)| format!("the name {name} is not durable")));
    findings.extend(contents.into_iter().map(|path| format!("the content of {path} is not durable")));
    findings
}

/// Whether a loss of a file would matter. Without the hash of a log that does not exist, nothing is lost.
fn counts(path: &str) -> bool {
    let is_cache = path.contains("/.qipu/cache/") || path.ends_with("/.qipu/cache");
    let is_record = path.starts_with("/home/.cache/");
    path.starts_with('/')
        && !is_cache
        && !is_record
        && !path.ends_with("/.lock")
        && !path.starts_with("/tmp/")
        && !path.ends_with("UNNAMED")
}

fn is_temporary(path: &str) -> bool {
    path.contains("/.qipu-tmp-")
}

fn folder(path: &str) -> String {
    path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}
