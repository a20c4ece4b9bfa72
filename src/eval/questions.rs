//! The question file: JSON lines, a JSON array or a YAML list, told apart by their first character.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::text::{NormalizedText, words};
use crate::error::Error;
use crate::note::{Value as YamlValue, YamlKind, parse_long_yaml};

/// The longest file, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// The most patterns of a file, and the most bytes that one may take when it is compiled: 512 MiB for all.
const MAX_PATTERNS: usize = 512;
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The fields of a question, and those of its answers.
const FIELDS: [&str; 3] = ["question", "answers", "silent"];
const ANSWER_FIELDS: [&str; 4] = ["ids", "headings", "sentences", "patterns"];

/// A question and what is known of its answer.
pub(super) struct JudgedQuestion {
    /// The line of the file in which it begins, from 1.
    pub(super) line: usize,
    /// The question.
    pub(super) text: String,
    /// What answers it; `None` where the store has no answer, so that none may be shown.
    pub(super) expected: Option<ExpectedAnswer>,
}

/// What answers a question.
pub(super) struct ExpectedAnswer {
    /// The notes that hold the answer; where none are given, those that contain one of the passages.
    pub(super) ids: Vec<String>,
    /// What an answer must show; where none are given, one of the notes.
    pub(super) passages: Vec<ExpectedPassage>,
}

/// A part of a note that answers a question.
pub(super) enum ExpectedPassage {
    /// The section below a heading: the heading's words.
    Heading(String),
    /// A sentence: its words.
    Sentence(String),
    /// A regular expression.
    Pattern(Regex),
}

impl ExpectedPassage {
    /// Tells whether it occurs in one of the texts or is one of the headings, which are words.
    pub(super) fn is_in(&self, texts: &[NormalizedText], headings: &[String]) -> bool {
        match self {
            Self::Heading(heading) => headings.contains(heading),
            Self::Sentence(sentence) => texts.iter().any(|text| text.contains(sentence)),
            Self::Pattern(pattern) => texts.iter().any(|text| text.matches(pattern)),
        }
    }
}

/// What is wrong with a question file, and in which line.
struct Fault {
    line: usize,
    message: String,
}

/// Parses a question file; `name` stands for it in errors.
///
/// # Errors
/// `Usage`, with the line and the field that is wrong.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Vec<JudgedQuestion>, Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::usage(format!("{name} is longer than {} MiB", MAX_BYTES >> 20)));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Error::usage(format!("{name} is not UTF-8")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let questions = objects(text).and_then(|objects| {
        let mut patterns_left = MAX_PATTERNS;
        objects.into_iter().map(|(line, object)| question(line, object, &mut patterns_left)).collect()
    });
    let questions: Vec<JudgedQuestion> = questions.map_err(|Fault { line, message }| {
        Error::usage(format!("{name}:{line}: {message}")).hint(
            "a line is {\"question\": \"…\", \"answers\": {\"sentences\": [\"…\"]}}; `qipu eval --help` tells more",
        )
    })?;
    if questions.is_empty() {
        return Err(Error::usage(format!("{name} holds no question")));
    }
    Ok(questions)
}

/// Returns the values of a file, each with the line in which it begins.
fn objects(text: &str) -> Result<Vec<(usize, Value)>, Fault> {
    match text.trim_start().chars().next() {
        None => Ok(Vec::new()),
        Some('{') => json_lines(text),
        Some('[') => json_array(text),
        Some(_) => yaml_list(text),
    }
}

fn json_lines(text: &str) -> Result<Vec<(usize, Value)>, Fault> {
    let lines = text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty());
    lines.map(|(text, line)| Ok((line, serde_json::from_str(text).map_err(|error| not_json(line, &error))?))).collect()
}

