//! Setup recipes: install instructions, hooks and servers for agent tools, and the merge driver for git.
//!
//! Users own the files that recipes write into. Only the text between our markers, and entries in our form, are ours;
//! removing a recipe restores every byte.

mod claude_md;
mod claude_memory;
mod git_config;
mod hook_step;
mod json_item;
mod managed_section;
mod project;
mod recipes;
mod section_step;
mod server_entry;
mod server_step;
mod step;
mod taught;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::codec::named::named;
use crate::error::Error;
use crate::store::files;
pub use claude_memory::suggested_memory;
pub use project::Project;
pub use recipes::{READERS_OF_AGENTS_MD, RECIPES};
use step::{RecipeStep, StepPlan};
pub use taught::{TAUGHT_COMMANDS, WHEN_TO_LOOK};

/// A recipe: steps that are installed and removed together.
pub struct Recipe {
    /// The name that `qipu setup` takes.
    pub name: &'static str,
    /// The purpose, as a clause without a subject.
    pub about: &'static str,
    /// The steps; the file of the first one that is chosen represents the recipe.
    steps: &'static [RecipeStep],
    /// Files and folders in a project that show that the recipe is useful there.
    signs: &'static [&'static str],
}

named! {
    /// The state of a recipe, or of a step, in a project; the worst first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum RecipeState {
        /// It is not installed.
        Missing = "missing",
        /// It was edited by hand.
        Edited = "edited",
        /// It was installed by another version.
        Stale = "stale",
        /// It is up to date.
        Current = "current",
    }
}

/// A change of a file, made or previewed.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The path, relative to the project's root.
    pub path: String,
    /// The kind of change: created, changed or deleted.
    pub action: &'static str,
    /// The diff, in a preview.
    pub diff: Option<String>,
}

/// Returns the steps of all recipes whose files are in the project and not in the store.
fn project_steps() -> impl Iterator<Item = &'static RecipeStep> {
    RECIPES.iter().flat_map(|recipe| recipe.steps).filter(|step| !step.is_in_store())
}

/// Returns the folders of a project that recipes write into. Symbolic links that lead out of it are omitted.
pub fn target_folders(project: &Project<'_>) -> BTreeSet<PathBuf> {
    let Ok(root) = project.root.canonicalize() else { return BTreeSet::new() };
    let folders = project_steps().filter_map(|step| root.join(step.path(project)).parent()?.canonicalize().ok());
    folders.chain([root.clone()]).filter(|folder| folder.starts_with(&root)).collect()
}

/// Returns the paths of the files that a recipe writes, or those of all, without git's settings.
pub fn target_paths(project: &Project<'_>, name: Option<&str>) -> Vec<String> {
    let recipes = RECIPES.iter().filter(|recipe| name.is_none_or(|name| recipe.name == name));
    let steps = recipes.flat_map(|recipe| recipe.steps);
    steps.filter(|step| !matches!(step, RecipeStep::GitConfig(_))).map(|step| step.path(project)).collect()
}

/// Returns the number of folders that are deleted with a file: those that do not exist yet, and the topmost one if
/// another step of ours created it.
fn folders_to_make(project: &Project<'_>, file: &Path, path: &str) -> Result<usize, Error> {
    let (missing, depth) = (files::missing_folders(file.parent().unwrap_or(file))?.len(), path.matches('/').count());
    if depth == 0 || missing + 1 != depth {
        return Ok(missing);
    }
    let top = path.split_inclusive('/').next().unwrap_or_default();
    let mut is_ours = false;
    for step in project_steps() {
        let path = step.path(project);
        is_ours |= path.starts_with(top) && step.folders_made(project)? >= path.matches('/').count();
    }
    Ok(missing + usize::from(is_ours))
}

/// Returns the path of the attributes that name a merge driver which the clone of the repository has not registered: git's
/// settings are in no repository, so that each clone needs them.
pub fn attributes_without_driver(project: &Project<'_>) -> Option<String> {
    let recipe = RECIPES.iter().find(|recipe| recipe.name == "git")?;
    let state = |step: &RecipeStep| step.state(project).ok();
    let has_attributes =
        |step: &&RecipeStep| step.is_in_store() && state(step).is_some_and(|state| state != RecipeState::Missing);
    let attributes = recipe.steps.iter().find(has_attributes)?;
    let is_missing = |step: &RecipeStep| {
        matches!(step, RecipeStep::GitConfig(config) if config.expect_possible(project).is_ok())
            && state(step) == Some(RecipeState::Missing)
    };
    recipe.steps.iter().any(is_missing).then(|| attributes.path(project))
}

