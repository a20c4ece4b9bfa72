//! The arguments of `qipu setup`.

use clap::Args;

use super::globals::Invocation;
use crate::error::Error;
use crate::request::{SetupAction, SetupRequest};

#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// The recipe to set up; without it, the recipes are listed
    #[arg(value_name = "RECIPE")]
    recipe: Option<String>,
    /// Print the text without writing it
    #[arg(long, conflicts_with_all = ["check", "remove"])]
    print: bool,
    /// Check whether the recipe is installed and current; exit code 1 if not
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove the recipe; without RECIPE, remove all that are installed
    #[arg(long)]
    remove: bool,
    /// Set up every recipe that fits this project
    #[arg(long, conflicts_with_all = ["recipe", "print", "check", "remove"])]
    all_detected: bool,
    /// Overwrite or remove what was edited by hand
    #[arg(long, conflicts_with_all = ["print", "check"])]
    force: bool,
}

impl SetupArgs {
    pub(super) fn into_request(self, invocation: &Invocation<'_>) -> Result<SetupRequest, Error> {
        let action = match (self.recipe, self.print, self.check, self.remove) {
            (Some(recipe), true, _, _) => SetupAction::Print(recipe),
            (Some(recipe), _, true, _) => SetupAction::Check(recipe),
            (Some(recipe), _, _, true) => SetupAction::Remove(Some(recipe)),
            (Some(recipe), ..) => SetupAction::Install(Some(recipe)),
            (None, false, false, false) if self.all_detected => SetupAction::Install(None),
            (None, false, false, true) => SetupAction::Remove(None),
            (None, false, false, false) if !self.force => SetupAction::List,
            (None, ..) => return Err(Error::usage("no recipe given").hint("`qipu setup` lists the recipes")),
        };
        let Invocation { names_store: is_at_store, is_dry_run, .. } = *invocation;
        Ok(SetupRequest { action, is_at_store, is_forced: self.force, is_dry_run })
    }
}
