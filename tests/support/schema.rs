//! Validates JSON answers against the schemas in `specs/schema/`: the part of JSON Schema 2020-12
//! (<https://json-schema.org/draft/2020-12>) that these schemas use. A keyword that is not in this part panics, so that none is
//! ignored. `packaging/test` validates the snapshots with a complete implementation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The schemas by file name without extension: one for each kind of answer, and `definitions`.
pub(crate) static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("specs/schema"));
    let folder = folders.into_iter().find(|folder| folder.is_dir()).unwrap();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: &Path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    files.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), read(&path))).collect()
});

/// Returns what is wrong with an answer, each with its JSON pointer; empty if it conforms to the schema of its kind.
pub(crate) fn errors(answer: &Value) -> Vec<String> {
    let mut validator = Validator { file: schema_name(answer), errors: Vec::new() };
    let schema = &SCHEMAS[&validator.file];
    validator.check(schema, answer, "");
    validator.errors
}

/// Returns the name of the schema of an answer: that of its mode, or the one that all changes share.
pub(crate) fn schema_name(answer: &Value) -> String {
    let Some(mode) = answer["mode"].as_str() else { return "error".to_owned() };
    let has_two_forms = ["journal", "setup"].contains(&mode);
    let is_change = !SCHEMAS.contains_key(mode) || has_two_forms && answer.get("dry_run").is_some();
    if is_change { "change" } else { mode }.to_owned()
}

struct Validator {
    /// The schema in which references without a file are resolved.
    file: String,
    errors: Vec<String>,
}

impl Validator {
    /// Checks a value, and returns the names of the members that the schema describes.
    fn check(&mut self, schema: &Value, value: &Value, at: &str) -> BTreeSet<String> {
        let mut described = BTreeSet::new();
        for (keyword, rule) in schema.as_object().unwrap() {
            match keyword.as_str() {
                "$ref" => described.extend(self.check_reference(rule.as_str().unwrap(), value, at)),
                "allOf" => {
                    rule.as_array().unwrap().iter().for_each(|part| described.extend(self.check(part, value, at)))
                }
                "oneOf" | "anyOf" => described.extend(self.check_choice(keyword, rule, value, at)),
                "properties" => described.extend(self.check_members(rule, value, at)),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}/{index}"));
                    }
                }
                // After the others.
                "additionalProperties" | "unevaluatedProperties" => {}
                _ if holds(keyword, rule, value) => {}
                _ => self.errors.push(format!("{at}: {value} breaks {keyword} {rule}")),
            }
        }
        for rule in [schema.get("additionalProperties"), schema.get("unevaluatedProperties")].into_iter().flatten() {
            self.check_others(rule, &described, value, at);
        }
        described
    }

    fn check_reference(&mut self, reference: &str, value: &Value, at: &str) -> BTreeSet<String> {
        let (file, pointer) = reference.split_once('#').unwrap();
        let file = file.strip_suffix(".json").unwrap_or(&self.file).to_owned();
        let schema = SCHEMAS[&file].pointer(pointer).unwrap_or_else(|| panic!("no {reference}"));
        let outer = std::mem::replace(&mut self.file, file);
        let described = self.check(schema, value, at);
        self.file = outer;
        described
    }

    fn check_choice(&mut self, keyword: &str, choices: &Value, value: &Value, at: &str) -> BTreeSet<String> {
        let mut described = BTreeSet::new();
        let mut failures = Vec::new();
        let choices = choices.as_array().unwrap();
        for choice in choices {
            let mut attempt = Validator { file: self.file.clone(), errors: Vec::new() };
            let names = attempt.check(choice, value, at);
            if attempt.errors.is_empty() {
                described.extend(names);
            } else {
                failures.push(attempt.errors.join("; "));
            }
        }
        let matching = choices.len() - failures.len();
        if matching == 0 || keyword == "oneOf" && matching > 1 {
            self.errors.push(format!(
                "{at}: {matching} of {} fit in {keyword}: {}",
                choices.len(),
                failures.join(" | ")
            ));
        }
        described
    }

    fn check_members(&mut self, rules: &Value, value: &Value, at: &str) -> BTreeSet<String> {
        let Some(members) = value.as_object() else { return BTreeSet::new() };
        let known = rules.as_object().unwrap().iter().filter_map(|(name, rule)| Some((name, rule, members.get(name)?)));
        let known: Vec<_> = known.collect();
        known.iter().for_each(|(name, rule, member)| drop(self.check(rule, member, &format!("{at}/{name}"))));
        known.into_iter().map(|(name, ..)| name.clone()).collect()
    }

    fn check_others(&mut self, rule: &Value, described: &BTreeSet<String>, value: &Value, at: &str) {
        let empty = Map::new();
        let members = value.as_object().unwrap_or(&empty).iter();
        for (name, member) in members.filter(|(name, _)| !described.contains(*name)) {
            if rule == &Value::Bool(false) {
                self.errors.push(format!("{at}: unknown member {name}"));
            } else {
                self.check(rule, member, &format!("{at}/{name}"));
            }
        }
    }
}

/// Whether a value keeps a rule that has no parts.
fn holds(keyword: &str, rule: &Value, value: &Value) -> bool {
    let length = || value.as_array().map(|items| items.len() as u64);
    let limit = || rule.as_u64().unwrap();
    match keyword {
        "type" => {
            rule.as_array().map_or_else(|| has_type(rule, value), |types| types.iter().any(|one| has_type(one, value)))
        }
        "const" => rule == value,
        "enum" => rule.as_array().unwrap().contains(value),
        "required" => value.as_object().is_none_or(|members| {
            rule.as_array().unwrap().iter().all(|name| members.contains_key(name.as_str().unwrap()))
        }),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "minItems" => length().is_none_or(|length| length >= limit()),
        "maxItems" => length().is_none_or(|length| length <= limit()),
        "$schema" | "$defs" | "title" | "description" => true,
        _ => panic!("the validator of tests does not know {keyword}"),
    }
}

fn has_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("no type {other}"),
    }
}
