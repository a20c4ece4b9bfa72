//! Parses the values of flags, and reads them from standard input.

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::error::Error;
use crate::request::TextSource;
pub(super) use crate::request::{count, share, trimmed, value, whole};

/// Returns a text, read from standard input if it is `-`.
pub(super) fn text_or_stdin(given: Option<String>, env: &Env) -> Result<Option<String>, Error> {
    if given.as_deref() != Some("-") {
        return Ok(given);
    }
    let text = env
        .stdin
        .read_to_end()
        .map_err(|error| Error::usage(format!("can't read the text from standard input: {error}")))?;
    if text.contains('\0') {
        return Err(Error::usage("the text on standard input contains NUL characters"));
    }
    Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
}

/// Returns a file as the source of a text; reads standard input if it is `-`.
pub(super) fn file_or_stdin(
    file: PathBuf,
    env: &Env,
    unreadable: impl FnOnce(std::io::Error) -> Error,
) -> Result<TextSource, Error> {
    if file == Path::new("-") {
        return env.stdin.read_to_end().map(TextSource::Text).map_err(unreadable);
    }
    Ok(TextSource::File(file))
}
