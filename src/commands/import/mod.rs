//! `qipu import`: imports the notes of another app, all or none. Its folder is only read.
//!
//! All changes are planned before the first file is written. A note stores its source; the next import updates it with
//! its page unless it was edited in the store.

mod drafts;
mod links;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::change::{WordsFrom, as_program, expect_held_files, with_new_text};
use super::change_store;
use super::secrets::SecretSearch;
use super::taken_paths::TakenPaths;
use crate::env::{AgentSession, Env};
use crate::error::Error;
use crate::import::{AppSettings, FileRole, ResolvedName, Vault, attachment_path, with_new_checksum};
use crate::note::{MAX_BYTES, NoteId};
use crate::progress;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, layout};
use crate::request::{ImportFrom, ImportRequest};
use crate::store::{self, Change, Dependence, ExternalDir, Location, Store};
use drafts::{Draft, ImportAction};

/// The largest attachment, and the largest total of attachments in one import, in bytes: planned changes are in memory.
const MAX_ATTACHMENT: u64 = 64 * 1024 * 1024;
const MAX_ATTACHMENTS: u64 = 512 * 1024 * 1024;

/// Codes of diagnostics that a folder may have by the hundred, and the number of each that are reported one by one.
const REPEATED: [&str; 4] = ["broken-block", "broken-link", "link-by-name", "query"];
const MAX_REPEATED: usize = 10;

/// Imports a folder, or reports what that would change.
pub(super) fn run(request: &ImportRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let current_dir = &env.current_dir;
    let agent = env.agent_session();
    let paths = (location, current_dir.as_path());
    let (_, _, report) = change_store(request.is_dry_run, paths, None, Dependence::AllNotes, |store| {
        store.expect_store()?;
        let source = SourceFolder::read(request, store, current_dir)?;
        let plan = ImportPlan::of(store, &source, request, agent.as_ref())?;
        if !request.is_secret_allowed {
            plan.expect_no_secrets()?;
        }
        expect_held_files(store, &plan.changes, env)?;
        Ok((plan.changes.clone(), plan.into_report()))
    })?;
    Ok(report)
}

/// The content of the app's folder.
struct SourceFolder {
    folder: ExternalDir,
    /// The name of the folder in the notes' provenance.
    name: String,
    settings: AppSettings,
    vault: Vault,
    /// The path in the store of each attachment, sorted by its path in the folder.
    attachments: Vec<(String, String)>,
    /// Files that can't be imported: path in the folder, code, message.
    unsupported: Vec<(String, &'static str, String)>,
}

impl SourceFolder {
    fn read(request: &ImportRequest, store: &Store, current_dir: &Path) -> Result<Self, Error> {
        store.expect_all_readable()?;
        let folder = ExternalDir::open(&request.dir, current_dir)?;
        folder.expect_apart(store)?;
        expect_vault(request, &folder, store)?;
        let settings = AppSettings::file(request.from).map(|file| folder.settings(file)).unwrap_or_default();
        let settings = AppSettings::parse(request.from, &settings);
        let (mut pages, mut files, mut unsupported) = (Vec::new(), Vec::new(), Vec::new());
        let mut skip = |path: &str, reason: String| unsupported.push((path.to_owned(), "not-imported", reason));
        let work = progress::begin("reading the folder", folder.files.len());
        for file in &folder.files {
            progress::advance();
            match settings.role(&file.path) {
                FileRole::AppInternal => {}
                FileRole::Unsupported(reason) => skip(&file.path, reason.to_owned()),
                FileRole::Attachment => files.push(file.path.clone()),
                FileRole::Page => match text(file.read(MAX_BYTES as u64)) {
                    Ok(text) => pages.push(settings.page(&file.path, &text)),
                    Err(reason) => skip(&file.path, reason),
                },
            }
        }
        drop(work);
        folder.skipped.iter().for_each(|(path, reason)| skip(path, reason.clone()));
        expect_content(request, &folder)?;
        let name = request.name.clone().unwrap_or_else(|| folder.name.clone());
        let vault = Vault::new(request.from, pages, &files);
        let linked = linked_files(&vault);
        let (files, others): (Vec<String>, Vec<String>) =
            files.into_iter().partition(|path| settings.is_media(path) || linked.contains(path));
        if let Some(first) = others.first() {
            let count = others.len();
            let reason =
                format!("files that no page links to were not imported; there are {count}, and this is the first");
            unsupported.push((first.clone(), "not-imported", reason));
        }
        let attachments = attachment_paths(&settings, &files);
        Ok(Self { folder, name, settings, vault, attachments, unsupported })
    }

