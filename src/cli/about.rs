//! The arguments of `qipu about`.

use clap::Args;

use super::globals::Invocation;
use super::note_filters::LimitArgs;
use crate::error::Error;
use crate::note::CodeRef;
use crate::request::{Command, ContextRequest, MAX_PATH_BYTES, MentionTarget, ReadCommand, Selectors};

#[derive(Debug, Args)]
pub(super) struct AboutArgs {
    /// The file, line, symbol or folder: PATH, PATH:LINE, PATH#SYMBOL or FOLDER
    #[arg(value_name = "PATH[:LINE|#SYMBOL]")]
    target: String,
    /// Show whole bodies
    #[arg(long)]
    with_body: bool,
    #[command(flatten)]
    limit: LimitArgs,
}

impl AboutArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let mentions = mentions(&self.target, &invocation.env.current_dir.to_string_lossy())?;
        let selection = Selectors { mentions, max_notes: self.limit.limit, ..Selectors::default() };
        let with_body = Some(self.with_body);
        Ok(Command::Read(ReadCommand::Context(ContextRequest { selection, with_body, ..ContextRequest::default() })))
    }
}

/// Returns what a target names. A path without an extension may be that of a folder or of a file.
fn mentions(target: &str, current_dir: &str) -> Result<Vec<MentionTarget>, Error> {
    let (path, place) = match target.find('#').or_else(|| target.rfind(':')) {
        Some(end) => target.split_at(end),
        None => (target, ""),
    };
    let path = absolute(path, current_dir);
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    if name.is_empty() && place.is_empty() && !target.is_empty() {
        return Ok(vec![MentionTarget::Folder(path)]);
    }
    let bad = || {
        let message = format!("`{target}` names no file, line, symbol or folder");
        Error::usage(message).hint("write PATH, PATH:LINE, PATH#SYMBOL or FOLDER")
    };
    // Only the place is parsed: notes may know the file by another path.
    let named = CodeRef::parse(&format!("a/{name}{place}")).filter(|_| path.len() <= MAX_PATH_BYTES);
    let named = named.ok_or_else(bad)?;
    let mut mentions = Vec::new();
    if place.is_empty() && !name.contains('.') {
        mentions.push(MentionTarget::Folder(path.clone()));
    }
    mentions.push(match (named.line, named.symbol_word()) {
        (Some(line), _) => MentionTarget::Line(path, line),
        (None, Some(symbol)) => MentionTarget::SymbolOf(path, symbol.to_owned()),
        (None, None) => MentionTarget::File(path),
    });
    Ok(mentions)
}

/// Returns the absolute path, so that notes may name any end of it.
fn absolute(path: &str, current_dir: &str) -> String {
    let is_absolute = path.starts_with(['/', '\\']) || path.get(1..3).is_some_and(|root| matches!(root, ":\\" | ":/"));
    let path = path.strip_prefix("./").unwrap_or(path);
    if is_absolute { path.to_owned() } else { format!("{current_dir}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_file_a_line_a_symbol_or_a_folder() {
        let of = |target: &str| mentions(target, "/w").unwrap();
        let path = |path: &str| path.to_owned();
        assert_eq!(of("src/a.rs"), [MentionTarget::File(path("/w/src/a.rs"))]);
        assert_eq!(of("./src/a.rs:12"), [MentionTarget::Line(path("/w/src/a.rs"), 12)]);
        assert_eq!(of("/x/a.rs#S::run"), [MentionTarget::SymbolOf(path("/x/a.rs"), path("run"))]);
        assert_eq!(of("src/"), [MentionTarget::Folder(path("/w/src/"))]);
        assert_eq!(of("src"), [MentionTarget::Folder(path("/w/src")), MentionTarget::File(path("/w/src"))]);
        for bad in ["", "src/a.rs:0", "src/a.rs:x", "src/a.rs#a b", ".."] {
            assert!(mentions(bad, "/w").is_err(), "{bad}");
        }
    }
}