fn json_array(text: &str) -> Result<Vec<(usize, Value)>, Fault> {
    let mut rest = text.trim_start().strip_prefix('[').unwrap_or_default().trim_start();
    let (mut line, mut counted) = (1, 0);
    let mut line_of = |rest: &str| {
        let read = text.len() - rest.len();
        line += newlines(text.get(counted..read).unwrap_or_default());
        counted = read;
        line
    };
    let mut values = Vec::new();
    let mut is_open = !rest.starts_with(']');
    while is_open && !rest.is_empty() {
        let line = line_of(rest);
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = stream.next().unwrap_or(Ok(Value::Null));
        // The error's line counts from the value's.
        values.push((line, value.map_err(|error| not_json(line + error.line().saturating_sub(1), &error))?));
        rest = rest.get(stream.byte_offset()..).unwrap_or_default().trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.starts_with(']') => is_open = false,
            None => return Err(Fault { line: line_of(rest), message: "not JSON: expected `,` or `]`".to_owned() }),
        }
    }
    match rest.strip_prefix(']').map(str::trim) {
        Some("") => Ok(values),
        Some(_) => Err(Fault { line: line_of(rest), message: "not JSON: something follows the list".to_owned() }),
        None => Err(Fault { line: line_of(rest), message: "not JSON: the list does not end".to_owned() }),
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn not_json(line: usize, error: &serde_json::Error) -> Fault {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    Fault { line, message: format!("not JSON: {what} in column {}", error.column()) }
}

fn yaml_list(text: &str) -> Result<Vec<(usize, Value)>, Fault> {
    let root = parse_long_yaml(text, MAX_BYTES)
        .map_err(|broken| Fault { line: broken.line, message: format!("not YAML: {}", broken.reason) })?;
    let YamlKind::List(items) = &root.kind else {
        let message = "expected a list of questions, each behind `- `, or JSON".to_owned();
        return Err(Fault { line: root.line, message });
    };
    Ok(items.iter().map(|item| (item.line, YamlValue::from_yaml(item).to_json())).collect())
}

fn question(line: usize, value: Value, patterns_left: &mut usize) -> Result<JudgedQuestion, Fault> {
    let fault = |message: String| Fault { line, message };
    let Value::Object(mut object) = value else {
        return Err(fault("expected an object with `question` and `answers` or `silent`".to_owned()));
    };
    check_names(&object, &FIELDS, "").map_err(fault)?;
    let text = object.remove("question").ok_or_else(|| fault("`question` is missing".to_owned()))?;
    let text = text_of(text).ok_or_else(|| fault("`question`: expected a text that is not empty".to_owned()))?;
    let is_silent = match object.remove("silent") {
        None => false,
        Some(Value::Bool(is_silent)) => is_silent,
        Some(_) => return Err(fault("`silent`: expected true or false".to_owned())),
    };
    let expected = match (object.remove("answers"), is_silent) {
        (None, true) => None,
        (Some(answers), false) => Some(expected(answers, patterns_left).map_err(fault)?),
        (Some(_), true) => return Err(fault("`answers`: a question that is `silent` has none".to_owned())),
        (None, false) => return Err(fault("`answers` is missing, and the question is not `silent`".to_owned())),
    };
    Ok(JudgedQuestion { line, text, expected })
}

fn check_names(object: &Map<String, Value>, known: &[&str], above: &str) -> Result<(), String> {
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("`{above}{name}` is no field; there are {}", known.join(", "))),
        None => Ok(()),
    }
}

fn expected(answers: Value, patterns_left: &mut usize) -> Result<ExpectedAnswer, String> {
    let Value::Object(mut answers) = answers else {
        return Err(format!("`answers`: expected an object with any of {}", ANSWER_FIELDS.join(", ")));
    };
    check_names(&answers, &ANSWER_FIELDS, "answers.")?;
    let mut take = |name: &str| texts(answers.remove(name), name);
    let ids = take("ids")?;
    let mut passages = Vec::new();
    for heading in take("headings")? {
        passages.push(ExpectedPassage::Heading(said(&heading, "headings")?));
    }
    for sentence in take("sentences")? {
        passages.push(ExpectedPassage::Sentence(said(&sentence, "sentences")?));
    }
    for pattern in take("patterns")? {
        let left = patterns_left.checked_sub(1);
        *patterns_left = left.ok_or_else(|| format!("`answers.patterns`: there are more than {MAX_PATTERNS}"))?;
        passages.push(ExpectedPassage::Pattern(compiled(&pattern)?));
    }
    if ids.is_empty() && passages.is_empty() {
        return Err(format!("`answers` is empty: expected any of {}", ANSWER_FIELDS.join(", ")));
    }
    Ok(ExpectedAnswer { ids, passages })
}

/// Returns the words of a passage, which must have some.
fn said(passage: &str, field: &str) -> Result<String, String> {
    let words = words(passage);
    if words.trim().is_empty() { Err(format!("`answers.{field}`: `{passage}` has no words")) } else { Ok(words) }
}

fn compiled(pattern: &str) -> Result<Regex, String> {
    let compiled = RegexBuilder::new(pattern).case_insensitive(true).size_limit(MAX_PATTERN_BYTES).build();
    compiled.map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("`answers.patterns`: `{pattern}` is no regular expression: {why}")
    })
}

/// Returns a list of texts; one alone may stand by itself.
fn texts(value: Option<Value>, name: &str) -> Result<Vec<String>, String> {
    let values = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => values,
        Some(value) => vec![value],
    };
    let texts: Option<Vec<String>> = values.into_iter().map(text_of).collect();
    texts.ok_or_else(|| format!("`answers.{name}`: expected a list of texts that are not empty"))
}

