//! `qipu lsp`: a server of the [Language Server Protocol](https://microsoft.github.io/language-server-protocol/) 3.17 on
//! standard input and output. It answers from the functions of the command line, on the store with the open texts in the
//! place of their files.
//!
//! One thread reads messages, one answers them in their order, and one computes diagnostics when the texts have not changed
//! for a moment. Nothing runs while the client sends nothing.

mod actions;
mod capabilities;
mod client_process;
mod completion;
mod connection;
mod context_at;
mod diagnostics;
mod documents;
mod edits;
mod file_uri;
mod hover;
mod lenses;
mod links;
mod navigation;
mod rename;
mod requests;
mod section_links;
mod symbols;
mod text_position;
mod view;

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use lsp_types::{DidCloseTextDocumentParams, MessageType, ShowMessageParams};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::commands;
use crate::context::Session;
use crate::env::{self, AgentSession, Env};
use crate::error::Error;
use crate::request::{Action, ChangeRequest, ReadCommand};
use crate::store::{ChangeWatcher, Config, Location, Store};
use capabilities::Client;
use connection::{Connection, Event, EventSender, INVALID_REQUEST, NOT_INITIALIZED, ResponseError};
use diagnostics::{DELAY, Diagnoser};
use documents::Documents;
use view::{OpenNotes, View};

/// The settings of the server.
struct LspSettings<'a> {
    /// The time of creation or change of notes; `None` for the current second.
    date: Option<&'a str>,
    location: Location,
    /// The folder that the client works in, as it names it.
    current_dir: PathBuf,
    /// The same folder without symbolic links.
    real_dir: PathBuf,
    agent: Option<AgentSession>,
}

impl LspSettings<'_> {
    /// Returns the request of a change that a person makes now.
    fn change(&self, action: Action) -> Result<ChangeRequest, Error> {
        let random = getrandom::u64()
            .map_err(|error| Error::failure(format!("can't get a random number from the system: {error}")))?;
        let now = self.date.map_or_else(env::now, str::to_owned);
        Ok(ChangeRequest { action, revision: None, is_dry_run: true, is_secret_allowed: false, now, random })
    }
}

/// Runs the server until the client ends the connection. Notes get `date` as their time of creation or change, else the
/// current second.
///
/// # Errors
/// If the client ends the connection without a request to shut down, or can't be written to.
pub(crate) fn serve(date: Option<&str>, location: &Location, env: &Env) -> Result<(), Error> {
    serve_on(Connection::stdio()?, client_process::watch, date, location, env)
}

/// Serves a client in this process, which ends with its input.
pub(crate) fn serve_bytes(
    input: Vec<u8>,
    output: Box<dyn Write>,
    date: Option<&str>,
    location: &Location,
    env: &Env,
) -> Result<(), Error> {
    serve_on(Connection::new(|| Cursor::new(input), output)?, |_, _| (), date, location, env)
}

/// Serves a connection. `watch` reports the end of the client's process.
fn serve_on(
    mut connection: Connection,
    watch: fn(u32, EventSender),
    date: Option<&str>,
    location: &Location,
    env: &Env,
) -> Result<(), Error> {
    let Some(client) = initialize(&mut connection)? else { return Ok(()) };
    if let Some(process) = client.process {
        watch(process, connection.sender.clone());
    }
    let names_store = location.store.is_some();
    let folder = client.folder.clone().filter(|_| !names_store);
    let current_dir = folder.unwrap_or_else(|| env.current_dir.clone());
    let settings = LspSettings {
        date,
        location: Location { is_only_call: false, ..location.clone() },
        real_dir: current_dir.canonicalize().unwrap_or_else(|_| current_dir.clone()),
        current_dir,
        agent: env.agent_session(),
    };
    let mut server = Server {
        settings: &settings,
        client: &client,
        diagnoser: Diagnoser::new(connection.sender.clone()),
        connection,
        documents: Documents::default(),
        is_shut_down: false,
    };
    server.run()
}

