//! `--code`: records which line or symbol of the code a note is about; and the updates of such references.

use std::collections::HashSet;

use super::{PlannedChange, plan_text};
use crate::code_refs::{CodePlace, Subject, Verdict, check, is_recognisable, item_hash, line_of_symbol};
use crate::error::{Error, ErrorKind};
use crate::note::edit::{Edit, apply};
use crate::note::{CODE, CodeRef, RefOrigin, Value};
use crate::store::{MAX_SOURCE, NoteHandle, NoteIdx, ProjectFiles, SourceText, Store};

/// The longest line that is recorded, in bytes.
const MAX_LINE: usize = 1_000;
/// The most bytes of the project's files that are read.
const MAX_READ: u64 = 64 * MAX_SOURCE;
const MAX_SUGGESTIONS: usize = 3;
/// The least similarity of a suggested symbol, 0 to 1, and the fewest characters of one.
const MIN_SIMILARITY: f64 = 0.6;
const MIN_SYMBOL: usize = 3;

/// Reads the lines that new references to code name: each `PATH`, `PATH:LINE` or `PATH#SYMBOL`, the path relative to the
/// current directory.
pub(super) fn read(store: &Store, targets: &[String]) -> Result<Vec<CodeRef>, Error> {
    let mut references: Vec<CodeRef> = Vec::new();
    for target in targets {
        let reference = read_reference(store, target)?;
        references.retain(|other| !is_same_target(other, &reference));
        references.push(reference);
    }
    Ok(references)
}

/// Returns the first of the references of a text, one for each file that the project has now, as `--code` takes them. The
/// symbol stays if the file still has it; a line does not, since other code may be there by now.
pub(super) fn existing(store: &Store, references: impl Iterator<Item = CodeRef>, most: usize) -> Vec<String> {
    let files = store.project_files(MAX_READ).zip(store.project_folder());
    let Some((mut files, folder)) = files else { return Vec::new() };
    files.ask_git();
    let mut seen = HashSet::new();
    let is_there = |reference: &CodeRef| seen.insert(reference.path.clone()) && files.has(&reference.path);
    let target = |reference: CodeRef| {
        let path = folder.join(&reference.path).to_str()?.to_owned();
        let symbol = reference.symbol.map(|symbol| format!("{path}#{symbol}"));
        let mut named = [symbol, Some(path)].into_iter().flatten();
        named.find(|target| read(store, std::slice::from_ref(target)).is_ok())
    };
    references.filter(is_there).filter_map(target).take(most).collect()
}

/// Returns the edits that record references to code in a note that has others; one for the same line or symbol of a file is
/// replaced.
pub(super) fn recorded(others: &[CodeRef], references: &[CodeRef]) -> Vec<Edit> {
    let edits = |reference: &CodeRef| {
        let new = Value::Map(reference.to_entries());
        match others.iter().find(|other| is_same_target(other, reference)).map(|other| &other.origin) {
            Some(RefOrigin::Field(item)) if *item == new => Vec::new(),
            Some(RefOrigin::Field(item @ Value::Map(_))) => vec![set_entries(item.clone(), reference)],
            Some(RefOrigin::Field(item)) => {
                vec![Edit::RemoveItem { key: CODE, text: item.to_line() }, Edit::AddValue { key: CODE, value: new }]
            }
            _ => vec![Edit::AddValue { key: CODE, value: new }],
        }
    };
    references.iter().flat_map(edits).collect()
}

/// Plans new places for references of a note, and leaves `updated` as it is: the note itself did not change.
pub(crate) fn plan_moved<'a>(
    store: &Store,
    note: NoteIdx,
    moved: impl Iterator<Item = (&'a CodeRef, &'a CodePlace)>,
    files: &ProjectFiles,
    head: Option<&str>,
) -> Result<PlannedChange, Error> {
    let edit = |(reference, place): (&CodeRef, &CodePlace)| {
        let RefOrigin::Field(item) = &reference.origin else { return None };
        let commit = head.map(str::to_owned).or_else(|| reference.commit.clone());
        let (path, line) = (place.path.clone(), place.line);
        // A file with another extension may be read as another language.
        let hash = hash_at(files, reference, place);
        Some(set_entries(item.clone(), &CodeRef { path, line, hash, commit, ..reference.clone() }))
    };
    let edits: Vec<Edit> = moved.filter_map(edit).collect();
    plan_text(store, &store.notes()[note], |old| apply(old, &edits))
}

/// Returns the edits that record the present lines of the references of a note, whose code was checked; none for code that
/// is gone, and for what is recorded anew.
pub(super) fn verified(store: &Store, note: &NoteHandle, anew: &[CodeRef]) -> Vec<Edit> {
    let mut references: Vec<CodeRef> = note.code_refs();
    references.retain(|reference| !anew.iter().any(|new| is_same_target(reference, new)));
    let Some(mut files) = store.project_files(MAX_READ).filter(|_| !references.is_empty()) else { return Vec::new() };
    files.ask_git();
    let head = files.head();
    let subjects: Vec<_> = references.iter().map(|reference| Subject { reference, time: None }).collect();
    let verdicts = check(&files, &subjects);
    let edit = |(reference, verdict): (&CodeRef, Option<Verdict>)| {
        let place = match verdict? {
            Verdict::Unchanged | Verdict::NotCompared => {
                CodePlace { path: reference.path.clone(), line: reference.line }
            }
            Verdict::Moved(place) | Verdict::MovedPerhaps(place) | Verdict::Changed { place, .. } => place,
            Verdict::Gone { .. } => return None,
        };
        let text = match place.line {
            Some(line) => Some(files.read(&place.path)?.line(line).filter(|line| is_recordable(line))?.to_owned()),
            None => None,
        };
        let hash = hash_at(&files, reference, &place);
        let RefOrigin::Field(item) = &reference.origin else { return None };
        let commit = head.clone().or_else(|| reference.commit.clone());
        let new = CodeRef { path: place.path, line: place.line, text, hash, commit, ..reference.clone() };
        matches!(item, Value::Map(_)).then(|| set_entries(item.clone(), &new))
    };
    references.iter().zip(verdicts).filter_map(edit).collect()
}

