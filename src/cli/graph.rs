//! The arguments of `qipu graph`.

use std::path::{Path, PathBuf};

use clap::{Arg, Args};

use super::context::completed;
use super::globals::Invocation;
use crate::error::Error;
use crate::graph::Follow;
use crate::request::{Command, Format, GraphFormat, OutputFile, Selectors};

pub(super) const EXAMPLES: &str = "Examples:
  The whole store as a page for a browser:
    qipu graph -o graph.html
  The notes around a note, for Graphviz:
    qipu graph --walk ID --max-hops 2 --as dot
  The notes of a tag, to paste into markdown:
    qipu graph --tag TAG --as mermaid";

#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    /// The output format (default: from the file extension, else dot)
    #[arg(long = "as", value_name = "FORM")]
    form: Option<GraphFormat>,
    /// The output file (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    selectors: Selectors,
    #[command(flatten)]
    follow: Follow,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
}

/// Gives the flags that `link` has too the help that is true of a graph.
pub(super) fn reword(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "direction" => arg.help("The direction in which --walk follows links"),
        "kinds" => arg.help("Only links of this type, also in walks (repeatable)"),
        "except_kinds" => arg.help("Exclude links of this type, also in walks (repeatable)"),
        _ => arg,
    }
}

/// The extensions of graph files, and their formats.
const EXTENSIONS: [(&str, GraphFormat); 9] = [
    ("dot", GraphFormat::Dot),
    ("gv", GraphFormat::Dot),
    ("mermaid", GraphFormat::Mermaid),
    ("mmd", GraphFormat::Mermaid),
    ("md", GraphFormat::Markdown),
    ("markdown", GraphFormat::Markdown),
    ("graphml", GraphFormat::Graphml),
    ("html", GraphFormat::Html),
    ("htm", GraphFormat::Html),
];

/// The extensions of drawings, which other programs make of these files.
const DRAWINGS: [&str; 7] = ["svg", "png", "jpg", "jpeg", "gif", "webp", "pdf"];

/// Returns the error for an unknown extension; its hint lists the known ones.
fn unknown_extension(extension: &str) -> Error {
    let known: Vec<String> = EXTENSIONS.iter().map(|(known, _)| format!(".{known}")).collect();
    let is_drawing = DRAWINGS.iter().any(|drawing| extension.eq_ignore_ascii_case(drawing));
    let advice = if is_drawing { "; Graphviz can render a .dot file" } else { ", or give the format with --as" };
    Error::usage(format!("can't write a `.{extension}` file")).hint(format!("use {}{advice}", known.join(", ")))
}

impl GraphArgs {
    /// Returns the request, and sets the format to that of the graph: unless an output format is named, and neither a
    /// graph format nor a file.
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let file = self.output.clone().filter(|file| file != Path::new("-"));
        let is_format_given = invocation.is_format_named && file.is_none();
        if is_format_given && self.form.is_some() {
            return Err(Error::usage("--as can't be combined with another output format")
                .hint("use --as or a format, not both"));
        }
        let saved = file.map(|file| OutputFile { file, confirmation_format: invocation.format });
        if !is_format_given {
            invocation.format = Format::Graph(self.graph_format()?);
        }
        let selectors = completed(self.selectors, invocation.budget.is_limited(), invocation.env)?;
        let selection = Selectors { no_compaction: self.no_compaction, follow: self.follow, ..selectors };
        Ok(Command::Graph { selection, saved })
    }

    /// Returns the form that is named, else that of the file's extension.
    fn graph_format(&self) -> Result<GraphFormat, Error> {
        let extension = self.output.as_deref().and_then(Path::extension);
        let is_extension = |known: &str| extension.is_some_and(|extension| extension.eq_ignore_ascii_case(known));
        let of_file = EXTENSIONS.iter().find(|(known, _)| is_extension(known)).map(|(_, format)| *format);
        Ok(match (self.form, extension, of_file) {
            (Some(GraphFormat::Mermaid), _, Some(GraphFormat::Markdown)) => GraphFormat::Markdown,
            (Some(form), ..) => form,
            (None, Some(extension), None) => return Err(unknown_extension(&extension.to_string_lossy())),
            (None, ..) => of_file.unwrap_or_default(),
        })
    }
}
