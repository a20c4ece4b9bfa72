//! Parses question files: JSON lines, a JSON array or a YAML list. The first character determines the format.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::text::{NormalizedText, words};
use crate::error::Error;
use crate::hooks;
use crate::note::{Value as YamlValue, YamlKind, parse_long_yaml};

/// The longest file that is accepted, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// The most patterns in a file. Together with [`MAX_PATTERN_BYTES`] it bounds their memory.
const MAX_PATTERNS: usize = 512;

/// The most bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;

const FIELDS: [&str; 4] = ["question", "input", "answers", "silent"];

const ANSWER_FIELDS: [&str; 4] = ["ids", "headings", "sentences", "patterns"];

pub(super) struct JudgedQuestion {
    /// The line of the file in which the question begins, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// The input of a hook that is measured in place of the text, as JSON.
    pub(super) input: Option<String>,
    /// The expected answer; `None` if the store has none, so that no note may be shown.
    pub(super) expected: Option<ExpectedAnswer>,
}

pub(super) struct ExpectedAnswer {
    /// The names of the relevant notes. If there are none, the notes that contain one of the passages are relevant.
    pub(super) ids: Vec<String>,
    /// The passages that the output must contain. If there are none, it must contain a relevant note.
    pub(super) passages: Vec<ExpectedPassage>,
}

/// A part of a note that answers a question.
pub(super) enum ExpectedPassage {
    /// The section below a heading, given by the [`words`] of the heading.
    Heading(String),
    /// A sentence, given by its [`words`].
    Sentence(String),
    /// A regular expression that matches the passage.
    Pattern(Regex),
}

impl ExpectedPassage {
    /// Returns whether the passage occurs in one of the texts or is one of the headings, which are given as [`words`].
    pub(super) fn is_in(&self, texts: &[NormalizedText], headings: &[String]) -> bool {
        match self {
            Self::Heading(heading) => headings.contains(heading),
            Self::Sentence(sentence) => texts.iter().any(|text| text.contains(sentence)),
            Self::Pattern(pattern) => texts.iter().any(|text| text.matches(pattern)),
        }
    }
}

/// The line of an error in a question file, from 1, and its message.
type QuestionFileError = (usize, String);

/// Parses a question file; errors call it `name`.
///
/// # Errors
/// `Usage`, with the line and the field that is wrong.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Vec<JudgedQuestion>, Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::usage(format!("{name} is longer than {} MiB", MAX_BYTES >> 20)));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Error::usage(format!("{name} is not UTF-8")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let questions = parse_values(text).and_then(|values| {
        let mut patterns_left = MAX_PATTERNS;
        values.into_iter().map(|(line, value)| parse_question(line, value, &mut patterns_left)).collect()
    });
    let questions: Vec<JudgedQuestion> = questions.map_err(|(line, message)| {
        Error::usage(format!("{name}:{line}: {message}"))
            .hint("a line is {\"question\": \"…\", \"answers\": {\"sentences\": [\"…\"]}}; see `qipu eval --help`")
    })?;
    if questions.is_empty() {
        return Err(Error::usage(format!("{name} contains no question")));
    }
    Ok(questions)
}

/// Returns the values of a file, each with its first line, from 1.
fn parse_values(text: &str) -> Result<Vec<(usize, Value)>, QuestionFileError> {
    match text.trim_start().chars().next() {
        None => Ok(Vec::new()),
        Some('{') => parse_json_lines(text),
        Some('[') => parse_json_array(text),
        Some(_) => parse_yaml_list(text),
    }
}

fn parse_json_lines(text: &str) -> Result<Vec<(usize, Value)>, QuestionFileError> {
    let lines = text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty());
    lines.map(|(text, line)| Ok((line, serde_json::from_str(text).map_err(|error| not_json(line, &error))?))).collect()
}

fn parse_json_array(text: &str) -> Result<Vec<(usize, Value)>, QuestionFileError> {
    let mut rest = text.trim_start().strip_prefix('[').unwrap_or_default().trim_start();
    let mut line = 1;
    let mut counted_bytes = 0;
    let mut line_of = |rest: &str| {
        let offset = text.len() - rest.len();
        line += count_newlines(text.get(counted_bytes..offset).unwrap_or_default());
        counted_bytes = offset;
        line
    };
    let mut values = Vec::new();
    let mut is_open = !rest.starts_with(']');
    while is_open && !rest.is_empty() {
        let line = line_of(rest);
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = stream.next().unwrap_or(Ok(Value::Null));
        // The line of the error is relative to that of the value.
        values.push((line, value.map_err(|error| not_json(line + error.line().saturating_sub(1), &error))?));
        rest = rest.get(stream.byte_offset()..).unwrap_or_default().trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.starts_with(']') => is_open = false,
            None => return Err((line_of(rest), "not JSON: expected `,` or `]`".to_owned())),
        }
    }
    match rest.strip_prefix(']').map(str::trim) {
        Some("") => Ok(values),
        Some(_) => Err((line_of(rest), "not JSON: unexpected text after the list".to_owned())),
        None => Err((line_of(rest), "not JSON: the list is not closed".to_owned())),
    }
}