/// The remark on a clone that has not registered the merge driver.
pub const UNREGISTERED_DRIVER: &str = "This clone has not registered the merge driver that .gitattributes of the store names, so git \
                                       merges notes by lines: `qipu setup git` registers it.";

impl Recipe {
    /// Tells whether the project shows signs that the recipe is useful there.
    pub fn is_applicable(&self, project: &Project<'_>) -> bool {
        let has_store = project.has_store() || !self.steps.iter().any(RecipeStep::is_in_store);
        has_store && self.signs.iter().any(|sign| project.has(sign))
    }

    /// Returns the state of the recipe: that of its worst step, where missing is worse than edited, and edited worse
    /// than stale.
    ///
    /// # Errors
    /// If a file can't be read, or a section in it has no end.
    pub fn state(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        Ok(self.first_flaw(project)?.map_or(RecipeState::Current, |(_, state)| state))
    }

    /// Returns a clause that says why the recipe is not current; `None` if it is.
    ///
    /// # Errors
    /// See [`Recipe::state`].
    pub fn flaw(&self, project: &Project<'_>) -> Result<Option<String>, Error> {
        let Some((step, state)) = self.first_flaw(project)? else { return Ok(None) };
        let reason = if state == RecipeState::Stale { step.reason(project)? } else { None };
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        Ok(Some(format!("{} {}{reason}", step.describe(project), state.name())))
    }

