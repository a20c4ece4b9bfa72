//! The tools: what the client is told of each, and the request that a call of one comes to.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments::{Arguments, chosen, wrong};
use crate::error::Error;
use crate::request::{
    Abstraction, Action, Budget, ChangeRequest, Command, ContextRequest, ExpandRequest, Format, Level, ListRequest,
    McpRequest, NeedOptions, NewFields, NewNote, Purpose, QuestionOptions, SearchRequest, Selectors,
};
use crate::store::Location;

/// The most tokens of an answer where nobody names a number.
const MAX_TOKENS: usize = 2000;
const MAX_ADDITIONAL_TOKENS: usize = 500;
/// The most tokens that a search or a change tells.
const MAX_TOLD: usize = 4000;
/// The most notes that a search finds where nobody names a number.
const LIMIT: usize = 10;
/// The field that says that no person wrote a note.
const GENERATED: (&str, &str) = ("generated_by", "mcp");

/// What a call comes to.
pub(super) struct Task {
    pub(super) command: Command,
    pub(super) budget: Budget,
    pub(super) format: Format,
    /// Whether notes change.
    pub(super) is_write: bool,
}

const LEVELS: [(&str, Abstraction); 6] = [
    ("passages", Abstraction::Passages),
    ("detailed", Abstraction::Fixed(Level::Detailed)),
    ("extract", Abstraction::Fixed(Level::Extract)),
    ("summary", Abstraction::Fixed(Level::Summary)),
    ("essence", Abstraction::Fixed(Level::Essence)),
    ("adaptive", Abstraction::Adaptive),
];
const KINDS: [&str; 3] = ["derivation", "evidence", "contradictions"];

/// Returns what the client is told of all tools.
pub(super) fn all() -> Vec<Tool> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number =
        |about: &str, usual: usize| json!({"type": "integer", "minimum": 1, "default": usual, "description": about});
    let share = |about: &str| json!({"type": "number", "minimum": 0, "maximum": 1, "description": about});
    let flag = |about: &str| json!({"type": "boolean", "default": false, "description": about});
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let words = |words: &[&str], about: &str| json!({"type": "string", "enum": words, "description": about});
    let purposes = Purpose::ALL.map(Purpose::name);
    let levels = LEVELS.map(|(name, _)| name);
    let mut purpose = words(&purposes, "What the knowledge is needed for; it decides what counts");
    purpose["default"] = json!(purposes[0]);
    let mut level =
        words(&levels, "How much of each note is shown: the passages that answer, one level for all, or adaptive");
    level["default"] = json!("passages");
    let include = json!({"type": "array", "items": {"type": "string", "enum": KINDS}, "description":
        "What else to show: what the notes are derived from, what supports them, what contradicts them"});
    vec![
        tool(
            "get_context",
            "Get the passages of the project's notes that answer, best notes first, in at most max_tokens. Ask with the \
             words that the answer would use (identifiers, error text, synonyms); the topic may name notes ([[Title]]), \
             days and periods.",
            json!({
                "topic": text("A question or subject, in the words that the answer would use"),
                "purpose": purpose,
                "max_tokens": number("The space you have: the answer never has more tokens", MAX_TOKENS),
                "target_tokens": {"type": "integer", "minimum": 1, "description": "Stop when so many tokens are reached"},
                "abstraction": level,
                "min_confidence": share("Only notes that can be relied on at least so far"),
                "min_trust": share("Only notes whose source is trusted at least so far"),
                "include_derivations": flag("Show what notes are derived from behind them"),
                "include_contradictions": flag("Show what contradicts notes behind them"),
            }),
            &["topic"],
            true,
        ),
        tool(
            "expand",
            "Show more of notes that get_context returned: their whole text, and what stands behind or against them.",
            json!({
                "ids": texts("Ids of notes"),
                "include": include,
                "max_additional_tokens": number("The most tokens of the answer", MAX_ADDITIONAL_TOKENS),
            }),
            &["ids"],
            true,
        ),
        tool(
            "search",
            "Find notes by words: titles, ids and the place that answers, best first. For text to work with, use get_context.",
            json!({
                "query": text("Words; \"a phrase\", tag:x, type:x and -word are understood"),
                "limit": number("The most notes", LIMIT),
                "tag": text("Only notes with this tag"),
                "type": text("Only notes of this type: fleeting, literature, permanent, moc, journal"),
            }),
            &["query"],
            true,
        ),
        tool(
            "capture",
            "Keep something worth knowing later as a note: a decision and why, a cause that was found, a convention. One \
             subject a note.",
            json!({
                "text": text("What is to be kept, in markdown"),
                "title": text("A title; without one, the first line"),
                "type": text("fleeting (usual), literature, permanent, moc, journal"),
                "tags": texts("Tags"),
            }),
            &["text"],
            false,
        ),
        tool(
            "link",
            "Say how one note stands to another.",
            json!({
                "from": text("The id of the note that links"),
                "to": text("The id of the note that it leads to"),
                "type": text("related, derived-from, supports, contradicts, part-of, same-as, follows, answers, refines, …"),
            }),
            &["from", "to", "type"],
            false,
        ),
    ]
}

fn tool(name: &'static str, about: &'static str, properties: Value, required: &[&str], only_reads: bool) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let hints = ToolAnnotations::new().read_only(only_reads).destructive(false).open_world(false);
    Tool::new(name, about, Arc::new(schema)).annotate(hints)
}

