//! The authors of the last commits of notes, from git's history.

use std::collections::{HashMap, HashSet};

use super::{NoteIdx, Store};

impl Store {
    /// Returns the e-mail addresses of the authors of the commits that changed the files of notes last, for files that are as
    /// those commits left them. Empty without git. Starts processes.
    pub fn commit_authors(&self) -> HashMap<NoteIdx, String> {
        self.read_commit_authors().unwrap_or_default()
    }

    fn read_commit_authors(&self) -> Option<HashMap<NoteIdx, String>> {
        let files = self.project_files(0)?;
        let folder = [self.project_path(self.root.to_str()?)?];
        let history = files.history(Some(&folder))?;
        let mut seen: HashSet<&str> = HashSet::new();
        let mut last_commits: HashMap<&str, &str> = HashMap::new();
        for commit in &history.commits {
            for change in &commit.changes {
                let paths = [change.before.as_ref(), change.after.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|blob| blob.path.as_str());
                for path in paths.filter(|path| seen.insert(path)).collect::<Vec<_>>() {
                    // What is staged has no author yet.
                    if change.after.is_some() && !commit.id.is_empty() {
                        last_commits.insert(path, &commit.id);
                    }
                }
            }
        }
        let changed = history.changed_since_staged(&folder)?;
        last_commits.retain(|path, _| !changed.contains(*path));
        let authors = history.author_emails(last_commits.values().copied().collect())?;
        let of_note =
            |(index, path): (NoteIdx, String)| Some((index, authors.get(*last_commits.get(path.as_str())?)?.clone()));
        let notes = NoteIdx::enumerate(self.notes());
        Some(notes.map(|(index, note)| (index, format!("{}/{}", folder[0], note.path))).filter_map(of_note).collect())
    }
}
