//! qipu: memory for coding agents and the people who work with them.
//!
//! A call is parsed into a request, answered with a report, fitted into its budget as one text, and written.
//! `specs/internals/architecture.md` describes the modules and their layers; imports point downwards only.

#![cfg_attr(
    not(feature = "sessions"),
    allow(dead_code, unused_imports, reason = "the commands that are left out use them")
)]

#[cfg(feature = "sessions")]
mod browse;
pub mod calendar;
pub mod cli;
pub mod code_refs;
pub mod codec;
pub mod commands;
pub mod complete;
#[cfg(test)]
mod concurrent_save_tests;
pub mod context;
#[cfg(test)]
mod crash_tests;
mod diff;
mod embedder;
pub mod env;
pub mod error;
mod escape;
mod eval;
mod export;
pub mod filter;
pub mod fit;
pub mod graph;
mod hook_runner;
pub mod hooks;
#[cfg(feature = "sessions")]
mod lsp;
#[cfg(feature = "sessions")]
mod mcp;
pub mod note;
pub mod pack;
mod pager;
pub mod progress;
mod progress_line;
#[cfg(test)]
#[path = "../tests/support/random.rs"]
mod random;
mod render;
pub mod report;
pub mod request;
pub mod search;
pub mod secrets;
pub mod setup;
pub mod store;
pub mod timings;
pub mod tokens;
pub mod warnings;

use std::ffi::OsString;
use std::io::{self, Write};

pub use render::Screen;

use cli::ParsedCli;
use env::Env;
use error::{Error, ErrorKind};
use report::Report;
use request::{Command, OutputFile, Program, ReadCommand, Request};

/// Runs one call of the program and writes its answer to `out`.
///
/// # Errors
/// The failure of the call; `ClosedPipe` when the reader of `out` closed it.
pub fn run(args: &[OsString], env: &Env, out: &mut dyn Write) -> Result<(), Error> {
    let out = &mut NamedOutput(out);
    if let Some(candidates) = complete::answer(args, env) {
        return Ok(out.write_all(&candidates)?);
    }
    let result = run_parsed(args, env, out);
    // On a terminal, a person tries the hook.
    if cli::is_hook_call(args) && !env.is_terminal {
        warn_once(result);
        return Ok(());
    }
    result
}

/// Standard output, which the errors of its writes name.
struct NamedOutput<'a>(&'a mut dyn Write);

impl Write for NamedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| with_output(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| with_output(&error))
    }
}

fn with_output(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("can't write to standard output: {error}"))
}

/// Replaces the error of a hook, which may end the session or keep its prompt from the agent, by a warning. Tools show
/// one line, so that it is the only one.
fn warn_once(result: Result<(), Error>) {
    match result {
        Err(error) if error.kind != ErrorKind::ClosedPipe => warnings::replace(&error.message),
        _ => warnings::keep_first(),
    }
}

/// Parses the arguments of a call and answers it.
fn run_parsed(args: &[OsString], env: &Env, out: &mut dyn Write) -> Result<(), Error> {
    let mut request = match cli::parse(args, env)? {
        ParsedCli::Request(request) => request,
        ParsedCli::Help(text) => return Ok(out.write_all(text.as_bytes())?),
    };
    // A session of `browse` has no timings: it lasts as long as the user keeps it open.
    if request.is_verbose && !matches!(request.command, Command::Run(Program::Browse { .. })) {
        timings::begin();
    }
    request.location = request.location.at_commit(&env.current_dir)?;
    match &request.command {
        Command::Run(program) => run_program(program, &request, env, out),
        Command::Write(command) => {
            answer_once(|| commands::run_write(command, &request.location, env), &request, env, out)
        }
        Command::Read(command) => {
            let result = answer_once(|| commands::run_read(command, &request.location, env), &request, env, out);
            if request.command.is_hook() {
                warn_once(result);
                return Ok(());
            }
            result
        }
    }
}

fn run_program(program: &Program, request: &Request, env: &Env, out: &mut dyn Write) -> Result<(), Error> {
    let location = &request.location;
    match program {
        #[cfg(feature = "sessions")]
        Program::Browse { query, today } => browse::run(query, today.as_deref(), location, env),
        #[cfg(feature = "sessions")]
        Program::Mcp { today, is_structured } => mcp::serve(today.as_deref(), *is_structured, location, env),
        #[cfg(feature = "sessions")]
        Program::Lsp { today } => lsp::serve(today.as_deref(), location, env),
        #[cfg(not(feature = "sessions"))]
        Program::Browse { .. } | Program::Mcp { .. } | Program::Lsp { .. } => {
            Err(Error::usage("this build has no `browse`, `lsp` and `mcp`")
                .hint("build it with the feature `sessions`"))
        }
        Program::ExportPassages(passages) => {
            let progress = progress_line::begin(env);
            let report = export::run(passages, location, env, out)?;
            drop(progress);
            report.map_or(Ok(()), |report| write_report(report, request, env, out))
        }
        Program::Hook(hook) => hook_runner::run(hook, location, env, out),
        Program::Eval(eval) => answer_once(|| eval::run(eval, location, env).map(Some), request, env, out),
    }
}

