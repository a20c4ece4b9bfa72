//! Whether the code that notes refer to is what it was when they were written: specs/anchors.md.
//!
//! Files are compared first; git's history is read once, and only if that does not decide every reference.

mod rules;
mod versions;

use std::collections::BTreeSet;

use crate::note::{CodeRef, RefOrigin};
use crate::store::{GitHistory, ProjectFiles, SourceText};
use rules::{Baseline, LinePlacement, Symbol, symbol_line};
use versions::{Changes, Found, Sought, Version};

/// The most bytes of paths that a call of git gets as arguments; beyond them, all files are asked for.
const MAX_ARGUMENTS: usize = 64 * 1024;
/// The most versions of files that are read, and the most that all references together are looked up in.
const MAX_VERSIONS: usize = 20_000;
const MAX_LOOKUPS: usize = 2_000_000;
/// The fewest letters and digits of a line that can be told from others.
const MIN_LETTERS: usize = 2;

/// What became of the code that a reference names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is where it was.
    Unchanged,
    /// It is in another place.
    Moved(CodePlace),
    /// It is probably in another place: other lines there have the same text.
    MovedPerhaps(CodePlace),
    /// Its text is gone.
    Changed {
        /// The line of its symbol now, or the line with its number.
        place: CodePlace,
        /// When it changed.
        since: Since,
    },
    /// Its file or its symbol is gone.
    Gone {
        /// When it disappeared.
        since: Since,
    },
}

/// A file of the project, or a line in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePlace {
    /// The path in the project.
    pub path: String,
    /// The line, from 1; `None` for the whole file.
    pub line: Option<usize>,
}

impl CodePlace {
    /// Returns the place as a text: `src/a.rs:12`.
    pub fn shown(&self) -> String {
        self.line.map_or_else(|| self.path.clone(), |line| format!("{}:{line}", self.path))
    }
}

/// When a text disappeared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// With this commit.
    Commit(String),
    /// It is still in the last commit.
    NotCommitted,
    /// Without git, or before what is known of the history.
    Unknown,
}

/// A reference that is to be checked.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The reference.
    pub reference: &'a CodeRef,
    /// When the note was written, in seconds since 1970: what a reference without a text was about.
    pub time: Option<i64>,
}

/// Whether a line has enough letters and digits to be recognised.
pub fn is_recognisable(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_LETTERS
}

/// Returns the line that defines a symbol, or else first names it, and its text.
pub fn line_of_symbol(file: &SourceText, symbol: &str) -> Option<(usize, String)> {
    let line = symbol_line(file, Symbol::parse(symbol), 1)?;
    Some((line, file.line(line)?.to_owned()))
}

/// Whether the file at the path of a reference still has its text, or its symbol if no text is known. What can't be read
/// within the limits of `files` counts as unchanged. Starts no process.
pub fn is_in_its_file(files: &ProjectFiles, reference: &CodeRef) -> bool {
    let Some(file) = files.read(&reference.path) else { return files.has(&reference.path) };
    match (&reference.text, reference.symbol_word()) {
        (Some(text), _) => file.count(text) > 0,
        (None, Some(symbol)) => file.lines_with_word(symbol).next().is_some(),
        (None, None) => true,
    }
}

