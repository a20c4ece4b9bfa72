//! The arguments of a tool, taken one by one; what is wrong with one is said with its name.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::error::Error;

/// Arguments that were not taken yet.
pub(super) struct Arguments {
    left: JsonObject,
}

impl Arguments {
    pub(super) fn new(given: &JsonObject) -> Self {
        let given = given.iter().filter(|(_, value)| !value.is_null());
        Self { left: given.map(|(name, value)| (name.clone(), value.clone())).collect() }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.left.remove(name)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Error> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "expected a text")),
        }
    }

    /// Takes a text that must be there, and not blank.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, Error> {
        let text = self.text(name)?.ok_or_else(|| wrong(name, "it is missing"))?;
        if text.trim().is_empty() { Err(wrong(name, "it is empty")) } else { Ok(text) }
    }

    /// Takes a whole number of at least 1.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>, Error> {
        let Some(value) = self.take(name) else { return Ok(None) };
        // Some clients write every number with a decimal point.
        let whole = value.as_f64().filter(|number| number.fract() == 0.0 && (1.0..=1e12).contains(number));
        whole.map(|number| Some(number as usize)).ok_or_else(|| wrong(name, "expected a whole number, 1 or more"))
    }

    /// Takes a number from 0 to 1, in millionths.
    pub(super) fn share(&mut self, name: &str) -> Result<Option<u32>, Error> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let share = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
        let millionths = share.map(|share| Some((share * 1_000_000.0).round() as u32));
        millionths.ok_or_else(|| wrong(name, "expected a number from 0 to 1"))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Error> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(is_so)) => Ok(is_so),
            Some(_) => Err(wrong(name, "expected true or false")),
        }
    }

    /// Takes one of several words, each with what it means.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        chosen(name, &text, choices).map(Some)
    }

    /// Takes several texts; one alone may stand by itself.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, Error> {
        let expected = || wrong(name, "expected a list of texts");
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(items)) => {
                let text = |item: Value| item.as_str().map(str::to_owned).ok_or_else(expected);
                items.into_iter().map(text).collect()
            }
            Some(_) => Err(expected()),
        }
    }

    /// Tells of an argument that nobody took.
    pub(super) fn end(self) -> Result<(), Error> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(wrong(name, "there is no such argument")),
        }
    }
}

/// Finds what a word means.
pub(super) fn chosen<T: Copy>(name: &str, text: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    let found = choices.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
    let words = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| wrong(name, &format!("`{text}` is none of {}", words())))
}

pub(super) fn wrong(name: &str, what: &str) -> Error {
    Error::usage(format!("argument `{name}`: {what}"))
}