/// Answers a request with progress on standard error, fits the answer, if there is one, into its budget, and writes it.
fn answer_once(
    answer: impl FnOnce() -> Result<Option<Report>, Error>,
    request: &Request,
    env: &Env,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let progress = progress_line::begin(env);
    let report = answer()?;
    drop(progress);
    let Some(report) = report else { return Ok(()) };
    let is_change = report.head.is_change_made();
    write_report(report, request, env, out).map_err(|error| match error.kind {
        ErrorKind::Failure if is_change => error.hint("the command was completed; only its answer is lost"),
        _ => error,
    })
}

/// Fits a report into its budget and writes it.
fn write_report(mut report: Report, request: &Request, env: &Env, out: &mut dyn Write) -> Result<(), Error> {
    report.head.lines = request.lines.clone();
    render::stderr_lines(&report, request.format).into_iter().for_each(warnings::add_line);
    timings::end("command");
    let screen = screen(request, env);
    // On a terminal, the text may be paged.
    if env.size.is_none() && fit::write_list(&report, request.budget, request.format, screen, out)? {
        timings::end("fit");
        render::left_out_line(&report, request.format, None).into_iter().for_each(warnings::add_line);
        return report.verdict.map_or_else(|| Ok(out.flush()?), Err);
    }
    let text = fit::fit(&report, request.budget, request.format, screen)?;
    timings::end("fit");
    render::left_out_line(&report, request.format, Some(&text)).into_iter().for_each(warnings::add_line);
    let text = match &request.command {
        Command::Read(ReadCommand::ExportLinks { saved: Some(file), .. }) => save(&text, file, &report, request, env)?,
        _ => text,
    };
    let is_paged = request.is_paged && pager::show(&text, env);
    let written = if is_paged { Ok(()) } else { out.write_all(text.as_bytes()).and_then(|()| out.flush()) };
    // A failed check fails the call, even if the reader closed the pipe early.
    report.verdict.map_or_else(|| Ok(written?), Err)
}

/// Saves an export and returns the confirmation, fitted into the budget too. Saves nothing if that does not fit.
fn save(text: &str, file: &OutputFile, export: &Report, request: &Request, env: &Env) -> Result<String, Error> {
    let confirmation = |action| {
        let report = commands::saved_file(&file.file, export.head.store.as_deref(), action);
        fit::fit(&report, request.budget, file.confirmation_format, screen(request, env))
    };
    // The longest of the actions that `export` returns.
    confirmation("unchanged")?;
    let (location, current_dir, bytes) = (&request.location, &env.current_dir, text.as_bytes());
    let (what, can_replace) = render::exported_file(request.format);
    let action = store::export(location, current_dir, &file.file, bytes, what, can_replace)?;
    confirmation(action)
}

/// Returns the properties of the terminal or file that the text is written to.
fn screen(request: &Request, env: &Env) -> Screen {
    Screen {
        is_terminal: env.is_terminal,
        has_color: request.color.unwrap_or(env.has_color),
        columns: env.size.map(|size| size.columns),
        today: request.today.filter(|_| env.size.is_some()),
    }
}

/// Servers on streams of this process, and the reader of answers, for the fuzz targets and their replay: no public
/// function leads to them alone.
#[cfg(feature = "sessions")]
#[doc(hidden)]
pub mod in_process {
    use std::ffi::OsString;
    use std::io::Write;

    use tokio::io::AsyncRead;

    use crate::cli::{self, ParsedCli};
    use crate::env::Env;
    use crate::error::Error;
    use crate::eval;
    use crate::lsp;
    use crate::mcp;
    use crate::request::{Command, Program};

    /// Runs `qipu lsp` on the messages of a client and writes the answers to `output`.
    ///
    /// # Errors
    /// Those of the server, and wrong arguments.
    pub fn serve_lsp(args: &[OsString], env: &Env, input: Vec<u8>, output: Box<dyn Write>) -> Result<(), Error> {
        let ParsedCli::Request(request) = cli::parse(args, env)? else { return Err(Error::usage("not a server")) };
        let Command::Run(Program::Lsp { today }) = &request.command else {
            return Err(Error::usage("not a language server"));
        };
        lsp::serve_bytes(input, output, today.as_deref(), &request.location, env)
    }

    /// Runs `qipu mcp` on streams; `output` opens the one to which answers are written.
    ///
    /// # Errors
    /// Those of the server, and wrong arguments.
    pub fn serve_mcp<R: AsyncRead + Send + Unpin + 'static, W: Write + Send + Unpin + 'static>(
        args: &[OsString],
        env: &Env,
        input: R,
        output: impl Fn() -> W + Send + 'static,
    ) -> Result<(), Error> {
        let ParsedCli::Request(request) = cli::parse(args, env)? else { return Err(Error::usage("not a server")) };
        let Command::Run(Program::Mcp { today, is_structured }) = &request.command else {
            return Err(Error::usage("not an MCP server"));
        };
        mcp::serve_on(|| input, output, today.as_deref(), *is_structured, &request.location, env)
    }

    /// Returns the ids of the notes that an answer in the records format shows, as `qipu eval` reads it.
    pub fn ids_of_records(answer: &str) -> Vec<String> {
        eval::shown_ids(answer)
    }
}