/// Checks references, in their order. `None` for one in a text that names no file which the project has or had. Starts git
/// only if the files alone do not decide.
pub fn check(files: &ProjectFiles, subjects: &[Subject<'_>]) -> Vec<Option<Verdict>> {
    let mut verdicts: Vec<Option<Verdict>> =
        subjects.iter().map(|subject| in_place(files, subject.reference)).collect();
    let open: Vec<usize> = (0..subjects.len()).filter(|index| verdicts[*index].is_none()).collect();
    if open.is_empty() {
        return verdicts;
    }
    let history = history_of(files, open.iter().map(|index| subjects[*index].reference));
    let subjects: Vec<Subject<'_>> = open.iter().map(|index| subjects[*index]).collect();
    let checked = Check::new(files, history.as_ref(), &subjects).run();
    open.into_iter().zip(checked).for_each(|(index, verdict)| verdicts[index] = verdict);
    verdicts
}

/// Returns the verdict on a reference if the file at its path decides it.
fn in_place(files: &ProjectFiles, reference: &CodeRef) -> Option<Verdict> {
    let Some(text) = &reference.text else {
        let is_file = reference.line.is_none() && reference.symbol.is_none();
        return (is_file && files.has(&reference.path)).then_some(Verdict::Unchanged);
    };
    let is_there = files.read(&reference.path)?.line(reference.line.unwrap_or(1)) == Some(text);
    is_there.then_some(Verdict::Unchanged)
}

/// Returns the verdict on code that was found in a line.
fn at(reference: &CodeRef, recorded: usize, path: &str, line: Option<usize>) -> Verdict {
    if path == reference.path && line.is_none_or(|line| line == recorded) {
        Verdict::Unchanged
    } else {
        Verdict::Moved(CodePlace { path: path.to_owned(), line })
    }
}

/// Reads the history of the files that references name: with renames only if one of the files is gone.
fn history_of<'f, 'a>(
    files: &'f ProjectFiles,
    references: impl Iterator<Item = &'a CodeRef>,
) -> Option<GitHistory<'f>> {
    let paths: BTreeSet<&str> = references.map(|reference| reference.path.as_str()).collect();
    let is_whole = paths.iter().map(|path| path.len() + 1).sum::<usize>() > MAX_ARGUMENTS;
    let has_renames = paths.iter().any(|path| !files.has(path));
    let paths: Vec<String> = paths.into_iter().map(str::to_owned).collect();
    files.history((!is_whole && !has_renames).then_some(&paths))
}

/// The check of references that the files alone do not decide.
struct Check<'c> {
    files: &'c ProjectFiles,
    history: Option<&'c GitHistory<'c>>,
    changes: Changes<'c>,
    subjects: &'c [Subject<'c>],
    /// The position in the history of the commit at which each was recorded.
    bases: Vec<Option<usize>>,
    /// What is recorded of each: its line and text, from the note or the history.
    recorded: Vec<Option<(usize, String)>>,
    /// How many lines had the text of each when it was recorded.
    counts: Vec<Option<usize>>,
    /// Whether each names a file that the project has or had.
    is_of_project: Vec<bool>,
}

/// A verdict that lacks the commit, and what tells it.
struct Undated<'a> {
    /// The place of code that changed; `None` if it is gone.
    changed: Option<CodePlace>,
    path: String,
    sought: Sought<'a>,
}

impl<'c> Check<'c> {
    fn new(files: &'c ProjectFiles, history: Option<&'c GitHistory<'c>>, subjects: &'c [Subject<'c>]) -> Self {
        let bases = subjects.iter().map(|subject| base_of(history?, *subject)).collect();
        let of_notes = |subject: &Subject<'_>| {
            let reference = subject.reference;
            reference.text.clone().map(|text| (reference.line.unwrap_or(1), text))
        };
        let recorded = subjects.iter().map(of_notes).collect();
        let (is_of_project, counts) = (vec![true; subjects.len()], vec![None; subjects.len()]);
        let changes = history.map(|history| Changes::new(&history.commits)).unwrap_or_default();
        let mut check = Self { files, history, changes, subjects, bases, recorded, counts, is_of_project };
        check.read_recorded();
        check
    }

    /// Reads what references without a text were about from the commits at which they were recorded.
    fn read_recorded(&mut self) {
        let is_wanted =
            |index: &usize| self.recorded[*index].is_none() || self.subjects[*index].reference.commit.is_some();
        let without: Vec<usize> = (0..self.subjects.len()).filter(is_wanted).collect();
        let names: Vec<Option<String>> = without.iter().map(|index| self.recorded_object(*index)).collect();
        let wanted: BTreeSet<String> = names.iter().flatten().cloned().collect();
        let contents = self.history.map(|history| history.contents(&wanted)).unwrap_or_default();
        for (index, name) in without.into_iter().zip(names) {
            let reference = self.subjects[index].reference;
            let content = name.and_then(|name| contents.get(&name));
            if reference.text.is_none() {
                self.recorded[index] = content.and_then(|file| line_in(file, reference));
            }
            let text = self.recorded[index].as_ref().map(|(_, text)| text);
            // A text that was not committed yet is not counted.
            self.counts[index] = content.zip(text).map(|(file, text)| file.count(text)).filter(|count| *count > 0);
            let is_permalink = reference.commit.is_some();
            if content.is_none() && !is_permalink {
                // The file had another path when the note was written, or was not there.
                self.bases[index] = None;
            }
            let path = reference.path.as_str();
            let is_known = || !is_permalink && (self.files.has(path) || self.changes.contains(path));
            self.is_of_project[index] =
                !matches!(reference.origin, RefOrigin::Text { .. }) || content.is_some() || is_known();
        }
    }

