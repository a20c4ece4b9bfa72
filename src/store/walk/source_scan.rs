//! The scan for the files of a source: markdown that git does not ignore, at any depth.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use globset::GlobMatcher;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rayon::prelude::*;

use super::dir_handle::{DirHandle, FileType, is_unreadable};
use super::scan::{Scanned, sorted};
use super::stat::FileEntry;
use super::tree::shown;
use crate::error::{Error, ErrorKind};
use crate::note::MARKDOWN_ENDINGS;
use crate::store::worktree::common_git_dir;
use crate::store::{FILE_HUGE, FILE_UNREADABLE, FOLDER_UNREADABLE};

/// The name of git's files of patterns, and the longest that is read, in bytes.
const GITIGNORE: &str = ".gitignore";
const MAX_GITIGNORE: u64 = 1024 * 1024;
/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// The number of files whose stats one task takes.
const FILES_PER_TASK: usize = 128;
/// The deepest folder that is entered.
const MAX_DEPTH: usize = 64;

/// Which files of a folder belong to a source.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceRules {
    /// The folder of the source.
    pub(crate) root: PathBuf,
    /// The glob that a file or a folder above it matches, with the folder that its paths are relative to.
    pub(crate) glob: Option<(PathBuf, GlobMatcher)>,
    /// The patterns of `.gitignore` files above the folder, the outermost first.
    pub(crate) above: Vec<Gitignore>,
    /// The folders of other collections in it, which are not entered.
    pub(crate) excluded: Vec<PathBuf>,
    /// The sources in it whose files they have before this one.
    pub(crate) before: Vec<Arc<SourceRules>>,
}

/// The patterns that apply in a folder: those of its own file, and those of the folders above.
struct IgnoreChain {
    own: Gitignore,
    above: Option<Rc<IgnoreChain>>,
}

/// A folder to visit: its path in the source, whether the glob matches it, and its patterns.
struct Waiting {
    path: PathBuf,
    depth: usize,
    is_matched: bool,
    ignored: Option<Rc<IgnoreChain>>,
}

impl SourceRules {
    /// Whether the source would have a file, if git did not ignore it.
    fn includes(&self, file: &Path) -> bool {
        let Some((base, glob)) = &self.glob else { return file.starts_with(&self.root) };
        let Ok(below) = file.strip_prefix(base) else { return false };
        below.ancestors().any(|path| !path.as_os_str().is_empty() && glob.is_match(path))
    }

    /// Whether the source would read a file in its folder, by its path there.
    pub(crate) fn reads(&self, path: &Path) -> bool {
        let patterns = DirHandle::new(&self.root).ok().and_then(|dir| self.patterns(&dir, Path::new("")));
        let chain = patterns.map(|own| Rc::new(IgnoreChain { own, above: None }));
        self.includes(&self.root.join(path)) && !self.is_taken(path) && !self.is_ignored(path, false, chain.as_ref())
    }

    fn is_glob_match(&self, path: &Path) -> bool {
        let Some((base, glob)) = &self.glob else { return true };
        self.root.join(path).strip_prefix(base).is_ok_and(|path| glob.is_match(path))
    }

