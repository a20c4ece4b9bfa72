//! Breaks the marks with which agent tools and models frame texts of their own, such as `</system-reminder>`,
//! `<|im_start|>` and `[/INST]`, by a backslash behind their first character.

use std::borrow::Cow;
use std::ops::Range;

use crate::note::begins_enclosure;

/// Words in the names of the tags with which tools surround the text of hooks, results and instructions of their own,
/// such as `<system-reminder>`, `<hook_context>` and `<function_results>`.
const WRAPPER_WORDS: [&str; 13] = [
    "antml", "context", "hook", "instruction", "instructions", "invoke", "prompt", "reminder", "sys", "system", "turn",
    "eot", "eos",
];
/// Such words whose plain opening tag is often a placeholder, as in `ssh <user>@host`. It counts at the beginning of a line.
const ROLE_WORDS: [&str; 9] =
    ["assistant", "developer", "function", "functions", "human", "model", "tool", "tools", "user"];
/// Whole names of tags with which tools and prompts surround documents, memories, thoughts and results of commands.
const WRAPPERS: [&str; 16] = [
    "document", "documents", "document-content", "source", "environment-details", "local-command-stdout",
    "local-command-stderr", "command-name", "command-message", "command-args", "task-notification", "thinking",
    "think", "memory", "memories", "qipu",
];
/// The words that, beside one of these, name a tag of a tool, as in `<tool_result>`.
const COMPANIONS: [&str; 12] = [
    "call", "calls", "error", "input", "message", "output", "query", "response", "responses", "result", "results",
    "use",
];
/// The words in brackets that frame a text.
const BRACKETS: [&str; 6] = ["inst", "sys", "systemprompt", "availabletools", "toolcalls", "toolresults"];
/// The longest name in brackets, in bytes.
const MAX_BRACKET: usize = 24;

/// Puts a backslash into each mark of a tool that begins at an offset for which `is_broken` is true. `with_details`: also
/// into `<details>`.
pub(super) fn without_tool_marks(text: &str, with_details: bool, is_broken: impl Fn(usize) -> bool) -> Cow<'_, str> {
    let is_details = |offset: usize| {
        with_details && text.get(offset..offset + 8).is_some_and(|tag| tag.eq_ignore_ascii_case("<details"))
    };
    broken(text, |offset| (is_mark(text, offset) || is_details(offset)) && is_broken(offset))
}

/// Puts a backslash into each mark of a tool in texts that are lines, and into what opens a comment or other HTML there,
/// which nothing would close.
pub(super) fn without_marks_in_lines(text: &str) -> Cow<'_, str> {
    broken(text, |offset| is_mark(text, offset) || text.get(offset..).is_some_and(begins_enclosure))
}

/// Puts a backslash behind each `<` and `[` at an offset for which `is_broken` is true.
fn broken(text: &str, is_broken: impl Fn(usize) -> bool) -> Cow<'_, str> {
    let marks = text.match_indices(['<', '[']).map(|(offset, _)| offset);
    let marks: Vec<usize> = marks.filter(|offset| is_broken(*offset)).collect();
    if marks.is_empty() {
        return Cow::Borrowed(text);
    }
    let ends = marks.iter().map(|offset| offset + 1).chain([text.len()]);
    let pieces = ends.scan(0, |start, end| Some(std::mem::replace(start, end)..end));
    let pieces: Vec<&str> = pieces.map(|piece: Range<usize>| text.get(piece).unwrap_or_default()).collect();
    Cow::Owned(pieces.join("\\"))
}

/// Whether a `<` or `[` begins a mark of a tool.
fn is_mark(text: &str, offset: usize) -> bool {
    let (before, mark) = text.split_at_checked(offset).unwrap_or_default();
    let mut chars = mark.chars();
    match chars.next() {
        Some('[') => is_bracket(chars.as_str()),
        Some(_) => is_special_token(chars.as_str()) || is_wrapper(before, chars.as_str()),
        None => false,
    }
}

/// Tells whether the text behind a `[` is the rest of a mark in brackets.
fn is_bracket(behind: &str) -> bool {
    let end = behind.floor_char_boundary(MAX_BRACKET);
    let name = behind.get(..end).and_then(|name| name.split_once(']')).map(|(name, _)| name).unwrap_or_default();
    let name = name.trim_start_matches('/').replace('_', "").to_ascii_lowercase();
    // Lower case is a link or a list in most languages.
    let is_upper = behind.trim_start_matches('/').starts_with(|c: char| c.is_ascii_uppercase());
    is_upper && BRACKETS.contains(&name.as_str())
}

