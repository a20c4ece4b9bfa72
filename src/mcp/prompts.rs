//! The prompts: what is known about a topic, and the request to save what a session taught.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{answer_task, tools};
use crate::context::Session;
use crate::env::Today;
use crate::error::Error;
use crate::escape::abbreviated;
use crate::request::Budget;
use crate::tokens::CHARS_PER_TOKEN;

/// The prompt of [`recall`], and its argument.
const RECALL: (&str, &str) = ("recall", "What do we know about …");
const TOPIC: &str = "topic";
/// The prompt that asks to save notes.
const REMEMBER: (&str, &str) = ("remember_session", "Remember this session");

/// The text of [`REMEMBER`].
const REMEMBER_TEXT: &str = "\
Save what this session taught as notes of the project, with the tools of qipu.

1. Collect what will be worth knowing in a later session: decisions with their reasons and the alternatives that were \
rejected, causes of problems, conventions, facts that were hard to find. Leave out what the code or the git history says.
2. For each, call search. If a note says it already, change nothing. If a detail is missing or wrong, \
correct it with update (append, old and new, section). If a note is now wrong, capture the new one \
with the old one in supersedes.
3. Call capture once for each subject: the first line is the title, then the text in the words by which it will be asked \
for (identifiers, error text). Use type decision for decisions, and tags that exist.
4. Call link where a note supports, contradicts, refines or answers another.
5. List the ids of the notes that you saved or changed. Save no secrets.
";

/// The most tokens of the result of [`recall`].
const RECALL_TOKENS: usize = tools::DEFAULT_TOKENS;

/// What a client asks for.
pub(super) enum PromptRequest {
    /// See [`recall`].
    Recall { topic: String },
    /// A prompt without notes.
    Fixed(GetPromptResult),
}

/// Returns the prompts in the order in which clients list them.
pub(super) fn all() -> Vec<Prompt> {
    let topic = PromptArgument::new(TOPIC)
        .with_description("A question or subject, in the words that the answer would use")
        .with_required(true);
    let recall = Prompt::new(RECALL.0, Some("The notes of this project about a topic"), Some(vec![topic]));
    let remember = Prompt::new(REMEMBER.0, Some("Save decisions and lessons of this session as notes"), None);
    vec![recall.with_title(RECALL.1), remember.with_title(REMEMBER.1)]
}

/// Parses the name of a prompt and its arguments.
///
/// # Errors
/// `Usage`, with the name of the prompt or of the argument that is wrong.
pub(super) fn parse(name: &str, arguments: &JsonObject) -> Result<PromptRequest, Error> {
    let mut arguments = Arguments::new(arguments);
    let prompt = match name {
        name if name == RECALL.0 => PromptRequest::Recall { topic: arguments.required_text(TOPIC)? },
        name if name == REMEMBER.0 => {
            let message = PromptMessage::new_text(Role::User, REMEMBER_TEXT);
            PromptRequest::Fixed(GetPromptResult::new(vec![message]).with_description(REMEMBER.1))
        }
        _ => return Err(Error::usage(format!("unknown prompt `{name}`"))),
    };
    arguments.finish()?;
    Ok(prompt)
}

/// Returns the prompt that contains the answer of `get_context` to a topic. The result has at most [`RECALL_TOKENS`].
pub(super) fn recall(topic: &str, today: Today, session: &Session<'_>) -> Result<Value, Error> {
    let request = format!(
        "\nWhat do we know about this: {}\nAnswer from these notes, and name the ids of those that you use.\n",
        abbreviated(topic)
    );
    let result = |text: &str| {
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        json!({"resultType": "complete", "description": RECALL.1, "messages": [message]})
    };
    let others = result(&request).to_string().chars().count();
    let arguments = json!({"topic": topic, "max_tokens": RECALL_TOKENS});
    let mut arguments = Arguments::new(arguments.as_object().unwrap_or(&JsonObject::new()));
    let mut task = tools::get_context(&mut arguments, today.day())?;
    // The result of the tool is longer than its text, so that the prompt is short enough if that fits beside the rest.
    let max_chars = (RECALL_TOKENS * CHARS_PER_TOKEN).saturating_sub(others);
    task.budget = Budget { max_chars: Some(max_chars), ..task.budget };
    let answer = answer_task(&task, session, false)?;
    let notes = answer["content"][0]["text"].as_str().unwrap_or_default();
    Ok(result(&format!("{notes}{request}")))
}