    fn recorded_object(&self, index: usize) -> Option<String> {
        let reference = self.subjects[index].reference;
        let history = self.history?;
        let base = self.bases[index].and_then(|base| history.commits.get(base)).map(|commit| commit.id.clone());
        Some(history.object_name(&reference.commit.clone().or(base)?, &reference.path))
    }

    fn run(&self) -> Vec<Option<Verdict>> {
        let judged: Vec<_> = (0..self.subjects.len()).map(|index| self.judge(index)).collect();
        let dates = self.dates(&judged);
        let dated = judged.into_iter().zip(dates).zip(&self.is_of_project);
        let dated = dated.map(|((judged, since), is_of_project)| {
            let verdict = match judged {
                Ok(verdict) => verdict,
                Err(Undated { changed: Some(place), .. }) => Verdict::Changed { place, since },
                Err(Undated { changed: None, .. }) => Verdict::Gone { since },
            };
            is_of_project.then_some(verdict)
        });
        dated.collect()
    }

    /// Returns the verdict on a reference, or one that lacks the commit.
    fn judge(&self, index: usize) -> Result<Verdict, Undated<'_>> {
        let reference = self.subjects[index].reference;
        let is_there = self.files.has(&reference.path);
        let path =
            if is_there { reference.path.clone() } else { self.changes.renamed(self.bases[index], &reference.path) };
        if !self.files.has(&path) {
            return Err(Undated { changed: None, path, sought: Sought::File });
        }
        let file = self.files.read(&path);
        let symbol = reference.symbol.as_deref().map(Symbol::parse);
        let Some(file) = file.filter(|_| reference.line.is_some() || symbol.is_some()) else {
            return Ok(at(reference, 0, &path, None));
        };
        let Some((line, text)) = &self.recorded[index] else {
            return Ok(existing(reference, &path, &file));
        };
        match (Baseline { symbol, line: *line, text, count: self.counts[index] }).find(&file) {
            LinePlacement::At(found) => Ok(match at(reference, *line, &path, Some(found)) {
                Verdict::Moved(place) if found != *line && file.count(text) > 1 => Verdict::MovedPerhaps(place),
                verdict => verdict,
            }),
            LinePlacement::Changed(found) => {
                let line = found.or_else(|| file.line(*line).map(|_| *line));
                let changed = Some(CodePlace { path: path.clone(), line });
                Err(Undated { changed, path, sought: Sought::Lines(text, file.count(text)) })
            }
            LinePlacement::Lost => {
                let sought = Sought::Symbol(symbol.map_or("", |symbol| symbol.word));
                Err(Undated { changed: None, path, sought })
            }
        }
    }

    fn has_moved(&self, index: usize, path: &str) -> bool {
        self.subjects[index].reference.path != path
    }

    /// Returns when the text of each verdict without a commit disappeared; for the others, `Unknown`.
    fn dates(&self, judged: &[Result<Verdict, Undated<'_>>]) -> Vec<Since> {
        let Some(history) = self.history else { return vec![Since::Unknown; judged.len()] };
        let (mut names, mut lookups, mut is_beyond) = (BTreeSet::new(), 0, vec![true; judged.len()]);
        for (index, undated) in undated(judged) {
            let versions = self.versions(history, index, &undated.path);
            lookups += versions.len();
            if lookups <= MAX_LOOKUPS {
                is_beyond[index] = false;
                names.extend(versions.into_iter().filter_map(|(_, object)| Some(object?.into_owned())));
            }
        }
        let contents = history.contents(&names.into_iter().take(MAX_VERSIONS).collect());
        let found = Found::new(undated(judged).map(|(_, undated)| undated.sought), &contents);
        let mut dates = vec![Since::Unknown; judged.len()];
        for (index, undated) in undated(judged).filter(|(index, _)| !is_beyond[*index]) {
            let versions = self.versions(history, index, &undated.path);
            // HEAD has no such file, if it was not read.
            let has =
                |object: &str| found.is_in(undated.sought, object).or_else(|| object.contains(':').then_some(false));
            dates[index] = since(history, &versions, has);
        }
        dates
    }

    /// Returns the versions of the file in which the text of a reference is searched for: without any, that of HEAD.
    fn versions(&self, history: &GitHistory<'_>, index: usize, path: &str) -> Vec<Version<'c>> {
        let versions = self.changes.versions(self.bases[index], path, self.has_moved(index, path));
        if versions.is_empty() { vec![(None, Some(history.object_name("HEAD", path).into()))] } else { versions }
    }
}

/// Iterates over the verdicts that lack the commit, with their positions.
fn undated<'u, 'a>(judged: &'u [Result<Verdict, Undated<'a>>]) -> impl Iterator<Item = (usize, &'u Undated<'a>)> {
    judged.iter().enumerate().filter_map(|(index, judged)| Some((index, judged.as_ref().err()?)))
}