    fn attachment(&self, path: &str) -> Option<&str> {
        let index = self.attachments.binary_search_by(|(known, _)| known.as_str().cmp(path)).ok()?;
        self.attachments.get(index).map(|(_, to)| to.as_str())
    }
}

/// Returns the files that pages link to. A folder may contain many other files.
fn linked_files(vault: &Vault) -> HashSet<String> {
    let mut files = HashSet::new();
    for page in &vault.pages {
        for reference in &page.scan.references {
            if let Some(ResolvedName::File(path)) = vault.resolve(&page.source, &reference.target) {
                files.insert(path);
            }
        }
    }
    files
}

/// Rejects the folder of a project that contains the store, unless forced: its README and other documents are no
/// vault.
fn expect_vault(request: &ImportRequest, folder: &ExternalDir, store: &Store) -> Result<(), Error> {
    let is_project = request.from == ImportFrom::Obsidian && !folder.has_folder(".obsidian");
    if !is_project || !folder.contains(store) || request.is_forced {
        return Ok(());
    }
    let message = format!("{} contains this store and has no .obsidian folder", request.dir.display());
    Err(Error::usage(message).hint("name the vault's folder, or add --force to import every markdown file in it"))
}

/// Rejects a folder that is no graph.
fn expect_content(request: &ImportRequest, folder: &ExternalDir) -> Result<(), Error> {
    if request.from != ImportFrom::Logseq || is_graph(folder) {
        return Ok(());
    }
    let message = format!("{} is not a Logseq graph: it contains no page or journal", request.dir.display());
    Err(Error::usage(message).hint("name the folder that contains pages/ and journals/"))
}

/// Tells whether a folder has the structure of a Logseq graph.
fn is_graph(folder: &ExternalDir) -> bool {
    folder.files.iter().any(|file| {
        let is_page = file.path.ends_with(".md") || file.path.ends_with(".markdown") || file.path.ends_with(".org");
        file.path.starts_with("logseq/") || (is_page && file.path.contains('/'))
    })
}

fn text(read: Result<Vec<u8>, String>) -> Result<String, String> {
    String::from_utf8(read?).map_err(|error| {
        format!("it is not UTF-8 (first invalid byte: {}); convert it first", error.utf8_error().valid_up_to())
    })
}

/// Assigns a path in the store to each attachment, in the order of `files`. If a path is taken, the next attachment
/// gets a name derived from its path in the folder.
fn attachment_paths(settings: &AppSettings, files: &[String]) -> Vec<(String, String)> {
    let mut taken = TakenPaths::default();
    let assign = |path: &String| {
        let id = NoteId::generated(crate::import::page_hash(ImportFrom::Logseq, "", path));
        let wanted = attachment_path(settings, path).filter(|to| taken.is_free(to));
        let derived = || {
            let extension = path.rsplit_once('.').map(|(_, extension)| extension);
            let is_valid =
                |extension: &&str| extension.len() <= 10 && extension.bytes().all(|b| b.is_ascii_alphanumeric());
            let extension = extension.filter(is_valid).map(|extension| format!(".{extension}")).unwrap_or_default();
            format!("attachments/{id}{extension}")
        };
        let to = wanted.unwrap_or_else(derived);
        taken.insert(&to);
        (path.clone(), to)
    };
    let mut paths: Vec<_> = files.iter().map(assign).collect();
    paths.sort();
    paths
}

/// The planned changes, and the entries of the report.
struct ImportPlan<'a> {
    store: &'a Store,
    source: &'a SourceFolder,
    request: &'a ImportRequest,
    /// The session that imports the folder.
    agent: Option<&'a AgentSession>,
    changes: Vec<Change>,
    /// The path in the folder of the file behind each change.
    origins: Vec<String>,
    entries: Vec<Entry>,
    findings: Vec<DiagnosticEntry>,
}

