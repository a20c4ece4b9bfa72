//! `qipu mcp`: a server of the [Model Context Protocol](https://modelcontextprotocol.io) on standard input and output. It
//! makes the requests of the command line, runs the same commands and fits their reports in the same way.
//!
//! A second thread runs the protocol. The main thread has the open store with its graph and text index, answers calls one
//! after the other, and reopens the store after a change on disk.

mod arguments;
mod call_queue;
mod prompts;
mod protocol;
mod resources;
mod schemas;
mod stdio;
mod tools;

use std::cell::OnceCell;
use std::io::Write;
use std::sync::mpsc::channel;

use rmcp::model::JsonObject;
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::oneshot;

use crate::commands;
use crate::context::Session;
use crate::env::Env;
use crate::error::{Error, Remedy};
use crate::escape::escape_json_texts;
use crate::fit;
use crate::note::NoteId;
use crate::render::Screen;
use crate::report::{Entry, Report};
use crate::request::{Budget, ChangeRequest, Format, ReadCommand};
use crate::store::{ChangeWatcher, CollectionScope, Location, Store};
use call_queue::CallQueue;
use tools::{ReadTask, Task};

/// A request that needs the store.
enum StoreRequest {
    /// Call a tool.
    CallTool { name: String, arguments: JsonObject },
    /// Get the prompt that contains what is known about a topic.
    Recall { topic: String },
    /// List the notes behind one, or from the first, as resources.
    ListResources { after: Option<NoteId> },
    /// Read a note as a resource.
    ReadResource { id: NoteId },
}

/// A request, and where its result is sent, as the JSON object of the protocol.
struct Call {
    request: StoreRequest,
    reply: oneshot::Sender<Result<Value, Error>>,
}

/// The settings of the server.
struct Settings<'a> {
    /// The time of creation or change of notes; `None` for the current second.
    date: Option<&'a str>,
    /// Whether results contain structured content too.
    is_structured: bool,
    location: &'a Location,
    env: &'a Env,
}

/// Runs the server until the client disconnects. Notes get `date` as their time of creation or change, else the current
/// second. `is_structured`: whether results contain structured content too.
pub(crate) fn serve(date: Option<&str>, is_structured: bool, location: &Location, env: &Env) -> Result<(), Error> {
    serve_on(tokio::io::stdin, std::io::stdout, date, is_structured, location, env)
}

/// Serves the protocol on streams, which are opened on the thread that runs it.
pub(crate) fn serve_on<R: AsyncRead + Send + Unpin + 'static, W: Write + Send + Unpin + 'static>(
    input: impl FnOnce() -> R + Send + 'static,
    output: impl Fn() -> W + Send + 'static,
    date: Option<&str>,
    is_structured: bool,
    location: &Location,
    env: &Env,
) -> Result<(), Error> {
    let location = &Location { is_only_call: false, ..location.clone() };
    let (sender, calls) = channel();
    let protocol_thread = std::thread::Builder::new().spawn(move || protocol::serve(sender, input, output))?;
    let settings = Settings { date, is_structured, location, env };
    answer_calls(&settings, CallQueue::new(calls, location));
    protocol_thread.join().map_err(|_| Error::failure("the server stopped unexpectedly"))?
}

/// Answers calls until the client disconnects, and reopens the store whenever it has changed.
fn answer_calls(settings: &Settings<'_>, mut calls: CallQueue) {
    let Settings { location, env, .. } = settings;
    let mut pending = None;
    let mut watcher = ChangeWatcher::new(location, &env.current_dir);
    while let Some(call) = pending.take().or_else(|| calls.next(env)) {
        // The watch begins before the store is read, so that no change in between is missed.
        watcher.begin();
        let opened = commands::open_to_search(location, &env.current_dir);
        let store = match opened {
            Ok(store) => store,
            Err(error) => {
                // The client may have cancelled the call; so too below.
                let _ = call.reply.send(Err(error));
                continue;
            }
        };
        pending = answer_from(&store, settings, call, &mut calls, &mut watcher);
    }
}