    /// Whether git ignores a path in the source.
    fn is_ignored(&self, path: &Path, is_folder: bool, chain: Option<&Rc<IgnoreChain>>) -> bool {
        if chain.is_none() && self.above.is_empty() {
            return false;
        }
        let absolute = self.root.join(path);
        let chain = std::iter::successors(chain, |chain| chain.above.as_ref()).map(|chain| &chain.own);
        for patterns in chain.chain(self.above.iter().rev()) {
            match patterns.matched(&absolute, is_folder) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }

    /// Lists the files of the source with their stats, sorted by path. Symbolic links are not followed.
    ///
    /// # Errors
    /// `Store` if the folder can't be listed.
    pub(crate) fn scan(&self, dir: &DirHandle) -> Result<Scanned, Error> {
        let mut scanned = Scanned::default();
        let is_matched = self.glob.is_none();
        let mut waiting = vec![Waiting { path: PathBuf::new(), depth: 0, is_matched, ignored: None }];
        while let Some(folder) = waiting.pop() {
            let is_first = folder.depth == 0;
            let path = folder.path.clone();
            match self.list(dir, folder, &mut waiting, &mut scanned) {
                Ok(()) => {}
                Err(error) if is_first => {
                    return Err(Error::new(ErrorKind::Store, format!("the folder of a source can't be read: {error}")));
                }
                Err(error) if is_unreadable(&error) => scanned.unreadable.push((shown(&path), FOLDER_UNREADABLE)),
                Err(_) => {}
            }
        }
        scanned.files = sorted(vec![scanned.files]);
        Ok(scanned)
    }

    /// Lists one folder: adds its files, and the folders in it to those that wait.
    fn list(
        &self,
        dir: &DirHandle,
        folder: Waiting,
        waiting: &mut Vec<Waiting>,
        scanned: &mut Scanned,
    ) -> std::io::Result<()> {
        let below = if folder.depth == 0 { None } else { Some(dir.folder(&folder.path)?) };
        let handle = below.as_ref().unwrap_or(dir);
        let (mut folders, mut files, mut has_patterns) = (Vec::new(), Vec::new(), false);
        for entry in handle.entries()? {
            let entry = entry?;
            let name = entry.name.as_encoded_bytes();
            match entry.kind {
                FileType::File if name == GITIGNORE.as_bytes() => has_patterns = true,
                _ if name.starts_with(b".") => {}
                FileType::Folder => folders.push(entry.name),
                FileType::File if is_markdown(name) => files.push(entry.name),
                _ => {}
            }
        }
        let own = has_patterns.then(|| self.patterns(handle, &folder.path)).flatten();
        let ignored = match own {
            Some(own) => Some(Rc::new(IgnoreChain { own, above: folder.ignored })),
            None => folder.ignored,
        };
        let files = files.into_iter().map(|name| (folder.path.join(&name), name)).filter(|(path, _)| {
            let is_matched = folder.is_matched || self.is_glob_match(path);
            is_matched && !self.is_ignored(path, false, ignored.as_ref()) && !self.is_taken(path)
        });
        add_files(handle, files.collect(), scanned);
        for name in folders {
            let path = folder.path.join(&name);
            if self.is_excluded(handle, &path, folder.depth) || self.is_ignored(&path, true, ignored.as_ref()) {
                continue;
            }
            let is_matched = folder.is_matched || self.is_glob_match(&path);
            waiting.push(Waiting { path, depth: folder.depth + 1, is_matched, ignored: ignored.clone() });
        }
        Ok(())
    }

    /// Reads the patterns of a folder; `None` if they can't be read.
    fn patterns(&self, handle: &DirHandle, path: &Path) -> Option<Gitignore> {
        let bytes = handle.read(Path::new(GITIGNORE), MAX_GITIGNORE).ok()?;
        parse_patterns(&self.root.join(path), &bytes)
    }

    /// Whether another source has a file before this one.
    fn is_taken(&self, path: &Path) -> bool {
        !self.before.is_empty() && {
            let file = self.root.join(path);
            self.before.iter().any(|source| source.includes(&file))
        }
    }

    /// Whether a folder is not entered: it is that of another collection, is a store, or lies too deep.
    fn is_excluded(&self, parent: &DirHandle, path: &Path, depth: usize) -> bool {
        let name = Path::new(path.file_name().unwrap_or_default());
        let is_store = || {
            let Ok(folder) = parent.folder(name) else { return false };
            folder.kind("config.toml".as_ref()) == Some(FileType::File)
                && folder.kind("notes".as_ref()) == Some(FileType::Folder)
        };
        depth >= MAX_DEPTH
            || self.excluded.iter().any(|other| *other == self.root.join(path))
            || (name == Path::new("qipu") && is_store())
    }
}

/// Adds files of a folder, each by its path and its name, with their stats; those that are too long are listed as not read.
fn add_files(handle: &DirHandle, files: Vec<(PathBuf, OsString)>, scanned: &mut Scanned) {
    let stat = |(path, name): (PathBuf, OsString)| {
        let (shown, real_path) = match path.into_os_string().into_string() {
            Ok(text) if std::path::MAIN_SEPARATOR == '/' => (text, None),
            Ok(text) => (text.replace(std::path::MAIN_SEPARATOR, "/"), None),
            Err(bytes) => (shown(bytes.as_ref()), Some(PathBuf::from(bytes))),
        };
        match handle.file_stat(&name) {
            Ok(Some(stat)) if stat.size > MAX_FILE => Some(Err((shown, FILE_HUGE))),
            Ok(Some(stat)) => {
                let real_path = real_path.map(Into::into);
                Some(Ok(FileEntry { path: shown.into(), real_path, stat, slot: None }))
            }
            Err(error) if is_unreadable(&error) => Some(Err((shown, FILE_UNREADABLE))),
            Ok(None) | Err(_) => None,
        }
    };
    let all: Vec<Result<FileEntry, _>> = files.into_par_iter().with_min_len(FILES_PER_TASK).filter_map(stat).collect();
    for file in all {
        match file {
            Ok(entry) => scanned.files.push(entry),
            Err(unreadable) => scanned.unreadable.push(unreadable),
        }
    }
}

/// Whether a name has the ending of markdown files.
pub(crate) fn is_markdown(name: &[u8]) -> bool {
    let ending = name.rsplitn(2, |byte| *byte == b'.').next().filter(|ending| ending.len() < name.len());
    ending.is_some_and(|ending| MARKDOWN_ENDINGS.iter().any(|known| known.as_bytes() == ending))
}

/// Parses the patterns of a `.gitignore` in a folder. A pattern that is not valid has no effect.
fn parse_patterns(folder: &Path, bytes: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').lines() {
        // git ignores such a pattern too.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|patterns| !patterns.is_empty())
}

/// Reads the patterns of the folders from the root of a repository down to a folder, without that of the folder itself.
pub(crate) fn patterns_above(repository: &Path, folder: &Path) -> Vec<Gitignore> {
    let (Ok(root), Ok(below)) = (DirHandle::new(repository), folder.strip_prefix(repository)) else {
        return Vec::new();
    };
    let exclude = match common_git_dir(repository) {
        Some(shared) => DirHandle::new(&shared).and_then(|dir| dir.read(Path::new("info/exclude"), MAX_GITIGNORE)),
        None => root.read(Path::new(".git/info/exclude"), MAX_GITIGNORE),
    };
    let exclude = exclude.ok().and_then(|bytes| parse_patterns(repository, &bytes));
    let mut all: Vec<Gitignore> = exclude.into_iter().collect();
    let mut above: Vec<&Path> = below.ancestors().skip(1).collect();
    above.reverse();
    for path in above {
        let Ok(bytes) = root.read(&path.join(GITIGNORE), MAX_GITIGNORE) else { continue };
        all.extend(parse_patterns(&repository.join(path), &bytes));
    }
    all
}
