//! The events of each agent tool that qipu answers, with the JSON that the tool reads. specs/reference/hooks-mcp-setup.md
//! names the pages of the tools' documentation.

use crate::report::HookEnvelope;
use crate::request::HookTool;

/// What an event is an occasion for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookTask {
    /// A session starts or goes on.
    Start,
    /// The user submits a prompt.
    Prompt,
    /// The agent is about to edit a file or run a command.
    Action,
    /// A subagent starts.
    Subagent,
    /// The context is about to be compacted.
    Compaction,
}

impl HookTask {
    /// Tells whether the answer depends on the input: that of the others needs only the current directory.
    pub(super) fn needs_input(self) -> bool {
        matches!(self, Self::Prompt | Self::Action)
    }
}

/// An event of a tool.
#[derive(Debug)]
pub(super) struct HookEvent {
    tool: HookTool,
    name: &'static str,
    pub(super) task: HookTask,
    pub(super) envelope: HookEnvelope,
}

/// An envelope whose text is the member `additionalContext` of `hookSpecificOutput`.
macro_rules! nested {
    ($event:literal) => {
        HookEnvelope {
            before: concat!("{\"hookSpecificOutput\":{\"hookEventName\":\"", $event, "\",\"additionalContext\":\""),
            after: "\"}}\n",
            receipt: None,
        }
    };
}

/// An envelope whose text is a member of the object itself.
macro_rules! flat {
    ($member:literal) => {
        HookEnvelope { before: concat!("{\"", $member, "\":\""), after: "\"}\n", receipt: None }
    };
}

const fn event(tool: HookTool, name: &'static str, task: HookTask, envelope: HookEnvelope) -> HookEvent {
    HookEvent { tool, name, task, envelope }
}

/// The member that most tools show to their user, and not to the model. Cursor shows its `user_message` only if the prompt or
/// the action is refused, and Copilot CLI shows nothing.
const SHOWN: &str = "systemMessage";
/// A text that is nothing but this member.
const MESSAGE: HookEnvelope = flat!("systemMessage");

/// All events. A tool's own spelling names them. Events that can't add to the context, such as `Stop`, are missing, except
/// those before a compaction, whose text is for the user.
const EVENTS: [HookEvent; 24] = {
    use HookTask::{Action, Compaction, Prompt, Start, Subagent};
    use HookTool::{Claude, Codex, Copilot, Cursor, Gemini};
    [
        event(Claude, "SessionStart", Start, HookEnvelope::SESSION_START),
        event(Claude, "UserPromptSubmit", Prompt, nested!("UserPromptSubmit").with_receipt(SHOWN)),
        event(Claude, "PreToolUse", Action, nested!("PreToolUse").with_receipt(SHOWN)),
        event(Claude, "SubagentStart", Subagent, nested!("SubagentStart")),
        event(Claude, "PreCompact", Compaction, MESSAGE),
        event(Codex, "SessionStart", Start, HookEnvelope::SESSION_START),
        event(Codex, "UserPromptSubmit", Prompt, nested!("UserPromptSubmit").with_receipt(SHOWN)),
        event(Codex, "PreToolUse", Action, nested!("PreToolUse").with_receipt(SHOWN)),
        event(Codex, "SubagentStart", Subagent, nested!("SubagentStart")),
        event(Codex, "PreCompact", Compaction, MESSAGE),
        event(Gemini, "SessionStart", Start, HookEnvelope::SESSION_START),
        event(Gemini, "BeforeAgent", Prompt, nested!("BeforeAgent").with_receipt(SHOWN)),
        event(Gemini, "PreCompress", Compaction, MESSAGE),
        event(Cursor, "sessionStart", Start, flat!("additional_context")),
        event(Cursor, "beforeSubmitPrompt", Prompt, CURSOR_PROMPT),
        event(Cursor, "preToolUse", Action, flat!("additional_context")),
        event(Cursor, "preCompact", Compaction, flat!("user_message")),
        // The Copilot CLI names its events in camel case and reads a flat object.
        event(Copilot, "sessionStart", Start, flat!("additionalContext")),
        event(Copilot, "userPromptSubmitted", Prompt, flat!("additionalContext")),
        event(Copilot, "subagentStart", Subagent, flat!("additionalContext")),
        // VS Code names them as Claude Code does.
        event(Copilot, "SessionStart", Start, HookEnvelope::SESSION_START),
        event(Copilot, "UserPromptSubmit", Prompt, nested!("UserPromptSubmit").with_receipt(SHOWN)),
        event(Copilot, "PreToolUse", Action, nested!("PreToolUse").with_receipt(SHOWN)),
        event(Copilot, "SubagentStart", Subagent, nested!("SubagentStart")),
    ]
};

/// Cursor wants to know whether the prompt may be submitted.
const CURSOR_PROMPT: HookEnvelope =
    HookEnvelope { before: "{\"continue\":true,\"additional_context\":\"", after: "\"}\n", receipt: None };

/// Returns the event of a tool with a name; `None` if qipu does not answer it.
pub(super) fn find_event(tool: HookTool, name: &str) -> Option<&'static HookEvent> {
    EVENTS.iter().find(|event| event.tool == tool && event.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cells of the rows of a table in the page of hooks, whose columns are tools.
    fn table(head: &str) -> Vec<Vec<&'static str>> {
        let page = include_str!("../../specs/reference/hooks-mcp-setup.md");
        let rows = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
        let cell = |cell: &'static str| cell.trim().trim_matches(['*', '`']);
        let cells = |row: &'static str| row.trim_matches('|').split('|').skip(1).map(cell).collect();
        rows.take_while(|line| line.starts_with('|')).map(cells).collect()
    }

    #[test]
    fn the_page_of_hooks_says_what_each_tool_shows_to_the_person() {
        use HookTool::{Claude, Codex, Copilot, Cursor, Gemini};
        let columns =
            [(Claude, false), (Codex, false), (Gemini, false), (Cursor, true), (Copilot, true), (Copilot, false)];
        // The names of Copilot CLI begin with a small letter, those of VS Code with a capital.
        let events = |(tool, is_small): (HookTool, bool)| {
            EVENTS
                .iter()
                .filter(move |event| event.tool == tool && event.name.starts_with(char::is_lowercase) == is_small)
        };
        let receipts = columns.map(|column| {
            let mut receipts =
                events(column).filter(|event| event.task.needs_input()).map(|event| event.envelope.receipt);
            let first = receipts.next().flatten();
            assert!(receipts.all(|receipt| receipt == first), "{column:?}");
            first.unwrap_or_default()
        });
        let reminders = columns.map(|column| {
            let reminder = events(column).find(|event| event.task == HookTask::Compaction);
            reminder.map_or("", |event| event.envelope.before.trim_matches(['{', '"', ':']))
        });
        assert_eq!(table("| shown to the person |"), [receipts, reminders].map(Vec::from));
        assert!(EVENTS.iter().all(|event| event.envelope.receipt.is_none() || event.task.needs_input()));
    }

    #[test]
    fn the_page_of_hooks_names_each_event() {
        let cells = table("| event | `claude`");
        let mut listed: Vec<&str> = cells.into_iter().flatten().filter(|cell| !cell.is_empty()).collect();
        let mut events = EVENTS.map(|event| event.name);
        listed.sort_unstable();
        events.sort_unstable();
        assert_eq!(listed, events);
    }
}
