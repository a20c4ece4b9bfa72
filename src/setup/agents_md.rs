//! The recipe `agents-md`: a section in AGENTS.md, which most agent tools read.

use super::Recipe;
use super::step::{RecipeStep, SECTION, SectionPart};

/// The recipe.
pub(super) const RECIPE: Recipe = Recipe {
    name: "agents-md",
    about: "tells every agent that reads AGENTS.md how to use qipu",
    parts: &[section("agents-md")],
    signs: &["AGENTS.md"],
};

/// The section in AGENTS.md, which several tools read: each recipe takes out its own wish only.
pub(super) const fn section(user: &'static str) -> RecipeStep {
    RecipeStep::Section(SectionPart { path: "AGENTS.md", text: include_str!("agents-md.md"), user, ..SECTION })
}