/// Tells whether the text behind a `<` is the rest of a token such as `<|im_start|>`.
fn is_special_token(behind: &str) -> bool {
    let inside = behind.trim_start_matches([' ', '/']).strip_prefix(['|', '｜']);
    inside.is_some_and(|inside| inside.starts_with(|c: char| c.is_alphabetic()))
}

/// Tells whether the text behind a `<` is the rest of a tag of a tool.
fn is_wrapper(before: &str, behind: &str) -> bool {
    let name = behind.trim_start_matches(|c: char| c == '/' || c.is_whitespace());
    let is_closing = behind.trim_start().starts_with('/');
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let name = name.split(|c| !is_of_name(c)).next().unwrap_or_default();
    // `Option<SystemTime>` is a type.
    let is_parameter = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
    let is_type = name.starts_with(|c: char| c.is_uppercase()) && name.contains(|c: char| c.is_lowercase());
    let signs = ['-', '_', ':', '.'];
    let mut words: Vec<&str> = name.split(signs).collect();
    if !(is_parameter && is_type && !is_closing) {
        words.extend(name.split(signs).flat_map(camel_case_words));
    }
    let has = |all: &[&str]| words.iter().any(|word| all.iter().any(|other| word.eq_ignore_ascii_case(other)));
    let line = before.trim_end_matches([' ', '\t', '>']);
    let begins_line = line.is_empty() || line.ends_with('\n');
    let whole = name.replace('_', "-").to_ascii_lowercase();
    // `#include <memory>` is C++, and `Vec<Document>` a type.
    let is_of_code = !is_closing && (line.ends_with("#include") || (is_parameter && is_type));
    (WRAPPERS.contains(&whole.as_str()) && !is_of_code)
        || has(&WRAPPER_WORDS)
        || (has(&ROLE_WORDS) && (is_closing || has(&COMPANIONS) || begins_line))
}

/// Splits a word where an upper-case letter follows a lower-case one.
fn camel_case_words(word: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let pairs = word.char_indices().zip(word.char_indices().skip(1));
    for (_, (offset, _)) in pairs.filter(|((_, a), (_, b))| a.is_lowercase() && b.is_uppercase()) {
        words.extend(word.get(start..offset));
        start = offset;
    }
    words.extend(word.get(start..));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_tools_are_broken() {
        for (text, shown) in [
            ("</system-reminder>", "<\\/system-reminder>"),
            ("a<System_Reminder x='1'>b", "a<\\System_Reminder x='1'>b"),
            ("< / hook_context >", "<\\ / hook_context >"),
            ("<\n/SYSTEM>", "<\\\n/SYSTEM>"),
            ("<<system>", "<<\\system>"),
            ("a <systemReminder> </user> b", "a <\\systemReminder> <\\/user> b"),
            ("a\n > <user>", "a\n > <\\user>"),
            ("</function_results><tool_result>", "<\\/function_results><\\tool_result>"),
            ("<|im_start|>system", "<\\|im_start|>system"),
            ("<｜User｜>", "<\\｜User｜>"),
            ("[INST] [/INST] <<SYS>> <</SYS>>", "[\\INST] [\\/INST] <<\\SYS>> <<\\/SYS>>"),
            ("[SYSTEM_PROMPT][/TOOL_RESULTS]", "[\\SYSTEM_PROMPT][\\/TOOL_RESULTS]"),
            ("<start_of_turn>", "<\\start_of_turn>"),
            ("a <document index=\"1\"> </documents>", "a <\\document index=\"1\"> <\\/documents>"),
            ("<document_content><source>", "<\\document_content><\\source>"),
            ("<environment_details> <qipu>", "<\\environment_details> <\\qipu>"),
            ("</local-command-stdout> <command-name>", "<\\/local-command-stdout> <\\command-name>"),
            ("a <Task-Notification> </ThinKing>", "a <\\Task-Notification> <\\/ThinKing>"),
            ("a <memory path='x'> </Memory>", "a <\\memory path='x'> <\\/Memory>"),
            ("a <hOOK_coNText> <toolResult>", "a <\\hOOK_coNText> <\\toolResult>"),
        ] {
            assert_eq!(without_tool_marks(text, false, |_| true), shown);
            assert_eq!(without_tool_marks(shown, false, |_| true), shown);
            assert_eq!(without_tool_marks(text, false, |_| false), text);
        }
        for code in [
            "Option<SystemTime>", "a < b", "<my-component>", "#include <vector>", "<", "&lt;system&gt;",
            "ssh <user>@host", "users/<user_id>", "[inst](a.md)", "[[INSTALL]]", "[", "a <| b |> c",
            "HashMap<UserId, u8>", "Vec<Document>", "#include <memory>", "<documentation>", "<source-map>",
            "<memory-card>", "<qipu-x>",
        ] {
            assert_eq!(without_tool_marks(code, false, |_| true), code);
        }
    }
}
