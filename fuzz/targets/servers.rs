//! Messages: of the clients of both servers, and of the hooks of agent tools.

use std::ffi::OsString;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use qipu::in_process::{serve_lsp, serve_mcp};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use super::input::Input;
use super::world::{World, expect_no_control};

const A: &str = "---\nid: a\ntitle: First note\ntags: [storage]\naliases: [Eins]\n---\n\n# First note\n\n## Why it *is*\n\n\
    Text about [[b]].\n\n## End\n\n- [ ] task\n";
const B: &str = "---\nid: b\ntitle: Second note\nlinks:\n- {type: contradicts, id: a}\n---\n\nSee [[First note]] and\n\
    [[First note#Why it is|why]], [path](a.md#why-it-is). Code: `src/disk.rs:2`. fsync\n";
const M: &str = "---\nid: m\ntitle: Map\ntype: moc\n---\n\n1. [[Eins]]\n2. [[Second note]]\n3. [[nowhere]]\n";
const PATHS: [&str; 3] = [".qipu/notes/a.md", ".qipu/notes/b.md", ".qipu/mocs/m.md"];

fn project() -> World {
    let world = World::with_store(&[]);
    for (path, text) in PATHS.into_iter().zip([A, B, M]) {
        world.write(path, text);
    }
    world.write("src/disk.rs", "fn main() {}\nfn sync() {}\n");
    world
}

/// A stream that several writers share.
#[derive(Clone, Default)]
struct SharedOutput(Arc<Mutex<Vec<u8>>>);

impl SharedOutput {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).expect("a server writes UTF-8")
    }
}

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The methods about a position in a text.
const METHODS: [&str; 10] = [
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/hover",
    "textDocument/documentSymbol",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "workspace/symbol",
];

/// The messages of a session, made of the parts of an input.
struct Session {
    root: String,
    bytes: Vec<u8>,
    /// The ids of the requests.
    requests: Vec<u64>,
    has_raw: bool,
}

impl Session {
    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.bytes.extend(format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes());
    }

    fn request(&mut self, method: &str, params: Value) {
        let id = 1000 + self.requests.len() as u64;
        self.requests.push(id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Adds a part: `+` opens a text, `~` changes all of it, `^` a range of it, `-` closes it, `?` asks about a position, and
    /// anything else is sent as it is, as a message if it begins with a brace.
    fn add(&mut self, part: &[u8]) {
        let Some((kind, rest)) = part.split_first() else { return };
        let mut input = Input::new(rest);
        if !b"+~^-?".contains(kind) {
            self.has_raw = true;
            let text = String::from_utf8_lossy(part).replace("$ROOT", &self.root);
            if text.starts_with('{') {
                self.bytes.extend(format!("Content-Length: {}\r\n\r\n", text.len()).into_bytes());
            }
            self.bytes.extend(text.into_bytes());
            return;
        }
        let uri = format!("file://{}/{}", self.root, input.choose(&PATHS));
        let document = json!({"uri": uri, "version": 2});
        match kind {
            b'+' => {
                let item = json!({"uri": uri, "languageId": "markdown", "version": 1, "text": input.text()});
                self.notify("textDocument/didOpen", json!({"textDocument": item}));
            }
            b'-' => self.notify("textDocument/didClose", json!({"textDocument": document})),
            b'?' => self.ask(&mut input, &document),
            b'~' => {
                let change = json!({"text": input.text()});
                self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
            }
            _ => {
                let range = range(&mut input);
                let change = json!({"range": range, "text": input.text()});
                self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
            }
        }
    }

    fn ask(&mut self, input: &mut Input<'_>, document: &Value) {
        let method = input.choose(&METHODS);
        let range = range(input);
        let text = input.text();
        self.request(
            method,
            json!({
                "textDocument": document,
                "position": range["start"],
                "range": range,
                "newName": text,
                "query": text,
                "context": {"includeDeclaration": true, "triggerKind": 1, "diagnostics": []},
            }),
        );
    }
}

/// Reads a range, which may lie outside of its text or end before it begins.
fn range(input: &mut Input<'_>) -> Value {
    let mut position = || json!({"line": input.number(32), "character": input.number(80)});
    json!({"start": position(), "end": position()})
}

/// A session of messages against texts that are not saved: every request is answered once, ranges are in order, and no file
/// is written.
pub(crate) fn lsp(data: &[u8]) {
    let mut input = Input::new(data);
    let is_utf8 = input.flag();
    let world = project();
    let before = world.tree();
    let root = world.project().to_string_lossy().into_owned();
    let mut session = Session { root, bytes: Vec::new(), requests: Vec::new(), has_raw: false };
    let encodings = if is_utf8 { json!(["utf-8"]) } else { json!(["utf-16"]) };
    session.request(
        "initialize",
        json!({"processId": null, "capabilities": {
            "general": {"positionEncodings": encodings},
            "workspace": {"workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename"]}},
            "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}},
            "window": {"showDocument": {"support": true}},
        }}),
    );
    session.notify("initialized", json!({}));
    input.parts(24).into_iter().for_each(|part| session.add(part));
    session.request("shutdown", Value::Null);
    session.notify("exit", Value::Null);
    let output = SharedOutput::default();
    let args: Vec<OsString> = ["qipu", "lsp", "--store", &session.root].map(OsString::from).to_vec();
    let result = serve_lsp(&args, &world.env(""), session.bytes, Box::new(output.clone()));
    assert_eq!(world.tree(), before, "the server wrote something");
    let mut answered = Vec::new();
    for message in messages(&output.text()) {
        check_ranges(&message);
        if message.get("method").is_none() {
            answered.extend(message["id"].as_u64());
        }
    }
    if !session.has_raw {
        assert!(result.is_ok(), "{:?}", result.err().map(|error| error.message));
        answered.sort_unstable();
        assert_eq!(answered, session.requests, "each request is answered once");
    }
}

