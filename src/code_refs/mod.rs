//! Whether the code that notes refer to is what it was when they were written: specs/internals/reliability.md.
//!
//! Files are compared first; git's history is read once, and only if that does not decide every reference.

mod item;
mod rules;
mod scanner;
mod syntax;
mod versions;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::note::{CodeRef, RefOrigin};
use crate::store::{GitHistory, ProjectFiles, SourceText};
use item::{ItemReader, SymbolItem};
use rules::{Baseline, LinePlacement, Symbol, SymbolSearch};
use versions::{Changes, Found, Sought, Version};

/// The most bytes of paths that a call of git gets as arguments; beyond them, all files are asked for.
const MAX_ARGUMENTS: usize = 64 * 1024;
/// The most versions of files that are read, and the most that all references together are looked up in.
const MAX_VERSIONS: usize = 20_000;
const MAX_LOOKUPS: usize = 2_000_000;
/// The most bytes of items that a check reads, that it keeps of those in the history, and that the marks of one answer read.
const MAX_ITEM_BYTES: usize = 256 * 1024 * 1024;
const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;
const MAX_MARKED_BYTES: usize = 2 * 1024 * 1024;
/// The most lines that may declare a symbol whose items are compared.
const MAX_DECLARED: usize = 32;
/// The fewest letters and digits of a line that can be told from others.
const MIN_LETTERS: usize = 2;

/// What became of the code that a reference names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is where it was.
    Unchanged,
    /// It may be where it was: what it was is not known, or its file is not read.
    NotCompared,
    /// It is in another place.
    Moved(CodePlace),
    /// It is probably in another place: other lines there have the same text.
    MovedPerhaps(CodePlace),
    /// Its text is gone.
    Changed {
        /// The line of its symbol now, or the line with its number.
        place: CodePlace,
        /// How many lines of its item differ; `None` for a line, or if the item is not known as it was.
        lines: Option<usize>,
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

/// Returns the line of a file that declares a symbol, or else first names it, and its text.
pub fn line_of_symbol(file: &SourceText, path: &str, symbol: &str) -> Option<(usize, String)> {
    let line = SymbolSearch::default().symbol_line(file, path, Symbol::parse(symbol), 1)?;
    Some((line, file.line(line)?.to_owned()))
}

/// Returns the hash of the item that a line of a file declares.
pub fn item_hash(file: &SourceText, path: &str, line: usize) -> String {
    SymbolItem::read(file, path, line).hash
}

/// The marks of one answer, which together read files and items within limits. Starts no process.
pub struct Marks {
    files: ProjectFiles,
    reader: CodeReader,
}

impl Marks {
    /// Creates the marks of an answer.
    pub fn new(files: ProjectFiles) -> Self {
        Self { files, reader: CodeReader::new(MAX_MARKED_BYTES) }
    }

    /// Whether the file at the path of a reference still has its item or its text, or its symbol if neither is known. What
    /// can't be read within the limits counts as unchanged.
    pub fn is_in_its_file(&self, reference: &CodeRef) -> bool {
        let Some(file) = self.files.read(&reference.path) else { return self.files.has(&reference.path) };
        if let (Some(hash), Some(symbol)) = (&reference.hash, &reference.symbol) {
            let sought = SoughtItem { path: &reference.path, symbol: Symbol::parse(symbol), hash };
            let lines = sought.lines(&self.reader, &file, reference.line.unwrap_or(1));
            return lines.is_none_or(|lines| !lines.is_empty());
        }
        match (&reference.text, reference.symbol_word()) {
            (Some(text), _) => file.count(text) > 0,
            (None, Some(symbol)) => file.lines_with_word(symbol).next().is_some(),
            (None, None) => true,
        }
    }
}

/// Reads items and searches for symbols, each once.
struct CodeReader {
    items: ItemReader,
    symbols: SymbolSearch,
}

impl CodeReader {
    fn new(most_bytes: usize) -> Self {
        Self { items: ItemReader::new(most_bytes), symbols: SymbolSearch::default() }
    }
}

/// Checks references, in their order. `None` for one in a text that names no file which the project has or had. Starts git
/// only if the files alone do not decide.
pub fn check(files: &ProjectFiles, subjects: &[Subject<'_>]) -> Vec<Option<Verdict>> {
    let reader = CodeReader::new(MAX_ITEM_BYTES);
    let mut verdicts: Vec<Option<Verdict>> =
        subjects.iter().map(|subject| in_place(files, &reader, subject.reference)).collect();
    let open: Vec<usize> = (0..subjects.len()).filter(|index| verdicts[*index].is_none()).collect();
    if open.is_empty() {
        return verdicts;
    }
    let history = history_of(files, open.iter().map(|index| subjects[*index].reference));
    let subjects: Vec<Subject<'_>> = open.iter().map(|index| subjects[*index]).collect();
    let checked = Check::new(files, &reader, history.as_ref(), &subjects).run();
    open.into_iter().zip(checked).for_each(|(index, verdict)| verdicts[index] = verdict);
    verdicts
}

/// The item of a symbol that is searched for in files. `path`: that of the file when it was recorded, which says in which language
/// files are read.
#[derive(Debug, Clone, Copy)]
struct SoughtItem<'a> {
    path: &'a str,
    symbol: Symbol<'a>,
    hash: &'a str,
}

impl SoughtItem<'_> {
    /// Returns the lines of a file that declare the symbol with the item, the nearest to `line` first. A line that only names
    /// it counts if it is the recorded one, or the best. `None` if there is no room to read the items.
    fn lines(self, reader: &CodeReader, file: &SourceText, line: usize) -> Option<Vec<usize>> {
        let mut lines = reader.symbols.declared_lines(file, self.path, self.symbol, line, MAX_DECLARED);
        let recorded = Some(line).filter(|line| self.symbol.is_named(file, *line));
        lines.extend(recorded.into_iter().chain(reader.symbols.symbol_line(file, self.path, self.symbol, line)));
        lines.sort_unstable_by_key(|found| (found.abs_diff(line), *found));
        lines.dedup();
        let mut same = Vec::new();
        for line in lines {
            if reader.items.hash(file, self.path, line)? == self.hash {
                same.push(line);
            }
        }
        Some(same)
    }
}

