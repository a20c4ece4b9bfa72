//! The notes that Claude Code keeps on a project for itself, and the settings that make them documents of that project.

use std::path::{Path, PathBuf};

use super::project::Project;
use crate::store::{SuggestedSettings, main_folder, suggested_settings};

/// The longest name of a project's folder; Claude Code shortens a longer one and adds a hash of its own.
const MAX_NAME: usize = 200;

/// Suggests settings that read the notes that Claude Code keeps on the project in its folder for the user; `None` if there
/// are none, or if they are read already.
pub fn suggested_memory(project: &Project<'_>, claude_dir: &Path) -> Option<SuggestedSettings> {
    let main = main_folder(&project.root);
    suggested_settings(&memory_of(&main, claude_dir)?, &main, project.location)
}

/// Returns the folder of the notes on a project, which all working trees of its repository share
/// (<https://code.claude.com/docs/en/memory>). Its name is what JavaScript replaces, in units of UTF-16. A setting
/// `autoMemoryDirectory` moves it anywhere: then it is not found here.
fn memory_of(project: &Path, claude_dir: &Path) -> Option<PathBuf> {
    let replaced = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { "-".repeat(c.len_utf16()) };
    let name: String = project.to_str()?.chars().map(replaced).collect();
    (name.len() <= MAX_NAME).then(|| claude_dir.join("projects").join(name).join("memory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_folder_is_that_which_claude_code_gives() {
        let name = |project: &str| memory_of(Path::new(project), Path::new("/c"));
        for (project, expected) in
            [("/work/app", "-work-app"), ("/home/a.b/my_app 2", "-home-a-b-my-app-2"), ("/\u{442}/\u{1f600}", "-----")]
        {
            assert_eq!(name(project), Some(PathBuf::from(format!("/c/projects/{expected}/memory"))));
        }
        assert_eq!(name(&format!("/{}", "a".repeat(MAX_NAME))), None);
    }
}