impl<'a> ImportPlan<'a> {
    fn of(
        store: &'a Store,
        source: &'a SourceFolder,
        request: &'a ImportRequest,
        agent: Option<&'a AgentSession>,
    ) -> Result<Self, Error> {
        let (changes, origins, entries, findings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut plan = Self { store, source, request, agent, changes, origins, entries, findings };
        let mut drafts = drafts::create(store, source, request)?;
        let remarks = links::import_links(store, source, request, &mut drafts);
        drafts.iter().try_for_each(|draft| plan.plan_note(draft))?;
        plan.plan_attachments()?;
        for (path, code, message) in &source.unsupported {
            plan.add_diagnostic(None, path, code, message.clone());
        }
        drafts.iter().for_each(|draft| plan.add_diagnostics(draft));
        for (path, code, message) in remarks {
            plan.add_diagnostic(None, &path, code, message);
        }
        Ok(plan)
    }

    fn plan_note(&mut self, draft: &Draft<'_>) -> Result<(), Error> {
        let new = draft.composed.text.clone().into_bytes();
        let change = match &draft.action {
            ImportAction::Kept { .. } => None,
            ImportAction::New => Some(Change::Create { path: draft.path.clone(), new }),
            ImportAction::Follows { old } => {
                let old = old.clone().into_bytes();
                (old != new).then(|| Change::Replace { path: draft.path.clone(), old, new })
            }
        };
        match change {
            Some(change) => self.add_change(Some(&draft.id), &draft.page.source, change)?,
            None => {
                let is_conflict = draft.action == ImportAction::Kept { is_conflict: true };
                let action = if is_conflict { "skipped" } else { "unchanged" };
                self.add_change_entry(Some(&draft.id), action, &draft.path, None);
            }
        }
        Ok(())
    }

    fn add_diagnostics(&mut self, draft: &Draft<'_>) {
        let source = draft.page.source.clone();
        if draft.page.scan.queries > 0 {
            let message = "queries are kept as text and are not run".to_owned();
            self.add_diagnostic(Some(&draft.id), &source, "query", message);
        }
        if draft.action == (ImportAction::Kept { is_conflict: true }) {
            let message =
                "the page and its note have both changed since the last import; the note was left as it is".to_owned();
            self.add_diagnostic(Some(&draft.id), &source, "import-conflict", message);
        }
        for reason in &draft.composed.rejected {
            self.add_diagnostic(Some(&draft.id), &source, "field-not-carried", reason.clone());
        }
        for (code, message) in &draft.remarks {
            self.add_diagnostic(Some(&draft.id), &source, code, message.clone());
        }
    }

    fn plan_attachments(&mut self) -> Result<(), Error> {
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
                    let message = format!("{why}; links to it point to {}", self.store.shown(to));
                    self.add_diagnostic(None, path, "not-imported", message);
                    continue;
                }
            };
            match self.store.file(to)? {
                Some(old) if old == bytes => self.add_change_entry(None, "unchanged", to, None),
                Some(_) => {
                    self.add_change_entry(None, "skipped", to, None);
                    let message = format!("{} exists with other content and was kept", self.store.shown(to));
                    self.add_diagnostic(None, path, "attachment-differs", message);
                }
                None if bytes.len() as u64 > left => {
                    let message = format!(
                        "one import takes at most {MAX_ATTACHMENTS} bytes of attachments; import again for the rest"
                    );
                    self.add_diagnostic(None, path, "not-imported", message);
                }
                None => {
                    left -= bytes.len() as u64;
                    self.add_change(None, path, Change::Create { path: to.clone(), new: bytes })?;
                }
            }
        }
        Ok(())
    }

    /// Refuses secrets that the store does not have yet. Lines are those of the notes.
    fn expect_no_secrets(&self) -> Result<(), Error> {
        let mut search = SecretSearch::among(self.changes.iter(), self.agent.is_some());
        let files = self.changes.iter().filter_map(|change| change.files()[1]);
        for ((path, new), origin) in files.zip(&self.origins) {
            let is_note = path.ends_with(".md");
            let name = if is_note { format!("the note from {origin}") } else { origin.clone() };
            search.add_file(&name, new, is_note);
        }
        search.expect_none("the store")
    }

    /// Adds a change that comes from a file of the folder.
    fn add_change(&mut self, id: Option<&NoteId>, origin: &str, change: Change) -> Result<(), Error> {
        let path = change.path().to_owned();
        let Some(change) = self.as_importer(change, id.is_some())? else {
            self.add_change_entry(id, "unchanged", &path, None);
            return Ok(());
        };
        let shows_diff = self.request.is_dry_run && id.is_some();
        let diff = shows_diff.then(|| change.diff(&self.store.shown_path));
        self.add_change_entry(id, change.name(), change.path(), diff);
        self.changes.push(change);
        self.origins.push(origin.to_owned());
        Ok(())
    }

    /// Returns a change as one of the session that imports the folder; `None` if nothing is left of it.
    fn as_importer(&self, change: Change, is_note: bool) -> Result<Option<Change>, Error> {
        let Some(agent) = self.agent.filter(|_| is_note) else { return Ok(Some(change)) };
        let change = as_program(self.store, change, agent.tool, WordsFrom::Files)?;
        Ok(change.and_then(|change| {
            let new = change.files()[1].map(|(_, new)| with_new_checksum(&String::from_utf8_lossy(new)).into_bytes());
            with_new_text(change, new.unwrap_or_default())
        }))
    }

    fn add_change_entry(&mut self, id: Option<&NoteId>, action: &'static str, path: &str, diff: Option<String>) {
        let path = self.store.shown(path);
        self.entries.push(Entry::Change(ChangeEntry { id: id.cloned(), diff, ..ChangeEntry::of_file(action, path) }));
    }

    /// Adds a diagnostic about a file of the folder.
    fn add_diagnostic(&mut self, id: Option<&NoteId>, path: &str, code: &'static str, message: String) {
        let path = self.request.dir.join(path).to_string_lossy().into_owned();
        self.findings.push(DiagnosticEntry { id: id.cloned(), ..DiagnosticEntry::warning(code, path, message) });
    }

    fn into_report(self) -> Report {
        let head = ReportHead::of_change("import", self.request.is_dry_run, Some(&self.store.shown_path));
        let head = ReportHead { layout: &layout::IMPORT, ..head };
        let totals = totals(&self.entries);
        let finished = super::change::finished(self.store).into_iter();
        let findings = finished.chain(shortened(self.findings)).map(Entry::Finding);
        let entries = self.entries.into_iter().chain(findings).chain(totals).collect();
        Report::new(head, entries)
    }
}

