//! The versions of files in git's history, and which lines and symbols each of them contains.

use std::borrow::Cow;
use std::collections::HashMap;

use super::SoughtItem;
use crate::store::{Blob, BlobChange, FileCommit, SourceText};

/// What is searched for in the versions of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sought<'a> {
    /// More lines with this text than this number.
    Lines(&'a str, usize),
    Symbol(&'a str),
    /// An item, the nearest to a line.
    Item(SoughtItem<'a>, usize),
    File,
}

/// Which lines and symbols are in which versions. Each version is read once, whatever the number of references.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    lines: HashMap<&'a str, usize>,
    symbols: HashMap<&'a str, usize>,
    /// The numbers of the lines and symbols of each version, ascending, as often as they occur.
    of_versions: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Found<'a> {
    /// Searches all versions. O(bytes of the versions).
    pub(super) fn new(soughts: impl Iterator<Item = Sought<'a>>, versions: &'a HashMap<String, SourceText>) -> Self {
        let mut found = Self::default();
        for (number, sought) in soughts.enumerate() {
            match sought {
                Sought::Lines(text, _) => found.lines.entry(text).or_insert(number),
                Sought::Symbol(symbol) => found.symbols.entry(symbol).or_insert(number),
                Sought::File | Sought::Item(..) => continue,
            };
        }
        found.of_versions = versions.iter().map(|(name, text)| (name.as_str(), found.numbers_in(text))).collect();
        found
    }

    fn numbers_in(&self, text: &SourceText) -> Vec<usize> {
        let mut ids: Vec<usize> = text.lines().filter_map(|line| self.lines.get(line)).copied().collect();
        if !self.symbols.is_empty() {
            ids.extend(text.words().filter_map(|word| self.symbols.get(word)));
        }
        ids.sort_unstable();
        ids
    }

    /// Whether a version contains what is searched for; `None` for a version that was not read, and for an item.
    pub(super) fn is_in(&self, sought: Sought<'_>, version: &str) -> Option<bool> {
        let numbers = self.of_versions.get(version)?;
        let (number, count) = match sought {
            Sought::Lines(text, count) => (self.lines.get(text)?, count),
            Sought::Symbol(symbol) => (self.symbols.get(symbol)?, 0),
            Sought::File => return Some(true),
            Sought::Item(..) => return None,
        };
        let start = numbers.partition_point(|found| found < number);
        Some(numbers.get(start + count) == Some(number))
    }
}

/// The content of a file after a commit: the position of the commit and the object, or `None` where there was no file.
pub(super) type Version<'h> = (Option<usize>, Option<Cow<'h, str>>);

/// The changes of a history, by the paths of files before and after them.
#[derive(Debug, Default)]
pub(super) struct Changes<'h> {
    /// Changes with the positions of their commits, the latest first.
    of_paths: HashMap<&'h str, Vec<(usize, &'h BlobChange)>>,
}

impl<'h> Changes<'h> {
    pub(super) fn new(commits: &'h [FileCommit]) -> Self {
        let mut of_paths: HashMap<&str, Vec<(usize, &BlobChange)>> = HashMap::new();
        for (position, commit) in commits.iter().enumerate() {
            for change in &commit.changes {
                let after = change.after.iter().map(|blob| blob.path.as_str());
                let before =
                    change.before.iter().map(|blob| blob.path.as_str()).filter(|path| !is_at(&change.after, path));
                after.chain(before).for_each(|path| of_paths.entry(path).or_default().push((position, change)));
            }
        }
        Self { of_paths }
    }

    /// Whether a change made, renamed or removed a file at a path.
    pub(super) fn contains(&self, path: &str) -> bool {
        self.of_paths.contains_key(path)
    }

    fn of_path(&self, path: &str) -> &[(usize, &'h BlobChange)] {
        self.of_paths.get(path).map(Vec::as_slice).unwrap_or_default()
    }

    /// Follows the renames of a file from a position in the history, exclusive, to the present. Without a position, from
    /// the latest rename of this path on. Returns its last path.
    pub(super) fn renamed(&self, base: Option<usize>, path: &str) -> String {
        let target = |change: &'h BlobChange, path: &str| {
            let after = change.after.as_ref()?;
            (is_at(&change.before, path) && after.path != path).then_some(after.path.as_str())
        };
        let latest = || self.of_path(path).iter().find(|(_, change)| target(change, path).is_some());
        let mut end = base.or_else(|| latest().map(|(position, _)| position + 1)).unwrap_or_default();
        let mut path = path;
        // The earliest rename after the last one.
        let next = |path: &str, end: usize| {
            let newer = self.of_path(path).iter().filter(|(position, _)| *position < end);
            newer.filter_map(|(position, change)| Some((*position, target(change, path)?))).next_back()
        };
        while let Some((position, target)) = next(path, end) {
            (path, end) = (target, position);
        }
        path.to_owned()
    }

    /// Returns the contents of a file that commits newer than `base` made, the latest first, through its renames if
    /// `has_moved`. The last one, without a commit, is the content before all of these.
    pub(super) fn versions(&self, base: Option<usize>, path: &str, has_moved: bool) -> Vec<Version<'h>> {
        let object = |side: &'h Option<Blob>| side.as_ref().map(|blob| Cow::Borrowed(blob.object.as_str()));
        let (mut path, mut next, mut versions, mut oldest) = (path, 0, Vec::new(), None);
        while let Some((position, change)) = self.first_change(path, next, base) {
            let is_written = is_at(&change.after, path);
            versions.push((Some(position), object(&change.after).filter(|_| is_written)));
            let is_followed = has_moved && is_written;
            oldest = Some(object(&change.before).filter(|_| is_followed || is_at(&change.before, path)));
            path = change.before.as_ref().filter(|_| is_followed).map_or(path, |before| before.path.as_str());
            next = position + 1;
        }
        versions.extend(oldest.map(|object| (None, object)));
        versions
    }

    /// Returns the first change of a path between two positions: of those of one commit, the one that made the file at the path.
    fn first_change(&self, path: &str, start: usize, end: Option<usize>) -> Option<(usize, &'h BlobChange)> {
        let changes = self.of_path(path);
        let changes = changes.get(changes.partition_point(|(position, _)| *position < start)..)?;
        let first = changes.first().filter(|(position, _)| end.is_none_or(|end| *position < end))?;
        let same = changes.iter().take_while(|(position, _)| *position == first.0);
        let written = same.clone().find(|(_, change)| is_at(&change.after, path));
        Some(*written.unwrap_or(first))
    }
}

fn is_at(side: &Option<Blob>, path: &str) -> bool {
    side.as_ref().is_some_and(|blob| blob.path == path)
}
