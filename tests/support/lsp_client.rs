//! A client of the language server over its pipes, independent of the types of the server.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A running server and what it has sent.
pub(crate) struct LspClient {
    pub(crate) server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: PathBuf,
    last_id: i64,
    /// The last diagnostics of each text.
    pub(crate) diagnostics: HashMap<String, Value>,
    /// The requests and notifications of the server.
    pub(crate) received: Vec<Value>,
    versions: HashMap<String, i64>,
}

impl LspClient {
    /// Starts the server in a folder, as a client that can do everything. Columns count bytes if `is_utf8`.
    pub(crate) fn start(root: &Path, is_utf8: bool) -> Self {
        let mut client = Self::start_uninitialized(root);
        client.request("initialize", json!({
            "processId": std::process::id(),
            "rootUri": uri(root),
            "capabilities": {
                "general": {"positionEncodings": if is_utf8 { json!(["utf-8"]) } else { json!(["utf-16"]) }},
                "workspace": {"workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename"]}},
                "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}},
                "window": {"showDocument": {"support": true}},
            },
        }));
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn start_uninitialized(root: &Path) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_qipu"))
            .args(["lsp", "--today", "2025-06-15"])
            .current_dir(root)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let (root, diagnostics) = (root.to_path_buf(), HashMap::new());
        Self { server, input, output, root, last_id: 0, diagnostics, received: Vec::new(), versions: HashMap::new() }
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        uri(&self.root.join(path))
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// Closes the input of the server.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Sends a request and returns the message of its error.
    pub(crate) fn refusal(&mut self, method: &str, params: Value) -> String {
        self.response(method, params)["error"]["message"].as_str().unwrap().to_owned()
    }

    fn response(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.read();
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
        }
    }

    /// Reads the next message, and keeps what the server sends by itself.
    pub(crate) fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(value) => length = value.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => panic!("{line}"),
            }
        }
        let mut content = vec![0; length];
        self.output.read_exact(&mut content).unwrap();
        let message: Value = serde_json::from_slice(&content).unwrap();
        if message["method"] == "textDocument/publishDiagnostics" {
            let params = &message["params"];
            self.diagnostics.insert(params["uri"].as_str().unwrap().to_owned(), params.clone());
        } else if message.get("method").is_some() {
            self.received.push(message.clone());
        }
        message
    }

    pub(crate) fn open(&mut self, path: &str, text: &str) {
        let uri = self.uri(path);
        self.versions.insert(path.to_owned(), 1);
        let item = json!({"uri": uri, "languageId": "markdown", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
    }

    /// Changes an open text: the whole of it, or a range.
    pub(crate) fn change(&mut self, path: &str, range: Option<Value>, text: &str) {
        let version = self.versions.get_mut(path).unwrap();
        *version += 1;
        let version = *version;
        let change = match range {
            Some(range) => json!({"range": range, "text": text}),
            None => json!({"text": text}),
        };
        let document = json!({"uri": self.uri(path), "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    pub(crate) fn close_text(&mut self, path: &str) {
        let document = json!({"uri": self.uri(path)});
        self.notify("textDocument/didClose", json!({"textDocument": document}));
    }

    /// Waits for the diagnostics of the current version of a text, and returns them.
    pub(crate) fn diagnostics_of(&mut self, path: &str) -> Vec<Value> {
        let (uri, version) = (self.uri(path), self.versions[path]);
        loop {
            if let Some(found) = self.diagnostics.get(&uri).filter(|found| found["version"] == version) {
                return found["diagnostics"].as_array().unwrap().clone();
            }
            self.read();
        }
    }

    /// Asks about a position of a text.
    pub(crate) fn at(&mut self, method: &str, path: &str, line: usize, character: usize) -> Value {
        let params = self.position(path, line, character);
        self.request(method, params)
    }

    /// Returns the parameters of a position.
    pub(crate) fn position(&self, path: &str, line: usize, character: usize) -> Value {
        json!({
            "textDocument": {"uri": self.uri(path)},
            "position": {"line": line, "character": character},
            "context": {"includeDeclaration": false, "triggerKind": 1},
        })
    }

    /// Ends the server as the protocol says, and returns whether it succeeded.
    pub(crate) fn stop(mut self) -> bool {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.server.wait().unwrap().success()
    }
}

impl Drop for LspClient {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the address of a file.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.to_str().unwrap().replace(' ', "%20"))
}