/// Returns a text that is not blank; what YAML takes for a number is one.
fn text_of(value: Value) -> Option<String> {
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

    fn lines(text: &str) -> Vec<(usize, String, usize)> {
        let questions = parse("q", text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let count = |expected: &ExpectedAnswer| expected.ids.len() + expected.passages.len();
        questions.into_iter().map(|q| (q.line, q.text, q.expected.as_ref().map_or(0, count))).collect()
    }

    #[test]
    fn three_forms_say_the_same() {
        let jsonl = "\u{feff}\n{\"question\": \"Why?\", \"answers\": {\"ids\": [\"a\", \"b\"], \"patterns\": \"x+\"}}\n\n\
                     {\"question\": \"Who?\", \"silent\": true}\n";
        assert_eq!(lines(jsonl), [(2, "Why?".to_owned(), 3), (4, "Who?".to_owned(), 0)]);
        let array = "[\n  {\"question\": \"Why \\ud83d\\ude00?\",\n   \"answers\": {\"headings\": [\"A b\"]}},\n  {\"question\": \"Who?\", \
                     \"silent\": true}\n]\n";
        assert_eq!(lines(array), [(2, "Why 😀?".to_owned(), 1), (4, "Who?".to_owned(), 0)]);
        let yaml = "# judged in March\n- question: Why?\n  answers:\n    ids: [2024, b]\n    sentences:\n      - >-\n        folded\n        \
                    text\n- {question: Who?, silent: true}\n";
        assert_eq!(lines(yaml), [(2, "Why?".to_owned(), 3), (9, "Who?".to_owned(), 0)]);
    }

    #[test]
    fn errors_name_line_and_field() {
        let long = format!("{{\"question\": \"a\", \"answers\": {{\"patterns\": [\"{}\"]}}}}", "(a{1000}){1000}");
        for (text, expected) in [
            ("", "q holds no question"),
            ("[]", "q holds no question"),
            ("{\"question\": \"a\",}", "q:1: not JSON: trailing comma in column 18"),
            ("{\n}", "q:1: not JSON: EOF while parsing an object in column 1"),
            ("[{\"question\": \"a\", \"silent\": true}\n{}]", "q:2: not JSON: expected `,` or `]`"),
            ("[{\"question\": \"a\", \"silent\": true}\n", "q:2: not JSON: expected `,` or `]`"),
            ("[{},\n{\n\"a\"}]", "q:3: not JSON: expected `:` in column 4"),
            ("[] x", "q:1: not JSON: something follows the list"),
            ("\n{\"question\": \"a\"}", "q:2: `answers` is missing, and the question is not `silent`"),
            ("{\"question\": \" \"}", "q:1: `question`: expected a text that is not empty"),
            ("{\"answers\": {}}", "q:1: `question` is missing"),
            ("{\"question\": \"a\", \"answers\": {}}", "q:1: `answers` is empty: expected any of ids, headings"),
            ("{\"question\": \"a\", \"answers\": []}", "q:1: `answers`: expected an object with any of ids"),
            ("{\"question\": \"a\", \"answers\": {\"ids\": [null]}}", "q:1: `answers.ids`: expected a list of texts"),
            (
                "{\"question\": \"a\", \"answers\": {\"id\": []}}",
                "q:1: `answers.id` is no field; there are ids, headings",
            ),
            ("{\"question\": \"a\", \"answer\": {}}", "q:1: `answer` is no field; there are question, answers, silent"),
            (
                "{\"question\": \"a\", \"answers\": {\"ids\": \"a\"}, \"silent\": true}",
                "q:1: `answers`: a question that",
            ),
            ("{\"question\": \"a\", \"silent\": 1}", "q:1: `silent`: expected true or false"),
            (
                "{\"question\": \"a\", \"answers\": {\"sentences\": [\"**\"]}}",
                "q:1: `answers.sentences`: `**` has no words",
            ),
            (
                "{\"question\": \"a\", \"answers\": {\"patterns\": [\"(a\"]}}",
                "q:1: `answers.patterns`: `(a` is no regular",
            ),
            (&long, "q:1: `answers.patterns`: `(a{1000}){1000}` is no regular expression: Compiled regex exceeds size"),
            ("question: a\nsilent: true\n", "q:1: expected a list of questions, each behind `- `, or JSON"),
            ("- question: a\n- - b\n", "q:1: `answers` is missing"),
            ("- question: a\n  silent: true\n- x\n", "q:3: expected an object with `question`"),
            ("- question: [\n", "not YAML"),
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
            assert!(compiled(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn hostile_files_are_refused_at_once() {
        let start = std::time::Instant::now();
        let mut laughs = String::from("- &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for i in 1..40 {
            laughs.push_str(&format!("- &a{i} [*a{0},*a{0},*a{0},*a{0}]\n", i - 1));
        }
        for text in [laughs, "[".repeat(1 << 20), "- ".repeat(1 << 20), "{\"a\":".repeat(1 << 18)] {
            assert!(parse("q", text.as_bytes()).is_err());
        }
        assert!(start.elapsed().as_secs() < 20);
    }
}
