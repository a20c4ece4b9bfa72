//! `qipu import`: the notes of another app come into the store, all of them or none. Its folder is
//! read and nothing else.
//!
//! Everything is planned before the first file is written. A note that was imported before is known
//! by what it says of its source: it follows its page as long as nobody changed it in the store.

mod drafts;
mod links;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::import::{AppSettings, FileRole, ImportedPage, ReferenceTarget, ResolvedName, Vault, attachment_path};
use crate::note::{MAX_BYTES, NoteId};
use crate::progress;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, ReportKind};
use crate::request::{ImportFrom, ImportRequest};
use crate::store::{self, Change, ExternalDir, Store};
use drafts::{Draft, ImportAction};

/// The longest attachment that is taken, and the most of all that are taken at once, in bytes: what
/// is planned is held in memory.
const MAX_ATTACHMENT: u64 = 64 * 1024 * 1024;
const MAX_ATTACHMENTS: u64 = 512 * 1024 * 1024;

/// Kinds of findings that a folder may have hundreds of, and how many of each are shown one by one.
const REPEATED: [&str; 4] = ["broken-block", "broken-link", "link-by-name", "query"];
const MAX_REPEATED: usize = 10;

/// Imports a folder, or shows what that would do.
pub(super) fn run(request: &ImportRequest, current_dir: &Path) -> Result<Report, Error> {
    if request.is_dry_run {
        let store = Store::open(&request.location, current_dir)?;
        let source = SourceFolder::read(request, &store, current_dir)?;
        return Ok(ImportPlan::of(&store, &source, request)?.into_report());
    }
    let (store, lock) = Store::open_to_write(&request.location, current_dir)?;
    let source = SourceFolder::read(request, &store, current_dir)?;
    let plan = ImportPlan::of(&store, &source, request)?;
    store.apply(&plan.changes, &lock)?;
    Ok(plan.into_report())
}

/// A folder as it was read.
struct SourceFolder {
    folder: ExternalDir,
    /// What the folder is called in the notes.
    name: String,
    settings: AppSettings,
    vault: Vault,
    /// Where each attachment comes to lie, by its path in the folder.
    attachments: Vec<(String, String)>,
    /// What can't be carried over: a path in the folder, a code, a sentence.
    left: Vec<(String, &'static str, String)>,
}

impl SourceFolder {
    fn read(request: &ImportRequest, store: &Store, current_dir: &Path) -> Result<Self, Error> {
        store.expect_all_readable()?;
        let folder = ExternalDir::open(&request.dir, current_dir)?;
        store::expect_apart(&folder, store)?;
        expect_vault(request, &folder, store)?;
        let settings = AppSettings::read(request.from, &folder.settings(AppSettings::file(request.from)));
        let (mut pages, mut files, mut left) = (Vec::new(), Vec::new(), Vec::new());
        let mut leave = |path: &str, why: String| left.push((path.to_owned(), "not-imported", why));
        let work = progress::begin("reading the folder", folder.files.len());
        for file in &folder.files {
            progress::advance();
            match settings.role(&file.path) {
                FileRole::Own => {}
                FileRole::Left(why) => leave(&file.path, why.to_owned()),
                FileRole::Attachment => files.push(file.path.clone()),
                FileRole::Page => match text(file.read(MAX_BYTES as u64)) {
                    Ok(text) => pages.push(settings.page(&file.path, &text)),
                    Err(why) => leave(&file.path, why),
                },
            }
        }
        drop(work);
        folder.passed_over.iter().for_each(|(path, why)| leave(path, why.clone()));
        if request.from == ImportFrom::Logseq && !is_graph(&folder) {
            let message = format!("{} is no Logseq graph: no page or journal in it", request.dir.display());
            return Err(Error::usage(message).hint("give the folder that holds pages/ and journals/"));
        }
        let name = request.name.clone().unwrap_or_else(|| folder.name.clone());
        let vault = Vault::new(request.from, pages, &files);
        let linked = linked_files(&vault);
        let (files, others): (Vec<String>, Vec<String>) =
            files.into_iter().partition(|path| settings.is_media(path) || linked.contains(path));
        if let Some(first) = others.first() {
            let why = format!("{} files that no page links to were not imported, this one first", others.len());
            left.push((first.clone(), "not-imported", why));
        }
        let attachments = attachment_places(&settings, &files);
        Ok(Self { folder, name, settings, vault, attachments, left })
    }

    /// Returns where an attachment comes to lie in the store.
    fn attachment(&self, path: &str) -> Option<&str> {
        let place = self.attachments.binary_search_by(|(have, _)| have.as_str().cmp(path)).ok()?;
        self.attachments.get(place).map(|(_, to)| to.as_str())
    }

