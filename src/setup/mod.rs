//! Set-up recipes: what teaches agent tools and git about qipu, one file each.
//!
//! Users own the files that recipes write into. Only the section between our markers is ours.

mod agents_md;
mod entry;
mod git;
mod hook_step;
mod json_item;
mod managed_section;
mod recipes;
mod server_step;
mod step;
mod yaml_item;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::store::{FolderLock, Location, files, find_root, project_root, relative_to};
pub use step::FileChange;
use step::RecipeStep;

/// What is written into a project, and where.
#[derive(Debug)]
pub struct Recipe {
    /// The name that `qipu setup` takes.
    pub name: &'static str,
    /// What it does, in half a sentence.
    pub about: &'static str,
    /// What it is made of; the first is the one it is known by.
    parts: &'static [RecipeStep],
    /// Files and folders in a project that show that it is of use there.
    signs: &'static [&'static str],
}

/// Every recipe, in the order in which they are listed.
pub static RECIPES: [Recipe; 14] = [
    agents_md::RECIPE,
    recipes::CLAUDE,
    recipes::CODEX,
    recipes::GEMINI,
    recipes::CURSOR,
    recipes::COPILOT,
    recipes::WINDSURF,
    recipes::OPENCODE,
    recipes::AIDER,
    recipes::ZED,
    recipes::JUNIE,
    recipes::CLINE,
    server_step::RECIPE,
    git::RECIPE,
];

/// How a recipe, or a part of one, stands in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecipeState {
    /// It is not there.
    Missing,
    /// It is there, and somebody changed it.
    Edited,
    /// It is there, and says something else.
    Stale,
    /// It is there as it should be.
    Current,
}

impl RecipeState {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Edited => "edited",
            Self::Stale => "stale",
            Self::Current => "current",
        }
    }
}

/// Where recipes are set up.
#[derive(Debug)]
pub struct Project<'a> {
    /// The project's root.
    root: PathBuf,
    location: &'a Location,
    current_dir: &'a Path,
    /// Whether what somebody changed may be written over.
    is_forced: bool,
}

impl<'a> Project<'a> {
    /// Finds the project: the one that is named, else the one around the current directory.
    pub fn find(location: &'a Location, current_dir: &'a Path, is_forced: bool) -> Self {
        let root = match &location.root {
            Some(root) => current_dir.join(root),
            None => project_root(current_dir),
        };
        Self { root, location, current_dir, is_forced }
    }

    /// Replaces a file that is what was read of it, or makes it.
    fn replace(&self, file: &Path, old: Option<&str>, new: &str) -> Result<(), Error> {
        expect_writable(file)?;
        Ok(files::replace_if_unchanged(file, old.map(str::as_bytes), new.as_bytes(), self.location.waits)?)
    }

    /// Removes a file that is what was read of it.
    fn remove(&self, file: &Path, old: &str) -> Result<(), Error> {
        expect_writable(file)?;
        Ok(files::remove_if_unchanged(file, old.as_bytes(), self.location.waits)?)
    }

    /// Takes the right to change the project's files; while it is held no other setup has it. The lock is on the
    /// project's folder, so that no file is made for it.
    ///
    /// # Errors
    /// `Busy` when another process holds it for too long.
    pub fn lock(&self) -> Result<Option<FolderLock>, Error> {
        FolderLock::take(&self.root, "the project", self.location.waits)
    }

    /// Returns the folder of the project's store.
    fn store(&self) -> Result<PathBuf, Error> {
        find_root(self.location, self.current_dir)
    }

    /// Returns the store's path relative to the project's root, ending in `/`.
    fn shown_store(&self) -> String {
        self.store().map_or_else(|_| ".qipu/".to_owned(), |store| relative_to(&store, &self.root))
    }
}

/// Refuses a file that its owner made read-only: a rename would replace it all the same.
fn expect_writable(file: &Path) -> Result<(), Error> {
    if file.metadata().is_ok_and(|found| found.permissions().readonly()) {
        return Err(Error::failure(format!("{} is read-only", file.display())).hint("make it writable first"));
    }
    Ok(())
}

/// Returns the folders of a project that recipes write into. None leads out of it.
pub fn target_folders(place: &Project<'_>) -> BTreeSet<PathBuf> {
    let Ok(root) = place.root.canonicalize() else { return BTreeSet::new() };
    let parts = RECIPES.iter().flat_map(|recipe| recipe.parts).filter(|part| !part.is_in_store());
    let folders = parts.filter_map(|part| root.join(part.path(place)).parent()?.canonicalize().ok());
    folders.chain([root.clone()]).filter(|folder| folder.starts_with(&root)).collect()
}

