//! The scan for the files of a source: markdown that git does not ignore, at any depth.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use globset::GlobMatcher;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rayon::prelude::*;

use super::excluded_files::ExcludedFiles;
use super::scan::{Scanned, may_differ_from_real, sorted};
use crate::error::{Error, ErrorKind};
use crate::note::MARKDOWN_ENDINGS;
use crate::store::fs::dir_handle::{DirHandle, FileType, is_unreadable};
use crate::store::fs::file_tree::FileTree;
use crate::store::fs::skipped::{
    FILE_HUGE, FILE_UNREADABLE, FOLDER_UNREADABLE, IgnoredEntry, PATTERNS_CUT, PATTERNS_IGNORED,
};
use crate::store::fs::stat::FileEntry;
use crate::store::fs::tree::shown;
use crate::store::git::worktree::common_git_dir;

const GITIGNORE: &str = ".gitignore";
/// git's own folder in a working tree.
const GIT: &str = ".git";
/// The file of patterns that git keeps for itself, in its own folder.
const EXCLUDE: &str = "info/exclude";
/// How many bytes and patterns of one such file count, and how many patterns of all files of a source. Files that people
/// write have a few hundred patterns; each takes about 10 KB of memory and 17 µs at every call.
const MAX_GITIGNORE: u64 = 64 * 1024;
const MAX_PATTERNS: usize = 1_000;
const MAX_PATTERNS_OF_SOURCE: usize = 4_000;
/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// The number of files whose stats one task takes.
const FILES_PER_TASK: usize = 128;
/// The deepest folder that is entered.
const MAX_DEPTH: usize = 64;

/// Which files of a folder belong to a source.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct SourceRules {
    /// The folder of the source.
    pub(crate) root: PathBuf,
    /// The glob that a file or a folder above it matches, with the folder that its paths are relative to.
    pub(in crate::store) glob: Option<(PathBuf, GlobMatcher)>,
    /// The patterns of `.gitignore` files above the folder.
    pub(crate) above: PatternsAbove,
    /// The folders of other collections in it, which are not entered.
    pub(crate) excluded: Vec<PathBuf>,
    /// The files and folders in it that its settings exclude.
    pub(in crate::store) omitted: Arc<ExcludedFiles>,
    /// Whether the folder is among the notes of a store, which has all files in it.
    pub(in crate::store) is_in_notes: bool,
    /// The sources in it whose files they have before this one.
    pub(crate) before: Vec<Arc<SourceRules>>,
}

/// The patterns of the files above the folder of a source.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct PatternsAbove {
    /// Those of each file, the outermost first.
    all: Vec<Arc<Gitignore>>,
    /// Their number.
    count: usize,
    /// The files that do not count as a whole, each by its path from the source, with the reason.
    cut: Vec<IgnoredEntry>,
}

/// The patterns of one file, as far as they count.
#[derive(Debug, Clone)]
pub(in crate::store) struct PatternFile {
    /// `None` if there are none.
    patterns: Option<Arc<Gitignore>>,
    count: usize,
    is_cut: bool,
}

/// The files of patterns that were read, by path: sources with a folder above them in common share its file.
pub(in crate::store) type KnownPatterns = HashMap<PathBuf, Option<PatternFile>>;

/// What a scan has found so far.
struct ScanState {
    scanned: Scanned,
    waiting: Vec<Waiting>,
    /// The number of patterns so far.
    patterns: usize,
}

/// The patterns that apply in a folder: those of its own file, and those of the folders above.
struct IgnoreChain {
    own: Arc<Gitignore>,
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
    pub(in crate::store) fn reads(&self, path: &Path) -> bool {
        let dir = DirHandle::new(&self.root).ok();
        let file = dir.and_then(|dir| pattern_file(&dir, Path::new(GITIGNORE), &self.root));
        let own = file.filter(|file| self.above.count + file.count <= MAX_PATTERNS_OF_SOURCE);
        let chain = own.and_then(|file| file.patterns).map(|own| Rc::new(IgnoreChain { own, above: None }));
        let mut above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let is_ignored = self.is_ignored(path, false, chain.as_ref())
            || above.any(|above| self.is_ignored(above, true, chain.as_ref()));
        let is_own = self.includes(&self.root.join(path)) && !self.is_taken(path);
        is_own && !is_ignored && !self.omitted.has_or_contains(path)
    }

    fn is_glob_match(&self, path: &Path) -> bool {
        let Some((base, glob)) = &self.glob else { return true };
        self.root.join(path).strip_prefix(base).is_ok_and(|path| glob.is_match(path))
    }