/// Answers calls from an open store until it has changed. Returns the call that is still to be answered from the
/// reopened store; `None` if the client has disconnected.
fn answer_from(
    store: &Store,
    settings: &Settings<'_>,
    first: Call,
    calls: &mut CallQueue,
    watcher: &mut ChangeWatcher,
) -> Option<Call> {
    let Settings { location, env, .. } = settings;
    let session = Session::new(store);
    // Opened at the first call that reads commits.
    let with_commits = OnceCell::new();
    let commits_session = OnceCell::new();
    let mut next = Some(first);
    let mut is_first = true;
    loop {
        let call = next.take().or_else(|| calls.next(env))?;
        let has_new_commits = || with_commits.get().is_some_and(Store::has_new_commits);
        if !is_first && (watcher.has_changed() || has_new_commits()) {
            return Some(call);
        }
        is_first = false;
        let answer = match &call.request {
            StoreRequest::CallTool { name, arguments } => {
                match tools::parse_task(name, arguments, location.today, settings.date) {
                    Ok(Task::Change(change)) => {
                        if calls.run_write(change, call.reply, env) {
                            return calls.next(env);
                        }
                        continue;
                    }
                    Ok(Task::Read(task)) => {
                        let opened = opened_with_commits(&task.command, store, settings, &with_commits);
                        let commits = opened.map(|opened| commits_session.get_or_init(|| Session::new(opened)));
                        match commits {
                            Some(session) => answer_task(&task, session, settings.is_structured),
                            None => answer_task(&task, &session, settings.is_structured),
                        }
                    }
                    Err(error) => Err(error),
                }
            }
            StoreRequest::Recall { topic } => prompts::recall(topic, location.today, &session),
            StoreRequest::ListResources { after } => Ok(resources::list(store, after.as_ref())),
            StoreRequest::ReadResource { id } => resources::read(id, &session),
        };
        let opened = || [Some(store), with_commits.get()].into_iter().flatten();
        if let Some(corrupt) = opened().find(|store| store.is_index_corrupt()) {
            // The index turned out to be corrupt: answer the call again without it.
            corrupt.discard_index(location);
            return Some(call);
        }
        if let Some(error) = opened().find_map(|store| store.expect_read_notes().err()) {
            let _ = call.reply.send(Err(error));
            return calls.next(env);
        }
        let _ = call.reply.send(answer);
    }
}

/// Returns the store with the commits for a command that reads them, which is opened once; `None` for any other command, and
/// if they can't be read: then the notes answer.
fn opened_with_commits<'s>(
    command: &ReadCommand,
    store: &Store,
    settings: &Settings<'_>,
    with_commits: &'s OnceCell<Store>,
) -> Option<&'s Store> {
    let current_dir = &settings.env.current_dir;
    let location = commands::with_history(command, settings.location, current_dir);
    let is_read = location.scope == CollectionScope::History && (location.names_commits || store.reads_commits());
    if is_read && with_commits.get().is_none() {
        let opened = commands::open_to_search(&location, current_dir).ok()?;
        let _ = with_commits.set(opened);
    }
    with_commits.get().filter(|_| is_read)
}

/// Replaces the name of the budget option in an error by the name of the argument.
fn with_argument_names(error: Error, task: &ReadTask) -> Error {
    let name = if matches!(task.command, ReadCommand::Expand(_)) { "max_additional_tokens" } else { "max_tokens" };
    let renamed = |text: &str| text.replace("--max-tokens", name);
    Error { message: renamed(&error.message), hint: error.hint.as_deref().map(renamed), ..error }
}

/// Replaces the advice to name another collection, for which tools have no argument.
fn without_target_option(error: Error) -> Error {
    match &error.remedy {
        Some(Remedy::ChangeIn(name)) => {
            let hint = format!("tools change only the project's store; on the command line, `--in {name}` changes it");
            error.hint(hint)
        }
        _ => error,
    }
}

/// Runs a task that only reads.
fn answer_task(task: &ReadTask, session: &Session<'_>, is_structured: bool) -> Result<Value, Error> {
    let mut report = commands::run_at(&task.command, session)?;
    report.head.warnings.extend(session.store.unreadable_warning());
    report.head.banner = Some(true);
    tool_result(task.budget, task.format(is_structured), report).map_err(|error| with_argument_names(error, task))
}

fn run_change(change: &ChangeRequest, location: &Location, env: &Env) -> Result<Value, Error> {
    if !location.only.is_empty() {
        return Err(Error::usage("this server was started with --in, so it changes no notes"));
    }
    let mut report = commands::run_change(change, location, env).map_err(without_target_option)?;
    report.head.show.has_revision = true;
    // Findings name notes by their titles.
    report.head.banner = report.entries.iter().any(|entry| matches!(entry, Entry::Finding(_))).then_some(true);
    // The results of changes have no structured content.
    tool_result(Budget::default(), Format::ToolResult { is_prompt: false, is_structured: false }, report)
}

/// Fits a report into a budget, as the result of a tool.
fn tool_result(budget: Budget, format: Format, report: Report) -> Result<Value, Error> {
    let json = fit::fit(&report, budget, format, Screen::default())?;
    if let Some(verdict) = report.verdict {
        return Err(verdict);
    }
    let parsed = serde_json::from_str(&json);
    let mut result: Value = parsed.map_err(|error| Error::failure(format!("the answer is not valid JSON: {error}")))?;
    // No text becomes longer by that.
    escape_json_texts(&mut result);
    Ok(result)
}
