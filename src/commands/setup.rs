//! `qipu setup`: installs instructions for agent tools and git.

use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::report::{ChangeEntry, Entry, RecipeEntry, Report, ReportHead, layout};
use crate::request::{SetupAction, SetupRequest};
use crate::setup::{
    self, FileChange, Project, READERS_OF_AGENTS_MD, RECIPES, Recipe, RecipeState, UNREGISTERED_DRIVER,
    attributes_without_driver,
};
use crate::store::{Location, SuggestedSettings};

/// Lists, prints, installs, checks or removes recipes in the project.
pub(super) fn run(request: &SetupRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let current_dir = env.current_dir.as_path();
    let project = if request.is_at_store {
        Project::of_store(location, current_dir, request.is_forced)?
    } else {
        Project::find(location, current_dir, request.is_forced)
    };
    // Recipes may share a file, so only one command at a time writes.
    let is_writing = request.action.changes_files();
    let is_locked = is_writing && !request.is_dry_run;
    let _lock = is_locked.then(|| project.lock(&setup::target_paths(&project, request.action.recipe()))).transpose()?;
    match &request.action {
        SetupAction::List => list(&project),
        SetupAction::Print(name) => Ok(report(vec![Entry::Text(find_recipe(name)?.text(&project))])),
        SetupAction::Check(name) => check(find_recipe(name)?, &project),
        SetupAction::Install(name) => {
            let mut recipes: Vec<&Recipe> = match name {
                Some(name) => vec![find_recipe(name)?],
                None => RECIPES.iter().filter(|recipe| recipe.is_applicable(&project)).collect(),
            };
            recipes.sort_by_key(|recipe| recipe.depends_on_others());
            let mut report = change(&recipes, &project, false, request.is_dry_run)?;
            if request.is_dry_run {
                return Ok(report);
            }
            if name.is_none() && !recipes.iter().any(|recipe| recipe.has_instructions()) {
                report.entries.push(Entry::About(NO_AGENT.into()));
            }
            let ignored = ignored_remark(&report, &project).map(|remark| Entry::About(remark.into()));
            report.entries.extend(ignored);
            report.entries.extend(remarks(&recipes, &project)?);
            if recipes.iter().any(|recipe| recipe.name == "claude") {
                report.entries.extend(offered_memory(&project, env));
            }
            Ok(report)
        }
        SetupAction::Remove(Some(name)) => change(&[find_recipe(name)?], &project, true, request.is_dry_run),
        SetupAction::Remove(None) if request.is_dry_run => {
            change(&RECIPES.iter().collect::<Vec<_>>(), &project, true, true)
        }
        SetupAction::Remove(None) => remove_all(&project),
    }
}

/// The remark if nothing in a project shows which agents work there.
const NO_AGENT: &str = "No agent tool was found here. `qipu setup agents-md` writes AGENTS.md, which most agent tools read; \
                        `qipu setup` lists the other recipes.";

/// The remark if a recipe creates AGENTS.md beside a CLAUDE.md with the section, or the user the other way round.
const MISPLACED: &str =
    "Claude Code does not read AGENTS.md beside CLAUDE.md: `qipu setup claude` moves the section to the other file.";

/// The remark if recipes are installed where there is no store.
const NO_STORE: &str = "There is no store yet: `qipu init` creates one.";

/// Returns the remarks on a project in which recipes were installed.
fn remarks(recipes: &[&'static Recipe], project: &Project<'_>) -> Result<Vec<Entry>, Error> {
    let mut remarks = Vec::new();
    if find_recipe("claude")?.is_misplaced(project)? {
        remarks.push(MISPLACED);
    }
    for recipe in recipes {
        remarks.extend(recipe.remark(project)?);
    }
    if !project.has_store() {
        remarks.push(NO_STORE);
    }
    Ok(remarks.into_iter().map(|remark| Entry::About(remark.into())).collect())
}

/// Returns the offer to read the notes that Claude Code keeps on the project. Only the user may decide that: what a model wrote
/// down for itself would answer questions beside the project's own notes.
fn offered_memory(project: &Project<'_>, env: &Env) -> Option<Entry> {
    let SuggestedSettings { lines: [table, path, projects], file } =
        setup::suggested_memory(project, &env.claude_dir()?)?;
    let offer = format!(
        "Claude Code keeps notes of its own on this project. To read them as documents here, and only here, add the lines \
         `{table}`, `{path}` and `{projects}` to {file}."
    );
    Some(Entry::About(offer.into()))
}

/// Returns the remark that git ignores files that were written; `None` if it ignores none.
fn ignored_remark(report: &Report, project: &Project<'_>) -> Option<String> {
    let written = |entry: &Entry| match entry {
        Entry::Change(change) if change.action != "deleted" => Some(change.path.clone()),
        _ => None,
    };
    let written = report.entries.iter().filter_map(written).filter(|path| project.is_ignored(path));
    let ignored = written.collect::<Vec<_>>().join(", ");
    let remark = || format!("git ignores {ignored}: other clones of this project will not get what was written there.");
    (!ignored.is_empty()).then(remark)
}

/// Finds a recipe by name; the hint of the error says what to do for a tool without one, else lists all names.
fn find_recipe(name: &str) -> Result<&'static Recipe, Error> {
    RECIPES.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
        if READERS_OF_AGENTS_MD.contains(&name) {
            return Error::usage(format!("{name} reads AGENTS.md")).hint("`qipu setup agents-md` writes it");
        }
        let names: Vec<_> = RECIPES.iter().map(|recipe| recipe.name).collect();
        Error::usage(format!("unknown recipe `{name}`")).hint(format!("recipes: {}", names.join(", ")))
    })
}

