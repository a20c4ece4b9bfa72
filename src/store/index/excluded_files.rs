//! The files of a source that its settings exclude: those of `exclude`, and the templates of an Obsidian vault.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use crate::escape::abbreviated;
use crate::note::Dialect;
use crate::store::fs::dir_handle::DirHandle;

/// The most patterns of one source, and the longest one in bytes: each pattern is compared with every path.
const MAX_PATTERNS: usize = 100;
const MAX_PATTERN: usize = 4_096;
/// The greatest length of a file of settings that is read, in bytes.
const MAX_SETTINGS: u64 = 64 * 1024;

/// The settings that name the folder of templates, each with its key: those of Obsidian itself, and of the plugin Templater.
const TEMPLATE_SETTINGS: [(&str, &str); 2] =
    [(".obsidian/templates.json", "folder"), (".obsidian/plugins/templater-obsidian/data.json", "templates_folder")];
/// The folder of templates where no setting names one.
const TEMPLATES: &str = "Templates";

/// What a source excludes, by paths in its folder.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct ExcludedFiles {
    patterns: Vec<GlobMatcher>,
    folders: Vec<PathBuf>,
}

impl ExcludedFiles {
    /// Compiles the patterns of a source, and reads where an Obsidian vault has its templates.
    ///
    /// # Errors
    /// The end of a sentence that begins with the source, for a pattern that is not valid.
    pub(in crate::store) fn new(dir: &DirHandle, dialect: Dialect, exclude: &[String]) -> Result<Self, String> {
        if exclude.len() > MAX_PATTERNS {
            return Err(format!("excludes more than {MAX_PATTERNS} patterns"));
        }
        let pattern = |text: &String| {
            let glob = GlobBuilder::new(text.trim_matches('/')).literal_separator(true).build().ok();
            let glob = glob.filter(|_| text.len() <= MAX_PATTERN && !text.is_empty());
            let refused = || format!("excludes `{}`, which is not a valid glob", abbreviated(text));
            glob.map(|glob| glob.compile_matcher()).ok_or_else(refused)
        };
        let patterns = exclude.iter().map(pattern).collect::<Result<_, _>>()?;
        let folders = if dialect == Dialect::Obsidian { template_folders(dir) } else { Vec::new() };
        Ok(Self { patterns, folders })
    }

    /// Whether a file or folder is excluded by its own path, whatever is above it.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| folder == path) || self.patterns.iter().any(|pattern| pattern.is_match(path))
    }

    /// Whether a file is excluded, or a folder above it.
    pub(super) fn has_or_contains(&self, path: &Path) -> bool {
        path.ancestors().any(|path| !path.as_os_str().is_empty() && self.has(path))
    }
}

/// Returns the folders of templates of an Obsidian vault.
fn template_folders(dir: &DirHandle) -> Vec<PathBuf> {
    let named = |(file, key): (&str, &str)| {
        let settings: Value = serde_json::from_slice(&dir.read(Path::new(file), MAX_SETTINGS).ok()?).ok()?;
        let folder = settings.get(key)?.as_str()?.trim().trim_matches('/').to_owned();
        (!folder.is_empty()).then(|| PathBuf::from(folder))
    };
    let named: Vec<PathBuf> = TEMPLATE_SETTINGS.into_iter().filter_map(named).collect();
    if named.is_empty() { vec![PathBuf::from(TEMPLATES)] } else { named }
}
