//! The recipe `git`: lets git merge notes field by field.

use super::Recipe;
use super::managed_section::HASH;
use super::step::{BaseFolder, RecipeStep, SECTION, SectionPart};

/// What git runs for a note that both sides changed. Codes above 1 are no answer: qipu is not on
/// this machine, is too old, or could not read the files. Then git merges as it merges any text.
const DRIVER: &str = "command -v qipu >/dev/null 2>&1 && { qipu merge-driver --marker-size=%L %O %A %B; code=$?; \
                      test $code -gt 1 || exit $code; }; \
                      git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B";

/// The recipe.
pub(super) const RECIPE: Recipe = Recipe {
    name: "git",
    about: "lets git merge two versions of a note field by field",
    parts: &[
        RecipeStep::Section(SectionPart {
            folder: BaseFolder::Store,
            path: ".gitattributes",
            marks: &HASH,
            text: include_str!("git.attributes"),
            ..SECTION
        }),
        RecipeStep::GitConfig(&[("merge.qipu.name", "notes of qipu, field by field"), ("merge.qipu.driver", DRIVER)]),
    ],
    signs: &[".git"],
};
