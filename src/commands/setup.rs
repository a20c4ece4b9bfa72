//! `qipu setup`: instructions for agent tools and git.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::report::{ChangeEntry, Entry, Head, Mode, RecipeEntry, Report};
use crate::request::{Setup, SetupAction};
use crate::setup::{Place, RECIPES, Recipe, State};

/// Lists, prints, installs, checks or removes recipes in the project.
pub(super) fn run(request: &Setup, current_dir: &Path) -> Result<Report, Error> {
    let place = Place::find(&request.location, current_dir, request.is_forced);
    match &request.action {
        SetupAction::List => list(&place),
        SetupAction::Print(name) => Ok(report(vec![Entry::Text(find(name)?.text())])),
        SetupAction::Install(name) if request.is_dry_run => preview(&[find(name)?], &place, false),
        SetupAction::Remove(name) if request.is_dry_run => preview(&[find(name)?], &place, true),
        SetupAction::InstallFitting if request.is_dry_run => preview(&fitting(&place), &place, false),
        SetupAction::Install(name) => install(&[find(name)?], &place),
        SetupAction::InstallFitting => install(&fitting(&place), &place),
        SetupAction::Check(name) => check(find(name)?, &place),
        SetupAction::Remove(name) => remove(find(name)?, &place),
    }
}

fn find(name: &str) -> Result<&'static Recipe, Error> {
    RECIPES.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
        let names: Vec<_> = RECIPES.iter().map(|recipe| recipe.name).collect();
        Error::usage(format!("there is no recipe `{name}`")).hint(format!("recipes: {}", names.join(", ")))
    })
}

fn list(place: &Place<'_>) -> Result<Report, Error> {
    let entry = |recipe: &'static Recipe| match entry(recipe, place, recipe.state(place)?.name()) {
        Entry::Recipe(entry) => Ok(Entry::Recipe(RecipeEntry { fits: Some(recipe.fits(place)), ..entry })),
        other => Ok(other),
    };
    let entries: Result<Vec<Entry>, Error> = RECIPES.iter().map(entry).collect();
    Ok(report(entries?))
}

/// Returns the recipes that fit the project.
fn fitting(place: &Place<'_>) -> Vec<&'static Recipe> {
    RECIPES.iter().filter(|recipe| recipe.fits(place)).collect()
}

fn install(recipes: &[&'static Recipe], place: &Place<'_>) -> Result<Report, Error> {
    // What can't be done is known before anything is.
    recipes.iter().try_for_each(|recipe| recipe.preview(place, false).map(|_| ()))?;
    let mut entries = Vec::new();
    for recipe in recipes {
        let done = match recipe.install(place)? {
            State::Missing => "installed",
            State::Stale | State::Edited => "updated",
            State::Current => "current",
        };
        entries.push(entry(recipe, place, done));
    }
    Ok(report(entries))
}

fn check(recipe: &'static Recipe, place: &Place<'_>) -> Result<Report, Error> {
    let mut report = report(vec![entry(recipe, place, recipe.state(place)?.name())]);
    if let Some(message) = recipe.flaw(place)? {
        let force = if recipe.state(place)? == State::Edited { " --force" } else { "" };
        let hint = format!("`qipu setup {}{force}` writes it", recipe.name);
        report.verdict = Some(Error::new(ErrorKind::Check, message).hint(hint));
    }
    Ok(report)
}

/// Shows what would change, as a command that changes notes does.
fn preview(recipes: &[&'static Recipe], place: &Place<'_>, is_removal: bool) -> Result<Report, Error> {
    let changed = |(path, diff)| Entry::Change(ChangeEntry { id: None, action: "changed", path, diff: Some(diff) });
    let mut entries: Vec<Entry> = Vec::new();
    for recipe in recipes {
        entries.extend(recipe.preview(place, is_removal)?.into_iter().map(changed));
    }
    Ok(Report::new(Head::new(Mode::Change { command: "setup", is_dry_run: true }, None), entries))
}

fn remove(recipe: &'static Recipe, place: &Place<'_>) -> Result<Report, Error> {
    let done = if recipe.remove(place)? { "removed" } else { "missing" };
    Ok(report(vec![entry(recipe, place, done)]))
}

fn entry(recipe: &'static Recipe, place: &Place<'_>, state: &'static str) -> Entry {
    Entry::Recipe(RecipeEntry { name: recipe.name, about: recipe.about, path: recipe.path(place), state, fits: None })
}

fn report(entries: Vec<Entry>) -> Report {
    let head = Head::new(Mode::Setup, None);
    Report::new(head, entries)
}