/// Returns the messages that a server wrote.
fn messages(mut text: &str) -> Vec<Value> {
    let mut all = Vec::new();
    while !text.is_empty() {
        let rest = text.strip_prefix("Content-Length: ").expect("a header");
        let (length, rest) = rest.split_once("\r\n\r\n").unwrap();
        let (content, after) = rest.split_at(length.parse().unwrap());
        all.push(serde_json::from_str(content).unwrap_or_else(|error| panic!("{error}: {content}")));
        text = after;
    }
    all
}

/// Expects that every range in a message ends where it begins or later.
fn check_ranges(value: &Value) {
    if let (Some(start), Some(end)) = (value.get("start"), value.get("end")) {
        let at = |position: &Value| (position["line"].as_u64(), position["character"].as_u64());
        assert!(at(start) <= at(end), "{value}");
    }
    match value {
        Value::Array(items) => items.iter().for_each(check_ranges),
        Value::Object(members) => members.values().for_each(check_ranges),
        _ => {}
    }
}

/// The input of a client that waits for its answers before it closes the connection.
struct ClientInput {
    bytes: Vec<u8>,
    done: usize,
    output: SharedOutput,
    expected: usize,
    /// The number of times that the end may still be waited for.
    patience: usize,
}

impl AsyncRead for ClientInput {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let client = self.get_mut();
        let rest = &client.bytes[client.done..];
        let some = &rest[..rest.len().min(to.remaining())];
        to.put_slice(some);
        client.done += some.len();
        let has_answers = || client.output.text().matches("\"jsonrpc\"").count() >= client.expected;
        if some.is_empty() && client.patience > 0 && !has_answers() {
            client.patience -= 1;
            std::thread::sleep(Duration::from_micros(50));
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

/// The tools, and members of their arguments.
const TOOLS: [&str; 8] = ["get_context", "search", "expand", "read", "capture", "update", "link", "unknown"];

/// Lines of JSON-RPC: each answer is a line of JSON, no request is answered twice, and a well-formed session is answered
/// whole, each result within the budget that was asked for.
pub(crate) fn mcp(data: &[u8]) {
    let mut input = Input::new(data);
    let is_structured = input.flag();
    let world = project();
    let outside = world.tree_outside_store();
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}});
    let mut lines = vec![initialize.to_string()];
    lines.push(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    let (mut expected, mut has_raw) = (1, false);
    for part in input.parts(16) {
        let Some((kind, rest)) = part.split_first() else { continue };
        let mut call = Input::new(rest);
        if *kind == b'!' {
            let tool = call.choose(&TOOLS);
            // Wrong arguments are refused by the tool.
            let Ok(arguments @ Value::Object(_)) = serde_json::from_slice(call.bytes()) else { continue };
            let params = json!({"name": tool, "arguments": arguments});
            lines.push(
                json!({"jsonrpc": "2.0", "id": lines.len(), "method": "tools/call", "params": params}).to_string(),
            );
            expected += 1;
        } else {
            has_raw = true;
            lines.push(String::from_utf8_lossy(part).into_owned());
        }
    }
    let output = SharedOutput::default();
    let bytes = (lines.join("\n") + "\n").into_bytes();
    let patience = if has_raw { 100 } else { 100_000 };
    let client = ClientInput { bytes, done: 0, output: output.clone(), expected, patience };
    let mut args: Vec<OsString> = ["qipu", "mcp", "--today", "2025-03-07"].map(OsString::from).to_vec();
    args.extend(is_structured.then(|| "--structured".into()));
    let writer = output.clone();
    let result = serve_mcp(&args, &world.env(""), client, move || writer.clone());
    assert_eq!(world.tree_outside_store(), outside, "something was written outside of the store");
    let mut answered = Vec::new();
    for line in output.text().lines() {
        let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(answer["jsonrpc"], "2.0", "{line}");
        expect_no_control(line);
        answered.extend(answer["id"].as_u64());
    }
    if !has_raw {
        assert!(result.is_ok(), "{:?}", result.err().map(|error| error.message));
        answered.sort_unstable();
        let ids: Vec<u64> =
            lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["id"].as_u64()).collect();
        assert_eq!(answered, ids, "each request is answered once: {}", output.text());
    }
}

