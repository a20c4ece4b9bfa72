//! The words of `qipu graph`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::context::SelectorArgs;
use super::link::DirectionName;
use crate::env::Env;
use crate::error::Error;
use crate::graph::Follow;
use crate::request::{Format, GraphRequest, OutputFile, Picture, Selectors};
use crate::store::Location;

pub(super) const EXAMPLES: &str = "Examples:
  The whole store as a page for a browser:
    qipu graph -o graph.html
  What hangs together with a note, for Graphviz:
    qipu graph --walk ID --max-hops 2 --as dot
  The notes of a tag, to paste into markdown:
    qipu graph --tag TAG --as mermaid";

#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    /// What is drawn (usual: what the ending of the file says, else dot)
    #[arg(long = "as", value_name = "FORM")]
    form: Option<FormName>,
    /// The picture's file, else standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    selectors: SelectorArgs,
    /// Which way --walk follows links
    #[arg(long, value_name = "WAY", default_value = "both")]
    direction: DirectionName,
    /// Only links of this type, in walks too (repeatable)
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<String>,
    /// No links of this type, in walks neither (repeatable)
    #[arg(long = "exclude-type", value_name = "TYPE")]
    except_kinds: Vec<String>,
    /// Only links in frontmatter
    #[arg(long, conflicts_with = "inline_only")]
    typed_only: bool,
    /// Only links in bodies
    #[arg(long)]
    inline_only: bool,
    /// Show notes although a digest stands for them
    #[arg(long)]
    no_compaction: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormName {
    /// Graphviz
    Dot,
    /// Mermaid, which many sites draw from markdown
    Mermaid,
    /// GraphML, which tools for graphs read
    Graphml,
    /// One page that needs no network: find, filter, read and walk
    Html,
}

/// Endings of files, and what they say.
const ENDINGS: [(&str, Picture); 9] = [
    ("dot", Picture::Dot),
    ("gv", Picture::Dot),
    ("mermaid", Picture::Mermaid),
    ("mmd", Picture::Mermaid),
    ("md", Picture::Markdown),
    ("markdown", Picture::Markdown),
    ("graphml", Picture::Graphml),
    ("html", Picture::Html),
    ("htm", Picture::Html),
];

/// Endings of drawings, which other programs make of ours.
const DRAWN: [&str; 7] = ["svg", "png", "jpg", "jpeg", "gif", "webp", "pdf"];

/// Says which endings are known.
fn unknown(ending: &str) -> Error {
    let known: Vec<String> = ENDINGS.iter().map(|(known, _)| format!(".{known}")).collect();
    let use_known = format!("use {}", known.join(", "));
    let error = Error::usage(format!("can't write a `.{ending}` file"));
    match DRAWN.iter().any(|drawn| ending.eq_ignore_ascii_case(drawn)) {
        true => error.hint(format!("{use_known}; Graphviz makes a drawing of a .dot file")),
        false => error.hint(format!("{use_known}, or name the form with --as")),
    }
}

impl GraphArgs {
    /// Returns the request and the format that the picture has. Without a picture's form and file, a format
    /// that is named is the answer's.
    pub(super) fn into_request(
        self,
        location: Location,
        is_format_named: bool,
        format: Format,
        has_budget: bool,
        env: &Env,
    ) -> Result<(GraphRequest, Format), Error> {
        let file = self.output.clone().filter(|file| file != Path::new("-"));
        if is_format_named && file.is_none() && self.form.is_some() {
            return Err(Error::usage("a picture is a format of its own").hint("give --as or a format, not both"));
        }
        let answer = if is_format_named && file.is_none() { format } else { Format::Picture(self.picture()?) };
        let follow = Follow {
            direction: self.direction.into(),
            kinds: self.kinds,
            except_kinds: self.except_kinds,
            is_typed_only: self.typed_only,
            is_inline_only: self.inline_only,
            is_raw: false,
        };
        let (max_notes, max_hits) = self.selectors.limits(has_budget);
        let selection = match self.selectors.selects() {
            false => None,
            true => Some(Selectors {
                no_compaction: self.no_compaction,
                follow: follow.clone(),
                ..self.selectors.into_selectors(env)?
            }),
        };
        let saved = file.map(|file| OutputFile { file, told_as: format });
        let no_compaction = self.no_compaction;
        Ok((GraphRequest { location, selection, max_notes, max_hits, follow, no_compaction, saved }, answer))
    }

    /// Returns the form that is named, else the one that the ending of the file's name says.
    fn picture(&self) -> Result<Picture, Error> {
        let ending = self.output.as_deref().and_then(Path::extension);
        let said = ENDINGS.iter().find(|(known, _)| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(known)));
        let said = said.map(|(_, picture)| *picture);
        Ok(match (self.form, ending, said) {
            (Some(FormName::Dot), ..) => Picture::Dot,
            (Some(FormName::Mermaid), _, Some(Picture::Markdown)) => Picture::Markdown,
            (Some(FormName::Mermaid), ..) => Picture::Mermaid,
            (Some(FormName::Graphml), ..) => Picture::Graphml,
            (Some(FormName::Html), ..) => Picture::Html,
            (None, Some(ending), None) => return Err(unknown(&ending.to_string_lossy())),
            (None, ..) => said.unwrap_or_default(),
        })
    }
}
