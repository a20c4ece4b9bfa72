//! Lines of JSON-RPC on standard input and output. A line that is no message is answered here (JSON-RPC 2.0, section
//! 5.1): the SDK skips lines that are no JSON and answers invalid requests without their id, so that the client would wait
//! forever. Notifications and responses before the connection has a protocol version are ignored here, since the SDK
//! would end the server.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, ProtocolVersion};
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf};

use crate::escape::escape_json;

/// The longest line that is accepted, in bytes with its end; the limit of the SDK.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// A reader that passes on lines that are messages and answers all others.
pub(super) struct MessageReader<R, W> {
    source: BufReader<R>,
    replies: W,
    line: Vec<u8>,
    /// The bytes of a complete line that are passed on; `None` while the line is incomplete.
    delivered: Option<usize>,
    is_too_long: bool,
    /// Whether a request that selects the protocol version was passed on.
    is_open: bool,
}

/// What becomes of a line.
enum LineFate {
    PassedOn,
    Ignored,
    Answered(Value),
}

impl<R: AsyncRead, W: Write> MessageReader<R, W> {
    pub(super) fn new(from: R, replies: W) -> Self {
        let source = BufReader::new(from);
        Self { source, replies, line: Vec::new(), delivered: None, is_too_long: false, is_open: false }
    }

    fn append(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.line.len() + bytes.len() > MAX_LINE_BYTES;
        if self.is_too_long {
            self.line.clear();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Completes a line, and answers it if it is no message.
    fn end_line(&mut self) -> io::Result<()> {
        let is_too_long = std::mem::take(&mut self.is_too_long);
        match if is_too_long { LineFate::Answered(parse_error()) } else { self.fate() } {
            LineFate::PassedOn => self.delivered = Some(0),
            LineFate::Ignored => self.line.clear(),
            LineFate::Answered(refusal) => {
                self.line.clear();
                write_messages(&mut self.replies, format!("{refusal}\n").as_bytes())?;
                self.replies.flush()?;
            }
        }
        Ok(())
    }

    /// Decides what becomes of a complete line. Blank lines are passed on.
    fn fate(&mut self) -> LineFate {
        let line = self.line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            return LineFate::PassedOn;
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return LineFate::Answered(parse_error()) };
        let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        let is_notification = id.is_none() && message.get("method").is_some_and(Value::is_string);
        match serde_json::from_value::<ClientJsonRpcMessage>(message) {
            Ok(ClientJsonRpcMessage::Request(request)) => {
                self.is_open |= selects_version(request.request);
                LineFate::PassedOn
            }
            parsed if parsed.is_ok() || is_notification => {
                if self.is_open {
                    LineFate::PassedOn
                } else {
                    LineFate::Ignored
                }
            }
            _ => {
                let error = json!({"code": -32600, "message": "Invalid Request"});
                LineFate::Answered(json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
        }
    }
}

/// Returns the answer to a line that is no JSON. Its id is unknown.
fn parse_error() -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}})
}

/// Tells whether the SDK takes the protocol version of the connection from a request. It answers others and waits on.
fn selects_version(mut request: ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => {
            let meta = request.get_meta_mut();
            let is_known = |version: ProtocolVersion| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(is_known)
        }
    }
}

impl<R: AsyncRead + Unpin, W: Write + Unpin> AsyncRead for MessageReader<R, W> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let lines = self.get_mut();
        let given = loop {
            if let Some(given) = lines.delivered {
                break given;
            }
            let read = ready!(Pin::new(&mut lines.source).poll_fill_buf(context))?;
            let end = read.iter().position(|byte| *byte == b'\n').map(|newline| newline + 1);
            let bytes = read.get(..end.unwrap_or(read.len())).unwrap_or_default().to_vec();
            if bytes.is_empty() {
                return Poll::Ready(Ok(()));
            }
            Pin::new(&mut lines.source).consume(bytes.len());
            lines.append(&bytes);
            if end.is_some() {
                lines.end_line()?;
            }
        };
        let rest = lines.line.get(given..).unwrap_or_default();
        let some = rest.get(..to.remaining()).unwrap_or(rest);
        to.put_slice(some);
        if some.len() < rest.len() {
            lines.delivered = Some(given + some.len());
        } else {
            lines.delivered = None;
            lines.line.clear();
        }
        Poll::Ready(Ok(()))
    }
}

/// A writer that writes each message as a whole, so that no answer of [`MessageReader`] can split it.
pub(super) struct MessageWriter<W>(pub(super) W);

