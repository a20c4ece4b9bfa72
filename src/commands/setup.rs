//! `qipu setup`: instructions for agent tools.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::report::{Entry, Head, Mode, RecipeEntry, Report};
use crate::request::{Setup, SetupAction};
use crate::setup::{RECIPES, Recipe, State};
use crate::store::project_root;

/// Lists, prints, installs, checks or removes recipes in the project.
pub(super) fn run(request: &Setup, current_dir: &Path) -> Result<Report, Error> {
    let root = match &request.root {
        Some(root) => current_dir.join(root),
        None => project_root(current_dir),
    };
    match &request.action {
        SetupAction::List => list(&root),
        SetupAction::Print(name) => Ok(report(vec![Entry::Text(find(name)?.text.to_owned())])),
        SetupAction::Install(name) => install(find(name)?, &root),
        SetupAction::Check(name) => check(find(name)?, &root),
        SetupAction::Remove(name) => remove(find(name)?, &root),
    }
}

fn find(name: &str) -> Result<&'static Recipe, Error> {
    RECIPES.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
        let names: Vec<_> = RECIPES.iter().map(|recipe| recipe.name).collect();
        Error::usage(format!("there is no recipe `{name}`")).hint(format!("recipes: {}", names.join(", ")))
    })
}

fn list(root: &Path) -> Result<Report, Error> {
    let entry = |recipe: &'static Recipe| Ok(entry(recipe, recipe.state(root)?.name()));
    let entries: Result<Vec<Entry>, Error> = RECIPES.iter().map(entry).collect();
    Ok(report(entries?))
}

fn install(recipe: &'static Recipe, root: &Path) -> Result<Report, Error> {
    let done = match recipe.install(root)? {
        State::Missing => "installed",
        State::Stale => "updated",
        State::Current => "current",
    };
    Ok(report(vec![entry(recipe, done)]))
}

fn check(recipe: &'static Recipe, root: &Path) -> Result<Report, Error> {
    let state = recipe.state(root)?;
    let mut report = report(vec![entry(recipe, state.name())]);
    if state != State::Current {
        let message = format!("the section in {} is {}", recipe.path, state.name());
        let hint = format!("`qipu setup {}` writes it", recipe.name);
        report.verdict = Some(Error::new(ErrorKind::Check, message).hint(hint));
    }
    Ok(report)
}

fn remove(recipe: &'static Recipe, root: &Path) -> Result<Report, Error> {
    let done = if recipe.remove(root)? { "removed" } else { "missing" };
    Ok(report(vec![entry(recipe, done)]))
}

fn entry(recipe: &'static Recipe, state: &'static str) -> Entry {
    Entry::Recipe(RecipeEntry { name: recipe.name, about: recipe.about, path: recipe.path, state })
}

fn report(entries: Vec<Entry>) -> Report {
    let head = Head::new(Mode::Setup, None);
    Report::new(head, entries)
}
