//! The JSON that an agent tool writes to a hook. Members that qipu does not know are ignored.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::error::Error;

/// The most bytes of the texts of an edit that are searched for identifiers.
const MAX_EDITED_BYTES: usize = 64 * 1024;

/// The members of tool input that name a file, in the spellings of the tools.
const PATHS: [&str; 4] = ["file_path", "notebook_path", "filePath", "path"];
/// Those that have text to be replaced or written, the old text first.
const TEXTS: [&str; 7] = ["old_string", "new_string", "oldString", "newString", "content", "new_source", "file_text"];
/// The lines of a patch of Codex that name a file.
const PATCH_HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
const PATCH_BEGIN: &str = "*** Begin Patch";

/// The input of a hook.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HookInput {
    /// The id of the session, with that of the subagent in which the hook runs: each has a context of its own.
    pub(super) session: Option<String>,
    pub(super) current_dir: Option<PathBuf>,
    /// The prompt; empty if there is none.
    pub(super) prompt: String,
    /// Why the session starts.
    pub(super) source: String,
    /// The files that the tool is about to edit.
    pub(super) files: Vec<String>,
    /// The texts that it replaces and writes, up to [`MAX_EDITED_BYTES`] together.
    pub(super) edited: String,
    /// The command line that it is about to run; empty if there is none.
    pub(super) command: String,
}

impl HookInput {
    /// Parses the input of a hook.
    ///
    /// # Errors
    /// `Usage` if the text is no JSON object, or nested more than 127 deep.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim_start_matches('\u{feff}');
        let parsed: Value = serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("the input of the hook is not JSON: {error}")))?;
        let Value::Object(input) = parsed else {
            return Err(Error::usage("the input of the hook is not a JSON object"));
        };
        let first_root = || input.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
        let current_dir = text_of(&input, &["cwd"]).or_else(first_root);
        let session = text_of(&input, &["session_id", "sessionId", "conversation_id"]);
        let agent = text_of(&input, &["agent_id"]).map_or_else(String::new, |agent| format!("\0{agent}"));
        let mut hook = Self {
            session: session.map(|session| format!("{session}{agent}")),
            current_dir: current_dir.map(PathBuf::from).filter(|dir| dir.is_absolute()),
            prompt: text_of(&input, &["prompt"]).unwrap_or_default().to_owned(),
            source: text_of(&input, &["source"]).unwrap_or_default().to_owned(),
            ..Self::default()
        };
        match input.get("tool_input").or_else(|| input.get("toolArgs")) {
            Some(Value::Object(arguments)) => hook.add_arguments(arguments),
            // The Copilot CLI writes the arguments as a string of JSON.
            Some(Value::String(text)) => {
                if let Ok(Value::Object(arguments)) = serde_json::from_str(text) {
                    hook.add_arguments(&arguments);
                }
            }
            _ => {}
        }
        Ok(hook)
    }

    /// Tells whether the session starts after its context was compacted.
    pub(super) fn is_after_compaction(&self) -> bool {
        self.source == "compact"
    }

    /// Tells whether what hooks added before is no longer in the context of the session.
    pub(super) fn begins_with_empty_context(&self) -> bool {
        !matches!(self.source.as_str(), "resume" | "fork")
    }

    fn add_arguments(&mut self, arguments: &Map<String, Value>) {
        self.files.extend(text_of(arguments, &PATHS).map(str::to_owned));
        let command = text_of(arguments, &["command"]).unwrap_or_default();
        if command.starts_with(PATCH_BEGIN) {
            let heads =
                || command.lines().filter_map(|line| PATCH_HEADS.iter().find_map(|head| line.strip_prefix(head)));
            self.files.extend(heads().map(|path| path.trim().to_owned()));
            let is_changed = |line: &&str| line.starts_with(['-', '+']);
            command.lines().filter(is_changed).for_each(|line| self.add_edited(line));
        } else {
            command.clone_into(&mut self.command);
        }
        self.add_texts(arguments);
        for edit in arguments.get("edits").and_then(Value::as_array).into_iter().flatten() {
            edit.as_object().into_iter().for_each(|edit| self.add_texts(edit));
        }
    }

    fn add_texts(&mut self, arguments: &Map<String, Value>) {
        for text in TEXTS.iter().filter_map(|member| text_of(arguments, &[member])) {
            self.add_edited(text);
        }
    }

    fn add_edited(&mut self, text: &str) {
        let room = MAX_EDITED_BYTES.saturating_sub(self.edited.len());
        self.edited.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        self.edited.push('\n');
    }
}

/// Returns the first of some members that is a text and not empty.
fn text_of<'a>(object: &'a Map<String, Value>, members: &[&str]) -> Option<&'a str> {
    let texts = members.iter().filter_map(|member| object.get(*member)?.as_str());
    texts.into_iter().find(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_tools_is_read() {
        let input = HookInput::parse(
            "\u{feff}{\"sessionId\":\"s\",\"cwd\":\"\",\"workspace_roots\":[\"/w\"],\"toolArgs\":\"{\\\"path\\\":\\\"a.rs\\\"}\",\"x\":[1]}",
        )
        .unwrap();
        assert_eq!(input.session.as_deref(), Some("s"));
        assert_eq!(input.current_dir, Some(PathBuf::from("/w")));
        assert_eq!(input.files, ["a.rs"]);
        let patch = "*** Begin Patch\\n*** Update File: src/a.py\\n*** Move to: src/b.py\\n@@\\n-old_name\\n+new_name\\n*** End Patch";
        let input = HookInput::parse(&format!("{{\"tool_input\":{{\"command\":\"{patch}\"}}}}")).unwrap();
        assert_eq!(input.files, ["src/a.py", "src/b.py"]);
        assert_eq!((input.edited.as_str(), input.command.as_str()), ("-old_name\n+new_name\n", ""));
        let edits = r#"{"tool_input":{"file_path":"/w/a","edits":[{"old_string":"a_b","new_string":5},7]}}"#;
        assert_eq!(HookInput::parse(edits).unwrap().edited, "a_b\n");
    }

    #[test]
    fn anything_but_an_object_is_an_error() {
        for text in ["", "null", "[]", "{", "{} {}", "\"a\"", &"[".repeat(200_000), "{\"a\":\"\\ud800\"}"] {
            assert!(HookInput::parse(text).is_err(), "{text:.20}");
        }
        assert_eq!(
            HookInput::parse("{\"prompt\":{},\"cwd\":3,\"tool_input\":[],\"session_id\":null}").unwrap(),
            HookInput::default()
        );
    }
}