impl<W: Write + Unpin> AsyncWrite for MessageWriter<W> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(write_messages(&mut self.get_mut().0, bytes).map(|()| bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.get_mut().0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

/// Writes messages, each with its line end. Characters that are invisible or steer a terminal are written as escapes of
/// JSON: a message repeats the id and the names of a request.
fn write_messages(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let Ok(text) = std::str::from_utf8(bytes) else { return output.write_all(bytes) };
    let lines: Vec<String> = text.split('\n').map(|line| escape_json(line.to_owned())).collect();
    output.write_all(lines.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

    /// Returns what is handed on of some input after the first request, and the codes and ids of the answers.
    fn read(input: &[u8]) -> (String, Vec<(i64, Value)>) {
        let (mut given, mut answers) = (Vec::new(), Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let input = [INITIALIZE.as_bytes(), b"\n", input].concat();
        runtime.block_on(MessageReader::new(&input[..], &mut answers).read_to_end(&mut given)).unwrap();
        given.drain(..=INITIALIZE.len());
        let answer = |line: &str| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(answer["jsonrpc"], "2.0");
            (answer["error"]["code"].as_i64().unwrap(), answer.get("id").unwrap().clone())
        };
        (String::from_utf8(given).unwrap(), std::str::from_utf8(&answers).unwrap().lines().map(answer).collect())
    }

    #[test]
    fn a_message_is_written_without_invisible_characters_and_means_the_same() {
        let messages = "{\"id\":\"a\u{200b}\u{1b}\"}\n{\"id\":\"ü\"}\n{";
        let mut written = Vec::new();
        write_messages(&mut written, messages.as_bytes()).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written, "{\"id\":\"a\\u200b\\u001b\"}\n{\"id\":\"ü\"}\n{");
    }

    #[test]
    fn messages_are_passed_on_and_other_lines_answered() {
        let nested = |depth: usize| {
            let (open, close) = ("{\"a\":".repeat(depth), "}".repeat(depth));
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"_meta\":{open}1{close}}}}}")
        };
        let good = [
            PING.to_owned(),
            String::new(),
            format!(" {PING}\r"),
            format!("\u{feff}{PING}"),
            nested(60),
            r#"{"jsonrpc":"2.0","method":"notifications/of/another/kind","params":5}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":"x","method":"no/such","params":{"a":"\ud83d\ude00"}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        ];
        for good in good.map(|line| line + "\n") {
            assert_eq!(read(good.as_bytes()), (good.clone(), vec![]), "{good}");
        }
        for bad in ["garbage", "{", &PING.replace("ping", "\\ud83d"), "{} {}", "1e999", &nested(200)] {
            assert_eq!(read(format!("{bad}\n").as_bytes()), (String::new(), vec![(-32700, Value::Null)]), "{bad}");
        }
        for (wrong, id) in [("5", Value::Null), ("{}", Value::Null), (&PING.replace("\"ping\"", "5"), json!(1))] {
            assert_eq!(read(format!("{wrong}\n").as_bytes()), (String::new(), vec![(-32600, id)]), "{wrong}");
        }
        let input = [b"\"\xff\"\n", PING.as_bytes(), b"\n\x00\n", PING.as_bytes(), b"\nrest"].concat();
        assert_eq!(read(&input), (format!("{PING}\n{PING}\n"), vec![(-32700, Value::Null); 2]));
    }

    #[test]
    fn only_requests_are_passed_on_before_one_selects_the_version() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let discover = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{meta}}}}}"#);
        let list = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{meta}}}}}"#);
        let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned();
        let unknown = list.replace("2026-07-28", "1900-01-01");
        let others = [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/of/another/kind"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (first, opens) in
            [(PING, false), (&discover, false), (&bare, false), (&unknown, false), (&list, true), (INITIALIZE, true)]
        {
            for other in others {
                let input = format!("{other}\n{first}\n{other}\n");
                let (mut given, mut answers) = (String::new(), Vec::new());
                runtime
                    .block_on(MessageReader::new(input.as_bytes(), &mut answers).read_to_string(&mut given))
                    .unwrap();
                let after = if opens { format!("{other}\n") } else { String::new() };
                assert_eq!(given, format!("{first}\n{after}"));
                assert!(answers.is_empty());
            }
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_answered_once_and_not_buffered() {
        let mut input = vec![b' '; 2 * MAX_LINE_BYTES];
        input.extend_from_slice(format!("\n{PING}\n").as_bytes());
        assert_eq!(read(&input), (format!("{PING}\n"), vec![(-32700, Value::Null)]));
    }
}
