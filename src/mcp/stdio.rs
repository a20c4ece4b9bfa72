//! Lines of JSON-RPC on standard input and output. A line that is no message is answered here (JSON-RPC 2.0, section
//! 5.1): the SDK skips lines that are no JSON and answers invalid requests without their id, so that the client would wait
//! forever.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::ClientJsonRpcMessage;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf};

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
}

impl<R: AsyncRead, W: Write> MessageReader<R, W> {
    pub(super) fn new(from: R, replies: W) -> Self {
        Self { source: BufReader::new(from), replies, line: Vec::new(), delivered: None, is_too_long: false }
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
        let refusal = if std::mem::take(&mut self.is_too_long) { Some(parse_error()) } else { refusal(&self.line) };
        let Some(refusal) = refusal else {
            self.delivered = Some(0);
            return Ok(());
        };
        self.line.clear();
        self.replies.write_all(format!("{refusal}\n").as_bytes())?;
        self.replies.flush()
    }
}

/// Returns the answer to a line that is no JSON. Its id is unknown.
fn parse_error() -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}})
}

/// Returns the answer to a line that is no message; `None` for messages, notifications and blank lines.
fn refusal(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.is_empty() {
        return None;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else { return Some(parse_error()) };
    let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let is_notification = id.is_none() && message.get("method").is_some_and(Value::is_string);
    if is_notification || serde_json::from_value::<ClientJsonRpcMessage>(message).is_ok() {
        return None;
    }
    Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": "Invalid Request"}}))
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
        Poll::Ready(self.get_mut().0.write_all(bytes).map(|()| bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.get_mut().0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    /// Returns what is handed on of some input, and the codes and ids of the answers.
    fn read(input: &[u8]) -> (String, Vec<(i64, Value)>) {
        let (mut given, mut answers) = (Vec::new(), Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(MessageReader::new(input, &mut answers).read_to_end(&mut given)).unwrap();
        let answer = |line: &str| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(answer["jsonrpc"], "2.0");
            (answer["error"]["code"].as_i64().unwrap(), answer.get("id").unwrap().clone())
        };
        (String::from_utf8(given).unwrap(), std::str::from_utf8(&answers).unwrap().lines().map(answer).collect())
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
    fn a_line_beyond_the_limit_is_answered_once_and_not_buffered() {
        let mut input = vec![b' '; 2 * MAX_LINE_BYTES];
        input.extend_from_slice(format!("\n{PING}\n").as_bytes());
        assert_eq!(read(&input), (format!("{PING}\n"), vec![(-32700, Value::Null)]));
    }
}