fn count_newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn not_json(line: usize, error: &serde_json::Error) -> QuestionFileError {
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    (line, format!("not JSON: {reason} at column {}", error.column()))
}

fn parse_yaml_list(text: &str) -> Result<Vec<(usize, Value)>, QuestionFileError> {
    let root =
        parse_long_yaml(text, MAX_BYTES).map_err(|broken| (broken.line, format!("not YAML: {}", broken.reason)))?;
    let YamlKind::List(items) = &root.kind else {
        return Err((root.line, "expected a list of questions, each after `- `, or JSON".to_owned()));
    };
    Ok(items.iter().map(|item| (item.line, YamlValue::from_yaml(item).to_json())).collect())
}

fn parse_question(line: usize, value: Value, patterns_left: &mut usize) -> Result<JudgedQuestion, QuestionFileError> {
    let error = |message: String| (line, message);
    let Value::Object(mut object) = value else {
        return Err(error("expected an object with `question` and `answers` or `silent`".to_owned()));
    };
    check_names(&object, &FIELDS, "").map_err(error)?;
    let (text, input) = parse_asked(&mut object).map_err(error)?;
    let is_silent = match object.remove("silent") {
        None => false,
        Some(Value::Bool(is_silent)) => is_silent,
        Some(_) => return Err(error("`silent`: expected true or false".to_owned())),
    };
    let expected = match object.remove("answers") {
        None if is_silent => None,
        None => return Err(error("`answers` is missing, and the question is not `silent`".to_owned())),
        Some(_) if is_silent => return Err(error("`answers`: not allowed in a `silent` question".to_owned())),
        Some(answers) => Some(parse_answers(answers, patterns_left).map_err(error)?),
    };
    Ok(JudgedQuestion { line, text, input, expected })
}

/// Removes what is asked from a question: its text, and the input of a hook that gives the text.
fn parse_asked(object: &mut Map<String, Value>) -> Result<(String, Option<String>), String> {
    match (object.remove("question"), object.remove("input")) {
        (Some(text), None) => {
            let text = non_blank_text(text).ok_or("`question`: expected a non-empty string")?;
            Ok((text, None))
        }
        (None, Some(input)) => {
            let input = input.to_string();
            let subject = hooks::input_request(&input, 0).map(|request| request.subject).unwrap_or_default();
            if subject.trim().is_empty() {
                return Err("`input`: expected the object that a tool writes to a hook, with `prompt` or `tool_input`"
                    .to_owned());
            }
            Ok((subject, Some(input)))
        }
        (None, None) => Err("`question` is missing".to_owned()),
        (Some(_), Some(_)) => Err("`input`: not allowed beside `question`".to_owned()),
    }
}

/// Checks that an object has no unknown fields. `prefix` precedes their names in errors.
fn check_names(object: &Map<String, Value>, known: &[&str], prefix: &str) -> Result<(), String> {
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("unknown field `{prefix}{name}`; known fields: {}", known.join(", "))),
        None => Ok(()),
    }
}

fn parse_answers(answers: Value, patterns_left: &mut usize) -> Result<ExpectedAnswer, String> {
    let Value::Object(mut answers) = answers else {
        return Err(format!("`answers`: expected an object with any of {}", ANSWER_FIELDS.join(", ")));
    };
    check_names(&answers, &ANSWER_FIELDS, "answers.")?;
    let mut parse_field = |name: &str| parse_texts(answers.remove(name), name);
    let ids = parse_field("ids")?;
    let mut passages = Vec::new();
    for heading in parse_field("headings")? {
        passages.push(ExpectedPassage::Heading(passage_words(&heading, "headings")?));
    }
    for sentence in parse_field("sentences")? {
        passages.push(ExpectedPassage::Sentence(passage_words(&sentence, "sentences")?));
    }
    for pattern in parse_field("patterns")? {
        let left = patterns_left.checked_sub(1);
        *patterns_left = left.ok_or_else(|| format!("`answers.patterns`: the file has more than {MAX_PATTERNS}"))?;
        passages.push(ExpectedPassage::Pattern(compile_pattern(&pattern)?));
    }
    if ids.is_empty() && passages.is_empty() {
        return Err(format!("`answers` is empty: expected any of {}", ANSWER_FIELDS.join(", ")));
    }
    Ok(ExpectedAnswer { ids, passages })
}

/// Returns the [`words`] of a passage.
///
/// # Errors
/// A message if it has none.
fn passage_words(passage: &str, field: &str) -> Result<String, String> {
    let words = words(passage);
    if words.trim().is_empty() { Err(format!("`answers.{field}`: `{passage}` has no words")) } else { Ok(words) }
}

