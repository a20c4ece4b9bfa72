//! A client of the MCP server over its pipes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

/// A running server with an initialized session.
pub(crate) struct McpClient {
    pub(crate) server: Child,
    session: RefCell<Session>,
}

struct Session {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last_id: u64,
    /// The answers that came while another one was waited for.
    answers: HashMap<u64, Value>,
}

impl McpClient {
    /// Starts a command that is a server.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()).lines());
        let session = Session { input, output, last_id: 0, answers: HashMap::new() };
        let client = Self { server, session: RefCell::new(session) };
        let about = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        client.request("initialize", &hello);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(client.session.borrow_mut().input, "{ready}").unwrap();
        client
    }

    /// Sends a request, and returns the id that its answer will have.
    pub(crate) fn send(&self, method: &str, params: &Value) -> u64 {
        let mut session = self.session.borrow_mut();
        session.last_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": session.last_id, "method": method, "params": params});
        writeln!(session.input, "{message}").unwrap();
        session.last_id
    }

    /// Waits for the result of a request.
    pub(crate) fn receive(&self, id: u64) -> Value {
        let mut session = self.session.borrow_mut();
        while !session.answers.contains_key(&id) {
            let line = session.output.next().expect("the server ended").unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            // The others are notifications.
            if let Some(id) = message["id"].as_u64() {
                session.answers.insert(id, message);
            }
        }
        let mut answer = session.answers.remove(&id).unwrap();
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    pub(crate) fn request(&self, method: &str, params: &Value) -> Value {
        self.receive(self.send(method, params))
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        serde_json::from_value(result).unwrap()
    }

    /// Ends the session, and with it the server.
    pub(crate) fn end(self) {
        let Self { mut server, session } = self;
        drop(session.into_inner().input);
        assert!(server.wait().unwrap().success());
    }
}
