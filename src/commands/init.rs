//! `qipu init`: creates a store.

use std::path::Path;

use super::collections::distrusted;
use crate::env::Env;
use crate::error::Error;
use crate::escape::shell_word;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, RowEntry, RowValue, counted, layout};
use crate::request::InitRequest;
use crate::store::{self, Location, MadeFile, SuggestedSource};

/// Creates the missing files of a store and reports each file; existing files stay as they are.
pub(super) fn run(request: &InitRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let current_dir = env.current_dir.as_path();
    let of_user = if request.is_user { Some(store::user_store(location)?) } else { None };
    let plan = store::InitPlan {
        store: of_user.as_deref().or(location.store.as_deref().filter(|_| request.dir.is_none())),
        dir: request.dir.as_deref(),
        documents: &request.documents,
        commits: request.commits,
        is_stealth: request.is_stealth,
        is_visible: request.is_visible,
        is_trusted: request.is_trusted,
        settings: location.settings.as_deref(),
        home: location.home.as_deref(),
        is_dry_run: request.is_dry_run,
    };
    if env.agent_session().is_some() && store::init(&store::InitPlan { is_dry_run: true, ..plan }, current_dir)?.is_new
    {
        expect_no_hold(location, current_dir)?;
    }
    let made = store::init(&plan, current_dir)?;
    let is_unchanged = made.files.iter().all(|file| file.new.is_none());
    let hides_more = made.files.iter().skip(1).find(|file| file.old.is_some() && file.new.is_some());
    let warning = hides_more.map(|file| Entry::Finding(still_tracked(&file.path, &made.shown_path)));
    let listed = made.list.map(|(path, was_there)| {
        let action = if was_there { "changed" } else { "created" };
        Entry::Change(ChangeEntry::of_file(action, path))
    });
    let own = match request.dir {
        Some(_) => Location { store: Some(made.root.clone()), more_stores: Vec::new(), ..location.clone() },
        None => location.clone(),
    };
    let distrusted =
        if made.is_new || request.is_dry_run { Vec::new() } else { distrusted_in(&made.root, location, current_dir) };
    let sources = if request.is_user { Vec::new() } else { store::suggested_sources(&made.root, &own, current_dir) };
    let has_commits = !request.is_user && store::suggests_commits(&made.root, location);
    let suggestions = sources.iter().map(suggestion).chain(has_commits.then(commits_suggestion));
    let is_unnamed = location.store.is_none() && request.dir.is_none();
    let layout = match () {
        () if request.is_dry_run => &layout::CHANGE,
        () if request.is_user => &layout::INIT_OWN,
        () if is_unnamed && is_unchanged && made.shown_path.starts_with("../") => &layout::INIT_ABOVE,
        () => &layout::INIT,
    };
    let head = ReportHead { layout, ..ReportHead::of_change("init", request.is_dry_run, Some(&made.shown_path)) };
    let files = made.files.iter().map(|file| entry(file, request.is_dry_run));
    Ok(Report::new(head, files.chain(listed).chain(warning).chain(distrusted).chain(suggestions).collect()))
}

fn entry(file: &MadeFile, is_dry_run: bool) -> Entry {
    let action = match (&file.old, &file.new) {
        (_, None) => "unchanged",
        (None, Some(_)) => "created",
        (Some(_), Some(_)) => "changed",
    };
    let new = file.new.as_deref().filter(|_| is_dry_run);
    let diff = new.map(|text| store::diff(&file.path, file.old.as_deref(), Some(text)));
    Entry::Change(ChangeEntry { diff, ..ChangeEntry::of_file(action, file.path.clone()) })
}

/// Expects that no store of the project holds what agents write: notes of a new store beside it would not be held.
fn expect_no_hold(location: &Location, current_dir: &Path) -> Result<(), Error> {
    let here = Location { store: None, more_stores: Vec::new(), only: Vec::new(), ..location.clone() };
    // Without a store that can be read, there is none whose rules a new one would leave.
    if store::Store::open(&here, current_dir).is_ok_and(|store| store.holds_drafts()) {
        return Err(Error::usage("an agent can't create a store in a project that holds what agents write")
            .hint("a person does, outside of the session of an agent"));
    }
    Ok(())
}

/// Returns the finding that statements of an existing store have no effect.
fn distrusted_in(root: &Path, location: &Location, current_dir: &Path) -> Vec<Entry> {
    let own = Location { store: Some(root.to_path_buf()), only: vec![store::PROJECT.to_owned()], ..location.clone() };
    // A store that can't be read is reported by the commands that read it; `init` has succeeded.
    let store = store::Store::open(&own, current_dir).map(|store| distrusted(&store));
    store.unwrap_or_default().into_iter().map(Entry::Finding).collect()
}

/// Returns the call that makes the store read a folder of markdown in place.
fn suggestion(source: &SuggestedSource) -> Entry {
    let SuggestedSource { path, dialect, files } = source;
    let call = format!("qipu init --documents {}", shell_word(path));
    let row = RowEntry {
        kind: "source",
        list: "documents",
        line: format!("{path} has {} of markdown; `{call}` reads them in place", counted(*files, "file")),
        fields: vec![
            ("path", RowValue::name(path)),
            ("as", RowValue::name(dialect.name())),
            ("files", RowValue::Count(*files)),
            ("call", RowValue::Text(call)),
        ],
        ..RowEntry::default()
    };
    Entry::Row(row)
}

/// Returns the call that lets questions read the commits of the repository.
fn commits_suggestion() -> Entry {
    let call = "qipu init --commits";
    let row = RowEntry {
        kind: "history",
        list: "history",
        line: format!("commits say why things are so; `{call}` lets questions read them"),
        fields: vec![("call", RowValue::name(call))],
        ..RowEntry::default()
    };
    Entry::Row(row)
}

/// Returns the warning that a `.gitignore` has no effect on files that git tracks already.
fn still_tracked(path: &str, store: &str) -> DiagnosticEntry {
    let message = format!("committed notes stay in git; `git rm -r --cached {store}` removes them from it");
    DiagnosticEntry::warning("still-tracked", path.to_owned(), message)
}
