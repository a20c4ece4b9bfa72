//! The recipe `agents-md`: a section in AGENTS.md, which most agent tools read.

use super::Recipe;
use super::part::{Folder, Part, SectionPart};
use super::section::MARKDOWN;

/// The recipe.
pub(super) const RECIPE: Recipe = Recipe {
    name: "agents-md",
    about: "tells every agent that reads AGENTS.md how to use qipu",
    parts: &[Part::Section(SectionPart {
        folder: Folder::Project,
        path: "AGENTS.md",
        marks: &MARKDOWN,
        text: include_str!("agents-md.md"),
    })],
};
