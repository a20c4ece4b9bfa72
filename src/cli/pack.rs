//! The words of `qipu dump` and `qipu load`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::context::SelectorArgs;
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::request::{DumpRequest, Format, LoadRequest, Selectors, Strategy, TextSource};
use crate::store::Location;

#[derive(Debug, Args)]
pub(super) struct DumpArgs {
    /// The pack's file; `-` for standard output
    file: PathBuf,
    #[command(flatten)]
    selectors: SelectorArgs,
}

impl DumpArgs {
    pub(super) fn into_request(self, location: Location, format: Format, env: &Env) -> Result<DumpRequest, Error> {
        let file = (self.file != Path::new("-")).then_some(self.file);
        if file.is_none() && format != Format::Human {
            return Err(Error::usage("a pack is a format of its own").hint("give a file, or leave the format out"));
        }
        let (max_notes, max_hits) = self.selectors.limits(false);
        // A pack holds the notes themselves, not what stands for them.
        let originals = |selectors| Selectors { no_compaction: true, ..selectors };
        let selection = match self.selectors.is_empty() {
            true => None,
            false => Some(originals(self.selectors.into_selectors(env)?)),
        };
        Ok(DumpRequest { location, selection, max_notes, max_hits, file })
    }
}

#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// The pack's file; `-` for standard input
    file: PathBuf,
    /// What becomes of notes that both have
    #[arg(long, value_name = "STRATEGY", default_value = "skip")]
    strategy: StrategyName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StrategyName {
    /// The store's stay as they are
    Skip,
    /// The pack's take their place
    Overwrite,
    /// They become what both say; the later one has the last word
    Merge,
}

impl LoadArgs {
    pub(super) fn into_request(self, location: Location, is_dry_run: bool, env: &Env) -> Result<LoadRequest, Error> {
        let strategy = match self.strategy {
            StrategyName::Skip => Strategy::Skip,
            StrategyName::Overwrite => Strategy::Overwrite,
            StrategyName::Merge => Strategy::Merge,
        };
        let pack = match self.file == Path::new("-") {
            true => TextSource::Text((env.stdin)().map_err(|error| unreadable(&error))?),
            false => TextSource::File(self.file),
        };
        Ok(LoadRequest { location, pack, strategy, is_dry_run })
    }
}

/// A pack that is no text was altered, as any other that does not bear its checksum.
fn unreadable(error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::InvalidData => {
            Error::new(ErrorKind::Store, "this pack can't be loaded: it is not UTF-8").hint("nothing was written")
        }
        _ => Error::usage(format!("can't read the pack from standard input: {error}")),
    }
}
