//! An embedder for qipu: reads texts from standard input and writes their vectors, computed with all-MiniLM-L6-v2.

mod attention;
mod embedder;
mod functions;
mod matrix;
mod model;
mod protocol;
mod tokenizer;
mod weights;

use std::cell::LazyCell;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::embedder::Embedder;

const HELP: &str = "\
Embeds texts for qipu with all-MiniLM-L6-v2.

Usage: qipu-embed --stdio [--model FOLDER]

Reads requests from standard input until it ends, and writes an answer for each.
FOLDER has config.json, model.safetensors and tokenizer.json; its default is
qipu/models/minilm-l6-v2 in $XDG_DATA_HOME or ~/.local/share.
";

/// What the arguments ask for.
#[derive(Debug, PartialEq)]
enum Request {
    Help,
    Serve { folder: Option<PathBuf> },
}

fn main() -> ExitCode {
    let request = match parse(env::args_os().skip(1)) {
        Ok(request) => request,
        Err(error) => return fail(&error, 2),
    };
    match run(request) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, 1),
    }
}

fn run(request: Request) -> Result<()> {
    let folder = match request {
        Request::Help => return Ok(io::stdout().write_all(HELP.as_bytes())?),
        Request::Serve { folder } => folder,
    };
    let folder = folder.or_else(default_folder).context("the home folder is unknown; use --model FOLDER")?;
    serve(&folder)
}

fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    // If it can't be written, there is nobody to tell.
    let _ = writeln!(io::stderr(), "qipu-embed: {error:#}");
    ExitCode::from(code)
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Request> {
    let mut folder = None;
    let mut is_stdio = false;
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(Request::Help),
            Some("--stdio") => is_stdio = true,
            Some("--model") => folder = Some(arguments.next().context("--model needs a folder")?.into()),
            _ => return Err(anyhow!("unknown argument {argument:?}; see qipu-embed --help")),
        }
    }
    ensure!(is_stdio, "--stdio is missing; see qipu-embed --help");
    Ok(Request::Serve { folder })
}

/// Returns the folder that `install` fills.
fn default_folder() -> Option<PathBuf> {
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let data = data.or_else(|| Some(env::home_dir()?.join(".local/share")))?;
    Some(data.join("qipu/models/minilm-l6-v2"))
}

/// Answers requests. The model is loaded while the first one is awaited.
fn serve(folder: &Path) -> Result<()> {
    let is_there = folder.join("model.safetensors").is_file();
    ensure!(is_there, "no model in {}; packaging/embedder/install of qipu puts it there", folder.display());
    let mut output = io::stdout().lock();
    protocol::write_description(&mut output)?;
    let folder = folder.to_owned();
    let loading = thread::spawn(move || Embedder::load(&folder));
    let embedder = LazyCell::new(|| loading.join().unwrap_or_else(|_| Err(anyhow!("loading the model failed"))));
    protocol::answer_all(io::stdin().lock(), &mut output, |texts| match &*embedder {
        Ok(embedder) => embedder.embed(texts),
        Err(error) => Err(anyhow!("{error:#}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Request> {
        parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn arguments() {
        let default = Request::Serve { folder: None };
        assert_eq!(parsed(&["--stdio"]).unwrap(), default);
        let other = Request::Serve { folder: Some("m".into()) };
        assert_eq!(parsed(&["--stdio", "--model", "m"]).unwrap(), other);
        assert_eq!(parsed(&["--model", "m", "--stdio"]).unwrap(), other);
        assert_eq!(parsed(&["--help"]).unwrap(), Request::Help);
        for wrong in [&[][..], &["--model", "m"], &["--stdio", "--model"], &["--stdio", "x"], &["--stdio", "--batch"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
