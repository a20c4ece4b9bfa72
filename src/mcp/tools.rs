//! Parses calls of the tools into requests.

use jiff::civil::Date;
use rmcp::model::JsonObject;

use super::arguments::{Arguments, argument_error, parse_choice};
use crate::cli::OWN_FIELDS;
use crate::commands::CLAIMS;
use crate::env::{self, Today};
use crate::error::Error;
use crate::note::Revision;
use crate::note::edit::BodyEdit;
use crate::request::{
    Abstraction, Action, AssessmentOptions, Budget, ChangeRequest, ContextRequest, ExpandRequest, Filters, Format, MCP,
    NewFields, Purpose, QuestionOptions, ReadCommand, RelatedKind, SearchRequest, Selectors, generated_by,
};

/// The default budget of `get_context`, in tokens.
pub(super) const DEFAULT_TOKENS: usize = 2000;

/// The default budget of `expand`, in tokens.
pub(super) const DEFAULT_ADDITIONAL_TOKENS: usize = 500;

/// The default budget of `read`, in tokens.
pub(super) const DEFAULT_READ_TOKENS: usize = 4000;

/// The budget of `search`, in tokens.
const SEARCH_TOKENS: usize = 4000;

/// The default limit of `search`, in notes.
pub(super) const DEFAULT_LIMIT: usize = 10;

/// A parsed call.
pub(super) enum Task {
    Read(ReadTask),
    Change(ChangeRequest),
}

/// A call that only reads.
pub(super) struct ReadTask {
    pub(super) command: ReadCommand,
    pub(super) budget: Budget,
    /// Whether the text is a section of a prompt.
    pub(super) is_prompt: bool,
}

impl ReadTask {
    pub(super) fn format(&self, is_structured: bool) -> Format {
        Format::ToolResult { is_prompt: self.is_prompt, is_structured }
    }
}

/// Parses a call of a tool.
///
/// # Errors
/// `Usage`, with the name of the tool or of the argument that is wrong.
///
/// `today` is the day for phrases in a question. Notes get `date` as their time of creation or change, else the current
/// second.
pub(super) fn parse_task(tool: &str, arguments: &JsonObject, today: Today, date: Option<&str>) -> Result<Task, Error> {
    let mut arguments = Arguments::new(arguments);
    let task = match tool {
        "get_context" => get_context(&mut arguments, today.day()).map(Task::Read),
        "expand" => expand(&mut arguments).map(Task::Read),
        "search" => search(&mut arguments).map(Task::Read),
        "read" => read(&mut arguments).map(Task::Read),
        "capture" => capture(&mut arguments).and_then(|action| change_task(action, None, date)),
        "update" => {
            let revision = revision(&mut arguments, "if")?;
            update(&mut arguments).and_then(|action| change_task(action, revision, date))
        }
        "link" => link(&mut arguments).and_then(|action| change_task(action, None, date)),
        _ => return Err(Error::usage(format!("unknown tool `{tool}`"))),
    }?;
    arguments.finish()?;
    Ok(task)
}

pub(super) fn get_context(arguments: &mut Arguments, today: Date) -> Result<ReadTask, Error> {
    arguments.accept("topic", "query");
    let topic = arguments.required_text("topic")?;
    let purpose = arguments.choice("purpose")?.unwrap_or(Purpose::Answer);
    let max_tokens = arguments.count("max_tokens")?.unwrap_or(DEFAULT_TOKENS);
    let target_tokens = arguments.count("target_tokens")?;
    if target_tokens.is_some_and(|target| target > max_tokens) {
        return Err(argument_error("target_tokens", "it is above max_tokens"));
    }
    let budget = Budget { max_tokens: Some(max_tokens), target_tokens, ..Budget::default() };
    let mut include = Vec::new();
    include.extend(arguments.is_set("include_derivations")?.then_some(RelatedKind::Derivation));
    include.extend(arguments.is_set("include_contradictions")?.then_some(RelatedKind::Contradictions));
    let assessment = AssessmentOptions {
        purpose: Some(purpose),
        abstraction: arguments.choice("abstraction")?.unwrap_or_default(),
        min_confidence: arguments.share("min_confidence")?,
        min_trust: arguments.share("min_trust")?,
        include,
        today: Some(today),
        ..AssessmentOptions::default()
    };
    let asking = Some(QuestionOptions { today, ..QuestionOptions::default() });
    let context = ContextRequest {
        selection: Selectors { query: Some(topic), asking, ..Selectors::default() },
        room: budget.room(),
        shows_passages: assessment.abstraction == Abstraction::Passages,
        assessment: Some(assessment),
        ..ContextRequest::default()
    };
    Ok(ReadTask { command: ReadCommand::Context(context), budget, is_prompt: true })
}