impl Recipe {
    /// Tells whether the project shows signs of what the recipe is for.
    pub fn is_applicable(&self, place: &Project<'_>) -> bool {
        let has_place = place.store().is_ok() || !self.parts.iter().any(RecipeStep::is_in_store);
        has_place && self.signs.iter().any(|sign| place.root.join(sign).symlink_metadata().is_ok())
    }

    /// Tells how the recipe stands: missing when a part of it is, else edited when a part is, else stale
    /// when a part is.
    ///
    /// # Errors
    /// When a file can't be read, or the section in it has no end.
    pub fn state(&self, place: &Project<'_>) -> Result<RecipeState, Error> {
        Ok(self.first_flaw(place)?.map_or(RecipeState::Current, |(_, state)| state))
    }

    /// Says what keeps the recipe from being current, in a sentence.
    ///
    /// # Errors
    /// As [`Recipe::state`].
    pub fn flaw(&self, place: &Project<'_>) -> Result<Option<String>, Error> {
        let flaw = self.first_flaw(place)?;
        Ok(flaw.map(|(part, state)| format!("{} is {}", part.describe(place), state.name())))
    }

    /// Returns the parts that are of use in the project.
    fn wanted(&self, place: &Project<'_>) -> impl Iterator<Item = &'static RecipeStep> {
        self.parts.iter().filter(|part| part.is_wanted(place))
    }

    fn first_flaw(&self, place: &Project<'_>) -> Result<Option<(&'static RecipeStep, RecipeState)>, Error> {
        let mut flaws = Vec::new();
        for part in self.wanted(place) {
            flaws.push((part, part.state(place)?));
        }
        let first = |state: RecipeState| flaws.iter().find(|(_, found)| *found == state).copied();
        Ok(first(RecipeState::Missing).or_else(|| first(RecipeState::Edited)).or_else(|| first(RecipeState::Stale)))
    }

    /// Writes every part, or brings it up to date. Returns the state before, and the files that changed.
    ///
    /// # Errors
    /// When a part can't be written; those before it are, unless it was clear from the start.
    pub fn install(&self, place: &Project<'_>) -> Result<(RecipeState, Vec<FileChange>), Error> {
        // What is put in for one part is no reason for another.
        let parts: Vec<_> = self.wanted(place).collect();
        parts.iter().try_for_each(|part| part.expect_possible(place))?;
        let state = self.state(place)?;
        let mut changes = Vec::new();
        for part in parts {
            changes.extend(part.install(place)?);
        }
        Ok((state, changes))
    }

    /// Shows what installing the recipe would change, or taking it out: files, each with its difference.
    ///
    /// # Errors
    /// As those.
    pub fn preview(&self, place: &Project<'_>, is_removal: bool) -> Result<Vec<FileChange>, Error> {
        if !is_removal {
            self.wanted(place).try_for_each(|part| part.expect_possible(place))?;
        }
        let parts = self.parts.iter().filter(|part| is_removal || part.is_wanted(place));
        let previews: Result<Vec<Option<FileChange>>, Error> =
            parts.map(|part| part.preview(place, is_removal)).collect();
        Ok(previews?.into_iter().flatten().collect())
    }

    /// Takes every part out again. Returns the files that changed.
    ///
    /// # Errors
    /// When a part can't be taken out; it is then as it was.
    pub fn remove(&self, place: &Project<'_>) -> Result<Vec<FileChange>, Error> {
        let mut changes = Vec::new();
        self.parts.iter().try_for_each(|part| part.preview(place, true).map(|_| ()))?;
        // What was written last remembers least.
        for part in self.parts.iter().rev() {
            changes.extend(part.remove(place)?);
        }
        changes.reverse();
        Ok(changes)
    }

    /// Tells whether the recipe teaches an agent how to use qipu.
    pub fn has_instructions(&self) -> bool {
        self.parts.iter().any(|part| !part.is_in_store() && matches!(part, RecipeStep::Section(_)))
    }

    /// Returns what the recipe writes.
    pub fn text(&self) -> String {
        match self.parts {
            [part] => part.text(),
            parts => parts.iter().map(RecipeStep::text).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns the file the recipe is known by, relative to the project's root.
    pub fn path(&self, place: &Project<'_>) -> String {
        self.parts.first().map_or_else(String::new, |part| part.path(place))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::fs;
    use std::io::Write;
    use std::rc::Rc;

    use super::*;
    use crate::env::Waits;
    use crate::saves::{Point, beside, here};

    /// How a person saves a file: by a rename, at its end, or in its place with a pause between truncating and writing.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Save {
        ByRename,
        Append,
        InPlace { points: usize },
    }

    /// Saves a file at a point; returns what is still to be done later.
    fn save(file: &Path, text: &str, how: Save) -> Option<fs::File> {
        match how {
            Save::ByRename => {
                let new = file.with_extension("saved");
                fs::write(&new, text).unwrap();
                fs::rename(new, file).unwrap();
            }
            Save::Append => {
                fs::File::options().append(true).create(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
            }
            Save::InPlace { .. } => return Some(fs::File::create(file).unwrap()),
        }
        None
    }

    /// Ends a save in place.
    fn write_rest(open: &RefCell<Option<fs::File>>, text: &str) {
        if let Some(mut file) = open.borrow_mut().take() {
            file.write_all(text.as_bytes()).unwrap();
        }
    }

    /// Installs or removes a recipe while a person saves a file at a point. Returns whether the save came.
    fn run_beside(
        recipe: &Recipe,
        is_removal: bool,
        (name, old, saved): (&str, &str, &str),
        how: Save,
        at: usize,
    ) -> bool {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let location =
            Location { waits: Waits { pause: |_| here(Point::Pause), ..Waits::default() }, ..Location::default() };
        let location = Location { root: Some(dir.path().into()), ..location };
        let place = Project::find(&location, dir.path(), false);
        let file = dir.path().join(name);
        if !old.is_empty() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, old).unwrap();
        }
        if is_removal {
            recipe.install(&place).unwrap();
        }
        let has_come = Rc::new(Cell::new(false));
        let (noted, saver, text) = (Rc::clone(&has_come), file.clone(), saved.to_owned());
        // A file that was truncated, and is not written yet.
        let open = Rc::new(RefCell::new(None::<fs::File>));
        let (opened, rest) = (Rc::clone(&open), saved.to_owned());
        let (mut points, mut left) = (0_usize, 0_usize);
        let program = move |point: Point| {
            // A save in place takes less time than a command waits.
            if left == 0 || point == Point::Pause {
                write_rest(&opened, &text);
            }
            left = left.saturating_sub(1);
            if points == at && saver.parent().is_some_and(Path::is_dir) {
                noted.set(true);
                *opened.borrow_mut() = save(&saver, &text, how);
                left = if let Save::InPlace { points } = how { points } else { 0 };
                if left == 0 {
                    write_rest(&opened, &text);
                }
            }
            points += 1;
        };
        let result = beside(Box::new(program), || {
            if is_removal { recipe.remove(&place).map(drop) } else { recipe.install(&place).map(drop) }
        });
        write_rest(&open, &rest);
        let now = fs::read_to_string(&file).unwrap_or_default();
        let is_kept = !has_come.get() || now.contains("saved");
        assert!(is_kept, "{} {is_removal} {how:?} at {at}: {result:?}\n{now}", recipe.name);
        has_come.get()
    }

    #[test]
    fn no_save_of_a_person_is_lost_whenever_it_comes() {
        let mut count = 0;
        for (name, file) in [
            ("agents-md", ("AGENTS.md", "# Mine\n", "# saved\n")),
            ("agents-md", ("AGENTS.md", "", "# saved\n")),
            ("claude", (".claude/settings.json", "{}\n", "{\"saved\": 1}\n")),
            ("aider", (".aider.conf.yml", "read: A.md\n", "saved: B.md\n")),
            ("mcp", (".mcp.json", "", "{\"saved\": 1}\n")),
        ] {
            let recipe = RECIPES.iter().find(|recipe| recipe.name == name).unwrap();
            for how in [Save::ByRename, Save::Append, Save::InPlace { points: 0 }, Save::InPlace { points: 2 }] {
                for is_removal in [false, true] {
                    let came = (0..60).filter(|at| run_beside(recipe, is_removal, file, how, *at)).count();
                    assert!(came > 3, "{name} {how:?}: {came}");
                    count += came;
                }
            }
        }
        assert!(count > 300, "{count}");
    }
}
