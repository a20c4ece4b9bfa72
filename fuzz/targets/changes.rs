//! Commands that change notes, on stores that are made of the input.

use std::collections::BTreeSet;

use super::answers::files;
use super::input::Input;
use super::world::{World, expect_no_control};

/// What a change may touch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// One note.
    One,
    /// Notes that it names, and those that link to them.
    Many,
}

/// Returns the words of a change of the note `n0`, and what it may touch.
fn words<'a>(choice: usize, text: &'a str, more: &'a str) -> (Vec<&'a str>, Scope) {
    let one = |words: &[&'a str]| (words.to_vec(), Scope::One);
    let many = |words: &[&'a str]| (words.to_vec(), Scope::Many);
    match choice {
        0 => one(&["update", "n0", "--type", text]),
        1 => one(&["update", "n0", "--tag", text]),
        2 => one(&["update", "n0", "--append", text]),
        3 => one(&["update", "n0", "--replace", text, more]),
        4 => one(&["update", "n0", "--section", text, "--body", more]),
        5 => one(&["update", "n0", "--set", text]),
        6 => many(&["update", "n0", "--title", text]),
        7 => many(&["update", "--where", "tag", "--untag", text, "--tag", more]),
        8 => many(&["merge", "n0", "n1"]),
        9 => many(&["supersede", "n0", "n1"]),
        10 => many(&["delete", "n0", "--force"]),
        11 => many(&["link", "add", "n0", text, more]),
        12 => many(&["tasks", "done", text]),
        13 => one(&["capture", text, "--tag", more]),
        14 => many(&["doctor", "--fix"]),
        15 => one(&["journal", text]),
        16 => one(&["update", "n0", "--body", text]),
        17 => one(&["update", "n0", "--code", text]),
        _ => many(&["link", "add", "n0", "compacts", "n1"]),
    }
}

/// A change that fails, or is a dry run, writes nothing, except that `doctor --fix` fails if it could not mend all; one that
/// succeeds writes to the store alone, and to no note that it does not name; what it wrote can be read.
pub(crate) fn changes(data: &[u8]) {
    let mut input = Input::new(data);
    let choice = input.number(19);
    let format = input.choose(&["human", "json", "records"]);
    let given: Vec<u8> = input.bytes().to_vec();
    let parts = Input::new(&given).parts(3);
    let text = |index: usize| String::from_utf8_lossy(parts.get(index).copied().unwrap_or_default()).into_owned();
    let rest = parts.get(2).copied().unwrap_or_default();
    let world = World::with_store(&[]);
    for (path, bytes) in files(&Input::new(rest)) {
        world.write(&format!(".qipu/{path}"), bytes);
    }
    let (first, second) = (text(0), text(1));
    // An argument has no NUL, and one that begins with a hyphen may be any option.
    if first.contains('\0') || second.contains('\0') || first.starts_with('-') || second.starts_with('-') {
        return;
    }
    let (words, scope) = words(choice, &first, &second);
    let before = world.tree();
    let dry = world.call(&[&words[..], &["--dry-run", "--format", format]].concat(), "");
    assert_eq!(world.tree(), before, "{words:?}: a dry run wrote something");
    let outcome = world.call(&[&words[..], &["--format", format]].concat(), "");
    for answer in [&dry, &outcome] {
        expect_no_control(&answer.text);
        if format == "json" && !answer.text.is_empty() {
            serde_json::from_str::<serde_json::Value>(&answer.text).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    let after = world.tree();
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let written: Vec<&String> = paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(written.iter().all(|path| path.starts_with("project/.qipu/")), "{words:?}: {written:?}");
    if !outcome.is_ok() {
        // `doctor` mends what it can, and fails because of the rest.
        assert!(words[0] == "doctor" || written.is_empty(), "{words:?} failed and wrote {written:?}");
        return;
    }
    assert!(dry.is_ok(), "{words:?}: the dry run was refused: {:?}", dry.error.map(|error| error.message));
    let is_file = |path: &&&String| after.get(**path).is_none_or(Option::is_some);
    let files: Vec<_> = written.iter().filter(is_file).collect();
    assert!(scope == Scope::Many || files.len() <= 1, "{words:?}: {files:?}");
    let list = world.call(&["list", "--json"], "");
    assert!(list.is_ok(), "{words:?}: {:?}", list.error.map(|error| error.message));
}