    /// Returns a remark if the recipe's tool does not read a section of the recipe, for a reason that is the user's alone.
    ///
    /// # Errors
    /// See [`Recipe::state`].
    pub fn remark(&self, project: &Project<'_>) -> Result<Option<&'static str>, Error> {
        if self.depends_on_others() { claude_md::remark(project) } else { Ok(None) }
    }

    /// Tells whether a section of the recipe is in a file that its tool does not read, since another file was created.
    ///
    /// # Errors
    /// See [`Recipe::state`].
    pub fn is_misplaced(&self, project: &Project<'_>) -> Result<bool, Error> {
        Ok(match self.first_flaw(project)? {
            Some((RecipeStep::Section(section), RecipeState::Stale)) => section.reason(project)?.is_some(),
            _ => false,
        })
    }

    /// Returns the path of the file that the recipe lacks, or that is not current; the path of the recipe if there is none.
    ///
    /// # Errors
    /// See [`Recipe::state`].
    pub fn flawed_path(&self, project: &Project<'_>) -> Result<String, Error> {
        let flawed = self.first_flaw(project)?.map(|(step, _)| step.path(project));
        Ok(flawed.unwrap_or_else(|| self.path(project)))
    }

    fn first_flaw(&self, project: &Project<'_>) -> Result<Option<(&'static RecipeStep, RecipeState)>, Error> {
        let steps = self.steps.iter().filter(|step| step.is_applicable(project));
        let states = steps.map(|step| Ok((step, step.state(project)?))).collect::<Result<Vec<_>, Error>>()?;
        let worst = states.into_iter().min_by_key(|(_, state)| *state);
        Ok(worst.filter(|(_, state)| *state != RecipeState::Current))
    }

    /// Installs or updates every step, or removes it. Returns the state before, and the files that changed.
    ///
    /// # Errors
    /// If a step can't be installed or removed. Errors known from the start leave every file unchanged; otherwise the steps
    /// before it stay changed.
    pub fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<(RecipeState, Vec<FileChange>), Error> {
        let state = self.state(project)?;
        let plans = self.plans(project, is_removal)?.into_iter();
        // In reverse: a folder is deleted with the file for which it was created.
        let plans: Vec<StepPlan> = if is_removal { plans.rev().collect() } else { plans.collect() };
        let changes = plans.into_iter().filter_map(|plan| plan.write(project).transpose());
        let mut changes = changes.collect::<Result<Vec<_>, _>>()?;
        if is_removal {
            changes.reverse();
        }
        Ok((state, changes))
    }

    /// Plans every step that installing or removing the recipe runs. All plans are made before the first is carried out:
    /// the marker of one step stores what existed before another.
    fn plans(&self, project: &Project<'_>, is_removal: bool) -> Result<Vec<StepPlan>, Error> {
        let steps = self.steps.iter().filter(|step| is_removal || step.is_applicable(project));
        steps.map(|step| step.plan(project, is_removal)).collect()
    }

    /// Returns the changes of files, each with its diff, that installing or removing the recipe would make.
    ///
    /// # Errors
    /// See [`Recipe::change`].
    pub fn preview(&self, project: &Project<'_>, is_removal: bool) -> Result<Vec<FileChange>, Error> {
        let plans = self.plans(project, is_removal)?;
        Ok(plans.into_iter().filter_map(|plan| plan.preview(project)).collect())
    }

    /// Tells whether the choice of a file depends on the files of other recipes, which are then installed first.
    pub fn depends_on_others(&self) -> bool {
        let depends = |step: &RecipeStep| matches!(step, RecipeStep::Section(section) if section.other.is_some());
        self.steps.iter().any(depends)
    }

    /// Tells whether the recipe installs instructions for agents.
    pub fn has_instructions(&self) -> bool {
        self.steps.iter().any(|step| !step.is_in_store() && matches!(step, RecipeStep::Section(_)))
    }

    /// Returns what the recipe writes.
    pub fn text(&self, project: &Project<'_>) -> String {
        let steps = self.steps.iter().filter(|step| step.is_chosen(project));
        steps.map(|step| step.text(project)).collect::<Vec<_>>().join("\n")
    }

    /// Returns the path of the file that represents the recipe, relative to the project's root.
    pub fn path(&self, project: &Project<'_>) -> String {
        let chosen = self.steps.iter().find(|step| step.is_chosen(project));
        chosen.map_or_else(String::new, |step| step.path(project))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::rc::Rc;

    use super::*;
    use crate::concurrent_save_tests::{Point, Save, SavingProgram, beside, here};
    use crate::env::WaitPolicy;
    use crate::store::Location;

    /// Installs or removes a recipe while a person saves a file at the crash point with an index. Returns whether that point
    /// was reached.
    fn run_beside(
        recipe: &Recipe,
        is_removal: bool,
        (name, old, saved): (&str, &str, &'static str),
        save: Save,
        point_index: usize,
    ) -> bool {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let location = Location {
            waits: WaitPolicy { pause: |_| here(Point::Pause), ..WaitPolicy::default() },
            ..Location::default()
        };
        let project = Project::find(&location, dir.path(), false);
        let file = dir.path().join(name);
        if !old.is_empty() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, old).unwrap();
        }
        if is_removal {
            recipe.change(&project, false).unwrap();
        }
        let has_come = Rc::new(Cell::new(false));
        let (noted, mut editor) = (Rc::clone(&has_come), SavingProgram::new(file.clone(), saved, save, point_index));
        let program = move |point: Point| {
            editor.at(point);
            noted.set(editor.has_begun);
        };
        let result = beside(Box::new(program), || {
            let _lock = project.lock(&target_paths(&project, Some(recipe.name)))?;
            recipe.change(&project, is_removal).map(drop)
        });
        let now = fs::read_to_string(&file).unwrap_or_default();
        let is_kept = !has_come.get() || now.contains("saved");
        assert!(is_kept, "{} {is_removal} {save:?} at {point_index}: {result:?}\n{now}", recipe.name);
        has_come.get()
    }

    #[test]
    fn no_save_of_a_person_is_lost_whenever_it_comes() {
        let mut count = 0;
        for (name, file) in [
            ("agents-md", ("AGENTS.md", "# Mine\n", "# saved\n")),
            ("agents-md", ("AGENTS.md", "", "# saved\n")),
            ("claude", (".claude/settings.json", "{}\n", "{\"saved\": 1}\n")),
            ("mcp", (".mcp.json", "", "{\"saved\": 1}\n")),
        ] {
            let recipe = RECIPES.iter().find(|recipe| recipe.name == name).unwrap();
            for save in [Save::ByRename, Save::Append, Save::InPlace(0), Save::InPlace(3)] {
                for is_removal in [false, true] {
                    let came = (0..60).filter(|index| run_beside(recipe, is_removal, file, save, *index)).count();
                    assert!(came > 3, "{name} {save:?}: {came}");
                    count += came;
                }
            }
        }
        assert!(count > 300, "{count}");
    }
}