/// Returns the request that a call comes to.
///
/// # Errors
/// `Usage`, with the name of the argument that is wrong.
pub(super) fn task(tool: &str, arguments: &JsonObject, request: &McpRequest) -> Result<Task, Error> {
    let mut given = Arguments::new(arguments);
    let (location, given_day) = (request.location.clone(), request.today.as_deref());
    let task = match tool {
        "get_context" => get_context(&mut given, location),
        "expand" => expand(&mut given, location),
        "search" => search(&mut given, location),
        "capture" => capture(&mut given).and_then(|action| change(location, action, given_day)),
        "link" => link(&mut given).and_then(|action| change(location, action, given_day)),
        _ => return Err(Error::usage(format!("there is no tool `{tool}`"))),
    }?;
    given.end()?;
    Ok(task)
}

fn get_context(given: &mut Arguments, location: Location) -> Result<Task, Error> {
    let today = location.today.day();
    let topic = given.needed("topic")?;
    let purposes = Purpose::ALL.map(|purpose| (purpose.name(), purpose));
    let purpose = given.choice("purpose", &purposes)?.unwrap_or(Purpose::Answer);
    let max_tokens = given.count("max_tokens")?.unwrap_or(MAX_TOKENS);
    let target_tokens = given.count("target_tokens")?;
    if target_tokens.is_some_and(|target| target > max_tokens) {
        return Err(wrong("target_tokens", "it is above max_tokens"));
    }
    let budget = Budget { max_tokens: Some(max_tokens), target_tokens, ..Budget::default() };
    let need = NeedOptions {
        purpose: Some(purpose),
        abstraction: given.choice("abstraction", &LEVELS)?.unwrap_or_default(),
        min_confidence: given.share("min_confidence")?.unwrap_or_default(),
        min_trust: given.share("min_trust")?.unwrap_or_default(),
        with_derivations: given.flag("include_derivations")?,
        with_contradictions: given.flag("include_contradictions")?,
        today: Some(today),
        ..NeedOptions::default()
    };
    let asking = Some(QuestionOptions { today, ..QuestionOptions::default() });
    let context = ContextRequest {
        location,
        selection: Selectors { query: Some(topic), asking, ..Selectors::default() },
        passages_within: budget.most_chars().filter(|_| need.abstraction == Abstraction::Passages),
        need: Some(need),
        max_candidates: budget.max_candidates(),
        ..ContextRequest::default()
    };
    Ok(Task { command: Command::Context(context), budget, format: Format::Prompt, is_write: false })
}

fn expand(given: &mut Arguments, location: Location) -> Result<Task, Error> {
    let ids = given.texts("ids")?;
    if ids.is_empty() {
        return Err(wrong("ids", "expected the ids of notes"));
    }
    let mut expand = ExpandRequest { location, ids, ..ExpandRequest::default() };
    for kind in given.texts("include")? {
        let kinds = KINDS.map(|kind| (kind, kind));
        match chosen("include", &kind, &kinds)? {
            "derivation" => expand.derivation = true,
            "evidence" => expand.evidence = true,
            _ => expand.contradictions = true,
        }
    }
    let most = given.count("max_additional_tokens")?.unwrap_or(MAX_ADDITIONAL_TOKENS);
    let budget = Budget { max_tokens: Some(most), ..Budget::default() };
    Ok(Task { command: Command::Expand(expand), budget, format: Format::Prompt, is_write: false })
}

fn search(given: &mut Arguments, location: Location) -> Result<Task, Error> {
    let only = ListRequest {
        location,
        tags: given.text("tag")?.iter().flat_map(|tags| split(tags)).collect(),
        kinds: given.text("type")?.into_iter().collect(),
        ..ListRequest::default()
    };
    let limit = Some(given.count("limit")?.unwrap_or(LIMIT));
    let search = SearchRequest { query: given.needed("query")?, only, limit, ..SearchRequest::default() };
    Ok(Task { command: Command::Search(search), budget: told(), format: Format::Human, is_write: false })
}

/// Splits a list of tags that is written with commas.
fn split(tags: &str) -> Vec<String> {
    tags.split(',').map(|tag| tag.trim().to_owned()).collect()
}

fn capture(given: &mut Arguments) -> Result<Action, Error> {
    let text = given.needed("text")?;
    if text.contains('\0') {
        return Err(wrong("text", "it holds a NUL character"));
    }
    let tags: Vec<String> = given.texts("tags")?.iter().flat_map(|tags| split(tags)).collect();
    if tags.iter().any(|tag| tag.is_empty() || tag.contains(char::is_control)) {
        return Err(wrong("tags", "a tag is empty or holds a control character"));
    }
    let fields = NewFields {
        body: Some(text),
        kind: given.text("type")?,
        tags,
        custom: vec![(GENERATED.0.to_owned(), GENERATED.1.to_owned())],
        ..NewFields::default()
    };
    Ok(Action::Create(NewNote { title: given.text("title")?, fields, is_generated: true }))
}

fn link(given: &mut Arguments) -> Result<Action, Error> {
    Ok(Action::AddLink { from: given.needed("from")?, to: given.needed("to")?, kind: given.needed("type")? })
}

/// What it writes down as now is the day that is given, else this second.
fn change(mut location: Location, action: Action, given_day: Option<&str>) -> Result<Task, Error> {
    // Reads go on while it waits for the lock: see `Calls`.
    location.waits.patience = Duration::ZERO;
    let now = jiff::Timestamp::now();
    let seconds = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
    let now = given_day.map_or_else(|| seconds.to_string(), str::to_owned);
    let random =
        getrandom::u64().map_err(|error| Error::failure(format!("the machine gives no random number: {error}")))?;
    let change = ChangeRequest { location, action, is_dry_run: false, now, random, opens_editor: false };
    Ok(Task { command: Command::Change(change), budget: Budget::default(), format: Format::Human, is_write: true })
}

fn told() -> Budget {
    Budget { max_tokens: Some(MAX_TOLD), ..Budget::default() }
}
