//! Parses the arguments of a tool. Each error names its argument.

use clap::ValueEnum;
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::error::Error;
use crate::request::Score;

/// The arguments that are not parsed yet.
pub(super) struct Arguments(JsonObject);

impl Arguments {
    pub(super) fn new(arguments: &JsonObject) -> Self {
        let present = arguments.iter().filter(|(_, value)| !value.is_null());
        Self(present.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Takes an argument under the name that another tool has for it, unless it is given under its own.
    pub(super) fn accept(&mut self, name: &str, other: &str) {
        if !self.0.contains_key(name)
            && let Some(value) = self.0.remove(other)
        {
            self.0.insert(name.to_owned(), value);
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Error> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(argument_error(name, "expected a string")),
        }
    }

    /// Parses a required text, which must not be blank.
    pub(super) fn required_text(&mut self, name: &str) -> Result<String, Error> {
        let text = self.text(name)?.ok_or_else(|| argument_error(name, "it is missing"))?;
        if text.trim().is_empty() { Err(argument_error(name, "it is empty")) } else { Ok(text) }
    }

    /// Parses a whole number, 1 to 10¹².
    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>, Error> {
        let Some(value) = self.0.remove(name) else { return Ok(None) };
        // Some clients encode every number with a decimal point.
        let whole = value.as_f64().filter(|number| number.fract() == 0.0 && (1.0..=1e12).contains(number));
        whole
            .map(|number| Some(number as usize))
            .ok_or_else(|| argument_error(name, "expected a whole number, 1 or more"))
    }

    /// Parses a number from 0 to 1.
    pub(super) fn share(&mut self, name: &str) -> Result<Option<Score>, Error> {
        let Some(value) = self.0.remove(name) else { return Ok(None) };
        let share = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
        share.map(|share| Some(Score::new(share))).ok_or_else(|| argument_error(name, "expected a number from 0 to 1"))
    }

    pub(super) fn is_set(&mut self, name: &str) -> Result<bool, Error> {
        match self.0.remove(name) {
            None => Ok(false),
            Some(Value::Bool(is_set)) => Ok(is_set),
            Some(_) => Err(argument_error(name, "expected true or false")),
        }
    }

    /// Parses the name of one of several values.
    pub(super) fn choice<T: ValueEnum>(&mut self, name: &str) -> Result<Option<T>, Error> {
        self.text(name)?.map(|text| parse_choice(name, &text)).transpose()
    }

    /// Parses a list of texts, or a single text.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, Error> {
        let expected = || argument_error(name, "expected a list of strings");
        match self.0.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(items)) => {
                let text = |item: Value| item.as_str().map(str::to_owned).ok_or_else(expected);
                items.into_iter().map(text).collect()
            }
            Some(_) => Err(expected()),
        }
    }

    /// Parses an object of texts, numbers and booleans.
    pub(super) fn fields(&mut self, name: &str) -> Result<Vec<(String, String)>, Error> {
        let expected = || argument_error(name, "expected an object of strings, numbers and booleans");
        let fields = match self.0.remove(name) {
            None => return Ok(Vec::new()),
            Some(Value::Object(fields)) => fields,
            Some(_) => return Err(expected()),
        };
        let field = |(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            Value::Number(_) | Value::Bool(_) => Ok((key, value.to_string())),
            _ => Err(expected()),
        };
        fields.into_iter().map(field).collect()
    }

    /// Checks that all arguments were parsed.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(argument_error(name, "this tool has no such argument")),
        }
    }
}

/// Returns the value of a name.
pub(super) fn parse_choice<T: ValueEnum>(name: &str, text: &str) -> Result<T, Error> {
    let error = |_| argument_error(name, &format!("`{text}` is not one of {}", names::<T>().join(", ")));
    T::from_str(text, false).map_err(error)
}

/// Returns the names of all values.
pub(super) fn names<T: ValueEnum>() -> Vec<String> {
    let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

pub(super) fn argument_error(name: &str, what: &str) -> Error {
    Error::usage(format!("argument `{name}`: {what}"))
}