    /// Finds what a page refers to.
    fn resolve(&self, page: &ImportedPage, target: &ReferenceTarget) -> Option<ResolvedName> {
        self.vault.resolve(&page.source, target)
    }
}

/// Returns the files that pages link to. A folder may hold much that is none of its pages' business.
fn linked_files(vault: &Vault) -> HashSet<String> {
    let of_page = |page: &ImportedPage| {
        let found = page.references().iter().filter_map(|reference| vault.resolve(&page.source, &reference.target));
        let files = found.filter_map(|found| match found {
            ResolvedName::File(path) => Some(path),
            ResolvedName::Page(_) => None,
        });
        files.collect::<Vec<_>>()
    };
    vault.pages.iter().flat_map(of_page).collect()
}

/// Refuses the folder of a project that holds the store: its README and other documents are no vault.
fn expect_vault(request: &ImportRequest, folder: &ExternalDir, store: &Store) -> Result<(), Error> {
    let is_project = request.from == ImportFrom::Obsidian && folder.contains(store) && !folder.has_folder(".obsidian");
    if !is_project || request.is_forced {
        return Ok(());
    }
    let message = format!("{} holds this store and has no .obsidian folder", request.dir.display());
    Err(Error::usage(message).hint("give the vault's folder, or add --force to import every markdown file in it"))
}

/// Tells whether a folder holds what a graph does.
fn is_graph(folder: &ExternalDir) -> bool {
    folder.files.iter().any(|file| {
        let is_page = file.path.ends_with(".md") || file.path.ends_with(".markdown") || file.path.ends_with(".org");
        file.path.starts_with("logseq/") || (is_page && file.path.contains('/'))
    })
}

fn text(read: Result<Vec<u8>, String>) -> Result<String, String> {
    String::from_utf8(read?)
        .map_err(|error| format!("it is not UTF-8 from byte {} on; convert it first", error.utf8_error().valid_up_to()))
}

/// Gives every attachment a place, by the order of their paths in the folder. Where two have one,
/// the second gets a number that stands for its path.
fn attachment_places(settings: &AppSettings, files: &[String]) -> Vec<(String, String)> {
    let mut taken = drafts::TakenPaths::default();
    let place = |path: &String| {
        let number = NoteId::generated(crate::import::page_hash(ImportFrom::Logseq, "", path));
        let wanted = attachment_path(settings, path).filter(|to| taken.is_free(to));
        let beside = || {
            let ending = path
                .rsplit_once('.')
                .map(|(_, ending)| ending)
                .filter(|ending| ending.len() <= 10 && ending.bytes().all(|b| b.is_ascii_alphanumeric()));
            ending.map_or_else(|| format!("attachments/{number}"), |ending| format!("attachments/{number}.{ending}"))
        };
        let to = wanted.unwrap_or_else(beside);
        taken.take(&to);
        (path.clone(), to)
    };
    let mut places: Vec<_> = files.iter().map(place).collect();
    places.sort();
    places
}

/// What is to be done, and what is told of it.
struct ImportPlan<'a> {
    store: &'a Store,
    source: &'a SourceFolder,
    request: &'a ImportRequest,
    changes: Vec<Change>,
    entries: Vec<Entry>,
    findings: Vec<DiagnosticEntry>,
}

impl<'a> ImportPlan<'a> {
    fn of(store: &'a Store, source: &'a SourceFolder, request: &'a ImportRequest) -> Result<Self, Error> {
        let (changes, entries, findings) = (Vec::new(), Vec::new(), Vec::new());
        let mut plan = Self { store, source, request, changes, entries, findings };
        let mut drafts = drafts::make(store, source, request)?;
        let told = links::carry_over(store, source, request, &mut drafts);
        drafts.iter().for_each(|draft| plan.take(draft));
        plan.attach()?;
        for (path, code, message) in &source.left {
            plan.find(None, path, code, message.clone());
        }
        drafts.iter().for_each(|draft| plan.find_odd(draft));
        for (path, code, message) in told {
            plan.find(None, &path, code, message);
        }
        Ok(plan)
    }

    /// Plans what becomes of a page.
    fn take(&mut self, draft: &Draft<'_>) {
        let new = draft.composed.text.clone().into_bytes();
        let change = match &draft.fate {
            ImportAction::Kept { .. } => None,
            ImportAction::New => Some(Change::Create { path: draft.path.clone(), new }),
            ImportAction::Follows { old } => {
                let old = old.clone().into_bytes();
                (old != new).then(|| Change::Replace { path: draft.path.clone(), old, new })
            }
        };
        match change {
            Some(change) => self.change(Some(&draft.id), change),
            None => {
                let action = if matches!(draft.fate, ImportAction::Kept { is_conflict: true }) {
                    "skipped"
                } else {
                    "unchanged"
                };
                self.tell(Some(&draft.id), action, &draft.path, None);
            }
        }
    }

    /// Tells what is odd about a page and its note.
    fn find_odd(&mut self, draft: &Draft<'_>) {
        let source = draft.page.source.clone();
        if draft.page.queries() > 0 {
            let message = "queries are kept as text and are not run".to_owned();
            self.find(Some(&draft.id), &source, "query", message);
        }
        if let ImportAction::Kept { is_conflict: true } = draft.fate {
            let message =
                "the page and its note were both changed since the last import; the note stays as it is".to_owned();
            self.find(Some(&draft.id), &source, "import-conflict", message);
        }
        for reason in &draft.composed.refused {
            self.find(Some(&draft.id), &source, "field-not-carried", reason.clone());
        }
        for (code, message) in &draft.odd {
            self.find(Some(&draft.id), &source, code, message.clone());
        }
    }

