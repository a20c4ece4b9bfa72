//! The rules by which a recorded line or symbol is found in a file again: specs/anchors.md. Pure.

use crate::store::{Blob, BlobChange, FileCommit, SourceText};

/// Words before a symbol in a line that probably defines it.
const DEFINING_WORDS: [&str; 27] = [
    "fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "impl", "macro_rules", "def", "class",
    "function", "func", "interface", "object", "let", "var", "val", "module", "package", "namespace", "sub", "proc",
    "record", "typedef",
];

/// What is recorded of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Baseline<'a> {
    /// The symbol, without what qualifies it.
    pub(super) symbol: Option<&'a str>,
    pub(super) line: usize,
    pub(super) text: &'a str,
}

/// Where a recorded line is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinePlacement {
    /// Its text is in this line.
    At(usize),
    /// Its text is in no line; its symbol, if it has one, is in this line.
    Changed(Option<usize>),
    /// Its symbol is in no line.
    Lost,
}

impl Baseline<'_> {
    /// Finds the line in a file: the same line, else the nearest one with its text, else the line of its symbol.
    pub(super) fn find(self, file: &SourceText) -> LinePlacement {
        if file.line(self.line) == Some(self.text) {
            return LinePlacement::At(self.line);
        }
        let nearest = nearest(file.lines_with(self.text), self.line);
        match (nearest, self.symbol) {
            (Some(line), _) => LinePlacement::At(line),
            (None, None) => LinePlacement::Changed(None),
            (None, Some(symbol)) => symbol_line(file, symbol, self.line)
                .map_or(LinePlacement::Lost, |line| LinePlacement::Changed(Some(line))),
        }
    }
}

/// Returns the line of a symbol: the first one that probably defines it, else the nearest one to `line` that names it.
pub(super) fn symbol_line(file: &SourceText, symbol: &str, line: usize) -> Option<usize> {
    let named =
        || file.lines().enumerate().filter(|(_, text)| has_word(text, symbol)).map(|(index, text)| (index + 1, text));
    let defining = named().find(|(_, text)| defines(text, symbol)).map(|(number, _)| number);
    defining.or_else(|| nearest(named().map(|(number, _)| number), line))
}

/// Returns the number nearest to `line`; the lower one of two.
fn nearest(numbers: impl Iterator<Item = usize>, line: usize) -> Option<usize> {
    numbers.min_by_key(|number| (number.abs_diff(line), *number))
}

/// Whether a word that precedes definitions is before the symbol in a line.
fn defines(line: &str, symbol: &str) -> bool {
    let before = words(line).take_while(|word| *word != symbol);
    before.into_iter().any(|word| DEFINING_WORDS.contains(&word))
}

/// Whether a text contains a symbol as a whole word.
pub(super) fn has_word(text: &str, symbol: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(symbol).any(|(start, _)| {
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let after = text.get(start + symbol.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Follows the renames of a file from a position in the history, exclusive, to the present. Without a position, from the
/// latest rename of this path on. Returns its last path.
pub(super) fn renamed(commits: &[FileCommit], base: Option<usize>, path: &str) -> String {
    let renames = |change: &BlobChange, path: &str| match (&change.before, &change.after) {
        (Some(before), Some(after)) if before.path == path && after.path != path => Some(after.path.clone()),
        _ => None,
    };
    let target = |commit: &FileCommit, path: &str| commit.changes.iter().find_map(|change| renames(change, path));
    let latest = || commits.iter().position(|commit| target(commit, path).is_some()).map_or(0, |position| position + 1);
    let newer = commits.get(..base.unwrap_or_else(latest)).unwrap_or_default();
    newer.iter().rev().fold(path.to_owned(), |path, commit| target(commit, &path).unwrap_or(path))
}

/// The content of a file after a commit: its object, or `None` where there was no file.
pub(super) type Version = (Option<usize>, Option<String>);

/// Returns the contents of a file that commits newer than `base` made, the latest first, through its renames if
/// `has_moved`. The last one, without a commit, is the content before all of these.
pub(super) fn versions(commits: &[FileCommit], base: Option<usize>, path: &str, has_moved: bool) -> Vec<Version> {
    let newer = commits.get(..base.unwrap_or(commits.len())).unwrap_or_default();
    let (mut path, mut versions, mut oldest) = (path.to_owned(), Vec::new(), None);
    for (position, commit) in newer.iter().enumerate() {
        let is_file = |side: &Option<Blob>| side.as_ref().is_some_and(|blob| blob.path == path);
        let written = commit.changes.iter().find(|change| is_file(&change.after));
        let Some(change) = written.or_else(|| commit.changes.iter().find(|change| is_file(&change.before))) else {
            continue;
        };
        let object = |side: &Option<Blob>| side.as_ref().map(|blob| blob.object.clone());
        versions.push((Some(position), written.and_then(|change| object(&change.after))));
        let is_followed = has_moved && written.is_some();
        oldest = Some(object(&change.before).filter(|_| is_followed || is_file(&change.before)));
        path = change.before.as_ref().filter(|_| is_followed).map_or(path, |before| before.path.clone());
    }
    versions.extend(oldest.map(|object| (None, object)));
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, line: usize, recorded: &str, symbol: Option<&str>) -> LinePlacement {
        Baseline { symbol, line, text: recorded }.find(&SourceText::new(text.as_bytes()))
    }

    #[test]
    fn a_line_is_found_by_its_number_its_text_and_its_symbol() {
        let text = "a\n  fn run() {\r\nb  \nfn run() {\nb\n";
        assert_eq!(find(text, 4, "fn run() {", None), LinePlacement::At(4));
        assert_eq!(find(text, 2, "fn run() {", None), LinePlacement::At(4));
        assert_eq!(find(text, 4, "b", None), LinePlacement::At(3), "the upper one of two that are equally near");
        assert_eq!(find(text, 5, "b", None), LinePlacement::At(5));
        assert_eq!(find(text, 1, "c", None), LinePlacement::Changed(None));
        assert_eq!(find(text, 9, "fn run(x: u8) {", Some("run")), LinePlacement::Changed(Some(2)));
        assert_eq!(find("rerun();\nrun_it();\n", 1, "fn run()", Some("run")), LinePlacement::Lost);
        assert_eq!(find("use run;\ny = run();\nrun();\n", 3, "fn run()", Some("run")), LinePlacement::Changed(Some(3)));
        assert_eq!(find("run();\nfunc (s *S) run() {\n", 1, "fn run()", Some("run")), LinePlacement::Changed(Some(2)));
    }
}
