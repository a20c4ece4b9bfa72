//! The tools as clients list them: descriptions and JSON schemas of their arguments.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::tools::{DEFAULT_ADDITIONAL_TOKENS, DEFAULT_LIMIT, DEFAULT_TOKENS, LEVELS, RELATED_KINDS};
use crate::request::Purpose;

/// Returns the tools in the order in which clients list them.
pub(super) fn all() -> Vec<Tool> {
    vec![get_context(), expand(), search(), capture(), link()]
}

fn get_context() -> Tool {
    let purposes = Purpose::ALL.map(Purpose::name);
    let levels = LEVELS.map(|(name, _)| name);
    let mut purpose = choice(&purposes, "The task that the notes are needed for; it decides how they are ranked");
    purpose["default"] = json!(purposes[0]);
    let mut level =
        choice(&levels, "How much of each note is shown: the passages that answer, one level for all, or adaptive");
    level["default"] = json!("passages");
    let properties = json!({
        "topic": text("A question or subject, in the words that the answer would use"),
        "purpose": purpose,
        "max_tokens": count("Your budget: the answer never has more tokens", DEFAULT_TOKENS),
        "target_tokens": {"type": "integer", "minimum": 1, "description": "Stop after this many tokens"},
        "abstraction": level,
        "min_confidence": fraction("Only notes with at least this confidence"),
        "min_trust": fraction("Only notes whose source is trusted at least this much"),
        "include_derivations": boolean("After each note, show what it is derived from"),
        "include_contradictions": boolean("After each note, show what contradicts it"),
    });
    let about = "Get the passages of the project's notes that answer a question, best notes first, in at most \
         max_tokens. Use the words that the answer would use (identifiers, error text, synonyms); the topic may name notes ([[Title]]), \
         days and periods.";
    tool("get_context", true, about, properties, &["topic"])
}

fn expand() -> Tool {
    let include = json!({"type": "array", "items": {"type": "string", "enum": RELATED_KINDS.map(|(name, _)| name)}, "description":
        "What else to show: what the notes are derived from, what supports them, what contradicts them"});
    let properties = json!({
        "ids": texts("Ids of notes"),
        "include": include,
        "max_additional_tokens": count("Maximum number of tokens in the answer", DEFAULT_ADDITIONAL_TOKENS),
    });
    let about = "Show more of notes that get_context returned: their full text, and what supports or contradicts them.";
    tool("expand", true, about, properties, &["ids"])
}

fn search() -> Tool {
    let properties = json!({
        "query": text("Words; \"a phrase\", tag:x, type:x and -word are understood"),
        "limit": count("Maximum number of notes", DEFAULT_LIMIT),
        "tag": text("Only notes with this tag"),
        "type": text("Only notes of this type: fleeting, literature, permanent, moc, journal, decision"),
    });
    let about = "Find notes by words: titles, ids and the matching excerpt, best first. For text to work with, use get_context.";
    tool("search", true, about, properties, &["query"])
}

fn capture() -> Tool {
    let properties = json!({
        "text": text("The text to save, in markdown"),
        "title": text("The title (default: the first line)"),
        "type": text("fleeting (default), literature, permanent, moc, journal, decision"),
        "tags": texts("Tags"),
    });
    let about = "Save something worth knowing later as a note: a decision and its reasons, the cause of a problem, a \
         convention. One subject per note.";
    tool("capture", false, about, properties, &["text"])
}

fn link() -> Tool {
    let properties = json!({
        "from": text("The id of the note to link from"),
        "to": text("The id of the note that it links to"),
        "type": text("related, derived-from, supports, contradicts, part-of, same-as, follows, answers, refines, …"),
    });
    tool("link", false, "Add a typed link from one note to another.", properties, &["from", "to", "type"])
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn texts(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

fn choice(names: &[&str], about: &str) -> Value {
    json!({"type": "string", "enum": names, "description": about})
}

fn count(about: &str, default: usize) -> Value {
    json!({"type": "integer", "minimum": 1, "default": default, "description": about})
}

fn fraction(about: &str) -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1, "description": about})
}

fn boolean(about: &str) -> Value {
    json!({"type": "boolean", "default": false, "description": about})
}

fn tool(name: &'static str, is_read_only: bool, about: &'static str, properties: Value, required: &[&str]) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let annotations = ToolAnnotations::new().destructive(false).open_world(false).read_only(is_read_only);
    Tool::new(name, about, Arc::new(schema.as_object().cloned().unwrap_or_default())).annotate(annotations)
}
