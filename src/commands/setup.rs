//! `qipu setup`: instructions for agent tools and git.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::report::{ChangeEntry, Entry, RecipeEntry, Report, ReportHead, ReportKind};
use crate::request::{SetupAction, SetupRequest};
use crate::setup::{FileChange, Project, RECIPES, Recipe, RecipeState};

/// Lists, prints, installs, checks or removes recipes in the project.
pub(super) fn run(request: &SetupRequest, current_dir: &Path) -> Result<Report, Error> {
    let place = Project::find(&request.location, current_dir, request.is_forced);
    // Recipes may share a file.
    let is_writing = request.action.changes_files();
    let _lock = if is_writing && !request.is_dry_run { place.lock()? } else { None };
    match &request.action {
        SetupAction::List => list(&place),
        SetupAction::Print(name) => Ok(report(vec![Entry::Text(find(name)?.text())])),
        SetupAction::Install(name) if request.is_dry_run => preview(&[find(name)?], &place, false),
        SetupAction::Remove(name) if request.is_dry_run => preview(&[find(name)?], &place, true),
        SetupAction::InstallFitting if request.is_dry_run => preview(&fitting(&place), &place, false),
        SetupAction::RemoveAll if request.is_dry_run => preview(&RECIPES.iter().collect::<Vec<_>>(), &place, true),
        SetupAction::Install(name) => install(&[find(name)?], &place),
        SetupAction::InstallFitting => {
            let fitting = fitting(&place);
            let mut report = install(&fitting, &place)?;
            if !fitting.iter().any(|recipe| recipe.has_instructions()) {
                report.entries.push(Entry::About(NO_AGENT));
            }
            Ok(report)
        }
        SetupAction::Check(name) => check(find(name)?, &place),
        SetupAction::Remove(name) => remove(&[find(name)?], &place),
        SetupAction::RemoveAll => remove_all(&place),
    }
}

/// Said where nothing in a project shows which agents work there.
const NO_AGENT: &str = "No agent tool was found here, so none was told of qipu: `qipu setup agents-md` writes AGENTS.md, \
                        which most of them read; `qipu setup` lists the others.";

fn find(name: &str) -> Result<&'static Recipe, Error> {
    RECIPES.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
        let names: Vec<_> = RECIPES.iter().map(|recipe| recipe.name).collect();
        Error::usage(format!("there is no recipe `{name}`")).hint(format!("recipes: {}", names.join(", ")))
    })
}

fn list(place: &Project<'_>) -> Result<Report, Error> {
    let entry = |recipe: &'static Recipe| match entry(recipe, place, recipe.state(place)?.name()) {
        Entry::Recipe(entry) => Ok(Entry::Recipe(RecipeEntry { fits: Some(recipe.is_applicable(place)), ..entry })),
        other => Ok(other),
    };
    let entries: Result<Vec<Entry>, Error> = RECIPES.iter().map(entry).collect();
    Ok(report(entries?))
}

/// Returns the recipes that fit the project.
fn fitting(place: &Project<'_>) -> Vec<&'static Recipe> {
    RECIPES.iter().filter(|recipe| recipe.is_applicable(place)).collect()
}

fn install(recipes: &[&'static Recipe], place: &Project<'_>) -> Result<Report, Error> {
    // What can't be done is known before anything is.
    recipes.iter().try_for_each(|recipe| recipe.preview(place, false).map(|_| ()))?;
    let mut entries = Vec::new();
    for recipe in recipes {
        let (state, changes) = recipe.install(place)?;
        let done = match state {
            RecipeState::Missing => "installed",
            RecipeState::Stale | RecipeState::Edited => "updated",
            RecipeState::Current => "current",
        };
        entries.push(entry(recipe, place, done));
        entries.extend(changes.into_iter().map(changed));
    }
    Ok(report(entries))
}

fn check(recipe: &'static Recipe, place: &Project<'_>) -> Result<Report, Error> {
    let mut report = report(vec![entry(recipe, place, recipe.state(place)?.name())]);
    if let Some(message) = recipe.flaw(place)? {
        let force = if recipe.state(place)? == RecipeState::Edited { " --force" } else { "" };
        let hint = format!("`qipu setup {}{force}` writes it", recipe.name);
        report.verdict = Some(Error::new(ErrorKind::Check, message).hint(hint));
    }
    Ok(report)
}

/// Shows what would change, as a command that changes notes does.
fn preview(recipes: &[&'static Recipe], place: &Project<'_>, is_removal: bool) -> Result<Report, Error> {
    let mut entries: Vec<Entry> = Vec::new();
    for recipe in recipes {
        entries.extend(recipe.preview(place, is_removal)?.into_iter().map(changed));
    }
    Ok(Report::new(ReportHead::new(ReportKind::Change { command: "setup", is_dry_run: true }, None), entries))
}

fn remove(recipes: &[&'static Recipe], place: &Project<'_>) -> Result<Report, Error> {
    // What can't be done is known before anything is.
    recipes.iter().try_for_each(|recipe| recipe.preview(place, true).map(|_| ()))?;
    let mut entries = Vec::new();
    for recipe in recipes {
        let changes = recipe.remove(place)?;
        let done = if changes.is_empty() { "missing" } else { "removed" };
        entries.push(entry(recipe, place, done));
        entries.extend(changes.into_iter().map(changed));
    }
    Ok(report(entries))
}

/// Takes out every recipe of which there is something, the last one first: what was written last remembers least.
fn remove_all(place: &Project<'_>) -> Result<Report, Error> {
    let mut there = Vec::new();
    for recipe in RECIPES.iter().rev() {
        if !recipe.preview(place, true)?.is_empty() {
            there.push(recipe);
        }
    }
    if there.is_empty() {
        return Ok(report(vec![Entry::About("Nothing of qipu is set up here.")]));
    }
    remove(&there, place)
}

fn changed(change: FileChange) -> Entry {
    Entry::Change(ChangeEntry { id: None, action: change.action, path: change.path, diff: change.diff })
}

fn entry(recipe: &'static Recipe, place: &Project<'_>, state: &'static str) -> Entry {
    Entry::Recipe(RecipeEntry { name: recipe.name, about: recipe.about, path: recipe.path(place), state, fits: None })
}

fn report(entries: Vec<Entry>) -> Report {
    let head = ReportHead::new(ReportKind::Setup, None);
    Report::new(head, entries)
}