/// Waits for the request to initialize and answers it; `None` if the client ends the connection before.
fn initialize(connection: &mut Connection) -> Result<Option<Client>, Error> {
    loop {
        match connection.next(None)? {
            Some(Event::Request { id, method, params }) if method == "initialize" => {
                let client = Client::new(&params);
                connection.respond(id, Ok(capabilities::result(&client)))?;
                return Ok(Some(client));
            }
            Some(Event::Request { id, .. }) => {
                let error = ResponseError::new(NOT_INITIALIZED, "the server is not initialized");
                connection.respond::<()>(id, Err(error))?;
            }
            Some(Event::Notification { method, .. }) if method == "exit" => {
                return Err(Error::failure("the client ended the connection before it initialized the server"));
            }
            Some(Event::Closed) => return Ok(None),
            _ => {}
        }
    }
}

/// Why a view of the store is no longer used.
enum Next {
    /// A text changed.
    Texts,
    /// A file changed.
    Files,
    /// The connection ended.
    Stop,
}

/// The server with the state of the connection.
struct Server<'a> {
    settings: &'a LspSettings<'a>,
    client: &'a Client,
    connection: Connection,
    documents: Documents,
    diagnoser: Diagnoser,
    is_shut_down: bool,
}

impl Server<'_> {
    /// Asks the client to report changed notes, so that diagnostics follow a change by another program.
    fn register_watchers(&mut self) -> Result<(), Error> {
        if !self.client.can_register_watchers {
            return Ok(());
        }
        let watchers = json!([{"globPattern": "**/*.md"}, {"globPattern": "**/config.toml"}]);
        let method = "workspace/didChangeWatchedFiles";
        let registration = json!({"id": method, "method": method, "registerOptions": {"watchers": watchers}});
        self.connection.request("client/registerCapability", json!({"registrations": [registration]}))
    }

    /// Opens the store again whenever a file changed, until the connection ends.
    fn run(&mut self) -> Result<(), Error> {
        let LspSettings { location, current_dir, .. } = self.settings;
        let mut watcher = ChangeWatcher::new(location, current_dir);
        let mut last_error = None;
        loop {
            // The watch begins before the store is read, so that no change in between is missed.
            watcher.begin();
            let opened = commands::open_to_search(location, current_dir);
            let error = opened.as_ref().err().map(|error| error.message.clone());
            if let Some(message) = error.as_ref().filter(|_| error != last_error) {
                let params = ShowMessageParams { typ: MessageType::WARNING, message: format!("qipu: {message}") };
                self.connection.notify("window/logMessage", params)?;
            }
            last_error = error;
            // Without a store, every request finds nothing.
            let none = |_| Store::from_notes(String::new(), Config::default(), Vec::new());
            if matches!(self.serve_files(&opened.unwrap_or_else(none), &mut watcher)?, Next::Stop) {
                return Ok(());
            }
        }
    }

    /// Serves until a file of the store changed.
    fn serve_files(&mut self, saved: &Store, watcher: &mut ChangeWatcher) -> Result<Next, Error> {
        let (session, mut open) = (Session::new(saved), OpenNotes::default());
        let run_saved = |command: &ReadCommand| commands::run_at(command, &session);
        let mut is_first = true;
        loop {
            open.update(&self.documents, saved);
            let notes = open.notes();
            let has_settings = self.documents.iter().any(|document| saved.settings_path(&document.path).is_some());
            let is_needed = has_settings || !notes.is_empty();
            let with_texts = is_needed.then(|| Arc::new(saved.with_texts(&notes)));
            let store = with_texts.as_deref().unwrap_or(saved);
            let view = View {
                session: Session::new(store),
                saved,
                run_saved: &run_saved,
                documents: self.documents.clone(),
                client: self.client,
                settings: self.settings,
                open: &open,
                names: OnceLock::new(),
            };
            let next = self.serve_texts(&view, with_texts.as_ref(), watcher, &mut is_first)?;
            if !matches!(next, Next::Texts) {
                return Ok(next);
            }
        }
    }

    /// Serves until a text changed and the next request needs it. `is_first`: whether no request was answered since the
    /// files were read, so that there is one that is not put back again.
    fn serve_texts(
        &mut self,
        view: &View<'_>,
        with_texts: Option<&Arc<Store>>,
        watcher: &mut ChangeWatcher,
        is_first: &mut bool,
    ) -> Result<Next, Error> {
        let mut is_outdated = false;
        loop {
            let Some(event) = self.connection.next(self.diagnoser.due)? else {
                if is_outdated {
                    return Ok(Next::Texts);
                }
                if watcher.has_changed() && !std::mem::take(is_first) {
                    return Ok(Next::Files);
                }
                self.diagnoser.start(with_texts, &self.settings.location)?;
                continue;
            };
            match event {
                Event::Closed => return self.stop(),
                Event::Diagnosed(state, found) => {
                    if self.diagnoser.finish(state) {
                        diagnostics::publish(&self.connection, view, &found)?;
                    }
                }
                Event::Response | Event::Malformed { .. } => {}
                Event::Notification { method, .. } if method == "exit" => return self.stop(),
                Event::Notification { method, params } => is_outdated |= self.notice(&method, params)?,
                Event::Request { id, method, params } => {
                    let is_changed = !std::mem::take(is_first) && watcher.has_changed();
                    if is_outdated || is_changed {
                        if is_changed {
                            self.diagnoser.change(Instant::now() + DELAY);
                        }
                        self.connection.put_back(id, method, params);
                        return Ok(if is_changed { Next::Files } else { Next::Texts });
                    }
                    if !self.answer(view, id, &method, params)? {
                        return Ok(Next::Files);
                    }
                }
            }
        }
    }

    /// Ends the server. The protocol asks for an error if the client did not ask to shut down.
    fn stop(&self) -> Result<Next, Error> {
        if self.is_shut_down {
            return Ok(Next::Stop);
        }
        Err(Error::failure("the client ended the connection without a request to shut down"))
    }

    /// Answers a request. Returns whether the view can still be used: if its index turns out to be corrupt, the request is put
    /// back, and is answered without it.
    fn answer(&mut self, view: &View<'_>, id: Value, method: &str, params: Value) -> Result<bool, Error> {
        if self.is_shut_down {
            let error = ResponseError::new(INVALID_REQUEST, "the server is shut down");
            return self.connection.respond::<()>(id, Err(error)).map(|()| true);
        }
        if method == "shutdown" {
            self.is_shut_down = true;
            return self.connection.respond(id, Ok(Value::Null)).map(|()| true);
        }
        let request = params.clone();
        let answer = requests::answer(view, method, params);
        let saved = view.saved;
        if saved.is_index_corrupt() {
            saved.discard_index(&self.settings.location);
            self.connection.put_back(id, method.to_owned(), request);
            return Ok(false);
        }
        let read = saved.expect_read_notes().map_err(ResponseError::from);
        let is_read = read.is_ok();
        let (answer, follow_up) = match read.and(answer) {
            Ok(answer) => (Ok(answer.value), answer.follow_up),
            Err(error) => (Err(error), None),
        };
        self.connection.respond(id, answer)?;
        if let Some((method, params)) = follow_up {
            self.connection.request(method, params)?;
        }
        Ok(is_read)
    }

    /// Takes notice of a change that the client reports. Returns whether a text changed.
    fn notice(&mut self, method: &str, params: Value) -> Result<bool, Error> {
        let is_text_changed = match method {
            "initialized" => {
                self.register_watchers()?;
                false
            }
            "textDocument/didOpen" => parsed(params).map(|opened| self.documents.open(opened)).is_some(),
            "textDocument/didChange" => {
                parsed(params).map(|changed| self.documents.change(changed, self.client.unit)).is_some()
            }
            "textDocument/didClose" => match parsed::<DidCloseTextDocumentParams>(params) {
                Some(closed) => {
                    self.documents.close(&closed);
                    diagnostics::clear(&self.connection, &closed.text_document.uri)?;
                    true
                }
                None => false,
            },
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.diagnoser.change(Instant::now() + DELAY);
                false
            }
            _ => false,
        };
        if is_text_changed {
            self.diagnoser.change(Instant::now() + DELAY);
        }
        Ok(is_text_changed)
    }
}

/// Parses the parameters of a notification. One with others is ignored: it can't be answered.
fn parsed<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
