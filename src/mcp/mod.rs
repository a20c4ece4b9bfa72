//! An MCP server on standard input and output. It makes the same requests as the command line and hands
//! them to the same commands and the same fit.
//!
//! One thread speaks the protocol; the one that was there first keeps the store open, with its links and
//! words, and opens it again when something changed on disk.

mod arguments;
mod call_queue;
mod protocol;
mod stdio;
mod tools;

use std::sync::mpsc::channel;

use rmcp::model::JsonObject;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::commands;
use crate::context::Session;
use crate::env::Env;
use crate::error::Error;
use crate::escape::harmless_texts;
use crate::fit;
use crate::report::Report;
use crate::request::{Command, Format, McpRequest};
use crate::store::{ChangeWatcher, Store};
use call_queue::Calls;
use tools::Task;

/// A tool that a client calls.
struct Call {
    tool: String,
    arguments: JsonObject,
    reply: oneshot::Sender<Result<Answer, Error>>,
}

/// What a tool answers: for the model, and for programs, where there is room for the latter.
struct Answer {
    text: String,
    facts: Option<Value>,
}

/// Serves until the client goes away.
///
/// # Errors
/// `Failure` when the machine gives no thread, or the protocol breaks down.
pub(crate) fn serve(request: &McpRequest, env: &Env) -> Result<(), Error> {
    let (sender, calls) = channel();
    let face = std::thread::Builder::new().spawn(move || protocol::speak(sender))?;
    keep(request, env, Calls::new(calls, request.location.waits.patience));
    face.join().map_err(|_| Error::failure("the server broke down"))?
}

/// Answers calls from a store that stays open until something in it changes.
fn keep(request: &McpRequest, env: &Env, mut calls: Calls) {
    let mut waiting = None;
    let mut watcher = ChangeWatcher::new(&request.location, &env.current_dir);
    while let Some(call) = waiting.take().or_else(|| calls.next(env)) {
        // Watched from before it is read: no change is missed in between.
        watcher.begin();
        let opened = Store::open_with(&request.location, &env.current_dir, Some(commands::gathering));
        let store = match opened {
            Ok(store) => store,
            Err(error) => {
                // Nobody may be listening any more; so too below.
                let _ = call.reply.send(Err(error));
                continue;
            }
        };
        waiting = answer_from(&store, request, env, call, &mut calls, &mut watcher);
    }
}

/// Answers calls while the store stays as it is. Returns the call that came when it no longer was.
fn answer_from(
    store: &Store,
    request: &McpRequest,
    env: &Env,
    first: Call,
    calls: &mut Calls,
    watcher: &mut ChangeWatcher,
) -> Option<Call> {
    let desk = Session::new(store);
    let mut next = Some(first);
    let mut is_first = true;
    loop {
        let call = next.take().or_else(|| calls.next(env))?;
        if !is_first && watcher.has_changed() {
            return Some(call);
        }
        is_first = false;
        let answer = match tools::task(&call.tool, &call.arguments, request) {
            Ok(task) if task.is_write => {
                if calls.write(task, call.reply, env) {
                    return calls.next(env);
                }
                continue;
            }
            task => task.and_then(|task| {
                let report = commands::run_at(&task.command, &desk).map(|mut report| {
                    report.head.warnings.extend(store.unreadable_warning());
                    report
                });
                answer(&task, report)
            }),
        };
        if store.is_broken() {
            // What was kept of the notes turned out to be damaged: without it, then.
            store.discard_index(&request.location);
            return Some(call);
        }
        let _ = call.reply.send(answer);
    }
}

/// Says what a budget lacks in the words of the tool.
fn in_arguments(error: Error, task: &Task) -> Error {
    let name = if matches!(task.command, Command::Expand(_)) { "max_additional_tokens" } else { "max_tokens" };
    let said = |text: &str| text.replace("--max-tokens", name);
    Error { message: said(&error.message), hint: error.hint.as_deref().map(said), ..error }
}

/// Runs a task that changes notes.
fn change(task: &Task, env: &Env) -> Result<Answer, Error> {
    let report = commands::run(&task.command, env);
    answer(task, report.and_then(|report| report.ok_or_else(|| Error::failure("there is nothing to say"))))
}

fn answer(task: &Task, report: Result<Report, Error>) -> Result<Answer, Error> {
    let mut report = report?;
    if !task.is_write {
        report.head.banner = Some(true);
    }
    let fitted = fit::fit_both(&report, task.budget, task.format, Format::Facts);
    let (text, facts) = fitted.map_err(|error| in_arguments(error, task))?;
    if let Some(verdict) = report.verdict {
        return Err(verdict);
    }
    let facts = facts.map(|facts| serde_json::from_str(&facts)).transpose();
    let mut facts: Option<Value> = facts.map_err(|error| Error::failure(format!("the answer is no JSON: {error}")))?;
    facts.iter_mut().for_each(harmless_texts);
    Ok(Answer { text, facts })
}