/// Returns the verdict on a reference if the file at its path decides it.
fn in_place(files: &ProjectFiles, reader: &CodeReader, reference: &CodeRef) -> Option<Verdict> {
    let Some(text) = &reference.text else {
        let is_file = reference.line.is_none() && reference.symbol.is_none();
        return (is_file && files.has(&reference.path)).then_some(Verdict::Unchanged);
    };
    let (file, line) = (files.read(&reference.path)?, reference.line.unwrap_or(1));
    let has_item = || match (&reference.symbol, &reference.hash) {
        (None, _) => true,
        (Some(_), Some(hash)) => reader.items.hash(&file, &reference.path, line).is_some_and(|found| found == *hash),
        // The item as it was is in the history.
        (Some(_), None) => false,
    };
    (file.line(line) == Some(text) && has_item()).then_some(Verdict::Unchanged)
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
    reader: &'c CodeReader,
    history: Option<&'c GitHistory<'c>>,
    changes: Changes<'c>,
    subjects: &'c [Subject<'c>],
    /// The position in the history of the commit at which each was recorded.
    bases: Vec<Option<usize>>,
    /// What is recorded of each: its line and text, from the note or the history.
    recorded: Vec<Option<(usize, String)>>,
    /// How many lines had the text of each when it was recorded.
    counts: Vec<Option<usize>>,
    /// The item of each symbol as it was recorded.
    items: Vec<Option<RecordedItem>>,
    /// Whether each names a file that the project has or had.
    is_of_project: Vec<bool>,
}

/// The item of a symbol as it was recorded.
struct RecordedItem {
    hash: String,
    /// The item itself, if the history has it.
    item: Option<Rc<SymbolItem>>,
}

impl RecordedItem {
    /// Forgets the item if it has no room: then it is not known how many lines differ.
    fn kept_within(self, room: &mut usize) -> Self {
        let item = self.item.filter(|item| item.bytes <= *room);
        *room -= item.as_ref().map_or(0, |item| item.bytes);
        Self { item, ..self }
    }
}

/// A verdict that lacks the commit, and what tells it.
struct Undated<'a> {
    /// The place of code that changed, and how many lines; `None` if it is gone.
    changed: Option<(CodePlace, Option<usize>)>,
    path: String,
    sought: Sought<'a>,
}

