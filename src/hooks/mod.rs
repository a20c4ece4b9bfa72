//! Hooks of agent tools: a call of `qipu hook` becomes a request. Pure, like `cli`, which does the same for arguments.
//!
//! `events` lists the events of each tool, `input` reads the JSON of a call, and `prompt` and `action` decide what of a
//! prompt or of an edit is worth a search. `memory_request` tells the prompts that ask for what is remembered; `command_line`
//! splits command lines for `action`.

mod action;
mod command_line;
mod events;
mod input;
mod memory_request;
mod prompt;

use std::path::PathBuf;

pub use prompt::request as prompt_request;

use crate::error::Error;
use crate::report::HookEnvelope;
use crate::request::{Budget, ContextRequest, Format, HookRequest, PrimeRequest};
use events::{HookTask, find_event};
use input::HookInput;

/// The most characters of an answer to a prompt or a command, and of a brief, without a given budget.
const MAX_CHARS: usize = 1_500;
/// The same for an edit: nobody asked anything.
const MAX_EDIT_CHARS: usize = 900;

/// The most characters of a primer: Claude Code cuts a text of more than 10,000 characters, Codex one of more than about
/// 2,500 tokens.
const MAX_PRIMER_CHARS: usize = 8_000;

/// The format in which answers to prompts are measured.
pub const PROMPT_FORMAT: Format = Format::Hook(HookEnvelope::SESSION_START);

/// The reminder before the context of a session is compacted. The tool shows it to its user.
const REMINDER: &str = "The context is about to be compacted. `qipu capture` saves what was decided or learned.";

/// What a call of a hook asks for.
#[derive(Debug, PartialEq)]
pub struct HookCall {
    /// The request, or the text that is the whole answer.
    pub answer: HookAnswer,
    /// The form of the answer: the JSON of the tool.
    pub format: Format,
    /// The limits of the answer with its envelope.
    pub budget: Budget,
    /// The id of the session.
    pub session: Option<String>,
    /// What becomes of the context of the session.
    pub context: SessionContext,
    /// The current directory of the session, and the roots of its workspace.
    pub dirs: Vec<PathBuf>,
    /// The folders of the files that are about to be edited.
    pub edited_dirs: Vec<PathBuf>,
    /// These files, by absolute paths.
    pub edited_files: Vec<PathBuf>,
    /// What is wrong with the input of a hook that needs none of it.
    pub problem: Option<String>,
}

impl HookCall {
    /// Returns the format of an answer that the user does not want to read of.
    pub fn format_without_receipt(&self) -> Format {
        match self.format {
            Format::Hook(envelope) => Format::Hook(HookEnvelope { receipt: None, ..envelope }),
            format => format,
        }
    }
}

/// What becomes of the context of a session, in which parts of notes were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionContext {
    /// It stays.
    Kept,
    /// It is or was replaced by a summary, so that no part counts as shown.
    Compacted,
    /// The session is new.
    New,
}

/// The source of the answer to a hook.
#[derive(Debug, PartialEq)]
pub enum HookAnswer {
    /// A request for the primer, or for a brief.
    Primer(PrimeRequest),
    /// A request for notes, which count as shown in the session.
    Notes(Box<ContextRequest>),
    /// A text.
    Text(&'static str),
}

/// Parses a call of a hook; `None` if there is nothing to answer.
///
/// # Errors
/// `Usage` if the input is not the JSON object of a hook, for an event whose answer depends on it.
pub fn parse(request: &HookRequest) -> Result<Option<HookCall>, Error> {
    let Some(event) = find_event(request.tool, &request.event) else { return Ok(None) };
    let (input, problem) = match HookInput::parse(&request.input) {
        Ok(input) => (input, None),
        Err(error) if event.task.needs_input() => return Err(error),
        Err(error) => (HookInput::default(), Some(error.message)),
    };
    // VS Code runs hooks of the Copilot CLI under its own names of the events, and reads its own JSON.
    let own = find_event(request.tool, &input.event).filter(|own| own.task == event.task);
    let envelope = own.unwrap_or(event).envelope;
    let context = match (event.task, input.source.as_str()) {
        (HookTask::Compaction, _) | (HookTask::Start, "compact") => SessionContext::Compacted,
        (HookTask::Start, "resume" | "fork") => SessionContext::Kept,
        (HookTask::Start, _) => SessionContext::New,
        (HookTask::Prompt | HookTask::Action | HookTask::Subagent, _) => SessionContext::Kept,
    };
    let Some(answer) = answer(event.task, &input, request) else { return Ok(None) };
    let most = match &answer {
        HookAnswer::Primer(prime) if !prime.is_brief => MAX_PRIMER_CHARS,
        HookAnswer::Notes(_) => most_chars(event.task, &input),
        HookAnswer::Primer(_) | HookAnswer::Text(_) => MAX_CHARS,
    };
    let max_chars = request.budget.max_chars.or_else(|| (!request.budget.is_limited()).then_some(most));
    Ok(Some(HookCall {
        answer,
        format: Format::Hook(envelope),
        budget: Budget { max_chars, ..request.budget },
        context,
        edited_dirs: input.edited_dirs(),
        edited_files: input.edited_files(),
        dirs: input.dirs(),
        session: input.session,
        problem,
    }))
}

/// Returns the most characters of notes without a given budget.
fn most_chars(task: HookTask, input: &HookInput) -> usize {
    if task == HookTask::Action && !input.files.is_empty() { MAX_EDIT_CHARS } else { MAX_CHARS }
}

/// What the input of a hook before a prompt, an edit or a command asks for.
#[derive(Debug)]
pub struct InputRequest {
    /// The prompt, the files or the command line.
    pub subject: String,
    /// The request; `None` if nothing is to be answered.
    pub notes: Option<ContextRequest>,
}

/// Returns what the input of a hook asks for, within `room` characters.
///
/// # Errors
/// `Usage` if the input is not the JSON object of a hook.
pub fn input_request(input: &str, room: usize) -> Result<InputRequest, Error> {
    let input = HookInput::parse(input)?;
    if !input.prompt.is_empty() {
        return Ok(InputRequest { notes: prompt::request(&input.prompt, room), subject: input.prompt });
    }
    let notes = action::request(&input, room);
    Ok(InputRequest { notes, subject: if input.files.is_empty() { input.command } else { input.files.join(", ") } })
}

fn answer(task: HookTask, input: &HookInput, request: &HookRequest) -> Option<HookAnswer> {
    let room = request.budget.most_chars().unwrap_or_else(|| most_chars(task, input));
    let primer = |is_brief| {
        let request = PrimeRequest { banner: Some(true), is_hook: true, is_brief, ..PrimeRequest::default() };
        Some(HookAnswer::Primer(request))
    };
    let notes = |context| HookAnswer::Notes(Box::new(context));
    match task {
        HookTask::Start => primer(input.source == "compact"),
        HookTask::Subagent => primer(true),
        HookTask::Prompt => prompt::request(&input.prompt, room).map(notes),
        HookTask::Action => action::request(input, room).map(notes),
        HookTask::Compaction => Some(HookAnswer::Text(REMINDER)),
    }
}
