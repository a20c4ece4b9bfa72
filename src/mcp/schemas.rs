//! The tools as clients list them: titles, descriptions and JSON schemas of their arguments. Clients put all of it into the
//! context of the model, so that every word counts.

use std::sync::Arc;

use clap::ValueEnum;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments::names;
use super::tools::{DEFAULT_ADDITIONAL_TOKENS, DEFAULT_LIMIT, DEFAULT_READ_TOKENS, DEFAULT_TOKENS};
use crate::request::{Abstraction, Purpose, RelatedKind};

const TYPES: &str = "fleeting (default), literature, permanent, moc, journal, decision";

/// What a tool does to the store.
#[derive(Clone, Copy, PartialEq)]
enum ToolEffect {
    Reads,
    Adds,
    Overwrites,
}

/// Returns the tools in the order in which clients list them.
pub(super) fn all() -> Vec<Tool> {
    vec![get_context(), expand(), search(), read(), capture(), update(), link()]
}

fn get_context() -> Tool {
    let levels = "How much of each note: the passages that answer, one level for all, or adaptive";
    let properties = json!({
        "topic": text("A question or subject, in the words that the answer would use"),
        "purpose": choice::<Purpose>("What the notes are for; decides their rank"),
        "max_tokens": count("Your budget: the result never has more tokens", DEFAULT_TOKENS),
        "target_tokens": {"type": "integer", "minimum": 1, "description": "Stop after this many tokens"},
        "abstraction": choice::<Abstraction>(levels),
        "min_confidence": fraction("Only notes with at least this confidence"),
        "min_trust": fraction("Only notes whose source is trusted this much"),
        "include_derivations": boolean("Show what each note is derived from"),
        "include_contradictions": boolean("Show what contradicts each note"),
    });
    let about = "Get the passages of the project's notes that answer a question, best first. Use the words that the \
         answer would use (identifiers, error text, synonyms); the topic may name notes ([[Title]]), days and periods.";
    tool("get_context", "Ask the notes", ToolEffect::Reads, about, properties, &["topic"])
}

fn expand() -> Tool {
    let include = json!({"type": "array", "items": {"type": "string", "enum": names::<RelatedKind>()}, "description":
        "Also what the notes are derived from, what supports or contradicts them"});
    let properties = json!({
        "ids": texts("Ids of notes"),
        "include": include,
        "max_additional_tokens": count("Your budget", DEFAULT_ADDITIONAL_TOKENS),
    });
    let about = "Show more of notes that get_context returned, and what supports or contradicts them.";
    tool("expand", "Show more of notes", ToolEffect::Reads, about, properties, &["ids"])
}

fn search() -> Tool {
    let properties = json!({
        "query": text("Words, \"a phrase\", prefix*"),
        "without": text("Words to exclude"),
        "limit": count("Most notes", DEFAULT_LIMIT),
        "tag": text("Only this tag"),
        "type": text("Only this type"),
    });
    let about = "List notes by words: titles, ids and excerpts, best first. For passages, use get_context.";
    tool("search", "Search notes", ToolEffect::Reads, about, properties, &["query"])
}

fn read() -> Tool {
    let properties = json!({
        "ids": texts("Ids or titles of notes"),
        "query": text("Only the passages that match these words, for long notes"),
        "max_tokens": count("Your budget", DEFAULT_READ_TOKENS),
    });
    let about = "Read notes as they are written, whole or the passages that match.";
    tool("read", "Read notes", ToolEffect::Reads, about, properties, &["ids"])
}

fn capture() -> Tool {
    let properties = json!({
        "text": text("The text, in markdown"),
        "title": text("Default: the first line"),
        "type": text(TYPES),
        "tags": texts("Tags"),
        "supersedes": texts("Notes that this one replaces"),
    });
    let about = "Save something worth knowing later as a note: a decision and its reasons, the cause of a problem, a \
         convention. One subject per note.";
    tool("capture", "Save a note", ToolEffect::Adds, about, properties, &["text"])
}

fn update() -> Tool {
    let properties = json!({
        "id": text("The id of the note"),
        "text": text("A new text for all of the old one"),
        "section": text("Replace only the text below this heading"),
        "old": text("A passage that occurs once, replaced by new"),
        "new": text("The text in its place"),
        "append": text("A paragraph to add"),
        "type": text("The new type"),
        "tags": texts("Tags to add"),
        "untags": texts("Tags to remove"),
        "status": text("rejected, deprecated or obsolete hides a note from get_context"),
        "set": json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]},
            "description": "Custom fields"}),
        "if": text("Only if this is still its revision"),
    });
    let about = "Change fields of a note or its text. To replace a decision, use capture with supersedes.";
    tool("update", "Change a note", ToolEffect::Overwrites, about, properties, &["id"])
}

fn link() -> Tool {
    let properties = json!({
        "from": text("The note that gets the link"),
        "to": text("The note that it links to"),
        "type": text("related, derived-from, supports, contradicts, part-of, same-as, follows, answers, refines"),
    });
    let about = "Add a typed link from one note to another.";
    tool("link", "Link two notes", ToolEffect::Adds, about, properties, &["from", "to", "type"])
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn texts(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

/// The first value is the default.
fn choice<T: ValueEnum>(about: &str) -> Value {
    let names = names::<T>();
    json!({"type": "string", "enum": names, "description": about, "default": names.first()})
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

fn tool(
    name: &'static str,
    title: &str,
    effect: ToolEffect,
    about: &'static str,
    properties: Value,
    required: &[&str],
) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let annotations = ToolAnnotations::new().open_world(false).read_only(effect == ToolEffect::Reads);
    // Of a tool that only reads, clients do not ask whether it destroys.
    let annotations = if effect == ToolEffect::Reads {
        annotations
    } else {
        annotations.destructive(effect == ToolEffect::Overwrites)
    };
    Tool::new(name, about, Arc::new(schema.as_object().cloned().unwrap_or_default()))
        .with_title(title)
        .annotate(annotations)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most characters of all tools together.
    const MAX_CHARS: usize = 6000;

    #[test]
    fn tools_are_few_and_short() {
        let tools = all();
        assert!(tools.len() <= 8);
        let length = serde_json::to_string(&tools).unwrap().chars().count();
        assert!(length < MAX_CHARS, "{length} characters");
        for tool in &tools {
            assert!(
                tool.title.is_some() && tool.output_schema.is_none() && tool.annotations.is_some(),
                "{}",
                tool.name
            );
        }
    }

    /// Returns the row of a tool: its arguments, the required ones bold, the others with their defaults.
    fn row(tool: &Tool) -> String {
        let schema = &tool.input_schema;
        let required = schema["required"].as_array().unwrap();
        let default = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let argument = |(name, property): (&String, &Value)| {
            let default = property.get("default").map(|value| format!("={}", default(value))).unwrap_or_default();
            let mark = if required.contains(&json!(name)) { "**" } else { "" };
            format!("{mark}`{name}{default}`{mark}")
        };
        let arguments: Vec<String> = schema["properties"].as_object().unwrap().iter().map(argument).collect();
        format!("| `{}` | {} |", tool.name, arguments.join(", "))
    }

    #[test]
    fn the_page_of_mcp_has_the_arguments_of_each_tool() {
        let page = include_str!("../../specs/reference/hooks-mcp-setup.md");
        let table = page.lines().skip_while(|line| *line != "| tool | arguments |").skip(2);
        let table: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
        assert_eq!(table, all().iter().map(row).collect::<Vec<_>>());
    }
}