    /// Plans the attachments.
    fn attach(&mut self) -> Result<(), Error> {
        let mut left = MAX_ATTACHMENTS;
        let by_path: HashMap<&str, &store::ExternalFile> =
            self.source.folder.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let _work = progress::begin("reading attachments", self.source.attachments.len());
        for (path, to) in &self.source.attachments {
            progress::advance();
            let Some(file) = by_path.get(path.as_str()) else { continue };
            let bytes = match file.read(MAX_ATTACHMENT) {
                Ok(bytes) => bytes,
                Err(why) => {
                    self.find(
                        None,
                        path,
                        "not-imported",
                        format!("{why}; links to it lead to {}", self.store.shown(to)),
                    );
                    continue;
                }
            };
            match self.store.file(to)? {
                Some(old) if old == bytes => self.tell(None, "unchanged", to, None),
                Some(_) => {
                    self.tell(None, "skipped", to, None);
                    let message = format!("{} is there and is another; it stays", self.store.shown(to));
                    self.find(None, path, "attachment-differs", message);
                }
                None if bytes.len() as u64 > left => {
                    let message = format!(
                        "attachments of more than {MAX_ATTACHMENTS} bytes are too many for one call; import again"
                    );
                    self.find(None, path, "not-imported", message);
                }
                None => {
                    left -= bytes.len() as u64;
                    self.change(None, Change::Create { path: to.clone(), new: bytes });
                }
            }
        }
        Ok(())
    }

    fn change(&mut self, id: Option<&NoteId>, change: Change) {
        let shows_diff = self.request.is_dry_run && id.is_some();
        let diff = shows_diff.then(|| change.diff(&self.store.shown_path));
        self.tell(id, change.name(), change.path(), diff);
        self.changes.push(change);
    }

    fn tell(&mut self, id: Option<&NoteId>, action: &'static str, path: &str, diff: Option<String>) {
        let path = self.store.shown(path);
        self.entries.push(Entry::Change(ChangeEntry { id: id.cloned(), action, path, diff }));
    }

    /// Tells of something in the folder.
    fn find(&mut self, id: Option<&NoteId>, path: &str, code: &'static str, message: String) {
        let path = shown(&self.request.dir, path);
        self.findings.push(DiagnosticEntry { is_error: false, code, id: id.cloned(), path, line: None, message });
    }

    fn into_report(self) -> Report {
        let mode = ReportKind::Change { command: "import", is_dry_run: self.request.is_dry_run };
        let totals = totals(&self.entries);
        let finished = super::change::finished(self.store).into_iter();
        let findings = finished.chain(shortened(self.findings)).map(Entry::Finding);
        let entries = self.entries.into_iter().chain(findings).chain(totals).collect();
        Report::new(ReportHead::new(mode, Some(&self.store.shown_path)), entries)
    }
}

/// Counts notes and attachments by what became of them.
fn totals(entries: &[Entry]) -> Vec<Entry> {
    let mut counts: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for entry in entries {
        if let Entry::Change(change) = entry {
            *counts.entry((change.id.is_none(), change.action)).or_default() += 1;
        }
    }
    let fact = |((is_attachment, action), count): ((bool, &str), usize)| {
        let kind = if is_attachment { "attachments" } else { "notes" };
        Entry::Fact { name: format!("{kind} {action}"), count }
    };
    counts.into_iter().map(fact).collect()
}

/// Keeps the first findings of each repetitive kind, and one that counts the others.
fn shortened(findings: Vec<DiagnosticEntry>) -> Vec<DiagnosticEntry> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut is_kept = |finding: &DiagnosticEntry| {
        let count = counts.entry(finding.code).or_default();
        *count += 1;
        *count <= MAX_REPEATED || !REPEATED.contains(&finding.code)
    };
    let mut kept: Vec<DiagnosticEntry> = findings;
    kept.retain(&mut is_kept);
    for code in REPEATED {
        let more = counts.get(code).copied().unwrap_or_default().saturating_sub(MAX_REPEATED);
        let Some(last) = kept.iter().rposition(|finding| finding.code == code).filter(|_| more > 0) else { continue };
        let message = format!("{more} more findings like these; `qipu doctor` lists broken links");
        let path = kept.get(last).map(|finding| finding.path.clone()).unwrap_or_default();
        kept.insert(last + 1, DiagnosticEntry { is_error: false, code, id: None, path, line: None, message });
    }
    kept
}

/// Returns the path of a file in the folder, as the user named that.
fn shown(dir: &Path, path: &str) -> String {
    let shown: PathBuf = dir.join(path);
    shown.to_string_lossy().into_owned()
}
