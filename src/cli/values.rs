//! Reads the values of flags from standard input, and names values of lower layers.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::env::Env;
use crate::error::Error;
use crate::graph::Direction;
use crate::report::{Format, Picture};
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

// The types of lower layers whose names are values of flags.

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Human, Self::Json, Self::Records, Self::Prompt]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Human => PossibleValue::new("human").help("Markdown and tree diagrams"),
            Self::Json => PossibleValue::new("json").help("One JSON object"),
            Self::Records => PossibleValue::new("records").help("Lines for a model's context").alias("token"),
            Self::Prompt => {
                PossibleValue::new("prompt").help("A section of a model's prompt (context, ask, show --query)")
            }
            Self::Facts | Self::Hook | Self::Picture(_) => return None,
        })
    }
}

impl ValueEnum for Picture {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Dot, Self::Mermaid, Self::Graphml, Self::Html]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Dot => ("dot", "Graphviz"),
            Self::Mermaid => ("mermaid", "Mermaid, which many sites render in markdown"),
            Self::Graphml => ("graphml", "GraphML, for graph tools"),
            Self::Html => ("html", "A self-contained web page: find, filter, read, follow links"),
            Self::Markdown => return None,
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for Direction {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Out, Self::In, Self::Both]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}