/// Counts notes and attachments by action.
fn totals(entries: &[Entry]) -> Vec<Entry> {
    let mut counts: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for entry in entries {
        if let Entry::Change(change) = entry {
            *counts.entry((change.id.is_none(), change.action)).or_default() += 1;
        }
    }
    let fact = |((is_attachment, action), count): ((bool, &str), usize)| {
        let kind = if is_attachment { "attachments" } else { "notes" };
        Entry::Fact(format!("{kind} {action}"), count)
    };
    counts.into_iter().map(fact).collect()
}

/// Drops all but the first diagnostics of each repeated code, and adds one with the number dropped.
fn shortened(mut findings: Vec<DiagnosticEntry>) -> Vec<DiagnosticEntry> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    findings.retain(|finding| {
        let count = counts.entry(finding.code).or_default();
        *count += 1;
        *count <= MAX_REPEATED || !REPEATED.contains(&finding.code)
    });
    for code in REPEATED {
        let more = counts.get(code).copied().unwrap_or_default().saturating_sub(MAX_REPEATED);
        let last = findings.iter().rposition(|finding| finding.code == code).filter(|_| more > 0);
        let Some(last) = last else { continue };
        let message = format!("{more} more findings like these; `qipu doctor` lists broken links");
        findings.insert(last + 1, DiagnosticEntry::warning(code, findings[last].path.clone(), message));
    }
    findings
}
