//! `qipu init`: creates a store.

use std::path::Path;

use super::collections::distrusted;
use crate::env::Env;
use crate::error::Error;
use crate::escape::may_be_harmful;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, RowEntry, RowValue, counted, layout};
use crate::request::InitRequest;
use crate::store::{self, Location, MadeFile, SuggestedSource};

/// Creates the missing files of a store and reports each file; existing files stay as they are.
pub(super) fn run(request: &InitRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let current_dir = env.current_dir.as_path();
    let own = if request.is_user { Some(store::user_store(location)?) } else { None };
    let plan = store::InitPlan {
        store: own.as_deref().or(location.store.as_deref()),
        root: location.root.as_deref().filter(|_| !request.is_user),
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
    let hides_more = made.files.iter().find(|file| file.old.is_some() && file.new.is_some());
    let warning = hides_more.map(|file| Entry::Finding(still_tracked(&file.path, &made.shown_path)));
    let entry = |file: &MadeFile| {
        let action = match (&file.old, file.new) {
            (_, None) => "unchanged",
            (None, Some(_)) => "created",
            (Some(_), Some(_)) => "changed",
        };
        let new = file.new.filter(|_| request.is_dry_run);
        let diff = new.map(|text| store::diff(&file.path, file.old.as_deref(), Some(text)));
        Entry::Change(ChangeEntry { diff, ..ChangeEntry::of_file(action, file.path.clone()) })
    };
    let listed = made.list.map(|(path, was_there)| {
        let action = if was_there { "changed" } else { "created" };
        Entry::Change(ChangeEntry::of_file(action, path))
    });
    let distrusted =
        if made.is_new || request.is_dry_run { Vec::new() } else { distrusted_in(&made.root, location, current_dir) };
    let sources =
        if request.is_user { Vec::new() } else { store::suggested_sources(&made.root, location, current_dir) };
    let config = made.files.first().map(|file| file.path.clone()).unwrap_or_default();
    let sources = sources.iter().map(|source| suggestion(source, &config));
    let is_unnamed = location.store.is_none() && location.root.is_none();
    let layout = match () {
        () if request.is_dry_run => &layout::CHANGE,
        () if request.is_user => &layout::INIT_OWN,
        () if is_unnamed && is_unchanged && made.shown_path.starts_with("../") => &layout::INIT_ABOVE,
        () => &layout::INIT,
    };
    let head = ReportHead { layout, ..ReportHead::of_change("init", request.is_dry_run, Some(&made.shown_path)) };
    Ok(Report::new(
        head,
        made.files.iter().map(entry).chain(listed).chain(warning).chain(distrusted).chain(sources).collect(),
    ))
}

/// Expects that no store of the project holds what agents write: notes of a new store beside it would not be held.
fn expect_no_hold(location: &Location, current_dir: &Path) -> Result<(), Error> {
    let here = Location { store: None, root: None, only: Vec::new(), ..location.clone() };
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
    // A store that can't be read is not the subject here.
    let store = store::Store::open(&own, current_dir).map(|store| distrusted(&store));
    store.unwrap_or_default().into_iter().map(Entry::Finding).collect()
}

/// Returns the lines that make the store read a folder of markdown in place.
fn suggestion(source: &SuggestedSource, config: &str) -> Entry {
    let SuggestedSource { path, dialect, files } = source;
    let lines = format!("[[sources]]\npath = {}\nas = \"{}\"", toml_string(path), dialect.name());
    let row = RowEntry {
        kind: "source",
        list: "sources",
        line: format!("{path} has {} of markdown; add to {config} to read them in place:", counted(*files, "file")),
        detail: lines.clone(),
        fields: vec![
            ("path", RowValue::name(path)),
            ("as", RowValue::name(dialect.name())),
            ("files", RowValue::Count(*files)),
            ("lines", RowValue::Text(lines)),
        ],
        ..RowEntry::default()
    };
    Entry::Row(row)
}

/// Returns a text as a string of TOML that is shown as it is.
fn toml_string(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if may_be_harmful(c) => format!("\\U{:08X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// Returns the warning that a `.gitignore` has no effect on files that git tracks already.
fn still_tracked(path: &str, store: &str) -> DiagnosticEntry {
    let message = format!("committed notes stay in git; `git rm -r --cached {store}` removes them from it");
    DiagnosticEntry::warning("still-tracked", path.to_owned(), message)
}