/// Returns the commit after the last version that has what is searched for. `has` returns `None` for a version that could
/// not be read: then nothing is known of those before it.
fn since(history: &GitHistory<'_>, versions: &[Version<'_>], has: impl Fn(&str) -> Option<bool>) -> Since {
    let has = |(_, object): &Version<'_>| object.as_ref().map_or(Some(false), |object| has(object));
    match versions.iter().map(has).position(|has| has != Some(false)) {
        None => Since::Unknown,
        Some(last) if has(&versions[last]).is_none() => Since::Unknown,
        Some(last) => match last.checked_sub(1).and_then(|next| versions.get(next)) {
            Some((Some(commit), _)) if *commit > 0 => Since::Commit(history.commits[*commit].id.clone()),
            _ => Since::NotCommitted,
        },
    }
}

/// Returns the position in the history of the commit at which a reference was recorded: the one that it names, else the
/// last one when the note was written. `None` for one that is not on the first-parent history.
fn base_of(history: &GitHistory<'_>, subject: Subject<'_>) -> Option<usize> {
    let reference = subject.reference;
    let mut commits = history.commits.iter().skip(1);
    let position = match &reference.commit {
        Some(commit) => {
            let commit = commit.to_ascii_lowercase();
            commits.position(|found| found.id.starts_with(&commit))
        }
        None => {
            let time = subject.time.filter(|_| reference.text.is_none())?;
            commits.position(|found| found.time <= time)
        }
    };
    position.map(|position| position + 1)
}

/// Returns the line that a reference names in a file, if it can be recognised.
fn line_in(file: &SourceText, reference: &CodeRef) -> Option<(usize, String)> {
    let found = match (reference.symbol.as_deref(), reference.line) {
        (Some(symbol), _) => line_of_symbol(file, symbol),
        (None, Some(line)) => file.line(line).map(|text| (line, text.to_owned())),
        (None, None) => None,
    };
    found.filter(|(_, text)| is_recognisable(text))
}

/// Returns the verdict on a reference whose text is not known: whether its file has such a line, or the symbol.
fn existing(reference: &CodeRef, path: &str, file: &SourceText) -> Verdict {
    let since = Since::Unknown;
    match (reference.symbol_word(), reference.line) {
        (Some(symbol), _) if file.lines_with_word(symbol).next().is_none() => Verdict::Gone { since },
        (None, Some(line)) if file.line(line).is_none() => {
            Verdict::Changed { place: CodePlace { path: path.to_owned(), line: None }, since }
        }
        (_, line) => at(reference, line.unwrap_or_default(), path, line),
    }
}
