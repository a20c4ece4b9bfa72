//! The lines that the embedder and this program exchange: specs/reference/embedder.md.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::codec::unit_vector::quantize;
use crate::escape::abbreviated;

/// The most numbers of a vector.
const MAX_DIMENSIONS: usize = 4_096;
/// The bytes of a number.
const NUMBER: usize = 4;

/// The first line of an embedder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Hello {
    /// The name of its model.
    name: String,
    /// The numbers of each vector.
    pub(super) dimensions: usize,
    /// The most characters of a text that it looks at.
    pub(super) longest_text: usize,
}

impl Hello {
    /// Parses the first line of the embedder of a model.
    ///
    /// # Errors
    /// Why it is none, as the rest of a sentence about the embedder.
    pub(super) fn parse(line: &[u8], model: &str) -> Result<Self, String> {
        let hello: Self = serde_json::from_slice(line)
            .map_err(|_| "does not begin with a line of `name`, `dimensions` and `longest_text`".to_owned())?;
        if hello.name != model {
            return Err(format!("has the model {}, and your settings name `{model}`", abbreviated(&hello.name)));
        }
        if !(1..=MAX_DIMENSIONS).contains(&hello.dimensions) || hello.longest_text == 0 {
            return Err(format!("has vectors of {} numbers for {} characters", hello.dimensions, hello.longest_text));
        }
        Ok(hello)
    }
}

#[derive(Serialize)]
struct VectorsRequest<'a> {
    id: usize,
    texts: &'a [&'a str],
}

/// Returns the line that asks for the vectors of texts.
pub(super) fn request(id: usize, texts: &[&str]) -> Vec<u8> {
    let mut line = serde_json::to_vec(&VectorsRequest { id, texts }).unwrap_or_default();
    line.push(b'\n');
    line
}

#[derive(Deserialize)]
struct VectorsReply {
    id: usize,
    #[serde(default)]
    vectors: Vec<String>,
    error: Option<String>,
}

/// Parses the answer to a request for some vectors.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence about the embedder.
pub(super) fn vectors(line: &[u8], id: usize, count: usize, dimensions: usize) -> Result<Vec<Vec<u8>>, String> {
    let answer: VectorsReply =
        serde_json::from_slice(line).map_err(|_| "answered with a line that is no answer".to_owned())?;
    if let Some(error) = answer.error {
        return Err(format!("failed: {}", abbreviated(&error)));
    }
    if answer.id != id {
        return Err(format!("answered request {} in place of {id}", answer.id));
    }
    if answer.vectors.len() != count {
        return Err(format!("answered with {} vectors for {count} texts", answer.vectors.len()));
    }
    answer.vectors.iter().map(|text| vector(text, dimensions)).collect()
}

fn vector(text: &str, dimensions: usize) -> Result<Vec<u8>, String> {
    let bytes = STANDARD.decode(text).map_err(|_| "answered with a vector that is not in base64".to_owned())?;
    if bytes.len() != dimensions * NUMBER {
        return Err(format!("answered with a vector of {} bytes in place of {}", bytes.len(), dimensions * NUMBER));
    }
    let numbers: Vec<f32> = bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
    quantize(&numbers).ok_or_else(|| "answered with a vector that is not finite, or is zero".to_owned())
}