    /// Whether git ignores a path in the source.
    fn is_ignored(&self, path: &Path, is_folder: bool, chain: Option<&Rc<IgnoreChain>>) -> bool {
        if chain.is_none() && self.above.all.is_empty() {
            return false;
        }
        let absolute = self.root.join(path);
        let chain = std::iter::successors(chain, |chain| chain.above.as_ref()).map(|chain| &chain.own);
        for patterns in chain.chain(self.above.all.iter().rev()) {
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
        let mut scanned = self.scan_until(dir, |_| false)?;
        scanned.files = sorted(vec![scanned.files]);
        Ok(scanned)
    }

    /// Whether there is a file of the source, be it one that can't be read; also if the folder can't be listed.
    pub(in crate::store) fn has_files(&self, dir: &DirHandle) -> bool {
        let has_file = |scanned: &Scanned| {
            let is_file = |(_, reason): &IgnoredEntry| [FILE_HUGE, FILE_UNREADABLE].contains(reason);
            !scanned.files.is_empty() || scanned.unreadable.iter().any(is_file)
        };
        self.scan_until(dir, has_file).map_or(true, |scanned| has_file(&scanned))
    }

    /// Lists the files of the source, folder by folder, until `is_done`.
    fn scan_until(&self, dir: &DirHandle, is_done: impl Fn(&Scanned) -> bool) -> Result<Scanned, Error> {
        if self.is_in_notes {
            return Ok(Scanned::default());
        }
        let is_matched = self.glob.is_none();
        let waiting = vec![Waiting { path: PathBuf::new(), depth: 0, is_matched, ignored: None }];
        let scanned = Scanned { unreadable: self.above.cut.clone(), ..Scanned::default() };
        let mut state = ScanState { scanned, waiting, patterns: self.above.count };
        while let Some(folder) = state.waiting.pop() {
            let is_first = folder.depth == 0;
            let path = folder.path.clone();
            match self.list(dir, folder, &mut state) {
                Ok(()) => {}
                Err(error) if is_first => {
                    let message = format!("can't read {}: {error}", self.root.display());
                    return Err(Error::new(ErrorKind::Store, message));
                }
                Err(error) if is_unreadable(&error) => {
                    state.scanned.unreadable.push((shown(&path), FOLDER_UNREADABLE));
                }
                Err(_) => {}
            }
            if is_done(&state.scanned) {
                break;
            }
        }
        Ok(state.scanned)
    }

    /// Lists one folder: adds its files, and the folders in it to those that wait.
    fn list(&self, dir: &DirHandle, folder: Waiting, state: &mut ScanState) -> std::io::Result<()> {
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
        // Which files of patterns count does not depend on the order of the folder.
        folders.sort_unstable();
        let own = has_patterns.then(|| self.patterns(handle, &folder.path, state)).flatten();
        let ignored = match own {
            Some(own) => Some(Rc::new(IgnoreChain { own, above: folder.ignored })),
            None => folder.ignored,
        };
        let files = files.into_iter().map(|name| (folder.path.join(&name), name)).filter(|(path, _)| {
            let is_matched = folder.is_matched || self.is_glob_match(path);
            let is_left_out = self.is_ignored(path, false, ignored.as_ref()) || self.omitted.has(path);
            is_matched && !is_left_out && !self.is_taken(path)
        });
        add_files(handle, files.collect(), &mut state.scanned);
        for name in folders {
            let path = folder.path.join(&name);
            if self.is_excluded(handle, &path, folder.depth) || self.is_ignored(&path, true, ignored.as_ref()) {
                continue;
            }
            let is_matched = folder.is_matched || self.is_glob_match(&path);
            state.waiting.push(Waiting { path, depth: folder.depth + 1, is_matched, ignored: ignored.clone() });
        }
        Ok(())
    }

    /// Reads the patterns of a folder; `None` if there are none that count.
    fn patterns(&self, handle: &DirHandle, path: &Path, state: &mut ScanState) -> Option<Arc<Gitignore>> {
        let file = pattern_file(handle, Path::new(GITIGNORE), &self.root.join(path))?;
        let (cut, patterns) = counted(&file, &mut state.patterns);
        state.scanned.unreadable.extend(cut.map(|reason| (shown(&path.join(GITIGNORE)), reason)));
        patterns
    }

    /// Whether another source has a file before this one.
    fn is_taken(&self, path: &Path) -> bool {
        !self.before.is_empty() && {
            let file = self.root.join(path);
            self.before.iter().any(|source| source.includes(&file))
        }
    }

    /// Whether a folder is not entered: it is excluded, that of another collection, is a store, or lies too deep.
    fn is_excluded(&self, parent: &DirHandle, path: &Path, depth: usize) -> bool {
        let name = Path::new(path.file_name().unwrap_or_default());
        let is_store = || {
            let Ok(folder) = parent.folder(name) else { return false };
            folder.kind("config.toml".as_ref()) == Some(FileType::File)
                && folder.kind("notes".as_ref()) == Some(FileType::Folder)
        };
        depth >= MAX_DEPTH
            || self.omitted.has(path)
            || self.excluded.iter().any(|other| *other == self.root.join(path))
            || (name == Path::new("qipu") && is_store())
    }
}

/// Adds files of a folder, each by its path and its name, with their stats; those that are too long are listed as not read.
fn add_files(handle: &DirHandle, files: Vec<(PathBuf, OsString)>, scanned: &mut Scanned) {
    let stat = |(path, name): (PathBuf, OsString)| {
        let shown = shown(&path);
        match handle.file_stat(&name) {
            Ok(Some(stat)) if stat.size > MAX_FILE => Some(Err((shown, FILE_HUGE))),
            Ok(Some(stat)) => {
                let real_path = may_differ_from_real(&shown).then(|| path.into());
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
pub(in crate::store) fn is_markdown(name: &[u8]) -> bool {
    let ending = name.rsplitn(2, |byte| *byte == b'.').next().filter(|ending| ending.len() < name.len());
    ending.is_some_and(|ending| MARKDOWN_ENDINGS.iter().any(|known| known.as_bytes() == ending))
}

/// Reads a file of patterns for a folder, as far as it counts; `None` if it can't be read.
fn pattern_file(dir: &DirHandle, path: &Path, folder: &Path) -> Option<PatternFile> {
    let mut bytes = Vec::new();
    dir.read_start(path, MAX_GITIGNORE + 1, &mut bytes).ok()?;
    let is_long = bytes.len() as u64 > MAX_GITIGNORE;
    if is_long {
        // A line that is read in part is no pattern of the file.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or_default());
    }
    let mut builder = GitignoreBuilder::new(folder);
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.trim_start_matches('\u{feff}').lines();
    let mut lines = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let mut count = 0;
    for line in lines.by_ref().take(MAX_PATTERNS) {
        // git ignores a pattern that is not valid, too.
        let _ = builder.add_line(None, line);
        count += 1;
    }
    let patterns = builder.build().ok().filter(|patterns| !patterns.is_empty()).map(Arc::new);
    Some(PatternFile { patterns, count, is_cut: is_long || lines.next().is_some() })
}

/// Adds the patterns of a file to their number, and returns them if they count, and the reason if not all of them do.
fn counted(file: &PatternFile, count: &mut usize) -> (Option<&'static str>, Option<Arc<Gitignore>>) {
    if *count + file.count > MAX_PATTERNS_OF_SOURCE {
        return (Some(PATTERNS_IGNORED), None);
    }
    *count += file.count;
    (file.is_cut.then_some(PATTERNS_CUT), file.patterns.clone())
}

/// Whether git ignores a file, by its absolute path: it, or a folder above it. Without a repository, nothing is ignored.
pub(crate) fn is_ignored_by_git(files: &FileTree, file: &Path) -> bool {
    let Some(root) = file.parent().and_then(|folder| files.repository_root(folder)) else { return false };
    let above = patterns_above(files, root, file, &mut KnownPatterns::new());
    let rules = SourceRules { root: root.to_path_buf(), above, ..SourceRules::default() };
    let Ok(below) = file.strip_prefix(root) else { return false };
    let mut paths = below.ancestors().filter(|path| !path.as_os_str().is_empty());
    paths.any(|path| rules.is_ignored(path, path != below, None))
}

/// Reads the patterns of the folders from the root of a repository down to a folder, without that of the folder itself.
pub(in crate::store) fn patterns_above(
    files: &FileTree,
    repository: &Path,
    folder: &Path,
    known: &mut KnownPatterns,
) -> PatternsAbove {
    let (Ok(root), Ok(below)) = (files.dir(repository), folder.strip_prefix(repository)) else {
        return PatternsAbove::default();
    };
    let mut above = PatternsAbove::default();
    let mut add = |path: &Path, folder: &Path, read: &dyn Fn() -> Option<PatternFile>| {
        let Some(file) = known.entry(repository.join(path)).or_insert_with(read).clone() else { return };
        let (cut, patterns) = counted(&file, &mut above.count);
        let in_folder = shown(path.strip_prefix(folder).unwrap_or(path));
        let ways = below.components().count() - folder.components().count();
        above.cut.extend(cut.map(|reason| ("../".repeat(ways) + &in_folder, reason)));
        above.all.extend(patterns);
    };
    let git = common_git_dir(repository).unwrap_or_else(|| repository.join(GIT));
    add(&Path::new(GIT).join(EXCLUDE), Path::new(""), &|| {
        pattern_file(&DirHandle::new(&git).ok()?, Path::new(EXCLUDE), repository)
    });
    let mut folders: Vec<&Path> = below.ancestors().skip(1).collect();
    folders.reverse();
    for folder in folders {
        let path = folder.join(GITIGNORE);
        add(&path, folder, &|| pattern_file(&root, &path, &repository.join(folder)));
    }
    above
}
