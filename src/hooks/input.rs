//! The JSON that an agent tool writes to a hook. Members that qipu does not know are ignored.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::store::normalize_lexically;

/// The most bytes of the texts of an edit that are searched for identifiers.
const MAX_EDITED_BYTES: usize = 64 * 1024;

/// The most files of one edit that are recorded.
const MAX_EDITED_FILES: usize = 8;

/// Parts of the names of tools that edit a file. Other tools do so only if their input has a text to be replaced or written.
const EDITORS: [&str; 7] = ["edit", "write", "create", "delete", "replace", "insert", "patch"];
/// The lines of a patch of Codex that name a file.
const PATCH_HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
const PATCH_BEGIN: &str = "*** Begin Patch";

/// The input of a hook.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HookInput {
    /// The id of the session, with that of the subagent in which the hook runs: each has a context of its own.
    pub(super) session: Option<String>,
    pub(super) current_dir: Option<PathBuf>,
    /// The roots of the workspace.
    pub(super) roots: Vec<PathBuf>,
    /// The name that the tool gives to the event; empty if there is none.
    pub(super) event: String,
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
        // Else an array would count as an object too.
        if !text.trim_start().starts_with('{') {
            return Err(Error::usage("the input of the hook is not a JSON object"));
        }
        let members: Members<'_> = serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("the input of the hook is not a JSON object: {error}")))?;
        let first = |names: &[&str]| first_text(&members, names);
        let absolute = |text: Option<String>| text.map(PathBuf::from).filter(|dir| dir.is_absolute());
        let roots = values(&members, "workspace_roots").into_iter();
        let roots: Vec<PathBuf> = roots.filter_map(|root| absolute(self::text(Some(root)))).collect();
        let agent = first(&["agent_id"]).map_or_else(String::new, |agent| format!("\0{agent}"));
        let session = first(&["session_id", "sessionId", "conversation_id"]);
        let mut hook = Self {
            session: session.map(|session| format!("{session}{agent}")),
            current_dir: absolute(first(&["cwd"])).or_else(|| roots.first().cloned()),
            roots,
            event: first(&["hook_event_name", "hookEventName"]).unwrap_or_default(),
            prompt: first(&["prompt"]).unwrap_or_default(),
            source: first(&["source"]).unwrap_or_default(),
            ..Self::default()
        };
        let tool = first(&["tool_name", "toolName"]).unwrap_or_default();
        let arguments = ["tool_input", "toolArgs"].iter().filter_map(|name| members.get(*name));
        if let Some(arguments) = arguments.copied().find(|arguments| arguments.get() != "null") {
            // The Copilot CLI writes the arguments as a string of JSON.
            let unquoted = self::text(Some(arguments));
            let json = unquoted.as_deref().unwrap_or(arguments.get());
            hook.add_arguments(json, &tool.to_lowercase());
        }
        Ok(hook)
    }

    /// Returns the current directory and the roots of the workspace.
    pub(super) fn dirs(&self) -> Vec<PathBuf> {
        self.current_dir.iter().chain(&self.roots).cloned().collect()
    }

    /// Returns the folders of the files that the tool is about to edit, and names by absolute paths.
    pub(super) fn edited_dirs(&self) -> Vec<PathBuf> {
        let files = self.files.iter().map(Path::new).filter(|file| file.is_absolute());
        files.filter_map(|file| normalize_lexically(file).parent().map(Path::to_path_buf)).collect()
    }

    /// Returns the first [`MAX_EDITED_FILES`] files that the tool is about to edit, by absolute paths.
    pub(super) fn edited_files(&self) -> Vec<PathBuf> {
        let files = self.files.iter().take(MAX_EDITED_FILES);
        let absolute = |file| self.current_dir.as_deref().unwrap_or(Path::new("")).join(file);
        files.map(absolute).filter(|file| file.is_absolute()).map(|file| normalize_lexically(&file)).collect()
    }

    fn add_arguments(&mut self, json: &str, tool: &str) {
        let arguments: Members<'_> = serde_json::from_str(json).unwrap_or_default();
        let command = first_text(&arguments, &["command"]).unwrap_or_default();
        let is_patch = command.starts_with(PATCH_BEGIN);
        if is_patch {
            let heads =
                || command.lines().filter_map(|line| PATCH_HEADS.iter().find_map(|head| line.strip_prefix(head)));
            self.files.extend(heads().map(|path| path.trim().to_owned()));
            let is_changed = |line: &&str| line.starts_with(['-', '+']);
            command.lines().filter(is_changed).for_each(|line| self.add_edited(line));
        }
        self.add_texts(&arguments);
        for edit in values(&arguments, "edits") {
            self.add_texts(&value(Some(edit)).unwrap_or_default());
        }
        if !self.edited.is_empty() || EDITORS.iter().any(|editor| tool.contains(editor)) {
            self.files.extend(first_text(&arguments, &["file_path", "notebook_path", "filePath", "path"]));
            self.files.extend(values(&arguments, "files").into_iter().filter_map(|file| text(Some(file))));
        }
        if !is_patch {
            self.command = command;
        }
    }

    /// Adds the texts that an edit replaces and writes.
    fn add_texts(&mut self, edit: &Members<'_>) {
        for name in ["old_string", "new_string", "oldString", "newString", "content", "new_source", "file_text"] {
            first_text(edit, &[name]).iter().for_each(|text| self.add_edited(text));
        }
    }

    fn add_edited(&mut self, text: &str) {
        let room = MAX_EDITED_BYTES.saturating_sub(self.edited.len());
        self.edited.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        self.edited.push('\n');
    }
}

