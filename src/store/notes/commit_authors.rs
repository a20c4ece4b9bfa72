//! The authors of the last commits of notes, from git's history.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::note_idx::NoteIdx;
use super::store::Store;
use crate::note::MAX_BYTES;
use crate::store::git::history::GitHistory;
use crate::store::git::source_text::SourceText;

/// The content of a file after the commit that changed it last.
struct LastChange<'h> {
    commit: &'h str,
    object: &'h str,
}

impl Store {
    /// Returns the e-mail addresses of the authors of the commits that changed the files of notes last, for wanted authors
    /// and for files that are as those commits left them. Empty without git. Starts processes.
    pub fn commit_authors(&self, is_wanted: impl Fn(&str) -> bool) -> HashMap<NoteIdx, String> {
        self.read_commit_authors(is_wanted).unwrap_or_default()
    }

    fn read_commit_authors(&self, is_wanted: impl Fn(&str) -> bool) -> Option<HashMap<NoteIdx, String>> {
        let files = self.project_files(0)?;
        let folder = self.project_path(self.first().root.to_str()?)?;
        let history = files.history(Some(std::slice::from_ref(&folder)))?;
        let last_changes = last_changes(&history);
        let authors = history.authors(last_changes.values().map(|change| change.commit).collect(), "%ae")?;
        // Those of the first collection.
        let own = NoteIdx::enumerate(self.notes()).take(self.first().notes.len());
        let authored = own.filter_map(|(index, note)| {
            let change = last_changes.get(format!("{folder}/{}", note.path).as_str())?;
            Some((index, change, authors.get(change.commit).filter(|author| is_wanted(author))?))
        });
        let authored: Vec<_> = authored.collect();
        let objects: BTreeSet<String> = authored.iter().map(|(_, change, _)| change.object.to_owned()).collect();
        let contents = history.contents(&objects);
        // git itself would run filters that the repository names to compare them.
        let is_as_committed = |index: NoteIdx, change: &LastChange<'_>| {
            let bytes = self.first().dir.as_ref()?.read(Path::new(&self.notes()[index].path), MAX_BYTES as u64).ok()?;
            Some(contents.get(change.object)?.as_str() == SourceText::new(&bytes).as_str())
        };
        let authored = authored.into_iter().filter(|(index, change, _)| is_as_committed(*index, change) == Some(true));
        Some(authored.map(|(index, _, author)| (index, author.clone())).collect())
    }
}

/// Returns the last change of each file that a commit contains; none of a file for which another content is staged.
fn last_changes<'h>(history: &'h GitHistory<'_>) -> HashMap<&'h str, LastChange<'h>> {
    let (mut seen, mut last_changes) = (HashSet::new(), HashMap::new());
    let changes = history.commits.iter().flat_map(|commit| commit.changes.iter().map(move |change| (commit, change)));
    for (commit, change) in changes {
        let path = |blob: &'h crate::store::git::history::Blob| blob.path.as_str();
        let is_first = change.after.as_ref().is_some_and(|blob| seen.insert(path(blob)));
        seen.extend(change.before.as_ref().map(path));
        if let (true, Some(after), false) = (is_first, &change.after, commit.id.is_empty()) {
            last_changes.insert(path(after), LastChange { commit: &commit.id, object: &after.object });
        }
    }
    last_changes
}