/// Reports each recipe, its state, and whether it fits the project.
fn list(project: &Project<'_>) -> Result<Report, Error> {
    let entry = |recipe: &'static Recipe| {
        let entry = recipe_entry(recipe, project, recipe.state(project)?.name());
        let (fits, path) = (Some(recipe.is_applicable(project)), recipe.flawed_path(project)?);
        Ok(Entry::Recipe(RecipeEntry { fits, path, ..entry }))
    };
    let mut report = report(RECIPES.iter().map(entry).collect::<Result<_, Error>>()?);
    report.entries.extend(attributes_without_driver(project).map(|_| Entry::About(UNREGISTERED_DRIVER.into())));
    Ok(report)
}

/// Installs or removes recipes: all of them, or none if one can't be. A dry run reports what would change, in the form of a
/// command that changes notes.
fn change(
    recipes: &[&'static Recipe],
    project: &Project<'_>,
    is_removal: bool,
    is_dry_run: bool,
) -> Result<Report, Error> {
    // All changes are checked before the first one is made.
    let previews = recipes.iter().map(|recipe| recipe.preview(project, is_removal));
    let previews = previews.collect::<Result<Vec<_>, _>>()?;
    if is_dry_run {
        let entries = previews.into_iter().flatten().map(change_entry).collect();
        return Ok(Report::new(ReportHead::of_change("setup", true, None), entries));
    }
    let mut entries = Vec::new();
    for recipe in recipes {
        // Of the time before the change, after which the project may have no file of that name.
        let entry = recipe_entry(recipe, project, "missing");
        let (before, changes) = recipe.change(project, is_removal)?;
        let state = match before {
            _ if is_removal => {
                if changes.is_empty() {
                    "missing"
                } else {
                    "removed"
                }
            }
            RecipeState::Missing => "installed",
            RecipeState::Stale | RecipeState::Edited => "updated",
            RecipeState::Current => "current",
        };
        entries.push(Entry::Recipe(RecipeEntry { state, ..entry }));
        entries.extend(changes.into_iter().map(change_entry));
    }
    Ok(report(entries))
}

/// Reports the state of a recipe; the verdict is an error unless it is installed and current.
fn check(recipe: &'static Recipe, project: &Project<'_>) -> Result<Report, Error> {
    let state = recipe.state(project)?;
    let mut report = report(vec![Entry::Recipe(recipe_entry(recipe, project, state.name()))]);
    if state != RecipeState::Missing {
        report.entries.extend(recipe.remark(project)?.map(|remark| Entry::About(remark.into())));
    }
    if let Some(message) = recipe.flaw(project)? {
        let force = if state == RecipeState::Edited { " --force" } else { "" };
        let hint = format!("`qipu setup {}{force}` writes it", recipe.name);
        report.verdict = Some(Error::new(ErrorKind::Check, message).hint(hint));
    }
    Ok(report)
}

/// Removes all installed recipes in reverse order of installation: the first one of a shared file knows what the file was
/// before.
fn remove_all(project: &Project<'_>) -> Result<Report, Error> {
    let mut installed = Vec::new();
    for recipe in RECIPES.iter().rev() {
        if !recipe.preview(project, true)?.is_empty() {
            installed.push(recipe);
        }
    }
    if installed.is_empty() {
        return Ok(report(vec![Entry::About("qipu is not set up here.".into())]));
    }
    change(&installed, project, true, false)
}

fn change_entry(change: FileChange) -> Entry {
    Entry::Change(ChangeEntry { diff: change.diff, ..ChangeEntry::of_file(change.action, change.path) })
}

fn recipe_entry(recipe: &'static Recipe, project: &Project<'_>, state: &'static str) -> RecipeEntry {
    RecipeEntry { name: recipe.name, about: recipe.about, path: recipe.path(project), state, fits: None }
}

fn report(entries: Vec<Entry>) -> Report {
    Report::new(ReportHead::new(&layout::SETUP, None), entries)
}