/// Returns the hash of the item in the place of a reference; `None` for a reference without a symbol.
fn hash_at(files: &ProjectFiles, reference: &CodeRef, place: &CodePlace) -> Option<String> {
    let line = place.line.filter(|_| reference.symbol.is_some())?;
    Some(item_hash(&*files.read(&place.path)?, &place.path, line))
}

fn set_entries(item: Value, reference: &CodeRef) -> Edit {
    Edit::SetEntries { key: CODE, item, entries: reference.to_entries() }
}

/// Whether two references name the same symbol of a file, or the same line of it without a symbol.
fn is_same_target(a: &CodeRef, b: &CodeRef) -> bool {
    a.path == b.path && a.symbol == b.symbol && (a.symbol.is_some() || a.line == b.line)
}

fn is_recordable(line: &str) -> bool {
    is_recognisable(line) && line.len() <= MAX_LINE && !line.contains(|c: char| c.is_control() && c != '\t')
}

/// Reads the line that a new reference names.
fn read_reference(store: &Store, target: &str) -> Result<CodeRef, Error> {
    let shape = "write PATH, PATH:LINE or PATH#SYMBOL, with the path relative to the current directory";
    let (path, place) = match target.find(['#', ':']) {
        Some(end) => target.split_at(end),
        None => (target, ""),
    };
    let below = store.project_path(path);
    let below = below.ok_or_else(|| Error::usage(format!("`{path}` is not a file of the project")).hint(shape))?;
    let named = CodeRef::parse(&format!("{below}{place}"));
    let named = named.ok_or_else(|| Error::usage(format!("`{target}` names no file, line or symbol")).hint(shape))?;
    let mut files = store.project_files(MAX_READ).ok_or_else(|| Error::usage("the project can't be read"))?;
    files.ask_git();
    let file = expect_source(&files, &named.path)?;
    let (line, text) = match (&named.symbol, named.line) {
        (Some(symbol), _) => line_of_symbol(&file, &named.path, symbol).ok_or_else(|| unknown_symbol(&named, &file))?,
        (None, Some(line)) => {
            let lines = file.lines().count();
            let text = file.line(line).ok_or_else(|| {
                Error::usage(format!("`{}` has no line {line}", named.path)).hint(format!("its last line is {lines}"))
            })?;
            (line, text.to_owned())
        }
        (None, None) => return Ok(CodeRef { commit: files.head(), ..named }),
    };
    if !is_recordable(&text) {
        let message = format!("line {line} of `{}` can't be recognised again", named.path);
        let hint = "name a line with at least two letters or digits, at most 1,000 bytes and no control characters but tabs, or a symbol";
        return Err(Error::usage(message).hint(hint));
    }
    let hash = named.symbol.as_ref().map(|_| item_hash(&file, &named.path, line));
    Ok(CodeRef { line: Some(line), text: Some(text), hash, commit: files.head(), ..named })
}

/// Reads a file that a reference may name.
fn expect_source(files: &ProjectFiles, path: &str) -> Result<std::rc::Rc<SourceText>, Error> {
    if !files.is_listed(path) {
        let hint = "a code reference names a regular file that git tracks; add it with `git add` first";
        let hint =
            if files.has_git() { hint } else { "a code reference names a file of the project outside the store" };
        return Err(Error::usage(format!("`{path}` is not a tracked file")).hint(hint));
    }
    if !files.has(path) {
        let message = format!("`{path}` is no regular file, or there is a symbolic link on the way to it");
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let too_long = || Error::usage(format!("`{path}` is longer than {MAX_SOURCE} bytes"));
    files.read(path).ok_or_else(too_long)
}

/// Returns the error for a symbol that a file does not contain, with similar words in the file.
fn unknown_symbol(named: &CodeRef, file: &SourceText) -> Error {
    let symbol = named.symbol_word().unwrap_or_default();
    if file.words().any(|word| word == symbol) {
        let message =
            format!("no line of `{}` is recognised as `{}`", named.path, named.symbol.as_deref().unwrap_or_default());
        return Error::usage(message).hint("name the line: PATH:LINE");
    }
    let words = file.words().filter(|word| word.chars().count() >= MIN_SYMBOL);
    let words: std::collections::BTreeSet<&str> = words.collect();
    let similarity = |word: &str| strsim::normalized_levenshtein(word, symbol);
    let mut near: Vec<_> = words.into_iter().map(|word| (similarity(word), word)).collect();
    near.retain(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    near.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    let near: Vec<String> = near.into_iter().take(MAX_SUGGESTIONS).map(|(_, word)| format!("`{word}`")).collect();
    let error = Error::usage(format!("`{}` contains no word `{symbol}`", named.path));
    if near.is_empty() { error } else { error.hint(format!("similar: {}", near.join(", "))) }
}
