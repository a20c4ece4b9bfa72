//! The recipe `agents-md`: a section in AGENTS.md, which most agent tools read.

use super::Recipe;

/// The recipe.
pub(super) const RECIPE: Recipe = Recipe {
    name: "agents-md",
    about: "tells every agent that reads AGENTS.md how to use qipu",
    path: "AGENTS.md",
    text: include_str!("agents-md.md"),
};