/// The events of agent tools, some of them unknown.
const EVENTS: [(&str, &str); 14] = [
    ("claude", "SessionStart"),
    ("claude", "UserPromptSubmit"),
    ("claude", "PreToolUse"),
    ("claude", "SubagentStart"),
    ("claude", "PreCompact"),
    ("codex", "SessionStart"),
    ("codex", "UserPromptSubmit"),
    ("codex", "PreToolUse"),
    ("gemini", "BeforeAgent"),
    ("gemini", "BeforeTool"),
    ("cursor", "sessionStart"),
    ("cursor", "preToolUse"),
    ("copilot", "userPromptSubmitted"),
    ("copilot", "preToolUse"),
];

/// A hook never fails, answers with one line of JSON or nothing, keeps its limit, and shows nothing twice.
pub(crate) fn hooks(data: &[u8]) {
    let mut input = Input::new(data);
    let (tool, event) = input.choose(&EVENTS);
    let text = input.text();
    let world = project();
    let outside = world.tree();
    let answer = world.call(&["hook", tool, event], &text);
    assert!(answer.is_ok(), "{tool} {event}: {:?}", answer.error.map(|error| error.message));
    assert_eq!(world.tree(), outside, "a hook wrote something");
    if answer.text.is_empty() {
        return;
    }
    let json: Value = serde_json::from_str(&answer.text).unwrap_or_else(|error| panic!("{error}: {}", answer.text));
    assert!(json.is_object() && answer.text.lines().count() == 1, "{}", answer.text);
    assert!(answer.text.chars().count() <= 8_000, "{}", answer.text);
    expect_no_control(&answer.text);
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let has_session = value["session_id"].as_str().is_some_and(|id| !id.is_empty());
    let is_about_notes = ["Prompt", "prompt", "Tool", "Agent"].iter().any(|part| event.contains(part));
    if has_session && is_about_notes && event != "SubagentStart" {
        assert_ne!(world.call(&["hook", tool, event], &text).text, answer.text, "{tool} {event} shows the same twice");
    }
    let small = world.call(&["hook", tool, event, "--no-seen", "--max-chars", "300"], &text);
    assert!(small.text.chars().count() <= 300, "{}", small.text);
}
