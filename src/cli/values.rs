//! Reads the values of flags from standard input, and names values of lower layers.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::env::Env;
use crate::error::Error;
use crate::graph::Direction;
use crate::request::TextSource;

/// Returns a text, read from standard input if it is `-`.
pub(super) fn text_or_stdin(given: Option<String>, env: &Env) -> Result<Option<String>, Error> {
    if given.as_deref() != Some("-") {
        return Ok(given);
    }
    let text =
        (env.stdin)().map_err(|error| Error::usage(format!("can't read the text from standard input: {error}")))?;
    Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
}

/// Returns a file as the source of a text; reads standard input if it is `-`.
pub(super) fn file_or_stdin(
    file: PathBuf,
    env: &Env,
    unreadable: impl FnOnce(std::io::Error) -> Error,
) -> Result<TextSource, Error> {
    if file == Path::new("-") {
        return (env.stdin)().map(TextSource::Text).map_err(unreadable);
    }
    Ok(TextSource::File(file))
}

impl ValueEnum for Direction {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Out, Self::In, Self::Both]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}
