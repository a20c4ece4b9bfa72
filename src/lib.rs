//! qipu: memory for coding agents and the people who work with them.
//!
//! The layers; imports point downwards only:
//!
//! ```text
//! floor 4  main      argv, exit code, the only place that prints errors
//!          lib       this map and run()
//!          mcp       the face for agent tools, which stays open: the same requests, the same commands
//!          browse    the one for people
//!          eval      measures answers to questions whose answers are known
//!          pager     a long text on a terminal
//!          watch     how far long work is, on standard error
//! floor 3  commands  one file each: request + store -> report
//!          complete  what a shell completes
//!          fit       the one place where anything is dropped, shortened or counted
//! floor 2  cli       words -> request
//!          context   selection
//!          render    entries -> text, one file per format
//!          setup     recipes for agent tools
//!          import    folders of other note apps, read as notes: pure
//! floor 1  store     the only reader and writer of files
//!          graph     links both ways, walks
//!          search    text analysis and ranking
//!          pack      notes and attachments in one checked text, and back: pure
//!          report    what every answer is made of
//!          request   what the user asks for, as plain values (-> store, graph, report: their plain types)
//! floor 0  note      ids, frontmatter, markdown: pure
//!          calendar  words for days and periods: pure
//!          env       what the process is given
//!          parts     bytes that are made of notes and kept (-> note)
//!          error     kinds of failure and exit codes
//!          escape    text made harmless
//!          timings   where the time of a call goes
//!          progress  how far work is that may take long
//!          tokens    counts tokens
//!          warnings  what standard error says beside the answer
//! ```

mod browse;
pub mod calendar;
pub mod cli;
pub mod codec;
pub mod commands;
pub mod complete;
pub mod context;
#[cfg(test)]
mod crash_points;
pub mod env;
pub mod error;
mod escape;
mod eval;
pub mod fit;
pub mod graph;
pub mod import;
mod mcp;
pub mod note;
pub mod pack;
mod pager;
pub mod progress;
mod progress_line;
mod render;
pub mod report;
pub mod request;
#[cfg(test)]
mod saves;
pub mod search;
pub mod setup;
pub mod store;
pub mod timings;
pub mod tokens;
pub mod warnings;

use std::ffi::OsString;
use std::io::Write;

pub use render::Screen;

use cli::ParsedCli;
use env::Env;
use error::Error;
use request::{Command, GraphRequest, Request};

/// Runs one call of the program: words become a request, the request a report, the report is cut
/// to size once, the text is written once.
///
/// # Errors
/// Everything that can go wrong; `ClosedPipe` when the reader went away.
pub fn run(args: &[OsString], env: &Env, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(answer) = complete::answer(args, env) {
        return Ok(out.write_all(&answer)?);
    }
    let request = match cli::parse(args, env)? {
        ParsedCli::Request(request) => request,
        ParsedCli::Help(text) => return Ok(out.write_all(text.as_bytes())?),
    };
    // It would tell of hours.
    if let Command::Browse(request) = &request.command {
        return browse::run(request, env);
    }
    if request.is_verbose {
        timings::begin();
    }
    if let Command::Mcp(request) = &request.command {
        return mcp::serve(request, env);
    }
    let watch = progress_line::begin(env);
    let report = match &request.command {
        Command::Eval(request) => eval::run(request, env).map(Some),
        command => commands::run(command, env),
    };
    drop(watch);
    let Some(report) = report? else {
        return Ok(());
    };
    let screen = screen(&request, env);
    timings::end("command");
    let text = match fit::fit(&report, request.budget, request.format, screen) {
        // A session starts whatever its hook does.
        Err(_) if request.command.is_hook() => return Ok(()),
        text => text?,
    };
    timings::end("fit");
    let text = match &request.command {
        Command::Graph(GraphRequest { location, saved: Some(saved), .. }) => {
            let told = |action| {
                let report = commands::saved(saved, report.head.store.as_deref(), action);
                fit::fit(&report, request.budget, saved.told_as, screen)
            };
            // What there is no room to tell of is not done.
            told("unchanged")?;
            told(store::export(
                location,
                &env.current_dir,
                &saved.file,
                text.as_bytes(),
                "a picture by qipu",
                render::is_picture,
            )?)?
        }
        _ => text,
    };
    let written = match request.show.is_paged && pager::show(&text, env) {
        true => Ok(()),
        false => out.write_all(text.as_bytes()).and_then(|()| out.flush()),
    };
    // A check that failed has failed, whether or not somebody read so to the end.
    match report.verdict {
        Some(verdict) => Err(verdict),
        None => Ok(written?),
    }
}

/// Returns what is known of the place where the text goes.
fn screen(request: &Request, env: &Env) -> Screen {
    Screen {
        is_terminal: env.is_terminal,
        has_color: request.show.color.unwrap_or(env.has_color),
        columns: env.size.map(|size| size.columns),
        today: request.show.today.filter(|_| env.size.is_some()),
    }
}