fn expand(arguments: &mut Arguments) -> Result<ReadTask, Error> {
    let ids = ids(arguments)?;
    let include = arguments.texts("include")?.into_iter().map(|kind| parse_choice("include", &kind));
    let expand = ExpandRequest { ids, include: include.collect::<Result<_, Error>>()?, banner: None };
    let max_tokens = arguments.count("max_additional_tokens")?.unwrap_or(DEFAULT_ADDITIONAL_TOKENS);
    let budget = Budget { max_tokens: Some(max_tokens), ..Budget::default() };
    Ok(ReadTask { command: ReadCommand::Expand(expand), budget, is_prompt: true })
}

/// Parses the names of notes.
fn ids(arguments: &mut Arguments) -> Result<Vec<String>, Error> {
    let ids = arguments.texts("ids")?;
    if ids.is_empty() || ids.iter().any(|id| id.trim().is_empty()) {
        return Err(argument_error("ids", "expected the ids of notes"));
    }
    Ok(ids)
}

fn read(arguments: &mut Arguments) -> Result<ReadTask, Error> {
    let notes = ids(arguments)?;
    arguments.accept("query", "topic");
    let query = arguments.text("query")?.filter(|query| !query.trim().is_empty());
    let max_tokens = arguments.count("max_tokens")?.unwrap_or(DEFAULT_READ_TOKENS);
    let budget = Budget { max_tokens: Some(max_tokens), ..Budget::default() };
    let context = ContextRequest {
        room: budget.room(),
        shows_passages: query.is_some(),
        selection: Selectors { notes, within_notes: query.is_some(), query, ..Selectors::default() },
        with_body: Some(true),
        with_custom: true,
        ..ContextRequest::default()
    };
    Ok(ReadTask { command: ReadCommand::Context(context), budget, is_prompt: false })
}

fn search(arguments: &mut Arguments) -> Result<ReadTask, Error> {
    let filters = Filters {
        tags: arguments.text("tag")?.iter().flat_map(|tags| split_tags(tags)).collect(),
        kinds: arguments.text("type")?.into_iter().collect(),
        ..Filters::default()
    };
    let limit = Some(arguments.count("limit")?.unwrap_or(DEFAULT_LIMIT));
    arguments.accept("query", "topic");
    let query = arguments.required_text("query")?;
    let without = arguments.texts("without")?;
    let search = SearchRequest { query, without, filters, limit, ..SearchRequest::default() };
    let budget = Budget { max_tokens: Some(SEARCH_TOKENS), ..Budget::default() };
    Ok(ReadTask { command: ReadCommand::Search(search), budget, is_prompt: false })
}

/// Splits a comma-separated list of tags.
fn split_tags(tags: &str) -> Vec<String> {
    tags.split(',').map(|tag| tag.trim().to_owned()).collect()
}

/// Parses a list of tags. A text with commas is several tags.
fn tags(arguments: &mut Arguments, name: &str) -> Result<Vec<String>, Error> {
    let tags: Vec<String> = arguments.texts(name)?.iter().flat_map(|tags| split_tags(tags)).collect();
    if tags.iter().any(|tag| tag.is_empty() || tag.contains(char::is_control)) {
        return Err(argument_error(name, "a tag is empty or contains a control character"));
    }
    Ok(tags)
}

/// Parses a text of a note.
fn body(arguments: &mut Arguments, name: &str) -> Result<Option<String>, Error> {
    let text = arguments.text(name)?;
    match &text {
        Some(text) if text.contains('\0') => Err(argument_error(name, "it contains a NUL character")),
        Some(text) if text.trim().is_empty() => Err(argument_error(name, "it is empty")),
        _ => Ok(text),
    }
}