/// The members of an object, unparsed: those of another type than is expected count as missing.
type Members<'a> = HashMap<String, &'a RawValue>;

/// Parses a value; `None` if it is missing or of another type.
fn value<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Returns the items of a member that is a list.
fn values<'a>(members: &Members<'a>, name: &str) -> Vec<&'a RawValue> {
    value(members.get(name).copied()).unwrap_or_default()
}

/// Returns a text; `None` if it is missing, empty or of another type.
fn text(raw: Option<&RawValue>) -> Option<String> {
    value(raw).filter(|text: &String| !text.is_empty())
}

/// Returns the first of some members that is a text and not empty.
fn first_text(members: &Members<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text(members.get(*name).copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_tools_is_read() {
        let input = HookInput::parse(
            "\u{feff}{\"sessionId\":\"s\",\"cwd\":\"\",\"workspace_roots\":[\"/w\"],\"toolName\":\"edit\",\"toolArgs\":\"{\\\"path\\\":\\\"a.rs\\\"}\",\"x\":[1]}",
        )
        .unwrap();
        assert_eq!(input.session.as_deref(), Some("s"));
        assert_eq!(input.current_dir, Some(PathBuf::from("/w")));
        let input_dirs = r#"{"cwd":"/c","workspace_roots":["/w",7,"x","/v"],"tool_name":"Edit","tool_input":{"file_path":"/a/b/../c.rs"}}"#;
        let of_dirs = HookInput::parse(input_dirs).unwrap();
        assert_eq!(
            (of_dirs.dirs(), of_dirs.edited_dirs()),
            (["/c", "/w", "/v"].map(PathBuf::from).into(), ["/a"].map(PathBuf::from).into())
        );
        assert_eq!(input.files, ["a.rs"]);
        let patch = "*** Begin Patch\\n*** Update File: src/a.py\\n*** Move to: src/b.py\\n@@\\n-old_name\\n+new_name\\n*** End Patch";
        let input = HookInput::parse(&format!("{{\"tool_input\":{{\"command\":\"{patch}\"}}}}")).unwrap();
        assert_eq!(input.files, ["src/a.py", "src/b.py"]);
        assert_eq!((input.edited.as_str(), input.command.as_str()), ("-old_name\n+new_name\n", ""));
        let edits = r#"{"tool_input":{"file_path":"/w/a","edits":[{"old_string":"a_b","new_string":5},7]}}"#;
        assert_eq!(HookInput::parse(edits).unwrap().edited, "a_b\n");
    }

    #[test]
    fn only_tools_that_edit_name_files() {
        let files = |tool: &str, arguments: &str| {
            let json = format!("{{\"tool_name\":\"{tool}\",\"tool_input\":{arguments}}}");
            HookInput::parse(&json).unwrap().files
        };
        assert_eq!(files("Read", r#"{"file_path":"a.rs"}"#), [""; 0]);
        assert_eq!(files("Grep", r#"{"path":"a.rs","pattern":"x"}"#), [""; 0]);
        assert_eq!(files("Write", r#"{"file_path":"a.rs","content":""}"#), ["a.rs"]);
        assert_eq!(files("editFiles", r#"{"files":["a.rs",3,"b.rs"]}"#), ["a.rs", "b.rs"]);
        assert_eq!(files("mcp__x", r#"{"path":"a.rs","new_string":"y"}"#), ["a.rs"]);
    }

    #[test]
    fn anything_but_an_object_is_an_error() {
        for text in ["", "null", "[]", "{", "{} {}", "\"a\"", &"[".repeat(200_000), "{\"a\":\"\\u\"}"] {
            assert!(HookInput::parse(text).is_err(), "{text:.20}");
        }
        assert_eq!(
            HookInput::parse("{\"prompt\":{},\"cwd\":3,\"tool_input\":[],\"session_id\":null}").unwrap(),
            HookInput::default()
        );
    }
}