fn compile_pattern(pattern: &str) -> Result<Regex, String> {
    let compiled = RegexBuilder::new(pattern).case_insensitive(true).size_limit(MAX_PATTERN_BYTES).build();
    compiled.map_err(|error| {
        let message = error.to_string();
        let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("`answers.patterns`: `{pattern}` is not a regular expression: {reason}")
    })
}

/// Parses a list of texts, or a single text.
fn parse_texts(value: Option<Value>, name: &str) -> Result<Vec<String>, String> {
    let values = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => values,
        Some(value) => vec![value],
    };
    let texts: Option<Vec<String>> = values.into_iter().map(non_blank_text).collect();
    texts.ok_or_else(|| format!("`answers.{name}`: expected a list of non-empty strings"))
}

/// Returns a text that is not blank. A number counts as text, since YAML parses `2024` as a number.
fn non_blank_text(value: Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_line_and_field() {
        let long = r#"{"question": "a", "answers": {"patterns": ["(a{1000}){1000}"]}}"#;
        for (text, expected) in [
            ("", "q contains no question"),
            ("[]", "q contains no question"),
            (r#"{"question": "a",}"#, "q:1: not JSON: trailing comma at column 18"),
            ("{\n}", "q:1: not JSON: EOF while parsing an object at column 1"),
            ("[{\"question\": \"a\", \"silent\": true}\n{}]", "q:2: not JSON: expected `,` or `]`"),
            ("[{\"question\": \"a\", \"silent\": true}\n", "q:2: not JSON: expected `,` or `]`"),
            ("[{},\n{\n\"a\"}]", "q:3: not JSON: expected `:` at column 4"),
            ("[] x", "q:1: not JSON: unexpected text after the list"),
            ("\n{\"question\": \"a\"}", "q:2: `answers` is missing, and the question is not `silent`"),
            (r#"{"question": " "}"#, "q:1: `question`: expected a non-empty string"),
            (r#"{"answers": {}}"#, "q:1: `question` is missing"),
            (r#"{"question": "a", "answers": {}}"#, "q:1: `answers` is empty: expected any of ids, headings"),
            (r#"{"question": "a", "answers": []}"#, "q:1: `answers`: expected an object with any of ids"),
            (
                r#"{"question": "a", "answer": {}}"#,
                "q:1: unknown field `answer`; known fields: question, input, answers, silent",
            ),
            (
                r#"{"question": "a", "answers": 0, "silent": true}"#,
                "q:1: `answers`: not allowed in a `silent` question",
            ),
            (r#"{"question": "a", "silent": 1}"#, "q:1: `silent`: expected true or false"),
            (
                long,
                "q:1: `answers.patterns`: `(a{1000}){1000}` is not a regular expression: Compiled regex exceeds size",
            ),
            ("question: a\nsilent: true\n", "q:1: expected a list of questions, each after `- `, or JSON"),
            ("- question: a\n- - b\n", "q:1: `answers` is missing"),
            ("- question: a\n  silent: true\n- x\n", "q:3: expected an object with `question`"),
            ("- question: [\n", "not YAML"),
            ("- {question: a, answers: {ids: [null]}}", "q:1: `answers.ids`: expected a list of non-empty strings"),
            ("- {question: a, answers: {id: []}}", "q:1: unknown field `answers.id`; known fields: ids, headings"),
            ("- {question: a, answers: {sentences: ['**']}}", "q:1: `answers.sentences`: `**` has no words"),
            ("- {question: a, answers: {patterns: [(a]}}", "q:1: `answers.patterns`: `(a` is not a regular"),
        ] {
            let Err(error) = parse("q", text.as_bytes()) else { panic!("{text}: no error") };
            assert!(error.message.contains(expected), "{text}\n{}\n{expected}", error.message);
            assert_eq!(error.kind.exit_code(), 2);
        }
        assert!(parse("q", &[b'x'; MAX_BYTES + 1]).is_err_and(|error| error.message == "q is longer than 4 MiB"));
        assert!(parse("q", b"\xff").is_err());
    }

    #[test]
    fn ordinary_patterns_are_small_enough() {
        for pattern in
            [r"(?i)fsync\s+(the|a)\s+\w+.{0,80}director(y|ies)", r"(\w+\W+){1,8}seconds?", r"[\p{L}\d]{3,20}"]
        {
            assert!(compile_pattern(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn hostile_files_are_rejected() {
        // Expanding the aliases would take 10 · 4³⁹ values: a test that returns has not done so.
        let mut nested_aliases = String::from("- &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for depth in 1..40 {
            nested_aliases.push_str(&format!("- &a{depth} [*a{0},*a{0},*a{0},*a{0}]\n", depth - 1));
        }
        for text in [nested_aliases, "[".repeat(1 << 20), "- ".repeat(1 << 20), "{\"a\":".repeat(1 << 18)] {
            assert!(parse("q", text.as_bytes()).is_err());
        }
    }
}