/// Parses a revision of a note.
fn revision(arguments: &mut Arguments, name: &str) -> Result<Option<Revision>, Error> {
    let text = arguments.text(name)?;
    let expected = |_| argument_error(name, "expected the 12 hexadecimal digits that `read` gives as the revision");
    text.map(|text| Revision::parse(&text).map_err(expected)).transpose()
}

/// Parses the new text of a note, or the change of a part of it.
fn new_text(arguments: &mut Arguments) -> Result<(Option<String>, Option<BodyEdit>), Error> {
    let (text, append) = (body(arguments, "text")?, body(arguments, "append")?);
    let (old, new) = (arguments.text("old")?, arguments.text("new")?);
    let section = body(arguments, "section")?;
    let missing = |name: &str, with: &str| Err(argument_error(name, &format!("it is missing, and {with} is given")));
    let edit = match (append, old, new, section) {
        (None, None, None, None) => return Ok((text, None)),
        (Some(append), None, None, None) if text.is_none() => BodyEdit::Append(append),
        (None, Some(old), Some(_), None) if text.is_none() && old.is_empty() => {
            return Err(argument_error("old", "it is empty"));
        }
        (None, Some(_), Some(new), None) if text.is_none() && new.contains('\0') => {
            return Err(argument_error("new", "it contains a NUL character"));
        }
        (None, Some(old), Some(new), None) if text.is_none() => BodyEdit::Replace { old, new },
        (None, Some(_), None, None) => return missing("new", "`old`"),
        (None, None, Some(_), None) => return missing("old", "`new`"),
        (None, None, None, Some(heading)) => match text {
            Some(text) => BodyEdit::Section { heading, text },
            None => return missing("text", "`section`"),
        },
        _ => return Err(Error::usage("give one of `text`, `append`, `old` with `new`, and `section` with `text`")),
    };
    Ok((None, Some(edit)))
}

fn update(arguments: &mut Arguments) -> Result<Action, Error> {
    let id = arguments.required_text("id")?;
    let (body, body_edit) = new_text(arguments)?;
    let mut custom = arguments.fields("set")?;
    let is_own = |key: &str| CLAIMS.contains(&key) || OWN_FIELDS.iter().any(|(own, _)| *own == key);
    if let Some((key, _)) = custom.iter().find(|(key, _)| is_own(key) || key.trim().is_empty()) {
        return Err(argument_error("set", &format!("`{key}` is no field that this tool sets")));
    }
    custom.extend(arguments.text("status")?.map(|status| ("status".to_owned(), status)));
    let fields = NewFields {
        body,
        kind: arguments.text("type")?,
        tags: tags(arguments, "tags")?,
        untags: tags(arguments, "untags")?,
        custom,
        ..NewFields::default()
    };
    if fields == NewFields::default() && body_edit.is_none() {
        return Err(Error::usage("nothing to change: give a text or fields"));
    }
    Ok(Action::Update {
        ids: vec![id],
        filters: Vec::new(),
        fields,
        body_edit,
        is_generated: true,
        is_confirmed: false,
    })
}

fn capture(arguments: &mut Arguments) -> Result<Action, Error> {
    let text = body(arguments, "text")?.ok_or_else(|| argument_error("text", "it is missing"))?;
    let fields = NewFields {
        body: Some(text),
        kind: arguments.text("type")?,
        title: arguments.text("title")?,
        tags: tags(arguments, "tags")?,
        custom: vec![generated_by(MCP)],
        ..NewFields::default()
    };
    let supersedes = arguments.texts("supersedes")?;
    Ok(Action::Create { fields, is_generated: true, is_opened: false, supersedes, from: None })
}

fn link(arguments: &mut Arguments) -> Result<Action, Error> {
    Ok(Action::AddLink {
        from: arguments.required_text("from")?,
        to: vec![arguments.required_text("to")?],
        kind: Some(arguments.required_text("type")?),
        is_generated: true,
    })
}

fn change_task(action: Action, revision: Option<Revision>, date: Option<&str>) -> Result<Task, Error> {
    let now = date.map_or_else(env::now, str::to_owned);
    let random = getrandom::u64()
        .map_err(|error| Error::failure(format!("can't get a random number from the system: {error}")))?;
    Ok(Task::Change(ChangeRequest { action, revision, is_dry_run: false, is_secret_allowed: false, now, random }))
}