impl<'c> Check<'c> {
    fn new(
        files: &'c ProjectFiles,
        reader: &'c CodeReader,
        history: Option<&'c GitHistory<'c>>,
        subjects: &'c [Subject<'c>],
    ) -> Self {
        let bases = subjects.iter().map(|subject| base_of(history?, *subject)).collect();
        let of_notes = |subject: &Subject<'_>| {
            let reference = subject.reference;
            reference.text.clone().map(|text| (reference.line.unwrap_or(1), text))
        };
        let recorded = subjects.iter().map(of_notes).collect();
        let (is_of_project, counts) = (vec![true; subjects.len()], vec![None; subjects.len()]);
        let by_hash = |subject: &Subject<'_>| Some(RecordedItem { hash: subject.reference.hash.clone()?, item: None });
        let items = subjects.iter().map(by_hash).collect();
        let changes = history.map(|history| Changes::new(&history.commits)).unwrap_or_default();
        let mut check =
            Self { files, reader, history, changes, subjects, bases, recorded, counts, items, is_of_project };
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
        let mut room = MAX_KEPT_BYTES;
        for (index, name) in without.into_iter().zip(names) {
            let reference = self.subjects[index].reference;
            let content = name.and_then(|name| contents.get(&name));
            if reference.text.is_none() {
                self.recorded[index] = content.and_then(|file| line_in(&self.reader.symbols, file, reference));
            }
            self.items[index] = self.recorded_item(index, content).map(|recorded| recorded.kept_within(&mut room));
            // A text that was not committed yet is not counted.
            let text = self.recorded[index].as_ref().map(|(_, text)| text);
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

    /// Returns the item of a reference as it was recorded: by its hash, else in the file at the commit, if that has its line.
    fn recorded_item(&self, index: usize, content: Option<&SourceText>) -> Option<RecordedItem> {
        let reference = self.subjects[index].reference;
        let (symbol, path) = (Symbol::parse(reference.symbol.as_deref()?), reference.path.as_str());
        let (line, text) = self.recorded[index].as_ref().map(|(line, text)| (*line, text.as_str()))?;
        let line_in = |file: &SourceText| match &reference.hash {
            Some(hash) => SoughtItem { path, symbol, hash }.lines(self.reader, file, line)?.first().copied(),
            None => file.nearest(text, line),
        };
        let item = content.and_then(|file| self.reader.items.read(file, path, line_in(file)?));
        let hash = reference.hash.clone().or_else(|| Some(item.as_ref()?.hash.clone()))?;
        Some(RecordedItem { hash, item })
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
            let verdict = match judged.map_err(|undated| undated.changed) {
                Ok(verdict) => verdict,
                Err(Some((place, lines))) => Verdict::Changed { place, lines, since },
                Err(None) => Verdict::Gone { since },
            };
            is_of_project.then_some(verdict)
        });
        dated.collect()
    }

    /// Returns the verdict on a reference, or one that lacks the commit.
    fn judge(&self, index: usize) -> Result<Verdict, Box<Undated<'_>>> {
        let reference = self.subjects[index].reference;
        let is_there = self.files.has(&reference.path);
        let path =
            if is_there { reference.path.clone() } else { self.changes.renamed(self.bases[index], &reference.path) };
        if !self.files.has(&path) {
            return Err(Box::new(Undated { changed: None, path, sought: Sought::File }));
        }
        let file = self.files.read(&path);
        let symbol = reference.symbol.as_deref().map(Symbol::parse);
        let is_file = reference.line.is_none() && symbol.is_none();
        let Some(file) = file.filter(|_| !is_file) else {
            return Ok(match at(reference, 0, &path, None) {
                Verdict::Unchanged if !is_file => Verdict::NotCompared,
                verdict => verdict,
            });
        };
        let Some((line, text)) = &self.recorded[index] else {
            return Ok(existing(reference, &path, &file));
        };
        let baseline = Baseline { path: &reference.path, symbol, line: *line, text, count: self.counts[index] };
        match (baseline.find(&self.reader.symbols, &file), symbol.zip(self.items[index].as_ref())) {
            (LinePlacement::Lost, _) => {
                let sought = Sought::Symbol(symbol.map_or("", |symbol| symbol.word));
                Err(Box::new(Undated { changed: None, path, sought }))
            }
            (placement, Some((symbol, recorded))) => self.judge_item(index, placement, symbol, recorded, path, &file),
            (LinePlacement::At(found), None) => Ok(match at(reference, *line, &path, Some(found)) {
                Verdict::Moved(place) if found != *line && file.count(text) > 1 => Verdict::MovedPerhaps(place),
                Verdict::Unchanged if symbol.is_some() => Verdict::NotCompared,
                verdict => verdict,
            }),
            (LinePlacement::Changed(found), None) => {
                let line = found.or_else(|| file.line(*line).map(|_| *line));
                let changed = Some((CodePlace { path: path.clone(), line }, None));
                Err(Box::new(Undated { changed, path, sought: Sought::Lines(text, file.count(text)) }))
            }
        }
    }

    /// Returns the verdict on a symbol whose item is known as it was. `placement`: where its declaration is.
    fn judge_item<'s>(
        &'s self,
        index: usize,
        placement: LinePlacement,
        symbol: Symbol<'s>,
        recorded: &'s RecordedItem,
        path: String,
        file: &SourceText,
    ) -> Result<Verdict, Box<Undated<'s>>> {
        let reference = self.subjects[index].reference;
        let (line, text) = self.recorded[index].as_ref().map_or((1, ""), |(line, text)| (*line, text));
        let (place, is_rarer) = match placement {
            LinePlacement::At(found) => (found, false),
            LinePlacement::Changed(found) => (found.unwrap_or(line), file.count(text) > 0),
            LinePlacement::Lost => (line, true),
        };
        let item = SoughtItem { path: &reference.path, symbol, hash: &recorded.hash };
        // Of several equal declarations one is gone: which one is not known.
        let same = if is_rarer { Some(Vec::new()) } else { item.lines(self.reader, file, line) };
        let Some((same, now)) = same.zip(self.reader.items.read(file, &reference.path, place)) else {
            return Ok(Verdict::NotCompared);
        };
        if let Some(found) = same.first() {
            return Ok(match at(reference, line, &path, Some(*found)) {
                Verdict::Moved(place) if *found != line && same.len() > 1 => Verdict::MovedPerhaps(place),
                verdict => verdict,
            });
        }
        let lines = recorded.item.as_ref().map(|old| now.changed_lines(old));
        let changed = Some((CodePlace { path: path.clone(), line: Some(place) }, lines));
        Err(Box::new(Undated { changed, path, sought: Sought::Item(item, line) }))
    }

    fn has_moved(&self, index: usize, path: &str) -> bool {
        self.subjects[index].reference.path != path
    }

    /// Returns when the text of each verdict without a commit disappeared; for the others, `Unknown`.
    fn dates(&self, judged: &[Result<Verdict, Box<Undated<'_>>>]) -> Vec<Since> {
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
            // A file that was not read is not in HEAD.
            let has = |object: &str| {
                let is_in = match undated.sought {
                    Sought::Item(item, line) => {
                        contents.get(object).and_then(|file| Some(!item.lines(self.reader, file, line)?.is_empty()))
                    }
                    sought => found.is_in(sought, object),
                };
                is_in.or_else(|| object.contains(':').then_some(false))
            };
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
fn undated<'u, 'a>(judged: &'u [Result<Verdict, Box<Undated<'a>>>]) -> impl Iterator<Item = (usize, &'u Undated<'a>)> {
    judged.iter().enumerate().filter_map(|(index, judged)| Some((index, &**judged.as_ref().err()?)))
}

/// Returns the commit after the last version that has what is searched for. `has` returns `None` for a version that could
/// not be read: then nothing is known of those before it.
fn since(history: &GitHistory<'_>, versions: &[Version<'_>], has: impl Fn(&str) -> Option<bool>) -> Since {
    let has = |(_, object): &Version<'_>| object.as_ref().map_or(Some(false), |object| has(object));
    match versions.iter().map(has).enumerate().find(|(_, has)| *has != Some(false)) {
        None | Some((_, None)) => Since::Unknown,
        Some((last, _)) => match last.checked_sub(1).and_then(|next| versions.get(next)) {
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
fn line_in(search: &SymbolSearch, file: &SourceText, reference: &CodeRef) -> Option<(usize, String)> {
    let found = match (reference.symbol.as_deref(), reference.line) {
        (Some(symbol), _) => search.symbol_line(file, &reference.path, Symbol::parse(symbol), 1),
        (None, line) => line,
    };
    let found = found.and_then(|line| Some((line, file.line(line)?.to_owned())));
    found.filter(|(_, text)| is_recognisable(text))
}

/// Returns the verdict on a reference whose text is not known: whether its file has such a line, or the symbol.
fn existing(reference: &CodeRef, path: &str, file: &SourceText) -> Verdict {
    let since = Since::Unknown;
    match (reference.symbol_word(), reference.line) {
        (Some(symbol), _) if file.lines_with_word(symbol).next().is_none() => Verdict::Gone { since },
        (None, Some(line)) if file.line(line).is_none() => {
            Verdict::Changed { place: CodePlace { path: path.to_owned(), line: None }, lines: None, since }
        }
        (_, line) => match at(reference, line.unwrap_or_default(), path, line) {
            Verdict::Unchanged => Verdict::NotCompared,
            verdict => verdict,
        },
    }
}
