//! The versions of a note in git's history.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::note_idx::NoteIdx;
use super::store::Store;
use crate::error::Error;
use crate::note::{Dialect, Note, NoteId};
use crate::store::collections::discover::repository_of;
use crate::store::git::history::{Blob, BlobChange, FileCommit, GitHistory};
use crate::store::git::revision::{CommitName, find_commit, no_history};
use crate::store::git::source_text::SourceText;
use crate::store::index::source_scan::is_markdown;

/// A version of a note, and the one before it.
#[derive(Debug)]
pub struct NoteVersion {
    /// The commit; `None` for a change that is not committed.
    pub commit: Option<CommitInfo>,
    /// The note before the change; `None` if the change created it.
    pub before: Option<Note>,
    /// The note after the change; `None` if the change deleted it.
    pub after: Option<Note>,
}

/// A commit, as answers name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// The hexadecimal digits.
    pub id: String,
    /// The time of the committer, in seconds since 1970.
    pub time: i64,
    /// The name of the author; any text.
    pub author: String,
}

/// A change of the file of a note: the commit, and the file before and after.
struct TrackedChange<'h> {
    commit: &'h FileCommit,
    before: Option<&'h Blob>,
    after: Option<&'h Blob>,
}

impl Store {
    /// Reads the versions of a note after a commit, the latest first, at most `limit`, and tells whether there are more. The note is
    /// followed along the first parents, by its path and, where its file appears or disappears, by its id. Starts processes.
    ///
    /// # Errors
    /// `Usage` if the note is in no repository; `Failure` if git can't read its history; `Store` if the note can't be read.
    pub fn note_history(
        &self,
        note: NoteIdx,
        since: Option<&CommitName>,
        limit: usize,
    ) -> Result<(Vec<NoteVersion>, bool), Error> {
        let (handle, collection) = (&self.notes()[note], self.collection_of(note));
        let root = &self.collections[collection.ordinal].root;
        let none = || Error::usage(format!("the collection `{}` is in no git repository", collection.name));
        let repository = repository_of(&self.files, root).ok_or_else(none)?;
        let failed =
            || no_history(&repository).unwrap_or_else(|| Error::failure("git can't read the history of this note"));
        let history = GitHistory::read(&repository, Some(&[".".to_owned()])).ok_or_else(failed)?;
        let since = since.map_or(Ok(None), |name| find_commit(&repository, name))?;
        let is_newer = |commit: &&FileCommit| since.as_ref() != Some(&commit.id);
        let newer = history.commits.iter().take_while(is_newer).map(|commit| commit.id.as_str()).collect();
        let mut now = handle.parsed()?.clone();
        handle.local_path().clone_into(&mut now.path);
        let is_there = |path: &str| self.files.has(&root.join(path));
        let reader = HistoryReader { history: &history, dialect: collection.dialect, ids: OnceCell::new() };
        let changes = reader.changes_of(&now, is_there);
        reader.versions(changes, now, &newer, limit).ok_or_else(failed)
    }
}

/// Reads the files of one collection in git's history.
struct HistoryReader<'h> {
    history: &'h GitHistory<'h>,
    dialect: Dialect,
    /// The ids of the notes in files that commits delete, by path and object; read when first needed.
    ids: OnceCell<HashMap<&'h Blob, NoteId>>,
}

