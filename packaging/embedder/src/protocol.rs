//! The protocol: a line of JSON that describes the model, then a line for each line that is read.

use std::io::{self, BufRead, Write};

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::model::{HIDDEN, Vector};

/// The most texts of a request.
const MAX_TEXTS: usize = 64;
/// The characters of a text that are looked at: more than 256 tokens have in most texts. English has about 1,100.
const MAX_CHARS: usize = 2000;

/// Writes the line that describes the model.
pub(crate) fn write_description(output: &mut impl Write) -> io::Result<()> {
    let description = json!({"name": "minilm-l6-v2", "dimensions": HIDDEN, "longest_text": MAX_CHARS});
    write_line(output, &description)
}

/// Answers requests until the input ends. Fails if the model does.
pub(crate) fn answer_all(
    mut input: impl BufRead,
    output: &mut impl Write,
    mut embed: impl FnMut(&[&str]) -> Result<Vec<Vector>>,
) -> Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let request: Result<Value, _> = serde_json::from_slice(&line);
        let request = request.unwrap_or_default();
        let id = &request["id"];
        let answer = match texts(&request) {
            Ok(texts) => {
                let vectors: Vec<String> = embed(&texts)?.iter().map(encode).collect();
                json!({"id": id, "vectors": vectors})
            }
            Err(error) => json!({"id": id, "error": error.to_string()}),
        };
        write_line(output, &answer)?;
        line.clear();
    }
    Ok(())
}

/// Returns the texts of a request.
fn texts(request: &Value) -> Result<Vec<&str>> {
    ensure!(request.is_object(), "the request is no JSON object");
    let texts = request["texts"].as_array().context("the request has no list `texts`")?;
    if texts.is_empty() || texts.len() > MAX_TEXTS {
        bail!("the request has {} texts, not 1 to {MAX_TEXTS}", texts.len());
    }
    texts.iter().map(|text| text.as_str().map(cut).context("a text is no string")).collect()
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Returns the little-endian bytes of a vector in base64.
fn encode(vector: &Vector) -> String {
    STANDARD.encode(vector.map(f32::to_le_bytes).as_flattened())
}

fn write_line(output: &mut impl Write, value: &Value) -> io::Result<()> {
    let mut line = value.to_string();
    line.push('\n');
    output.write_all(line.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the answers to lines. The vector of a text begins with its number of characters.
    fn answers(lines: &[u8]) -> Vec<Value> {
        let mut output = Vec::new();
        let embed = |texts: &[&str]| {
            let vector = |text: &&str| {
                let mut vector = [0.5; HIDDEN];
                vector[0] = text.chars().count() as f32;
                vector
            };
            Ok(texts.iter().map(vector).collect())
        };
        answer_all(lines, &mut output, embed).unwrap();
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn decoded(vector: &Value) -> Vec<f32> {
        let bytes = STANDARD.decode(vector.as_str().unwrap()).unwrap();
        bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    #[test]
    fn first_line() {
        let mut output = Vec::new();
        write_description(&mut output).unwrap();
        let line = "{\"dimensions\":384,\"longest_text\":2000,\"name\":\"minilm-l6-v2\"}\n";
        assert_eq!(String::from_utf8(output).unwrap(), line);
    }

    #[test]
    fn answers_are_in_order() {
        let lines = "{\"id\":7,\"texts\":[\"one\",\"\",\"три\"],\"new\":1}\n{\"texts\":[\"a\"],\"id\":8}";
        let answers = answers(lines.as_bytes());
        assert_eq!(answers.len(), 2);
        assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(7), &json!(8)));
        let vectors: Vec<_> = answers[0]["vectors"].as_array().unwrap().iter().map(decoded).collect();
        assert!(vectors.iter().all(|vector| vector.len() == HIDDEN && vector[1] == 0.5));
        assert_eq!(vectors.iter().map(|vector| vector[0]).collect::<Vec<_>>(), [3.0, 0.0, 3.0]);
    }

    #[test]
    fn what_is_no_request_is_answered_with_an_error() {
        let many = json!({"id": 4, "texts": vec!["x"; MAX_TEXTS + 1]}).to_string();
        let lines: [(&[u8], Value); 9] = [
            (b"", Value::Null),
            (b"no JSON", Value::Null),
            (b"\xff\xfe", Value::Null),
            (b"[1]", Value::Null),
            (b"{\"texts\":[]}", Value::Null),
            (b"{\"id\":1}", json!(1)),
            (b"{\"id\":2,\"texts\":\"x\"}", json!(2)),
            (b"{\"id\":3,\"texts\":[\"x\",3]}", json!(3)),
            (many.as_bytes(), json!(4)),
        ];
        let mut input = lines.each_ref().map(|(line, _)| *line).join(&b'\n');
        input.extend(b"\n{\"id\":5,\"texts\":[\"x\"]}\n");
        let answers = answers(&input);
        assert_eq!(answers.len(), lines.len() + 1);
        for ((line, id), answer) in lines.iter().zip(&answers) {
            let line = String::from_utf8_lossy(line);
            assert_eq!(&answer["id"], id, "{line}");
            assert!(answer["error"].is_string() && answer["vectors"].is_null(), "{line}");
        }
        assert!(answers[lines.len()]["vectors"].is_array());
    }

    #[test]
    fn long_texts_are_cut() {
        let line = json!({"id": 1, "texts": ["é".repeat(MAX_CHARS), "é".repeat(MAX_CHARS + 1)]}).to_string();
        let answers = answers(line.as_bytes());
        for vector in answers[0]["vectors"].as_array().unwrap() {
            assert_eq!(decoded(vector)[0], MAX_CHARS as f32);
        }
    }

    #[test]
    fn a_failure_of_the_model_ends_it() {
        let line = b"{\"id\":1,\"texts\":[\"x\"]}\n";
        let mut output = Vec::new();
        assert!(answer_all(&line[..], &mut output, |_| bail!("broken")).is_err());
        assert!(output.is_empty());
    }
}
