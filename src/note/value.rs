//! The values of custom and unknown fields, in the spelling of their author.

use std::cell::Cell;

use foldhash::{HashSet, HashSetExt};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::yaml::{Yaml, YamlNode};

/// The value of a field without a meaning for qipu.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Value {
    /// A text. If it is `plain`, it may be a number, a boolean or null.
    Text {
        /// The text without quotes.
        text: String,
        /// Whether it is written without quotes.
        plain: bool,
    },
    /// A list.
    List(#[serde(deserialize_with = "nested")] Vec<Value>),
    /// A map in the order of the text; of two entries with the same key, the first.
    Map(#[serde(deserialize_with = "nested")] Vec<(String, Value)>),
}

/// The deepest value that is decoded. YAML ends at 64; a forged index must not exhaust the stack.
const MAX_DEPTH: usize = 128;

/// Deserializes what is in a value, which may be a value again.
fn nested<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        return Err(D::Error::custom("too many values in one another"));
    }
    DEPTH.set(depth + 1);
    let inner = T::deserialize(deserializer);
    DEPTH.set(depth);
    inner
}

/// The keys and values of fields, in the order of the text.
pub(super) type FieldValues = Vec<(String, Value)>;

impl Value {
    pub(crate) fn from_yaml(node: &Yaml<'_>) -> Self {
        match &node.kind {
            YamlNode::Scalar { text, plain } => Self::Text { text: text.to_string(), plain: *plain },
            YamlNode::List(items) => Self::List(items.iter().map(Self::from_yaml).collect()),
            YamlNode::Map(entries) => {
                let mut seen = HashSet::new();
                let entries =
                    entries.iter().map(|(key, value)| (Self::from_yaml(key).to_line(), Self::from_yaml(value)));
                Self::Map(entries.filter(|(key, _)| seen.insert(key.clone())).collect())
            }
        }
    }

    /// Returns the value of an entry of a map.
    pub(crate) fn entry(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Tells whether the value is null: a plain text that YAML reads as null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Text { text, plain: true } if is_null_text(text))
    }

    /// Makes the value of a text that is not a number, boolean or null.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), plain: false }
    }

    /// Returns the value as one text: lists joined by `, `, maps as `key: value` pairs.
    pub fn to_line(&self) -> String {
        let join = |parts: Vec<String>| parts.join(", ");
        match self {
            Self::Text { text, .. } => text.clone(),
            Self::List(items) => join(items.iter().map(Self::to_line).collect()),
            Self::Map(entries) => {
                join(entries.iter().map(|(key, value)| format!("{key}: {}", value.to_line())).collect())
            }
        }
    }

    /// Returns the value as JSON. A plain text becomes a number, boolean or null only if its JSON text is the same.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text { text, plain: true } => plain_json(text),
            Self::Text { text, plain: false } => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), value.to_json())).collect(),
        }
    }
}

/// Tells whether YAML reads a plain text as null.
pub(crate) fn is_null_text(text: &str) -> bool {
    matches!(text, "" | "~" | "null")
}

fn plain_json(text: &str) -> serde_json::Value {
    match text {
        _ if is_null_text(text) => serde_json::Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => serde_json::from_str::<serde_json::Number>(text)
            .ok()
            .filter(|number| number.to_string() == text)
            .map_or_else(|| text.into(), serde_json::Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_nested_without_end_are_an_error() {
        let lists = |depth: usize| [[1, 1].repeat(depth), vec![1, 0]].concat();
        assert!(postcard::from_bytes::<Value>(&lists(64)).is_ok());
        assert!(postcard::from_bytes::<Value>(&lists(200_000)).is_err());
        assert!(postcard::from_bytes::<Value>(&lists(64)).is_ok(), "an error is forgotten");
    }

    #[test]
    fn plain_text_is_a_number_only_where_nothing_is_lost() {
        let json = |text: &str| Value::Text { text: text.to_owned(), plain: true }.to_json().to_string();
        assert_eq!(json("7"), "7");
        assert_eq!(json("-0.5"), "-0.5");
        assert_eq!(json("1.10"), "\"1.10\"");
        assert_eq!(json("007"), "\"007\"");
        assert_eq!(json("true"), "true");
        assert_eq!(json("~"), "null");
        assert_eq!(Value::text("7").to_json().to_string(), "\"7\"");
    }
}