impl<'h> HistoryReader<'h> {
    /// Returns the changes of the file of a note, the latest first.
    fn changes_of(&self, note: &Note, is_there: impl Fn(&str) -> bool) -> Vec<TrackedChange<'h>> {
        let mut path = Some(self.tracked_path(note, is_there));
        let mut changes = Vec::new();
        let has_path = |change: &&BlobChange, path: &str| change.after.as_ref().is_some_and(|blob| blob.path == path);
        for commit in &self.history.commits {
            let (mut before, after) = match &path {
                Some(path) => match commit.changes.iter().find(|change| has_path(change, path)) {
                    Some(change) => (change.before.as_ref(), change.after.as_ref()),
                    None => continue,
                },
                None => (None, None),
            };
            if before.is_none() {
                // The file appears: one that disappears with it may have been the same note.
                before = self.deleted(commit, &note.id);
            }
            if before.is_some() || after.is_some() {
                path = before.map(|blob| blob.path.clone());
                changes.push(TrackedChange { commit, before, after });
            }
        }
        changes
    }

    /// Returns the path by which the last commit has the file of a note: another one if it was renamed since.
    fn tracked_path(&self, note: &Note, is_there: impl Fn(&str) -> bool) -> String {
        let (mut seen, mut last) = (HashSet::new(), Vec::new());
        for change in self.history.commits.iter().flat_map(|commit| &commit.changes) {
            let is_first = change.after.as_ref().is_some_and(|blob| seen.insert(blob.path.as_str()));
            last.extend(change.after.as_ref().filter(|_| is_first));
            seen.extend(change.before.as_ref().map(|blob| blob.path.as_str()));
        }
        let is_tracked = last.iter().any(|blob| blob.path == note.path);
        let missing =
            last.into_iter().filter(|blob| !is_tracked && is_markdown(blob.path.as_bytes()) && !is_there(&blob.path));
        let ids = self.ids_of(missing);
        let former = ids.into_iter().filter(|(_, id)| *id == note.id).map(|(blob, _)| blob.path.clone()).min();
        former.unwrap_or_else(|| note.path.clone())
    }

    /// Returns the file that a commit deletes and that is the note with an id.
    fn deleted(&self, commit: &'h FileCommit, id: &NoteId) -> Option<&'h Blob> {
        let all = || self.history.commits.iter().flat_map(deletions);
        let ids = self.ids.get_or_init(|| self.ids_of(all()));
        deletions(commit).find(|blob| ids.get(blob) == Some(id))
    }

    /// Reads the ids of the notes in files.
    fn ids_of(&self, blobs: impl Iterator<Item = &'h Blob>) -> HashMap<&'h Blob, NoteId> {
        let blobs: Vec<&Blob> = blobs.collect();
        let contents = self.history.contents(&blobs.iter().map(|blob| blob.object.clone()).collect());
        blobs.into_iter().filter_map(|blob| Some((blob, self.note(&contents, blob)?.id))).collect()
    }

    fn note(&self, contents: &HashMap<String, SourceText>, blob: &Blob) -> Option<Note> {
        let text = contents.get(&blob.object)?.as_str();
        Some(Note::parse_as(self.dialect, &blob.path, text.as_bytes().to_vec()))
    }

    /// Reads the notes before and after changes by newer commits. `now` is the note as it is, which may differ from that of the last commit.
    /// `None` if git fails.
    fn versions(
        &self,
        changes: Vec<TrackedChange<'h>>,
        now: Note,
        newer: &HashSet<&str>,
        limit: usize,
    ) -> Option<(Vec<NoteVersion>, bool)> {
        let (staged, mut committed): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| change.commit.id.is_empty());
        let head = match staged.first() {
            Some(staged) => staged.before,
            None => committed.first().and_then(|change| change.after),
        };
        committed.retain(|change| newer.contains(change.commit.id.as_str()));
        let shown = committed.get(..limit).unwrap_or(&committed);
        let blobs = shown.iter().flat_map(|change| [change.before, change.after]).chain([head]).flatten();
        let contents = self.history.contents(&blobs.map(|blob| blob.object.clone()).collect());
        let authors = self.history.authors(shown.iter().map(|change| change.commit.id.as_str()).collect(), "%an")?;
        let note = |blob: Option<&Blob>| match blob {
            Some(blob) => self.note(&contents, blob).map(Some),
            None => Some(None),
        };
        let mut versions = Vec::new();
        let last = note(head)?;
        if last.as_ref().is_none_or(|last| (last.text(), &last.path) != (now.text(), &now.path)) {
            versions.push(NoteVersion { commit: None, before: last, after: Some(now) });
        }
        for TrackedChange { commit, before, after } in shown {
            let author = authors.get(&commit.id).cloned().unwrap_or_default();
            let info = CommitInfo { id: commit.id.clone(), time: commit.time, author };
            versions.push(NoteVersion { commit: Some(info), before: note(*before)?, after: note(*after)? });
        }
        let is_limited = versions.len() > limit || shown.len() < committed.len();
        versions.truncate(limit);
        Some((versions, is_limited))
    }
}

/// Iterates over the files of markdown that a commit deletes.
fn deletions(commit: &FileCommit) -> impl Iterator<Item = &Blob> {
    let deleted = commit.changes.iter().filter(|change| change.after.is_none());
    deleted.filter_map(|change| change.before.as_ref()).filter(|blob| is_markdown(blob.path.as_bytes()))
}
